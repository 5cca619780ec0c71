"""Functions and objects as agents: what is one, how it is named, and a sandbox that lies to it."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repoassay.agents import find_agent
from repoassay.agents.function import FunctionAgent, adapt_agent, check_source, import_agent, python_kind, source_digest
from repoassay.agents.session import SessionLink, WorkspaceSession
from repoassay.errors import BadInput, Interrupted
from repoassay.plugins import is_dotted
from ten_lines import Shell, careful


def test_what_is_an_agent_and_what_it_is_called() -> None:
    assert adapt_agent(careful).name == "careful"
    assert adapt_agent(Shell).name == adapt_agent(Shell()).name == "Shell"
    assert isinstance(find_agent("ten_lines:careful"), FunctionAgent)
    assert find_agent("ten_lines:Shell").name == "Shell"
    whole = find_agent("reference")
    assert adapt_agent(whole) is whole
    assert python_kind(careful) == "ten_lines:careful"
    assert python_kind(Shell()) == python_kind(Shell) == "ten_lines:Shell"


@pytest.mark.parametrize("thing", [3, None, {}, lambda: None, type("Nobody", (), {})()])
def test_what_is_none_is_refused_with_what_to_write(thing: object) -> None:
    with pytest.raises(BadInput) as caught:
        adapt_agent(thing)
    assert caught.value.remedy


def test_a_class_that_needs_arguments_is_refused() -> None:
    class Needy:
        def __init__(self, key: str) -> None: ...

        def command(self, layout: object, limits: object) -> object: ...

    with pytest.raises(BadInput, match="cannot be made"):
        adapt_agent(Needy)


@pytest.mark.parametrize(
    ("name", "dotted"),
    [("a.b:c", True), ("a:b.c", True), ("codex", False), ("./a:b.toml", False), ("a:b.toml", False), ("a:", False)],
)
def test_code_is_told_from_names_and_files(name: str, dotted: bool) -> None:
    assert is_dotted(name) is dotted


def test_what_cannot_be_imported_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "breaks_when_imported.py").write_text("raise RuntimeError('no luck')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for kind in ("breaks_when_imported:agent", "no_such_module_here:agent", "ten_lines:nothing", "x:f.<locals>.g"):
        with pytest.raises(BadInput, match="import") as caught:
            import_agent(kind)
        assert "repoassay.resume(run, agent=...)" in str(caught.value)


def test_a_changed_source_is_seen() -> None:
    check_source("ten_lines:careful", careful, source_digest(careful))
    with pytest.raises(BadInput, match="has changed"):
        check_source("ten_lines:careful", careful, source_digest(Shell))
    with pytest.raises(BadInput, match="has changed"):
        find_agent("ten_lines:careful", {"sha256": "0" * 64})


def frame(value: Any) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return struct.pack(">I", len(data)) + data


@contextlib.contextmanager
def session_with(*replies: bytes) -> Iterator[WorkspaceSession]:
    """A session whose sandbox says the secret, after a stranger who does not, and answers with these bytes."""
    listening = socket.create_server(("127.0.0.1", 0))

    def sandbox() -> None:
        with socket.create_connection(listening.getsockname()) as stranger:
            stranger.sendall(frame({"secret": "guess"}))
            with socket.create_connection(listening.getsockname()) as own:
                own.sendall(frame({"secret": "right"}))
                for reply in replies:
                    own.recv(65536)
                    own.sendall(reply)

    thread = threading.Thread(target=sandbox)
    thread.start()
    link = SessionLink()
    with listening:
        assert link.connect(listening, "right")
    yield WorkspaceSession("task", "Do it.", link)
    link.close()
    thread.join()


@pytest.mark.parametrize(
    "reply",
    [
        frame(b"no json"), frame([1]), frame({}), frame({"code": "x", "stdout": "", "stderr": "", "timed_out": 0}),
        frame({"code": 0, "stdout": "*", "stderr": "", "timed_out": False}), struct.pack(">I", 2**31),
    ],
)  # fmt: skip
def test_nonsense_from_the_sandbox_is_an_error_of_the_session(reply: bytes) -> None:
    with session_with(reply) as session:
        with pytest.raises(OSError, match="nonsense"):
            session.run("true")
        if not reply.startswith(b"\0\0\0"):
            with pytest.raises(Interrupted):  # where the next frame begins, nobody knows
                session.run("true")


def test_what_the_sandbox_reports_and_its_end_are_pythons_errors() -> None:
    missing = frame({"error": "FileNotFoundError", "message": "no such file"})
    with session_with(missing, frame({"error": "ValueError", "message": "too large"})) as session:
        with pytest.raises(FileNotFoundError, match="no such"):
            session.read("x")
        with pytest.raises(OSError, match="too large"):
            session.read("x")
    with session_with() as session, pytest.raises(Interrupted, match="has ended"):
        session.run("true")
    with pytest.raises(Interrupted, match="not begun"):
        WorkspaceSession("task", "", SessionLink()).run("true")
