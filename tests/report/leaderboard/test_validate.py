"""Submission folders that were tampered with, each in its own way; the forger seals the manifest again, mostly."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import BadInput
from repoassay.report.leaderboard import figures_of, manifest as sealed, validate
from repoassay.report.results import read_rows

NOW = datetime(2026, 2, 1, 12, 0, tzinfo=UTC)
READS, SUMS, DRAWS, SPOILED, AGAIN = (f"01KG9ATT{count:018d}" for count in range(1, 6))


def seal(folder: Path, *, figures: bool = True) -> None:
    """What a careful forger does last: figures that follow from the attempts, and a manifest that fits."""
    if figures:
        with_figures = figures_of(read_rows([folder / "run"]))
        (folder / "figures.json").write_text(json.dumps(with_figures))
    (folder / "manifest.json").write_bytes(sealed.manifest_of(folder))


def refusals(folder: Path) -> list[str]:
    return [str(one) for one in validate(folder, NOW).refusals]


def edit(path: Path, change: Callable[[Any], None]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def of(folder: Path, attempt: str, name: str) -> Path:
    return folder / "run" / "attempts" / attempt / name


def in_journal(folder: Path, pattern: str, by: str) -> None:
    path = folder / "run" / "journal.jsonl"
    text = path.read_text()
    assert re.search(pattern, text)
    path.write_text(re.sub(pattern, by, text))


def test_what_was_packed_is_sound(handed_in: Path) -> None:
    found = validate(handed_in, NOW)
    assert found.refusals == ()
    assert found.notes == ("The suite mini 1.2 is not here, so task digests were not compared.",)
    assert len(found.rows) == 4
    figures = json.loads((handed_in / "figures.json").read_text())
    assert figures["result"]["over_all"]["value"] == 0.5
    assert figures["dollars"] == "5"
    assert figures["tokens_in"] == 20_000
    # (20 - 0.5) + (0 - 1) + (0 - 1.5) + (20 - 2), over four.
    assert figures["alpha"] == 8.75
    everything = b"".join(path.read_bytes() for path in handed_in.rglob("*") if path.is_file())
    assert b"/home/somebody" not in everything
    seal(handed_in)
    assert refusals(handed_in) == []


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("result", "over_all", "value"), 0.75),
        (("result", "over_judged", "high"), 1.0),
        (("process", "successes"), 4),
        (("tokens_in",), 1),
        (("dollars",), "0.01"),
        (("alpha",), 9.0),
        (("strict_alpha",), None),
        (("outcomes",), {"passed": 4}),
        (("planned",), True),
        (("rank",), 1),
    ],
)
def test_a_changed_figure(handed_in: Path, where: tuple[str, ...], value: object) -> None:
    def change(document: Any) -> None:
        for key in where[:-1]:
            document = document[key]
        document[where[-1]] = value

    edit(handed_in / "figures.json", change)
    seal(handed_in, figures=False)
    found = refusals(handed_in)
    assert found
    assert all(one.startswith(f"figures.json: {'.'.join(where)}") for one in found)
    assert all("is stated as" in one and "the attempts give" in one for one in found)


Tamper = Callable[[Path], None]


def flip_outcome(folder: Path) -> None:
    edit(of(folder, SUMS, "verdict.json"), lambda it: it.update(outcome="passed"))


def flip_outcome_everywhere(folder: Path) -> None:
    edit(of(folder, SUMS, "verdict.json"), lambda it: it.update(outcome="passed", process=True, result=True))
    in_journal(folder, '"outcome":"failed"', '"outcome":"passed"')


def flip_criteria_too(folder: Path) -> None:
    def change(it: Any) -> None:
        it.update(outcome="passed", process=True, result=True)
        for item in it["criteria"]:
            item["passed"] = True

    edit(of(folder, DRAWS, "verdict.json"), change)
    in_journal(folder, '"outcome":"no_output"', '"outcome":"passed"')


def take_evidence_away(folder: Path) -> None:
    edit(of(folder, SUMS, "verdict.json"), lambda it: it.update(outcome="passed", result=True, tests=[]))
    in_journal(folder, '"outcome":"failed"', '"outcome":"passed"')


def contradict_process(folder: Path) -> None:
    edit(of(folder, DRAWS, "verdict.json"), lambda it: it.update(process=True))


def make_a_failure_ours(folder: Path) -> None:
    edit(of(folder, SUMS, "verdict.json"), lambda it: it.update(outcome="infra_fault", process=None, result=None))
    in_journal(folder, '"outcome":"failed"', '"outcome":"infra_fault"')


def remove_folder(folder: Path) -> None:
    shutil.rmtree(of(folder, SUMS, ""))


def remove_folder_and_lines(folder: Path) -> None:
    remove_folder(folder)
    in_journal(folder, rf'.*"attempt":"{SUMS}".*\n', "")


def remove_task_from_journal_alone(folder: Path) -> None:
    in_journal(folder, rf'.*"finished".*"attempt":"{SUMS}".*\n', "")


def _copy_attempt(folder: Path, name: str, **changes: object) -> None:
    shutil.copytree(of(folder, READS, ""), of(folder, name, ""))
    edit(of(folder, name, "attempt.json"), lambda it: it.update(id=name, **changes))
    path = of(folder, name, "usage.jsonl")
    path.write_text(path.read_text().replace(READS, name))
    journal = folder / "run" / "journal.jsonl"
    lines = [line.replace(READS, name) for line in journal.read_text().splitlines() if READS in line]
    journal.write_text(journal.read_text() + "\n".join(lines) + "\n")


def add_outside_plan(folder: Path) -> None:
    _copy_attempt(folder, "01KG9EXTRA", number=2)
    in_journal(folder, '("attempt":"01KG9EXTRA".*"number":)1', r"\g<1>2")


def duplicate(folder: Path) -> None:
    _copy_attempt(folder, "01KG9TWICE")


def finish_twice(folder: Path) -> None:
    in_journal(folder, rf'(.*"finished".*"attempt":"{READS}".*\n)', r"\1\1")


def change_digest(folder: Path) -> None:
    for name in ("attempt.json", "verdict.json"):
        edit(of(folder, READS, name), lambda it: it.update(task_digest="f" * 64))


def change_tokens(folder: Path) -> None:
    edit(of(folder, READS, "attempt.json"), lambda it: it["spent"]["usage"].update(input=7))


def change_dollars(folder: Path) -> None:
    edit(of(folder, READS, "attempt.json"), lambda it: it["spent"].update(dollars="0.01", dollars_known="0.01"))


def remove_account(folder: Path) -> None:
    of(folder, READS, "usage.jsonl").unlink()
    edit(of(folder, READS, "attempt.json"), lambda it: it.update(spent=None))


def take_anothers_calls(folder: Path) -> None:
    path = of(folder, READS, "usage.jsonl")
    path.write_text(path.read_text().replace(READS, SUMS))


def repeat_a_call(folder: Path) -> None:
    path = of(folder, READS, "usage.jsonl")
    path.write_text(path.read_text() + path.read_text().splitlines()[0] + "\n")


def hide_a_failure_in_a_chain(folder: Path) -> None:
    edit(of(folder, SPOILED, "verdict.json"), lambda it: it.update(outcome="failed", process=True, result=False))
    in_journal(folder, '"outcome":"infra_fault"', '"outcome":"failed"')


def count_the_superseded(folder: Path) -> None:
    lines = (folder / "run" / "journal.jsonl").read_text().splitlines(keepends=True)
    (last,) = [line for line in lines if '"finished"' in line and SPOILED in line]
    lines.remove(last)
    (folder / "run" / "journal.jsonl").write_text("".join([*lines, last]))


def remove_the_repeated(folder: Path) -> None:
    shutil.rmtree(of(folder, SPOILED, ""))
    in_journal(folder, rf'.*"attempt":"{SPOILED}".*\n', "")


def grade_in_the_future(folder: Path) -> None:
    edit(of(folder, READS, "verdict.json"), lambda it: it.update(graded_at="2031-01-01T00:00:00Z"))


def plan_afterwards(folder: Path) -> None:
    edit(folder / "run" / "run.json", lambda it: it.update(created="2026-01-31T13:00:00Z"))


def run_longer_than_it_took(folder: Path) -> None:
    edit(of(folder, READS, "attempt.json"), lambda it: it["submission"]["exit"].update(wall=900.0))


def forget_versions(folder: Path) -> None:
    edit(folder / "run" / "run.json", lambda it: it.update(versions={"python": "3.11.7"}))


def rename_system(folder: Path) -> None:
    path = folder / "submission.toml"
    path.write_text(path.read_text().replace("solver @", "Better Solver @"))


def rename_system_in_plan(folder: Path) -> None:
    rename_system(folder)
    path = folder / "run" / "run.json"
    path.write_text(path.read_text().replace("solver @", "Better Solver @"))


def change_settings(folder: Path) -> None:
    edit(of(folder, READS, "attempt.json"), lambda it: it["settings"].update(model="vendor/model-2"))


def deny_a_declaration(folder: Path) -> None:
    path = folder / "submission.toml"
    path.write_text(path.read_text().replace("no_test_knowledge = true", "no_test_knowledge = false"))


def declare_several(folder: Path) -> None:
    path = folder / "submission.toml"
    path.write_text(path.read_text().replace("one_attempt = true", "one_attempt = false"))


def drop_a_task_from_the_plan(folder: Path) -> None:
    edit(folder / "run" / "run.json", lambda it: it["tasks"].pop(1))


def say_another_run(folder: Path) -> None:
    edit(of(folder, READS, "attempt.json"), lambda it: it.update(run="01KG9ANOTHERRUN"))


def forge_a_bundled_suite(folder: Path) -> None:
    edit(folder / "run" / "run.json", lambda it: it.update(suite="starter", suite_version="1"))


def plan_a_billion(folder: Path) -> None:
    edit(folder / "run" / "run.json", lambda it: it.update(attempts=10**9))


def plan_long_ago(folder: Path) -> None:
    edit(folder / "run" / "run.json", lambda it: it.update(created="0001-01-01T00:00:00Z"))


def end_of_time(folder: Path) -> None:
    edit(of(folder, READS, "attempt.json"), lambda it: it.update(started="9999-12-31T23:59:59Z"))


def astronomical_dollars(folder: Path) -> None:
    edit(of(folder, READS, "attempt.json"), lambda it: it["spent"].update(dollars="1E+999999"))


def infinitesimal_price(folder: Path) -> None:
    path = of(folder, READS, "usage.jsonl")
    path.write_text(path.read_text().replace('"0.25"', '"1E-99999"'))


def worthless_value(folder: Path) -> None:
    edit(folder / "run" / "run.json", lambda it: it["tasks"][0]["economics"].update(low="1E-9999"))


def nested_journal(folder: Path) -> None:
    path = folder / "run" / "journal.jsonl"
    path.write_text(path.read_text() + "[" * 100_000 + "\n")


def torn_journal(folder: Path) -> None:
    path = folder / "run" / "journal.jsonl"
    path.write_text(path.read_text() + '{"event":"fini')


@pytest.mark.parametrize(
    ("tamper", "file", "words"),
    [
        (plan_a_billion, "run/run.json", "it plans 4e+09 attempts"),
        (plan_long_ago, "run/run.json", "in the future or long past"),
        (end_of_time, f"{READS}", "in the future"),
        (astronomical_dollars, f"{READS}/attempt.json", "no amount of dollars"),
        (infinitesimal_price, f"{READS}/usage.jsonl", "the price of call 1 is no amount of dollars"),
        (worthless_value, "run/run.json", "the market value of task 'a-reads' is no amount of dollars"),
        (nested_journal, "run/journal.jsonl", "line 11: its JSON is nested too deeply"),
        (torn_journal, "run/journal.jsonl", "line 11: it is not proper JSON"),
    ],
)
def test_absurd_numbers_are_refused_before_they_are_used(
    handed_in: Path, tamper: Tamper, file: str, words: str
) -> None:
    tamper(handed_in)
    seal(handed_in, figures=False)
    found = refusals(handed_in)
    assert any(file in one.partition(": ")[0] and words in one for one in found), found


@pytest.mark.by_day(10)
@pytest.mark.parametrize(
    ("tamper", "file", "words"),
    [
        (flip_outcome, f"{SUMS}", "outcome is 'passed', and the journal says 'failed'"),
        (flip_outcome, f"{SUMS}/verdict.json", "result is False where the outcome is passed"),
        (flip_outcome_everywhere, f"{SUMS}/verdict.json", "the test test_a.py::test_two is failed"),
        (flip_criteria_too, f"{DRAWS}/verdict.json", "ssim of out.txt is 0.2, which does not meet >= 0.7"),
        (take_evidence_away, f"{SUMS}/verdict.json", "neither a criterion nor a test"),
        (contradict_process, f"{DRAWS}/verdict.json", "process is True where the outcome is no_output"),
        (make_a_failure_ours, f"{SUMS}/verdict.json", "evidence of grading"),
        (remove_folder_and_lines, "run", "task 'b-sums', number 1 is planned and has no finished attempt"),
        (remove_task_from_journal_alone, f"{SUMS}", "does not say that this attempt finished"),
        (add_outside_plan, "01KG9EXTRA", "number 2 is not in the plan"),
        (duplicate, "01KG9TWICE", f"already filled by attempt {READS}"),
        (finish_twice, "journal.jsonl", f"{READS} finishes twice"),
        (change_digest, f"{READS}", "the task digest of its attempt is ffff"),
        (change_tokens, f"{READS}/attempt.json", "spent.usage.input is 7, and the calls of usage.jsonl give 2000"),
        (change_dollars, f"{READS}/attempt.json", "spent.dollars is 0.01, and the calls of usage.jsonl give 0.50"),
        (remove_account, f"{READS}/attempt.json", "spent is missing, and its agent had the model vendor/model-1"),
        (take_anothers_calls, f"{READS}/usage.jsonl", "is of attempt"),
        (repeat_a_call, f"{READS}/usage.jsonl", "call 1 is there twice"),
        (hide_a_failure_in_a_chain, f"{AGAIN}", "whose outcome is failed: only a fault of ours may be repeated"),
        (count_the_superseded, "journal.jsonl", f"{AGAIN} finishes before {SPOILED}, which it repeats"),
        (remove_the_repeated, f"{AGAIN}", f"it repeats attempt {SPOILED}, which is not here"),
        (grade_in_the_future, f"{READS}", "graded in the future"),
        (plan_afterwards, f"{READS}", "before its run was planned"),
        (run_longer_than_it_took, f"{READS}", "said to have run 900 s in an attempt of 30 s"),
        (forget_versions, "run.json", "versions.repoassay is missing"),
        (rename_system, "submission.toml", "the plan's agents are 'solver @ vendor/model-1'"),
        (rename_system_in_plan, f"{READS}", "its settings are not those of the plan"),
        (change_settings, f"{READS}", "its settings are not those of the plan"),
        (deny_a_declaration, "submission.toml", "no_test_knowledge is not declared"),
        (declare_several, "submission.toml", "several attempts a task is declared, and the plan has 1"),
        (drop_a_task_from_the_plan, f"{SUMS}", "is not in the plan"),
        (say_another_run, f"{READS}", "it is of run '01KG9ANOTHERRUN'"),
        (forge_a_bundled_suite, "run.json", "the suite starter has no task 'a-reads'"),
    ],
)
def test_tampering_is_refused_though_figures_and_manifest_were_made_to_fit(
    handed_in: Path, tamper: Tamper, file: str, words: str
) -> None:
    tamper(handed_in)
    seal(handed_in)
    found = refusals(handed_in)
    assert any(file in one.partition(": ")[0] and words in one for one in found), found
    assert not any("Traceback" in one for one in found)


def test_a_removed_attempt_is_missed(handed_in: Path) -> None:
    remove_folder(handed_in)
    seal(handed_in, figures=False)
    found = refusals(handed_in)
    assert f"run/journal.jsonl: attempt {SUMS} finished (failed), and its folder is missing." in found


def test_a_file_that_was_altered_after_sealing(handed_in: Path) -> None:
    path = of(handed_in, READS, "verdict.json")
    path.write_text(path.read_text() + " ")
    (found,) = refusals(handed_in)
    assert f"{READS}/verdict.json: it is not the file of the manifest" in found


def test_files_the_manifest_does_not_name_or_names_in_vain(handed_in: Path) -> None:
    of(handed_in, READS, "usage.jsonl").unlink()
    of(handed_in, READS, "submission").mkdir()
    of(handed_in, READS, "submission/x").write_text("x")
    found = refusals(handed_in)
    assert [one.partition(": ")[2] for one in found] == [
        "the manifest names it, and it is missing.",
        "the manifest does not name it.",
    ]


def test_paths_that_leave_the_folder(handed_in: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("x")
    edit(handed_in / "manifest.json", lambda it: it["files"].update({"../outside": {"size": 1, "sha256": "0"}}))
    assert refusals(handed_in) == ["manifest.json: it names '../outside', which is no path inside the submission."]


@pytest.mark.parametrize("target", ["verdict.json", "folder"])
def test_symbolic_links(handed_in: Path, tmp_path: Path, target: str) -> None:
    place = of(handed_in, READS, "verdict.json") if target == "verdict.json" else of(handed_in, READS, "")
    moved = tmp_path / "elsewhere"
    place.rename(moved)
    place.symlink_to(moved)
    found = refusals(handed_in)
    assert any("it is a symbolic link" in one for one in found)
    link = tmp_path / "link"
    link.symlink_to(handed_in)
    with pytest.raises(BadInput, match="is no folder"):
        validate(link)


def test_a_pipe_and_a_stranger(handed_in: Path) -> None:
    os.mkfifo(of(handed_in, READS, "log.txt"))
    (handed_in / "README.md").write_text("x")
    found = refusals(handed_in)
    assert any("log.txt: it is no plain file." in one for one in found)
    assert "README.md: a submission has no such file." in found


def test_what_is_too_large(handed_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with of(handed_in, READS, "usage.jsonl").open("r+b") as stream:
        stream.truncate(sealed.MOST_FILE_BYTES + 1)
    assert any("are more than the" in one for one in refusals(handed_in))
    monkeypatch.setattr(sealed, "MOST_FILES", 3)
    assert any("more than 3 files" in one for one in refusals(handed_in))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not proper JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": 1, "id": 2}', "'id' is there twice"),
        ('{"id": NaN}', "NaN is no number"),
        ("[]", "valid"),
        ("\ud83d".encode("utf-8", "surrogatepass"), "not proper JSON"),
    ],
)
@pytest.mark.parametrize(
    "name", ["run/run.json", f"run/attempts/{READS}/attempt.json", "figures.json", "manifest.json"]
)
def test_malformed_json(handed_in: Path, name: str, content: str | bytes, words: str) -> None:
    (handed_in / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    if name != "manifest.json":
        seal(handed_in, figures=False)
    found = refusals(handed_in)
    assert found and found[0].startswith(f"{name}: ")
    assert content == "[]" or words in found[0]


@pytest.mark.parametrize("content", ["system = 1", "x = [", "", 'system = "x"\nsystem = "y"', "a" + ".a" * 100_000])
def test_malformed_toml(handed_in: Path, content: str) -> None:
    (handed_in / "submission.toml").write_text(content)
    seal(handed_in, figures=False)
    (found,) = refusals(handed_in)
    assert found.startswith("submission.toml: ")


def test_abandoned_attempts_are_told(handed_in: Path) -> None:
    path = handed_in / "run" / "journal.jsonl"
    line = json.dumps({"event": "started", "attempt": "01KG9GAVEUP", "task": "a-reads", "number": 1})
    path.write_text(line + "\n" + path.read_text())
    seal(handed_in)
    found = validate(handed_in, NOW)
    assert found.sound
    assert any(note.startswith("1 attempts were started and never finished") for note in found.notes)


def test_a_time_to_come(handed_in: Path) -> None:
    found = [str(one) for one in validate(handed_in, NOW - timedelta(hours=1)).refusals]
    assert len(found) == 1 and "submitted is" in found[0] and "in the future" in found[0]


def test_no_folder() -> None:
    with pytest.raises(BadInput, match="/nowhere is no folder"):
        validate(Path("/nowhere"))
