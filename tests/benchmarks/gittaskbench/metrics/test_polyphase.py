"""Another sampling rate: as SciPy computes it, but for the last bit of its window."""

from __future__ import annotations

import numpy as np
import pytest

from repoassay.benchmarks.gittaskbench.metrics.polyphase import resample_polyphase

RATIOS = [(441, 160), (160, 441), (2, 1), (1, 2), (3, 2), (1, 400), (147, 320), (4999, 5000), (1, 24), (441, 80)]


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
@pytest.mark.parametrize("count", [1, 7, 3000, 90_001])
def test_samples_are_those_of_scipy(ratio: tuple[int, int], count: int) -> None:
    samples = np.random.default_rng(count).normal(size=count)
    wanted = pytest.importorskip("scipy.signal").resample_poly(samples, *ratio)
    found = resample_polyphase(samples, *ratio)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= 4e-15 * max(1.0, np.abs(wanted).max())


def test_a_tone_keeps_its_pitch_and_level() -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(8000) / 8000)
    found = resample_polyphase(tone, 441, 160)
    wanted = np.sin(2 * np.pi * 440 * np.arange(len(found)) / 22050)
    inside = slice(1000, -1000)
    assert np.abs(found - wanted)[inside].max() < 2e-3
