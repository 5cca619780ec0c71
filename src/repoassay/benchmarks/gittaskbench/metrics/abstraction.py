"""Metrics of redrawn pictures: is it the same scene, is it more than a filter, are surfaces flat and outlines kept.

They need no trained network and tell a redrawing (cartoon, comic, anime) from what merely looks like one to a pixel
distance: the photo itself, brighter, blurred, sharpened, compressed, resized, or under noise. They do not judge
whether a style is well met.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.pictures import aspect_slip, fit, grey, read_small
from repoassay.grading import Measurement, metric, need, reference

__all__ = [
    "aligned",
    "fitted",
    "flatness",
    "grey_psnr",
    "image_flatness",
    "image_longer_side",
    "image_redrawn",
    "image_structure",
    "likeness",
    "redrawn",
    "structure",
    "unexplained",
]

_PACKAGES = ("numpy", "pillow", "opencv-python-headless")
_SIDE = 768
"""Longer side, in pixels, at which surfaces and outlines are compared."""
_FITTED = 512
"""Longer side at which one picture is fitted to the other."""
_ALIGNED = 256
"""Longer side at which pictures are laid upon each other."""
_COARSE = 96
"""Longer side at which the structure is compared: below it lie brush strokes, above it the scene."""


def structure(ours: Any, theirs: Any) -> float:
    """Correlation of two pictures' coarse structure, the larger of that of brightness and that of edges, in [-1, 1].

    Both are averaged down to 96 pixels and freed of what varies more slowly than an eighth of the picture, so that
    two unrelated pictures with bright skies have nothing in common.
    """
    cv2, numpy = need("cv2"), need("numpy")
    scale = _COARSE / max(theirs.shape[:2])
    width, height = (max(8, round(side * scale)) for side in theirs.shape[1::-1])
    seen = []
    for image in (ours, theirs):
        light = grey(image)
        edges = numpy.hypot(cv2.Sobel(light, cv2.CV_32F, 1, 0), cv2.Sobel(light, cv2.CV_32F, 0, 1))
        maps = [fit(each, width, height) for each in (light, numpy.sqrt(edges))]
        seen.append([each - cv2.GaussianBlur(each, (0, 0), _COARSE / 8) for each in maps])
    return max(_correlation(a, b) for a, b in zip(*seen, strict=True))


def _correlation(a: Any, b: Any) -> float:
    a, b = a - a.mean(), b - b.mean()
    power = float((a * a).mean()) * float((b * b).mean())
    return float((a * b).mean()) / power**0.5 if power > 1e-6 else 0.0


def aligned(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """`ours` moved and stretched onto `theirs`, and both without their margins of a twentieth.

    A picture cut or padded by some pixels, then brought to the size of the other, is off by fractions of a pixel that
    add up along every edge. Only small moves are made, at most a tenth of the picture; where none is found the
    pictures stay as they are.
    """
    cv2, numpy = need("cv2"), need("numpy")
    height, width = theirs.shape[:2]
    scale = min(1.0, _ALIGNED / max(height, width))
    size = (max(16, round(width * scale)), max(16, round(height * scale)))
    seen = [cv2.GaussianBlur(grey(fit(each, *size)), (0, 0), 1.5) for each in (theirs, ours)]
    warp = numpy.eye(2, 3, dtype=numpy.float32)
    ends = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-5)
    try:
        _, warp = cv2.findTransformECC(seen[0], seen[1], warp, cv2.MOTION_AFFINE, ends, None, 1)
    except cv2.error:
        return ours, theirs
    change = warp - numpy.eye(2, 3, dtype=numpy.float32)
    if not (abs(change[:, :2]).max() < 0.1 and abs(change[:, 2]).max() < 0.1 * max(size)):
        return ours, theirs
    # Pixel centres: a point at the small size lies half a pixel off its place at the large one.
    grown = numpy.array(
        [[size[0] / width, 0, size[0] / width / 2 - 0.5], [0, size[1] / height, size[1] / height / 2 - 0.5], [0, 0, 1]]
    )
    full = numpy.linalg.inv(grown) @ numpy.vstack([warp, (0, 0, 1)]) @ grown
    moved = cv2.warpAffine(
        ours, full[:2], (width, height), flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
    )
    top, left = round(height / 20), round(width / 20)
    inner = (slice(top, height - top), slice(left, width - left))
    return moved[inner], theirs[inner]


def redrawn(ours: Any, theirs: Any) -> float:
    """Share of `ours` that no recolouring, blur or sharpening of `theirs` explains, in [0, 1].

    Every channel is fitted by least squares from the channels of the original, their squares and square roots, and
    three blurs, so exposure, contrast, gamma, tint, greyscale, sharpening, blurring and resizing leave little. The
    share is the standard deviation of the rest over that of `ours`, as they are or as `aligned`, whichever is less, so
    a margin cut off leaves little too. Both are (height, width, 3) of one size.
    """
    return min(unexplained(ours, theirs), unexplained(*aligned(ours, theirs)))


def unexplained(ours: Any, *theirs: Any, tones: bool = False) -> float:
    """Standard deviation of `ours` that the fit of `redrawn` leaves, over the whole; without any alignment.

    Of several originals any mixture is tried, and their product, as when one is laid over the other. With `tones`, any
    curve of a channel's levels is, too: few levels, solarisation and false colours are recolouring as well.
    """
    cv2, numpy = need("cv2"), need("numpy")
    layers = []
    for each in theirs:
        layers += [each, each**2 / 255, numpy.sqrt(each * 255)]
        layers += [cv2.GaussianBlur(each, (0, 0), sigma) for sigma in (1.0, 2.0, 4.0)]
        layers += [_toned(ours, each)] if tones else []
    if len(theirs) > 1:
        layers += [theirs[0] * theirs[1] / 255, grey(theirs[0])[..., None] * theirs[1] / 255]
    inputs = numpy.concatenate([layer.reshape(-1, 3) for layer in layers], axis=1).astype(numpy.float64)
    inputs -= inputs.mean(axis=0)
    wanted = ours.reshape(-1, 3).astype(numpy.float64)
    wanted = wanted - wanted.mean(axis=0)
    products = inputs.T @ inputs
    products.flat[:: products.shape[0] + 1] += 1e-7 * max(1.0, float(products.trace()))
    rest = wanted - inputs @ numpy.linalg.solve(products, inputs.T @ wanted)
    whole = float((wanted**2).mean())
    return float((rest**2).mean() / whole) ** 0.5 if whole > 1e-6 else 0.0


def _toned(ours: Any, theirs: Any) -> Any:
    """`theirs` with the levels of each channel replaced by the mean that `ours` has where they stand."""
    numpy = need("numpy")
    image = numpy.empty_like(ours)
    for channel in range(3):
        level = numpy.clip(theirs[..., channel], 0, 255).astype(numpy.int64) // 2
        count, total = (
            numpy.bincount(level.ravel(), weights, minlength=128) for weights in (None, ours[..., channel].ravel())
        )
        image[..., channel] = (total / numpy.maximum(count, 1))[level]
    return image


def flatness(ours: Any, theirs: Any) -> float:
    """Share of `ours` that is flatter than the flattest third of `theirs`, in [0, 1]; 0.33 for a copy.

    Flat is a matter of gradients in all three channels after both are brought to the same contrast; noise, of
    lightness or of colour alone, gives about 0.
    """
    cv2, numpy = need("cv2"), need("numpy")
    steep = []
    for image in (ours, theirs):
        spread = float(grey(image).std())
        if spread < 1:
            return 0.0
        scaled = image * (50 / spread)
        across, down = (cv2.Sobel(scaled, cv2.CV_32F, *axis) for axis in ((1, 0), (0, 1)))
        steep.append(numpy.sqrt((across**2 + down**2).sum(axis=2)))
    limit = float(numpy.quantile(steep[1], 1 / 3))
    return float((steep[0] <= limit).mean())


def _pair(of: Path, against: Path) -> tuple[Any, Any, float]:
    """Both pictures at one size, the smaller of the two, and how far their proportions differ."""
    ours, our_size = read_small(of, _SIDE)
    theirs, their_size = reference(lambda path: read_small(path, _SIDE), against)
    smaller = min((ours, theirs), key=lambda image: image.shape[0] * image.shape[1])
    height, width = (max(16, side) for side in smaller.shape[:2])
    return fit(ours, width, height), fit(theirs, width, height), aspect_slip(our_size, their_size)


def fitted(of: Path, against: Path) -> tuple[Any, Any]:
    """As `_pair`, smaller, for what takes long."""
    ours, theirs, _ = _pair(of, against)
    scale = min(1.0, _FITTED / max(theirs.shape[:2]))
    width, height = (max(16, round(side * scale)) for side in theirs.shape[1::-1])
    return fit(ours, width, height), fit(theirs, width, height)


@metric(
    "image_structure",
    unit="correlation",
    span="[-1, 1]",
    better="higher",
    needs_reference=True,
    source="Pearson correlation of band-passed brightness, or of edge density, at 96 pixels; the larger",
    packages=_PACKAGES,
)
def image_structure(of: Path, against: Path, *, slip: float = 0.25) -> Measurement:
    """Whether two pictures show the same scene; see `structure`. 0 when proportions differ by more than `slip`."""
    ours, theirs, off = _pair(of, against)
    if off > slip:
        return Measurement(0.0, f"the proportions differ by {off:.0%}")
    return Measurement(structure(ours, theirs))


@metric(
    "image_redrawn",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="standard deviation left by a least-squares fit from the original and its blurs",
    packages=_PACKAGES,
)
def image_redrawn(of: Path, against: Path, *, tones: bool = False) -> Measurement:
    """How much of the output no filter or recolouring of the original explains; see `redrawn`.

    With `tones` at a larger size, where few levels a channel count as a recolouring; see `unexplained`.
    """
    if not tones:
        return Measurement(redrawn(*fitted(of, against)))
    ours, theirs, _ = _pair(of, against)
    pairs = ((ours, theirs), aligned(ours, theirs))
    return Measurement(min(unexplained(*pair, tones=True) for pair in pairs))


@metric(
    "image_flatness",
    unit="share",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share of pixels below the lower third of the original's gradients, at equal contrast",
    packages=_PACKAGES,
)
def image_flatness(of: Path, against: Path) -> Measurement:
    """How much of the output is flat where a third of the original is; see `flatness`."""
    ours, theirs, _ = _pair(of, against)
    return Measurement(flatness(ours, theirs))


@metric(
    "image_longer_side",
    unit="pixels",
    span="[1, inf)",
    better="higher",
    source="the larger of width and height as stored",
    packages=_PACKAGES,
)
def image_longer_side(of: Path) -> Measurement:
    """The longer side of the picture: a thumbnail hides what was not done."""
    _, size = read_small(of, _SIDE)
    return Measurement(float(max(size)), f"{size[0]} x {size[1]}")


def likeness(ours: Any, theirs: Any) -> float:
    """PSNR in dB of `theirs` as told by `ours` with the best gain and offset, in grey; capped at 100.

    Brightening, contrast and tint leave nothing; blur and damage remain. Both are (height, width, 3) of one size, and
    compared as they are and as `aligned`; the larger value counts.
    """
    return max(grey_psnr(ours, theirs), grey_psnr(*aligned(ours, theirs)))


def grey_psnr(ours: Any, theirs: Any) -> float:
    """As `likeness`, without any alignment."""
    numpy = need("numpy")
    a, b = (grey(each).astype(numpy.float64).ravel() for each in (ours, theirs))
    a, b = a - a.mean(), b - b.mean()
    power = float(a @ a)
    error = float(((b - a * (float(a @ b) / power)) ** 2).mean()) if power > 0 else float((b**2).mean())
    return 100.0 if error < 255**2 * 1e-10 else float(10 * numpy.log10(255**2 / error))
