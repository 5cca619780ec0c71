"""Every bundled task is attested with 40 bits or more, and `tasks validate` says how well tasks are assured."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from demo_set import DEMO, demo_tasks
from json_answers import records_of
from repoassay.cli.main import cli
from repoassay.cli.validate import validate
from repoassay.engine.assess import assess_task
from repoassay.engine.grading_context import GradingContext
from repoassay.grading.registry import names
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite

ROOT = Path(__file__).parents[2] / "src" / "repoassay" / "benchmarks"
BUNDLED = [
    (suite, folder.name)
    for suite in ("starter", "pull-requests")
    for folder in sorted((ROOT / suite.replace("-", "_") / "suite" / "tasks").iterdir())
    if folder.name.startswith(("edit-", "pr-")) and list(folder.glob("tests/*.py"))
]


@cache
def bench(suite: str) -> GradingContext:
    """Where the tasks of a suite run."""
    store = Cache()
    found = find_suite(suite, metrics=names()).repositories if suite else None
    return GradingContext(found, store, open_sandbox("namespaces", store))


def bits(folder: TaskFolder, suite: str = "") -> float:
    """Bits of a task whose decisive tests are all attested."""
    found = assess_task(folder, bench(suite))
    assert not found.why
    assert found.decisive, found.weak
    return found.bits


@pytest.mark.exhaustive
@pytest.mark.parametrize(("suite", "name"), BUNDLED)
def test_bundled_tasks_are_attested_with_40_bits(suite: str, name: str) -> None:
    assert bits(find_suite(suite, metrics=names(), only=(name,)).tasks[0], suite) >= 40


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TaskFolder]:
    return demo_tasks(tmp_path_factory.mktemp("demo"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted(file.parent.name for file in DEMO.glob("*/test_script.py")))
def test_demonstration_tasks_are_attested_with_40_bits(name: str, demo: dict[str, TaskFolder]) -> None:
    assert bits(demo[name]) >= 40


@pytest.mark.long
def test_validate_tells_the_assurance_and_may_require_it() -> None:
    given = ["starter", "--task", "edit-cachetools-peek", "--mutants", "0"]
    told = CliRunner().invoke(cli, ["tasks", "validate", *given, "--json"])
    proof = next(each for each in records_of(told.stdout, "proof") if each["proof"] == "assurance")
    assert (told.exit_code, proof["sound"], proof["assurance"]["decisive"]) == (0, True, True)
    assert proof["assurance"]["bits"] >= 40
    assert proof["assurance"]["sites"]["withheld"] > 20
    assert all(why.startswith("0 bits") for why in proof["assurance"]["weak"].values())
    asked = CliRunner().invoke(validate, [*given, "--require-attested", "5000"])
    assert asked.exit_code == 1
    assert "less than attested with 5000 bits" in asked.output
    assert "strengthen test_peek.py::" in asked.output
