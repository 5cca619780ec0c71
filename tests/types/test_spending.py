"""One account of calls: the numbers of version 0.1, whose two ways to them are kept here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st

from repoassay.model_proxy.journal import CallJournal
from repoassay.records.calls import JOURNAL, journal_spent
from repoassay.types import Call, Retry, Spending, Usage

NOW = datetime(2026, 1, 2, tzinfo=UTC)
USAGES = st.builds(Usage, **{name: st.integers(0, 10**6) for name in ("input", "output", "cached", "reasoning")})
PRICES = st.decimals(0, 10, places=8) | st.none()
CALLS = st.lists(
    st.builds(
        Call, attempt=st.just("a"), seq=st.integers(1, 99), at=st.just(NOW), served=st.sampled_from(("", "m", "n")),
        forwarded=st.booleans(), answered=st.booleans(), usage=USAGES | st.none(), price=PRICES,
        price_note=st.sampled_from(("", "no price", "tier unknown")), refused=st.sampled_from(("", "budget")),
        retries=st.lists(st.just(Retry(status=None, fault="cut", waited=1.0)), max_size=2).map(tuple),
        fault=st.sampled_from(("", "cut", "rate_limited")), whose=st.sampled_from(("", "agent", "upstream", "ours")),
    ),
    max_size=12,
)  # fmt: skip


def old_way(calls: Sequence[Call]) -> dict[str, Any]:
    """As `Pass._add` of version 0.1 had it."""
    dollars: Decimal | None = Decimal(0)
    known, note, outage, models = Decimal(0), "", "", list[str]()
    for call in calls:
        unpriced = call.answered and (call.price is None or bool(call.price_note))
        dollars = None if dollars is None or unpriced else dollars + (call.price or Decimal(0))
        known += call.price or Decimal(0)
        note = note or (call.price_note if unpriced else "")
        if call.forwarded:
            outage = call.fault if call.whose in {"upstream", "ours"} else ""
        if call.answered and call.served not in models:
            models.append(call.served)
    return {
        "calls": sum(call.answered for call in calls),
        "failed": sum(call.forwarded and not call.answered and bool(call.fault) for call in calls),
        "refused": sum(bool(call.refused) for call in calls),
        "usage": sum((call.usage for call in calls if call.usage is not None), Usage()),
        "unknown": sum(call.answered and call.usage is None for call in calls),
        "dollars": dollars, "dollars_note": note, "dollars_known": known,
        "retries": sum(len(call.retries) for call in calls),
        "faults": dict(Counter(call.fault for call in calls if call.fault)),
        "outage": outage, "models": tuple(models),
    }  # fmt: skip


@given(CALLS)
def test_the_account_of_calls_is_the_old_one(calls: list[Call]) -> None:
    found = Spending.of(calls)
    assert found == Spending(**old_way(calls))
    assert str(found.dollars) == str(old_way(calls)["dollars"])


@given(CALLS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_journal_gives_the_same_account(tmp_path: Path, calls: list[Call]) -> None:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    journal = CallJournal(folder / JOURNAL)
    for call in calls:
        journal.append(call)
    journal.close()
    assert journal_spent(folder) == Spending.of(calls)


@given(CALLS, CALLS)
def test_a_sum_of_accounts_is_the_account_of_all_calls_but_for_how_each_ended(one: list[Call], two: list[Call]) -> None:
    parts = Spending.of(one), Spending.of(two)
    assert sum(parts, Spending()) == Spending.of([*one, *two]).model_copy(update={"outage": ""})


def test_a_sum_does_not_say_why_its_parts_ended() -> None:
    ended = Spending(calls=1, outage="cut", exhausted="The attempt's budget of 3 model calls is spent.")
    assert Spending() + ended == Spending(calls=1)
