"""SuperResolution_02 and _03 as published: exact factor, and three comparisons with the bilinear enlargement.

SuperResolution_01 is an LPIPS distance and lies with the other measures that need networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.original_criteria.verified import peak_ratio, verified
from repoassay.grading import Measurement, metric, need, raster, reference, steepness, structural_similarity

__all__ = ["gtb_superresolution_edges", "gtb_superresolution_psnr", "gtb_superresolution_ssim"]

_SOURCE = "GitTaskBench, SuperResolution_02 and _03"
_NEVER = float("nan")


def _pair(of: Path, against: Path, factors: Sequence[float]) -> tuple[Any, Any, str]:
    """Output and bilinear enlargement as uint8, or None twice with the reason when the size is not allowed."""
    image, numpy = need("PIL.Image"), need("numpy")
    verified(of)
    reference(verified, against)
    ours, small = raster(of), reference(raster, against)
    allowed = [(round(small.shape[0] * each), round(small.shape[1] * each)) for each in factors]
    if ours.shape[:2] not in allowed:
        wanted_factors = " or ".join(f"{each:g}" for each in factors)
        return (
            None,
            None,
            f"{ours.shape[1]} x {ours.shape[0]} is not {wanted_factors} times {small.shape[1]} x {small.shape[0]}",
        )
    size = (ours.shape[1], ours.shape[0])
    return ours, numpy.asarray(image.fromarray(small).resize(size, image.Resampling.BILINEAR)), ""


@metric(
    "gtb_superresolution_psnr",
    unit="dB",
    span="[0, inf]",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
    packages=("numpy", "pillow"),
)
def gtb_superresolution_psnr(
    of: Path, against: Path, *, factors: Sequence[float] = (2,), allowances: Sequence[float] = ()
) -> Measurement:
    """PSNR against the bilinear enlargement; no value when the size is not one of `factors` times the original.

    `allowances` are decibels added for each of `factors`, where the script asks for less at a larger one. 100 for
    equal images, where the script has infinity.
    """
    ours, plain, trouble = _pair(of, against, factors)
    if trouble:
        return Measurement(_NEVER, trouble)
    height = reference(raster, against).shape[0]
    extra = dict(zip((round(height * each) for each in factors), allowances, strict=False)).get(ours.shape[0], 0.0)
    if (ours == plain).all():
        return Measurement(100.0, "it is the bilinear enlargement")
    found = peak_ratio(plain, ours)
    return Measurement(found + extra, f"{found:.2f} dB, allowance {extra:g}" if extra else "")


@metric(
    "gtb_superresolution_ssim",
    unit="ratio",
    span="[-1, 1]",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
    packages=("numpy", "pillow"),
)
def gtb_superresolution_ssim(of: Path, against: Path, *, factors: Sequence[float] = (2,)) -> Measurement:
    """SSIM in colour, 7 x 7 window, against the bilinear enlargement."""
    ours, plain, trouble = _pair(of, against, factors)
    if trouble:
        return Measurement(_NEVER, trouble)
    return Measurement(structural_similarity(plain, ours))


@metric(
    "gtb_superresolution_edges",
    unit="ratio",
    span="[0, inf)",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
    packages=("numpy", "pillow"),
)
def gtb_superresolution_edges(of: Path, against: Path, *, factors: Sequence[float] = (2,)) -> Measurement:
    """Mean Sobel magnitude over that of the bilinear enlargement; grey is the mean of the channels."""
    ours, plain, trouble = _pair(of, against, factors)
    if trouble:
        return Measurement(_NEVER, trouble)
    steep, base = (_mean_steepness(each) for each in (ours, plain))
    return Measurement(steep / base if base else _NEVER)


def _mean_steepness(image: Any) -> float:
    return float(steepness(image.astype("float64").mean(axis=2)).mean())
