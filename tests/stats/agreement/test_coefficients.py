"""Agreement coefficients: the published data, statsmodels, and what relabelling and reordering must not change."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from repoassay.stats import (
    Figure,
    Ratings,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
)

# Krippendorff (2011), section C: four observers, twelve units, seven ratings missing.
OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "1233244125 1."]
KRIPPENDORFF: list[list[int | None]] = [
    [None if said == "." else int(said) for said in unit]
    for unit in zip(*(observer.replace(" ", "") for observer in OBSERVERS), strict=True)
]
# Fleiss' textbook table: ten units, fourteen raters, five categories.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
COEFFICIENTS: list[Callable[[Ratings], Figure]] = [percent_agreement, fleiss_kappa, gwet_ac1, krippendorff_alpha]
UNITS = st.integers(2, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([None, 1, 2, 3]), min_size=raters, max_size=raters), min_size=1, max_size=15
    )
)


def units_of(table: list[list[int]]) -> list[list[int]]:
    """The ratings behind a table of counts."""
    return [[label for label, count in enumerate(row) for _ in range(count)] for row in table]


def two(a: int, b: int, c: int, d: int) -> tuple[list[int], list[int]]:
    """Two raters: both yes, first alone, second alone, both no."""
    return [1] * (a + b) + [0] * (c + d), [1] * a + [0] * b + [1] * c + [0] * d


@pytest.mark.parametrize(
    ("scale", "alpha"), [("nominal", 0.743421), ("ordinal", 0.815388), ("interval", 0.849107), ("ratio", 0.797403)]
)
def test_krippendorffs_example(scale: str, alpha: float) -> None:
    found = krippendorff_alpha(KRIPPENDORFF, scale)  # type: ignore[arg-type]  # a parameter of a test is a plain string
    assert found.value == pytest.approx(alpha, abs=5e-7)
    assert (found.method, found.n) == (f"Krippendorff's alpha, {scale}", 11)


def test_the_other_coefficients_of_the_same_data() -> None:
    assert gwet_ac1(KRIPPENDORFF).value == pytest.approx(0.77544, abs=5e-6)
    assert fleiss_kappa(KRIPPENDORFF).value == pytest.approx(0.76117, abs=5e-6)
    assert gwet_ac2(KRIPPENDORFF, "ordinal").value == pytest.approx(0.89894, abs=5e-6)
    assert gwet_ac2(KRIPPENDORFF, "quadratic").value == pytest.approx(0.91400, abs=5e-6)


def test_the_textbook_tables() -> None:
    assert fleiss_kappa(units_of(FLEISS)).value == pytest.approx(0.209931, abs=5e-7)
    assert cohen_kappa(*two(20, 5, 10, 15)).value == pytest.approx(0.4, abs=1e-12)


def test_tests_against_core_and_against_mergeable() -> None:
    core = two(3, 1, 0, 11)
    units = list(zip(*core, strict=True))
    assert cohen_kappa(*core).value == pytest.approx(0.8148, abs=5e-5)
    assert gwet_ac1(units).value == pytest.approx(0.89619, abs=5e-6)
    assert krippendorff_alpha(units).value == pytest.approx(0.81988, abs=5e-6)
    mergeable = two(0, 4, 0, 11)
    units = list(zip(*mergeable, strict=True))
    assert percent_agreement(units).value == pytest.approx(11 / 15)
    assert cohen_kappa(*mergeable).value == pytest.approx(0.0, abs=1e-12)
    assert gwet_ac1(units).value == pytest.approx(0.65318, abs=5e-6)
    assert krippendorff_alpha(units).value == pytest.approx(-0.11538, abs=5e-6)


def test_nobody_mergeable_is_undefined_with_its_reason() -> None:
    units = [["no", "no", None]] * 15
    for coefficient in (krippendorff_alpha, fleiss_kappa):
        assert coefficient(units).value is None
        assert coefficient(units).undefined == "no variation (all raters chose no)"
        assert coefficient(units).n == 15
    assert cohen_kappa(["no"] * 15, ["no"] * 15).undefined == "no variation (all raters chose no)"
    assert cohen_kappa(["no"] * 15, ["no"] * 15, "ordinal", ["no", "yes"]).undefined != ""
    assert gwet_ac1(units, ["no", "yes"]).value == 1.0
    assert gwet_ac2(units, "ordinal", ["no", "yes"]).value == 1.0
    assert "only one category is known (no)" in gwet_ac1(units).undefined
    assert percent_agreement(units).value == 1.0
    # Each rater is constant, but not the same: chance is zero, and so is agreement.
    assert cohen_kappa(["no"] * 3, ["yes"] * 3).value == 0.0


@pytest.mark.parametrize("ratings", [[], [[]], [[None, None]], [[1, None], [None, 2]]])
def test_nothing_to_compare(ratings: Ratings) -> None:
    for coefficient in COEFFICIENTS:
        assert coefficient(ratings).undefined == "no unit has two ratings to compare"
        assert coefficient(ratings).n == 0
    assert cohen_kappa([1, None], [None, 2]).undefined == "no unit was rated by both"


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_cohen_is_that_of_statsmodels(pairs: list[tuple[int, int]]) -> None:
    from statsmodels.stats import inter_rater

    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    table = [[sum(pair == (i, j) for pair in pairs) for j in range(4)] for i in range(4)]
    for weights, theirs in (("nominal", None), ("linear", "linear"), ("quadratic", "quadratic")):
        found = cohen_kappa(first, second, weights, range(4))  # type: ignore[arg-type]  # plain strings again
        if found.defined:
            expected = inter_rater.cohens_kappa(table, wt=theirs, return_results=False)
            assert found.value == pytest.approx(expected, abs=1e-9)
        else:
            assert len(set(first + second)) == 1


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=15))
def test_fleiss_is_that_of_statsmodels(units: list[list[int]]) -> None:
    from statsmodels.stats import inter_rater

    found = fleiss_kappa(units)
    if found.defined:
        table = [[unit.count(label) for label in range(4)] for unit in units]
        assert found.value == pytest.approx(inter_rater.fleiss_kappa(table), abs=1e-9)
    else:
        assert len({label for unit in units for label in unit}) == 1


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=25))
def test_alpha_of_two_raters_is_its_textbook_form(pairs: list[tuple[int, int]]) -> None:
    """1 - (2N - 1) disagreements / pairs of unlike values among all 2N (Krippendorff 2011, section B)."""
    values = [value for pair in pairs for value in pair]
    unlike = sum(a != b for i, a in enumerate(values) for b in values[i + 1 :])
    found = krippendorff_alpha(pairs)
    if unlike:
        expected = 1 - (len(values) - 1) * sum(a != b for a, b in pairs) / unlike
        assert found.value == pytest.approx(expected, abs=1e-9)
    else:
        assert not found.defined


@pytest.mark.by_day(2)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@given(units=UNITS, order=st.sampled_from(list(permutations(["a", "b", "c"]))))
def test_names_raters_and_order_do_not_matter(
    coefficient: Callable[[Ratings], Figure], units: list[list[int | None]], order: tuple[str, str, str]
) -> None:
    found = coefficient(units)
    renamed: list[list[Hashable | None]] = [
        [None if label is None else order[label - 1] for label in unit] for unit in units
    ]
    for other in (renamed, units[::-1], [unit[::-1] for unit in units], [[*unit, None] for unit in units]):
        again = coefficient(other)
        assert (again.value is None) == (found.value is None)
        assert again.n == found.n
        if found.value is not None:
            assert again.value == pytest.approx(found.value, abs=1e-9)


@pytest.mark.by_day(2)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@given(units=UNITS)
def test_it_is_one_only_where_all_agree_and_never_above(
    coefficient: Callable[[Ratings], Figure], units: list[list[int | None]]
) -> None:
    found = coefficient(units)
    agreed = all(len({label for label in unit if label is not None}) < 2 for unit in units)
    assert (found.value is None) == bool(found.undefined)
    if found.value is not None:
        assert found.value <= 1 + 1e-9
        assert (found.value == pytest.approx(1.0)) == agreed


@given(UNITS)
def test_scales_agree_where_they_must(units: list[list[int | None]]) -> None:
    binary = [[None if label is None else min(label, 2) for label in unit] for unit in units]
    nominal = krippendorff_alpha(binary)
    for scale in ("ordinal", "interval", "ratio"):
        found = krippendorff_alpha(binary, scale)
        assert (found.value is None) == (nominal.value is None)
        if nominal.value is not None:
            assert found.value == pytest.approx(nominal.value, abs=1e-9)
    shifted = [[None if label is None else 10 * label - 7 for label in unit] for unit in units]
    for scale in ("ordinal", "interval"):
        one, other = krippendorff_alpha(units, scale), krippendorff_alpha(shifted, scale)  # type: ignore[arg-type]  # plain
        assert one.value == (None if other.value is None else pytest.approx(other.value, abs=1e-9))


def test_order_can_be_given_and_must_be_where_there_is_none() -> None:
    words = [["low", "mid"], ["mid", "high"], ["high", "high"], ["low", "low"]]
    numbers = [[{"low": 1, "mid": 2, "high": 3}[word] for word in unit] for unit in words]
    scale = ["low", "mid", "high"]
    assert krippendorff_alpha(words, "ordinal", scale).value == krippendorff_alpha(numbers, "ordinal").value
    assert gwet_ac2(words, "quadratic", scale).value == gwet_ac2(numbers, "quadratic").value
    mixed: Ratings = [["a", 1], [2, "b"]]
    with pytest.raises(ValueError, match="no order of their own"):
        krippendorff_alpha(mixed, "ordinal")
    with pytest.raises(ValueError, match="not one of the categories"):
        gwet_ac1([["a", "b"]], ["a"])
    with pytest.raises(ValueError, match="named twice"):
        gwet_ac1([["a", "b"]], ["a", "b", "a"])
    with pytest.raises(ValueError, match="not a number"):
        krippendorff_alpha(words, "interval")
    with pytest.raises(ValueError, match="not a number"):
        krippendorff_alpha([[1, -1]], "ratio")
    with pytest.raises(ValueError, match="no scale"):
        krippendorff_alpha([[1, 2]], "cubic")  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(ValueError, match="no weights"):
        gwet_ac2([[1, 2]], "cubic")  # type: ignore[arg-type]  # the same
    with pytest.raises(ValueError, match="NaN"):
        krippendorff_alpha([[1.0, float("nan")]])
    with pytest.raises(ValueError, match="units"):
        cohen_kappa([1], [1, 2])
