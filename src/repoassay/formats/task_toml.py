"""A task as the text of its `task.toml`: every value in quotes, so that nothing of a row becomes a key."""

from __future__ import annotations

import json
from collections.abc import Mapping

from repoassay.types import HiddenTests, Task

__all__ = ["edit_task_toml", "toml_string"]


def edit_task_toml(task: Task) -> str:
    """Write an edit, state or pull-request task; keys that have their default are left out."""
    repository = task.repository
    own = ("id", "title", "kind", "domain", "subdomain", "modality", "provenance", "licence", "rules")
    lines = ["schema = 1", "", "[task]"]
    lines += [f"{key} = {toml_string(str(getattr(task, key)))}" for key in own if getattr(task, key)]
    dates = task.dates.model_dump(exclude_none=True)
    lines += ["", "[dates]", *(f"{key} = {toml_string(day)}" for key, day in dates.items())] if dates else []
    lines += ["", "[repository]"]
    for key in ("source", "sha256", "revision", "licence", "homepage"):
        value = getattr(repository, key)
        lines += [f"{key} = {toml_string(value)}"] if value else []
    if task.state:
        lines += ["", "[state]", *_line("work", task.state.work), *_line("places", task.state.places)]
        lines += [*_line("folders", task.state.folders), *_line("artifacts", task.state.artifacts)]
    lines += ["", "[environment]", f"python = {toml_string(task.environment.python)}"]
    lines += [*_line("node", task.environment.node), *_line("image", task.environment.image)]
    lines += [*_line("requirements", task.environment.requirements), *_line("resolve", task.environment.resolve)]
    lines += ["frozen = true"] if task.environment.frozen else []
    for key in ("exclude_newer", "apt", "build", "hosts", "variables"):
        lines += _line(key, getattr(task.environment, key))
    lines += [] if task.state else [f"path = {_list(task.environment.path)}"]
    lines += [f"checks = {_list(task.environment.checks)}"] if task.environment.checks else []
    if task.grading.tests:
        lines += ["", "[grading.tests]", *_test_lines(task.grading.tests)]
    if task.steps:
        lines += ["", "[grading]", *_line("reward", task.grading.reward)]
    limits = task.limits.model_dump(exclude_defaults=True)
    lines += ["", "[limits]", *(f"{key} = {value}" for key, value in limits.items())] if limits else []
    if task.network.policy:
        lines += ["", "[network]", *_line("policy", task.network.policy.value)]
    for step in task.steps:
        lines += ["", "[[steps]]", *_line("name", step.name)]
        figures = {"seconds": step.seconds, "min_reward": step.min_reward}
        lines += [f"{key} = {value:g}" for key, value in figures.items() if value is not None]
        lines += ["", "[steps.tests]", *_test_lines(step.tests)]
    return "\n".join(lines) + "\n"


def _test_lines(tests: HiddenTests) -> list[str]:
    lines = [f"fail_to_pass = {_list(tests.fail_to_pass)}"]
    lines += [f"pass_to_pass = {_list(tests.pass_to_pass)}"] if tests.pass_to_pass else []
    lines += [f"seconds = {tests.seconds:g}", f"cwd = {toml_string(tests.cwd)}"]
    for key in ("runner", "reader"):
        lines += _line(key, getattr(tests, key)) if getattr(tests, key) != "pytest" else []
    for key in ("patch", "files", "arguments", "support", "before", "package", "keys", "optional_keys"):
        lines += _line(key, getattr(tests, key))
    return lines


def _line(key: str, value: str | tuple[str, ...] | Mapping[str, str] | None) -> list[str]:
    """A key with its value; nothing where there is none."""
    if not value:
        return []
    if isinstance(value, str):
        return [f"{key} = {toml_string(value)}"]
    if isinstance(value, tuple):
        return [f"{key} = {_list(value)}"]
    return [f"{key} = {{ {', '.join(f'{name} = {toml_string(text)}' for name, text in value.items())} }}"]


def toml_string(text: str) -> str:
    """Return a TOML string: JSON's escapes are among TOML's, and only DEL is free in JSON and not in TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(items: tuple[str, ...]) -> str:
    if len(items) < 2:
        return f"[{', '.join(map(toml_string, items))}]"
    return "[\n" + "".join(f"    {toml_string(item)},\n" for item in items) + "]"
