"""Under which names a repository's own project is published: what its packaging files, its source and its folders say.

Read from a stranger's tree: nothing is run, no link is followed, and a name too many costs less than one too few.
"""

from __future__ import annotations

import configparser
import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from repoassay.records import load_toml
from repoassay.tasks import read_regular
from repoassay.types import Repository

__all__ = ["project_names"]

_MOST_BYTES = 1 << 20
_MOST_FILES = 400
_DEEPEST = 2
_ASIDE = frozenset(
    (
        "tests", "test", "testing", "docs", "doc", "examples", "example", "samples", "fixtures", "node_modules",
        "vendor", "_vendor", "vendored", "third_party", "scripts", "script", "tools", "tool", "utils", "util", "bench",
        "benchmarks", "bin", "build", "dist", "ci", "common", "migrations", "src", "lib", "packages", "requirements",
    )
)  # fmt: skip
"""Folders whose names, and whose manifests save of the last four, say nothing of what a project is called."""
_HOLDERS = frozenset({"src", "lib", "packages"})
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,198}[A-Za-z0-9])?")
_NODE_NAME = re.compile(r"@[a-z0-9_.~-]{1,100}/[A-Za-z0-9_.~-]{1,100}")
_SETUP = re.compile(r"""\b\w*name\s*=\s*["']([^"'\n]{1,200})["']""", re.IGNORECASE)


def project_names(tree: Path, repository: Repository, path: tuple[str, ...] = (".",)) -> frozenset[str]:
    """Names of a repository's distributions and packages, in lower case; scopes of npm are joined with a hyphen.

    Args:
        tree: Its checkout; an empty folder where there is none.
        repository: Where it comes from, whose name is one of them.
        path: Folders of the repository on the import path.
    """
    kind, _, place = repository.source.partition(":")
    found = [repository.name]
    if kind in ("pypi", "npm"):
        found.append(place.rpartition("==")[0])
    if home := re.fullmatch(r"https?://[^/]+/[^/]+/([^/]+?)(?:\.git)?/?", repository.homepage):
        found.append(home[1])
    for file in _manifests(tree):
        with contextlib.suppress(OSError, ValueError, RecursionError, configparser.Error):
            text = read_regular(tree / file, _MOST_BYTES).decode("utf-8", "replace")
            found += [name for name in _READERS[file.name](text) if isinstance(name, str)]
    for root in dict.fromkeys((*path, "src", "lib")):
        found += _packages(tree, root)
    return frozenset(_plain(name) for name in found if _NAME.fullmatch(name) or _NODE_NAME.fullmatch(name))


def _plain(name: str) -> str:
    return name.lower().removeprefix("@").replace("/", "-")


def _manifests(tree: Path) -> Iterator[PurePosixPath]:
    """Packaging files at the root and of the parts of a repository that holds several projects."""
    seen = 0
    for place, folders, files in os.walk(tree, followlinks=False):
        below = PurePosixPath(Path(place).relative_to(tree).as_posix())
        deep = len(below.parts) >= _DEEPEST
        folders[:] = [] if deep else sorted(name for name in folders if _is_part(name))
        for name in sorted(_READERS.keys() & set(files)):
            seen += 1
            if seen > _MOST_FILES:
                return
            yield below / name


def _is_part(folder: str) -> bool:
    return not folder.startswith(".") and (folder not in _ASIDE or folder in _HOLDERS)


def _packages(tree: Path, root: str) -> list[str]:
    """Import packages at the top of a folder on the import path."""
    top = tree / root
    if not top.resolve().is_relative_to(tree.resolve()):
        return []
    try:
        folders = [item for item in top.iterdir() if item.is_dir() and not item.is_symlink()]
    except OSError:
        return []
    return [item.name for item in folders if item.name not in _ASIDE and (item / "__init__.py").is_file()]


def _pyproject(text: str) -> Iterator[object]:
    document = load_toml(text)
    for keys in (
        ("project", "name"),
        ("tool", "poetry", "name"),
        ("tool", "flit", "metadata", "dist-name"),
        ("tool", "flit", "metadata", "module"),
        ("tool", "flit", "module", "name"),
    ):
        value: object = document
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        yield value


def _setup_cfg(text: str) -> Iterator[object]:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    yield parser.get("metadata", "name", fallback=None)


def _setup_py(text: str) -> Iterator[object]:
    yield from _SETUP.findall(text)


def _package_json(text: str) -> Iterator[object]:
    document = json.loads(text)
    yield document.get("name") if isinstance(document, dict) else None


_READERS: dict[str, Callable[[str], Iterator[object]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "package.json": _package_json,
}
