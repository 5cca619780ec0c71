"""A team's repository with a suite of one task, and a pull request of an agent: what CI systems are tried on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
STARTER = ROOT / "src" / "repoassay" / "benchmarks" / "starter" / "suite"
TASK = "edit-ledger-monthly"


@dataclass(frozen=True, slots=True)
class JudgedRepository:
    """The clone that a job works in, at the base commit, and the commits of two requests: one right, one wrong."""

    clone: Path
    base: str
    right: str
    wrong: str


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def make_repository(folder: Path) -> JudgedRepository:
    """The package that the task is about, the suite beside it, a baseline that does nothing, and two branches."""
    clone = folder / "clone"
    shutil.copytree(STARTER / "repositories" / "pocketledger", clone)
    for name in (f"tasks/{TASK}", "repositories/pocketledger"):
        shutil.copytree(STARTER / name, clone / "suites" / "ours" / name)
    shutil.copy(STARTER / "suite.toml", clone / "suites" / "ours")
    nothing = "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
    row = {"instance_id": TASK, "model_name_or_path": "before", "model_patch": nothing}
    (clone / "suites" / "baseline.jsonl").write_text(json.dumps(row) + "\n")
    git(clone, "init", "-q", "-b", "main")
    git(clone, "add", "-Af")
    git(clone, "commit", "-qm", "Base")
    base = git(clone, "rev-parse", "HEAD")
    git(clone, "checkout", "-qb", "right")
    git(clone, "apply", str(STARTER / "tasks" / TASK / "solution" / "changes.diff"))
    git(clone, "add", "-Af")
    git(clone, "commit", "-qm", "Right")
    right = git(clone, "rev-parse", "HEAD")
    git(clone, "checkout", "-qb", "wrong", "main")
    # What a request would do that wants to be believed: empty the hidden tests, and run on whoever reads it.
    shutil.rmtree(clone / "suites" / "ours" / "tasks" / TASK / "tests")
    (clone / "sitecustomize.py").write_text("raise SystemExit('run')\n")
    (clone / ".gitattributes").write_text("* diff=evil filter=evil\n")
    git(clone, "add", "-Af")
    git(clone, "commit", "-qm", "Wrong")
    wrong = git(clone, "rev-parse", "HEAD")
    git(clone, "checkout", "-q", "main")
    return JudgedRepository(clone, base, right, wrong)


@contextmanager
def serve_forge(account: dict[str, Any], kept: list[dict[str, Any]]) -> Iterator[str]:
    """A forge on loopback that keeps comments of one request; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self, body: object) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self.answer(account if self.path.endswith("/user") else kept)

        def keep(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
            number = self.path.rpartition("/")[2]
            if self.command == "POST":
                kept.append({"id": len(kept) + 1, "user": account, "author": account})
                number = str(len(kept))
            kept[int(number) - 1].update(sent, path=self.path, token=token)
            self.answer(kept[int(number) - 1])

        do_POST = do_PATCH = do_PUT = keep  # noqa: N815 - names that the server looks for

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def plain_environment() -> dict[str, str]:
    """The environment of the test without what a CI system that runs it has set."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI_", "JUDGE_"))}
