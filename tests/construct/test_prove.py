"""What counts of passes come to."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from repoassay.construct.hints import hints
from repoassay.construct.prove import ProofCase, ProofFinding, ProofRole, ProvenTask, flip_rate

PASS, FAIL = ("passed",) * 3, ("failed",) * 3
FLIPS = ("passed", "failed", "passed")
NEW, GUARD = ProofCase("new", FAIL, PASS), ProofCase("guard", PASS, PASS)
BROKEN, NEVER = ProofCase("broken", PASS, FAIL), ProofCase("never", FAIL, FAIL, "", "E: x")
FLAKY = ProofCase("flaky", FAIL, FLIPS)


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
        (NEW, ProofRole.MUST_PASS), (GUARD, ProofRole.GUARD), (BROKEN, ProofRole.BREAKS), (NEVER, ProofRole.FAILS),
        (FLAKY, ProofRole.FLAKY),
        (ProofCase("late", FLIPS, PASS), ProofRole.FLAKY),
        (ProofCase("gone", ("missing",) * 2, PASS), ProofRole.MUST_PASS),
        (ProofCase("skipped", FAIL, ("skipped",) * 3), ProofRole.SKIPPED),
        (ProofCase("skipped", PASS, ("skipped",) * 3), ProofRole.SKIPPED),
    ],
)  # fmt: skip
def test_roles(case: ProofCase, role: ProofRole) -> None:
    assert case.role is role


@pytest.mark.parametrize(
    ("cases", "finding"),
    [
        ((NEW,), ProofFinding.SOUND),
        ((NEW, GUARD, FLAKY, NEVER), ProofFinding.SOUND),
        ((GUARD,), ProofFinding.VACUOUS),
        ((GUARD, FLAKY), ProofFinding.UNSTABLE),
        ((NEVER,), ProofFinding.BROKEN),
        ((GUARD, NEVER), ProofFinding.BROKEN),
        ((NEW, BROKEN), ProofFinding.BROKEN),
        ((), ProofFinding.BROKEN),
    ],
)
def test_findings_and_their_reasons(cases: tuple[ProofCase, ...], finding: ProofFinding) -> None:
    proven = ProvenTask(cases)
    assert proven.finding is finding
    assert bool(hints(proven)) == (finding is not ProofFinding.SOUND)


def test_lost_tests_are_counted_and_refuse_a_task() -> None:
    skipped = ProofCase("skipped", PASS, ("skipped",) * 3)
    good = tuple(ProofCase(f"g{number}", PASS, PASS) for number in range(7))
    proven = ProvenTask((NEW, *good, NEVER, skipped), unseen={"tests/test_x.py": 1}, most_lost=0.2)
    assert proven.lost == (2, 10)
    assert proven.finding is ProofFinding.SOUND
    worse = ProvenTask((*proven.cases, FLAKY), unseen={"tests/test_x.py": 1}, most_lost=0.2)
    assert worse.finding is ProofFinding.LOSSY
    assert "3 of 11 tests of the change (27%)" in " ".join(hints(worse))


def test_hints_name_what_is_not_there() -> None:
    missing = ProofCase("a", FAIL, FAIL, "", "x\nModuleNotFoundError: No module named 'yaml'")
    fixture = ProofCase("b", FAIL, FAIL, "", "file x, line 1\nE  fixture 'shop_db' not found")
    said = " ".join(hints(ProvenTask((missing, fixture), {"tests/t\x1b.py": "Boom"})))
    assert "yaml" in said and "--requirement" in said
    assert "shop_db" in said and "conftest.py" in said
    assert "\x1b" not in said and "Boom" in said


def test_of_a_traceback_the_line_with_the_exception_is_told() -> None:
    text = (
        "from wand import api\nE   OSError: first\nE   ImportError: MagickWand shared library not found.\n"
        "E   Try to install:\nE     https://docs.example.org/install.html\nwand/api.py:11: in <module>"
    )
    plain = ProofCase(
        "a", FAIL, FAIL, "", "    assert 1 == 2\nE   assert 1 == 2\nE    +  where 1 = f()\nt.py:3: in test_a"
    )
    thrown = "at a.js:1\n\nTypeError: Cannot assign\n    at ava (a.js:1:16)\n\nNode.js v20.20.2\n"
    said = " ".join(hints(ProvenTask((plain,), {"tests/test_wand.py": text, "test/a.js": thrown})))
    assert "test/a.js holds no test that can be run: TypeError: Cannot assign" in said
    assert "test_wand.py holds no test that can be run: ImportError: MagickWand shared library not found." in said
    assert "'a': assert 1 == 2." in said
