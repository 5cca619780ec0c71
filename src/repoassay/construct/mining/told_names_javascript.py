"""What hidden tests in JavaScript and TypeScript need that only the solution brings, read from their syntax trees.

Names are told apart by where they stand, not by what they are bound to: one that the changed sources gain, at any place
but that of a property that is read, and that the tests' new lines import, read as a property or give as an option.
TypeScript is read by the grammar of JavaScript, whose trees keep the names of what they do not know.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from repoassay.construct.mining.told_names import NeededFact, tell_text
from repoassay.construct.node.tests import JAVASCRIPT_SUFFIXES
from repoassay.grading import LARGEST, parse_javascript, walk

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["needed_javascript_facts"]

_NAMES = frozenset({"identifier", "property_identifier", "shorthand_property_identifier", "type_identifier",
                    "shorthand_property_identifier_pattern"})  # fmt: skip
_USES = {
    "member_expression": "property", "pair": "key", "pair_pattern": "key", "import_specifier": "name",
    "import_clause": "", "object": "", "object_pattern": "",
}  # fmt: skip
"""What a name stands in where a test means the tested code by it, not its own variables, and as which part of it."""
_SUFFIX = re.compile(r"(\.d)?\.[cm]?[jt]sx?$")


def needed_javascript_facts(
    base: Mapping[str, str], solution: Mapping[str, str], tests: Mapping[str, tuple[str, str]]
) -> list[NeededFact]:
    """What the tests need of what the solution brings.

    Args:
        base: Texts of the changed source files at the base, by path; absent where the file is new.
        solution: The same with the solution.
        tests: Texts of the changed test files at the base (empty where new) and with the solution, by path.

    Files of other languages, and those too large to read, are left out.
    """
    base, solution = _scripts(base), _scripts(solution)
    before = [_tree(text) for text in base.values()]
    known = {name for tree in before for name in _brought_names(tree)}
    known |= {name for old, _ in tests.values() for name in _names(_tree(old))}
    had = {text for tree in before for text in _strings(tree)}
    used, texts, imports = _used(tests)
    found: dict[tuple[str, str], NeededFact] = {}
    for path, after in sorted(solution.items()):
        for fact in _of_file(path, _tree(after), path not in base, (known, had), (used, texts, imports)):
            found.setdefault((fact.kind, fact.word), fact)
    return list(found.values())


def _of_file(
    path: str, tree: Node, is_new: bool, base: tuple[set[str], set[str]], tests: tuple[set[str], set[str], set[str]]
) -> Iterator[NeededFact]:
    """Facts of one file of the solution: its module where it is new, names, texts."""
    (known, had), (used, texts, imports) = base, tests
    if is_new and _SUFFIX.sub("", path) in imports:
        yield NeededFact("module", path, f"The tests import `{path}`.")
    for name in sorted((set(_brought_names(tree)) - known) & used):
        yield NeededFact("name", name, f"The tests use the name `{name}` of `{path}`.")
    brought = set(_strings(tree)) - had
    for text in sorted(texts - used):
        if expected := tell_text(text, had, brought):
            yield NeededFact("text", expected, f"The tests expect this text: `{expected}`")


def _scripts(files: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in files.items()
            if path.endswith(JAVASCRIPT_SUFFIXES) and len(text) <= LARGEST}  # fmt: skip


def _tree(text: str) -> Node:
    return parse_javascript(text.encode(errors="replace"))


def _word(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


def _names(tree: Node) -> Iterator[str]:
    return (_word(node) for node in walk(tree) if node.type in _NAMES)


def _brought_names(tree: Node) -> Iterator[str]:
    """Names that a source defines, takes or gives: all but properties that it reads."""
    for node in walk(tree):
        if node.type in _NAMES and not _is_read(node):
            yield _word(node)


def _is_read(node: Node) -> bool:
    """Whether a name is the property of an expression that nothing is assigned to."""
    parent = node.parent
    if parent is None or parent.type != "member_expression" or node.type != "property_identifier":
        return False
    above = parent.parent
    return above is None or above.type != "assignment_expression" or above.child_by_field_name("left") != parent


def _strings(tree: Node) -> Iterator[str]:
    """Texts of a file; in templates `{}` stands for what is filled in."""
    for node in walk(tree):
        if node.type == "string":
            yield _word(node)[1:-1]
        elif node.type == "template_string":
            parts = ("{}" if each.type == "template_substitution" else _word(each) for each in node.named_children)
            yield "".join(parts)


def _used(tests: Mapping[str, tuple[str, str]]) -> tuple[set[str], set[str], set[str]]:
    """Names, texts, and modules without their suffixes that the new lines of tests refer to."""
    names, texts, imports = set[str](), set[str](), set[str]()
    for path, (before, after) in _changed_scripts(tests):
        known = {row.strip() for row in before.splitlines()}
        fresh = {number for number, row in enumerate(after.splitlines()) if row.strip() not in known}
        for node in walk(_tree(after)):
            if node.start_point[0] not in fresh:
                continue
            if node.type in _NAMES and _is_use(node):
                names.add(_word(node))
            elif node.type == "string":
                text = _word(node)[1:-1]
                if not text.startswith("."):
                    texts.add(text)
                else:
                    imports.add(_SUFFIX.sub("", posixpath.normpath(posixpath.join(posixpath.dirname(path), text))))
    return names, texts, imports


def _is_use(node: Node) -> bool:
    parent = node.parent
    part = _USES.get(parent.type) if parent is not None else None
    return parent is not None and part is not None and (not part or parent.child_by_field_name(part) == node)


def _changed_scripts(tests: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, tuple[str, str]]]:
    for path, (before, after) in tests.items():
        if path.endswith(JAVASCRIPT_SUFFIXES) and len(after) <= LARGEST:
            yield path, (before, after)
