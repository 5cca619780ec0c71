"""The same counts found another way: by Python's tokenize and by a node visitor."""

from __future__ import annotations

import ast
import io
import sysconfig
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from repoassay.sandbox.cache import Cache
from repoassay.survey import survey_repository
from repoassay.survey.source import code_lines, count_tokens, read_source
from repoassay.tasks.suite import find_suite
from repoassay.workspace.sources import fetch_sdist, unpack

pytestmark = pytest.mark.exhaustive

_NOT_COUNTED = {
    tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


def cut(text: str) -> Iterator[tokenize.TokenInfo]:
    """Tokens as Python 3.11 cuts them: where an f-string comes in parts, only its first part is kept."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        if name in {"FSTRING_END", "TSTRING_END"}:
            depth -= 1
        elif name in {"FSTRING_START", "TSTRING_START"}:
            depth += 1
            if depth == 1:
                yield token
        elif depth == 0:
            yield token


def tokens_by_tokenize(text: str) -> int:
    return sum(token.type not in _NOT_COUNTED for token in cut(text))


def words_by_tokenize(text: str) -> Counter[str]:
    """How often each name or keyword occurs; `def` and `class` can be nothing but definitions."""
    return Counter(token.string for token in cut(text) if token.type == tokenize.NAME)


def code_lines_by_tokenize(text: str) -> int:
    comments = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
    }
    return sum(line.strip() != "" and number not in comments for number, line in enumerate(text.split("\n"), start=1))


class Visitor(ast.NodeVisitor):
    """Counts calls and imported names; recurses, as visitors do."""

    def __init__(self) -> None:
        self.calls = self.imports = 0

    def visit_Call(self, node: ast.Call) -> None:
        self.calls += 1
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.imports += len(node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.imports += len(node.names)


PIECES = [
    *("a", "_b1", "é", "名", "if", "not", "return", "lambda", "0", "1_000", "0xFF", "0o17", "0b_1", "1.5", ".5", "1."),
    *("1e-5", "2.e3", "3j", "1.5E+3J", "'s'", '"d"', "r'\\d'", "b'x'", "Rb'\\''", "f'{a}'", "u''", "''", '""', "'\\''"),
    *("'a\\\nb'", "'''x'''", "'''\n# no comment\n\n'y' \"\"\" '''", '"""\n  #\n\\"""x"""', "rb'''\\'''x'''"),
    *('#c \'not """ a string', "# d\n", "\n", "\\\n", " ", "  ", "\t", "\f", "\n\n", "\n#\n", "\n  # e\n"),
    *("+", "-", "->", "**", "**=", "//", "//=", ">>=", "<<", "...", "..", ".", ":=", ":", "!=", "==", "=", "@", "@="),
    *("~", "|=", "^", "&", "%", ",", ";", "(", ")", "[", "]", "{", "}", "<=", ">"),
]


def parses(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return False
    return True


def tokenizes(text: str) -> bool:
    """Lexically sound: what tokenize can cut to its end, whether or not it is a program."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return False
    return not any(token.type == tokenize.ERRORTOKEN for token in tokens)


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_on_any_sound_text_tokens_and_lines_are_those_of_tokenize(text: str) -> None:
    if not tokenizes(text):
        return
    assert count_tokens(text) == tokens_by_tokenize(text)
    assert code_lines(text) == code_lines_by_tokenize(text)


def test_the_standard_library_has_the_tokens_and_lines_tokenize_finds() -> None:
    # Some hundred files of many styles; measurements/survey.py compares a whole tree.
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("[a-o]*.py"))
    assert len(files) > 50
    for file in files:
        text = read_source(file)
        if parses(text):
            assert count_tokens(text) == tokens_by_tokenize(text), file
            assert code_lines(text) == code_lines_by_tokenize(text), file


@pytest.mark.parametrize(
    "task", ["edit-boltons-negative-ranges", "edit-sqlparse-mask-literals", "edit-toolz-dissoc-in", "pdf-text-report"]
)
def test_source_distributions_have_the_counts_found_another_way(task: str, tmp_path: Path) -> None:
    repository = find_suite("starter", only=[task]).tasks[0].task.repository
    name, _, version = repository.source.removeprefix("pypi:").partition("==")
    assert repository.sha256 is not None
    unpack(fetch_sdist(name, version, repository.sha256, Cache()), tmp_path)
    found = survey_repository(tmp_path)
    assert found.problems == ()

    texts = {path: path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n") for path in tmp_path.rglob("*.py")}
    words: Counter[str] = Counter()
    visitor = Visitor()
    for text in texts.values():
        words += words_by_tokenize(text)
        visitor.visit(ast.parse(text))
    measures = found.measures
    assert measures.files == len(texts) > 10
    assert measures.lines == sum(len(text.split("\n")) - text.endswith("\n") for text in texts.values() if text)
    assert measures.code_lines == sum(map(code_lines_by_tokenize, texts.values()))
    assert measures.tokens == sum(map(tokens_by_tokenize, texts.values()))
    assert measures.classes == words["class"]
    assert measures.functions == words["def"]
    assert measures.calls == visitor.calls
    assert measures.imports == visitor.imports
    assert measures.python_bytes == sum(path.stat().st_size for path in texts)
    assert measures.bytes == sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert 0 < measures.internal_imports < measures.imports
