"""Functions and objects as agents: what is one, how it is named, and sandboxes that lie to it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from repoassay.agents import find_agent
from repoassay.agents.function import FunctionAgent, adapt_agent, check_source, import_agent, python_kind, source_digest
from repoassay.agents.session import WorkspaceSession
from repoassay.errors import BadInput, Interrupted
from repoassay.plugins import is_dotted
from repoassay.sandbox import Completed, SandboxSession
from repoassay.types import Ended, Exit
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
            import_agent(kind, "of a run that was planned")
        assert "repoassay.resume(run, agent=...)" in str(caught.value)


def test_a_changed_source_is_seen() -> None:
    check_source("ten_lines:careful", careful, source_digest(careful))
    with pytest.raises(BadInput, match="has changed"):
        check_source("ten_lines:careful", careful, source_digest(Shell))
    with pytest.raises(BadInput, match="has changed"):
        find_agent("ten_lines:careful", {"sha256": "0" * 64})


class Lying:
    """A session in which whatever is asked for ends as it likes."""

    ended = False

    def __init__(self, code: int, stdout: bytes = b"", stderr: bytes = b"") -> None:
        self._done = Completed(Exit(ended=Ended.EXITED, code=code), stdout, stderr)

    def note(self, line: str) -> None:
        """Nothing is logged."""

    def exec(self, *_: object, **__: object) -> Completed:
        """End as it likes."""
        return self._done


def session_with(sandbox: Lying) -> WorkspaceSession:
    return WorkspaceSession("task", "Do it.", cast("SandboxSession", sandbox))


@pytest.mark.parametrize("reply", [b"no json", b"[1]", b"", b"[" * 100_000, b"\xff"])
def test_nonsense_for_a_model_s_reply_is_an_error_of_the_session(reply: bytes) -> None:
    with pytest.raises(OSError, match="nonsense"):
        session_with(Lying(0, reply)).ask("How many?")


def test_why_a_model_did_not_answer_is_told() -> None:
    with pytest.raises(OSError, match="answered 429"):
        session_with(Lying(1, stderr=b"the model answered 429: slower")).ask("How many?")
    with pytest.raises(OSError, match="no text"):
        session_with(Lying(0, b'{"choices": []}')).ask("How many?")


def test_the_end_of_the_attempt_is_told_to_whoever_waits_for_a_command() -> None:
    over = Lying(0)
    over.ended = True
    with pytest.raises(Interrupted, match="has ended"):
        session_with(over).run("true")
