"""Bundled exports of a run that was made, and what cannot be exported."""

from __future__ import annotations

import csv
import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from repoassay.cli.main import cli
from repoassay.errors import BadInput, Unavailable
from repoassay.report.exporters import ExportSource, export_file, exporter_titles, find_source

RUN = ["run", "starter", "--agent", "nothing", "--task", "sensor-log-daily", "--attempts", "2"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("exported") / "runs"
    cli.main([*RUN, "--out", str(place)], standalone_mode=False)
    (folder,) = place.glob("2*")
    return folder


class FullDisk:
    """An exporter that finds no room for a file that it makes on the way."""

    title = "log of a full disk"

    def export(self, source: ExportSource) -> Iterator[bytes]:
        """Fails after a piece."""
        yield b"a piece"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/full/log")


def test_what_fails_on_the_way_blames_no_file_of_the_user(made: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"FullDisk cannot be made \(No space left on device: /full/log\)"):
        export_file(find_source(str(made), made.parent), "report.test_exporters:FullDisk", tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_attempts_as_csv_and_as_json_lines(made: Path, tmp_path: Path) -> None:
    source = find_source(str(made), Path("runs"))
    export_file(source, "csv", tmp_path / "a.csv")
    export_file(source, "jsonl", tmp_path / "a.jsonl")
    with (tmp_path / "a.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    pairs = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [row["number"] for row in rows] == [str(pair["attempt"]["number"]) for pair in pairs]
    assert sorted(row["number"] for row in rows) == ["1", "2"]
    assert {row["outcome"] for row in rows} == {"no_output"} == {pair["verdict"]["outcome"] for pair in pairs}
    assert rows[0]["calls"] == "" and rows[0]["dollars"] == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.jsonl"]


def test_one_attempt_alone(made: Path, tmp_path: Path) -> None:
    name = next((made / "attempts").iterdir()).name
    export_file(find_source(f"{made.name}/{name}", made.parent), "jsonl", tmp_path / "one.jsonl")
    assert json.loads((tmp_path / "one.jsonl").read_text())["attempt"]["id"] == name
    export_file(find_source(str(made), made.parent), "atif", tmp_path / "none")
    assert (tmp_path / "none").read_text() == ""


def test_what_cannot_be_exported(made: Path, tmp_path: Path) -> None:
    assert {"atif", "csv", "jsonl", "mlflow", "otel", "wandb"} <= set(exporter_titles())
    run = find_source(str(made), made.parent)
    for source, kind, out, words in (
        (find_source("starter", made.parent), "csv", tmp_path / "x", "takes no suite"),
        (run, "cvs", tmp_path / "x", "There is no exporter called 'cvs'. Did you mean csv?"),
        (run, "csv", tmp_path / "absent" / "x", "cannot be written: No such file or directory"),
        (run, "csv", tmp_path, "cannot be written: Is a directory"),
    ):
        with pytest.raises(BadInput) as caught:
            export_file(source, kind, out)
        assert words in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadInput, match="No finished run or attempt is called 'nobody'"):
        find_source("nobody", made.parent)
