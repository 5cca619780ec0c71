"""What a judge is: model, prompt, rubric and parameters, whose digest is its version.

Everything that may change an answer is in the digest, so that answers of two versions are never mixed. How often it is
asked, and on which axes, is not: further samples of the same judge add to those there are.
"""

from __future__ import annotations

import hashlib
from typing import Annotated

from pydantic import Field

from repoassay.judges.families import family
from repoassay.types import Record, Sha256

__all__ = ["Definition", "Parameters"]


class Parameters(Record):
    """How a judge is asked.

    Attributes:
        temperature: Sent to the model; None leaves it to the provider, as some models take none.
        max_answer: Tokens it may answer with.
        max_diff: Characters of a diff that are shown; what is longer is cut file by file. The reference has the same.
        max_text: Characters of the issue, of the rules and of the description, each.
        description: Whether the author's own description is shown. Its claims sway judges (arXiv 2603.18740), so by
            default it is not.
    """

    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    max_answer: Annotated[int, Field(ge=64, le=200_000)] = 8_000
    max_diff: Annotated[int, Field(ge=1_000, le=4_000_000)] = 120_000
    max_text: Annotated[int, Field(ge=500, le=1_000_000)] = 20_000
    description: bool = False


class Definition(Record):
    """A judge. `system` and `user` are its templates; `own_prompt` says that they are not those of the package."""

    model: Annotated[str, Field(min_length=3, max_length=200)]
    rubric: Sha256
    system: Annotated[str, Field(max_length=100_000)]
    user: Annotated[str, Field(max_length=100_000)]
    own_prompt: bool = False
    parameters: Parameters = Parameters()

    @property
    def digest(self) -> str:
        """SHA-256 of all of it: the judge's version."""
        return hashlib.sha256(self.model_dump_json().encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def name(self) -> str:
        """What the judge is called among raters: its model and the beginning of its version."""
        return f"{self.model} {self.digest[:12]}"

    @property
    def family(self) -> str:
        """The vendor of its model, empty where not known."""
        return family(self.model)
