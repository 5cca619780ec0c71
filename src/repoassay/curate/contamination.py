"""Probes of contamination: does a model solve a task without its repository, does it know its words by heart?"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from repoassay.curate.model_draft import DraftingModel
from repoassay.grading import Job, grade_deliverables
from repoassay.sandbox import Sandbox, temporary_folder
from repoassay.tasks import TaskFolder
from repoassay.text import printable
from repoassay.types import Attribution, Outcome, inner_path

__all__ = ["AuditFinding", "probe_completion", "probe_contamination", "probe_without_repository"]

_MOST_INPUT, _MOST_FILES = 40_000, 100
_VERBATIM = 0.5
"""The share of an instruction's second half that shows that a model knows it by heart."""
_RUN = 8
"""Words that must follow each other for a run to count as known by heart."""
_SOLVE = """\
You are asked for output files without being able to run anything. Answer with one JSON object and nothing else:
{"files": {"NAME": "CONTENT", ...}} with every output file that the task names, complete.
"""
_COMPLETE = "Continue this text from a benchmark word for word, as you remember it. Answer with the continuation alone."


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One probe of one task ("" for the whole suite): whether it is sound, None where it was not probed, and why."""

    task: str
    probe: str
    sound: bool | None
    why: str


def probe_contamination(folder: TaskFolder, ask: DraftingModel, sandbox: Sandbox) -> list[AuditFinding]:
    """Both probes of one task."""
    passed, why = probe_without_repository(folder, ask, sandbox)
    share = probe_completion(folder, ask)
    evidence = f"{share:.0%} of the instruction's second half came back word for word"
    return [
        AuditFinding(folder.task.id, "without repository", None if passed is None else not passed, why),
        AuditFinding(folder.task.id, "verbatim", share < _VERBATIM, evidence),
    ]


def probe_without_repository(folder: TaskFolder, ask: DraftingModel, sandbox: Sandbox) -> tuple[bool | None, str]:
    """Whether a model's answer from instruction and inputs alone passes, and why; None where it cannot be told."""
    inputs = []
    for name in folder.task.inputs.files:
        try:
            inputs.append(f"# inputs/{name}\n{(folder.inputs / name).read_text('utf-8')[:_MOST_INPUT]}")
        except UnicodeDecodeError:
            return None, f"not probed: the input {printable(name, 80)} is no text"
    answer = ask(_SOLVE, folder.instruction + "\n\n" + "\n\n".join(inputs))
    found = re.search(r"\{.*\}", answer, re.DOTALL)
    try:
        files = json.loads(found[0])["files"] if found else {}
        wanted = {inner_path(name): str(text) for name, text in list(files.items())[:_MOST_FILES]}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False, "the model's answer is no object with files"
    with temporary_folder("probe") as place:
        Path(place).chmod(0o755)  # the sandbox's account reads it
        for name, text in wanted.items():
            path = Path(place, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", "backslashreplace")
        verdict = next(grade_deliverables([Job(folder, Path(place))], sandbox)).verdict()
    if verdict.outcome.whose is not Attribution.AGENT:
        return None, f"not probed: its answer ended as {verdict.outcome.value}"
    passed = verdict.outcome is Outcome.PASSED
    return passed, "solved from instruction and inputs alone" if passed else f"ended as {verdict.outcome.value}"


def probe_completion(folder: TaskFolder, ask: DraftingModel) -> float:
    """The share of the instruction's second half that a model continues word for word, in runs of eight words."""
    words = folder.instruction.split()
    first, second = words[: len(words) // 2], words[len(words) // 2 :]
    answer = ask(_COMPLETE, " ".join(first)).split()[: 4 * len(second)]
    blocks = difflib.SequenceMatcher(None, second, answer, autojunk=False).get_matching_blocks()
    known = sum(block.size for block in blocks if block.size >= min(_RUN, len(second)))
    return known / len(second) if second else 0.0
