"""SWE-bench's row, as far as its tests can be run by pytest."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, BeforeValidator, Field

from repoassay.formats.json_records import parse_json
from repoassay.formats.resq_row import Row, RowId, Text

__all__ = ["SweRow"]


def _ids(value: object) -> object:
    """The published files have the lists as JSON strings."""
    if isinstance(value, str):
        try:
            value = parse_json(value) if value.strip() else []
        except ValueError as error:
            raise ValueError(f"{error}; write a list of test ids") from None
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list) else value


Ids = Annotated[tuple[str, ...], BeforeValidator(_ids)]


class SweRow(Row):
    """One task as SWE-bench's data sets have it.

    Attributes:
        instance_id: Name of the task, unique in its file.
        repo: `OWNER/NAME` on GitHub, or a git URL.
        base_commit: Full commit id that patches apply to.
        patch: Unified diff of the solution.
        test_patch: Unified diff that adds the tests.
        problem_statement: What to change, in prose.
        fail_to_pass: Test ids that the solution makes pass; `FAIL_TO_PASS` in files.
        pass_to_pass: Test ids that pass before and after; `PASS_TO_PASS` in files.
        version: Release of the repository.
        environment_setup_commit: Commit whose environment is used.
    """

    KEYS: ClassVar = frozenset({"instance_id", "FAIL_TO_PASS", "test_patch", "problem_statement"})
    """Keys of a record that show its format."""
    ID_KEY: ClassVar = "instance_id"
    FORM: ClassVar = "a SWE-bench row has instance_id, repo and test_patch"

    instance_id: RowId
    repo: Annotated[str, Field(min_length=1)]
    base_commit: Text = ""
    patch: Text = ""
    test_patch: Text
    problem_statement: str
    fail_to_pass: Ids = Field(
        validation_alias=AliasChoices("FAIL_TO_PASS", "fail_to_pass"), serialization_alias="FAIL_TO_PASS"
    )
    pass_to_pass: Ids = Field(
        default=(), validation_alias=AliasChoices("PASS_TO_PASS", "pass_to_pass"), serialization_alias="PASS_TO_PASS"
    )
    version: Text = ""
    environment_setup_commit: Text = ""

    @property
    def name(self) -> str:
        """The row's id, whatever its format calls it."""
        return self.instance_id

    @property
    def asked(self) -> str:
        """What the row asks for."""
        return self.problem_statement

    @property
    def solution(self) -> str:
        """The reference patch."""
        return self.patch

    def to_json(self) -> dict[str, Any]:
        """Return the row with the published keys."""
        return self.model_dump(mode="python", by_alias=True)
