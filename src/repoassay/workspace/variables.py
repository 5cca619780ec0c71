"""Environment variables with which programs of a task's environment run: for the build, the agent and the tests."""

from __future__ import annotations

from pathlib import Path

from repoassay.sandbox import image_environment
from repoassay.types import Task

__all__ = ["environment_variables", "search_paths", "test_variables"]


def environment_variables(task: Task, environment: Path) -> dict[str, str]:
    """The variables of a task's environment; the task's own come first, so that ours cannot be turned aside.

    Args:
        task: The task.
        environment: Its environment on the host, which is mounted at /env, or says where in an image it lies.
    """
    if found := image_environment(environment):
        return {**task.environment.variables, **found.variables}
    virtual = {} if task.environment.release_line else {"VIRTUAL_ENV": "/env"}
    return {**task.environment.variables, **search_paths(environment), **virtual}


def test_variables(task: Task, environment: Path) -> dict[str, str]:
    """The variables of tests that start programs of the task; no folder that an agent filled is asked for modules."""
    return {**environment_variables(task, environment), "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def search_paths(environment: Path) -> dict[str, str]:
    """Where programs and libraries of an environment lie, whatever the task."""
    apt = _apt_paths(environment)
    libraries = ["/env/lib"] if any(environment.glob("lib/libpython*.so*")) else []
    found = {
        "PATH": ["/env/bin", *apt.pop("PATH", []), "/usr/local/bin", "/usr/bin", "/bin"],
        "LD_LIBRARY_PATH": [*libraries, *apt.get("LIBRARY_PATH", [])],
        **apt,
    }
    return {name: ":".join(folders) for name, folders in found.items() if folders}


def _apt_paths(environment: Path) -> dict[str, list[str]]:
    top = environment / "apt"
    if not top.is_dir():
        return {}

    def there(*patterns: str) -> list[str]:
        found = (path for pattern in patterns for path in sorted(top.glob(pattern)) if path.is_dir())
        return [f"/env/apt/{path.relative_to(top)}" for path in found]

    libraries = there("usr/lib/*-linux-gnu*", "lib/*-linux-gnu*", "usr/lib")
    return {
        "PATH": there("usr/bin", "bin", "usr/sbin", "sbin"),
        "LIBRARY_PATH": libraries,
        "CPATH": there("usr/include", "usr/include/*-linux-gnu*"),
        "PKG_CONFIG_PATH": there("usr/lib/*-linux-gnu*/pkgconfig", "usr/lib/pkgconfig", "usr/share/pkgconfig"),
        "CMAKE_PREFIX_PATH": there("usr"),
        "GVBINDIR": there("usr/lib/*-linux-gnu*/graphviz")[:1],
        "GS_LIB": there("usr/share/ghostscript/[0-9]*/Resource/[FI]*", "usr/share/ghostscript/[0-9]*/lib"),
        "RUBYLIB": there("usr/lib/ruby/vendor_ruby", "usr/lib/ruby/[0-9]*", "usr/lib/*-linux-gnu*/ruby/[0-9]*"),
        "PERL5LIB": there("usr/share/perl5", "usr/lib/*-linux-gnu*/perl5/[0-9]*"),
        **_lua_paths(there("usr/share/lua/5.[0-9]"), "?.lua", "?/init.lua"),
        **_lua_paths(there("usr/lib/*-linux-gnu*/lua/5.[0-9]"), "?.so", kind="LUA_CPATH"),
        "COB_CONFIG_DIR": there("etc/gnucobol*", "usr/share/gnucobol*/config")[:1],
        "COB_COPY_DIR": there("usr/share/gnucobol*/copy")[:1],
    }


def _lua_paths(folders: list[str], *patterns: str, kind: str = "LUA_PATH") -> dict[str, list[str]]:
    """A path for each version of Lua, which ends with its own; 5.1 and LuaJIT have a name without a version."""
    named = {folder: folder.rpartition("/5.")[2] for folder in folders}
    return {
        kind if version == "1" else f"{kind}_5_{version}": [
            ";".join([*(f"{folder}/{pattern}" for pattern in patterns), ";"])
        ]
        for folder, version in named.items()
    }
