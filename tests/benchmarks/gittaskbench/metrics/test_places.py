"""What averages hide: parts left out, blocks, exchanged channels, foreign colours, mixtures and flicker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.articles import block_tags
from repoassay.benchmarks.gittaskbench.metrics.belonging import colour_belongs, luma_order
from repoassay.benchmarks.gittaskbench.metrics.blocks import block_grid
from repoassay.benchmarks.gittaskbench.metrics.channels import colour_likeness
from repoassay.benchmarks.gittaskbench.metrics.mattes import matte_opacity
from repoassay.benchmarks.gittaskbench.metrics.mixtures import beyond_mixture, style_order
from repoassay.benchmarks.gittaskbench.metrics.places import (
    edges_kept,
    image_likeness,
    image_psnr_places,
    part_likenesses,
    redrawn_tiles,
)
from repoassay.benchmarks.gittaskbench.metrics.restoration import traces_left, traces_steepness
from repoassay.benchmarks.gittaskbench.metrics.steadiness import flicker


def scene(seed: int = 1, height: int = 240, width: int = 320) -> Any:
    """Coloured discs of all sizes on a gradient, with some texture; float32 in 0 to 255."""
    chance = np.random.default_rng(seed)
    made = np.zeros((height, width, 3), np.float32) + np.linspace(60, 180, width, dtype=np.float32)[None, :, None]
    for _ in range(60):
        place, size = (int(chance.integers(width)), int(chance.integers(height))), int(chance.integers(6, 40))
        cv2.circle(made, place, size, tuple(float(each) for each in chance.integers(20, 235, 3)), -1)
    return np.clip(made + cv2.GaussianBlur(chance.normal(0, 20, made.shape), (0, 0), 1).astype(np.float32), 0, 255)


def flat(picture: Any) -> Any:
    return cv2.pyrMeanShiftFiltering(picture.astype(np.uint8), 8, 30).astype(np.float32)


def save(place: Path, picture: Any) -> Path:
    Image.fromarray(np.clip(np.rint(picture), 0, 255).astype(np.uint8)).save(place)
    return place


def test_half_a_redrawing_is_seen_in_its_tiles() -> None:
    photo = scene()
    whole = flat(photo)
    half = whole.copy()
    half[:, 160:] = photo[:, 160:]
    assert np.quantile(redrawn_tiles(whole, photo), 0.15) > 0.1
    assert np.quantile(redrawn_tiles(half, photo), 0.15) < 0.03


def test_a_painted_box_is_a_lost_part_and_a_negative_has_its_edges_turned() -> None:
    photo = scene()
    boxed = photo.copy()
    boxed[80:160, 100:200] = 128
    assert min(part_likenesses(photo, photo)) > 0.99
    assert -1.0 in part_likenesses(boxed, photo)
    assert edges_kept(255 - photo, photo) < -0.9
    assert edges_kept(cv2.GaussianBlur(photo, (0, 0), 8), photo) < 0.3


@pytest.mark.parametrize("cells", [40, 37])
def test_a_mosaic_has_a_grid_whatever_its_spacing(cells: int) -> None:
    photo = scene()
    small = cv2.resize(photo, (cells, cells), interpolation=cv2.INTER_AREA)
    assert block_grid(cv2.resize(small, (320, 240), interpolation=cv2.INTER_NEAREST))[0] > 0.9
    assert block_grid(photo)[0] < 0.4


def test_exchanged_channels_and_grey_are_not_the_colours() -> None:
    photo = scene()
    assert colour_likeness(photo * 0.5 + 60, photo) > 0.95
    assert colour_likeness(np.ascontiguousarray(photo[..., ::-1]), photo) < 0.5
    assert colour_likeness(np.repeat(photo.mean(2, keepdims=True), 3, 2), photo) == 0


def test_colours_must_lie_where_the_forms_are() -> None:
    photo = scene()
    grey = np.repeat((photo @ np.array([0.299, 0.587, 0.114], np.float32))[..., None], 3, 2)
    tone = cv2.GaussianBlur(grey[..., 0], (0, 0), 2) - 120
    coloured = np.clip(grey + np.dstack([tone * 0.4, tone * -0.25, tone * 0.24]), 0, 255).astype(np.float32)
    foreign = np.clip(grey + (coloured - grey)[:, ::-1], 0, 255).astype(np.float32)
    assert colour_belongs(coloured, grey) > 0.3
    assert colour_belongs(foreign, grey) < 0.1
    assert luma_order(coloured, grey) > 0
    assert luma_order(np.ascontiguousarray(coloured[..., ::-1]), grey) < 0


@pytest.mark.exhaustive
def test_a_mixture_of_both_inputs_is_no_transfer() -> None:
    content, style = scene(1), scene(2)
    turned = np.ascontiguousarray(style[:, ::-1])
    assert beyond_mixture(0.4 * content + 0.6 * turned, content, style) < 0.03
    assert beyond_mixture(flat(content), content, style) > 0.06
    warm = style * np.array([1.0, 0.7, 0.4], np.float32)
    assert style_order(warm, warm) > 0 > style_order(np.ascontiguousarray(warm[..., ::-1]), warm)


def test_a_light_that_comes_and_goes_flickers() -> None:
    frames = [scene(seed, 48, 64) for seed in range(6)]
    assert max(flicker([frame * 0.8 + 20 for frame in frames], frames)) < 20
    assert max(flicker([frame + 5 for frame in frames], frames)) < 0.01
    assert min(flicker([frame + 30 * (place % 2) for place, frame in enumerate(frames)], frames)) > 25


def test_traces_of_either_sign_and_any_colour_stand_out(tmp_path: Path) -> None:
    clean = scene(3)
    scratched, dark, blue = clean.copy(), clean.copy(), clean.copy()
    traces = ["10,50 90,50"]
    for picture, colour in ((scratched, (255, 255, 255)), (dark, (0, 0, 0)), (blue, (30, 60, 230))):
        cv2.line(picture, (32, 120), (288, 120), colour, 2)
    against = save(tmp_path / "scratched.png", scratched)
    shown = {
        name: save(tmp_path / f"{name}.png", each) for name, each in (("clean", clean), ("dark", dark), ("blue", blue))
    }
    negative = save(tmp_path / "negative.png", 2 * clean - scratched)
    assert traces_left(shown["clean"], against, traces=traces).value < 0.2
    assert traces_left(negative, against, traces=traces).value > 0.25
    clear = traces_steepness(shown["clean"], against, traces=traces).value
    assert clear < 0.5 * min(traces_steepness(shown[name], against, traces=traces).value for name in ("dark", "blue"))


def test_a_spot_in_one_tile_is_its_psnr(tmp_path: Path) -> None:
    photo = scene()
    spotted = photo.copy()
    spotted[100:110, 100:110] = 0
    against = save(tmp_path / "photo.png", photo)
    assert image_psnr_places(save(tmp_path / "spotted.png", spotted), against).value < 24
    assert image_psnr_places(against, against).value == 100


def test_one_cell_of_background_is_the_highest(tmp_path: Path) -> None:
    alpha = np.zeros((100, 100, 4))
    alpha[0:10, 0:10, 3] = 255
    place = save(tmp_path / "cut.png", alpha)
    assert matte_opacity(place).value < 0.02
    assert matte_opacity(place, extreme="highest").value == 1
    assert matte_opacity(place, extreme="lowest").value == 0


def test_tags_count_written_out_or_as_entities(tmp_path: Path) -> None:
    place = tmp_path / "page.md"
    place.write_text("&lt;li&gt;one&lt;/li&gt; <a href='x'>two</a>\n")
    assert block_tags(place).value == 1
    place.write_text("1 < 2, a line<br>break and x<sub>2</sub>\n")
    assert block_tags(place).value == 0


def test_a_copied_half_is_seen_in_the_likeness_of_tiles(tmp_path: Path) -> None:
    photo = scene()
    soft = cv2.GaussianBlur(photo, (0, 0), 4)
    half = soft.copy()
    half[:, 160:] = photo[:, 160:]
    original = save(tmp_path / "photo.png", photo)
    whole, part = (save(tmp_path / f"{name}.png", each) for name, each in (("soft", soft), ("half", half)))
    assert image_likeness(whole, original, share=0.9).value < 35
    assert image_likeness(part, original).value < 35
    assert image_likeness(part, original, share=0.9).value > 45
