"""How likely a word is where it stands, as a reader guesses who knows the repository and the rest of the tests."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

__all__ = ["Likeness", "Text", "likeness"]

_PARTS = re.compile(r"[A-Za-z]+|[0-9]+")
_WORDS = re.compile(r"\w+")
_TEXT, _FILES = 2**21, 400
_BESIDE, _NEAR = 10, 100
"""What a word in the same file, and in the same test, counts against one in the repository."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words, their parts and rows of three characters of a text, counted."""

    parts: Counter[str]
    words: Counter[str]
    rows: Counter[str]

    @classmethod
    def of(cls, text: str) -> Text:
        """Count a text."""
        rows = Counter(text[at : at + 3] for at in range(len(text) - 2))
        return cls(Counter(_PARTS.findall(text)), Counter(_WORDS.findall(text)), rows)


@dataclass(frozen=True, slots=True)
class Likeness:
    """Scores a word by a repository, a file and a test.

    Attributes:
        base: The repository.
        file: The test file.
        test: The test in it.
    """

    base: Text
    file: Text
    test: Text

    def __call__(self, before: str, part: str, after: str, *, own: bool) -> float:
        """How likely `part` is between two texts; `own` when it stands there, which is not to count for it."""
        start = re.search(r"\w*$", before)
        end = re.match(r"\w*", after)
        word = f"{start[0] if start else ''}{part}{end[0] if end else ''}"
        known = math.log1p(self._occurrences(part, "parts", own)) + math.log1p(self._occurrences(word, "words", own))
        around = f"{before[-2:]}{part}{after[:2]}"
        rows = [math.log1p(self.base.rows[around[at : at + 3]]) for at in range(len(around) - 2)]
        return known + math.fsum(rows) / max(1, len(rows)) / 2

    def _occurrences(self, word: str, kind: str, own: bool) -> int:
        counts: list[Counter[str]] = [getattr(text, kind) for text in (self.base, self.file, self.test)]
        base, file, test = (count[word] for count in counts)
        return max(0, base + _BESIDE * (file - own) + _NEAR * (test - own))

    def vocabulary(self, like: str) -> list[str]:
        """Words of the tests, and usual ones of the repository, of the same case and about as long."""
        usual = (word for word, _ in self.base.parts.most_common(2000))
        found = dict.fromkeys((*self.test.parts, *self.file.parts, *usual))
        return [word for word in found if _cased(word) == _cased(like) and abs(len(word) - len(like)) < 3]


def _cased(word: str) -> str:
    return "digits" if word.isdigit() else "lower" if word.islower() else "upper" if word.isupper() else (
        "title" if word.istitle() else "mixed")  # fmt: skip


def likeness(base: Path, source: str, test: str) -> Likeness:
    """For the text of a test in a file's source."""
    return Likeness(_repository(base), Text.of(source), Text.of(test))


@lru_cache(maxsize=8)
def _repository(base: Path) -> Text:
    read: list[str] = []
    left = _TEXT
    files = sorted(path for path in base.rglob("*") if path.suffix in (".py", ".md", ".rst", ".txt"))
    for path in files[:_FILES]:
        if not path.is_symlink() and path.is_file() and left > 0:
            with path.open("rb") as stream:
                read.append(stream.read(min(left, 2**17)).decode(errors="replace"))
            left -= len(read[-1])
    return Text.of("\n".join(read))
