"""Can a printed percentage be k of n at all?

A rate of 54 attempts prints as one of 55 values. A figure that is none of them is a misprint, has another denominator,
or is no plain rate; it should not be copied without saying so.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

__all__ = ["PrintedRate", "consistent", "smallest_fraction"]

_MOST = 100_000


@dataclass(frozen=True, slots=True)
class PrintedRate:
    """What was found of a printed percentage. `counts` are the k whose k/n prints so, rarely more than one.

    `nearest` is the k that comes closest, and `nearest_prints` what it would print as.
    """

    printed: str
    n: int
    counts: tuple[int, ...]
    nearest: int
    nearest_prints: str

    @property
    def consistent(self) -> bool:
        """Whether any k/n prints so."""
        return bool(self.counts)

    @property
    def method(self) -> str:
        """What was asked."""
        return "k/n consistency, rounding half up or half to even"

    def __str__(self) -> str:
        if self.counts:
            return f"{self.printed} % is {' or '.join(f'{k}/{self.n}' for k in self.counts)}"
        nearest = f"the nearest, {self.nearest}/{self.n}, prints as {self.nearest_prints} %"
        return f"{self.printed} % is no k/{self.n}: {nearest}"


def consistent(printed: str, n: int) -> PrintedRate:
    """Which k of n give a percentage as it is printed.

    Args:
        printed: The percentage as text, such as "48.15" or "25%": its decimals say how it was rounded.
        n: The denominator, at least 1.

    Raises:
        ValueError: When the text is no percentage from 0 to 100, or n is below 1.
    """
    units, decimals = _units(printed)
    if n < 1:
        raise ValueError(f"nothing is a share of {n}")
    near = range(max(0, (units - 1) * n // (100 * 10**decimals)), n + 1)
    counts = []
    for k in near:
        if units in _prints(k, n, decimals):
            counts.append(k)
        elif k * 100 * 10**decimals > (units + 1) * n:
            break
    closest = min(_around(units, n, decimals), key=lambda k: _far(k, n, units, decimals))
    return PrintedRate(
        _plain(units, decimals), n, tuple(counts), closest, _plain(max(_prints(closest, n, decimals)), decimals)
    )


def smallest_fraction(printed: str) -> tuple[int, int]:
    """The k and n of the smallest denominator that prints so: "65.04" is 80/123.

    Raises:
        ValueError: When the text is no percentage from 0 to 100, or has so many decimals that n would pass 100,000.
    """
    units, decimals = _units(printed)
    for n in range(1, _MOST):
        k = round(units * n / (100 * 10**decimals))
        for candidate in (k - 1, k, k + 1):
            if 0 <= candidate <= n and units in _prints(candidate, n, decimals):
                return candidate, n
    raise ValueError(f"{printed!r} has too many decimals to look for its fraction")


def _units(printed: str) -> tuple[int, int]:
    """The percentage in units of its last decimal, and how many decimals it has."""
    try:
        value = Decimal(printed.strip().removesuffix("%").strip())
    except InvalidOperation as error:
        raise ValueError(f"{printed!r} is no percentage") from error
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not -12 <= exponent <= 0 or not 0 <= value <= 100:
        raise ValueError(f"{printed!r} is no percentage from 0 to 100 with at most 12 decimals")
    decimals = -int(exponent)
    return int(value.scaleb(decimals)), decimals


def _prints(k: int, n: int, decimals: int) -> set[int]:
    """What 100 k/n is, in units of the last decimal, rounded half up and half to even."""
    whole, rest = divmod(k * 100 * 10**decimals, n)
    if 2 * rest == n:
        return {whole + 1, whole + whole % 2}
    return {whole + (2 * rest > n)}


def _around(units: int, n: int, decimals: int) -> list[int]:
    k = units * n // (100 * 10**decimals)
    return [candidate for candidate in (k, k + 1) if candidate <= n]


def _far(k: int, n: int, units: int, decimals: int) -> int:
    scale: int = 100 * 10**decimals
    return abs(k * scale - units * n)


def _plain(units: int, decimals: int) -> str:
    return f"{Decimal(units).scaleb(-decimals):f}"
