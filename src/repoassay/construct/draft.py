"""What a task made of a commit consists of, before anything of it is proved."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError

from repoassay.construct.history import History, HistoryEntry
from repoassay.construct.in_place import MaintainersTests, find_tests, split_in_place
from repoassay.construct.node.tests import NodeTests, changed_packages, find_node_tests
from repoassay.construct.recipe.licence import licence_of
from repoassay.construct.recipe.project import Project
from repoassay.construct.select import CommitSplit, changed_paths, nearby_tests, split_change
from repoassay.construct.task_draft import TEST_PATCH, TaskDraft, requirement_lines
from repoassay.construct.task_request import Proposal, TaskRequest
from repoassay.errors import BadInput
from repoassay.formats import REQUIREMENTS, safe_id
from repoassay.grading import NODE_SUFFIXES
from repoassay.tasks import read_regular
from repoassay.text import join_names, printable, quote
from repoassay.types import IN_REPOSITORY, Environment, Grading, HiddenTests, Repository, Task, TaskKind

__all__ = ["draft_commit", "repository_name"]

_MAX_FILE = 16 * 2**20


def draft_commit(request: TaskRequest, history: History, url: str, *, local: bool) -> TaskDraft:
    """Draft a task of two commits.

    Args:
        request: What to make.
        history: The repository.
        url: Where its base commit can be fetched from.
        local: Whether that is a folder of this machine.

    Raises:
        BadInput: When it cannot be a task; one sentence with the remedy.
    """
    if request.id is not None and safe_id(request.id) != request.id:
        raise BadInput(f"{quote(request.id)} is no task id.", "Write up to 64 letters, digits, '-', '_' and '.'.")
    solution, base = _commits(request, history)
    trees = history.tree(base), history.tree(solution)
    proposal = request.proposal
    split, ours, patched = _split(request, trees, history)
    if isinstance(ours, NodeTests) and request.requirements:
        raise BadInput("The change is of JavaScript, and --requirement names packages of Python.", "Leave it out.")
    if not split.solution:
        raise BadInput(
            f"Between {base[:12]} and {solution[:12]} no file but tests changes, so there is nothing to solve.",
            "Name other commits, or widen --only.",
        )
    warnings: list[str] = []
    if split.links:
        warnings.append(f"Left out, since no solution can carry links: {printable(join_names(split.links, 5), 300)}.")
    if isinstance(ours, NodeTests) and not split.tests:
        raise BadInput(
            f"The change adds or alters no file in which {ours.reader} finds tests: none declares any by test or it.",
            "Choose another commit, or give --runner node --tests FILE.",
        )
    hidden = _hidden(request, history, split, trees[1])
    if ours is not None:
        hidden = {TEST_PATCH: history.diff(base, solution, patched)}
    licence = _licence(request, Project(trees[0], history.content), warnings)
    instruction = _instruction(request, history, solution, warnings)
    repository = _repository(request, url, base, local, licence, warnings)
    name = request.id or safe_id(f"{repository_name(url)}-{solution[:10]}")
    try:
        task = Task(
            id=name,
            title=_title(instruction, name),
            kind=TaskKind.PULL_REQUEST if proposal else TaskKind.EDIT,
            domain="Software",
            modality="code",
            provenance=f"change {solution} on {base} of {history.day(solution)}, taken by repoassay construct",
            licence=licence,
            rules=_rules(proposal, trees[0], warnings) if proposal else "",
            repository=repository,
            environment=_environment(request, ours, trees[0]),
            grading=Grading(tests=_hidden_tests(request, ours, split)),
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadInput(
            f"No task can be made of this: {where}: {printable(first['msg'], 200)}.", "Correct it."
        ) from error
    diff = history.diff(base, solution, split.whole if proposal else split.solution)
    files = {
        **hidden,
        "instruction.md": instruction.encode("utf-8", "replace"),
        "solution/changes.diff": diff,
    }
    if task.environment.resolve:
        files[REQUIREMENTS] = "".join(f"{line}\n" for line in requirement_lines(request.requirements)).encode()
    if proposal:
        files |= _proposed(proposal, history, solution)
    names = tuple(name.removeprefix("tests/") for name in hidden) if request.tests else ()
    scripts = names if request.runner == "pytest" else ()
    draft = TaskDraft(
        task, base, solution, diff, files, names or split.tests, scripts, tuple(warnings),
        node=ours if isinstance(ours, NodeTests) else None,
    )  # fmt: skip
    return draft.with_tests(("to::prove",))


def _split(
    request: TaskRequest, trees: tuple[dict[str, HistoryEntry], dict[str, HistoryEntry]], history: History
) -> tuple[CommitSplit, MaintainersTests | NodeTests | None, tuple[str, ...]]:
    """What of the change is solution and what tests, the maintainers' own tests, and the files their patch is of."""
    if request.runner != "repository":
        return split_change(*trees, request.only, request.runner), None, ()
    project = Project(trees[1], history.content)
    ours: MaintainersTests | NodeTests = find_tests(project)
    split, patched = split_in_place(*trees, request.only, ours, history.content)
    changed = changed_paths(*trees, request.only)
    if not split.tests and (project.has("package.json") or changed_packages(project, changed)):
        ours = find_node_tests(project, changed)
        split, patched = split_in_place(*trees, request.only, ours, history.content)
    return split, ours, patched


def _environment(
    request: TaskRequest, ours: MaintainersTests | NodeTests | None, base: dict[str, HistoryEntry]
) -> Environment:
    of_node = isinstance(ours, NodeTests)
    return Environment(
        python=_python(request.python or "3.11"),
        resolve=REQUIREMENTS if not (of_node or request.runner == "node") or request.requirements else None,
        path=request.import_path or ((".",) if of_node else _import_path(base)),
        checks=request.proposal.checks if request.proposal else (),
    )


def _hidden_tests(request: TaskRequest, ours: MaintainersTests | NodeTests | None, split: CommitSplit) -> HiddenTests:
    """What decides, before it is known which tests must pass."""
    return HiddenTests(
        fail_to_pass=("to::prove",),
        seconds=request.seconds or (request.most_seconds if ours else 60),
        cwd="repository",
        runner=request.runner,
        reader=ours.reader if isinstance(ours, NodeTests) else "pytest",
        before=ours.command.before if isinstance(ours, NodeTests) else (),
        package=(ours.package or None) if isinstance(ours, NodeTests) else None,
        patch=TEST_PATCH if ours else None,
        files=split.tests if ours else (),
        arguments=ours.arguments if ours else (),
        support=ours.support if ours else (),
    )


_RULES = tuple(f"{folder}CONTRIBUTING.{suffix}" for folder in ("", ".github/", "docs/") for suffix in ("md", "rst"))


def _licence(request: TaskRequest, base: Project, warnings: list[str]) -> str:
    if request.licence is not None:
        return request.licence
    found, where = licence_of(base)
    if where:
        warnings.append(f"The licence is {found}, as {printable(where, 100)} says.")
    else:
        warnings.append("No file of the repository says what its licence is. State it with --licence.")
    return found


def _rules(proposal: Proposal, base: dict[str, HistoryEntry], warnings: list[str]) -> str:
    """What task.toml says of the rules: a file that comes with the task, or one that the repository has."""
    if proposal.rules is not None:
        return "contributing.md"
    found = next((path for path in _RULES if path in base and base[path].regular), "")
    if not found:
        warnings.append("The repository has no CONTRIBUTING file. Say with --rules what a contribution must keep to.")
    return f"{IN_REPOSITORY}{found}" if found else ""


def _proposed(proposal: Proposal, history: History, solution: str) -> dict[str, bytes]:
    description = history.message(solution) if proposal.description is None else proposal.description
    if not description.strip():
        raise BadInput(f"The commit {solution[:12]} has no message.", "Give --description.")
    files = {"solution/description.md": (description.rstrip() + "\n").encode("utf-8", "replace")}
    if proposal.rules is not None:
        files["contributing.md"] = (proposal.rules.rstrip() + "\n").encode("utf-8", "replace")
    return files


def _commits(request: TaskRequest, history: History) -> tuple[str, str]:
    solution = history.commit(request.solution)
    if request.base is not None:
        base = history.commit(request.base)
    else:
        parents = history.parents(solution)
        if not parents:
            raise BadInput(
                f"The commit {solution[:12]} has no parent.", "Say with --base what it is to be held against."
            )
        base = parents[0]
    if base == solution:
        raise BadInput(
            f"Base and solution are the same commit, {base[:12]}.", "Name the commit before the change with --base."
        )
    return solution, base


def _hidden(
    request: TaskRequest, history: History, split: CommitSplit, tree: dict[str, HistoryEntry]
) -> dict[str, bytes]:
    """Hidden files by path in the task folder: tests, and what they may need beside themselves."""
    node = request.runner == "node"
    if request.tests is not None and request.runner == "repository":
        raise BadInput("Files of yours do not run as the repository's own tests do.", "Give --runner pytest or node.")
    if request.tests is not None:
        files = {path.name: path for path in request.tests}
        if len(files) < len(request.tests):
            raise BadInput("Two of the test files have the same name.", "Rename one.")
        place = _test_place(tree) if node else ""
        return {f"tests/{place}{name}": _read_test_file(path, node=node) for name, path in files.items()}
    if not split.tests:
        names = "*.test.js, *.spec.js or .js below test/" if node else "test_*.py, *_test.py or tests.py"
        raise BadInput(
            f"The change adds or alters no test: no {names}.",
            "Write hidden tests for it and name the file with --tests.",
        )
    near = () if node else nearby_tests(split.tests, tree)  # tests for node run in the repository, where these are
    paths = [path for path in dict.fromkeys((*split.tests, *near, *split.support)) if path in tree]
    return {f"tests/{path}": history.content(tree[path]) for path in paths}


def _test_place(tree: dict[str, HistoryEntry]) -> str:
    """Folder of a repository where tests for node lie, with a slash; empty for its root."""
    return next((f"{name}/" for name in ("test", "tests") if any(path.startswith(f"{name}/") for path in tree)), "")


def _read_test_file(path: Path, *, node: bool) -> bytes:
    if node and path.suffix not in NODE_SUFFIXES:
        raise BadInput(f"The test file {quote(path)} is no JavaScript file.", "Name a .js, .mjs or .cjs file.")
    if not node and path.suffix != ".py":
        raise BadInput(f"The test file {quote(path)} is no Python file.", "Name a .py file.")
    try:
        return read_regular(path, _MAX_FILE)
    except OSError as error:
        raise BadInput(f"The test file {quote(path)} cannot be read: {error.strerror}.", "Correct the name.") from error


def _instruction(request: TaskRequest, history: History, solution: str, warnings: list[str]) -> str:
    if request.instruction is not None:
        if not request.instruction.strip():
            raise BadInput("The instruction is empty.", "Say what the agent is to do.")
        return request.instruction.rstrip() + "\n"
    message = history.message(solution)
    if not message:
        raise BadInput(f"The commit {solution[:12]} has no message.", "Give --instruction.")
    if len(history.parents(solution)) > 1:
        warnings.append("The solution is a merge; its message seldom says what was asked. Better give --instruction.")
    warnings.append(
        "The instruction is the commit's message, which may tell how it was solved or lack what the tests ask for."
        " Read instruction.md and correct it."
    )
    return message + "\n"


def _repository(
    request: TaskRequest, url: str, base: str, local: bool, licence: str, warnings: list[str]
) -> Repository:
    homepage = "" if local else url
    if request.bundle:
        name = re.sub(r"[^a-z0-9_-]+", "-", repository_name(url).lower()).strip("-")[:40] or "repository"
        return Repository(source=f"bundled:{name}-{base[:12]}", licence=licence, homepage=homepage)
    if local:
        warnings.append(
            f"The task fetches its repository from {printable(url, 300)} and so works on this machine alone."
            " Use --bundle to store the files with it, or a URL as --repo."
        )
    return Repository(source=f"git:{url}", revision=base, licence=licence, homepage=homepage)


def repository_name(url: str) -> str:
    """What a repository is called: the last part of its place."""
    return (
        url.rstrip("/").removesuffix("/.git").removesuffix(".git").replace(":", "/").rpartition("/")[2] or "repository"
    )


def _title(instruction: str, name: str) -> str:
    first = next((line.strip() for line in instruction.splitlines() if line.strip()), "")
    line = printable(first.lstrip("#").strip(), 100)
    return line if len(line) >= 3 else f"Edit {name}"


def _python(version: str) -> str:
    plain = version.strip().removeprefix(">=").strip()
    if not re.fullmatch(r"3\.\d{1,2}", plain):
        raise BadInput(f"{quote(version)} is no Python version.", "Write it as 3.11.")
    return f">={plain}"


def _import_path(base: dict[str, HistoryEntry]) -> tuple[str, ...]:
    return (".", "src") if any(path.startswith("src/") for path in base) else (".",)
