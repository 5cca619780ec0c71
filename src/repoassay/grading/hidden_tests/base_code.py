"""What the jobs of one task share, as it is given to a prefork server to hold; see `held_code.py`.

Code of the base commit's modules, by imports found in the text, roughly: a module too many costs memory, one too few is
read by whoever imports it. The texts of longer ones, so that of a changed one only what was changed is compiled. And
what a *trial*, a run of the tests on the base without any submission, tells of itself: regular expressions it compiled,
modules of the standard library it imported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from repoassay.tasks import TaskFolder
from repoassay.types import FileEdit

__all__ = ["base_code", "brings_bytecode"]

_TOP = PurePosixPath("/workspace/repo")
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]*))", re.MULTILINE
)
_MOST_BYTES = 12 * 2**20
_LEAST_TEXT, _MOST_TEXT = 2**12, 2**19
"""Shorter modules are soon compiled; so much text in all takes a tenth of a second, once."""


def base_code(folder: TaskFolder, base: Path, bytecode: Path, learnt: object) -> dict[str, Any]:
    """The document for a task's jobs.

    Args:
        folder: The task.
        base: Checkout of its base commit.
        bytecode: The layer of byte code above it.
        learnt: What the trial told; nothing where it did not come to its end.
    """
    roots = [part.strip("/") for part in folder.task.environment.path]
    modules, texts, folders, total, room = [], [], dict.fromkeys(roots), 0, _MOST_TEXT
    for source in _closure(folder, base, roots):
        place = PurePosixPath(source)  # not by importlib: the user may have byte code kept elsewhere
        compiled = bytecode / place.parent / "__pycache__" / f"{place.stem}.{sys.implementation.cache_tag}.pyc"
        if not compiled.is_file() or compiled.is_symlink():
            continue
        total += compiled.stat().st_size
        if total > _MOST_BYTES:
            break
        modules.append((str(_TOP / source), compiled.read_bytes()))
        folders[str(PurePosixPath(source).parent)] = None
        text = (base / source).read_bytes()
        if _LEAST_TEXT <= len(text) <= room:
            room -= len(text)
            texts.append((str(_TOP / source), text))
    facts = learnt if isinstance(learnt, dict) else {}
    own = {item.stem for root in roots if (base / root).is_dir() for item in (base / root).iterdir()}
    return {
        "modules": modules,
        "texts": texts,
        "folders": [_listed(name, (bytecode, base)) for name in folders if _is(name, base)],
        "patterns": list(_patterns(facts.get("patterns"))),
        "imports": [name for name in _texts(facts.get("modules")) if _standard(name) and name.split(".")[0] not in own],
    }


def _texts(value: object) -> list[str]:
    return [item for item in value[:2000] if isinstance(item, str)] if isinstance(value, list) else []


def _standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names - {"antigravity", "this", "__main__"}


def _patterns(value: object) -> Iterator[tuple[str | bytes, int]]:
    for item in value[:5000] if isinstance(value, list) else []:
        match item:
            case [str(text), bool(in_bytes), int(flags)]:
                yield (text.encode("latin-1", "replace") if in_bytes else text), flags


def brings_bytecode(edits: Mapping[str, FileEdit | None]) -> bool:
    """Whether a patch brings byte code of its own, which Python then reads."""
    return any("__pycache__" in path or path.endswith(".pyc") for path in edits)


def _is(name: str, base: Path) -> bool:
    return (base / name).is_dir() and not any(place.is_symlink() for place in (base / name, *(base / name).parents))


def _listed(name: str, layers: Sequence[Path]) -> tuple[str, float, list[str]]:
    """A folder as a job sees it: the time of the uppermost layer that has it, and the names of all."""
    found = [layer / name for layer in layers if (layer / name).is_dir()]
    names = sorted({item.name for place in found for item in place.iterdir()})
    return str(_TOP / name), found[0].stat().st_mtime, names


def _closure(folder: TaskFolder, base: Path, roots: Sequence[str]) -> Iterator[str]:
    """Sources below `base`, by path, that the task's tests import, or what they import does."""
    pending = [name for path in sorted(folder.tests.rglob("*.py")) for name in _imported_names(path.read_bytes(), "")]
    known: set[str] = set()
    while pending:
        name = pending.pop()
        for root in roots:
            if found := _source(base, root, name):
                if found not in known:
                    known.add(found)
                    yield found
                    package = name if found.endswith("/__init__.py") else name.rpartition(".")[0]
                    pending += _imported_names((base / found).read_bytes(), package)
                break


def _source(base: Path, root: str, name: str) -> str:
    stem = PurePosixPath(root, *name.split("."))
    for path in (stem / "__init__.py", stem.with_name(f"{stem.name}.py")):
        if (base / path).is_file() and not (base / path).is_symlink():
            return str(path)
    return ""


def _imported_names(source: bytes, package: str) -> Iterator[str]:
    """Modules, and what could be one, that a source names in its imports, with the packages around them."""
    for dots, start, names, plain in _IMPORT.findall(source):
        above = package.split(".")[: len(package.split(".")) - len(dots) + 1] if dots and package else []
        origin = ".".join([*above, *filter(None, start.decode(errors="replace").split("."))])
        words = [word.split()[0] for word in (plain or names).decode(errors="replace").strip("() \t\\").split(",")
                 if word.split()]  # fmt: skip
        yield from _with_parents(words if plain else [origin, *(f"{origin}.{word}" for word in words)])


def _with_parents(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        parts = [part for part in name.split(".") if part.isidentifier()]
        yield from (".".join(parts[:size]) for size in range(1, len(parts) + 1))
