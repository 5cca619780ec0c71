"""One exchange in two dialects: the request as the upstream is asked it, its answer as the agent is told it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.translation.chat import ChatFormat
from repoassay.model_proxy.translation.format import Format, Upstreams
from repoassay.model_proxy.translation.gemini import GeminiFormat
from repoassay.model_proxy.translation.messages import UNSAID_LIMIT, MessagesFormat
from repoassay.model_proxy.translation.neutral import AnswerBegins, AnswerEnds, AnswerFails, Conversation
from repoassay.model_proxy.translation.responses import ResponsesFormat
from repoassay.types import Usage

__all__ = ["FORMATS", "UNREADABLE", "Translator", "begin"]

UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
"""What reading something of no dialect may raise; strangers write it."""

FORMATS: dict[str, Format] = {
    one.name: one for one in (ChatFormat(), MessagesFormat(), ResponsesFormat(), GeminiFormat())
}
"""By dialect; an upstream that speaks several is spoken to in the first of these."""


class Translator:
    """Made by `begin`, for one request.

    Attributes:
        body: The request in the upstream's dialect. `spoken`: that dialect's name.
        dropped: What the request says and the upstream is not told.
        set_limit: The limit of output in `body`, None when there is none. It may be lowered until the upstream takes
            it: the agent set it for its own vendor's models, if at all.
        failed: Whether the stream broke off with an error of the upstream's own.
    """

    def __init__(self, own: Format, theirs: Format, prompt: Conversation, body: JsonObject) -> None:
        self._own, self._theirs, self._prompt = own, theirs, prompt
        self._reader, self._writer = theirs.reader(), own.writer(prompt)
        self._begun = self._ended = False
        self.body = body
        self.spoken = theirs.name
        self.dropped = tuple(prompt.dropped)
        self.failed = False
        self.set_limit = prompt.limit or (UNSAID_LIMIT if theirs.name == "messages" else None)

    def answer(self, body: JsonObject, usage: Usage | None) -> JsonObject:
        """A whole answer, with the usage that was read out of it.

        Raises:
            UNREADABLE: It is not of the upstream's dialect.
        """
        return self._own.write(replace(self._theirs.read(body), usage=usage), self._prompt)

    def event(self, event: JsonObject) -> bytes:
        """What one event of the upstream's stream amounts to; may be nothing.

        Raises:
            UNREADABLE: It is not of the upstream's dialect.
        """
        out = b""
        for piece in self._reader.read(event) if not self._ended else ():
            if not self._begun and not isinstance(piece, AnswerBegins):
                out += self._writer.write(AnswerBegins(""))  # a server that does not begin with its name
            self._begun = True
            if isinstance(piece, AnswerFails):
                self.failed = self._ended = True
            out += self._writer.write(piece)
        return out

    def end(self, usage: Usage | None) -> bytes:
        """What ends the stream, once."""
        if self._ended:
            return b""
        self._ended = True
        begun = b"" if self._begun else self._writer.write(AnswerBegins(""))
        return begun + self._writer.write(AnswerEnds(self._reader.reason, usage))


def begin(
    dialect: str, body: JsonObject, dialects: Collection[str], model: str, how: Upstreams, *, stream: bool
) -> Translator:
    """Read an agent's request and write it for the upstream.

    Args:
        dialect: The agent's. `dialects`: those of the upstream, of which the first in `FORMATS` is taken.
        body: The agent's request.
        model: What answers are said to be of.
        how: How the upstream wants its requests.
        stream: Whether the answer is to be streamed.

    Raises:
        Untranslatable: The upstream's dialect has no words for it.
    """
    theirs = next(format_ for name, format_ in FORMATS.items() if name in dialects)
    prompt = FORMATS[dialect].parse(body)
    prompt.model, prompt.stream = prompt.model or model, stream
    return Translator(FORMATS[dialect], theirs, prompt, theirs.compose(prompt, how))
