"""Count the files of the package whose code runs for one verdict: each probe is a process of its own.

python scripts/house_probe.py submit|run|call    prints JSON: {"imported": [...], "ran": [...]}
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TASK = "edit-ledger-monthly"
MINI = ROOT / "tests" / "assets" / "suites" / "mini"
_TURNS = (
    {"kind": "settings", "end": "error"},
    {"kind": "turn", "calls": [{"tool": "shell", "command": "ls"}], "usage": {"input": 1, "output": 1}},
    {"kind": "turn", "text": "Done.", "usage": {"input": 1, "output": 1}},
)


def probe(kind: str) -> dict[str, list[str]]:
    """Start a probe; returns paths relative to the package, without those of the command line."""
    done = subprocess.run(
        [sys.executable, __file__, kind], capture_output=True, text=True, check=False, timeout=300, cwd=ROOT
    )
    if done.returncode:
        raise SystemExit(f"house_probe.py {kind}: {done.stderr.strip()[-2000:]}")
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def arguments(kind: str, folder: Path) -> list[str]:
    """The command line of a probe: a patch submitted, a reference run, or an attempt of two calls to a model."""
    if kind == "submit":
        from repoassay.tasks.suite import find_suite

        (task,) = find_suite("starter", only=[TASK]).tasks
        patch = (task.path / "solution" / "changes.diff").read_text()
        (folder / "patches.jsonl").write_text(json.dumps({"id": TASK, "patch": patch}) + "\n")
        return ["submit", "--suite", "starter", "--submissions", str(folder / "patches.jsonl"), "--no-cache"]
    if kind == "run":
        return ["run", "starter", "--task", TASK, "--agent", "reference", "--out", str(folder / "runs")]
    (folder / "dialogue.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in _TURNS))
    return [
        "run", str(MINI), "--task", "sum-ledger", "--out", str(folder / "runs"), "--yes",
        "--agent", "command", "--agent-command", "python {agent}/tiny.py", "--agent-dir",
        str(ROOT / "tests" / "assets" / "agents"), "--model", "scripted/any", "--dialogue",
        str(folder / "dialogue.jsonl"),
    ]  # fmt: skip


def watched(call: Callable[[], object]) -> set[str]:
    """Call something twice; return the files whose functions ran the second time, in any thread.

    By then everything is imported, so that what runs for an import alone does not count.
    """
    call()
    ran: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # neither a module nor a class body
            ran.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return ran


def main() -> None:
    """Run one probe in this process."""
    from click.testing import CliRunner

    import repoassay
    from repoassay.cli.main import cli

    package = Path(repoassay.__file__).parent
    with tempfile.TemporaryDirectory(prefix="repoassay-house-") as folder:
        words = arguments(sys.argv[1], Path(folder))

        def call() -> None:
            done = CliRunner().invoke(cli, words)
            if done.exit_code:
                raise SystemExit(f"{words}: {done.output} {done.exception!r}")

        ran = watched(call)
    imported = {str(module.__file__) for name, module in sys.modules.items() if name.startswith("repoassay.")}
    told = {
        name: sorted(str(Path(file).relative_to(package)) for file in files if file.startswith(str(package) + "/"))
        for name, files in (("imported", imported), ("ran", ran))
    }
    print(json.dumps({name: [file for file in files if not file.startswith("cli/")] for name, files in told.items()}))


if __name__ == "__main__":
    main()
