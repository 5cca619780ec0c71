"""A lead's work: making studies of runs, inviting, settling, figures, export and import."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from repoassay.review.rubric import read_rubric
from repoassay.review.studies import items_of, study_of
from repoassay.review.study import Golden
from repoassay.server.review.control_items import ControlCounts
from repoassay.server.review.from_runs import RunSelection, choose, make_items
from repoassay.server.review.review_state import ReviewState
from server.review.samples import AGENT, MODEL, TASKS, Person, answers, make_run

RUBRIC = read_rubric("mergeable")


def rate_all(person: Person, states: str, **more: object) -> list[str]:
    """Give every item the same answers."""
    done = []
    while item := person.next():
        answer = person.call(f"/item/{item}/submit", key=f"key-{item}", answers=answers(states, **more))
        assert answer.status_code == 200, answer.text
        done.append(item)
    return done


def test_a_study_is_made_of_runs(owner: Person, desk: ReviewState) -> None:
    owner.study("first", controls="2", two="on", reveal="after_submission")
    items = items_of(desk.database, "first")
    assert len(items) == 8 and len({item.id for item in items}) == 8
    assert {item.hidden.task for item in items} == set(TASKS)
    controls = [item for item in items if item.hidden.golden is Golden.GOOD]
    assert len(controls) == 2 and all(item.hidden.system == "human" for item in controls)
    agents = [item for item in items if item.hidden.golden is None]
    assert {item.hidden.system for item in agents} == {f"{AGENT} ({MODEL})"}
    assert [item.hidden.tests for item in sorted(agents, key=lambda item: item.hidden.attempt)] == [True, False] * 3
    assert all(item.payload.diff and item.payload.issue and item.payload.rules for item in items)
    assert all("zebrawolf" not in item.payload.model_dump_json().lower() for item in items)
    assert len(study_of(desk.database, "first").phases) == 2


def test_the_same_seed_makes_the_same_study(run: Path, desk: ReviewState) -> None:
    wanted = RunSelection([run], seed=5, controls=ControlCounts(3, 2, 1, 1, 1))
    first, again = (make_items(choose(wanted), wanted, desk.blobs, RUBRIC) for _ in range(2))
    assert first == again
    other = RunSelection([run], seed=6, controls=ControlCounts(3, 2, 1, 1, 1))
    assert [item.id for item in make_items(choose(other), other, desk.blobs, RUBRIC)] != [item.id for item in first]


def test_one_run_a_task_is_drawn_and_flagged_ones_are_left_out(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / name, agents=("wolf",), tasks=TASKS[:2]) for name in ("a", "b")]
    # Two runs may not hold an attempt of the same name; these do by construction.
    for number, run in enumerate(runs[1:], 1):
        _rename(run, "A0", f"B{number}")
    wanted = RunSelection(runs, seed=1, flagged={"A0000": "looked at the answer"})
    chosen = choose(wanted)
    assert len(chosen.sample.chosen) == 2
    assert [(each.id, why) for each, why in chosen.sample.excluded] == [("A0000", "looked at the answer")]
    assert {each.id for each, _ in chosen.reread} == {"B1000"}
    assert "B1000" in {each.id for each in chosen.sample.chosen}


def test_what_is_left_out_is_listed_with_the_reason(owner: Person) -> None:
    owner.study(flagged="A0000: saw the future\n\nA0001")
    page = owner.get("/studies/st").text
    assert "saw the future" in page and "flagged by the lead" in page
    assert "sampled" in owner.get("/studies/st/log").text


IMPOSSIBLE: tuple[tuple[dict[str, Any], str], ...] = (
    ({"name": "new"}, "cannot be called new"), ({"name": ""}, "name"), ({"name": "a b"}, "name"),
    ({"rubric": "/etc/passwd"}, "rubric"), ({"run": None}, "run"), ({"run": "7"}, "run"), ({"run": "../x"}, "run"),
    ({"controls": "99"}, "controls"), ({"controls": "1", "reference": "blind"}, "controls"),
    ({"flagged": "nothing: x"}, "attempt"), ({"two": "on", "reveal": "never"}, "reveal"),
    ({"overlap": "-1"}, "overlap"), ({"seed": "1e9"}, "seed"), ({"mode": "some"}, "mode"),
    ({"lease": "0"}, "lease"),
)  # fmt: skip


def test_a_study_that_cannot_be_comes_back_with_what_is_wrong(owner: Person) -> None:
    for fields, word in IMPOSSIBLE:
        answer = owner.study(**fields)
        assert answer.status_code == 422, fields
        found = re.search(r'role="alert">([^<]+)<', answer.text)
        assert found is not None and word in found[1], fields
    assert "There are none yet" in owner.get("/studies").text


def test_a_lead_who_makes_a_study_leads_it(owner: Person, url: str) -> None:
    owner.study()
    lead = Person(url, owner.invite("Lea", "lead"))
    made = lead.study("mine")
    found = re.search(r'data-path="([^"]+)"', made.text)
    assert found is not None
    assert Person(url, found[1]).get("/studies/mine").status_code == 200
    assert lead.get("/studies/mine").status_code == 404


@pytest.mark.long
def test_disputes_are_settled_axis_by_axis(owner: Person, url: str) -> None:
    owner.study()
    for name, states in (("Ann", "ccccc"), ("Bob", "pcccc"), ("Cara", "ppccc")):
        rate_all(Person(url, owner.invite(name)), states, would_merge=True)
    page = owner.get("/studies/st/disputes").text
    names = list(dict.fromkeys(re.findall(r"/items/(s\w+)", page)))
    assert len(names) == 6
    assert "Bob" in page and "Cara" in page  # would merge beside a problem
    item = names[0]
    assert owner.form(f"/studies/st/items/{item}", **{"state.core": "problem"}).status_code == 422
    assert owner.form(f"/studies/st/items/{item}").status_code == 422
    bad = owner.form(f"/studies/st/items/{item}", **{"state.core": "worse", "cause.core": "rater_error"})
    assert bad.status_code == 422
    fields = {f"{kind}.{axis}": value for axis in ("core", "testing", "documentation", "lint", "quality")
              for kind, value in (("state", "problem"), ("cause", "real_ambiguity"))}  # fmt: skip
    assert owner.form(f"/studies/st/items/{item}", notes="So be it", **fields).status_code == 200
    assert item not in re.findall(r"/items/(s\w+)", owner.get("/studies/st/disputes").text)
    assert "adjudicated" in owner.get("/studies/st/items").text
    assert "So be it" in owner.get(f"/studies/st/items/{item}").text
    assert owner.form("/studies/st/items/nothing", **fields).status_code == 404
    following = owner.form(f"/studies/st/items/{names[1]}", next="1", **fields).url.path
    assert following.rsplit("/", 1)[1] in set(names) - {item, names[1]}


@pytest.mark.exhaustive
def test_figures_set_tests_beside_people(owner: Person, url: str) -> None:
    owner.study(controls="2", two="on", reveal="after_submission")
    assert "Nobody has submitted yet" in owner.get("/studies/st/figures").text
    for name, states in (("Ann", "ccccc"), ("Bob", "cpccc"), ("Cara", "cpcnc")):
        rate_all(Person(url, owner.invite(name)), states)
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", owner.get("/studies/st/figures").text))
    # Three of six passed; two of three raters find a problem with tests everywhere, so that none is mergeable.
    assert "Tests passed 3/6 (50 %)" in page and "By people 0/6 (0 %)" in page and "+50.0 points" in page
    assert "p = 0.25 " in page and "3 passed but would not be merged, 0 the other way" in page
    assert "Testing coverage 3/3 (100 %) 3/3 (100 %) 6/6 (100 %)" in page
    assert "Human changes accepted: 0/2" in page and "6 problems in 6 submissions" in page
    assert "Ann" in page and "Permutation test" in page
    assert owner.get("/studies/st/figures?phase=revealed").status_code == 200
    assert owner.get("/studies/st/figures?phase=other").status_code == 422


def test_export_and_import_change_nothing(owner: Person, url: str) -> None:
    owner.study()
    rate_all(Person(url, owner.invite("Ann")), "pcccc", notes='=1+1,"\u202e\n')
    lines = owner.get("/studies/st/export.jsonl").text
    table = list(csv.DictReader(io.StringIO(owner.get("/studies/st/export.csv").text)))
    assert len(lines.splitlines()) == len(table) == 6
    assert table[0]["notes"].startswith("'=1+1")
    assert owner.get("/studies/st/export.exe").status_code == 404
    token = {"csrf": owner.csrf}
    sent = owner.http.post("/review/studies/st/import", data=token, files={"file": ("r.jsonl", lines.encode())})
    assert sent.status_code == 200
    assert owner.get("/studies/st/export.jsonl").text == lines
    forged = lines.replace('"no_problem"', '"problem"', 1)
    for name, body, code in (
        ("r.jsonl", forged.encode(), {409, 422}),
        ("r.jsonl", b"{}", {422}),
        ("r.exe", b"", {422}),
    ):
        answer = owner.http.post("/review/studies/st/import", data=token, files={"file": (name, body)})
        assert answer.status_code in code
    assert owner.get("/studies/st/export.jsonl").text == lines


@pytest.mark.long
def test_the_whole_study_is_downloaded_as_a_table(owner: Person, url: str) -> None:
    owner.study()
    rater = Person(url, owner.invite("Ann"))
    rate_all(rater, "pcccc")
    assert 'href="/review/studies/st/table.zip"' in owner.get("/studies/st").text
    with zipfile.ZipFile(io.BytesIO(owner.get("/studies/st/table.zip").content)) as packed:
        assert {"st/CODEBOOK.md", "st/analyse.R", "st/analyse.py", "st/st.csv", "st/st.jsonl"} <= {*packed.namelist()}
        rows = [json.loads(line) for line in packed.read("st/st.jsonl").decode().split("\n") if line]
    assert sum(row["record"] == "answer" and row["axis"] == "core" for row in rows) == 6
    assert rater.get("/studies/st/table.zip").status_code in {403, 404}


@pytest.mark.long
def test_a_balanced_study_is_given_out(owner: Person, url: str) -> None:
    owner.study(mode="balanced", overlap="2")
    people = [Person(url, owner.invite(name)) for name in ("Ann", "Bob", "Cara")]
    assert people[0].next() == ""
    owner.form("/studies/st/assign")
    rated = [rate_all(person, "ccccc") for person in people]
    assert sorted(map(len, rated)) == [4, 4, 4]
    counts = [sum(item in each for each in rated) for item in {item for each in rated for item in each}]
    assert counts == [2] * 6


def _rename(run: Path, old: str, new: str) -> None:
    for folder in sorted((run / "attempts").iterdir()):
        attempt = folder / "attempt.json"
        attempt.write_text(attempt.read_text().replace(f'"{old}', f'"{new}'))
        folder.rename(folder.with_name(folder.name.replace(old, new, 1)))
    journal = run / "journal.jsonl"
    journal.write_text(journal.read_text().replace(f'"{old}', f'"{new}'))
