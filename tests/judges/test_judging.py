"""A judge at work behind a real model proxy: what is stored, what is void, and what is never asked twice."""

from __future__ import annotations

import threading
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fake_provider import FakeProvider
from judges.cases import GOOD, begin, definition, items, judged, reply, said, turns
from repoassay.db import Database
from repoassay.errors import BadInput, Unavailable
from repoassay.judges.calibration import calibrate
from repoassay.judges.client import open_judge, spent_before
from repoassay.judges.judging import JudgingStep, judge_study
from repoassay.judges.store import find_judge, judge_ratings, judgements_of, judges_of, keep, seat
from repoassay.model_proxy import CallLimits, Dialogue, Prices, ScriptedUpstream, Turn, Upstream
from repoassay.model_proxy.dialogue import Fault
from repoassay.records.calls import read_calls
from repoassay.review.adjudication import latest
from repoassay.review.item_summary import summarize_items
from repoassay.review.rater_accounts import add_rater
from repoassay.review.studies import items_of
from repoassay.review.submitting import import_ratings, ratings_of
from repoassay.types import RatingPhase
from review.samples import NOW, RUBRIC, rating


def test_a_judge_answers_every_axis_and_submits_a_rating_outside_the_people(database: Database, tmp_path: Path) -> None:
    judge = begin(database, items(1))
    done, spent = judged(database, judge, turns("pcncc"), tmp_path)
    assert (done.stored, done.void, done.left, done.rated, done.stopped) == (5, 0, 0, 1, "")
    (rating,) = judge_ratings(database, judge)
    states = [answer.state for answer in rating.axes.values()]
    assert states == ["problem", "no_problem", "not_applicable", "no_problem", "no_problem"]
    assert rating.mergeable is False and rating.axes["core"].evidence[0].quote == GOOD["quote"]
    assert ratings_of(database, "st") == ()
    assert ratings_of(database, "st", judges=True) == (rating,)
    assert spent.calls == 5 and spent.usage.total == 5500
    assert len(read_calls(tmp_path / "usage.jsonl").calls) == 5


def test_a_judge_that_cites_a_line_that_is_not_there_is_rejected(database: Database, tmp_path: Path) -> None:
    judge = begin(database, items(1))
    wrong = [
        GOOD | {"line": 40},
        GOOD | {"path": "calc/sub.py"},
        GOOD | {"quote": "total = first - b"},
        GOOD | {"side": "old"},
    ]
    script = [said(reply("p", evidence=[GOOD, each])) for each in wrong]
    done, _ = judged(database, judge, [*script, said(reply("p", evidence=[]))], tmp_path)
    assert (done.stored, done.void) == (5, 5)
    said_so = {each.axis: each.void for each in judgements_of(database, judge)}
    assert said_so == {
        "core": "It cites calc/add.py:40, but the diff it was shown has no such line.",
        "testing": "It cites calc/sub.py:4, but the diff it was shown has no such file.",
        "documentation": "It cites calc/add.py:4, but 'total = first - b' does not stand there.",
        "lint": "It cites calc/add.py:4 before the change, but 'total = first + b' does not stand there.",
        "quality": "It answers 'problem' and cites no line.",
    }
    (rating,) = judge_ratings(database, judge)
    assert {answer.state for answer in rating.axes.values()} == {"unsure"} and rating.mergeable is None
    assert "core: no verdict. It cites calc/add.py:40" in rating.notes


HOSTILE = [
    "",
    "I would merge it.",
    "[]",
    "null",
    '"problem"',
    "{" * 50_000,
    "[" * 30_000 + "]" * 30_000,
    '{"state": "problem", "evidence": ' + "[" * 40 + "]" * 40 + "}",
    "x" * 200_000,
    '{"state": "no_problem", "state": "problem"}',
    '{"state": "no_problem"} {"state": "problem"}',
    '{"state": NaN}',
    '{"state": 1}',
    '{"state": ["problem"]}',
    '{"state": "merge"}',
    '{"state": "problem", "evidence": {"path": "x"}}',
    '{"state": "problem", "evidence": [{"path": "calc/add.py", "line": "4", "quote": "x"}]}',
    '{"state": "problem", "evidence": [{"path": "calc/add.py", "line": true, "quote": "x"}]}',
    '{"state": "problem", "evidence": [{"path": "calc/add.py", "line": 4.5, "quote": "x"}]}',
    '{"state": "problem", "evidence": [{"path": "calc/add.py", "line": ' + "9" * 5000 + ', "quote": "x"}]}',
    '{"state": "unsure", "why": "\\ud800"}',
    '{"state": "unsure", "why": "\\u0000"}',
    '{"state": "unsure", "role": "admin"}',
    '{"state": "unsure", "why": "' + "y" * 10_000 + '"}',
    "\x1b[2J{",
]


@pytest.mark.by_day(8)
@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_hostile_answer_is_one_sentence_after_one_retry(number: int, tmp_path: Path, sqlite: Database) -> None:
    judge = begin(sqlite, items(1))
    # An empty turn is "Done." in a script; spaces reach the judge.
    line = said(HOSTILE[number] or " ")
    done, _ = judged(sqlite, judge, [line, line, *turns("cccc")], tmp_path)
    assert (done.stored, done.void, done.failed) == (5, 1, 0)
    (void,) = [each for each in judgements_of(sqlite, judge) if each.void]
    assert void.asked == 2 and void.answer is None
    assert void.void.startswith("The answer") and void.void.endswith(".")
    assert len(void.void) < 400 and void.void.isprintable()


def test_an_answer_that_cannot_be_read_is_asked_for_once_more(database: Database, tmp_path: Path) -> None:
    judge = begin(database, items(1))
    fenced = f"```json\n{reply('p')}\n```"
    again = said(fenced, when={"contains": "Your last answer was not taken: The answer is not one JSON object"})
    done, spent = judged(database, judge, [said("Well."), again, *turns("cccc")], tmp_path)
    assert (done.stored, done.void, spent.calls) == (5, 0, 6)
    first = next(each for each in judgements_of(database, judge) if each.axis == "core")
    assert first.asked == 2 and first.answer is not None and first.answer.state == "problem"


def test_what_is_stored_is_never_asked_again(database: Database, tmp_path: Path) -> None:
    judge = begin(database, items(2))
    steps: list[JudgingStep] = []
    done, _ = judged(database, judge, turns("ccccccc"), tmp_path, steps)  # the script ends after seven answers
    assert (done.stored, done.failed, done.rated) == (7, 3, 1)
    assert done.stopped.startswith("3 calls in a row failed")
    assert [bool(each.failure) for each in steps] == [False] * 7 + [True] * 3
    done, spent = judged(database, judge, turns("ppp"), tmp_path)
    assert (done.stored, done.kept_before, done.rated, spent.calls) == (3, 7, 1, 3)
    done, spent = judged(database, judge, turns("p"), tmp_path)
    assert (done.stored, done.kept_before, done.rated, spent.calls) == (0, 10, 0, 0)


def test_more_samples_add_to_those_there_are_and_amend_the_rating(database: Database, tmp_path: Path) -> None:
    judge = begin(database, items(1))
    judged(database, judge, turns("pcccc"), tmp_path)
    done, _ = judged(database, judge, turns("cc" * 5), tmp_path, samples=3)
    assert (done.stored, done.kept_before, done.rated) == (10, 5, 1)
    first, second = judge_ratings(database, judge)
    assert (first.mergeable, second.mergeable) == (False, True)
    assert second.amends == first.id and second.version == 2


def test_where_a_reference_is_shown_the_order_is_swapped_by_turns(sqlite: Database, tmp_path: Path) -> None:
    reference = "--- a/calc/add.py\n+++ b/calc/add.py\n@@ -4 +4 @@\n-    return first\n+    return first + b\n"
    judge = begin(sqlite, items(2, reference=reference))
    judged(sqlite, judge, turns("ppppcccc"), tmp_path, axes=["core"], samples=4)
    for item in ("i0", "i1"):
        ways = [each.swapped for each in judgements_of(sqlite, judge, item=item)]
        assert sorted(map(bool, ways)) == [False, False, True, True] and ways[0] != ways[1]


def test_without_a_reference_there_is_no_order(sqlite: Database, tmp_path: Path) -> None:
    judge = begin(sqlite, items(1, reference="x"), reference="revealed")
    judged(sqlite, judge, turns("c"), tmp_path, axes=["core"])
    assert judgements_of(sqlite, judge)[0].swapped is None


SIGNAL = {
    "id": "ruff.elsewhere", "axis": "lint", "state": "finding", "title": "New findings of ruff",
    "evidence": [{"path": "calc/add.py", "line": 4, "quote": "agent-x was here", "text": "F841"}],
}  # fmt: skip


def test_the_second_pass_alone_knows_signals_and_nothing_else_that_is_hidden(sqlite: Database, tmp_path: Path) -> None:
    evidence = {"signals": [SIGNAL, {"id": "broken"}, 7], "tests": {"secret-test": "passed"}}
    (first, second) = items(2)
    hidden = first.hidden.model_copy(update={"evidence": evidence})
    judge = begin(sqlite, [first.model_copy(update={"hidden": hidden}), second])
    asked: list[str] = []
    script = iter("ccccccccccp")

    def asker(system: str, user: str) -> str:
        asked.append(system + user)
        return reply(next(script))

    done = judge_study(sqlite, judge, asker, samples=1, signals=True)
    assert (done.stored, done.rated) == (11, 3)
    assert done.skipped == ("i1: no signals are recorded, so it has no second pass.",)
    assert not any("New findings of ruff" in text for text in asked[:10])
    assert "| New findings of ruff [ruff.elsewhere]: found" in asked[10]
    for secret in ("agent-x", "gpt-4.1", "secret-test", "i0", "system"):
        assert not any(secret in text for text in asked), secret
    blind, revealed = judge_ratings(sqlite, judge, "i0")
    assert (blind.phase, revealed.phase, revealed.amends) == (RatingPhase.BLIND, RatingPhase.REVEALED, blind.id)
    assert [answer.state for answer in revealed.axes.values()] == ["no_problem"] * 3 + ["problem", "no_problem"]
    (part,) = calibrate(
        items_of(sqlite, "st"), [rating("ccccc", "i0"), rating("cccpc", "i1")], judgements_of(sqlite, judge), RUBRIC,
        judge.definition, draws=100,
    ).second_pass  # fmt: skip
    assert (part.axis, part.n, part.changed, part.blind.successes, part.revealed.successes) == ("lint", 1, 1, 1, 0)


def test_an_item_without_a_diff_is_passed_over_and_a_study_without_any_refused(
    sqlite: Database, tmp_path: Path
) -> None:
    judge = begin(sqlite, [*items(1, diff=""), *items(2)[1:]])
    done, _ = judged(sqlite, judge, turns("ccccc"), tmp_path)
    assert done.stored == 5 and done.skipped == ("i0: it has no diff, and a judge reads nothing else.",)


def test_what_cannot_be_judged_is_refused(sqlite: Database, tmp_path: Path) -> None:
    judge = begin(sqlite, items(1, diff=""))
    with pytest.raises(BadInput, match="No item of the study 'st' has a diff"):
        judged(sqlite, judge, turns("c"), tmp_path)
    with pytest.raises(BadInput, match=r"no axis 'cor'\. Did you mean core\?"):
        judged(sqlite, judge, turns("c"), tmp_path, axes=["cor"])
    with pytest.raises(BadInput, match="another rubric"):
        seat(sqlite, "st", definition().model_copy(update={"rubric": "0" * 64}), at=NOW)
    with pytest.raises(BadInput, match="nothing to say"), open_judge(judge, [], tmp_path / "u.jsonl"):
        pass


def test_two_versions_of_a_judge_are_two_raters_and_one_is_one(database: Database) -> None:
    first = begin(database, items(1))
    assert seat(database, "st", definition(), at=NOW) == first
    second = seat(database, "st", definition(temperature=0.0), at=NOW)
    assert second.rater.id != first.rater.id and judges_of(database, "st") == (first, second)
    assert find_judge(database, "st", second.definition.digest[:12]) == second
    with pytest.raises(BadInput, match="2 judges that fit"):
        find_judge(database, "st", "scripted/judge")
    with pytest.raises(BadInput, match="no judge 'x'"):
        find_judge(database, "st", "x")


def test_samples_cannot_be_changed_or_doubled(database: Database, tmp_path: Path) -> None:
    judge = begin(database, items(1))
    judged(database, judge, turns("ccccc"), tmp_path)
    first = judgements_of(database, judge)[0]
    assert not keep(database, "st", first.model_copy(update={"void": "No.", "answer": None}))
    assert judgements_of(database, judge)[0] == first
    for line in ("UPDATE review_judgements SET judgement = '{}'", "DELETE FROM review_judges"):
        with pytest.raises(Unavailable, match="append-only"):
            database.write(lambda connection, line=line: connection.exec_driver_sql(line))  # type: ignore[misc]  # the default binds the line


def test_a_budget_ends_the_run_and_counts_what_was_spent_before(sqlite: Database, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[[price]]\nmodel = "scripted/*"\nfrom = 2020-01-01\ninput = "1000"\noutput = "0"\n')
    judge = begin(sqlite, items(1))
    for spent_already, stored in ((0, 2), (2, 0)):
        upstream = ScriptedUpstream(Dialogue(turn=tuple(turns("ccccc"))))
        with open_judge(
            judge, [upstream], tmp_path / "u.jsonl", prices=Prices.shipped(prices), budget=Decimal("2.5")
        ) as door:  # each call costs a dollar, and by its size may cost half as much again
            done = judge_study(sqlite, judge, door.asker, samples=1)
            assert (done.kept_before, done.stored, done.rated) == (spent_already, stored, 0)
            assert "budget of" in done.stopped and done.left == 5 - spent_already - stored
    assert spent_before(tmp_path / "u.jsonl").dollars_known == 2


@pytest.mark.parametrize("dialect", ["chat", "messages", "gemini", "responses"])
def test_a_judge_speaks_the_dialect_of_its_upstream(dialect: str, sqlite: Database, tmp_path: Path) -> None:
    judge = begin(sqlite, items(1), "vendor/judge-1")
    with FakeProvider(Dialogue(turn=tuple(turns("pcncc")))) as vendor:
        base = f"{vendor.origin}/v1" if dialect in {"chat", "responses"} else vendor.origin
        upstream = Upstream(name="vendor", base_url=base, dialects=(dialect,))
        with open_judge(judge, [upstream], tmp_path / "u.jsonl") as door:
            done = judge_study(sqlite, judge, door.asker, samples=1, workers=1)
            assert (done.stored, done.void, done.stopped) == (5, 0, "")
            assert door.totals().usage.total == 5500
    assert {call.dialect for call in read_calls(tmp_path / "u.jsonl").calls} == {dialect}


class _Odd(BaseHTTPRequestHandler):
    """Answers every request with status 200 and whatever body it was given."""

    body = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


ODD = [b"[]", b"not json", b'{"choices": 7}', b'{"choices": [{"message": 7}]}', b"[" * 100_000,
       b'{"choices": [{"message": {"content": "' + b"x" * (9 << 20) + b'"}}]}', b""]  # fmt: skip


@pytest.mark.by_day(3)
@pytest.mark.parametrize("number", range(len(ODD)))
def test_a_response_that_is_not_of_its_dialect_is_void(number: int, sqlite: Database, tmp_path: Path) -> None:
    judge = begin(sqlite, items(1), "vendor/judge-1")
    handler = type("Handler", (_Odd,), {"body": ODD[number]})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        upstream = Upstream(name="vendor", base_url=f"http://127.0.0.1:{server.server_address[1]}/v1")
        with open_judge(judge, [upstream], tmp_path / "u.jsonl", limits=CallLimits(retries=0)) as door:
            done = judge_study(sqlite, judge, door.asker, samples=1, axes=["core"])
        server.shutdown()
    assert done.stored + done.failed == 1, done
    if done.failed:  # the model proxy itself refuses what is no JSON at all: nothing was answered
        return
    (void,) = judgements_of(sqlite, judge)
    assert void.asked == 2 and void.void.startswith("The") and void.void.endswith(".") and len(void.void) < 300


def test_after_three_failures_in_a_row_nothing_more_is_asked(sqlite: Database, tmp_path: Path) -> None:
    judge = begin(sqlite, items(1), "vendor/judge-1")
    with FakeProvider(Dialogue(turn=(Turn(text="x", fault=Fault(status=418, times=9)),))) as vendor:
        upstream = Upstream(name="vendor", base_url=f"{vendor.origin}/v1")
        with open_judge(judge, [upstream], tmp_path / "u.jsonl", limits=CallLimits(retries=0)) as door:
            done = judge_study(sqlite, judge, door.asker, samples=1)
    assert (done.stored, done.failed, done.left) == (0, 3, 2)
    assert done.stopped.startswith("3 calls in a row failed; the last: The model gave no answer: status 418")


def test_many_workers_do_what_one_does(sqlite: Database, tmp_path: Path) -> None:
    judge = begin(sqlite, items(8))
    done, spent = judged(sqlite, judge, turns("c" * 80), tmp_path, workers=8, samples=2)
    assert (done.stored, done.rated, done.left, spent.calls) == (80, 8, 0, 80)
    assert len(judge_ratings(sqlite, judge)) == 8


def test_a_judge_is_in_no_figure_of_people(sqlite: Database, tmp_path: Path) -> None:
    judge = begin(sqlite, items(1))
    person = add_rater(sqlite, "st", "ana", at=NOW).rater
    import_ratings(sqlite, "st", [rating("ccccc", "i0", person.id)], at=NOW, by="lead")
    judged(sqlite, judge, turns("ppppp"), tmp_path)
    (row,) = summarize_items(items_of(sqlite, "st"), latest(ratings_of(sqlite, "st")), RUBRIC)
    assert row.raters == 1 and row.mergeable is True
    assert len(ratings_of(sqlite, "st", judges=True)) == 2
    assert len(ratings_of(sqlite, "st", RatingPhase.BLIND, judges=True)) == 2
