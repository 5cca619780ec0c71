"""Odd variants of a text file: other encodings and line ends, broken quotes and tags, cut, doubled and shuffled."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

__all__ = ["odd_texts"]


def odd_texts(data: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Names and contents; equal contents come again under several names."""
    yield from _encodings(data)
    yield from _lines(data, chance)
    yield from _marks(data)
    yield from _columns(data)
    for number, every in enumerate((400, 150, 60, 25, 12, 8)):
        yield f"noise{number}", _noise(data, every, chance)
    for number, share in enumerate((0.02, 0.08, 0.2)):
        words = data.decode("utf-8", "replace").split(" ")
        yield f"drop{number}", " ".join(word for word in words if chance.random() > share).encode()


def _encodings(data: bytes) -> Iterator[tuple[str, bytes]]:
    mark, text, half = b"\xef\xbb\xbf", data.decode("utf-8", "replace"), len(data) // 2
    unix = data.replace(b"\r\n", b"\n")
    yield "same", data
    yield "crlf", unix.replace(b"\n", b"\r\n")
    yield "cr", unix.replace(b"\n", b"\r")
    yield "bom", mark + data
    yield "bombom", mark * 2 + data
    yield "bomcrlf", mark + data.replace(b"\n", b"\r\n")
    yield "utf16", text.encode("utf-16")
    yield "utf16le", text.encode("utf-16-le")
    yield "gb", text.encode("gb18030")
    yield "latin", text.encode("latin-1", "replace") + b"\xe9"
    yield "badend", data + b"\xff"
    yield "badstart", b"\xff\xfe" + data
    yield "badmid", data[:half] + b"\x80" + data[half:]
    yield "onlybad", b"\xff\xfe\xfd"
    yield "nul", data[:half] + b"\0" + data[half:]
    yield "nulend", data + b"\0"
    yield "bomonly", mark
    yield "ls", text.replace("\n", "\u2028").encode()
    yield "nel", text.replace("\n", "\x85").encode()
    yield "nbsp", text.replace(" ", "\xa0").encode()


def _lines(data: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    lines = data.split(b"\n")
    yield "space", b" "
    yield "newlines", b"\n\n\r\n\r"
    yield "x", b"x"
    yield "trail", data + b" \n\t\n"
    yield "lead", b"\n \n" + data
    yield "twice", data + b"\n" + data
    yield "half", data[: len(data) // 2]
    yield "most", data[: len(data) * 9 // 10]
    yield "tail", data[len(data) // 10 :]
    yield "rev", b"\n".join(lines[::-1])
    yield "dropfirst", b"\n".join(lines[1:])
    yield "droplast", b"\n".join(lines[:-2])
    yield "blank", b"\n\n".join(lines)
    yield "nonl", data.rstrip(b"\r\n")
    yield "shuffle", b"\n".join(lines[:1] + chance.sample(lines[1:], len(lines) - 1))
    yield "vt", data.replace(b"\n", b"\x0b")
    yield "padcols", b"\n".join(b" " + line + b" " for line in lines)
    yield "noroot", b"\n".join(lines[2:-2])


def _marks(data: bytes) -> Iterator[tuple[str, bytes]]:
    text = data.decode("utf-8", "replace")
    yield "upper", text.upper().encode()
    yield "lower", text.lower().encode()
    yield "dq", data.replace(b"'", b'"')
    yield "sq", data.replace(b'"', b"'")
    yield "noq", data.replace(b'"', b"")
    yield "quoteopen", data + b'"'
    yield "quotestart", b'"' + data
    yield "amp", data.replace(b" ", b" & ", 1)
    yield "ampmany", data.replace(b" ", b" & ")
    yield "lt", data.replace(b" ", b" < ", 1)
    yield "entity", data.replace(b" ", b"&nbsp;", 2)
    yield "gtcut", data.rsplit(b">", 2)[0]
    yield "xdecl2", b'<?xml version="1.0"?>\n' + data
    yield "comment", b"<!-- hello -->" + data + b"<!-- -- -->"
    yield "wrap", b"<root>" + data + b"</root>"
    yield "brackets", b"[" + data + b"]"
    yield "obj", b'{"data": ' + data + b"}"
    yield "jstr", json.dumps(text).encode()
    yield "jl", b"[" + data.strip().replace(b"\n", b",") + b"]"
    yield "html", text.replace("&", "&amp;").replace("<", "&lt;").encode()
    yield "tags", b"\n".join(b"<p>" + line + b"</p>" for line in data.split(b"\n"))


def _columns(data: bytes) -> Iterator[tuple[str, bytes]]:
    lines = data.split(b"\n")
    yield "tab1", data.replace(b" ", b"\t")
    yield "semi", data.replace(b",", b";")
    yield "comma", data + b","
    yield "nan", data.replace(b"1", b"NaN", 3)
    yield "digits", data.replace(b"1", b"2", 3)
    yield "extra", b"\n".join(line + b",extra" for line in lines if line)
    yield "extra1", b"\n".join([lines[0], *(line + b",extra" for line in lines[1:] if line)])
    yield "lesscol", b"\n".join(line.rsplit(b",", 1)[0] for line in lines)
    numbered = [b"%d," % number + line for number, line in enumerate(lines[1:]) if line]
    yield "idx", b"\n".join([b"," + lines[0], *numbered])
    yield "idx0", b"\n".join([lines[0], *numbered])
    yield "spacecols", data.replace(b",", b", ")


def _noise(data: bytes, every: int, chance: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(max(1, len(found) // every)):
        place = chance.randrange(len(found))
        if found[place] < 128 and found[place] != 10:
            found[place] = chance.choice(b"abcXYZ 019,.;:<>\"'{}[]\t")
    return bytes(found)
