"""What GitTaskBench's scripts for SpeechBrain decide."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.audio import filtered_sdr
from repoassay.benchmarks.gittaskbench.metrics.speech import error_rate
from repoassay.benchmarks.gittaskbench.metrics.waveforms import sound
from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import spaced_words, utf8
from repoassay.grading import Measurement, UnreadableOutput, content, metric, need

__all__ = ["gtb_speechbrain_01", "gtb_speechbrain_02", "gtb_speechbrain_03", "gtb_speechbrain_04",
           "gtb_speechbrain_05"]  # fmt: skip

_SOURCE = "GitTaskBench, arXiv 2508.18993, scripts SpeechBrain_01 to SpeechBrain_05"
_SOUND = ("numpy", "soundfile")
_RATE = 22050
_EXACT = 1e-20


@metric(
    "gtb_speechbrain_01",
    unit="dB above the limits",
    span="(-inf, inf)",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
    packages=_SOUND,
)
def gtb_speechbrain_01(of: Path, against: Path, *, beside: str) -> Measurement:
    """The smallest margin over SDR 8 dB and SNR 12 dB of `output_01.wav` and `output_02.wav`, permuted by SDR.

    All are cut to the shortest; the SNR knows no scaling. A failure to compute is no readable output to this script.
    """
    numpy = need("numpy")
    soundfile = need("soundfile")
    voices = (against, against.parent / beside)
    rate = int(soundfile.info(str(against)).samplerate)
    ours = [sound(of / f"output_{number:02d}.wav", rate) for number in (1, 2)]
    theirs = [sound(voice, rate) for voice in voices]
    length = min(map(len, [*ours, *theirs]))
    found, wanted = (numpy.stack([each[:length] for each in side]) for side in (ours, theirs))
    if not (abs(found).max(axis=1) > 0).all() or not (abs(wanted).max(axis=1) > 0).all():
        raise UnreadableOutput("one recording is silent, and the script stops")
    values = numpy.array([[filtered_sdr(each, voice) for voice in wanted] for each in found])
    order = max(
        itertools.permutations((0, 1)), key=lambda each: sum(values[place, voice] for place, voice in enumerate(each))
    )
    margins = []
    for place, voice in enumerate(order):
        rest = float(((wanted[voice] - found[place]) ** 2).sum())
        snr = 10 * math.log10(float((wanted[voice] ** 2).sum()) / rest) if rest else 200.0
        margins += [values[place, voice] - 8, snr - 12]
    return Measurement(float(min(margins)))


@metric(
    "gtb_speechbrain_02",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
    packages=_SOUND,
)
def gtb_speechbrain_02(of: Path, against: Path, *, beside: str) -> Measurement:
    """1 when both recordings can be read, are not silent, are no shorter than the reference, and are no copies of both.

    That is all a mean SDR from -100 to 200 dB asks for: copies to the last bit have 227 dB, noise has -29. Shorter
    recordings end the script with an error, and bytes that are no sound count as read.
    """
    paths = []
    for number in (1, 2):
        places = [of / f"output_{number:02d}{suffix}" for suffix in (".wav", ".mp3")]
        paths.append(next((place for place in places if place.exists()), places[0]))
    for path in paths:
        content(path, 256 * 2**20)
    copies = []
    for path, voice in zip(paths, (against, against.parent / beside), strict=True):
        wanted = sound(voice, _RATE)
        try:
            samples = sound(path, _RATE)
        except UnreadableOutput as error:
            return Measurement(math.nan, f"{path.name}: {error}")
        if len(samples) < len(wanted) or not samples[: len(wanted)].any():
            return Measurement(0.0, f"{path.name}: {len(samples)} samples for {len(wanted)}, or silence")
        found = samples[: len(wanted)]
        rest = found - float(found @ wanted) / float(wanted @ wanted) * wanted
        copies.append(float(rest @ rest) <= _EXACT * float(found @ found))
    return Measurement(float(not all(copies)), "copies of both references, above 200 dB" if all(copies) else "")


@metric(
    "gtb_speechbrain_03",
    unit="ratio",
    span="[0, inf)",
    better="lower",
    source=_SOURCE,
    needs_reference=True,
    packages=("rapidfuzz",),
)
def gtb_speechbrain_03(of: Path, against: Path) -> Measurement:
    """Word error rate of lower-cased, stripped text with its punctuation; only `.txt` in small letters is read."""
    data = content(of)
    if of.suffix != ".txt":
        raise UnreadableOutput("its name does not end in .txt")
    try:
        text = utf8(data)
    except UnreadableOutput as error:
        return Measurement(math.nan, str(error))
    ours, theirs = (spaced_words(each.strip().lower()) for each in (text, utf8(content(against))))
    return Measurement(error_rate(ours, theirs))


@metric(
    "gtb_speechbrain_04",
    unit="MOS-LQO",
    span="[1, 4.65]",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
    packages=_SOUND,
)
def gtb_speechbrain_04(of: Path, against: Path) -> Measurement:
    """Wide-band PESQ at 16 kHz against the noisy input, which is what the script takes for the reference."""
    numpy, pesq = need("numpy"), need("pesq")
    ours, theirs = sound(of, 16000), sound(against, 16000)
    length = min(len(ours), len(theirs))
    try:
        value = pesq.pesq(16000, theirs[:length].astype(numpy.float32), ours[:length].astype(numpy.float32), "wb")
    except (pesq.PesqError, ValueError, ZeroDivisionError) as error:
        return Measurement(math.nan, f"PESQ has no value: {error}")
    return Measurement(float(value))


@metric(
    "gtb_speechbrain_05",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
)
def gtb_speechbrain_05(of: Path, against: Path) -> Measurement:
    """1 when the value under `prediction` equals the reference's as Python compares them, so that 0 is false."""
    wanted = json.loads(content(against))["prediction"]
    try:
        found = json.loads(content(of).decode())["prediction"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise UnreadableOutput(f"the script finds no prediction: {type(error).__name__}: {error}"[:200]) from error
    return Measurement(float(found == wanted), f"prediction is {str(found)[:60]}")
