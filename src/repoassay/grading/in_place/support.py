"""The maintainers' test set-up: what of a repository belongs to its tests and is therefore never the submission's.

It is taken from the base commit, the task's test patch and the files below the task's tests/. What a submission changes
of it is left out and told.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.errors import InfraFault
from repoassay.tasks import TaskFolder, read_regular
from repoassay.text import join_names
from repoassay.types import FileEdit

__all__ = ["SETTINGS", "TEST_FOLDERS", "TestSetup", "left_out", "replaces_module", "setup_of", "source_of", "starts_up"]

_MOST_BYTES = 256 * 2**20
TEST_FOLDERS = frozenset({"tests", "test", "testing", "t", "spec", "specs", "__tests__"})
"""Names of folders that hold tests and what belongs to them."""
_SORT = "(?:acceptance|e2e|functional|integration|regression|smoke|system|unit)"
_NAMED = re.compile(rf"tests?|test[_-]?suites?|{_SORT}[_-]?tests?|tests?[_-]?{_SORT}", re.IGNORECASE)
"""Further names that no package has for its code; `test_utils` may be one."""
_TESTLIKE = re.compile(r"^tests?(?![a-z])|(^|[_.-])(tests?|checks?|specs?)[_.-]|[a-z\d]Tests?\.")
"""Names of files of tests, by whole words; `inspect.py`, whose docstrings are run as tests, has none."""
SETTINGS = frozenset({
    "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml", "noxfile.py",
})  # fmt: skip
"""Files with settings of tests: those in the root, and in any folder above tests, where pytest looks first."""
_CUSTOM = frozenset({"sitecustomize", "usercustomize"})
"""Modules that Python imports at its start: files, byte code, extensions or packages."""
_METADATA = (".egg-info", ".dist-info")
"""Ends of folders by which an installed package names plug-ins, in letters of either case."""
_NODE_FILES = (
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "yarn.lock",
    ".npmrc", ".pnpmfile.cjs", ".yarnrc*", "tsconfig*.json", "jsconfig*.json", ".swcrc", "babel.config.*", ".babelrc*",
    "*vitest.config.*", "*vitest.*.config.*", "vitest.workspace.*", "vitest.setup.*", "vite.config.*", "*jest.config.*",
    "jasmine.json", "jest.setup.*", "jest.preset.*", ".mocharc*", "ava.config.*", "*.ava.config.*", ".taprc", ".env",
    ".env.*", "postcss.config.*", ".postcssrc*",
)  # fmt: skip
"""Files that decide how Node's runners find, compile and run tests, wherever they lie, or that their main process runs:
Vite looks for PostCSS's whatever the tests import."""
_NODE_FOLDERS = frozenset({"node_modules", "__snapshots__", "__mocks__", "tap-snapshots"})
"""Folders of packages, of what tests are compared with, and of what takes the place of modules in Jest and Vitest."""


@dataclass(frozen=True, slots=True)
class TestSetup:
    """The test set-up of a task.

    Attributes:
        edits: What is laid over the base commit, by path in the repository: the test patch, the task's files, and the
            reference solution's own `conftest.py` and settings.
        roots: Folders of tests that hold what the task runs or changes.
        patterns: Further files of the set-up, as shell patterns.
        solution: Paths that the reference solution changes; they are a submission's to change, too.
        of_node: Whether Node runs the tests.
        above: The folders above files of tests, `.` among them.
        namesakes: Packages and modules that would be imported in place of a folder of tests without `__init__.py`.
    """

    __test__ = False  # not a test class, whatever pytest thinks of its name

    edits: Mapping[str, FileEdit | None]
    roots: frozenset[str]
    patterns: tuple[str, ...]
    solution: frozenset[str]
    of_node: bool = False
    above: frozenset[str] = frozenset({"."})
    namesakes: frozenset[str] = frozenset()

    def holds(self, path: str) -> bool:
        """Whether a path of the repository belongs to the set-up."""
        if path in self.edits:
            return True
        if path in self.solution:
            return False
        if _decides(path, self.of_node, self.above) or any(path.startswith(f"{root}/") for root in self.roots):
            return True
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in self.patterns)

    def split(self, edits: Mapping[str, FileEdit | None]) -> tuple[dict[str, FileEdit | None], list[str]]:
        """Return what of a submission is laid over the base, set-up included, and the paths that are left out of it."""
        kept = {path: edit for path, edit in edits.items() if not self._replaces(path)}
        return {**kept, **self.edits}, sorted(edits.keys() - kept.keys())

    def _replaces(self, path: str) -> bool:
        """Whether a change belongs to the set-up, or makes a folder of one of its files or a file of its folders."""
        place = PurePosixPath(path)
        above = {str(folder) for folder in place.parents}
        if self.holds(path) or any(name in above or name.startswith(f"{path}/") for name in self.edits):
            return True
        module, _, rest = place.name.partition(".")
        named = place.parent if module == "__init__" else place.parent / module
        if rest.endswith(("py", "pyc", "so")) and str(named) in self.namesakes and path not in self.solution:
            return True
        home = place.parent.parent if place.name.startswith("__init__.") else place.parent
        return replaces_module(place, {name.name for name in map(PurePosixPath, self.edits) if name.parent == home})


def setup_of(folder: TaskFolder, base: Path) -> TestSetup:
    """Return the test set-up of a task.

    Args:
        folder: A task whose tests run in the repository.
        base: Checkout of its base commit.

    Raises:
        InfraFault: When the test patch does not apply to the base.
    """
    tests = folder.task.hidden_tests
    of_node = tests.in_javascript
    return _setup_of(folder.path, folder.digest, base, tests.patch, tests.files, tests.support, of_node)


def source_of(folder: TaskFolder, base: Path, name: str) -> str:
    """Return the text of a test file as it is run.

    Args:
        folder: The task.
        base: Checkout of its base commit.
        name: Path in the repository.

    Raises:
        OSError: When there is no such file.
        ValueError: When it is no text.
    """
    laid = setup_of(folder, base).edits.get(name)
    return laid.content.decode() if laid else (base / name).read_text(encoding="utf-8")


def left_out(paths: Sequence[str]) -> list[str]:
    """A sentence on what of a submission is not used; none where there is nothing."""
    if not paths:
        return []
    return [f"Left out, because tests and their set-up are the maintainers': {join_names(paths, 8)}."]


@lru_cache(maxsize=256)
def _setup_of(
    place: Path, digest: str, base: Path, patch: str | None, files: tuple[str, ...], support: tuple[str, ...],
    of_node: bool,
) -> TestSetup:  # fmt: skip
    del digest  # other contents, another set-up
    edits: dict[str, FileEdit | None] = {}
    if patch is not None:
        edits.update(_patched(place, patch, base, "test patch"))
    for file in sorted((place / "tests").rglob("*")):
        name = file.relative_to(place / "tests").as_posix()
        if file.is_file() and f"tests/{name}" != patch and "__pycache__" not in file.parts:
            edits[name] = FileEdit(file.read_bytes())
    solution = place / "solution/changes.diff"
    changed = _patched(place, "solution/changes.diff", base, "solution") if solution.is_file() else {}
    for name in files:  # tests that nothing of the task changes are no more a submission's than those it changes
        real = base / name
        if _TESTLIKE.search(real.name) and name not in changed and real.is_file() and not real.is_symlink():
            edits.setdefault(name, FileEdit(real.read_bytes(), bool(real.stat().st_mode & 0o100)))
    named = (*edits, *(file for file in files if (base / file).exists()))
    above = frozenset(str(parent) for each in named for parent in (each, *PurePosixPath(each).parents)) | {"."}
    # What decides how tests run is never the submission's, not even where the solution changes it.
    edits = {**{path: edit for path, edit in changed.items() if _decides(path, of_node, above)}, **edits}
    roots = frozenset(_roots(named))
    namesakes = frozenset(_namesakes(roots, base, edits))
    return TestSetup(edits, roots, support, frozenset(changed) - edits.keys(), of_node, above, namesakes)


def _namesakes(roots: Collection[str], base: Path, edits: Collection[str]) -> Iterable[str]:
    """Where Python would find a package or module first that has the name of a folder of tests which is none."""
    sources = [folder.name for folder in base.iterdir() if folder.is_dir() and not (folder / "__init__.py").exists()]
    for root in roots:
        if f"{root}/__init__.py" in edits or (base / root / "__init__.py").exists():
            continue
        name = PurePosixPath(root).name
        places = {root, *(f"{source}/{name}" for source in (".", *sources) if not (base / source / name).exists())}
        yield from (str(PurePosixPath(place)) for place in places if not (base / f"{place}.py").exists())


def _decides(path: str, of_node: bool, above: Collection[str]) -> bool:
    """Whether a file decides how tests run: what its program loads by itself, and settings above tests."""
    folder, name = PurePosixPath(path).parent, PurePosixPath(path).name
    if of_node:
        own = any(fnmatch.fnmatchcase(name, pattern) for pattern in _NODE_FILES)
        return own or not _NODE_FOLDERS.isdisjoint((*folder.parts, name))
    return starts_up(path) or (name in SETTINGS and str(folder) in above)


def starts_up(path: str) -> bool:
    """Whether Python or pytest may load a file, wherever it lies, without being asked or in place of its source."""
    *folders, name = PurePosixPath(path).parts
    if "__pycache__" in folders:
        return True
    if name == "conftest.py" or replaces_module(PurePosixPath(path), {"conftest.py"}):
        return True
    if name.endswith(".pth") or any(each.lower().endswith(_METADATA) for each in folders):
        return True
    return not _CUSTOM.isdisjoint(each.partition(".")[0] for each in (*folders, name))


def replaces_module(path: PurePosixPath, names: Collection[str]) -> bool:
    """Whether Python takes a file, of a package or an extension, in place of a module whose file is among `names`."""
    module, _, rest = path.name.partition(".")
    if module == "__init__":
        return f"{path.parent.name}.py" in names
    return rest.endswith("so") and f"{module}.py" in names


def _patched(place: Path, name: str, base: Path, what: str) -> Mapping[str, FileEdit | None]:
    try:
        return apply_patch(read_patch(read_regular(place / name, _MOST_BYTES)), base).edits
    except (OSError, PatchError) as error:
        raise InfraFault(f"The {what} of {place.name} does not apply to its base commit: {error}") from error


def _roots(paths: Iterable[str]) -> Iterable[str]:
    """The outermost folder of tests above each path."""
    for path in paths:
        parts = PurePosixPath(path).parts
        depth = next(
            (number for number, part in enumerate(parts) if part in TEST_FOLDERS or _NAMED.fullmatch(part)), None
        )
        if depth is not None:
            yield "/".join(parts[: depth + 1])
