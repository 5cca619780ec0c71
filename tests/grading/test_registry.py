"""Metrics by name: what is found without importing modules is what modules register."""

from __future__ import annotations

import pytest

from repoassay.errors import BadInput
from repoassay.grading.registry import all_metrics, get, module_of, names, plugin_of


def test_the_index_of_names_is_what_modules_register() -> None:
    found = {item.name: item.measure.__module__ for item in all_metrics()}
    assert len(found) > 150
    assert set(names()) == found.keys() and len(names()) == len(found)
    assert {name: module_of(name) for name in names()} == found
    assert all(plugin_of(name) is None for name in found)


def test_a_name_that_is_none() -> None:
    assert "table_row" not in names()
    assert module_of("table_row") == ""
    with pytest.raises(BadInput, match=r"There is no metric 'table_row'. Did you mean table_rows\?"):
        get("table_row")
