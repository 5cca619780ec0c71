"""Repositories that are at hand: folders and git bundles that stand in for what rows name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.text import quote

__all__ = ["is_git", "mirrors_of", "read_mirrors"]

_GITHUB = re.compile(r"(?:https://github\.com/)?([A-Za-z0-9][A-Za-z0-9_.-]*)/([A-Za-z0-9_.-]+?)(?:\.git)?/?")


def read_mirrors(texts: tuple[str, ...]) -> dict[str, str]:
    """Read `URL=PATH` options.

    Raises:
        BadInput: When one has another form, or a URL is given twice.
    """
    mirrors: dict[str, str] = {}
    for text in texts:
        # A URL may hold '=' (pypi: sources do), a path seldom does: the last one divides.
        url, _, path = text.rpartition("=")
        if not url or not path:
            raise BadInput(f"The mirror {quote(text)} is not URL=PATH.", "Write the URL as the rows have it.")
        if url in mirrors:
            raise BadInput(f"The mirror of {quote(url)} is given twice.", "Keep one.")
        mirrors[url] = path
    return mirrors


def mirrors_of(urls: Iterable[str], folder: Path | None, mirrors: Mapping[str, str]) -> dict[str, str]:
    """Return where repositories lie: what was given one by one, and what a folder of them holds.

    Args:
        urls: Repositories as rows name them, `OWNER/NAME` or the same on GitHub.
        folder: Where `OWNER--NAME.bundle`, `OWNER+NAME` or `OWNER/NAME` are looked for; the last two are git
            repositories, or a folder around one.
        mirrors: URL -> place; outranks the folder.

    Raises:
        BadInput: When the folder is none.
    """
    if folder is None:
        return dict(mirrors)
    if not folder.is_dir():
        raise BadInput(f"The folder of mirrors {quote(folder)} is no folder.", "Correct --mirrors.")
    found = {}
    for url in set(urls):
        place = next((each for each in _candidates(folder, url) if each is not None), None)
        if place is not None:
            found[url] = str(place)
    return found | dict(mirrors)


def is_git(folder: Path) -> bool:
    """Whether a folder is a git repository, with a working tree or bare."""
    return (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir())


def _candidates(folder: Path, url: str) -> Iterator[Path | None]:
    parts = _GITHUB.fullmatch(url)
    if parts is None:
        return
    owner, name = parts.groups()
    if (bundle := folder / f"{owner}--{name}.bundle").is_file():
        yield bundle.resolve()
    for each in (folder / f"{owner}+{name}", folder / owner / name, folder / owner / f"{name}.git"):
        if each.is_dir():
            inner = [each, *sorted(item for item in each.iterdir() if item.is_dir())]
            yield next((item.resolve() for item in inner if is_git(item)), None)
