"""Scratches removed and found, and an old photo restored: both readings against outputs made from the real photos."""

from __future__ import annotations

import json
import subprocess
import sys
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
ONE, TWO, THREE = (f"DeScratch_0{number}" for number in (1, 2, 3))
INPUTS = {ONE: "DeScratch_01_input.jpeg", TWO: "DeScratch_02_input.png", THREE: "DeScratch_03_input.png"}


def _photo(desk: Desk) -> Any:
    """The task's photo, (height, width, 3) of uint8."""
    return desk.picture(next(desk.inputs.glob("*_input.*")).name)


def _solve(task: str, desk: Desk) -> Any:
    """The task's own solution, written as output.png."""
    script = find_suite("gittaskbench", only=[task]).tasks[0].path / "solution" / "make.py"
    asked = {"inputs": str(desk.inputs), "truth": str(desk.truth), "output": str(desk.folder), "names": ["output.png"]}
    subprocess.run([sys.executable, str(script)], input=json.dumps(asked), text=True, check=True)
    return np.asarray(Image.open(desk.folder / "output.png").convert("RGB"))


def _resized(picture: Any, factor: float) -> Any:
    size = round(picture.shape[1] * factor), round(picture.shape[0] * factor)
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))


def _blurred(picture: Any, sigma: float) -> Any:
    return cv2.GaussianBlur(picture, (0, 0), sigma)


@book.case(ONE, "solution", True, True, (True, True))
def _(desk: Desk) -> None:
    _solve(ONE, desk)


@book.case(TWO, "solution", True, True, (True, True))
def _(desk: Desk) -> None:
    _solve(TWO, desk)


@book.case(THREE, "solution", True, True, (True, True))
def _(desk: Desk) -> None:
    _solve(THREE, desk)


@book.case(ONE, "copy", True, False, (True, True))
@book.case(TWO, "copy", True, False, (True, False))
@book.case(THREE, "copy", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", _photo(desk))


@book.case(ONE, "missing", False, False, (False, False))
@book.case(TWO, "missing", False, False, (False, False))
@book.case(THREE, "missing", False, False, (False, False))
def _(desk: Desk) -> None:
    pass


@book.case(ONE, "empty", False, False, (False, False))
@book.case(TWO, "empty", False, False, (False, False))
@book.case(THREE, "empty", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.png", b"")


@book.case(ONE, "garbage", False, False, (False, False))
@book.case(TWO, "garbage", False, False, (False, False))
@book.case(THREE, "garbage", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.png", desk.chance.bytes(3000))


@book.case(ONE, "flat", True, False, (True, True))
@book.case(TWO, "flat", True, False, (True, False))
@book.case(THREE, "flat", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.png", np.full_like(_photo(desk), 128))


@book.case(ONE, "noise", True, False, (True, True))
@book.case(TWO, "noise", True, False, (True, False))
@book.case(THREE, "noise", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.png", desk.chance.integers(0, 256, _photo(desk).shape))


@book.case(ONE, "brighter", True, False, (True, True))
@book.case(THREE, "brighter", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", _photo(desk) + 15.0)


@book.case(ONE, "re-encoded", True, False, (True, True))
@book.case(THREE, "re-encoded", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.jpg", _photo(desk), quality=60)


@book.case(ONE, "blurred-a-little", True, False, (True, True))
@book.case(THREE, "blurred-a-little", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", _blurred(_photo(desk), 1))


@book.case(ONE, "blurred", True, False)
@book.case(THREE, "blurred", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.png", _blurred(_photo(desk), 4))


@book.case(ONE, "another-photo", True, False, (True, True))
@book.case(THREE, "another-photo", True, False, (True, False))
def _(desk: Desk) -> None:
    photo = _photo(desk)
    desk.image("output.png", 255 - photo[::-1, ::-1])


@book.case(ONE, "enlarged-copy", True, False, (True, True))
@book.case(THREE, "enlarged-copy", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", _resized(_photo(desk), 2))


# ---- scratches removed


@book.case(ONE, "other-size", True, True, (True, True))
def _(desk: Desk) -> None:
    made = Image.fromarray(_solve(ONE, desk))
    made.resize((560, 880), Image.Resampling.BICUBIC).save(desk.folder / "output.png")


@book.case(ONE, "twice-the-size", True, True)
@book.case(ONE, "half-the-size", True, True)
def _(desk: Desk) -> None:
    factor = 2 if desk.folder.name.startswith("twice") else 0.5
    desk.image("output.png", _resized(_solve(ONE, desk), factor))


@book.case(ONE, "denoised-too-as-jpeg", True, True, (True, True))
def _(desk: Desk) -> None:
    made = cv2.fastNlMeansDenoisingColored(_solve(ONE, desk), None, 5, 5, 7, 21)
    (desk.folder / "output.png").unlink()
    desk.image("output.jpg", made, quality=90)


@book.case(ONE, "grey", True, True)
def _(desk: Desk) -> None:
    desk.image("output.png", _solve(ONE, desk).mean(2))


@book.case(ONE, "long-fold-alone", True, True, (True, True))
@book.case(ONE, "half-the-fold", True, False, (True, True))
def _(desk: Desk) -> None:
    photo, made = _photo(desk), _solve(ONE, desk).copy()
    made[:280], made[380:] = photo[:280], photo[380:]
    if desk.folder.name == "half-the-fold":
        made[:, 310:] = photo[:, 310:]
    desk.image("output.png", made)


@book.case(ONE, "automatic-mask", True, True, (True, True))
def _(desk: Desk) -> None:
    photo = _photo(desk)
    grey, kernel = cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY), np.ones((7, 7), np.uint8)
    found = (cv2.morphologyEx(grey, cv2.MORPH_TOPHAT, kernel) > 25) | (
        cv2.morphologyEx(grey, cv2.MORPH_BLACKHAT, kernel) > 35
    )
    mask = cv2.dilate(found.astype(np.uint8), np.ones((3, 3), np.uint8))
    desk.image("output.png", cv2.inpaint(photo, mask, 3, cv2.INPAINT_TELEA))


@book.case(ONE, "more-lines", True, False, (True, True))
def _(desk: Desk) -> None:
    photo = _photo(desk).copy()
    for x, y, to_x, to_y in desk.chance.integers(0, 559, (150, 4)):
        cv2.line(photo, (int(x), int(y)), (int(to_x), int(to_y)), (255, 255, 255), 1)
    desk.image("output.png", photo)


@book.case(ONE, "less-contrast", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", 128 + 0.4 * (_photo(desk) - 128.0))


# ---- scratches found


def _mask(desk: Desk) -> Any:
    """The true mask, (256, 256) of 0 and 255."""
    return np.asarray(Image.open(desk.truth / "gt" / "gt.png").convert("L"))


@book.case(TWO, "three-channels-jpeg", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.jpg", np.dstack([_mask(desk)] * 3), quality=90)


@book.case(TWO, "soft", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", _blurred(_mask(desk), 0.7))


@book.case(TWO, "larger", True, True, (False, False))
def _(desk: Desk) -> None:
    desk.image("output.png", np.kron(_mask(desk), np.ones((2, 2))))


@book.case(TWO, "one-bit", True, True, (True, True))
def _(desk: Desk) -> None:
    Image.fromarray(_mask(desk)).convert("1", dither=Image.Dither.NONE).save(desk.folder / "output.png")


@book.case(TWO, "webp", True, True, (False, False))
def _(desk: Desk) -> None:
    desk.image("output.webp", _mask(desk), lossless=True)


@book.case(TWO, "other-name", True, True, (False, False))
def _(desk: Desk) -> None:
    desk.image("output_01.png", _mask(desk))


@book.case(TWO, "moved-by-2", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", np.roll(_mask(desk), 2, 0))


@book.case(TWO, "moved-by-3", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.png", np.roll(_mask(desk), 3, 0))


@book.case(TWO, "inverted", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.png", 255 - _mask(desk))


@book.case(TWO, "all-white", True, False, (True, False))
@book.case(TWO, "all-black", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.png", np.full((256, 256), 255 if desk.folder.name == "all-white" else 0))


@book.case(TWO, "half", True, None)
def _(desk: Desk) -> None:
    mask = _mask(desk).copy()
    mask[:, 128:] = 0
    desk.image("output.png", mask)


@book.case(TWO, "edges", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.png", cv2.Canny(cv2.cvtColor(_photo(desk), cv2.COLOR_RGB2GRAY), 80, 160))


# ---- a photo restored


def _denoised(photo: Any, strength: float = 5) -> Any:
    return cv2.fastNlMeansDenoisingColored(photo, None, strength, strength, 5, 15)


@book.case(THREE, "denoised", True, True, (True, True))
@book.case(THREE, "denoised-strongly", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", _denoised(_photo(desk), 12 if desk.folder.name.endswith("strongly") else 5))


@book.case(THREE, "denoised-and-sharpened", True, True, (True, True))
def _(desk: Desk) -> None:
    calm = _denoised(_photo(desk), 6).astype(float)
    desk.image("output.jpg", 1.4 * calm - 0.4 * _blurred(calm, 2), quality=92)


@book.case(THREE, "bilateral", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", cv2.bilateralFilter(_photo(desk), 7, 50, 3))


@book.case(THREE, "twice-the-size", True, True, (True, True))
@book.case(THREE, "four-times-the-size", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", _resized(_denoised(_photo(desk), 6), 2 if desk.folder.name.startswith("twice") else 4))


@book.case(THREE, "sharpened", True, False, (True, True))
def _(desk: Desk) -> None:
    photo = _photo(desk).astype(float)
    desk.image("output.png", 1.5 * photo - 0.5 * _blurred(photo, 2))


@book.case(THREE, "noisier", True, False, (True, True))
def _(desk: Desk) -> None:
    photo = _photo(desk)
    desk.image("output.png", photo + desk.chance.normal(0, 10, photo.shape))


@book.case(THREE, "grey-copy", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.png", cv2.cvtColor(_photo(desk), cv2.COLOR_RGB2GRAY))


@book.case(THREE, "two-outputs", True, True, (False, False))
def _(desk: Desk) -> None:
    _solve(THREE, desk)
    desk.write("output.json", "{}")


@pytest.mark.parametrize("reading", Reading)
@pytest.mark.parametrize("task", [ONE, TWO, THREE])
def test_cases(task: str, reading: Reading, tmp_path: Path) -> None:
    assert not book.complaints(task, tmp_path, reading)
