"""The plan of a study: what is asked, of what, by whom, how often, and how it will be analysed; and its digest.

A plan is written before the first answer and frozen then, so that nobody can choose the question after having seen the
figures (B. A. Nosek et al., "The preregistration revolution", PNAS 115 (2018), 2600-2606).
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError

from repoassay.errors import BadInput
from repoassay.review.rubric import Rubric
from repoassay.review.study import Golden, HiddenPart, Item, Study
from repoassay.text import printable
from repoassay.types import Record, Sha256

__all__ = ["PlanAnswers", "StudyPlan", "complete_plan", "parse_plan", "plan_digest", "plan_from_toml", "system_of"]

ANALYSIS = (
    "Passing tests against mergeable on the same submissions, and systems against each other on the same tasks; the "
    "task is the unit: sign-flip permutation tests by task, score intervals with the number of independent "
    "observations that tasks leave, two-sided at 5 %. Agreement beside them."
)
"""What the figures of `repoassay review figures` are, for plans that say nothing else."""

_MAX_FILE = 256 * 1024
_Text = Annotated[str, Field(max_length=20_000)]
_Names = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=300)], ...], Field(max_length=100_000)]


class PlanAnswers(Record):
    """What people write of a plan; names left empty are those of the study's items.

    `raters` says in words who rates and how many: maintainers of these repositories, say.
    """

    question: _Text = ""
    sampling_frame: _Text = ""
    agents: _Names = ()
    tasks: _Names = ()
    runs_per_task: Annotated[int, Field(ge=1, le=1000)] | None = None
    raters: _Text = ""
    rubric: Annotated[str, Field(max_length=200)] = ""
    analysis: _Text = ""


class StudyPlan(Record):
    """A whole plan: what people wrote, names and rubric filled in, and the settings by which the study runs."""

    schema_: Annotated[int, Field(alias="schema")] = 1
    question: str = ""
    sampling_frame: str = ""
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    runs_per_task: int
    raters: str = ""
    rubric: str
    rubric_digest: Sha256
    analysis: str
    settings: dict[str, Any]

    def to_json(self) -> str:
        """The plan as the JSON text its digest is of."""
        return self.model_dump_json(by_alias=True)


def plan_digest(text: str) -> str:
    """Return the SHA-256 of a plan's text, in hexadecimal: what figures and exports name."""
    return hashlib.sha256(text.encode()).hexdigest()


def system_of(item: HiddenPart) -> str:
    """Return what is compared: agent with model, as the study named it when it was made."""
    return item.system or " ".join(part for part in (item.agent, item.model) if part)


def parse_plan(data: object, name: str = "the plan") -> PlanAnswers:
    """Check what somebody wrote of a plan.

    Raises:
        BadInput: In one sentence naming the key.
    """
    try:
        return PlanAnswers.model_validate(data)
    except ValidationError as error:
        first: Any = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        message = f"{printable(name, 300)}: {printable(place, 100)}: {printable(str(first['msg']), 300)}."
        raise BadInput(message, f"Its keys are {', '.join(PlanAnswers.model_fields)}.") from None


def plan_from_toml(text: str, name: str = "the plan") -> PlanAnswers:
    """Read a plan from TOML.

    Raises:
        BadInput: In one sentence, when it is too large, no TOML, or holds a key that plans do not have.
    """
    if len(text) > _MAX_FILE:
        raise BadInput(f"{printable(name, 300)} is larger than {_MAX_FILE:,} characters.", "Shorten it.")
    try:
        return parse_plan(tomllib.loads(text), name)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(
            f"{printable(name, 300)} is not TOML: {printable(str(error), 300)}.", "Correct that place."
        ) from None


def complete_plan(study: Study, rubric: Rubric, items: Sequence[Item], answers: PlanAnswers | None = None) -> StudyPlan:
    """Make the plan of a study, filling in what was left empty from its items and settings.

    Raises:
        BadInput: When the plan names another rubric, or an item is of an agent or task that the plan does not name.
    """
    answers = answers or PlanAnswers()
    line = [item.hidden for item in items if item.hidden.golden is None]
    title = f"{rubric.name} {rubric.version}"
    if answers.rubric not in {"", title, rubric.name, rubric.digest}:
        raise BadInput(f"The plan names the rubric {printable(answers.rubric)!r}, the study has {title!r}.", "Use one.")
    runs: dict[tuple[str, str], int] = {}
    for hidden in line:
        key = (system_of(hidden), hidden.task)
        runs[key] = runs.get(key, 0) + 1
    return StudyPlan(
        question=answers.question,
        sampling_frame=answers.sampling_frame,
        agents=_checked_names(answers.agents, (system_of(hidden) for hidden in line), "agent"),
        tasks=_checked_names(answers.tasks, (hidden.task for hidden in items_hidden(items)), "task"),
        runs_per_task=answers.runs_per_task or max(runs.values(), default=1),
        raters=answers.raters,
        rubric=title,
        rubric_digest=rubric.digest,
        analysis=answers.analysis or ANALYSIS,
        settings=study.model_dump(mode="json"),
    )


def items_hidden(items: Iterable[Item]) -> Iterable[HiddenPart]:
    """Return the hidden halves of submissions and good controls, whose tasks belong to the sampling frame."""
    return (item.hidden for item in items if item.hidden.golden is not Golden.BAD)


def _checked_names(stated: tuple[str, ...], found: Iterable[str], what: str) -> tuple[str, ...]:
    present = sorted(set(found))
    if not stated:
        return tuple(present)
    strange = [name for name in present if name not in stated]
    if strange:
        raise BadInput(
            f"An item is of the {what} {printable(strange[0], 200)!r}, which the plan does not name.",
            f"Name it in the plan, or leave the {what}s of the plan empty.",
        )
    return stated
