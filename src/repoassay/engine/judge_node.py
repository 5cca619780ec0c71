"""Asking a judge's questions on a node of a cluster, each through the node's model proxy with an account of its own."""

from __future__ import annotations

import platform
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from repoassay.engine.judge_cluster import ModelAnswer, Question, QuestionSettings
from repoassay.engine.models import named_file
from repoassay.errors import BadInput
from repoassay.executors import NodePlace
from repoassay.model_proxy import (
    BudgetSpent,
    ModelClient,
    NoAnswer,
    Prices,
    UnreadableAnswer,
    known_upstreams,
    open_model,
)  # fmt: skip
from repoassay.records import read_calls
from repoassay.sandbox import temporary_folder
from repoassay.types import Record

__all__ = ["JudgeNode"]

_LOOK = 0.2
"""Seconds between looks at whether a question is given up."""


class JudgeNode:
    """Asks one model on one node. See `NodeWork`.

    Raises:
        BadInput: A file that says where the model is or what it costs is not here, or is another one.
    """

    job_type: type[Record] = Question

    def __init__(self, data: Mapping[str, Any], place: NodePlace) -> None:
        self._settings = QuestionSettings.model_validate(data)
        for file in (*self._settings.upstreams, *self._settings.prices):
            try:
                same = named_file(Path(file.path)) == file
            except BadInput:
                same = False
            if not same:
                raise BadInput(
                    f"On the node {platform.node()}, {file.path} is not there or is another file.",
                    "Keep files of models and prices where every machine of the cluster sees them by one path.",
                )
        self._upstreams = known_upstreams(Path(file.path) for file in self._settings.upstreams)
        self._prices = Prices.shipped(*(Path(file.path) for file in self._settings.prices))

    def do(self, record: Question, cancel: threading.Event) -> ModelAnswer:
        """See `NodeWork.do`."""
        settings, error, text = self._settings, "", ""
        with temporary_folder("judge") as place:
            journal = Path(place, "usage.jsonl")
            with open_model(
                settings.model, self._upstreams.values(), journal, name="judge", prices=self._prices,
                budget_usd=record.share_usd,
            ) as client, _closed_by(cancel, client):  # fmt: skip
                try:
                    text = client.ask(
                        record.system, record.user, max_tokens=settings.max_tokens, temperature=settings.temperature
                    )
                except NoAnswer as failure:
                    error, text = "no_answer", str(failure)
                except UnreadableAnswer as failure:
                    error, text = "unreadable", str(failure)
                except BudgetSpent as failure:
                    error, text = "budget", str(failure)
            calls = read_calls(journal).calls
        return ModelAnswer.model_validate({"error": error, "text": text, "calls": calls})

    def close(self) -> None:
        """See `NodeWork.close`; nothing is kept warm."""


@contextmanager
def _closed_by(cancel: threading.Event, client: ModelClient) -> Iterator[None]:
    """While this is open, close the client once `cancel` is set."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_LOOK):
            if cancel.is_set():
                client.close()
                return

    watcher = threading.Thread(target=watch, name="judge-cancel", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
