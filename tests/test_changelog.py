"""Fragments of the changelog bear a type that towncrier knows, and `CHANGELOG.md` takes what it makes of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SETTINGS = PROJECT["tool"]["towncrier"]
FRAGMENTS = [path for path in (ROOT / "changelog.d").iterdir() if path.name not in SETTINGS["ignore"]]


def test_fragments_are_named_topic_and_type_and_say_something() -> None:
    types = "|".join(SETTINGS["fragment"])
    assert types == "added|changed|fixed|removed|security"
    for path in FRAGMENTS:
        assert re.fullmatch(rf"[a-z0-9-]+\.({types})\.md", path.name), path.name
        assert path.read_text("utf-8").rstrip().endswith("."), path.name


def test_the_changelog_has_the_mark_once_and_this_version() -> None:
    text = (ROOT / SETTINGS["filename"]).read_text("utf-8")
    assert text.count(SETTINGS["start_string"]) == 1
    versions = re.findall(r"^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$", text, re.MULTILINE)
    assert versions[0] == PROJECT["project"]["version"] and len(set(versions)) == len(versions)
    assert (ROOT / SETTINGS["template"]).is_file()


def test_the_lock_file_has_this_version() -> None:
    lock = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
    versions = {package["name"]: package["version"] for package in lock["package"] if "version" in package}
    assert versions["repoassay"] == PROJECT["project"]["version"]
