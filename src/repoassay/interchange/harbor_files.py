"""Folders of Harbor's tasks hold plain files: links that lead out, and pointers to files elsewhere, refuse a task."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from repoassay.interchange.image_file import ImportRefusal
from repoassay.text import printable

__all__ = ["PARTS", "check_plain", "leads_inside", "link_commands"]

_MOST_FILES = 50_000
PARTS = ("environment", "tests", "solution", "steps")
"""Folders of a task of Harbor; what else lies beside its task.toml is no part of it."""
_POINTER, _LARGEST_POINTER = b"version https://git-lfs.github.com/spec/", 1024


def check_plain(folder: Path) -> None:
    """Refuse links: one to a folder of this machine would bring its files into the task.

    Those of an image that lead to another of its files stay links.
    """
    image = folder / "environment"
    seen = 0
    parts = set(PARTS) if (folder / "task.toml").is_file() and not (folder / "task.yaml").is_file() else set()
    for place, folders, files in os.walk(folder):
        if parts and Path(place) == folder:
            folders[:] = [name for name in folders if name in parts]
        for name in (*folders, *files):
            seen += 1
            if seen > _MOST_FILES:
                raise ImportRefusal("Its files are more than a task may have.", "environment")
            path = Path(place, name)
            if path.is_relative_to(image) and leads_inside(path, image):
                continue
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                where = printable(path.relative_to(folder).as_posix(), 200)
                raise ImportRefusal("Its files hold a link or something else that is no plain file.", where)
            if name in files and path.stat().st_size < _LARGEST_POINTER and _is_pointer(path):
                where = printable(path.relative_to(folder).as_posix(), 200)
                raise ImportRefusal("It has a file that lies in Git LFS, of which only the pointer is here.", where)


def _is_pointer(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_POINTER)) == _POINTER


def leads_inside(path: Path, folder: Path) -> bool:
    """Whether a path is a link that leads, by way of its own folder, to what lies in a folder."""
    if not path.is_symlink() or path.readlink().is_absolute():
        return False
    target = Path(os.path.normpath(path.parent / path.readlink()))
    return target.is_relative_to(folder) and target.resolve() == folder.resolve() / target.relative_to(folder)


def link_commands(links: Mapping[str, Path]) -> list[str]:
    """The commands of a build that lay links at their places."""
    return [f"ln -sfn {shlex.quote(str(link.readlink()))} {shlex.quote(place)}" for place, link in links.items()]
