"""Bits are no more than a forger has to guess: simulated attackers, and what assertions of each form are worth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from repoassay.engine.grading_context import GradingContext
from repoassay.grading.oracle.assurance_bits import key_of_node
from repoassay.grading.oracle.bits import ValueBits, bits_of, weigh_all
from repoassay.grading.oracle.guesses import Key, kind_of
from repoassay.grading.oracle.observer import encode
from repoassay.grading.oracle.reference import Occurrence, Reference
from repoassay.grading.oracle.rewrite import rewrite
from repoassay.grading.registry import names
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite
from repoassay.workspace.preparation import lay_out


def bits(statement: str, *values: object, telling: bool = True, instruction: str = "") -> float:
    """Bits of a test of one assertion that receives these operands."""
    file = rewrite(f"import pytest\nfrom code import f, g\n\n\ndef test_it():\n    {statement}\n")
    seen = Occurrence(site=0, nodes=[encode(value) for value in values], telling=telling)
    return bits_of({"test_it.py": file}, {"test_it.py::test_it": (seen,)}, instruction)[1]


def test_what_is_plausible_is_worth_little() -> None:
    assert bits("assert f(5) is None", None) < 3
    assert bits("assert f(5) == 5", 5) < 2
    assert bits("assert f('ab cd') == 'AB CD'", "AB CD") < 6
    assert bits("assert f([3, 1, 2]) == [1, 2, 3]", [1, 2, 3]) < 6
    assert bits("assert f(2)", False) == 0  # that is `not f(2)`, which nearly every test expects to be false


def test_what_is_not_is_worth_more() -> None:
    assert bits("assert f(5) == 'qvz-71 Kwx'", "qvz-71 Kwx") > 10
    assert bits("assert f(5) == 8675309", 8675309) > 10
    assert bits("assert f(5) == [91, 'vq', 7.25, 'wz']", [91, "vq", 7.25, "wz"]) > 10


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("assert 'qvz-71' in f(5)", "a long text with qvz-71 in it"),
        ("assert f(5) != 'qvz-71'", "uninteresting, but odd: 4711"),
        ("assert 'qvz-71' not in f(5)", "uninteresting, but odd: 4711"),
        ("assert f(5) > 41", 4711),
        ("assert 3 < f(5) <= 4711", 4711),
    ],
)
def test_what_many_values_satisfy_counts_next_to_nothing(statement: str, value: object) -> None:
    assert bits(statement, value) <= 1


def test_an_exception_says_what_is_asked_for() -> None:
    file = rewrite(
        "import pytest\nfrom code import f\n\n\ndef test_it():\n    with pytest.raises(ValueError):\n        f(1)\n"
    )
    node = ["exc", "builtins.ValueError", ["builtins.ValueError", "builtins.Exception"], ["tuple", "qvz-71"], "qvz-71"]
    seen = Occurrence(site=0, nodes=[node])
    assert bits_of({"t.py": file}, {"t.py::test_it": (seen,)})[1] == 0


def test_the_start_of_a_text_is_worth_what_the_start_is() -> None:
    whole = "qvz-71 Kwx and on it goes"
    assert bits("assert f(5).startswith('5')", "5 qvz-71 Kwx") < 6
    assert bits("assert f(5).startswith('qvz-71 Kwx')", whole) > 10


def test_a_tolerance_makes_a_number_cheaper() -> None:
    exact = bits("assert f(5) == 3.14159265", 3.14159265)
    near = bits("assert f(5) == pytest.approx(3.14159265, abs=0.5)", 3.14159265)
    assert near < exact


def test_one_of_several_is_worth_the_easiest() -> None:
    assert bits("assert f(5) in ('qvz-71 Kwx', None)", "qvz-71 Kwx") < 3


def test_what_the_instruction_or_the_base_says_is_cheap() -> None:
    odd = "qvz-71 Kwx"
    told = bits("assert f(5) == 'qvz-71 Kwx'", odd, instruction="f should return 'qvz-71 Kwx' for 5.")
    assert told < 7 < bits("assert f(5) == 'qvz-71 Kwx'", odd)
    assert bits("assert f(5) == 'qvz-71 Kwx'", odd, telling=False) == 0


def test_a_value_is_guessed_once() -> None:
    file = rewrite(
        "from code import f\n\n\ndef test_it():\n    assert f(1) == 'qvz-71 K'\n    assert f(2) == 'qvz-71 K'\n"
    )
    both = tuple(Occurrence(site=site, nodes=["qvz-71 K"]) for site in (0, 1))
    once = bits_of({"t.py": file}, {"t.py::test_it": both[:1]})[1]
    assert bits_of({"t.py": file}, {"t.py::test_it": both})[1] == once > 0


def test_nobody_is_asked_for_what_nobody_can_tell() -> None:
    assert bits("assert f(5) == g(5)", iter([])) == 0
    assert bits("assert f(5) == 7", *()) == 0


# Attackers, each with an oracle that says right or wrong of one value at a time


def listed(one: ValueBits) -> Iterator[Key]:
    """Whatever the generator says, in its order."""
    return iter(one.guesses)


def of_the_right_kind(one: ValueBits) -> Iterator[Key]:
    """The same for who somehow knows what sort of value it is."""
    kind = kind_of(key_of_node(one.node))
    return (key for key in one.guesses if kind_of(key) == kind)


def counting(one: ValueBits) -> Iterator[Key]:
    """Numbers, up and down."""
    return itertools.chain.from_iterable((number, -number) for number in range(20_000))


def short_words(one: ValueBits) -> Iterator[Key]:
    """Words of one, two and three letters and digits."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    return ("".join(word) for size in (1, 2, 3) for word in itertools.product(letters, repeat=size))


def short_lists(one: ValueBits) -> Iterator[Key]:
    """Lists of what stands near."""
    items = list(itertools.islice(one.guesses, 24))
    return (("q", *made) for size in (0, 1, 2, 3) for made in itertools.product(items, repeat=size))


ATTACKERS = (listed, of_the_right_kind, counting, short_words, short_lists)


def tries(one: ValueBits, attacker: Callable[[ValueBits], Iterator[Key]]) -> float:
    """How many guesses an attacker takes to come to a value; all of them and more when it does not come to it."""
    wanted, count = key_of_node(one.node), 0
    for count, key in enumerate(attacker(one), 1):
        if key == wanted:
            return count
    return math.inf


@pytest.mark.by_day(1)
@pytest.mark.parametrize("task", ["edit-cachetools-peek", "edit-boltons-negative-ranges", "edit-ledger-monthly"])
@pytest.mark.long
def test_attackers_need_as_many_guesses_as_the_bits_say(task: str) -> None:
    folder, reference = recorded(task)
    values = [
        one for one in weigh_all(reference.files, reference.expected, folder.instruction) if one.demand.kind == "hit"
    ]
    assert len(values) > 8
    for attacker in ATTACKERS:
        found = [(one, count) for one in values if (count := tries(one, attacker)) < math.inf]
        spare = [math.log2(count) - (one.bits - 1) for one, count in found]
        assert sum(spare) >= 0, attacker.__name__
    best = [(min(tries(one, attacker) for attacker in ATTACKERS), one) for one in values]
    beaten = [one for count, one in best if count < 2 ** (one.bits - 1)]
    assert len(beaten) <= len(values) / 10, [one.node for one in beaten]


def test_candidates_come_once_and_rank_tells_when() -> None:
    folder, reference = recorded("edit-cachetools-peek")
    one = next(iter(weigh_all(reference.files, reference.expected, folder.instruction)))
    keys = list(one.guesses)
    assert len(keys) == len(set(keys)) == len(one.guesses) > 2000
    assert all(one.guesses.rank(key) == place for place, key in enumerate(keys, 1))


@cache
def recorded(name: str) -> tuple[TaskFolder, Reference]:
    """A bundled task and its reference."""
    suite = find_suite("starter", metrics=names(), only=(name,))
    store = Cache()
    bench = GradingContext(suite.repositories, store, open_sandbox("namespaces", store))
    layout = lay_out(suite.tasks[0], suite.repositories, store, bench.sandbox)
    reference = bench.oracle.reference(suite.tasks[0], layout.base, layout.environment)
    assert reference is not None
    return suite.tasks[0], reference


def test_literals_of_imported_modules_are_read(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("TABLE = ['qvz-71 Kwx', 'other']\n")
    file = rewrite("from code import f\n\n\ndef test_it():\n    assert f(5) == 'qvz-71 Kwx'\n")
    seen = {"t.py::test_it": (Occurrence(site=0, nodes=["qvz-71 Kwx"]),)}
    assert bits_of({"t.py": file}, seen, "", tmp_path)[1] < bits_of({"t.py": file}, seen)[1]
