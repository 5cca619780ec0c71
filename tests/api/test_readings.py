"""Runs read back, compared, graded from elsewhere and proven, from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import repoassay as ra
from repoassay.api import check_data

DAILY = "sensor-log-daily"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ra.Run:
    out = tmp_path_factory.mktemp("runs")
    return ra.evaluate("starter", agent=["nothing", "reference"], tasks=DAILY, attempts=2, out=out)


def test_rates_by_what_there_is(run: ra.Run) -> None:
    again = ra.load_run(run.path)
    assert again.plan == run.plan
    assert again.rates("agent") == {"nothing": ra.Rate(0, 2), "reference": ra.Rate(2, 2)}
    assert again.rates("task", of="process") == {DAILY: ra.Rate(2, 4)}
    assert list(again.rates("model")) == [""]
    assert sum(rate.n for rate in again.rates("domain").values()) == 4
    for by, of in (("agnt", "result"), ("agent", "reslt")):
        with pytest.raises(ra.BadInput, match="Did you mean"):
            again.rates(by, of=of)


def test_the_page_goes_where_it_is_asked_for(run: ra.Run, tmp_path: Path) -> None:
    page = run.report(html=tmp_path / "page.html")
    assert page == tmp_path / "page.html"
    assert DAILY in page.read_text()


def test_a_folder_that_is_no_run_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ra.BadInput, match="not a run folder"):
        ra.load_run(tmp_path)


def test_agents_of_one_run_and_runs_are_compared(run: ra.Run) -> None:
    compared = ra.compare(run)
    assert compared.difference == 1.0
    assert compared.p_value is not None
    named = ra.compare(f"{run.path}:reference", f"{run.path}:nothing", by="process")
    assert named.difference == -1.0
    with pytest.raises(ra.BadInput, match="There is no measure"):
        ra.compare(run, by="reslt")
    with pytest.raises(ra.BadInput, match="level"):
        ra.compare(run, level=1)


def test_outputs_made_elsewhere_are_graded_as_they_come(run: ra.Run, tmp_path: Path) -> None:
    passed = next(one for one in run.attempts if one.passed)
    (tmp_path / DAILY).symlink_to(passed.folder / "submission")
    (linked,) = ra.grade("starter", outputs=tmp_path, tasks=DAILY)
    assert linked.outcome is ra.Outcome.NO_OUTPUT  # links are not followed
    (tmp_path / DAILY).unlink()
    (tmp_path / DAILY).mkdir()
    (tmp_path / DAILY / "daily.csv").write_bytes((passed.folder / "submission" / "daily.csv").read_bytes())
    assert [each.outcome for each in ra.grade("starter", outputs=tmp_path, tasks=DAILY)] == [ra.Outcome.PASSED]
    with pytest.raises(ra.BadInput, match="does not exist"):
        ra.grade("starter", outputs=tmp_path / "none")  # at once, not when the first verdict is taken


@pytest.mark.exhaustive
def test_tasks_are_proven() -> None:
    proofs = list(ra.validate("starter", tasks=DAILY, repeat=2))
    assert {proof.name for proof in proofs} >= {"reference", "nothing", "garbage"}
    assert all(proof.sound and proof.stable and len(proof.outcomes) == 2 for proof in proofs)
    assert check_data("starter", tasks=DAILY) is None
    cases: tuple[dict[str, Any], ...] = ({"repeat": 0}, {"require_attested": float("nan")}, {"tasks": "sensor-dailly"})
    for settings in cases:
        with pytest.raises(ra.BadInput):
            ra.validate("starter", **settings)
