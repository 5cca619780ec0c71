"""Assertion sites of a hidden test file: what stays inside, what is withheld, and the file as the sandbox gets it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["AssertionSite", "Rewritten", "SiteMode"]


class SiteMode(StrEnum):
    """How an assertion is decided.

    Attributes:
        WITHHELD: The operands are sent, and the comparison with what is expected happens outside.
        OBSERVED: The comparison stays inside; the operands are sent too and count when equal to the reference's.
        LEFT: The assertion stays as it was and tells nothing.
    """

    WITHHELD = "withheld"
    OBSERVED = "observed"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class AssertionSite:
    """One assertion.

    Attributes:
        number: Unique in its file, in order of appearance, the same whatever modes are chosen.
        test: The test function that holds it, `NAME` or `CLASS::NAME`; `__script__` for the statements of a script;
            empty for helpers and fixtures, which serve any test.
        line: Line of the statement, from 1.
        mode: How it is decided.
        check: For WITHHELD, an expression over the operands `_0`, `_1`, ... that is true when the assertion holds,
            in the language of the tests; empty otherwise.
        pinned: Indices of operands that name a row of a withheld table; they must equal the reference's.
        always: Whether every passing run of the test reaches it exactly once: it stands at the top level of the test.
    """

    number: int
    test: str
    line: int
    mode: SiteMode
    check: str = ""
    pinned: tuple[int, ...] = ()
    always: bool = False


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A test file as the sandbox gets it.

    Attributes:
        source: Its text; lines as in the original.
        sites: All sites, LEFT ones too.
        definitions: Source that the judge runs before any check: imports and constants that left the file.
    """

    source: str
    sites: tuple[AssertionSite, ...]
    definitions: str = ""
