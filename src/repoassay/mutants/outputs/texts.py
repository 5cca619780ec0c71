"""Texts made wrong: parts missing, words out of order, markup left, another text, a template."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from repoassay.mutants.outputs.mutant import Expected, OutputChange, RightOutput, Same

__all__ = ["SUFFIXES", "difference", "text_changes", "text_of"]

SUFFIXES = frozenset({".txt", ".md", ".html", ".htm", ".xml", ".rst", ".sql", ".log", ".yaml", ".yml", ".toml"})
_MOST = 2_000_000
_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n+|(?<=[\u3002\uff01\uff1f])")
_OTHER = (
    "The ferry leaves the northern quay at seven and calls at every island before noon. Passengers with bicycles wait "
    "by the second ramp. In winter the timetable is shorter, and in a storm the harbour office hangs a red lamp.\n"
)
_TEMPLATE = "TODO: the result of the task goes here.\n"


def text_changes(source: RightOutput) -> Iterator[OutputChange]:
    """Every mutant of a text."""
    text = text_of(source.path)
    chance = random.Random(source.seed)  # noqa: S311 - the same every time
    for name, change in _wrong(text, chance):
        yield _mutant(name, text, change)
    for number, path in enumerate(source.inputs):
        tag = f"-{number + 1}" if len(source.inputs) > 1 else ""
        yield _mutant(f"input{tag}", text, partial(_read_or_same, path))
    yield from right_changes(text, mark=source.path.suffix.lower() != ".xml")


def text_of(path: Path) -> str:
    """The text of a file; raises `Same` where it is none."""
    data = path.read_bytes()
    if len(data) > _MOST:
        raise Same
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Same from error


def _wrong(text: str, chance: random.Random) -> Iterator[tuple[str, Callable[[], str]]]:
    words = _words(text)
    yield "first-half", lambda: text[: len(text) // 2]
    yield "second-half", lambda: text[len(text) // 2 :]
    yield "sentence-missing", lambda: _without_sentence(text, 1, chance)
    yield "third-missing", lambda: _without_sentence(text, max(2, len(_sentences(text)) // 3), chance)
    yield "words-shuffled", lambda: " ".join(_shuffled(words, chance)) + "\n"
    yield "lines-shuffled", lambda: "\n".join(_shuffled(text.splitlines(), chance)) + "\n"
    yield "letters-shuffled", lambda: "".join(_shuffled(list(text), chance))
    yield "upper-case", text.upper
    yield "doubled", lambda: text.rstrip("\n") + "\n" + text
    yield "words-changed", lambda: re.sub(r"\w+", _every_third, text)
    yield "digits-changed", lambda: re.sub(r"\d", lambda found: str((int(found[0]) + 3) % 10), text)
    yield "markup-page", lambda: _page(text)
    yield "markup-left", lambda: "\n".join(f'<p class="body"><span>{html.escape(line)}</span></p>' if line.strip()
                                           else line for line in text.splitlines())  # fmt: skip
    yield "other-text", lambda: _OTHER * max(1, len(text) // len(_OTHER))
    yield "template", lambda: _TEMPLATE
    yield "first-line-repeated", lambda: "\n".join(text.splitlines()[:1] * len(text.splitlines()))


def right_changes(text: str, *, mark: bool = True) -> Iterator[OutputChange]:
    """The same text as other editors and systems write it."""
    lines = text.replace("\r\n", "\n")
    for name, data in (
        ("line-ends-crlf", lines.replace("\n", "\r\n").encode()),
        ("byte-order-mark", b"\xef\xbb\xbf" + text.encode()),
        ("final-newline-missing", text.rstrip("\r\n").encode()),
        ("final-newlines", (text.rstrip("\r\n") + "\n\n").encode()),
    ):
        expected = Expected.RIGHT if mark or name != "byte-order-mark" else Expected.OPEN
        yield OutputChange(name, partial(_bytes, data), expected)


def _mutant(name: str, text: str, change: Callable[[], str]) -> OutputChange:
    def write(place: Path) -> float:
        variant = change()
        share = difference(text, variant)
        if share == 0 or variant.split() == text.split():
            raise Same
        place.write_text(variant, encoding="utf-8", newline="")
        return share

    return OutputChange(name, write)


def difference(text: str, other: str) -> float:
    """Share of characters that differ, from 0 to 1; blanks count as one."""
    one, two = " ".join(text.split()), " ".join(other.split())
    try:
        from rapidfuzz.distance import Levenshtein

        return float(Levenshtein.normalized_distance(one, two))
    except ImportError:
        import difflib

        return 1 - difflib.SequenceMatcher(None, one, two, autojunk=False).quick_ratio()


def _bytes(data: bytes, place: Path) -> None:
    place.write_bytes(data)


def _read_or_same(path: Path) -> str:
    if not path.is_file():
        raise Same
    return text_of(path)


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if part.strip()]


def _without_sentence(text: str, count: int, chance: random.Random) -> str:
    """The text without so many sentences in the middle."""
    parts = _sentences(text)
    if len(parts) < 2:
        raise Same
    first = chance.randrange(0, max(1, len(parts) - count))
    for part in parts[first : first + count]:
        text = text.replace(part, "", 1)
    return text


def _words(text: str) -> list[str]:
    """Words of a text; pairs of letters where it is written without blanks, as Chinese is."""
    words = text.split()
    return words if len(text) < 15 * len(words) else re.findall(r"\w{1,2}|[^\w\s]", text)


def _shuffled(parts: list[str], chance: random.Random) -> list[str]:
    order = parts[:]
    chance.shuffle(order)
    return order


def _every_third(found: re.Match[str]) -> str:
    """Another word for one in three."""
    if found.start() % 3:
        return found[0]
    return "".join(chr(ord(letter) + 1) if letter not in "zZ9" else letter for letter in found[0])


def _page(text: str) -> str:
    """The text in the page it came from."""
    body = "\n".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines() if line.strip())
    links = "\n".join(f'<li><a href="/section/{number}">Section {number}</a></li>' for number in range(12))
    return (
        f"<!DOCTYPE html>\n<html><head><title>Page</title><style>p {{ margin: 0 }}</style></head><body>\n<nav><ul>"
        f"{links}</ul></nav>\n<main>\n{body}\n</main>\n<footer>All rights reserved. Cookies.</footer></body></html>\n"
    )  # fmt: skip    return "".join(chr(ord(letter) + 1) if letter not in "zZ9" else letter for letter in found[0])
