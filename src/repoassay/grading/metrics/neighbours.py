"""What the neighbours of a pixel say of it: steepness and structural similarity, to the bit as SciPy and scikit-image.

Importing scipy.ndimage, on which both of theirs rest, takes a quarter of a second of computing: more than measuring.
"""

from __future__ import annotations

from typing import Any

from repoassay.grading.metrics.opening import need

__all__ = ["steepness", "structural_similarity"]

_SIDE = 7
"""Pixels of a side of the window."""
_EDGE = _SIDE // 2
_ROWS = 32
"""Rows computed together: few enough to stay in the processor's cache."""
_BRIGHTNESS, _CONTRAST = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def steepness(grey: Any) -> Any:
    """Length of the Sobel gradient at each place of an array (height, width) of float64; mirrored beyond the border."""
    numpy = need("numpy")
    padded = numpy.pad(grey, 1, mode="symmetric")
    found = numpy.empty(grey.shape)
    for start in range(0, len(grey), _ROWS):
        rows = padded[start : start + _ROWS + 2]
        across, down = rows[:, 2:] - rows[:, :-2], rows[2:] - rows[:-2]
        across = 2 * across[1:-1] + (across[:-2] + across[2:])
        down = 2 * down[:, 1:-1] + (down[:, :-2] + down[:, 2:])
        numpy.hypot(across, down, out=found[start : start + _ROWS])
    return found


def structural_similarity(one: Any, other: Any) -> float:
    """Mean SSIM (Wang et al. 2004) of two arrays of uint8 of one shape (height, width[, channels]).

    A uniform window of 7 x 7, sample covariance, K1 0.01, K2 0.03, range 255, the mean over channels; places whose
    window leaves the picture do not count.

    Raises:
        ValueError: When a side has fewer than 7 pixels.
    """
    numpy = need("numpy")
    if min(one.shape[:2]) < _SIDE:
        raise ValueError(f"a picture of {one.shape[1]} x {one.shape[0]} is smaller than the window")
    if one.ndim == 2:
        return float(_of_channel(one, other))
    found = [_of_channel(one[..., channel], other[..., channel]) for channel in range(one.shape[2])]
    return float(numpy.array(found).mean())


def _of_channel(one: Any, other: Any) -> Any:
    numpy = need("numpy")
    first, second = (numpy.pad(each, ((0, 0), (_EDGE, _EDGE)), mode="symmetric") for each in (one, other))
    # Summed as the inside of a picture is, row by row: the order of additions decides the last bit.
    found = numpy.empty(one.shape)[_EDGE:-_EDGE, _EDGE:-_EDGE]
    for start in range(0, len(found), _ROWS):
        stripe = slice(start, start + _ROWS + 2 * _EDGE)
        _similarity(first[stripe].astype("int32"), second[stripe].astype("int32"), found[start : start + _ROWS])
    return found.mean()


def _similarity(one: Any, other: Any, found: Any) -> None:
    """Fill `found` with the similarities of the windows of some rows."""
    mean, other_mean = _window_mean(one), _window_mean(other)
    square, other_square, product = mean * mean, other_mean * other_mean, mean * other_mean
    scale = _SIDE**2 / (_SIDE**2 - 1)
    variance = scale * (_window_mean(one * one) - square)
    other_variance = scale * (_window_mean(other * other) - other_square)
    covariance = scale * (_window_mean(one * other) - product)
    alike = (2 * mean * other_mean + _BRIGHTNESS) * (2 * covariance + _CONTRAST)
    apart = (square + other_square + _BRIGHTNESS) * (variance + other_variance + _CONTRAST)
    need("numpy").divide(alike, apart, out=found)


def _window_mean(values: Any) -> Any:
    """Means of the windows that lie in a picture, whose rows have been mirrored at their ends; values of int32.

    Sums down the columns are exact; along the rows one runs, as SciPy's does, from the mirrored end of the row.
    """
    numpy = need("numpy")
    two = values[:-1] + values[1:]
    four = two[:-2] + two[2:]
    columns = (four[:-3] + two[4:-1] + values[6:]) / _SIDE
    running = numpy.empty((columns.shape[0], columns.shape[1] - _SIDE + 1))
    running[:, 0] = columns[:, 0]
    for place in range(1, _SIDE):
        running[:, 0] += columns[:, place]
    numpy.subtract(columns[:, _SIDE:], columns[:, :-_SIDE], out=running[:, 1:])
    numpy.cumsum(running, axis=1, out=running)
    running /= _SIDE
    return running[:, _EDGE:-_EDGE]
