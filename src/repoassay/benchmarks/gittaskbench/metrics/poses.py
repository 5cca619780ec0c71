"""Metrics of three-dimensional poses in time: arrays (frames, joints, 3) in .npy or .npz files, in any unit.

Nothing is ever unpickled: an array of Python objects could run code. No skeleton is assumed, because tools number
joints in many ways: the rigid links are found in the data.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from repoassay.grading import Measurement, UnreadableOutput, content, mapped, metric, need

__all__ = ["arrays", "pose_depth", "pose_frames", "pose_looseness", "pose_motion", "pose_repeats", "poses"]

_PACKAGES = ("numpy",)
_MOST = 128 * 2**20
_MOST_ARRAYS = 64
_MOST_JOINTS = 200
_APART, _STILL = 0.5, 1e-18
"""Autocorrelation below which poses have moved on, and power below which nothing moves."""
_SOURCE = "RepoAssay"


def arrays(path: Path) -> dict[str, Any]:
    """The arrays of a .npy (named `array`) or .npz file, in the order in which they are stored.

    Raises:
        UnreadableOutput: When it is neither, holds Python objects alone, unpacks to more than 128 MiB, or is cut off.
    """
    data = content(path, _MOST)
    with mapped("an array"):
        if not data.startswith(b"PK"):
            array = _array(data)
            if array is None:
                raise UnreadableOutput("it holds Python objects, which are never unpickled")
            return {"array": array}
        found: dict[str, Any] = {}
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > _MOST_ARRAYS or sum(member.file_size for member in members) > _MOST:
                raise UnreadableOutput("it unpacks to more than is opened")
            for member in members:
                with archive.open(member) as packed:
                    raw = packed.read(member.file_size)
                array = _array(raw)
                if array is not None:
                    found[member.filename.removesuffix(".npy")] = array
        if not found:
            raise UnreadableOutput("it holds no array, or Python objects alone, which are never unpickled")
        return found


def _array(raw: bytes) -> Any:
    """An array in NumPy's format; None when it holds Python objects. Nothing is allocated that is not there."""
    form, stream = need("numpy").lib.format, io.BytesIO(raw)
    version = form.read_magic(stream)
    read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        return None
    if math.prod(shape) * dtype.itemsize > len(raw):
        raise UnreadableOutput(f"it is cut off: {shape} numbers are announced")
    stream.seek(0)
    return form.read_array(stream, allow_pickle=False)


def poses(path: Path) -> Any:
    """The first array of shape (frames, joints, 3), axes of length 1 aside, as float64.

    Raises:
        UnreadableOutput: As `arrays`, and when there is no such array of numbers.
    """
    numpy = need("numpy")
    found = arrays(path)
    for array in found.values():
        if array.dtype.kind not in "fiu" or array.ndim < 3 or array.shape[-1] != 3:
            continue
        spare = array.ndim - 3
        kept = [length for length in array.shape if length != 1]
        shape = array.shape[spare:] if set(array.shape[:spare]) <= {1} else tuple(kept)
        if len(shape) == 3 and 0 < shape[1] <= _MOST_JOINTS and shape[0] > 0:
            return array.reshape(shape).astype(numpy.float64)
    shapes = ", ".join(f"{name} {array.shape}" for name, array in list(found.items())[:5])
    raise UnreadableOutput(f"no array of it has the shape (frames, joints, 3): {shapes}")


def _measure(of: Path, value: Callable[[Any], float]) -> Measurement:
    """A measure of poses that are all finite and of a sensible size; no value for others."""
    numpy = need("numpy")
    found = poses(of)
    if not numpy.isfinite(found).all():
        return Measurement(float("nan"), f"{numpy.mean(~numpy.isfinite(found)):.0%} of the numbers are not finite")
    size = float(abs(found).max())
    if not 1e-30 < size < 1e30:
        return Measurement(float("nan"), "all numbers are 0" if size == 0 else f"its largest number is {size:g}")
    return Measurement(value(found / size), f"{found.shape[0]} frames of {found.shape[1]} joints")


def _extent(found: Any) -> float:
    """The mean distance of joints from their middle, over all frames."""
    numpy = need("numpy")
    middle = found.mean(axis=1, keepdims=True)
    return float(numpy.linalg.norm(found - middle, axis=2).mean())


@metric(
    "pose_frames",
    unit="frames",
    span="[0, inf)",
    better="neither",
    source=_SOURCE,
    packages=_PACKAGES,
)
def pose_frames(of: Path, *, fewest: int = 12, most: int = 40) -> Measurement:
    """How many frames there are; no value when the joints are not `fewest` to `most` or a number is not finite."""
    found = poses(of)
    if not fewest <= found.shape[1] <= most:
        return Measurement(float("nan"), f"{found.shape[1]} joints are not {fewest} to {most}")
    return _measure(of, lambda each: float(each.shape[0]))


@metric(
    "pose_motion",
    unit="share",
    span="[0, inf)",
    better="higher",
    source="standard deviation over time of joints about their middle, over the figure's extent",
    packages=_PACKAGES,
)
def pose_motion(of: Path, *, parts: int = 1) -> Measurement:
    """How much the pose changes over time, in extents of the figure, in the stillest of so many parts of the time.

    0 for one pose repeated, moved or not.
    """

    def motion(found: Any) -> float:
        inner = found - found.mean(axis=1, keepdims=True)
        extent = _extent(found)
        split = need("numpy").array_split(inner, min(parts, len(inner)))
        return min(float(part.std(axis=0).mean()) for part in split) / extent if extent > 1e-9 else 0.0

    return _measure(of, motion)


@metric(
    "pose_depth",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    source="smallest over largest singular value of the joints about the middle of their frame",
    packages=_PACKAGES,
)
def pose_depth(of: Path) -> Measurement:
    """How thick the figure is in its thinnest direction against its longest; 0 for flat figures, lines and points."""

    def depth(found: Any) -> float:
        numpy = need("numpy")
        inner = (found - found.mean(axis=1, keepdims=True)).reshape(-1, 3)
        # The 3 x 3 products have the squares of the singular values, at the cost of half the digits.
        squares = numpy.linalg.eigvalsh(inner.T @ inner)
        return float(max(squares[0], 0.0) / squares[2]) ** 0.5 if squares[2] > 1e-18 else 0.0

    return _measure(of, depth)


@metric(
    "pose_looseness",
    unit="ratio",
    span="[0, inf)",
    better="lower",
    source="mean coefficient of variation of distances along the spanning tree where it is least (Prim 1957)",
    packages=_PACKAGES,
)
def pose_looseness(of: Path) -> Measurement:
    """How much the lengths of the most rigid links between joints vary over time; 0 for bones, 0.3 for noise.

    The links are the spanning tree of the joints that varies least, whatever the numbering.
    """

    def looseness(found: Any) -> float:
        numpy = need("numpy")
        found = found[:: max(1, found.shape[0] // 500)]
        joints = found.shape[1]
        extent = _extent(found)
        if joints < 2 or extent < 1e-9:
            return float("nan")
        cost = numpy.empty((joints, joints))
        for joint in range(joints):
            lengths = numpy.linalg.norm(found - found[:, joint : joint + 1], axis=2)
            # Joints in one place are no bone: such a link costs as much as noise.
            mean = lengths.mean(axis=0)
            cost[joint] = numpy.where(mean > 1e-3 * extent, lengths.std(axis=0) / numpy.maximum(mean, 1e-12), 1.0)
        reached, total = numpy.zeros(joints, bool), 0.0
        nearest = cost[0].copy()
        reached[0] = True
        for _ in range(joints - 1):
            joint = int(numpy.where(reached, numpy.inf, nearest).argmin())
            total += float(nearest[joint])
            reached[joint] = True
            nearest = numpy.minimum(nearest, cost[joint])
        return float(total / (joints - 1))

    return _measure(of, looseness)


@metric(
    "pose_repeats",
    unit="correlation",
    span="[0, 1]",
    better="lower",
    source="autocorrelation of the poses over time, its highest value after it first fell below 0.5",
    packages=_PACKAGES,
)
def pose_repeats(of: Path) -> Measurement:
    """How nearly the poses repeat after a while: 1 for a cycle, at most 0.5 for poses of key points that never repeat.

    A slow movement is like itself a moment later, but does not come back: what counts is a likeness that returns, for
    lags of up to two thirds of the frames.
    """

    def repeats(figure: Any) -> float:
        inner = (figure - figure.mean(axis=1, keepdims=True)).reshape(len(figure), -1)
        inner = inner - inner.mean(axis=0)
        best, apart = 0.0, False
        for lag in range(1, len(inner) * 2 // 3 + 1):
            early, late = inner[:-lag], inner[lag:]
            power = float((early**2).sum() + (late**2).sum())
            alike = 1 - float(((early - late) ** 2).sum()) / power if power > _STILL else 0.0
            apart = apart or alike < _APART
            if apart:
                best = max(best, alike)
        return best

    return _measure(of, repeats)
