"""What an attacker sees of a task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repoassay.attacks import AttackGround, aim
from repoassay.errors import BadInput


def test_the_module_that_the_tests_load_first_and_the_words_of_the_instruction(
    grounds: dict[str, AttackGround],
) -> None:
    found = {name: ground.target for name, ground in grounds.items()}
    assert found["inflection-pluralize-count"].module == "inflection/__init__.py"
    assert found["cachetools-resize"].module == "src/cachetools/__init__.py"
    assert found["inflection-pluralize-count"].words[:1] == ("pluralize",)
    assert found["inflection-pluralize-count"].files == ("test_script.py",)
    assert "pluralize" in found["script"].defined
    if "ms-compound" in found:
        assert (found["ms-compound"].module, found["ms-compound"].language) == ("index.js", "javascript")


def test_tests_that_load_nothing_of_the_repository_are_told(grounds: dict[str, AttackGround]) -> None:
    ground = grounds["script"]
    with pytest.raises(BadInput, match="load no file of its repository"):
        aim(ground.folder, ground.layout.inputs)
    assert replace(ground.target, module="one.py").package == "one"
