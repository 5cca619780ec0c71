"""Frames of videos made here losslessly, and files that would lead the decoder astray."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.frames import read_frames
from repoassay.grading.protocol import UnreadableOutput


def film(path: Path, frames: Sequence[Any], rate: float = 10, code: str = "FFV1") -> Path:
    height, width = frames[0].shape[:2]
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*code), rate, (width, height))
    for frame in frames:
        writer.write(np.ascontiguousarray(frame[..., ::-1], dtype=np.uint8))
    writer.release()
    return path


def counting(count: int, size: tuple[int, int] = (32, 48)) -> list[Any]:
    """Frames each as light as its number times ten."""
    return [np.full((*size, 3), number * 10) for number in range(count)]


def levels(path: Path, **options: Any) -> list[int]:
    return [round(float(frame.mean()) / 10) for frame in read_frames(path, **options).frames]


class TestReading:
    def test_what_there_is(self, tmp_path: Path) -> None:
        clip = read_frames(film(tmp_path / "a.avi", counting(20), 8))
        assert (clip.count, clip.rate, clip.width, clip.height, clip.seconds) == (20, 8, 48, 32, 2.5)
        assert clip.indexes == tuple(range(20))
        assert [round(float(frame.mean()) / 10) for frame in clip.frames] == list(range(20))
        assert all(frame.dtype == np.uint8 and frame.shape == (32, 48, 3) for frame in clip.frames)

    @pytest.mark.parametrize("most", [1, 2, 3, 5, 7, 19, 20, 21])
    def test_the_middles_of_equal_parts(self, tmp_path: Path, most: int) -> None:
        parts = np.array_split(np.arange(20 * most), most)  # each part `most` times finer than a frame
        middles = [int(part[len(part) // 2]) // most for part in parts] if most < 20 else list(range(20))
        clip = read_frames(film(tmp_path / "a.avi", counting(20)), most)
        assert list(clip.indexes) == middles
        assert clip.count == 20

    def test_the_first_ones(self, tmp_path: Path) -> None:
        path = film(tmp_path / "a.avi", counting(20))
        assert levels(path, most=4, first=True) == [0, 1, 2, 3]
        assert read_frames(path, 4, first=True).count == 4
        assert levels(film(tmp_path / "b.avi", counting(2)), most=4, first=True) == [0, 1]

    def test_red_is_red(self, tmp_path: Path) -> None:
        red = np.zeros((32, 48, 3))
        red[..., 0] = 250
        frame = read_frames(film(tmp_path / "a.avi", [red] * 2)).frames[0].reshape(-1, 3).mean(axis=0)
        assert frame == pytest.approx([250, 0, 0], abs=3)

    def test_frames_are_averaged_down_to_a_width(self, tmp_path: Path) -> None:
        bars = np.zeros((32, 48, 3))
        bars[:, ::2] = 200
        path = film(tmp_path / "a.avi", [bars] * 2)
        clip = read_frames(path, width=24)
        assert clip.frames[0].shape == (16, 24, 3)
        assert clip.frames[0] == pytest.approx(np.full((16, 24, 3), 100), abs=3)
        assert (clip.width, clip.height) == (48, 32)
        assert read_frames(path, width=480).frames[0].shape == (32, 48, 3)

    @pytest.mark.parametrize(
        ("suffix", "code"), [(".mp4", "mp4v"), (".avi", "MJPG"), (".mkv", "FFV1"), (".mov", "mp4v")]
    )
    @pytest.mark.parametrize("renamed", [False, True])
    def test_containers_are_known_by_what_they_hold(
        self, tmp_path: Path, suffix: str, code: str, renamed: bool
    ) -> None:
        path = film(tmp_path / f"a{suffix}", counting(12), code=code)
        if renamed:
            path = path.rename(tmp_path / "output.txt")
        assert levels(path, most=3) == [2, 6, 10]

    def test_a_moving_gif(self, tmp_path: Path) -> None:
        pictures = [Image.fromarray(frame.astype(np.uint8)) for frame in counting(5)]
        pictures[0].save(tmp_path / "a.gif", save_all=True, append_images=pictures[1:], duration=100)
        assert levels(tmp_path / "a.gif") == [0, 1, 2, 3, 4]

    def test_a_file_that_was_changed_is_read_again(self, tmp_path: Path) -> None:
        path = film(tmp_path / "a.avi", counting(3))
        assert read_frames(path).count == 3
        film(path, counting(7))
        os.utime(path, ns=(1, 1))
        assert read_frames(path).count == 7


class TestLies:
    @pytest.mark.parametrize("told", [0, 1, 5, 19, 21, 1000, 2**31 - 1, 2**32 - 1])
    def test_frames_are_counted_and_not_believed(self, tmp_path: Path, told: int) -> None:
        path = film(tmp_path / "a.avi", counting(20), code="MJPG")
        content = bytearray(path.read_bytes())
        for sign, place in ((b"avih", 8 + 16), (b"strh", 8 + 32)):
            start = content.index(sign) + place
            content[start : start + 4] = struct.pack("<I", told)
        path.write_bytes(content)
        clip = read_frames(path, 4)
        assert clip.count == 20
        assert [round(float(frame.mean()) / 10) for frame in clip.frames] == [2, 7, 12, 17]

    def test_longer_than_is_decoded(self, tmp_path: Path) -> None:
        path = film(tmp_path / "a.avi", counting(20))
        assert read_frames(path, longest=20).count == 20
        with pytest.raises(UnreadableOutput, match="longer than the 19 frames"):
            read_frames(path, longest=19)
        assert read_frames(path, 3, first=True, longest=19).count == 3

    def test_what_is_cut_off_is_counted_as_far_as_it_goes(self, tmp_path: Path) -> None:
        path = film(tmp_path / "a.avi", counting(20), code="MJPG")
        content = path.read_bytes()
        path.write_bytes(content[: len(content) * 6 // 10])
        assert 1 <= read_frames(path, 4).count < 20
        whole = film(tmp_path / "b.mp4", counting(20), code="mp4v").read_bytes()
        (tmp_path / "b.mp4").write_bytes(whole[: len(whole) // 2])  # the index is at its end
        with pytest.raises(UnreadableOutput):
            read_frames(tmp_path / "b.mp4")


class TestHostile:
    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"words that are no video",
            b"\0" * 5000,
            b"RIFF\0\0\0\0AVI " + b"\xff" * 500,
            b"RIFF\0\0\0\0WAVEfmt " + b"\0" * 500,
            b"\0\0\0\x18ftypmp42" + b"\0" * 500,
            b"\x1a\x45\xdf\xa3" + b"\xff" * 500,
            b"FLV\1" + b"\0" * 500,
            b"GIF89a" + b"\xff" * 20,
            b"\0\0\1\xba" + b"\0" * 500,
            b"\0\0\1\xb3" + b"\xff" * 500,
            b"\x89PNG\r\n\x1a\n" + b"\0" * 50,
        ],
    )
    def test_no_video(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "output.mp4"
        path.write_bytes(content)
        with pytest.raises(UnreadableOutput):
            read_frames(path)

    @pytest.mark.parametrize(
        "playlist",
        [
            "ffconcat version 1.0\nfile {0}\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{0}\n#EXT-X-ENDLIST\n",
            "<?xml version='1.0'?><MPD><Period><BaseURL>{0}</BaseURL></Period></MPD>",
            "v=0\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n",
        ],
    )
    def test_other_files_are_not_followed(self, tmp_path: Path, playlist: str) -> None:
        film(tmp_path / "secret.avi", counting(5))
        path = tmp_path / "output.mp4"
        path.write_text(playlist.format(tmp_path / "secret.avi"))
        with pytest.raises(UnreadableOutput):
            read_frames(path)

    @pytest.mark.parametrize(
        "name", ["a%d.png", "a%d.JPG", "a%03d.bmp", "a%d.gif", "%d/a.png", "a*.png", "a?.jpg", "a{1,2}.png"]
    )
    def test_a_name_for_a_series_of_files_does_not_open_the_neighbours(self, tmp_path: Path, name: str) -> None:
        neighbour, path = tmp_path / name.replace("%03d", "001").replace("%d", "1").replace("*", "1"), tmp_path / name
        for each in (neighbour, path):
            each.parent.mkdir(exist_ok=True)
        Image.fromarray(np.full((32, 48, 3), 200, np.uint8)).save(neighbour)
        film(tmp_path / "a.avi", counting(3)).rename(path)
        with pytest.raises(UnreadableOutput, match="series"):
            read_frames(path)

    @pytest.mark.parametrize("name", ["a%d.mp4", "100%.avi", "%20d.mov", "a*.mp4", "a[1].png", "a?.mov", "%d/a.txt"])
    def test_any_other_name_is_a_name(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        for number in range(3):
            other = tmp_path / name.replace("%20d", "%d").replace("%d", str(number)).replace("*", str(number))
            other.parent.mkdir(exist_ok=True)
            film(tmp_path / "b.avi", counting(9)).rename(other)
        film(tmp_path / "a.avi", counting(3)).rename(path)
        assert levels(path) == [0, 1, 2]

    def test_no_regular_file(self, tmp_path: Path) -> None:
        link, pipe = tmp_path / "link.avi", tmp_path / "pipe.avi"
        link.symlink_to(film(tmp_path / "a.avi", counting(2)))
        os.mkfifo(pipe)
        for path in (link, pipe, tmp_path, tmp_path / "absent.avi"):
            with pytest.raises(UnreadableOutput):
                read_frames(path)
