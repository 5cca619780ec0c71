"""What holds for every test: a busy machine makes no property false."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repoassay", deadline=None)
settings.load_profile("repoassay")
