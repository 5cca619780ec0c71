"""Mining: commits of whole histories tried side by side, each proven or refused with its reason."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path

from repoassay.construct.commit import Constructed, TaskMaking
from repoassay.construct.draft import draft_commit, repository_name
from repoassay.construct.history import History, find_repository, open_history
from repoassay.construct.mining.candidate import NEEDS_SUBMODULE, CandidateRefused, MinedCandidate
from repoassay.construct.mining.journal import CommitStatus, MinedCommit, MiningJournal
from repoassay.construct.mining.plan import MiningPlan, estimate, plan_repository
from repoassay.construct.mining.rewriting import InstructionRewriter
from repoassay.construct.mining.rules import CommitFacts, MiningRules
from repoassay.construct.mining.suite import begin_suite, describe_suite
from repoassay.construct.placement import bundle_base, part_folder, remove_parts, tasks_folder
from repoassay.construct.submodules import SubmoduleMissing
from repoassay.construct.task_request import Proposal, TaskRequest
from repoassay.engine import GradingContext, folder_lock
from repoassay.errors import BadInput, InfraFault, Interrupted, RepoAssayError, Unavailable
from repoassay.formats import safe_id
from repoassay.sandbox import Cache, Sandbox, remove_tree
from repoassay.text import printable, quote
from repoassay.workspace import run_git

__all__ = ["MiningReport", "MiningRequest", "mine_histories"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningRequest:
    """What is to be mined.

    Args:
        since: The first day (`YYYY-MM-DD`, UTC) whose commits count.
        until: The last one.
        most: Commits tried of each repository, those of earlier calls counted; with `update`, new ones. None for all.
        kinds: `edit`, `pull-request` or both; with both, commits with an issue's text become pull-request tasks.
        rules: Which commits may become tasks.
        issues: Texts of issues and pull requests by number.
        proofs: Runs of the tests on each side.
        bundle: Whether base trees are stored with the suite; always so for repositories that are a folder or bundle.
        seed: What the draw depends on.
        update: Whether only commits are drawn that no earlier call has seen.
        mirrors: Where repositories of submodules lie, by the URL that `.gitmodules` has.
        rewrite: Asks a model to say instructions in other words.
    """

    since: str | None = None
    until: str | None = None
    most: int | None = None
    kinds: tuple[str, ...] = ("edit",)
    rules: MiningRules = field(default_factory=MiningRules)
    issues: Mapping[int, str] = field(default_factory=dict)
    proofs: int = 3
    bundle: bool = False
    seed: int = 15
    update: bool = False
    mirrors: Mapping[str, str] = field(default_factory=dict)
    rewrite: InstructionRewriter | None = None


@dataclass(frozen=True, slots=True)
class MiningReport:
    """What mining came to: the suite's folder, the plan, what became of each commit tried, and CPU seconds.

    `stopped` where the user ended it before all were tried.
    """

    suite: Path
    plan: MiningPlan
    tried: tuple[MinedCommit, ...]
    rows: tuple[MinedCommit, ...]
    cpu_seconds: float
    wall_seconds: float
    stopped: bool = False

    @property
    def tasks(self) -> tuple[MinedCommit, ...]:
        """Commits tried that are tasks now."""
        return tuple(row for row in self.tried if row.status is CommitStatus.TASK)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A repository that is mined: our copy of its history, its name, and what its tasks fetch from."""

    history: History
    name: str
    url: str
    local: bool
    bundled: bool


def mine_histories(
    repositories: Sequence[str], suite: Path, cache: Cache, sandbox: Sandbox, request: MiningRequest, *,
    workers: int = 1,
    agree: Callable[[MiningPlan], bool] = lambda plan: True,
    on_row: Callable[[MinedCommit], None] = lambda row: None,
    cancel: threading.Event | None = None,
) -> MiningReport:  # fmt: skip
    """Make a suite of what repositories' histories hold; what is there already is kept, and what was begun goes on.

    Args:
        repositories: Folders, git bundles, URLs, or `OWNER/NAME` on GitHub.
        suite: Folder of the suite, made if need be.
        cache: Where checkouts and environments are kept.
        sandbox: Where tests run.
        request: What is to be mined.
        workers: Commits at a time.
        agree: Shown the plan before anything is run; nothing is where it returns False.
        on_row: Told of each commit tried.
        cancel: Set it to stop; what is done is kept, and the next call goes on.

    Raises:
        BadInput: When a repository or the suite cannot be used.
    """
    began, cpu = time.monotonic(), _cpu_seconds()
    begin_suite(suite)
    with contextlib.ExitStack() as stack:
        stack.enter_context(folder_lock(suite))
        remove_parts(suite)
        journal = MiningJournal(suite)
        mirrors = {
            url: find_repository(stack.enter_context(_unbundled(place)))[0] for url, place in request.mirrors.items()
        }
        request = replace(request, mirrors=mirrors)
        bundle = request.bundle or bool(mirrors)
        opened = [stack.enter_context(_opened(each, bundle=bundle)) for each in repositories]
        plans = [
            plan_repository(each.history, each.name, journal, request.rules, since=request.since, until=request.until,
                            most=request.most, seed=request.seed, update=request.update)
            for each in opened
        ]  # fmt: skip
        plan = estimate(plans, journal.rows(), workers)
        bench = GradingContext(None, cache, sandbox)
        stack.callback(bench.oracle.close)
        miner = _Miner(suite, journal, bench, request, on_row, cancel or threading.Event())
        jobs = [(opened[place], facts) for place, facts in _in_turn([each.waiting for each in plans])]
        tried, stopped = miner.run(jobs, workers) if agree(plan) else ([], False)
        journal.settle()
    rows = tuple(journal.rows())
    report = MiningReport(
        suite, plan, tuple(tried), rows, _cpu_seconds() - cpu, time.monotonic() - began, stopped
    )  # fmt: skip
    describe_suite(suite, rows, request.rules, len(tried), report.cpu_seconds)
    return report


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _in_turn(waiting: Sequence[Sequence[CommitFacts]]) -> Iterator[tuple[int, CommitFacts]]:
    """Commits of all repositories in turn, so that the first of them are as good a sample as any."""
    for turn in range(max(map(len, waiting), default=0)):
        yield from ((place, commits[turn]) for place, commits in enumerate(waiting) if turn < len(commits))


@contextlib.contextmanager
def _opened(given: str, *, bundle: bool) -> Iterator[_Opened]:
    """A repository and our copy of its history."""
    with contextlib.ExitStack() as stack:
        url, local = find_repository(stack.enter_context(_unbundled(given)))
        history = stack.enter_context(open_history(url, (), tags=True))
        yield _Opened(history, _name(url), url, local is not None, bundle or local is not None)


@contextlib.contextmanager
def _unbundled(given: str) -> Iterator[str]:
    """A repository as it is given; a git bundle is cloned first."""
    file = Path(given)
    if not _is_file(file):
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="repoassay-bundle-") as folder:
        place = Path(folder, f"{file.stem}.git")
        try:
            run_git(Path(folder), "clone", "--mirror", "--quiet", "--template=", "--", str(file.resolve()), str(place))
        except InfraFault as error:
            raise BadInput(
                f"The file {quote(given)} is no git bundle that can be read.", "Make it with git bundle create."
            ) from error
        yield str(place)


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except (OSError, ValueError):
        return False


def _name(url: str) -> str:
    """A repository's name, and that of the folder above where its own says nothing."""
    name = repository_name(url)
    if name.lower() in ("repo", "repository", "git", "src", "source", "checkout"):
        name = repository_name(url.rstrip("/").removesuffix("/.git").removesuffix(".git").rpartition("/")[0])
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")[:40] or "repository"


class _Miner:
    """Tries commits side by side; no commit stops the others."""

    def __init__(
        self, suite: Path, journal: MiningJournal, bench: GradingContext, asked: MiningRequest,
        on_row: Callable[[MinedCommit], None], cancel: threading.Event,
    ) -> None:  # fmt: skip
        self._suite, self._journal, self._bench, self._asked, self._on_row = suite, journal, bench, asked, on_row
        self._stop = cancel
        self._lock = threading.Lock()
        self._tests: dict[str, list[tuple[str, frozenset[str]]]] = {}
        for row in journal.rows():
            if row.status is CommitStatus.TASK:
                self._tests.setdefault(row.repository, []).append((row.commit, frozenset(row.must_pass)))

    def run(self, jobs: Sequence[tuple[_Opened, CommitFacts]], workers: int) -> tuple[list[MinedCommit], bool]:
        """What became of each, and whether the user ended it before all were tried."""
        done: list[MinedCommit] = []
        with ThreadPoolExecutor(workers) as pool:
            waiting: list[Future[MinedCommit | None]] = [pool.submit(self._tried, *job) for job in jobs]
            for future in as_completed(waiting):
                if (row := future.result()) is not None:
                    done.append(row)
                    self._on_row(row)
        return done, self._stop.is_set()

    def _tried(self, opened: _Opened, facts: CommitFacts) -> MinedCommit | None:
        """Try one commit and note what became of it; None where the user ended it."""
        candidate = MinedCandidate(
            opened.history, opened.name, facts, self._asked.rules, self._asked.issues,
            lambda commit, tests: self._claim(opened.name, commit, tests), self._asked.rewrite,
            self._asked.mirrors,
        )  # fmt: skip
        began = time.monotonic()
        made: Constructed | None = None
        update: dict[str, object] = {}
        try:
            self._check()
            made = self._made(opened, candidate)
        except Interrupted:
            return None
        except CandidateRefused as refused:
            update = {"cause": refused.cause, "reason": printable(refused.message, 600)}
        except SubmoduleMissing as error:
            update = {"cause": NEEDS_SUBMODULE, "reason": printable(error.message, 600)}
        except BadInput as error:
            update = {"cause": "no task can carry it", "reason": printable(error.message, 600)}
        except (RepoAssayError, Unavailable) as error:
            update = {"cause": "fault", "reason": printable(error.message, 600), "status": CommitStatus.FAULT}
        except Exception as error:  # noqa: BLE001 - one commit never stops the others, and the journal says what it was
            reason = printable(f"{type(error).__name__}: {error}", 600)
            update = {"cause": "fault", "reason": reason, "status": CommitStatus.FAULT}
        row = candidate.row(made, time.monotonic() - began)
        row = row.model_copy(update={"kind": self._kind(candidate), "patch": self._patch(opened, facts), **update})
        if row.status is not CommitStatus.TASK:
            self._unclaim(opened.name, facts)
        self._journal.note(row)
        return row

    def _patch(self, opened: _Opened, facts: CommitFacts) -> str:
        return self._journal.of(opened.name)[facts.commit].patch

    def _check(self, text: str = "") -> None:
        del text
        if self._stop.is_set():
            raise Interrupted("Stopped.", "Call it again to go on.")

    def _kind(self, candidate: MinedCandidate) -> str:
        if len(self._asked.kinds) == 1:
            return self._asked.kinds[0]
        return "pull-request" if candidate.source is not None and candidate.source.name.startswith("issue") else "edit"

    def _made(self, opened: _Opened, candidate: MinedCandidate) -> Constructed:
        facts, asked = candidate.facts, self._asked
        instruction = candidate.instruction()
        request = TaskRequest(
            opened.url, facts.commit, base=facts.parents[0], instruction=instruction, bundle=opened.bundled,
            id=safe_id(f"{opened.name}-{facts.commit[:10]}"), runner="repository",
            proposal=Proposal() if self._kind(candidate) == "pull-request" else None,
        )  # fmt: skip
        assert request.id is not None
        left = tasks_folder(self._suite) / request.id
        if left.is_dir() and not left.is_symlink():  # a call that was killed had placed it, and not yet noted it
            remove_tree(left)
        draft = draft_commit(request, opened.history, opened.url, local=opened.local)
        with part_folder(self._suite) as part:
            bundled = bundle_base(draft, opened.history, part, self._suite, asked.mirrors) if request.bundle else None
            bench = self._bench.beside(part / "repositories" if bundled else None)
            making = TaskMaking(
                part, bundled, self._suite, bench, asked.proofs, 1, self._check, self._check,
                complete=candidate.complete, probe=True, share_environments=True,
            )  # fmt: skip
            return making.in_place(draft, request, opened.history)

    def _claim(self, name: str, facts: CommitFacts, tests: tuple[str, ...]) -> None:
        """Take tests for a commit, unless half of all that it and another task have are in both."""
        own = frozenset(tests)
        with self._lock:
            others = self._tests.setdefault(name, [])
            for commit, theirs in others:
                shared = len(own & theirs)
                if commit != facts.commit and 2 * shared >= len(own | theirs):
                    raise CandidateRefused(
                        "duplicate", f"It shares {shared} of its {len(own)} tests with the task of {commit[:12]}."
                    )
            others.append((facts.commit, own))

    def _unclaim(self, name: str, facts: CommitFacts) -> None:
        with self._lock:
            others = self._tests.get(name, [])
            others[:] = [each for each in others if each[0] != facts.commit]
