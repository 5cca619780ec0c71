"""Masks against counts made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.masks import mask_dice, mask_iou, mask_levels, mask_parts
from repoassay.errors import InfraFault
from repoassay.grading.protocol import UnreadableOutput


def _save(path: Path, pixels: Any) -> Path:
    Image.fromarray(np.asarray(pixels, np.uint8)).save(path)
    return path


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """The left half of 40 x 20 marked."""
    pixels = np.zeros((20, 40))
    pixels[:, :20] = 255
    return _save(tmp_path / "left.png", pixels)


def test_overlap(left: Path, tmp_path: Path) -> None:
    pixels = np.zeros((20, 40))
    pixels[:, 10:30] = 255
    middle = _save(tmp_path / "middle.png", pixels)
    assert mask_iou(middle, left).value == pytest.approx(1 / 3)
    assert mask_dice(middle, left).value == pytest.approx(1 / 2)


def test_equal_and_opposite(left: Path, tmp_path: Path) -> None:
    inverted = _save(tmp_path / "inverted.png", 255 - np.asarray(Image.open(left)))
    assert (mask_iou(left, left).value, mask_dice(left, left).value) == (1, 1)
    assert (mask_iou(inverted, left).value, mask_dice(inverted, left).value) == (0, 0)


def test_empty_masks_agree(tmp_path: Path, left: Path) -> None:
    empty = _save(tmp_path / "empty.png", np.zeros((20, 40)))
    assert (mask_iou(empty, empty).value, mask_dice(empty, empty).value) == (1, 1)
    assert (mask_iou(empty, left).value, mask_dice(empty, left).value) == (0, 0)


def test_size_channels_and_softness_do_not_matter(left: Path, tmp_path: Path) -> None:
    pixels = np.asarray(Image.open(left))
    large = _save(tmp_path / "large.png", np.kron(pixels, np.ones((3, 3))))
    colour = _save(tmp_path / "colour.png", np.dstack([pixels] * 3))
    soft = _save(tmp_path / "soft.png", np.where(pixels > 0, 150, 90))
    assert [mask_iou(each, left).value for each in (large, colour, soft)] == [1, 1, 1]


def test_hostile_files(left: Path, tmp_path: Path) -> None:
    junk = tmp_path / "junk.png"
    junk.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(UnreadableOutput):
        mask_iou(junk, left)
    with pytest.raises(InfraFault):
        mask_dice(left, junk)


def test_a_photo_shown_through_is_no_mask(left: Path, tmp_path: Path) -> None:
    shown = np.asarray(Image.open(left)) / 2 + np.linspace(60, 120, 40)[None]
    assert mask_levels(left).value == 1
    assert mask_levels(_save(tmp_path / "shown.png", shown)).value < 0.5


def test_a_side_left_out_shows(tmp_path: Path) -> None:
    marks = np.zeros((30, 30))
    marks[::3, :] = 255
    truth = _save(tmp_path / "truth.png", marks)
    half = marks.copy()
    half[:, 20:] = 0
    assert mask_iou(_save(tmp_path / "half.png", half), truth).value == pytest.approx(2 / 3)
    assert mask_parts(tmp_path / "half.png", truth).value == 0
    thin = marks.copy()
    thin[::6, :] = 0
    assert mask_parts(_save(tmp_path / "thin.png", thin), truth).value >= 0.25
    assert mask_parts(truth, truth).value == 1
    assert mask_parts(truth, _save(tmp_path / "none.png", np.zeros((30, 30)))).value == 1
