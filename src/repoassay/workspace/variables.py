"""Environment variables with which programs of a task's environment run: for the build, the agent and the tests."""

from __future__ import annotations

from pathlib import Path

from repoassay.types import Task

__all__ = ["environment_variables", "search_paths"]


def environment_variables(task: Task, environment: Path) -> dict[str, str]:
    """The variables of a task's environment; the task's own come first, so that ours cannot be turned aside.

    Args:
        task: The task.
        environment: Its environment on the host, which is mounted at /env.
    """
    virtual = {} if task.environment.release_line else {"VIRTUAL_ENV": "/env"}
    return {**task.environment.variables, **search_paths(environment), **virtual}


def search_paths(environment: Path) -> dict[str, str]:
    """Where programs and libraries of an environment lie, whatever the task."""
    libraries = ["/env/lib"] if any(environment.glob("lib/libpython*.so*")) else []
    return {
        "PATH": "/env/bin:/usr/local/bin:/usr/bin:/bin",
        **({"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {}),
    }
