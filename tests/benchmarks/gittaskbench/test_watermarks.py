"""Cases of the tasks that hide text in images or read it from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from benchmarks.gittaskbench.casebook import Casebook, Desk
from repoassay.types import Reading
from shared_data import needs_shared

pytestmark = [needs_shared, pytest.mark.exhaustive]
book = Casebook()
case = book.case
WORDS = {"Stegano_01": "stegano", "Stegano_03": "hidden_text"}


def hide(pixels: Any, text: str, width: int = 8) -> Any:
    """The text behind its length, in lowest bits, `width` bits a letter."""
    values = [ord(letter) for letter in f"{len(text)}:{text}"]
    bits = np.array([value >> place & 1 for value in values for place in reversed(range(width))], dtype=np.uint8)
    flat = pixels.copy().reshape(-1)
    flat[: bits.size] = (flat[: bits.size] & 254) | bits
    return flat.reshape(pixels.shape)


def embedding(task: str, word: str) -> None:
    picture = f"{task}_input.png"

    @case(task, "reference", True, True, (True, True))
    def _(c: Desk) -> None:
        c.image("output.png", hide(c.picture(picture), word), compress_level=1)

    @case(task, "four-bytes-a-letter", True, True)
    def _(c: Desk) -> None:
        c.image("output.png", hide(c.picture(picture), word, 32), compress_level=1)

    @case(task, "values-of-red", True, True)
    def _(c: Desk) -> None:
        pixels = c.picture(picture).copy()
        pixels[0, : len(word) + 1, 0] = [len(word), *map(ord, word)]
        c.image("output.png", pixels, compress_level=1)

    @case(task, "bitmap", True, True, (True, True))
    def _(c: Desk) -> None:
        c.image("output.bmp", hide(c.picture(picture), word))

    @case(task, "with-opacity", True, True, (True, True))
    def _(c: Desk) -> None:
        pixels = hide(c.picture(picture), word)
        opaque = np.full((*pixels.shape[:2], 1), 255, np.uint8)
        c.image("output.png", np.concatenate([pixels, opaque], axis=2), compress_level=1)

    @case(task, "copy-input", True, False, (False, False))
    def _(c: Desk) -> None:
        c.copy(c.inputs / picture, "output.png")

    @case(task, "lost-in-jpeg", True, False, (False, False))
    def _(c: Desk) -> None:
        c.image("output.jpg", hide(c.picture(picture), word), quality=95)

    @case(task, "one-letter-more", True, False, (True, False))
    def _(c: Desk) -> None:
        c.image("output.png", hide(c.picture(picture), word + "s"), compress_level=1)

    @case(task, "capitals", True, False, (True, False))
    def _(c: Desk) -> None:
        c.image("output.png", hide(c.picture(picture), word.upper()), compress_level=1)

    @case(task, "no-length", True, False, (False, False))
    def _(c: Desk) -> None:
        bits = np.unpackbits(np.frombuffer(word.encode(), np.uint8))
        pixels = c.picture(picture).copy().reshape(-1)
        pixels[: bits.size] = (pixels[: bits.size] & 254) | bits
        c.image("output.png", pixels.reshape(c.picture(picture).shape), compress_level=1)

    @case(task, "half-the-size", True, False, (False, False))
    def _(c: Desk) -> None:
        c.image("output.png", hide(np.ascontiguousarray(c.picture(picture)[::2, ::2]), word))

    @case(task, "flat-picture", True, False, (True, False))
    def _(c: Desk) -> None:
        c.image("output.png", hide(np.full_like(c.picture(picture), 128), word))

    @case(task, "brighter", True, False, (True, False))
    def _(c: Desk) -> None:
        bright = np.clip(c.picture(picture).astype(int) + 10, 0, 255).astype(np.uint8)
        c.image("output.png", hide(bright, word), compress_level=1)

    @case(task, "garbage", False, False, (False, False))
    def _(c: Desk) -> None:
        c.write("output.png", c.chance.bytes(5000))

    @case(task, "truncated", False, False, (False, False))
    def _(c: Desk) -> None:
        c.write("output.png", (c.inputs / picture).read_bytes()[:20000])

    @case(task, "missing", False, False, (False, False))
    def _(c: Desk) -> None:
        pass


for name, text in WORDS.items():
    embedding(name, text)


def reading(task: str, word: str, unreadable: tuple[bool, bool]) -> None:
    def writes(
        name: str, content: bytes | str, process: bool | None, result: bool | None, published: tuple[bool, bool]
    ) -> None:
        @case(task, name, process, result, published)
        def _(c: Desk) -> None:
            c.write("output.txt", content)

    writes("reference", word, True, True, (True, True))
    writes("with-newlines", f"\n{word}  \n\n", True, True, (True, True))
    writes("byte-order-mark", f"\ufeff{word}\r\n", True, True, (True, False))
    writes("utf-16", word.encode("utf-16"), True, True, unreadable)
    writes("quoted", f'"{word}"\n', True, True, (True, False))
    writes("bytes-literal", f"b'{word}'", True, False, (True, False))
    writes("capitals", word.upper(), True, False, (True, False))
    writes("cut-short", word[:-1], True, False, (True, False))
    writes("twice", f"{word}\n{word}\n", True, False, (True, False))
    writes("guesses", f"hidden\nsecret\n{word}\n", True, False, (True, False))
    writes("in-a-sentence", f"It is {word}, I think", True, False, (True, False))
    writes("spaced-out", " ".join(word), True, False, (True, False))
    writes("white-space", " \n", None, False, (True, False))
    writes("empty", b"", False, False, (False, False))
    writes("garbage", b"\x9d\xff\x00" * 999, False, False, unreadable)


reading("Stegano_02", "stegano", (False, False))
reading("InvisibleWatermark_02", "text", (True, False))
reading("InvisibleWatermark_03", "watermark", (True, False))


def mark(pixels: Any, message: bytes, way: str = "dwtDct", step: float = 36.0) -> Any:
    """Mark a picture as the library does, written for this test with a transform matrix and loops over few blocks."""
    haar = np.array([[1, 1], [1, -1]]) / 2**0.5
    height, width = (size // 4 * 4 for size in pixels.shape[:2])
    yuv = cv2.cvtColor(pixels, cv2.COLOR_RGB2YUV)
    tiles = yuv[:height, :width, 1].astype(float).reshape(height // 2, 2, width // 2, 2).transpose(0, 2, 1, 3)
    waves = haar @ tiles @ haar.T
    low = waves[..., 0, 0]
    rows, columns = low.shape[0] // 4, low.shape[1] // 4
    blocks = low[: rows * 4, : columns * 4].reshape(rows, 4, columns, 4).transpose(0, 2, 1, 3).reshape(-1, 4, 4).copy()
    bits = np.resize(np.unpackbits(np.frombuffer(message, np.uint8)), len(blocks))
    if way == "dwtDct":
        flat = blocks.reshape(len(blocks), 16)
        each, place = np.arange(len(flat)), np.abs(flat[:, 1:]).argmax(1) + 1
        value = flat[each, place]
        flat[each, place] = np.where(value < 0, -1, 1) * (np.abs(value) // step + 0.25 + 0.5 * bits) * step
    else:
        left, values, right = np.linalg.svd(blocks)
        values[:, 0] = (values[:, 0] // step + 0.25 + 0.5 * bits) * step
        blocks = left @ (values[:, :, None] * right)
    low[: rows * 4, : columns * 4] = (
        blocks.reshape(rows, columns, 4, 4).transpose(0, 2, 1, 3).reshape(rows * 4, columns * 4)
    )
    back = (haar.T @ waves @ haar).transpose(0, 2, 1, 3).reshape(height, width)
    yuv[:height, :width, 1] = np.clip(back, 0, 255).astype(np.uint8)
    return cv2.cvtColor(yuv, cv2.COLOR_YUV2RGB)


BLIND = "InvisibleWatermark_01"
PICTURE = f"{BLIND}_input.png"


def marked(name: str, result: bool, message: bytes, way: str = "dwtDct", change: float = 0.0) -> None:
    @case(BLIND, name, True, result)
    def _(c: Desk) -> None:
        c.image("output.png", mark(c.picture(PICTURE), message, way) + change, compress_level=1)


marked("as-documented", True, b"invisible")
marked("as-documented-by-svd", True, b"invisible", "dwtDctSvd")
marked("padded-with-zeros", True, b"invisible".ljust(32, b"\0"))
marked("repeated", True, b"invisible invisible invisible in")
marked("with-a-newline", True, b"invisible\n")
marked("another-word", False, b"watermark")
marked("nearly-the-word", False, b"invisable")
marked("too-dark", False, b"invisible", change=-9.0)


@case(BLIND, "copy-input", True, False)
def _(c: Desk) -> None:
    c.copy(c.inputs / PICTURE, "output.png")


@case(BLIND, "written-on-the-picture", True, False)
def _(c: Desk) -> None:
    pixels = c.picture(PICTURE).copy()
    cv2.putText(pixels, "invisible", (40, 80), cv2.FONT_HERSHEY_SIMPLEX, 2, (255, 255, 255))
    c.image("output.png", pixels, compress_level=1)


@case(BLIND, "lowest-bits", True, False)
def _(c: Desk) -> None:
    c.image("output.png", hide(c.picture(PICTURE), "invisible"), compress_level=1)


@case(BLIND, "marked-flat-picture", True, False)
def _(c: Desk) -> None:
    c.image("output.png", mark(np.full_like(c.picture(PICTURE), 128), b"invisible"))


@case(BLIND, "half-the-size", True, False)
def _(c: Desk) -> None:
    c.image("output.png", mark(np.ascontiguousarray(c.picture(PICTURE)[::2, ::2]), b"invisible"))


@case(BLIND, "one-pixel", True, False)
def _(c: Desk) -> None:
    c.image("output.png", np.zeros((1, 1, 3)))


@case(BLIND, "garbage", False, False)
def _(c: Desk) -> None:
    c.write("output.png", c.chance.bytes(5000))


@pytest.mark.parametrize("task", [task for task in book.tasks if task.startswith("Stegano")])
@pytest.mark.parametrize("reading", list(Reading))
def test_stegano(task: str, reading: Reading, tmp_path: Path) -> None:
    assert not book.complaints(task, tmp_path, reading)


@pytest.mark.parametrize("task", [task for task in book.tasks if task.startswith("Invisible")])
@pytest.mark.parametrize("reading", list(Reading))
def test_invisible_watermark(task: str, reading: Reading, tmp_path: Path) -> None:
    assert not book.complaints(task, tmp_path, reading)
