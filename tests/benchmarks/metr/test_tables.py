"""The figures of METR's post, recomputed."""

from __future__ import annotations

from repoassay.benchmarks.gittaskbench.papers import check_rates
from repoassay.benchmarks.metr import POST, AxisFigures, Fact


def test_metr_counts_print_as_published_and_agree_with_each_other() -> None:
    axes = POST.read("metr-axes", AxisFigures).row
    for cell in (cell for axis in axes for cell in (axis.failing, axis.passing)):
        (check,) = check_rates([("", cell.percent)], cell.n, 1)
        assert (check.holds, check.k) == (True, cell.k)
    facts = {fact.id: fact for fact in POST.read("metr-results", Fact).row}
    at_least = [facts[name].k or 0 for name in ("problems_3_or_more", "problems_4_or_more", "problems_5")]
    assert sum(axis.failing.k + axis.passing.k for axis in axes) == 57 == 3 * at_least[0] + at_least[1] + at_least[2]
    assert not check_rates([("", facts["success_all"].value)], 18, 1)[0].holds
    assert check_rates([("", facts["success_reviewed"].value)], 15, 1)[0].k == 4
