"""Previews of delivered files: made once, in a sandbox, by threads of their own; kept by digest beside the files.

No request ever opens what an agent made. Who asks for a preview that is not there yet is told so at once.
"""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from repoassay.errors import BadInput, RepoAssayError
from repoassay.grading import (
    FILE,
    MOST_CELL,
    MOST_CELLS,
    MOST_COLUMNS,
    MOST_PICTURES,
    MOST_ROWS,
    MOST_SIDE,
    MOST_TEXT,
    PLACE,
    hit_limit,
    run_sandboxed,
)
from repoassay.records import write_once
from repoassay.sandbox import ExportSpec, Mount, Sandbox, open_sandbox, temporary_folder
from repoassay.server.review.blobs import Blobs
from repoassay.tasks import read_regular
from repoassay.types import Limits

__all__ = ["NotebookCell", "PreviewResult", "Previews"]

LIMITS = Limits(seconds=60, memory=2**30, disk=64 * 2**20, processes=16, output=2**16)
"""What opening one file may take."""
_LOG = logging.getLogger("repoassay.review")
_HEAP = 768 * 2**20
_THREADS = 2
_VERSION = 2
"""Of what is kept; another one is made anew."""
_MOST_BYTES = 16 * 2**20
_SIGN = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
_Cell = Annotated[str, Field(max_length=MOST_CELL)]


class CellOutput(BaseModel):
    """What a cell of a notebook printed, or the number of the picture it drew."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: Annotated[str, Field(max_length=MOST_TEXT)] = ""
    picture: Annotated[int, Field(ge=0, le=MOST_PICTURES)] = 0


class NotebookCell(BaseModel):
    """A cell of a notebook."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["markdown", "code", "raw"]
    source: Annotated[str, Field(max_length=MOST_TEXT)] = ""
    outputs: Annotated[list[CellOutput], Field(max_length=20)] = []


class PreviewResult(BaseModel):
    """What is shown of a file. It comes out of the sandbox, and is believed no further than its shape.

    `pictures` counts the PNG files beside it: one of a picture, the pages of a document, what cells of a notebook drew.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    rows: Annotated[list[Annotated[list[_Cell], Field(max_length=MOST_COLUMNS)]], Field(max_length=MOST_ROWS)] = []
    cells: Annotated[list[NotebookCell], Field(max_length=MOST_CELLS)] = []
    pictures: Annotated[int, Field(ge=0, le=MOST_PICTURES)] = 0
    note: Annotated[str, Field(max_length=600)] = ""
    kept: bool = True


class Previews:
    """Previews of the files in `blobs`.

    Args:
        blobs: The files; previews lie in a folder beside them.
        sandbox: Opens where they are made; asked when the first one is.
        limits: What making one may take.
        cpu: Seconds of computing it may take: less than the limits' seconds, and the same on a busy machine.
    """

    def __init__(
        self,
        blobs: Blobs,
        sandbox: Callable[[], Sandbox] = open_sandbox,
        limits: Limits = LIMITS,
        cpu: int = 15,
    ) -> None:
        self._blobs = blobs
        self._open = sandbox
        self._sandbox: Sandbox | None = None
        self._limits = limits
        self._cpu = cpu
        # The last one asked for is made first: a pile of files that take long does not hold up who reads another item.
        self._waiting: queue.LifoQueue[tuple[str, str]] = queue.LifoQueue()
        self._told: dict[tuple[str, str], PreviewResult | None] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._over = threading.Event()

    def get(self, digest: str, kind: str) -> PreviewResult | None:
        """What is shown of a file; None while it is being made.

        Args:
            digest: Of the file.
            kind: pdf, workbook, notebook or picture.
        """
        key = (digest, kind)
        with self._lock:
            if key in self._told:
                return self._told[key]
            if (kept := self._stored_result(key)) is not None:
                return kept
            self._told[key] = None
            if len(self._threads) < _THREADS:
                thread = threading.Thread(target=self._work, name="preview", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._waiting.put(key)
        return None

    def picture(self, digest: str, kind: str = "picture", number: int = 1) -> Path:
        """Where a PNG of a file's preview lies.

        Args:
            digest: Of the file.
            kind: As what it was opened.
            number: Which of its pictures, from 1.

        Raises:
            BadInput: When there is none.
        """
        self._blobs.path(digest)
        place = self._place((digest, kind), f"{number}.png")
        if not place.is_file():
            raise BadInput("There is no preview of this file.", "Download the file itself.")
        return place

    def close(self) -> None:
        """Give up what is being made."""
        self._over.set()
        for thread in self._threads:
            thread.join(timeout=15)

    def _work(self) -> None:
        while not self._over.is_set():
            try:
                key = self._waiting.get(timeout=0.5)
            except queue.Empty:
                continue
            try:
                result = self._make(key)
            except RepoAssayError as error:
                result = PreviewResult(note=f"This cannot be shown here: {error.message}"[:600], kept=False)
            except Exception as error:  # noqa: BLE001 - a thread that died would leave what is waited for for ever
                _LOG.exception("Preview of %s", key[0])
                result = PreviewResult(note=f"This cannot be shown here ({type(error).__name__}).", kept=False)
            with self._lock:
                if result.kept:
                    del self._told[key]
                else:  # the fault is this machine's: tried again at the next start
                    self._told[key] = result

    def _make(self, key: tuple[str, str]) -> PreviewResult:
        digest, kind = key
        request = {"kind": kind, "cpu": self._cpu, "memory": _HEAP}
        with temporary_folder("preview") as folder:
            command = run_sandboxed(
                "repoassay.grading.preview",
                stdin=json.dumps(request).encode(),
                mounts=[Mount(self._blobs.path(digest), FILE)],
                limits=self._limits,
                scratch=[PLACE],
                collect=[ExportSpec(PLACE, Path(folder), max_bytes=_MOST_BYTES, max_files=MOST_PICTURES + 1)],
            )
            with self._lock:
                self._sandbox = self._sandbox or self._open()
            done = self._sandbox.run(command, self._over)
            if self._over.is_set():
                return PreviewResult(kept=False)
            result, pictures = _read(Path(folder)) if done.exit.code == 0 else (None, [])
        if result is None:
            why = hit_limit(done.exit) if done.exit.code != 0 else "what opened it left nothing"
            result = PreviewResult(note=f"This cannot be shown: {why}; download it.")
        if result.kept:
            for number, png in enumerate(pictures, 1):
                _write(self._place(key, f"{number}.png"), png)
            _write(self._place(key, "json"), result.model_dump_json().encode())
        return result

    def _stored_result(self, key: tuple[str, str]) -> PreviewResult | None:
        try:
            return PreviewResult.model_validate_json(read_regular(self._place(key, "json"), _MOST_BYTES))
        except (OSError, ValidationError):
            return None

    def _place(self, key: tuple[str, str], ending: str) -> Path:
        digest, kind = key
        return self._blobs.folder / f"previews-{_VERSION}" / digest[:2] / f"{digest}.{kind}.{ending}"


def _read(folder: Path) -> tuple[PreviewResult | None, list[bytes]]:
    """What the sandbox left, if it is as it should be, and its pictures."""
    try:
        result = PreviewResult.model_validate_json(read_regular(folder / "shown.json", _MOST_BYTES))
        pictures = [read_regular(folder / f"shown-{number + 1}.png", _MOST_BYTES) for number in range(result.pictures)]
    except (OSError, ValidationError):
        return None, []
    for png in pictures:
        edges = [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)]
        if not png.startswith(_SIGN) or not all(0 < edge <= MOST_SIDE for edge in edges):
            return None, []
    return result, pictures


def _write(place: Path, data: bytes) -> None:
    with contextlib.suppress(FileExistsError):  # another server of this folder was first
        write_once(place, data)
