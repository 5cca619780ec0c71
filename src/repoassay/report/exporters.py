"""Exports: a run, some of its attempts, or a suite, written as one file of another program's format.

A format is an entry point `repoassay.exporters`: an object or class with `export(source)`, which returns the file's
content as text, bytes, or an iterable of either. The file itself is written here, whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from repoassay import plugins
from repoassay.errors import BadInput, RepoAssayError, Unavailable
from repoassay.records import FinishedAttempt, RunFolder
from repoassay.report.attempt_timeline import find_attempts
from repoassay.tasks import SuiteFolder, find_suite, named_suites

__all__ = ["ExportSource", "Exporter", "export_file", "exporter_titles", "find_source"]

_GROUP = "repoassay.exporters"


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


def export_file(source: ExportSource, kind: str, out: Path) -> None:
    """Write the file of one format, whole or not at all; a file of this name is replaced.

    Args:
        source: What is exported.
        kind: A format's name, or a dotted path `package.module:Name`.
        out: The file.

    Raises:
        BadInput: When there is no such format, it does not take the source, or the file cannot be written.
        Unavailable: When a plug-in cannot be imported or fails.
    """
    plugin = plugins.find(_GROUP, kind, dotted=True)
    exporter = plugins.make(plugin)
    what = "suite" if source.suite else "run"
    if what not in getattr(exporter, "takes", ("run", "suite")):
        raise BadInput(f"The {plugin.title} takes no {what}.", "`repoassay export --list` says what there is.")
    part = out.with_name(f".{out.name}.part-{os.getpid()}")
    try:
        with part.open("wb") as stream:
            stream.writelines(_content(plugin, exporter, source))
        part.replace(out)
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error.strerror}.", "Name another file with --out.") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _content(plugin: plugins.Plugin, exporter: Any, source: ExportSource) -> Iterator[bytes]:
    try:
        found = exporter.export(source)
        for piece in (found,) if isinstance(found, str | bytes) else found:
            yield piece if isinstance(piece, bytes) else piece.encode("utf-8", "backslashreplace")
    except (RepoAssayError, OSError):
        raise
    except Exception as error:
        if plugin.is_bundled:
            raise
        reason = plugins.reason_of(error)
        raise Unavailable(f"The {plugin.title} failed: {reason}.", f"Tell the authors of {plugin.origin}.") from error
