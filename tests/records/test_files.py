"""Files that may come from strangers."""

from __future__ import annotations

import pytest

from repoassay.records import load_toml


@pytest.mark.parametrize("text", ["a" + ".a" * 100_000 + " = 1", ("a." * 999 + "a = 1\n") * 200])
def test_toml_that_would_take_all_memory_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="dots"):
        load_toml(text)
    assert load_toml("a.b.c = '...'") == {"a": {"b": {"c": "..."}}}
