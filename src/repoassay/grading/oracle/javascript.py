"""Hidden JavaScript tests without their oracle: assertions send values, and what these should be leaves the file."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from repoassay.grading.hidden_tests.javascript_tokens import LARGEST
from repoassay.grading.oracle.javascript_assertions import Assertion, Library, find_assertions
from repoassay.grading.oracle.javascript_closed import ClosedBindings, is_compound
from repoassay.grading.oracle.javascript_forms import NAME, AssertionForm, Forms
from repoassay.grading.oracle.javascript_places import JavaScriptPlace, place_of
from repoassay.grading.oracle.javascript_scopes import JavaScriptBinding, JavaScriptScopes
from repoassay.grading.oracle.javascript_tables import find_columns
from repoassay.grading.oracle.javascript_tree import parse_javascript, text_of, walk
from repoassay.grading.oracle.sites import AssertionSite, Rewritten, SiteMode

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["rewrite"]


def rewrite(source: str, left: Collection[int] = (), *, script: bool = False) -> Rewritten:
    """A test file as the sandbox gets it, and its assertions as the judge does.

    Args:
        source: The file.
        left: Numbers of sites to be left as they are.
        script: Whether the file is one test, `__script__`, that has to run to its end.

    What is no JavaScript comes back as it is, without sites.
    """
    return _rewrite(source, frozenset(left), script)


@lru_cache(maxsize=64)
def _rewrite(source: str, left: frozenset[int], script: bool) -> Rewritten:
    if len(source) > LARGEST:
        return Rewritten(source, ())
    try:
        raw = source.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return Rewritten(source, ())
    root = parse_javascript(raw)
    if root.has_error:
        return Rewritten(source, ())
    found = _File(raw, root, left, script)
    changed = found.text()
    if parse_javascript(changed).has_error:  # rather no site than a test that cannot run
        return Rewritten(
            source, tuple(AssertionSite(each.number, each.test, each.line, SiteMode.LEFT) for each in found.sites())
        )
    return Rewritten(changed.decode(), found.sites(), found.definitions())


@dataclass(frozen=True, slots=True)
class _Change:
    """Bytes from `start` to `end` give way to a text; their lines stay."""

    start: int
    end: int
    text: str


class _File:
    """One file and what becomes of its assertions."""

    def __init__(self, raw: bytes, root: Node, left: frozenset[int], script: bool) -> None:
        self._raw, self._root = raw, root
        self._scopes = JavaScriptScopes(root)
        self._assertions, self._library = find_assertions(root, self._scopes)
        calls = frozenset(each.call.id for each in self._assertions)
        self._places = [place_of(each.call, calls, script) for each in self._assertions]
        self._constants = {
            binding: value
            for binding in self._scopes.bindings()
            if binding.kind == "const" and (value := _value(binding)) is not None
        }
        self._columns = find_columns(root, self._scopes)
        self._forms: list[AssertionForm] = []
        self._gone = _Spans([])
        self._settle(left)

    def _settle(self, left: frozenset[int]) -> None:
        """Find all forms; a name that is also used otherwise than as what is expected is no closed one then."""
        while True:
            closed = ClosedBindings(self._scopes, self._constants, self._columns, self._library)
            self._constants = {name: value for name, value in self._constants.items()
                               if closed.text(value, []) is not None}  # fmt: skip
            closed = ClosedBindings(self._scopes, self._constants, self._columns, self._library)
            forms = Forms(self._scopes, closed)
            self._forms = [
                forms.of(each)
                if (place.usable or each.method == "fail") and number not in left
                else AssertionForm(SiteMode.LEFT)
                for number, (each, place) in enumerate(zip(self._assertions, self._places, strict=True))
            ]
            gone = [gap for each, form in zip(self._assertions, self._forms, strict=True)
                    for gap in _gaps(each, form) if form.mode is SiteMode.WITHHELD]  # fmt: skip
            self._gone = _Spans(gone)
            gone += [_span(cell) for name in self._leaving(self._columns) for cell in self._columns[name]]
            gone += [_span(self._constants[name]) for name in self._leaving(self._constants)]
            self._gone = _Spans(gone)
            stays = [name for name in self._columns if not self._leaves(name)]
            stays += [name for name, value in self._constants.items() if is_compound(value) and not self._leaves(name)]
            for name in stays:
                self._columns.pop(name, None)
                self._constants.pop(name, None)
            if not stays:
                return

    def _leaves(self, name: JavaScriptBinding) -> bool:
        """Whether whatever uses a name has left the file."""
        return bool(name.uses) and all(self._gone.hold(use.start_byte) for use in name.uses)

    def _leaving(self, names: Collection[JavaScriptBinding]) -> list[JavaScriptBinding]:
        return [name for name in names if self._leaves(name)]

    def sites(self) -> tuple[AssertionSite, ...]:
        """Every assertion, in order, save those that left the file within what another expects."""
        found = enumerate(zip(self._assertions, self._places, self._forms, strict=True))
        return tuple(
            _site(number, each, place, form)
            for number, (each, place, form) in found
            if not self._gone.hold(each.call.start_byte, inside=True)
        )

    def definitions(self) -> str:
        """The assertion library under the names it has in the file."""
        names: dict[str, Library] = {text_of(binding.name): found for binding, found in self._library.items()}
        return "".join(f"const {name} = {found.source};\n" for name, found in names.items())

    def text(self) -> bytes:
        """The file as the sandbox gets it."""
        changes = [change for number, (each, form) in enumerate(zip(self._assertions, self._forms, strict=True))
                   for change in _changes(number, each, form)]  # fmt: skip
        changes += [_Change(*_span(self._constants[name]), "undefined") for name in self._leaving(self._constants)]
        for name in self._leaving(self._columns):
            changes += [_Change(*_span(cell), str(row)) for row, cell in enumerate(self._columns[name])]
        spans = _Spans([(change.start, change.end) for change in changes])
        for node in walk(self._root):
            if node.type == "comment" and not spans.hold(node.start_byte):
                changes.append(_Change(*_span(node), " "))
        found, at = b"", 0
        for change in sorted(changes, key=lambda each: (each.start, each.end)):
            if change.start < at:
                continue  # within what has left already
            lines = self._raw[change.start : change.end].count(b"\n")
            found += self._raw[at : change.start] + change.text.encode() + b"\n" * lines
            at = change.end
        return found + self._raw[at:]


def _value(binding: JavaScriptBinding) -> Node | None:
    declarator = binding.name.parent
    if declarator is None or declarator.type != "variable_declarator" or binding.name.type != "identifier":
        return None
    return declarator.child_by_field_name("value")


def _span(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


class _Spans:
    """Stretches of a text, any of which may lie in another."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._ends = list(accumulate((end for _, end in ordered), max))

    def hold(self, place: int, *, inside: bool = False) -> bool:
        """Whether a place lies in any of them; with `inside`, not at a beginning."""
        before = (bisect_left if inside else bisect_right)(self._starts, place)
        return before > 0 and self._ends[before - 1] > place


def _gaps(found: Assertion, form: AssertionForm) -> list[tuple[int, int]]:
    """What of an assertion is not an operand."""
    edges = [found.call.start_byte, *(edge for each in form.operands for edge in _span(each)), found.call.end_byte]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _changes(number: int, found: Assertion, form: AssertionForm) -> list[_Change]:
    if form.mode is SiteMode.LEFT:
        return []
    name, _, rest = form.start.partition("(")
    begin = f"{NAME}.{name}({number}" + (f", {' '.join(rest.split())}" if rest else "")
    rows = "".join(f", {text_of(row.name)}" for row in form.rows)
    gaps = _gaps(found, form)
    if not form.operands:
        return [_Change(*_span(found.call), f"{begin}{rows})")]
    texts = [begin + ("" if form.after else rows) + ", ", *[", "] * (len(gaps) - 2), (rows if form.after else "") + ")"]
    return [_Change(start, end, text) for (start, end), text in zip(gaps, texts, strict=True)]


def _site(number: int, found: Assertion, place: JavaScriptPlace, form: AssertionForm) -> AssertionSite:
    return AssertionSite(
        number,
        place.test,
        found.call.start_point[0] + 1,
        form.mode,
        form.check if form.mode is SiteMode.WITHHELD else "",
        tuple(range(len(form.rows))) if form.mode is SiteMode.WITHHELD else (),
        place.always and form.mode is not SiteMode.LEFT,
    )
