"""Studies: the list, and making one of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError

from repoassay.errors import BadInput, RepoAssayError
from repoassay.records import RunFolder
from repoassay.review import (
    Inclusion,
    RaterRole,
    Study,
    add_rater,
    append,
    check_study,
    create_study,
    note_inclusions,
    parse_plan,
    plan_from_toml,
    read_rubric,
    study_names,
    study_of,
)
from repoassay.server.review.auth import Anyone, AsCreator, Form, Here
from repoassay.server.review.control_items import ControlCounts
from repoassay.server.review.from_runs import RunSelection, SelectedAttempts, choose, make_items
from repoassay.server.review.outputs import begin_previews
from repoassay.server.review.pages import page
from repoassay.server.review.review_state import ReviewState
from repoassay.server.review.sessions import Viewer
from repoassay.text import printable
from repoassay.types import RatingPhase

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["router"]

router = APIRouter(prefix="/studies")
_CONTROLS = ("controls", "faulty", "attention", "training", "qualification")
"""Fields of the form, in the order of `ControlCounts`."""


@router.get("")
def studies(desk: Here, viewer: AsCreator) -> Response:
    """Every study for the owner and admins; a lead's own."""
    names = study_names(desk.database)
    if viewer.rater is not None and viewer.role is RaterRole.LEAD:
        names = tuple(name for name in names if name == viewer.rater.study)
    return page("studies.html", viewer=viewer, studies=[study_of(desk.database, name) for name in names])


@router.get("/new")
def new_study(desk: Here, viewer: AsCreator) -> Response:
    """The form to make a study."""
    return _form(desk, viewer, {}, "")


@router.post("/new")
def make_study(desk: Here, viewer: AsCreator, form: Form) -> Response:
    """Make a study; the form comes back with what is wrong."""
    values = {key: str(value) for key, value in form.items() if key != "run"}
    values["runs"] = " ".join(str(value) for value in form.getlist("run"))
    try:
        study = _make(desk, viewer, values)
    except RepoAssayError as error:
        return _form(desk, viewer, values, str(error))
    if viewer.rater is not None and viewer.role is RaterRole.LEAD:
        invitation = add_rater(desk.database, study.name, viewer.name, RaterRole.LEAD, at=desk.now(), by=viewer.id)
        return page("invited.html", viewer=viewer, study=study, name=viewer.name, token=invitation.token, role="lead")
    return RedirectResponse(f"/review/studies/{study.name}", 303)


def _form(desk: ReviewState, viewer: Anyone, values: Mapping[str, str], wrong: str) -> Response:
    runs = []
    for number, path in enumerate(desk.runs):
        try:
            plan = RunFolder(path).plan
            runs.append((number, path.name, f"{len(plan.tasks)} tasks by {', '.join(plan.agents)[:300]}"))
        except RepoAssayError as error:
            runs.append((number, path.name, str(error)))
    status = 422 if wrong else 200
    fields = {
        "name": f"study-{desk.now():%Y%m%d}-{len(study_names(desk.database)) + 1}", "title": "", "rubric": "mergeable",
        "mode": "all", "overlap": "2", "seed": "1", "each": "1", "reference": "revealed",
        "reveal": "after_submission", "two": "on" if not wrong else "", "checked": "on" if not wrong else "",
        "lease": "30", "flagged": "", **dict.fromkeys(_CONTROLS, "0"),
        "question": "", "sampling_frame": "", "raters": "", "analysis": "", "plan": "",
        "runs": " ".join(str(number) for number, *_ in runs), **values,
    }  # fmt: skip
    return page(
        "new_study.html", status, viewer=viewer, runs=runs, rubrics=desk.rubrics, given=fields, wrong=wrong,
        marked=fields["runs"].split(),
    )  # fmt: skip


def _make(desk: ReviewState, viewer: Viewer, form: Mapping[str, str]) -> Study:
    if form.get("name") == "new":
        raise BadInput("A study cannot be called new.", "Choose another name.")
    if form.get("rubric") not in desk.rubrics:
        raise BadInput("The rubric is not one of those offered.", "Start the application with --rubric FILE.")
    rubric = read_rubric(form["rubric"])
    picked = [int(each) for each in form.get("runs", "").split() if each.isascii() and each.isdigit()]
    if not picked or not all(number < len(desk.runs) for number in picked):
        raise BadInput("Choose at least one run.", "Start the application with the run folders to review.")
    seed = _count(form, "seed", 0, 2**63 - 1)
    settings: dict[str, Any] = {
        "name": form.get("name", ""), "title": form.get("title", ""), "rubric": rubric.digest,
        "mode": form.get("mode", "all"), "overlap": _count(form, "overlap", 1, 1000), "seed": seed,
        "phases": (RatingPhase.BLIND, RatingPhase.REVEALED) if form.get("two") else (RatingPhase.BLIND,),
        "reveal": form.get("reveal", "never"), "reference": form.get("reference", "revealed"),
        "lease_seconds": 60 * _count(form, "lease", 1, 43200),
    }  # fmt: skip
    try:
        study = Study(**settings)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the study"
        raise BadInput(f"{place}: {printable(str(first['msg']).removeprefix('Value error, '), 300)}.") from None
    wanted = RunSelection(
        runs=[desk.runs[number] for number in dict.fromkeys(picked)], seed=seed, each=_count(form, "each", 1, 100),
        controls=ControlCounts(*(_count(form, name, 0, 1000) for name in _CONTROLS)),
        flagged=_flagged(form.get("flagged", "")), checked=bool(form.get("checked")),
    )  # fmt: skip
    chosen = choose(wanted)
    items = make_items(chosen, wanted, desk.blobs, rubric)
    check_study(study, rubric, items)
    words = {key: form[key] for key in ("question", "sampling_frame", "raters", "analysis") if form.get(key)}
    plan = parse_plan(words)
    if form.get("plan"):
        plan = plan_from_toml(form["plan"], "the plan's TOML").model_copy(update=words)
    create_study(desk.database, study, rubric, items, at=desk.now(), by=viewer.id, plan=plan)
    for item in items:
        begin_previews(desk, item.payload)
    _note_excluded(desk, study, chosen, viewer)
    names = {item.hidden.attempt: item.id for item in items if item.hidden.golden is None}
    drawn = f"drawn by the seed {seed}"
    log = [Inclusion(run.id, run.task, run.system, True, drawn, names[run.id]) for run in chosen.sample.chosen]
    log += [Inclusion(run.id, run.task, run.system, False, reason) for run, reason in chosen.sample.excluded]
    note_inclusions(desk.database, study.name, log, at=desk.now(), actor=viewer.id)
    return study


def _note_excluded(desk: ReviewState, study: Study, chosen: SelectedAttempts, viewer: Viewer) -> None:
    """Put what was left out, and who is to be read again, into the log, where it stays."""
    excluded = [[run.id, run.task, run.system, reason] for run, reason in chosen.sample.excluded]
    reread = [[run.id, run.task, run.system, reason] for run, reason in chosen.reread]
    empty = [list(pair) for pair in chosen.sample.empty]

    def work(connection: sa.Connection) -> None:
        append(connection, study.name, desk.now(), "sampled", viewer.id, excluded=excluded, reread=reread, empty=empty)

    desk.database.write(work)


def _flagged(text: str) -> dict[str, str]:
    """Read lines `ATTEMPT: reason`."""
    found = {}
    for line in text.splitlines():
        if line.strip():
            name, _, reason = line.partition(":")
            found[name.strip()] = (reason.strip() or "flagged by the lead")[:2000]
    return found


def _count(form: Mapping[str, str], name: str, least: int, most: int) -> int:
    text = form.get(name, "").strip() or str(least)
    if not text.isascii() or not text.isdigit() or len(text) > 19 or not least <= int(text) <= most:
        raise BadInput(f"{name} must be a whole number from {least} to {most}.")
    return int(text)
