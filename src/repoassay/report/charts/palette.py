"""Colours, markers and hatches of series. Okabe and Ito's colours, which colour-blind readers can tell apart.

A series is never told by its colour alone: each has a marker or a hatch of its own. The page's style sheet has the
same colours under `--s0` to `--s7`.
"""

from __future__ import annotations

__all__ = ["COLOURS", "HATCHES", "MARKERS", "look"]

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b3a000", "#5a656d")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""As matplotlib names them; the page draws the same shapes."""
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oo", "||||")


def look(number: int) -> tuple[int, int]:
    """Which colour, and which marker or hatch, the series of a number has; no two of the first 16 have both alike."""
    return number % 8, (number + number // 8) % 8
