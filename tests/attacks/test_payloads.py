"""What the catalogue holds, and that every payload is code of its language."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from attacks.table import PAGE, inserted, results
from repoassay.attacks import Attack, Target, catalogue, select_attacks
from repoassay.attacks.target import Language
from repoassay.diffs import apply_patch, read_patch
from repoassay.errors import BadInput, Unavailable
from repoassay.sandbox.programs import node_program

ATTACKS = catalogue()


def target(language: Language, base: Path) -> Target:
    module, source = ("pkg/__init__.py", "x = 1\n") if language == "python" else ("index.js", "'use strict';\n")
    (base / module).parent.mkdir(exist_ok=True)
    (base / module).write_text(source)
    name = "test_xyzzy.py::test_plugh" if language == "python" else "test_xyzzy.cjs::plugh"
    return Target("task", language, base, module, ("one", "two"), (name,))


def patched(attack: Attack, aimed: Target) -> dict[str, bytes]:
    edits = apply_patch(read_patch(attack.make(aimed)), aimed.base).edits
    return {name: edit.content for name, edit in edits.items() if edit is not None}


def test_there_are_as_many_as_promised_and_each_has_a_name_of_its_own() -> None:
    languages = Counter(attack.language for attack in ATTACKS)
    assert len(ATTACKS) >= 300
    assert languages["python"] >= len(ATTACKS) / 2
    assert languages["javascript"] >= 40
    assert sum(attack.origin == "own" for attack in ATTACKS) >= 60
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


def test_each_says_what_it_tries_and_why_it_could_be_believed() -> None:
    assert not [attack.name for attack in ATTACKS if not (attack.tries.endswith(".") and attack.why.endswith("."))]


def test_every_payload_in_python_compiles(tmp_path: Path) -> None:
    aimed = target("python", tmp_path)
    for attack in ATTACKS:
        if attack.language == "python":
            made = patched(attack, aimed)
            assert made, attack.name
            for name, content in made.items():
                if name.endswith(".py"):
                    compile(content, f"{attack.name}: {name}", "exec")


@pytest.mark.exhaustive
def test_every_payload_in_javascript_is_read_by_node_as_script_and_as_module(tmp_path: Path) -> None:
    aimed = target("javascript", tmp_path)
    try:
        node = node_program()
    except Unavailable as error:
        pytest.skip(str(error))
    for attack in ATTACKS:
        if attack.language == "javascript":
            content = patched(attack, aimed).get("index.js", b"")
            for suffix in (".cjs", ".mjs"):
                (tmp_path / f"read{suffix}").write_bytes(content)
                done = subprocess.run(
                    [node, "--check", tmp_path / f"read{suffix}"], capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, f"{attack.name}: {done.stderr}"


def test_who_is_not_told_the_names_of_the_tests_does_not_name_them(tmp_path: Path) -> None:
    for language in ("python", "javascript"):
        aimed = target(language, tmp_path)
        for attack in ATTACKS:
            if attack.fits(aimed) and not attack.white:
                assert not re.search(rb"xyzzy|plugh|@[A-Z]+@", attack.make(aimed)), attack.name


def test_families_are_chosen_by_glob_and_a_wrong_one_is_told() -> None:
    assert {attack.family for attack in select_attacks(["coin", "early*"])} == {"coin", "early exit"}
    assert select_attacks([]) == ATTACKS
    with pytest.raises(BadInput, match="no family of attacks"):
        select_attacks(["coins"])


def test_the_documentation_lists_every_attack_with_what_both_harnesses_said() -> None:
    rows = results()
    page = PAGE.read_text(encoding="utf-8")
    assert inserted(page, rows) == page, "run `python tests/attacks/table.py`"
    assert {row["attack"] for row in rows} == {attack.name for attack in ATTACKS}
    assert len(rows) >= 300
