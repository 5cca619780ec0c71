"""Results of trials as JSON lines: appended one by one, read back to go on where an interrupted call stopped."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Self

from pydantic import ValidationError

from repoassay.attacks.trial import Trial
from repoassay.errors import BadInput
from repoassay.model import Outcome
from repoassay.text import printable

__all__ = ["Kept", "read_trials"]


def read_trials(path: Path) -> list[Trial]:
    """Read what `Kept` wrote; a torn last line, as a killed process leaves, is passed over.

    Raises:
        BadInput: When the file cannot be read, or a line is no result of an attack.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{printable(str(path), 300)} cannot be read: {error.strerror}.") from error
    found = []
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), 1):
        try:
            found.append(Trial.model_validate_json(line))
        except ValidationError as error:
            where = f"{printable(str(path), 300)}: line {number} is no result of an attack."
            raise BadInput(where, "Name another file.") from error
    return found


class Kept:
    """Trials by task and attack; with no path, in memory alone. Those in which we failed to judge are tried again.

    Raises:
        BadInput: When the file cannot be used.
    """

    def __init__(self, path: Path | None) -> None:
        found = read_trials(path) if path is not None and path.is_file() else []
        self._stream = None if path is None else _opened(path)
        self._known = {_key(trial): trial for trial in found if trial.outcome is not Outcome.INFRA_FAULT}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def get(self, task: str, task_digest: str, attack: str, digest: str, plain: bool) -> Trial | None:
        """A trial of the same patch on the same task, that has a plain answer where one is wanted."""
        trial = self._known.get((task, task_digest, attack, digest))
        return None if trial is None or (plain and trial.plain is None) else trial

    def add(self, trial: Trial) -> None:
        """Append a trial and hand it to the operating system."""
        self._known[_key(trial)] = trial
        if self._stream is not None:
            self._stream.write(trial.model_dump_json().encode() + b"\n")
            self._stream.flush()


def _key(trial: Trial) -> tuple[str, str, str, str]:
    return trial.task, trial.task_digest, trial.attack, trial.digest


def _opened(path: Path) -> IO[bytes]:
    """The file to append to, its torn last line cut off."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("a+b")
        stream.seek(0)
        data = stream.read()
        stream.truncate(data.rfind(b"\n") + 1)
        stream.seek(0, 2)
    except OSError as error:
        raise BadInput(
            f"{printable(str(path), 300)} cannot be written: {error.strerror}.", "Choose another."
        ) from error
    return stream
