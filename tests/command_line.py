"""The command line as a process of its own that need not import anything: a fork of one that has done so.

A test that sends signals, or asks what the console script itself does, starts that script instead.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess

__all__ = ["repoassay"]

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([
    "repoassay.cli.run", "repoassay.cli.resume", "repoassay.cli.report", "repoassay.cli.grade", "repoassay.cli.submit",
    "repoassay.cli.tasks", "repoassay.engine.execution", "repoassay.engine.grade", "repoassay.engine.submit",
    "repoassay.api.evaluation", "repoassay.report.page", "repoassay.report.summary", "repoassay.model_proxy.server",
    "repoassay.cli.main", "repoassay.report.attempt_page", "repoassay.report.page_files", "repoassay.report.table",
    "repoassay.report.report_tables", "repoassay.report.tables.correlations", "repoassay.report.charts.build",
    "repoassay.report.writers.terminal", "repoassay.survey.repository", "repoassay.grading.metrics.tables",
    "repoassay.grading.metrics.rasters", "repoassay.grading.metrics.text", "repoassay.grading.metrics.files",
    "rich.table",
])  # fmt: skip


def repoassay(
    *arguments: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    path: tuple[Path, ...] = (),
    seconds: float = 250,
) -> CompletedProcess[str]:
    """Call the command line; return its exit code and what it printed.

    Args:
        arguments: What follows `repoassay`.
        cwd: Its working folder.
        env: Environment variables beside those of the test.
        path: Folders that packages were installed to.
        seconds: How long it may take.
    """
    line = ["repoassay", *map(str, arguments)]
    environment = {**os.environ, **(env or {}), **({"PYTHONPATH": os.pathsep.join(map(str, path))} if path else {})}
    with tempfile.TemporaryDirectory() as name:
        streams = [Path(name, stream) for stream in ("out", "err")]
        process = _FORKS.Process(target=_main, args=(line, cwd, environment, [*map(str, path)], streams))
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"{' '.join(line)} took more than {seconds:g} s")
        out, err = (stream.read_bytes().decode() if stream.exists() else "" for stream in streams)
        return CompletedProcess(line, process.exitcode, out, err)


def _main(line: list[str], cwd: Path, environment: Mapping[str, str], path: list[str], streams: list[Path]) -> None:
    """Become what the console script is: its arguments, folder, environment and streams."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, stream in enumerate((Path(os.devnull), *streams)):
        opened = os.open(stream, flags if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = line
    sys.path[:0] = path
    from repoassay.cli.main import main

    main()
