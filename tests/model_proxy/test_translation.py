"""An agent of any dialect before an upstream of any other: what is said, called and counted comes through unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from model_proxy.conftest import SHELLS
from repoassay.model_proxy import Upstream
from repoassay.model_proxy.vendors import VENDORS
from repoassay.records.calls import read_calls
from repoassay.types.usage import Usage

DIALECTS = ("chat", "responses", "messages", "gemini")
FOREIGN = [(agent, spoken) for agent in DIALECTS for spoken in DIALECTS if agent != spoken]
WHOLE = Usage(input=1234, output=77, cached=1000, cache_write=34, reasoning=17)


def through(build: Any, turns: list[Any], spoken: str, **settings: Any) -> Any:
    """A rig whose upstream `only` speaks one dialect."""
    rig = build(*turns, **settings)
    base = rig.upstream.origin + ("/v1" if spoken in {"chat", "responses"} else "")
    upstream = Upstream(name="only", base_url=base, dialects=(spoken,), key_env="RIG_KEY")
    rig.gateway._upstreams["only"] = upstream
    return rig


def told(spoken: str) -> Usage:
    """What an upstream of this dialect can tell of `WHOLE`."""
    return WHOLE.model_copy(update=dict.fromkeys(VENDORS[spoken].untold, 0))


def answer_of(dialect: str, response: Any, *, stream: bool) -> tuple[str, list[Any]]:
    vendor = VENDORS[dialect]
    body = vendor.join_events(response.events) if stream else response.json
    return vendor.read_response(body)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("agent", "spoken"), FOREIGN)
def test_text_calls_and_usage_come_through(build: Any, turn: Any, agent: str, spoken: str, stream: bool) -> None:
    turn["calls"] *= 2
    rig = through(build, [turn], spoken)
    entry = rig.admit(model="only/served-model")
    response = rig.ask(entry, agent, stream=stream)
    assert response.status == 200 and not response.broken, response.body
    text, calls = answer_of(agent, response, stream=stream)
    assert text == turn["text"]
    key = "cmd" if agent == "responses" else "command"
    assert [(name, arguments[key]) for name, arguments in calls] == [(SHELLS[agent], "ls -la")] * 2
    entry.close()
    (call,) = read_calls(entry.journal.path).calls
    assert call.usage == told(spoken) == rig.upstream.script.sent("sk-real-0123456789abcdef")[0]
    assert (call.dialect, call.spoken, call.fault, call.dropped) == (agent, spoken, "", ())
    usage = VENDORS[agent].watcher({"stream_options": {"include_usage": True}})
    if stream and agent != "chat":  # who did not ask for it must not be told
        for event in response.events:
            usage.see(event)
        assert usage.usage is not None and usage.usage.total == WHOLE.total
    elif not stream:
        whole = VENDORS[agent].usage(response.json)
        assert whole is not None and whole.total == WHOLE.total
    json.dumps(text)
