"""SWE-bench's row, as far as its tests can be run by pytest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, BeforeValidator, Field

from repoassay.formats import REQUIREMENTS, Row, RowId, TaskParts, Text, import_path_of, parse_json
from repoassay.types import Environment, HiddenTests

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
    def repo_url(self) -> str:
        """The repository."""
        return self.repo

    @property
    def asked(self) -> str:
        """What the row asks for."""
        return self.problem_statement

    @property
    def solution(self) -> str:
        """The reference patch."""
        return self.patch

    @property
    def known_files(self) -> Mapping[str, str]:
        """Nothing: these rows hold no texts of files."""
        return {}

    def task_parts(self) -> TaskParts:
        """Return environment, tests and files of the row's task.

        Raises:
            BadInput: When its test patch does not hold its tests whole.
        """
        from repoassay.benchmarks.swebench.test_files import new_test_files

        tests = HiddenTests(fail_to_pass=self.fail_to_pass, pass_to_pass=self.pass_to_pass, cwd="repository")
        files = {f"tests/{path}": content for path, content in new_test_files(self.test_patch, tests.all_ids).items()}
        environment = Environment(resolve=REQUIREMENTS, path=import_path_of(self.patch))
        # The rows name no requirements; the file is there to be filled in.
        return TaskParts("SWE-bench", environment, tests, {REQUIREMENTS: b"", **files})

    def to_json(self) -> dict[str, Any]:
        """Return the row with the published keys."""
        return self.model_dump(mode="python", by_alias=True)
