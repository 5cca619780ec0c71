"""Readings of published scripts whose references nobody has: they run all the same, on references made here."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PIL import Image

from repoassay.grading.protocol import UnreadableOutput
from repoassay.grading.registry import get

RATE = 8000


def noise(seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=2 * RATE) / 10


def separated(folder: Path, *signals: Any) -> Path:
    folder.mkdir()
    for number, signal in enumerate(signals, 1):
        soundfile.write(folder / f"output_{number:02d}.wav", signal, RATE, subtype="DOUBLE")
    return folder


@pytest.mark.exhaustive
def test_speechbrain_01_wants_sdr_and_the_level(tmp_path: Path) -> None:
    boy, girl = noise(1), np.convolve(noise(2), [1, 0.9, 0.5])[: 2 * RATE]
    for name, voice in (("boy.wav", boy), ("girl.wav", girl)):
        soundfile.write(tmp_path / name, voice, RATE, subtype="DOUBLE")

    def margin(name: str, *signals: Any) -> float:
        folder = separated(tmp_path / name, *signals)
        return get("gtb_speechbrain_01").measure(folder, tmp_path / "boy.wav", beside="girl.wav").value

    near = 10 ** (-20 / 20)
    assert margin("exact", boy, girl) > 50
    assert margin("near", boy + near * boy.std() / 0.1 * noise(3), girl) == pytest.approx(20 - 12, abs=0.3)
    assert margin("swapped", girl, boy) > 50
    assert margin("half as loud", boy / 2, girl / 2) == pytest.approx(10 * math.log10(4) - 12)
    assert margin("mixture", boy + girl, boy + girl) < 0
    assert margin("a tenth of a second", boy[: RATE // 10], girl[: RATE // 10]) > 50
    with pytest.raises(UnreadableOutput, match="silent"):
        margin("silent", boy * 0, girl)
    with pytest.raises(UnreadableOutput):
        margin("one", boy)


def test_speechbrain_04_likes_a_copy_best(tmp_path: Path) -> None:
    pytest.importorskip("pesq")
    time = np.arange(64000) / 16000
    voiced = sum(np.sin(2 * np.pi * 140 * k * time) / k for k in range(1, 25))
    speech = 0.1 * voiced * np.clip(np.sin(2 * np.pi * 3 * time), 0, 1)
    noisy = speech + np.random.default_rng(1).normal(size=speech.size) / 100
    for name, samples in (("speech.wav", speech), ("noisy.wav", noisy)):
        soundfile.write(tmp_path / name, samples, 16000)
    judge = get("gtb_speechbrain_04").measure
    copy = judge(tmp_path / "noisy.wav", tmp_path / "noisy.wav").value
    assert copy == pytest.approx(4.6439, abs=1e-3)
    assert judge(tmp_path / "speech.wav", tmp_path / "noisy.wav").value < copy
    (tmp_path / "garbage.wav").write_bytes(b"garbage")
    with pytest.raises(UnreadableOutput):
        judge(tmp_path / "garbage.wav", tmp_path / "noisy.wav")


def test_invisiblewatermark_01_reads_256_bits(tmp_path: Path) -> None:
    message = np.unpackbits(np.frombuffer(b"invisible".ljust(32, b"\0"), np.uint8))
    height = width = 256
    tiles = np.resize(message, 1024).reshape(32, 32)
    # Blue alone, in tiles of 8 by 8: U falls into the lower half of a step for 0 and into the upper for 1.
    blue = 128 + np.kron(np.where(tiles == 1, 20, 2), np.ones((8, 8)))
    pixels = np.stack([np.full((height, width), 128.0)] * 2 + [blue], axis=2).astype(np.uint8)

    def judged(name: str, shown: Any, against: Any) -> float:
        for each, array in (("o", shown), ("t", against)):
            Image.fromarray(array).save(tmp_path / f"{name}-{each}.png")
        return (
            get("gtb_invisiblewatermark_embedded")
            .measure(tmp_path / f"{name}-o.png", tmp_path / f"{name}-t.png", text="invisible")
            .value
        )

    assert judged("same", pixels, pixels) == 200
    assert judged("darker", pixels, pixels - 10) == pytest.approx(20 * math.log10(25.5))
    assert math.isnan(judged("other size", pixels, pixels[:128]))
    assert math.isnan(judged("other text", pixels[:, ::-1].copy(), pixels))
    assert math.isnan(judged("small", pixels[:100, :100], pixels))
