"""Rows of data sets that are made as SWE-bench is, under other keys."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from repoassay.benchmarks.swebench.install_config import Words
from repoassay.benchmarks.swebench.rows import Ids, Moment, SweRow, listed_ids
from repoassay.errors import BadInput
from repoassay.formats import Row, RowId, Text

__all__ = ["MultiRow", "PolyRow", "R2ERow", "SmithRow"]

_POLY_ID = re.compile(r"([\w/.-]+\.py):(?!:)(\w+):(\w.*)")
"""File, class (`None` where there is none) and function."""


def _pytest_ids(value: object) -> object:
    """SWE-PolyBench divides the parts of a test's id by single colons."""
    found = listed_ids(value)
    return tuple(map(_pytest_id, found)) if isinstance(found, tuple) else found


def _pytest_id(name: object) -> object:
    parts = _POLY_ID.fullmatch(name) if isinstance(name, str) else None
    return "::".join(part for part in parts.groups() if part != "None") if parts else name


PolyIds = Annotated[tuple[str, ...], BeforeValidator(_pytest_ids)]


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


class PolyRow(Row):
    """One task as SWE-PolyBench's data sets have it.

    Attributes:
        fail_to_pass: Tests that the solution makes pass; `F2P` in files, as text of a Python list.
        pass_to_pass: Tests that pass before and after; `P2P` in files.
        language: Such as `Python` or `Java`.
        test_command: The command that runs the tests.
    """

    KEYS: ClassVar = frozenset({"F2P", "P2P", "test_patch"})
    ID_KEY: ClassVar = "instance_id"
    FORM: ClassVar = "a SWE-PolyBench row has instance_id, F2P and test_patch"

    instance_id: RowId
    repo: Annotated[str, Field(min_length=1)]
    base_commit: Text = ""
    patch: Text = ""
    test_patch: Text
    problem_statement: Text = ""
    fail_to_pass: PolyIds = Field(alias="F2P")
    pass_to_pass: PolyIds = Field(default=(), alias="P2P")
    language: Text = ""
    test_command: Words = ()
    created_at: Moment = ""

    def to_row(self) -> SweRow:
        """Return the row that says the same with SWE-bench's keys; how it is installed lies in a Dockerfile alone."""
        is_python = self.language.lower() in {"", "python"}
        same = self.model_dump(exclude={"test_command"})
        return SweRow(**same, test_cmds=self.test_command if is_python else ())


class SmithRow(Row):
    """One task as SWE-smith's data sets have it, which cannot be used: see `to_row`."""

    KEYS: ClassVar = frozenset({"instance_id", "image_name", "FAIL_TO_PASS"})
    ID_KEY: ClassVar = "instance_id"
    FORM: ClassVar = "a SWE-smith row has instance_id and image_name"

    instance_id: RowId
    image_name: str

    def to_row(self) -> Any:
        """Refuse the row.

        Raises:
            BadInput: Always: the patch makes the fault, and the code with it lies in an image alone.
        """
        raise BadInput("no recipe: a SWE-smith row names no commit and no tests; both lie in its container image alone")


class R2ERow(Row):
    """One task as R2E-Gym's data sets have it, which cannot be used: see `to_row`."""

    KEYS: ClassVar = frozenset({"repo_name", "docker_image", "commit_hash", "expected_output_json"})
    ID_KEY: ClassVar = "commit_hash"
    FORM: ClassVar = "an R2E-Gym row has repo_name, docker_image and commit_hash"

    commit_hash: RowId

    def to_row(self) -> Any:
        """Refuse the row.

        Raises:
            BadInput: Always: its tests lie in an image alone.
        """
        raise BadInput("no recipe: an R2E-Gym row brings no tests, which lie in its container image alone")
