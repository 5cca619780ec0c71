"""Mining: commits of whole histories tried side by side, each proven or refused with its reason."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from repoassay.construct.draft import repository_name
from repoassay.construct.history import find_repository, open_history
from repoassay.construct.mining.cluster import check_nodes, open_trials, used_cpu
from repoassay.construct.mining.journal import CommitStatus, MinedCommit, MiningJournal
from repoassay.construct.mining.plan import MiningPlan, estimate, plan_repository
from repoassay.construct.mining.request import MiningRequest
from repoassay.construct.mining.rules import CommitFacts
from repoassay.construct.mining.suite import begin_suite, describe_suite
from repoassay.construct.mining.trials import CommitTrials, LocalTrials, MinedRepository, TestClaims
from repoassay.construct.placement import remove_parts
from repoassay.engine import GradingContext, folder_lock
from repoassay.errors import BadInput, InfraFault
from repoassay.sandbox import Cache, Sandbox, temporary_folder
from repoassay.text import quote
from repoassay.workspace import run_git

__all__ = ["MiningReport", "mine_histories"]

_TELL = 60.0
"""Seconds without news after which it is told what is under way."""
_MOST_WAITING = 256
"""Commits that wait for nodes at a time."""


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


def mine_histories(
    repositories: Sequence[str], suite: Path, cache: Cache, sandbox: Sandbox, request: MiningRequest, *,
    workers: int | None = 1,
    executor: str = "local",
    agree: Callable[[MiningPlan], bool] = lambda plan: True,
    on_row: Callable[[MinedCommit], None] = lambda row: None,
    cancel: threading.Event | None = None,
    heartbeat: Callable[[str], None] = lambda what: None,
) -> MiningReport:  # fmt: skip
    """Make a suite of what repositories' histories hold; what is there already is kept, and what was begun goes on.

    Args:
        repositories: Folders, git bundles, URLs, or `OWNER/NAME` on GitHub.
        suite: Folder of the suite, made if need be.
        cache: Where checkouts and environments are kept.
        sandbox: Where tests run.
        request: What is to be mined.
        workers: Commits at a time; on nodes, those of each, None for one a core.
        executor: `local`, or the executor whose nodes try commits.
        agree: Shown the plan before anything is run; nothing is where it returns False.
        on_row: Told of each commit tried.
        cancel: Set it to stop; what is done is kept, and the next call goes on.
        heartbeat: Told in a sentence what is under way on this machine, each minute in which no commit is finished.

    Raises:
        BadInput: When a repository or the suite cannot be used, or nodes cannot do what is asked for.
        Unavailable: When the nodes of the executor cannot be had.
    """
    check_nodes(executor, request)
    began, cpu = time.monotonic(), used_cpu()
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
        plan = estimate(plans, journal.rows(), workers or 1)
        given_up = threading.Event()
        bench = GradingContext(None, cache, sandbox).ending_with(given_up)
        stack.callback(bench.oracle.close)
        stop, claims = cancel or threading.Event(), TestClaims(journal.rows())
        jobs = [(opened[place], facts) for place, facts in _in_turn([each.waiting for each in plans])]
        tried: list[MinedCommit] = []
        stopped, elsewhere = False, 0.0
        if agree(plan) and jobs:
            here = LocalTrials(suite, bench, request, stop, claims.take)
            if executor == "local":
                tried, stopped = _Miner(here, claims, journal, on_row, stop, given_up).run(
                    jobs, workers or 1, lambda: heartbeat(here.under_way())
                )
            else:
                nodes = stack.enter_context(open_trials(here, executor, workers))
                tried, stopped = _Miner(nodes, claims, journal, on_row, stop, given_up).run(jobs, _MOST_WAITING)
                elsewhere = nodes.cpu_seconds
        journal.settle()
    rows = tuple(journal.rows())
    report = MiningReport(
        suite, plan, tuple(tried), rows, used_cpu() - cpu + elsewhere, time.monotonic() - began, stopped
    )  # fmt: skip
    describe_suite(suite, rows, request.rules, len(tried), report.cpu_seconds)
    return report


def _in_turn(waiting: Sequence[Sequence[CommitFacts]]) -> Iterator[tuple[int, CommitFacts]]:
    """Commits of all repositories in turn, so that the first of them are as good a sample as any."""
    for turn in range(max(map(len, waiting), default=0)):
        yield from ((place, commits[turn]) for place, commits in enumerate(waiting) if turn < len(commits))


@contextlib.contextmanager
def _opened(place: str, *, bundle: bool) -> Iterator[MinedRepository]:
    """A repository and our copy of its history."""
    with contextlib.ExitStack() as stack:
        url, local = find_repository(stack.enter_context(_unbundled(place)))
        history = stack.enter_context(open_history(url, (), tags=True))
        yield MinedRepository(history, _name(url), url, local is not None, bundle or local is not None)


@contextlib.contextmanager
def _unbundled(location: str) -> Iterator[str]:
    """A repository as it is given; a git bundle is cloned first."""
    file = Path(location)
    if not _is_file(file):
        yield location
        return
    with temporary_folder("bundle") as folder:
        place = Path(folder, f"{file.stem}.git")
        try:
            run_git(Path(folder), "clone", "--mirror", "--quiet", "--template=", "--", str(file.resolve()), str(place))
        except InfraFault as error:
            raise BadInput(
                f"The file {quote(location)} is no git bundle that can be read.", "Make it with git bundle create."
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
        self, trials: CommitTrials, claims: TestClaims, journal: MiningJournal, on_row: Callable[[MinedCommit], None],
        cancel: threading.Event, given_up: threading.Event,
    ) -> None:  # fmt: skip
        self._given_up = given_up
        self._trials, self._claims, self._journal, self._on_row, self._stop = trials, claims, journal, on_row, cancel

    def run(
        self, jobs: Sequence[tuple[MinedRepository, CommitFacts]], workers: int,
        heartbeat: Callable[[], None] = lambda: None,
    ) -> tuple[list[MinedCommit], bool]:  # fmt: skip
        """What became of each, and whether the user ended it before all were tried.

        `heartbeat` is called now and then while none ends.
        """
        done: list[MinedCommit] = []
        with ThreadPoolExecutor(workers) as pool:
            waiting: set[Future[MinedCommit | None]] = {pool.submit(self._tried, *job) for job in jobs}
            try:
                while waiting:
                    ended, waiting = wait(waiting, _TELL, FIRST_COMPLETED)
                    for future in ended:
                        if (row := future.result()) is not None:
                            done.append(row)
                            self._on_row(row)
                    if not ended:
                        heartbeat()
            except BaseException:  # the second Ctrl-C, or SIGTERM: nobody waits for what is under way
                self._stop.set()
                self._given_up.set()
                raise
        return done, self._stop.is_set()

    def _tried(self, opened: MinedRepository, facts: CommitFacts) -> MinedCommit | None:
        """Try one commit and note what became of it; None where the user ended it."""
        row = self._trials.row(opened, facts)
        if row is None:
            return None
        row = row.model_copy(update={"patch": self._journal.of(opened.name)[facts.commit].patch})
        if row.status is not CommitStatus.TASK:
            self._claims.release(opened.name, facts)
        self._journal.note(row)
        return row
