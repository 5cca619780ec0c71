"""How series look in every plot of every page: one colour for each outcome, each rate and each agent.

Outcomes have Okabe and Ito's colours, which colour-blind readers can tell apart; no agent and no rate has one of them,
so that a colour means one thing on every page. A series is never told by its colour alone: each has a marker or a hatch
of its own. Style sheets of pages take their colours from here, see `style`.
"""

from __future__ import annotations

from dataclasses import dataclass

from repoassay.report.charts.value import Series
from repoassay.report.outcomes import OUTCOMES, UNFINISHED

__all__ = ["HATCHES", "MARKERS", "Look", "look", "style"]

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""As matplotlib names them; the page draws the same shapes."""
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oo", "||||")

_AGENTS = ("#3b4cc0", "#8c564b", "#17818a", "#a5823f", "#6b7a1a", "#1f2f6b", "#5a656d", "#7a3b69")
_OUTCOMES = (
    "#009e73", "#d55e00", "#e69f00", "#cc79a7", "#0072b2", "#56b4e9", "#1c2226", "#999999", "#f0e442", "#dde1e3",
)  # fmt: skip
_KINDS = [*OUTCOMES.values(), UNFINISHED]
_COLOURS = {
    **{f"s{number}": colour for number, colour in enumerate(_AGENTS)},
    **{kind.name: colour for kind, colour in zip(_KINDS, _OUTCOMES, strict=True)},
    "ecr": "#9a7cc4",
    "tpr": "#5b3a94",
}
_IN_THE_DARK = {
    "s0": "#8c9bff", "s1": "#c49a8c", "s2": "#4fb9c3", "s3": "#d8b985", "s4": "#aebd48", "s5": "#7089e8",
    "s6": "#9ba6ae", "s7": "#c98bb8", "tampering": "#f2f4f5", "unfinished": "#3a4249", "ecr": "#7d5fb0",
    "tpr": "#c3a6f2",
}  # fmt: skip
_SHAPES = {**{kind.name: number % 8 for number, kind in enumerate(_KINDS)}, "ecr": 0, "tpr": 1}


@dataclass(frozen=True, slots=True)
class Look:
    """The name of a colour in style sheets, the colour on paper, and the number of a marker and hatch."""

    name: str
    colour: str
    shape: int


def look(series: Series, number: int) -> Look:
    """How the series at a place of its plot looks; no two of the first 16 agents look alike."""
    kind = series.kind if series.kind is not None else number
    if isinstance(kind, str):
        return Look(kind, _COLOURS[kind], _SHAPES[kind])
    name = f"s{kind % 8}"
    return Look(name, _COLOURS[name], (kind + kind // 8) % 8)


def style() -> str:
    """Style sheet rules: `--NAME` for each colour, and classes `f-NAME` (fill), `l-NAME` (line), `p-NAME`
    (pill), `c-NAME` (`--of` is the colour)."""
    light, dark = (" ".join(f"--{name}: {colour};" for name, colour in of.items()) for of in (_COLOURS, _IN_THE_DARK))
    rules = "\n".join(
        f".f-{name} {{ fill: var(--{name}); }} .l-{name} {{ stroke: var(--{name}); }}"
        f" .p-{name} i {{ background: var(--{name}); }} .c-{name} {{ --of: var(--{name}); }}"
        for name in _COLOURS
    )
    return f"\n:root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{rules}\n"
