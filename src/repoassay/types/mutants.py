"""What a task says of mutants: outputs that are wrong, right or neither whatever the general rules hold them for."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from repoassay.types.base import Record

__all__ = ["Mutants"]

_Stated = dict[Annotated[str, Field(min_length=1, max_length=200)], Annotated[str, Field(min_length=3, max_length=400)]]


class Mutants(Record):
    """Exceptions from what is expected of mutants, by name (`NAME` or `FILE:NAME`, with `*`), each with its reason.

    `tolerate` names mutants that may be accepted or refused, `accept` variants that must be accepted, `refuse` mutants
    that must be refused.
    """

    tolerate: Annotated[_Stated, Field(max_length=100)] = Field(default_factory=dict)
    accept: Annotated[_Stated, Field(max_length=100)] = Field(default_factory=dict)
    refuse: Annotated[_Stated, Field(max_length=100)] = Field(default_factory=dict)
