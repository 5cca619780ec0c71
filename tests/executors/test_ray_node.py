"""What nodes share, when the actor that keeps it is lost with its machine."""

from __future__ import annotations

import threading
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from repoassay.sandbox import Cache

ray = pytest.importorskip("ray")


def test_without_the_shelf_a_node_builds_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from repoassay.executors.ray_node import _Shelf

    def lost(*_: object) -> object:
        raise ray.exceptions.RayActorError

    monkeypatch.setattr("ray.get", lost)
    cache = Cache(tmp_path, share=_Shelf(MagicMock(), "node", threading.Event()))

    def build(part: Path) -> None:
        (part / "file").write_text("built")

    for kind in ("environments", "verdicts"):
        place = cache.entry(kind, "a" * 32, build)
        assert (place / "file").read_text() == "built"
