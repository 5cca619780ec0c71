"""The draft of a deliverable task, as a person or a model writes it: `draft.toml` and the files beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from repoassay.curate.evidence import read_toml
from repoassay.errors import BadInput
from repoassay.grading import get
from repoassay.text import printable, quote
from repoassay.types import Economics, Identifier, InnerPath, Limits, Record

__all__ = [
    "ACCEPTING",
    "DRAFT",
    "REFUSING",
    "DraftCriterion",
    "DraftFile",
    "DraftOutput",
    "files_below",
    "no_bound",
    "read_draft_file",
    "side_of",
]

DRAFT = "draft.toml"
_NO_BOUND = 1e308
ACCEPTING, REFUSING = 5, 8
"""How many different outputs thresholds are measured from at least; the reference's own is one to accept."""


class DraftTask(Record):
    """What is asked, and what it is about."""

    id: Identifier
    title: Annotated[str, Field(min_length=3, max_length=120)]
    domain: Annotated[str, Field(min_length=1)]
    subdomain: str = ""
    modality: str = ""
    licence: str = "Apache-2.0"
    provenance: str = ""
    instruction: Annotated[str, Field(min_length=40, max_length=20_000)]
    outputs: Annotated[tuple[InnerPath, ...], Field(min_length=1)]


class DraftCriterion(Record):
    """A criterion without its threshold, which is measured. `side` is needed where a metric has no better side."""

    metric: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    of: str
    against: Annotated[str, Field(pattern=r"^(input|truth):.+$")] | None = None
    options: dict[str, str | int | float | bool | list[str] | list[float]] = Field(default_factory=dict)
    side: Literal["at_least", "at_most", "equals"] | None = None
    why: str = ""


class DraftOutput(Record):
    """One output to accept or to refuse: a program, the reference program with some of its text replaced, or files.

    `replace` maps text of the reference program to other text; each must occur in it. `append` is put at the end of the
    program. `files` is a folder of the draft.
    """

    name: Identifier
    program: InnerPath | None = None
    replace: dict[str, str] = Field(default_factory=dict)
    append: str = ""
    files: InnerPath | None = None
    why: str = ""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [bool(self.program), bool(self.replace or (self.append and not self.program)), bool(self.files)]
        if sum(ways) != 1:
            raise ValueError("needs one of program, files, or replace and append on the reference program")
        return self


class DraftFile(Record):
    """A whole draft. `reference` is the program that does the task with the repository."""

    task: DraftTask
    reference: InnerPath = "reference.py"
    criterion: Annotated[tuple[DraftCriterion, ...], Field(min_length=1, max_length=30)]
    accepting: tuple[DraftOutput, ...] = ()
    refusing: tuple[DraftOutput, ...] = ()
    economics: Economics | None = None
    limits: Limits = Limits(seconds=300)

    @model_validator(mode="after")
    def _check_output_names(self) -> Self:
        names = [each.name for each in (*self.accepting, *self.refusing)]
        twice = {name for name in names if names.count(name) > 1 or name == "reference"}
        if twice:
            raise ValueError(f"has the output {min(twice)!r} twice; the reference's own is called reference")
        if len(self.accepting) + 1 < ACCEPTING or len(self.refusing) < REFUSING:
            raise ValueError(
                f"has {len(self.accepting) + 1} outputs to accept, the reference's own included, and"
                f" {len(self.refusing)} to refuse; thresholds are measured from at least {ACCEPTING} and {REFUSING}"
            )
        return self


def read_draft_file(folder: Path) -> DraftFile:
    """Read a draft and see that the files it names are there.

    Raises:
        BadInput: When it cannot be read, says what it may not, or lacks a file.
    """
    path = folder / DRAFT
    data: dict[str, Any] = read_toml(path, "The draft", "Run `repoassay curate draft` once to get a template.")
    data.pop("schema", None)
    try:
        draft = DraftFile.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "it"
        what = printable(str(first["msg"]).removeprefix("Value error, "), 300).rstrip(".")
        raise BadInput(f"The draft {printable(str(path), 300)}: {place}: {what}.", "Correct it there.") from error
    named = [draft.reference, *(each.program for each in (*draft.accepting, *draft.refusing) if each.program)]
    for name in named:
        if not (folder / name).is_file():
            raise BadInput(f"The draft names the program {quote(name)}, which is not beside it.", "Write it.")
    for each in (*draft.accepting, *draft.refusing):
        if each.files and not (folder / each.files).is_dir():
            raise BadInput(f"The draft names the folder {quote(each.files)}, which is not beside it.", "Make it.")
    if not any((folder / "inputs").glob("*")):
        raise BadInput("The draft has no inputs.", f"Put files into {printable(str(folder / 'inputs'), 300)}.")
    _check_instruction(draft, folder)
    return draft


def files_below(folder: Path) -> list[str]:
    """Every file below a folder, by its path in it."""
    return [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]


def _check_instruction(draft: DraftFile, folder: Path) -> None:
    """Every file must be named in the instruction, and no line of the solution may stand there."""
    text = draft.task.instruction
    for name in (*files_below(folder / "inputs"), *draft.task.outputs):
        if name not in text and f"*{Path(name).suffix}" not in text:
            raise BadInput(f"The instruction does not name {quote(name)}.", "Say what is in it, or what is to be.")
    lines = [line.strip() for line in (folder / draft.reference).read_text("utf-8", "replace").splitlines()]
    sentence = next((line for line in lines if len(line) > 25 and not line.startswith("#") and line in text), None)
    if sentence:
        raise BadInput(
            f"The instruction holds a line of the reference program: {quote(sentence[:80])}.", "Leave it out."
        )


def side_of(criterion: DraftCriterion) -> str:
    """The side of good values, by the metric where the draft does not say.

    Raises:
        BadInput: When there is no such metric, or neither says.
    """
    facts = get(criterion.metric)
    exact = facts.unit == "yes/no" or facts.better == "neither"
    if criterion.side == "equals" and not exact:
        raise BadInput(
            f"The criterion {criterion.metric} asks to be equal, and it is no count and no yes or no.",
            'Write side = "at_least" or "at_most"; its threshold is measured.',
        )
    if criterion.side:
        return criterion.side
    if facts.unit == "yes/no":
        return "equals"
    if facts.better not in ("higher", "lower"):
        raise BadInput(
            f"The metric {criterion.metric} has no better side.", 'Write side = "at_least", "at_most" or "equals".'
        )
    return "at_least" if facts.better == "higher" else "at_most"


def no_bound(side: str) -> float:
    """A threshold that every value meets, so that a criterion can be measured before it has one."""
    return {"at_least": -_NO_BOUND, "at_most": _NO_BOUND, "equals": 1.0}[side]
