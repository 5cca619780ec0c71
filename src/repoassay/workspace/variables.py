"""The variables under which a task's environment works: for its agent and for its tests."""

from __future__ import annotations

from pathlib import Path

from repoassay.types import Environment

__all__ = ["environment_variables"]


def environment_variables(recipe: Environment, environment: Path) -> dict[str, str]:
    """Return the variables of whatever runs in an environment, mounted at /env.

    Args:
        recipe: What the task says of it.
        environment: Where it lies on this machine.
    """
    variables = {"PATH": "/env/bin:/usr/local/bin:/usr/bin:/bin", "VIRTUAL_ENV": "/env"}
    if any(environment.glob("lib/libpython*.so*")):
        variables["LD_LIBRARY_PATH"] = "/env/lib"
    return {**variables, **recipe.variables}
