"""Super-resolution: a larger picture of the same content whose edges interpolation alone does not give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image, ImageFilter

from benchmarks.gittaskbench.casebook import Answer, Casebook, Desk
from repoassay.types import Reading
from shared_data import needs_shared

pytestmark = [needs_shared, pytest.mark.exhaustive]
book = Casebook()
PHOTO = {
    "SuperResolution_01": "SuperResolution_01_input.png",
    "SuperResolution_02": "SuperResolution_02_input.jpg",
    "SuperResolution_03": "SuperResolution_03_input.png",
}
TASKS = sorted(PHOTO)
UNKNOWN: Answer = (None, None)
REFUSED: Answer = (False, False)
PUBLISHED: dict[str, dict[str, Answer]] = {
    "twice": {"SuperResolution_02": (True, True), "SuperResolution_03": (True, True)},
    "sharpened more": {"SuperResolution_02": (True, False), "SuperResolution_03": (True, True)},
    "three times": {"SuperResolution_02": (True, False), "SuperResolution_03": (True, False)},
    "copy": {"SuperResolution_01": UNKNOWN, "SuperResolution_02": (True, False), "SuperResolution_03": (True, False)},
    "doubled pixels": {"SuperResolution_02": (True, True), "SuperResolution_03": (True, True)},
    "bilinear": {"SuperResolution_02": (True, False), "SuperResolution_03": (True, False)},
    "Lanczos": {"SuperResolution_02": (True, True), "SuperResolution_03": (True, True)},
    "noise": {"SuperResolution_01": UNKNOWN, "SuperResolution_02": (True, False), "SuperResolution_03": (True, False)},
    "flat": {"SuperResolution_01": UNKNOWN, "SuperResolution_02": (True, False), "SuperResolution_03": (True, False)},
    "missing": dict.fromkeys(TASKS, REFUSED),
    "empty": dict.fromkeys(TASKS, REFUSED),
    "garbage": dict.fromkeys(TASKS, REFUSED),
    "cut off": dict.fromkeys(TASKS, REFUSED),
}


def enlarged(desk: Desk, task: str, factor: float, method: Image.Resampling = Image.Resampling.BICUBIC) -> Any:
    photo = Image.fromarray(desk.picture(PHOTO[task]))
    return np.asarray(photo.resize((round(photo.width * factor), round(photo.height * factor)), method), float)


def resolved(desk: Desk, task: str, factor: float, sharpen: float = 0.8) -> Any:
    """Back-projection with Lanczos interpolation, then an unsharp mask; not the reference's own method."""
    low, high = desk.picture(PHOTO[task]).astype(float), enlarged(desk, task, factor, Image.Resampling.LANCZOS)
    for _ in range(10):
        error = low - cv2.resize(high, low.shape[1::-1], interpolation=cv2.INTER_AREA)
        high = high + cv2.resize(error, high.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    return high + sharpen * (high - cv2.GaussianBlur(high, (0, 0), 1.2))


Write = Callable[[Desk, str], None]


def every(name: str, process: bool | None, result: bool | None, *only: str) -> Callable[[Write], Write]:
    """A case of all three tasks, or of those named; the function is given the task too."""

    def register(write: Write) -> Write:
        for task in only or TASKS:
            book.case(task, name, process, result, PUBLISHED.get(name, {}).get(task))(_of(write, task))
        return write

    return register


def _of(write: Write, task: str) -> Callable[[Desk], None]:
    return lambda desk: write(desk, task)


@every("sharpened more", True, True)
def _more(desk: Desk, task: str) -> None:
    desk.image("output.png", resolved(desk, task, 4, 1.5))


@every("as JPEG", True, True)
def _jpeg(desk: Desk, task: str) -> None:
    desk.image("output.jpg", resolved(desk, task, 4), quality=85)


@every("twice", True, True)
def _twice(desk: Desk, task: str) -> None:
    desk.image("output.png", resolved(desk, task, 2))


@every("three times", True, True, "SuperResolution_01", "SuperResolution_02")
@every("three times", True, False, "SuperResolution_03")
def _three(desk: Desk, task: str) -> None:
    desk.image("output.png", resolved(desk, task, 3))


@every("a little lighter", True, True)
def _lighter(desk: Desk, task: str) -> None:
    desk.image("output.png", resolved(desk, task, 4) + 6)


@every("with alpha", True, True)
def _alpha(desk: Desk, task: str) -> None:
    picture = resolved(desk, task, 4)
    desk.image("output.webp", np.dstack([picture, np.full(picture.shape[:2], 255)]), lossless=True)


@every("copy", True, False)
def _copy(desk: Desk, task: str) -> None:
    desk.image("output.png", desk.picture(PHOTO[task]))


@every("one tenth larger", True, False)
def _tenth(desk: Desk, task: str) -> None:
    desk.image("output.png", resolved(desk, task, 1.1))


@every("doubled pixels", True, False)
def _nearest(desk: Desk, task: str) -> None:
    desk.image("output.png", enlarged(desk, task, 2, Image.Resampling.NEAREST))


@every("fourfold pixels as JPEG", True, False)
def _nearest_jpeg(desk: Desk, task: str) -> None:
    desk.image("output.jpg", enlarged(desk, task, 4, Image.Resampling.NEAREST), quality=75)


@every("bicubic", True, False, "SuperResolution_02", "SuperResolution_03")
def _bicubic(desk: Desk, task: str) -> None:
    desk.image("output.png", enlarged(desk, task, 4))


@every("bilinear", True, False, "SuperResolution_02", "SuperResolution_03")
def _bilinear(desk: Desk, task: str) -> None:
    desk.image("output.png", enlarged(desk, task, 2, Image.Resampling.BILINEAR))


@every("Lanczos", True, False, "SuperResolution_02", "SuperResolution_03")
def _lanczos(desk: Desk, task: str) -> None:
    desk.image("output.png", enlarged(desk, task, 2, Image.Resampling.LANCZOS))


@every("OpenCV's Lanczos", True, False, "SuperResolution_02", "SuperResolution_03")
def _opencv(desk: Desk, task: str) -> None:
    photo = desk.picture(PHOTO[task])
    desk.image("output.png", cv2.resize(photo, None, fx=4, fy=4, interpolation=cv2.INTER_LANCZOS4))


@every("bicubic and grain", True, False, "SuperResolution_02", "SuperResolution_03")
def _grain(desk: Desk, task: str) -> None:
    picture = enlarged(desk, task, 4)
    desk.image("output.png", picture + desk.chance.normal(0, 12, picture.shape))


@every("bicubic with more contrast", True, False, "SuperResolution_02", "SuperResolution_03")
def _contrast(desk: Desk, task: str) -> None:
    picture = enlarged(desk, task, 4)
    desk.image("output.png", (picture - picture.mean()) * 1.15 + picture.mean())


@every("brighter", True, False)
def _brighter(desk: Desk, task: str) -> None:
    desk.image("output.png", enlarged(desk, task, 2) + 40)


@every("blurred", True, False)
def _blurred(desk: Desk, task: str) -> None:
    desk.image("output.png", cv2.GaussianBlur(enlarged(desk, task, 2), (0, 0), 4))


@every("noise", True, False)
def _noise(desk: Desk, task: str) -> None:
    desk.image("output.png", desk.chance.integers(0, 256, enlarged(desk, task, 2).shape))


@every("flat", True, False)
def _flat(desk: Desk, task: str) -> None:
    desk.image("output.png", np.full(enlarged(desk, task, 2).shape, 127))


@every("mirrored", True, False)
def _mirrored(desk: Desk, task: str) -> None:
    desk.image("output.png", resolved(desk, task, 4)[:, ::-1])


@every("stretched", True, False)
def _stretched(desk: Desk, task: str) -> None:
    high = resolved(desk, task, 2)
    desk.image("output.png", cv2.resize(high, (high.shape[1] * 2, high.shape[0])))


@every("another picture", True, False)
def _other(desk: Desk, task: str) -> None:
    photo = desk.picture(PHOTO[task])
    lined = np.add.outer(np.arange(photo.shape[0] * 2), np.arange(photo.shape[1] * 2)) % 37 * 6
    desk.image("output.png", np.repeat(lined[..., None], 3, axis=2))


@every("smaller", True, False)
def _smaller(desk: Desk, task: str) -> None:
    desk.image("output.png", enlarged(desk, task, 0.5))


@every("one pixel", True, False)
def _pixel(desk: Desk, task: str) -> None:
    desk.image("output.png", np.full((1, 1, 3), 90))


@every("missing", False, False)
def _missing(desk: Desk, task: str) -> None:
    pass


@every("empty", False, False)
def _empty(desk: Desk, task: str) -> None:
    desk.write("output.png", b"")


@every("garbage", False, False)
def _garbage(desk: Desk, task: str) -> None:
    desk.write("output.png", desk.chance.bytes(3000))


@every("cut off", False, False)
def _cut(desk: Desk, task: str) -> None:
    desk.image("whole.png", resolved(desk, task, 2))
    whole = desk.folder / "whole.png"
    desk.write("output.png", whole.read_bytes()[:-4000])
    whole.unlink()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("reading", list(Reading))
def test_superresolution(task: str, reading: Reading, tmp_path: Path) -> None:
    complaints = book.complaints(task, tmp_path, reading)
    assert not complaints, "\n".join(complaints)


def test_a_sharpened_interpolation_is_left_open(tmp_path: Path) -> None:
    # Whoever sharpens an enlargement has raised its edges; the metric says so, and no threshold forbids it.
    open_ = Casebook()

    @open_.case("SuperResolution_02", "unsharp mask", True, None)
    def _unsharp(desk: Desk) -> None:
        large = Image.fromarray(enlarged(desk, "SuperResolution_02", 2).astype(np.uint8))
        large.filter(ImageFilter.UnsharpMask(2, 150, 3)).save(desk.folder / "output.png")

    assert not open_.complaints("SuperResolution_02", tmp_path)
