"""NIQE against the values that its published implementation gives."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.quality import niqe, niqe_of
from repoassay.grading.protocol import UnreadableOutput
from shared_data import SHARED, needs_shared

INPUTS = SHARED / "data" / "queries"


@needs_shared
@pytest.mark.parametrize(
    ("name", "order", "value"),
    [
        ("DeOldify_02/input/DeOldify_02_input.webp", "rgb", 3.0304),
        ("DeOldify_01/input/DeOldify_01_input.jpg", "bgr", 5.3901),
        ("DeOldify_01/input/DeOldify_01_input.jpg", "rgb", 5.4764),
    ],
)
def test_published_values(name: str, order: str, value: float) -> None:
    assert niqe(INPUTS / name, order=order).value == pytest.approx(value, abs=1e-3)


@needs_shared
def test_noise_is_worse(tmp_path: Path) -> None:
    pixels = np.asarray(Image.open(INPUTS / "DeOldify_02/input/DeOldify_02_input.webp").convert("RGB"))
    noisy = pixels + np.random.default_rng(0).normal(0, 60, pixels.shape)
    assert niqe_of(np.clip(noisy, 0, 255)) > niqe_of(pixels) + 3


@pytest.mark.parametrize("shape", [(1, 1, 3), (95, 900, 3), (96, 96, 3), (191, 191, 3)])
def test_too_small_is_not_a_number(shape: tuple[int, int, int]) -> None:
    assert math.isnan(niqe_of(np.random.default_rng(0).integers(0, 256, shape)))


@pytest.mark.parametrize("level", [0, 128, 255])
def test_flat_is_no_crash(level: int) -> None:
    found = niqe_of(np.full((300, 300, 3), level))
    assert math.isnan(found) or found > 7


def test_hostile_file(tmp_path: Path) -> None:
    place = tmp_path / "a.png"
    place.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 99)
    with pytest.raises(UnreadableOutput):
        niqe(place)
