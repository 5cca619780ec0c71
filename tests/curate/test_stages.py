"""Draft, proof, release, audit and retirement of one made-up task, through the command line where it matters."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from command_line import repoassay
from curate.making import TODAY, make_draft, make_pool
from json_answers import data_of
from repoassay.curate import (
    PooledRepository,
    audit_suite,
    check_release,
    draft_task,
    open_pooled,
    prove_suite,
    proving,
    release_suite,
    search_canary,
)
from repoassay.curate.measured_draft import MeasuredDraft
from repoassay.curate.verification import read_completeness
from repoassay.errors import BadInput
from repoassay.mutants import Battery, Expected, GradedMutant
from repoassay.sandbox import Cache, Sandbox, open_sandbox
from repoassay.tasks import find_suite
from repoassay.types import Outcome
from repoassay.workspace import release_lines


@pytest.fixture(scope="module")
def bench() -> tuple[Cache, Sandbox]:
    cache = Cache()
    return cache, open_sandbox("namespaces", cache)


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory) -> PooledRepository:
    return open_pooled(make_pool(tmp_path_factory.mktemp("curate")))


@pytest.fixture(scope="module")
def suite(pooled: PooledRepository, bench: tuple[Cache, Sandbox], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with one task, drafted and proven."""
    place = tmp_path_factory.mktemp("suite")
    for name in ("tally-words", "tally-again"):
        made = draft_task(pooled, make_draft(place / name, name=name), place / "suite", *bench)
        assert made.reasons == ()
    proofs = prove_suite(find_suite(place / "suite"), *bench, times=1)
    assert [(each.proven, each.accepting, each.refusing) for each in proofs] == [(True, 4, 8)] * 2
    assert 'name = "mutants"' in proofs[0].path.read_text("utf-8")  # wrong outputs that nobody thought of
    return place / "suite"


@pytest.mark.long
def test_thresholds_are_measured(suite: Path, pooled: PooledRepository) -> None:
    task = find_suite(suite).tasks[1].task
    assert [(each.metric, each.threshold) for each in task.grading.result] == [("table_cells_wrong", "<= 0.5")]
    assert (task.dates.commit, task.status, task.repository.source) == ("2026-05-01", "active", "bundled:tally")
    told = tomllib.loads((pooled.path / "thresholds/tally-words.toml").read_text())
    assert told["admitted"] is True
    assert (len(told["criterion"][0]["accepting"]), len(told["criterion"][0]["refusing"])) == (5, 8)
    mutants = told["mutants"]
    assert (mutants["survivors"], mutants["refused"]) == ([], [])
    assert mutants["killed"] == mutants["made"] > 5


@pytest.mark.long
def test_a_thin_margin_is_refused(pooled: PooledRepository, bench: tuple[Cache, Sandbox], tmp_path: Path) -> None:
    made = draft_task(pooled, make_draft(tmp_path / "draft", "token_recall", "tally-thin"), tmp_path / "suite", *bench)
    assert made.folder is None
    assert any("twice is to be refused" in reason for reason in made.reasons)
    assert not (tmp_path / "suite").exists()


@pytest.mark.long
def test_what_is_to_be_refused_and_right_is_found(
    pooled: PooledRepository, bench: tuple[Cache, Sandbox], tmp_path: Path
) -> None:
    draft = make_draft(tmp_path / "draft", name="tally-same")
    text = (draft / "draft.toml").read_text().replace('"rows = rows[1:]', '"rows = rows')
    (draft / "draft.toml").write_text(text)
    made = draft_task(pooled, draft, tmp_path / "suite", *bench)
    assert "lost is to be refused, and is the same as an output to accept" in made.reasons


def test_a_margin_that_mutants_pass_is_thin() -> None:
    made = [
        GradedMutant("counts.csv", "duplicated record", Expected.WRONG, "one more", Outcome.PASSED),
        GradedMutant("counts.csv", "line ends", Expected.RIGHT, "the same", Outcome.FAILED, "2 cells wrong"),
        GradedMutant("counts.csv", "half", Expected.WRONG, "half", Outcome.FAILED),
    ]
    found = MeasuredDraft((), (), ()).mutated(Battery("tally", tuple(made)))
    assert found.problems == (
        "the wrong output counts.csv:duplicated record is accepted: the margin is thin; give an output to refuse that"
        " is like it",
        "the output counts.csv:line ends is right, and is refused: 2 cells wrong",
    )


@pytest.mark.long
def test_proofs_are_kept(suite: Path, bench: tuple[Cache, Sandbox]) -> None:
    assert [each.kept for each in prove_suite(find_suite(suite), *bench, times=1)] == [True, True]


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="this machine has no ssh-keygen")
def test_two_quarters(suite: Path, tmp_path: Path, bench: tuple[Cache, Sandbox]) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (tmp_path / "signers").write_text(f"me {key.with_suffix('.pub').read_text()}")
    first = release_suite(find_suite(suite), tmp_path / "q4", "2026Q4", today=TODAY, key=key)
    assert (first.added, first.anchors) == (("tally-again", "tally-words"), ())
    assert check_release(tmp_path / "q4", tmp_path / "signers", "me") == []
    assert check_release(tmp_path / "q4", tmp_path / "signers", "you") == ["the signature is not of 'you'"]
    released = find_suite(tmp_path / "q4")
    assert (released.suite.release, released.tasks[1].task.dates.first_published) == ("2026Q4", "2026-11-23")
    findings, _ = audit_suite(released, "2027Q1", *bench)
    assert {each.probe for each in findings if each.sound is None} >= {"canary", "verbatim", "saturation", "install"}
    second = release_suite(
        find_suite(suite), tmp_path / "q1", "2027Q1", today=TODAY, previous=tmp_path / "q4",
        retirements={"tally-words": "solved by all"},
    )  # fmt: skip
    task = find_suite(tmp_path / "q1").tasks[1].task
    assert (second.kept, second.anchors) == (("tally-again",), ("tally-again",))
    assert (task.status, task.since, task.why) == ("retired", "2027Q1", "solved by all")
    assert second.signature is None
    assert "solved by all" in (tmp_path / "q1/release/changes.md").read_text()
    with pytest.raises(BadInput, match="Every task of suite is retired"):
        find_suite(tmp_path / "q1", only=["tally-words"]).live()
    assert [each.task.id for each in find_suite(tmp_path / "q1").live().tasks] == ["tally-again"]
    assert len(find_suite(tmp_path / "q1").live(["tally-words"]).tasks) == 2
    (tmp_path / "q4/tasks/tally-words/instruction.md").write_text("Other words.\n")
    assert check_release(tmp_path / "q4") == ["tasks/tally-words/instruction.md was changed"]


def test_a_share_of_a_quarter_stays_private(suite: Path, tmp_path: Path) -> None:
    shutil.copytree(suite, tmp_path / "suite")
    source = find_suite(tmp_path / "suite")
    first = release_suite(source, tmp_path / "q4", "2026Q4", today=TODAY, private_share=0.5)
    assert len(first.added) == len(first.private) == 1
    (hidden,) = first.private
    assert sorted((hidden, *first.added)) == ["tally-again", "tally-words"]
    bundle = tmp_path / "q4-private"
    assert first.private_path == bundle
    (held,) = find_suite(bundle).tasks
    assert (held.task.id, held.task.dates.first_published) == (hidden, None)
    text = b"".join(path.read_bytes() for path in (tmp_path / "q4").rglob("*") if path.is_file())
    assert hidden.encode() not in text
    assert f"* {held.digest}" in (tmp_path / "q4/release/changes.md").read_text()  # which the manifest vouches for
    done = repoassay("curate", "check", "q4", "--private", "q4-private", cwd=tmp_path)
    assert done.returncode == 0, done.stdout

    later = {"today": TODAY, "previous": tmp_path / "q4"}
    with pytest.raises(BadInput, match="nobody says where they are"):
        release_suite(source, tmp_path / "q1", "2027Q1", **later)  # type: ignore[arg-type]
    second = release_suite(source, tmp_path / "q1", "2027Q1", private_before=bundle, **later)  # type: ignore[arg-type]
    assert (second.added, second.kept, second.private) == ((), first.added, (hidden,))
    assert find_suite(tmp_path / "q1-private").tasks[0].digest == held.digest
    (bundle / "tasks" / hidden / "instruction.md").write_text("Other words.\n")
    done = repoassay("curate", "check", "q4", "--private", "q4-private", cwd=tmp_path)
    assert done.returncode == 1
    assert f"{hidden} is no private task of this release" in done.stdout


def test_what_is_not_proven_is_left_out(suite: Path, tmp_path: Path) -> None:
    shutil.copytree(suite, tmp_path / "suite")
    (tmp_path / "suite/tasks/tally-words/instruction.md").write_text("Count counts.csv of inputs/words.txt.\n")
    only = find_suite(tmp_path / "suite", only=["tally-words"])
    with pytest.raises(BadInput, match="not proven as it is now"):
        release_suite(only, tmp_path / "out", "2026Q4", today=TODAY)
    assert not (tmp_path / "out").exists()


def test_records_that_somebody_changed_are_a_sentence_or_made_anew(suite: Path, tmp_path: Path) -> None:
    """A proof that is none is proved again; a release that is none is refused by whatever reads it."""
    shutil.copytree(suite, tmp_path / "suite")
    found = find_suite(tmp_path / "suite", only=["tally-words"])
    (folder,) = found.tasks
    place = tmp_path / "suite/proofs/tally-words.toml"
    proof = place.read_text()
    assert proving._earlier(found.path, folder, 1) is not None
    for name, value in (("accepting", '"x"'), ("times", "[]"), ("reasons", "5"), ("proven", '"yes"')):
        place.write_text(re.sub(f"(?m)^{name} = .*", f"{name} = {value}", proof))
        assert proving._earlier(found.path, folder, 1) is None, name
    place.write_text(proof)
    beside = tmp_path / ".q4.part"  # what another command has under way, for all we know
    beside.mkdir()
    release_suite(found, tmp_path / "q4", "2026Q4", today=TODAY)
    assert beside.is_dir()
    record = tmp_path / "q4/release/release.toml"
    said = record.read_text()
    for name, value in (("quarter", ""), ("digest", "digest = 5"), ("private", "private = 5"), ("anchors", "")):
        record.write_text(re.sub(f"(?m)^{name} = .*", value, said))
        with pytest.raises(BadInput, match=f"its '{name}' is not as it is written"):
            check_release(tmp_path / "q4")
    record.write_text(said.replace("\nid = ", "\nname = "))
    with pytest.raises(BadInput, match="its 'task' is not as it is written"):
        release_suite(found, tmp_path / "q1", "2027Q1", today=TODAY, previous=tmp_path / "q4")


@pytest.mark.parametrize(
    "changed", ["environment = 3", "requirements = []", 'seconds = "x"', "tried_on = [1]", 'verdict = "complete"']
)
def test_evidence_of_completeness_that_somebody_changed_is_a_sentence(tmp_path: Path, changed: str) -> None:
    (tmp_path / "completeness.toml").write_text(changed)
    with pytest.raises(BadInput, match="is not as it was written"):
        read_completeness(PooledRepository(tmp_path, {}))


def test_a_canary_is_found_in_compressed_dumps(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "a.txt").write_text("nothing")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"x" * 5000 + b"the canary" + b"y"))
    assert search_canary("the canary", [tmp_path]) == [tmp_path / "b.gz"]


@pytest.mark.long
def test_a_model_drafts_and_is_probed(pooled: PooledRepository, suite: Path, tmp_path: Path) -> None:
    draft = make_draft(tmp_path / "draft")
    files = {path.relative_to(draft).as_posix(): path.read_text() for path in draft.rglob("*") if path.is_file()}
    turn = {"kind": "turn", "text": json.dumps({"files": files})}
    (tmp_path / "answers.jsonl").write_text(json.dumps(turn) + "\n")
    given = ("--model", "scripted/m", "--dialogue", tmp_path / "answers.jsonl", "--json")
    done = repoassay(
        "curate", "draft", pooled.path, "--by", "model", "--draft", tmp_path / "by-model", "--out", tmp_path / "suite",
        *given, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert data_of(done.stdout)["admitted"] is True
    truth = (suite / "tasks/tally-words/tests/counts.csv").read_text()
    words = (suite / "tasks/tally-words/instruction.md").read_text().split()
    turns = [json.dumps({"files": {"counts.csv": truth}}), " ".join(words[len(words) // 2 :])]
    (tmp_path / "answers.jsonl").write_text(
        "".join(json.dumps({"kind": "turn", "text": each}) + "\n" for each in turns)
    )
    shutil.copytree(suite, tmp_path / "audited")
    shutil.rmtree(tmp_path / "audited/tasks/tally-again")
    done = repoassay("curate", "audit", tmp_path / "audited", "--quarter", "2027Q1", *given, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    bad = {each["probe"] for each in data_of(done.stdout)["findings"] if each["sound"] is False}
    assert bad == {"without repository", "verbatim"}, done.stdout


def test_a_template_is_written_first(pooled: PooledRepository, tmp_path: Path) -> None:
    done = repoassay("curate", "draft", pooled.path, "--draft", tmp_path / "draft", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert tomllib.loads((tmp_path / "draft/draft.toml").read_text())["task"]["id"] == "tally-..."
    done = repoassay("curate", "draft", pooled.path, "--draft", tmp_path / "draft", cwd=tmp_path)
    assert done.returncode == 2
    assert "Correct it there." in done.stderr


@pytest.mark.exhaustive
def test_a_made_up_package_is_complete(tmp_path: Path) -> None:
    place = make_pool(tmp_path, complete=False)
    done = repoassay("curate", "verify", place, "--minors", "2", "--json", cwd=tmp_path, seconds=500)
    assert done.returncode == 0, done.stderr
    pythons = json.loads(done.stdout)["data"][0]["pythons"]
    assert set(pythons.values()) == {""}
    assert len(pythons) == min(2, len(release_lines()))
    told = tomllib.loads((place / "completeness.toml").read_text())
    assert (told["verdict"], told["tests_passed"], told["readme_worked"]) == ("complete", [1, 1], [1, 1])
    assert {step.get("python") for step in told["step"]} == {None, *[*pythons][1:]}
