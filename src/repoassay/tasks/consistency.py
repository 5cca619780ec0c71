"""Whether what `task.toml` says and what lies in the folder agree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from repoassay.errors import Problem
from repoassay.tasks.contents import Contents, is_cache, read_regular, real_folder, unreadable
from repoassay.tasks.folder import STEPS
from repoassay.tasks.requirements import check_requirements
from repoassay.tasks.steps import step_problems
from repoassay.tasks.task_toml import FILE, TaskDocument
from repoassay.text import join_names, printable, quote, suggest
from repoassay.types import (
    IN_REPOSITORY,
    Environment,
    Grading,
    HiddenTests,
    Inputs,
    Outputs,
    PublishedCriteria,
    Repository,
    Task,
    TaskKind,
)

__all__ = ["SOLUTIONS", "disagreements"]

SOLUTIONS = {
    TaskKind.DELIVERABLE: ("solution/solve.py", "solution/make.py"),
    TaskKind.EDIT: ("solution/changes.diff",),
    TaskKind.PULL_REQUEST: ("solution/changes.diff",),
    TaskKind.STATE: ("solution/solve.sh", "solution/changes.diff"),
}
"""What the reference solution of each kind of task may be."""
_MAX_REQUIREMENTS = 4 * 2**20


def disagreements(
    written: TaskDocument,
    folder: Path,
    contents: Contents,
    repositories: Path | None,
    metrics: Collection[str] | None,
    *,
    own: bool = True,
) -> Iterator[Problem]:
    """Yield every disagreement that can be seen in the sections that were understood.

    Args:
        written: What task.toml says.
        folder: The task folder.
        contents: What lies in it.
        repositories: Where `bundled:NAME` repositories lie.
        metrics: Names of the known metrics; None to accept any.
        own: Whether the task is our own work, which must come with a solution; a published one may lack it.
    """
    if written.inputs:
        yield from _inputs(written.inputs, contents)
    if written.outputs:
        yield from _outputs(written.outputs)
    if written.grading:
        yield from _criteria(written.grading, written.inputs, contents, metrics)
        if written.grading.tests:
            yield from _tests(written.grading.tests, contents)
    if written.task:
        yield from _steps(written.task, contents)
    if written.environment:
        yield from _environment(written.environment, folder, contents)
    if written.repository:
        place = _repository_folder(written.repository, folder, repositories)
        yield from [place] if isinstance(place, Problem) else _import_path(written.environment, place)
        if isinstance(place, Path):
            yield from _rules_there(written.rules, place)
    unproven = written.kind is TaskKind.STATE and not contents.below("solution")  # and nobody is blamed by it
    if written.kind and own and not unproven:
        yield from _solution(SOLUTIONS[written.kind], contents)
        if written.kind is TaskKind.PULL_REQUEST:
            yield from _solution(("solution/description.md",), contents)
    if written.rules:
        yield from _rules(written.rules, contents)


def _inputs(inputs: Inputs, contents: Contents) -> Iterator[Problem]:
    there = {path for path in contents.below("inputs") if not is_cache(path)}
    for index, name in enumerate(inputs.files):
        if is_cache(name):
            yield Problem(FILE, f"inputs.files[{index}]", f"names {quote(name)}, compiled code.", "Give its source.")
        elif _plain(name) not in there:
            yield Problem(
                FILE, f"inputs.files[{index}]", f"names {quote(name)}, which is not in inputs/.",
                suggest(name, there) or "Add the file.",
            )  # fmt: skip
    named = {_plain(name) for name in inputs.files}
    for path in sorted(there - named):
        yield Problem(f"inputs/{printable(path)}", "", "is not named in inputs.files.", "Name it there or remove it.")
    yield from _repeated("inputs.files", inputs.files)


def _outputs(outputs: Outputs) -> Iterator[Problem]:
    yield from _repeated("outputs.files", outputs.files)
    names = {_plain(name) for name in outputs.files}
    for name in sorted(names):
        parent = next((str(above) for above in PurePosixPath(name).parents if str(above) in names), None)
        if parent:
            what = f"names {quote(parent)} both as a file and as the folder of {quote(name)}."
            yield Problem(FILE, "outputs.files", what, "Rename one.")


def _repeated(key: str, names: Collection[str]) -> Iterator[Problem]:
    for name, count in Counter(map(_plain, names)).items():
        if count > 1:
            yield Problem(FILE, key, f"names {quote(name)} {count} times.", "Keep one.")


def _criteria(
    grading: Grading, inputs: Inputs | None, contents: Contents, metrics: Collection[str] | None
) -> Iterator[Problem]:
    truths = {path for path in contents.below("tests") if not is_cache(path)}
    names = None if inputs is None else {_plain(name) for name in inputs.files}
    published = grading.published or PublishedCriteria()
    for stage, criteria in (
        ("process", grading.process),
        ("result", grading.result),
        ("published.process", published.process),
        ("published.result", published.result),
    ):
        for index, criterion in enumerate(criteria):
            key = f"grading.{stage}[{index}]"
            if metrics is not None and criterion.metric not in metrics:
                what = f"is {quote(criterion.metric)}, which is not a metric."
                yield Problem(FILE, f"{key}.metric", what, suggest(criterion.metric, metrics))
            source, _, name = (criterion.against or "").partition(":")
            if name == ".":
                continue
            if source == "truth" and _plain(name) not in truths:
                what = f"names {quote(name)}, which is not in tests/."
                yield Problem(FILE, f"{key}.against", what, suggest(name, truths) or "Add the file.")
            if source == "input" and names is not None and _plain(name) not in names:
                what = f"names {quote(name)}, which inputs.files does not."
                yield Problem(FILE, f"{key}.against", what, suggest(name, names) or "Name it there.")


def _steps(task: Task, contents: Contents) -> Iterator[Problem]:
    yield from step_problems(task, contents)
    for index, step in enumerate(task.steps):
        top = f"{STEPS}/{step.name}"
        yield from _tests(step.tests, contents, f"{top}/tests", f"steps[{index}].tests")
        if contents.below(f"{top}/solution"):
            yield from _solution((f"{top}/solution/solve.sh",), contents)


def _tests(
    tests: HiddenTests, contents: Contents, folder: str = "tests", section: str = "grading.tests"
) -> Iterator[Problem]:
    there = contents.below(folder)
    if tests.runner == "repository":
        yield from _in_place(tests, contents)
        return
    for key, ids in (("fail_to_pass", tests.fail_to_pass), ("pass_to_pass", tests.pass_to_pass)):
        for index, test in enumerate(ids):
            file, separator, name = test.partition("::")
            place = f"{section}.{key}[{index}]"
            if not separator or not name:
                yield Problem(FILE, place, f"is {quote(test)}.", "Write it as FILE::NAME or FILE::CLASS::NAME.")
            elif _plain(file) not in there:
                what = f"names the file {quote(file)}, which is not in {folder}/."
                yield Problem(FILE, place, what, suggest(file, there) or "Add the file.")
    yield from _twice(tests)


def _in_place(tests: HiddenTests, contents: Contents) -> Iterator[Problem]:
    """Tests that run in the repository are named as their program names them."""
    if tests.patch is not None and _plain(tests.patch) not in contents.files:
        what = f"names {quote(tests.patch)}, which does not exist."
        yield Problem(FILE, "grading.tests.patch", what, "Add the file.")
    elif tests.patch is not None and PurePosixPath(tests.patch).parts[0] not in {"tests", "solution"}:
        what = f"names {quote(tests.patch)}, which agents would see."
        yield Problem(FILE, "grading.tests.patch", what, "Put the file in tests/.")
    if not tests.files:
        yield Problem(FILE, "grading.tests.files", "is empty.", "Name the files or modules that are to be run.")
    yield from _twice(tests)


def _twice(tests: HiddenTests) -> Iterator[Problem]:
    twice = [test for test, count in Counter(tests.all_ids).items() if count > 1]
    if twice:
        yield Problem(
            FILE, "grading.tests", f"names these tests more than once: {join_names(twice)}.", "Keep one each."
        )


def _environment(environment: Environment, folder: Path, contents: Contents) -> Iterator[Problem]:
    if not re.fullmatch(r">=\s*\d{1,3}\.\d{1,3}", environment.python.strip()) and not environment.release_line:
        what = f"is {quote(environment.python)}."
        yield Problem(FILE, "environment.python", what, "Write it as '>=3.11', or as one release line such as '3.9'.")
    for index, entry in enumerate(environment.path):
        if not entry or PurePosixPath(entry).is_absolute() or ".." in PurePosixPath(entry).parts or ":" in entry:
            yield Problem(
                FILE, f"environment.path[{index}]", f"is {quote(entry)}, which is no folder inside the repository.",
                "Write a path relative to the repository, such as 'src'.",
            )  # fmt: skip
    file = environment.requirements or environment.resolve
    if file is None:
        return
    if _plain(file) not in contents.files:
        remedy = suggest(file, [name for name in contents.files if name.endswith(".txt")]) or "Add the file."
        yield Problem(FILE, "environment.requirements", f"names {quote(file)}, which does not exist.", remedy)
        return
    try:
        content = read_regular(folder / _plain(file), _MAX_REQUIREMENTS)
    except OSError as error:
        yield unreadable(file, error)
    else:
        if environment.requirements:
            yield from check_requirements(content, printable(file))


def _repository_folder(repository: Repository, folder: Path, repositories: Path | None) -> Path | Problem | None:
    """Where the repository lies, if it lies on this disk, or what is wrong with its place."""
    kind, _, name = repository.source.partition(":")
    key = "repository.source"
    if kind == "bundled":
        if repositories is None:
            what = f"names the bundled repository {quote(name)}, but there is no folder repositories/."
            return Problem(FILE, key, what, "Put repositories/ beside the suite's tasks/.")
        if not real_folder(repositories) or not real_folder(repositories / name):
            there = [item.name for item in repositories.iterdir()] if real_folder(repositories) else []
            what = f"names the bundled repository {quote(name)}, which is not in repositories/."
            return Problem(FILE, key, what, suggest(name, there) or "Add it.")
        return repositories / name
    if kind != "folder":
        return None
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] in {"tests", "solution"}:
        what = f"names the folder {quote(name)}, which is not a folder of its own inside the task folder."
        return Problem(FILE, key, what, "Put the repository in a folder such as 'repository' beside task.toml.")
    if not all(real_folder(folder.joinpath(*path.parts[: depth + 1])) for depth in range(len(path.parts))):
        return Problem(FILE, key, f"names the folder {quote(name)}, which does not exist.", "Add it.")
    return folder / path


def _import_path(environment: Environment | None, repository: Path | None) -> Iterator[Problem]:
    if environment is None or repository is None:
        return
    for index, entry in enumerate(environment.path):
        path = PurePosixPath(entry)
        outside = path.is_absolute() or ".." in path.parts or "\0" in entry
        if entry and not outside and not (repository / path).is_dir():
            what = f"is {quote(entry)}, which is not a folder of the repository."
            yield Problem(FILE, f"environment.path[{index}]", what, "Correct it or remove it.")


def _solution(files: Collection[str], contents: Contents) -> Iterator[Problem]:
    there = [file for file in files if file in contents.files]
    if not there:
        file = next(iter(files))
        yield Problem(file, "", "is missing.", "Add the reference solution; it proves that the task can be done.")
    for file in there:
        if contents.files[file] == 0:
            yield Problem(file, "", "is empty.", "Write the reference solution; it proves that the task can be done.")


def _rules(rules: str, contents: Contents) -> Iterator[Problem]:
    """Rules of the repository's own are looked for when it is laid out; those of the task must be in its folder."""
    if rules.startswith(IN_REPOSITORY):
        return
    if _plain(rules) not in contents.files:
        remedy = suggest(rules, [name for name in contents.files if name.endswith(".md")]) or "Add the file."
        yield Problem(FILE, "task.rules", f"names {quote(rules)}, which does not exist.", remedy)
    elif PurePosixPath(rules).parts[0] in {"tests", "solution"}:
        yield Problem(FILE, "task.rules", f"names {quote(rules)}, which agents must not see.", "Move the file.")


def _rules_there(rules: str, repository: Path) -> Iterator[Problem]:
    name = rules.removeprefix(IN_REPOSITORY)
    path = PurePosixPath(name)
    if rules.startswith(IN_REPOSITORY) and ".." not in path.parts and not (repository / path).is_file():
        yield Problem(FILE, "task.rules", f"names {quote(name)}, which the repository does not have.", "Correct it.")


def _plain(path: str) -> str:
    """A relative path without '.' and doubled slashes."""
    return str(PurePosixPath(path))
