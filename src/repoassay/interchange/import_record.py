"""What an import came to, kept in the suite's folder: so that a call that was interrupted goes on where it was.

`import.json` says which tasks were drawn, which were converted, and why the others were refused; `proofs.jsonl` has a
line for each proof that came to an end, with the digest of the task as the proof left it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from repoassay.errors import BadInput, RepoAssayError
from repoassay.interchange.state_proof import StateProof
from repoassay.tasks import read_regular, read_task

__all__ = ["ImportRecord", "TaskRefusal", "draw_digest", "keep_proof", "kept_proofs"]

_IMPORT, _PROOFS = "import.json", "proofs.jsonl"
_VERSION = 1
_MOST_BYTES = 256 * 2**20
_AGAIN = frozenset({"fault", "over time"})
"""States that another try may change: the network, the machine or the limit were at fault."""


@dataclass(frozen=True, slots=True)
class TaskRefusal:
    """A task that was not converted: its folder below the source, why, and the place that says so (line 0: none)."""

    task: str
    why: str
    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One import: a digest of what was drawn, how many tasks that were, the ids of those converted, the refusals."""

    drawn: str
    found: int
    tasks: Sequence[str]
    refused: Sequence[TaskRefusal]

    def write(self, suite: Path) -> None:
        """Keep it in a suite's folder."""
        document = {"schema_version": _VERSION, **asdict(self)}
        (suite / _IMPORT).write_text(f"{json.dumps(document, ensure_ascii=False)}\n", encoding="utf-8")

    @classmethod
    def read(cls, suite: Path) -> ImportRecord | None:
        """The record of a suite's folder; None where it has none.

        Raises:
            BadInput: It is of another version, or is none.
        """
        if not (suite / _IMPORT).is_file():
            return None
        try:
            document = json.loads(read_regular(suite / _IMPORT, _MOST_BYTES))
            version = document.pop("schema_version")
            refused = [TaskRefusal(**each) for each in document.pop("refused")]
            record = cls(**document, refused=refused)
            good = version == _VERSION and not any("/" in task or task in ("", ".", "..") for task in record.tasks)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            good = False
        if not good:
            raise BadInput(f"{suite / _IMPORT} cannot be read.", "Import into another --out.")
        return record


def draw_digest(kind: str, folders: Iterable[str]) -> str:
    """What tells one draw from another: the format, and the folders of the tasks below their source."""
    return hashlib.sha256("\n".join((kind, *folders)).encode(errors="surrogatepass")).hexdigest()


def keep_proof(suite: Path, proof: StateProof) -> None:
    """Add a proof to a suite's folder."""
    line = json.dumps({"schema_version": _VERSION, "digest": _digest(suite, proof.task), **asdict(proof)})
    with (suite / _PROOFS).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())


def kept_proofs(suite: Path) -> dict[str, StateProof]:
    """The proofs of a suite's folder that still hold, by task: not those of tasks that are others now, nor faults."""
    kept: dict[str, tuple[str, StateProof]] = {}
    try:
        lines = read_regular(suite / _PROOFS, _MOST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    for line in lines:
        try:
            record = json.loads(line)
            if record.pop("schema_version") == _VERSION:
                digest = record.pop("digest")
                kept[record["task"]] = (digest, StateProof(**record))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):  # cut off in the middle
            continue
    return {
        task: proof
        for task, (digest, proof) in kept.items()
        if proof.state not in _AGAIN and "/" not in task and digest == _digest(suite, task)
    }


def _digest(suite: Path, task: str) -> str:
    """A task's digest; empty where its folder is gone or no task."""
    try:
        return read_task(suite / "tasks" / task).digest
    except (OSError, RepoAssayError):
        return ""
