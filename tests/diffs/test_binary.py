"""Git binary patches: what is decoded, and lies about sizes, hashes and delta code."""

from __future__ import annotations

import base64
import hashlib
import zlib
from pathlib import Path

import pytest

from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.types.files import FileEdit

NONE = b"0" * 40


def name(content: bytes) -> bytes:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest().encode()


def lines(data: bytes) -> bytes:
    pieces = [data[at : at + 52] for at in range(0, len(data), 52)]
    return b"".join(
        bytes([len(piece) + (64 if len(piece) <= 26 else 70)]) + base64.b85encode(piece, pad=True) + b"\n"
        for piece in pieces
    )


def half(word: bytes, data: bytes, size: int | None = None) -> bytes:
    return b"%s %d\n" % (word, len(data) if size is None else size) + lines(zlib.compress(data)) + b"\n"


def binary(old: bytes, new: bytes, body: bytes, extra: bytes = b"") -> bytes:
    return b"diff --git a/x b/x\n%sindex %s..%s\nGIT binary patch\n" % (extra, old, new) + body


def applied(base: Path, data: bytes) -> FileEdit | None:
    return apply_patch(read_patch(data), base).edits["x"]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "x").write_bytes(b"old\0")
    return tmp_path


def test_literal(base: Path) -> None:
    new = bytes(range(256))
    patch = binary(name(b"old\0"), name(new), half(b"literal", new) + half(b"literal", b"ignored"))
    assert applied(base, patch) == FileEdit(new)


def test_delta(base: Path) -> None:
    delta = bytes([4, 8, 0x90, 4, 4]) + b"new\0"
    patch = binary(name(b"old\0"), name(b"old\0new\0"), half(b"delta", delta))
    assert applied(base, patch) == FileEdit(b"old\0new\0")


def test_creation_and_deletion(tmp_path: Path, base: Path) -> None:
    body = half(b"literal", b"")
    assert applied(base, binary(name(b"old\0"), NONE, body, b"deleted file mode 100644\n")) is None
    (base / "x").unlink()
    created = binary(NONE, name(b"\0"), half(b"literal", b"\0"), b"new file mode 100755\n")
    assert applied(base, created) == FileEdit(b"\0", executable=True)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (half(b"literal", b"new", 4), "size it states"),
        (half(b"literal", b"new", 2), "size it states"),
        (half(b"literal", b"new", 65 * 2**20), "too large"),
        (half(b"literal", b"\0" * 2**24, 3), "size it states"),
        (half(b"delta", b"x", 17 * 2**20), "too large"),
        (half(b"literal", b"other"), "index line promises"),
        (b"literal 3\n" + lines(zlib.compress(b"new") + b"more") + b"\n", "size it states"),
        (b"literal 3\n" + lines(zlib.compress(b"new")[:-1]) + b"\n", "size it states"),
        (b"literal 3\n" + lines(b"not zlib") + b"\n", "decompressed"),
        (b"literal 3\n\n", "no data"),
        (b"literal 3\nD~~~~~\n\n", "not well formed"),
        (b"literal 3\nZ00000\n\n", "not well formed"),
        (b"literal 3\nA0000\n\n", "not well formed"),
        (b"literal 3\nA0000\xff\n\n", "not well formed"),
        (b"literal 3\nD00000\n+++ b/x\n", "not well formed"),
        (b"other 3\nD00000\n\n", "'literal' or 'delta'"),
        (b"", "'literal' or 'delta'"),
        (half(b"delta", b""), "ends early"),
        (half(b"delta", bytes([4])), "ends early"),
        (half(b"delta", bytes([4, 3])), "size it states"),
        (half(b"delta", bytes([5, 3, 3]) + b"new"), "does not fit"),
        (half(b"delta", bytes([4, 3, 0])), "not well formed"),
        (half(b"delta", bytes([4, 3, 9]) + b"new"), "not well formed"),
        (half(b"delta", bytes([4, 3, 4]) + b"newx"), "not well formed"),
        (half(b"delta", bytes([4, 3, 0x91, 2, 3])), "not well formed"),
        (half(b"delta", bytes([4, 3, 0x91])), "ends early"),
        (half(b"delta", bytes([4, 3, 0x80])), "not well formed"),
        (half(b"delta", bytes([4]) + b"\xff" * 8 + b"\x7f"), "does not fit"),
        (half(b"delta", b"\xff" * 40), "does not fit"),
    ],
)
def test_refused(base: Path, body: bytes, reason: str) -> None:
    with pytest.raises(PatchError) as caught:
        applied(base, binary(name(b"old\0"), name(b"new"), body))
    assert reason in caught.value.reason
    assert caught.value.path == "x" and caught.value.line


def test_the_base_must_be_the_one_it_was_made_from(base: Path) -> None:
    with pytest.raises(PatchError, match="not the one the binary patch was made from"):
        applied(base, binary(name(b"other"), name(b"new"), half(b"literal", b"new")))


def test_short_hashes_are_refused(base: Path) -> None:
    with pytest.raises(PatchError, match="full hashes"):
        applied(base, binary(b"1234567", b"2345678", half(b"literal", b"new")))


@pytest.mark.long
def test_bombs_are_bounded_together(tmp_path: Path) -> None:
    content = b"\0" * 2**26
    body = half(b"literal", content)
    patch = b"".join(
        b"diff --git a/%d b/%d\nnew file mode 100644\nindex %s..%s\nGIT binary patch\n" % (n, n, NONE, name(content))
        + body
        for n in range(5)
    )
    with pytest.raises(PatchError, match="together"):
        apply_patch(read_patch(patch), tmp_path)
