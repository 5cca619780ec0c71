"""VideoPose3D_01 as published: a score of 100 with deductions, which zeros and a single frame keep."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.poses import arrays
from repoassay.grading import Measurement, UnreadableOutput, metric, need

__all__ = ["gtb_videopose3d_01"]

_LIMBS = ((0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (5, 6), (0, 7), (7, 8), (8, 9), (8, 11), (8, 14))
"""Eleven links; those of the script are others, and no score near the threshold of 60 depends on which."""


@metric(
    "gtb_videopose3d_01",
    unit="points",
    span="[30, 100]",
    better="higher",
    source="GitTaskBench, VideoPose3D_01",
    packages=("numpy",),
)
def gtb_videopose3d_01(of: Path) -> Measurement:
    """100 less 20 for any NaN, up to 30 for limbs that change length and up to 20 for the largest jump.

    The script would unpickle what it is given; here arrays of Python objects are no output.
    """
    numpy = need("numpy")
    found = next(iter(arrays(of).values()))
    if found.ndim == 4 and found.shape[:2] == (1, 1):
        found = found[0]
    if found.ndim != 3 or found.shape[2] != 3 or found.dtype.kind not in "fiu" or not found.size:
        raise UnreadableOutput(f"its shape {found.shape} is not (frames, joints, 3)")
    found = found.astype(numpy.float64)
    score, notes = 100.0, []
    if numpy.isnan(found).any():
        score, notes = score - 20, ["it holds NaN"]
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mean of nothing is one of the script's ways to a full score
        limbs = [(a, b) for a, b in _LIMBS if max(a, b) < found.shape[1]]
        lengths = [numpy.linalg.norm(found[:, a] - found[:, b], axis=1) for a, b in limbs]
        variation = float(numpy.mean([each.std() / each.mean() for each in lengths])) if lengths else 0.0
        jumps = numpy.sqrt((numpy.diff(found, axis=0) ** 2).sum(axis=(1, 2)))
        largest = float(jumps.max()) if len(jumps) else 0.0
    if variation > 0.1:
        score -= min(30.0, 100 * variation)
        notes.append(f"limbs vary by {variation:.2f}")
    if largest > 1.0 and not math.isnan(largest):
        score -= min(20.0, 10 * largest)
        notes.append(f"the largest jump is {largest:.3g}")
    return Measurement(score, "; ".join(notes))
