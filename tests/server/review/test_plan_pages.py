"""A lead's page of the plan: written, frozen, amended; items out of the figures and back."""

from __future__ import annotations

from repoassay.review.plan_store import amendments_of, inclusions_of, plan_of
from repoassay.review.studies import item_names
from repoassay.server.review.review_state import ReviewState
from server.review.samples import SECRETS, Person


def test_a_plan_is_written_frozen_and_amended(owner: Person, desk: ReviewState) -> None:
    owner.study(question="Before")
    words = {"question": "Are they mergeable?", "sampling_frame": "all", "raters": "two", "analysis": "the figures"}
    before = plan_of(desk.database, "st")
    assert owner.form("/studies/st/plan", **words).status_code == 200
    stored = plan_of(desk.database, "st")
    assert before is not None and stored is not None and stored.plan.question == "Are they mergeable?"
    assert stored.digest != before.digest and stored.plan.agents == before.plan.agents
    assert owner.form("/studies/st/plan/amend", author="Ann", change="c", reason="r").status_code == 422
    assert owner.form("/studies/st/plan/freeze").status_code == 422
    assert owner.form("/studies/st/plan/freeze", sure="on").status_code == 200
    assert stored.digest in owner.get("/studies/st/plan").text
    refused = owner.form("/studies/st/plan", **words)
    assert refused.status_code == 422 and "was frozen at" in refused.text
    assert owner.form("/studies/st/plan/amend", author="Ann", change=" ", reason="r").status_code == 422
    told = owner.form("/studies/st/plan/amend", author="Ann", change="Less <b>", reason="Why")
    assert told.status_code == 200 and "Less &lt;b&gt;" in told.text
    assert [each.change for each in amendments_of(desk.database, "st")] == ["Less <b>"]


def test_an_item_goes_out_of_the_figures_and_back_in_blind(owner: Person, desk: ReviewState) -> None:
    owner.study()
    item = item_names(desk.database, "st")[0]
    before = len(inclusions_of(desk.database, "st"))
    assert owner.form("/studies/st/plan/items", item=item, included="no", reason="").status_code == 422
    assert owner.form("/studies/st/plan/items", item="nothing", included="no", reason="x").status_code == 422
    told = owner.form("/studies/st/plan/items", item=item, included="no", reason="A broken base")
    assert "Out because" in told.text and "A broken base" in told.text
    text = told.text.partition("Items in and out")[2]
    assert not any(word in text for word in SECRETS)
    told = owner.form("/studies/st/plan/items", item=item, included="yes", reason="Mended")
    assert "Out because" not in told.text
    assert len(inclusions_of(desk.database, "st")) == before + 2
