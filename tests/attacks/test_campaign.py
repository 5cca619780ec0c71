"""Which attacks are tried on which tasks, what is remembered, and how it is stopped."""

from __future__ import annotations

import threading
from pathlib import Path

from repoassay.attacks import AttackGround, TrialLog, select_attacks
from repoassay.attacks.campaign import by_task, pairs, run


def names(made: list[tuple[AttackGround, object]]) -> list[tuple[str, object]]:
    return [(ground.folder.task.id, attack) for ground, attack in made]


def test_attacks_are_spread_and_sampled_by_seed(grounds: dict[str, AttackGround]) -> None:
    every, attacks = list(grounds.values()), select_attacks(["coin", "chance", "patch"])
    python = sum(ground.target.language == "python" for ground in every)
    coin = select_attacks(["coin"])
    assert len(pairs(every, coin)) == python * len(coin)
    spread = pairs(every, attacks, spread=2, seed=3)
    assert names(list(spread)) == names(list(pairs(every, attacks, spread=2, seed=3)))
    assert names(list(spread)) != names(list(pairs(every, attacks, spread=2, seed=4)))
    assert all(attack.fits(ground.target) for ground, attack in spread)
    assert len(pairs(every, attacks, spread=1, sample=1)) == len({(each.family, each.language) for each in attacks})


def test_what_is_known_is_not_tried_again_and_counts(grounds: dict[str, AttackGround], tmp_path: Path) -> None:
    ground = grounds["inflection-pluralize-count"]
    wanted = pairs([ground], select_attacks(["output"]))
    with TrialLog(tmp_path / "trials.jsonl") as kept:
        first = list(run(wanted, kept, workers=2))
    with TrialLog(tmp_path / "trials.jsonl") as kept:
        again = list(run(wanted, kept, workers=2))
    assert [known for _, known in first] == [False] * len(wanted)
    assert [known for _, known in again] == [True] * len(wanted)
    assert [trial for trial, _ in first] == [trial for trial, _ in again]
    told = by_task(trial for trial, _ in again)
    assert [(each.task, each.tried, each.asked) for each in told] == [(ground.folder.task.id, len(wanted), len(wanted))]
    assert not told[0].passes and not told[0].weakest


def test_cancelling_keeps_what_is_done_and_drops_the_rest(grounds: dict[str, AttackGround]) -> None:
    cancel = threading.Event()
    done = []
    for trial, _ in run(
        pairs([grounds["script"]], select_attacks(["patch"])), TrialLog(None), plain=False, cancel=cancel
    ):
        done.append(trial)
        cancel.set()
    assert len(done) == 1
