"""A server of the Model Context Protocol, by its own SDK (the extra `mcp`): tools for an agent or an editor.

Only suites and the folder of runs that were named at the start are reached, by ids that were listed. Hidden tests,
solutions, ground truth and places on this disk are in no answer; of verdicts it is told what `feedback` allows.
"""

from __future__ import annotations

import functools
import inspect
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_url

import repoassay
from repoassay.api import EvaluatedAttempt, Grader, Run
from repoassay.engine import FeedbackLedger, word
from repoassay.errors import BadInput, MissingExtra, RepoAssayError
from repoassay.grading import names
from repoassay.report import plain_value, run_progress, runs_below, summary_document
from repoassay.tasks import SuiteFolder, TaskFolder, find_suite
from repoassay.text import block, clip, printable, quote, suggest
from repoassay.types import Attribution, Feedback, Verdict

__all__ = ["ToolDesk", "serve_mcp"]

_INSTRUCTIONS = (
    "RepoAssay judges changes of repositories by hidden tests. List tasks, read one, write a unified diff against its "
    "repository, submit it, and read the verdict. Runs of agents can be looked at where a folder of them was named."
)
_LOG = logging.getLogger("repoassay.mcp")
_UNTOLD = "Nobody could be judged here; what is amiss stands in the log of this server."
_PAGE = 100
_MOST_TEXT = 50_000
"""Characters of an instruction, or of a comment, in an answer."""
_MOST_PATCH = 4 * 2**20
_FIGURES = ("name", "planned", "finished", "unfinished", "ecr", "tpr", "outcomes", "not_passed", "wall")
"""What is told of an agent in a run; its settings may hold command lines and places on this disk."""


class ToolDesk:
    """The tools, and what they reach. A context manager; usable from any thread.

    Args:
        suites: Names or folders of suites, whose tasks are read now.
        runs: A folder with runs below it; None offers none.
        workers: Patches judged at a time.
        isolation: The sandbox they are judged in.
        feedback: How much of a verdict is told.
        most_patches: Patches that are judged before this server is started again.

    Raises:
        BadInput: A suite or folder cannot be used, or an id stands for two tasks.
        Unavailable: This machine cannot judge.
    """

    def __init__(
        self, suites: Sequence[str], runs: Path | None, *, workers: int = 1, isolation: str = "namespaces",
        feedback: Feedback = "verdict", most_patches: int = 200,
    ) -> None:  # fmt: skip
        if not suites and runs is None:
            raise BadInput(
                "Neither a suite nor a folder of runs is named.", "Give --suite SUITE, --runs FOLDER, or both."
            )
        if runs is not None and not runs.is_dir():
            raise BadInput(f"{runs} is no folder.", "Name one with runs below it; `repoassay run` makes ./runs.")
        self._suites = [find_suite(suite, metrics=names()) for suite in suites]
        self._tasks = _by_id(self._suites)
        self._runs, self._feedback, self._left = runs, feedback, most_patches
        self._lock = threading.Lock()
        self._open = ExitStack()
        with ExitStack() as stack:
            self._graders = {
                suite.path: stack.enter_context(
                    Grader(suite=suite, workers=workers, isolation=isolation, feedback=feedback)
                )
                for suite in self._suites
            }
            self._open = stack.pop_all()

    def __enter__(self) -> ToolDesk:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def has_tasks(self) -> bool:
        """Whether a suite was named."""
        return bool(self._suites)

    @property
    def has_runs(self) -> bool:
        """Whether a folder of runs was named."""
        return self._runs is not None

    def list_tasks(self, offset: int = 0) -> dict[str, Any]:
        """List the tasks: id, suite, kind, domain, title. A long list comes in pages, of which `next` is the offset."""
        rows = [
            {"id": id, "suite": suite.suite.name, "kind": folder.task.kind.value, "domain": _text(folder.task.domain),
             "title": _text(folder.task.title)}
            for id, (suite, folder) in self._tasks.items()
        ]  # fmt: skip
        return _page("tasks", rows, offset)

    def show_task(self, task: str) -> dict[str, Any]:
        """Show what a task asks for: its instruction, repository, limits, and whether a patch can be submitted."""
        suite, folder = self._task(task)
        stated = folder.task
        return {
            "id": stated.id,
            "suite": suite.suite.name,
            "kind": stated.kind.value,
            "title": _text(stated.title),
            "instruction": _text(folder.instruction),
            "repository": None if _is_place(stated.repository.source) else _text(stated.repository.source),
            "revision": stated.repository.revision,
            "python": stated.environment.python,
            "inputs": [_text(name) for name in stated.inputs.files[:_PAGE]],
            "outputs": [_text(name) for name in stated.outputs.files[:_PAGE]],
            "seconds": stated.limits.seconds,
            "takes_patch": stated.kind.changes_repository,
        }

    async def submit_patch(self, task: str, patch: str) -> dict[str, Any]:
        """Judge a patch for a task: a unified diff against the task's repository. Takes seconds to minutes.

        Answers with the outcome, RES-Q's word for it, and comments. What answers tell counts against later passes.
        """
        suite, folder = self._task(task)
        if not folder.task.kind.changes_repository:
            raise BadInput(
                f"The task {quote(task)} asks for files, not for a patch.", "Let `repoassay run` attempt it."
            )
        if len(patch.encode("utf-8", "replace")) > _MOST_PATCH:
            raise BadInput(f"The patch has more than {_MOST_PATCH:,} bytes.", "Submit the change alone.")
        with self._lock:
            if self._left <= 0:
                raise BadInput(
                    "As many patches as this server takes were judged.", "Start it again, or raise its limit."
                )
            self._left -= 1
        answer = await self._graders[suite.path].asubmit(task, patch)
        return {"task": task, **_verdict_document(answer.verdict, self._feedback)}

    def list_runs(self, offset: int = 0) -> dict[str, Any]:
        """List the runs there are, newest first: id, suite, agents, state, how many attempts are finished."""
        every = sorted(self._run_folders().items(), key=lambda item: item[1].name, reverse=True)
        page = _page("runs", [key for key, _ in every], offset)
        progress = [run_progress(key, path) for key, path in every if key in set(page["runs"])]
        page["runs"] = [
            {"id": one.id, "suite": _text(one.plan.suite) if one.plan else "", "state": one.state,
             "agents": [_text(name) for name in one.plan.agents] if one.plan else [],
             "finished": one.finished, "planned": one.planned}
            for one in progress
        ]  # fmt: skip
        return page

    def show_run(self, run: str, offset: int = 0) -> dict[str, Any]:
        """Show what a run came to: the report's figures of each agent with intervals, and its attempts in pages."""
        summary = self._run(run).summary()
        figures = summary_document(summary)
        attempts = [
            {"id": each["attempt"]["id"], "task": each["attempt"]["task"], "agent": _text(each["attempt"]["agent"]),
             "number": each["attempt"]["number"], "outcome": each["verdict"]["outcome"], "standing": each["standing"]}
            for each in figures["attempts"]
        ]  # fmt: skip
        return {
            "run": run,
            "planned": figures["planned"],
            "finished": figures["finished"],
            "agents": [{key: agent[key] for key in _FIGURES} for agent in figures["agents"]],
            "dollars": (figures["spent"]["total"] or {}).get("dollars"),
            **_page("attempts", attempts, offset),
        }

    def show_verdict(self, run: str, attempt: str) -> dict[str, Any]:
        """Show the verdict on one attempt of a run: outcome, comments, seconds and dollars."""
        every = {each.id: each for each in self._run(run).attempts}
        if attempt not in every:
            raise BadInput(f"The run has no attempt {quote(attempt)}.", "`show_run` lists them.")
        cut = FeedbackLedger(self._feedback).tell(every[attempt].verdict)
        return {**_facts(every[attempt]), **_verdict_document(cut, self._feedback)}

    def _task(self, id: str) -> tuple[SuiteFolder, TaskFolder]:
        if id not in self._tasks:
            raise BadInput(f"There is no task {quote(id)}.", suggest(id, self._tasks))
        return self._tasks[id]

    def _run_folders(self) -> Mapping[str, Path]:
        assert self._runs is not None  # the server offers no tool of runs without
        return runs_below(self._runs)

    def _run(self, id: str) -> Run:
        """The run of an id that `list_runs` gave; an id is looked up and never joined to a path."""
        for key, path in self._run_folders().items():
            if quote_url(key, errors="surrogateescape") == id:
                return Run(path)
        raise BadInput(f"There is no run {quote(id)}.", "`list_runs` lists them.")


def _by_id(suites: Sequence[SuiteFolder]) -> dict[str, tuple[SuiteFolder, TaskFolder]]:
    tasks: dict[str, tuple[SuiteFolder, TaskFolder]] = {}
    for suite in suites:
        suite.need_data()
        for folder in suite.tasks:
            if folder.task.id in tasks:
                other = tasks[folder.task.id][0].suite.name
                raise BadInput(
                    f"{suite.suite.name} and {other} both have a task {folder.task.id}.", "Name one of the suites."
                )
            tasks[folder.task.id] = (suite, folder)
    return tasks


def _page(name: str, rows: Sequence[Any], offset: int) -> dict[str, Any]:
    start = max(0, offset)
    end = start + _PAGE
    return {name: list(rows[start:end]), "total": len(rows), "next": end if end < len(rows) else None}


def _text(text: str) -> str:
    return clip(block(text), _MOST_TEXT)


def _is_place(source: str) -> bool:
    """Whether a repository is named by where it lies on this disk."""
    kind, _, place = source.partition(":")
    return kind == "folder" or (kind == "git" and not place.startswith(("https://", "http://", "ssh://", "git@")))


def _facts(attempt: EvaluatedAttempt) -> dict[str, Any]:
    spent = attempt.spending
    return {
        "attempt": attempt.id,
        "task": attempt.task,
        "agent": _text(attempt.agent),
        "number": attempt.number,
        "counted": attempt.counted,
        "seconds": attempt.seconds,
        "dollars": None if spent is None or spent.dollars is None else str(spent.dollars),
    }


def _verdict_document(cut: Verdict, level: Feedback) -> dict[str, Any]:
    """What is told of a verdict that was cut to a level before."""
    comments = cut.comments
    if cut.outcome.whose is Attribution.OURS:  # what is amiss with this machine has its paths
        _LOG.warning("Fault at %s: %s", printable(cut.task), printable(" ".join(comments), 2000))
        comments = (_UNTOLD,)
    document: dict[str, Any] = {
        "outcome": cut.outcome.value,
        "word": word(cut),
        "comments": [_text(comment) for comment in comments[:_PAGE]],
    }
    if level in ("tests", "full"):
        document["tests"] = [
            {"id": _text(test.id), "outcome": test.outcome, "message": _text(test.message)}
            for test in cut.tests[:_PAGE]
        ]
    return dict(plain_value(document))


def serve_mcp(desk: ToolDesk) -> None:
    """Answer one client over standard input and output until it leaves.

    Raises:
        MissingExtra: The SDK is not installed.
    """
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or "mcp").partition(".")[0], "mcp") from None
    logging.getLogger("mcp").setLevel(logging.WARNING)
    server = MCPServer("repoassay", version=repoassay.__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    judging = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    tools: list[Callable[..., Any]] = []
    tools += [desk.list_tasks, desk.show_task, desk.submit_patch] if desk.has_tasks else []
    tools += [desk.list_runs, desk.show_run, desk.show_verdict] if desk.has_runs else []
    for tool in tools:
        wrapped = _sentence_errors(tool, ToolError)
        server.add_tool(wrapped, annotations=judging if tool == desk.submit_patch else reading)
    server.run("stdio")


def _sentence_errors(tool: Callable[..., Any], error_class: type[Exception]) -> Callable[..., Any]:
    """The tool, whose errors are sentences to the client; what nobody foresaw the SDK logs, and does not tell."""
    if inspect.iscoroutinefunction(tool):

        @functools.wraps(tool)
        async def waited_for(*args: Any, **named: Any) -> Any:
            try:
                return await tool(*args, **named)
            except RepoAssayError as error:
                raise error_class(str(error)) from None

        return waited_for

    @functools.wraps(tool)
    def called(*args: Any, **named: Any) -> Any:
        try:
            return tool(*args, **named)
        except RepoAssayError as error:
            raise error_class(str(error)) from None

    return called
