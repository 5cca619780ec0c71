"""Which tests a script for node holds, and what it is called, read off its tokens; nothing of it is run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from repoassay.benchmarks.resq.parametrized_tests import Unlisted
from repoassay.grading import LARGEST, SCRIPT, Token, argument_ends, pairs_of, tokens_of

__all__ = ["javascript_tests", "script_name"]

_TESTS, _SUITES = frozenset({"test", "it"}), frozenset({"describe", "suite"})
_HOOKS = frozenset({"before", "after", "beforeEach", "afterEach"})
_OTHERS = frozenset({"jest", "@jest/globals", "mocha", "vitest", "jasmine", "ava", "tap", "tape", "uvu", "qunit"})
_GOES_ON = frozenset({"else", "do", "return", "new", "typeof", "delete", "throw", "yield", "in", "of", "case"})
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)


def script_name(source: str) -> str:
    """What a script is called so that node reads it as what it is: `.mjs` a module, `.cjs` CommonJS, else `.js`."""
    tokens = tokens_of(source) if len(source) <= LARGEST else []
    depth = 0
    common = False
    for at, token in enumerate(tokens):
        after = tokens[at + 1].text if at + 1 < len(tokens) else ""
        before = tokens[at - 1].text if at else ""
        if token.kind == "punct":
            depth += token.text in ("{", "(", "[")
            depth -= token.text in ("}", ")", "]")
        elif token.kind == "name" and before != ".":
            if depth == 0 and ((token.text == "import" and after not in ("(", ".")) or token.text == "export"):
                return "test_script.mjs"
            if (token.text == "import" and after == ".") or (depth == 0 and token.text == "await"):
                return "test_script.mjs"  # import.meta, and waiting at the top level, which only modules can
            common |= token.text in ("require", "__dirname", "__filename") or (token.text in ("module", "exports")
                and after == ".")  # fmt: skip
    return "test_script.cjs" if common else "test_script.js"


def javascript_tests(source: str) -> tuple[str, ...]:
    """List the tests of a script as `NAME` and `SUITE::NAME`, in its order, as the runner names them.

    Tests are calls of `test` and `it` at the top level and in the bodies of `describe` and `suite`; what is marked to
    be skipped or still to do is left out. A script without any has the one test `SCRIPT`.

    Raises:
        Unlisted: When brackets do not match, tests are another runner's, or their names are known only by running it.
    """
    if len(source) > LARGEST:
        raise Unlisted(f"is longer than {LARGEST:,} characters; shorten it")
    if re.search(r"[\ud800-\udfff]", source):
        raise Unlisted("holds half of a surrogate pair; replace it")
    tokens = tokens_of(source)
    closing = pairs_of(tokens)
    if not closing and any(token.kind == "punct" and token.text in "([{}])" for token in tokens):
        raise Unlisted("is not JavaScript that can be read: its brackets do not match, or nest too deeply; correct it")
    if not tokens:
        raise Unlisted("is empty; write a test")
    _check_imports(tokens)
    reader = _Reader(tokens, closing)
    found = list(reader.tests(0, len(tokens), (), skipped=False))
    if len(reader.seen) != reader.calls():
        raise Unlisted("declares tests inside of loops or functions; write them out at the top level or in a describe")
    twice = [name for name, count in Counter(found).items() if count > 1]
    if twice:
        raise Unlisted(f"has two tests named {twice[0]}; give one another name")
    if not found:
        _check_end(tokens)
    return tuple(found) or (SCRIPT,)


class _Reader:
    """Walks calls of the runner's functions; `seen` are those in whose place they are certain to be made once."""

    def __init__(self, tokens: list[Token], closing: dict[int, int]) -> None:
        self.tokens, self.closing = tokens, closing
        self.opening = {end: start for start, end in closing.items()}
        self.seen: set[int] = set()

    def calls(self) -> int:
        """How many calls there are that declare a test or a suite, wherever they stand."""
        return sum(self._call(at) is not None for at in range(len(self.tokens)))

    def tests(self, start: int, end: int, path: tuple[str, ...], *, skipped: bool) -> Iterator[str]:
        at = start
        while at < end:
            call = self._call(at)
            if call is None or not self._statement(at):
                at = self.closing.get(at, at) + 1
                continue
            name, opening = call
            self.seen.add(at)
            inner, left_out, body = self._given(opening)
            last = self.tokens[opening - 1].text
            left_out |= skipped or last in ("skip", "todo")
            if name in _SUITES:
                if body is not None and body not in self.closing:
                    raise Unlisted(
                        f"has a suite on line {self.tokens[at].line} that is a function's name; write it out"
                    )
                if body is not None:
                    yield from self.tests(body + 1, self.closing[body], (*path, inner), skipped=left_out)
            elif not left_out and body is not None:
                yield "::".join((*path, inner))
            at = self.closing[opening] + 1

    def _statement(self, at: int) -> bool:
        """Whether what stands here is a statement of its own: no arrow's value, no argument, nothing conditional."""
        if at == 0:
            return True
        before = self.tokens[at - 1]
        if before.text == ")":
            opening = self.opening[at - 1]
            return opening == 0 or self.tokens[opening - 1].text not in ("if", "for", "while", "with", "await")
        if before.kind == "punct" and before.text != "]":
            return before.text in (";", "{", "}")
        if before.text in ("await", "void"):
            return True
        return before.line < self.tokens[at].line and before.text not in _GOES_ON  # no semicolon, as some write

    def _call(self, at: int) -> tuple[str, int] | None:
        """Name and bracket of a call of the runner's: `test(`, `describe.skip(`, `test.describe(`; else None."""
        tokens = self.tokens
        if tokens[at].kind != "name" or tokens[at].text not in _TESTS | _SUITES:
            return None
        if at and tokens[at - 1].text in (".", "function", "const", "let", "class"):
            return None
        name, place = tokens[at].text, at + 1
        while place + 1 < len(tokens) and tokens[place].text == ".":
            member = tokens[place + 1].text
            if member in _HOOKS or member == "mock":
                return None
            if member in _TESTS | _SUITES:
                name = member
            elif member not in ("skip", "todo", "only"):
                raise Unlisted(f"calls {name}.{member}, which the runner does not have; write its tests out")
            place += 2
        if place >= len(tokens) or tokens[place].text != "(" or place not in self.closing:
            return None
        after = self.closing[place] + 1
        if after < len(tokens) and tokens[after].text == "{" and tokens[after].line == tokens[after - 1].line:
            return None  # a method of that name
        return name, place

    def _given(self, opening: int) -> tuple[str, bool, int | None]:
        """Name, whether it is left out, and the brace or value that is the body; None for a test without one."""
        tokens, ends = self.tokens, argument_ends(self.tokens, opening, self.closing[opening])
        spans = list(zip([opening + 1, *(end + 1 for end in ends)], ends, strict=False))
        if not spans:
            raise Unlisted("declares a test without a name; give it one")
        start, end = spans[0]
        if end - start == 1 and tokens[start].kind in ("string", "template"):
            name = _text(tokens[start].text)
            spans = spans[1:]
        elif tokens[start].text == "function" and tokens[start + 1].kind == "name":
            name = tokens[start + 1].text
        else:
            raise Unlisted(f"has a test on line {tokens[start].line} whose name is no plain text; write it out")
        if not name.strip():
            raise Unlisted("has a test with an empty name; give it one")
        left_out = False
        if spans and tokens[spans[0][0]].text == "{":
            left_out = self._left_out(*spans[0])
            spans = spans[1:]
        if not spans:
            return name, left_out, None
        start, end = spans[0]
        if tokens[end - 1].text == "}":
            body = self.opening[end - 1]
            return name, left_out, body if start < body else end - 1
        return name, left_out, end - 1  # a function by its name, or an arrow without braces

    def _left_out(self, start: int, end: int) -> bool:
        """Whether options say that the test is to be skipped or still to do."""
        for at in range(start + 1, end - 2):
            if self.tokens[at].text.strip("'\"") in ("skip", "todo") and self.tokens[at + 1].text == ":":
                value = self.tokens[at + 2]
                if value.text not in ("true", "false") and value.kind != "string":
                    raise Unlisted("skips a test on a condition; decide it")
                return value.text not in ("false", "''", '""')
        return False


def _text(literal: str) -> str:
    """The text that a string or a template without substitutions stands for."""
    if literal[0] == "`" and "${" in literal:
        raise Unlisted(f"has a test named {literal[:60]}, which is known only by running it; write it out")

    def plain(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        if code:
            return chr(min(int(code, 16), 0x10FFFF))
        return "" if found[4] == "\n" else _ESCAPES.get(found[4], found[4])

    text = _ESCAPE.sub(plain, literal[1:-1]).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if "�" in text:
        raise Unlisted("holds half of a surrogate pair; replace it")
    return text


def _check_imports(tokens: list[Token]) -> None:
    """Refuse other runners, and names for node's own that its tests could not be told by."""
    imported = {at: tokens[at].text[1:-1] for at in range(1, len(tokens)) if _imported(tokens, at)}
    other = sorted(_OTHERS.intersection(imported.values()))
    if other:
        raise Unlisted(f"is written for {other[0]}; write its tests for node:test, which alone is there")
    if "node:test" in imported.values():
        for at, name in imported.items():
            if name == "node:test":
                _check_names(tokens, at)
        return
    for at, token in enumerate(tokens[:-2]):
        called = token.text in _TESTS | _SUITES and tokens[at + 1].text == "(" and tokens[at + 2].kind == "string"
        if called and (not at or tokens[at - 1].text not in (".", "function")):
            raise Unlisted(f"calls {token.text} without importing it from node:test; import it")


def _imported(tokens: list[Token], at: int) -> bool:
    """Whether a string names what is imported."""
    if tokens[at].kind != "string":
        return False
    if tokens[at - 1].text == "(":
        return at > 1 and tokens[at - 2].text in ("require", "import")
    return tokens[at - 1].kind == "name" and tokens[at - 1].text in ("from", "import")


def _check_names(tokens: list[Token], at: int) -> None:
    """Refuse `import { test as check }`, `{ test: check }` and `import runner` of what is imported at `at`."""
    start = at
    while start and tokens[start].text not in (";", "import", "const", "let", "var"):
        start -= 1
    words = [token.text for token in tokens[start + 1 : at]]
    while words and words[-1] in ("from", "(", "require", "="):
        words.pop()
    if "as" in words or ":" in words:
        raise Unlisted("gives what it imports from node:test other names; leave them as they are")
    for word in words:
        if re.fullmatch(r"[A-Za-z_$][\w$]*", word) and word not in _TESTS | _SUITES | _HOOKS | {"mock", "default"}:
            raise Unlisted(f"imports {word} from node:test, by which its tests cannot be told; import test")


def _check_end(tokens: list[Token]) -> None:
    """Refuse a script that ends itself as if all were well, which code under test could do as well."""
    for at in range(len(tokens) - 4):
        words = [token.text for token in tokens[at : at + 6]]
        if words[:4] == ["process", ".", "exit", "("] and (words[4] == ")" or words[4:6] == ["0", ")"]):
            raise Unlisted("ends itself with process.exit, as code under test could; let it run to its end")
