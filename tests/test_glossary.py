"""The glossary: each public noun stands in it with one sentence and one meaning, and all it names is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

import repoassay
from house_lists import ROOT, assert_only, house_tree

PACKAGE = ROOT / "src" / "repoassay"
PAGE = (ROOT / "docs" / "glossary.md").read_text("utf-8")
CODE = re.compile(r"`([^`]+)`")


class Entry(NamedTuple):
    """One line of the glossary."""

    term: str
    names: tuple[str, ...]
    sentence: str


def entries() -> list[Entry]:
    lines = re.sub(r"\n +", " ", PAGE).splitlines()
    found = [re.fullmatch(r"\* \*\*([^*]+)\*\*(?: \((`[^)]+`)\))?: (.+)", line) for line in lines if line[:1] == "*"]
    return [Entry(match[1], tuple(CODE.findall(match[2] or "")), match[3]) for match in found if match]


ENTRIES = entries()


def nouns(names: list[str]) -> set[str]:
    return {name for name in names if name[:1].isupper() and not name.isupper()}


def rooms() -> list[str]:
    """Each package below ours that has a face, dotted."""
    folders = sorted({*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("benchmarks/*/__init__.py")})
    return [".".join(("repoassay", *each.parent.relative_to(PACKAGE).parts)) for each in folders]


@cache
def identifiers() -> frozenset[str]:
    """Every name that the package defines or imports, and its strings of one word."""
    found: set[str] = set()
    for module in house_tree().modules.values():
        for node in ast.walk(module.syntax):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return frozenset(found) | {path.stem if path.suffix == ".py" else path.name for path in PACKAGE.rglob("*")}


@cache
def source() -> str:
    """All text of the package, lower case, words parted by one space."""
    texts = [path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py")) if "/suite/" not in path.as_posix()]
    return " ".join(re.split(r"[\s\W_]+", " ".join(texts).lower()))


def test_every_line_is_read() -> None:
    assert len(ENTRIES) == PAGE.count("\n* ") > 150


def test_terms_are_in_order_and_have_one_meaning() -> None:
    terms = [entry.term.casefold() for entry in ENTRIES]
    assert terms == sorted(set(terms))
    names = [name for entry in ENTRIES for name in entry.names]
    assert [name for name in names if names.count(name) > 1] == []


def problems(entry: Entry) -> Iterator[str]:
    """What is wrong with a line."""
    if not entry.sentence.endswith(".") or re.search(r"\.\s", entry.sentence):
        yield f"{entry.term}: say it in one sentence."
    for code in CODE.findall(f"{entry.sentence} {' '.join(f'`{name}`' for name in entry.names)}"):
        if any(part not in identifiers() for part in re.split(r"[\s./]+", code)):
            yield f"{entry.term}: {code} is not in the package."
    words = " ".join(re.split(r"[\s\W_]+", entry.term.lower())).strip()
    if not entry.names and words not in source():
        yield f"{entry.term} is a word of nobody: neither code nor docstrings have it."


def test_entries_are_one_sentence_each_about_what_exists() -> None:
    assert [problem for entry in ENTRIES for problem in problems(entry)] == []


def test_what_is_wrong_with_an_entry_is_told() -> None:
    wrong = Entry("no such word", (), "One. Two of `nothing_of_the_kind`")
    assert len(list(problems(wrong))) == 3


def test_each_noun_of_the_package_is_explained() -> None:
    explained = {name for entry in ENTRIES for name in entry.names}
    assert sorted(nouns(repoassay.__all__) - explained) == []


def test_each_noun_of_a_room_is_explained() -> None:
    explained = {name for entry in ENTRIES for name in entry.names}
    offered = {name for room in rooms() for name in nouns(getattr(import_module(room), "__all__", []))}
    assert len(offered) > 300
    assert_only("not_in_glossary.txt", offered - explained, "Give it a sentence in docs/glossary.md.")
