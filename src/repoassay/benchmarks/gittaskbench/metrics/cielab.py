"""CIE L*a*b* (D65, two degrees) and CIEDE2000, to the bit as scikit-image, whose import costs more than measuring.

A few rows are computed at a time, which the processor's cache holds; each value is what all rows at once would give.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from repoassay.grading import need

__all__ = ["colour_difference", "lab_of"]

_ROWS = 16_384
"""Pixels computed together."""
_XYZ = ((0.412453, 0.357580, 0.180423), (0.212671, 0.715160, 0.072169), (0.019334, 0.119193, 0.950227))
_WHITE = (0.95047, 1.0, 1.08883)
_FAR = 25**7


def lab_of(picture: Any) -> Any:
    """L* 0 to 100, a* and b* about -110 to 110, of sRGB (height, width, 3) of uint8 or float64 in 0 to 255."""
    numpy = need("numpy")
    found = numpy.empty(picture.shape)
    for rows in _stripes(picture):
        part = picture[rows]
        light = (_linear_levels()[part] if part.dtype == numpy.uint8 else _linear(part)) @ numpy.array(_XYZ).T
        light /= _WHITE
        dark = light <= 0.008856
        deep = 7.787 * light[dark] + 16 / 116
        numpy.cbrt(light, out=light)
        light[dark] = deep
        x, y, z = (light[..., place] for place in range(3))
        into = found[rows]
        into[..., 0], into[..., 1], into[..., 2] = 116 * y - 16, 500 * (x - y), 200 * (y - z)
    return found


def _stripes(picture: Any) -> list[slice]:
    height, width = picture.shape[:2]
    step = max(1, _ROWS // max(width, 1))
    return [slice(start, start + step) for start in range(0, height, step)]


def _linear(values: Any) -> Any:
    """Linear light, 0 to 1, of sRGB values of 0 to 255."""
    values = values / 255
    bright = values > 0.04045
    values[bright] = need("numpy").power((values[bright] + 0.055) / 1.055, 2.4)
    values[~bright] /= 12.92
    return values


@functools.cache
def _linear_levels() -> Any:
    """Linear light of the 256 levels of a byte."""
    return _linear(need("numpy").arange(256.0))


def colour_difference(one: Any, other: Any) -> Any:
    """CIEDE2000 (Sharma, Wu, Dalal 2005) of two L*a*b* arrays (height, width, 3), (height, width)."""
    found = need("numpy").empty(one.shape[:2])
    for rows in _stripes(one):
        found[rows] = _difference(one[rows], other[rows])
    return found


def _difference(one: Any, other: Any) -> Any:
    numpy = need("numpy")
    (light1, a1, b1), (light2, a2, b2) = (numpy.moveaxis(each, 2, 0) for each in (one, other))
    stretch = 1 + 0.5 * (1 - _share(0.5 * (numpy.hypot(a1, b1) + numpy.hypot(a2, b2))))
    chroma1, hue1 = _polar(a1 * stretch, b1)
    chroma2, hue2 = _polar(a2 * stretch, b2)
    chroma, product = 0.5 * (chroma1 + chroma2), chroma1 * chroma2
    grey = product == 0

    middle = (0.5 * (light1 + light2) - 50) ** 2
    by_light = (light2 - light1) / (1 + 0.015 * middle / numpy.sqrt(20 + middle))
    by_chroma = (chroma2 - chroma1) / (1 + 0.045 * chroma)

    apart, hue = hue2 - hue1, hue1 + hue2
    across = ~grey & (abs(apart) > math.pi)
    hue = numpy.where(across, hue + numpy.where(hue < 2 * math.pi, 2 * math.pi, -2 * math.pi), hue)
    hue[grey] *= 2
    hue *= 0.5
    apart -= 2 * math.pi * (apart > math.pi)
    apart += 2 * math.pi * (apart < -math.pi)
    apart[grey] = 0
    weight = (
        1
        - 0.17 * numpy.cos(hue - numpy.deg2rad(30))
        + 0.24 * numpy.cos(2 * hue)
        + 0.32 * numpy.cos(3 * hue + numpy.deg2rad(6))
        - 0.20 * numpy.cos(4 * hue - numpy.deg2rad(63))
    )
    by_hue = 2 * numpy.sqrt(product) * numpy.sin(apart / 2) / (1 + 0.015 * chroma * weight)

    turn = numpy.deg2rad(30) * numpy.exp(-(((numpy.rad2deg(hue) - 275) / 25) ** 2))
    rotation = -numpy.sin(2 * turn) * (2 * _share(chroma)) * by_chroma * by_hue
    return numpy.sqrt(numpy.maximum(by_light**2 + by_chroma**2 + by_hue**2 + rotation, 0))


def _share(chroma: Any) -> Any:
    """How far a chroma is a strong one, 0 to 1."""
    power = chroma**7
    return need("numpy").sqrt(power / (power + _FAR))


def _polar(a: Any, b: Any) -> tuple[Any, Any]:
    """Chroma, and the hue from 0 to 2 pi."""
    numpy = need("numpy")
    hue = numpy.arctan2(b, a)
    hue += numpy.where(hue < 0, 2 * math.pi, 0)
    return numpy.hypot(a, b), hue
