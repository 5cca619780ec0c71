"""Which hosts a command of a Dockerfile fetches from, and where what it installs lies.

Such a command stays a command of the build, and the task names its hosts: what they are is known when it is imported,
whether they may be reached is said by the user when it is built. In /usr/local, where no build can write, /env takes
the place.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from repoassay.interchange.image_file import fill_variables

__all__ = ["MODULES_KEPT", "BuildHosts", "in_environment", "starters", "with_arguments"]

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


class BuildHosts:
    """What a command of one image's build fetches, and what its Dockerfile's variables say."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = dict(known)
        self.named: dict[str, None] = {}
        """Hosts that are fetched from, `NAME` or `NAME:PORT`, which the user has to allow when the task is built."""
        self.modules: set[str] = set()
        """Programs that fetch modules."""

    def take_modules(self, program: str) -> None:
        """Note a program that fetches modules."""
        self.named |= dict.fromkeys(_MODULES[program])
        self.modules.add(program)

    def knows(self, text: str) -> bool:
        """Whether the values of all variables that a text names are known."""
        return all(name in self._known for name in re.findall(r"\$\{?(\w+)", text))

    def assign(self, name: str, value: str) -> None:
        """Note a variable that a command sets; none whose value only a run could tell."""
        self._known.pop(name, None)
        if not re.search(r"`|\$\(", value) and self.knows(value):
            self._known[name] = self.filled(value)

    def filled_words(self, words: Iterable[str]) -> list[str]:
        """Words with the values of the variables that are known; one that is a variable becomes the words it holds."""
        found: list[str] = []
        for word in words:
            text = self.filled(word) if self.knows(word) else word
            found += text.split() if re.fullmatch(r"\$(\w+|\{\w+\})", word) else [text]
        return found

    def filled(self, text: str) -> str:
        """A text with the values of the variables that are known by then."""
        return fill_variables(text, self._known)

    def check_command(self, command: str) -> str:
        """What else a command does than fetching by address, once its hosts are noted.

        Raises:
            ValueError: It fetches from none that can be read.
        """
        if match := _BY_ADDRESS.search(command):
            self._take_addresses(command, match[1].partition(" ")[0])
        return _BY_ADDRESS.sub("", command)

    def _take_addresses(self, command: str, what: str) -> None:
        text = self.filled(command)
        places = [_place(address) for address in _ADDRESS.findall(text)]
        if not places or not all(re.fullmatch(r"[a-z0-9_.-]+", host) for host, _ in places):
            raise ValueError(f"Its Dockerfile fetches something with {what}, which builds cannot reach.")
        for host, port in places:
            self.named[host if port in (80, 443) else f"{host}:{port}"] = None
            self.named |= dict.fromkeys(_LED_ON.get(host, ()))


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
