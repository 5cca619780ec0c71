"""What the model proxy's tests share: a client that asks in each dialect, and real ones before fake providers."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from fake_provider import FakeProvider
from repoassay.model_proxy import AttemptSession, Budget, CallLimits, Dialogue, Upstream
from repoassay.model_proxy.server import Gateway

REAL_KEY = "sk-real-0123456789abcdef"
SHELLS = {"chat": "bash", "responses": "exec_command", "messages": "Bash", "gemini": "run_shell_command"}


@dataclass(frozen=True)
class Response:
    """`broken`: the connection ended before the body did."""

    status: int
    headers: dict[str, str]
    body: bytes
    broken: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        data = [line[6:] for line in self.body.split(b"\n") if line.startswith(b"data: ")]
        return [json.loads(one) for one in data if one != b"[DONE]"]


def send(
    url: str, body: object, headers: dict[str, str] | None = None, method: str = "POST", timeout: float = 20
) -> Response:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(method, path, raw, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        broken = False
        try:
            data = response.read()
        except (http.client.IncompleteRead, ConnectionError) as error:
            data, broken = getattr(error, "partial", b""), True
        return Response(response.status, {name.lower(): value for name, value in response.getheaders()}, data, broken)
    finally:
        connection.close()


def request_body(dialect: str, text: str = "hello", *, stream: bool = False, tools: bool = True) -> dict[str, Any]:
    name = SHELLS[dialect]
    key = "cmd" if dialect == "responses" else "command"
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    if dialect == "gemini":
        schema["properties"]["description"] = {"type": "string"}  # type: ignore[index] # a literal of mixed values
        schema["required"] = [key, "description"]
        contents = [{"role": "user", "parts": [{"text": text}]}]
        offered = [{"functionDeclarations": [{"name": name, "parametersJsonSchema": schema}]}]
        return {"contents": contents, **({"tools": offered} if tools else {})}
    body: dict[str, Any] = {"model": "asked-model", "stream": stream}
    if dialect == "responses":
        body["input"] = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]
        offer: dict[str, Any] = {"type": "function", "name": name, "parameters": schema}
    else:
        body["messages"] = [{"role": "user", "content": text}]
        offer = {"name": name, "input_schema": schema}
        if dialect == "chat":
            offer = {"type": "function", "function": {"name": name, "parameters": schema}}
        else:
            body["max_tokens"] = 1000
    return {**body, **({"tools": [offer]} if tools else {})}


def address(urls: dict[str, str], dialect: str, *, stream: bool) -> str:
    tails = {"chat": "/chat/completions", "responses": "/responses", "messages": "/v1/messages?beta=true"}
    if dialect == "gemini":
        verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return f"{urls['gemini']}/v1beta/models/asked-model:{verb}"
    return urls[dialect] + tails[dialect]


def key_header(dialect: str, key: str) -> dict[str, str]:
    names = {"messages": ("x-api-key", key), "gemini": ("x-goog-api-key", key)}
    return dict([names.get(dialect, ("authorization", f"Bearer {key}"))])


class Rig:
    """A model proxy, the fake provider behind it, and sessions at it."""

    send = staticmethod(send)

    def __init__(self, gateway: Gateway, upstream: FakeProvider, folder: Path) -> None:
        self.gateway = gateway
        self.upstream = upstream
        self.folder = folder

    def admit(self, attempt: str = "one", **settings: Any) -> AttemptSession:
        journal = settings.pop("journal", self.folder / attempt / "usage.jsonl")
        return self.gateway.admit(attempt, model=settings.pop("model", "up/served-model"), journal=journal, **settings)

    def ask(
        self,
        entry: AttemptSession,
        dialect: str = "chat",
        text: str = "hello",
        *,
        stream: bool = False,
        tools: bool = True,
        **more: Any,
    ) -> Response:
        body = {**request_body(dialect, text, stream=stream, tools=tools), **more}
        url = address(entry.urls(self.gateway.origin), dialect, stream=stream)
        return send(url, body, key_header(dialect, entry.key))


Build = Callable[..., Rig]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Build]:
    """Make a rig out of a dialogue's turns; everything it opened is closed afterwards."""
    monkeypatch.setenv("RIG_KEY", REAL_KEY)
    with ExitStack() as stack:

        def make(*turns: dict[str, Any], end: str = "loop", limits: CallLimits | None = None, **settings: Any) -> Rig:
            whole = {"turn": list(turns), "end": end, "aside": settings.pop("aside", [])}
            upstream = stack.enter_context(FakeProvider(Dialogue.model_validate(whole)))
            origin = upstream.origin
            ups = [
                Upstream(name="up", base_url=f"{origin}/v1", dialects=("chat", "responses"), key_env="RIG_KEY"),
                Upstream(name="plain", base_url=origin, dialects=("messages", "gemini"), key_env="RIG_KEY"),
            ]
            gateway = Gateway(
                [*ups, *settings.pop("upstreams", [])],
                limits=limits or CallLimits(first_wait=0.01, idle=5.0, settle=1.0),
                budget=settings.pop("run_budget", Budget()),
                journal=tmp_path / "strangers.jsonl",
                **settings,
            )
            return Rig(stack.enter_context(gateway), upstream, tmp_path)

        yield make


TURN: dict[str, Any] = {
    "text": "Let me look at the files first, ünïcode included.",
    "calls": [{"tool": "shell", "command": "ls -la"}],
    "usage": {"input": 1234, "output": 77, "cached": 1000, "cache_write": 34, "reasoning": 17},
}


@pytest.fixture
def turn() -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(TURN))
    return copy
