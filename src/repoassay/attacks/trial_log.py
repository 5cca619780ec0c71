"""Results of trials as JSON lines: appended one by one, read back to go on where an interrupted call stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from repoassay.attacks.trial import Trial
from repoassay.records import Codec, JsonLines, record_codec, to_json
from repoassay.types import Outcome

__all__ = ["TrialLog", "read_trials"]

_CODEC: Codec[Trial] = Codec(record_codec(Trial).read, to_json)


def _file(path: Path) -> JsonLines[Trial]:
    return JsonLines(path, _CODEC, fsync=False, follow=True)


def read_trials(path: Path) -> list[Trial]:
    """Read what `TrialLog` wrote; a torn last line, as a killed process leaves, is passed over.

    Raises:
        BadInput: When the file cannot be read, or a line is no result of an attack.
    """
    return _file(path).read_all("result of an attack")


class TrialLog:
    """Trials by task and attack; with no path, in memory alone. Those in which we failed to judge are tried again.

    Raises:
        BadInput: When the file cannot be used.
    """

    def __init__(self, path: Path | None) -> None:
        self._file = None if path is None else _file(path)
        trials = self._file.open_all("result of an attack") if self._file is not None else []
        self._known = {_key(trial): trial for trial in trials if trial.outcome is not Outcome.INFRA_FAULT}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def get(self, task: str, task_digest: str, attack: str, digest: str, plain: bool) -> Trial | None:
        """A trial of the same patch on the same task, that has a plain answer where one is wanted."""
        trial = self._known.get((task, task_digest, attack, digest))
        return None if trial is None or (plain and trial.plain is None) else trial

    def add(self, trial: Trial) -> None:
        """Append a trial and hand it to the operating system."""
        self._known[_key(trial)] = trial
        if self._file is not None:
            self._file.append(trial)


def _key(trial: Trial) -> tuple[str, str, str, str]:
    return trial.task, trial.task_digest, trial.attack, trial.digest
