"""Metrics of coloured videos, against videos written for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from repoassay.benchmarks.gittaskbench.metrics.colourings import (
    video_chroma_roughness,
    video_colour_by_lightness,
    video_colourfulness,
    video_extent,
    video_hue_variety,
    video_lightness_kept,
)
from repoassay.grading.protocol import UnreadableOutput


def _film(path: Path, frames: Sequence[Any], rate: float = 10) -> Path:
    height, width = frames[0].shape[:2]
    video = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), rate, (width, height))
    for frame in frames:
        video.write(np.ascontiguousarray(np.clip(frame, 0, 255).astype(np.uint8)[..., ::-1]))
    video.release()
    return path


def _scene(count: int = 8) -> list[Any]:
    """Grey frames (96, 128, 3) in which a bright square moves over a ramp."""
    frames = []
    for place in range(count):
        frame = np.dstack([np.tile(np.linspace(20, 160, 128), (96, 1))] * 3)
        frame[30:60, 10 + 10 * place : 40 + 10 * place] = 230
        frames.append(frame)
    return frames


def _coloured(frame: Any) -> Any:
    """Red above, green below."""
    down = np.linspace(60, -60, 96)[:, None, None]
    return frame + down * np.array([1.0, -0.5, -0.2])


@pytest.fixture
def grey(tmp_path: Path) -> Path:
    return _film(tmp_path / "grey.avi", _scene())


def test_extent(grey: Path, tmp_path: Path) -> None:
    scene = _scene()
    assert video_extent(grey, grey).value == 1
    assert video_extent(_film(tmp_path / "a.avi", scene[:2]), grey).value == 0.25
    twice = [frame for frame in scene for _ in range(2)]
    assert video_extent(_film(tmp_path / "b.avi", twice), grey).value == 2
    assert video_extent(_film(tmp_path / "c.avi", twice, 20), grey).value == 1


def test_colours(grey: Path, tmp_path: Path) -> None:
    coloured = _film(tmp_path / "a.avi", [_coloured(frame) for frame in _scene()])
    assert video_colourfulness(grey).value < 2
    assert video_colourfulness(coloured).value > 20
    assert video_hue_variety(grey).value == 0
    assert video_hue_variety(coloured).value > 0.3
    assert video_colour_by_lightness(coloured).value < 0.5
    assert video_chroma_roughness(coloured).value < 0.1
    assert video_lightness_kept(coloured, grey).value > 0.8


def test_lowest_frames_count(tmp_path: Path) -> None:
    scene = _scene()
    half = _film(tmp_path / "a.avi", [_coloured(frame) for frame in scene[:4]] + scene[4:])
    assert video_colourfulness(half).value > 10
    assert video_colourfulness(half, quantile=0.1).value < 2


def test_another_scene(grey: Path, tmp_path: Path) -> None:
    mirrored = _film(tmp_path / "a.avi", [frame[:, ::-1] for frame in _scene()])
    assert video_lightness_kept(mirrored, grey).value < 0.5
    flat = _film(tmp_path / "b.avi", [np.full((32, 32, 3), 99)])
    assert video_lightness_kept(flat, grey).value == 0


def test_noise_is_rough(tmp_path: Path) -> None:
    chance = np.random.default_rng(2)
    noisy = _film(tmp_path / "a.avi", [chance.integers(0, 256, (96, 128, 3)) for _ in range(3)])
    assert video_chroma_roughness(noisy).value > 0.2  # the codec smooths chroma


@pytest.mark.parametrize("content", [b"", b"junk" * 400, b"RIFF\x10\0\0\0AVI LIST"])
def test_hostile_files(grey: Path, tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "hostile.avi"
    place.write_bytes(content)
    with pytest.raises(UnreadableOutput):
        video_extent(place, grey)
    with pytest.raises(UnreadableOutput):
        video_colourfulness(place)
