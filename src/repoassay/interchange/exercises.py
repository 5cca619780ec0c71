"""Exercises of Exercism's tracks, which Aider's polyglot benchmark is made of, as edit tasks.

An exercise has a stub, an example that solves it, and tests, all named in its `.meta/config.json`. It becomes a history
of two commits, stub and example, of which a task is constructed as of any other history: proved, or refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from repoassay.construct import TaskRequest, construct_commit
from repoassay.engine import GradingContext
from repoassay.errors import BadInput, InfraFault, Unavailable
from repoassay.interchange.image_file import ImportRefusal
from repoassay.records import read_regular
from repoassay.sandbox import temporary_folder
from repoassay.text import printable
from repoassay.workspace import run_git

__all__ = ["ExerciseTask", "Exercises"]

_CONFIG = ".meta/config.json"
_LANGUAGES = {
    ".py": "python", ".js": "javascript", ".cpp": "cpp", ".go": "go", ".java": "java", ".rs": "rust",
}  # fmt: skip
_RUN = frozenset({"python", "javascript"})
_TEXTS = ("introduction.md", "instructions.md", "instructions.append.md")
_ADDED = """
Change {files} so that it does what is asked, with nothing but the standard library. Keep the names of functions,
classes and files: hidden tests use them.
"""
_OFF = re.compile(rb"\bx(test|it|describe)\b")
"""How a track's tests are switched off but for the first, which students take in turn."""
_MOST_FILE, _MOST_FILES = 2**20, 200


class Exercises:
    """Practice exercises below one folder or more; those in Python and JavaScript are constructed."""

    title = "exercises of Exercism's tracks, as in Aider's polyglot benchmark"
    gives = "suite"
    version = ".meta/config.json of practice exercises"
    lost = (
        "Languages but Python and JavaScript: no tests of others are run.",
        "Second attempts: agents here go on for as long as their limits last, and are not shown the tests' output.",
    )

    def recognizes(self, source: Path) -> bool:
        """Whether it is an exercise, or has some within five levels."""
        return next(self.folders(source), None) is not None

    def folders(self, source: Path, depth: int = 5) -> Iterator[Path]:
        """Folders of exercises, in order of path; links are passed over."""
        if source.is_symlink() or not source.is_dir():
            return
        if (source / _CONFIG).is_file():
            yield source
        elif depth:
            for item in sorted(source.iterdir()):
                if item.name[0] != ".":
                    yield from self.folders(item, depth - 1)

    def convert(self, folder: Path) -> ExerciseTask:
        """Read one exercise.

        Raises:
            ImportRefusal: It lacks something, or is in a language whose tests are not run.
        """
        try:
            named = json.loads(read_regular(folder / _CONFIG, _MOST_FILE))["files"]
            solutions, tests, examples, helpers = (
                [str(name) for name in named.get(kind, ())] for kind in ("solution", "test", "example", "editor")
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ImportRefusal("Its config.json names no files.", _CONFIG, 0, str(error)) from error
        if not (solutions and tests) or len(examples) != len(solutions):
            raise ImportRefusal("It has no example for each file of its solution, or no tests.", _CONFIG)
        language = _LANGUAGES.get(PurePosixPath(solutions[0]).suffix, "an unknown language")
        if language not in _RUN:
            raise ImportRefusal(f"Its tests are in {language}, and are not run here.", _CONFIG, 0, tests[0])
        texts = [_text(folder, f".docs/{name}") for name in _TEXTS if (folder / ".docs" / name).is_file()]
        request = _ADDED.format(files=" and ".join(f"`{name}`" for name in solutions))
        heading = f"# {folder.name.replace('-', ' ').capitalize()}\n"
        base = {name: _bytes(folder, name) for name in (*solutions, *helpers)}
        if language == "javascript":
            base = {**_beside(folder, (*tests, *solutions)), **base}
        return ExerciseTask(
            name=f"{language}-{folder.name}",
            instruction="\n".join((heading, *texts, request)),
            base=base,
            example={name: _bytes(folder, path) for name, path in zip(solutions, examples, strict=True)},
            tests={name: _bytes(folder, name) for name in tests},
            in_place=language == "javascript",
        )


@dataclass(frozen=True, slots=True)
class ExerciseTask:
    """An exercise, in memory.

    Attributes:
        name: Its id with us.
        instruction: What the agent is told.
        base: Files to begin with, by path.
        example: What of them the solution changes.
        tests: Files of tests, by path.
        in_place: Whether tests run in the repository, as its own.
    """

    name: str
    instruction: str
    base: Mapping[str, bytes]
    example: Mapping[str, bytes]
    tests: Mapping[str, bytes]
    in_place: bool

    def write(self, place: Path, open_bench: Callable[[], GradingContext]) -> None:
        """Construct the task in a suite, below its `tasks`, as the folder `place`.

        Raises:
            ImportRefusal: It cannot be proved.
        """
        bench = open_bench()
        with temporary_folder("exercise") as scratch:
            tree, hidden = Path(scratch, self.name), Path(scratch, "tests")
            try:
                _commit(tree, self.base, "The exercise")
                switched = {name: _OFF.sub(rb"\1", test) for name, test in self.tests.items()} if self.in_place else {}
                _commit(tree, {**self.example, **switched}, "Its solution")
                _write(hidden, self.tests)
                request = TaskRequest(
                    str(tree), "HEAD", id=place.name, instruction=self.instruction, bundle=True,
                    tests=None if self.in_place else tuple(hidden / name for name in self.tests),
                    runner="repository" if self.in_place else "pytest",
                )  # fmt: skip
                result = construct_commit(request, place.parent.parent, bench.cache, bench.sandbox, workers=2)
            except (BadInput, InfraFault, Unavailable) as error:
                raise ImportRefusal(
                    "No task can be made of it here.", _CONFIG, 0, printable(str(error), 500)
                ) from error
        if result.folder is None:
            why = f"Its tests do not tell the example from the stub: {result.finding.value}."
            raise ImportRefusal(why, next(iter(self.tests)), 0, printable("; ".join(result.reasons), 500))


def _commit(tree: Path, files: Mapping[str, bytes], message: str) -> None:
    if not tree.exists():
        tree.mkdir()
        run_git(tree, "init", "--quiet", "--template=")
    _write(tree, files)
    run_git(tree, "add", "--all", "--force", ".")
    now = datetime.now(UTC).strftime("%Y-%m-%dT00:00:00Z")  # packages are taken as of this day
    dates = {"GIT_AUTHOR_DATE": now, "GIT_COMMITTER_DATE": now}
    run_git(tree, "commit", "--quiet", f"--message={message}", env=dates)


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _beside(folder: Path, passed_over: Sequence[str]) -> dict[str, bytes]:
    """Every other file of an exercise, which its tests may need: settings of the package and of the runner."""
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.startswith((".meta/", ".docs/", "node_modules/")) or name in passed_over or path.is_dir():
            continue
        files[name] = _bytes(folder, name)
        if len(files) > _MOST_FILES:
            raise ImportRefusal(f"It has more than {_MOST_FILES} files.", ".")
    return files


def _bytes(folder: Path, name: str) -> bytes:
    """A file of an exercise; what its config.json names may lead nowhere else."""
    path = PurePosixPath(name)
    inner = folder / name
    if path.is_absolute() or ".." in path.parts or name != printable(name, 200) or _through_link(folder, path):
        raise ImportRefusal("Its config.json names a file that is not its own.", _CONFIG, 0, name)
    try:
        return read_regular(inner, _MOST_FILE)
    except OSError as error:
        raise ImportRefusal("A file that its config.json names cannot be read.", name, 0, str(error)) from error


def _through_link(folder: Path, path: PurePosixPath) -> bool:
    return any(folder.joinpath(*path.parts[:depth]).is_symlink() for depth in range(1, len(path.parts) + 1))


def _text(folder: Path, name: str) -> str:
    return _bytes(folder, name).decode("utf-8", "replace")
