"""What a judge is told: the same words people read, and the submission as fenced data, without who made it.

It is made of a `RaterView`, which holds nothing of an item's hidden half; signals come in the second pass only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment
from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.judges.definition import Definition, Parameters
from repoassay.judges.diff_lines import DiffText, number_lines
from repoassay.review import AnswerRole, HiddenPart, ItemPayload, RaterView, Rubric, scrub_text
from repoassay.signals import Signal, SignalState
from repoassay.text import block

__all__ = ["Prompt", "bundled_templates", "own_templates", "prompt_of", "signals_by_axis"]

_LARGEST = 100_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """Both messages, the diff its evidence is checked against, and what was left out, a sentence each."""

    system: str
    user: str
    diff: DiffText
    cut: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    lead: str
    name: str
    text: str


def bundled_templates() -> tuple[str, str]:
    """The package's own templates: of the system message and of the user's."""
    folder = files("repoassay.judges") / "prompts"
    return (folder / "system.md.j2").read_text("utf-8"), (folder / "user.md.j2").read_text("utf-8")


def own_templates(folder: Path) -> tuple[str, str]:
    """Templates of a folder with `system.md.j2`, `user.md.j2` or both; the package's where one is missing.

    Raises:
        BadInput: When there is neither, or one cannot be read or is no template.
    """
    found = []
    missing = 0
    for name, ours in zip(("system.md.j2", "user.md.j2"), bundled_templates(), strict=True):
        path = folder / name
        if not path.exists():
            missing += 1
            found.append(ours)
            continue
        try:
            with path.open(encoding="utf-8") as stream:
                text = stream.read(_LARGEST + 1)
            if len(text) > _LARGEST:
                raise BadInput(f"The template {path} is longer than {_LARGEST:,} characters.", "Shorten it.")
            _compiled(text)
        except (OSError, UnicodeDecodeError, TemplateError) as error:
            raise BadInput(f"The template {path} cannot be used: {error}.", "See docs/judges.md.") from error
        found.append(text)
    if missing == 2:
        raise BadInput(f"{folder} holds neither system.md.j2 nor user.md.j2.", "Copy the package's and change them.")
    return found[0], found[1]


def prompt_of(
    definition: Definition, view: RaterView, axis: str, *, swapped: bool = False, signals: str = "",
    correction: str = "",
) -> Prompt:  # fmt: skip
    """Write the prompt of one call.

    Args:
        definition: The judge.
        view: What raters see while rating blind. Its item's name and place are not told.
        axis: Asked about.
        swapped: Where a reference is shown beside the change, whether it comes first.
        signals: What deterministic checks found, in the second pass.
        correction: Why the last answer was not taken, in our own words.

    Raises:
        BadInput: When a template of the user's cannot be filled in.
        KeyError: When the rubric has no such axis.
    """
    payload, most = view.payload, definition.parameters
    diff = number_lines(payload.diff, most.max_diff)
    cut = list(diff.cut)
    blocks = _texts(payload, most, cut)
    pair = [_Block("The change to review, as a diff:", "CHANGE", diff.text)]
    if payload.reference:
        other = number_lines(payload.reference, most.max_diff)
        cut += [f"Reference: {each}" for each in other.cut]
        lead = "One acceptable solution, for comparison only; others may be as good. Do not cite its lines:"
        pair.append(_Block(lead, "REFERENCE", other.text))
    blocks += reversed(pair) if swapped else pair
    if signals:
        blocks.append(
            _Block("What programs found; they may be wrong, and silence proves nothing:", "SIGNALS", _barred(signals))
        )
    entry = next(each for each in view.rubric.axes if each.key == axis)
    names = {
        "axis": entry, "rubric": view.rubric, "levels": view.rubric.levels(axis), "free": _free(view.rubric, axis),
        "blocks": blocks, "fence": _fence(blocks), "correction": correction,
    }  # fmt: skip
    try:
        system, user = (_compiled(text).render(names) for text in (definition.system, definition.user))
    except (TemplateError, ValueError, TypeError, ArithmeticError, RecursionError, AttributeError) as error:
        raise BadInput(f"The judge's templates cannot be filled in: {error}.", "See docs/judges.md.") from error
    return Prompt(system, user, diff, tuple(cut))


def _texts(payload: ItemPayload, most: Parameters, cut: list[str]) -> list[_Block]:
    parts = [
        ("The issue it answers:", "ISSUE", "\n".join(filter(None, (payload.title, payload.issue)))),
        ("The repository's rules for contributions:", "RULES", payload.rules),
    ]
    if most.description:
        parts.append(("What its author says of it:", "DESCRIPTION", payload.description))
    blocks = []
    for lead, name, text in parts:
        if not text.strip():
            continue
        if len(text) > most.max_text:
            notice = f"{len(text) - most.max_text:,} of {len(text):,} characters of {name} are not shown."
            cut.append(notice)
            text = f"{text[: most.max_text]}\nCUT {notice}"  # noqa: PLW2901 - the shorter one takes its place
        blocks.append(_Block(lead, name, _barred(text)))
    return blocks


def _barred(text: str) -> str:
    """Return text with a bar before every line, so that none of its lines can pass for a fence of ours."""
    lines = block(text.replace("\r\n", "\n")).split("\n")
    return "\n".join(f"| {line}" for line in lines)


def _fence(blocks: Sequence[_Block]) -> str:
    # What is fenced cannot hold a digest of itself, so nobody can write the closing line into a patch.
    whole = "\0".join(block.text for block in blocks)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _free(rubric: Rubric, axis: str) -> str:
    roles = {AnswerRole.NOT_APPLICABLE, AnswerRole.UNSURE}
    return ", ".join(f'"{each.key}"' for each in rubric.levels(axis) if each.role in roles) or "none"


@cache
def _compiled(text: str) -> Template:
    return SandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=False, autoescape=False, trim_blocks=True, lstrip_blocks=True
    ).from_string(text)


_MOST_PLACES = 20


def signals_by_axis(hidden: HiddenPart, rubric: Rubric) -> dict[str, str]:
    """Return the signals recorded for an item (`evidence["signals"]`), as text for each axis that has any.

    Names of the agent, the model and the system are taken out; entries that are no signals are passed over.
    """
    entries = hidden.evidence.get("signals")
    found: dict[str, list[str]] = {axis.key: [] for axis in rubric.axes}
    for entry in entries if isinstance(entries, list) else []:
        try:
            signal = Signal.model_validate(entry)
        except ValidationError:
            continue
        if signal.axis.value in found:
            found[signal.axis.value] += _lines(signal)
    names = tuple(filter(None, (hidden.agent, hidden.model, hidden.system)))
    return {axis: scrub_text("\n".join(lines), names) for axis, lines in found.items() if lines}


def _lines(signal: Signal) -> list[str]:
    head = f"{signal.title} [{signal.id}]: "
    if signal.state is SignalState.UNKNOWN:
        return [f"{head}could not be looked at: {signal.reason}"]
    if signal.state is SignalState.SILENT:
        return [f"{head}nothing found"]
    lines = [f"{head}found"]
    for each in signal.evidence[:_MOST_PLACES]:
        place = each.path if each.line is None else f"{each.path}:{each.line} ({each.side})"
        lines.append(f"  {place}: {each.text}{f' `{each.quote}`' if each.quote else ''}")
    more = signal.more + max(0, len(signal.evidence) - _MOST_PLACES)
    return [*lines, f"  and {more} more places"] if more else lines
