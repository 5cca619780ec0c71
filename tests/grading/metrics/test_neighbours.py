"""Steepness and structural similarity of pictures: to the bit what SciPy and scikit-image give."""

from __future__ import annotations

import numpy as np
import pytest

from repoassay.grading import steepness, structural_similarity

ndimage = pytest.importorskip("scipy.ndimage")
metrics = pytest.importorskip("skimage.metrics")

SHAPES = [(7, 7), (7, 90), (90, 7), (64, 71), (33, 20), (129, 200, 3), (31, 40, 4)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("likeness", ["equal", "noisy", "unlike", "flat"])
def test_similarity_is_that_of_scikit_image(shape: tuple[int, ...], likeness: str) -> None:
    chance = np.random.default_rng([len(likeness), *shape])
    one = chance.integers(0, 256, shape).astype(np.uint8)
    other = {
        "equal": one,
        "noisy": np.clip(one + chance.normal(0, 25, shape), 0, 255).astype(np.uint8),
        "unlike": chance.integers(0, 256, shape).astype(np.uint8),
        "flat": np.full(shape, 200, np.uint8),
    }[likeness]
    axis = 2 if len(shape) == 3 else None
    for kind in (np.uint8, np.float64):  # criteria hand scikit-image either
        wanted = metrics.structural_similarity(one.astype(kind), other.astype(kind), data_range=255, channel_axis=axis)
        assert structural_similarity(one, other) == float(wanted)


@pytest.mark.parametrize("shape", [(6, 90), (90, 6)], ids=str)
def test_a_picture_smaller_than_the_window_is_refused(shape: tuple[int, int]) -> None:
    picture = np.zeros(shape, np.uint8)
    with pytest.raises(ValueError, match="smaller than the window"):
        structural_similarity(picture, picture)


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (64, 32), (65, 33), (200, 101)], ids=str)
def test_steepness_is_the_length_of_scipys_sobel_gradient(shape: tuple[int, int]) -> None:
    grey = np.random.default_rng(shape).integers(0, 256, (*shape, 3)).astype(np.float64).mean(axis=2)
    wanted = np.hypot(ndimage.sobel(grey, axis=1), ndimage.sobel(grey, axis=0))
    assert (steepness(grey) == wanted).all()
