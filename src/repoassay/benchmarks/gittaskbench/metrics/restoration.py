"""Metrics of restored photos: what is left of a defect, set against what is left of the picture itself.

A filter that treats everything alike, such as a blur, takes away as much of the picture as of the defect and scores
about 1. Fine structure is grey minus its Gaussian with a standard deviation of 0.4 % of the width. An output of another
size is compared at the smaller of the two sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.regions import at_common_size, region_mask
from repoassay.errors import InfraFault
from repoassay.grading import Measurement, metric, need, pixels, reference

__all__ = ["noise_left", "traces_left", "traces_steepness"]

_FINE = 0.4
_BAND = 1.6
_MARGIN = 4.5
_MOST = 99.0
_PACKAGES = ("numpy", "pillow", "opencv-python-headless")


def _structures(of: Path, against: Path, mode: str = "L") -> tuple[Any, Any] | None:
    """Fine structure of the output and of the reference, (height, width[, 3]) each."""
    cv2 = need("cv2")
    pair = at_common_size(pixels(of, mode), reference(lambda path: pixels(path, mode), against))
    if pair is None:
        return None
    ours, theirs = (each - cv2.GaussianBlur(each, (0, 0), _FINE * each.shape[1] / 100) for each in pair)
    return ours, theirs


_APART = Measurement(_MOST, "it is much smaller or has other proportions")


@metric(
    "traces_left",
    unit="ratio",
    span="[0, 99]",
    better="lower",
    needs_reference=True,
    source="least squares share, of either sign, of the input's fine structure along traces, over the detail elsewhere",
    packages=_PACKAGES,
)
def traces_left(of: Path, against: Path, *, traces: Sequence[str]) -> Measurement:
    """How much of the scratches along `traces` is left, as a share of the detail left elsewhere.

    `traces` are lines in per cent of width and height, each `"x,y x,y"`. 1 for a copy, near 1 for a picture
    blurred as a whole, about 0 where the scratches are filled in and the rest is kept; 99 when nothing of the rest is
    left or proportions do not allow a comparison. A trace of the opposite sign counts as one, as does one in a single
    channel: the largest share of the three counts.
    """
    pair = _structures(of, against, "RGB")
    if pair is None:
        return _APART
    ours, theirs = pair
    band, apart = (_band(ours.shape[:2], traces, width) for width in (_BAND, _BAND + 2 * _MARGIN))
    apart = ~apart
    shares = (ours * theirs)[band].sum(axis=0) / (theirs**2)[band].sum(axis=0).clip(1e-9)
    share = float(max(shares, key=abs))
    rest = float((ours[apart] ** 2).mean() / max(float((theirs[apart] ** 2).mean()), 1e-9)) ** 0.5
    kept = min(rest, 1.0)
    detail = f"{share:.2f} of the scratches, {rest:.2f} of the detail elsewhere"
    return Measurement(min(abs(share) / kept, _MOST) if kept > 0.01 else _MOST, detail)


def _band(shape: tuple[int, int], traces: Sequence[str], width: float) -> Any:
    """Pixels within half of `width` (per cent of the picture's width) of a trace, (height, width) of bool."""
    numpy, cv2 = need("numpy"), need("cv2")
    canvas = numpy.zeros(shape, numpy.uint8)
    scale = numpy.array([shape[1], shape[0]]) / 100
    for trace in traces:
        try:
            points = numpy.array([[float(number) for number in point.split(",")] for point in trace.split()])
            placed = numpy.rint(points * scale).astype(numpy.int32)
        except ValueError as error:
            raise InfraFault(f"The trace {trace[:40]!r} of a criterion cannot be read.") from error
        cv2.polylines(canvas, [placed], False, 1, max(3, round(width * shape[1] / 100)))
    if not canvas.any():
        raise InfraFault("The traces of a criterion lie outside the picture.", "Correct them.")
    return canvas > 0


@metric(
    "noise_left",
    unit="ratio",
    span="[0, 99]",
    better="lower",
    needs_reference=True,
    source="fine structure left in a flat region, over the least squares share of the rest that is kept",
    packages=_PACKAGES,
)
def noise_left(of: Path, against: Path, *, flat: Sequence[str]) -> Measurement:
    """How much noise is left in a flat region, as a share of how much true detail is kept elsewhere.

    `flat` are polygons, as in `region_difference`, of a region that shows nothing but noise. Elsewhere the strongest
    third of the reference's fine structure counts as detail. 1 for a copy, about 1 or more for a blurred, re-encoded,
    sharpened or brighter copy, well below 1 for a picture that was denoised and kept sharp.
    """
    numpy, pair = need("numpy"), _structures(of, against)
    if pair is None:
        return _APART
    ours, theirs = pair
    noisy = region_mask(ours.shape[0], ours.shape[1], flat)
    strength = abs(theirs)
    detail = ~noisy & (strength > numpy.quantile(strength[~noisy], 2 / 3))
    noise = float((ours[noisy] ** 2).mean() / max(float((theirs[noisy] ** 2).mean()), 1e-9)) ** 0.5
    kept = float((ours * theirs)[detail].sum()) / max(float((theirs**2)[detail].sum()), 1e-9)
    detail_text = f"{noise:.2f} of the noise, {kept:.2f} of the detail"
    return Measurement(min(noise / kept, _MOST) if kept > 0.01 else _MOST, detail_text)


@metric(
    "traces_steepness",
    unit="ratio",
    span="[0, 99]",
    better="lower",
    needs_reference=True,
    source="root mean square of fine structure along traces over that elsewhere, as a multiple of the input's ratio",
    packages=_PACKAGES,
)
def traces_steepness(of: Path, against: Path, *, traces: Sequence[str]) -> Measurement:
    """How far the traces still stand out, whatever was drawn there: 1 for a copy, below 1 once they are filled in.

    Traces painted over in black, white, another colour or with noise stand out as much as the scratches did; 99 when
    nothing of the rest is left or proportions do not allow a comparison. The channel where it is most counts.
    """
    pair = _structures(of, against, "RGB")
    if pair is None:
        return _APART
    band, near = (_band(pair[0].shape[:2], traces, width) for width in (_BAND, _BAND + 2 * _MARGIN))
    near &= ~_band(pair[0].shape[:2], traces, _BAND + _MARGIN)
    along, aside = ([(each[where] ** 2).mean(axis=0) ** 0.5 for each in pair] for where in (band, near))
    if float(aside[0].min()) < 0.01:
        return Measurement(_MOST, "nothing is left beside the traces")
    return Measurement(min(_MOST, float(((along[0] / aside[0]) / (along[1] / aside[1])).max())))
