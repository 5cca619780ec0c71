"""Colour metrics against closed forms and published values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.colour import (
    chroma_roughness,
    colour_by_lightness,
    colour_change,
    colour_change_spread,
    colourfulness,
    hue_variety,
    lab,
    lightness_kept,
)
from repoassay.grading.protocol import UnreadableOutput

RED, GREEN, GREY = (200.0, 40.0, 40.0), (40.0, 200.0, 40.0), (120.0, 120.0, 120.0)


def _save(path: Path, pixels: Any) -> Path:
    Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)).save(path)
    return path


def _half(left: tuple[float, ...], right: tuple[float, ...]) -> Any:
    picture = np.zeros((60, 80, 3)) + np.array(left)
    picture[:, 40:] = right
    return picture


@pytest.fixture
def ramp(tmp_path: Path) -> Path:
    """Grey from black to white."""
    return _save(tmp_path / "ramp.png", np.dstack([np.tile(np.linspace(0, 255, 256), (64, 1))] * 3))


def test_lab_of_known_colours() -> None:
    found = lab(np.array([[[255.0, 255, 255], [255, 0, 0], [0, 0, 0]]]))
    assert found[0, 0] == pytest.approx([100, 0, 0], abs=0.1)
    assert found[0, 1] == pytest.approx([53.24, 80.09, 67.20], abs=0.1)
    assert found[0, 2] == pytest.approx([0, 0, 0], abs=0.1)


def test_change_of_black_to_white_is_a_hundred(tmp_path: Path) -> None:
    black, white = (_save(tmp_path / f"{level}.png", np.full((8, 8, 3), level)) for level in (0, 255))
    assert colour_change(white, black).value == pytest.approx(100, abs=0.01)
    assert colour_change(black, black).value == 0
    assert colour_change_spread(white, black).value == 1


def test_change_spread_counts_cells(tmp_path: Path) -> None:
    grey, half = _save(tmp_path / "a.png", _half(GREY, GREY)), _save(tmp_path / "b.png", _half(GREY, RED))
    assert colour_change_spread(half, grey).value == 0.5


def test_another_size_is_compared(tmp_path: Path) -> None:
    small, large = _save(tmp_path / "a.png", _half(GREY, RED)), tmp_path / "b.png"
    Image.open(small).resize((1600, 1200), Image.Resampling.NEAREST).save(large)
    assert colour_change(large, small).value < 0.5
    assert lightness_kept(large, small).value > 0.99


def test_colourfulness_is_hasler_and_suesstruncks(tmp_path: Path) -> None:
    # Red against grey in halves: R - G is 160 and 0, (R + G) / 2 - B is 80 and 0.
    found = colourfulness(_save(tmp_path / "a.png", _half(RED, GREY))).value
    assert found == pytest.approx((80**2 + 40**2) ** 0.5 + 0.3 * (80**2 + 40**2) ** 0.5)
    assert colourfulness(_save(tmp_path / "b.png", _half(GREY, GREY))).value == 0


def test_lightness(ramp: Path, tmp_path: Path) -> None:
    pixels = np.asarray(Image.open(ramp))
    assert lightness_kept(ramp, ramp).value == pytest.approx(1)
    assert lightness_kept(_save(tmp_path / "inverted.png", 255 - pixels), ramp).value < -0.9
    assert lightness_kept(_save(tmp_path / "flat.png", pixels * 0 + 90), ramp).value == 0


def test_hues(ramp: Path, tmp_path: Path) -> None:
    two = _half(RED, GREEN)
    two[:30, 40:] = RED
    assert hue_variety(_save(tmp_path / "two.png", two)).value == pytest.approx(0.25)
    assert hue_variety(_save(tmp_path / "one.png", _half(RED, GREY))).value == 0
    assert hue_variety(ramp).value == 0


def test_colour_maps_are_told_from_colours(ramp: Path, tmp_path: Path) -> None:
    pixels = np.asarray(Image.open(ramp)).astype(float)
    duotone = np.dstack([pixels[..., 0], pixels[..., 1] * 0.5 + 60, 255 - pixels[..., 2]])
    assert colour_by_lightness(_save(tmp_path / "duotone.png", duotone)).value > 0.98
    tilted = np.linspace(-40, 40, 64)[:, None, None] * np.array([1, 0, -1])
    assert colour_by_lightness(_save(tmp_path / "tilted.png", pixels * 0.5 + 60 + tilted)).value < 0.3
    assert colour_by_lightness(ramp).value == 0


def test_noise_is_rough(ramp: Path, tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    pixels = np.asarray(Image.open(ramp)).astype(float)
    assert chroma_roughness(_save(tmp_path / "noise.png", chance.integers(0, 256, (200, 300, 3)))).value > 0.7
    tilted = np.linspace(-40, 40, 64)[:, None, None] * np.array([1, 0, -1])
    assert chroma_roughness(_save(tmp_path / "tilted.png", pixels * 0.5 + 60 + tilted)).value < 0.05
    assert chroma_roughness(ramp).value == 0


def test_one_pixel_is_measured(tmp_path: Path) -> None:
    dot = _save(tmp_path / "dot.png", np.full((1, 1, 3), 7))
    for measure in (hue_variety, chroma_roughness, colour_by_lightness, colourfulness):
        assert measure(dot).value == 0
    assert colour_change(dot, dot).value == 0
    assert 0 <= colour_change_spread(dot, dot).value <= 1
    assert lightness_kept(dot, dot).value == 0


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"junk" * 50])
def test_hostile_files(content: bytes, tmp_path: Path, ramp: Path) -> None:
    place = tmp_path / "hostile.png"
    place.write_bytes(content)
    with pytest.raises(UnreadableOutput):
        colour_change(place, ramp)
    with pytest.raises(UnreadableOutput):
        hue_variety(tmp_path / "absent.png")
