"""The client of an agent that speaks the Agent Client Protocol, version 1: runs in the sandbox, beside the agent.

`python acp_client.py JOURNAL COMMAND...` with the prompt on standard input: starts the command, opens one session in
the current folder, sends the prompt, serves files and terminals, grants what it is asked for (nobody else is there, and
the sandbox is the limit), and ends when the turn does. Every message goes to JOURNAL, one JSON object a line.

The standard library of any Python 3 is all it needs: it runs with the task's own. The published package would have to
be brought into every task's environment.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    _Object = dict[str, Any]

_MOST = 8 * 2**20
_GRACE = 5.0
_SILENCE = 90.0
"""Seconds in which an agent opens its session, or never will."""
_ALLOW = ("allow_always", "allow_once")


class Terminal:
    """A command the agent asked for: its output so far and how it ended."""

    def __init__(self, wanted: _Object) -> None:
        env = dict(os.environ)
        env.update({pair["name"]: pair["value"] for pair in wanted.get("env") or []})
        argv = [wanted["command"], *(wanted.get("args") or [])]
        # Agents differ: some hand over a line for the shell, some a program with arguments.
        shell = not wanted.get("args")
        self.limit = min(wanted.get("outputByteLimit") or _MOST, _MOST)
        self.truncated = False
        self.output = b""
        self.process = subprocess.Popen(
            argv[0] if shell else argv, shell=shell, cwd=wanted.get("cwd") or None, env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.printed = self.process.stdout.fileno()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        while True:
            part = os.read(self.printed, 65536)
            if not part:
                return
            self.output += part
            if len(self.output) > self.limit:
                self.truncated = True
                self.output = self.output[-self.limit :]

    def wait(self) -> _Object | None:
        """Wait for its end and return it as the protocol has it."""
        self.process.wait()
        self.reader.join(_GRACE)
        return self.ended()

    def ended(self) -> _Object | None:
        """How it ended; None while it runs."""
        code = self.process.poll()
        if code is None:
            return None
        return {"exitCode": code if code >= 0 else None, "signal": str(-code) if code < 0 else None}

    def text(self) -> str:
        """Its output, which may begin within a character."""
        return self.output.decode("utf-8", "replace")


class Client:
    """One connection to one agent."""

    def __init__(self, argv: list[str], journal: str) -> None:
        self.journal = Path(journal)
        self.lock = threading.Lock()
        self.sent = 0
        self.terminals: dict[str, Terminal] = {}
        self.agent = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.agent.stdin is not None and self.agent.stdout is not None
        self.to_agent, self.from_agent = self.agent.stdin, self.agent.stdout

    def note(self, sender: str, message: _Object) -> None:
        """Add a line to the journal."""
        with self.journal.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"at": time.time(), "from": sender, "message": message}) + "\n")

    def send(self, message: _Object) -> None:
        """Send a message."""
        message = {"jsonrpc": "2.0", **message}
        with self.lock:
            self.note("client", message)
            with contextlib.suppress(OSError):  # it is gone, which reading tells
                self.to_agent.write((json.dumps(message) + "\n").encode())
                self.to_agent.flush()

    def ask(self, method: str, params: _Object) -> _Object | None:
        """Ask the agent, serving it until it answers; returns its message, None when it is gone."""
        self.sent += 1
        number = self.sent
        self.send({"id": number, "method": method, "params": params})
        for line in self.from_agent:
            try:
                message = json.loads(line.decode("utf-8", "replace"))
            except ValueError:
                sys.stdout.write(line.decode("utf-8", "replace"))  # some print other things first
                continue
            if not isinstance(message, dict):
                continue
            with self.lock:
                self.note("agent", message)
            if "method" in message:
                if "id" in message:
                    threading.Thread(target=self.serve, args=(message,), daemon=True).start()
                else:
                    show(message)
            elif message.get("id") == number:
                return message
        return None

    def serve(self, message: _Object) -> None:
        """Answer one request of the agent."""
        try:
            answer = {"result": self.answer(message["method"], message.get("params") or {})}
        except LookupError as error:
            answer = {"error": {"code": -32602, "message": f"unknown or incomplete: {error}"}}
        except (OSError, ValueError, TypeError) as error:
            answer = {"error": {"code": -32603, "message": str(error)}}
        except NotImplementedError:
            answer = {"error": {"code": -32601, "message": f"This client has no {message['method']}."}}
        self.send({"id": message["id"], **answer})

    def answer(self, method: str, params: _Object) -> _Object | None:
        """The result of one request."""
        if method == "session/request_permission":
            return {"outcome": grant_permission(params.get("options") or [])}
        if method == "fs/read_text_file":
            return {"content": read(params)}
        if method == "fs/write_text_file":
            place = Path(params["path"])
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(params["content"].encode("utf-8", "surrogateescape"))
            return {}
        if not method.startswith("terminal/"):
            raise NotImplementedError
        return self.terminal(method.partition("/")[2], params)

    def terminal(self, verb: str, params: _Object) -> _Object | None:
        """The result of one request about a terminal."""
        if verb == "create":
            name = f"terminal-{len(self.terminals) + 1}"
            self.terminals[name] = Terminal(params)
            return {"terminalId": name}
        terminal = self.terminals[params["terminalId"]]
        if verb == "output":
            ended = terminal.ended()
            result = {"output": terminal.text(), "truncated": terminal.truncated}
            return dict(result, exitStatus=ended) if ended else result
        if verb == "wait_for_exit":
            return terminal.wait()
        if verb not in ("kill", "release"):
            raise NotImplementedError
        if terminal.ended() is None:
            terminal.process.kill()
        ended = terminal.wait()
        with self.lock:
            self.note("terminal", {"terminalId": params["terminalId"], "output": terminal.text(), "ended": ended})
        return {}

    def end(self) -> int:
        """End the agent; returns its exit code."""
        with contextlib.suppress(OSError):
            self.to_agent.close()
        try:
            return self.agent.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.agent.terminate()
            return 0


def grant_permission(options: list[_Object]) -> _Object:
    """Grant what is asked for: for good where that is offered, else once."""
    for kind in _ALLOW:
        for option in options:
            if option.get("kind") == kind:
                return {"outcome": "selected", "optionId": option["optionId"]}
    return {"outcome": "cancelled"}


def read(params: _Object) -> str:
    """The lines of a file that are asked for, counted from 1."""
    with Path(params["path"]).open("rb") as stream:
        text = stream.read(_MOST).decode("utf-8", "replace")
    if params.get("line") is None and params.get("limit") is None:
        return text
    first = max((params.get("line") or 1) - 1, 0)
    lines = text.splitlines(True)[first:]
    return "".join(lines if params.get("limit") is None else lines[: params["limit"]])


def show(message: _Object) -> None:
    """Print what the agent says, for the attempt's log."""
    update = (message.get("params") or {}).get("update") or {}
    kind, content = update.get("sessionUpdate"), update.get("content")
    if kind == "agent_message_chunk" and isinstance(content, dict):
        sys.stdout.write(str(content.get("text") or ""))
    elif kind == "tool_call":
        sys.stdout.write(f"\n$ {update.get('title') or update.get('kind') or 'tool'}\n")
    sys.stdout.flush()


def open_session(client: Client) -> tuple[str | None, _Object | None]:
    """Open a session, with whatever way of signing in works; returns its id, or the error."""
    hello = client.ask("initialize", {
        "protocolVersion": 1,
        "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True},
        "clientInfo": {"name": "repoassay", "title": "RepoAssay", "version": "1"},
    })  # fmt: skip
    if hello is None or "error" in hello:
        return None, hello
    wanted = {"cwd": str(Path.cwd()), "mcpServers": []}
    found = client.ask("session/new", wanted)
    for method in ((hello.get("result") or {}).get("authMethods")) or []:
        if found is None or "error" not in found:
            break
        if "error" not in (client.ask("authenticate", {"methodId": method.get("id")}) or {"error": 1}):
            found = client.ask("session/new", wanted)
    if found is None or "error" in found:
        return None, found
    return found["result"]["sessionId"], None


def main() -> int:
    """Run one turn; leaves with 0 when the agent ended it."""
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        client = Client(sys.argv[2:], sys.argv[1])
    except OSError as error:
        # A folder of PATH that may not be searched is no program that may not be run.
        absent = isinstance(error, FileNotFoundError) or (
            "/" not in sys.argv[2] and not shutil.which(sys.argv[2], os.F_OK)
        )
        sys.stderr.write(f"{sys.argv[2]}: {os.strerror(errno.ENOENT) if absent else error.strerror}\n")
        return 127 if absent else 126
    silent = threading.Timer(_SILENCE, client.agent.kill)
    silent.daemon = True
    silent.start()
    try:
        session, failed = open_session(client)
    except (AttributeError, KeyError, TypeError):  # an answer that is not of the protocol
        session, failed = None, None
    silent.cancel()
    done = None
    if session is not None:
        turn = {"sessionId": session, "prompt": [{"type": "text", "text": prompt}]}
        done = client.ask("session/prompt", turn)
        failed = done if done is not None and "error" in done else None
    if session is None:
        why = json.dumps(failed.get("error")) if failed else "it answered nothing of the Agent Client Protocol"
        sys.stderr.write(f"\nThe agent opened no session: {why}\n")
    elif failed is not None:
        sys.stderr.write(f"\nThe agent refused: {json.dumps(failed.get('error'))}\n")
    code = client.end()
    if done is None or failed is not None:
        return code or 1
    sys.stdout.write(f"\n{(done.get('result') or {}).get('stopReason')}\n")
    return 0


sys.exit(main())
