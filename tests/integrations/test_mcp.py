"""`repoassay mcp`, asked by the SDK's own client over standard input and output, as an editor does."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import repoassay
from command_line import repoassay as call
from repoassay.integrations.mcp_server import ToolDesk
from repoassay.records import RunFolder
from repoassay.tasks import find_suite
from repoassay.types import Attempt, Outcome, Plan, Submission, Verdict

if TYPE_CHECKING:
    from mcp import Client

TASK = "edit-ledger-monthly"
PLUG_IN = ("Model Context Protocol: `repoassay mcp`", "mcp")
FOLDER = find_suite("starter").tasks[0].path.parent / TASK
SOLUTION = (FOLDER / "solution" / "changes.diff").read_text()
TESTS = find_suite("starter", only=[TASK]).tasks[0].task.grading.tests
HIDDEN = [name.partition("::")[2] for name in TESTS.fail_to_pass] if TESTS else []


def ask(folder: Path, script: Callable[[Client], Awaitable[Any]], *options: str) -> Any:
    """What a script of calls comes to, with a server of its own."""
    from mcp import Client, StdioServerParameters, stdio_client

    async def conversation() -> Any:
        arguments = ["-m", "repoassay", "mcp", *options]
        server = StdioServerParameters(command=sys.executable, args=arguments, cwd=str(folder))
        async with Client(stdio_client(server)) as client:
            return await script(client)

    return asyncio.run(asyncio.wait_for(conversation(), 250))


async def answer(client: Client, tool: str, **arguments: Any) -> Any:
    done = await client.call_tool(tool, arguments)
    text = "".join(part.text for part in done.content if part.type == "text")
    assert not done.is_error, text
    assert done.structured_content == json.loads(text)
    return done.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    done = await client.call_tool(tool, arguments)
    text = "".join(part.text for part in done.content if part.type == "text")
    assert done.is_error and text.startswith(f"Error executing tool {tool}: ")  # the SDK's own words before ours
    return text.partition(": ")[2]


@pytest.mark.long
def test_an_editor_lists_reads_submits_and_is_told_no_hidden_test(tmp_path: Path) -> None:
    async def script(client: Client) -> list[Any]:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"list_tasks", "show_task", "submit_patch"}
        assert all(tool.description for tool in tools.values())
        told = [await answer(client, "list_tasks"), await answer(client, "show_task", task=TASK)]
        told.append(await answer(client, "submit_patch", task=TASK, patch=SOLUTION))
        told.append(await answer(client, "submit_patch", task=TASK, patch=SOLUTION.replace("month", "mnth")))
        told.append(await answer(client, "submit_patch", task=TASK, patch="no diff"))
        told.append(await refusal(client, "show_task", task="edit-ledger-montly"))
        told.append(await refusal(client, "show_task", task="../../../etc"))
        told.append(await refusal(client, "submit_patch", task="sensor-log-daily", patch=SOLUTION))
        told.append(await refusal(client, "submit_patch", task=TASK, patch=SOLUTION))
        return told

    listed, shown, passed, failed, broken, near, outside, files, spent = ask(
        tmp_path, script, "--suite", "starter", "--most-patches", "3"
    )
    assert TASK in {row["id"] for row in listed["tasks"]} and listed["next"] is None
    assert shown["instruction"].strip() == (FOLDER / "instruction.md").read_text().strip() and shown["takes_patch"]
    assert (passed["outcome"], passed["word"]) == ("passed", "PASS")
    assert failed["outcome"] in ("failed", "patch_failed") and broken["outcome"] == "patch_failed"
    assert near == "There is no task 'edit-ledger-montly'. Did you mean edit-ledger-monthly?"
    assert outside.startswith("There is no task '../../../etc'.") and "asks for files" in files
    assert "Start it again" in spent
    everything = json.dumps([listed, shown, passed, failed, broken, near, outside, files, spent])
    assert HIDDEN and not [name for name in HIDDEN if name in everything]
    assert str(FOLDER.parent) not in everything and "changes.diff" not in everything


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcp")
    repoassay.evaluate("starter", agent=["reference", "nothing"], tasks="sensor-log-daily", out=folder / "runs")
    return folder


@pytest.mark.long
def test_an_editor_reads_runs_and_verdicts(runs: Path) -> None:
    async def script(client: Client) -> list[Any]:
        assert {tool.name for tool in (await client.list_tools()).tools} == {"list_runs", "show_run", "show_verdict"}
        (row,) = (await answer(client, "list_runs"))["runs"]
        shown = await answer(client, "show_run", run=row["id"])
        verdicts = [
            await answer(client, "show_verdict", run=row["id"], attempt=each["id"]) for each in shown["attempts"]
        ]
        outside = [await refusal(client, "show_run", run=name) for name in ("..", "/", str(runs), "runs/../..")]
        return [row, shown, verdicts, outside, await refusal(client, "show_verdict", run=row["id"], attempt="../x")]

    row, shown, verdicts, outside, nobody = ask(runs, script, "--runs", "runs")
    assert (row["state"], row["finished"], row["planned"]) == ("finished", 2, 2)
    rates = {agent["name"]: agent["tpr"]["all"]["value"] for agent in shown["agents"]}
    assert rates == {"reference": 1.0, "nothing": 0.0}
    assert {each["agent"]: each["outcome"] for each in verdicts} == {"reference": "passed", "nothing": "no_output"}
    assert all(each.startswith("There is no run ") for each in outside) and "no attempt" in nobody
    assert str(runs) not in json.dumps([row, shown, verdicts])


@pytest.mark.long
def test_a_server_that_reaches_nothing_is_refused(tmp_path: Path) -> None:
    done = call("mcp", cwd=tmp_path)
    assert done.returncode == 2 and "Neither a suite nor a folder of runs is named." in done.stderr
    assert "no folder" in call("mcp", "--runs", "nowhere", cwd=tmp_path).stderr


@pytest.mark.exhaustive
def test_counts_are_told_once(tmp_path: Path) -> None:
    wrong = "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"

    async def script(client: Client) -> Any:
        return await answer(client, "submit_patch", task=TASK, patch=wrong)

    told = ask(tmp_path, script, "--suite", "starter", "--feedback", "counts")
    assert told["outcome"] == "failed" and sum("tests passed." in each for each in told["comments"]) == 1


def test_what_is_amiss_with_this_machine_is_not_told(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    plan = Plan(id="R", created=now, suite="s", suite_version="1", suite_folder="/s", tasks=(), agents={}, isolation="")
    attempt = Attempt(
        id="A1", run="R", task="t", task_digest="d", agent="a", started=now, ended=now, submission=Submission()
    )
    said = "The sandbox could not be set up: /root/.cache/repoassay/mount/root/x is not a regular file."
    fault = Verdict(
        task="t", task_digest="d", outcome=Outcome.INFRA_FAULT, process=None, result=None, comments=(said,), grader="g",
        graded_at=now,
    )  # fmt: skip
    RunFolder.create(tmp_path / "runs/one", plan).record(attempt, fault)
    with ToolDesk([], tmp_path / "runs") as desk:
        (run,) = desk.list_runs()["runs"]
        told = desk.show_verdict(run["id"], "A1")
    assert told["outcome"] == "infra_fault" and "log of this server" in " ".join(told["comments"])
    assert "/root" not in json.dumps(told)
