"""Functions that the change makes hard to follow, by cyclomatic complexity as lizard counts it."""

from __future__ import annotations

import json
from collections import defaultdict
from importlib.resources import files

from repoassay.signals.bench import ToolRunner, TreeSide
from repoassay.signals.change import Change
from repoassay.signals.signal import Signal, SignalAxis, at_line, judged, unknown_signal
from repoassay.signals.tools import CannotRun, Tool, base_python, module

__all__ = ["complexity"]

_ID, _TITLE = "complexity", "Functions made complex"
_LIMIT, _GROWTH = 10, 5
_RULE = f"complexity above {_LIMIT} in a function that is new, was at most {_LIMIT}, or grew by {_GROWTH} or more"
_Function = tuple[str, int, int, int]
_MOST_FILES = 500


def complexity(change: Change, bench: ToolRunner) -> list[Signal]:
    """Measure changed program files on base and head."""
    # Plain files only: a pipe would be waited on.
    changed = [each for each in change.sources() if change.head.text(each.path) is not None][:_MOST_FILES]
    try:
        before = _measured(bench, TreeSide(change.base), [each.old for each in changed if each.old])
        after = _measured(bench, TreeSide(change.head), [each.path for each in changed])
    except CannotRun as reason:
        return [unknown_signal(_ID, SignalAxis.QUALITY, _TITLE, str(reason))]
    evidence = []
    for each in changed:
        known: dict[str, list[int]] = defaultdict(list)
        for name, _, _, count in before.get(each.old or "", []):
            known[name].append(count)
        for name, first, last, count in after.get(each.path, []):
            was = known[name].pop(0) if known[name] else None
            touched = any(first <= line <= last for line in each.added)
            if touched and count > _LIMIT and (was is None or was <= _LIMIT or count - was >= _GROWTH):
                sentence = f"{name} has complexity {count}" + (", and is new." if was is None else f"; it had {was}.")
                evidence.append(at_line(each.path, first, change.head.line(each.path, first), sentence))
    return [judged(_ID, SignalAxis.QUALITY, _TITLE, evidence, threshold=_RULE)]


def _measured(bench: ToolRunner, side: TreeSide, paths: list[str]) -> dict[str, list[_Function]]:
    found: dict[str, list[_Function]] = defaultdict(list)
    if not paths:
        return found
    own = module("lizard", None)
    script = files(__package__).joinpath("in_sandbox/measure_complexity.py").read_bytes()
    tool = Tool((base_python(), "-I", "-S", "/signals/measure.py", own.imports), own.mounts)
    done = bench.run(side, tool, json.dumps(paths), what="lizard", files={"measure.py": script})
    try:
        for line in done.stdout.decode("utf-8", "replace").splitlines():
            path, name, first, last, count = json.loads(line)
            found[str(path)].append((str(name)[:500], max(1, int(first)), int(last), int(count)))
    except (ValueError, TypeError, RecursionError):
        raise CannotRun("What lizard printed cannot be read.") from None
    return found
