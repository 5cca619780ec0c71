"""How long a command takes in the sandbox that Inspect gets: `python measurements/inspect_exec.py`.

Prints the median, and what nine in ten are slower than, over calls one after the other, in milliseconds: `exec`,
`write_file` with `read_file`, and, for comparison, the same command as a process of this machine. `sample_init` is that
of a task whose environment is built.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable

import anyio

from repoassay.integrations.inspect_extension import RepoAssaySandbox, SampleConfig

TIMES = 300


async def durations(action: Callable[[], Awaitable[object]], times: int = TIMES) -> tuple[float, float]:
    """Milliseconds of the median call, and of the one that nine in ten are slower than."""
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        await action()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds) * 1000, sorted(seconds)[times // 10] * 1000


async def measure(task: str) -> None:
    """Print the figures of one task of the starter suite."""
    config = SampleConfig(suite="starter", task=task)
    made = await RepoAssaySandbox.sample_init("warm", config, {})
    await RepoAssaySandbox.sample_cleanup("warm", config, made, interrupted=False)
    begin = time.perf_counter()
    made = await RepoAssaySandbox.sample_init("measured", config, {})
    opened = time.perf_counter() - begin
    sandbox = made["default"]

    async def write_and_read() -> None:
        await sandbox.write_file("notes.txt", "x" * 1000)
        await sandbox.read_file("notes.txt")

    async def here() -> None:
        subprocess.run(["/bin/true"], check=True)

    figures = {
        "exec": await durations(lambda: sandbox.exec(["/bin/true"])),
        "write and read": await durations(write_and_read),
        "process without a sandbox": await durations(here),
    }
    begin = time.perf_counter()
    await RepoAssaySandbox.sample_cleanup("measured", config, made, interrupted=False)
    closed = time.perf_counter() - begin
    for name, (middle, fast) in figures.items():
        print(f"{name:<28} {middle:8.2f} ms  {fast:8.2f} ms")
    print(f"{'sample_init':<28} {opened * 1000:8.2f} ms\n{'sample_cleanup':<28} {closed * 1000:8.2f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", default="edit-ledger-monthly", help="a task of the starter suite")
    anyio.run(measure, parser.parse_args().task)
