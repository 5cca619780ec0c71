"""CIE L*a*b* and CIEDE2000: to the bit what scikit-image gives, and the differences that were published with it."""

from __future__ import annotations

import numpy as np
import pytest

from repoassay.benchmarks.gittaskbench.metrics.cielab import colour_difference, lab_of

color = pytest.importorskip("skimage.color")

SHAPES = [(1, 1, 3), (40, 1, 3), (3, 20_000, 3), (131, 170, 3)]
KINDS = {
    "any": lambda chance, shape: chance.integers(0, 256, shape).astype(np.uint8),
    "between levels": lambda chance, shape: chance.random(shape) * 255,
    "grey": lambda chance, shape: chance.integers(0, 256, (*shape[:2], 1)).astype(np.uint8).repeat(3, 2),
    "pure": lambda chance, shape: chance.integers(0, 2, shape).astype(np.uint8) * np.uint8(255),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_colours_and_their_differences_are_those_of_scikit_image(shape: tuple[int, ...], kind: str) -> None:
    chance = np.random.default_rng([len(kind), *shape])
    one, other = KINDS[kind](chance, shape), KINDS["any"](chance, shape)
    wanted = [color.rgb2lab(each / 255) for each in (one, other)]
    found = [lab_of(one), lab_of(other)]
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(colour_difference(*found), color.deltaE_ciede2000(*wanted))
    np.testing.assert_array_equal(colour_difference(found[0], found[0]), np.zeros(shape[:2]))


def test_a_part_of_a_picture_is_what_it_is_in_the_whole() -> None:
    picture = np.random.default_rng(5).integers(0, 256, (90, 80, 3)).astype(np.uint8)
    np.testing.assert_array_equal(lab_of(picture[::3, ::2]), lab_of(picture)[::3, ::2])


# Sharma, Wu, Dalal 2005, table 1, pairs 1, 4, 7, 9, 10, 16, 17, 25, 34.
@pytest.mark.parametrize(("one", "other", "difference"), [
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
    ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0000),
    ((50, 0, 0), (50, -1, 2), 2.3669),
    ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792),
    ((50, 2.49, -0.001), (50, -2.49, 0.001), 7.1792),
    ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
    ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
])  # fmt: skip
def test_published_differences(one: tuple[float, ...], other: tuple[float, ...], difference: float) -> None:
    found = colour_difference(np.array([[one]], float), np.array([[other]], float))
    assert round(float(found[0, 0]), 4) == difference
