"""What a judge is told, and what it never is."""

from __future__ import annotations

from pathlib import Path

import pytest

from judges.cases import DIFF, definition
from repoassay.errors import BadInput
from repoassay.judges.definition import Definition
from repoassay.judges.prompt import bundled_templates, own_templates, prompt_of
from repoassay.review.rubric import read_rubric
from repoassay.review.study import ItemPayload, RaterView, rater_view
from review.samples import RUBRIC, study

REFERENCE = "--- a/ref.py\n+++ b/ref.py\n@@ -1 +1 @@\n-1\n+reference line\n"


def view(**more: str) -> RaterView:
    given = {"title": "Add", "issue": "Make it add.", "rules": "Be brief.", "diff": DIFF, "reference": REFERENCE}
    return rater_view("secret-name", ItemPayload(**given | more), RUBRIC, study(), 7, 9)


def test_it_reads_the_same_words_as_people() -> None:
    for axis in RUBRIC.axes:
        system = prompt_of(definition(), view(), axis.key).system
        assert axis.question in system and axis.guidance.strip() in system and RUBRIC.guidance.strip() in system
        assert all(f'"{level.key}": {level.title}' in system for level in RUBRIC.scale)
    quality = read_rubric("quality")
    seen = rater_view("s", ItemPayload(diff=DIFF), quality, study(quality), 1, 1)
    assert '"0.75": Near human level' in prompt_of(definition(), seen, "quality").system


def test_neither_the_items_name_nor_its_place_nor_its_authors_words_are_told() -> None:
    made = prompt_of(definition(), view(description="I tested it well."), "core")
    for word in ("secret-name", "I tested it well", " 7 ", "of 9"):
        assert word not in made.system + made.user
    told = prompt_of(definition(description=True), view(description="I tested it well."), "core").user
    assert "| I tested it well." in told


def test_the_order_of_two_patches_is_swapped_and_the_reference_cannot_be_cited() -> None:
    plain, swapped = (prompt_of(definition(), view(), "core", swapped=way) for way in (False, True))
    assert plain.user.index("|+    total") < plain.user.index("|+reference line")
    assert swapped.user.index("|+    total") > swapped.user.index("|+reference line")
    assert sorted(plain.user) == sorted(swapped.user.replace(fence(swapped.user), fence(plain.user)))
    assert plain.diff.find("ref.py", "new", 1) is None


def fence(text: str) -> str:
    return text.split("DATA ", 1)[1].split(maxsplit=1)[0]


def test_long_texts_are_cut_and_that_is_said() -> None:
    made = prompt_of(definition(max_text=500, max_diff=1000), view(issue="word " * 1_000, rules="r" * 501), "core")
    assert len(made.cut) == 2 and "1 of 501 characters of RULES are not shown." in made.cut
    assert all(each in made.user for each in made.cut)


def test_every_setting_that_may_change_an_answer_is_in_the_version() -> None:
    first = definition()
    others = [
        definition("scripted/other"), definition(temperature=0.5), definition(max_diff=5_000),
        definition(description=True), first.model_copy(update={"system": first.system + " "}),
        first.model_copy(update={"rubric": "0" * 64}),
    ]  # fmt: skip
    assert len({each.digest for each in (first, *others)}) == 7
    assert definition().digest == first.digest and first.name == f"scripted/judge {first.digest[:12]}"


def test_own_templates_take_the_place_of_ours(tmp_path: Path) -> None:
    (tmp_path / "system.md.j2").write_text("Only {{ axis.key }} of {{ fence }}.")
    system, user = own_templates(tmp_path)
    assert user == bundled_templates()[1]
    own = Definition(model="a/b", rubric=RUBRIC.digest, system=system, user=user, own_prompt=True)
    assert prompt_of(own, view(), "lint").system.startswith("Only lint of ")


@pytest.mark.parametrize(
    "text", ["{{ nothing }}", "{{ axis.__class__.__mro__ }}", "{% for x in range(10**9) %}{% endfor %}"]
)
def test_a_template_that_cannot_be_filled_in_is_one_sentence(text: str) -> None:
    bad = definition().model_copy(update={"system": text})
    with pytest.raises(BadInput, match="judge's templates cannot be filled in"):
        prompt_of(bad, view(), "core")


def test_templates_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="neither"):
        own_templates(tmp_path)
    (tmp_path / "user.md.j2").write_text("{% if %}")
    with pytest.raises(BadInput, match="cannot be used"):
        own_templates(tmp_path)
    (tmp_path / "user.md.j2").write_bytes(b"\xff")
    with pytest.raises(BadInput, match="cannot be used"):
        own_templates(tmp_path)
    (tmp_path / "user.md.j2").write_text("x" * 200_000)
    with pytest.raises(BadInput, match="longer than"):
        own_templates(tmp_path)
