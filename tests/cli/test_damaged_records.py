"""A damaged record, or one of a newer RepoAssay, is one sentence in every command that reads it, never a traceback."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.engine.plan import Settings, make_plan
from repoassay.errors import RepoAssayError
from repoassay.records import RunFolder
from repoassay.tasks.suite import find_suite
from repoassay.types import Attempt, Call, Outcome, Submission, SubmittedFile, Verdict

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TASK = "edit-ledger-monthly"
A1, A2 = "01KG9ATT000000000000000001", "01KG9ATT000000000000000002"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def content(data: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(data)

    return write


def key(name: str, value: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.write_text(json.dumps({**json.loads(path.read_bytes()), name: value}))

    return change


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link(path: Path) -> None:
    path.rename(path.with_suffix(".away"))
    path.symlink_to(path.with_suffix(".away"))


def line(data: bytes, at: int = 1) -> Callable[[Path], None]:
    def insert(path: Path) -> None:
        lines = path.read_bytes().split(b"\n")
        path.write_bytes(b"\n".join([*lines[:at], data, *lines[at:]]))

    return insert


DAMAGES = {
    "cut": cut,
    "empty": content(b""),
    "x": content(b'{"x":1}'),
    "list": content(b"[]"),
    "no utf-8": content(b'{"id":"\xff\xfe"}'),
    "deep": content(b"[" * 100_000),
    "type": key("task", ["t"]),
    "newer": key("schema_version", 2),
    "newer minor": key("schema_version", "2.1"),
    "no version": key("schema_version", "soon"),
    "folder": folder,
    "pipe": pipe,
    "link": link,
    "missing": Path.unlink,
}
JOURNAL_DAMAGES = {
    "no attempt": line(b'{"event":"finished","at":"x"}'),
    "attempt of another type": line(b'{"event":"finished","attempt":7}'),
    "attempt elsewhere": line(b'{"event":"finished","attempt":"../../x"}'),
    "newer": line(b'{"schema_version":2,"event":"finished"}'),
    "folder": folder,
    "pipe": pipe,
    "link": link,
}
HARMLESS = {
    "torn": line(b'{"event":"fin'),
    "no utf-8": line(b'{"event":"\xff"}'),
    "x": line(b'{"x":1}'),
    "list": line(b"[]"),
    "deep": line(b"[" * 100_000),
}
LINE_DAMAGES = {"newer": line(b'{"schema_version":2}', 0), "folder": folder, "pipe": pipe, "link": link}
SUBMISSION = ("--contact", "me@example.org", "--declare-all")
COMMANDS: dict[str, Sequence[str]] = {
    "show": ("show", "{run}"),
    "show attempt": ("show", f"{{run}}/{A1}"),
    "show json": ("show", f"{{run}}/{A1}", "--json"),
    "resume": ("resume", "{run}"),
    "report": ("report", "{run}"),
    "report json": ("report", "{run}", "--json"),
    "report set": ("report", "{run}", "{other}"),
    "report out": ("report", "{run}", "--out", "{out}", "--format", "md"),
    "compare": ("compare", "{run}", "{other}"),
    "diagnose": ("diagnose", "{run}"),
    "diagnose attempt": ("diagnose", f"{{run}}/{A1}", "--json"),
    "signals": ("signals", "{run}"),
    "leaderboard": ("leaderboard", "build", "{run}", "--out", "{out}"),
    "leaderboard pack": ("leaderboard", "pack", "{run}", "--out", "{out}", *SUBMISSION),
    "review": ("review", "{run}", "--no-browser", "--database", "{out}"),
}
WHOLE = ("show attempt", "resume", "report json", "report set")
"""Commands tried with every damage; the others share their readers and are tried with `PART`."""
PART = ("cut", "x", "newer", "pipe")
READS_ATTEMPTS = [name for name in COMMANDS if name != "review"]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    suite = find_suite("starter", only=[TASK])
    plan = make_plan(suite, Settings(agents={"solo": {"kind": "reference"}}, attempts=2))
    run = RunFolder.create(tmp_path_factory.mktemp("records") / "run", plan)
    for number, name in ((1, A1), (2, A2)):
        (run.attempt_folder(name) / "submission").mkdir(parents=True)
        attempt = Attempt(
            id=name, run=plan.id, task=TASK, task_digest=plan.tasks[0].digest, agent="solo", number=number,
            started=NOW, ended=NOW, settings={"kind": "reference"},
            submission=Submission(files=(SubmittedFile(path="changes.diff", size=0, sha256="0" * 64),)),
        )  # fmt: skip
        run.journal.append("started", attempt=name, task=TASK, agent="solo", number=number)
        verdict = Verdict(
            task=TASK, task_digest=plan.tasks[0].digest, outcome=Outcome.FAILED, process=True, result=False,
            grader="repoassay/0", graded_at=NOW,
        )  # fmt: skip
        run.record(attempt, verdict)
    from repoassay.model_proxy import CallJournal

    CallJournal(run.attempt_folder(A1) / "usage.jsonl").append(Call(attempt=A1, seq=1, at=NOW))
    (run.path / "labels.jsonl").write_text("")
    other = shutil.copytree(run.path, run.path.with_name("other"))
    key("id", "another")(other / "run.json")
    return run


@pytest.fixture
def run(original: RunFolder, tmp_path: Path) -> Path:
    shutil.copytree(original.path.with_name("other"), tmp_path / "other")
    return shutil.copytree(original.path, tmp_path / "run")


def invoke(command: str, run: Path) -> Result:
    places = {"run": str(run), "other": str(run.with_name("other")), "out": str(run.with_name("out"))}
    arguments = [part.format(**places) for part in COMMANDS[command]]
    return CliRunner().invoke(cli, arguments, standalone_mode=False)


def sentence(done: Result) -> str:
    """What the program would say before it leaves; fails where that would be a traceback."""
    assert isinstance(done.exception, RepoAssayError), done.exc_info
    said = str(done.exception)
    assert "\n" not in said
    assert "Traceback" not in said
    assert done.exception.exit_code == 2
    return said


@pytest.mark.by_day(60)
@pytest.mark.parametrize("record", ["attempt.json", "verdict.json"])
@pytest.mark.parametrize(
    ("command", "damage"),
    [(name, damage) for name in READS_ATTEMPTS for damage in (DAMAGES if name in WHOLE else PART)],
)
def test_a_damaged_record_of_an_attempt(run: Path, command: str, record: str, damage: str) -> None:
    path = run / "attempts" / A1 / record
    if damage == "type" and record == "verdict.json":
        key("outcome", 7)(path)
    else:
        DAMAGES[damage](path)
    said = sentence(invoke(command, run))
    assert A1 in said
    assert str(run) in said
    if damage.startswith("newer"):
        assert f"{record} was written by a newer RepoAssay" in said
        assert "Upgrade" in said


@pytest.mark.by_day(40)
@pytest.mark.parametrize(
    ("command", "damage"),
    [(name, damage) for name in COMMANDS for damage in (DAMAGES if name in WHOLE else PART)],
)
def test_a_damaged_plan(run: Path, command: str, damage: str) -> None:
    (key("tasks", "t") if damage == "type" else DAMAGES[damage])(run / "run.json")
    said = sentence(invoke(command, run))
    assert str(run) in said
    if damage.startswith("newer"):
        assert "run.json was written by a newer RepoAssay" in said


@pytest.mark.by_day(40)
@pytest.mark.parametrize("damage", JOURNAL_DAMAGES)
@pytest.mark.parametrize("command", READS_ATTEMPTS)
def test_a_damaged_journal(run: Path, command: str, damage: str) -> None:
    JOURNAL_DAMAGES[damage](run / "journal.jsonl")
    said = sentence(invoke(command, run))
    assert "journal.jsonl" in said
    if damage == "newer":
        assert "line 2, was written by a newer RepoAssay" in said


@pytest.mark.parametrize("damage", HARMLESS)
@pytest.mark.parametrize("command", ["show", "report", "report json", "compare", "diagnose"])
def test_a_journal_line_in_the_middle_that_cannot_be_read_is_passed_over(run: Path, command: str, damage: str) -> None:
    HARMLESS[damage](run / "journal.jsonl")
    done = invoke(command, run)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    if command == "report json":
        assert data_of(done.stdout)["torn_lines"] == [2]


@pytest.mark.parametrize("damage", LINE_DAMAGES)
@pytest.mark.parametrize("command", ["show attempt", "report"])
def test_a_damaged_journal_of_calls(run: Path, command: str, damage: str) -> None:
    path = run / "attempts" / A1 / "usage.jsonl"
    if command == "report":  # it reads those of attempts that never finished
        path = shutil.copytree(path.parent, path.parent.with_name("01KG9ATT000000000000000003")) / path.name
    LINE_DAMAGES[damage](path)
    assert "usage.jsonl" in sentence(invoke(command, run))


@pytest.mark.parametrize("damage", LINE_DAMAGES)
@pytest.mark.parametrize("command", ["show attempt", "diagnose", "diagnose attempt"])
def test_damaged_labels(run: Path, command: str, damage: str) -> None:
    LINE_DAMAGES[damage](run / "labels.jsonl")
    assert "labels.jsonl" in sentence(invoke(command, run))


@pytest.mark.parametrize("command", ["show", "show json", "report", "report set", "compare", "diagnose"])
def test_a_newer_minor_version_is_read_without_its_new_keys(run: Path, command: str) -> None:
    before = invoke(command, run).stdout
    for record in ("attempt.json", "verdict.json"):
        path = run / "attempts" / A1 / record
        path.write_text(json.dumps({**json.loads(path.read_bytes()), "schema_version": "1.7", "new": {"key": 1}}))
    done = invoke(command, run)
    assert not isinstance(done.exception, RepoAssayError), done.exception
    assert done.stdout == before


@pytest.mark.parametrize("command", ["show attempt", "resume", "report"])
def test_a_key_that_this_version_does_not_have_is_an_error(run: Path, command: str) -> None:
    key("extra", 1)(run / "attempts" / A1 / "attempt.json")
    assert "attempt.json extra: Extra inputs are not permitted" in sentence(invoke(command, run))


def read_results(path: Path) -> Sequence[str]:
    return ("stats", "results", str(path))


def submit_results(path: Path) -> Sequence[str]:
    patches = path.with_name("patches.jsonl")
    patches.write_text(json.dumps({"id": TASK, "patch": ""}) + "\n")
    return ("submit", "--suite", "starter", "--submissions", str(patches), "--results", str(path), "--no-cache")


def attack_results(path: Path) -> Sequence[str]:
    return ("attack", "starter", "--task", TASK, "--sample", "1", "--out", str(path))


RESULT = b'{"id":"a","number":1,"message":"PASS","patch_sha256":"0"}\n'


@pytest.mark.parametrize("arguments", [read_results, submit_results, attack_results])
@pytest.mark.parametrize(
    "damage",
    [
        b'{"x":1}\n', b"[]\n", b'{"id":\n', b"\xff\n", b"[" * 100_000 + b"\n", b"\n",
        b'{"schema_version":2,"id":"a"}\n',
        b'{"id":[],"number":{},"message":"PASS","patch_sha256":"0"}\n',
    ],
)  # fmt: skip
def test_a_damaged_line_of_results(tmp_path: Path, arguments: Callable[[Path], Sequence[str]], damage: bytes) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(damage + RESULT)
    said = sentence(CliRunner().invoke(cli, list(arguments(path)), standalone_mode=False))
    assert str(path) in said
    assert "line 1" in said
    assert ("newer RepoAssay" in said) is (b"schema_version" in damage)
    assert path.read_bytes() == damage + RESULT


@pytest.mark.parametrize("arguments", [read_results, submit_results, attack_results])
@pytest.mark.parametrize("damage", [folder, pipe])
def test_results_that_are_no_file(
    tmp_path: Path, arguments: Callable[[Path], Sequence[str]], damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(RESULT)
    damage(path)
    assert str(path) in sentence(CliRunner().invoke(cli, list(arguments(path)), standalone_mode=False))


@pytest.mark.parametrize("damage", [b'{"x":1}\n', b"\xff\n", b"[" * 100_000 + b"\n", b""])
def test_records_of_gittaskbench_that_are_none_are_counted_in_words(tmp_path: Path, damage: bytes) -> None:
    from repoassay.benchmarks.gittaskbench.cli.main import cli as gittaskbench

    place = tmp_path / "test_results/Faker_01"
    place.mkdir(parents=True)
    (place / "results.jsonl").write_bytes(damage)
    arguments = ["eval", "--result", str(place.parent), "--output_file", str(tmp_path / "out.txt")]
    done = CliRunner().invoke(gittaskbench, arguments, standalone_mode=False)
    assert done.exception is None or isinstance(done.exception, RepoAssayError), done.exc_info


def test_signals_of_a_newer_version_are_a_sentence(tmp_path: Path) -> None:
    from repoassay.engine.signal_files import read_measured

    path = tmp_path / "signals.json"
    path.write_text('{"schema":2,"task":"t"}')
    with pytest.raises(RepoAssayError, match="newer RepoAssay"):
        read_measured(path)


def test_a_verdict_cache_of_a_newer_version_or_damaged_is_passed_over_or_a_sentence(tmp_path: Path) -> None:
    import sqlite3

    from repoassay.records.verdicts import VerdictCache

    verdict = Verdict(
        task="t", task_digest="d", outcome=Outcome.PASSED, process=True, result=True, grader="g", graded_at=NOW
    )
    cache = VerdictCache(tmp_path / "verdicts.sqlite")
    for name in "abcd":
        cache.put(name, verdict)
    assert cache.get("a") == verdict
    with sqlite3.connect(tmp_path / "verdicts.sqlite") as connection:
        whole = json.loads(connection.execute("SELECT verdict FROM verdicts WHERE key = 'a'").fetchone()[0])
        assert whole.pop("schema_version") == 1
        for name, text in (("a", json.dumps(whole)), ("b", '{"schema_version":2}'), ("c", "{"), ("d", '{"x":1}')):
            connection.execute("UPDATE verdicts SET verdict = ? WHERE key = ?", (text, name))
    assert cache.get("a") == verdict  # as RepoAssay 0.1 wrote it
    assert [cache.get(name) for name in "bcd"] == [None, None, None]
    (tmp_path / "other.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(RepoAssayError, match="cannot be opened"):
        VerdictCache(tmp_path / "other.sqlite")


def test_a_verdict_cache_that_is_damaged_later_is_a_sentence(tmp_path: Path) -> None:
    import sqlite3

    from repoassay.records.verdicts import VerdictCache

    cache = VerdictCache(tmp_path / "verdicts.sqlite")
    with sqlite3.connect(tmp_path / "verdicts.sqlite") as connection:
        connection.execute("DROP TABLE verdicts")
    with pytest.raises(RepoAssayError, match="cannot be used"):
        cache.get("a")
