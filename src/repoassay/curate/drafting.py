"""Drafting: a draft and its outputs become a deliverable task with measured thresholds, or are refused with reasons."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from repoassay.curate.draft_file import (
    ACCEPTING,
    REFUSING,
    DraftCriterion,
    DraftFile,
    files_below,
    no_bound,
    read_draft_file,
    side_of,
)
from repoassay.curate.evidence import toml_document, write_toml
from repoassay.curate.layout import prepare, today
from repoassay.curate.measured_draft import MeasuredDraft
from repoassay.curate.outputs import make_outputs
from repoassay.curate.pool import PooledRepository
from repoassay.curate.thresholds import MeasuredCriterion, Threshold, measure_thresholds
from repoassay.curate.verification import read_completeness
from repoassay.errors import BadInput, BadTask
from repoassay.formats import REQUIREMENTS
from repoassay.grading import Job, grade_deliverables, names
from repoassay.mutants import run_battery
from repoassay.sandbox import Cache, Sandbox, remove_tree, temporary_folder
from repoassay.tasks import TaskFolder, digest_folder, read_task, task_from_toml
from repoassay.types import Environment, Verdict
from repoassay.workspace import PreparedTask

__all__ = ["OUTPUTS", "DraftedTask", "draft_task", "grade_outputs_of"]

OUTPUTS = "solution/outputs"
"""Where a task keeps the outputs its thresholds were measured from."""
_FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".xlsx": "xlsx", ".html": "html", ".htm": "html",
    ".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".pdf": "pdf",
}  # fmt: skip
_TEXT = (
    ".txt", ".md", ".srt", ".vtt", ".ics", ".vcf", ".bib", ".xml", ".yaml", ".yml", ".toml", ".rst", ".diff", ".gpx",
)  # fmt: skip
_MUTANTS = 100
"""Outputs made wrong from the reference's that a draft must refuse; more are sampled."""


@dataclass(frozen=True, slots=True)
class DraftedTask:
    """What became of a draft: the task's folder, or None and the reasons; `evidence` lies in the pool."""

    id: str
    folder: Path | None
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    margin: float | None
    evidence: Path


def draft_task(
    pooled: PooledRepository, drafted: Path, suite: Path, cache: Cache, sandbox: Sandbox, *, author: str = "human",
    step: Callable[[str], None] = lambda _: None,
) -> DraftedTask:  # fmt: skip
    """Make a task of a draft, and write `thresholds/ID.toml` in the pool whatever becomes of it.

    Args:
        pooled: The repository, seen to be complete.
        drafted: Folder of the draft.
        suite: The suite it goes into, `SUITE/tasks/ID`.
        cache: Where checkouts and environments are kept.
        sandbox: Where programs and metrics run.
        author: Who drafted it: human, or a model's name.
        step: Told what is being done.

    Raises:
        BadInput: When the repository is not known to be complete, the draft cannot be read, or a program of it fails.
    """
    complete = read_completeness(pooled)
    if complete.get("verdict") != "complete":
        raise BadInput(f"{pooled.name} is not complete: {complete.get('why')}.", "Draft for another repository.")
    draft = read_draft_file(drafted)
    place = suite / "tasks" / draft.task.id
    if place.exists():
        raise BadInput(f"The task {place} exists.", "Remove it, or give the draft another id.")
    pooled.seed(cache)
    with temporary_folder("draft") as scratch:
        maker = _Maker(pooled, draft, drafted, Path(scratch, draft.task.id), complete, author)
        layout = maker.lay(cache, sandbox)
        make_outputs(draft, drafted, layout, sandbox, maker.outputs, step)
        step("measuring thresholds")
        found = maker.measure(sandbox)
        evidence = pooled.path / "thresholds" / f"{draft.task.id}.toml"
        write_toml(evidence, found.facts(draft), "Written by `repoassay curate draft`.")
        if not found.problems:
            folder = maker.write(found.thresholds)
            found = found.checked(grade_outputs_of(folder, sandbox))
            if not found.problems:
                step("trying mutants of the reference's outputs")
                found = found.mutated(run_battery(folder, maker.outputs / "reference", sandbox, most=_MUTANTS))
        if found.problems:
            reasons = tuple(found.problems)
            write_toml(evidence, found.facts(draft), "Written by `repoassay curate draft`. The draft was refused.")
            return DraftedTask(draft.task.id, None, reasons, tuple(found.notes), found.margin, evidence)
        write_toml(evidence, found.facts(draft), "Written by `repoassay curate draft`.")
        _place(folder.path, suite, pooled)
    return DraftedTask(draft.task.id, place, (), tuple(found.notes), found.margin, evidence)


def grade_outputs_of(folder: TaskFolder, sandbox: Sandbox) -> list[tuple[str, str, Verdict]]:
    """Kind (accepting or refusing), name and verdict of each output that a task keeps beside its solution."""
    kept = folder.path / OUTPUTS
    places = [("accepting", path) for path in _folders(kept / "accepting")]
    places += [("refusing", path) for path in _folders(kept / "refusing")]
    graded = grade_deliverables([Job(folder, path) for _, path in places], sandbox) if places else ()
    return [(kind, path.name, each.verdict()) for (kind, path), each in zip(places, graded, strict=True)]


def _folders(place: Path) -> list[Path]:
    return sorted(path for path in place.iterdir() if path.is_dir()) if place.is_dir() else []


@dataclass(frozen=True, slots=True)
class _Maker:
    """Where a draft becomes a task folder."""

    pooled: PooledRepository
    draft: DraftFile
    drafted: Path
    place: Path
    complete: Mapping[str, Any]
    author: str

    @property
    def outputs(self) -> Path:
        """Every output that was made."""
        return self.place.parent / "outputs"

    def lay(self, cache: Cache, sandbox: Sandbox) -> PreparedTask:
        """The workspace in which programs run: the one the task will have."""
        environment = Environment.model_validate(self.complete["environment"] | {"resolve": REQUIREMENTS})
        folder = self.place.parent / "layout"
        inputs = self.drafted / "inputs"
        shutil.copytree(inputs, folder / "inputs")
        return prepare(self.pooled, environment, str(self.complete["requirements"]), folder, cache, sandbox)

    def measure(self, sandbox: Sandbox) -> MeasuredDraft:
        """Measure every criterion on every output."""
        good = {"reference": self.outputs / "reference"}
        good |= {each.name: self.outputs / "accepting" / each.name for each in self.draft.accepting}
        bad = {each.name: self.outputs / "refusing" / each.name for each in self.draft.refusing}
        problems = _distinct(good, bad)
        free = [{**_criterion(each), side_of(each): no_bound(side_of(each))} for each in self.draft.criterion]
        folder = self._write(free)
        jobs = [Job(folder, path) for path in (*good.values(), *bad.values())]
        verdicts = dict(zip((*good, *bad), (each.verdict() for each in grade_deliverables(jobs, sandbox)), strict=True))
        criteria = []
        for number, each in enumerate(self.draft.criterion):
            values = {name: _value(verdict, len(self._process()) + number) for name, verdict in verdicts.items()}
            criteria.append(MeasuredCriterion(
                f"{each.metric} of {each.of}", side_of(each), {name: values[name] for name in good},
                {name: values[name] for name in bad},
            ))  # fmt: skip
        thresholds, thin = measure_thresholds(criteria)
        idle = [
            f"{each.name} refuses nothing and was left out"
            for each, threshold in zip(criteria, thresholds, strict=True) if threshold is None
        ]  # fmt: skip
        return MeasuredDraft(tuple(criteria), tuple(thresholds), (*problems, *thin), () if thin else tuple(idle))

    def write(self, thresholds: Sequence[Threshold | None]) -> TaskFolder:
        """The task folder with measured thresholds, with the outputs they were measured from."""
        chosen = []
        for each, threshold in zip(self.draft.criterion, thresholds, strict=True):
            if threshold is not None:
                why = each.why or f"refuses {', '.join(threshold.refuses[:4])}"
                chosen.append({**_criterion(each), threshold.side: threshold.value, "why": why})
        folder = self._write(chosen)
        try:
            return read_task(folder.path, repositories=self.pooled.repositories, metrics=names())
        except BadTask as error:
            what = "; ".join(str(problem).rstrip(".") for problem in error.problems[:5])
            raise BadInput(f"No sound task folder can be made of this draft: {what}.", "Correct the draft.") from error

    def _write(self, criteria: Sequence[Mapping[str, Any]]) -> TaskFolder:
        remove_tree(self.place)
        self.place.mkdir(parents=True)
        draft, task = self.draft, self.draft.task
        shutil.copytree(self.drafted / "inputs", self.place / "inputs")
        shutil.copytree(self.outputs / "reference", self.place / "tests")
        (self.place / "instruction.md").write_text(task.instruction.strip() + "\n", "utf-8")
        requirements = self.place / REQUIREMENTS
        requirements.parent.mkdir()
        requirements.write_text(str(self.complete["requirements"]), "utf-8")
        solution = self.place / "solution"
        solution.mkdir()
        shutil.copyfile(self.drafted / draft.reference, solution / "solve.py")
        for kind in ("accepting", "refusing"):
            shutil.copytree(self.outputs / kind, self.place / OUTPUTS / kind)
        document = toml_document(self._document(criteria))
        (self.place / "task.toml").write_text(document, "utf-8")
        return TaskFolder(self.place, task_from_toml(document), task.instruction, digest_folder(self.place))

    def _document(self, criteria: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        draft, task = self.draft, self.draft.task
        inputs = self.place / "inputs"
        own = {key: getattr(task, key) for key in ("id", "title", "domain", "subdomain", "modality", "licence")}
        drafter = "a person" if self.author == "human" else f"the model {self.author}"
        return {
            "task": {**own, "kind": "deliverable", "provenance": task.provenance or f"drafted by {drafter}"},
            "dates": {"commit": self.pooled.day, "drafted": today()},
            "repository": _repository(self.pooled),
            "environment": {**self.complete["environment"], "resolve": REQUIREMENTS},
            "inputs": {"files": files_below(inputs)},
            "outputs": {"files": list(task.outputs)},
            "grading": {"process": self._process(), "result": [*criteria]},
            "limits": {"seconds": draft.limits.seconds, "memory": draft.limits.memory},
            "economics": draft.economics.model_dump(mode="json") if draft.economics else None,
        }  # fmt: skip

    def _process(self) -> list[dict[str, Any]]:
        found = []
        for name in self.draft.task.outputs:
            suffix = PurePosixPath(name).suffix.lower()
            form = _FORMATS.get(suffix) or ("text" if suffix in _TEXT else None)
            if form:
                found.append({"metric": "opens", "of": name, "equals": 1, "options": {"format": form}})
        return found


def _repository(pooled: PooledRepository) -> dict[str, Any]:
    source = pooled.source
    if source.get("kind") == "sdist" and source.get("package") and source.get("version"):
        place = f"pypi:{source['package']}=={source['version']}"
        return {"source": place, "sha256": source["pin"], "licence": pooled.licence}
    return {"source": f"bundled:{pooled.name}", "licence": pooled.licence}


def _criterion(criterion: DraftCriterion) -> dict[str, Any]:
    found: dict[str, Any] = {"metric": criterion.metric, "of": criterion.of, "against": criterion.against}
    return {**found, **({"options": dict(criterion.options)} if criterion.options else {})}


def _value(verdict: Verdict, number: int) -> float | None:
    return verdict.criteria[number].value if number < len(verdict.criteria) else None


def _distinct(good: Mapping[str, Path], bad: Mapping[str, Path]) -> list[str]:
    """What speaks against the outputs themselves: too few that differ, or one on both sides."""
    digests = {name: digest_folder(path) for name, path in (*good.items(), *bad.items())}
    accepted = {digests[name] for name in good}
    refused = {digests[name] for name in bad}
    both = [name for name in bad if digests[name] in accepted]
    problems = [f"{name} is to be refused, and is the same as an output to accept" for name in both]
    if len(accepted) < ACCEPTING:
        problems.append(f"only {len(accepted)} outputs to accept differ from each other, of {ACCEPTING}")
    if len(refused) < REFUSING:
        problems.append(f"only {len(refused)} outputs to refuse differ from each other, of {REFUSING}")
    return problems


def _place(task: Path, suite: Path, pooled: PooledRepository) -> None:
    (suite / "tasks").mkdir(parents=True, exist_ok=True)
    if not (suite / "suite.toml").exists():
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", suite.resolve().name).strip("-._") or "curated"
        write_toml(suite / "suite.toml", {"suite": {
            "name": name, "version": "draft", "title": f"Deliverable tasks of {name}", "licence": "Apache-2.0",
            "canary": f"{name} canary {uuid.uuid4()}",
        }})  # fmt: skip
    if 'source = "bundled:' in (task / "task.toml").read_text("utf-8"):
        home = suite / "repositories" / pooled.name
        if not home.exists():
            shutil.copytree(pooled.tree, home, symlinks=True)
    shutil.copytree(task, suite / "tasks" / task.name)
