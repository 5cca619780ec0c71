"""Metrics of style transfer without trained networks: colours and textures, measured as distributions.

A style distance has two parts. Colour: the mean distance between the sorted values of two pictures along fixed
directions of CIE L*a*b* (sliced Wasserstein distance). Texture: differences of the energy, in octaves of scale and
in both lightness and chroma, and of how unevenly it is spread, which tells strokes from noise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.pictures import lightness, read_small
from repoassay.errors import BadInput
from repoassay.grading import Measurement, metric, need, reference

__all__ = ["colour_distance", "image_style_shift", "texture_distance"]

_PACKAGES = ("numpy", "pillow", "opencv-python-headless")
_SIDE = 256
"""Longer side at which style is compared: textures are those of a picture seen whole."""
_BANDS = 5


def colour_distance(ours: Any, theirs: Any) -> float:
    """Mean distance of the colours of two pictures, in units of L*a*b*: 2 is hardly seen, 50 is another palette."""
    numpy = need("numpy")
    root = 0.5**0.5
    directions = numpy.array(
        [(1, 0, 0), (0, 1, 0), (0, 0, 1), (root, root, 0), (root, -root, 0), (root, 0, root), (root, 0, -root),
         (0, root, root), (0, root, -root)], dtype=numpy.float32,
    )  # fmt: skip
    shares = numpy.linspace(0.005, 0.995, 100)
    sorted_ = [numpy.quantile(lightness(each).reshape(-1, 3) @ directions.T, shares, axis=0) for each in (ours, theirs)]
    return float(abs(sorted_[0] - sorted_[1]).mean())


def texture_distance(ours: Any, theirs: Any) -> float:
    """Mean difference of the textures of two pictures, in octaves; 0 for the same.

    Twice as strong is an octave in the strength of lightness, or of chroma, and none in unevenness; bands fainter than
    a quarter of a unit of L*a*b* count for less.
    """
    return float(abs(_texture(ours) - _texture(theirs)).mean())


def _texture(image: Any) -> Any:
    """Base-two logarithms of strength and unevenness: bands x (lightness strength, chroma strength, unevenness)."""
    cv2, numpy = need("cv2"), need("numpy")
    lab = lightness(image)
    rows = []
    for _ in range(_BANDS):
        if min(lab.shape[:2]) < 4:
            lab = cv2.resize(lab, (8, 8))
        smaller = cv2.pyrDown(lab)
        band = lab - cv2.pyrUp(smaller, dstsize=lab.shape[1::-1])
        light, chroma = band[..., 0], numpy.hypot(band[..., 1], band[..., 2])
        strength = float(light.std())
        # For Gaussian noise the mean magnitude is 0.8 of the deviation; for strokes on plain ground much less.
        evenness = float(abs(light).mean()) / strength if strength > 0.05 else 0.8
        rows.append([numpy.log2(strength + 0.25), numpy.log2(float(chroma.mean()) + 0.25), 2 * numpy.log2(evenness)])
        lab = smaller
    return numpy.array(rows)


@metric(
    "image_style_shift",
    unit="share",
    span="(-inf, 1]",
    better="higher",
    needs_reference=True,
    source="1 - distance(output, style) / distance(content, style), colours and textures taken together",
    packages=_PACKAGES,
)
def image_style_shift(of: Path, against: Path, *, content: str, style: str, part: str = "both") -> Measurement:
    """How far of the way from the content image's style to the style image's the output went: 0 none, 1 all of it.

    `against` is a folder that holds both; `part` is `colour`, `texture` or `both`, the mean of the two.
    """
    if part not in ("colour", "texture", "both"):
        raise BadInput(f"image_style_shift has no part {part!r}.", "It knows colour, texture and both.")
    ours, _ = read_small(of, _SIDE)
    base, goal = (reference(lambda path: read_small(path, _SIDE), against / name)[0] for name in (content, style))
    shifts = {
        name: 1 - measure(ours, goal) / max(measure(base, goal), 1e-6)
        for name, measure in (("colour", colour_distance), ("texture", texture_distance))
    }
    value = sum(shifts.values()) / 2 if part == "both" else shifts[part]
    return Measurement(value, f"colour {shifts['colour']:.2f}, texture {shifts['texture']:.2f}")
