"""What a task.toml of Harbor asks for: its step, limits, network and variables, or why no sandbox can give that.

Harbor reads a task.toml whatever version it bears, and passes over keys that it does not know: so it is done here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.interchange.harbor_steps import HarborStep, positive_seconds, steps_of_task
from repoassay.interchange.harbor_tests import task_text
from repoassay.interchange.harbor_values import is_off
from repoassay.interchange.harbor_variables import TaskVariables, read_variables
from repoassay.interchange.image_file import ImportRefusal
from repoassay.tasks import parse_toml
from repoassay.text import printable

__all__ = ["HarborSettings", "TaskTerms", "has_network", "read_settings"]

_MEBIBYTES = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTerms:
    """What holds for a task, whichever file says it.

    Attributes:
        seconds, test_seconds: Time limits.
        memory: In bytes.
        internet: Whether agents may reach package indexes.
        category: Of its metadata.
        variables: Of agent and tests, and the keys of models that tests ask.
    """

    seconds: float
    test_seconds: float
    memory: int
    internet: bool
    category: str
    variables: TaskVariables


@dataclass(frozen=True, slots=True, kw_only=True)
class HarborSettings(TaskTerms):
    """What task.toml says.

    Attributes:
        step: The folder of instruction and tests.
        steps: Its steps, where it has several; settings of a step alone are then said there.
        reward: What their rewards make together, `mean` or `final`.
        image: A published image that is named beside the Dockerfile, or instead of it.
        work: The folder in which commands start; empty for the image's own.
        artifacts: Paths that its author collects.
        separate: Whether tests have an image of their own.
        user: The account that the agent works as; empty for the image's own.
        health: A command that says whether the image is well; empty without.
    """

    step: Path
    steps: tuple[HarborStep, ...]
    reward: str
    image: str
    work: str
    artifacts: list[str]
    separate: bool
    user: str
    health: str


def read_settings(folder: Path) -> HarborSettings:
    """Read the task.toml of a task's folder.

    Raises:
        ImportRefusal: It cannot be read, or asks for what no sandbox has.
    """
    about = parse_toml(task_text(folder, "task.toml").encode(), "task.toml")
    if not isinstance(about, dict):
        raise ImportRefusal("Its task.toml cannot be read.", "task.toml", 0, about.what)
    _check(about)
    steps = _several(about, folder)
    step = folder if steps else _only_step(about, folder)
    verifier, agent, environment = (_table(about, name) for name in ("verifier", "agent", "environment"))
    metadata = _table(about, "metadata")
    artifacts = [each.get("source") if isinstance(each, dict) else each for each in _list(about.get("artifacts"))]
    image = _table(verifier, "environment").get("docker_image")
    if image and not (folder / "tests/Dockerfile").is_file():
        why = "Its tests have an image of their own without a Dockerfile."
        raise ImportRefusal(why, "task.toml", 0, f"verifier.environment.docker_image = {image}")
    return HarborSettings(
        step=step,
        steps=tuple(steps),
        reward="final" if str(about.get("multi_step_reward_strategy")) == "final" else "mean",
        image=str(environment.get("docker_image") or ""),
        work=str(environment.get("workdir") or ""),
        artifacts=[each for each in artifacts if isinstance(each, str)],
        separate=(verifier.get("environment_mode") or "separate") == "separate"
        and bool(verifier.get("environment") or verifier.get("environment_mode")),
        user={"0": "root", "None": ""}.get(str(agent.get("user")), str(agent.get("user"))),
        health=_health(environment),
        seconds=positive_seconds(agent.get("timeout_sec"), 900.0),
        test_seconds=positive_seconds(verifier.get("timeout_sec"), 600.0),
        memory=_memory(environment),
        internet=has_network(agent, environment),
        category=printable(str(metadata.get("category") or metadata.get("domain") or "Software"), 80),
        variables=read_variables(environment.get("env"), verifier.get("env"), folder),
    )


def _check(about: dict[str, Any]) -> None:
    """Refuse what task.toml asks for and no sandbox has."""
    environment = _table(about, "environment")
    for key, why in (("gpus", "It needs a GPU."), ("mcp_servers", "It needs an MCP server."),
                     ("skills_dir", "It brings skills."),
                     ("tpu", "It needs a TPU.")):  # fmt: skip
        if environment.get(key):
            raise ImportRefusal(why, "task.toml", 0, f"environment.{key}")
    if str(environment.get("os", "linux")).lower() != "linux":
        raise ImportRefusal("It needs Windows.", "task.toml", 0, "environment.os")
    if _table(about, "verifier").get("collect"):
        raise ImportRefusal("It runs commands after the agent that collect what is left.", "task.toml", 0,
                            "verifier.collect")  # fmt: skip


_ASKS_A_SERVICE = re.compile(
    r"localhost|://|\b(curl|wget|nc|ncat|ss|netstat|pg_isready|psql|redis-cli|mysql\w*|systemctl|service|pgrep|ps|pidof)\b"
    r"|\d+\.\d+\.\d+\.\d+|/dev/tcp|socket"
)


def _health(environment: dict[str, Any]) -> str:
    """The command of a health check that looks at what the image has laid out, which a build can do as well."""
    check = _table(environment, "healthcheck")
    command = str(check.get("command") or "")
    if environment.get("healthcheck") and (not command or _ASKS_A_SERVICE.search(command)):
        raise ImportRefusal("It waits for a service to be well.", "task.toml", 0, "environment.healthcheck")
    return command


def _several(about: dict[str, Any], folder: Path) -> list[HarborStep]:
    """The steps of a task that has several, or one that begins with files; none where it is like a task without."""
    if not about.get("steps"):
        return []
    steps = steps_of_task(about, folder)
    if len(steps) > 1 or (steps[0].place / "workdir").is_dir() or (folder / "tests").is_dir():
        return steps
    return []


def _only_step(about: dict[str, Any], folder: Path) -> Path:
    """The folder of instruction and tests: the task's, or that of its one step, whose settings go before the task's."""
    if not about.get("steps"):
        return folder
    step = about["steps"][0]
    for key in ("agent", "verifier"):
        about[key] = {**_table(about, key), **_table(step, key)}
    return folder / "steps" / str(step["name"])


def _memory(environment: dict[str, Any]) -> int:
    """In bytes; `memory`, as in "4G", is how it was written before `memory_mb`."""
    amount = environment.get("memory_mb")
    if amount is None and (old := re.fullmatch(r"(\d+(?:\.\d+)?)\s*([GMK])B?", str(environment.get("memory")).upper())):
        amount = int(float(old[1]) * _MEBIBYTES[old[2]])
    return amount * 2**20 if isinstance(amount, int) and 0 < amount < 2**20 else 2 * 2**30


def has_network(phase: dict[str, Any], environment: dict[str, Any]) -> bool:
    """Whether agent or tests have the internet: their own table goes before the environment's, a mode before a flag."""
    mode = phase.get("network_mode") or environment.get("network_mode")
    return mode != "no-network" if mode else not is_off(environment.get("allow_internet"))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _table(about: dict[str, Any], name: str) -> dict[str, Any]:
    found = about.get(name)
    return found if isinstance(found, dict) else {}
