"""One command makes METR's study and holds every figure of it beside ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from json_answers import data_of
from repoassay.benchmarks.metr.example import beside_published
from repoassay.benchmarks.metr.tables import POST
from repoassay.cli.main import cli
from repoassay.review import open_database, study_figures


def test_every_published_figure_is_reproduced_or_explained(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    done = CliRunner().invoke(cli, ["example", "metr", str(folder), "--no-serve"], catch_exceptions=False)
    assert done.exit_code == 0 and "0 differ without a reason" in done.output, done.output
    lines = beside_published(study_figures(open_database(folder / "reviews.sqlite"), "metr"))
    facts = POST.read_all()
    assert len(lines) == len(facts["metr-results"].row) + 2 * len(facts["metr-axes"].row) == 25
    told = {each.fact: each for each in lines}
    assert told["percent that pass the tests, reviewed"].ours.startswith("27 (4/15)")
    assert told["changes that could be merged as they are"].same
    assert {each.fact for each in lines if not each.same} == {
        "tasks", "tasks from stdlib-js", "tasks from hypothesis", "hours a person needs, mean",
        "minutes a person needs, least", "hours a person needs, greatest", "percent that pass the tests, all tasks",
    }  # fmt: skip
    assert all(each.why for each in lines if not each.same)
    assert {"CODEBOOK.md", "analyse.R", "analyse.py", "metr.csv"} <= {path.name for path in folder.iterdir()}
    again = CliRunner().invoke(cli, ["example", "metr", str(folder), "--no-serve"])
    assert again.exit_code != 0 and "is there already" in str(again.exception or again.output)


@pytest.mark.exhaustive
def test_what_programs_are_told_of_the_study_follows_its_schemas(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    CliRunner().invoke(cli, ["example", "metr", str(folder), "--no-serve"], catch_exceptions=False)
    place = ["--database", str(folder / "reviews.sqlite"), "--json"]
    for by in ("system", "agent", "model"):
        for phase in ("blind", "revealed"):
            done = CliRunner().invoke(cli, ["review", "figures", "metr", "--by", by, "--phase", phase, *place])
            told = data_of(done.stdout)
            assert (told["by"], told["phase"], told["items"]) == (by, phase, 15)
