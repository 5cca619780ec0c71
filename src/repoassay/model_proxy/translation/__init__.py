"""Between an agent's dialect and an upstream's: each dialect is read into, and written from, one neutral form.

Imported only where an upstream does not speak the dialect of its agent, and where steps are written down.
"""

from __future__ import annotations

from repoassay.model_proxy.translation.format import Upstreams
from repoassay.model_proxy.translation.neutral import Answer, Conversation, Untranslatable, whole_answer
from repoassay.model_proxy.translation.translator import FORMATS, UNREADABLE, Translator, begin

__all__ = [
    "FORMATS",
    "UNREADABLE",
    "Answer",
    "Conversation",
    "Translator",
    "Untranslatable",
    "Upstreams",
    "begin",
    "whole_answer",
]
