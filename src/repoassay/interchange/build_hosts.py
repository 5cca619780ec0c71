"""Which hosts a command of a Dockerfile fetches from, and whether builds here may reach them.

Builds reach package indexes, and what the user names in REPOASSAY_PACKAGE_HOSTS. A command that fetches from such hosts
alone stays a command of the build; in /usr/local, where no build can write, /env takes the place.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from repoassay.interchange.image_file import fill_variables
from repoassay.package_proxy import HostRule, Indexes

__all__ = ["MODULES_KEPT", "BuildHosts", "UnreachedHosts", "in_environment", "starters", "with_arguments"]

_ADDRESS = re.compile(r"\bhttps?://[^\s\"'|;&<>()`\\]+")
_BY_ADDRESS = re.compile(r"(?<![\w./-])(curl|wget|git (?:-\S+ )*(?:clone|ls-remote|remote add))(?=\s|$)")
"""Commands that name an address to fetch from; the proxy of builds sees to what they reach."""
_MODULES = {
    "go": ("proxy.golang.org", "sum.golang.org"),
    "cargo": ("index.crates.io", "static.crates.io"),
    "terraform": ("registry.terraform.io", "releases.hashicorp.com"),
}
"""Where programs get modules that a project's own files name."""
MODULES_KEPT = {"go": {"GOMODCACHE": "/env/modules/go", "GOFLAGS": "-modcacherw"},
                "cargo": {"CARGO_HOME": "/env/modules/cargo"}}  # fmt: skip
"""Variables that let fetched modules lie in the environment, where agent and tests have them without a network."""
_LED_ON = {
    "github.com": ("release-assets.githubusercontent.com", "codeload.github.com"),
    "go.dev": ("dl.google.com",),
}
"""Hosts that answer with the address of another."""
_LINK = re.compile(r"\bln\s+-s\w*\s+(\S+)\s+/usr/local/bin(?:/([\w.-]+))?/?(?=\s|$|;)")


class UnreachedHosts(ValueError):
    """A command fetches from hosts that builds may not reach; `hosts` names them."""

    def __init__(self, what: str, hosts: list[str]) -> None:
        super().__init__(f"Its Dockerfile fetches something with {what}, from hosts that builds may not reach.")
        self.hosts = hosts


class BuildHosts:
    """What builds of one image may reach, and what its Dockerfile's variables say."""

    def __init__(self, known: Mapping[str, str], rules: tuple[HostRule, ...] | None = None) -> None:
        self._known = known
        self._rules = Indexes.configured().public_rules() if rules is None else rules
        self.modules: set[str] = set()
        """Programs that fetch modules."""

    def check_modules(self, program: str) -> None:
        """See that a program reaches the modules that it fetches; raises `UnreachedHosts`."""
        self._check(program, [(host, 443) for host in _MODULES[program]])
        self.modules.add(program)

    def knows(self, text: str) -> bool:
        """Whether the values of all variables that a text names are known."""
        return all(name in self._known for name in re.findall(r"\$\{?(\w+)", text))

    def filled(self, text: str) -> str:
        """A text with the values of the variables that are known by then."""
        return fill_variables(text, self._known)

    def reaches(self, command: str) -> bool:
        """Whether builds may fetch from every address that a command names."""
        try:
            self.check_addresses(command, "curl")
        except ValueError:
            return False
        return True

    def check_command(self, command: str) -> str:
        """What else a command does than fetching by address, once its addresses are seen to be allowed ones."""
        if told := _BY_ADDRESS.search(command):
            self.check_addresses(command, told[1].partition(" ")[0])
        return _BY_ADDRESS.sub("", command)

    def check_addresses(self, command: str, what: str) -> None:
        """See that every address a command fetches from is one that builds may reach.

        Raises:
            UnreachedHosts: One is not.
            ValueError: It names none that can be read.
        """
        text = self.filled(command)
        places = [_place(address) for address in _ADDRESS.findall(text)]
        if not places or not all(re.fullmatch(r"[a-z0-9.-]+", host) for host, _ in places):
            raise ValueError(f"Its Dockerfile fetches something with {what}, which builds cannot reach.")
        led = [(each, 443) for host, _ in places for each in _LED_ON.get(host, ())]
        self._check(what, list(dict.fromkeys([*places, *led])))

    def _check(self, what: str, places: list[tuple[str, int]]) -> None:
        missing = [host for host, port in places if not any(rule.allows(host, port) for rule in self._rules)]
        if missing:
            raise UnreachedHosts(what, missing)


def _place(address: str) -> tuple[str, int]:
    """Host and port of an address; no host where it cannot be read."""
    try:
        parts = urlsplit(address)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        return "", 0
    return (parts.hostname or "").rstrip("."), port


def in_environment(command: str) -> str:
    """A command that installs below /usr/local, doing so below /env; a link to a program becomes one that starts it."""

    def start(match: re.Match[str]) -> str:
        target, name = match[1], match[2] or match[1].rpartition("/")[2]
        place = f"/env/bin/{name}"
        return f"printf '#!/bin/sh\\nexec {target} \"$@\"\\n' > {place} && chmod 755 {place}"

    return re.sub(r"(?<![\w.-])/usr/local(?=/|\s|$|[\"'])", "/env", _LINK.sub(start, command))


def with_arguments(command: str, variables: Mapping[str, str]) -> str:
    """A command that is given those of an image's variables which it names and the build has not: ARG, mostly."""
    named = [name for name in variables if re.search(rf"\$\{{?{re.escape(name)}\b", command)]
    return "".join(f"export {name}='{_quoted(variables[name])}' && " for name in named) + command


def starters(folders: Iterable[str]) -> list[str]:
    """Commands that let programs of folders of a search path be started from the environment's own."""
    found = []
    for folder in dict.fromkeys(in_environment(folder) for folder in folders):
        each = 'printf \'#!/bin/sh\\nexec "%s" "$@"\\n\' "$program" > "/env/bin/${program##*/}"'
        lacks = '[ -f "$program" ] && [ -x "$program" ] && [ ! -e "/env/bin/${program##*/}" ]'
        found.append(
            f"for program in {shlex.quote(folder)}/*; do if {lacks}; then {each}"
            ' && chmod 755 "/env/bin/${program##*/}"; fi; done'
        )
    return found


def _quoted(value: str) -> str:
    return value.replace("'", "'\\''")
