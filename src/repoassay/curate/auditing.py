"""An audit of a released suite: is it known to models, solved by all, or does it no longer install?

What was not probed is said, and counts neither for nor against a task.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, cast

from repoassay.curate.contamination import AuditFinding, probe_contamination
from repoassay.curate.evidence import write_toml
from repoassay.curate.linking import ScoredAttempt
from repoassay.curate.model_draft import DraftingModel
from repoassay.curate.pool import SELECTION, open_pooled
from repoassay.curate.proving import proof_context
from repoassay.diagnosis import printed_cause
from repoassay.engine import validate_task
from repoassay.errors import BadInput, RepoAssayError, Unavailable
from repoassay.sandbox import Cache, Sandbox
from repoassay.tasks import SuiteFolder, TaskFolder
from repoassay.text import join_names, printable
from repoassay.types import TaskKind

__all__ = ["audit_suite", "saturated_tasks", "search_canary"]

_AGENTS, _RUNS = 3, 3
"""How many different agents must pass a task every time, in how many attempts each, for it to be saturated."""
_CHUNK = 1 << 20


def audit_suite(
    suite: SuiteFolder, quarter: str, cache: Cache, sandbox: Sandbox, *, ask: DraftingModel | None = None,
    attempts: Sequence[ScoredAttempt] = (), dumps: Sequence[Path] = (), current: Path | None = None,
    reinstall: bool = False, step: Callable[[str], None] = lambda _: None,
) -> tuple[list[AuditFinding], Path]:  # fmt: skip
    """Audit every live task and write `SUITE/audits/QUARTER.toml`.

    Args:
        suite: Which.
        quarter: Whose audit.
        cache: Where checkouts and environments are kept.
        sandbox: Where tasks are installed and answers graded.
        ask: A model for the probes of contamination; None leaves them out.
        attempts: Results of runs, for saturation.
        dumps: Files and folders in which the suite's canary is looked for.
        current: A pool of the same repositories as they are today, for their licences.
        reinstall: Install each task as of today and run its solution.
        step: Told what is being done.
    """
    live = [folder for folder in suite.tasks if folder.task.status == "active"]
    findings = [*_canary(suite, dumps), *_saturation(live, attempts)]
    for folder in live:
        step(f"auditing {folder.task.id}")
        findings += _contamination(folder, ask, sandbox)
        findings.append(_licence(folder, current))
        findings.append(_reinstalled(folder, suite, cache, sandbox) if reinstall else _not_probed(folder, "install"))
    path = suite.path / "audits" / f"{quarter}.toml"
    retire = sorted({each.task for each in findings if each.sound is False and each.task})
    write_toml(path, {
        "quarter": quarter, "suite": suite.suite.name, "digest": suite.digest, "retire": retire,
        "finding": [
            {"task": each.task, "probe": each.probe, "sound": "not probed" if each.sound is None else each.sound,
             "why": each.why} for each in findings
        ],
    }, "Written by `repoassay curate audit`. `retire` names tasks of which something is not sound.")  # fmt: skip
    return findings, path


def search_canary(canary: str, places: Iterable[Path]) -> list[Path]:
    """Files, compressed ones too, in which a canary stands."""
    wanted = canary.encode()
    files = [each for place in places for each in (sorted(place.rglob("*")) if place.is_dir() else [place])]
    return [path for path in files if path.is_file() and not path.is_symlink() and _holds(path, wanted)]


def saturated_tasks(attempts: Iterable[ScoredAttempt]) -> dict[str, list[str]]:
    """Task -> the agents that pass it every time, where they are as many as make it saturated."""
    passes: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for each in attempts:
        passes[each.task][each.system].append(each.passed)
    found = {}
    for task, systems in sorted(passes.items()):
        always = sorted(name for name, results in systems.items() if len(results) >= _RUNS and all(results))
        if len(always) >= _AGENTS:
            found[task] = always
    return found


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path))
    if path.suffix == ".bz2":
        return bz2.open(path)
    return lzma.open(path) if path.suffix == ".xz" else path.open("rb")


def _holds(path: Path, wanted: bytes) -> bool:
    try:
        with _opened(path) as file:
            held = b""
            while chunk := file.read(_CHUNK):
                if wanted in held + chunk:
                    return True
                held = chunk[-len(wanted) :]
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise BadInput(f"The dump {printable(str(path), 300)} cannot be read: {error}.", "Leave it out.") from error
    return False


def _not_probed(folder: TaskFolder, probe: str) -> AuditFinding:
    remedy = {
        "install": "ask for it with --install", "licence": "give today's repositories with --current",
        "without repository": "name a model", "verbatim": "name a model", "saturation": "give runs with --runs",
    }  # fmt: skip
    return AuditFinding(folder.task.id, probe, None, f"not probed: {remedy[probe]}")


def _canary(suite: SuiteFolder, dumps: Sequence[Path]) -> list[AuditFinding]:
    canary = suite.suite.canary
    if not canary or not dumps:
        why = "not probed: " + ("the suite has no canary" if not canary else "give dumps with --dumps")
        return [AuditFinding("", "canary", None, why)]
    found = [str(path) for path in search_canary(canary, dumps)]
    why = f"found in {join_names(found, 5)}" if found else f"in none of {len(dumps)} places"
    return [AuditFinding("", "canary", not found, why)]


def _saturation(live: Sequence[TaskFolder], attempts: Sequence[ScoredAttempt]) -> list[AuditFinding]:
    saturated = saturated_tasks(attempts)
    tried = {each.task for each in attempts}
    found = []
    for folder in live:
        name = folder.task.id
        if name not in tried:
            found.append(_not_probed(folder, "saturation"))
        elif name in saturated:
            why = f"passed every time, {_RUNS} times or more, by {join_names(saturated[name], 5)}"
            found.append(AuditFinding(name, "saturation", False, why))
        else:
            why = f"fewer than {_AGENTS} agents pass it every time in {_RUNS} attempts"
            found.append(AuditFinding(name, "saturation", True, why))
    return found


def _contamination(folder: TaskFolder, ask: DraftingModel | None, sandbox: Sandbox) -> list[AuditFinding]:
    if ask is None or folder.task.kind is not TaskKind.DELIVERABLE:
        return [_not_probed(folder, "without repository"), _not_probed(folder, "verbatim")]
    return probe_contamination(folder, ask, sandbox)


def _licence(folder: TaskFolder, current: Path | None) -> AuditFinding:
    if current is None:
        return _not_probed(folder, "licence")
    stated = folder.task.repository.licence
    place = current / folder.task.repository.name.lower()
    if not (place / SELECTION).is_file():
        return AuditFinding(folder.task.id, "licence", None, "not probed: today's pool has no such repository")
    now = open_pooled(place).licence
    why = f"{stated} then, {now} today"
    return AuditFinding(folder.task.id, "licence", now == stated, why)


def _reinstalled(folder: TaskFolder, suite: SuiteFolder, cache: Cache, sandbox: Sandbox) -> AuditFinding:
    """Whether a task installs with packages of today, and its solution still passes."""
    environment = folder.task.environment.model_copy(update={"exclude_newer": None})
    today = replace(folder, task=folder.task.model_copy(update={"environment": environment}))
    try:
        proof = validate_task(today, proof_context(suite.path, cache, sandbox), 1, solution_only=True)[0]
    except RepoAssayError as error:
        cause = printed_cause(error.message, folder.task.repository.name, installing=True)
        if isinstance(error, Unavailable) or (cause is not None and cause.kind == "network"):
            return AuditFinding(folder.task.id, "install", None, f"not probed: {printable(error.message, 300)}")
        return AuditFinding(folder.task.id, "install", False, f"does not install as of today: {error.message[-300:]}")
    why = "installs as of today and its solution passes" if proof.sound else f"as of today: {proof.comment[-300:]}"
    return AuditFinding(folder.task.id, "install", proof.sound, printable(why, 400))
