"""Gemini's generateContent, the protocol of the Gemini CLI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from repoassay.model_proxy.request_rules.gemini import confine
from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.vendors.parts import (
    arguments,
    bearer,
    count_of,
    read_count,
    split_text,
    sse_event,
    text_of,
    token_limit,
)
from repoassay.model_proxy.vendors.protocol import (
    Asks,
    ErrorReply,
    ModelQuestion,
    ProviderTrouble,
    Reply,
    RequestView,
    Route,
    Vendor,
    Watcher,
)
from repoassay.types import Usage

__all__ = ["Gemini", "gemini_answer", "gemini_usage"]

_CALL = re.compile(
    r"/v1(?:beta|alpha)?/models/(?P<model>[^/:]+):(?P<verb>generateContent|streamGenerateContent|countTokens)"
)
_LIST = re.compile(r"/v1beta/models(?:/[^/:]+)?")
_SHAPES: dict[ProviderTrouble, tuple[int, str]] = {
    ProviderTrouble.NOT_FOUND: (404, "NOT_FOUND"),
    ProviderTrouble.NO_PASS: (401, "UNAUTHENTICATED"),
    ProviderTrouble.BAD_REQUEST: (400, "INVALID_ARGUMENT"),
    ProviderTrouble.OUTSIDE: (400, "INVALID_ARGUMENT"),
    ProviderTrouble.TOO_LARGE: (413, "INVALID_ARGUMENT"),
    ProviderTrouble.BUSY: (429, "RESOURCE_EXHAUSTED"),
    ProviderTrouble.BUDGET: (403, "PERMISSION_DENIED"),
    ProviderTrouble.CONTEXT: (400, "INVALID_ARGUMENT"),
    ProviderTrouble.UPSTREAM: (502, "UNAVAILABLE"),
    ProviderTrouble.SILENCE: (504, "DEADLINE_EXCEEDED"),
}


class _Watch(Watcher):
    def wants(self, data: bytes) -> bool:
        return b'"usageMetadata"' in data or b'"finishReason"' in data or b'"error"' in data or b'"blockReason"' in data

    def see(self, data: JsonObject) -> bool:
        usage = data.get("usageMetadata")
        if isinstance(usage, dict):
            self.usage = Gemini.read_usage(usage) or self.usage  # cumulative: the last one holds
            self.note(None, data.get("modelVersion"))
        candidates = data.get("candidates")
        if isinstance(candidates, list):
            self.finished = self.finished or any(
                isinstance(one, dict) and one.get("finishReason") for one in candidates
            )
        if data.get("promptFeedback"):
            self.finished = True
        if data.get("error"):
            self.error = "stream_error"
        return False


class Gemini(Vendor):
    """`POST /v1beta/models/M:generateContent`, `:streamGenerateContent?alt=sse`, `:countTokens`, and the models."""

    name = "gemini"
    usage_field = "usageMetadata"
    model_field = "modelVersion"
    untold = ("cache_write",)

    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        """See `Vendor`."""
        if method == "GET" and _LIST.fullmatch(path):
            return Route(Asks.MODELS)
        found = _CALL.fullmatch(path) if method == "POST" else None
        if found is None:
            return None
        if found["verb"] == "countTokens":
            return Route(Asks.COUNT, found["model"], stream=False)
        streams = found["verb"] == "streamGenerateContent"
        # Without alt=sse the vendor streams a JSON array, which no agent we know asks for.
        return None if streams and query.get("alt") != "sse" else Route(Asks.REPLY, found["model"], streams)

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """See `Vendor`."""
        return headers.get("X-Goog-Api-Key", "").strip() or query.get("key", "") or bearer(headers)

    def sign(self, key: str) -> dict[str, str]:
        """See `Vendor`."""
        return {"X-Goog-Api-Key": key} if key else {}

    def url(self, base: str, route: Route, model: str) -> str:
        """See `Vendor`; `base` is without `/v1beta` as Google's clients have it."""
        verb = "streamGenerateContent?alt=sse" if route.stream else "generateContent"
        verb = "countTokens" if route.asks is Asks.COUNT else verb
        return f"{base}/v1beta/models/{quote(model, safe='')}:{verb}"

    def change(self, body: JsonObject, route: Route, model: str) -> bool:
        """See `Vendor`; the model is in the path, except once more in a request to count tokens."""
        del route
        inner = body.get("generateContentRequest")
        if isinstance(inner, dict) and inner.get("model") not in {None, f"models/{model}"}:
            inner["model"] = f"models/{model}"
            return True
        return False

    def streams(self, body: JsonObject, route: Route) -> bool:
        """See `Vendor`."""
        del body
        return route.stream is True

    def most_output(self, body: JsonObject) -> int | None:
        """See `Vendor`."""
        settings = body.get("generationConfig")
        return token_limit(settings.get("maxOutputTokens")) if isinstance(settings, dict) else None

    def limit(self, body: JsonObject, tokens: int, field: str) -> None:
        """See `Vendor`."""
        del field
        settings = body.get("generationConfig")
        body["generationConfig"] = {**(settings if isinstance(settings, dict) else {}), "maxOutputTokens": tokens}

    def choices(self, body: JsonObject) -> int:
        """See `Vendor`."""
        settings = body.get("generationConfig")
        return count_of(settings.get("candidateCount")) if isinstance(settings, dict) else 1

    def watcher(self, request: JsonObject) -> _Watch:
        """See `Vendor`."""
        del request
        return _Watch()

    def refuse(self, trouble: ProviderTrouble, message: str) -> ErrorReply:
        """See `Vendor`. A spent budget is 403: Google's clients try again after 429."""
        status, name = _SHAPES[trouble]
        return ErrorReply(status, {"error": {"code": status, "message": message, "status": name}})

    def models(self, names: list[str]) -> JsonObject:
        """See `Vendor`."""
        methods = ["generateContent", "countTokens"]
        return {
            "models": [
                {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods} for name in names
            ]
        }

    @staticmethod
    def read_usage(usage: Mapping[str, object]) -> Usage | None:
        """See `Vendor`: thoughts come beside the candidates, tool prompts beside the prompt."""
        prompt = read_count(usage, "promptTokenCount")
        if prompt is None:
            return None
        thoughts = read_count(usage, "thoughtsTokenCount") or 0
        return Usage(
            input=prompt + (read_count(usage, "toolUsePromptTokenCount") or 0),
            output=(read_count(usage, "candidatesTokenCount") or 0) + thoughts,
            cached=read_count(usage, "cachedContentTokenCount") or 0,
            reasoning=thoughts,
        )

    def resembles(self, path: str, headers: Mapping[str, str]) -> bool:
        """See `Vendor`."""
        return path.startswith("/v1beta") or "X-Goog-Api-Key" in headers

    def confine(self, body: JsonObject) -> list[str]:
        """See `Vendor`."""
        return confine(body)

    def question(self, question: ModelQuestion) -> JsonObject:
        """See `Vendor`."""
        return {
            "systemInstruction": {"parts": [{"text": question.system}]},
            "contents": [{"role": "user", "parts": [{"text": question.user}]}],
            "generationConfig": {"maxOutputTokens": question.max_tokens, **question.warmth},
        }

    def client_env(self, url: str, key: str) -> dict[str, str]:
        """See `Vendor`."""
        return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": key}

    def too_long(self, prompt: int, window: int) -> str:
        """See `Vendor`."""
        return f"The input token count ({prompt}) exceeds the maximum number of tokens allowed ({window})."

    def read_request(self, body: JsonObject) -> RequestView:
        """See `Vendor`."""
        contents = [content for content in body.get("contents") or [] if isinstance(content, dict)]
        tools: dict[str, JsonObject] = {}
        for tool in body.get("tools") or []:
            for function in (tool.get("functionDeclarations") or []) if isinstance(tool, dict) else []:
                schema = function.get("parametersJsonSchema") or function.get("parameters") or {}
                tools[str(function.get("name"))] = schema
        return RequestView(text_of(contents[-1]) if contents else "", tools)

    def response(self, reply: Reply) -> JsonObject:
        """See `Vendor`."""
        parts: list[JsonObject] = [{"text": reply.text}] if reply.text or not reply.calls else []
        return gemini_answer([*parts, *_calls(reply)], "STOP", gemini_usage(reply.usage), reply.model, reply.id)

    def stream_events(self, reply: Reply) -> Iterator[bytes]:
        """See `Vendor`. The first chunks tell the prompt's count, only the last one all of it."""
        early = {"promptTokenCount": reply.usage.input, "totalTokenCount": reply.usage.input}
        for piece in split_text(reply.text):
            yield sse_event(gemini_answer([{"text": piece}], "", early, reply.model, reply.id))
        if reply.calls:
            yield sse_event(gemini_answer(_calls(reply), "", early, reply.model, reply.id))
        usage = gemini_usage(reply.usage)
        yield sse_event(gemini_answer([{"text": ""}], "STOP", usage, reply.model, reply.id))

    def read_response(self, answer: JsonObject) -> tuple[str, list[tuple[str, JsonObject]]]:
        """See `Vendor`."""
        texts, calls = [], []
        for part in _parts(answer):
            if part.get("text") and not part.get("thought"):
                texts.append(str(part["text"]))
            call = part.get("functionCall")
            if isinstance(call, dict):
                calls.append((str(call.get("name")), arguments(call.get("args"))))
        return "".join(texts), calls

    def join_events(self, events: list[JsonObject]) -> JsonObject:
        """See `Vendor`."""
        return {"candidates": [{"content": {"parts": [part for event in events for part in _parts(event)]}}]}


def _parts(answer: JsonObject) -> list[JsonObject]:
    parts: list[JsonObject] = []
    for candidate in answer.get("candidates") or []:
        content = candidate.get("content") or {}
        parts += [part for part in content.get("parts") or [] if isinstance(part, dict)]
    return parts


def _calls(reply: Reply) -> list[JsonObject]:
    return [{"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}} for call in reply.calls]


def gemini_usage(usage: Usage) -> JsonObject:
    """Usage as the dialect tells it."""
    return {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "cachedContentTokenCount": usage.cached,
        "totalTokenCount": usage.total,
    }


def gemini_answer(
    parts: list[JsonObject], reason: str, usage: JsonObject | None, model: str, answer_id: str
) -> JsonObject:
    """The body of an answer, or of a piece of one, whose id is `answer_id`."""
    candidate: JsonObject = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    body = {"candidates": [candidate], "modelVersion": model, "responseId": answer_id}
    return body if usage is None else {**body, "usageMetadata": usage}
