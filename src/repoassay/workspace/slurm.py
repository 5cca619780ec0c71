"""Jobs of Slurm: array jobs whose tasks are shares of one command, with the job that collects, or work for a caller.

The scripts are plain files that can be read and submitted by hand. They hold the command and the folder it was called
in, and no secret: what a command needs of the environment comes from Slurm, which hands on that of the caller unless a
cluster was set up otherwise.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import repoassay
from repoassay.errors import BadInput, Unavailable
from repoassay.text import is_hidden, printable, quote

__all__ = [
    "ArrayJob",
    "cancel_jobs",
    "check_slurm",
    "jobs_at_work",
    "submit_array",
    "submit_tasks",
    "write_scripts",
]

_SECONDS = 120
_OWN = frozenset(
    {"--array", "--chdir", "--dependency", "--open-mode", "--output", "--parsable", "--test-only", "--wrap"}
)
"""Options of sbatch that say what we say ourselves."""


@dataclass(frozen=True, slots=True)
class ArrayJob:
    """An array job over shares of one command, and the job that collects what they record.

    Attributes:
        share: Arguments of `repoassay` for a share; `--share INDEX/COUNT` is added.
        collect: Arguments of `repoassay` that bring together what shares recorded.
        count: How many shares there are.
        indices: Which of them are to be made.
        folder: Where scripts and logs lie, on the shared folder.
        where: The working folder of the commands.
        options: Further options of sbatch, as `--NAME=VALUE`.
    """

    share: Sequence[str]
    collect: Sequence[str]
    count: int
    indices: Sequence[int]
    folder: Path
    where: Path
    options: Sequence[str] = ()

    @property
    def array(self) -> str:
        """The indices as sbatch takes them, such as `0-3,7`."""
        spans: list[list[int]] = []
        for index in sorted(self.indices):
            if spans and spans[-1][1] == index - 1:
                spans[-1][1] = index
            else:
                spans.append([index, index])
        return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in spans)


def write_scripts(job: ArrayJob) -> tuple[Path, Path]:
    """Write the scripts of the array and of the collecting job; returns where they are.

    Raises:
        BadInput: An argument or a folder has a line break or another control character, or an option is none for here.
    """
    _check_words(*job.share, *job.collect, str(job.where), str(job.folder))
    _check_options(job.options)
    share, collect = job.folder / "share.sh", job.folder / "collect.sh"
    by_hand = f"# One share of {job.count}. By hand: sbatch --array={job.array} {shlex.quote(str(share))}"
    # Slurm tells a task how many CPUs it has only where it was asked for more than one.
    few = "" if any(word.startswith("--workers") for word in job.share) else ' --workers "${SLURM_CPUS_PER_TASK:-1}"'
    index = f' --share "${{SLURM_ARRAY_TASK_ID:?is set in tasks of an array job}}/{job.count}"'
    job.folder.mkdir(parents=True, exist_ok=True)
    share.write_text(_script(job.where, by_hand, ("repoassay", *job.share), few + index), encoding="utf-8")
    collect.write_text(
        _script(job.where, "# Brings together what shares recorded.", ("repoassay", *job.collect)), encoding="utf-8"
    )
    return share, collect


def submit_array(job: ArrayJob) -> tuple[str, str]:
    """Write the scripts and submit both jobs; returns their ids. The second waits for the first, however that ends.

    Raises:
        Unavailable: There is no Slurm here.
        BadInput: Slurm refuses a job, or as `write_scripts` raises it.
    """
    share, collect = write_scripts(job)
    common = ("--parsable", f"--chdir={job.folder}", "--open-mode=append", *job.options)
    array = _job_id(_call(
        "sbatch", "--job-name=repoassay", *common, f"--array={job.array}", "--output=share-%A-%a.log", "--requeue",
        str(share),
    ))  # fmt: skip
    last = _job_id(_call(
        "sbatch", "--job-name=repoassay-collect", *common, f"--dependency=afterany:{array}",
        "--output=collect-%j.log", str(collect),
    ))  # fmt: skip
    return array, last


def submit_tasks(
    folder: Path, command: Sequence[str], count: int, options: Sequence[str] = (), unset: Collection[str] = ()
) -> str:  # fmt: skip
    """Submit an array job of tasks that are alike; returns its id.

    Args:
        folder: Where the script and the logs lie, on the shared folder.
        command: A module of Python, and its arguments; called in this process's working folder.
        count: How many tasks there are.
        options: Further options of sbatch, as `--NAME=VALUE`.
        unset: Variables that Slurm is not told, which would keep them in its spool.

    Raises:
        Unavailable: There is no Slurm here.
        BadInput: Slurm refuses the job, or as `write_scripts` raises it.
    """
    _check_words(*command, str(folder), str(Path.cwd()))
    _check_options(options)
    script = folder / "node.sh"
    script.write_text(_script(Path.cwd(), "# One node.", command), encoding="utf-8")
    return _job_id(_call(
        "sbatch", "--job-name=repoassay-nodes", "--parsable", f"--chdir={folder}", "--open-mode=append", *options,
        f"--array=0-{count - 1}", "--output=node-%A-%a.log", "--requeue", str(script),
        env={name: value for name, value in os.environ.items() if name not in unset},
    ))  # fmt: skip


def check_slurm() -> None:
    """Raise `Unavailable` where jobs cannot be submitted."""
    _require("sbatch")


def cancel_jobs(ids: Sequence[str]) -> None:
    """End jobs, waiting or running.

    Raises:
        Unavailable: There is no Slurm here.
        BadInput: Slurm refuses.
    """
    _call("scancel", *ids)


def jobs_at_work(ids: Sequence[str]) -> list[str]:
    """Those of the jobs that are waiting or running.

    Raises:
        Unavailable: There is no Slurm here.
        BadInput: Slurm cannot be asked.
    """
    found = []
    for job in ids:
        try:
            if _call("squeue", "--noheader", "--format=%i", f"--jobs={job}").strip():
                found.append(job)
        except BadInput as error:
            if "Invalid job id" not in error.message:  # so it says of one that it has forgotten
                raise
    return found


def _check_words(*words: str) -> None:
    """Raise `BadInput` where a script could not have these."""
    for text in (*words, sys.executable):
        if any(map(is_hidden, text)):
            raise BadInput(
                f"{printable(text)} cannot stand in a job script: it has a character that does not print.",
                "Use names of plain characters.",
            )


def _check_options(options: Sequence[str]) -> None:
    """Raise `BadInput` where one is none of sbatch for here."""
    for option in options:
        if not re.match(r"--[a-z]", option) or option.partition("=")[0] in _OWN:
            raise BadInput(f"{quote(option)} cannot be given to sbatch here.", "Give options as --NAME=VALUE.")
    _check_words(*options)


def _script(where: Path, about: str, words: Sequence[str], further: str = "") -> str:
    command = shlex.join([sys.executable, "-m", *words])
    return (
        f"#!/bin/bash\n{about}\n# Written by repoassay {repoassay.__version__}. The environment comes from sbatch.\n"
        f"set -u\ncd {shlex.quote(str(where))} || exit 2\nexec {command}{further}\n"
    )


def _call(program: str, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    _require(program)
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False, env=env
        )
    except subprocess.TimeoutExpired as error:
        raise BadInput(f"{program} did not answer within {_SECONDS} s.", "Ask who runs the cluster.") from error
    if done.returncode:
        message = printable(" ".join(done.stderr.split()), 400)
        raise BadInput(
            f"{program} refused: {message}",
            "See `man sbatch`; its options come from --slurm-option or slurm://NODES?OPTION=VALUE.",
        )
    return done.stdout


def _require(program: str) -> None:
    if shutil.which(program) is None:
        remedy = (
            "Call this where jobs are submitted; `submit`, `run` and `resume` only write scripts with --slurm-dry-run."
        )
        raise Unavailable(f"There is no {program} here.", remedy)


def _job_id(text: str) -> str:
    """The id that `sbatch --parsable` prints, perhaps with the name of a cluster behind a semicolon."""
    found = re.fullmatch(r"(\d+)(;\S+)?\s*", text)
    if found is None:
        raise BadInput(f"sbatch answered {quote(text[:100])}, which is no job id.", "Ask who runs the cluster.")
    return found[1]
