"""What GitTaskBench's scripts for TransparentBackground decide (arXiv 2508.18993, scripts as of July 2025)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from repoassay.grading import Measurement, UnreadableOutput, content, mapped, metric, need, pixels, raster, steepness

__all__ = ["gtb_transparentbackground_01", "gtb_transparentbackground_02", "gtb_transparentbackground_03"]

_PACKAGES = ("numpy", "pillow", "opencv-python-headless")
_Read = TypeVar("_Read")


def _colourfulness(picture: Any) -> float:
    """Hasler and Suesstrunk's measure, but of absolute opponent values."""
    red, green, blue = (picture[..., channel] for channel in range(3))
    first, second = abs(red - green), abs(0.5 * (red + green) - blue)
    spread = float((first.var() + second.var()) ** 0.5)
    return spread + 0.3 * float((first.mean() ** 2 + second.mean() ** 2) ** 0.5)


def _by_opencv(path: Path) -> Any:
    """Colours in RGB order without alpha, as float64; a picture of one channel is refused."""
    numpy, cv2 = need("numpy"), need("cv2")
    data = content(path, 256 * 2**20)
    with mapped("an image"):
        with need("PIL.Image").open(path) as opened:  # its size alone, before OpenCV takes memory for it
            if opened.width * opened.height > 64_000_000:
                raise UnreadableOutput("it has too many pixels")
        found = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_UNCHANGED)
    if found is None or found.ndim != 3 or found.shape[2] not in (3, 4):
        raise UnreadableOutput("the script opens no picture of three or four channels")
    return found[..., 2::-1].astype(numpy.float64)


def _either(read: Callable[[Path], _Read], of: Path, against: Path) -> tuple[_Read, _Read]:
    return read(of), read(against)


@metric(
    "gtb_transparentbackground_01",
    unit="levels",
    span="(-inf, inf)",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, script of TransparentBackground_01",
    packages=_PACKAGES,
)
def gtb_transparentbackground_01(of: Path, against: Path) -> Measurement:
    """Colourfulness of the input less that of the output, whose alpha is not looked at."""
    ours, theirs = _either(_by_opencv, of, against)
    before, after = _colourfulness(theirs), _colourfulness(ours)
    return Measurement(before - after, f"{before:.2f} before, {after:.2f} after")


@metric(
    "gtb_transparentbackground_02",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, script of TransparentBackground_02",
    packages=_PACKAGES,
)
def gtb_transparentbackground_02(of: Path, against: Path) -> Measurement:
    """1 when 0.4 of all pixels are near the mean green and the rest differs by 200 at most, modulo 256."""
    numpy = need("numpy")
    ours, theirs = _either(raster, of, against)
    if ours.shape != theirs.shape:
        return Measurement(float("nan"), "the sizes differ, over which the script fails")
    red, green, blue = (ours[..., channel] for channel in range(3))
    margin = numpy.uint8(50)
    chosen = (green > red + margin) & (green > blue + margin)  # 8-bit sums wrap around, as in the script
    colour = ours[chosen].mean(0).astype(int) if chosen.any() else numpy.array([0, 255, 0])
    near = ((ours.astype(float) - colour) ** 2).sum(2) ** 0.5 < 70
    coverage = float(near.mean())
    wrapped = (ours - theirs)[~near]
    difference = float(wrapped.mean()) if wrapped.size else float("inf")
    passes = coverage >= 0.4 and difference <= 200
    return Measurement(float(passes), f"coverage {coverage:.3f}, difference of the rest {difference:.1f}")


@metric(
    "gtb_transparentbackground_03",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, script of TransparentBackground_03",
    packages=_PACKAGES,
)
def gtb_transparentbackground_03(of: Path, against: Path) -> Measurement:
    """1 when the weaker half of the output's edges averages 20 at most and the stronger half has changed by 0.2."""
    numpy = need("numpy")
    ours, theirs = _either(_edges, of, against)
    if ours.shape != theirs.shape:
        return Measurement(float("nan"), "the sizes differ, over which the script fails")
    middle = (ours.size - 1) // 2, ours.size // 2
    # The median; numpy's own imports all of numpy.ma, which costs more than measuring.
    weak = ours <= numpy.partition(ours, middle, None)[list(middle)].mean()
    if weak.all():
        return Measurement(0.0, "the output has no edges")
    blur, before = float(ours[weak].mean()), float(theirs[~weak].mean())
    change = abs(float(ours[~weak].mean()) - before) / before if before else float("inf")
    return Measurement(float(blur <= 20 and change <= 0.2), f"weaker half {blur:.2f}, change {change:.3f}")


def _edges(path: Path) -> Any:
    return steepness(pixels(path).mean(2))
