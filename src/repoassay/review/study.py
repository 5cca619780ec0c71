"""A study: which submissions are rated on which rubric, by whom, in what order, and what raters may see.

An item has two halves. `ItemPayload` is what raters are shown; `HiddenPart` is who made it and what tests, signals and
judges said. `rater_view` is given the payload alone, so nothing of the other half can reach a rater by mistake.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from repoassay.errors import BadInput
from repoassay.review.preparation import AnswerKey, ItemUse, check_key
from repoassay.review.rubric import Rubric
from repoassay.review.scrub import scrub_diff, scrub_text
from repoassay.types import Identifier, RatingPhase, Record, Sha256

__all__ = [
    "ChangedFile", "FileVersions", "Golden", "HiddenPart", "Item", "ItemPayload", "Output", "RaterView", "Reveal",
    "Study", "StudyMode", "blinded", "check_study", "opaque_names", "rater_view",
]  # fmt: skip

_Text = Annotated[str, Field(max_length=2_000_000)]
_Diff = Annotated[str, Field(max_length=32_000_000)]
_Path = Annotated[str, Field(min_length=1, max_length=1024)]


class StudyMode(StrEnum):
    """Who rates what: everybody everything, `overlap` raters an item as they come, or that many by a fixed design."""

    ALL = "all"
    OVERLAP = "overlap"
    BALANCED = "balanced"


class Reveal(StrEnum):
    """When a rater may see tests, signals and judges of an item."""

    NEVER = "never"
    AFTER_SUBMISSION = "after_submission"
    AFTER_CLOSE = "after_close"


class Golden(StrEnum):
    """A control among the items, which no rater is told of: a change known to be acceptable, or known not to be."""

    GOOD = "good"
    BAD = "bad"


class Study(Record):
    """How a study is run.

    `overlap` is how many raters an item needs in the modes `overlap` and `balanced`; `min_raters` how many before its
    figures are final. `lease_seconds` is how long an opened item stays reserved without a sign of its rater.
    `reference` says when raters see the human's own change: while rating blind, after it, or never.
    """

    name: Identifier
    title: Annotated[str, Field(max_length=300)] = ""
    rubric: Sha256
    mode: StudyMode = StudyMode.ALL
    overlap: Annotated[int, Field(ge=1, le=1000)] = 1
    min_raters: Annotated[int, Field(ge=1, le=1000)] = 1
    phases: tuple[RatingPhase, ...] = (RatingPhase.BLIND,)
    reveal: Reveal = Reveal.NEVER
    reference: Literal["blind", "revealed", "never"] = "blind"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    lease_seconds: Annotated[int, Field(ge=30, le=30 * 86400)] = 1800

    @model_validator(mode="after")
    def _phases_agree(self) -> Self:
        if self.phases not in {(RatingPhase.BLIND,), (RatingPhase.BLIND, RatingPhase.REVEALED)}:
            raise ValueError("phases must be blind, or blind and then revealed")
        if RatingPhase.REVEALED in self.phases and self.reveal is Reveal.NEVER:
            raise ValueError("a revealed phase needs `reveal` to be after_submission or after_close")
        return self


class ChangedFile(Record):
    """One file of the diff: its path now (before, if deleted), what became of it, lines added and deleted."""

    path: _Path
    status: Literal["added", "modified", "deleted", "renamed", "binary"] = "modified"
    additions: Annotated[int, Field(ge=0)] = 0
    deletions: Annotated[int, Field(ge=0)] = 0


class Output(Record):
    """One file delivered, named by digest in the application's own storage, and the human one beside it."""

    path: _Path
    media: Annotated[str, Field(max_length=200)]
    sha256: Sha256
    truth: Sha256 | None = None


class FileVersions(Record):
    """A changed file as it was and as it became, by digest in the application's own storage; `path` is the diff's.

    `before` lets the context of a change expand; `after` is there only where the file is shown as a picture, pages or
    cells. `generated` says that the repository's own attributes call it generated or vendored.
    """

    path: _Path
    before: Sha256 | None = None
    after: Sha256 | None = None
    generated: bool = False


class ItemPayload(Record):
    """What raters are shown of an item, as `blinded` leaves it. `reference` is the human's own change, as a diff."""

    title: Annotated[str, Field(max_length=1000)] = ""
    issue: _Text = ""
    rules: _Text = ""
    description: _Text = ""
    diff: _Diff = ""
    files: Annotated[tuple[ChangedFile, ...], Field(max_length=50_000)] = ()
    reference: _Diff | None = None
    outputs: Annotated[tuple[Output, ...], Field(max_length=10_000)] = ()
    versions: Annotated[tuple[FileVersions, ...], Field(max_length=50_000)] = ()


class HiddenPart(Record):
    """What raters must not know: where the submission comes from, and what was said of it. Shown on revealing.

    `system` is what is compared (agent with model); `tests` whether the tests passed, None where not known. `flagged`
    says why an integrity check wants it excluded. `evidence` holds tests, signals and judges as JSON values.
    """

    task: Annotated[str, Field(min_length=1, max_length=200)]
    repository: Annotated[str, Field(max_length=500)] = ""
    system: Annotated[str, Field(max_length=300)] = ""
    agent: Annotated[str, Field(max_length=300)] = ""
    model: Annotated[str, Field(max_length=300)] = ""
    run: Annotated[str, Field(max_length=200)] = ""
    attempt: Annotated[str, Field(max_length=200)] = ""
    tests: bool | None = None
    golden: Golden | None = None
    flagged: Annotated[str, Field(max_length=2000)] = ""
    human_minutes: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    origin: Annotated[str, Field(max_length=200)] = ""
    evidence: dict[str, Any] = Field(default_factory=dict)


class Item(Record):
    """One submission in a study, under an opaque name. `key` is there where it trains or qualifies raters."""

    id: Identifier
    payload: ItemPayload = ItemPayload()
    hidden: HiddenPart
    use: ItemUse = ItemUse.LIVE
    key: AnswerKey | None = None


class RaterView(Record):
    """All that a rater's page is made from before submission."""

    item: Identifier
    position: int
    of: int
    payload: ItemPayload
    rubric: Rubric


def rater_view(item: str, payload: ItemPayload, rubric: Rubric, study: Study, position: int, of: int) -> RaterView:
    """Make what a rater sees while rating blind.

    It is given no `HiddenPart`, so it cannot tell agent, model, tests, judges or other raters.

    Args:
        item: The opaque name.
        payload: The item's payload, blinded.
        rubric: The study's rubric.
        study: Whose `reference` says whether the human's change is shown.
        position: Place in this rater's order, from 1.
        of: How many items the rater has.
    """
    shown = payload if study.reference == "blind" else payload.model_copy(update={"reference": None})
    return RaterView(item=item, position=position, of=of, payload=shown, rubric=rubric)


def blinded(payload: ItemPayload, names: Iterable[str] = (), branches: Iterable[str] = ()) -> ItemPayload:
    """Return a payload with everything scrubbed that tells who made the submission.

    Args:
        payload: As it came.
        names: Agents, models, systems and people of the whole study.
        branches: Branch names.
    """
    every, lines = tuple(names), tuple(branches)
    own = f"{payload.issue}\n{payload.rules}\n{payload.reference or ''}"
    kept = "\n".join(line[1:] for line in payload.diff.split("\n") if line[:1] in {" ", "-"})

    def path(text: str) -> str:
        return scrub_diff(f"+++ {text}", every, f"{own}\n{kept}")[4:]

    return payload.model_copy(
        update={
            "title": scrub_text(payload.title, every, lines),
            "description": scrub_text(payload.description, every, lines),
            "diff": scrub_diff(payload.diff, every, own),
            "files": tuple(file.model_copy(update={"path": path(file.path)}) for file in payload.files),
            "outputs": tuple(file.model_copy(update={"path": path(file.path)}) for file in payload.outputs),
        }
    )


def opaque_names(seed: int, count: int) -> tuple[str, ...]:
    """Return `count` different names that say nothing of order or origin, the same for the same seed."""
    draw = random.Random(f"names:{seed}")  # noqa: S311 - names need not be secret, only say nothing
    names: dict[str, None] = {}
    while len(names) < count:
        names["s" + "".join(draw.choices("23456789abcdefghjkmnpqrstvwxyz", k=8))] = None
    return tuple(names)


def check_study(study: Study, rubric: Rubric, items: Sequence[Item]) -> None:
    """Refuse a study that cannot give what it promises.

    Raises:
        BadInput: When the rubric is another one, an item appears twice, or a control would unmask itself.
    """
    if study.rubric != rubric.digest:
        raise BadInput(
            f"The study {study.name!r} names another rubric than the one given.", "Give the digest of this rubric."
        )
    if not items:
        raise BadInput(f"The study {study.name!r} has no items.", "Give at least one submission.")
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise BadInput(f"The item {item.id!r} appears twice in the study {study.name!r}.", "Name each once.")
        seen.add(item.id)
        if item.use is not ItemUse.LIVE:
            check_key(item.key or AnswerKey(), rubric)
    if all(item.use is not ItemUse.LIVE for item in items):
        raise BadInput(f"The study {study.name!r} has no items that count.", "Give one that neither trains nor tests.")
    made_of_it = (
        item.hidden.golden is Golden.GOOD or (item.hidden.golden is Golden.BAD and item.payload.reference)
        for item in items
    )
    if study.reference == "blind" and any(made_of_it):
        raise BadInput(
            f"The study {study.name!r} shows the human change while rating, beside controls made of that change.",
            'Set `reference = "revealed"`, or leave the controls out.',
        )
