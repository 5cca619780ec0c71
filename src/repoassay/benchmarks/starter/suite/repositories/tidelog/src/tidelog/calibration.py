"""From raw counts to physical values."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Channel:
    """One measured quantity of a gauge.

    A raw count `n` means `n * scale + zero` in `unit`.
    """

    number: int
    name: str
    unit: str
    scale: float = 1.0
    zero: float = 0.0

    def value(self, count: int) -> float:
        """The count as a value in the channel's unit."""
        return count * self.scale + self.zero

    def adjusted(self, **changes: float) -> Channel:
        """The same channel with another `scale` or `zero`."""
        unknown = set(changes) - {"scale", "zero"}
        if unknown:
            raise ValueError(f"a calibration cannot change {', '.join(sorted(unknown))}")
        return replace(self, **changes)


def parse_channel(text: str) -> Channel:
    """Read the rest of a `#channel` line, such as `1 name=level unit=m scale=0.001`.

    Raises:
        ValueError: When a part is missing or is not a number where one is due.
    """
    number, *pairs = text.split()
    fields = dict(pair.split("=", 1) for pair in pairs)
    if "name" not in fields or "unit" not in fields:
        raise ValueError("a channel needs name and unit")
    return Channel(
        number=int(number),
        name=fields["name"],
        unit=fields["unit"],
        scale=float(fields.get("scale", "1")),
        zero=float(fields.get("zero", "0")),
    )
