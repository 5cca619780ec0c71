"""Proof of a suite's tasks: what `tasks validate` proves, and that outputs kept with a task are judged as they must."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.curate.drafting import grade_outputs_of
from repoassay.curate.evidence import evidence_digest, read_toml, write_toml
from repoassay.engine import GradingContext, Proof, validate_task
from repoassay.grading import check_packages
from repoassay.sandbox import Cache, Sandbox
from repoassay.tasks import SuiteFolder, TaskFolder
from repoassay.types import Outcome

__all__ = ["PROOFS", "CuratedProof", "is_proven", "proof_context", "prove_suite"]

PROOFS = "proofs"
"""Folder of a suite that holds the proof of each task, by its id."""
_FORMAT = "2"
_MUTANTS = 100
"""Outputs made wrong from the right ones that a task must refuse; more are sampled."""


@dataclass(frozen=True, slots=True)
class CuratedProof:
    """What the proof of one task came to: whether it holds, why not, and how many outputs were judged as they must."""

    task: str
    proven: bool
    reasons: tuple[str, ...]
    accepting: int
    refusing: int
    path: Path
    kept: bool = False


def prove_suite(
    suite: SuiteFolder, cache: Cache, sandbox: Sandbox, *, times: int = 3, again: bool = False,
    on_result: Callable[[CuratedProof], None] = lambda _: None,
) -> list[CuratedProof]:  # fmt: skip
    """Prove every task that is not retired, and write `SUITE/proofs/ID.toml`; what is proven already is kept.

    Args:
        suite: Which.
        cache: Where checkouts and environments are kept.
        sandbox: Where everything runs.
        times: How often the solution and each bundled agent runs.
        again: Prove again what nothing has changed of.
        on_result: Told of each task.
    """
    active = [folder for folder in suite.tasks if folder.task.status == "active"]
    check_packages(tuple(active))
    bench = proof_context(suite.path, cache, sandbox)
    found = []
    for folder in active:
        result = None if again else _earlier(suite.path, folder, times)
        if result is None:
            proofs = validate_task(folder, bench, times, mutants=_MUTANTS)
            result = _save_proof(suite.path, folder, proofs, grade_outputs_of(folder, sandbox), times)
        found.append(result)
        on_result(result)
    return found


def is_proven(suite: Path, folder: TaskFolder) -> bool:
    """Whether a task was proven as it is now."""
    place = suite / PROOFS / f"{folder.task.id}.toml"
    if not place.is_file():
        return False
    data = read_toml(place, "The proof", "Run `repoassay curate prove` again.")
    return data.get("digest") == folder.digest and data.get("proven") is True


def _earlier(suite: Path, folder: TaskFolder, times: int) -> CuratedProof | None:
    place = suite / PROOFS / f"{folder.task.id}.toml"
    if not place.is_file():
        return None
    data = read_toml(place, "The proof", "Remove it.")
    match data:
        case {"proven": bool(proven), "reasons": list(reasons), "times": int(before), "accepting": int(accepting),
              "refusing": int(refusing)} if before >= times:  # fmt: skip
            pass
        case _:  # not enough, or not as it was written
            return None
    if data.get("looked_at") != evidence_digest(folder.digest, _FORMAT):
        return None
    return CuratedProof(folder.task.id, proven, tuple(map(str, reasons)), accepting, refusing, place, kept=True)


def _save_proof(
    suite: Path, folder: TaskFolder, proofs: Sequence[Proof], graded: Sequence[tuple[str, str, Any]], times: int
) -> CuratedProof:
    reasons = [
        f"{each.name}: {each.comment or 'not the same every time'}"
        for each in proofs
        if not (each.sound and each.stable)
    ]
    right = {"accepting": 0, "refusing": 0}
    for kind, name, verdict in graded:
        good = (verdict.outcome is Outcome.PASSED) == (kind == "accepting")
        good &= verdict.outcome not in (Outcome.INFRA_FAULT, Outcome.NOT_GRADABLE)
        right[kind] += good
        if not good:
            reasons.append(f"the output {name} of {kind} ended as {verdict.outcome.value}")
    place = suite / PROOFS / f"{folder.task.id}.toml"
    write_toml(place, {
        "task": folder.task.id, "digest": folder.digest, "looked_at": evidence_digest(folder.digest, _FORMAT),
        "proven": not reasons, "reasons": reasons, "times": times, **right,
        "proof": [
            {"name": each.name, "sound": each.sound, "stable": each.stable,
             "outcomes": [outcome.value for outcome in each.outcomes], "comment": each.comment}
            for each in proofs
        ],
        "output": [{"kind": kind, "name": name, "outcome": verdict.outcome.value} for kind, name, verdict in graded],
    }, "Written by `repoassay curate prove`.")  # fmt: skip
    return CuratedProof(folder.task.id, not reasons, tuple(reasons), right["accepting"], right["refusing"], place)


def proof_context(suite: Path, cache: Cache, sandbox: Sandbox) -> GradingContext:
    """Where tasks of a suite are proved."""
    repositories = suite / "repositories"
    return GradingContext(repositories if repositories.is_dir() else None, cache, sandbox)
