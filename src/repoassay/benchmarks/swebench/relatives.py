"""Rows of data sets that are made as SWE-bench is, under other keys."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from repoassay.benchmarks.swebench.rows import Ids, SweRow
from repoassay.errors import BadInput
from repoassay.formats import Row, RowId, Text

__all__ = ["MultiRow", "SmithRow"]


def _names(value: object) -> object:
    """Multi-SWE-bench has an object of what became of each test."""
    return tuple(value) if isinstance(value, dict) else value


class MultiBase(Row):
    """Where a Multi-SWE-bench row starts."""

    sha: str


class MultiIssue(Row):
    """An issue that a Multi-SWE-bench row resolves."""

    title: Text = ""
    body: Text = ""


class MultiRow(Row):
    """One task as Multi-SWE-bench's data sets have it.

    Attributes:
        org: Owner of the repository on GitHub.
        repo: Name of the repository.
        number: Number of the pull request.
        base: Commit that patches apply to.
        resolved_issues: What was asked for.
        fix_patch: Unified diff of the solution.
        test_patch: Unified diff of the tests.
        f2p_tests: Tests that fail before and pass after, by name; so do `s2p_tests` and `n2p_tests`, which were
            skipped or not there before.
        p2p_tests: Tests that pass before and after.
        title: What the pull request is called.
    """

    KEYS: ClassVar = frozenset({"org", "repo", "number", "fix_patch", "test_patch"})
    ID_KEY: ClassVar = "instance_id"
    FORM: ClassVar = "a Multi-SWE-bench row has org, repo, number and fix_patch"

    instance_id: Text = ""
    org: Annotated[str, Field(min_length=1)]
    repo: Annotated[str, Field(min_length=1)]
    number: int
    base: MultiBase
    title: Text = ""
    resolved_issues: tuple[MultiIssue, ...] = Field(default=(), strict=False)
    fix_patch: Text
    test_patch: Text
    f2p_tests: Annotated[Ids, BeforeValidator(_names)] = ()
    s2p_tests: Annotated[Ids, BeforeValidator(_names)] = ()
    n2p_tests: Annotated[Ids, BeforeValidator(_names)] = ()
    p2p_tests: Annotated[Ids, BeforeValidator(_names)] = ()
    language: Text = ""

    def to_row(self) -> SweRow:
        """Return the row that says the same with SWE-bench's keys."""
        statement = "\n\n".join(f"{issue.title}\n\n{issue.body}".strip() for issue in self.resolved_issues)
        return SweRow(
            instance_id=self.instance_id or f"{self.org}__{self.repo}-{self.number}",
            repo=f"{self.org}/{self.repo}",
            base_commit=self.base.sha,
            patch=self.fix_patch,
            test_patch=self.test_patch,
            problem_statement=statement or self.title,
            fail_to_pass=(*self.f2p_tests, *self.s2p_tests, *self.n2p_tests),
            pass_to_pass=self.p2p_tests,
            language=self.language,
        )


class SmithRow(Row):
    """One task as SWE-smith's data sets have it, which cannot be used: see `to_row`."""

    KEYS: ClassVar = frozenset({"instance_id", "image_name", "FAIL_TO_PASS"})
    ID_KEY: ClassVar = "instance_id"
    FORM: ClassVar = "a SWE-smith row has instance_id and image_name"

    instance_id: RowId

    def to_row(self) -> Any:
        """Refuse the row.

        Raises:
            BadInput: Always: the patch makes the fault, and the code with it lies in an image alone.
        """
        raise BadInput("no recipe: a SWE-smith row names no commit and no tests; both lie in its container image alone")
