"""What a call of pip in a Dockerfile installs: packages by name, files of requirements, folders of the image."""

from __future__ import annotations

import re

__all__ = ["pip_arguments", "requirements"]

_ADDRESS = re.compile(r"~|[a-z+]+://|git\+|[\w.-]+(\[[\w,-]+\])? ?@ ?(git\+|https?://)")


def pip_arguments(program: str, words: list[str]) -> list[str]:
    """The words after `install` of pip or `uv pip`; empty where this is neither."""
    if re.fullmatch(r"pip[\d.]*", program):
        rest = words[1:]
    elif re.fullmatch(r"python[\d.]*", program) and words[1:3] == ["-m", "pip"]:
        rest = words[3:]
    elif program == "uv" and words[1:2] == ["pip"]:
        rest = words[2:]
    else:
        return []
    return rest[rest.index("install") + 1 :] or ["pip"] if "install" in rest else ["pip"]


_WITH_VALUE = frozenset({"--python", "-p", "--timeout", "--retries", "--default-timeout", "--target",
                         "--root-user-action", "--progress-bar", "--trusted-host", "--upgrade-strategy",
                         "--prefix"})  # fmt: skip


def _is_folder(option: list[str]) -> bool:
    """Whether an option, or what follows it, names a folder of the image and no address."""
    place = option[0].partition("=")[2] or option[-1]
    return "://" not in place and place.startswith(("/", "./"))


def requirements(words: list[str]) -> tuple[list[str], list[str]]:
    """Packages that pip installs by name or from a file of requirements, and what it takes from folders of the image.

    Raises:
        ValueError: It takes something from an address, or from an index of its own.
    """
    found: list[str] = []
    local: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-r", "--requirement"):
            found.append(f"-r {rest.pop(0) if rest else ''}")
        elif word.startswith(("--index-url", "--extra-index-url")) and "download.pytorch.org" in " ".join(
            [word, *rest[:1]]
        ):
            rest = rest if "=" in word else rest[1:]  # builds for one machine; the index in force has them for any
        elif word.startswith(("--find-links", "-f")) and "--no-index" in words and _is_folder([word, *rest[:1]]):
            rest = rest if "=" in word else rest[1:]  # of wheels that were fetched before; the index in force has them
        elif word.startswith(("--index-url", "--extra-index-url", "--find-links", "-i", "-f", "-c", "--constraint")):
            raise ValueError("Its Dockerfile installs packages from an index or file of its own.")
        elif word in ("-e", "--editable") and rest and not _ADDRESS.match(rest[0]):
            local += [word, rest.pop(0)]
        elif re.match(r"\.?\.?/|\.(\[|$)", word):
            local.append(word)
        elif word in ("-e", "--editable") or _ADDRESS.match(word):
            raise ValueError("Its Dockerfile installs a package from an address.")
        elif word.startswith("-"):
            if word in _WITH_VALUE and rest:
                rest.pop(0)
        elif word not in ("pip", "setuptools", "wheel", "uv", "pytest"):
            found.append(word)
    kept = [word for word in ("--no-deps", "--no-build-isolation") if word in words]
    return found, [*kept, *local] if local else []
