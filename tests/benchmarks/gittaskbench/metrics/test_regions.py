"""Regions, cut-outs and restorations against pictures whose answer is plain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.mattes import matte_opacity
from repoassay.benchmarks.gittaskbench.metrics.regions import (
    region_colour_share,
    region_detail,
    region_difference,
    region_mask,
)
from repoassay.benchmarks.gittaskbench.metrics.restoration import noise_left, traces_left
from repoassay.errors import InfraFault
from repoassay.grading.protocol import Measurement, UnreadableOutput

LEFT, RIGHT = ["0,0 50,0 50,100 0,100"], ["51,0 101,0 101,101 51,101"]
SIZE = (200, 300, 3)


def _save(path: Path, pixels: Any) -> Path:
    Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)).save(path)
    return path


@pytest.fixture
def chance() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.fixture
def photo(tmp_path: Path, chance: np.random.Generator) -> Path:
    """Texture of pixels of one size everywhere."""
    rough = cv2.GaussianBlur(chance.normal(0, 1, SIZE), (0, 0), 1.2)
    return _save(tmp_path / "photo.png", 128 + 60 * rough / rough.std() * 0.6)


def _pixels(path: Path) -> Any:
    return np.asarray(Image.open(path)).astype(float)


def test_masks_of_polygons() -> None:
    left = region_mask(100, 200, inside=LEFT)
    assert left.mean() == pytest.approx(0.5, abs=0.02)
    assert left[50, 10] and not left[50, 190]
    assert (region_mask(100, 200, outside=LEFT) == ~left).all()
    assert region_mask(4, 4).all()


@pytest.mark.parametrize("polygons", [["1,1 a,b 3,3"], ["1,1 2"], ["1,1"], ["200,200 300,200 300,300"]])
def test_bad_polygons_are_our_fault(polygons: list[str]) -> None:
    with pytest.raises(InfraFault):
        region_mask(20, 20, inside=polygons)


def test_a_picture_of_a_few_pixels_is_the_agents_fault() -> None:
    with pytest.raises(UnreadableOutput, match="too few"):
        region_mask(1, 1, outside=["0,0 100,0 100,100 0,100"])


def test_difference_is_within_the_region(photo: Path, tmp_path: Path) -> None:
    changed = _pixels(photo)
    changed[:, 160:] = np.where(changed[:, 160:] > 128, changed[:, 160:] - 20, changed[:, 160:] + 20)
    made = _save(tmp_path / "made.png", changed)
    assert region_difference(made, photo, inside=LEFT).value == 0
    assert region_difference(made, photo, inside=RIGHT).value == pytest.approx(20, abs=1)
    assert region_difference(made, photo, inside=RIGHT, blur=8.0).value < 8


def test_detail(photo: Path, tmp_path: Path) -> None:
    pixels = _pixels(photo)
    blurred = pixels.copy()
    blurred[:, 150:] = cv2.GaussianBlur(pixels, (0, 0), 6)[:, 150:]
    made = _save(tmp_path / "made.png", blurred)
    assert region_detail(photo, photo).value == 1
    assert region_detail(made, photo, inside=LEFT).value == pytest.approx(1, abs=0.05)
    assert region_detail(made, photo, inside=RIGHT).value < 0.3
    assert (
        region_detail(_save(tmp_path / "sharp.png", 2 * pixels - cv2.GaussianBlur(pixels, (0, 0), 2)), photo).value
        > 1.3
    )


def test_sizes(photo: Path, tmp_path: Path) -> None:
    for size, comparable in (((600, 400), True), ((150, 100), True), ((60, 40), False), ((300, 150), False)):
        made = tmp_path / "made.png"
        Image.open(photo).resize(size, Image.Resampling.BICUBIC).save(made)
        assert (region_difference(made, photo).value < 50) is comparable
        assert (region_detail(made, photo).value > 0) is comparable
        assert (traces_left(made, photo, traces=["10,10 90,90"]).value < 90) is comparable


def test_colour_share(tmp_path: Path) -> None:
    pixels = np.zeros(SIZE) + np.array([0, 200, 60])
    pixels[:50, 150:] = 250
    made = _save(tmp_path / "made.png", pixels)
    assert region_colour_share(made, inside=LEFT).value == pytest.approx(1, abs=0.01)
    assert region_colour_share(made, inside=RIGHT).value == pytest.approx(0.75, abs=0.02)
    assert region_colour_share(made, inside=LEFT, channel=2).value == 0
    assert region_colour_share(_save(tmp_path / "grey.png", pixels * 0 + 90)).value == 0


def test_opacity(tmp_path: Path) -> None:
    pixels = np.zeros((100, 100, 4)) + 200
    pixels[:, :50, 3] = 0
    made = _save(tmp_path / "made.png", pixels)
    assert matte_opacity(made, inside=["0,0 49,0 49,100 0,100"]).value == pytest.approx(0, abs=0.03)
    assert matte_opacity(made, inside=["55,0 99,0 99,100 55,100"]).value == pytest.approx(200 / 255)
    assert matte_opacity(_save(tmp_path / "plain.png", pixels[..., :3])).value == 1


def test_scratches(photo: Path, tmp_path: Path) -> None:
    clean = _pixels(photo)
    scratched = clean.copy()
    cv2.line(scratched, (30, 40), (270, 160), (255, 255, 255), 2)
    of, traces = _save(tmp_path / "scratched.png", scratched), ["10,20 90,80"]
    assert traces_left(of, of, traces=traces).value == pytest.approx(1)
    assert traces_left(photo, of, traces=traces).value < 0.35
    assert traces_left(_save(tmp_path / "b.png", cv2.GaussianBlur(scratched, (0, 0), 1)), of, traces=traces).value > 0.5
    assert traces_left(_save(tmp_path / "c.png", scratched + 10), of, traces=traces).value == pytest.approx(1, abs=0.1)
    assert traces_left(_save(tmp_path / "d.png", scratched * 0), of, traces=traces).value == 99


@pytest.mark.parametrize("traces", [["x,y 1,2"], ["1,2,3 4,5"], ["200,200 300,300"]])
def test_bad_traces_are_our_fault(photo: Path, traces: list[str]) -> None:
    with pytest.raises(InfraFault):
        traces_left(photo, photo, traces=traces)


def test_noise(photo: Path, tmp_path: Path, chance: np.random.Generator) -> None:
    truth = _pixels(photo)
    truth[:, :150] = 100
    noisy = truth + chance.normal(0, 12, SIZE)
    of, flat = _save(tmp_path / "noisy.png", noisy), ["0,0 47,0 47,101 0,101"]
    assert noise_left(of, of, flat=flat).value == pytest.approx(1)
    assert noise_left(_save(tmp_path / "truth.png", truth), of, flat=flat).value < 0.2
    assert noise_left(_save(tmp_path / "b.png", noisy + 20), of, flat=flat).value == pytest.approx(1, abs=0.1)
    assert noise_left(_save(tmp_path / "c.png", noisy * 0), of, flat=flat).value == 99


@pytest.mark.parametrize("content", [b"", b"junk" * 20])
def test_hostile_files(photo: Path, tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "hostile.png"
    place.write_bytes(content)
    calls: list[Callable[[], Measurement]] = [
        lambda: region_difference(place, photo),
        lambda: region_detail(place, photo),
        lambda: region_colour_share(place),
        lambda: matte_opacity(place),
        lambda: traces_left(place, photo, traces=["1,1 9,9"]),
        lambda: noise_left(place, photo, flat=LEFT),
    ]
    for call in calls:
        with pytest.raises(UnreadableOutput):
            call()


def test_a_share_of_the_cells_may_be_spared(tmp_path: Path, photo: Path) -> None:
    pixels = np.asarray(Image.open(photo).convert("RGB"), float)
    marred = pixels.copy()
    marred[:20, :30] = 255 - marred[:20, :30]
    ours = _save(tmp_path / "marred.png", marred)
    assert region_difference(ours, photo, worst=True).value > 20
    assert region_difference(ours, photo, worst=True, spare=0.05).value == 0


def test_plain_cells_count_where_they_are_asked_for(tmp_path: Path, chance: np.random.Generator) -> None:
    strength = np.where(np.arange(300) < 150, 30.0, 3.0)[None, :, None]
    pixels = 128 + strength * chance.normal(0, 1, SIZE)
    photo = _save(tmp_path / "photo.png", pixels)
    pixels[:, 200:] = 128
    ours = _save(tmp_path / "plain.png", pixels)
    assert region_detail(ours, photo, quantile=0.1).value == pytest.approx(1, abs=0.05)
    assert region_detail(ours, photo, quantile=0.1, rich=1.0).value < 0.1
