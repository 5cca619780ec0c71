"""Which calls of a JavaScript test are assertions of `node:assert`, whatever they are called in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from repoassay.grading.oracle.javascript_scopes import JavaScriptBinding, JavaScriptScopes
from repoassay.grading.oracle.javascript_tree import arguments_of, called, plain_text, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["COMPARED", "ENDINGS", "TRUTHS", "Assertion", "Library", "find_assertions"]

_MODULES = {"assert": False, "node:assert": False, "assert/strict": True, "node:assert/strict": True}
_STRICT = {
    "equal": "strictEqual", "notEqual": "notStrictEqual", "deepEqual": "deepStrictEqual",
    "notDeepEqual": "notDeepStrictEqual",
}  # fmt: skip
TRUTHS = frozenset({"ok", "ifError"})
COMPARED = frozenset(
    {
        "equal", "notEqual", "strictEqual", "notStrictEqual", "deepEqual", "notDeepEqual", "deepStrictEqual",
        "notDeepStrictEqual", "match", "doesNotMatch",
    }
)  # fmt: skip
ENDINGS = frozenset({"throws", "doesNotThrow", "rejects", "doesNotReject"})


@dataclass(frozen=True, slots=True)
class Library:
    """What a name of the assertion library stands for: a function, or with an empty `method` the whole of it."""

    strict: bool
    method: str = ""

    @property
    def source(self) -> str:
        """The same for the judge."""
        whole = f'require("node:assert{"/strict" if self.strict else ""}")'
        return f"{whole}.{self.method}" if self.method else whole


@dataclass(frozen=True, slots=True)
class Assertion:
    """A call of an assertion: by which method, strict ones by their own names, and on what."""

    call: Node
    callee: Node
    method: str
    given: tuple[Node, ...]


def find_assertions(root: Node, scopes: JavaScriptScopes) -> tuple[list[Assertion], dict[JavaScriptBinding, Library]]:
    """Every assertion in the order of the text, and the names of the library."""
    library = {
        binding: part
        for binding in scopes.bindings()
        if (part := _library(binding)) is not None and not any(_assigned(use) for use in binding.uses)
    }
    found: list[Assertion] = []
    for node in walk(root):
        callee = called(node)
        method = None if callee is None else _method(callee, scopes, library)
        if callee is not None and method is not None:
            found.append(Assertion(node, callee, method, tuple(arguments_of(node) or ())))
    return sorted(found, key=lambda each: (each.call.start_byte, -each.call.end_byte)), library


def _method(callee: Node, scopes: JavaScriptScopes, library: dict[JavaScriptBinding, Library]) -> str | None:
    if callee.type == "identifier":
        binding = scopes.of(callee)
        known = library.get(binding) if binding else None
        return None if known is None else _canonical(known.method or "ok", known.strict)
    if callee.type != "member_expression":
        return None
    owner, name = callee.child_by_field_name("object"), callee.child_by_field_name("property")
    if owner is None or name is None or name.type != "property_identifier":
        return None
    strict = _whole(owner, scopes, library)
    return None if strict is None else _canonical(text_of(name), strict)


def _whole(owner: Node, scopes: JavaScriptScopes, library: dict[JavaScriptBinding, Library]) -> bool | None:
    """Whether an expression is the whole library, strict or not; None when it is something else."""
    if owner.type == "identifier":
        binding = scopes.of(owner)
        known = library.get(binding) if binding else None
        return known.strict if known is not None and not known.method else None
    if owner.type != "member_expression":
        return None
    inner, name = owner.child_by_field_name("object"), owner.child_by_field_name("property")
    if inner is None or name is None or inner.type != "identifier":
        return None
    binding = scopes.of(inner)
    if text_of(name) == "strict" and _whole(inner, scopes, library) is not None:
        return True
    context = binding is not None and binding.kind == "parameter" and text_of(name) == "assert"
    return False if context else None  # `t.assert`


def _canonical(method: str, strict: bool) -> str | None:
    method = _STRICT.get(method, method) if strict else method
    return method if method in TRUTHS | COMPARED | ENDINGS | {"fail"} else None


def _assigned(use: Node) -> bool:
    parent = use.parent
    return parent is not None and (
        (parent.type in ("assignment_expression", "augmented_assignment_expression")
         and parent.child_by_field_name("left") == use)
        or parent.type == "update_expression"
    )  # fmt: skip


def _library(binding: JavaScriptBinding) -> Library | None:
    """What a declared name has of the assertion library, if anything."""
    if binding.kind == "import":
        return _imported(binding.name)
    if binding.kind not in ("const", "let", "var"):
        return None
    at, key = binding.name, ""
    if at.type == "shorthand_property_identifier_pattern":
        key = text_of(at)
    elif at.parent is not None and at.parent.type == "pair_pattern":
        key = text_of(at.parent.child_by_field_name("key"))  # type: ignore[arg-type]
    declarator: Node | None = at
    while declarator is not None and declarator.type != "variable_declarator":
        if declarator.type in ("array_pattern", "object_assignment_pattern", "rest_pattern", "for_in_statement"):
            return None
        declarator = declarator.parent
    value = None if declarator is None else declarator.child_by_field_name("value")
    strict = False
    while value is not None and value.type == "member_expression":
        name = text_of(value.child_by_field_name("property"))  # type: ignore[arg-type]
        if name == "strict":
            strict = True
        elif not key:
            key = name
        else:
            return None
        value = value.child_by_field_name("object")
    if value is None or called(value) is None or text_of(called(value)) != "require":  # type: ignore[arg-type]
        return None
    arguments = arguments_of(value) or []
    module = plain_text(arguments[0]) if len(arguments) == 1 else None
    return None if module not in _MODULES else _part(key, strict or _MODULES[module])


def _imported(name: Node) -> Library | None:
    at: Node | None = name
    while at is not None and at.type != "import_statement":
        at = at.parent
    source = None if at is None else at.child_by_field_name("source")
    module = None if source is None else plain_text(source)
    if module not in _MODULES:
        return None
    parent = name.parent
    key = ""
    if parent is not None and parent.type == "import_specifier":
        key = text_of(parent.child_by_field_name("name") or parent.children[0])
    return _part("" if key == "default" else key, _MODULES[module])


def _part(key: str, strict: bool) -> Library:
    if key in ("", "strict"):
        return Library(strict or key == "strict")
    return Library(strict, _STRICT.get(key, key) if strict else key)
