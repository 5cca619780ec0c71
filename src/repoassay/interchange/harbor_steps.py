"""The steps of a Harbor task: what task.toml says of each, and how each is judged here.

Harbor starts the agent anew for each step, in the container of the one before; after it, the step's tests run there.
Here what was left crosses to a sandbox of the tests, and what these leave, or still runs, is not in the next step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.interchange.harbor_tests import TaskTests, read_tests, task_text
from repoassay.interchange.harbor_variables import TaskVariables, check_asked_models
from repoassay.interchange.image_file import ImageRecipe, ImportRefusal
from repoassay.interchange.step_parts import StepParts
from repoassay.tasks import SETUP

__all__ = ["HarborStep", "join_tests", "positive_seconds", "read_step", "steps_of_task"]

_NOT_READ = ("network", "environment", "trajectory")


@dataclass(frozen=True, slots=True)
class HarborStep:
    """What task.toml says of a step.

    Attributes:
        name: Its folder below steps/.
        place: That folder.
        seconds, test_seconds: Time limits of agent and tests.
        min_reward: A reward below which the attempt ends with it.
        artifacts: Paths that its author collects.
    """

    name: str
    place: Path
    seconds: float
    test_seconds: float
    min_reward: float | None
    artifacts: tuple[str, ...] = ()


def steps_of_task(about: Mapping[str, Any], folder: Path) -> list[HarborStep]:
    """The steps of a task that has several, in order.

    Raises:
        ImportRefusal: One of them asks for what no sandbox has, or its task.toml cannot be read.
    """
    entries = about.get("steps")
    if not isinstance(entries, list):
        raise ImportRefusal("Its steps are no list.", "task.toml", 0, "steps")
    return [_step(about, folder, step if isinstance(step, dict) else {}) for step in entries]


def _step(about: Mapping[str, Any], folder: Path, step: Mapping[str, Any]) -> HarborStep:
    name = str(step.get("name") or "")
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}", name, re.ASCII):
        raise ImportRefusal("One of its steps has no name that a folder can have.", "task.toml", 0, name)
    place = folder / "steps" / name
    for key in _NOT_READ:
        if step.get(key):
            raise ImportRefusal("Its step has settings that are not read.", "task.toml", 0, f"steps.{key}")
    if step.get("healthcheck"):
        raise ImportRefusal("It waits for a service to be well.", "task.toml", 0, "steps.healthcheck")
    agent, verifier = (_both(about, step, key) for key in ("agent", "verifier"))
    _check(agent, verifier, step)
    least = step.get("min_reward")
    if isinstance(least, dict):
        if set(least) != {"reward"}:
            why = "A step of it goes on by figures beside its reward, which are not kept."
            raise ImportRefusal(why, "task.toml", 0, "steps.min_reward")
        least = least["reward"]
    if (place / "trajectory.json").exists():
        raise ImportRefusal("A step of it begins with a conversation.", f"steps/{name}/trajectory.json")
    artifacts = step.get("artifacts")
    return HarborStep(
        name,
        place,
        positive_seconds(agent.get("timeout_sec"), 900.0),
        positive_seconds(verifier.get("timeout_sec"), 600.0),
        float(least) if isinstance(least, int | float) else None,
        tuple(str(each.get("source") if isinstance(each, dict) else each) for each in artifacts)
        if isinstance(artifacts, list)
        else (),
    )


def _check(agent: Mapping[str, Any], verifier: Mapping[str, Any], step: Mapping[str, Any]) -> None:
    if agent.get("user") not in (None, "root", 0):
        why = "Its agent works as an account beside root, whose rights a sandbox has not."
        raise ImportRefusal(why, "task.toml", 0, f"steps.agent.user = {agent['user']}")
    own = step.get("verifier")
    for key in ("env", "environment", "environment_mode", "collect"):
        if isinstance(own, dict) and verifier.get(key) and own.get(key):
            raise ImportRefusal("Its step has settings that are not read.", "task.toml", 0, f"steps.verifier.{key}")


def _both(about: Mapping[str, Any], step: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A table of a step, whose settings go before those of the task."""
    tables = (about.get(key), step.get(key))
    return {name: value for table in tables if isinstance(table, dict) for name, value in table.items()}


def read_step(
    step: HarborStep, folder: Path, image: ImageRecipe, variables: TaskVariables
) -> tuple[StepParts, TaskTests]:
    """Understand one step: its parts as they are written, and its tests.

    Raises:
        ImportRefusal: It cannot be judged here.
    """
    tests = _tests_folder(step, folder)
    if variables.keys:
        check_asked_models(tests)
    reading = read_tests(
        tests, tests / "test.sh", image, rewards=True, asks=bool(variables.keys), own=variables.exports()
    )
    own = step.place / "solution"
    solution = own if own.is_dir() else folder / "solution"
    least = step.min_reward
    if least is not None and reading.runner == "pytest":
        least = 1.0 if least > 0 else None  # such a reward is 1 or 0 in Harbor, and the share that passed here
    parts = StepParts(
        name=step.name,
        instruction=task_text(step.place, "instruction.md"),
        tests=tests,
        fail_to_pass=reading.ids,
        runner=reading.runner,
        test_files=reading.files,
        solution=solution if (solution / "solve.sh").is_file() else None,
        laid=step.place / "workdir",
        seconds=step.seconds,
        test_seconds=step.test_seconds,
        min_reward=least,
        keys=variables.keys,
        optional_keys=tuple(variables.optional),
    )
    return parts, reading


def _tests_folder(step: HarborStep, folder: Path) -> Path:
    """Where a step's tests lie: its own, or those that all share where it has none."""
    own, shared = step.place / "tests", folder / "tests"
    if not own.is_dir():
        own = shared
    elif shared.is_dir():
        names = {path.relative_to(shared) for path in shared.rglob("*") if path.is_file()}
        if not all((own / name).is_file() for name in names):
            raise ImportRefusal("A step of it has tests beside those that all steps share.", f"steps/{step.name}/tests")
    if not (own / "test.sh").is_file():
        raise ImportRefusal("It has no tests/test.sh that can be read.", f"steps/{step.name}/tests/test.sh")
    return own


def join_tests(tests: list[TaskTests], steps: list[StepParts]) -> TaskTests:
    """What the tests of all steps need and look at; those of the first name them."""
    setups = [task_text(step.laid, SETUP) for step in steps if step.laid and (step.laid / SETUP).is_file()]
    return TaskTests(
        tests[0].runner,
        tests[0].ids,
        "\n".join((*(each.text for each in tests), *setups)),
        [path for each in tests for path in each.looked_at],
        [name for each in tests for name in each.pip],
        [name for each in tests for name in each.apt],
    )


def positive_seconds(value: object, otherwise: float) -> float:
    """A time limit of at most a week, or the one that holds where none is given that can be one."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 7 * 86400
    return float(value) if good else otherwise  # type: ignore[arg-type]
