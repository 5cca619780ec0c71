"""Files that may come from strangers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from repoassay.records import load_toml, load_yaml


@pytest.mark.parametrize("text", ["a" + ".a" * 100_000 + " = 1", ("a." * 999 + "a = 1\n") * 200])
def test_toml_that_would_take_all_memory_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="dots"):
        load_toml(text)
    assert load_toml("a.b.c = '...'") == {"a": {"b": {"c": "..."}}}


def _doubled(form: str) -> str:
    names = "abcdefghij"
    lines = (f"{two}: &{two} {form % ', '.join([f'*{one}'] * 9)}\n" for one, two in pairwise(names))
    return "a: &a {k: v}\n" + "".join(lines)


@pytest.mark.parametrize(
    "text", [_doubled("[%s]"), _doubled("{<<: [%s]}"), "a: &a [*a]", "a: 2001-99-99", "[" * 5000, "a: [", "a: *b"]
)
def test_yaml_that_unfolds_without_end_or_is_none_is_refused(text: str) -> None:
    pytest.importorskip("yaml")
    with pytest.raises(ValueError, match=r"."):
        load_yaml(text)
    assert load_yaml("") is None
    assert load_yaml("x: &x {k: [1]}\ny: {<<: *x, z: *x}") == {"x": {"k": [1]}, "y": {"k": [1], "z": {"k": [1]}}}
