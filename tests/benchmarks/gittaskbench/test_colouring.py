"""Old photos and an old video coloured: both readings against outputs made from the real inputs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
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
ONE, TWO, THREE = (f"DeOldify_0{number}" for number in (1, 2, 3))


def _photo(desk: Desk) -> Any:
    """The task's photo, (height, width, 3) of uint8."""
    return desk.picture(next(desk.inputs.glob("*_input.*")).name)


def _grey(photo: Any) -> Any:
    return cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY)


def _whole(pixels: Any) -> Any:
    return np.clip(np.rint(pixels), 0, 255).astype(np.uint8)


def _coloured(grey: Any, strength: float = 1.0) -> Any:
    """Green where it is dark, orange in the middle tones, blue where it is light and high; RGB, the luma kept."""
    tone = cv2.GaussianBlur(grey, (0, 0), grey.shape[1] / 150).astype(float) / 255
    high = np.linspace(1, 0, grey.shape[0])[:, None]
    middle = np.exp(-(((tone - 0.5) / 0.25) ** 2))
    red = 128 + strength * (40 * middle - 30 * (1 - tone) - 15 * tone * high)
    blue = 128 + strength * (-35 * middle - 20 * (1 - tone) + 55 * tone * high)
    return cv2.cvtColor(np.dstack([grey, _whole(red), _whole(blue)]), cv2.COLOR_YCrCb2RGB)


def _solve(desk: Desk, task: str, name: str) -> None:
    script = find_suite("gittaskbench", only=[task]).tasks[0].path / "solution" / "make.py"
    asked = {"inputs": str(desk.inputs), "truth": str(desk.truth), "output": str(desk.folder), "names": [name]}
    subprocess.run([sys.executable, str(script)], input=json.dumps(asked), text=True, check=True)


@book.case(ONE, "solution", True, True, (True, True))
def _(desk: Desk) -> None:
    _solve(desk, ONE, "output.png")


@book.case(TWO, "solution", True, True, (True, True))
def _(desk: Desk) -> None:
    _solve(desk, TWO, "output.png")


@book.case(ONE, "coloured", True, True, (True, True))
@book.case(TWO, "coloured", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.jpg", _coloured(_grey(_photo(desk))), quality=92)


@book.case(TWO, "coloured-softly", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.webp", _coloured(_grey(_photo(desk)), 0.35), quality=92)


@book.case(ONE, "half-the-size", True, True, (True, False))
@book.case(TWO, "half-the-size", True, True, (True, False))
def _(desk: Desk) -> None:
    made = Image.fromarray(_coloured(_grey(_photo(desk))))
    made.resize((made.width // 2, made.height // 2), Image.Resampling.LANCZOS).save(desk.folder / "output.jpg")


@book.case(ONE, "copy", True, False, (True, False))
@book.case(TWO, "copy", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.jpg", _photo(desk), quality=95)


@book.case(ONE, "missing", False, False, (False, False))
@book.case(TWO, "missing", False, False, (False, False))
@book.case(THREE, "missing", False, False, (False, False))
def _(desk: Desk) -> None:
    pass


@book.case(ONE, "empty", False, False, (False, False))
@book.case(TWO, "empty", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.png", b"")


@book.case(ONE, "garbage", False, False, (False, False))
@book.case(TWO, "garbage", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.png", desk.chance.bytes(3000))


@book.case(ONE, "brighter", True, False, (True, True))
@book.case(TWO, "brighter", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.jpg", _photo(desk) + 10.0, quality=97)


@book.case(ONE, "one-tint", True, False, (True, True))
@book.case(TWO, "one-tint", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.jpg", _photo(desk) + np.array([22.0, 2, -22]), quality=97)


@book.case(TWO, "faint-tint", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.jpg", _photo(desk) + np.array([1.5, 0, -1.5]), quality=97)


@book.case(ONE, "sepia", True, False, (True, True))
@book.case(TWO, "sepia", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.jpg", _grey(_photo(desk))[..., None] * np.array([1.1, 0.93, 0.7]), quality=97)


@book.case(TWO, "colour-map", True, False, (True, True))
def _(desk: Desk) -> None:
    made = cv2.applyColorMap(_grey(_photo(desk)), cv2.COLORMAP_VIRIDIS)[..., ::-1]
    desk.image("output.jpg", made, quality=97)


@book.case(ONE, "half-coloured", True, False, (True, True))
@book.case(TWO, "half-coloured", True, False, (True, True))
def _(desk: Desk) -> None:
    photo = _photo(desk)
    made, middle = _coloured(_grey(photo)).copy(), photo.shape[1] // 2
    made[:, middle:] = photo[:, middle:]
    desk.image("output.jpg", made, quality=97)


@book.case(ONE, "chance-colours", True, False)
@book.case(TWO, "chance-colours", True, False)
def _(desk: Desk) -> None:
    grey = _grey(_photo(desk))
    colours = [_whole(128 + desk.chance.normal(0, 20, grey.shape)) for _ in range(2)]
    desk.image("output.jpg", cv2.cvtColor(np.dstack([grey, *colours]), cv2.COLOR_YCrCb2RGB), quality=97)


@book.case(ONE, "noise", True, False, (True, False))
@book.case(TWO, "noise", True, False, (True, False))
def _(desk: Desk) -> None:
    photo = _photo(desk)
    desk.image("output.jpg", photo + desk.chance.normal(0, 60, photo.shape), quality=97)


@book.case(TWO, "flat", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.image("output.png", np.zeros_like(_photo(desk)) + np.array([180, 90, 40]))


@book.case(TWO, "mirrored", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.image("output.jpg", _coloured(_grey(_photo(desk)))[:, ::-1], quality=95)


@book.case(TWO, "blurred", True, False, (True, False))
def _(desk: Desk) -> None:
    made = _coloured(_grey(_photo(desk)))
    desk.image("output.jpg", cv2.GaussianBlur(made, (0, 0), made.shape[1] / 150), quality=95)


# ---- the video


def _frames(desk: Desk) -> list[Any]:
    """The video's frames, grey, (380, 500) each."""
    source = cv2.VideoCapture(str(desk.inputs / "DeOldify_03_input.mp4"))
    found: list[Any] = []
    while True:
        told, frame = source.read()
        if not told:
            return found
        found.append(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY))


def _film(desk: Desk, frames: Sequence[Any], name: str = "output.mp4", rate: float = 10, code: str = "mp4v") -> None:
    """Write RGB frames."""
    height, width = frames[0].shape[:2]
    told = cv2.VideoWriter.fourcc(*code)
    video = cv2.VideoWriter(str(desk.folder / name), told, rate, (width, height))
    for frame in frames:
        video.write(np.ascontiguousarray(_whole(frame)[..., ::-1]))
    video.release()


def _neutral(grey: Any) -> Any:
    return np.dstack([grey] * 3).astype(float)


@book.case(THREE, "solution", True, True, (True, True))
def _(desk: Desk) -> None:
    _solve(desk, THREE, "output.mp4")


@book.case(THREE, "coloured", True, True, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [_coloured(frame) for frame in _frames(desk)])


@book.case(THREE, "coloured-softly", True, True, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [_coloured(frame, 0.4) for frame in _frames(desk)])


@book.case(THREE, "motion-jpeg", True, True, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [_coloured(frame) for frame in _frames(desk)], "output.avi", code="MJPG")


@book.case(THREE, "smaller", True, True, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [cv2.resize(_coloured(frame), (320, 244)) for frame in _frames(desk)])


@book.case(THREE, "twice-the-rate", True, True, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [_coloured(frame) for frame in _frames(desk) for _ in range(2)], rate=20)


@book.case(THREE, "last-frame-lost", True, True, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [_coloured(frame) for frame in _frames(desk)[:-1]])


@book.case(THREE, "pale", True, False, (True, False))
def _(desk: Desk) -> None:
    _film(desk, [_coloured(frame, 0.1) for frame in _frames(desk)])


@book.case(THREE, "copy", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.copy(desk.inputs / "DeOldify_03_input.mp4", "output.mp4")


@book.case(THREE, "one-tint", True, False, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [_neutral(frame) + np.array([22, 0, -22]) for frame in _frames(desk)])


@book.case(THREE, "sepia", True, False, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [_neutral(frame) * np.array([1.1, 0.92, 0.68]) for frame in _frames(desk)])


@book.case(THREE, "first-frames", True, False, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [_coloured(frame) for frame in _frames(desk)[:5]])


@book.case(THREE, "one-frame-repeated", True, False, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [_coloured(_frames(desk)[0])] * 21)


@book.case(THREE, "every-frame-twice", True, False, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [_coloured(frame) for frame in _frames(desk) for _ in range(2)])


@book.case(THREE, "first-half-coloured", True, False, (True, True))
def _(desk: Desk) -> None:
    frames = _frames(desk)
    _film(desk, [_coloured(frame) for frame in frames[:11]] + [_neutral(frame) for frame in frames[11:]])


@book.case(THREE, "red-clip", True, False, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [np.zeros((64, 64, 3)) + np.array([255, 0, 0])])


@book.case(THREE, "colour-map", True, False, (True, True))
def _(desk: Desk) -> None:
    _film(desk, [cv2.applyColorMap(frame, cv2.COLORMAP_PLASMA)[..., ::-1] for frame in _frames(desk)])


@book.case(THREE, "chance-colours", True, False, (True, True))
def _(desk: Desk) -> None:
    frames = _frames(desk)
    _film(desk, [_neutral(frame) + desk.chance.normal(0, 45, (*frame.shape, 3)) for frame in frames])


@book.case(THREE, "garbage", False, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.mp4", desk.chance.bytes(4000))


@book.case(THREE, "truncated", False, False)
def _(desk: Desk) -> None:
    whole = (desk.inputs / "DeOldify_03_input.mp4").read_bytes()
    desk.write("output.mp4", whole[:2000])


@book.case(THREE, "empty", False, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.mp4", b"")


@book.case(THREE, "a-picture", None, False)
def _(desk: Desk) -> None:
    desk.image("output.png", _coloured(_frames(desk)[0]))


@pytest.mark.parametrize("reading", Reading)
@pytest.mark.parametrize("task", [ONE, TWO, THREE])
def test_cases(task: str, reading: Reading, tmp_path: Path) -> None:
    assert not book.complaints(task, tmp_path, reading)
