"""What graders of one run share: where they work, and the oracle that they make when one of them needs it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from repoassay.sandbox import Cache, Sandbox
from repoassay.types import Reading

if TYPE_CHECKING:
    from repoassay.grading import Oracle

__all__ = ["GradingContext"]

_MAKING = threading.Lock()


@dataclass(frozen=True, slots=True)
class GradingContext:
    """What every attempt of a run shares; its `oracle` compares values of the code under test outside sandboxes."""

    repositories: Path | None
    cache: Cache
    sandbox: Sandbox
    timeout: float | None = None
    reading: Reading = Reading.FAIR
    _oracles: list[Oracle] = field(init=False, repr=False, compare=False, default_factory=list)

    @property
    def oracle(self) -> Oracle:
        """The oracle; made, and its code imported, at first use, which graders of outputs alone never come to."""
        from repoassay.grading import Oracle

        with _MAKING:
            if not self._oracles:
                self._oracles.append(Oracle(self.cache, self.sandbox))
        return self._oracles[0]

    def beside(self, repositories: Path | None) -> GradingContext:
        """The same for tasks whose repositories lie elsewhere, with the same oracle."""
        other = replace(self, repositories=repositories)
        object.__setattr__(other, "_oracles", self._oracles)
        return other
