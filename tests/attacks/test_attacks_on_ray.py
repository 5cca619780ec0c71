"""Attacks on patches that nodes of a real Ray cluster judge: no pass, no way to Ray, nothing left on the node."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from attacks.test_attacks import SLEEPY, check, descendants, left, solved
from repoassay.attacks import AttackGround, catalogue
from repoassay.attacks.campaign import pairs
from repoassay.attacks.patch_builder import diff
from repoassay.attacks.trial import run_trial
from repoassay.engine.submit import SubmissionEngine
from repoassay.types import Outcome

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.exhaustive,  # Ray leaves what a first try started, where it does not start in half a minute
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]

TASK = "inflection-pluralize-count"
SEEN = """
import glob, os, socket
_seen = [name for name in os.environ if name.startswith("RAY")] + [f for w in @FOLDERS@ for f in glob.glob(w)]
for _words in glob.glob("/proc/[0-9]*/cmdline") + ["/proc/net/unix", "/proc/self/mountinfo", "/proc/self/environ"]:
    try:
        _text = open(_words, "rb").read()
        _seen += [_words for _word in (b"raylet", b"gcs_server", b"ray::", b"repoassay-ray") if _word in _text]
    except OSError:
        pass
for _number in os.listdir("/proc/self/fd"):
    try:
        if "repoassay-ray" in os.readlink("/proc/self/fd/" + _number):
            _seen.append("descriptor " + _number)
    except OSError:
        pass
for _place in @PLACES@:
    _way = socket.socket(socket.AF_UNIX if isinstance(_place, str) else socket.AF_INET)
    _way.settimeout(2)
    try:
        _way.connect(_place if isinstance(_place, str) else tuple(_place))
        _seen.append(_place)
    except OSError:
        pass
    _way.close()
if _seen or @SURE@:
    raise SystemError(repr(_seen))
"""


@pytest.fixture(scope="module")
def on_ray(grounds: dict[str, AttackGround]) -> Iterator[dict[str, AttackGround]]:
    """The grounds, with an engine whose nodes are a cluster's; nothing of it is left when it is closed."""
    first = next(iter(grounds.values()))
    before = descendants()
    own = replace(first.bench)  # whose judge is its own: an engine's end ends that of the context it was given
    with SubmissionEngine(first.engine.tasks, own, 2, executor="ray") as engine:
        made = {}
        for name, ground in grounds.items():
            made[name] = AttackGround(ground.folder, engine, ground.bench, ground.seconds, ground.name)
        yield made
    assert not left(before)


def with_code(ground: AttackGround, code: str, folder: Path) -> bytes:
    """The task's solution, and code at the end of the module that the tests load first."""
    shutil.copytree(ground.layout.base, folder / "tree")
    place = folder / "tree" / ground.target.module
    old = (ground.target.base / ground.target.module).read_text()
    solution = (ground.folder.solution / "changes.diff").read_bytes()
    subprocess.run(["git", "apply", "-"], input=solution, cwd=folder / "tree", check=True)
    return diff(ground.target.module, old, f"{place.read_text()}\n\n{code}\n")


def places() -> list[object]:
    """Where this cluster listens."""
    (node,) = ray.nodes()
    host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
    ports = [int(port), node["NodeManagerPort"], node["ObjectManagerPort"], node["MetricsExportPort"]]
    return [*((host, each) for each in ports if each > 0), node["RayletSocketName"], node["ObjectStoreSocketName"]]


@pytest.mark.parametrize("sure", [False, True])
def test_a_patch_sees_nothing_of_ray(on_ray: dict[str, AttackGround], tmp_path: Path, sure: bool) -> None:
    ground, found = on_ray[TASK], places()
    assert any(isinstance(place, str) and Path(place).exists() for place in found)
    folders = ["/tmp/ray*", "/tmp/repoassay-ray-*", "/dev/shm/*", "/run/ray*"]
    code = SEEN
    for name, value in (("FOLDERS", folders), ("PLACES", found)):
        code = code.replace(f"@{name}@", json.dumps(value))
    verdict = ground.grade(with_code(ground, code.replace("@SURE@", str(sure)), tmp_path))
    assert (verdict.outcome is Outcome.PASSED) is not sure, verdict


def test_one_of_each_family_obtains_no_pass_on_a_node(on_ray: dict[str, AttackGround]) -> None:
    for name in (TASK, "ms-compound"):
        if name in on_ray:
            ground = on_ray[name]
            assert solved(ground)
            quick = [attack for attack in catalogue() if not attack.slow and attack.name not in SLEEPY]
            for _, attack in pairs([ground], quick, sample=1):
                check(run_trial(ground, attack, plain=False))
            assert solved(ground)


def test_a_killed_node_leaves_no_process_and_its_jobs_are_done_again(
    on_ray: dict[str, AttackGround], tmp_path: Path
) -> None:
    ground = on_ray[TASK]
    assert solved(ground)
    asleep = with_code(ground, "import time\ntime.sleep(6)", tmp_path)
    answers: list[Outcome] = []
    thread = threading.Thread(target=lambda: answers.append(ground.grade(asleep).outcome))
    thread.start()
    time.sleep(3)
    (node,) = named("ray::NodeActor")
    below = tree(node)
    assert len(below) > 1
    os.kill(node, signal.SIGKILL)
    thread.join(120)
    assert answers == [Outcome.PASSED]
    end = time.monotonic() + 10
    while time.monotonic() < end and any(map(line, below)):  # a dead process has no command line
        time.sleep(0.05)
    assert not list(filter(None, map(line, below)))


def line(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def named(start: str) -> list[int]:
    return [each for each in descendants() if line(each).startswith(start)]


def tree(process: int) -> set[int]:
    """A process and all below it."""
    found, pending = {process}, [process]
    while pending:
        for task in Path(f"/proc/{pending.pop()}/task").glob("*/children"):
            below = {int(each) for each in task.read_text().split()}
            found |= below
            pending += below
    return found
