"""Pictures opened once."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.rasters import raster
from repoassay.grading.protocol import UnreadableOutput


def save(path: Path, level: int, mode: str = "RGB") -> Path:
    Image.fromarray(np.full((4, 6, 3), level, np.uint8)).convert(mode).save(path)
    return path


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1"])
def test_every_kind_becomes_rgb(tmp_path: Path, mode: str) -> None:
    found = raster(save(tmp_path / "a.png", 255, mode))
    assert found.shape == (4, 6, 3)
    assert found.dtype == np.uint8
    assert (found == 255).all()


def test_it_is_shared_and_cannot_be_changed(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", 9)
    found = raster(path)
    assert raster(path) is found
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 0


def test_a_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", 9)
    assert raster(path)[0, 0, 0] == 9
    save(path, 80)
    os.utime(path, ns=(1, 1))
    assert raster(path)[0, 0, 0] == 80


@pytest.mark.parametrize(
    "content", [b"", b"words", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, b"\xff\xd8\xff\xe0" + b"\1" * 90]
)
def test_hostile_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    with pytest.raises(UnreadableOutput):
        raster(path)


def test_no_regular_file(tmp_path: Path) -> None:
    link = tmp_path / "link.png"
    link.symlink_to(save(tmp_path / "a.png", 9))
    for path in (link, tmp_path, tmp_path / "absent.png"):
        with pytest.raises(UnreadableOutput):
            raster(path)
