"""`repoassay judge`, as a person and as a program see it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from interrupts import interruptible
from json_answers import data_of
from judges.cases import items, reply
from repoassay.cli.main import cli
from repoassay.errors import BadInput, RepoAssayError
from repoassay.judges.store import find_judge, judgements_of, judges_of
from repoassay.review.database import open_database
from repoassay.review.rater_accounts import add_rater
from repoassay.review.studies import create_study
from repoassay.review.submitting import import_ratings
from review.samples import NOW, RUBRIC, rating, study


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    """A study of three items, two of them rated by one person."""
    place = tmp_path / "reviews.sqlite"
    database = open_database(place)
    create_study(database, study(), RUBRIC, items(3), at=NOW)
    person = add_rater(database, "st", "ana", at=NOW).rater.id
    line = [rating("pcccc", "i0", person), rating("ccccc", "i1", person)]
    import_ratings(database, "st", line, at=NOW, by="lead")
    database.close()
    return place


def dialogue(folder: Path, letters: str, **more: object) -> Path:
    path = folder / "answers.jsonl"
    usage = {"input": 1000, "output": 100}
    path.write_text("".join(json.dumps({"text": reply(letter), "usage": usage, **more}) + "\n" for letter in letters))
    return path


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, ["judge", *(str(word) for word in words)])


def run(reviews: Path, script: Path, *more: object) -> Result:
    return call(reviews, "--study", "st", "--model", "scripted/judge", "--dialogue", script, "--samples", 1, *more)


@pytest.mark.long
def test_it_judges_and_is_calibrated(reviews: Path, tmp_path: Path) -> None:
    done = run(reviews, dialogue(tmp_path, "pccccpccccccccc"))
    assert done.exit_code == 0, done.output
    assert "15 answers stored, 0 of them void" in done.stdout and "15 calls, 16,500 tokens" in done.stdout
    assert "[ 1/15] i0 core #1: problem" in done.stderr
    assert "This judge: not calibrated: 2 ratings by people, needs 30." in done.stdout
    assert "3 changes judged" in done.stdout
    again = run(reviews, dialogue(tmp_path, "c"), "--json")
    assert data_of(again.stdout)["kept_before"] == 15 and data_of(again.stdout)["calls"] == 0
    said = call("calibrate", reviews, "--study", "st")
    assert said.exit_code == 0, said.output
    assert "problem: 1 found, 0 missed, 1 false alarms, 0 rightly not" in said.stdout
    assert said.stdout.rstrip().splitlines()[-1].startswith("Refused as a substitute for people: ")
    data = data_of(call("calibrate", reviews, "--study", "st", "--json").stdout)
    core = data["axes"][0]
    assert core["precision"]["value"] == 0.5 and core["precision"]["interval"]["method"] == "Wilson score, 95%"
    assert "This judge: not calibrated: 2 ratings by people, needs 30." in said.stdout
    assert "the judge's own      not calibrated: 2 ratings by people, needs 30" in said.stdout
    assert data["state"]["sentence"] == "not calibrated: 2 ratings by people, needs 30"
    assert data["cost"]["changes"] == 3 and {each["axis"] for each in data["systems"]} >= {"core"}
    assert data["rate"]["people"]["value"] == 0.5 and data["substitute"]["accepted"] is False
    assert call("calibrate", reviews, "--study", "st", "--check").exit_code == 1
    assert list(reviews.parent.glob("reviews.sqlite.judges/judge-*.usage.jsonl"))


def test_looks_at_the_test_part_are_counted(reviews: Path, tmp_path: Path) -> None:
    run(reviews, dialogue(tmp_path, "c" * 15))
    call("calibrate", reviews, "--study", "st", "--split", "test")
    assert "has been looked at 2 times" in call("calibrate", reviews, "--study", "st", "--split", "test").stdout


def test_what_failed_is_asked_by_the_next_run(reviews: Path, tmp_path: Path) -> None:
    short = run(reviews, dialogue(tmp_path, "ccccccc"))
    assert isinstance(short.exception, RepoAssayError) and "run it again" in str(short.exception)
    assert "7 answers stored" in short.stdout and "left" in short.stdout
    assert "8 answers stored, 0 of them void; 7 were there before" in run(reviews, dialogue(tmp_path, "c" * 8)).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{db}x", "--study", "st", "--model", "vllm/j"], "There is no review database"),
        (["{db}", "--study", "no", "--model", "vllm/j"], "There is no study 'no'"),
        (["{db}", "--study", "st", "--model", "gpt"], "does not name a provider"),
        (["{db}", "--study", "st", "--model", "scripted/j"], "has nothing to say"),
        (
            ["{db}", "--study", "st", "--model", "nobody/j"],
            "as `repoassay agents new FOLDER --endpoint URL` writes one",
        ),
        (["{db}", "--study", "st", "--model", "nobody/j", "--budget-usd", "x"], "budget_usd"),
        (["{db}", "--study", "st", "--model", "vllm/j", "--prompt", "{db}"], "neither"),
        (["{db}", "--study", "st", "--model", "openai/j"], "OPENAI_API_KEY"),
        (
            ["{db}", "--study", "st", "--model", "paid/j", "--model-upstream", "{db}.toml"],
            "nobody is there to be asked",
        ),
        (["calibrate", "{db}", "--study", "st"], "has no judge"),
        (["calibrate", "{db}x", "--study", "st"], "There is no review database"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    words: list[str], said: str, reviews: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("PAID_KEY", "sk-1")
    place = reviews.with_name("reviews.sqlite.toml")
    place.write_text('[upstream.paid]\nbase_url = "http://127.0.0.1:9/v1"\nkey_env = "PAID_KEY"\n')
    error = call(*(word.format(db=reviews) for word in words)).exception
    assert isinstance(error, BadInput) and said in str(error), error
    assert not (reviews.parent / "reviews.sqlitex").exists()
    database = open_database(reviews)
    assert judges_of(database, "st") == ()  # nobody is seated who could not be asked
    database.close()


@pytest.mark.exhaustive
def test_an_interrupt_keeps_what_is_done(reviews: Path, tmp_path: Path) -> None:
    script = dialogue(tmp_path, "c" * 15)
    lines = script.read_text().splitlines()
    # The fourth answer does not come for a minute; the interrupt must not wait for it.
    lines[3] = json.dumps(json.loads(lines[3]) | {"fault": {"silence": 60}})
    script.write_text("\n".join(lines))
    code = "import sys; from repoassay.cli.main import main; sys.argv[0] = 'repoassay'; main()"
    words = ["judge", reviews, "--study", "st", "--model", "scripted/judge", "--dialogue", script, "--samples", "1"]
    with (
        interruptible(),
        subprocess.Popen(
            [sys.executable, "-c", code, *map(str, words)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stderr is not None and process.stdout is not None
        for line in process.stderr:
            if "[ 3/15]" in line:
                break
        process.send_signal(signal.SIGINT)
        told, printed = process.stderr.read(), process.stdout.read()
    assert process.returncode == 130, told
    assert "Traceback" not in told and "What was answered is kept" in told
    assert "3 answers stored" in printed
    database = open_database(reviews)
    assert len(judgements_of(database, find_judge(database, "st"))) == 3
    database.close()
    assert "12 answers stored, 0 of them void; 3 were there before" in run(reviews, dialogue(tmp_path, "c" * 12)).stdout
