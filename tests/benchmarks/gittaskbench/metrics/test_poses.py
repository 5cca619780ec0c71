"""Measures of poses against closed forms and another spanning tree, and files that lie about what they hold."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree

from repoassay.benchmarks.gittaskbench.metrics.poses import (
    arrays,
    pose_depth,
    pose_frames,
    pose_looseness,
    pose_motion,
    pose_repeats,
    poses,
)
from repoassay.grading.protocol import Measurement, UnreadableOutput

Save = Callable[..., Path]
EVERY: tuple[Callable[[Path], Measurement], ...] = (pose_frames, pose_motion, pose_depth, pose_looseness, pose_repeats)


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Write an array as .npy, or arrays by name as .npz."""

    def write(array: Any = None, **named: Any) -> Path:
        path = tmp_path / ("output.npz" if named else "output.npy")
        if named:
            np.savez(path, **named)
        else:
            np.save(path, np.asarray(array))
        return path

    return write


def walk(frames: int = 20, joints: int = 17, seed: int = 0) -> Any:
    """Joints that wander: no bone among them."""
    return np.random.default_rng(seed).normal(0, 1, (frames, joints, 3))


def turned(seed: int = 3) -> Any:
    return np.linalg.qr(np.random.default_rng(seed).normal(0, 1, (3, 3)))[0]


@pytest.mark.parametrize("shape", [(7, 17, 3), (1, 7, 17, 3), (1, 1, 7, 17, 3), (7, 1, 17, 3), (7, 17, 1, 3)])
def test_axes_of_one_do_not_count(save: Save, shape: tuple[int, ...]) -> None:
    found = walk(7)
    assert (poses(save(found.reshape(shape))) == found).all()
    assert pose_frames(save(found.reshape(shape))).value == 7


@pytest.mark.parametrize("kind", ["float16", "float32", ">f8", "int8", "uint16", "int64"])
def test_numbers_of_every_kind(save: Save, kind: str) -> None:
    found = np.rint(np.abs(walk(5)) * 10).astype(kind)
    assert (poses(save(np.asfortranarray(found))) == found).all()


def test_the_first_array_that_is_one_of_poses_is_taken(save: Save) -> None:
    path = save(names=np.array(["hip"]), flags=np.ones((4, 17, 3), bool), size=np.float64(1), flat=np.ones((4, 17)),
                here=walk(4), later=walk(9))  # fmt: skip
    assert pose_frames(path).value == 4


@pytest.mark.parametrize(("joints", "known"), [(11, False), (12, True), (40, True), (41, False)])
def test_as_many_joints_as_a_figure_has(save: Save, joints: int, known: bool) -> None:
    assert math.isnan(pose_frames(save(walk(6, joints))).value) is not known
    assert pose_frames(save(walk(6, joints)), fewest=1, most=99).value == 6


def test_motion_is_the_closed_form(save: Save) -> None:
    # Two joints 1 and 3 from their middle by turns: deviation 1 in one of three directions, mean distance 2.
    length = np.array([1.0, 3] * 5)
    found = np.zeros((10, 2, 3))
    found[:, 0, 0], found[:, 1, 0] = length, -length
    assert pose_motion(save(found)).value == pytest.approx(1 / 6)
    for same in (found * 1000, found + np.arange(10)[:, None, None] * (5, -2, 9)):
        assert pose_motion(save(same)).value == pytest.approx(1 / 6)
    # Deviations are taken along the axes, so a turn may raise them, at most to the root of three times as much.
    assert 1 / 6 <= pose_motion(save(found @ turned())).value <= 3**0.5 / 6


def test_one_pose_has_no_motion_even_pushed_along(save: Save) -> None:
    still = np.repeat(walk(1), 30, axis=0)
    assert pose_motion(save(still)).value == pytest.approx(0, abs=1e-12)
    pushed = still + np.linspace(0, 9, 30)[:, None, None]
    assert pose_motion(save(pushed)).value == pytest.approx(0, abs=1e-12)


def test_a_figure_that_stops_half_way_has_a_part_without_motion(save: Save) -> None:
    moving = walk(40)
    stopped = moving[np.minimum(np.arange(40), 20)]
    assert pose_motion(save(moving), parts=4).value > 0.001
    assert pose_motion(save(stopped)).value > 0.001
    assert pose_motion(save(stopped), parts=4).value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("sides", [(4.0, 2.0, 1.0), (1.0, 1.0, 1.0), (10.0, 5.0, 0.1)])
def test_depth_of_a_box_is_its_shortest_over_its_longest_side(save: Save, sides: tuple[float, ...]) -> None:
    corners = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T * np.array(sides)
    found = np.repeat((corners @ turned() + 7)[None], 3, axis=0)
    assert pose_depth(save(found)).value == pytest.approx(min(sides) / max(sides), abs=1e-6)


def test_flat_figures_lines_and_points_have_no_depth(save: Save) -> None:
    found = walk(9)
    flat = (found * (1, 1, 0)) @ turned()
    line = (found * (1, 0, 0)) @ turned()
    assert pose_depth(save(flat)).value == pytest.approx(0, abs=1e-6)
    assert pose_depth(save(line)).value == pytest.approx(0, abs=1e-6)
    assert pose_depth(save(np.ones((9, 17, 3)) * 5)).value == 0


def test_two_joints_are_as_loose_as_their_distance_varies(save: Save) -> None:
    found = np.zeros((8, 2, 3))
    found[:, 1, 2] = [1, 3] * 4
    assert pose_looseness(save(found)).value == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(4))
def test_looseness_agrees_with_another_spanning_tree(save: Save, seed: int) -> None:
    found = walk(40, 14, seed) + np.random.default_rng(seed).normal(0, 3, (1, 14, 3))
    distances = np.linalg.norm(found[:, :, None] - found[:, None], axis=-1)
    mean = distances.mean(axis=0) + np.eye(14)
    tree = minimum_spanning_tree(distances.std(axis=0) / mean)
    value = pose_looseness(save(found)).value
    assert value == pytest.approx(float(tree.sum()) / 13)
    shuffled = found[:, np.random.default_rng(9).permutation(14)] @ turned() * 1e-6 + 2e-6
    assert pose_looseness(save(shuffled)).value == pytest.approx(value)


def test_bones_are_rigid_and_joints_in_one_place_are_none(save: Save) -> None:
    steps = walk(30, 17)
    steps /= np.linalg.norm(steps, axis=2, keepdims=True)
    assert pose_looseness(save(np.cumsum(steps, axis=1))).value == pytest.approx(0, abs=1e-9)
    # Points that coincide have a constant distance too; it must not pass for a bone.
    assert not pose_looseness(save(np.repeat(walk(30, 1), 17, axis=1))).value <= 0.25


def test_random_points_are_loose(save: Save) -> None:
    assert pose_looseness(save(walk(100))).value > 0.25


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("measure", EVERY)
def test_one_number_that_is_none_spoils_all(save: Save, measure: Callable[[Path], Measurement], bad: float) -> None:
    found = walk()
    found[3, 4, 1] = bad
    assert math.isnan(measure(save(found)).value)


@pytest.mark.parametrize("measure", EVERY)
def test_zeros_have_no_value(save: Save, measure: Callable[[Path], Measurement]) -> None:
    assert math.isnan(measure(save(np.zeros((9, 17, 3)))).value)


class Trap:
    """Unpickled, it would write a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.target,)


def test_nothing_is_ever_unpickled(save: Save, tmp_path: Path) -> None:
    mark = tmp_path / "sprung"
    trap = np.empty(1, dtype=object)
    trap[0] = Trap(mark)
    for path in (save(trap), save(poses=trap)):
        with pytest.raises(UnreadableOutput, match="never unpickled"):
            arrays(path)
    assert pose_frames(save(trap=trap, here=walk(4))).value == 4
    assert not mark.exists()


@pytest.mark.parametrize(
    "array",
    [np.ones((4, 17)), np.ones((4, 17, 2)), np.ones((4, 17, 4)), np.ones((0, 17, 3)), np.ones((4, 0, 3)),
     np.ones((2, 4, 17, 3)), np.ones((4, 201, 3)), np.float64(3), np.ones((4, 17, 3), complex),
     np.full((4, 17, 3), "x"), np.zeros((4, 17, 3), [("x", "f8")]), np.zeros(4, "S0"),
     np.zeros((4, 17, 3), "datetime64[s]")],
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_arrays_that_are_no_poses(save: Save, array: Any, packed: bool) -> None:
    with pytest.raises(UnreadableOutput):
        poses(save(it=array) if packed else save(array))


def header(words: str, version: int = 1) -> bytes:
    text = words.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 if version == 1 else 4, "little") + text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\1\0\xff\xff",
        b"\x93NUMPY\x09\0" + b"\0" * 200,
        b"PK\3\4" + b"\0" * 100,
        b"[[[0, 0, 0]]]",
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (100, 17, 3)}") + b"\0" * 800,
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 17, 3)}"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 17, 3)}") + b"\0" * 408,
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -17, 3)}") + b"\0" * 408,
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1.5, 17, 3)}"),
        header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}") + b"\x80\4N.",
        header("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,)}") + b"\x80\4N.",
        header("__import__('os').abort()"),
        header("{'descr': '<f8'}", version=2),
        header("(" * 100),
    ],
)
def test_hostile_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "output.npy"
    path.write_bytes(content)
    with pytest.raises(UnreadableOutput):
        poses(path)


def test_what_is_cut_off(save: Save, tmp_path: Path) -> None:
    for whole in (save(walk()), save(here=walk())):
        path = tmp_path / "cut"
        path.write_bytes(whole.read_bytes()[:-300])
        with pytest.raises(UnreadableOutput):
            poses(path)


def claiming(path: Path, size: int) -> Path:
    """Let the directory of an archive claim another size for its first member."""
    content = bytearray(path.read_bytes())
    place = content.rindex(b"PK\1\2") + 24
    content[place : place + 4] = size.to_bytes(4, "little")
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("size", [0, 100, 5000, 129 * 2**20, 2**32 - 1])
def test_archives_that_lie_about_their_size(save: Save, size: int) -> None:
    with pytest.raises(UnreadableOutput, match="unpacks to more" if size > 5000 else "array"):
        poses(claiming(save(here=walk()), size))


def test_archives_of_very_many_arrays(tmp_path: Path) -> None:
    path, stream = tmp_path / "output.npz", io.BytesIO()
    np.save(stream, walk(1))
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(65):
            archive.writestr(f"{number}.npy", stream.getvalue())
    with pytest.raises(UnreadableOutput, match="unpacks to more"):
        arrays(path)


def test_no_regular_file(tmp_path: Path, save: Save) -> None:
    link = tmp_path / "link.npy"
    link.symlink_to(save(walk()))
    for path in (link, tmp_path, tmp_path / "absent.npy"):
        with pytest.raises(UnreadableOutput):
            poses(path)


def test_a_cycle_repeats_and_a_drift_does_not(save: Save) -> None:
    chance = np.random.default_rng(5)
    bones, phases = chance.normal(0, 1, (17, 3)), chance.uniform(0, 6, (17, 3))
    time = np.arange(100)[:, None, None]
    cycle = bones + 0.3 * np.sin(2 * np.pi * time / 25 + phases)
    assert pose_repeats(save(cycle)).value == pytest.approx(1)
    assert pose_repeats(save(cycle + chance.normal(0, 0.02, cycle.shape))).value > 0.9
    assert pose_repeats(save(bones + time * phases / 100)).value < 0.6
    noise = chance.normal(0, 1, (130, 17, 3))
    smooth = np.stack([noise[start : start + 30].mean(axis=0) for start in range(100)])
    assert pose_repeats(save(bones + smooth)).value < 0.6
    assert pose_repeats(save(np.repeat(walk(1), 30, axis=0))).value == 0
