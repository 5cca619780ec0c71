"""Having a judge's questions asked by the nodes of a cluster: what a node is given and answers, and the caller's side.

A node asks the model and nothing else: prompts are made, answers read and stored, and calls accounted for here. Each
question takes the most it may cost along as its share of the budget; of a node that was lost nobody knows what it
spent, so the journal has that share as spent, and the question is asked again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Literal

from repoassay.engine.budget_shares import DollarShares
from repoassay.engine.models import named_file
from repoassay.errors import BadInput
from repoassay.executors import MOST_LOSSES, Cluster, NodeJob, NodeLost, NodeSetup, find_executor
from repoassay.judges import JudgeRecord, OpenModel, spent_before
from repoassay.model_proxy import (
    BudgetSpent,
    CallJournal,
    NoAnswer,
    Prices,
    UnreadableAnswer,
    Upstream,
    find_upstream,
    known_upstreams,
)  # fmt: skip
from repoassay.types import Call, NamedFile, Record, Spending, Usage

__all__ = ["ModelAnswer", "Question", "QuestionSettings", "open_judge_nodes"]

_WORK = "repoassay.engine.judge_node:JudgeNode"


class QuestionSettings(Record):
    """Which model nodes ask, and the files that say where it is and what it costs; they must be the same there."""

    model: str
    upstreams: tuple[NamedFile, ...] = ()
    prices: tuple[NamedFile, ...] = ()
    max_tokens: int
    temperature: float | None = None


class Question(Record):
    """One question; `share_usd` is what it may cost, None where dollars are not limited."""

    system: str
    user: str
    share_usd: Decimal | None = None


class ModelAnswer(Record):
    """What came of a question: `text` where there was an answer, else the `error` and its sentence; and its calls."""

    error: Literal["", "no_answer", "unreadable", "budget"] = ""
    text: str = ""
    calls: tuple[Call, ...] = ()


_ERRORS: dict[str, type[Exception]] = {"no_answer": NoAnswer, "unreadable": UnreadableAnswer, "budget": BudgetSpent}


@contextmanager
def open_judge_nodes(
    judge: JudgeRecord, journal: Path, executor: str, *, upstreams: Sequence[Path] = (), prices: Sequence[Path] = (),
    budget: Decimal | None = None, workers: int | None = None,
) -> Iterator[OpenModel]:  # fmt: skip
    """Open a judge's model through the nodes of an executor. As `open_judge`, but for these:

    Args:
        judge: Whose model.
        journal: Its `usage.jsonl`.
        executor: By name, with its address.
        upstreams: TOML files that say where models are; nodes read them by the same paths.
        prices: Price tables put on top of the shipped one, likewise.
        budget: Dollars the judge may spend in all.
        workers: Questions at a time on each node; None for one a core.

    Raises:
        BadInput: There is no such executor, the provider is unknown or scripted, its key is missing, a file cannot be
            read, or dollars are limited and the model has no price.
        Unavailable: The nodes cannot be had.
    """
    model, parameters = judge.definition.model, judge.definition.parameters
    upstream = None if model.startswith("scripted/") else find_upstream(model, known_upstreams(upstreams).values())
    if not isinstance(upstream, Upstream):
        raise BadInput("A scripted model is asked one by one, which nodes do not.", "Leave --executor out.")
    settings = QuestionSettings(
        model=model, upstreams=tuple(map(named_file, upstreams)), prices=tuple(map(named_file, prices)),
        max_tokens=parameters.max_answer, temperature=parameters.temperature,
    )  # fmt: skip
    secrets = {upstream.key_env: upstream.key()} if upstream.key_env else {}
    shares = DollarShares(budget, spent_before(journal).dollars_known, "judge")
    dearest = _dearest(model, Prices.shipped(*prices), parameters.max_answer) if budget is not None else None
    with ExitStack() as ends:
        cluster = find_executor(executor).open(
            NodeSetup(_WORK, settings.model_dump(mode="json"), ModelAnswer, secrets), workers
        )
        ends.callback(cluster.close)
        account = CallJournal(journal, secrets.values())
        ends.callback(account.close)
        questions = _Questions(cluster, account, f"judge-{judge.rater.id}", shares, dearest)
        ends.callback(questions.abandon)
        yield OpenModel(questions.ask, questions.totals, questions.abandon)


def _dearest(model: str, prices: Prices, max_tokens: int) -> Callable[[str, str], Decimal]:
    """What a question may cost at most: no vendor makes more tokens of a text than it has bytes."""

    def most(system: str, user: str) -> Decimal:
        size = len(system.encode()) + len(user.encode()) + 1_000
        cost = prices.cost(model, Usage(input=size, output=max_tokens), datetime.now(UTC))
        if cost.dollars is None:
            raise BadInput(
                f"A budget in dollars needs a price for {model} ({cost.note}).",
                "Give a price table that has it with --prices FILE.",
            )
        return cost.dollars

    most("", "")  # said before anything is opened
    return most


class _Questions:
    """Asks through a cluster, from as many threads as ask."""

    def __init__(
        self, cluster: Cluster, journal: CallJournal, name: str, shares: DollarShares,
        dearest: Callable[[str, str], Decimal] | None,
    ) -> None:  # fmt: skip
        self._cluster, self._journal, self._name = cluster, journal, name
        self._shares, self._dearest = shares, dearest
        self._cancel, self._lock = threading.Event(), threading.Lock()
        self._spent, self._seq = Spending(), 0

    def ask(self, system: str, user: str) -> str:
        """As `ModelClient.ask`; see `Asker`."""
        system, user = (text.encode("utf-8", "backslashreplace").decode() for text in (system, user))
        for _ in range(MOST_LOSSES):
            share = self._share(system, user)
            calls: Sequence[Call] | None = None
            try:
                job = NodeJob(Question(system=system, user=user, share_usd=share))
                answer: ModelAnswer = self._cluster.submit(job, self._cancel).result()
                calls = answer.calls
            except NodeLost:
                continue
            finally:
                self._account(share, calls)
            if answer.error:
                raise _ERRORS[answer.error](answer.text)
            return answer.text
        raise NoAnswer(f"The model gave no answer: {MOST_LOSSES} nodes were lost while they asked it.")

    def totals(self) -> Spending:
        """What was spent since it was opened."""
        return self._spent

    def abandon(self) -> None:
        """End questions under way."""
        self._cancel.set()

    def _share(self, system: str, user: str) -> Decimal | None:
        if self._dearest is None:
            return None
        held = self._shares.hold(self._dearest(system, user), self._cancel)
        if held.over:
            raise BudgetSpent(held.over)
        if held.share_usd is None:
            raise NoAnswer("The model gave no answer: it was given up.")
        return held.share_usd

    def _account(self, share: Decimal | None, calls: Sequence[Call] | None) -> None:
        """Write down what a question took; `calls` is None where nobody knows."""
        if calls is None:
            note = "the node that asked was lost" if share is None else "the node that asked was lost; its whole share"
            calls = [Call(attempt="", seq=1, at=datetime.now(UTC), forwarded=True, untold=1, price=share,
                          price_note=note, fault="node_lost", whose="ours")]  # fmt: skip
        dollars = Spending.of(calls).dollars
        self._shares.settle(share, (share or Decimal(0)) if dollars is None else dollars)
        with self._lock:
            for call in calls:
                self._seq += 1
                own = call.model_copy(update={"attempt": self._name, "seq": self._seq})
                self._journal.append(own)
                self._spent = self._spent.with_call(own)
