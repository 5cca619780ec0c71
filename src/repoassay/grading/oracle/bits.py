"""What a forger would have to guess, in bits, by what each assertion asks and where its value stands in a guess list.

An estimate by operation: how many tries a real generator of guesses takes (`guesses.py`), not how many values there
are. A value is guessed once in a task. What the base yields, what changes between runs and what very many values would
satisfy counts nothing.
"""

from __future__ import annotations

import ast
import contextlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repoassay.errors import BadInput
from repoassay.grading.hidden_tests.parsing import parse
from repoassay.grading.oracle.assurance_bits import BitsPerTest, KnownValues
from repoassay.grading.oracle.guesses import Common, Guesses
from repoassay.grading.oracle.hits import Demand, demand_of
from repoassay.grading.oracle.literals import LiteralReader
from repoassay.grading.oracle.sites import Rewritten, SiteMode
from repoassay.tasks import read_regular

if TYPE_CHECKING:
    from repoassay.grading.oracle.reference import Occurrence

__all__ = ["ValueBits", "bits_of", "literals_of_imports", "weigh_all"]

_ROOM = 50_000
"""How many candidates a forged container holds; a text of 1 MiB holds about as many."""


@dataclass(frozen=True, slots=True)
class ValueBits:
    """One value that counts: of which test and site, the candidates at its place, what is asked, and its bits."""

    test: str
    site: int
    node: Any
    guesses: Guesses
    demand: Demand
    bits: float


def bits_of(
    files: Mapping[str, Rewritten],
    expected: Mapping[str, Sequence[Occurrence]],
    instruction: str = "",
    base: Path | None = None,
) -> tuple[dict[str, float], float]:
    """Bits of each test, and of the task, in which a value that is expected twice is guessed once.

    Args:
        files: The rewritten test files.
        expected: What the reference yields in each test, in order.
        instruction: What the task asks; what stands in it is guessed early.
        base: The checkout of the base, whose literals are guessed too.
    """
    bits = dict.fromkeys(expected, 0.0)
    for one in weigh_all(files, expected, instruction, base):
        bits[one.test] += one.bits
    bits = {test: round(each, 1) for test, each in bits.items()}
    return bits, round(math.fsum(bits.values()), 1)


def weigh_all(
    files: Mapping[str, Rewritten],
    expected: Mapping[str, Sequence[Occurrence]],
    instruction: str = "",
    base: Path | None = None,
) -> Iterator[ValueBits]:
    """Every value that counts, in order; see `bits_of`."""
    places = {name: _Places(file, instruction, base) for name, file in files.items()}
    known = KnownValues()
    for occurrences in expected.values():
        for one in occurrences:
            if not one.telling:
                for node in one.nodes:
                    known.suggest(node)
    for test, occurrences in expected.items():
        place = places[test.partition("::")[0]]
        reached: Counter[int] = Counter()
        for one in occurrences:
            reached[one.site] += 1
            if one.stable and one.telling:
                yield from place.weighed(test, one, reached[one.site] - 1, known)


class _Places:
    """The sites of a file, and the candidates at each."""

    def __init__(self, file: Rewritten, instruction: str, base: Path | None) -> None:
        self._sites = {site.number: site for site in file.sites}
        self._definitions = file.definitions
        self._reader = LiteralReader(file.source)
        near = literals_of_imports(self._reader.tree, base) if base is not None else []
        self._common = Common(self._reader, instruction, near)
        self._guesses: dict[tuple[int, int, tuple[int, ...]], Guesses] = {}

    def weighed(self, test: str, one: Occurrence, time: int, known: KnownValues) -> Iterator[ValueBits]:
        """The operands of one occurrence, each with its bits; `known` learns them."""
        site = self._sites[one.site]
        demand = demand_of(site, one.nodes, self._definitions)
        if site.mode is SiteMode.OBSERVED:  # the other operand stands beside it, to be read and sent
            for node in one.nodes:
                known.add(node)
            return
        if demand.kind == "nothing":
            return
        rows = tuple(row for place in site.pinned if type(row := one.nodes[place]) is int)
        for place, node in enumerate(one.nodes):
            if place in site.pinned:
                continue
            guesses = self._at(one.site, place if len(one.nodes) > 1 else time, rows)
            bits = _bits(demand, node, BitsPerTest(guesses, known, self._common))
            known.add(node)
            if bits > 0:
                yield ValueBits(test, one.site, node, guesses, demand, bits)

    def _at(self, site: int, place: int, rows: tuple[int, ...]) -> Guesses:
        place %= self._reader.count(site)
        found = self._guesses.get((site, place, rows))
        if found is None:
            found = self._guesses[site, place, rows] = Guesses(self._common, self._reader.around(site, place, rows))
        return found


def _bits(demand: Demand, node: Any, worth: BitsPerTest) -> float:
    match demand.kind:
        case "hit":
            return worth.bits(node)
        case "near":
            return worth.near(node, demand.slack)
        case "one":
            return min([worth.bits(value) for value in demand.values if _scalar(value)] or [0.0])
        case "holds":
            bits = [worth.bits(value) for value in demand.values if _scalar(value)]
            return max(0.0, min(bits or [0.0]) - math.log2(_ROOM))
        case "starts" | "ends":
            return min([worth.edge(value, demand.kind) for value in demand.values if isinstance(value, str)] or [0.0])
    return 0.0


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int)


_FILES, _SIZE, _MANY = 12, 400_000, 1500


def literals_of_imports(tree: ast.Module, base: Path) -> list[Any]:
    """Tables of the modules that are imported, then their short texts and numbers."""
    tables: list[Any] = []
    small: dict[tuple[type, Any], None] = {}
    for file in list(dict.fromkeys(_files(tree, base)))[:_FILES]:
        try:
            module = parse(read_regular(file, _SIZE).decode("utf-8", "replace"))
        except (OSError, BadInput, SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(module):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str | int | float)
                and len(str(node.value)) < 80
            ):
                small[type(node.value), node.value] = None
            elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, _DISPLAYS):
                with contextlib.suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                    tables.append(ast.literal_eval(node.value))
    return [*tables[:_FILES], *(value for _, value in list(small)[:_MANY])]


_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def _files(tree: ast.Module, base: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules: list[tuple[str, tuple[str, ...]]] = [(alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [(node.module, tuple(alias.name for alias in node.names))]
        else:
            continue
        for module, names in modules:
            for name in (module, *(f"{module}.{each}" for each in names)):
                yield from _places(base, name.replace(".", "/"))


def _places(base: Path, name: str) -> Iterator[Path]:
    for root in (base, base / "src"):
        for file in (root / f"{name}.py", root / name / "__init__.py"):
            if file.is_file():
                yield file
        if (root / name).is_dir() and "/" not in name:
            yield from sorted((root / name).glob("*.py"))[:_FILES]
