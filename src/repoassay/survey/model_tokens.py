"""Tokens of a language model in a text, of the encoding cl100k_base: its vocabulary is installed, not fetched."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache

from repoassay.errors import MissingExtra

__all__ = ["MODEL_TOKENISER", "model_token_counter"]

MODEL_TOKENISER = "cl100k_base"
"""The encoding of GPT-4 and GPT-3.5. Which one GitTaskBench's Table 5 counts with is not known to us."""
_MOST = 30_000
"""Characters: the package refuses texts of more than 200,000 tokens."""


@cache
def model_token_counter() -> Callable[[str], int]:
    """Return what counts the tokens of a text; text that looks like a special token counts as text.

    Raises:
        MissingExtra: The package with the vocabulary is not installed (extra `tokens`).
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it opens its vocabulary in a way that Python 3.11 and 3.12 call deprecated
        try:
            import bpe_openai
        except ImportError as error:
            raise MissingExtra("bpe_openai", "tokens") from error
        encoding = bpe_openai.get_encoding(MODEL_TOKENISER)
        encoding.encode_ordinary("")
    return lambda text: sum(len(encoding.encode_ordinary(piece)) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """Pieces that the encoding takes at once, cut where no token crosses: before a line that begins with no space.

    Where there is no such place in 30,000 characters, a piece ends anywhere, which may cost a token or two.
    """
    at = 0
    while len(text) - at > _MOST:
        end = at + _MOST
        cut = text.rfind("\n", at, end)
        while cut > at and text[cut + 1].isspace():
            cut = text.rfind("\n", at, cut)
        end = cut + 1 if cut > at else end
        yield text[at:end]
        at = end
    yield text[at:]
