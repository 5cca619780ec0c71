"""Git binary patches: base85 lines, a zlib stream of bounded size, and Git's delta code."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib

from repoassay.diffs.cursor import Lines
from repoassay.diffs.model import MAX_FILE_BYTES, Binary, PatchError

__all__ = ["MAX_DELTA_BYTES", "apply_binary", "read_binary"]

MAX_DELTA_BYTES = 16 * 2**20
"""Of all deltas of a patch together. Git writes a delta only where it is smaller than the compressed content."""

_START = re.compile(rb"(literal|delta) (\d{1,10})")
_LINE = re.compile(rb"[A-Za-z](?:[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{5}){1,13}")
_FULL = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\.\.([0-9a-f]{40}|[0-9a-f]{64})")


def read_binary(lines: Lines, path: str, index: bytes) -> Binary:
    """Read what follows `GIT binary patch`: the forward half is kept, the reverse half only passed.

    Args:
        lines: The patch, at that line.
        path: The file, for messages.
        index: What the header's `index` line said, which must give both hashes in full.

    Raises:
        PatchError: When a half is malformed or states too large a size.
    """
    start = lines.number
    lines.take()
    hashes = _FULL.match(index)
    if hashes is None or len(hashes[1]) != len(hashes[2]):
        raise PatchError("a binary patch needs an index line with full hashes (git diff --binary)", path, line=start)
    delta, size, packed = _read_half(lines, path)
    if size > (MAX_DELTA_BYTES if delta else MAX_FILE_BYTES):
        raise PatchError(f"the binary patch states {size:,} bytes, which is too large", path, line=start)
    if _START.fullmatch(lines.text() or b""):
        _read_half(lines, path)
    return Binary(delta, size, packed, hashes[1].decode(), hashes[2].decode())


def _read_half(lines: Lines, path: str) -> tuple[bool, int, bytes]:
    match = _START.fullmatch(lines.text() or b"")
    if match is None:
        raise PatchError("a binary patch must go on with 'literal' or 'delta' and a size", path, line=lines.number)
    lines.take()
    packed: list[bytes] = []
    while text := lines.text():
        packed.append(_decode(text, path, lines.number))
        lines.take()
    lines.take()
    if not packed:
        raise PatchError("a half of the binary patch has no data", path, line=lines.number)
    return match[1] == b"delta", int(match[2]), b"".join(packed)


def _decode(text: bytes, path: str, line: int) -> bytes:
    if _LINE.fullmatch(text):
        # The first letter is the number of bytes: A to Z are 1 to 26, a to z are 27 to 52.
        length = text[0] - 64 if text[0] <= 90 else text[0] - 70
        try:
            data = base64.b85decode(text[1:])
        except ValueError:
            data = b""
        if len(data) - 4 < length <= len(data):
            return data[:length]
    raise PatchError("a line of the binary patch is not well formed", path, line=line)


def apply_binary(base: bytes, binary: Binary) -> bytes:
    """Return the content after the patch; `base` is empty for a created file.

    Raises:
        PatchError: When the base is not the one the patch was made from, or the data does not give what is promised.
    """
    if not _is_blob(base, binary.old_hash):
        raise PatchError("the base file is not the one the binary patch was made from")
    data = _inflate(binary.packed, binary.size)
    result = _apply_delta(base, data) if binary.delta else data
    if not _is_blob(result, binary.new_hash):
        raise PatchError("the binary patch does not give the content that its index line promises")
    return result


def _is_blob(content: bytes, name: str) -> bool:
    if not name.strip("0"):  # the name of an absent file
        return not content
    # Git's names for blobs, not a matter of security: the content is bounded and compared with what the patch says.
    digest = hashlib.sha1(usedforsecurity=False) if len(name) == 40 else hashlib.sha256()
    digest.update(b"blob %d\0" % len(content))
    digest.update(content)
    return digest.hexdigest() == name


def _inflate(packed: bytes, size: int) -> bytes:
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, size + 1)
        if len(data) == size and not stream.eof:
            data += stream.decompress(stream.unconsumed_tail, 1)
    except zlib.error:
        raise PatchError("the data of the binary patch cannot be decompressed") from None
    if len(data) != size or not stream.eof or stream.unused_data:
        raise PatchError("the data of the binary patch does not have the size it states")
    return data


def _apply_delta(base: bytes, delta: bytes) -> bytes:
    try:
        source, at = _varint(delta, 0)
        target, at = _varint(delta, at)
        if source != len(base) or target > MAX_FILE_BYTES:
            raise PatchError("the delta of the binary patch does not fit the base file")
        result = bytearray()
        while at < len(delta):
            piece, at = _piece(base, delta, at)
            result += piece
            if not piece or len(result) > target:
                raise PatchError("the delta of the binary patch is not well formed")
    except IndexError:
        raise PatchError("the delta of the binary patch ends early") from None
    if len(result) != target:
        raise PatchError("the delta of the binary patch does not have the size it states")
    return bytes(result)


def _varint(delta: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while delta[at] & 0x80 and shift < 63:
        value |= (delta[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return value | delta[at] << shift, at + 1


def _piece(base: bytes, delta: bytes, at: int) -> tuple[bytes, int]:
    """Return what one instruction yields, nothing when it is not valid, and the place after it."""
    code, at = delta[at], at + 1
    if not code & 0x80:
        return (delta[at : at + code], at + code) if at + code <= len(delta) else (b"", at)
    fields = []
    for bit in range(7):
        fields.append(delta[at] if code >> bit & 1 else 0)
        at += code >> bit & 1
    offset = int.from_bytes(bytes(fields[:4]), "little")
    length = int.from_bytes(bytes(fields[4:]), "little") or 0x10000
    return (base[offset : offset + length], at) if offset + length <= len(base) else (b"", at)
