"""Asking a model through the metered door, as a client like any agent: no key, no vendor's library."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import quote, urlsplit

from repoassay.errors import InfraFault
from repoassay.gateway import Pass
from repoassay.gateway.voices import VOICES
from repoassay.review.judges.answer import Unreadable
from repoassay.review.judges.definition import Parameters
from repoassay.text import printable

__all__ = ["DIALECTS", "NoAnswer", "Spent", "ask"]

DIALECTS = ("chat", "messages", "gemini", "responses")
"""What a judge speaks, in the order of preference."""
_LARGEST = 8 * 2**20


class NoAnswer(InfraFault):
    """The upstream or the gateway gave no answer: nothing was judged, so nothing is stored."""


class Spent(InfraFault):
    """The budget is spent."""


def ask(
    entry: Pass, origin: str, dialect: str, system: str, user: str, parameters: Parameters, patience: float = 900.0
) -> str:
    """Ask once.

    Args:
        entry: The pass; its journal has the tokens and dollars.
        origin: Where the gateway listens, `http://127.0.0.1:PORT`.
        dialect: One of `DIALECTS`, which the upstream speaks.
        system: What the judge is.
        user: What it is to judge.
        parameters: Temperature and length of the answer.
        patience: Seconds of silence borne.

    Returns:
        The text of the answer; empty where the model said nothing.

    Raises:
        NoAnswer: When there was none, in one sentence.
        Unreadable: When there was one, and it is huge or not of its dialect: tokens were spent on it.
        Spent: When the budget lets no further call through.
    """
    path, body = _request(entry, origin, dialect, system, user, parameters)
    place = urlsplit(origin)
    connection = http.client.HTTPConnection(place.hostname or "127.0.0.1", place.port, timeout=patience)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {entry.key}", "x-api-key": entry.key}
    if dialect == "gemini":
        headers = {"Content-Type": "application/json", "x-goog-api-key": entry.key}
    try:
        connection.request("POST", path, json.dumps(body).encode(), headers)
        response = connection.getresponse()
        status, data = response.status, response.read(_LARGEST + 1)
    except (OSError, http.client.HTTPException) as error:
        raise NoAnswer(f"The model gave no answer: {printable(str(error) or type(error).__name__, 200)}.") from error
    finally:
        connection.close()
    if entry.exhausted.is_set() and status != 200:
        raise Spent(entry.why)
    if status != 200:
        raise NoAnswer(f"The model gave no answer: status {status}, {printable(_told(data), 200)}.")
    if len(data) > _LARGEST:
        raise Unreadable(f"The model's response is larger than {_LARGEST:,} bytes.")
    return _heard(dialect, data)


def _request(
    entry: Pass, origin: str, dialect: str, system: str, user: str, parameters: Parameters
) -> tuple[str, dict[str, Any]]:
    base = urlsplit(entry.urls(origin)[dialect]).path
    warmth = {} if parameters.temperature is None else {"temperature": parameters.temperature}
    most = parameters.max_answer
    # Pairs that JSON cannot carry to a vendor are shown as what they are.
    system, user = (text.encode("utf-8", "backslashreplace").decode() for text in (system, user))
    if dialect == "messages":
        turns = [{"role": "user", "content": user}]
        return f"{base}/v1/messages", {
            "model": entry.model, "max_tokens": most, "system": system, "messages": turns, **warmth,
        }  # fmt: skip
    if dialect == "gemini":
        return f"{base}/v1beta/models/{quote(entry.model, safe='')}:generateContent", {
            "systemInstruction": {"parts": [{"text": system}]},
            "contents": [{"role": "user", "parts": [{"text": user}]}],
            "generationConfig": {"maxOutputTokens": most, **warmth},
        }
    if dialect == "responses":
        return f"{base}/responses", {
            "model": entry.model, "instructions": system, "input": [{"role": "user", "content": user}],
            "max_output_tokens": most, **warmth,
        }  # fmt: skip
    # OpenAI's own reasoning models refuse `max_tokens`, which most other servers alone know.
    limit = "max_completion_tokens" if entry.upstream == "openai" else "max_tokens"
    turns = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return f"{base}/chat/completions", {"model": entry.model, "messages": turns, limit: most, **warmth}


def _heard(dialect: str, data: bytes) -> str:
    try:
        return VOICES[dialect].listen(json.loads(data))[0]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        # A server may send anything with status 200; what cannot be read says nothing about the change.
        raise Unreadable(f"The model's response is not one of its dialect ({type(error).__name__}).") from error


def _told(data: bytes) -> str:
    try:
        error = json.loads(data[:20_000]).get("error")
        return str(error.get("message") if isinstance(error, dict) else error)
    except (ValueError, AttributeError, RecursionError):
        return data[:200].decode("utf-8", "replace")
