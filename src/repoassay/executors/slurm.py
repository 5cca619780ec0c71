"""Slurm among the executors: it starts jobs when it sees fit, so that only commands with shares can use it."""

from __future__ import annotations

from repoassay.errors import BadInput

__all__ = ["SlurmExecutor"]


class SlurmExecutor:
    """The name `slurm`. Commands with shares write and submit an array job for it; nothing can wait for its nodes.

    Raises:
        BadInput: Always, with what to do, so that whoever looks an executor up hears it before anything is begun.
    """

    def __init__(self, address: str = "") -> None:
        if address:
            raise BadInput("Slurm has no address.", "Write --executor slurm where jobs are submitted.")
        raise BadInput(
            "Slurm starts jobs when it sees fit, so that only `repoassay submit`, `run` and `resume`, whose work has "
            "shares, can use it.",
            "Leave --executor out within a job, or start Ray in one and write --executor ray.",
        )
