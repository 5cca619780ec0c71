"""What is kept of a reference solution: what it yields at every assertion, which submissions are compared with."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from repoassay.grading.oracle.sites import Rewritten
from repoassay.grading.oracle.twins import TwinUnit
from repoassay.types import Record

__all__ = ["REFERENCE_VERSION", "Occurrence", "Reference"]

REFERENCE_VERSION = "3"


class Occurrence(Record):
    """One observation of the reference: a site of the test's file, its operands, and what they are good for.

    `stable` when every run yields the same; `telling` when the base commit yields something else, or nothing.
    """

    site: int
    nodes: list[Any]
    stable: bool = True
    telling: bool = True


class Reference(Record):
    """Everything a submission is compared with.

    Attributes:
        files: Rewritten test files by name.
        inner: The id under which each test runs when its file is rewritten.
        expected: Observations of each test, in order.
        bits: What a forger would have to guess of each test.
        total: The same of the task: a value that several assertions expect is guessed once.
        open: Tests that hold nothing outside, and why.
        twins: Test functions that can be doubted, by `FILE::NAME`.
        direct: Whether its tests come to the same without a pytest session, on the solution and on the base.
    """

    version: str = REFERENCE_VERSION
    files: dict[str, Rewritten]
    inner: dict[str, str]
    expected: dict[str, tuple[Occurrence, ...]]
    bits: dict[str, float] = Field(default_factory=dict)
    total: float = 0.0
    open: dict[str, str] = Field(default_factory=dict)
    twins: dict[str, TwinUnit] = Field(default_factory=dict)
    direct: bool = False

    def unattested(self, why: str) -> Reference:
        """The same where nothing that holds outside counts as attested: values are compared, and passes doubted."""
        return self.model_copy(
            update={"open": {**dict.fromkeys(self.expected, why), **self.open}, "bits": {}, "total": 0.0}
        )
