"""What counts of passes come to."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from repoassay.construct.hints import hints
from repoassay.construct.prove import Case, Finding, Proven, Role, flip_rate

PASS, FAIL = ("passed",) * 3, ("failed",) * 3
FLIPS = ("passed", "failed", "passed")
NEW, GUARD = Case("new", FAIL, PASS), Case("guard", PASS, PASS)
BROKEN, NEVER = Case("broken", PASS, FAIL), Case("never", FAIL, FAIL, "", "E: x")
FLAKY = Case("flaky", FAIL, FLIPS)


@pytest.mark.parametrize(
    ("outcomes", "rate"),
    [((), 0), (("passed",), 0), (("failed", "missing", "error"), 0), (("passed", "failed"), 0.5), (FLIPS, 1 / 3)],
)
def test_flip_rate(outcomes: tuple[str, ...], rate: float) -> None:
    assert flip_rate(outcomes) == pytest.approx(rate)


@given(st.lists(st.sampled_from(["passed", "failed", "error", "skipped", "missing"])))
def test_flip_rate_is_a_share_and_zero_only_when_all_agree(outcomes: list[str]) -> None:
    rate = flip_rate(outcomes)
    assert 0 <= rate <= 0.5
    assert (rate == 0) == (len({outcome == "passed" for outcome in outcomes}) <= 1)


@pytest.mark.parametrize(
    ("case", "role"),
    [
        (NEW, Role.MUST_PASS), (GUARD, Role.GUARD), (BROKEN, Role.BREAKS), (NEVER, Role.FAILS), (FLAKY, Role.FLAKY),
        (Case("late", FLIPS, PASS), Role.FLAKY), (Case("gone", ("missing",) * 2, PASS), Role.MUST_PASS),
        (Case("skipped", FAIL, ("skipped",) * 3), Role.FAILS),
    ],
)  # fmt: skip
def test_roles(case: Case, role: Role) -> None:
    assert case.role is role


@pytest.mark.parametrize(
    ("cases", "finding"),
    [
        ((NEW,), Finding.SOUND),
        ((NEW, GUARD, FLAKY, NEVER), Finding.SOUND),
        ((GUARD,), Finding.VACUOUS),
        ((GUARD, FLAKY), Finding.UNSTABLE),
        ((NEVER,), Finding.BROKEN),
        ((GUARD, NEVER), Finding.BROKEN),
        ((NEW, BROKEN), Finding.BROKEN),
        ((), Finding.BROKEN),
    ],
)
def test_findings_and_their_reasons(cases: tuple[Case, ...], finding: Finding) -> None:
    proven = Proven(cases)
    assert proven.finding is finding
    assert bool(hints(proven)) == (finding is not Finding.SOUND)


def test_hints_name_what_is_not_there() -> None:
    missing = Case("a", FAIL, FAIL, "", "x\nModuleNotFoundError: No module named 'yaml'")
    fixture = Case("b", FAIL, FAIL, "", "file x, line 1\nE  fixture 'shop_db' not found")
    said = " ".join(hints(Proven((missing, fixture), {"tests/t\x1b.py": "Boom"})))
    assert "yaml" in said and "--requirement" in said
    assert "shop_db" in said and "conftest.py" in said
    assert "\x1b" not in said and "Boom" in said
