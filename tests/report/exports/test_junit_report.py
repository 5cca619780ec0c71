"""A run as JUnit XML, and what of it is there again once it is imported."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from repoassay.cli.main import cli
from repoassay.interchange import import_run
from repoassay.report.exporters import export_file, find_source

RUN = ["run", "starter", "--agent", "nothing", "--agent", "reference", "--task", "sensor-log-daily", "--attempts", "2"]


def test_a_run_is_a_case_an_attempt_and_comes_back(tmp_path: Path) -> None:
    cli.main([*RUN, "--out", str(tmp_path / "runs")], standalone_mode=False)
    (folder,) = (tmp_path / "runs").glob("2*")
    source = find_source(str(folder), tmp_path)
    export_file(source, "junit", tmp_path / "run.xml")
    root = ET.fromstring((tmp_path / "run.xml").read_text("utf-8"))
    assert root.attrib == {"name": "starter", "tests": "4", "failures": "2", "errors": "0", "skipped": "0"}
    found = {(case.get("classname"), case.get("name")): case for case in root}
    assert set(found) == {(agent, f"sensor-log-daily#{n}") for agent in ("nothing", "reference") for n in (1, 2)}
    assert len(found["reference", "sensor-log-daily#1"]) == 0
    (failure,) = found["nothing", "sensor-log-daily#2"]
    assert (failure.tag, failure.get("type")) == ("failure", "no_output")
    assert all(float(case.get("time", "")) > 0 for case in root)
    again = import_run("junit", tmp_path / "run.xml", tmp_path / "again").run
    ours, theirs = ([(one.attempt.task, one.attempt.agent, one.attempt.number, one.verdict.result)
                     for one in run.finished()] for run in (source.run, again) if run)  # fmt: skip
    assert sorted(ours) == sorted(theirs)
