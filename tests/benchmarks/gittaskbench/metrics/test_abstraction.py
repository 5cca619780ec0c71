"""Measures of redrawn pictures against closed forms, and against what only looks like a redrawing."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.abstraction import (
    flatness,
    image_flatness,
    image_redrawn,
    image_structure,
    likeness,
    redrawn,
    structure,
)
from repoassay.benchmarks.gittaskbench.metrics.places import image_likeness
from repoassay.errors import InfraFault
from repoassay.grading.protocol import Measurement, UnreadableOutput

EVERY: tuple[Callable[[Path, Path], Measurement], ...] = (
    image_flatness, image_likeness, image_redrawn, image_structure,
)  # fmt: skip


@functools.cache
def scene(seed: int = 0, size: tuple[int, int] = (96, 128)) -> Any:
    """Discs and bars of many sizes and colours on a slope, with some grain; float32 of 0 to 255."""
    chance = np.random.default_rng(seed)
    picture = np.linspace(70, 150, size[1])[None, :, None] * np.ones((*size, 3))
    picture = np.ascontiguousarray(picture, dtype=np.float32)
    for _ in range(25):
        colour = tuple(float(each) for each in chance.integers(30, 225, 3))
        place = (int(chance.integers(size[1])), int(chance.integers(size[0])))
        cv2.circle(picture, place, int(chance.integers(3, 17)), colour, -1, cv2.LINE_AA)
    picture = cv2.GaussianBlur(picture, (0, 0), 0.8) + chance.normal(0, 3, picture.shape)
    return np.clip(picture, 0, 255).astype(np.float32)


def noise(seed: int = 9, deviation: float = 60) -> Any:
    return np.clip(np.random.default_rng(seed).normal(128, deviation, (96, 128, 3)), 0, 255).astype(np.float32)


def save(path: Path, pixels: Any, **options: Any) -> Path:
    Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)).save(path, **options)
    return path


RECOLOURED: dict[str, Callable[[Any], Any]] = {
    "copy": lambda a: a,
    "brighter": lambda a: a + 20,
    "less contrast": lambda a: a * 0.6 + 30,
    "gamma": lambda a: 255 * (a / 255) ** 0.7,
    "greyscale": lambda a: np.repeat(a.mean(axis=2, keepdims=True), 3, axis=2),
    "inverted": lambda a: 255 - a,
    "channels interchanged": lambda a: a[..., ::-1],
    "blurred": lambda a: cv2.GaussianBlur(a, (0, 0), 2.0),
    "sharpened": lambda a: a + 0.8 * (a - cv2.GaussianBlur(a, (0, 0), 1.0)),
}


class TestStructure:
    @pytest.mark.parametrize("name", RECOLOURED)
    def test_a_recoloured_scene_is_the_same(self, name: str) -> None:
        assert structure(RECOLOURED[name](scene()).astype(np.float32), scene()) > 0.9

    def test_the_same_is_one(self) -> None:
        assert structure(scene(), scene()) == pytest.approx(1, abs=1e-4)

    @pytest.mark.parametrize("other", [scene(1), noise(), scene()[:, ::-1], scene()[::-1], scene() * 0 + 90])
    def test_another_scene_is_not(self, other: Any) -> None:
        assert structure(np.ascontiguousarray(other), scene()) < 0.3

    def test_a_slow_slope_in_common_is_no_scene(self) -> None:
        slope = np.linspace(0, 80, 96)[:, None, None] * np.ones((1, 128, 3))
        one, other = ((scene(each) * 0.7 + slope).astype(np.float32) for each in (1, 0))
        # Compared plainly they do have the slope in common.
        assert float(np.corrcoef(one.ravel(), other.ravel())[0, 1]) > 0.4
        assert structure(one, other) < 0.3

    def test_it_does_not_depend_on_order_much_and_stays_in_range(self) -> None:
        assert structure(scene(1), scene()) == pytest.approx(structure(scene(), scene(1)), abs=0.05)
        assert -1 <= structure(noise(), scene()) <= 1


class TestRedrawn:
    @pytest.mark.parametrize("name", RECOLOURED)
    def test_a_filter_explains_it(self, name: str) -> None:
        assert redrawn(RECOLOURED[name](scene()).astype(np.float32), scene()) < 0.05

    @pytest.mark.parametrize("deviation", [10, 40])
    def test_noise_on_top_is_the_closed_form(self, deviation: float) -> None:
        # The fit cannot explain what is independent: its share is its deviation over that of the whole.
        added = np.random.default_rng(1).normal(0, deviation, scene().shape)
        ours = (scene() + added).astype(np.float32)
        wanted = deviation / math.sqrt(float(((ours - ours.mean(axis=(0, 1))) ** 2).mean()))
        found = redrawn(ours, scene())
        # The least of two: as they are, and laid upon each other, where interpolation may smooth the noise a little.
        assert 0.8 * wanted < found <= wanted * 1.01

    def test_independent_pictures_are_wholly_unexplained(self) -> None:
        assert redrawn(noise(), scene()) > 0.97

    def test_it_agrees_with_another_solver_of_least_squares(self) -> None:
        theirs, ours = scene(size=(40, 48)), cv2.bilateralFilter(scene(size=(40, 48)), 9, 60, 9)
        blurs = [cv2.GaussianBlur(theirs, (0, 0), each) for each in (1.0, 2.0, 4.0)]
        columns = [theirs, theirs**2, np.sqrt(theirs), *blurs, np.ones((40, 48, 1))]
        inputs = np.concatenate([each.reshape(40 * 48, -1) for each in columns], axis=1).astype(float)
        wanted = ours.reshape(-1, 3).astype(float)
        solved = np.linalg.lstsq(inputs / abs(inputs).max(axis=0), wanted, rcond=None)[0]
        rest = wanted - inputs / abs(inputs).max(axis=0) @ solved
        share = math.sqrt(float((rest**2).mean() / ((wanted - wanted.mean(axis=0)) ** 2).mean()))
        assert redrawn(ours, theirs) <= share + 1e-3

    @pytest.mark.parametrize("margin", [1, 2, 4])
    def test_a_margin_cut_off_is_no_redrawing(self, margin: int) -> None:
        cut = cv2.resize(scene()[margin:-margin, margin:-margin], (128, 96), interpolation=cv2.INTER_CUBIC)
        assert redrawn(cut, scene()) < 0.12

    def test_nothing_is_no_redrawing(self) -> None:
        assert redrawn(scene() * 0 + 77, scene()) == 0
        assert redrawn(scene() * 0 + 77, scene() * 0 + 77) == 0
        assert 0.97 < redrawn(scene(), scene() * 0 + 77) <= 1

    def test_few_levels_are_one(self) -> None:
        levels = np.floor(cv2.bilateralFilter(scene(), 9, 60, 9) / 50) * 50 + 25
        assert redrawn(levels.astype(np.float32), scene()) > 0.15


class TestFlatness:
    def test_a_copy_has_a_third(self) -> None:
        for ours in (scene(), scene() * 0.5 + 20):
            assert flatness(ours, scene()) == pytest.approx(1 / 3, abs=0.01)

    def test_steps_are_flat_but_for_their_edges(self) -> None:
        # Eight bars: gradients at two columns of each of seven edges, and grain everywhere in the original.
        bars = np.repeat(np.arange(8) * 30.0, 16)[None, :, None] * np.ones((96, 1, 3))
        grainy = bars + np.random.default_rng(0).normal(0, 5, bars.shape)
        found = flatness(bars.astype(np.float32), grainy.astype(np.float32))
        assert found == pytest.approx(1 - 14 / 128, abs=1e-6)

    def test_noise_and_nothing_have_none(self) -> None:
        assert flatness(noise(), scene()) < 0.05
        assert flatness(scene() * 0 + 80, scene()) == 0
        assert flatness(scene(), scene() * 0 + 80) == 0


class TestLikeness:
    def test_the_same_but_for_gain_and_offset(self) -> None:
        assert likeness(scene(), scene()) == 100
        assert likeness(scene() * 0.5 + 40, scene()) > 90
        assert likeness(255 - scene(), scene()) > 90

    def test_noise_is_the_closed_form(self) -> None:
        ours = (scene() + np.random.default_rng(4).normal(0, 25, scene().shape)).astype(np.float32)
        a, b = (each.astype(float) @ (0.299, 0.587, 0.114) for each in (ours, scene()))
        residue = float(b.var()) * (1 - float(np.corrcoef(a.ravel(), b.ravel())[0, 1]) ** 2)
        assert likeness(ours, scene()) == pytest.approx(10 * math.log10(255**2 / residue), abs=1.0)

    def test_nothing_tells_no_more_than_the_mean(self) -> None:
        grey = scene().astype(float) @ (0.299, 0.587, 0.114)
        mean = 10 * math.log10(255**2 / float(grey.var()))
        assert likeness(scene() * 0 + 128, scene()) == pytest.approx(mean, abs=0.5)
        assert likeness(noise(), scene()) == pytest.approx(mean, abs=0.5)

    def test_a_margin_cut_off_does_not_hide_the_original(self) -> None:
        cut = cv2.resize(scene()[2:-2, 2:-2], (128, 96), interpolation=cv2.INTER_CUBIC)
        mirrored = np.ascontiguousarray(scene()[:, ::-1])
        assert likeness(cut, scene()) > likeness(mirrored, scene()) + 8


class TestFiles:
    def test_size_and_encoding_are_no_redrawing(self, tmp_path: Path) -> None:
        photo = save(tmp_path / "photo.png", scene())
        small = tmp_path / "small.jpg"
        Image.open(photo).resize((75, 56)).save(small, quality=95)
        large = tmp_path / "large.png"
        Image.open(photo).resize((350, 262)).save(large)
        for ours in (photo, small, large):
            assert image_structure(ours, photo).value > 0.97
            assert image_redrawn(ours, photo).value < 0.15
            assert image_likeness(ours, photo).value > 30

    @pytest.mark.parametrize(("size", "same"), [((128, 96), True), ((125, 95), True), ((96, 128), False)])
    def test_other_proportions_are_another_picture(self, tmp_path: Path, size: tuple[int, int], same: bool) -> None:
        photo = save(tmp_path / "photo.png", scene())
        other = tmp_path / "other.png"
        Image.open(photo).resize(size).save(other)
        found = image_structure(other, photo)
        assert (found.value > 0.9) is same
        assert same or (found.value == 0 and "proportions" in found.comment)

    @pytest.mark.parametrize("measure", EVERY)
    @pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 1), (3, 3), (17, 16)])
    def test_odd_sizes_have_a_value(
        self, tmp_path: Path, measure: Callable[[Path, Path], Measurement], size: tuple[int, int]
    ) -> None:
        photo = save(tmp_path / "photo.png", scene())
        odd = save(tmp_path / "odd.png", np.random.default_rng(0).integers(0, 256, (*size, 3)))
        for pair in ((odd, photo), (photo, odd), (odd, odd)):
            assert math.isfinite(measure(*pair).value)

    @pytest.mark.parametrize("measure", EVERY)
    def test_hostile_files(self, tmp_path: Path, measure: Callable[[Path, Path], Measurement]) -> None:
        photo, bad = save(tmp_path / "photo.png", scene()), tmp_path / "bad.png"
        for content in (b"", b"words", photo.read_bytes()[:2000], b"\xff\xd8\xff\xe0" + b"\1" * 99):
            bad.write_bytes(content)
            with pytest.raises(UnreadableOutput):
                measure(bad, photo)
            with pytest.raises(InfraFault, match=r"bad\.png"):
                measure(photo, bad)


def test_few_levels_are_a_recolouring(tmp_path: Path) -> None:
    photo, few = tmp_path / "photo.png", tmp_path / "few.png"
    pixels = np.clip(scene(2), 0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(photo)
    Image.fromarray(pixels // 86 * 86 + 42).save(few)
    assert image_redrawn(few, photo).value > 2 * image_redrawn(few, photo, tones=True).value
    Image.fromarray(cv2.bilateralFilter(pixels[::-1].copy(), 9, 60, 9)).save(few)
    assert image_redrawn(few, photo, tones=True).value > 0.5
