from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.review.study import (
    ChangedFile,
    Golden,
    HiddenPart,
    Item,
    ItemPayload,
    Reveal,
    blinded,
    check_study,
    opaque_names,
    rater_view,
)
from repoassay.types import RatingPhase
from review.samples import RUBRIC, items, study

SECRET = HiddenPart(
    task="task-7", system="hydra+model-x", agent="hydra", model="model-x", run="run-9", attempt="attempt-3", tests=True,
    golden=Golden.BAD, flagged="looked upstream", origin="real", evidence={"judge": {"core": "problem-by-judge"}},
)  # fmt: skip
PAYLOAD = ItemPayload(
    title="hydra: fix",
    issue="The tool crashes",
    description="Made on branch hydra/run-9 by hydra with model-x.\n\nAuthor: Somebody <a@b.org>",
    diff="diff --git a/hydra.txt b/hydra.txt\n--- /dev/null\n+++ b/hydra.txt\n@@ -0,0 +1 @@\n+model-x was here\n",
    files=(ChangedFile(path="hydra.txt", status="added", additions=1),),
    reference="--- a/x\n+++ b/x\n",
)


def test_what_a_rater_sees_holds_nothing_hidden() -> None:
    clean = blinded(PAYLOAD, ["hydra", "model-x", "hydra+model-x"], ["hydra/run-9"])
    view = rater_view("s5abc", clean, RUBRIC, study(), 3, 10).model_dump_json()
    for secret in ("hydra", "model-x", "run-9", "attempt-3", "task-7", "upstream", "by-judge", "a@b.org", "Somebody"):
        assert secret not in view.replace(RUBRIC.model_dump_json(), ""), secret
    assert "The tool crashes" in view


def test_blinding_leaves_the_lines_of_the_diff() -> None:
    clean = blinded(PAYLOAD, ["hydra", "model-x"])
    assert clean.diff.count("\n") == PAYLOAD.diff.count("\n")
    # The list of files and the diff still name the same file.
    assert f"+++ b/{clean.files[0].path}" in clean.diff


@pytest.mark.parametrize(("policy", "shown"), [("blind", True), ("revealed", False), ("never", False)])
def test_the_reference_is_shown_as_the_study_says(policy: str, shown: bool) -> None:
    view = rater_view("s1", PAYLOAD, RUBRIC, study(reference=policy), 1, 1)
    assert (view.payload.reference is not None) is shown


def test_opaque_names() -> None:
    names = opaque_names(7, 500)
    assert len(set(names)) == 500 and names == opaque_names(7, 500) and names[:5] != opaque_names(8, 5)
    assert all(len(name) == 9 for name in names)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"phases": (RatingPhase.REVEALED,)}, "phases must be"),
        ({"phases": (RatingPhase.BLIND, RatingPhase.REVEALED)}, "needs `reveal`"),
        ({"lease_seconds": 1}, "lease_seconds"),
        ({"overlap": 0}, "overlap"),
        ({"name": "../x"}, "name"),
        ({"colour": "red"}, "colour"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_study_that_cannot_be(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        study(**more)


def test_a_study_must_fit_its_items() -> None:
    check_study(study(reveal=Reveal.AFTER_CLOSE), RUBRIC, items())
    with pytest.raises(BadInput, match="another rubric"):
        check_study(study().model_copy(update={"rubric": "0" * 64}), RUBRIC, items())
    with pytest.raises(BadInput, match="no items"):
        check_study(study(), RUBRIC, [])
    with pytest.raises(BadInput, match="appears twice"):
        check_study(study(), RUBRIC, [*items(1), *items(1)])
    control = Item(id="g1", hidden=HiddenPart(task="t", golden=Golden.GOOD))
    with pytest.raises(BadInput, match="controls made of that change"):
        check_study(study(), RUBRIC, [control])
    check_study(study(reference="revealed"), RUBRIC, [control])
