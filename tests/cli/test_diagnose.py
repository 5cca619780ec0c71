"""`repoassay diagnose` over real runs of an agent that fails in known ways, and of a model that labels them."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from interrupts import interruptible
from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.diagnosis import LABELS, label_book
from repoassay.errors import RepoAssayError
from repoassay.records import RunFolder
from report.failing import HOSTILE, WAYS, attempt_of, failing_run

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """One attempt of each way."""
    return failing_run(tmp_path_factory.mktemp("failing"))


@pytest.fixture
def run(made: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy that a test may label."""
    shutil.copytree(made.path, tmp_path / "runs" / "one", symlinks=True)
    return RunFolder(tmp_path / "runs" / "one")


def told(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(each) for each in ("diagnose", *arguments)])


def document(*arguments: str | Path) -> Any:
    done = told(*arguments, "--json")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return data_of(done.stdout)


def refused(done: Result) -> str:
    assert isinstance(done.exception, RepoAssayError), (done.exception, done.output)
    return str(done.exception)


def by_way(run: RunFolder, whole: Any) -> dict[str, Any]:
    return {one["agent"].rpartition("/")[2]: one for one in whole["attempts"]}


def test_known_failures_get_their_class_and_findings(made: RunFolder) -> None:
    whole = document(made.path)
    found = by_way(made, whole)
    assert {way: one["holds"]["value"] for way, one in found.items()} == {
        "good": "none", "reader": "E2", "pip": "E1", "mock": "E5", "misnamed": "E5", "peek": "none", "copy": "E5",
        "misuse": "E3", "hostile": "E1", "silent": "unclear",
    }  # fmt: skip
    firsts = {
        way: one["diagnosis"]["classes"][0]["subclass"] for way, one in found.items() if one["diagnosis"]["classes"]
    }
    assert firsts == {
        "reader": "readme_only", "pip": "missing_package", "mock": "deception", "misnamed": "naming_format",
        "copy": "deception", "misuse": "api_misuse", "hostile": "missing_package",
    }  # fmt: skip
    leads = {way: {(one["check"], one["state"]) for one in each["findings"]} for way, each in found.items()}
    assert leads["mock"] == {("H8", "used")}
    assert leads["copy"] == {("H4", "used")}
    assert leads["peek"] == {("H4", "attempted")}  # though it passed
    assert not leads["good"] and not leads["misuse"]
    assert found["silent"]["steps"] is None
    assert "No matching distribution" in found["pip"]["diagnosis"]["classes"][0]["evidence"][0]["quote"]
    assert whole["shares"]["n"] == 7
    assert whole["shares"]["failed"] == 8
    assert whole["shares"]["primary"]["E5"]["count"] == 3
    assert whole["shares"]["primary"]["E5"]["low"] == pytest.approx(0.1582, abs=1e-4)


def test_the_text_tells_step_quote_and_shares(made: RunFolder) -> None:
    done = told(made.path)
    assert done.exit_code == 0, done.output
    assert 'step 3, observation: "No matching distribution found for fancy-ledger"' in done.stdout
    assert "USED H8 mock-data" in done.stdout
    assert "attempted H4 answers-read" in done.stdout
    assert "3/7 42.9% [15.8%, 75.0%]" in done.stdout
    assert "n = 7 of 8 attempts" in done.stdout
    assert attempt_of(made, "good") not in done.stdout


@pytest.mark.long
def test_integrity_alone_and_an_exit_code_for_ci(made: RunFolder) -> None:
    done = told(made.path, "--integrity-only", "--exit-code")
    assert done.exit_code == 1
    assert "USED H4" in done.stdout
    label = re.compile(r"\bE[1-5] ")  # an identifier may hold `E2` as well
    assert label.search(told(made.path).stdout) and not label.search(done.stdout)
    assert "primary" not in done.stdout
    command = [REPOASSAY, "diagnose", str(made.path), "--exit-code"]  # as a process: CI sees no other code
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    assert subprocess.run(command[:-1], capture_output=True, check=False).returncode == 0
    runs = ("--runs", made.path.parent)
    assert told(attempt_of(made, "copy"), *runs, "--exit-code").exit_code == 1
    assert told(attempt_of(made, "peek"), *runs, "--exit-code").exit_code == 0  # tried, not used
    assert told(attempt_of(made, "reader"), *runs, "--exit-code").exit_code == 0


@pytest.mark.by_day(2)
@pytest.mark.parametrize("name", ["run", "latest", "id", "run/id", "tail"])
def test_an_attempt_or_a_run_is_named_as_elsewhere(made: RunFolder, name: str) -> None:
    attempt = attempt_of(made, "pip")
    where = {
        "run": made.path.name, "latest": "latest", "id": attempt, "run/id": f"{made.path.name}/{attempt}",
        "tail": attempt[-12:].lower(),
    }[name]  # fmt: skip
    whole = document("--runs", made.path.parent, where)
    assert len(whole["attempts"]) == (len(WAYS) if name in ("run", "latest") else 1)
    assert ("shares" in whole) == (name in ("run", "latest"))


def test_hostile_texts_are_inert(run: RunFolder) -> None:
    attempt = attempt_of(run, "hostile")
    assert told("label", f"{run.path}/{attempt}", "unclear", "--by", f"Eve{HOSTILE}", "--note", HOSTILE).exit_code == 0
    shown = CliRunner().invoke(cli, ["show", f"{run.path}/{attempt}"])
    for done in (told(run.path), told(f"{run.path}/{attempt}"), told("labels", run.path), shown):
        assert done.exit_code == 0, done.output
        assert "⟨U+202E⟩" in done.stdout
        assert not _UNSEEN.search(done.stdout)


def test_labels_by_people_hold_are_kept_and_can_be_corrected(run: RunFolder) -> None:
    attempt = attempt_of(run, "reader")
    where = f"{run.path}/{attempt}"
    before = {path: path.read_bytes() for path in run.path.rglob("*.json")}
    done = told("label", where, "Type E1 - Dependency", "--subclass", "missing_wheel", "--also", "E-4", "--by", "Ada",
                "--note", "no wheel")  # fmt: skip
    assert done.exit_code == 0, done.exception
    one = document(where)["attempts"][0]
    assert one["holds"] == {"value": "E1", "by": "person", "disputed": False}
    assert one["diagnosis"]["primary"] == "E2"
    shares = document(run.path)["shares"]
    assert shares["labelled"] == 1
    assert (shares["primary"]["E1"]["count"], shares["primary"]["E2"]["count"]) == (3, 0)
    assert shares["any"]["E4"]["count"] == 1
    text = told(where).stdout
    assert "E1 environment setup, by a person; the rules say E2" in text
    assert "label E1 missing_wheel and E4 by Ada" in text

    assert told("label", where, "none", "--by", "Grace").exit_code == 0
    one = document(where)["attempts"][0]
    assert one["holds"] == {"value": "none", "by": "person", "disputed": True}
    assert document(run.path)["shares"]["primary"]["none"]["count"] == 1
    assert told("label", where, "none", "--by", "Ada").exit_code == 0
    assert not document(where)["attempts"][0]["holds"]["disputed"]
    listed = data_of(told("labels", run.path, "--json").stdout)
    assert [(each["author"], each["primary"]) for each in listed] == [("Ada", "E1"), ("Grace", None), ("Ada", None)]
    assert all(each["at"] and each["by"] == "person" for each in listed)
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("E9", "--by", "Ada"), "E9"),
        (("", "--by", "Ada"), "label"),
        (("E1", "--by", "  "), "author"),
        (("E1", "--by", "a" * 300), "author"),
        (("E1", "--by", "Ada", "--note", "n" * 5000), "note"),
        (("E1", "--by", "Ada", "--subclass", "interruption"), "no subclass of E1"),
        (("E1", "--by", "Ada", "--subclass", "bad luck"), "bad luck"),
        (("E1", "--by", "Ada", "--also", "E1"), "twice"),
        (("none", "--by", "Ada", "--subclass", "network"), "subclass"),
        (("E1", "--by", "Ada", "--also", "nonsense"), "nonsense"),
    ],
)
def test_a_label_that_cannot_be_kept_is_one_sentence(made: RunFolder, arguments: Sequence[str], words: str) -> None:
    done = told("label", f"{made.path}/{attempt_of(made, 'pip')}", *arguments)
    assert words in refused(done)
    assert not (made.path / LABELS).exists()


def test_what_is_named_wrongly_is_one_sentence(made: RunFolder, tmp_path: Path) -> None:
    assert "nowhere" in refused(told("nowhere", "--runs", tmp_path))
    assert "latest" in refused(told("latest", "--runs", tmp_path))
    assert "is a run" in refused(told("label", made.path, "E1", "--by", "Ada"))
    assert "nowhere" in refused(told("labels", "nowhere"))
    assert "labelled by a person" in refused(told("score", made.path))
    assert "rules.toml" in refused(told(made.path, "--rules", tmp_path / "rules.toml"))
    assert told("label", f"{made.path}/{attempt_of(made, 'pip')}", "E1").exit_code == 2  # nobody says so


def test_torn_and_wrong_lines_of_labels_are_told_and_passed_over(run: RunFolder) -> None:
    attempt = attempt_of(run, "reader")
    told("label", f"{run.path}/{attempt}", "E4", "--by", "Ada")
    with (run.path / LABELS).open("ab") as stream:
        stream.write(b'{"attempt":"' + attempt.encode() + b'","author":"Gr')
    done = told(run.path)
    assert done.exit_code == 0
    assert "labels.jsonl line 2 is torn" in done.stderr
    assert "E4 runtime, by a person" in done.stdout


def test_rules_of_ones_own_are_used(run: RunFolder, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[[rule]]\nid = "pip-no-distribution"\npattern = "No matching distribution found"\nclass = "E4"\n'
        'subclass = "interruption"\nscope = ["install"]\nweight = 0.9\n'
    )
    one = document(f"{run.path}/{attempt_of(run, 'pip')}", "--rules", rules)["attempts"][0]
    assert "E4" in {given["code"] for given in one["diagnosis"]["classes"]}


def test_without_the_suite_the_plan_tells_enough(run: RunFolder) -> None:
    plan = json.loads((run.path / "run.json").read_text())
    plan["suite_folder"] = "/nowhere/at/all"
    (run.path / "run.json").write_text(json.dumps(plan))
    values = {way: one["holds"]["value"] for way, one in by_way(run, document(run.path)).items()}
    assert values["misnamed"] == "E5"
    assert values["pip"] == "E1"
    assert values["good"] == "none"


def test_show_tells_the_diagnosis_in_a_line(run: RunFolder) -> None:
    done = CliRunner().invoke(cli, ["show", f"{run.path}/{attempt_of(run, 'mock')}"])
    assert "Diagnosis: E5 instruction non-compliance: deception" in done.stdout
    assert "Integrity: H8 mock-data (used)" in done.stdout
    good = CliRunner().invoke(cli, ["show", f"{run.path}/{attempt_of(run, 'good')}"])
    assert "Diagnosis" not in good.stdout
    assert "Integrity" not in good.stdout
    whole = data_of(CliRunner().invoke(cli, ["show", f"{run.path}/{attempt_of(run, 'pip')}", "--json"]).stdout)
    assert whole["diagnosis"]["holds"]["value"] == "E1"


def dialogue(folder: Path, answers: Sequence[str | dict[str, Any]], end: str = "error") -> Path:
    """What the classifier says, one answer a call."""
    turns = [{"text": one} if isinstance(one, str) else one for one in answers]
    path = folder / "classifier.jsonl"
    lines = [{"kind": "settings", "end": end}, *({"kind": "turn", **turn} for turn in turns)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def answer(primary: str, step: int = 2, quote: str = "cat README.md", subclass: str | None = None) -> str:
    return json.dumps({
        "primary": primary, "subclass": subclass, "also": [], "confidence": 0.9, "why": f"because {HOSTILE}",
        "evidence": [{"step": step, "quote": quote}],
    })  # fmt: skip


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Two that can be asked about, one that passed, one without steps."""
    return failing_run(tmp_path_factory.mktemp("few"), ("reader", "pip", "good", "silent"))


@pytest.fixture
def asked(few: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of it."""
    shutil.copytree(few.path, tmp_path / "runs" / "few", symlinks=True)
    return RunFolder(tmp_path / "runs" / "few")


def test_a_model_labels_beside_and_is_scored_but_never_decides(asked: RunFolder, tmp_path: Path) -> None:
    run = asked
    reader, pip = attempt_of(run, "reader"), attempt_of(run, "pip")
    # The one stops after its first answer, the next goes on from there.
    first = told(
        run.path,
        "--classifier",
        "scripted/judge",
        "--dialogue",
        dialogue(tmp_path, ["no json", '{"primary":"unclear"}']),
    )
    assert first.exit_code == 0, (first.exception, first.output)
    assert "no label: The model's answer is not one JSON object" in first.stderr
    assert "1 labels, 0 from before, 1 answers refused" in first.stderr
    assert "1 without steps" in first.stderr
    again = told(
        run.path, "--classifier", "scripted/judge", "--dialogue", dialogue(tmp_path, [answer("E3", quote="README.md")])
    )
    assert "1 labels, 1 from before, 0 answers refused" in again.stderr, again.output
    assert "(model)" in again.stdout
    kept = label_book(run.path).read().items
    assert {(one.attempt, one.value, one.by, one.author) for one in kept} == {
        (reader, "E3", "model", "scripted/judge"), (pip, "unclear", "model", "scripted/judge"),
    }  # fmt: skip
    found = by_way(run, document(run.path))
    assert found["reader"]["holds"] == {"value": "E2", "by": "rules", "disputed": False}
    assert not _UNSEEN.search(again.stdout)
    assert (run.path / "diagnosis-usage.jsonl").read_text().count("\n") == 3

    for attempt, said in ((reader, "E3"), (pip, "E1")):
        told("label", f"{run.path}/{attempt}", said, "--by", "Ada")
    scored = told(
        "score", run.path, "--classifier", "scripted/judge", "--dialogue", dialogue(tmp_path, ["never asked"])
    )
    assert scored.exit_code == 0, (scored.exception, scored.output)
    assert "Agreement 1/2 = 50.0%" in scored.stdout
    assert f"{pip}: E1 by people, unclear by scripted/judge" in scored.stdout
    assert "0 calls" in scored.stderr
    rules = data_of(told("score", run.path, "--json").stdout)
    assert (rules["n"], rules["right"], rules["who"]) == (2, 1, "the rules")
    assert rules["wrong"] == [{"attempt": reader, "true": "E3", "said": "E2"}]


def test_a_classifier_that_fails_or_has_spent_its_budget_stops_and_keeps_what_came(
    asked: RunFolder, tmp_path: Path
) -> None:
    run = asked
    prices = tmp_path / "prices.toml"
    prices.write_text('[[price]]\nmodel = "scripted/*"\nfrom = 2020-01-01\ninput = "1000"\noutput = "1000"\n')
    said = dialogue(tmp_path, ['{"primary":"none"}'], end="repeat")
    done = told(
        run.path, "--classifier", "scripted/dear", "--dialogue", said, "--prices", prices, "--budget-usd", "0.0001"
    )
    assert done.exit_code == 1, done.output
    assert "stopped early" in done.stderr
    kept = len(label_book(run.path).read().items)
    assert kept < 2
    assert f"{kept} labels" in done.stderr
    assert "needs a price" in refused(
        told(run.path, "--classifier", "scripted/x", "--dialogue", said, "--budget-usd", "1")
    )
    assert "may cost money" in refused(told(run.path, "--classifier", "openai/any"))
    assert "nothing to say" in refused(told(run.path, "--classifier", "scripted/x"))
    assert "provider" in refused(told(run.path, "--classifier", "x"))
    down = dialogue(tmp_path, [{"text": "never", "fault": {"status": 400, "times": 9}}])
    failed = told(run.path, "--classifier", "scripted/down", "--dialogue", down)
    assert failed.exit_code == 0, failed.output  # two calls failed; three in a row would have stopped it
    assert "2 calls failed" in failed.stderr
    assert "no label: The model gave no answer" in failed.stderr


@pytest.mark.long
def test_ctrl_c_keeps_the_labels_given_so_far(asked: RunFolder, tmp_path: Path) -> None:
    run = asked
    said = dialogue(tmp_path, ['{"primary":"none"}', {"text": "late", "delay": 60}])
    with interruptible(), subprocess.Popen(
        [REPOASSAY, "diagnose", str(run.path), "--classifier", "scripted/slow", "--dialogue", str(said)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as running:  # fmt: skip
        assert running.stderr is not None
        first = running.stderr.readline()
        running.send_signal(signal.SIGINT)
        rest = running.communicate(timeout=60)[1]
    assert "[1/3]" in first, first + rest
    assert running.returncode == 130, rest
    assert "labels given so far are kept" in rest
    assert "Traceback" not in rest
    assert len(label_book(run.path).read().items) == 1
