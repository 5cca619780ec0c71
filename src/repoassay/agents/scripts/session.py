"""Inside the sandbox: carry out what a Python function outside asks for, one request after the other.

Standard input says where to find the function and the secret that shows who asks. Frames both ways are a length (four
bytes, big-endian) and JSON; bytes travel as base64. Runs on every Python a task may have.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO, Any

LARGEST = 32 * 2**20
"""Bytes of a file that is read, and of a frame's content."""
MOST_OUTPUT = 2**20
"""Bytes of a command's output that are handed back of each stream."""
MOST_LOGGED = 4000


def main() -> int:
    """Serve until the function has ended; returns its exit code."""
    facts = json.load(sys.stdin)
    link = socket.create_connection(("127.0.0.1", facts["port"]))
    stream = link.makefile("rwb")
    send(stream, {"secret": facts["secret"]})
    while True:
        request = receive(stream)
        if request is None:
            return 1
        if request["do"] == "end":
            log(request["text"])
            return int(request["code"])
        try:
            reply = ACTIONS[request["do"]](request)
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            reply = {"error": type(error).__name__, "message": str(error)[:2000]}
        send(stream, reply)


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run a command; its output goes to files, so that nobody waits for what it leaves running."""
    argv = request["argv"]
    log("$ " + (argv[2] if request["shell"] else " ".join(map(shlex.quote, argv))))
    with tempfile.TemporaryFile() as typed, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        typed.write(base64.b64decode(request["input"]))
        typed.seek(0)
        env = dict(os.environ, **request["env"])
        child = subprocess.Popen(
            argv, cwd=place(request["cwd"]), env=env, stdin=typed, stdout=out, stderr=err, start_new_session=True
        )
        timed_out = False
        try:
            child.wait(request["timeout"])
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        stdout, stderr = bounded(out), bounded(err)
    for part in (stdout, stderr):
        log(part[:MOST_LOGGED].decode("utf-8", "replace"))
    return {"code": child.returncode, "timed_out": timed_out, "stdout": text(stdout), "stderr": text(stderr)}


def bounded(stream: IO[bytes]) -> bytes:
    """What a file holds; of too much, the beginning and the end."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    if size <= MOST_OUTPUT:
        return stream.read()
    first = stream.read(MOST_OUTPUT // 2)
    stream.seek(size - MOST_OUTPUT // 2)
    return first + f"\n[... {size - MOST_OUTPUT} bytes are left out ...]\n".encode() + stream.read(MOST_OUTPUT // 2)


def read(request: dict[str, Any]) -> dict[str, Any]:
    """Read a regular file."""
    path = place(request["path"])
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        facts = os.fstat(stream.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST:
            raise ValueError(f"{path} is not a file of at most {LARGEST} bytes")
        return {"data": text(stream.read(LARGEST))}


def write(request: dict[str, Any]) -> dict[str, Any]:
    """Write a file, and the folders above it."""
    path = place(request["path"])
    log(f"write {path}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(request["data"]))
    if request["executable"]:
        path.chmod(0o755)
    return {}


def complete(request: dict[str, Any]) -> dict[str, Any]:
    """Ask the attempt's model through the model proxy, the only way there is."""
    if "OPENAI_BASE_URL" not in os.environ:
        raise ValueError("this agent was given no model; name one, such as model='openai/gpt-5'")
    url = os.environ["OPENAI_BASE_URL"].rstrip("/") + "/chat/completions"
    body = dict(request["options"], model=os.environ["REPOASSAY_MODEL"], messages=request["messages"])
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    question = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - the model proxy
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(question) as answer:
            return {"reply": json.loads(answer.read(LARGEST).decode())}
    except urllib.error.HTTPError as error:
        with error:
            why = error.read(1000).decode("utf-8", "replace")
            raise OSError(f"the model answered {error.code}: {why}") from error


def place(path: str) -> Path:
    """Where a path is: relative ones, and those below /workspace, are the workspace's."""
    if path == "/workspace" or path.startswith("/workspace/"):
        path = "." + path[len("/workspace") :]
    return Path(os.environ["REPOASSAY_WORKSPACE"], path)


def log(line: str) -> None:
    """Add to what the agent printed, which becomes the attempt's log."""
    if line:
        sys.stdout.buffer.write(line.encode("utf-8", "replace").rstrip(b"\n") + b"\n")
        sys.stdout.flush()


def text(data: bytes) -> str:
    """Bytes as they travel."""
    return base64.b64encode(data).decode()


def send(stream: Any, value: dict[str, Any]) -> None:
    """Send one frame."""
    data = json.dumps(value).encode()
    stream.write(struct.pack(">I", len(data)) + data)
    stream.flush()


def receive(stream: Any) -> Any:
    """The next frame; None at the end."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    return json.loads(stream.read(struct.unpack(">I", head)[0]).decode())


ACTIONS = {"run": run, "read": read, "write": write, "complete": complete}

if __name__ == "__main__":
    sys.exit(main())
