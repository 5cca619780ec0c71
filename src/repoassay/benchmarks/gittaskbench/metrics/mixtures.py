"""Metrics of style transfer that tell it from what is laid over the content: mixtures and exchanged channels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.abstraction import unexplained
from repoassay.benchmarks.gittaskbench.metrics.pictures import fit, read_small
from repoassay.benchmarks.gittaskbench.metrics.style import colour_distance
from repoassay.grading import Measurement, metric, need, reference

__all__ = ["beyond_mixture", "image_beyond_mixture", "image_style_order", "style_order"]

_PACKAGES = ("numpy", "pillow", "opencv-python-headless")
_SIDE = 320


def _laid(style: Any, width: int, height: int) -> Iterator[Any]:
    """The style image as it may be laid over a picture: stretched, in the eight ways of turning it."""
    numpy = need("numpy")
    for turn, flip in itertools.product(range(4), (False, True)):
        turned = numpy.rot90(style, turn)
        yield fit(numpy.ascontiguousarray(turned[:, ::-1] if flip else turned), width, height)


def beyond_mixture(ours: Any, content: Any, style: Any) -> float:
    """Share of `ours` that no mixture of the content with the style image laid over it explains, in [0, 1].

    Mixtures are those of `abstraction.unexplained`: sums and products of both, at any exposure, tint and blur; the
    style image may be stretched over the picture in any of eight positions. `ours` and `content` are of one size.
    """
    height, width = content.shape[:2]
    return min(unexplained(ours, content, each) for each in _laid(style, width, height))


def style_order(ours: Any, style: Any) -> float:
    """By how much the style's colours are nearer with the channels as they are than in the best other order.

    The logarithm (base 2) of the ratio of both distances of `style.colour_distance`; negative when channels were
    exchanged, 0 for a grey picture.
    """
    numpy = need("numpy")
    apart = [
        colour_distance(numpy.ascontiguousarray(ours[..., list(order)]), style)
        for order in itertools.permutations(range(3))
    ]
    return float(numpy.log2((min(apart[1:]) + 1) / (apart[0] + 1)))


@metric(
    "image_beyond_mixture",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="standard deviation left by a least-squares fit from content, style image, their blurs and products",
    packages=_PACKAGES,
)
def image_beyond_mixture(of: Path, against: Path, *, content: str, style: str) -> Measurement:
    """How much of the output is no mixture of both inputs, which lie in the folder `against`; see `beyond_mixture`."""
    ours, base, goal = (
        read_small(of, _SIDE)[0],
        *(reference(lambda path: read_small(path, _SIDE), against / name)[0] for name in (content, style)),
    )
    height, width = (max(16, min(sides)) for sides in zip(ours.shape[:2], base.shape[:2], strict=True))
    return Measurement(beyond_mixture(fit(ours, width, height), fit(base, width, height), goal))


@metric(
    "image_style_order",
    unit="octaves",
    span="(-inf, inf)",
    better="higher",
    needs_reference=True,
    source="log2 of the colour distance to the style image, the best other order of channels over this one",
    packages=_PACKAGES,
)
def image_style_order(of: Path, against: Path) -> Measurement:
    """Whether the colours came over with their channels in order; see `style_order`."""
    ours, goal = read_small(of, 256)[0], reference(lambda path: read_small(path, 256), against)[0]
    return Measurement(style_order(ours, goal))
