"""The page of compatibility is what the plug-ins and the tests say, and names only tools that tests install."""

from __future__ import annotations

import os

from compatibility import PAGE, page, peers, plug_ins, versions
from repoassay.interchange import format_entries


def test_the_page_is_what_plug_ins_and_tests_say() -> None:
    if os.environ.get("REPOASSAY_GOLDEN") == "write":
        PAGE.write_text(page(), "utf-8")
    assert PAGE.read_text("utf-8") == page(), "write it again: .venv/bin/python scripts/compatibility.py"


def test_tests_name_formats_that_exist_and_tools_that_are_installed_for_them() -> None:
    names = {entry.name for entry in format_entries()}
    found = peers()
    assert found.keys() <= names, f"no such format: {sorted(found.keys() - names)}"
    tools = {package for checks in found.values() for package, _ in checks}
    assert tools <= versions().keys()
    assert len(found) >= 8
    assert set(plug_ins().values()) <= versions().keys()
    assert {"harbor", "inspect-ai", "mini-swe-agent", "pytest"} <= set(plug_ins().values())
