"""Style distances against closed forms, and how far a picture went from one style to another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.style import colour_distance, image_style_shift, texture_distance
from repoassay.errors import BadInput, InfraFault
from repoassay.grading.protocol import UnreadableOutput

# The nine directions are the three axes, and six diagonals of which four see lightness.
SEEN = (1 + 4 * 0.5**0.5) / 9


def save(path: Path, pixels: Any) -> Path:
    Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)).save(path)
    return path


def flat(level: float, side: int = 64) -> Any:
    return np.full((side, side, 3), level, np.float32)


def lightness_of(level: float) -> float:
    """CIE lightness of a grey, by the formulas of sRGB and CIE 1976."""
    linear = ((level / 255 + 0.055) / 1.055) ** 2.4
    return float(116 * linear ** (1 / 3) - 16)


def grain(deviation: float, seed: int = 0, side: int = 128) -> Any:
    noise = np.random.default_rng(seed).normal(0, deviation, (side, side, 1))
    return np.repeat(128 + noise, 3, axis=2).astype(np.float32)


class TestColour:
    def test_greys_are_the_closed_form(self) -> None:
        assert colour_distance(flat(0), flat(255)) == pytest.approx(100 * SEEN, rel=1e-3)
        wanted = (lightness_of(200) - lightness_of(90)) * SEEN
        assert colour_distance(flat(90), flat(200)) == pytest.approx(wanted, rel=1e-2)

    def test_where_a_colour_stands_does_not_matter(self) -> None:
        chance = np.random.default_rng(0)
        picture = chance.uniform(0, 255, (40, 50, 3)).astype(np.float32)
        shuffled = chance.permutation(picture.reshape(-1, 3)).reshape(50, 40, 3)
        assert colour_distance(picture, shuffled) == pytest.approx(0, abs=1e-4)

    def test_it_is_a_distance(self) -> None:
        chance = np.random.default_rng(1)
        a, b, c = (chance.uniform(low, high, (30, 30, 3)) for low, high in ((0, 90), (50, 255), (100, 130)))
        assert colour_distance(a, b) == pytest.approx(colour_distance(b, a))
        assert colour_distance(a, c) <= colour_distance(a, b) + colour_distance(b, c) + 1e-6

    def test_shares_of_colours_count(self) -> None:
        half = flat(0)
        half[:32] = 255
        assert colour_distance(half, flat(0)) == pytest.approx(50 * SEEN, rel=0.02)


class TestTexture:
    def test_the_same_is_nought_and_a_turn_is_nearly(self) -> None:
        picture = grain(20)
        assert texture_distance(picture, picture) == 0
        assert texture_distance(picture, picture[::-1, ::-1]) < 0.1
        assert texture_distance(flat(0), flat(255)) == pytest.approx(0, abs=0.01)

    def test_twice_as_strong_in_lightness_is_an_octave_in_one_measure_of_three(self) -> None:
        # Less than a third, because the coarse bands of noise are faint.
        assert 0.15 < texture_distance(grain(8), grain(16)) < 1 / 3
        coarse = [np.kron(grain(size, side=16), np.ones((16, 16, 1))).astype(np.float32) for size in (15, 30)]
        assert texture_distance(*coarse) == pytest.approx(1 / 3, abs=0.06)

    def test_strokes_are_told_from_noise_of_the_same_strength(self) -> None:
        strokes = flat(128, 128)
        strokes[::16, ::3] = 255
        noise = grain(float(strokes.std()))
        assert texture_distance(strokes, noise) > 2 * texture_distance(grain(9, 1), grain(9, 2))

    @pytest.mark.parametrize("shape", [(1, 1, 3), (2, 90, 3), (90, 1, 3), (5, 5, 3)])
    def test_tiny_pictures(self, shape: tuple[int, ...]) -> None:
        picture = np.full(shape, 50, np.float32)
        assert np.isfinite(texture_distance(picture, grain(20)))
        assert np.isfinite(colour_distance(picture, grain(20)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a smooth grey content image and a coloured, rough style image."""
    place = tmp_path / "inputs"
    place.mkdir()
    chance = np.random.default_rng(3)
    ramp = np.linspace(60, 180, 96)[None, :, None] * np.ones((64, 1, 3))
    save(place / "content.png", ramp)
    save(place / "style.png", np.array([200, 80, 40]) + chance.normal(0, 40, (50, 70, 3)))
    return place


NAMES = {"content": "content.png", "style": "style.png"}


class TestShift:
    @pytest.mark.parametrize("part", ["both", "colour", "texture"])
    def test_none_for_the_content_and_all_for_the_style(self, folder: Path, part: str) -> None:
        assert image_style_shift(folder / "content.png", folder, part=part, **NAMES).value == pytest.approx(0)
        assert image_style_shift(folder / "style.png", folder, part=part, **NAMES).value == pytest.approx(1)

    def test_half_way_in_lightness_is_a_half(self, tmp_path: Path) -> None:
        levels = np.arange(256)
        scale = np.array([lightness_of(float(level)) for level in levels])
        three = [int(abs(scale - wanted).argmin()) for wanted in (20, 80, 50)]
        for name, level in zip(("content.png", "style.png", "out.png"), three, strict=True):
            save(tmp_path / name, flat(level))
        wanted = 1 - abs(scale[three[1]] - scale[three[2]]) / abs(scale[three[1]] - scale[three[0]])
        found = image_style_shift(tmp_path / "out.png", tmp_path, part="colour", **NAMES)
        assert found.value == pytest.approx(wanted, abs=0.01)

    def test_the_mean_of_both_parts(self, folder: Path, tmp_path: Path) -> None:
        out = save(tmp_path / "out.png", np.random.default_rng(1).normal(120, 30, (64, 96, 3)))
        both, colour, texture = (
            image_style_shift(out, folder, part=part, **NAMES).value for part in ("both", "colour", "texture")
        )
        assert both == pytest.approx((colour + texture) / 2)

    def test_noise_moves_the_texture_and_hardly_the_colour(self, folder: Path, tmp_path: Path) -> None:
        content = np.asarray(Image.open(folder / "content.png"), float)
        noisy = save(tmp_path / "out.png", content + np.random.default_rng(2).normal(0, 40, content.shape))
        assert image_style_shift(noisy, folder, part="texture", **NAMES).value > 0.5
        assert image_style_shift(noisy, folder, part="colour", **NAMES).value < 0.15

    def test_the_other_way_is_less_than_none(self, folder: Path, tmp_path: Path) -> None:
        away = save(tmp_path / "out.png", np.full((64, 96, 3), (10, 200, 255)))
        assert image_style_shift(away, folder, part="colour", **NAMES).value < 0

    def test_content_in_the_style_already(self, folder: Path, tmp_path: Path) -> None:
        out = save(tmp_path / "out.png", flat(9))
        found = image_style_shift(out, folder, content="style.png", style="style.png")
        assert np.isfinite(found.value)
        assert found.value < 0

    def test_a_part_that_there_is_not(self, folder: Path) -> None:
        with pytest.raises(BadInput, match="sound"):
            image_style_shift(folder / "content.png", folder, part="sound", **NAMES)

    def test_hostile_files(self, folder: Path, tmp_path: Path) -> None:
        bad = tmp_path / "bad.png"
        for content in (b"", b"words", b"\x89PNG\r\n\x1a\n" + b"\0" * 40):
            bad.write_bytes(content)
            with pytest.raises(UnreadableOutput):
                image_style_shift(bad, folder, **NAMES)
        (folder / "style.png").write_bytes(b"words")
        with pytest.raises(InfraFault, match=r"style\.png"):
            image_style_shift(folder / "content.png", folder, **NAMES)
        (folder / "content.png").unlink()
        with pytest.raises(UnreadableOutput):
            image_style_shift(folder / "content.png", folder, **NAMES)
        with pytest.raises(InfraFault, match=r"content\.png"):
            image_style_shift(save(tmp_path / "out.png", flat(9)), folder, **NAMES)
