"""Print a short overview of a log."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tidelog.reader import LogError, read_log


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="tidelog", description=__doc__)
    parser.add_argument("file", nargs="+", help="log files")
    args = parser.parse_args(argv)
    for name in args.file:
        try:
            log = read_log(name)
        except (OSError, LogError) as error:
            print(f"tidelog: {name}: {error}", file=sys.stderr)
            return 1
        print(f"{name}: station {log.station}, {len(log.faults)} faults, {len(log.events)} events")
        for channel in log.channels:
            series = log.series(channel)
            if series:
                span = f"{series.times[0]:%Y-%m-%d %H:%M} to {series.times[-1]:%Y-%m-%d %H:%M} UTC"
                print(f"  {channel}: {len(series)} samples, {span}, mean {series.mean():.3f} {series.unit}")
            else:
                print(f"  {channel}: no samples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
