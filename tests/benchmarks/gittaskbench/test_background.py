"""Cut-outs, green screens and blurred backgrounds: both readings against outputs made from the real pictures."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from benchmarks.gittaskbench.casebook import Casebook, Desk
from repoassay.tasks.suite import find_suite
from repoassay.types import Reading
from shared_data import needs_shared

pytestmark = [needs_shared, pytest.mark.exhaustive]
book = Casebook()
ONE, TWO, THREE = (f"TransparentBackground_0{number}" for number in (1, 2, 3))


def _solve(task: str, desk: Desk, name: str = "output.png") -> None:
    """Run the task's own solution."""
    script = find_suite("gittaskbench", only=[task]).tasks[0].path / "solution" / "make.py"
    asked = {"inputs": str(desk.inputs), "truth": str(desk.truth), "output": str(desk.folder), "names": [name]}
    subprocess.run([sys.executable, str(script)], input=json.dumps(asked), text=True, check=True)


@cache
def _bird_matte(path: Path) -> Any:
    """Share of the bird in each pixel, (540, 960, 1), by graph cut from a box around it."""
    photo = np.asarray(Image.open(path).convert("RGB"))
    cv2.setRNGSeed(0)
    mask = np.zeros(photo.shape[:2], np.uint8)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(photo[..., ::-1].copy(), mask, (300, 100, 570, 420), *models, 4, cv2.GC_INIT_WITH_RECT)
    labels, stats = cv2.connectedComponentsWithStats(np.isin(mask, (1, 3)).astype(np.uint8))[1:3]
    return (labels == 1 + stats[1:, cv2.CC_STAT_AREA].argmax()).astype(np.float64)[..., None]


def _sitter_matte() -> Any:
    """Share of the sitter in each pixel, (512, 512, 1), from a rough outline of hat, feather, face and shoulder."""
    outline = [(122, 210), (124, 140), (155, 75), (190, 50), (240, 46), (296, 78), (332, 122), (345, 134), (410, 110),
               (418, 125), (408, 158), (375, 205), (380, 330), (374, 460), (383, 511), (62, 511), (70, 400), (88, 290),
               (110, 255), (135, 238)]  # fmt: skip
    matte = np.zeros((512, 512), np.uint8)
    cv2.fillPoly(matte, [np.array(outline)], 255)
    return cv2.GaussianBlur(matte, (0, 0), 1.2)[..., None] / 255.0


def _bird(desk: Desk) -> tuple[Any, Any]:
    name = f"{ONE}_input.jpg"
    return desk.picture(name).astype(float), _bird_matte(desk.inputs / name)


def _sitter(desk: Desk) -> tuple[Any, Any]:
    found = next(desk.inputs.glob("*_input.jpg"))
    return desk.picture(found.name).astype(float), _sitter_matte()


GREEN = np.array([0.0, 255.0, 0.0])


@book.case(ONE, "solution", True, True, (True, True))
@book.case(TWO, "solution", True, True, (True, True))
@book.case(THREE, "solution", True, True)
def _(desk: Desk) -> None:
    task = next(desk.inputs.glob("*_input.jpg")).name.removesuffix("_input.jpg")
    _solve(task, desk)


@book.case(ONE, "empty", False, False, (False, False))
@book.case(TWO, "empty", False, False, (False, False))
@book.case(THREE, "empty", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.png", b"")


@book.case(ONE, "missing", False, False, (False, False))
@book.case(TWO, "missing", False, False, (False, False))
@book.case(THREE, "missing", False, False, (False, False))
def _(desk: Desk) -> None:
    pass


@book.case(ONE, "garbage", False, False, (False, False))
@book.case(TWO, "garbage", False, False, (False, False))
@book.case(THREE, "garbage", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.png", desk.chance.bytes(4000))


@book.case(ONE, "truncated", False, False)
@book.case(TWO, "truncated", False, False)
@book.case(THREE, "truncated", False, False)
def _(desk: Desk) -> None:
    photo = next(desk.inputs.glob("*_input.jpg")).read_bytes()
    desk.write("output.jpg", photo[: len(photo) // 3])


@book.case(ONE, "copy", True, False, (True, False))
@book.case(TWO, "copy", True, False, (True, False))
@book.case(THREE, "copy", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.copy(next(desk.inputs.glob("*_input.jpg")), "output.jpg")


@book.case(ONE, "noise", True, False)
@book.case(TWO, "noise", True, False)
@book.case(THREE, "noise", True, False, (True, False))
def _(desk: Desk) -> None:
    photo = desk.picture(next(desk.inputs.glob("*_input.jpg")).name)
    desk.image("output.png", desk.chance.integers(0, 256, photo.shape))


# ---- the bird


@book.case(ONE, "colours-kept-under-alpha", True, True, (True, False))
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    desk.image("output.png", np.dstack([photo, 255 * matte]))


@book.case(ONE, "webp", True, True)
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    desk.image("output.webp", np.dstack([photo * matte, 255 * matte]), quality=90)


@book.case(ONE, "half-size", True, True, (True, True))
@book.case(ONE, "larger", True, True, (True, True))
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    size = (480, 270) if desk.folder.name == "half-size" else (1440, 810)
    made = Image.fromarray(np.dstack([photo * matte, 255 * matte]).astype(np.uint8))
    made.resize(size, Image.Resampling.LANCZOS).save(desk.folder / "output.png")


@book.case(ONE, "edge-a-little-off", True, True)
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    desk.image("output.png", np.dstack([photo, 255 * cv2.dilate(matte, np.ones((7, 7)))]))


@book.case(ONE, "palette", True, True)
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    made = Image.fromarray(np.dstack([photo, 255 * matte]).astype(np.uint8))
    made.quantize(256, method=Image.Quantize.FASTOCTREE).save(desk.folder / "output.png")


@book.case(ONE, "black-background", True, False, (True, True))
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    desk.image("output.png", photo * matte)


@book.case(ONE, "inverted", True, False)
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    desk.image("output.png", np.dstack([photo * (1 - matte), 255 * (1 - matte)]))


@book.case(ONE, "tiny-grey", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", np.full((16, 16, 3), 128))


@book.case(ONE, "one-channel", True, False, (False, False))
def _(desk: Desk) -> None:
    photo, _ = _bird(desk)
    desk.image("output.png", photo.mean(2))


@book.case(ONE, "all-transparent", True, False)
def _(desk: Desk) -> None:
    photo, _ = _bird(desk)
    desk.image("output.png", np.dstack([photo, 0 * photo[..., :1]]))


@book.case(ONE, "opaque-alpha", True, False, (True, False))
def _(desk: Desk) -> None:
    photo, _ = _bird(desk)
    desk.image("output.png", np.dstack([photo, 0 * photo[..., :1] + 255]))


@book.case(ONE, "box", True, False)
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    box = np.zeros_like(matte)
    box[108:530, 320:870] = 255
    desk.image("output.png", np.dstack([photo, box]))


@book.case(ONE, "half-transparent", True, False)
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    desk.image("output.png", np.dstack([photo, 255 * (0.5 + 0.5 * matte)]))


@book.case(ONE, "half-a-bird", True, False)
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    matte = matte.copy()
    matte[:, 560:] = 0
    desk.image("output.png", np.dstack([photo * matte, 255 * matte]))


@book.case(ONE, "grey-bird", True, False)
def _(desk: Desk) -> None:
    photo, matte = _bird(desk)
    grey = photo.mean(2, keepdims=True)
    desk.image("output.png", np.dstack([grey, grey, grey, 255 * matte]))


# ---- the green screen


@book.case(TWO, "pure-green", True, True, (True, True))
@book.case(TWO, "studio-green", True, True, (True, True))
@book.case(TWO, "mint-green", True, True)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    green = {"pure-green": (0, 255, 0), "studio-green": (0, 177, 64), "mint-green": (120, 255, 155)}[desk.folder.name]
    desk.image("output.png", photo * matte + np.array(green) * (1 - matte))


@book.case(TWO, "jpeg", True, True)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    desk.image("output.jpg", photo * matte + GREEN * (1 - matte), quality=75)


@book.case(TWO, "resized", True, True)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    made = Image.fromarray((photo * matte + GREEN * (1 - matte)).astype(np.uint8))
    made.resize((1024, 1024), Image.Resampling.BICUBIC).save(desk.folder / "output.png")


@book.case(TWO, "all-green-but-one", True, False, (True, True))
def _(desk: Desk) -> None:
    made = np.zeros((512, 512, 3)) + GREEN
    made[0, 0] = 255, 0, 0
    desk.image("output.png", made)


@book.case(TWO, "all-green", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.png", np.zeros((512, 512, 3)) + GREEN)


@book.case(TWO, "tinted", True, False)
def _(desk: Desk) -> None:
    photo, _ = _sitter(desk)
    desk.image("output.png", 0.4 * photo + 0.6 * GREEN)


@book.case(TWO, "inverted", True, False)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    desk.image("output.png", photo * (1 - matte) + GREEN * matte)


@book.case(TWO, "blue-screen", True, False)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    desk.image("output.png", photo * matte + np.array([0, 0, 255]) * (1 - matte))


@book.case(TWO, "half-the-background", True, False)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    matte = matte.copy()
    matte[:, :256] = 1
    desk.image("output.png", photo * matte + GREEN * (1 - matte))


@book.case(TWO, "sitter-replaced", True, False)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    desk.image("output.png", photo[::-1] * matte + GREEN * (1 - matte))


# ---- the blurred background


def _blurred(photo: Any, sigma: float) -> Any:
    return cv2.GaussianBlur(photo, (0, 0), sigma)


@book.case(THREE, "sigma-4", True, True)
@book.case(THREE, "sigma-9", True, True)
@book.case(THREE, "sigma-25", True, True)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    sigma = float(desk.folder.name.partition("-")[2])
    desk.image("output.png", photo * matte + _blurred(photo, sigma) * (1 - matte))


@book.case(THREE, "box-filter-jpeg", True, True)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    desk.image("output.jpg", photo * matte + cv2.blur(photo, (31, 31)) * (1 - matte), quality=80)


@book.case(THREE, "resized", True, True)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    made = Image.fromarray((photo * matte + _blurred(photo, 8) * (1 - matte)).astype(np.uint8))
    made.resize((320, 320), Image.Resampling.LANCZOS).save(desk.folder / "output.png")


@book.case(THREE, "hardly-blurred", True, False)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    desk.image("output.png", photo * matte + _blurred(photo, 0.7) * (1 - matte))


@book.case(THREE, "all-blurred", True, False, (True, False))
def _(desk: Desk) -> None:
    photo, _ = _sitter(desk)
    desk.image("output.png", _blurred(photo, 9))


@book.case(THREE, "all-blurred-a-little", True, False)
def _(desk: Desk) -> None:
    photo, _ = _sitter(desk)
    desk.image("output.png", _blurred(photo, 2.5))


@book.case(THREE, "sitter-blurred", True, False)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    desk.image("output.png", photo * (1 - matte) + _blurred(photo, 9) * matte)


@book.case(THREE, "flat-background", True, False)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    desk.image("output.png", photo * matte + 128.0 * (1 - matte))


@book.case(THREE, "green-background", True, False)
def _(desk: Desk) -> None:
    photo, matte = _sitter(desk)
    desk.image("output.png", photo * matte + GREEN * (1 - matte))


@book.case(THREE, "flat", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.png", np.full((512, 512, 3), 128))


@book.case(THREE, "sharpened", True, False)
def _(desk: Desk) -> None:
    photo, _ = _sitter(desk)
    desk.image("output.png", 2 * photo - _blurred(photo, 2))


@book.case(THREE, "brighter", True, False)
def _(desk: Desk) -> None:
    photo, _ = _sitter(desk)
    desk.image("output.png", photo + 8)


@pytest.mark.parametrize("reading", Reading)
@pytest.mark.parametrize("task", [ONE, TWO, THREE])
def test_cases(task: str, reading: Reading, tmp_path: Path) -> None:
    assert not book.complaints(task, tmp_path, reading)
