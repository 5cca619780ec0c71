"""Paths that leave the tree, reach into .git, or cannot be written; and quoting as Git writes it."""

from __future__ import annotations

import pytest

from repoassay.diffs import PatchError
from repoassay.diffs.names import safe_path, unquote


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "empty"),
        (b"/etc/passwd", "absolute"),
        (b"../x", "'..'"),
        (b"a/../../x", "'..'"),
        (b"a/..", "'..'"),
        (b"a//b", "empty or '.'"),
        (b"a/", "empty or '.'"),
        (b"./a", "empty or '.'"),
        (b"a\\..\\b", "backslash"),
        (b"a\0b", "control"),
        (b"a\nb", "control"),
        (b"a\x1b[2J", "control"),
        (b"a\x7f", "control"),
        ("a\x85b".encode(), "control"),
        (b"caf\xe9", "UTF-8"),
        (b"\xed\xa0\x80", "UTF-8"),
        (b"x" * 256, "255"),
        (b"/".join([b"x" * 200] * 6), "1024"),
        (b"d/" * 64 + b"x", "64 components"),
        (b".git/config", ".git"),
        (b"sub/.git/hooks/pre-commit", ".git"),
        (b".GIT/config", ".git"),
        (b".gIt", ".git"),
        (b".git./config", ".git"),
        (b".git /config", ".git"),
        (b".git . ./config", ".git"),
        (b"git~1/config", ".git"),
        (b"GIT~1/config", ".git"),
        (b".git::$INDEX_ALLOCATION/config", ".git"),
        (".g\u200cit/config".encode(), ".git"),
        (".gi\u200dt/config".encode(), ".git"),
        ("\ufeff.git/config".encode(), ".git"),
        (".\u202egit/x".encode(), ".git"),
        ("．git/x".encode(), ".git"),
    ],
)  # fmt: skip
def test_a_path_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(PatchError) as caught:
        safe_path(raw, 7)
    assert reason in caught.value.reason and caught.value.line == 7
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "path",
    [
        "a", "a b/c", ".gitignore", ".github/workflows/x.yml", ".gitattributes", "git", "a.git/x", "...", "..a",
        "é/日本",         "x" * 255, 'q"q', "a:b", "git~2", "-", "d/" * 63 + "x", "~",
        "dev/null", "\U0001f469\u200d\U0001f4bb.md",
    ],
)  # fmt: skip
def test_a_path_is_taken(path: str) -> None:
    assert safe_path(path.encode(), 1) == path


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        (b'"a/\\303\\251"', "a/é".encode(), b""),
        (b'"a\\tb\\"c\\\\" "x"', b'a\tb"c\\', b' "x"'),
        (b'"\\a\\b\\n\\v\\f\\r\\000"', b"\a\b\n\v\f\r\0", b""),
    ],
)
def test_unquote(text: bytes, name: bytes, rest: bytes) -> None:
    assert unquote(text, 1) == (name, rest)


@pytest.mark.parametrize(
    "text", [b'"', b'"a', b'"a\\"', b'"\\x41"', b'"\\400"', b'"\\12"', b'"\\', b"plain", b'"' + b"\\141" * 9000 + b'"']
)
def test_a_bad_quote_is_refused(text: bytes) -> None:
    with pytest.raises(PatchError, match="quoted"):
        unquote(text, 1)
