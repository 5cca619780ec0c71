"""Metrics of cut-out pictures: how opaque the subject is and how transparent what surrounds it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.regions import cell_means, region_mask
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
def matte_opacity(
    of: Path, *, inside: Sequence[str] = (), outside: Sequence[str] = (), extreme: str = ""
) -> Measurement:
    """Mean opacity of a region: 0 wholly transparent, 1 opaque, as every picture without alpha is.

    With `extreme` that of the `lowest` or `highest` cell of a grid of 20 x 20: every part of a subject must be there,
    and no part of the background.

    `inside` and `outside` are lists of polygons, as in `region_difference`. Colours under transparent pixels do not
    matter.
    """
    alpha = pixels(of, "RGBA")[..., 3]
    mask = region_mask(alpha.shape[0], alpha.shape[1], inside, outside)
    if extreme:
        found = cell_means(alpha, mask)
        return Measurement((min(found) if extreme == "lowest" else max(found)) / 255, f"of {len(found)} cells")
    return Measurement(float(alpha[mask].mean()) / 255)
