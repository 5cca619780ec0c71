"""Measures of enlarged images against closed forms, and what must not pass for detail."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFilter

from repoassay.benchmarks.gittaskbench.metrics.sharpness import (
    image_edge_gain,
    image_enlargement,
    image_grain,
    image_shrunk_psnr,
    image_within_pixel_detail,
)
from repoassay.errors import InfraFault
from repoassay.grading.protocol import Measurement, UnreadableOutput

Size = tuple[int, int]
EVERY: tuple[Callable[[Path, Path], Measurement], ...] = (
    image_edge_gain, image_enlargement, image_grain, image_shrunk_psnr, image_within_pixel_detail,
)  # fmt: skip


def save(path: Path, pixels: Any) -> Path:
    Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)).save(path)
    return path


def scene(height: int = 48, width: int = 64, seed: int = 0) -> Any:
    """A picture with something at every scale."""
    chance = np.random.default_rng(seed)
    picture = np.zeros((height, width, 3))
    for part in (2, 4, 8, 16, 32):
        coarse = Image.fromarray(chance.integers(0, 256, (part, part, 3), dtype=np.uint8))
        picture += np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC), float)
    return np.clip((picture / 5 - 128) * 1.6 + 128, 0, 255)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return save(tmp_path / "small.png", scene())


def enlarged(small: Path, factor: float, how: Image.Resampling = Image.Resampling.BICUBIC) -> Any:
    picture = Image.open(small)
    size = round(picture.width * factor), round(picture.height * factor)
    return np.asarray(picture.resize(size, how), float)


def doubled(small: Path, factor: int = 2) -> Any:
    return np.asarray(Image.open(small)).repeat(factor, axis=0).repeat(factor, axis=1)


class TestEnlargement:
    @pytest.mark.parametrize(
        ("size", "value"),
        [((20, 30), 1.0), ((40, 60), 2.0), ((10, 15), 0.5), ((62, 90), math.sqrt(3.1 * 3)), ((40, 90), 0.0),
         ((30, 20), 0.0), ((4, 6), 0.2), ((42, 60), math.sqrt(2.1 * 2))],
    )  # fmt: skip
    def test_sides_over_sides(self, tmp_path: Path, size: Size, value: float) -> None:
        ours, theirs = save(tmp_path / "a.png", np.zeros((*size, 3))), save(tmp_path / "b.png", np.zeros((20, 30, 3)))
        assert image_enlargement(ours, theirs).value == pytest.approx(value)

    @pytest.mark.parametrize(("height", "good"), [(36, False), (38, True), (42, True), (44, False), (80, True)])
    def test_only_the_factors_that_are_asked_for(self, tmp_path: Path, height: int, good: bool) -> None:
        ours = save(tmp_path / "a.png", np.zeros((height, height * 3 // 2, 3)))
        theirs = save(tmp_path / "b.png", np.zeros((20, 30, 3)))
        found = image_enlargement(ours, theirs, factors=[2.0, 4.0], slack=3)
        assert (found.value > 1) is good
        assert f"30 x 20 became {height * 3 // 2} x {height}" in found.comment
        assert image_enlargement(ours, theirs, factors=[2.0], slack=0).value == 0


class TestShrunk:
    @pytest.mark.parametrize("factor", [1, 2, 3, 5])
    def test_doubled_pixels_shrink_to_the_original(self, small: Path, tmp_path: Path, factor: int) -> None:
        assert image_shrunk_psnr(save(tmp_path / "a.png", doubled(small, factor)), small).value == 100

    @pytest.mark.parametrize("shift", [1, 10, 100])
    def test_a_shift_is_the_closed_form(self, tmp_path: Path, shift: int) -> None:
        ours = save(tmp_path / "a.png", np.full((60, 90, 3), 50 + shift))
        theirs = save(tmp_path / "b.png", np.full((20, 30, 3), 50))
        assert image_shrunk_psnr(ours, theirs).value == pytest.approx(20 * math.log10(255 / shift))
        assert image_shrunk_psnr(theirs, ours).value == pytest.approx(20 * math.log10(255 / shift))

    def test_halves_are_averaged(self, tmp_path: Path) -> None:
        # 2 x 2 blocks of 0, 0, 0 and 40 average to 10.
        ours = np.zeros((20, 20, 3))
        ours[::2, ::2] = 40
        theirs = save(tmp_path / "b.png", np.full((10, 10, 3), 15))
        assert image_shrunk_psnr(save(tmp_path / "a.png", ours), theirs).value == pytest.approx(20 * math.log10(51))

    def test_black_for_white_is_nothing(self, tmp_path: Path) -> None:
        ours, theirs = save(tmp_path / "a.png", np.zeros((8, 8, 3))), save(tmp_path / "b.png", np.full((4, 4, 3), 255))
        assert image_shrunk_psnr(ours, theirs).value == 0


class TestEdges:
    @pytest.mark.parametrize("factor", [1.5, 2, 3, 4])
    def test_bicubic_interpolation_is_one(self, small: Path, tmp_path: Path, factor: float) -> None:
        assert image_edge_gain(save(tmp_path / "a.png", enlarged(small, factor)), small).value == pytest.approx(
            1, abs=0.02
        )

    @pytest.mark.parametrize("contrast", [0.3, 0.6, 1.0])
    def test_contrast_and_brightness_are_divided_out(self, small: Path, tmp_path: Path, contrast: float) -> None:
        found = image_edge_gain(save(tmp_path / "a.png", enlarged(small, 2) * contrast + 20), small)
        assert found.value == pytest.approx(1, abs=0.05)

    def test_more_of_a_fine_wave_is_the_closed_form(self, tmp_path: Path) -> None:
        # The small picture is a ramp and a wave of 4 pixels; the output has half as much again of the wave.
        across = np.arange(96)
        ramp, wave = np.linspace(60, 190, 96), 20 * np.sin(2 * np.pi * across / 4 + 0.6)
        original = save(tmp_path / "b.png", np.tile((ramp + wave)[None, :, None], (64, 1, 3)))
        parts = [np.tile(each[None].astype("f4"), (64, 1)) for each in (ramp, wave)]
        large = [np.asarray(Image.fromarray(each).resize((192, 128), Image.Resampling.BICUBIC)) for each in parts]
        output = save(tmp_path / "a.png", np.dstack([large[0] + 1.5 * large[1]] * 3))
        steep = [np.gradient(each, axis=1)[5:-5, 5:-5] for each in large]
        both = steep[0] + steep[1]
        wanted = float(((steep[0] + 1.5 * steep[1]) * both).sum() / (both * both).sum())
        assert wanted > 1.4
        assert image_edge_gain(output, original).value == pytest.approx(wanted, abs=0.05)

    def test_blur_is_less_and_edges_of_noise_are_none(self, small: Path, tmp_path: Path) -> None:
        large = enlarged(small, 3)
        soft = np.asarray(Image.fromarray(large[::6, ::6].astype("u1")).resize((192, 144), Image.Resampling.BICUBIC))
        assert image_edge_gain(save(tmp_path / "a.png", soft), small).value < 0.8
        noise = np.random.default_rng(1).integers(0, 256, large.shape)
        assert abs(image_edge_gain(save(tmp_path / "b.png", noise), small).value) < 0.2
        grain = np.random.default_rng(2).normal(0, 25, large.shape)
        assert image_edge_gain(save(tmp_path / "c.png", large + grain), small).value < 1.1

    @pytest.mark.parametrize("how", [Image.Resampling.NEAREST, Image.Resampling.BILINEAR, Image.Resampling.LANCZOS])
    def test_no_interpolation_reaches_the_limit(self, small: Path, tmp_path: Path, how: Image.Resampling) -> None:
        found = image_edge_gain(save(tmp_path / "a.png", enlarged(small, 2, how)), small)
        assert found.value < 1.12

    def test_nothing_and_its_opposite(self, small: Path, tmp_path: Path) -> None:
        large = enlarged(small, 2)
        for number, picture in enumerate((large * 0 + 90, 255 - large, large[:, ::-1])):
            assert image_edge_gain(save(tmp_path / f"{number}.png", picture), small).value < 0.5
        assert image_edge_gain(small, save(tmp_path / "flat.png", large * 0)).value == 0

    def test_a_large_output_is_averaged_down(self, tmp_path: Path) -> None:
        strip = save(tmp_path / "b.png", scene(8, 2050))
        large = save(tmp_path / "a.png", enlarged(strip, 2))
        assert image_edge_gain(large, strip).value == pytest.approx(1, abs=0.15)


class TestWithinPixels:
    @pytest.mark.parametrize("factor", [2, 3, 4])
    def test_doubled_pixels_have_none_and_interpolation_has_all(self, small: Path, tmp_path: Path, factor: int) -> None:
        assert image_within_pixel_detail(save(tmp_path / "a.png", doubled(small, factor)), small).value == 0
        found = image_within_pixel_detail(save(tmp_path / "b.png", enlarged(small, factor)), small)
        assert found.value == pytest.approx(1, abs=0.05)

    def test_a_copy_has_no_inside(self, small: Path) -> None:
        assert image_within_pixel_detail(small, small).value == 0

    def test_twice_the_size_agrees_with_pairs_of_pixels(self, small: Path, tmp_path: Path) -> None:
        ours = save(tmp_path / "a.png", enlarged(small, 2, Image.Resampling.LANCZOS))
        ours_grey = np.asarray(Image.open(ours).convert("L"), float)
        grey = Image.fromarray(np.asarray(Image.open(small).convert("L"), "f4"))
        plain = np.asarray(grey.resize((128, 96), Image.Resampling.BICUBIC), float)
        product = power = 0.0
        for turn in (lambda a: a, np.transpose):
            a, b = (turn(each)[1::2] - turn(each)[::2] for each in (ours_grey, plain))
            product, power = product + float((a * b).sum()), power + float((b * b).sum())
        assert image_within_pixel_detail(ours, small).value == pytest.approx(product / power)

    def test_noise_inside_the_pixels_counts_nothing(self, small: Path, tmp_path: Path) -> None:
        noisy = doubled(small) + np.random.default_rng(0).normal(0, 20, (96, 128, 3))
        assert abs(image_within_pixel_detail(save(tmp_path / "a.png", noisy), small).value) < 0.3


class TestHostile:
    @pytest.mark.parametrize("measure", EVERY)
    @pytest.mark.parametrize(
        "content", [b"", b"words", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, b"\xff\xd8\xff\xe0" + b"\1" * 90, b"GIF89a"]
    )
    def test_no_image(
        self, small: Path, tmp_path: Path, measure: Callable[[Path, Path], Measurement], content: bytes
    ) -> None:
        bad = tmp_path / "bad.png"
        bad.write_bytes(content)
        with pytest.raises(UnreadableOutput):
            measure(bad, small)
        with pytest.raises(InfraFault, match=r"bad\.png"):
            measure(small, bad)

    @pytest.mark.parametrize("measure", EVERY)
    @pytest.mark.parametrize("size", [(1, 1), (1, 500), (500, 1), (2, 3)])
    def test_odd_sizes_have_a_value(
        self, small: Path, tmp_path: Path, measure: Callable[[Path, Path], Measurement], size: Size
    ) -> None:
        odd = save(tmp_path / "odd.png", np.random.default_rng(0).integers(0, 256, (*size, 3)))
        assert math.isfinite(measure(odd, small).value)
        assert math.isfinite(measure(small, odd).value)
        assert math.isfinite(measure(odd, odd).value)

    @pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "1", "CMYK", "I;16"])
    def test_every_kind_of_picture_opens(self, small: Path, tmp_path: Path, mode: str) -> None:
        path = tmp_path / ("a.tif" if mode in ("CMYK", "I;16") else "a.png")
        if mode == "I;16":
            Image.fromarray(np.asarray(Image.open(small).convert("L"), np.uint16)).save(path)
        else:
            Image.open(small).convert(mode).save(path)
        assert all(math.isfinite(measure(path, small).value) for measure in EVERY)


class TestPlaces:
    """What the whole picture does not show."""

    def large(self, tmp_path: Path) -> tuple[Path, Any, Any]:
        """A small picture, twice its size by interpolation, and that sharpened."""
        small = save(tmp_path / "small.png", scene(96, 128))
        plain = np.asarray(Image.open(small).resize((256, 192), Image.Resampling.BICUBIC), float)
        soft = np.asarray(Image.fromarray(plain.astype(np.uint8)).filter(ImageFilter.GaussianBlur(1.5)), float)
        return small, plain, plain + 0.9 * (plain - soft)

    def test_a_half_left_as_interpolated(self, tmp_path: Path) -> None:
        small, plain, sharp = self.large(tmp_path)
        half = np.where(np.arange(256)[None, :, None] < 128, plain, sharp)
        whole, part = (save(tmp_path / f"{name}.png", each) for name, each in (("whole", sharp), ("part", half)))
        assert image_edge_gain(part, small).value > 1.05
        assert image_edge_gain(part, small, share=0.9).value == pytest.approx(1, abs=0.01)
        assert image_edge_gain(whole, small, share=0.9).value > 1.025

    def test_noise_and_a_chequer_are_grain_and_sharp_edges_are_not(self, tmp_path: Path) -> None:
        small, _, sharp = self.large(tmp_path)
        chequer = 28 * (2 * (np.indices(sharp.shape[:2]).sum(axis=0) % 2) - 1)[..., None]
        boxed = sharp.copy()
        boxed[48:96, 64:128] += np.random.default_rng(1).normal(0, 40, (48, 64, 1))
        made = {"sharp": sharp, "chequered": sharp + chequer, "boxed": boxed}
        found = {name: image_grain(save(tmp_path / f"{name}.png", each), small).value for name, each in made.items()}
        assert found["sharp"] < 1
        assert min(found["chequered"], found["boxed"]) > 8


def test_crisper_contours_are_no_linear_filter(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    small = np.kron(chance.integers(40, 220, (12, 16)), np.ones((5, 5)))
    small = np.asarray(Image.fromarray(small.astype(np.uint8)).filter(ImageFilter.GaussianBlur(1)), float)
    truth = save(tmp_path / "small.png", np.repeat(small[..., None], 3, 2))
    large = Image.open(truth).resize((320, 240), Image.Resampling.BICUBIC)
    filters = (
        large,
        Image.open(truth).resize((320, 240), Image.Resampling.LANCZOS),
        large.filter(ImageFilter.UnsharpMask(4, 80, 0)),
    )
    for made in filters:
        ours = save(tmp_path / "linear.png", np.asarray(made, float))
        added = image_edge_gain(ours, truth, crisp=1).value - image_edge_gain(ours, truth).value
        assert abs(added) < 0.06
    pixels = np.asarray(large.convert("L"), float)
    high = np.asarray(large.convert("L").filter(ImageFilter.MaxFilter(7)), float)
    low = np.asarray(large.convert("L").filter(ImageFilter.MinFilter(7)), float)
    crisp = pixels + 0.5 * (np.where(high - pixels < pixels - low, high, low) - pixels)
    ours = save(tmp_path / "crisp.png", np.repeat(crisp[..., None], 3, 2))
    for share in (None, 0.9):
        assert (
            image_edge_gain(ours, truth, share=share, crisp=1).value - image_edge_gain(ours, truth, share=share).value
            > 0.2
        )
