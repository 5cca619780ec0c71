"""Metrics of recordings against recordings: how much of a signal is what it should be, and how speech sounds."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.waveforms import recordings, sound
from repoassay.grading import Measurement, UnreadableOutput, metric, need, reference

__all__ = ["audio_si_sdr", "audio_snr", "filtered_sdr", "separation_sdr", "si_sdr", "speech_pesq", "speech_stoi"]

_MOST, _LEAST = 100.0, -100.0
_TAPS = 512
_REACH = 0.5
"""Seconds a separated voice may be late or early."""


def _decibels(signal: float, rest: float) -> float:
    if signal <= 0:
        return _LEAST
    return max(_LEAST, min(_MOST, 10 * math.log10(signal / rest))) if rest > 0 else _MOST


def si_sdr(ours: Any, theirs: Any) -> float:
    """Scale-invariant signal-to-distortion ratio in dB of two arrays of equal length, means removed."""
    ours, theirs = ours - ours.mean(), theirs - theirs.mean()
    power = float(theirs @ theirs)
    if power == 0:
        return _LEAST
    target = float(ours @ theirs) / power * theirs
    rest = ours - target
    return _decibels(float(target @ target), float(rest @ rest))


def _as_long(samples: Any, length: int) -> Any:
    """Cut, or filled up with silence, to a length."""
    numpy = need("numpy")
    return numpy.pad(samples[:length], (0, max(0, length - len(samples))))


def _pair(of: Path, against: Path, rate: int) -> tuple[Any, Any]:
    ours, theirs = sound(of, rate), reference(lambda path: sound(path, rate), against)
    return _as_long(ours, len(theirs)), theirs


@metric(
    "audio_snr",
    unit="dB",
    span="[-100, 100]",
    better="higher",
    needs_reference=True,
    source="10 log10 of the reference's energy over the difference's",
    packages=("numpy", "scipy", "soundfile"),
)
def audio_snr(of: Path, against: Path, *, rate: int = 16000) -> Measurement:
    """Signal-to-noise ratio at `rate` Hz, one channel, cut or filled up to the reference; level and delay count."""
    ours, theirs = _pair(of, against, rate)
    return Measurement(_decibels(float(theirs @ theirs), float((theirs - ours) @ (theirs - ours))))


@metric(
    "audio_si_sdr",
    unit="dB",
    span="[-100, 100]",
    better="higher",
    needs_reference=True,
    source="Le Roux et al. 2019, SDR - half-baked or well done?",
    packages=("numpy", "scipy", "soundfile"),
)
def audio_si_sdr(of: Path, against: Path, *, rate: int = 16000) -> Measurement:
    """Scale-invariant signal-to-distortion ratio at `rate` Hz, one channel, cut or filled up to the reference."""
    return Measurement(si_sdr(*_pair(of, against, rate)))


@metric(
    "separation_sdr",
    unit="dB",
    span="[-100, 100]",
    better="higher",
    needs_reference=True,
    source="Vincent et al. 2006, BSS Eval, filters of 512 taps, or Le Roux et al. 2019; best permutation, worst voice",
    packages=("numpy", "scipy", "soundfile"),
)
def separation_sdr(
    of: Path, against: Path, *, beside: Sequence[str], rate: int = 8000, scale_invariant: bool = False
) -> Measurement:
    """Signal-to-distortion ratio of the voice that was separated worst, under the best assignment of files to voices.

    Args:
        of: A folder with one recording for each voice, of any format, rate, level and number of channels; shifted by
            up to half a second, it is shifted back, and what it lacks in length is silence; what it has beyond the
            longest voice is distortion.
        against: The first reference.
        beside: Names of the other references, in the same folder.
        rate: Samples a second at which it is measured.
        scale_invariant: Forgive a voice another level alone, not another filter.

    A recording without sound gives -100 dB; more recordings than voices give no value.

    Raises:
        UnreadableOutput: When there are fewer recordings than voices, or one cannot be read.
    """
    numpy = need("numpy")
    voices = [against, *(against.parent / name for name in beside)]
    theirs = [reference(lambda path: sound(path, rate), path) for path in voices]
    length = min(map(len, theirs))
    found = recordings(of)
    if len(found) < len(voices):
        raise UnreadableOutput(f"it holds {len(found)} recordings for {len(voices)} voices")
    if len(found) > len(voices):
        return Measurement(math.nan, f"it holds {len(found)} recordings for {len(voices)} voices")
    ours = [sound(path, rate) for path in found]
    targets = [voice[:length] for voice in theirs]
    end = max(map(len, theirs)) + int(_REACH * rate)
    values = numpy.array(
        [[_with_rest(_voice_sdr(one, other, rate, scale_invariant), one, end) for other in targets] for one in ours]
    )
    orders = list(itertools.permutations(range(len(voices))))
    best = max(orders, key=lambda order: sum(values[place, voice] for place, voice in enumerate(order)))
    each = {path.name: values[place, voice] for place, (path, voice) in enumerate(zip(found, best, strict=True))}
    return Measurement(float(min(each.values())), ", ".join(f"{name} {value:.1f} dB" for name, value in each.items()))


def _with_rest(value: float, ours: Any, end: int) -> float:
    """A ratio in dB with what comes after `end` counted as distortion."""
    rest, within = float(ours[end:] @ ours[end:]), float(ours[:end] @ ours[:end])
    if rest <= 0:
        return value
    if within <= 0:
        return _LEAST
    part = 1 / (1 + 10 ** (-value / 10))
    return _decibels(part, 1 - part + rest / within)


def _voice_sdr(ours: Any, theirs: Any, rate: int, scale_invariant: bool) -> float:
    # The filter that is forgiven cannot look ahead; a little delay lets it undo one that rings on both sides.
    behind = 0 if scale_invariant else _TAPS // 8
    ours, theirs = (
        _in_time(ours, theirs, int(_REACH * rate), behind),
        _as_long(theirs - theirs.mean(), len(theirs) + behind),
    )
    if float(ours @ ours) <= 1e-12 * len(ours) or not theirs.any():
        return _LEAST
    if scale_invariant:
        return si_sdr(ours, theirs)
    return filtered_sdr(ours, theirs)


def filtered_sdr(ours: Any, theirs: Any) -> float:
    """Signal-to-distortion ratio in dB, -100 to 100, of two arrays of equal length, a filter of 512 taps forgiven.

    The target is what of `ours` a causal filter makes of `theirs`, both taken as silent outside their length.
    """
    numpy = need("numpy")
    ours, theirs = (each / numpy.sqrt(each @ each) for each in (ours, theirs))
    size = 1 << (len(ours) + _TAPS).bit_length()
    heard, voice = (numpy.fft.rfft(each, size) for each in (ours, theirs))
    own = numpy.fft.irfft(abs(voice) ** 2, size)[:_TAPS]
    own[0] += 1e-12  # a pure tone has no unique filter
    shared = numpy.fft.irfft(heard * voice.conj(), size)[:_TAPS]
    try:
        taps = numpy.arange(_TAPS)
        part = float(shared @ numpy.linalg.solve(own[abs(taps[:, None] - taps)], shared))
    except numpy.linalg.LinAlgError:
        return _LEAST
    return _decibels(part, max(0.0, 1 - part)) if math.isfinite(part) else _LEAST


def _in_time(ours: Any, theirs: Any, reach: int, behind: int) -> Any:
    """`ours`, its mean removed, moved to `behind` samples after where it is most like `theirs`, and that much longer.

    It is moved by at most `reach` samples, and cut or filled up with silence.
    """
    numpy = need("numpy")
    ours = ours[: len(theirs) + reach] - ours[: len(theirs) + reach].mean()
    whole = len(ours) + len(theirs) - 1
    size = 1 << whole.bit_length()
    heard, voice = numpy.fft.rfft(ours, size), numpy.fft.rfft(theirs[::-1], size)
    alike = abs(numpy.fft.irfft(heard * voice, size)[:whole])
    middle = len(theirs) - 1
    near = alike[max(0, middle - reach) : middle + reach + 1]
    delay = int(near.argmax()) - min(reach, middle) - behind
    moved = ours[delay:] if delay > 0 else numpy.concatenate([numpy.zeros(-delay), ours])
    return _as_long(moved, len(theirs) + behind)


@metric(
    "speech_pesq",
    unit="MOS-LQO",
    span="[1, 4.65]",
    better="higher",
    needs_reference=True,
    source="ITU-T P.862.2, wide band at 16 kHz, package pesq 0.0.4",
    # pesq itself is asked for when it is needed: a suite whose only task for it lacks its data must run without.
    packages=("numpy", "scipy", "soundfile"),
)
def speech_pesq(of: Path, against: Path) -> Measurement:
    """Perceived quality of speech against clean speech, both at 16 kHz and cut to the shorter; 4.64 for equal files.

    No value when either is too short or holds no speech.
    """
    numpy, pesq = need("numpy"), need("pesq")
    ours, theirs = sound(of, 16000), reference(lambda path: sound(path, 16000), against)
    length = min(len(ours), len(theirs))
    try:
        value = float(
            pesq.pesq(16000, theirs[:length].astype(numpy.float32), ours[:length].astype(numpy.float32), "wb")
        )
    except (pesq.PesqError, ValueError, ZeroDivisionError) as error:
        return Measurement(math.nan, f"PESQ has no value: {error}")
    return Measurement(value)


@metric(
    "speech_stoi",
    unit="ratio",
    span="[-1, 1]",
    better="higher",
    needs_reference=True,
    source="Taal et al. 2011, short-time objective intelligibility, package pystoi 0.4",
    packages=("numpy", "scipy", "soundfile"),
)
def speech_stoi(of: Path, against: Path, *, extended: bool = False) -> Measurement:
    """Intelligibility of speech against clean speech at 10 kHz, cut to the shorter; no value below half a second."""
    pystoi = need("pystoi")
    ours, theirs = sound(of, 10000), reference(lambda path: sound(path, 10000), against)
    length = min(len(ours), len(theirs))
    if length < 5000:
        return Measurement(math.nan, "it is shorter than half a second")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(pystoi.stoi(theirs[:length], ours[:length], 10000, extended=extended))
    return Measurement(value)
