"""Pictures made wrong: other colours, other geometry, work half done or done to the wrong thing, damage."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from repoassay.mutants.outputs.mutant import Expected, OutputChange, RightOutput, Same

__all__ = ["SUFFIXES", "Scene", "blurred", "colour_changes", "mosaic", "part_changes", "picture_changes", "scenery"]

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff"})
_LOSSY = frozenset({".jpg", ".jpeg", ".webp"})
_VISIBLE = 1.5
"""Mean difference in levels below which two pictures count as one."""
Pixels = Any
"""float64, (height, width, 3), 0 to 255"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A right picture, its opacity if it has one, and the inputs at its size."""

    right: Pixels
    alpha: Any
    inputs: tuple[Pixels, ...]
    seed: int

    @property
    def random(self) -> Any:
        """The same numbers for every mutant of this picture."""
        return np.random.default_rng(self.seed)

    @property
    def whole(self) -> Pixels:
        """Colours, and opacity as a fourth channel where there is one."""
        return self.right if self.alpha is None else np.dstack([self.right, self.alpha])

    @property
    def two_levels(self) -> bool:
        """Whether it is a mask or a code: nearly all of it black or white."""
        grey = self.right.mean(axis=2)
        return bool(((grey < 24) | (grey > 231)).mean() > 0.97 and np.ptp(self.right, axis=2).max() < 24)


def picture_changes(source: RightOutput) -> Iterator[OutputChange]:
    """Every mutant of a picture."""
    scene = _scene(source)
    for name, change in colour_changes(scene):
        yield _mutant(scene, name, change)
    for name, change in _geometry(scene):
        yield _mutant(scene, name, change)
    for name, change in _damage(scene):
        yield _mutant(scene, name, change, Expected.OPEN if scene.two_levels else Expected.WRONG)
    for number, base in enumerate(scene.inputs):
        tag = f"-{number + 1}" if len(scene.inputs) > 1 else ""
        before = base if scene.alpha is None else np.dstack([base, np.full_like(scene.alpha, 255)])
        for name, change, expected in part_changes(scene.whole, before):
            yield OutputChange(f"{name}{tag}", _writer(scene.whole, change, before, _least_of(name)), expected)
        for name, change in _pretences(scene, base):
            yield OutputChange(f"{name}{tag}", _writer(scene.right, change, base))
    if len(scene.inputs) > 1:
        mixed = (scene.inputs[0] + scene.inputs[1]) / 2
        yield OutputChange("inputs-blended", _writer(scene.right, lambda: mixed, scene.inputs[0]))
    yield from _sizes(scene)
    yield from _transparency(scene)
    yield from _right(scene, source)


def _scene(source: RightOutput) -> Scene:
    with Image.open(source.path) as opened:
        alpha = np.asarray(opened.convert("RGBA"), dtype=np.float64)[..., 3]
        right = np.asarray(opened.convert("RGB"), dtype=np.float64)
    inputs = []
    for path in source.inputs:
        if path.suffix.lower() in SUFFIXES:
            with Image.open(path) as opened:
                sized = opened.convert("RGB").resize((right.shape[1], right.shape[0]), Image.Resampling.BICUBIC)
            inputs.append(np.asarray(sized, dtype=np.float64))
    return Scene(right, alpha if alpha.min() < 255 else None, tuple(inputs[:2]), source.seed)


def colour_changes(scene: Scene) -> Iterator[tuple[str, Callable[[], Pixels]]]:
    """Colours of other channels, turned round, or none."""
    right = scene.right
    for order in itertools.permutations(range(3)):
        if order != (0, 1, 2):
            name = "".join("rgb"[channel] for channel in order)
            yield f"channels-{name}", partial(np.take, right, order, axis=2)
    yield "grey", lambda: np.repeat(right.mean(axis=2, keepdims=True), 3, axis=2)
    yield "inverted", lambda: 255 - right
    yield "solid", lambda: np.broadcast_to(right.mean(axis=(0, 1)), right.shape)


def _geometry(scene: Scene) -> Iterator[tuple[str, Callable[[], Pixels]]]:
    right = scene.right
    yield "mirrored", lambda: right[:, ::-1]
    yield "upside-down", lambda: right[::-1]
    yield "rotated-90", lambda: np.rot90(right)
    yield "rotated-180", lambda: right[::-1, ::-1]
    yield "other-picture", lambda: scenery(right.shape[0], right.shape[1], scene.seed + 1)


def _damage(scene: Scene) -> Iterator[tuple[str, Callable[[], Pixels]]]:
    right = scene.right
    across = max(right.shape[:2])
    yield "mosaic", lambda: mosaic(right, max(4, across // 32))
    yield "blurred", lambda: blurred(right, max(2.0, across / 100))
    yield "noise", lambda: right + scene.random.normal(0, 40, right.shape)
    yield "checkered", lambda: right + 28 * (2 * (np.indices(right.shape[:2]).sum(axis=0) % 2) - 1)[..., None]
    yield "compressed", lambda: _through(right, "JPEG", quality=3)
    yield "cut-out", lambda: _cut_out(right)


def part_changes(right: Pixels, base: Pixels) -> Iterator[tuple[str, Callable[[], Pixels], Expected]]:
    """Work left undone in a part of the picture, in a share of its strength, or done in the wrong direction."""
    height, width = right.shape[:2]
    left = np.zeros((height, width, 1), bool)
    left[:, : width // 2] = True
    top = np.zeros((height, width, 1), bool)
    top[: height // 2] = True
    wrong, unknown = Expected.WRONG, Expected.OPEN
    yield "input", lambda: base, wrong
    yield "half-undone-left", lambda: np.where(left, base, right), wrong
    yield "half-undone-right", lambda: np.where(left, right, base), wrong
    yield "half-undone-top", lambda: np.where(top, base, right), wrong
    yield "half-undone-bottom", lambda: np.where(top, right, base), wrong
    yield "tile-undone", lambda: np.where(_busiest(right, base), base, right), wrong
    yield "blend-25", lambda: 0.75 * right + 0.25 * base, unknown
    yield "blend-50", lambda: (right + base) / 2, wrong
    yield "blend-75", lambda: 0.25 * right + 0.75 * base, wrong
    yield "edit-inverted", lambda: 2 * base - right, wrong
    sparse = (np.abs(right - base).max(axis=2) > 12).mean() < 0.25
    yield "edit-overdone", lambda: 2 * right - base, wrong if sparse else unknown


def _pretences(scene: Scene, base: Pixels) -> Iterator[tuple[str, Callable[[], Pixels]]]:
    """The input with something done to it that nobody asked for."""
    across = max(base.shape[:2])
    yield "input-noise", lambda: base + scene.random.normal(0, 30, base.shape)
    yield "input-blurred", lambda: blurred(base, max(2.0, across / 150))
    yield "input-compressed", lambda: _through(base, "JPEG", quality=5)
    yield "input-mosaic", lambda: mosaic(base, max(3, across // 64))
    yield "input-channels", lambda: base[..., (2, 0, 1)]
    yield "input-brighter", lambda: base * 1.25 + 12
    yield "input-tinted", lambda: base * np.array([1.2, 1.0, 0.7])
    yield "input-mirrored", lambda: base[:, ::-1]


def _sizes(scene: Scene) -> Iterator[OutputChange]:
    height, width = scene.right.shape[:2]
    yield OutputChange("size-tiny", _resized(scene, 8, 8))
    for name, factor in (("size-half", 0.5), ("size-double", 2.0)):
        yield OutputChange(name, _resized(scene, round(width * factor), round(height * factor)), sized=True)


def _transparency(scene: Scene) -> Iterator[OutputChange]:
    if scene.alpha is None:
        return
    full = np.full_like(scene.alpha, 255)
    for name, alpha in (("opaque", full), ("opacity-inverted", 255 - scene.alpha), ("transparent", full * 0),
                        ("opacity-half", scene.alpha / 2)):  # fmt: skip
        yield OutputChange(name, partial(_save, pixels=scene.right, alpha=alpha))


def _right(scene: Scene, source: RightOutput) -> Iterator[OutputChange]:
    right = Expected.RIGHT
    yield OutputChange("same-pixels", lambda place: _save(place, scene.right, scene.alpha), right)
    named = [suffix for suffix in source.formats if suffix in SUFFIXES]
    # Where a format with losses is named, small ones are right. Opacity, and words in lowest bits, have no such format.
    if scene.alpha is None and _LOSSY & set(named):
        for suffix in named:
            if suffix in _LOSSY and suffix != ".jpeg":
                name = f"{suffix[1:]}-95"
                yield OutputChange(name, lambda place: _save(place, scene.right, None), right, suffix=suffix)
        slight = scene.right + scene.random.integers(-1, 2, scene.right.shape)
        yield OutputChange("noise-slight", lambda place: _save(place, slight, None), right)


def _mutant(
    scene: Scene, name: str, change: Callable[[], Pixels], expected: Expected = Expected.WRONG
) -> OutputChange:  # fmt: skip
    def write(place: Path) -> None:
        variant = np.clip(np.asarray(change()), 0, 255)
        alpha = scene.alpha
        if alpha is not None and name in _TURNS:
            alpha = _TURNS[name](alpha)
        if variant.shape == scene.right.shape and float(np.abs(variant - scene.right).mean()) < _VISIBLE:
            raise Same
        _save(place, variant, alpha)

    return OutputChange(name, write, expected)


_TURNS: dict[str, Callable[[Any], Any]] = {
    "mirrored": lambda alpha: alpha[:, ::-1],
    "upside-down": lambda alpha: alpha[::-1],
    "rotated-90": np.rot90,
    "rotated-180": lambda alpha: alpha[::-1, ::-1],
}


def _least_of(name: str) -> float:
    """The share of the work that a mutant must undo to be wrong: half the picture may have held little of it."""
    return 0.3 if name.startswith("half") else 0.12


def _writer(
    right: Pixels, change: Callable[[], Pixels], base: Pixels, least: float = 0.0
) -> Callable[[Path], None]:  # fmt: skip
    """Writes a mutant made of an input; `Same` where less than `least` of what was done to the input is undone."""

    def write(place: Path) -> None:
        variant = np.clip(np.asarray(change()), 0, 255)
        done = float(np.abs(right - base).mean())
        differ = float(np.abs(variant - right).mean())
        if differ < (least * done if least else min(_VISIBLE, done)) or np.array_equal(np.rint(variant), right):
            raise Same
        _save(place, variant[..., :3], variant[..., 3] if variant.shape[2] > 3 else None)

    return write


def _resized(scene: Scene, width: int, height: int) -> Callable[[Path], None]:
    def write(place: Path) -> None:
        picture = _image(scene.right, scene.alpha).resize((width, height), Image.Resampling.LANCZOS)
        _store(place, picture)

    return write


def _image(pixels: Pixels, alpha: Any) -> Image.Image:
    bounded_pixels = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
    if alpha is None:
        return Image.fromarray(np.ascontiguousarray(bounded_pixels))
    return Image.fromarray(np.dstack([bounded_pixels, np.clip(np.rint(alpha), 0, 255).astype(np.uint8)]))


def _save(place: Path, pixels: Pixels, alpha: Any) -> None:
    _store(place, _image(pixels, alpha))


def _store(place: Path, picture: Image.Image) -> None:
    if place.suffix.lower() in (".jpg", ".jpeg"):
        picture.convert("RGB").save(place, quality=95, subsampling=0)
    elif place.suffix.lower() == ".webp":
        picture.save(place, quality=95)
    else:
        picture.save(place)


def _through(pixels: Pixels, form: str, **options: Any) -> Pixels:
    """What is left of a picture after it was written and read."""
    kept = io.BytesIO()
    _image(pixels, None).save(kept, form, **options)
    return np.asarray(Image.open(kept).convert("RGB"), dtype=np.float64)


def mosaic(pixels: Pixels, size: int) -> Pixels:
    """Every square of `size` pixels as one pixel of it."""
    rows = (np.arange(pixels.shape[0]) // size) * size
    columns = (np.arange(pixels.shape[1]) // size) * size
    return pixels[rows][:, columns]


def blurred(pixels: Pixels, radius: float) -> Pixels:
    """A Gaussian blur."""
    from PIL import ImageFilter

    return np.asarray(_image(pixels, None).filter(ImageFilter.GaussianBlur(radius)), dtype=np.float64)


def scenery(height: int, width: int, seed: int) -> Pixels:
    """A made-up picture: noise of all sizes, as photographs have it, and a few shapes."""
    random = np.random.default_rng(seed)
    scene = np.zeros((height, width, 3))
    for power in range(2, 9):
        small = random.uniform(0, 255, (2**power, 2**power, 3)).astype(np.uint8)
        sized = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
        scene += np.asarray(sized, dtype=np.float64) / 2**power
    scene = (scene - scene.min()) / max(float(np.ptp(scene)), 1e-9) * 255
    for _ in range(5):
        top, left = int(random.integers(height)), int(random.integers(width))
        scene[top : top + height // 5, left : left + width // 5] = random.uniform(0, 255, 3)
    return scene


def _busiest(right: Pixels, base: Pixels) -> Any:
    """Where two fifths of height and width hold most of the change."""
    height, width = right.shape[:2]
    tall, wide = max(1, height * 2 // 5), max(1, width * 2 // 5)
    change = np.abs(right - base).sum(axis=2)
    sums = np.pad(change, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
    inside = sums[tall:, wide:] - sums[:-tall, wide:] - sums[tall:, :-wide] + sums[:-tall, :-wide]
    top, left = np.unravel_index(int(inside.argmax()), inside.shape)
    chosen = np.zeros((height, width, 1), bool)
    chosen[top : top + tall, left : left + wide] = True
    return chosen


def _cut_out(right: Pixels) -> Pixels:
    """An ellipse in the middle, a sixth of the area, filled with the mean colour of its rim."""
    height, width = right.shape[:2]
    rows, columns = np.ogrid[:height, :width]
    distance = ((rows - height / 2) / (height * 0.23)) ** 2 + ((columns - width / 2) / (width * 0.23)) ** 2
    rim = right[(distance >= 1) & (distance < 1.3)]
    return np.where((distance < 1)[..., None], rim.mean(axis=0) if len(rim) else right.mean(axis=(0, 1)), right)
