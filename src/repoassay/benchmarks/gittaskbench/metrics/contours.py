"""Contours made crisper than any linear filter of the original makes them, as trained networks make them.

Interpolation, back-projection and sharpening are linear: every output pixel is a weighted sum of original ones. A
network moves contours towards one of their two sides instead, which hardly steepens gradients where texture is dense.
"""

from __future__ import annotations

from typing import Any

from repoassay.grading import need

__all__ = ["crispness_maps"]

_BLURS = (0.3, 0.5, 0.8, 1.3, 2.2)
"""Standard deviations, in pixels of the original, of the blurs that a linear filter is put together from."""
_REACH = 0.75
"""How far, in pixels of the original, the two sides of a contour are looked for."""
_TINY = 1e-6


def crispness_maps(ours: Any, bicubic: Any, original: Any) -> tuple[Any, Any]:
    """Two maps: how far each pixel went the way of a crisper contour, and how far it could have gone.

    The sum of the first over that of the second is 0.00 to 0.01 for linear filters, noise and the traces of
    compression, 0.04 to 0.10 for a network. `bicubic` is the `original`, enlarged by bicubic interpolation to the size
    of `ours`; all are grey. The way of a crisper contour is that of toggle mapping (Kramer and Bruckner 1975):
    towards the brightest or the darkest neighbour, whichever is nearer in lightness. What blurs, slopes and other
    interpolations of the original explain of either is taken off by least squares.
    """
    numpy, cv2 = need("numpy"), need("cv2")
    ours, bicubic = (numpy.ascontiguousarray(each, dtype=numpy.float32) for each in (ours, bicubic))
    factor = bicubic.shape[0] / original.shape[0]
    side = 2 * max(1, round(factor * _REACH)) + 1
    square = numpy.ones((side, side), numpy.uint8)
    brightest, darkest = cv2.dilate(bicubic, square), cv2.erode(bicubic, square)
    way = numpy.where(brightest - bicubic < bicubic - darkest, brightest, darkest) - bicubic
    size = bicubic.shape[1::-1]
    linear = [bicubic, numpy.ones_like(bicubic), *(cv2.Sobel(bicubic, cv2.CV_32F, *axis) for axis in ((1, 0), (0, 1)))]
    linear += [cv2.GaussianBlur(bicubic, (0, 0), sigma * factor) for sigma in _BLURS]
    kinds = (cv2.INTER_LINEAR, cv2.INTER_LANCZOS4)
    linear += [cv2.resize(original.astype(numpy.float32), size, interpolation=kind) for kind in kinds]
    gone, could = _unexplained([ours, way], linear)
    return gone * could, could * could


def _unexplained(wanted: list[Any], own: list[Any]) -> list[Any]:
    """What a weighted sum of the given maps leaves of each wanted one."""
    numpy = need("numpy")
    columns = [each.ravel() for each in own]
    products = numpy.array([[float(one @ two) for two in columns] for one in columns])
    products.flat[:: len(columns) + 1] += _TINY * max(1.0, float(products.trace()) / len(columns))
    left = []
    for each in wanted:
        weights = numpy.linalg.solve(products, [float(one @ each.ravel()) for one in columns])
        left.append(each - sum(float(weight) * one for weight, one in zip(weights, own, strict=True)))
    return left
