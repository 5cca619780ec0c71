"""`.eval` files of Inspect: a zip of JSON files, read within bounds and however it is packed."""

from __future__ import annotations

import json
import lzma
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from repoassay.errors import Unavailable

__all__ = ["EvalFile"]

_LARGEST = 64 * 2**20
_MOST_SAMPLES = 100_000
_SURE, _MOST_TIMES = 2**30, 300
"""Bytes that a file may always unpack to, and times its own size."""
_ZSTANDARD, _LOCAL_HEADER = 93, 30
"""Number of the method in a zip file, and bytes of a member's header before its name."""
_WINDOW = 128 * 2**20


class EvalFile:
    """An open `.eval` file; a context manager. Its `header` is the object of that name.

    Args:
        path: The file.
        most: Bytes that its samples may unpack to; by default a multiple of its own size.

    Raises:
        BadZipFile: It cannot be read, which its methods may find out later, too.
        Unavailable: The extra that unpacks it is not installed.
    """

    def __init__(self, path: Path, most: int | None = None) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
        except (NotImplementedError, OSError, EOFError, ValueError) as error:  # of what zipfile itself takes on trust
            raise zipfile.BadZipFile(str(error)) from error
        with ExitStack() as stack:
            stack.enter_context(self._archive)
            self._left = most or max(_SURE, _MOST_TIMES * path.stat().st_size)
            self.header = self._member("header.json") or self._member("_journal/start.json")
            self._open = stack.pop_all()

    def __enter__(self) -> EvalFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def samples(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The samples by id and epoch, each by its member's name; empty where it is no JSON object or too large."""
        names = [entry.filename for entry in self._archive.infolist()[: _MOST_SAMPLES + 10]]
        samples = (name for name in names if name.startswith("samples/") and name.endswith(".json"))
        for name in sorted(samples, key=_sample_order):
            # Members may overlap, so that each is unpacked a thousand times over.
            self._left -= min(self._archive.getinfo(name).file_size, _LARGEST)
            if self._left < 0:
                raise zipfile.BadZipFile("it unpacks to more than its size allows")
            yield name, self._member(name)

    def _member(self, name: str) -> dict[str, Any]:
        """A JSON object of the archive; empty where there is none, or it is larger than 64 MiB."""
        try:
            entry = self._archive.getinfo(name)
            if entry.file_size > _LARGEST:
                return {}
            if entry.compress_type == _ZSTANDARD and sys.version_info < (3, 14):
                content = _unpacked(self._archive, entry)
            else:
                with self._archive.open(entry) as stream:
                    content = stream.read(entry.file_size)
            found = json.loads(content)
        except (KeyError, ValueError, RecursionError):
            return {}
        except (zlib.error, lzma.LZMAError, OSError, EOFError, RuntimeError) as error:  # not whole, or encrypted
            raise zipfile.BadZipFile(f"{name}: {error}") from error
        return found if isinstance(found, dict) else {}


def _sample_order(name: str) -> tuple[str, int, str]:
    """By id, then by epoch: the second comes before the tenth."""
    task, _, epoch = Path(name).stem.rpartition("_epoch_")
    return task, int(epoch) if epoch.isascii() and epoch.isdigit() and len(epoch) < 10 else 0, name


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The beginning of a member that Zstandard has packed, as Inspect packs them since 2026.

    Raises:
        Unavailable: The extra that unpacks it is not installed.
    """
    try:
        import zstandard
    except ImportError:
        raise Unavailable(
            "This log is packed with Zstandard, which Python reads from 3.14 on.",
            "Install repoassay[interchange], or write it again with `inspect log convert`.",
        ) from None
    file = archive.fp
    if file is None:
        return b""
    file.seek(entry.header_offset)
    head = file.read(_LOCAL_HEADER)
    file.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
    packed = file.read(min(entry.compress_size, _LARGEST))
    try:
        with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(packed) as stream:
            return stream.read(entry.file_size)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(f"{entry.filename} is not whole") from error
