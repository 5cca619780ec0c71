from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from repoassay.errors import BadInput
from repoassay.review.rubric import BUNDLED, AnswerRole, Rubric, read_rubric, rubric_from_toml
from review.samples import QUALITY, RUBRIC

TEXT = (files("repoassay.review") / "rubrics" / "mergeable.toml").read_text(encoding="utf-8")


def test_the_bundled_rubrics() -> None:
    assert [axis.key for axis in RUBRIC.axes] == ["core", "testing", "documentation", "lint", "quality"]
    assert [level.role for level in RUBRIC.levels("core")] == list(AnswerRole)[:4]
    assert next(each for each in RUBRIC.questions if each.key == "minutes").chips == (5, 15, 30, 60, 120)
    assert [level.value for level in QUALITY.levels("quality")] == [0, 0.25, 0.5, 0.75, 1]
    assert QUALITY.ordered("quality") and not RUBRIC.ordered("core")


@pytest.mark.parametrize("name", BUNDLED)
def test_a_rubric_survives_json(name: str) -> None:
    rubric = read_rubric(name)
    again = Rubric.model_validate_json(rubric.to_json())
    assert again == rubric and again.digest == rubric.digest


def test_the_digest_is_of_what_is_said_not_of_its_layout() -> None:
    assert rubric_from_toml(TEXT.replace("schema = 1", "# a comment\nschema   =   1")).digest == RUBRIC.digest
    assert rubric_from_toml(TEXT.replace("Lint, format", "Lint and format")).digest != RUBRIC.digest


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ("ccccc", True), ("cccnc", True), ("ncccc", True), ("pcccc", False), ("pnnnn", False), ("punnn", False),
        ("ucccc", None), ("cccc", None), ("nnnnn", None), ("pccc", False),
    ],
)  # fmt: skip
def test_mergeable_only_if_no_applicable_axis_has_a_problem(states: str, expected: bool | None) -> None:
    names = {"p": "problem", "c": "no_problem", "n": "not_applicable", "u": "unsure"}
    given = {axis.key: names[letter] for axis, letter in zip(RUBRIC.axes, states, strict=False)}
    assert RUBRIC.mergeable(given) is expected


def test_quality_derives_nothing() -> None:
    assert QUALITY.mergeable({"quality": "1"}) is None and QUALITY.problems({"quality": "0"}) == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("schema = 1", "schema = 2", "schema"),
        ("schema = 1", "", "schema"),
        ('rule = "no_problem"', 'rule = "some_problem"', "rule"),
        ('key = "testing"', 'key = "core"', "axis 'core' appears twice"),
        ('key = "unsure"', 'key = "problem"', "'problem' appears twice"),
        ('role = "clear"', 'role = "unsure"', "needs states of roles problem and clear"),
        ('role = "clear"', "", "needs either a `role` or a `value`"),
        ('role = "clear"', 'role = "fine"', "scale.1.role"),
        ('title = "Core functionality"\n', "", "axes.0.title"),
        ('title = "Core functionality"', 'title = "Core"\ncolour = "red"', "axes.0.colour"),
        ('kind = "minutes"', 'kind = "text"', "must be of kind 'minutes'"),
        ('kind = "text"', 'kind = "choice"', "must be of kind 'text'"),
        ("chips = [1, 2, 3, 4, 5]", "chips = [1, 9]", "confidence"),
        ("chips = [1, 2, 3, 4, 5]", "", "needs `chips`"),
        ('key = "core"', 'key = "../core"', "axes.0.key"),
        ("schema = 1", "schema = [", "is not TOML"),
    ],
)
def test_a_wrong_rubric_is_one_sentence(old: str, new: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        rubric_from_toml(TEXT.replace(old, new, 1), "mine.toml")
    assert said in str(caught.value) and str(caught.value).startswith("mine.toml") and "\n" not in caught.value.message


def test_files_that_are_not_rubrics(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Did you mean mergeable"):
        read_rubric("mergable")
    (tmp_path / "latin.toml").write_bytes(b"schema = 1 # \xff")
    with pytest.raises(BadInput, match="cannot be read"):
        read_rubric(tmp_path / "latin.toml")
    (tmp_path / "large.toml").write_text("#" * 300_000)
    with pytest.raises(BadInput, match="larger than"):
        read_rubric(tmp_path / "large.toml")
    with pytest.raises(BadInput):
        rubric_from_toml("a = " + "[" * 5000)
    with pytest.raises(BadInput, match="no rubric"):
        read_rubric(tmp_path)


def test_a_rubric_of_ones_own(tmp_path: Path) -> None:
    place = tmp_path / "own.toml"
    place.write_text(
        'schema = 1\nname = "own"\nversion = "2"\ntitle = "Readable?"\n'
        '[[axes]]\nkey = "names"\ntitle = "Names"\nquestion = "Are names good?"\n'
        '[[axes.scale]]\nkey = "bad"\ntitle = "Bad"\nvalue = 0\n'
        '[[axes.scale]]\nkey = "good"\ntitle = "Good"\nvalue = 2\n'
    )
    assert [level.key for level in read_rubric(place).levels("names")] == ["bad", "good"]
    with pytest.raises(KeyError):
        read_rubric(place).levels("other")
