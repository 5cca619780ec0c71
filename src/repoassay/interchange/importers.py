"""Formats that are read: who reads which, and the one that recognises a source.

A format is an entry point `repoassay.importers`: a class or object that reads runs, or tasks (`TaskImporter`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from repoassay import plugins
from repoassay.engine import GradingContext
from repoassay.errors import BadInput, Interrupted, RepoAssayError, Unavailable
from repoassay.interchange.foreign_run import ForeignAttempt
from repoassay.text import join_names, printable

__all__ = ["ConvertedTask", "Importer", "TaskImporter", "find_importer", "guard"]

_GROUP = "repoassay.importers"
_DEEPEST = 200
"""Folders within one another that a source may have."""


class Importer(Protocol):
    """A format that is read.

    Attributes:
        title: What is read, in one line.
        gives: `run`; `suite` of a `TaskImporter`.
        version: Which version of the format is read.
        lost: What of it has no place with us, a sentence each.

    Where its folders hold files of other formats by design, `contains` names those, or the other's `within` names this
    one: a source that looks like both is taken for the one that holds the other, which tells more.
    """

    title: str
    gives: str
    version: str
    lost: tuple[str, ...]

    def recognizes(self, source: Path) -> bool:
        """Whether a file or folder looks like this format; looks at little, and raises nothing."""

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """Read a run; raises `BadInput` where the whole cannot be read. What is wrong with one attempt is its own."""


class ConvertedTask(Protocol):
    """A task that was understood; `name` is what its format calls it."""

    name: str

    def write(self, place: Path, open_bench: Callable[[], GradingContext]) -> None:
        """Write it as the task folder `place`, whose name is its id, in a suite that has its suite.toml.

        Raises:
            ImportRefusal: It makes no sound task.
        """


class TaskImporter(Protocol):
    """A format of tasks that is read; `gives` is `suite`, and the other attributes are those of `Importer`."""

    title: str
    gives: str
    version: str
    lost: tuple[str, ...]

    def recognizes(self, source: Path) -> bool:
        """As `Importer` has it."""

    def folders(self, source: Path) -> Iterator[Path]:
        """Folders of tasks in a source, or the source itself where it is one."""

    def convert(self, folder: Path) -> ConvertedTask:
        """Understand one task; raises `ImportRefusal` with the reason and the line where it cannot."""


def find_importer(kind: str | None, source: Path) -> tuple[plugins.Plugin, Any]:
    """Find who reads a source.

    Args:
        kind: A format's name or a dotted path; None for the one that recognises the source.
        source: A file or folder.

    Raises:
        BadInput: There is no such format or source, none or several recognise it, or it holds more than files.
        Unavailable: A plug-in cannot be imported.
    """
    if not source.exists():
        raise BadInput(f"There is no {source}.", "Name the file or folder that the other tool wrote.")
    if special := _special(source):
        what = "a folder too deep" if special.is_dir() else "a pipe, a socket or a device, which might never end"
        raise BadInput(f"{printable(str(special), 500)} is {what}.", "Remove it.")
    if kind is not None:
        found = plugins.find(_GROUP, kind, dotted=True)
        return found, plugins.make(found)
    known = [(plugin, plugins.make(plugin)) for plugin, _ in plugins.load_all(_GROUP)]
    fitting = [(plugin, importer) for plugin, importer in known if importer.recognizes(source)]
    parts = {name for _, importer in fitting for name in getattr(importer, "contains", ())}
    names = {plugin.name for plugin, _ in fitting}
    parts |= {plugin.name for plugin, importer in fitting if names.intersection(getattr(importer, "within", ()))}
    fitting = [one for one in fitting if one[0].name not in parts] or fitting
    if len(fitting) == 1:
        return fitting[0]
    listed = join_names(plugin.name for plugin, _ in fitting)
    what = f"looks like several formats: {listed}" if fitting else "looks like no format that is read"
    raise BadInput(f"{source} {what}.", "Say which with --as FORMAT; `repoassay formats` lists them.")


def _special(source: Path) -> Path | None:
    """The source, or what is in it, that is neither a file nor a folder that can be walked through.

    Whoever opens it may wait for ever, and who walks through folders calls himself once for each that is in another.
    """
    pending, most = [source], len(source.parts) + _DEEPEST
    while pending:
        path = pending.pop()
        try:
            found = path.stat()
            folder = stat.S_ISDIR(found.st_mode)
            if folder and len(path.parts) > most:
                return path
            if not (folder or stat.S_ISREG(found.st_mode) or found.st_rdev == os.stat(os.devnull).st_rdev):  # noqa: PTH116
                return path
            if folder and (path == source or not path.is_symlink()):
                with os.scandir(path) as entries:
                    kept = [entry for entry in entries if not entry.is_file(follow_symlinks=False)]
                pending += [path / entry.name for entry in kept]
        except OSError:  # gone, or not ours to read, which whoever reads it will say
            continue
    return None


def guard(plugin: plugins.Plugin, error: Exception) -> Exception:
    """The error to raise for one out of a reader: its own if it is ours or bundled, else a sentence on its authors."""
    if plugin.is_bundled or isinstance(error, RepoAssayError | OSError | Interrupted):
        return error
    reason = plugins.reason_of(error)
    return Unavailable(f"The {plugin.title} failed: {reason}.", f"Tell the authors of {plugin.origin}.")
