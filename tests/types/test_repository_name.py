from __future__ import annotations

import pytest

from repoassay.types import Repository

SHA = "0" * 64
COMMIT = "1" * 40


@pytest.mark.parametrize(
    ("source", "more", "name"),
    [
        ("pypi:Faker==37.1.0", {"sha256": SHA}, "Faker"),
        ("bundled:tiny-csv", {}, "tiny-csv"),
        ("folder:repository/thing/", {}, "thing"),
        ("git:https://example.org/people/Scrapy.git", {"revision": COMMIT}, "Scrapy"),
        ("git:https://example.org/people/Scrapy/", {"revision": COMMIT}, "Scrapy"),
        ("git:git@example.org:Stegano.git", {"revision": COMMIT}, "Stegano"),
        ("git:https://example.org/all.git", {"revision": COMMIT, "subdirectory": "code_base/PyPDF2"}, "PyPDF2"),
        ("git:/", {"revision": COMMIT}, ""),
    ],
)
def test_the_name_is_the_last_part_of_the_place(source: str, more: dict[str, str], name: str) -> None:
    assert Repository.model_validate({"source": source, "licence": "MIT", **more}).name == name
