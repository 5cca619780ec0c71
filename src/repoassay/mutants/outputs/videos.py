"""Videos made wrong: over time, in colour, or with the work done to some of their frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from repoassay.mutants.outputs.mutant import Expected, OutputChange, RightOutput, Same
from repoassay.mutants.outputs.pictures import blurred, mosaic, scenery

__all__ = ["SUFFIXES", "video_changes"]

SUFFIXES = frozenset({".mp4", ".avi", ".mov", ".mkv", ".webm"})
_CODES = {".avi": "MJPG"}
_MOST_FRAMES = 1200
_MOST_BYTES = 3 * 2**30
Frame = Any
"""uint8, (height, width, 3), blue first"""


@dataclass(frozen=True, slots=True)
class _Clip:
    frames: Sequence[Frame]
    rate: float


def video_changes(source: RightOutput) -> Iterator[OutputChange]:
    """Every mutant of a video."""
    clip = _read(source.path)
    if clip is None:
        return
    frames, count = clip.frames, len(clip.frames)
    for name, changed_frames in _in_time(clip, source.seed):
        yield OutputChange(name, partial(_write, clip.rate, changed_frames, ()))
    for name, factor in (("rate-double", 2.0), ("rate-half", 0.5)):
        yield OutputChange(name, partial(_write, clip.rate * factor, lambda: iter(frames), ()))
    for name, change in _in_picture(source.seed):
        yield OutputChange(name, partial(_write, clip.rate, partial(_mapped, change, frames), frames))
    for path in source.inputs:
        base = _read(path, frames[0].shape) if path.suffix.lower() in SUFFIXES else None
        if base is not None:
            yield from _undone(clip, [base.frames[min(place, len(base.frames) - 1)] for place in range(count)])
            break
    yield OutputChange("written-again", partial(_write, clip.rate, lambda: iter(frames), ()), Expected.RIGHT)
    for suffix in source.formats:
        if suffix in (".avi",) and suffix != source.path.suffix.lower():
            yield OutputChange(f"as-{suffix[1:]}", partial(_write, clip.rate, lambda: iter(frames), ()), Expected.RIGHT,
                         suffix=suffix)  # fmt: skip


def _in_time(clip: _Clip, seed: int) -> Iterator[tuple[str, Callable[[], Iterator[Frame]]]]:
    import numpy as np

    frames, count = clip.frames, len(clip.frames)
    yield "frozen", lambda: iter([frames[count // 2]] * count)
    yield "first-frame-only", lambda: iter(frames[:1])
    yield "first-half", lambda: iter(frames[: count // 2])
    yield "second-half-frozen", lambda: iter([*frames[: count // 2], *[frames[count // 2]] * (count - count // 2)])
    yield "reversed", lambda: iter(frames[::-1])
    order = np.random.default_rng(seed).permutation(count)
    yield "frames-shuffled", lambda: (frames[place] for place in order)
    yield "flicker", lambda: (_brighter(frame, 45 if place % 2 else -45) for place, frame in enumerate(frames))
    yield "flicker-black", lambda: (frame if place % 2 else frame * 0 for place, frame in enumerate(frames))
    yield "chroma-shuffled", lambda: (_with_chroma(frame, frames[order[place]]) for place, frame in enumerate(frames))
    yield "colours-flicker", lambda: (frame[..., (1, 2, 0)] if place % 2 else frame
                                      for place, frame in enumerate(frames))  # fmt: skip


def _in_picture(seed: int) -> Iterator[tuple[str, Callable[[Frame], Frame]]]:
    import cv2
    import numpy as np

    yield "channels-bgr", lambda frame: frame[..., ::-1]
    yield "channels-gbr", lambda frame: frame[..., (1, 2, 0)]
    yield "grey", lambda frame: np.repeat(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)[..., None], 3, axis=2)
    yield "inverted", lambda frame: 255 - frame
    yield "mirrored", lambda frame: frame[:, ::-1]
    yield "upside-down", lambda frame: frame[::-1]
    yield "mosaic", lambda frame: mosaic(frame, max(4, frame.shape[1] // 32))
    yield "blurred", lambda frame: blurred(frame, max(2.0, frame.shape[1] / 100))
    random = np.random.default_rng(seed)
    noise = random.normal(0, 40, (64, 64, 3))
    yield "noise", lambda frame: frame + np.tile(noise, (frame.shape[0] // 64 + 1, frame.shape[1] // 64 + 1, 1))[
        : frame.shape[0], : frame.shape[1]]  # fmt: skip
    yield "size-tiny", lambda frame: cv2.resize(frame, (16, 16))
    other: dict[Any, Any] = {}

    def another(frame: Frame) -> Frame:
        """A made-up scene that moves to the left."""
        scene: Any = other.setdefault(frame.shape, scenery(frame.shape[0], frame.shape[1], seed + 1))
        other[frame.shape] = np.roll(scene, -4, axis=1)
        return scene

    yield "other-video", another


def _undone(clip: _Clip, base: Sequence[Frame]) -> Iterator[OutputChange]:
    frames = clip.frames
    pairs = list(zip(frames, base, strict=True))
    left = frames[0].shape[1] // 2

    def half(frame: Frame, before: Frame) -> Frame:
        variants = frame.copy()
        variants[:, :left] = before[:, :left]
        return variants

    variants: dict[str, Callable[[], Iterator[Frame]]] = {
        "input": lambda: iter(base),
        "half-undone-left": lambda: (half(frame, source) for frame, source in pairs),
        "second-half-undone": lambda: iter([*frames[: len(frames) // 2], *base[len(frames) // 2 :]]),
        "every-second-undone": lambda: (source if place % 2 else frame for place, (frame, source) in enumerate(pairs)),
        "first-frame-alone-done": lambda: iter([frames[0], *base[1:]]),
        "blend-75": lambda: (0.25 * frame + 0.75 * source for frame, source in pairs),
        "blend-50": lambda: (0.5 * frame + 0.5 * source for frame, source in pairs),
        "edit-inverted": lambda: (2.0 * source - frame for frame, source in pairs),
        "input-channels": lambda: (source[..., (1, 2, 0)] for source in base),
        "input-mosaic": lambda: (mosaic(source, max(3, source.shape[1] // 64)) for source in base),
        "input-brighter": lambda: (source * 1.25 + 12 for source in base),
        "input-tinted": lambda: (source * (0.7, 1.0, 1.2) for source in base),
    }
    for name, change in variants.items():
        yield OutputChange(name, partial(_write, clip.rate, change, frames))


def _read(path: Path, shape: Any = None) -> _Clip | None:
    """All frames, at another size where a shape is given; None for what is no video, or too long to be held."""
    import cv2

    opened = cv2.VideoCapture(str(path))
    frames: list[Frame] = []
    while len(frames) < _MOST_FRAMES:
        there, frame = opened.read()
        if not there:
            break
        frames.append(frame if shape is None or frame.shape == shape else cv2.resize(frame, shape[1::-1]))
        if len(frames) * frame.nbytes > _MOST_BYTES:
            return None
    return _Clip(frames, opened.get(cv2.CAP_PROP_FPS) or 25.0) if frames else None


def _write(rate: float, change: Callable[[], Iterator[Frame]], right: Sequence[Frame], place: Path) -> None:
    """Write frames; `Same` where none differs visibly from the right ones, if there are any."""
    import cv2
    import numpy as np

    writer, differ = None, not len(right)
    for number, frame in enumerate(change()):
        pixels = np.ascontiguousarray(np.clip(np.rint(frame), 0, 255).astype(np.uint8))
        if not differ and number % 5 == 0:
            expected = right[min(number, len(right) - 1)]
            differ = pixels.shape != expected.shape or float(np.abs(pixels.astype(float) - expected).mean()) > 1.5
        if writer is None:
            code = cv2.VideoWriter.fourcc(*_CODES.get(place.suffix.lower(), "mp4v"))
            writer = cv2.VideoWriter(str(place), code, rate, pixels.shape[1::-1])
        writer.write(pixels)
    if writer is not None:
        writer.release()
    if not differ:
        raise Same


def _mapped(change: Callable[[Frame], Frame], frames: Sequence[Frame]) -> Iterator[Frame]:
    return map(change, frames)


def _brighter(frame: Frame, by: int) -> Frame:
    return frame.astype(float) + by


def _with_chroma(frame: Frame, other: Frame) -> Frame:
    """A frame's light and another one's colours."""
    import cv2

    lab = cv2.cvtColor(frame, cv2.COLOR_BGR2LAB)
    lab[..., 1:] = cv2.cvtColor(other, cv2.COLOR_BGR2LAB)[..., 1:]
    return cv2.cvtColor(lab, cv2.COLOR_LAB2BGR)
