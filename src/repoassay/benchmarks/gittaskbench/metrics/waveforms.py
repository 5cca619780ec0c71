"""Opening recordings within bounds: one channel, at the rate a measure is taken at."""

from __future__ import annotations

import io
import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.polyphase import resample_polyphase
from repoassay.grading import UnreadableOutput, content, mapped, need

__all__ = ["recordings", "resampled", "sound"]

_MOST_BYTES = 256 * 2**20
_MOST_SAMPLES = 32_000_000
_MOST_FILES = 1000
_RATES = range(1000, 400_001)
_KINDS = (".wav", ".mp3", ".flac", ".ogg", ".opus", ".aiff", ".aif", ".au", ".w64", ".caf")


def sound(path: Path, rate: int) -> Any:
    """A recording as an array (samples,) of float64 at `rate` Hz, its channels averaged; at most 32 million samples.

    Raises:
        UnreadableOutput: When the file is no recording that libsndfile reads, holds no samples, or ones that are no
            finite numbers.
    """
    numpy, soundfile = need("numpy"), need("soundfile")
    data = content(path, _MOST_BYTES)
    with mapped("a recording"), soundfile.SoundFile(io.BytesIO(data)) as opened:
        found, channels = int(opened.samplerate), int(opened.channels)
        if found not in _RATES or not 1 <= channels <= 64:
            raise UnreadableOutput(f"it has {channels} channels at {found} Hz")
        samples = opened.read(_MOST_SAMPLES // channels, dtype="float64", always_2d=True)
        if len(opened.read(1)):
            raise UnreadableOutput(f"it is longer than the {_MOST_SAMPLES} samples that are opened")
    if not len(samples):
        raise UnreadableOutput("it holds no samples")
    if not numpy.isfinite(samples).all() or abs(samples).max() > 1e12:
        raise UnreadableOutput("it holds samples that are no numbers of sound")
    return resampled(samples.mean(axis=1), found, rate)


def resampled(samples: Any, rate: int, wanted: int) -> Any:
    """Samples at another rate, by a polyphase filter; as they are when the rate is the same."""
    if rate == wanted:
        return samples
    # Rates that share little would need filters of millions of taps; the nearest simple ratio is not heard apart.
    ratio = Fraction(wanted, rate).limit_denominator(5000)
    return resample_polyphase(samples, ratio.numerator, ratio.denominator)


def recordings(folder: Path) -> list[Path]:
    """Recordings in a folder, by name: those called `output_...` if there are two or more, otherwise all.

    Where the folder itself has fewer than two, those in the folders it holds are taken too.
    """
    found: list[Path] = []
    for pattern in ("*", "*/*"):
        each = sorted(itertools.islice(folder.glob(pattern), _MOST_FILES))
        found += [path for path in each if path.suffix.lower() in _KINDS and _is_plain(path)]
        if len(found) > 1:
            break
    named = [path for path in found if path.name.lower().startswith("output_")]
    return named if len(named) > 1 else found


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and not path.parent.is_symlink()
