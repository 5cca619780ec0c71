"""The page of an attempt by each kind of agent: its commands, what they printed, its edits, tokens and anchors.

Records are of real runs where there are some (`tests/agents/recorded`); the others have the shape that the agent's own
sources write: SWE-agent 1.1, mini-swe-agent 1, and ACP as agents speak it that say little of their tools.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser import DESKTOP, PHONE, Opened
from repoassay import plugins
from repoassay.agents.transcripts import read_transcript
from repoassay.records import RunFolder
from repoassay.report import summarise
from repoassay.report.attempt_page import attempt_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

AGENTS = Path(__file__).parents[1] / "agents"
RECORDED = sorted(path.name for path in (AGENTS / "recorded").iterdir())
LOOK, SAW = "grep -n total a.py", "4:total = 1"


def swe_agent(folder: Path) -> Path:
    place = folder / "files" / "swe" / "t"
    place.mkdir(parents=True)
    edit = "str_replace_editor str_replace /repo/a.py"
    given = {"command": "str_replace", "path": "/repo/a.py", "old_str": "total = 1", "new_str": "total = 2"}
    call = {"id": "c", "type": "function", "function": {"name": "str_replace_editor", "arguments": json.dumps(given)}}
    (place / "t.traj").write_text(json.dumps({
        "trajectory": [
            {"action": LOOK, "observation": SAW, "response": "I look.", "thought": "I look."},
            {"action": edit, "observation": "edited", "response": "I edit.", "thought": "I edit."},
        ],
        "history": [{"role": "user", "content": "Fix it."},
                    {"role": "assistant", "content": "I edit.", "action": edit, "tool_calls": [call]}],
        "info": {"exit_status": "submitted", "swe_agent_version": "1.1.0"},
    }))  # fmt: skip
    return folder


def mini_of_version_1(folder: Path) -> Path:
    (folder / "files").mkdir()
    write = "cat > a.py <<'END'\ntotal = 2\nEND"
    (folder / "files" / "t.traj.json").write_text(json.dumps({"trajectory_format": "mini-swe-agent-1", "messages": [
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": f"THOUGHT: I look.\n\n```bash\n{LOOK}\n```"},
        {"role": "user", "content": f"<returncode>0</returncode>\n<output>\n{SAW}\n</output>"},
        {"role": "assistant", "content": f"THOUGHT: I edit.\n\n```bash\n{write}\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\n</output>"},
    ]}))  # fmt: skip
    return folder


def terse_acp(folder: Path) -> Path:
    """Without kinds and inputs, as Goose and Copilot may speak: titles, diffs of whole files, and terminals."""

    def told(**update: Any) -> dict[str, Any]:
        return {"at": 1, "from": "agent", "message": {"method": "session/update", "params": {"update": update}}}

    text = "".join(f"line {number}\n" for number in range(2_000))
    diffs = [
        {"type": "diff", "path": "/repo/a.py", "oldText": f"{text}total = 1\n", "newText": f"{text}total = 2\n"},
        {"type": "diff", "path": "/repo/new.py", "oldText": None, "newText": "made = 1\n"},
    ]
    lines = [
        {"at": 1, "from": "client", "message": {"method": "session/prompt", "params": {
            "prompt": [{"type": "text", "text": "Fix it."}]}}},
        told(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "I look."}),
        told(sessionUpdate="tool_call", toolCallId="1", title="developer: shell", rawInput={"command": LOOK}),
        {"at": 1, "from": "terminal", "message": {"terminalId": "t", "output": SAW}},
        told(sessionUpdate="tool_call_update", toolCallId="1", status="completed",
             content=[{"type": "terminal", "terminalId": "t"}]),
        told(sessionUpdate="tool_call", toolCallId="2", title="Edit a.py", kind="edit", content=diffs),
        told(sessionUpdate="tool_call_update", toolCallId="2", status="completed"),
    ]  # fmt: skip
    (folder / "files").mkdir()
    (folder / "files" / "acp.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def trae(folder: Path) -> Path:
    (folder / "files").mkdir()
    call = {"call_id": "1", "name": "bash", "arguments": {"command": LOOK}}
    (folder / "files" / "trajectory.json").write_text(json.dumps({
        "task": "Fix it.", "model": "m", "success": True, "agent_steps": [{
            "llm_response": {"content": "I look.", "usage": {"input_tokens": 9, "output_tokens": 2}},
            "tool_calls": [call], "tool_results": [{"call_id": "1", "success": True, "result": SAW}],
        }]}))  # fmt: skip
    return folder


def printed(folder: Path) -> Path:
    (folder / "stdout.txt").write_text(f"I look.\n$ {LOOK}\n{SAW}\n")
    return folder


SHAPED: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "swe-agent": ("swe-agent", swe_agent), "mini-swe-agent of version 1": ("mini-swe-agent", mini_of_version_1),
    "terse ACP": ("acp", terse_acp), "crush": ("printed", printed),
    "trae-agent": ("trae-agent", trae),
    "aider's commands": ("aider", lambda _: AGENTS / "aider_commands"),
}  # fmt: skip
EVERY = [*RECORDED, *SHAPED]


@pytest.fixture
def page(varied: RunFolder, tmp_path: Path) -> Callable[[str], str]:
    """The page of an attempt whose agent left the record of that name."""

    def make(name: str) -> str:
        place = tmp_path / "record"
        place.mkdir()
        parser, made = SHAPED.get(name, (name, lambda _: AGENTS / "recorded" / name))
        told = read_transcript(parser, made(place), agent=name, model="m")
        assert not told.problems
        (next(varied.finished()).folder / "trajectory.json").write_text(told.model_dump_json())
        return attempt_page(summarise(varied).rows[0], "../report.html")

    return make


def shown(text: str, kind: str) -> str:
    """All that stands in elements of a class, as text."""
    found = re.findall(rf'<pre class="{kind}[^"]*"[^>]*>(.*?)</pre>', text, re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", "\n".join(found)))


def test_each_reader_has_a_record_here() -> None:
    readers = {SHAPED[name][0] if name in SHAPED else name for name in EVERY}
    # ATIF is no agent's own record; what reads it back is tested where it is written.
    assert readers == set(plugins.bundled_plugins("repoassay.readers")) - {"atif"}


@pytest.mark.parametrize("name", RECORDED)
def test_a_real_record_has_its_commands_outputs_and_tokens_on_the_page(page: Callable[[str], str], name: str) -> None:
    text = page(name)
    if name == "aider":  # it edits without looking
        assert "startswith" in shown(text, "diff") and "Applied edit to" in shown(text, "out")
    else:
        assert "grep -n startswith" in shown(text, "command") and "posting.account" in shown(text, "out")
    assert 'id="step-1"' in text and 'href="#step-2"' in text
    if name not in ("kimi", "acp"):  # they tell no tokens by step
        assert re.search(r'<span class="spent"><span title="as the agent tells it">[\d,]+ in, [\d,]+ out', text)


@pytest.mark.parametrize("name", ["swe-agent", "mini-swe-agent of version 1", "terse ACP"])
def test_a_record_of_known_shape_has_its_commands_outputs_and_edits_on_the_page(
    page: Callable[[str], str], name: str
) -> None:
    text = page(name)
    assert LOOK in shown(text, "command") and SAW in shown(text, "out")
    assert "I look." in text and "```" not in text
    edited = shown(text, "diff") + shown(text, "command")
    assert "total = 2" in edited and edited.count("line 1") < 20
    assert ("-total = 1" in edited and "+total = 2" in edited) == (name != "mini-swe-agent of version 1")


def test_what_was_printed_alone_stands_as_one_step(page: Callable[[str], str]) -> None:
    assert f"$ {LOOK}" in html.unescape(page("crush"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", EVERY)
def test_it_is_searched_and_read_by_everybody(
    browser: Browser, page: Callable[[str], str], name: str, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(name))
    for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
        opened = Opened(browser, path, size, scheme)
        assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        opened.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert opened.serious_faults() == [] and opened.complaints == []
        opened.close()
