"""Exports: a run, some of its attempts, or a suite, written as one file of another program's format.

A format is an entry point `repoassay.exporters`: an object or class with `export(source)`, which returns the file's
content as text, bytes, or an iterable of either, or with `files(source)`, which yields the files of a folder. File or
folder are written here, whole or not at all. One with `send(source, destination)` hands it to a service instead.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from repoassay import plugins
from repoassay.errors import BadInput, RepoAssayError, Unavailable
from repoassay.records import FinishedAttempt, RunFolder
from repoassay.report.attempt_timeline import find_attempts
from repoassay.tasks import SuiteFolder, find_suite, named_suites
from repoassay.text import printable, quote

__all__ = ["ExportSource", "Exporter", "export_file", "export_to", "exporter_titles", "find_source"]

_GROUP = "repoassay.exporters"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ExportSource:
    """What is exported: attempts of a run, or a suite; the other is None.

    `attempt` is the id of the one attempt asked for; empty for a whole run.
    """

    run: RunFolder | None = None
    attempt: str = ""
    suite: SuiteFolder | None = None

    def attempts(self) -> Iterator[FinishedAttempt]:
        """Finished attempts asked for, in the order they ended; none of a suite."""
        for found in self.run.finished() if self.run else ():
            if self.attempt in ("", found.attempt.id):
                yield found


class Exporter(Protocol):
    """A format of files.

    `title` says what is written, in one line; `takes` lists `run`, `suite` or both, and is both where it is absent.
    A format that is a folder has, instead of `export`, `files(source)`, which yields pairs of path and content.
    One that a service takes has, beside or instead of it, `send(source, destination)`, which returns what was sent.
    One that may leave something out says what and why in `left_out`, a list of sentences, once all is written.
    """

    title: str
    takes: tuple[str, ...]

    def export(self, source: ExportSource) -> str | bytes | Iterable[str | bytes]:
        """Return the file's content; text is written as UTF-8."""


def exporter_titles() -> dict[str, str]:
    """Every format with what it writes; plug-ins that cannot be imported are warned of and left out."""
    return {plugin.name: str(getattr(found, "title", plugin.origin)) for plugin, found in plugins.load_all(_GROUP)}


def find_source(name: str, runs: Path) -> ExportSource:
    """Find what is to be exported.

    Args:
        name: A suite as `find_suite` takes it, or a run or attempt as `find_attempts` does.
        runs: Folder that runs are kept in.

    Raises:
        BadInput: When nothing is called that, or several attempts are.
    """
    folder = Path(name)
    if name in named_suites() or any((folder / file).is_file() for file in ("suite.toml", "task.toml")):
        return ExportSource(suite=find_suite(name))
    if (folder / "run.json").is_file():
        return ExportSource(run=RunFolder(folder))
    found = find_attempts(name, runs)
    if not found:
        raise BadInput(f"No attempt of {name!r} is finished.", "There is nothing to export yet.")
    run, attempt = found[0]
    whole = len(found) > 1 or name in ("latest", run.path.name)
    return ExportSource(run=run, attempt="" if whole else attempt)


def export_file(source: ExportSource, kind: str, out: Path) -> tuple[str, ...]:
    """Write the file of one format, whole or not at all; a file of this name is replaced. Returns what was left out.

    Args:
        source: What is exported.
        kind: A format's name, or a dotted path `package.module:Name`.
        out: The file.

    Raises:
        BadInput: When there is no such format, it does not take the source, or the file cannot be written.
        Unavailable: When a plug-in cannot be imported or fails.
    """
    plugin, exporter = _find(source, kind)
    if not hasattr(exporter, "files") and not hasattr(exporter, "export"):
        raise BadInput(f"The {plugin.title} writes no file.", "Say where it goes with --to.")
    write = _write_folder if hasattr(exporter, "files") else _write_file
    try:
        write(plugin, exporter, source, out)
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error.strerror}.", "Name another file with --out.") from error
    return tuple(str(each) for each in getattr(exporter, "left_out", ()))


def export_to(source: ExportSource, kind: str, destination: str) -> str:
    """Hand a run or suite to a service; returns what it was given, as a sentence.

    Args:
        source: What is exported.
        kind: As of `export_file`.
        destination: What the format takes: a URL, a folder, a project.

    Raises:
        BadInput: As `export_file`, and when the format is of files alone.
        MissingExtra: A package that it needs is not installed.
        Unavailable: When the service or a plug-in fails.
    """
    plugin, exporter = _find(source, kind)
    if not hasattr(exporter, "send"):
        raise BadInput(f"The {plugin.title} is sent nowhere.", "Write a file with --out.")
    (sent,) = _guarded(plugin, lambda: iter((exporter.send(source, destination),)))
    return str(sent)


def _find(source: ExportSource, kind: str) -> tuple[plugins.Plugin, Any]:
    plugin = plugins.find(_GROUP, kind, dotted=True)
    exporter = plugins.make(plugin)
    what = "suite" if source.suite else "run"
    if what not in getattr(exporter, "takes", ("run", "suite")):
        raise BadInput(f"The {plugin.title} takes no {what}.", "`repoassay export --list` says what there is.")
    return plugin, exporter


def _write_file(plugin: plugins.Plugin, exporter: Any, source: ExportSource, out: Path) -> None:
    part = out.with_name(f".{out.name}.part-{os.getpid()}")
    try:
        with part.open("wb") as stream:
            stream.writelines(_guarded(plugin, lambda: _pieces(exporter.export(source))))
        part.replace(out)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _write_folder(plugin: plugins.Plugin, exporter: Any, source: ExportSource, out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out} exists and is no empty folder.", "This format is a folder: name a new one with --out.")
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.part-") as place:
        whole = Path(place, "whole")
        whole.mkdir()
        for name, content in _guarded(plugin, lambda: exporter.files(source)):
            target = whole / name
            if not name or Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name:
                raise BadInput(f"A file of the folder would be called {quote(name)}.", "No file may leave the folder.")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"".join(_pieces(content)))
        if out.exists():
            out.rmdir()
        whole.rename(out)


def _pieces(found: str | bytes | Iterable[str | bytes]) -> Iterator[bytes]:
    for piece in (found,) if isinstance(found, str | bytes) else found:
        yield piece if isinstance(piece, bytes) else piece.encode("utf-8", "backslashreplace")


def _guarded(plugin: plugins.Plugin, make: Callable[[], Iterator[_T]]) -> Iterator[_T]:
    """What an exporter yields; what goes wrong in one of somebody else is a sentence on its authors."""
    try:
        yield from make()
    except RepoAssayError:
        raise
    except OSError as error:  # of what is read, or made on the way: nothing is written to the user's file here
        where = f": {printable(str(error.filename), 500)}" if error.filename else ""
        raise Unavailable(
            f"The {plugin.title} cannot be made ({error.strerror or type(error).__name__}{where}).",
            "Look at that place, or give temporary files another by TMPDIR.",
        ) from error
    except Exception as error:
        if plugin.is_bundled:
            raise
        reason = plugins.reason_of(error)
        raise Unavailable(f"The {plugin.title} failed: {reason}.", f"Tell the authors of {plugin.origin}.") from error
