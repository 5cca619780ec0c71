"""The files of a submission folder, looked at before any is read: names, kinds, sizes, digests."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.report.leaderboard.entry import FIGURES, MANIFEST, RUN, SUBMISSION, EntryRefusal

__all__ = ["MOST_FILES", "MOST_FILE_BYTES", "MOST_TOTAL_BYTES", "check_sealed", "digest", "manifest_of", "strict_json"]

MOST_FILES = 200_000
MOST_FILE_BYTES = 32 * 2**20
MOST_TOTAL_BYTES = 2 * 2**30
_MOST_DEPTH = 24
_ID = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_ALLOWED = re.compile(
    rf"{re.escape(SUBMISSION)}|{FIGURES}|{MANIFEST}|{RUN}/run\.json|{RUN}/journal\.jsonl"
    rf"|{RUN}/attempts/{_ID}/(?:attempt\.json|verdict\.json|usage\.jsonl|submission/.+)",
    re.DOTALL,
)
_NEEDED = (SUBMISSION, FIGURES, MANIFEST, f"{RUN}/run.json", f"{RUN}/journal.jsonl")


def check_sealed(folder: Path) -> list[EntryRefusal]:
    """Say what is wrong with the files themselves: links, strange names, sizes, and what the manifest does not hold.

    Nothing is followed. Where this finds something, nothing in the folder should be read.
    """
    sizes: dict[str, int] = {}
    refusals = list(_look(folder, sizes))
    refusals += [EntryRefusal(name, "it is missing.") for name in _NEEDED if name not in sizes]
    if refusals:
        return refusals
    return list(_against_manifest(folder, sizes))


def _look(folder: Path, sizes: dict[str, int]) -> Iterator[EntryRefusal]:
    waiting, total = [folder], 0
    while waiting:
        place = waiting.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda item: item.name)
        except OSError as error:
            yield EntryRefusal(place.relative_to(folder).as_posix(), f"it cannot be read: {error.strerror}.")
            continue
        for entry in entries:
            path = Path(entry.path)
            name = path.relative_to(folder).as_posix()
            if entry.is_symlink():
                yield EntryRefusal(name, "it is a symbolic link; a submission holds plain files alone.")
            elif entry.is_dir(follow_symlinks=False):
                if name.count("/") >= _MOST_DEPTH:
                    yield EntryRefusal(name, f"it lies deeper than {_MOST_DEPTH} folders.")
                else:
                    waiting.append(path)
            else:
                yield from _look_at(entry, name, sizes)
                total += sizes.get(name, 0)
        if len(sizes) > MOST_FILES or total > MOST_TOTAL_BYTES:
            yield EntryRefusal(".", f"it holds more than {MOST_FILES} files or {MOST_TOTAL_BYTES} bytes.")
            return


def _look_at(entry: os.DirEntry[str], name: str, sizes: dict[str, int]) -> Iterator[EntryRefusal]:
    status = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        yield EntryRefusal(name, "it is no plain file.")
    elif not _ALLOWED.fullmatch(name) or not name.isprintable():
        yield EntryRefusal(name, "a submission has no such file.")
    elif status.st_size > MOST_FILE_BYTES:
        yield EntryRefusal(name, f"its {status.st_size} bytes are more than the {MOST_FILE_BYTES} allowed.")
    else:
        sizes[name] = status.st_size


def _against_manifest(folder: Path, sizes: dict[str, int]) -> Iterator[EntryRefusal]:
    found = strict_json((folder / MANIFEST).read_bytes())
    files = found.get("files") if isinstance(found, dict) else None
    if isinstance(found, str) or not isinstance(files, dict) or set(found) != {"schema", "files"}:
        yield EntryRefusal(MANIFEST, found if isinstance(found, str) else "it has no object `files` beside `schema`.")
        return
    for name, stated in files.items():
        if name.startswith("/") or ".." in name.split("/") or "\\" in name or name in (MANIFEST, ""):
            yield EntryRefusal(MANIFEST, f"it names {name!r}, which is no path inside the submission.")
        elif name not in sizes:
            yield EntryRefusal(name, "the manifest names it, and it is missing.")
        elif stated != (seen := {"size": sizes[name], "sha256": digest(folder / name)}):
            yield EntryRefusal(name, f"it is not the file of the manifest: its sha256 is {seen['sha256']}.")
    for name in sizes:
        if name not in files and name != MANIFEST:
            yield EntryRefusal(name, "the manifest does not name it.")


def manifest_of(folder: Path) -> bytes:
    """The manifest of a folder as it lies there, itself left out."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    files = {
        name: {"size": (folder / name).stat().st_size, "sha256": digest(folder / name)}
        for name in names
        if name != MANIFEST
    }
    return json.dumps({"schema": 1, "files": files}, indent=1).encode() + b"\n"


def digest(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def strict_json(content: bytes) -> Any:
    """A JSON document without repeated keys, NaN or infinities; a sentence (text) where it is none such."""
    try:
        return json.loads(content, object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError:
        return "its JSON is nested too deeply."
    except ValueError as error:
        return f"it is not proper JSON: {error}."


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")
