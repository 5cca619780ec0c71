"""Variables that a task.toml of Harbor takes from its user's environment: values, keys of models, and refusals.

A key is never a value here. Where tests look for one of a provider, they are given a session of the model proxy when
they run. A key for the agent that nothing of the task reads is left out: agents here have models of their own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from repoassay.grading import ASKED_MODELS
from repoassay.interchange.harbor_tests import task_text
from repoassay.interchange.image_file import ImportRefusal
from repoassay.model_proxy import known_upstreams

__all__ = ["TaskVariables", "check_asked_models", "read_variables"]

_TEMPLATE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}")
"""As Harbor has it: a value is a template as a whole, or it is what it is."""
_SECRET = re.compile(r"KEY|SECRET|TOKEN(?!S)|PASSWORD|CREDENTIAL|AUTH")
_ADDRESS = re.compile(r"BASE_URL|API_BASE|ENDPOINT")
_ELSEWHERE = re.compile(r"(?:base_url|api_base|baseURL)\s*[=:]\s*f?[\"']https?://([\w.-]+)")
_AGENT_JUDGES = re.compile(r"(?m)^\s*judge\s*=\s*[\"'](claude-code|codex|gemini-cli|opencode|cursor)[\"']")
_MOST_BYTES = 2**20


@dataclass(slots=True)
class TaskVariables:
    """What the tables of variables come to.

    Attributes:
        values: Of the environment, for agent and tests.
        of_tests: Those that the tests name and are theirs alone, which no agent is to see.
        keys: Variables in which tests look for a key -> the provider.
        optional: Those of them that may be missing.
    """

    values: dict[str, str] = field(default_factory=dict)
    of_tests: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    optional: list[str] = field(default_factory=list)

    def exports(self) -> str:
        """What a script of tests begins with, to have the variables that are its own."""
        return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in self.of_tests.items())


def read_variables(environment: object, verifier: object, folder: Path) -> TaskVariables:
    """Read `[environment.env]` and `[verifier.env]`.

    Raises:
        ImportRefusal: One is a secret that is no key of a model which tests ask, or has no value here.
    """
    found = TaskVariables()
    for name, value in _pairs(environment, "environment.env"):
        match = _TEMPLATE.fullmatch(value)
        if match and match[2] is None and _SECRET.search(match[1]):
            if _mentions(name, folder, ("environment", "solution")) or _mentions(name, folder, ("instruction.md",)):
                why = "Its agent is given a key of the user, and no key enters a sandbox."
                raise ImportRefusal(why, "task.toml", _line(folder, name), f"environment.env.{name}")
            if not _mentions(name, folder, ("tests",)):
                continue
        _take(name, value, found, found.values, folder, "environment.env")
    for name, value in _pairs(verifier, "verifier.env"):
        # What no test names is no secret of theirs, and may stay where tests by name have it too.
        values = found.of_tests if _mentions(name, folder, ("tests", "steps")) else found.values
        _take(name, value, found, values, folder, "verifier.env")
    for setting in (each for provider in found.keys.values() for each in ASKED_MODELS[provider].settings):
        found.values.pop(setting, None)
        found.of_tests.pop(setting, None)
    return found


def _take(
    name: str, value: str, found: TaskVariables, values: dict[str, str], folder: Path, table: str
) -> None:  # fmt: skip
    match = _TEMPLATE.fullmatch(value)
    if match is None:
        values[name] = value
        return
    variable: str = match[1]
    otherwise: str | None = match[2]
    provider = _providers().get(variable)
    if provider is not None:
        found.keys[name] = provider
        found.optional += [name] if otherwise is not None else []
    elif _ADDRESS.search(variable) and any(variable in each.settings for each in ASKED_MODELS.values()):
        return  # where the model proxy is, which tests are told when they run
    elif otherwise is None:  # whoever wrote the task chose the name: a value of this machine may be any secret
        why = "It takes a variable from the environment of its user: write a value in its place, unless it is secret."
        raise ImportRefusal(why, "task.toml", _line(folder, name), f"{table}.{name} = {value}")
    elif (_SECRET.search(variable) or _SECRET.search(name)) and _mentions(name, folder, ("tests",)):
        why = "Its tests look for a key of the user, and what they decide without it may differ."
        raise ImportRefusal(why, "task.toml", _line(folder, name), f"{table}.{name}")
    else:
        values[name] = otherwise


def check_asked_models(folder: Path) -> None:
    """Refuse tests that ask a model where no session of the model proxy is, by line.

    Args:
        folder: Of the tests.

    Raises:
        ImportRefusal: They name the host of a vendor other than by its address, another host, or let an agent judge.
    """
    hosts = [each.address.partition("://")[2].partition("/")[0] for each in ASKED_MODELS.values()]
    bare = re.compile(rf"(?<!https://)(?<![\w.-])({'|'.join(map(re.escape, hosts))})")
    for path, text in _texts(folder):
        name = f"tests/{path.relative_to(folder).as_posix()}"
        other = next((match for match in _ELSEWHERE.finditer(text) if match[1] not in hosts), None)
        for match, why in (
            (bare.search(text), "Its tests ask a model by a name of its host that cannot be led to the model proxy."),
            (other, "Its tests ask a model at an address that is none of a provider known here."),
            (_AGENT_JUDGES.search(text) if path.suffix == ".toml" else None,
             "Its tests let an agent judge, which is a program of its own that needs the internet."),
        ):  # fmt: skip
            if match:
                line = text.count("\n", 0, match.start()) + 1
                raise ImportRefusal(why, name, line, text.split("\n")[line - 1])


def _providers() -> dict[str, str]:
    """The variables in which users keep keys -> the provider."""
    own = {each.key_env: name for name, each in known_upstreams().items() if name in ASKED_MODELS}
    return {**own, "GOOGLE_API_KEY": "gemini"}


def _pairs(table: object, key: str) -> Iterator[tuple[str, str]]:
    for name, value in (table if isinstance(table, dict) else {}).items():
        if not re.fullmatch(r"[A-Za-z_]\w{0,99}", str(name), re.ASCII):
            why = "It sets a variable whose name no shell takes."
            raise ImportRefusal(why, "task.toml", 0, f"{key}.{name}")
        yield str(name), str(value)


def _line(folder: Path, name: str) -> int:
    """The line of task.toml that sets a variable."""
    text = task_text(folder, "task.toml")
    found = re.search(rf"(?m)^.*\b{re.escape(name)}\b[\"']? *=", text)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _mentions(name: str, folder: Path, parts: tuple[str, ...]) -> bool:
    """Whether a file of some parts of a task says a variable's name."""
    within = rf"(?<![A-Z0-9_]){re.escape(name)}(?![A-Z0-9_])"
    return any(re.search(within, text) for part in parts for _, text in _texts(folder / part))


def _texts(place: Path) -> Iterator[tuple[Path, str]]:
    files = [place] if place.is_file() else sorted(place.rglob("*")) if place.is_dir() else []
    for path in files:
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES:
            yield path, path.read_text("utf-8", "replace")
