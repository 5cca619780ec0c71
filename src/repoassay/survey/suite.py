"""What a suite is made of: how many tasks of each domain, subdomain and modality, and what they are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from repoassay.types import Economics, Task

__all__ = ["Composition", "Share", "SuiteWorth", "survey_suite"]


@dataclass(frozen=True, slots=True)
class SuiteWorth:
    """Market value of tasks in US dollars, over the `tasks` that state one.

    `low` is the lowest low end of their ranges, `high` the highest high end, `total` the sum of their values.
    """

    tasks: int
    total: Decimal
    low: Decimal
    high: Decimal

    @property
    def mean(self) -> Decimal:
        """Mean value of a task, not rounded."""
        return self.total / self.tasks


@dataclass(frozen=True, slots=True)
class Share:
    """`tasks` of `of` tasks have the name; `worth` is None where none of them states a market value.

    `name` is empty for tasks that state none. A subdomain also has the `domain` it belongs to, which others leave
    empty.
    """

    name: str
    domain: str
    tasks: int
    of: int
    worth: SuiteWorth | None

    @property
    def percent(self) -> Decimal:
        """Percentage with one decimal, halves rounded up. Each is rounded for itself: they need not sum to 100."""
        return (Decimal(100 * self.tasks) / self.of).quantize(Decimal("0.1"), ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Composition:
    """A suite by domain, by subdomain and by modality, most tasks first, and as a whole.

    Subdomains are in the order of their domains.
    """

    domains: tuple[Share, ...]
    subdomains: tuple[Share, ...]
    modalities: tuple[Share, ...]
    total: Share


def survey_suite(tasks: Sequence[Task]) -> Composition:
    """Count tasks by domain, subdomain and modality.

    Raises:
        ValueError: When there are no tasks.
    """
    if not tasks:
        raise ValueError("a suite without tasks has no composition")
    domains = _shares(tasks, lambda task: ("", task.domain))
    place = {share.name: number for number, share in enumerate(domains)}
    subdomains = _shares(tasks, lambda task: (task.domain, task.subdomain))
    return Composition(
        domains=domains,
        subdomains=tuple(sorted(subdomains, key=lambda share: place[share.domain])),
        modalities=_shares(tasks, lambda task: ("", task.modality)),
        total=_share("", "", tasks, len(tasks)),
    )


def _shares(tasks: Sequence[Task], key: Callable[[Task], tuple[str, str]]) -> tuple[Share, ...]:
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        groups.setdefault(key(task), []).append(task)
    shares = (_share(domain, name, group, len(tasks)) for (domain, name), group in groups.items())
    return tuple(sorted(shares, key=lambda share: (-share.tasks, share.name, share.domain)))


def _share(domain: str, name: str, tasks: Sequence[Task], of: int) -> Share:
    return Share(name, domain, len(tasks), of, _worth(task.economics for task in tasks if task.economics))


def _worth(economics: Iterable[Economics]) -> SuiteWorth | None:
    every = list(economics)
    if not every:
        return None
    return SuiteWorth(
        tasks=len(every),
        total=sum((one.value for one in every), Decimal(0)),
        low=min(one.low for one in every),
        high=max(one.high for one in every),
    )
