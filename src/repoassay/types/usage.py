"""Usage: the tokens of one or many model calls, in one convention for all vendors.

`input` is everything the model read, so it includes what came from or went into a cache; `output` is everything it
wrote, so it includes reasoning. What vendors report otherwise is read into it by `repoassay.model_proxy.vendors`.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field

from repoassay.types.base import Record

__all__ = ["Usage"]


class Usage(Record):
    """Tokens of one call, or a sum over calls.

    Attributes:
        input: Tokens read, cached ones included.
        output: Tokens written, reasoning included.
        cached: The part of `input` that was read from a cache.
        cache_write: The part of `input` that was written to a cache.
        reasoning: The part of `output` that is reasoning; 0 when the vendor does not tell (Anthropic).
    """

    input: int = Field(default=0, ge=0)
    output: int = Field(default=0, ge=0)
    cached: int = Field(default=0, ge=0)
    cache_write: int = Field(default=0, ge=0)
    reasoning: int = Field(default=0, ge=0)

    @property
    def total(self) -> int:
        """Tokens read and written."""
        return self.input + self.output

    @property
    def fresh(self) -> int:
        """Tokens read that neither came from a cache nor went into one; never below 0."""
        return max(0, self.input - self.cached - self.cache_write)

    def __add__(self, other: Self) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            cache_write=self.cache_write + other.cache_write,
            reasoning=self.reasoning + other.reasoning,
        )
