"""What graders of one run share: where they work, and the oracle that they make when one of them needs it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from repoassay.errors import Interrupted
from repoassay.sandbox import Cache, CancellableSandbox, Sandbox
from repoassay.types import Reading

if TYPE_CHECKING:
    from repoassay.grading import Oracle

__all__ = ["GradingContext"]


class _OracleAtFirstUse:
    """The oracle of a context and of those made from it: made, and its code imported, when one of them asks for it."""

    def __init__(self, cache: Cache, sandbox: Sandbox) -> None:
        self._cache, self._sandbox = cache, sandbox
        self._lock = threading.Lock()
        self._made: Oracle | None = None

    def get(self) -> Oracle:
        from repoassay.grading import Oracle  # 0.1 s of importing, which graders of outputs alone never come to

        with self._lock:
            self._made = self._made or Oracle(self._cache, self._sandbox)
            return self._made


@dataclass(frozen=True, slots=True)
class GradingContext:
    """What every attempt of a run shares; its `oracle` compares values of the code under test outside sandboxes."""

    repositories: Path | None
    cache: Cache
    sandbox: Sandbox
    timeout: float | None = None
    reading: Reading = Reading.FAIR
    cancel: threading.Event | None = field(default=None, compare=False)
    _shared: _OracleAtFirstUse = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_shared", _OracleAtFirstUse(self.cache, self.sandbox))

    @property
    def oracle(self) -> Oracle:
        """The oracle, the same for all contexts that were made from one."""
        return self._shared.get()

    def beside(self, repositories: Path | None) -> GradingContext:
        """The same for tasks whose repositories lie elsewhere, with the same oracle."""
        return self._with_oracle(replace(self, repositories=repositories))

    def inside(self, sandbox: Sandbox) -> GradingContext:
        """The same in another sandbox, with the same oracle."""
        return self._with_oracle(replace(self, sandbox=sandbox))

    def ending_with(self, cancel: threading.Event) -> GradingContext:
        """The same with an oracle of its own, but that whatever runs in a sandbox for it ends when the event is set."""
        return replace(self, sandbox=CancellableSandbox(self.sandbox, cancel), cancel=cancel)

    def go_on(self) -> None:
        """Raise `Interrupted` where the event that ends it is set."""
        if self.cancel is not None and self.cancel.is_set():
            raise Interrupted("Stopped.")

    def _with_oracle(self, other: GradingContext) -> GradingContext:
        object.__setattr__(other, "_shared", self._shared)
        return other
