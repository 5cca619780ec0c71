"""Many attacks on many tasks: which pairs, in what order, what is known of them already, what a forger would get."""

from __future__ import annotations

import random
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from repoassay.attacks.attack import Attack
from repoassay.attacks.trial import AttackGround, Trial, run_trial
from repoassay.attacks.trial_log import TrialLog
from repoassay.tasks import TaskFolder
from repoassay.types import Outcome

__all__ = ["ForgerFeedback", "Pair", "by_task", "pairs", "restrict_task", "run"]

Pair = tuple[AttackGround, Attack]
_MEMORY, _DISK, _PROCESSES = 2**29, 2**26, 64


def restrict_task(folder: TaskFolder) -> TaskFolder:
    """The task with limits that attacks on the machine reach soon."""
    limits = folder.task.limits
    least = {
        "memory": min(limits.memory, _MEMORY),
        "disk": min(limits.disk, _DISK),
        "processes": min(limits.processes, _PROCESSES),
    }
    return replace(folder, task=folder.task.model_copy(update={"limits": limits.model_copy(update=least)}))


def pairs(
    grounds: Sequence[AttackGround], attacks: Iterable[Attack], *, spread: int | None = None, sample: int | None = None,
    seed: int = 0,
) -> list[Pair]:  # fmt: skip
    """Every attack on every task that it fits, tasks together.

    Args:
        grounds: The tasks.
        attacks: The attacks.
        spread: On how many tasks each attack is tried, drawn for each; None for all.
        sample: How many attacks of each family and language are tried, drawn; None for all.
        seed: What is drawn with.
    """
    groups: defaultdict[tuple[str, str], list[Attack]] = defaultdict(list)
    for attack in attacks:
        groups[attack.family, attack.language or ""].append(attack)
    selection: list[Pair] = []
    for key, group in groups.items():
        chance = random.Random(f"{seed} {key}")  # noqa: S311 - a sample, not a secret
        taken = group if sample is None or sample >= len(group) else chance.sample(group, sample)
        for attack in taken:
            fitting = [ground for ground in grounds if attack.fits(ground.target)]
            selection += [(ground, attack) for ground in _some(fitting, spread, f"{seed} {attack.name}")]
    order = {id(ground): number for number, ground in enumerate(grounds)}
    return sorted(selection, key=lambda pair: order[id(pair[0])])


def run(
    wanted: Sequence[Pair],
    kept: TrialLog,
    *,
    workers: int = 1,
    plain: bool = True,
    cancel: threading.Event | None = None,
) -> Iterator[tuple[Trial, bool]]:
    """Try every pair, `workers` at a time; yields each trial, in order, and whether it was known already.

    Setting `cancel` drops what is under way and ends it.
    """
    cancel = cancel or threading.Event()
    pending: deque[tuple[Future[Trial] | None, Trial | None]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for ground, attack in wanted:
                if cancel.is_set():
                    return
                known = _logged_trial(kept, ground, attack, plain)
                future = None if known else pool.submit(run_trial, ground, attack, plain=plain, cancel=cancel)
                pending.append((future, known))
                while len(pending) > 2 * workers:
                    yield from _next_trial(pending, kept, cancel)
            while pending and not cancel.is_set():
                yield from _next_trial(pending, kept, cancel)
        except BaseException:  # an interrupt, or nobody wants the rest: what is under way need not come to its end
            cancel.set()
            raise
        finally:
            for future, _ in pending:
                if future is not None:
                    future.cancel()


def _logged_trial(kept: TrialLog, ground: AttackGround, attack: Attack, plain: bool) -> Trial | None:
    with_plain = plain and attack.plain and ground.believes
    return kept.get(ground.folder.task.id, ground.folder.digest, attack.name, attack.digest(ground.target), with_plain)


def _next_trial(
    pending: deque[tuple[Future[Trial] | None, Trial | None]], kept: TrialLog, cancel: threading.Event
) -> Iterator[tuple[Trial, bool]]:
    future, known = pending.popleft()
    if known is not None:
        yield known, True
        return
    assert future is not None
    trial = future.result()
    if not cancel.is_set():
        kept.add(trial)
        yield trial, False


def _some(grounds: list[AttackGround], most: int | None, seed: str) -> list[AttackGround]:
    if most is None or most >= len(grounds):
        return grounds
    return random.Random(seed).sample(grounds, most)  # noqa: S311 - a sample, not a secret


_WEAKEST = 3


@dataclass(frozen=True, slots=True)
class ForgerFeedback:
    """Trials of one task, counted.

    `asked` is how often a plain harness was asked and `believed` how often it was fooled; `passes` are the attacks that
    the submission environment passed, with the grade of assurance in brackets where a verdict has one; `weakest` are
    the tests that were fooled most often, with how often; `faults` are trials that could not be judged.
    """

    task: str
    tried: int
    asked: int
    believed: int
    passes: tuple[str, ...]
    weakest: tuple[tuple[str, int], ...]
    faults: int


def by_task(trials: Iterable[Trial]) -> list[ForgerFeedback]:
    """Count trials by task, in their order."""
    grouped: dict[str, list[Trial]] = {}
    for trial in trials:
        grouped.setdefault(trial.task, []).append(trial)
    return [_feedback_of(task, found) for task, found in grouped.items()]


def _feedback_of(task: str, trials: list[Trial]) -> ForgerFeedback:
    fooled = Counter(test for trial in trials for test in trial.fooled)
    return ForgerFeedback(
        task=task,
        tried=len(trials),
        asked=sum(trial.plain is not None for trial in trials),
        believed=sum(trial.believed for trial in trials),
        passes=tuple(trial.attack + (f" [{trial.grade}]" if trial.grade else "") for trial in trials if trial.passed),
        weakest=tuple(fooled.most_common(_WEAKEST)),
        faults=sum(trial.outcome is Outcome.INFRA_FAULT for trial in trials),
    )
