"""Using up processes, memory, disk, inodes and our patience."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.sandbox.cgroups import make_cgroups, remove_cgroups
from repoassay.sandbox.launcher.watch import memory_group
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Completed
from repoassay.types import Ended

SANDBOXES = ("namespaces", "bubblewrap", "http")

Inside = Callable[..., Completed]
Plain = Callable[..., subprocess.CompletedProcess[bytes]]

FORK = """
import os, sys, time
made = 0
while made < int(sys.argv[1]):
    try:
        if os.fork() == 0:
            time.sleep(2)
            os._exit(0)
    except OSError:
        break
    made += 1
print(made)
"""
BOMB = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
HOLD = """
import os, sys, time
processes, megabytes, seconds = map(int, sys.argv[1:])
for _ in range(processes):
    if os.fork() == 0:
        held = [b"x" * 2**20 for _ in range(megabytes)]
        time.sleep(seconds)
        os._exit(0)
for _ in range(processes):
    if os.wait()[1] != 0:
        sys.exit(1)
"""
SHARE = """
import mmap, sys
held = []
for _ in range(int(sys.argv[1])):
    held.append(mmap.mmap(-1, 2**20))
    held[-1].write(b"x" * 2**20)
"""
UNMAPPED = f"{SHARE}    held[-1].madvise(mmap.MADV_DONTNEED)\n"
FILL = """
import errno, sys
written = 0
for number in range(int(sys.argv[1])):
    for folder in sys.argv[2:]:
        try:
            with open(f"{folder}/{number}", "wb", buffering=0) as stream:
                written += stream.write(bytes(2**20))
        except OSError as error:
            assert error.errno in (errno.ENOSPC, errno.EDQUOT), error
print(written)
"""
INODES = """
import sys
made = 0
try:
    for number in range(int(sys.argv[2])):
        open(f"{sys.argv[1]}/{number}", "w").close()
        made += 1
except OSError:
    pass
print(made)
"""
CHATTER = "import os, sys\nwhile True: os.write(int(sys.argv[1]), b'first' + b'x' * 65536)"


@pytest.fixture(scope="module")
def counted() -> bool:
    """Whether the kernel counts memory for us, for which an ordinary account may lack the control groups."""
    groups = make_cgroups(2**30, 64)
    found = memory_group(groups) is not None
    remove_cgroups(groups)
    return found


@pytest.fixture(params=["control groups", "watched"])
def any_sandbox(
    request: pytest.FixtureRequest, sandbox: NamespaceSandbox, watched: NamespaceSandbox
) -> NamespaceSandbox:
    return sandbox if request.param == "control groups" else watched


@pytest.mark.long
def test_a_plain_process_starts_as_many_as_it_likes_and_a_sandboxed_one_does_not(inside: Inside, plain: Plain) -> None:
    assert int(plain(FORK, "80").stdout) == 80
    done = inside(FORK, "80")
    assert done.exit.code == 0
    assert 8 < int(done.stdout) <= 32


@pytest.mark.every_sandbox
def test_processes_are_limited_without_control_groups_too(inside: Inside, watched: NamespaceSandbox) -> None:
    done = inside(FORK, "400", within=watched)
    assert done.exit.ended is Ended.OUT_OF_MEMORY or int(done.stdout) <= 32


@pytest.mark.long
def test_a_fork_bomb_is_over_when_its_time_is(inside: Inside, any_sandbox: NamespaceSandbox) -> None:
    done = inside(BOMB, within=any_sandbox, seconds=1.5)
    assert done.exit.ended in (Ended.TIMED_OUT, Ended.OUT_OF_MEMORY)
    assert done.exit.wall < 15


@pytest.mark.long
@pytest.mark.by_day(2)
@pytest.mark.parametrize(("processes", "megabytes"), [(1, 300), (6, 60)], ids=["one", "many"])
def test_memory_is_limited_for_the_whole_tree(
    inside: Inside, plain: Plain, any_sandbox: NamespaceSandbox, watched: NamespaceSandbox, counted: bool,
    processes: int, megabytes: int,
) -> None:  # fmt: skip
    assert plain(HOLD, str(processes), str(megabytes), "1").returncode == 0
    # Held for long, so that a busy machine has looked by then, and all processes have come so far.
    done = inside(HOLD, str(processes), str(megabytes), "15", within=any_sandbox)
    assert done.exit.ended is Ended.OUT_OF_MEMORY
    assert done.exit.peak_memory is not None
    if counted and any_sandbox is not watched:  # what a look finds is as much as was taken by then
        assert done.exit.peak_memory < 300 * 2**20


def test_shared_memory_counts(inside: Inside, plain: Plain, counted: bool) -> None:
    assert plain(SHARE, "300").returncode == 0
    done = inside(SHARE, "3000")
    assert done.exit.ended is Ended.OUT_OF_MEMORY if counted else b"Operation not permitted" in done.stderr


@pytest.mark.long
@pytest.mark.by_day(1)
def test_memory_shared_by_forked_processes_counts_once(inside: Inside, any_sandbox: NamespaceSandbox) -> None:
    code = "import os, time\nheld = [b'x' * 2**20 for _ in range(60)]\n"
    code += "for _ in range(4):\n    if os.fork() == 0: time.sleep(1); os._exit(0)\n"
    code += "for _ in range(4): os.wait()"
    assert inside(code, within=any_sandbox).exit.code == 0


def test_memory_that_no_process_shows_cannot_be_had_where_nobody_counts_it(
    inside: Inside, plain: Plain, watched: NamespaceSandbox, counted: bool
) -> None:
    assert plain(UNMAPPED, "300").returncode == 0
    assert b"Operation not permitted" in inside(UNMAPPED, "3000", within=watched).stderr
    code = "import os\nos.write(os.memfd_create('hidden'), bytes(2**20))"
    assert plain(code).returncode == 0
    assert b"Function not implemented" in inside(code, within=watched).stderr
    assert inside(code).exit.code == (0 if counted else 1)


@pytest.mark.long
@pytest.mark.by_day(1)
def test_a_command_within_its_memory_is_left_alone(inside: Inside, any_sandbox: NamespaceSandbox) -> None:
    done = inside(HOLD, "2", "20", "1", within=any_sandbox)
    assert (done.exit.ended, done.exit.code) == (Ended.EXITED, 0)


@pytest.mark.namespaces_alone
def test_all_scratch_folders_together_hold_what_the_disk_limit_says(
    inside: Inside, plain: Plain, tmp_path: Path
) -> None:
    assert int(plain(FILL, "40", str(tmp_path)).stdout) == 40 * 2**20
    places = ("/tmp", "/dev/shm", "/home/agent", "/scratch", "/scratch/output")
    done = inside(FILL, "40", *places, scratch=("/scratch", "/scratch/output"))
    assert 12 * 2**20 < int(done.stdout) <= 16 * 2**20


@pytest.mark.every_sandbox
def test_a_copy_on_write_folder_counts_against_the_disk_limit(inside: Inside, tree: Path) -> None:
    from repoassay.sandbox.protocol import Access, Mount

    done = inside(FILL, "40", "/copy", mounts=(Mount(tree, "/copy", Access.COPY_ON_WRITE),))
    assert int(done.stdout) <= 16 * 2**20
    assert len(list(tree.iterdir())) == 3


def test_one_file_is_no_larger_than_the_disk_limit_even_with_holes(
    inside: Inside, plain: Plain, tmp_path: Path
) -> None:
    code = "import signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); open(sys.argv[1], 'w').truncate(2**33)"
    assert plain(code, str(tmp_path / "holes")).returncode == 0
    assert b"File too large" in inside(code, "/tmp/holes").stderr


@pytest.mark.boxes_of_root
def test_inodes_are_limited(inside: Inside, plain: Plain, tmp_path: Path) -> None:
    assert int(plain(INODES, str(tmp_path), "9000").stdout) == 9000
    assert int(inside(INODES, "/tmp", "30000").stdout) < 9000


@pytest.mark.long
@pytest.mark.by_day(1)
@pytest.mark.parametrize("stream", [1, 2])
def test_endless_output_takes_bounded_memory_of_ours_and_ends_with_the_time(
    inside: Inside, tmp_path: Path, stream: int
) -> None:
    done = inside(CHATTER, str(stream), seconds=1, log=tmp_path / "log")
    said = done.stdout if stream == 1 else done.stderr
    assert done.exit.ended is Ended.TIMED_OUT
    assert done.exit.output_truncated
    assert said.startswith(b"first")
    assert b" bytes left out " in said
    assert len(said) < 64 * 2**10 + 100
    assert (tmp_path / "log").stat().st_size < 64 * 2**10 + 200


@pytest.mark.long
@pytest.mark.by_day(1)
@pytest.mark.every_sandbox
def test_an_endless_channel_is_bounded_too(inside: Inside) -> None:
    code = "import os\nwhile True: os.write(int(os.environ['REPOASSAY_CHANNEL']), b'x' * 65536)"
    done = inside(code, seconds=1, channel=True)
    assert len(done.channel) < 17 * 2**20
    assert done.stdout == b""


@pytest.mark.boxes_of_root
def test_terminals_run_out_for_the_sandbox_alone(inside: Inside) -> None:
    import os

    done = inside("import os\ntry:\n    for n in range(1000): os.openpty()\nexcept OSError: print(n)")
    assert int(done.stdout) <= 64
    for descriptor in os.openpty():
        os.close(descriptor)
