"""Every rule of output lines: a line that it is for, and a harmless twin."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from diagnosis.dialogue import trajectory
from repoassay.diagnosis import AttemptCase, builtin_rules, diagnose, load_rules
from repoassay.diagnosis.rules import HINTS
from repoassay.errors import BadInput
from repoassay.types.verdict import Outcome

EXAMPLES = tomllib.loads((Path(__file__).parent / "cases" / "lines.toml").read_text("utf-8"))


def test_every_rule_has_its_examples() -> None:
    assert {rule.id for rule in builtin_rules()} == set(EXAMPLES)


@pytest.mark.parametrize("rule", builtin_rules(), ids=lambda rule: rule.id)
def test_a_rule_finds_its_lines_and_leaves_their_twins(rule: object) -> None:
    one = next(found for found in builtin_rules() if found is rule)
    for line in EXAMPLES[one.id]["found"]:
        assert one.pattern.search(line), line
        assert any(hint in line.lower() for hint in HINTS), line
    for line in EXAMPLES[one.id]["silent"]:
        assert not one.pattern.search(line), line


@given(st.text(alphabet="a:/.'\" 0(*\\", max_size=500))
def test_rules_end_on_any_line(line: str) -> None:
    for rule in builtin_rules():
        rule.pattern.search(line)


def test_rules_of_a_user_are_added_and_replace(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        '[[rule]]\nid = "licence-server"\npattern = "licence server unreachable"\nclass = "E1"\n'
        'subclass = "network"\nweight = 0.9\n'
        '[[rule]]\nid = "killed"\npattern = "will not match anything here"\nclass = "E4"\n'
    )
    rules = load_rules(mine)
    assert len(rules) == len(builtin_rules()) + 1
    made = trajectory("@ Run it.\n$ python -m tool\n! licence server unreachable\nD")
    case = AttemptCase(expected=("a.png",), left=(), outcome=Outcome.NO_OUTPUT)
    assert diagnose(made, None, case, rules=rules).label == "E1"
    assert diagnose(made, None, case).classes[0].rule == "stopped-short"


def test_a_change_that_is_there_is_said_where_no_class_fits() -> None:
    made = trajectory("@ Mend it.\nE calc.py\n+ b = 1\nD")
    there = diagnose(made, None, AttemptCase(edit=True, patch="+b = 1\n", outcome=Outcome.FAILED))
    assert (there.label, there.reason) == ("unclear", "no error was left, and a change was handed in")


@pytest.mark.parametrize(
    "text",
    [
        "[[rule]",
        "other = 1",
        '[[rule]]\nid = "a"',
        '[[rule]]\nid="a"\npattern="("\nclass="E1"',
        '[[rule]]\nid="a"\npattern="(a+)+$"\nclass="E1"',
        '[[rule]]\nid="a"\npattern="a"\nclass="E9"',
        '[[rule]]\nid="a"\npattern="a"\nclass="E1"\nsubclass="deception"',
        '[[rule]]\nid="a"\npattern="a"\nclass="E1"\nweight=3',
        '[[rule]]\nid="a"\npattern="a"\nclass="E1"\nscope=["dream"]',
        '[[rule]]\nid="a"\npattern="a"\nclass="E1"\nnonsense=1',
        "rule = 3",
    ],
)
def test_a_wrong_file_of_rules_is_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(text)
    with pytest.raises(BadInput, match=r"mine\.toml"):
        load_rules(mine)


def test_a_missing_file_of_rules_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load_rules(tmp_path / "none.toml")
