"""Between an agent's dialect and an upstream's: each dialect is read into, and written from, one neutral form.

Imported only where an upstream does not speak the dialect of its agent.
"""

from __future__ import annotations

from collections.abc import Collection

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.translation.chat import ChatFormat
from repoassay.model_proxy.translation.format import Format, Upstreams
from repoassay.model_proxy.translation.gemini import GeminiFormat
from repoassay.model_proxy.translation.messages import MessagesFormat
from repoassay.model_proxy.translation.neutral import Conversation, Untranslatable
from repoassay.model_proxy.translation.responses import ResponsesFormat
from repoassay.model_proxy.translation.translator import Translator

__all__ = ["FORMATS", "Conversation", "Format", "Translator", "Untranslatable", "Upstreams", "begin"]

FORMATS: dict[str, Format] = {
    one.name: one for one in (ChatFormat(), MessagesFormat(), ResponsesFormat(), GeminiFormat())
}
"""By dialect; an upstream that speaks several is spoken to in the first of these."""


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
