"""Measures of redrawn videos: all of it, at its moments, and more than a filter."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from repoassay.benchmarks.gittaskbench.metrics.animation import (
    video_flatness,
    video_length_match,
    video_redrawn,
    video_structure,
)
from repoassay.errors import InfraFault
from repoassay.grading.protocol import Measurement, UnreadableOutput

COUNT, HEIGHT, WIDTH = 24, 72, 96
Measure = Callable[[Path, Path], Measurement]
EVERY: tuple[Measure, ...] = (video_flatness, video_length_match, video_redrawn, video_structure)


@functools.cache
def scene(number: int) -> Any:
    """One of the film's three scenes at one moment: discs that drift, with a little grain that stays."""
    chance = np.random.default_rng(number * 3 // COUNT)
    picture = np.full((HEIGHT, WIDTH, 3), 110.0, np.float32) + np.float32(chance.normal(0, 3, (HEIGHT, WIDTH, 3)))
    for _ in range(14):
        colour = tuple(float(each) for each in chance.integers(20, 235, 3))
        place = int(chance.integers(WIDTH)) + number // 4, int(chance.integers(HEIGHT))
        cv2.circle(picture, place, int(chance.integers(3, 14)), colour, -1, cv2.LINE_AA)
    return np.clip(picture, 0, 255)


def film(path: Path, frames: Sequence[Any], rate: float = 12) -> Path:
    height, width = frames[0].shape[:2]
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"FFV1"), rate, (width, height))
    for frame in frames:
        writer.write(np.ascontiguousarray(np.clip(np.rint(frame), 0, 255)[..., ::-1], dtype=np.uint8))
    writer.release()
    return path


def frames() -> list[Any]:
    return [scene(number) for number in range(COUNT)]


def drawn(frame: Any) -> Any:
    """A frame in few levels, with dark outlines."""
    flat = np.floor(cv2.bilateralFilter(frame, 7, 60, 7) / 60) * 60 + 30
    edges = cv2.morphologyEx(flat.max(axis=2), cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8))
    return flat * np.where(edges > 20, 0.4, 1.0)[..., None]


@pytest.fixture
def original(tmp_path: Path) -> Path:
    return film(tmp_path / "input.avi", frames())


class TestLength:
    @pytest.mark.parametrize("kept", [24, 23, 12, 7, 1])
    def test_at_the_same_rate_it_is_the_share_of_frames(self, original: Path, tmp_path: Path, kept: int) -> None:
        found = video_length_match(film(tmp_path / "a.avi", frames()[:kept]), original)
        assert found.value == pytest.approx(kept / 24)
        assert found.comment.startswith(f"{kept} frames in ")
        assert video_length_match(original, tmp_path / "a.avi").value == pytest.approx(kept / 24)

    @pytest.mark.parametrize(("step", "value"), [(2, 1.0), (3, 1.0), (4, 0.25), (8, 0.125)])
    def test_fewer_frames_for_as_long_count_down_to_three_tenths(
        self, original: Path, tmp_path: Path, step: int, value: float
    ) -> None:
        found = video_length_match(film(tmp_path / "a.avi", frames()[::step], 12 / step), original)
        assert found.value == pytest.approx(value, abs=0.01)

    @pytest.mark.parametrize("rate", [6, 24])
    def test_the_same_frames_at_another_pace_last_another_time(
        self, original: Path, tmp_path: Path, rate: float
    ) -> None:
        paced = film(tmp_path / "a.avi", frames(), rate)
        assert video_length_match(paced, original).value == pytest.approx(0.5)
        assert video_length_match(paced, original, pace=False).value == 1


class TestScenes:
    def test_the_same_film(self, original: Path) -> None:
        assert video_structure(original, original).value == pytest.approx(1, abs=1e-3)
        assert video_redrawn(original, original).value < 0.02
        assert video_flatness(original, original).value == pytest.approx(1 / 3, abs=0.02)

    def test_a_redrawing(self, original: Path, tmp_path: Path) -> None:
        cartoon = film(tmp_path / "a.avi", [drawn(frame) for frame in frames()])
        assert video_structure(cartoon, original).value > 0.6
        assert video_redrawn(cartoon, original).value > 0.2
        assert video_flatness(cartoon, original).value > 0.3

    def test_a_redrawing_at_half_the_rate_shows_the_same_moments(self, original: Path, tmp_path: Path) -> None:
        halved = film(tmp_path / "a.avi", [drawn(frame) for frame in frames()[::2]], 6)
        assert video_structure(halved, original).value > 0.6

    @pytest.mark.parametrize(
        "change",
        [
            lambda film: film[::-1],
            lambda film: film[:1] * COUNT,
            lambda film: film[:8] * 3,
            lambda film: film[: COUNT // 2] + [film[0] * 0 + 90] * (COUNT // 2),
            lambda film: [np.full_like(frame, 128) for frame in film],
            lambda film: [np.random.default_rng(9).uniform(0, 255, frame.shape) for frame in film],
            lambda film: [frame[:, ::-1] for frame in film],
        ],
        ids=["backwards", "one frame", "its beginning", "half grey", "grey", "noise", "mirrored"],
    )
    def test_other_scenes(self, original: Path, tmp_path: Path, change: Callable[[list[Any]], list[Any]]) -> None:
        assert video_structure(film(tmp_path / "a.avi", change(frames())), original).value < 0.5

    def test_one_bad_moment_of_eight_is_forgiven(self, original: Path, tmp_path: Path) -> None:
        some = frames()
        some[:3] = [frame * 0 for frame in some[:3]]  # the first of eight parts
        assert video_structure(film(tmp_path / "a.avi", some), original).value > 0.95
        some[3:6] = [frame * 0 for frame in some[3:6]]
        assert video_structure(film(tmp_path / "b.avi", some), original).value < 0.5

    @pytest.mark.parametrize(
        "change",
        [
            lambda frame: frame * 0.8 + 40,
            lambda frame: 255 - frame,
            lambda frame: cv2.GaussianBlur(frame, (0, 0), 1.5),
            lambda frame: cv2.resize(frame, (64, 48), interpolation=cv2.INTER_AREA),
            lambda frame: np.repeat(frame.mean(axis=2, keepdims=True), 3, axis=2),
        ],
        ids=["brighter", "inverted", "blurred", "smaller", "greyscale"],
    )
    def test_a_filter_is_no_redrawing(self, original: Path, tmp_path: Path, change: Callable[[Any], Any]) -> None:
        assert video_redrawn(film(tmp_path / "a.avi", [change(frame) for frame in frames()]), original).value < 0.07

    def test_noise_passes_for_a_redrawing_and_is_not_flat(self, original: Path, tmp_path: Path) -> None:
        chance = np.random.default_rng(0)
        noisy = film(tmp_path / "a.avi", [frame + chance.normal(0, 25, frame.shape) for frame in frames()])
        assert video_redrawn(noisy, original).value > 0.2
        assert video_flatness(noisy, original).value < 0.2

    def test_other_proportions(self, original: Path, tmp_path: Path) -> None:
        wide = film(tmp_path / "a.avi", [cv2.resize(frame, (144, 72)) for frame in frames()])
        found = video_structure(wide, original)
        assert found.value == 0
        assert "proportions" in found.comment
        assert video_structure(wide, original, slip=0.6).value > 0.9


class TestHostile:
    @pytest.mark.parametrize("measure", EVERY)
    def test_no_video(self, original: Path, tmp_path: Path, measure: Measure) -> None:
        bad = tmp_path / "bad.mp4"
        for content in (b"", b"words", b"RIFF\0\0\0\0AVI " + b"\xff" * 99, original.read_bytes()[:300]):
            bad.write_bytes(content)
            with pytest.raises(UnreadableOutput):
                measure(bad, original)
            with pytest.raises(InfraFault, match=r"bad\.mp4"):
                measure(original, bad)

    @pytest.mark.parametrize("measure", EVERY)
    @pytest.mark.parametrize("size", [(2, 2), (4, 200), (8, 8)])
    def test_tiny_frames_have_a_value(
        self, original: Path, tmp_path: Path, measure: Measure, size: tuple[int, int]
    ) -> None:
        tiny = film(tmp_path / "a.avi", [np.full((*size, 3), 9.0 * number) for number in range(3)])
        assert np.isfinite(measure(tiny, original).value)
        assert np.isfinite(measure(original, tiny).value)
