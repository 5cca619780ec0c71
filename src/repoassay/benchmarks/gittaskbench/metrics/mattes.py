"""Metrics of cut-out pictures: how opaque the subject is and how transparent what surrounds it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.regions import region_mask
from repoassay.grading import Measurement, metric, pixels

__all__ = ["matte_opacity"]


@metric(
    "matte_opacity",
    unit="ratio",
    span="[0, 1]",
    better="neither",
    source="mean alpha within a region",
    packages=("numpy", "pillow"),
)
def matte_opacity(of: Path, *, inside: Sequence[str] = (), outside: Sequence[str] = ()) -> Measurement:
    """Mean opacity of a region: 0 wholly transparent, 1 opaque, as every picture without alpha is.

    `inside` and `outside` are lists of polygons, as in `region_difference`. Colours under transparent pixels do not
    matter.
    """
    alpha = pixels(of, "RGBA")[..., 3]
    return Measurement(float(alpha[region_mask(alpha.shape[0], alpha.shape[1], inside, outside)].mean()) / 255)
