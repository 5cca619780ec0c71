"""Runs are logged to a real MLflow store and to Weights & Biases' own files, offline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from command_line import repoassay
from repoassay.cli.main import cli
from repoassay.errors import Unavailable


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its own, where it is read here
@pytest.mark.long
def test_mlflow_has_a_run_an_agent_with_its_figures(
    own_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where it puts what belongs to runs
    store = f"sqlite:///{tmp_path / 'mlflow.db'}"
    done = CliRunner().invoke(cli, ["export", str(own_run), "--as", "mlflow", "--to", store])
    assert done.exit_code == 0, done.output
    assert "2 runs to the experiment starter" in done.stderr
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=store)
    experiment = client.get_experiment_by_name("starter")
    assert experiment
    runs = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    assert sorted(runs) == ["nothing", "reference"]
    assert runs["reference"].data.metrics["pass_rate"] == 1.0 and runs["nothing"].data.metrics["pass_rate"] == 0.0
    assert runs["reference"].data.metrics["judged"] == 2.0 and "dollars" not in runs["reference"].data.metrics
    assert runs["reference"].data.params["suite"] == "starter" and runs["reference"].info.status == "FINISHED"
    (kept,) = Path(str(runs["reference"].info.artifact_uri).removeprefix("file://")).glob("attempts.json")
    table = json.loads(kept.read_text())
    assert table["columns"][:2] == ["task", "number"] and [row[2] for row in table["data"]] == ["passed", "passed"]


PEERS = {"mlflow": "mlflow-skinny", "wandb": "wandb"}


def kept(path: Path) -> Iterator[bytes]:
    """The records of a file of wandb: a log in blocks, as LevelDB has them, behind seven bytes of its own."""
    content, at, whole = path.read_bytes(), 7, b""
    while at + 7 <= len(content):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        size, kind = int.from_bytes(content[at + 4 : at + 6], "little"), content[at + 6]
        whole += content[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):  # whole, or the last part of one
            yield whole
            whole = b""


@pytest.mark.long
def test_weights_and_biases_offline_keeps_one_run_an_agent(own_run: Path, tmp_path: Path) -> None:
    from wandb.proto.wandb_internal_pb2 import Record  # type: ignore[attr-defined]

    quiet = {"WANDB_MODE": "offline", "WANDB_DIR": str(tmp_path), "HOME": str(tmp_path)}
    done = repoassay("export", own_run, "--as", "wandb", "--to", "some-project", cwd=tmp_path, env=quiet)
    assert done.returncode == 0, done.stderr
    files = sorted(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    assert len(files) == 2
    told: dict[str, dict[str, str]] = {}
    for path in files:
        name, figures = "", dict[str, str]()
        for data in kept(path):
            record = Record.FromString(data)
            name = record.run.display_name or name
            if record.HasField("run"):
                assert (record.run.project, record.run.host) == ("some-project", ""), "nothing of this machine is told"
            for item in record.summary.update:
                figures[item.key or ".".join(item.nested_key)] = item.value_json
        told[name] = figures
    assert sorted(told) == ["nothing", "reference"]
    assert told["reference"]["pass_rate"] == "1" or float(told["reference"]["pass_rate"]) == 1.0
    assert float(told["nothing"]["pass_rate"]) == 0.0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.long
def test_what_a_tracker_cannot_take_is_a_sentence(own_run: Path, tmp_path: Path) -> None:
    bad = CliRunner().invoke(cli, ["export", str(own_run), "--as", "mlflow", "--to", "nonsense://x"])
    assert isinstance(bad.exception, Unavailable) and "MLflow at 'nonsense://x' did not take it" in str(bad.exception)
    assert "names no project" in repoassay("export", own_run, "--as", "wandb", "--to", "team/", cwd=tmp_path).stderr
    none = repoassay("export", own_run, "--as", "mlflow", "--out", "x", cwd=tmp_path)
    assert "Say where it goes with --to" in none.stderr
