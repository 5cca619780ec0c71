"""A task's compose file, as far as its one container goes: what is mounted, and that it has no more rights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.interchange.image_file import ImageRecipe, ImportRefusal, absolute_place, is_kept
from repoassay.records import load_yaml

__all__ = ["mount_files"]

_MORE_RIGHTS = re.compile(
    r"(?m)^\s*(privileged|cap_add|devices|network_mode(?!: *[\"']?(\$\{\w+:-)?(bridge|none|default)\b)):.*$"
)
_HIDDEN = re.compile(r"^(solution(\.(sh|ya?ml))?|docker-compose\.ya?ml)$")
"""What of a task's own folder no agent is shown, though its container mounts the folder as a whole."""
_IDLE = re.compile(r"(sh|bash|/bin/(ba)?sh|-l?c|sleep|infinity|tail|-f|/dev/null|cat|exec|true| )*")
_PASSED_OVER = frozenset({
    "volumes", "deploy", "container_name", "image", "tty", "stdin_open", "network_mode", "init", "hostname", "restart",
    "platform", "mem_limit", "cpus", "shm_size", "labels", "stop_grace_period", "pull_policy", "logging", "networks",
    "privileged", "cap_add", "devices",
})  # fmt: skip
"""Keys of a service that mean nothing in a sandbox, or are read elsewhere."""
_OF_THE_HARNESS = re.compile(r"TEST_DIR$|LOGS?_(DIR|PATH)$|^T_BENCH_")
_VARIABLE = re.compile(r"\$\{?(\w+)(?::?-([^}]*))?\}?")
_LOGS = re.compile(r"LOGS?(_DIR|_PATH)?\b|^/logs\b", re.IGNORECASE)


def mount_files(text: str, name: str, folder: Path, recipe: ImageRecipe) -> None:
    """Add what a compose file mounts to what the image is made of.

    Files of the task's folder are files of the image. Any other folder, such as a volume, is empty at first.

    Args:
        text: The compose file.
        name: What to call it.
        folder: The folder it lies in.
        recipe: The image's; changed.

    Raises:
        ImportRefusal: It has several services or more rights than a sandbox gives, or mounts something of its host.
    """
    try:
        about = load_yaml(text)
    except ImportError as error:
        raise ImportRefusal("Its compose file is YAML, which needs the extra `interchange`.", name) from error
    except ValueError as error:
        raise ImportRefusal("Its compose file cannot be read.", name) from error
    services = about.get("services") if isinstance(about, dict) else None
    if not isinstance(services, dict) or not services:
        return
    if len(services) > 1:
        second = str(list(services)[1])
        at = re.search(rf"(?m)^\s+[\"']?{re.escape(second)}[\"']?:", text)
        line = text.count("\n", 0, at.start()) + 1 if at else 0
        raise ImportRefusal("It has services beside the agent's own container.", name, line, second)
    if found := _MORE_RIGHTS.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ImportRefusal("Its container has more rights than a sandbox gives.", name, line, found[0])
    (service,) = services.values()
    if not isinstance(service, dict):
        return
    for key, value in service.items():
        _take(str(key), value, name, recipe)
    for source, target in _mounts(service.get("volumes")):
        if not _LOGS.search(target) and not re.match(r"/tests(/|$)", target):  # where whoever runs the tests puts them
            _mount(source, target, name, folder, recipe)


def _take(key: str, value: Any, name: str, recipe: ImageRecipe) -> None:
    """Take what a service says beside its mounts."""
    if key == "environment":
        pairs = value.items() if isinstance(value, dict) else (str(each).partition("=")[::2] for each in value or ())
        for variable, text in pairs:
            recipe.variables |= _variable(str(variable), "" if text is None else str(text), name)
    elif key == "working_dir" and str(value).startswith("/"):
        recipe.work = absolute_place("/", str(value))
        recipe.folders.append(recipe.work)
    elif key == "build" and _is_own(value):
        return
    elif key in ("command", "entrypoint"):
        words = " ".join(map(str, value)) if isinstance(value, list) else str(value or "")
        if not _IDLE.fullmatch(words):
            raise ImportRefusal("Its container starts a program of its own.", name, 0, f"{key}: {words}")
    elif key not in _PASSED_OVER and value:
        why = "Its compose file has a setting of its container that is not understood."
        raise ImportRefusal(why, name, 0, f"{key}: {value}")


def _is_own(build: Any) -> bool:
    """Whether an image is built of the Dockerfile beside the compose file, as anything else would have it too."""
    about = build if isinstance(build, dict) else {"context": build}
    where, file = str(about.get("context", ".")).rstrip("/"), about.get("dockerfile", "Dockerfile")
    return set(about) <= {"context", "dockerfile"} and where in (".", "", "${CONTEXT_DIR}") and file == "Dockerfile"


def _variable(variable: str, value: str, name: str) -> dict[str, str]:
    match = _VARIABLE.search(value)
    if _OF_THE_HARNESS.search(variable) or not is_kept(variable):
        return {}
    if match is None:
        return {variable: value}
    if not _VARIABLE.fullmatch(value) or match[2] is None:
        why = "It takes a variable from the environment of its user: write a value in its place, unless it is secret."
        raise ImportRefusal(why, name, 0, f"{variable}={value}")
    return {variable: match[2]}


def _mounts(volumes: Any) -> Iterator[tuple[str, str]]:
    """Source and target of each mount."""
    for each in volumes if isinstance(volumes, list) else ():
        if isinstance(each, dict):
            yield str(each.get("source") or ""), str(each.get("target") or "")
        else:
            # A variable may hold a colon of its own: ${NAME:-value}.
            parts = re.findall(r"(?:\$\{[^}]*\}|[^:])+", str(each))
            yield (parts[0].strip(), parts[1].strip()) if len(parts) > 1 else ("", str(each).strip())


def _mount(source: str, target: str, name: str, folder: Path, recipe: ImageRecipe) -> None:
    if not target.startswith("/") or ".." in target.split("/"):
        raise ImportRefusal("Its compose file mounts something at a place that is not understood.", name, 0, target)
    target = "/" + target.strip("/")
    if source.startswith(("/", "~")):
        raise ImportRefusal("Its compose file mounts something of its host.", name, 0, f"{source}:{target}")
    recipe.folders.append(target)
    if not source.startswith("."):
        return
    place = folder / source
    if ".." in source.split("/") or not place.exists():
        return
    if place.is_file() and not place.is_symlink():
        recipe.folders.pop()
        recipe.files[target] = place
        return
    for path in sorted(place.rglob("*")):
        below = path.relative_to(place).as_posix()
        if place.resolve() == folder.resolve() and _HIDDEN.match(below.partition("/")[0]):
            continue
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise ImportRefusal("Its files hold a link or something else that is no plain file.", name, 0, below)
        if path.is_dir():
            recipe.folders.append(f"{target}/{below}")
        else:
            recipe.files[f"{target}/{below}"] = path
