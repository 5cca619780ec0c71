"""Hidden text and blind watermarks, read back from pictures that were marked another way than they are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.hidden_text import length_and_text
from repoassay.benchmarks.gittaskbench.metrics.watermarks import block_bits, message
from repoassay.grading.protocol import UnreadableOutput
from repoassay.grading.registry import get


def picture(height: int = 200, width: int = 240) -> Any:
    chance = np.random.default_rng(7)
    grey = chance.integers(60, 180, (height // 20, width // 20, 1))
    small = (grey + chance.integers(0, 12, (height // 20, width // 20, 3))).astype(np.uint8)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)


def save(path: Path, pixels: Any) -> Path:
    Image.fromarray(pixels).save(path)
    return path


def numbers(order: str) -> Iterator[int]:
    number = 0 if order == "all" else 2
    while True:
        if order == "all" or all(number % other for other in range(2, int(number**0.5) + 1)):
            yield number
        number += 1


def hide(pixels: Any, text: str, width: int = 8, order: str = "all") -> Any:
    """Pixel by pixel, as the library's documentation describes it."""
    bits = "".join(format(ord(letter), f"0{width}b") for letter in f"{len(text)}:{text}")
    marked = pixels.copy()
    each = numbers(order)
    for start in range(0, len(bits), 3):
        row, column = divmod(next(each), pixels.shape[1])
        for channel, bit in enumerate(bits[start : start + 3]):
            marked[row, column, channel] = int(marked[row, column, channel]) // 2 * 2 + int(bit)
    return marked


@pytest.mark.parametrize("width", [8, 32])
@pytest.mark.parametrize("order", ["all", "primes"])
def test_text_in_lowest_bits(tmp_path: Path, width: int, order: str) -> None:
    path = save(tmp_path / "o.png", hide(picture(), "hidden_text", width, order))
    measured = get("hidden_text_matches").measure(path, text="hidden_text")
    assert measured.value == 1 and f"{width} a letter" in measured.comment
    for other in ("hidden_tex", "hidden_texts", "Hidden_text"):
        assert get("hidden_text_matches").measure(path, text=other).value == 0


def test_no_text_is_a_readable_picture(tmp_path: Path) -> None:
    for pixels in (picture(), picture() * 0, picture() * 0 + 255, picture()[:1, :1], hide(picture(), "other")):
        assert get("hidden_text_matches").measure(save(tmp_path / "o.png", pixels), text="word").value == 0
    for content in (b"", b"\x89PNG\r\n\x1a\n", b"word"):
        (tmp_path / "o.png").write_bytes(content)
        with pytest.raises(UnreadableOutput):
            get("hidden_text_matches").measure(tmp_path / "o.png", text="word")


@given(st.binary(min_size=1, max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_bits_are_read_without_fail(data: bytes) -> None:
    bits = np.unpackbits(np.frombuffer(data, np.uint8))
    for width in (8, 32):
        found = length_and_text(bits, width)
        assert found is None or f"{len(found)}:" in data.decode("latin-1") or width == 32 or found == ""


def mark(pixels: Any, text: bytes, way: str) -> Any:
    """One block after another, with the step of 36, as the library's description has it."""
    yuv = cv2.cvtColor(pixels, cv2.COLOR_RGB2YUV)
    plane = yuv[..., 1].astype(float)
    bits = np.unpackbits(np.frombuffer(text, np.uint8))
    low = cv2.resize(plane, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) * 2
    for number in range(low.shape[0] // 4 * (low.shape[1] // 4)):
        row, column = (4 * place for place in divmod(number, low.shape[1] // 4))
        block = low[row : row + 4, column : column + 4].copy()
        bit = bits[number % len(bits)]
        if way == "dwtDct":
            place = np.unravel_index(np.abs(block.reshape(-1)[1:]).argmax() + 1, (4, 4))
            block[place] = (block[place] // 36 + 0.25 + 0.5 * bit) * 36
        else:
            left, values, right = np.linalg.svd(cv2.dct(block))
            values[0] = (values[0] // 36 + 0.25 + 0.5 * bit) * 36
            block = cv2.idct(left @ np.diag(values) @ right)
        change = (block - low[row : row + 4, column : column + 4]) / 2
        plane[2 * row : 2 * row + 8, 2 * column : 2 * column + 8] += np.kron(change, np.ones((2, 2)))
    yuv[..., 1] = np.clip(plane, 0, 255)
    return cv2.cvtColor(yuv, cv2.COLOR_YUV2RGB)


@pytest.mark.parametrize("way", ["dwtDct", "dwtDctSvd"])
@pytest.mark.parametrize("text", [b"mark", b"mark".ljust(8, b"\0"), b"mark mark"])
def test_blind_watermarks(tmp_path: Path, way: str, text: bytes) -> None:
    marked = mark(picture(), text, way)
    assert message(block_bits(marked, way), 8 * len(text)) == text
    path = save(tmp_path / "o.png", marked)
    assert get("blind_watermark_matches").measure(path, text="mark").value == 1
    assert get("blind_watermark_matches").measure(path, text="kram").value == 0


def test_pictures_without_a_watermark(tmp_path: Path) -> None:
    for pixels in (picture(), picture() * 0, picture()[:1, :1], picture()[:16, :16], picture()[:7]):
        assert get("blind_watermark_matches").measure(save(tmp_path / "o.png", pixels), text="mark").value == 0
