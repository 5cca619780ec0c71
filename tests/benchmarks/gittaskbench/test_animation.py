"""A redrawn video: all of it, the same scenes at the same moments, every frame redrawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from benchmarks.gittaskbench.casebook import Casebook, Desk
from repoassay.types import Reading
from shared_data import needs_shared

pytestmark = [needs_shared, pytest.mark.exhaustive]
book = Casebook()
TASK = "AnimeGANv3_03"
WIDTH = 400


def frames(desk: Desk) -> tuple[list[Any], float]:
    """The input, narrower so that the tests are quick, and its rate."""
    video = cv2.VideoCapture(str(desk.inputs / "AnimeGANv3_03_input.mp4"))
    found: list[Any] = []
    while True:
        told, frame = video.read()
        if not told:
            return found, float(video.get(cv2.CAP_PROP_FPS))
        height = round(frame.shape[0] * WIDTH / frame.shape[1])
        found.append(cv2.resize(frame, (WIDTH, height), interpolation=cv2.INTER_AREA))


def save(path: Path, made: list[Any], rate: float, code: str = "mp4v") -> None:
    size = made[0].shape[1::-1]
    video = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*code), rate, size)
    for frame in made:
        video.write(np.ascontiguousarray(frame))
    video.release()


def cartoon(frame: Any) -> Any:
    flat = cv2.bilateralFilter(frame, 7, 60, 7) // 32 * 32 + 16
    lines = cv2.Canny(cv2.GaussianBlur(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), (0, 0), 1), 60, 140)
    return np.where(lines[..., None] > 0, 20, flat).astype(np.uint8)


def changed(name: str, result: bool, change: Callable[[list[Any]], list[Any]], speed: float = 1.0) -> None:
    """A case whose video is what `change` makes of the frames, at `speed` times the rate."""

    def write(desk: Desk) -> None:
        found, rate = frames(desk)
        save(desk.folder / "output.mp4", change(found), rate * speed)

    book.case(TASK, name, True, result)(write)


changed("cartoon", True, lambda found: [cartoon(frame) for frame in found])
changed("last frames lost", True, lambda found: [cartoon(frame) for frame in found[:-5]])
changed("every other frame at half the rate", True, lambda found: [cartoon(frame) for frame in found[::2]], 0.5)
changed("thirty frames a second", True, lambda found: [cartoon(frame) for frame in found], 0.5)
changed("copy", False, lambda found: found)
changed("brighter", False, lambda found: [cv2.add(frame, np.full_like(frame, 30)) for frame in found])
changed("blurred", False, lambda found: [cv2.GaussianBlur(frame, (0, 0), 3) for frame in found])
changed(
    "greyscale",
    False,
    lambda found: [np.repeat(frame.mean(2, keepdims=True), 3, 2).astype(np.uint8) for frame in found],
)
changed("half", False, lambda found: [cartoon(frame) for frame in found[: len(found) // 2]])
changed("ten frames", False, lambda found: [cartoon(frame) for frame in found[:10]])
changed("ten frames shown for long", False, lambda found: [cartoon(frame) for frame in found[::30]], 1 / 30)
changed("one frame held", False, lambda found: [cartoon(found[0])] * len(found))
changed("backwards", False, lambda found: [cartoon(frame) for frame in found[::-1]])
changed("twice over", False, lambda found: [cartoon(frame) for frame in [*found, *found]])
changed("grey frames", False, lambda found: [np.full_like(frame, 128) for frame in found])


@book.case(TASK, "noise", True, False)
def _noise(desk: Desk) -> None:
    save(desk.folder / "output.mp4", [desk.chance.integers(0, 256, (96, 128, 3), np.uint8) for _ in range(302)], 60)


@book.case(TASK, "under noise", True, False)
def _under(desk: Desk) -> None:
    found, rate = frames(desk)
    noisy = [np.clip(each + desk.chance.normal(0, 40, each.shape), 0, 255).astype(np.uint8) for each in found]
    save(desk.folder / "output.mp4", noisy, rate)


@book.case(TASK, "the input's file", True, False)
def _file(desk: Desk) -> None:
    desk.copy(desk.inputs / "AnimeGANv3_03_input.mp4", "output.mp4")


@book.case(TASK, "an AVI under another name", True, True)
def _avi(desk: Desk) -> None:
    found, rate = frames(desk)
    save(desk.folder / "made.avi", [cartoon(frame) for frame in found], rate, "MJPG")
    (desk.folder / "made.avi").rename(desk.folder / "output.mp4")


@book.case(TASK, "missing", False, False, (False, False))
def _missing(desk: Desk) -> None:
    pass


@book.case(TASK, "empty", False, False, (False, False))
def _empty(desk: Desk) -> None:
    desk.write("output.mp4", b"")


@book.case(TASK, "garbage", False, False, (True, False))
def _garbage(desk: Desk) -> None:
    desk.write("output.mp4", desk.chance.bytes(5000))


@book.case(TASK, "a playlist of the input", False, False, (True, False))
def _playlist(desk: Desk) -> None:
    desk.write("output.mp4", "ffconcat version 1.0\nfile ../inputs/AnimeGANv3_03_input.mp4\n")


@book.case(TASK, "a picture", False, False, (True, False))
def _picture(desk: Desk) -> None:
    desk.image("output.png", np.full((90, 160, 3), 90))
    (desk.folder / "output.png").rename(desk.folder / "output.mp4")


@book.case(TASK, "cut off", False, False, (True, False))
def _cut(desk: Desk) -> None:
    whole = (desk.inputs / "AnimeGANv3_03_input.mp4").read_bytes()
    desk.write("output.mp4", whole[: len(whole) // 3])


@pytest.mark.parametrize("reading", list(Reading))
def test_redrawn_video(reading: Reading, tmp_path: Path) -> None:
    complaints = book.complaints(TASK, tmp_path, reading)
    assert not complaints, "\n".join(complaints)
