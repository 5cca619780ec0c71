"""Style transfer and redrawn photos: the scene is kept, it is redrawn, and it has gone towards the style."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from benchmarks.gittaskbench.casebook import Answer, Casebook, Desk
from repoassay.types import Outcome, Reading
from shared_data import needs_shared

pytestmark = [needs_shared, pytest.mark.exhaustive]
book = Casebook()
STYLED = ("StyleTransfer_01", "StyleTransfer_03")
DRAWN = ("AnimeGANv3_01", "AnimeGANv3_02")
REBUILT = ("StyleTransfer_02",)
EVERY = (*STYLED, *REBUILT, *DRAWN)
CONTENT = {
    "StyleTransfer_01": "images.jpg",
    "StyleTransfer_02": "StyleTransfer_02_input.jpg",
    "StyleTransfer_03": "StyleTransfer_03_input_02.jpg",
    "AnimeGANv3_01": "AnimeGANv3_01_input.png",
    "AnimeGANv3_02": "AnimeGANv3_02_input.jpg",
}
STYLE = {"StyleTransfer_01": "style.jpg", "StyleTransfer_03": "StyleTransfer_03_input_01.jpg"}
YES: Answer = (True, True)
FAILED: Answer = (True, False)
NO: Answer = (False, False)
Write = Callable[[Desk, str], None]


def every(tasks: tuple[str, ...], name: str, fair: Answer, **published: Answer) -> Callable[[Write], Write]:
    """A case of several tasks; the function is given the task too. `published` answers by task."""

    def register(write: Write) -> Write:
        for task in tasks:
            book.case(task, name, *fair, published.get(task))(_of(write, task))
        return write

    return register


def _of(write: Write, task: str) -> Callable[[Desk], None]:
    return lambda desk: write(desk, task)


def scene(desk: Desk, task: str, side: int = 800) -> Any:
    """The content, no larger than `side`, as uint8."""
    photo = Image.open(desk.inputs / CONTENT[task]).convert("RGB")
    photo.thumbnail((side, side))
    return np.asarray(photo)


def style(desk: Desk, task: str, like: Any) -> Any:
    """The style image at the size of another picture."""
    return cv2.resize(desk.picture(STYLE[task]), like.shape[1::-1]).astype(float)


def recoloured(picture: Any, goal: Any) -> Any:
    spread = np.maximum(picture.std((0, 1)), 1)
    return (picture - picture.mean((0, 1))) / spread * goal.std((0, 1)) + goal.mean((0, 1))


def painted(desk: Desk, task: str, size: int = 9) -> Any:
    """Strokes of the style's colours: posterised patches in its palette, with dark contours and its texture."""
    photo = scene(desk, task, 640)
    goal = style(desk, task, photo)
    smooth = cv2.edgePreservingFilter(photo, flags=1, sigma_s=40, sigma_r=0.5)
    made = recoloured(smooth.astype(float), goal)
    made = made + 0.6 * (goal - cv2.GaussianBlur(goal, (0, 0), size))
    return np.clip(made, 0, 255)


def cartoon(photo: Any) -> Any:
    """Mean-shift surfaces and Canny lines, otherwise than the reference draws."""
    flat = cv2.pyrMeanShiftFiltering(np.ascontiguousarray(photo[..., ::-1]), 8, 24)[..., ::-1] // 32 * 32 + 16
    light = cv2.GaussianBlur(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY), (0, 0), 1.5)
    lines = cv2.dilate(cv2.Canny(light, 60, 140), np.ones((2, 2), np.uint8))
    return np.where(lines[..., None] > 0, 20, flat)


def rebuilt(photo: Any, chance: np.random.Generator, blur: float, noise: float) -> Any:
    soft = cv2.GaussianBlur(photo, (0, 0), blur).astype(float)
    return 0.85 * soft + 12 + cv2.GaussianBlur(chance.normal(0, noise, photo.shape), (0, 0), 1.5)


# What meets the requests.


@every(STYLED, "painted", YES)
def _painted(desk: Desk, task: str) -> None:
    desk.image("output.png", painted(desk, task))


@every(STYLED, "painted, as JPEG", YES)
def _painted_jpeg(desk: Desk, task: str) -> None:
    desk.image("output.jpg", painted(desk, task, 15), quality=80)


@every(DRAWN, "cartoon", YES)
def _cartoon(desk: Desk, task: str) -> None:
    desk.image("output.png", cartoon(scene(desk, task)))


@every(DRAWN, "small cartoon as JPEG", YES)
def _cartoon_jpeg(desk: Desk, task: str) -> None:
    desk.image("output.jpg", cartoon(scene(desk, task, 512)), quality=85)


@every(DRAWN, "painting filter", YES)
def _stylised(desk: Desk, task: str) -> None:
    desk.image("output.webp", cv2.stylization(scene(desk, task), sigma_s=60, sigma_r=0.45))


@every(REBUILT, "rebuilt small", YES, StyleTransfer_02=YES)
def _rebuilt(desk: Desk, task: str) -> None:
    desk.image("output.png", rebuilt(scene(desk, task, 400), desk.chance, 1.5, 40))


@every(REBUILT, "rebuilt coarsely", YES, StyleTransfer_02=YES)
def _rebuilt_coarse(desk: Desk, task: str) -> None:
    desk.image("output.jpg", rebuilt(scene(desk, task, 500), desk.chance, 5, 60), quality=90)


# What a pixel distance may take for an answer.

COPY = {"StyleTransfer_02": YES}  # what has more than 10 dB once resized


@every(EVERY, "copy", FAILED, **COPY)
def _copy(desk: Desk, task: str) -> None:
    name = CONTENT[task]
    desk.copy(desk.inputs / name, f"output{Path(name).suffix}")


@every(EVERY, "smaller copy as JPEG", FAILED, **COPY)
def _smaller(desk: Desk, task: str) -> None:
    desk.image("output.jpg", scene(desk, task, 512), quality=85)


@every(EVERY, "brighter", FAILED, **COPY)
def _brighter(desk: Desk, task: str) -> None:
    desk.image("output.png", scene(desk, task).astype(float) + 25)


@every((*STYLED, *DRAWN), "more contrast", FAILED)
def _contrast(desk: Desk, task: str) -> None:
    photo = scene(desk, task).astype(float)
    desk.image("output.png", (photo - 128) * 1.5 + 128)


@every((*STYLED, *DRAWN), "blurred", FAILED)
def _blurred(desk: Desk, task: str) -> None:
    desk.image("output.png", cv2.GaussianBlur(scene(desk, task), (0, 0), 4))


@every((*STYLED, *DRAWN), "greyscale", FAILED)
def _grey(desk: Desk, task: str) -> None:
    desk.image("output.png", cv2.cvtColor(scene(desk, task), cv2.COLOR_RGB2GRAY))


@every((*STYLED, *DRAWN), "inverted", FAILED)
def _inverted(desk: Desk, task: str) -> None:
    desk.image("output.png", 255 - scene(desk, task))


@every((*STYLED, *DRAWN), "under noise", FAILED)
def _under(desk: Desk, task: str) -> None:
    photo = scene(desk, task)
    desk.image("output.png", photo + desk.chance.normal(0, 40, photo.shape))


@every(EVERY, "noise", FAILED, **COPY)
def _noise(desk: Desk, task: str) -> None:
    desk.image("output.png", desk.chance.integers(0, 256, (400, 600, 3)))


@every(EVERY, "flat grey", FAILED, **COPY)
def _flat(desk: Desk, task: str) -> None:
    desk.image("output.png", np.full((500, 500, 3), 128))


@every(EVERY, "black", FAILED)
def _black(desk: Desk, task: str) -> None:
    desk.image("output.png", np.zeros_like(scene(desk, task)))


@every(EVERY, "another picture", FAILED)
def _other(desk: Desk, task: str) -> None:
    photo = scene(desk, task)
    lined = np.add.outer(np.arange(photo.shape[0]) * 2, np.arange(photo.shape[1])) % 91 * 2.5
    desk.image("output.png", np.dstack([lined, 255 - lined, lined / 2]))


@every(STYLED, "the style image", FAILED)
def _style(desk: Desk, task: str) -> None:
    desk.copy(desk.inputs / STYLE[task], "output.jpg")


@every(STYLED, "the style image, as large as the content", FAILED)
def _style_large(desk: Desk, task: str) -> None:
    desk.image("output.png", style(desk, task, scene(desk, task)))


@every(STYLED, "another style", FAILED)
def _wrong_style(desk: Desk, task: str) -> None:
    desk.image("output.png", cartoon(scene(desk, task)))


@every(STYLED, "colours matched", (True, None))
def _matched(desk: Desk, task: str) -> None:
    photo = scene(desk, task)
    desk.image("output.png", recoloured(photo.astype(float), style(desk, task, photo)))


@every(DRAWN, "mirrored cartoon", FAILED)
@every(REBUILT, "mirrored", FAILED)
def _mirrored(desk: Desk, task: str) -> None:
    photo = scene(desk, task)
    made = cartoon(photo) if task in DRAWN else rebuilt(photo, desk.chance, 2, 40)
    desk.image("output.png", made[:, ::-1])


@every(REBUILT, "far too bright", FAILED, StyleTransfer_02=FAILED)
def _bright(desk: Desk, task: str) -> None:
    desk.image("output.png", rebuilt(scene(desk, task), desk.chance, 3, 30) * 0.5 + 140)


@every(EVERY, "one pixel", FAILED)
def _pixel(desk: Desk, task: str) -> None:
    desk.image("output.png", np.full((1, 1, 3), 90))


# What is no picture.


@every(EVERY, "missing", NO, **dict.fromkeys(EVERY, NO))
def _missing(desk: Desk, task: str) -> None:
    pass


@every(EVERY, "empty", NO, **dict.fromkeys(EVERY, NO))
def _empty(desk: Desk, task: str) -> None:
    desk.write("output.png", b"")


@every(EVERY, "garbage", NO, **dict.fromkeys(EVERY, NO))
def _garbage(desk: Desk, task: str) -> None:
    desk.write("output.png", b"\xff\xfe" + desk.chance.bytes(5000))


@every(EVERY, "text", NO, **dict.fromkeys(EVERY, NO))
def _text(desk: Desk, task: str) -> None:
    desk.write("output.txt", "a picture")


@every(EVERY, "cut off", NO)
def _cut(desk: Desk, task: str) -> None:
    desk.image("whole.jpg", scene(desk, task))
    whole = desk.folder / "whole.jpg"
    desk.write("output.jpg", whole.read_bytes()[:3000])
    whole.unlink()


@pytest.mark.parametrize("task", EVERY)
def test_style(task: str, tmp_path: Path) -> None:
    complaints = book.complaints(task, tmp_path)
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("task", EVERY)
def test_style_as_published(task: str, tmp_path: Path) -> None:
    complaints = book.complaints(task, tmp_path, Reading.PUBLISHED)
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("task", [*STYLED, *DRAWN, "SuperResolution_01"])
def test_without_weights_published_is_not_gradable(task: str, tmp_path: Path) -> None:
    from repoassay.grading.deliverable import grade_deliverable
    from repoassay.sandbox.cache import Cache
    from repoassay.sandbox.sandbox import open_sandbox
    from repoassay.tasks.suite import find_suite

    folder = find_suite("gittaskbench", only=[task]).tasks[0]
    place = tmp_path / "outputs"
    place.mkdir()
    Image.fromarray(np.full((40, 60, 3), 90, np.uint8)).save(place / "output.png")
    verdict = grade_deliverable(folder, place, open_sandbox("namespaces", Cache()), reading=Reading.PUBLISHED)
    assert verdict.outcome is Outcome.NOT_GRADABLE
    assert "lpips-vgg.onnx" in " ".join(verdict.comments)
