"""The isolation something ran under: which kind of sandbox, and how well that kind isolates."""

from __future__ import annotations

from enum import StrEnum

from repoassay.types.base import Record

__all__ = ["GradingIsolation", "IsolationGrade"]


class IsolationGrade(StrEnum):
    """How well code inside is kept from what is outside; no grade is a proof.

    `KERNEL`: namespaces, our filter of system calls and our limits, which attacks in the tests were tried against.
    `CONTAINER`: a container engine's, which depends on how that is set up; the filter of system calls is ours too.
    `UNVERIFIED`: a plug-in's or a remote service's, of which only its own word is known.
    `NONE`: nothing is kept from anything.
    """

    KERNEL = "kernel"
    CONTAINER = "container"
    UNVERIFIED = "unverified"
    NONE = "none"


class GradingIsolation(Record):
    """The isolation a verdict was given under: its `kind` as `--isolation` spells it, and the `grade` of that kind."""

    kind: str
    grade: IsolationGrade

    @property
    def phrase(self) -> str:
        """Both in words, such as `podman@python:3.11, grade container`; the kind may be hostile text of a record."""
        return f"{self.kind}, grade {self.grade.value}"
