"""What every noun shares: frozen, and unknown keys are an error."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Record"]


class Record(BaseModel):
    """A frozen value that refuses keys it does not know, so that a typo is an error and not a silent default."""

    model_config = ConfigDict(extra="forbid", frozen=True)
