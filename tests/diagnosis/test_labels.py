from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from diagnosis.dialogue import cases
from repoassay.diagnosis import ErrorClass, Label, Subclass, diagnose, effective, label_from_text, parse_class
from repoassay.diagnosis.classes import SUBCLASSES, class_of
from repoassay.errors import BadInput

NOW = datetime(2026, 1, 2, tzinfo=UTC)
CASE = cases("listings")[0]
RULES = diagnose(CASE.trajectory, None, CASE.case)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("E1", "E1"),
        ("e-2", "E2"),
        ("E 3", "E3"),
        ("Type E1 - Dependency/Environment Error", "E1"),
        ("error class e4", "E4"),
        ("  E5: Deceptive Completion", "E5"),
        ("type: E\u20132", "E2"),
        ("TYPE E3 Repository Misuse", "E3"),
        ("E_4", "E4"),
    ],
)
def test_classes_in_the_spellings_of_the_paper(text: str, code: str) -> None:
    named = parse_class(text)
    assert (named.code, named.original) == (ErrorClass(code), text)


@pytest.mark.parametrize("text", ["", "E", "E6", "E0", "E12", "Runtime", "see E1", "1"])
def test_other_words_name_no_class(text: str) -> None:
    with pytest.raises(ValueError, match="names no error class"):
        parse_class(text)


def test_every_subclass_has_one_class() -> None:
    assert sorted(part for parts in SUBCLASSES.values() for part in parts) == sorted(Subclass)
    assert class_of(Subclass.DECEPTION) is ErrorClass.E5
    assert all(code.meaning for code in ErrorClass)


def test_people_override_rules_and_the_latest_holds() -> None:
    first = label_from_text("E-3", attempt="a", author="ann", at=NOW)
    second = label_from_text("unclear", attempt="a", author="bob", at=NOW + timedelta(hours=1))
    third = label_from_text("e3 api", attempt="a", author="bob", at=NOW + timedelta(hours=2))
    other = label_from_text("E5", attempt="b", author="ann", at=NOW + timedelta(days=1))
    model = first.model_copy(update={"by": "model", "primary": ErrorClass.E4, "at": NOW + timedelta(days=2)})
    assert effective("a", [], RULES).value == "E1" and effective("a", [model, other], RULES).source == "rules"
    assert effective("a", [second, first, other], RULES).value == "unclear"
    assert effective("a", [second, first], RULES).disputed
    held = effective("a", [third, first, second, model], RULES)
    assert (held.value, held.source, held.disputed) == ("E3", "person", False)
    assert held.label is not None and held.label.author == "bob" and held.label.original == "e3 api"


def test_labels_are_checked_and_survive_json() -> None:
    label = Label(
        attempt="a", author="ann", at=NOW, primary=ErrorClass.E5, subclass=Subclass.DECEPTION, also=(ErrorClass.E1,)
    )
    assert Label.model_validate_json(label.model_dump_json()) == label
    for wrong in (
        {"unclear": True},
        {"subclass": Subclass.NETWORK},
        {"also": (ErrorClass.E5,)},
        {"at": datetime(2026, 1, 1)},  # noqa: DTZ001 - refused for lacking a zone
        {"author": ""},
    ):
        with pytest.raises(ValidationError):
            Label.model_validate({**label.model_dump(), **wrong})
    with pytest.raises(BadInput, match="names no error class"):
        label_from_text("sloppy", attempt="a", author="ann", at=NOW)
    assert label_from_text("None", attempt="a", author="ann", at=NOW).value == "none"
