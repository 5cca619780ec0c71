"""What the oracle asks of a language of tests: rewriting, comparing values, and deciding withheld checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from repoassay.grading.oracle import javascript_bits, nodes
from repoassay.grading.oracle.bits import bits_of
from repoassay.grading.oracle.judge import OracleJudge
from repoassay.grading.oracle.quick_decision import DecisionQuestion, decide
from repoassay.grading.oracle.rewrite import rewrite
from repoassay.grading.oracle.sites import Rewritten, SiteMode
from repoassay.sandbox import Sandbox

if TYPE_CHECKING:
    from repoassay.grading.oracle.reference import Occurrence

__all__ = ["JavaScript", "Language", "Python"]


class Language(Protocol):
    """One language of hidden tests."""

    def rewrite(self, source: str, modes: Mapping[int, SiteMode], *, script: bool) -> Rewritten:
        """A test file without what it expects; raises SyntaxError or ValueError for one that cannot be read."""

    def alike(self, first: Sequence[Any], second: Sequence[Any]) -> bool:
        """Whether two rows of operands are the same."""

    def opaque(self, operands: Sequence[Any]) -> bool:
        """Whether something in a row of operands is known by its type alone."""

    def decide(self, questions: Sequence[DecisionQuestion], definitions: str) -> list[str]:
        """Answer `holds`, `fails` or `error: TEXT` for each; raises InfraFault when the judge cannot be started."""

    def function(self, test: str) -> str:
        """A test's function as sites name it."""

    def bits(
        self, files: Mapping[str, Rewritten], expected: Mapping[str, Sequence[Occurrence]], instruction: str, base: Path
    ) -> tuple[dict[str, float], float]:
        """What a forger would have to guess of each test, and of the task."""


class Python:
    """Tests for pytest and unittest, and plain scripts.

    Args:
        judge: Decides what cannot be decided here.
    """

    def __init__(self, judge: OracleJudge) -> None:
        self._judge = judge

    def rewrite(self, source: str, modes: Mapping[int, SiteMode], *, script: bool) -> Rewritten:
        """See `Language`."""
        del script
        return rewrite(source, modes)

    def alike(self, first: Sequence[Any], second: Sequence[Any]) -> bool:
        """See `Language`."""
        return nodes.alike(first, second)

    def opaque(self, operands: Sequence[Any]) -> bool:
        """See `Language`."""
        return nodes.opaque(operands)

    def decide(self, questions: Sequence[DecisionQuestion], definitions: str) -> list[str]:
        """See `Language`."""
        return decide(questions, definitions, self._judge)

    def function(self, test: str) -> str:
        """See `Language`; parameters do not belong to it."""
        return test.partition("::")[2].partition("[")[0]

    def bits(
        self, files: Mapping[str, Rewritten], expected: Mapping[str, Sequence[Occurrence]], instruction: str, base: Path
    ) -> tuple[dict[str, float], float]:
        """See `Language`."""
        return bits_of(files, expected, instruction, base)


class JavaScript:
    """Tests for node's runner, and plain scripts.

    Args:
        sandbox: Where withheld checks are decided.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def rewrite(self, source: str, modes: Mapping[int, SiteMode], *, script: bool) -> Rewritten:
        """See `Language`; a site that does not hold outside stays as it was."""
        from repoassay.grading.oracle.javascript import rewrite as rewrite_javascript

        return rewrite_javascript(source, tuple(modes), script=script)

    def alike(self, first: Sequence[Any], second: Sequence[Any]) -> bool:
        """See `Language`."""
        from repoassay.grading.oracle.javascript_values import same_javascript_value

        return len(first) == len(second) and all(map(same_javascript_value, first, second))

    def opaque(self, operands: Sequence[Any]) -> bool:
        """See `Language`."""
        from repoassay.grading.oracle.javascript_values import tells

        return not all(map(tells, operands))

    def decide(self, questions: Sequence[DecisionQuestion], definitions: str) -> list[str]:
        """See `Language`."""
        from repoassay.grading.oracle.javascript_judge import decide as decide_javascript

        if not questions:
            return []
        return decide_javascript(definitions, [(each.site.check, each.nodes) for each in questions], self._sandbox)

    def function(self, test: str) -> str:
        """See `Language`."""
        return test.partition("::")[2]

    def bits(
        self, files: Mapping[str, Rewritten], expected: Mapping[str, Sequence[Occurrence]], instruction: str, base: Path
    ) -> tuple[dict[str, float], float]:
        """See `Language`."""
        del base
        return javascript_bits.bits_of(files, expected, instruction)
