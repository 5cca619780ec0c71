"""Sounds made wrong: in time, in level, in channels, by noise, or another sound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from repoassay.mutants.outputs.mutant import Expected, OutputChange, RightOutput, Same

__all__ = ["SUFFIXES", "sound_changes"]

SUFFIXES = frozenset({".wav", ".flac", ".mp3", ".ogg"})
Samples = Any
"""float64, (samples, channels), -1 to 1"""


def sound_changes(source: RightOutput) -> Iterator[OutputChange]:
    """Every mutant of a sound."""
    import soundfile

    right, rate = soundfile.read(source.path, always_2d=True)
    inputs = []
    for path in source.inputs:
        if path.suffix.lower() in SUFFIXES:
            samples, own = soundfile.read(path, always_2d=True)
            inputs.append((samples, own))
    for name, change in _wrong(right, rate, source.seed):
        yield OutputChange(name, partial(_write, right, rate, change))
    for name, factor in (("rate-double", 2.0), ("rate-half", 0.5)):
        yield OutputChange(name, partial(_write, None, round(rate * factor), lambda: right))
    for number, (samples, own) in enumerate(inputs):
        tag = f"-{number + 1}" if len(inputs) > 1 else ""
        yield OutputChange(f"input{tag}", partial(_write, None, own, partial(_as_is, samples)))
        fitted = _fitted(samples, own, right, rate)
        if _loudness(fitted - right) > 1e-3 * _loudness(right):
            yield OutputChange(f"half-undone{tag}", partial(_write, right, rate, partial(_halves, fitted, right)))
            yield OutputChange(f"blend-50{tag}", partial(_write, right, rate, partial(_blend, fitted, right)))
    yield OutputChange("quieter", partial(_write, right, rate, lambda: right * 0.5), Expected.OPEN)
    yield OutputChange("same-samples", partial(_write, None, rate, lambda: right), Expected.RIGHT)
    yield OutputChange(
        "noise-slight", partial(_write, None, rate, partial(_noisy, right, 60, source.seed)), Expected.RIGHT
    )
    if {".flac", ".wav"} <= set(source.formats):
        other = ".flac" if source.path.suffix.lower() == ".wav" else ".wav"
        yield OutputChange(f"as-{other[1:]}", partial(_write, None, rate, lambda: right), Expected.RIGHT, suffix=other)


def _wrong(right: Samples, rate: int, seed: int) -> Iterator[tuple[str, Callable[[], Samples]]]:
    import numpy as np

    count = len(right)
    if right.shape[1] > 1:
        yield "channels-swapped", lambda: right[:, ::-1]
        yield "one-channel-silent", lambda: right * ([0.0] + [1.0] * (right.shape[1] - 1))
    yield "first-half", lambda: right[: count // 2]
    yield "silence-middle", lambda: _cut(right, count // 3, count * 2 // 3)
    yield "silence-second-half", lambda: _cut(right, count // 2, count)
    yield "reversed", lambda: right[::-1]
    yield "silent", lambda: right * 0
    yield "noise", lambda: _noisy(right, 0, seed)
    yield "noise-alone", lambda: np.random.default_rng(seed).normal(0, 0.1, right.shape)
    yield "clipped", lambda: np.clip(right * 40, -0.5, 0.5)
    yield "muffled", lambda: _muffled(right, max(8, rate // 400))
    yield "doubled", lambda: np.concatenate([right, right])
    yield "tone", lambda: np.repeat(0.3 * np.sin(np.arange(count) * 2 * np.pi * 440 / rate)[:, None],
                                    right.shape[1], axis=1)  # fmt: skip
    yield "pieces-shuffled", lambda: _shuffled(right, seed)


def _loudness(samples: Samples) -> float:
    """Mean magnitude."""
    return float(abs(samples).mean())


def _as_is(samples: Samples) -> Samples:
    return samples


def _write(right: Samples | None, rate: int, change: Callable[[], Samples], place: Path) -> None:
    import soundfile

    variant = change().clip(-1, 1)
    comparable = right is not None and variant.shape == right.shape
    if comparable and _loudness(variant - right) < 0.01 * _loudness(right):
        raise Same
    soundfile.write(place, variant, rate)


def _cut(right: Samples, start: int, end: int) -> Samples:
    variant = right.copy()
    variant[start:end] = 0
    return variant


def _noisy(right: Samples, below: float, seed: int) -> Samples:
    """With white noise so many decibels below it."""
    import numpy as np

    level = float(np.sqrt((right**2).mean())) * 10 ** (-below / 20)
    return right + np.random.default_rng(seed).normal(0, level or 1e-6, right.shape)


def _muffled(right: Samples, width: int) -> Samples:
    import numpy as np

    window = np.ones(width) / width
    return np.stack([np.convolve(channel, window, mode="same") for channel in right.T], axis=1)


def _shuffled(right: Samples, seed: int) -> Samples:
    import numpy as np

    pieces = np.array_split(right, 10)
    return np.concatenate([pieces[place] for place in np.random.default_rng(seed).permutation(len(pieces))])


def _fitted(samples: Samples, own: int, right: Samples, rate: int) -> Samples:
    """An input at the rate, length and number of channels of the output."""
    import numpy as np

    times = np.arange(len(right)) / rate
    mono = np.interp(times, np.arange(len(samples)) / own, samples.mean(axis=1), right=0)
    return np.repeat(mono[:, None], right.shape[1], axis=1)


def _halves(samples: Samples, right: Samples) -> Samples:
    variant = right.copy()
    variant[: len(variant) // 2] = samples[: len(variant) // 2]
    return variant


def _blend(samples: Samples, right: Samples) -> Samples:
    return (samples + right) / 2
