"""E-mail addresses listed in a text, against those of a reference."""

from __future__ import annotations

import re
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text
from repoassay.grading import Measurement, metric, reference

__all__ = ["EMAIL", "addresses_precision", "addresses_recall"]

EMAIL = re.compile(r"[\w.%+'-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_][\w-]{1,62}")
"""The form of an address, for a full match."""

_DRESS = "<>()[]{}\"'`,;:.*•·\uff0c\uff1b、"


def _entries(path: Path) -> set[str]:
    """Distinct entries of a list, case folded; labels, bullets and numbers of entries are none."""
    found = set()
    for line in decode_text(path, chinese=True).splitlines():
        if line.rstrip().endswith((":", "\uff1a")):
            continue
        for word in re.split(r"[\s,;\uff0c\uff1b、|]+", line.strip().replace("mailto:", " ")):
            for part in re.split(r"(?<=[:\uff1a])", word):
                entry = part.strip(_DRESS).casefold()
                if not part.endswith((":", "\uff1a")) and not re.fullmatch(r"[\W\d_]*", entry):
                    found.add(entry)
    return found


@metric(
    "addresses_recall",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="recall over the set of addresses",
)
def addresses_recall(of: Path, against: Path) -> Measurement:
    """Share of the reference's e-mail addresses that the output lists, in any order and case, several a line or one."""
    ours, theirs = _entries(of), reference(_entries, against)
    wanted = {entry for entry in theirs if EMAIL.fullmatch(entry)}
    return Measurement(len(ours & wanted) / len(wanted) if wanted else 1.0, f"{len(ours & wanted)} of {len(wanted)}")


@metric(
    "addresses_precision",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="precision over the set of entries",
)
def addresses_precision(of: Path, against: Path) -> Measurement:
    """Share of the output's distinct entries that are addresses of the reference; labels, as `E-mail:`, do not count.

    Any other word does, so that a dump of a whole document has next to none.
    """
    ours, theirs = _entries(of), reference(_entries, against)
    return Measurement(len(ours & theirs) / len(ours) if ours else 0.0, f"{len(ours & theirs)} of {len(ours)} entries")
