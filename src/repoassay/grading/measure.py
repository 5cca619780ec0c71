"""The worker that measures criteria: inside a sandbox, one job from standard input, one line a criterion out.

Run as `python -I -m repoassay.grading.measure`. What was measured before a limit struck is already on the channel.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from repoassay.errors import MissingExtra, RepoAssayError
from repoassay.grading.protocol import UnreadableOutput
from repoassay.grading.registry import get

__all__ = ["main"]


def main() -> None:
    """Measure every criterion of the job."""
    job = json.load(sys.stdin)
    channel = int(os.environ.pop("REPOASSAY_CHANNEL"))
    os.write(channel, b'{"ready": true}\n')
    for index, criterion in enumerate(job["criteria"]):
        os.write(channel, json.dumps({"begin": index}).encode() + b"\n")
        os.write(channel, json.dumps({"index": index, **_measure(job, criterion)}).encode() + b"\n")


def _measure(job: dict[str, str], criterion: dict[str, object]) -> dict[str, object]:
    try:
        found = get(str(criterion["metric"]))
        arguments = [Path(job["outputs"], str(criterion["of"]))]
        if criterion["against"]:
            place, _, name = str(criterion["against"]).partition(":")
            arguments.append(Path(job["inputs" if place == "input" else "truth"], name))
        options = criterion["options"]
        assert isinstance(options, dict)
        measured = found.measure(*arguments, **options)
    except UnreadableOutput as error:
        return {"status": "unreadable", "value": None, "comment": str(error)[:1000]}
    except MissingExtra as error:
        return {"status": "missing_package", "value": None, "comment": str(error)}
    except MemoryError:
        return {"status": "unreadable", "value": None, "comment": "opening it takes more memory than is allowed"}
    except RecursionError:
        return {"status": "unreadable", "value": None, "comment": "it is nested too deeply"}
    except RepoAssayError as error:
        return {"status": "fault", "value": None, "comment": str(error)[:1000]}
    except Exception as error:  # noqa: BLE001 - a metric's bug must cost one criterion and be told as ours
        return {"status": "fault", "value": None, "comment": f"{type(error).__name__}: {error}"[:1000]}
    value = float(measured.value)
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN alone differs from itself
        return {"status": "measured", "value": None, "comment": f"the value is {value}; {measured.comment}"[:1000]}
    return {"status": "measured", "value": value, "comment": measured.comment[:1000]}


if __name__ == "__main__":
    main()
