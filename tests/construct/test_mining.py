"""Mining: what is drawn, what an agent is told, and that a suite grows, goes on and says why commits are no tasks."""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from command_line import repoassay
from construct.making import CODE, Repo, make_repo
from interrupts import interruptible
from marked_processes import Marked
from repoassay.construct import (
    MINE_LOG,
    CommitStatus,
    InstructionRewriter,
    MinedCommit,
    MiningReport,
    MiningRequest,
    MiningRules,
    mine_histories,
    read_commits,
    read_issues,
    read_mining_rules,
)
from repoassay.construct.history import History
from repoassay.construct.mining import mine as mine_module
from repoassay.construct.mining.commits import closer_look, draw
from repoassay.construct.mining.instruction import (
    InstructionSource,
    instruction_sources,
    leaked_line,
    pick_instruction,
    source_lines,
)
from repoassay.construct.mining.journal import MiningJournal
from repoassay.construct.mining.rules import CommitFacts, RuleFinding, TouchedFile
from repoassay.construct.mining.told_names import NeededFact, needed_facts, untold
from repoassay.construct.mining.told_names_javascript import needed_javascript_facts
from repoassay.construct.mining.trials import trial_refusal
from repoassay.errors import BadInput, Unavailable
from repoassay.model_proxy import ScriptedUpstream, open_model
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.tasks.suite import find_suite
from repoassay.workspace import release_lines  # noqa: F401  # asked by the mark, as a test starts
from waiting import wait_until

needs_python = pytest.mark.skipif(
    "not release_lines()", reason="this machine has no Python of uv or pyenv to make an environment of"
)
BROKEN = CODE + "\n\ndef average(prices):\n    return total(prices) / 2\n"
REPAIRED = CODE + "\n\ndef average(prices):\n    return total(prices) / len(prices)\n"
TEST = "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n"
AVERAGE_TEST = TEST + "\n\ndef test_average():\n    assert shop.average([1, 3, 5]) == 3\n"
SAYS = "Fix the average of three prices\n\nThe average of [1, 3, 5] came out as 4.5, and should be 3."


def facts(message: str = "Fix it", **more: object) -> CommitFacts:
    values: dict[str, object] = {
        "commit": "1" * 40, "parents": ("2" * 40,), "day": "2024-05-06", "message": message,
        "files": (TouchedFile("shop.py", 3, 1), TouchedFile("tests/test_shop.py", 4, 0)), **more,
    }  # fmt: skip
    return CommitFacts(**values)  # type: ignore[arg-type]


@pytest.fixture
def market(tmp_path: Path) -> Repo:
    """A history with a fix, a fix without a test, a change of comments, a fix whose test passes before, and a chore."""
    repo = make_repo(tmp_path / "market")
    repo.commit({"shop.py": BROKEN, "tests/test_shop.py": TEST, "LICENSE": ""}, "Start")
    repo.commit({"shop.py": REPAIRED, "tests/test_shop.py": AVERAGE_TEST}, SAYS)
    repo.git("tag", "v1.0")
    repo.commit({"shop.py": REPAIRED + "\n"}, "Fix the end of a file that nobody had looked at")
    repo.commit({"shop.py": "# A shop.\n" + REPAIRED, "tests/test_shop.py": AVERAGE_TEST + "\n\nassert shop\n"},
                "Fix what is said of the shop")  # fmt: skip
    more = AVERAGE_TEST + "\n\ndef test_none():\n    assert shop.total([]) == 0\n"
    repo.commit({"shop.py": REPAIRED.replace("sum(prices)", "sum(prices, 0)"), "tests/test_shop.py": more},
                "Handle an empty list of prices in the total of a shop")  # fmt: skip
    repo.commit({"shop.py": REPAIRED, "tests/test_shop.py": more + "\n"}, "Bump version to 1.1")
    return repo


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({}, None),
        ({"parents": ()}, "one parent"),
        ({"files": (TouchedFile("shop.py", 1, 1),)}, "changes tests"),
        ({"files": (TouchedFile("tests/test_shop.py", 1, 1),)}, "changes sources"),
        ({"files": (TouchedFile("a.py", 200, 51), TouchedFile("tests/test_a.py", 1, 0))}, "few lines"),
        ({"files": (TouchedFile("a.py", 1, 1), TouchedFile("b.pyx", 1, 1), TouchedFile("test_a.py", 1, 0))},
         "nothing compiled"),
        *(({"files": (TouchedFile("index.js", 1, 1), TouchedFile(path, 1, 1))}, None)
          for path in ("test.js", "packages/a/tests.mts", "spec/shop_spec.js")),
        ({"files": (TouchedFile("index.js", 1, 1), TouchedFile("latest.js", 1, 1))}, "changes tests"),
        ({"message": "Add a colour"}, "message speaks of a fault"),
        ({"message": "Bump the version, fixes #3"}, "message is no other chore"),
        ({"message": "Apply ruff formatting to the fix of #867"}, "message is no other chore"),
        ({"message": "Run pre-commit, fixes #3"}, "message is no other chore"),
        ({"message": "Apply the format of a column to its totals, fixes #3"}, None),
        ({"message": "Fix formatting of dates"}, None),
    ],
)  # fmt: skip
def test_the_first_rule_that_does_not_hold_is_named(changed: Mapping[str, object], rule: str | None) -> None:
    finding = MiningRules().judge(facts(**{"message": "Fix it", **changed}))  # type: ignore[arg-type]
    assert (finding.rule if finding else None) == rule


def test_rules_are_read_from_a_file_and_refused_with_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text("most_files = 1\nfix = '.'\n")
    assert read_mining_rules(file).judge(facts("Add a colour")) is None
    for text, word in (("most_files = 0", "most_files"), ("fix = '('", "regular expression"), ("a = 1", "Known are")):
        file.write_text(text)
        with pytest.raises(BadInput, match=word):
            read_mining_rules(file)


def test_a_draw_is_spread_over_the_history_and_depends_on_its_seed() -> None:
    pool = [facts(commit=f"{number:040}") for number in range(100)]
    first = draw(pool, 5, "1", lambda each: None)
    assert sorted(int(each.commit) // 20 for each in first.commits) == [0, 1, 2, 3, 4]
    assert draw(pool, 5, "1", lambda each: None) == first != draw(pool, 5, "2", lambda each: None)
    assert len(draw(pool, None, "1", lambda each: None).commits) == 100


def test_what_strata_lack_is_drawn_from_the_others() -> None:
    pool = [facts(commit=f"{number:040}") for number in range(12)]
    refusal = RuleFinding("tests gain an assertion", "none")
    drawn = draw(pool, 4, "1", lambda each: refusal if int(each.commit) < 9 else None)
    assert sorted(int(each.commit) for each in drawn.commits) == [9, 10, 11]
    assert sorted(int(each.commit) for each, _ in drawn.refused) == list(range(9))


def test_only_content_tells_that_a_commit_changes_nothing(market: Repo) -> None:
    history = History(market.path / ".git", "market")
    rules, found = MiningRules(), {}
    for each in read_commits(history):
        finding = rules.judge(each) or closer_look(history, each, rules)
        found[each.subject] = finding.rule if finding else None
    assert list(found.values()) == [
        "one parent", None, "changes tests", "code does something else", None, "message speaks of a fault",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "test", "reads"),
    [
        ("print 1\n", "assert 1\n", "shop.py"),
        ("def f(async=1): return async\n", "assert 1\n", None),
        ("x = 1\n", "try:\n    pass\nexcept X, e:\n    assert e\n", "tests/test_shop.py"),
    ],
)
def test_what_no_python_3_reads_is_passed_over(tmp_path: Path, code: str, test: str, reads: str | None) -> None:
    repo = make_repo(tmp_path / "shop")
    repo.commit({"shop.py": "", "README": ""}, "Start")
    repo.commit({"shop.py": code, "tests/test_shop.py": test, "tests/data.py": "print 1\n"}, "Fix it")
    history = History(repo.path / ".git", "shop")
    finding = closer_look(history, read_commits(history)[-1], MiningRules())
    assert finding == (RuleFinding("Python 3 can read it", reads) if reads else None)


def test_texts_are_preferred_in_order_and_few_words_are_completed(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop")
    repo.commit({"CHANGES.rst": "Version 1.0\n-----------\n", "shop.py": ""}, "Start")
    log = "Version 1.0\n-----------\n\n-   The mean of a shop counts\n    every :class:`Price`. :issue:`12`\n"
    commit = repo.commit({"CHANGES.rst": log, "shop.py": "x = 1\n"},
                         "Count the prices (#13)\n\nfixes #12\n\nSigned-off-by: a <a@b>")  # fmt: skip
    history = History(repo.path / ".git", "shop")
    one = next(each for each in read_commits(history) if each.commit == commit)
    issues = {
        12: "Averages are wrong (#11)\n\n<!-- Say\nmore. -->They leave out the last price.\n\n"
        "```\nmean(a,  b)  # 12\n```\nCo-authored-by: b <b@c>",
        13: "I repaired how somebody had counted averages.",
    }
    told = {each.name: each.text for each in instruction_sources(history, one, issues)}
    assert list(told) == ["issue", "changelog", "pull request"]  # the message says too little
    assert told["issue"] == ("Averages are wrong\n\nThey leave out the last price.\n\n```\nmean(a,  b)  # 12\n```\n")
    assert told["changelog"] == "The mean of a shop counts every `Price`.\n"
    assert [each.name for each in instruction_sources(history, one, {})] == ["changelog"]
    both, _ = pick_instruction(instruction_sources(history, one, issues), [])
    assert both is not None
    assert both.name == "issue and changelog and pull request"


def test_a_text_with_a_line_of_the_solution_is_passed_over() -> None:
    diff = b"diff --git a/shop.py b/shop.py\n--- a/shop.py\n+++ b/shop.py\n@@ -1 +1 @@\n-old(prices)\n"
    lines = source_lines(diff + b"+    return total(prices) / len(prices)\n+    else:\n", lambda path: True)
    assert lines == ["return total(prices) / len(prices)"]
    leaky = InstructionSource("issue", "Please\n```\nreturn   total(prices) / len(prices)\n```\n")
    assert leaked_line(leaky.text, lines)
    kept, passed = pick_instruction([leaky, InstructionSource("message", "Count the prices well")], lines)
    assert kept is not None
    assert (kept.name, len(passed)) == ("message", 1)
    assert pick_instruction([leaky], lines)[0] is None


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Fix random_product as well", False),
        ("also fixes the other pairs too.", False),
        ("Follow-up to the parser's fix of dates", False),
        ("Accept bytes as well", True),
        ("Fix dates that are given again", True),
        ("Fix it as well\n\nA date of two digits is taken for one of this century.", True),
    ],
)
def test_a_message_that_leads_elsewhere_says_too_little(market: Repo, message: str, told: bool) -> None:
    history = History(market.path / ".git", "market")
    commit = history.commit("HEAD")
    facts = CommitFacts(commit, (commit,), "2024-01-01", message, ())
    assert bool(list(instruction_sources(history, facts, {}))) is told


def test_names_texts_and_exceptions_that_only_the_solution_has_are_told() -> None:
    base = {"src/shop/bill.py": "def total(prices):\n    return sum(prices)\n"}
    solution = {
        "src/shop/bill.py": (
            "class Bill:\n    def __init__(self, prices, currency):\n        self.cents = 1\n    def pay(self): ...\n"
            "def total(prices, *, tax=0):\n    if tax < 0:\n"
            "        raise OverflowError('a tax is never negative: {}')\n"
            "def unused(): ...\n"
        ),
    }  # fmt: skip
    test = (
        "import pytest\nfrom shop.bill import Bill, total\n\ndef test_tax():\n"
        "    with pytest.raises(OverflowError, match='a tax is never negative'):\n        total([1], tax=-1)\n"
        "    Bill(\n        [1],\n        currency='EUR',\n    ).pay()\n"
    )
    found = needed_facts(base, solution, {"tests/test_bill.py": ("", test)}, ["tests/test_bill.py::test_tax"])
    words = {(each.kind, each.word) for each in found}
    assert words == {
        ("name", "Bill"), ("parameter", "currency"), ("attribute", "pay"), ("parameter", "tax"),
        ("text", "a tax is never negative"), ("exception", "OverflowError"),
    }  # fmt: skip
    left = untold(found, "A Bill has a currency and one can pay it; a negative tax is an OverflowError.")
    assert [each.sentence for each in left] == ["The tests expect this text: `a tax is never negative`"]
    assert "The tests use the parameter `tax` of `total` of module `shop.bill`." in {each.sentence for each in found}


def test_of_a_long_text_only_what_the_solution_brings_is_told() -> None:
    base = {"words.py": "KEYWORDS = ()\n"}
    solution = {"words.py": "KEYWORDS = ('END CASE', 'no value was given')\n"}
    test = (
        "def test_split():\n    assert split('BEGIN CASE val WHEN 1 THEN SELECT; END CASE; END; SELECT 3;') == 2\n"
        "    assert error() == 'error: no value was given'\n"
    )
    found = needed_facts(base, solution, {"test_words.py": ("", test)}, ["test_words.py::test_split"])
    assert {each.word for each in found} == {"END CASE", "error: no value was given"}


def test_texts_that_are_filled_in_are_told_and_short_ones_that_are_alike() -> None:
    base = {"words.py": "NAMES = {'day': 'ein Tag', 'days': '{0} Tage'}\n"}
    solution = {"words.py": base["words.py"] + "MORE = {'week': 'uke', 'weeks': '{0} uker', 'years': 'over %d år'}\n"}
    test = (
        "def test_a():\n    assert say(1) == 'uke'\n    assert say(2) == '38 uker'\n    assert say(3) == '12 Tage'\n"
        "    assert say(4) == 'over 3 år'\n    assert say(5) == 'huker'\n    assert say(6) == 'week'\n"
    )
    found = needed_facts(base, solution, {"test_a.py": ("", test)}, ["test_a.py::test_a"])
    assert {each.word for each in found if each.kind == "text"} == {"uke", "38 uker", "over 3 år", "week"}


def test_names_that_tests_in_typescript_need_are_told() -> None:
    before = "export class Queue {\n\tsize = 0;\n\tadd(job: Job): void { this.size = job.length; }\n}\n"
    base = {"source/index.ts": before}
    solution = {
        "source/index.ts": base["source/index.ts"].replace("\tsize", "\treadonly isFull: boolean = false;\n\tsize")
        + "export type Options = {readonly strict?: boolean; wide?: number};\n"
        + "export const check = (o: Options) => {\n"
        "\tif (!o.strict) { throw new Error(`The limit of ${o.wide} is odd`); }\n};\n",
        "source/limit.ts": "export default class RateLimit {}\n",
    }
    test = (
        "import Queue, {check} from '../source/index.js';\nimport Limit from '../source/limit.js';\n"
        "test('all', t => {\n\tconst wide = 3;\n\tt.is(new Queue({strict: true}).isFull, false);\n"
        "\tt.throws(() => check(), {message: 'The limit of 3 is odd'});\n\tt.is(wide.length, 0);\n});\n"
    )
    found = needed_javascript_facts(base, solution, {"test/all.ts": ("", test), "test/all.py": ("", "isFull")})
    assert {(each.kind, each.word) for each in found} == {
        ("name", "isFull"), ("name", "strict"), ("name", "check"), ("module", "source/limit.ts"),
        ("text", "The limit of 3 is odd"),
    }  # fmt: skip
    assert "The tests use the name `strict` of `source/index.ts`." in {each.sentence for each in found}
    assert not needed_javascript_facts({"a.ts": before}, {"a.ts": before}, {"test/all.ts": ("", test)})


def test_issues_come_from_a_folder_or_from_json(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "12.md").write_text("It breaks.")
    lines = tmp_path / "issues.jsonl"
    lines.write_text(json.dumps({"number": 12, "title": "It", "body": "breaks."}) + "\n")
    assert read_issues(tmp_path / "texts") == {12: "It breaks."}
    assert read_issues(lines) == {12: "It\n\nbreaks."}
    lines.write_text("nothing")
    with pytest.raises(BadInput, match="neither"):
        read_issues(lines)
    lines.write_text("[" * 100_000)
    with pytest.raises(BadInput, match="neither a JSON list nor JSON lines"):
        read_issues(lines)


def mined(
    repo: Repo, suite: Path, cache: Cache, sandbox: Sandbox, *, stop: bool = False, **more: object
) -> MiningReport:
    cancel = threading.Event()
    request = MiningRequest(proofs=1, **more)  # type: ignore[arg-type]
    return mine_histories(
        [str(repo.path)],
        suite,
        cache,
        sandbox,
        request,
        on_row=lambda row: cancel.set() if stop else None,
        cancel=cancel,
    )


@pytest.mark.long
@needs_python
def test_a_second_ctrl_c_waits_for_nothing_and_loses_no_commit(
    tmp_path: Path, cache: Cache, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command hears the first one; what comes out of it is what the second raises. It says what it is at."""
    monkeypatch.setattr(mine_module, "_TELL", 0.01)  # of a minute
    heard: list[str] = []
    mark, repo = Marked(), make_repo(tmp_path / "shop")
    repo.commit({"shop.py": BROKEN, "tests/test_shop.py": TEST, "LICENSE": ""}, "Start")
    endless = f"subprocess.run([sys.executable, '-c', 'import time; time.sleep(3600)', '{mark.word}'])"
    test = f"import subprocess\nimport sys\n\n{AVERAGE_TEST}    {endless}\n"
    repo.commit({"shop.py": REPAIRED, "tests/test_shop.py": test}, SAYS)

    def press() -> None:
        wait_until(lambda: mark.alive() and heard)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    suite, presses = tmp_path / "suite", threading.Thread(target=press)
    presses.start()
    with interruptible(), pytest.raises(KeyboardInterrupt):
        mine_histories([str(repo.path)], suite, cache, sandbox, MiningRequest(), heartbeat=heard.append)
    presses.join()
    assert not mark.alive()
    assert re.fullmatch(r"shop [0-9a-f]{10}: .+, \d+ s", heard[-1])
    assert [row for row in MiningJournal(suite).rows() if row.status in (CommitStatus.TASK, CommitStatus.REFUSED)] == []


def test_a_fault_of_ours_says_what_to_do() -> None:
    fault = trial_refusal(Unavailable("This machine has no Python.", "Get one: uv python install 3.11."))
    assert fault["reason"] == "This machine has no Python. Get one: uv python install 3.11."
    assert fault["status"] is CommitStatus.FAULT


def by_subject(report: MiningReport) -> dict[str, MinedCommit]:
    return {row.subject: row for row in report.rows}


GOOD = "The average of a list of prices is wrong: of [1, 3, 5] it comes out as 4.5. It must be 3, also of other lists."


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (GOOD, ""),
        (GOOD + " Write `return total(prices) / len(prices)`.", "It holds a line of the solution"),
        (GOOD.replace("average", "mean"), "It does not tell what the tests need: average"),
        (GOOD + " See `statistics.fmean`.", "It speaks of code that the draft does not have: fmean"),
        ("Average!", "It has 1 words"),
    ],
)
def test_a_models_words_are_held_against_what_a_draft_is(tmp_path: Path, answer: str, why: str) -> None:
    (tmp_path / "dialogue.jsonl").write_text(
        json.dumps({"kind": "turn", "text": answer, "usage": {"input": 100, "output": 50}}) + "\n"
    )
    draft = SAYS + "\n\n- The tests use the name `average` of module `shop`.\n"
    needed = [NeededFact("name", "average", "The tests use the name `average` of module `shop`.")]
    upstream = ScriptedUpstream(tmp_path / "dialogue.jsonl")
    with open_model("scripted/writer", [upstream], tmp_path / "calls.jsonl", name="mine") as client:
        rewrite = InstructionRewriter("scripted/writer", client)
        found = rewrite(draft, ["return total(prices) / len(prices)"], needed)
        spent = rewrite(draft, [], needed)  # the dialogue has nothing more to say
    assert (found.text, found.draft, found.model) == (answer, draft, "scripted/writer")
    assert (found.taken, found.why[: len(why)]) == (not why, why)
    assert not spent.taken
    assert "The model gave no answer" in spent.why


@needs_python
@pytest.mark.exhaustive
def test_an_instruction_in_other_words_is_kept_beside_its_draft(market: Repo, tmp_path: Path) -> None:
    turn = {"kind": "turn", "text": GOOD, "usage": {"input": 1000, "output": 100}}
    (tmp_path / "dialogue.jsonl").write_text(json.dumps(turn) + "\n")
    (tmp_path / "prices.toml").write_text(
        '[[price]]\nmodel = "scripted/*"\nfrom = 2020-01-01\ninput = "1"\noutput = "5"\nsource = "made up"\n'
    )
    done = repoassay(
        "mine", market.path, "--out", "suite", "--rewrite", "scripted/writer", "--dialogue",
        "dialogue.jsonl", "--prices", "prices.toml", "--proofs", "1", "--workers", "1", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder,) = find_suite(tmp_path / "suite").tasks
    assert folder.instruction == GOOD + "\n"
    assert "instruction from the message, reworded by scripted/writer" in folder.task.provenance
    (row,) = [row for row in map(json.loads, (tmp_path / "suite" / MINE_LOG).read_text().splitlines()) if
              row.get("rewriting")]  # fmt: skip
    assert row["rewriting"]["draft"].startswith("Fix the average of three prices")
    assert row["rewriting"]["dollars"] == "0.0015"
    assert "scripted/writer: 1 asked for, 1 taken" in (tmp_path / "suite/README.md").read_text()
    for agent in ("nothing", "reference", "nothing"):  # the last one finds no task that it was not tried on
        done = repoassay(
            "mine", market.path, "--out", "suite", "--difficulty", agent, "--attempts", "2", "--workers", "1",
            cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    readme = (tmp_path / "suite/README.md").read_text()
    assert "| passed by nothing | passed by reference |" in readme
    assert "| 0 of 2 | 2 of 2 |" in readme
    assert len(list((tmp_path / "suite/difficulty").iterdir())) == 2


@needs_python
@pytest.mark.exhaustive
def test_a_history_becomes_a_suite_that_grows(market: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox) -> None:
    suite = tmp_path / "suite"
    first = mined(market, suite, cache, sandbox, stop=True)
    assert first.stopped
    assert len(first.tried) == 1
    second = mined(market, suite, cache, sandbox)
    rows = by_subject(second)
    task = rows["Fix the average of three prices"]
    assert (task.status, task.source, task.must_pass, task.released) == (
        CommitStatus.TASK, "message", ("tests/test_shop.py::test_average",), "v1.0",
    )  # fmt: skip
    empty = rows["Handle an empty list of prices in the total of a shop"]
    assert (empty.status, empty.cause) == (CommitStatus.REFUSED, "vacuous")
    assert rows["Bump version to 1.1"].status is CommitStatus.PASSED_OVER
    assert len((suite / MINE_LOG).read_text().splitlines()) == 6

    found = find_suite(suite)
    (folder,) = found.tasks
    assert folder.task.dates.commit == task.day
    assert folder.task.repository.source.startswith("bundled:")
    assert "came out as 4.5" in folder.instruction
    readme = (suite / "README.md").read_text()
    assert "| vacuous | 1 |" in readme
    assert task.task in readme

    wrong = REPAIRED.replace("return sum(prices)", "return len(prices)")
    market.commit({"shop.py": wrong}, "Make it wrong")
    both = AVERAGE_TEST + "\n\ndef test_two():\n    assert shop.total([3, 3]) == 6\n"
    market.commit({"shop.py": REPAIRED, "tests/test_shop.py": both},
                  "Fix the total of two prices\n\nIt is their number, and should be their sum.")  # fmt: skip
    assert mined(market, suite, cache, sandbox, most=2).plan.size == 0  # as many were tried before
    third = mined(market, suite, cache, sandbox, update=True)
    assert [row.subject for row in third.tried] == ["Fix the total of two prices"]
    assert third.tried[0].status is CommitStatus.TASK
    assert len(find_suite(suite).tasks) == 2


@needs_python
@pytest.mark.exhaustive
def test_a_commit_that_crashes_stops_no_other_and_is_tried_again(
    market: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    from repoassay.construct.draft import draft_commit

    def crash(*given: object, **more: object) -> object:
        if len(crashed) < 1:
            crashed.append(1)
            raise RuntimeError("a crash")
        return draft_commit(*given, **more)  # type: ignore[arg-type]

    crashed: list[int] = []
    monkeypatch.setattr("repoassay.construct.mining.trials.draft_commit", crash)
    first = mined(market, tmp_path / "suite", cache, sandbox)
    faults = [row for row in first.tried if row.status is CommitStatus.FAULT]
    assert [row.reason for row in faults] == ["RuntimeError: a crash"]
    assert len(first.tried) == 2
    second = mined(market, tmp_path / "suite", cache, sandbox)
    assert [row.commit for row in second.tried] == [faults[0].commit]


def test_a_folder_that_is_no_mined_suite_is_left_alone(
    market: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("")
    with pytest.raises(BadInput, match="something else"):
        mined(market, tmp_path / "other", cache, sandbox)


def test_a_plan_that_is_not_agreed_to_runs_nothing(
    market: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    report = mine_histories(
        [str(market.path)], tmp_path / "suite", cache, sandbox, MiningRequest(), agree=lambda plan: False
    )
    assert (report.plan.size, report.tried) == (2, ())
