"""Agents as a Python user writes them; what the tests of this folder share."""

from __future__ import annotations

from repoassay import Command, Limits, PreparedTask, WorkspaceSession
from repoassay.tasks.suite_location import locate

STARTER = locate("starter").path
SOLVE = (STARTER / "tasks/sensor-log-daily/solution/solve.py").read_text()
TASKS = ("edit-ledger-account-prefix", "sensor-log-daily")


def careful(workspace: WorkspaceSession, instruction: str) -> None:
    if "Expenses:Carpet" in instruction:
        place, wrong = "repo/src/pocketledger/reports.py", "posting.account.startswith(account)"
        right = "(posting.account + ':').startswith(account + ':')"
        workspace.write(place, workspace.read(place).replace(wrong, right))
    else:
        workspace.run(["/env/bin/python", "-"], input=SOLVE)


class Shell:
    """An agent with the one method that an agent needs."""

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        from repoassay.agents.protocol import in_workspace

        return in_workspace(layout, limits, ("/bin/sh", "-c", "echo station > output/daily.csv"))
