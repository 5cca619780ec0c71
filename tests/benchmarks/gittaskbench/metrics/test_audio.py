"""Recordings: ratios against closed forms, BSS Eval against least squares, PESQ and STOI against published values."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import fast_bss_eval
import numpy as np
import pytest
import soundfile

from repoassay.benchmarks.gittaskbench.metrics.audio import filtered_sdr
from repoassay.benchmarks.gittaskbench.metrics.waveforms import recordings, sound
from repoassay.errors import InfraFault
from repoassay.grading.protocol import UnreadableOutput
from repoassay.grading.registry import get

RATE = 8000


def save(path: Path, samples: Any, rate: int = RATE, **options: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    soundfile.write(path, samples, rate, **{"subtype": "DOUBLE", **options})
    return path


def value(name: str, *arguments: Path, **options: object) -> float:
    return get(name).measure(*arguments, **options).value


def noise(seed: int, seconds: float = 2.0, rate: int = RATE) -> Any:
    return np.random.default_rng(seed).normal(size=round(seconds * rate)) / 10


def speechlike(seed: int, rate: int = 16000, seconds: float = 4.0) -> Any:
    """Noise shaped into syllables of a voiced sound: what PESQ and STOI take for speech."""
    time = np.arange(round(rate * seconds)) / rate
    chance = np.random.default_rng(seed)
    voiced = sum(np.sin(2 * np.pi * 140 * k * time + chance.uniform(0, 6)) / k for k in range(1, 25))
    syllables = np.clip(np.sin(2 * np.pi * 3 * time + chance.uniform(0, 6)), 0, 1) * (time % 2 < 1.6)
    return 0.1 * (voiced + chance.normal(size=time.size) / 10) * syllables


def test_ratios_in_closed_form(tmp_path: Path) -> None:
    wave, other = noise(1), noise(2)
    wave, other = wave - wave.mean(), other - other.mean()
    other -= (other @ wave) / (wave @ wave) * wave  # at a right angle, so that the ratio is known
    other *= np.sqrt((wave @ wave) / (other @ other))
    truth, near = save(tmp_path / "t.wav", wave), save(tmp_path / "n.wav", wave + other / 10)
    assert value("audio_snr", near, truth, rate=RATE) == pytest.approx(20)
    assert value("audio_si_sdr", near, truth, rate=RATE) == pytest.approx(20)
    quiet = save(tmp_path / "q.wav", (wave + other / 10) / 7)
    assert value("audio_si_sdr", quiet, truth, rate=RATE) == pytest.approx(20)
    assert value("audio_snr", quiet, truth, rate=RATE) == pytest.approx(
        -20 * math.log10(np.sqrt((6 / 7) ** 2 + 1 / 4900))
    )
    assert value("audio_snr", truth, truth, rate=RATE) == value("audio_si_sdr", truth, truth, rate=RATE) == 100
    assert value("audio_si_sdr", save(tmp_path / "z.wav", wave * 0), truth, rate=RATE) == -100


def separated(folder: Path, *signals: Any, rate: int = RATE, **options: Any) -> Path:
    for number, signal in enumerate(signals, 1):
        save(folder / f"output_{number:02d}.wav", signal, rate, **options)
    return folder


@pytest.fixture
def voices(tmp_path: Path) -> tuple[Any, Any]:
    one, other = noise(3), np.cumsum(noise(4)) / 10
    save(tmp_path / "one.wav", one)
    save(tmp_path / "other.wav", other)
    return one, other


def sdr(tmp_path: Path, folder: Path, **options: Any) -> float:
    return value("separation_sdr", folder, tmp_path / "one.wav", beside=["other.wav"], rate=RATE, **options)


def test_sdr_is_what_least_squares_says(tmp_path: Path, voices: tuple[Any, Any]) -> None:
    one, other = voices
    mixed = one + 0.3 * noise(5)
    wanted = one - one.mean()
    # Filters of 512 taps that may look 64 samples ahead, by brute force.
    columns = np.stack([np.roll(np.pad(one, 512), shift)[512:-512] for shift in range(-64, 448)], axis=1)
    found = columns @ np.linalg.solve(columns.T @ columns, columns.T @ mixed)  # the normal equations
    expected = 10 * math.log10((found @ found) / ((mixed - found) @ (mixed - found)))
    assert len(wanted) == len(found)
    assert sdr(tmp_path, separated(tmp_path / "out", mixed, other)) == pytest.approx(expected, abs=0.1)


def test_what_comes_after_the_longest_voice_is_distortion(tmp_path: Path, voices: tuple[Any, Any]) -> None:
    one, other = voices
    silence = np.zeros(RATE)
    later = separated(tmp_path / "late", np.concatenate([one, silence]), np.concatenate([other, silence]))
    assert sdr(tmp_path, later) > 8
    twice = separated(tmp_path / "twice", np.concatenate([one, one]), other)
    assert sdr(tmp_path, twice) < 4


@pytest.mark.parametrize("level", [0.01, 0.3, 1, 5])
def test_sdr_is_that_of_another_library(level: float) -> None:
    wave = np.cumsum(noise(3)) / 10
    heard = np.convolve(wave, [0.2, 1, 0.4])[: len(wave)] + level * noise(5)
    expected = fast_bss_eval.sdr(wave[None], heard[None], filter_length=512)[0]
    assert filtered_sdr(heard, wave) == pytest.approx(float(expected), abs=1e-3)


@pytest.mark.exhaustive
def test_order_level_rate_channels_delay_and_filters_are_forgiven(tmp_path: Path, voices: tuple[Any, Any]) -> None:
    one, other = voices
    for number, signals in enumerate(
        [
            (other, one),
            (-one / 50, other * 3),
            (np.stack([one, one], axis=1), np.stack([other, other], axis=1)),
            (np.concatenate([np.zeros(2000), one]), other),
            (one[:-400], other),
            (np.convolve(one, [0.5, 0.3, 0.2]), other),
        ]
    ):
        assert sdr(tmp_path, separated(tmp_path / f"out{number}", *signals)) > 12
    doubled = [np.repeat(voice, 2) for voice in voices]
    assert sdr(tmp_path, separated(tmp_path / "fast", *doubled, rate=2 * RATE)) > 12


@pytest.mark.exhaustive
def test_what_is_not_separated(tmp_path: Path, voices: tuple[Any, Any]) -> None:
    one, other = voices
    other = other * np.sqrt((one @ one) / (other @ other))
    mixture = one + other
    for number, signals in enumerate(
        [
            (mixture, mixture),
            (one, one),
            (one, mixture),
            (one, other * 0),
            (one * 0 + 0.5, other * 0 - 0.5),
            (noise(6), noise(7)),
            (one[::-1], other[::-1]),
            (one[:1], other[:1]),
        ]
    ):
        folder = separated(tmp_path / f"out{number}", *signals)
        assert sdr(tmp_path, folder) < 5
        assert sdr(tmp_path, folder, scale_invariant=True) < 5


@pytest.mark.long
def test_a_filter_is_no_level(tmp_path: Path, voices: tuple[Any, Any]) -> None:
    echo = np.zeros(200)
    echo[[0, 150]] = 1, 0.7
    folder = separated(tmp_path / "out", np.convolve(voices[0], echo), voices[1])
    assert sdr(tmp_path, folder) > 12
    assert sdr(tmp_path, folder, scale_invariant=True) < 5


def test_how_many_recordings(tmp_path: Path, voices: tuple[Any, Any]) -> None:
    with pytest.raises(UnreadableOutput, match="1 recordings for 2"):
        sdr(tmp_path, separated(tmp_path / "a", voices[0]))
    assert math.isnan(sdr(tmp_path, separated(tmp_path / "b", *voices, voices[0])))
    folder = separated(tmp_path / "c", *voices)
    save(folder / "mixture.wav", sum(voices))
    (folder / "output_03.wav").symlink_to(folder / "mixture.wav")
    assert [path.name for path in recordings(folder)] == ["output_01.wav", "output_02.wav"]
    assert sdr(tmp_path, folder) > 50


def test_a_broken_reference_is_ours(tmp_path: Path) -> None:
    truth = tmp_path / "t.wav"
    truth.write_bytes(b"RIFF")
    with pytest.raises(InfraFault):
        value("audio_snr", save(tmp_path / "o.wav", noise(1)), truth)


@pytest.mark.parametrize("content", [b"", b"RIFF", b"ID3" + bytes(99), b"fLaC" * 99, bytes(range(256)) * 40])
def test_no_recording(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "o.wav").write_bytes(content)
    with pytest.raises(UnreadableOutput):
        sound(tmp_path / "o.wav", RATE)


@pytest.mark.long
def test_samples_that_are_no_sound(tmp_path: Path) -> None:
    for number in (math.nan, math.inf, 1e200):
        with pytest.raises(UnreadableOutput):
            sound(save(tmp_path / "o.wav", noise(1) * 0 + number), RATE)
    with pytest.raises(UnreadableOutput, match="no samples"):
        sound(save(tmp_path / "e.wav", noise(1)[:0]), RATE)
    with pytest.raises(UnreadableOutput, match="longer"):
        sound(save(tmp_path / "long.flac", np.zeros(32_100_000, np.int16), subtype="PCM_16"), RATE)
    assert len(sound(save(tmp_path / "odd.wav", noise(1), 44_099), RATE)) == pytest.approx(16000 * RATE / 44_099, abs=2)


def test_pesq_of_equal_files_and_of_worse_ones(tmp_path: Path) -> None:
    pytest.importorskip("pesq")
    clean = speechlike(1)
    truth = save(tmp_path / "t.wav", clean, 16000)
    assert value("speech_pesq", truth, truth) == pytest.approx(4.6439, abs=1e-3)  # the top of the P.862.2 mapping
    noisy = [value("speech_pesq", save(tmp_path / "n.wav", clean + noise(1, 4, 16000) * level, 16000), truth)
             for level in (0.02, 0.2, 1)]  # fmt: skip
    assert 4.6 > noisy[0] > noisy[1] > noisy[2] >= 1
    assert math.isnan(value("speech_pesq", save(tmp_path / "s.wav", clean[:800], 16000), truth))


def test_stoi_of_equal_files_and_of_worse_ones(tmp_path: Path) -> None:
    pytest.importorskip("pystoi")
    clean = speechlike(2)
    truth = save(tmp_path / "t.wav", clean, 16000)
    assert value("speech_stoi", truth, truth) == pytest.approx(1, abs=1e-3)
    some, much = (value("speech_stoi", save(tmp_path / "n.wav", clean + noise(1, 4, 16000) * level, 16000), truth)
                  for level in (0.2, 5))  # fmt: skip
    assert 0.999 > some > much
    assert math.isnan(value("speech_stoi", save(tmp_path / "s.wav", clean[:4000], 16000), truth))
