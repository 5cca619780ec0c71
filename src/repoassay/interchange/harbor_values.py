"""Values of a task.toml that Harbor's own model (0.24) does not take, so that Harbor passes the folder over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["is_off", "wrong_value"]

_OFF = frozenset({"0", "off", "f", "false", "n", "no"})
_ON = frozenset({"1", "on", "t", "true", "y", "yes"})
_Check = Callable[[Any], bool]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    """Whether it is a number, or text of one; as it is read, true and false are numbers too."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_whole(value: Any) -> bool:
    return _is_number(value) and float(value) % 1 == 0


def _is_flag(value: object) -> bool:
    return str(value).lower() in _OFF | _ON or (isinstance(value, float) and value in (0, 1))


def _is_account(value: object) -> bool:
    return isinstance(value, str | int)


def _texts_by_name(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _list_of(*kinds: type) -> _Check:
    return lambda value: isinstance(value, list) and all(isinstance(each, kinds) for each in value)


def _one_of(*words: str) -> _Check:
    return lambda value: value in words


_MODE = _one_of("no-network", "public", "allowlist")
_TABLES: Mapping[str, Mapping[str, _Check]] = {
    "agent": {"timeout_sec": _is_number, "user": _is_account, "network_mode": _MODE, "allowed_hosts": _list_of(str)},
    "verifier": {
        "timeout_sec": _is_number, "user": _is_account, "network_mode": _MODE, "allowed_hosts": _list_of(str),
        "env": _texts_by_name, "environment_mode": _one_of("shared", "separate"),
        "environment": lambda value: isinstance(value, dict), "collect": _list_of(dict),
    },
    "environment": {
        "build_timeout_sec": _is_number, "docker_image": _is_text, "cpus": _is_whole, "memory_mb": _is_whole,
        "storage_mb": _is_whole, "gpus": _is_whole, "gpu_types": _list_of(str), "mcp_servers": _list_of(dict),
        "env": _texts_by_name, "skills_dir": _is_text, "workdir": _is_text, "allow_internet": _is_flag,
        "network_mode": _MODE, "healthcheck": lambda value: isinstance(value, dict) and _is_text(value.get("command")),
    },
    "solution": {"env": _texts_by_name}, "metadata": {}, "task": {"name": _is_text},
}  # fmt: skip


def wrong_value(about: Mapping[str, Any]) -> str:
    """The first key whose value Harbor's model does not take, as it reads them: "60" is a number; empty without."""
    for name, keys in _TABLES.items():
        table = about.get(name, {})
        if not isinstance(table, dict):
            return name
        if wrong := next((key for key, fits in keys.items() if key in table and not fits(table[key])), ""):
            return f"{name}.{wrong}"
    return "artifacts" if not _list_of(str, dict)(about.get("artifacts", [])) else ""


def is_off(value: object) -> bool:
    """Whether a flag says no, in any of the ways that Harbor's model takes."""
    return str(value).lower() in _OFF or (isinstance(value, float) and value == 0)
