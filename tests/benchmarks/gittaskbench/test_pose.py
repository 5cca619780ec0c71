"""Poses in three dimensions: one for each frame, finite, moving, with depth, and bones that keep their length."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.gittaskbench.casebook import Answer, Casebook, Desk
from repoassay.types import Reading
from shared_data import needs_shared

pytestmark = needs_shared
book = Casebook()
TASK = "VideoPose3D_01"
LINKS = {1: 0, 2: 1, 3: 2, 4: 0, 5: 4, 6: 5, 7: 0, 8: 7, 9: 8, 10: 9, 11: 8, 12: 11, 13: 12, 14: 8, 15: 14, 16: 15}
YES: Answer = (True, True)
FAILED: Answer = (True, False)
NO: Answer = (False, False)


def figure(frames: int = 100) -> Any:
    """A figure of fixed bones, each swinging about an axis and at a pace of its own."""
    chance = np.random.default_rng(7)
    bones, axes = chance.normal(0, 0.25, (17, 3)), chance.normal(0, 1, (17, 3))
    poses = np.zeros((frames, 17, 3))
    for joint, parent in LINKS.items():
        axis = axes[joint] / np.linalg.norm(axes[joint])
        for frame in range(frames):
            angle = 0.5 * np.sin(2 * np.pi * frame / (40 + joint))
            bone = bones[joint]
            turned = bone * np.cos(angle) + np.cross(axis, bone) * np.sin(angle)
            poses[frame, joint] = poses[frame, parent] + turned + axis * (axis @ bone) * (1 - np.cos(angle))
    return poses


def save(desk: Desk, array: Any, name: str = "output.npy") -> None:
    np.save(desk.folder / name, array)


@book.case(TASK, "float64", *YES, YES)
def _double(desk: Desk) -> None:
    save(desk, figure())


@book.case(TASK, "npz", *YES, YES)
def _npz(desk: Desk) -> None:
    np.savez_compressed(desk.folder / "output.npz", poses_3d=figure().astype(np.float32))


@book.case(TASK, "millimetres", *YES, YES)
def _millimetres(desk: Desk) -> None:
    save(desk, (figure() * 1000).astype(np.float32))


@book.case(TASK, "away from the origin", *YES)
def _away(desk: Desk) -> None:
    save(desk, figure() + np.array([3.0, -1.0, 8.0]))


@book.case(TASK, "hardly moving", *YES, YES)
def _slight(desk: Desk) -> None:
    poses = figure()
    save(desk, poses[:1] + (poses - poses[:1]) * 1e-3)


@book.case(TASK, "other order of joints", *YES)
def _order(desk: Desk) -> None:
    save(desk, figure()[:, ::-1])


@book.case(TASK, "some jitter", *YES, YES)
def _jitter(desk: Desk) -> None:
    save(desk, figure() + desk.chance.normal(0, 0.01, (100, 17, 3)))


@book.case(TASK, "batch axis", *YES, NO)
def _batch(desk: Desk) -> None:
    save(desk, figure()[None])


@book.case(TASK, "beside other arrays", *YES, NO)
def _beside(desk: Desk) -> None:
    np.savez(desk.folder / "output.npz", scores=np.ones((100, 17)), poses=figure())


@book.case(TASK, "zeros", *FAILED, YES)
def _zeros(desk: Desk) -> None:
    save(desk, np.zeros((100, 17, 3), np.float32))


@book.case(TASK, "one pose repeated", *FAILED, YES)
def _repeated(desk: Desk) -> None:
    save(desk, np.repeat(figure(1), 100, axis=0))


@book.case(TASK, "one pose pushed along", *FAILED, YES)
def _pushed(desk: Desk) -> None:
    save(desk, figure(1) + np.linspace(0, 1, 100)[:, None, None])


@book.case(TASK, "one frame", *FAILED, YES)
def _single(desk: Desk) -> None:
    save(desk, figure(1))


@book.case(TASK, "half the frames", *FAILED, YES)
def _half(desk: Desk) -> None:
    save(desk, figure(50))


@book.case(TASK, "every frame twice", *FAILED, YES)
def _doubled(desk: Desk) -> None:
    save(desk, np.repeat(figure(), 2, axis=0))


@book.case(TASK, "all NaN", *FAILED, YES)
def _nan(desk: Desk) -> None:
    save(desk, np.full((100, 17, 3), np.nan))


@book.case(TASK, "one NaN", *FAILED, YES)
def _one_nan(desk: Desk) -> None:
    poses = figure()
    poses[50, 3, 1] = np.nan
    save(desk, poses)


@book.case(TASK, "one infinity", *FAILED)
def _infinity(desk: Desk) -> None:
    poses = figure()
    poses[50, 3, 1] = np.inf
    save(desk, poses)


@book.case(TASK, "no depth", *FAILED, YES)
def _flat(desk: Desk) -> None:
    poses = figure()
    poses[..., 2] = 0
    save(desk, poses)


@book.case(TASK, "three joints", *FAILED)
def _few(desk: Desk) -> None:
    save(desk, figure()[:, :3])


@book.case(TASK, "axes swapped", *FAILED)
def _swapped(desk: Desk) -> None:
    save(desk, figure().transpose(1, 0, 2))


@book.case(TASK, "counting up", *FAILED)
def _ramp(desk: Desk) -> None:
    save(desk, np.arange(5100.0).reshape(100, 17, 3))


@book.case(TASK, "uniform noise", *FAILED)
def _uniform(desk: Desk) -> None:
    save(desk, desk.chance.random((100, 17, 3)))


@book.case(TASK, "noise", *FAILED, FAILED)
def _noise(desk: Desk) -> None:
    save(desk, desk.chance.normal(0, 5, (100, 17, 3)))


@book.case(TASK, "huge numbers", *FAILED)
def _huge(desk: Desk) -> None:
    save(desk, figure() * 1e300)


@book.case(TASK, "two dimensions", None, False, NO)
def _planar(desk: Desk) -> None:
    save(desk, figure()[..., :2])


@book.case(TASK, "copy of the input", None, False, NO)
def _copy(desk: Desk) -> None:
    desk.copy(desk.inputs / "VideoPose3D_01_input.npz", "output.npz")


@book.case(TASK, "Python objects", False, False)
def _objects(desk: Desk) -> None:
    np.save(desk.folder / "output.npy", figure().astype(object), allow_pickle=True)


@book.case(TASK, "text", None, False, NO)
def _text(desk: Desk) -> None:
    save(desk, np.full((100, 17, 3), "pose"))


@book.case(TASK, "missing", *NO, NO)
def _missing(desk: Desk) -> None:
    pass


@book.case(TASK, "empty", *NO, NO)
def _empty(desk: Desk) -> None:
    desk.write("output.npy", b"")


@book.case(TASK, "garbage", *NO, NO)
def _garbage(desk: Desk) -> None:
    desk.write("output.npy", desk.chance.bytes(4000))


@book.case(TASK, "cut off", *NO, NO)
def _cut(desk: Desk) -> None:
    stream = io.BytesIO()
    np.save(stream, figure())
    desk.write("output.npy", stream.getvalue()[:-500])


@book.case(TASK, "bomb", *NO, NO)
def _bomb(desk: Desk) -> None:
    with (
        zipfile.ZipFile(desk.folder / "output.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("poses.npy", "w", force_zip64=True) as member,
    ):
        for _ in range(200):
            member.write(bytes(2**20))


@book.case(TASK, "a header that lies", *NO, NO)
def _liar(desk: Desk) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 17, 3)})
    desk.write("output.npy", stream.getvalue() + bytes(800))


@pytest.mark.exhaustive
@pytest.mark.parametrize("reading", list(Reading))
def test_poses(reading: Reading, tmp_path: Path) -> None:
    complaints = book.complaints(TASK, tmp_path, reading)
    assert not complaints, "\n".join(complaints)
