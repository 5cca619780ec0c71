"""A task that is being made: its files before they are on disk, and sentences on where it was taken from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repoassay.construct.node.tests import NodeTests
from repoassay.construct.recipe.infer import EnvironmentRecipe
from repoassay.errors import BadInput
from repoassay.formats import REQUIREMENTS, edit_task_toml
from repoassay.text import join_names, printable
from repoassay.types import Environment, Grading, Task

__all__ = ["TEST_PATCH", "TaskDraft", "evidence", "requirement_lines"]

TEST_PATCH = "tests/test.patch"


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A task still without its tests' names: files by path in its folder, and what to say of it.

    `tests` are the test files below the task's `tests/`, or of the repository where they run in it; those of them in
    `scripts` may be scripts without a test. `derivation` tells what of the environment is from where. `node` is how
    Node runs the repository's own tests, where it does.
    """

    task: Task
    base: str
    solution: str
    diff: bytes
    files: dict[str, bytes]
    tests: tuple[str, ...]
    scripts: tuple[str, ...]
    warnings: tuple[str, ...]
    derivation: tuple[str, ...] = ()
    node: NodeTests | None = None

    def with_tests(self, must_pass: Sequence[str], guards: Sequence[str] = ()) -> TaskDraft:
        """The same with these tests named in its task.toml."""
        tests = self.task.hidden_tests
        named = tests.model_copy(update={"fail_to_pass": tuple(must_pass), "pass_to_pass": tuple(guards)})
        task = self.task.model_copy(update={"grading": Grading(tests=named)})
        return replace(self, task=task, files={**self.files, "task.toml": edit_task_toml(task).encode()})

    def with_recipe(self, recipe: EnvironmentRecipe, requirements: Sequence[str] = ()) -> TaskDraft:
        """The same with its environment as a recipe has it, and these requirements besides."""
        environment = Environment(
            python=recipe.python, resolve=REQUIREMENTS, exclude_newer=recipe.exclude_newer, build=recipe.build,
            variables=dict(recipe.variables), path=recipe.path, checks=self.task.environment.checks,
        )  # fmt: skip
        lines = "".join(f"{line}\n" for line in (*recipe.requirements, *requirement_lines(requirements)))
        return self.with_file(REQUIREMENTS, lines.encode()).with_environment(environment, recipe.derivation)

    def with_environment(self, environment: Environment, sentences: tuple[str, ...]) -> TaskDraft:
        """The same with another environment, and sentences on where it was taken from."""
        task = self.task.model_copy(update={"environment": environment})
        return replace(self, task=task, derivation=sentences).with_file("task.toml", edit_task_toml(task).encode())

    def built_before(self) -> TaskDraft | None:
        """The same with the packages of its tests built before each run; None where nothing builds them."""
        if self.node is None or not self.node.builds:
            return None
        tests = self.task.hidden_tests
        before = (*self.node.builds, *tests.before)
        task = self.task.model_copy(update={"grading": Grading(tests=tests.model_copy(update={"before": before}))})
        said = f"Before each run, since tests are lost else: {printable('; '.join(self.node.builds), 300)}."
        built = replace(self, task=task, derivation=(*self.derivation, said))
        return built.with_file("task.toml", edit_task_toml(task).encode())

    def with_seconds(self, seconds: float) -> TaskDraft:
        """The same with another limit of time for its tests."""
        tests = self.task.hidden_tests
        grading = Grading(tests=tests.model_copy(update={"seconds": seconds}))
        return replace(self, task=self.task.model_copy(update={"grading": grading}))

    def with_file(self, path: str, content: bytes) -> TaskDraft:
        """The same with one more file, or another content of one."""
        return replace(self, files={**self.files, path: content})


def evidence(draft: TaskDraft, cases: Sequence[dict[str, object]], times: int) -> bytes:
    """What was proved, as JSON to keep with the solution."""
    facts = {"base": draft.base, "solution": draft.solution, "proofs": times, "tests": list(cases)}
    if draft.derivation:
        facts["environment"] = list(draft.derivation)
    return (json.dumps(facts, indent=1) + "\n").encode()


def requirement_lines(lines: Sequence[str]) -> list[str]:
    """Requirements as a user gave them, one a line.

    Raises:
        BadInput: When one of them is an option.
    """
    found = [line.strip() for text in lines for line in text.splitlines()]
    found = [line for line in found if line and not line.startswith("#")]
    options = [line for line in found if line.startswith("-")]
    if options:
        raise BadInput(
            f"Requirements with options cannot be taken: {join_names(options, 3)}.", "Write names and versions only."
        )
    return found
