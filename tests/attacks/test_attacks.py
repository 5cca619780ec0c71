"""No attack obtains a pass, none harms what comes after it, and many fool a plain harness."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.attacks import Attack, AttackGround, Trial, catalogue, run_trial
from repoassay.attacks.campaign import pairs
from repoassay.engine.submit import SubmissionEngine
from repoassay.types import Outcome

SLEEPY = frozenset(
    {"node: fork bomb", "forked child reports", "answers of an older release", "deaf to signals", "output",
     "asleep in the changed run", "node: asleep in the changed run"}
)  # fmt: skip
"""Attacks that wait until their time is up."""


def descendants() -> set[int]:
    """Every process below this one that is not dead; a warm interpreter buries the dead of a job with its next."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            children[int(fields[1])].append(int(place.parent.name))
    found: set[int] = set()
    pending = [os.getpid()]
    while pending:
        below = children[pending.pop()]
        found.update(below)
        pending += below
    return found


def known(pid: int) -> str:
    """What says whose a process is: its parent, its command line, its namespace and its group."""
    place = Path("/proc", str(pid))
    try:
        fields = (place / "stat").read_text().rpartition(")")[2].split()
        command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
        inside, group = os.readlink(place / "ns" / "pid"), (place / "cgroup").read_text().strip()  # noqa: PTH115
    except OSError as error:
        return f"{pid} has ended since ({error.strerror})"
    return f"{pid}, state {fields[0]}, parent {fields[1]}, begun at {fields[19]}, {inside}, {group}: {command}"


def left(before: set[int]) -> list[str]:
    """What is known of processes that do not end within seconds; a namespace takes a moment to be taken down."""
    for _ in range(100):
        if not descendants() - before:
            return []
        time.sleep(0.05)
    return [known(pid) for pid in sorted(descendants() - before)]


def check(trial: Trial) -> None:
    said = f"{trial.attack} on {trial.task}: {trial.outcome}, {trial.comment}"
    assert not trial.passed, said
    assert trial.outcome is not Outcome.INFRA_FAULT, said
    assert trial.outcome is Outcome.PASSED or trial.comment, said


def solved(ground: AttackGround) -> bool:
    return ground.grade((ground.folder.solution / "changes.diff").read_bytes()).outcome is Outcome.PASSED


def test_one_of_each_family_in_either_language_obtains_no_pass(grounds: dict[str, AttackGround]) -> None:
    for name in ("inflection-pluralize-count", "ms-compound"):
        if name in grounds:
            ground = grounds[name]
            assert solved(ground)
            quick = [attack for attack in catalogue() if not attack.slow and attack.name not in SLEEPY]
            for _, attack in pairs([ground], quick, sample=1):
                check(run_trial(ground, attack, plain=False))
            assert solved(ground)


@pytest.mark.long
def test_what_a_plain_harness_believes(grounds: dict[str, AttackGround]) -> None:
    ground = grounds["inflection-pluralize-count"]
    assert ground.believes
    for name in ("os._exit", "pytest_pyfunc_call says done", "conftest.py beside the tests"):
        trial = run_trial(ground, next(attack for attack in catalogue() if attack.name == name))
        assert trial.believed, trial
        assert not trial.passed, trial


def test_one_that_uses_up_processes_harms_no_neighbour(grounds: dict[str, AttackGround]) -> None:
    """Jobs of a prefork server are one account to the kernel, which counts threads too."""
    ground = grounds["inflection-pluralize-count"]
    assert solved(ground)
    bomb = next(attack for attack in catalogue() if attack.name == "thread bomb")
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(run_trial, ground, bomb, plain=False)
        assert solved(ground)
        check(under_way.result())
    assert solved(ground)


@pytest.mark.exhaustive
@pytest.mark.parametrize("attack", catalogue(), ids=lambda attack: attack.name)
def test_no_attack_obtains_a_pass(grounds: dict[str, AttackGround], attack: Attack) -> None:
    for ground, _ in pairs(list(grounds.values()), [attack], spread=2):
        assert not ground.before.issuperset(ground.target.tests)
        assert solved(ground)  # which starts the prefork server
        before = descendants()
        check(run_trial(ground, attack, plain=False))
        assert solved(ground)
        if attack.family != "patch":
            assert left(before) == []


@pytest.mark.exhaustive
def test_nor_without_a_warm_parent(grounds: dict[str, AttackGround]) -> None:
    ground = grounds["inflection-pluralize-count"]
    quick = [attack for attack in catalogue() if attack.language == "python" and not attack.slow]
    bench = replace(ground.bench)  # whose judge is its own: an engine's end ends that of the context it was given
    with SubmissionEngine(ground.engine.tasks, bench, warm=False) as engine:
        cold = AttackGround(ground.folder, engine, bench, ground.seconds)
        assert solved(cold)
        for _, attack in pairs([cold], quick, sample=2):
            check(run_trial(cold, attack, plain=False))
