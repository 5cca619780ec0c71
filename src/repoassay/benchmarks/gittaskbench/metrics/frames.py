"""Frames of hostile videos, decoded within bounds by OpenCV.

`read_frames(path, most=24, width=320)` gives a `Clip`: how many frames the video really holds, its rate and size, and
at most `most` frames spread evenly over it, each an array (height, width, 3) of uint8 in RGB order, scaled down to
`width`. Two clips of the same length, read with the same `most`, give the same moments, so they may be compared frame
by frame; clips of other lengths give the same relative moments.
"""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.grading import UnreadableOutput, mapped, need

__all__ = ["Clip", "read_frames"]

_MAX_BYTES = 1024 * 2**20
_MAX_FRAMES = 20_000
_MAX_PIXELS = 36_000_000
_MAX_DECODED = 40_000_000_000
"""Pixels that are decoded of one video in all: about ten minutes of 1280 x 720 at 60 frames a second."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A video as it was decoded.

    Args:
        frames: The frames that were kept, each (height, width, 3) of uint8 in RGB order.
        indexes: Their places in the video, from 0.
        count: How many frames could be decoded; never what the header claims.
        rate: Frames a second by the header; 0 when it says nothing sensible.
        width: Width of the video in pixels, before any scaling.
        height: Height of the video in pixels.
    """

    frames: tuple[Any, ...]
    indexes: tuple[int, ...]
    count: int
    rate: float
    width: int
    height: int

    @property
    def seconds(self) -> float:
        """How long it plays; 0 when the rate is unknown."""
        return self.count / self.rate if self.rate else 0.0


def read_frames(
    path: Path, most: int = 32, width: int | None = None, *, first: bool = False, longest: int = _MAX_FRAMES
) -> Clip:
    """Decode a video and keep some of its frames.

    Args:
        path: MP4, MOV, AVI, Matroska, WebM, MPEG, FLV or GIF; known by its first bytes, not by its suffix, because
            the decoder would also follow playlists to other files.
        most: How many frames to keep; they are the middles of `most` equal parts of the video, or all frames when
            there are no more than that.
        width: Scale kept frames down to this width by area averaging; narrower ones are left as they are.
        first: Keep the first `most` frames instead, and decode no more than those.
        longest: Frames at which decoding ends; a longer video is refused.

    Raises:
        UnreadableOutput: When the file is no video, holds no frame that decodes, changes its size on the way, or is
            larger than the bounds.
    """
    status = _check(path)
    return _read(path, status.st_size, status.st_mtime_ns, most, width, first, longest)


@functools.lru_cache(maxsize=4)
def _read(path: Path, _size: int, _changed: int, most: int, width: int | None, first: bool, longest: int) -> Clip:
    """As `read_frames`; several criteria look at one video, and decoding is most of what they cost."""
    claimed = _claimed(path)
    places = tuple(range(most)) if first else _places(claimed, most)
    clip = _decode(path, places, width, stop=most if first else None, longest=longest)
    if not first and clip.count != claimed:
        places = _places(clip.count, most)
        clip = _decode(path, places, width, stop=None, longest=longest)
    return clip


def _places(count: int, most: int) -> tuple[int, ...]:
    """Indexes of the middles of `most` equal parts of `count` frames."""
    if count <= most:
        return tuple(range(count))
    return tuple((2 * part + 1) * count // (2 * most) for part in range(most))


_SIGNS: tuple[Callable[[bytes], bool], ...] = (
    lambda head: head[4:8] in (b"ftyp", b"moov", b"mdat", b"free", b"wide", b"skip"),
    lambda head: head[:4] == b"RIFF" and head[8:12] == b"AVI ",
    lambda head: head[:4] == b"\x1a\x45\xdf\xa3",
    lambda head: head[:4] in (b"\0\0\1\xba", b"\0\0\1\xb3"),
    lambda head: head[:3] == b"FLV",
    lambda head: head[:6] in (b"GIF87a", b"GIF89a"),
    lambda head: head[:1] == b"G" and head[188:189] == b"G",
)


_PLAIN_SUFFIXES = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".flv", ".ts", ".txt", "")
"""Suffixes that the decoder does not take for those of pictures, which it would read as numbered series."""


def _check(path: Path) -> os.stat_result:
    if set("%*?{") & set(str(path)) and path.suffix.lower() not in _PLAIN_SUFFIXES:
        # a%d.png, or a*.png, would open a1.png beside it, which may be a link to anywhere.
        raise UnreadableOutput("its name stands for a series of pictures")
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableOutput("it is not a regular file")
        if status.st_size > _MAX_BYTES:
            raise UnreadableOutput(f"its {status.st_size} bytes are more than the {_MAX_BYTES} that are read")
        with path.open("rb") as stream:
            head = stream.read(192)
    except OSError as error:
        raise UnreadableOutput(f"it cannot be read: {error.strerror}") from error
    if not head:
        raise UnreadableOutput("it is empty")
    if not any(sign(head) for sign in _SIGNS):
        raise UnreadableOutput("it is no video")
    return status


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # a broken file would fill the log with the decoder's words
    cv2 = need("cv2")
    with mapped("a video"):
        # One thread, so that the cost does not depend on the machine; the decoder is exact, so the frames do not.
        capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
        try:
            if not capture.isOpened():
                raise UnreadableOutput("it does not open as a video")
            yield capture
        finally:
            capture.release()


def _claimed(path: Path) -> int:
    """The number of frames that the header tells, within the bounds; a guess to be checked."""
    cv2 = need("cv2")
    with _opened(path) as capture:
        frames = capture.get(cv2.CAP_PROP_FRAME_COUNT)
    return int(frames) if 0 < frames <= _MAX_FRAMES else 0


def _decode(path: Path, places: tuple[int, ...], width: int | None, *, stop: int | None, longest: int) -> Clip:
    cv2 = need("cv2")
    wanted, frames, indexes, count = set(places), [], [], 0
    with _opened(path) as capture:
        size = (int(capture.get(cv2.CAP_PROP_FRAME_WIDTH)), int(capture.get(cv2.CAP_PROP_FRAME_HEIGHT)))
        area, rate = size[0] * size[1], float(capture.get(cv2.CAP_PROP_FPS))
        if not 0 < area <= _MAX_PIXELS:
            raise UnreadableOutput(f"its frames of {size[0]} x {size[1]} pixels are not decoded")
        while (stop is None or count < stop) and capture.grab():
            if count in wanted:
                is_decoded, frame = capture.retrieve()
                if is_decoded and frame is not None:
                    frames.append(_scaled(frame, width))
                    indexes.append(count)
            count += 1
            if count > longest or count * area > _MAX_DECODED:
                raise UnreadableOutput(f"it is longer than the {longest} frames that are decoded")
    if not count:
        raise UnreadableOutput("no frame of it can be decoded")
    return Clip(tuple(frames), tuple(indexes), count, rate if 0 < rate <= 1000 else 0.0, *size)


def _scaled(frame: Any, width: int | None) -> Any:
    """A decoded frame in RGB order, at most `width` wide."""
    cv2 = need("cv2")
    if width and frame.shape[1] > width:
        height = max(1, round(frame.shape[0] * width / frame.shape[1]))
        frame = cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA)
    return cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)
