"""An upstream's faults never crash a run and are never the agent's; keys never reach the run folder."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.metering import ASSETS, SOLVE, Watching, make, one, outcome, plan_run, said, shell
from fake_provider import FakeProvider
from repoassay.engine import execute
from repoassay.engine.scheduler import all_slots
from repoassay.errors import BadInput, NoIsolation
from repoassay.model_proxy.dialogue import Dialogue
from repoassay.records.calls import JOURNAL, journal_spent, read_calls
from repoassay.tasks.suite import find_suite
from repoassay.types import NetworkPolicy, Outcome

pytestmark = pytest.mark.exhaustive

LASTING = 99
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "429": ({"status": 429, "retry_after": 0}, "rate_limited"),
    "500": ({"status": 500}, "upstream_error"),
    "cut": ({"cut": 0}, "cut"),
    "malformed": ({"malformed": True}, "malformed"),
    "wrong type": ({"wrong_type": "text/html"}, "wrong_type"),
}


@pytest.mark.parametrize("name", ["429"])
def test_a_passing_fault_is_ridden_out_and_recorded(tmp_path: Path, name: str) -> None:
    fault, word = FAULTS[name]
    found = one(tmp_path, [shell(SOLVE, fault={**fault, "times": 2}), said()])
    assert outcome(found) is Outcome.PASSED
    assert found.attempt.spent and found.attempt.spent.retries == 2
    (first, _) = read_calls(found.folder / JOURNAL).calls
    assert [retry.fault for retry in first.retries] == [word, word]


@pytest.mark.parametrize("name", FAULTS)
def test_a_lasting_fault_is_ours_and_not_the_agents(tmp_path: Path, name: str) -> None:
    fault, word = FAULTS[name]
    slow = {**fault, "retry_after": 10_000} if "status" in fault else fault  # longer than is waited for
    found = one(tmp_path, [shell("ls"), said(fault={**slow, "times": LASTING})], {"timeout": "8"})
    assert outcome(found) is Outcome.INFRA_FAULT
    assert (found.verdict.process, found.verdict.result) == (None, None)
    assert word in found.verdict.comments[0]
    assert found.attempt.spent and found.attempt.spent.outage == word
    assert found.attempt.spent == journal_spent(found.folder)


def test_silence_until_the_time_is_over_is_ours(tmp_path: Path) -> None:
    found = one(tmp_path, [shell("ls"), said(fault={"silence": 600, "times": LASTING})], {"timeout": "3"})
    assert outcome(found) is Outcome.INFRA_FAULT
    assert "silence" in found.verdict.comments[0]


def test_an_agent_that_dawdles_is_timed_out_though_its_last_call_never_ended(tmp_path: Path) -> None:
    found = one(tmp_path, [shell("sleep 2.6"), said(fault={"silence": 600})], {"timeout": "3.5"})
    assert outcome(found) is Outcome.TIMED_OUT


HANGS_UP = """\
import json, os, socket, time, urllib.parse
url = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"] + "/chat/completions")
body = json.dumps({"model": "any", "messages": [{"role": "user", "content": "Count to a million."}]})
head = f"POST {url.path} HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer {os.environ['OPENAI_API_KEY']}\\r\\n"
with socket.create_connection((url.hostname, url.port)) as asking:
    asking.sendall(f"{head}Content-Length: {len(body)}\\r\\n\\r\\n{body}".encode())
    time.sleep(0.3)
time.sleep(60)
"""


def test_an_agent_that_asks_something_slow_and_hangs_up_is_timed_out(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "asks.py").write_text(HANGS_UP)
    agent = {"kind": "command", "command": "python {agent}/asks.py", "folder": str(tmp_path / "agent")}
    found = one(tmp_path, [said(fault={"silence": 600, "times": LASTING})], {"timeout": "4"}, agent=agent)
    assert outcome(found) is Outcome.TIMED_OUT, found.verdict.comments
    (call,) = read_calls(found.folder / JOURNAL).calls
    assert call.fault == "closed" and call.seconds < 2  # half of the time: what the agent may wait for


def test_an_agent_that_asks_nonsense_is_at_fault_itself(tmp_path: Path) -> None:
    """The script is at its end: a request it has no turn for is answered 400, as a vendor answers a bad one."""
    found = one(tmp_path, [shell("ls")])
    assert outcome(found) is Outcome.NO_OUTPUT
    assert found.attempt.spent and found.attempt.spent.faults == {"rejected": 1}


def test_an_outage_is_tried_again_as_a_new_attempt_that_names_the_old(tmp_path: Path) -> None:
    turns = [said(fault={"status": 500, "retry_after": 10_000, "times": LASTING})]
    found = make(tmp_path, turns, retries=2)
    assert [outcome(each) for each in found] == [Outcome.INFRA_FAULT] * 3
    assert [each.attempt.retry_of for each in found] == [None, found[0].attempt.id, found[1].attempt.id]


def test_an_agents_own_failure_is_never_tried_again(tmp_path: Path) -> None:
    assert len(make(tmp_path, [said()], retries=5)) == 1


SECRET = "sk-real-0123456789abcdefghij"


@contextmanager
def a_server(turns: list[dict[str, Any]], **more: Any) -> Iterator[str]:
    """A stand-in for a vendor, which answers nobody without the real key."""
    with FakeProvider(Dialogue.model_validate({"turn": turns}), **more) as server:
        yield server.origin


def everything_below(folder: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_real_key_is_nowhere_in_a_run_folder_whatever_goes_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENDOR_KEY", SECRET)
    leak = {"status": 401, "body": json.dumps({"error": {"message": f"Incorrect API key provided: {SECRET}"}})}
    look = "env; cat /proc/*/environ | tr '\\0' '\\n'; cat /workspace/* 2>/dev/null; ls -R /run"
    for number, turns in enumerate(([shell(look), shell(SOLVE), said()], [said(fault={**leak, "times": LASTING})])):
        place = tmp_path / str(number)
        place.mkdir()
        with a_server(turns) as origin:
            upstreams = f'[upstream.vendor]\nbase_url = "{origin}/v1"\nkey_env = "VENDOR_KEY"\n'
            found = one(place, [], upstreams=upstreams, models=["vendor/large"])
        assert outcome(found) is (Outcome.INFRA_FAULT if number else Outcome.PASSED), found.verdict.comments
        assert SECRET.encode() not in everything_below(place / "runs")
        assert (found.folder / JOURNAL).stat().st_size > 0


def test_who_asks_what_moderation_refuses_is_not_excused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VENDOR_KEY", SECRET)
    flagged = {"status": 403, "body": '{"error": {"message": "Your input was flagged.", "code": 403}}'}
    for times, wanted in ((1, Outcome.NO_OUTPUT), (LASTING, Outcome.INFRA_FAULT)):
        place = tmp_path / wanted.value
        place.mkdir()
        with a_server([shell("ls"), said(fault={**flagged, "times": times}), said()]) as origin:
            upstreams = f'[upstream.vendor]\nbase_url = "{origin}/v1"\nkey_env = "VENDOR_KEY"\n'
            found = one(place, [], upstreams=upstreams, models=["vendor/large"])
        assert outcome(found) is wanted, found.verdict.comments


CHOOSES = """\
import json, os, sys, urllib.request
with open(os.environ["REPOASSAY_WORKSPACE"] + "/instruction.md") as stream:
    easy = WORD in stream.read()
path = "/chat/completions" if easy else "/responses"
body = {"model": "any", "input": "Hi", "messages": [{"role": "user", "content": "Hi"}]}
head = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + path, json.dumps(body).encode(), head))
"""


@pytest.mark.parametrize(("word", "wanted"), [("sums.total", Outcome.NO_OUTPUT), ("no word", Outcome.INFRA_FAULT)])
def test_who_asks_in_a_dialect_that_nobody_serves_chooses_no_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, wanted: Outcome
) -> None:
    """It is excused as long as it was never answered, and no longer."""
    monkeypatch.setenv("VENDOR_KEY", SECRET)
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "asks.py").write_text(f"WORD = {word!r}\n{CHOOSES}")
    agent = {"kind": "command", "command": "python {agent}/asks.py", "folder": str(tmp_path / "agent")}
    with FakeProvider(Dialogue.model_validate({"turn": [said()], "end": "loop"})) as server:
        server.dialects = frozenset({"chat"})
        upstreams = f'[upstream.vendor]\nbase_url = "{server.origin}/v1"\nkey_env = "VENDOR_KEY"\n'
        upstreams += 'dialects = ["chat", "responses"]\n'
        suite = find_suite(ASSETS / "suites" / "mini", only=["sum-ledger", "fix-total"])
        found = make(tmp_path, [], agent=agent, upstreams=upstreams, models=["vendor/large"], suite=suite)
    assert [(each.attempt.task, outcome(each)) for each in found] == [
        ("fix-total", wanted), ("sum-ledger", wanted),
    ]  # fmt: skip


def test_a_missing_key_is_said_before_anything_starts(tmp_path: Path) -> None:
    run, suite = plan_run(tmp_path, [], upstreams='[upstream.vendor]\nbase_url = "http://127.0.0.1:9/v1"\n'
                          'key_env = "NO_SUCH_KEY_SET"\n', models=["vendor/large"])  # fmt: skip
    with pytest.raises(BadInput, match="NO_SUCH_KEY_SET"):
        execute(run, suite, all_slots(run), Watching())


def test_an_upstream_nobody_listens_at_is_ours(tmp_path: Path) -> None:
    found = one(tmp_path, [], {"timeout": "3"}, upstreams='[upstream.gone]\nbase_url = "http://127.0.0.1:9/v1"\n',
                models=["gone/large"])  # fmt: skip
    assert outcome(found) is Outcome.INFRA_FAULT


def test_none_and_isolation_none_are_what_they_say(tmp_path: Path) -> None:
    run, suite = plan_run(tmp_path, [said()], isolation="none")
    with pytest.raises(NoIsolation, match="--network open"):
        execute(run, suite, all_slots(run), Watching())


def test_without_isolation_an_attempt_still_goes_through_the_gateway(tmp_path: Path) -> None:
    found = one(tmp_path, [shell("ls"), said()], isolation="none", network=NetworkPolicy.OPEN)
    assert found.attempt.spent and found.attempt.spent.calls == 2, (found.folder / "log.txt").read_text()


def test_with_packages_the_proxy_journals_what_was_asked_and_refuses_the_rest(tmp_path: Path) -> None:
    ask = (
        "curl -s -m 5 -x $HTTP_PROXY http://169.254.169.254/; curl -s -m 5 http://example.invalid/; env | grep -i proxy"
    )
    found = one(tmp_path, [shell(ask), said()], network=NetworkPolicy.PACKAGES)
    assert found.attempt.spent and found.attempt.spent.calls == 2
    if (found.folder / "network.jsonl").exists():
        visits = [json.loads(line) for line in (found.folder / "network.jsonl").read_text().splitlines()]
        assert not any(visit["allowed"] for visit in visits)


def test_the_assets_agent_is_plain_python() -> None:
    subprocess.run(["python3", "-m", "py_compile", str(ASSETS / "agents" / "tiny.py")], check=True)
