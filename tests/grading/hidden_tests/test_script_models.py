"""Scripts of tests that ask a model: by the vendors' own clients, through the model proxy, with no key inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fake_provider import FakeProvider
from repoassay.engine.grading_context import GradingContext
from repoassay.interchange.state_proof import prove_state_task
from repoassay.model_proxy.dialogue import Dialogue
from repoassay.tasks import TaskFolder, read_task
from repoassay.types import Outcome, Verdict
from state_tasks import DOCUMENT, attempt, bench, write_task

__all__ = ["bench"]

REAL_KEY = "sk-real-0123456789abcdef"
NAMED = DOCUMENT[DOCUMENT.index("fail_to_pass") : DOCUMENT.index("seconds = 20")]
ASKING = DOCUMENT.replace(
    NAMED,
    'fail_to_pass = ["test.sh::__script__"]\nrunner = "script"\n'
    'keys = { OPENAI_API_KEY = "openai", ANTHROPIC_API_KEY = "anthropic" }\noptional_keys = ["ANTHROPIC_API_KEY"]\n',
).replace('requirements = "environment/requirements.txt"', 'resolve = "environment/requirements.txt"')
SCRIPT = "#!/bin/bash\npython3 /tests/judge.py\n"
BY_ADDRESS = """\
import json, os, urllib.request
text = open("/workspace/letter.txt").read() if os.path.exists("/workspace/letter.txt") else ""
reward = 0.0
if text:
    asked = {"model": "gpt-of-the-tests", "messages": [{"role": "user", "content": "Is it kind? " + text}]}
    request = urllib.request.Request(
        "https://api.openai.com/v1/chat/completions",
        json.dumps(asked).encode(),
        {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"},
    )
    try:
        said = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
        reward = float("yes" in said)
    except OSError as error:
        print(error)
os.makedirs("/logs/verifier", exist_ok=True)
open("/logs/verifier/reward.txt", "w").write(str(reward))
print("KEYS", sorted(value for name, value in os.environ.items() if "KEY" in name))
"""
BY_CLIENTS = """\
import os
import anthropic, openai
text = open("/workspace/letter.txt").read() if os.path.exists("/workspace/letter.txt") else ""
reward = 0.0
if text:
    asked = [{"role": "user", "content": "Is it kind? " + text}]
    one = openai.OpenAI(max_retries=0).chat.completions.create(model="gpt-of-the-tests", messages=asked)
    two = anthropic.Anthropic(max_retries=0).messages.create(model="claude-of-the-tests", max_tokens=9, messages=asked)
    reward = float("yes" in one.choices[0].message.content and "yes" in two.content[0].text)
os.makedirs("/logs/verifier", exist_ok=True)
open("/logs/verifier/reward.txt", "w").write(str(reward))
"""
KIND = "echo Thank you > letter.txt"
YES = {"text": "yes", "usage": {"input": 20, "output": 1}}


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., FakeProvider]]:
    """Opens a provider that says what it is told to, in the place of the vendors'."""
    opened: list[FakeProvider] = []

    def start(*turns: dict[str, object], keys: tuple[str, ...] = ("OPENAI",)) -> FakeProvider:
        made = FakeProvider(Dialogue.model_validate({"turn": list(turns)}))
        opened.append(made.__enter__())
        for name in ("OPENAI", "ANTHROPIC"):
            monkeypatch.delenv(f"{name}_API_KEY", raising=False)
        for name in keys:
            monkeypatch.setenv(f"{name}_API_KEY", REAL_KEY)
            monkeypatch.setenv(f"{name}_BASE_URL", made.origin + ("/v1" if name == "OPENAI" else ""))
        return made

    yield start
    for each in opened:
        each.__exit__(None, None, None)


def task(folder: Path, judge: str, packages: str = "") -> TaskFolder:
    place = write_task(folder, task=ASKING, solve=KIND, requirements=packages)
    (place / "tests/test_parcels.py").unlink()
    (place / "tests/test.sh").write_text(SCRIPT)
    (place / "tests/judge.py").write_text(judge)
    return read_task(place)


def tried(folder: TaskFolder, bench: GradingContext, line: str = KIND) -> Verdict:
    return attempt(folder, bench, folder.path.parent / "attempt", line)


def test_an_address_of_a_vendor_leads_to_the_model_proxy_and_no_key_enters(
    bench: GradingContext, vendor: Callable[..., FakeProvider], tmp_path: Path
) -> None:
    provider = vendor(*[YES] * 9)
    folder = task(tmp_path, BY_ADDRESS)
    assert prove_state_task(folder.path, bench).why == ""
    verdict = tried(read_task(folder.path), bench)
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert verdict.assurance is not None and verdict.assurance.grade == "plain"
    assert verdict.judging is not None and verdict.judging.models == ("gpt-of-the-tests",)
    assert (verdict.judging.calls, verdict.judging.usage.input) == (1, 20)
    assert "another run may decide otherwise" in " ".join(verdict.comments)
    assert REAL_KEY not in verdict.model_dump_json() and "sk-ra-" in verdict.tests[0].message
    assert {each["key"] for each in provider.seen} == {REAL_KEY}


@pytest.mark.long
def test_the_vendors_own_clients_find_their_models(
    bench: GradingContext, vendor: Callable[..., FakeProvider], tmp_path: Path
) -> None:
    vendor(*[YES] * 12, keys=("OPENAI", "ANTHROPIC"))
    folder = task(tmp_path, BY_CLIENTS, "openai==2.14.0\nanthropic==0.75.0\n")
    proof = prove_state_task(folder.path, bench)
    assert (proof.state, proof.why) == ("proven", "")
    verdict = tried(read_task(folder.path), bench)
    assert verdict.judging is not None and verdict.judging.models == ("gpt-of-the-tests", "claude-of-the-tests")
    assert verdict.outcome is Outcome.PASSED, verdict.comments


def test_without_the_key_nobody_is_set_to_work_or_blamed(
    bench: GradingContext, vendor: Callable[..., FakeProvider], tmp_path: Path
) -> None:
    vendor(YES, keys=("ANTHROPIC",))
    folder = task(tmp_path, BY_ADDRESS)
    verdict = tried(folder, bench)
    assert verdict.outcome is Outcome.NOT_GRADABLE and verdict.result is None
    assert "Set OPENAI_API_KEY" in verdict.comments[0] and not (tmp_path / "parcel-sums/attempt").exists()
    assert prove_state_task(folder.path, bench).state == "fault"


def test_a_model_that_gives_no_answer_fails_nobody(
    bench: GradingContext, vendor: Callable[..., FakeProvider], tmp_path: Path
) -> None:
    vendor(*[YES] * 3)
    folder = task(tmp_path, BY_ADDRESS)
    assert prove_state_task(folder.path, bench).state == "proven"
    vendor({**YES, "fault": {"status": 401, "times": 9}})
    verdict = tried(read_task(folder.path), bench)
    assert verdict.outcome is Outcome.INFRA_FAULT, verdict.comments
    assert "could not judge" in " ".join(verdict.comments)


def test_a_model_that_says_no_fails_a_submission(
    bench: GradingContext, vendor: Callable[..., FakeProvider], tmp_path: Path
) -> None:
    vendor(*[YES] * 3)
    folder = task(tmp_path, BY_ADDRESS)
    assert prove_state_task(folder.path, bench).state == "proven"
    vendor(*[{"text": "no"}] * 3)
    verdict = tried(read_task(folder.path), bench, "echo Go away > letter.txt")
    assert verdict.outcome is Outcome.FAILED and verdict.judging is not None and verdict.judging.calls == 1


RUNNING = BY_ADDRESS.replace(
    "import json, os",
    "import json, os, subprocess, sys\nsubprocess.run([sys.executable, 'own.py'], check=False)\nimport os",
).replace("import os, urllib", "import urllib")
OWN = """\
import os, urllib.request
head = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
for _ in range(%d):
    asked = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", b'%s', head)
    try:
        urllib.request.urlopen(asked).read()
    except OSError as error:
        print(error)
"""
WELL = '{"model": "m", "messages": [{"role": "user", "content": "x"}]}'


@pytest.mark.parametrize(("times", "body"), [(1, "{}"), (301, WELL)])
@pytest.mark.long
def test_a_submission_that_asks_amiss_itself_has_failed(
    bench: GradingContext, vendor: Callable[..., FakeProvider], tmp_path: Path, times: int, body: str
) -> None:
    vendor(*[YES] * (times + 9))
    folder = task(tmp_path, RUNNING)
    assert prove_state_task(folder.path, bench).state == "proven"
    verdict = tried(read_task(folder.path), bench, f"cat > own.py <<'END'\n{OWN % (times, body)}END\n")
    assert verdict.outcome is Outcome.FAILED, verdict.comments


@pytest.mark.long
@pytest.mark.parametrize("status", [400, 401])
def test_a_model_that_says_nothing_for_a_moment_fails_nobody(
    bench: GradingContext, vendor: Callable[..., FakeProvider], tmp_path: Path, status: int
) -> None:
    """The solution shows that it answers again, and so the submission is judged again."""
    vendor(*[YES] * 3)
    folder = task(tmp_path, BY_ADDRESS)
    assert prove_state_task(folder.path, bench).state == "proven"
    provider = vendor({**YES, "fault": {"status": status, "times": 1}}, *[YES] * 9)
    verdict = tried(read_task(folder.path), bench, "echo Thank you all > letter.txt")
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert len(provider.seen) >= 2
