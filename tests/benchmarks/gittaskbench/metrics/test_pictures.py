"""Reading pictures at a small size, against averages by hand."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.pictures import aspect_slip, fit, grey, lightness, read_small
from repoassay.grading.protocol import UnreadableOutput


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


def save(path: Path, pixels: np.ndarray, **options: int) -> Path:
    Image.fromarray(pixels).save(path, **options)  # type: ignore[arg-type]  # the stubs know no options
    return path


def test_blocks_are_averaged(tmp_path: Path) -> None:
    pixels = noise(60, 90)
    found, size = read_small(save(tmp_path / "a.png", pixels), 30)
    assert size == (90, 60)
    wanted = pixels.reshape(20, 3, 30, 3, 3).mean(axis=(1, 3))
    assert abs(found - wanted).max() <= 0.51


def test_a_small_picture_stays_and_cannot_be_changed(tmp_path: Path) -> None:
    pixels = noise(20, 30)
    found, _ = read_small(save(tmp_path / "a.png", pixels), 30)
    assert found.dtype == np.float32
    assert (found == pixels).all()
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 0


def test_a_jpeg_keeps_its_own_size_whatever_the_decoder_halves(tmp_path: Path) -> None:
    ramp = np.tile(np.linspace(0, 255, 1600).astype(np.uint8)[None, :, None], (800, 1, 3))
    found, size = read_small(save(tmp_path / "a.jpg", ramp, quality=95), 100)
    assert size == (1600, 800)
    assert found.shape == (50, 100, 3)
    assert abs(found[25, :, 0] - ramp[0, 8::16, 0]).max() < 3


def test_a_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", np.zeros((4, 4, 3), np.uint8))
    assert read_small(path, 4)[0].max() == 0
    save(path, np.full((4, 4, 3), 9, np.uint8))
    os.utime(path, ns=(1, 1))
    assert read_small(path, 4)[0].min() == 9


@pytest.mark.parametrize(("size", "wanted"), [((1, 4000), (1, 100)), ((4000, 1), (100, 1)), ((1, 1), (1, 1))])
def test_no_side_vanishes(tmp_path: Path, size: tuple[int, int], wanted: tuple[int, int]) -> None:
    found, _ = read_small(save(tmp_path / "a.png", noise(*size)), 100)
    assert found.shape == (*wanted, 3)


def bomb() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(999))) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("content", [b"", b"words", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0" + b"\1" * 99, bomb()])
def test_hostile_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    with pytest.raises(UnreadableOutput):
        read_small(path, 64)


def test_no_regular_file(tmp_path: Path) -> None:
    link = tmp_path / "link.png"
    link.symlink_to(save(tmp_path / "a.png", noise(4, 4)))
    dangling = tmp_path / "dangling.png"
    dangling.symlink_to(tmp_path / "nowhere")
    for path in (link, dangling, tmp_path, tmp_path / "absent.png"):
        with pytest.raises(UnreadableOutput):
            read_small(path, 64)


def test_fit_averages_down_and_interpolates_up() -> None:
    pixels = noise(8, 12).astype(np.float32)
    assert fit(pixels, 12, 8) is pixels
    assert fit(pixels, 6, 4) == pytest.approx(pixels.reshape(4, 2, 6, 2, 3).mean(axis=(1, 3)), abs=1e-3)
    line = np.array([[0.0, 100.0]], np.float32)
    assert fit(line, 4, 1)[0] == pytest.approx([0, 25, 75, 100])


def test_grey_is_the_luma_of_bt_601() -> None:
    assert grey(np.eye(3)[None])[0] == pytest.approx([0.299, 0.587, 0.114])


def test_lightness_of_known_colours() -> None:
    found = lightness(np.array([[[255.0, 255, 255], [255, 0, 0], [0, 0, 0], [0, 0, 255]]]))[0]
    # CIE L*a*b* under D65, as colour handbooks have them.
    wanted = [[100, 0, 0], [53.24, 80.09, 67.20], [0, 0, 0], [32.30, 79.19, -107.86]]
    assert found == pytest.approx(np.array(wanted), abs=0.3)


@pytest.mark.parametrize(
    ("ours", "theirs", "slip"),
    [((4, 3), (8, 6), 0), ((2, 1), (1, 1), 1), ((1, 1), (2, 1), 1), ((16, 9), (4, 3), 1 / 3)],
)
def test_aspect(ours: tuple[int, int], theirs: tuple[int, int], slip: float) -> None:
    assert aspect_slip(ours, theirs) == pytest.approx(slip)
