"""Dockerfiles as data: instructions with their lines, what they come to, and what is said of one not understood."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

__all__ = [
    "NOT_KEPT", "ImageInstruction", "ImageRecipe", "ImportRefusal", "absolute_place", "fill_variables", "is_kept",
    "listed_words", "read_instructions", "without_registry",
]  # fmt: skip

NOT_KEPT = frozenset({"PATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "TEST_DIR", "LANG", "LC_ALL", "PYTHONPATH_SAVE",
                       "CARGO_HOME", "RUSTUP_HOME", "GOROOT"})  # fmt: skip
_NOT_KEPT_BEGINNINGS = ("DEBIAN_", "PIP_", "UV_", "PYTHONDONT", "PYTHONUNBUFFERED")
_HEREDOC = re.compile(r"<<-?\s*([\"']?)([A-Za-z_][A-Za-z0-9_]*)\1")
_LIBRARY = re.compile(
    r"^(?:(?:docker\.io|registry-1\.docker\.io|mirror\.gcr\.io|public\.ecr\.aws/docker|quay\.io/docker)/)?(?:library/)?"
)
"""Docker's official images, by whatever registry gives them."""
_VARIABLE = re.compile(r"\\\$|\$(?:\{([A-Za-z_]\w*)(?::?-([^}]*))?\}|([A-Za-z_]\w*))")


class ImportRefusal(Exception):
    """Why a task is not converted.

    Attributes:
        why: One sentence, the same for every task that is refused for it.
        file: The file that says what is not understood, as the task has it.
        line: Its line there, 0 where it is about the whole.
        text: What stands there.
    """

    def __init__(self, why: str, file: str, line: int = 0, text: str = "") -> None:
        super().__init__(why)
        self.why, self.file, self.line, self.text = why, file, line, " ".join(text.split())[:200]


@dataclass(frozen=True, slots=True)
class ImageInstruction:
    """One instruction: its word in capitals, the rest with continued lines joined by line ends, its first line."""

    word: str
    rest: str
    line: int


@dataclass(slots=True)
class ImageRecipe:
    """What an image is made of.

    Attributes:
        python: The release line its base image is named by; None where any will do.
        work: WORKDIR at the end.
        files: Absolute path in the image -> file of the context.
        folders: Absolute paths of folders.
        apt, pip: Packages.
        variables: Of ENV, as far as they say anything to programs.
        build: Shell commands.
        venvs: Absolute paths of Python environments, which the task's own environment stands for.
        users: Accounts beside root.
        account: That among them which works in the image; empty for root.
        owned: Account -> files and folders that are given to it.
        roots: Whether commands of root have run since, whose files are root's.
        paths: Folders of its search path that other images have not.
        git: Whether its build works on git repositories, whose histories are then taken away.
        agents: Programs of code agents that it would bring, and which are left out.
        links: Absolute path -> link of the context.
        hosts: What its build fetches from.
        base: The image that it is made from, without a registry.
    """

    python: str | None = None
    work: str = "/"
    files: dict[str, Path] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    apt: list[str] = field(default_factory=list)
    pip: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    build: list[str] = field(default_factory=list)
    venvs: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    account: str = ""
    owned: dict[str, set[str]] = field(default_factory=dict)
    roots: bool = False

    def give(self, account: str, places: Iterable[str]) -> None:
        """Note files and folders as those of an account."""
        self.owned.setdefault(account, set()).update(places)

    def give_below(self, account: str, tops: Iterable[str]) -> None:
        """Note what there is by now at some places and below them as an account's."""
        there = {*self.folders, *self.files}
        self.give(account, [place for place in there for top in tops if f"{place}/".startswith(f"{top}/")])

    paths: list[str] = field(default_factory=list)
    git: bool = False
    agents: list[str] = field(default_factory=list)
    links: dict[str, Path] = field(default_factory=dict)
    hosts: dict[str, None] = field(default_factory=dict)
    base: str = ""


def is_kept(variable: str) -> bool:
    """Whether a variable of an image is one here too; others are set as this machine and environment want them."""
    return variable not in NOT_KEPT and not variable.startswith(_NOT_KEPT_BEGINNINGS)


_ESCAPE = re.compile(r"(\ufeff?(#[ \t]*\w+[ \t]*=[^\n]*\n)*)#[ \t]*escape[ \t]*=[ \t]*`", re.IGNORECASE)
"""The directive, at the beginning alone, that lets a line go on after another sign."""


def read_instructions(text: str) -> Iterator[ImageInstruction]:
    """Read a Dockerfile; comments and empty lines are left out, the lines of a heredoc belong to their instruction."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    at, goes_on = 0, "`" if _ESCAPE.match(text) else "\\"
    while at < len(lines):
        first, whole = at + 1, _plain(lines[at])
        at += 1
        if not whole.strip():
            continue
        while whole.rstrip().endswith(goes_on) and at < len(lines):
            # Comments and empty lines may stand between continued lines.
            whole = whole.rstrip()[:-1] + " " + next_line if (next_line := _plain(lines[at])).strip() else whole
            at += 1
        for _, word in _HEREDOC.findall(whole):
            while at < len(lines):
                whole += "\n" + lines[at]
                at += 1
                if lines[at - 1].strip() == word:
                    break
        word, _, rest = whole.strip().partition(" ")
        yield ImageInstruction(word.upper(), rest.strip(), first)


def _plain(line: str) -> str:
    """A line, empty where it is a comment."""
    return "" if line.lstrip().startswith("#") else line.replace("\t", " ")


def fill_variables(text: str, variables: Mapping[str, str]) -> str:
    """Put the values of variables in their place; those that are not known become nothing, as Docker has it."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        return "$" if name is None else variables.get(name) or match[2] or ""

    return _VARIABLE.sub(value, text)


def absolute_place(work: str, path: str) -> str:
    """A path below a folder, or an absolute one, without `..`."""
    parts: list[str] = []
    for part in PurePosixPath(work, path).parts[1:]:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/" + "/".join(parts)


def listed_words(text: str) -> list[str]:
    """The words of an instruction in its JSON form."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("Its Dockerfile has a list of words that is not understood.") from error
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise ValueError("Its Dockerfile has a list of words that is not understood.")
    return found


def without_registry(image: str) -> str:
    """The name of an image, without the registry that gives one of Docker's own."""
    return _LIBRARY.sub("", image)
