"""What a task of Harbor asks for beside its image is taken as Harbor takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from repoassay.engine import GradingContext
from repoassay.interchange import ImportedSuite, import_suite
from repoassay.tasks import find_suite
from repoassay.types import NetworkPolicy, Task

SCRIPT = "pytest /tests/test_outputs.py\nif [ $? -eq 0 ]; then\n  echo 1 > /logs/verifier/reward.txt\nfi\n"
FILES = {
    "task.toml": 'version = "1.0"\n',
    "instruction.md": "Write the sum to /app/out/sum.txt.\n",
    "environment/Dockerfile": "FROM python:3.11\nWORKDIR /app\n",
    "tests/test.sh": SCRIPT,
    "tests/test_outputs.py": "def test_sum():\n    assert open('/app/out/sum.txt').read()\n",
    "solution/solve.sh": "echo 8 > /app/out/sum.txt\n",
}
Convert = Callable[[Mapping[str, str]], ImportedSuite]


def no_bench() -> GradingContext:
    """Nothing of these tasks runs while they are converted."""
    raise AssertionError("something was to run")


@pytest.fixture
def convert(tmp_path: Path) -> Convert:
    def write(changed: Mapping[str, str], name: str = "one") -> ImportedSuite:
        for path, content in {**FILES, **changed}.items():
            place = tmp_path / "theirs" / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
        return import_suite("harbor", tmp_path / "theirs", tmp_path / "suite", no_bench)

    return write


def taken(done: ImportedSuite) -> Task:
    assert [(refusal.why, refusal.text) for refusal in done.refused] == []
    return find_suite(str(done.path)).tasks[0].task


@pytest.mark.parametrize("version", ['version = "2.0"', 'schema_version = "1.9"', 'version = "2026.06"', ""])
def test_any_version_is_read_as_harbor_reads_it(convert: Convert, version: str) -> None:
    assert taken(convert({"task.toml": f"{version}\n[agent]\ntimeout_sec = 70\n"})).limits.seconds == 70


@pytest.mark.parametrize(
    ("written", "policy"),
    [
        ('[environment]\nnetwork_mode = "no-network"\n', NetworkPolicy.MODEL),
        ('[environment]\nnetwork_mode = "public"\nallow_internet = false\n', None),
        ('[environment]\nnetwork_mode = "public"\n[agent]\nnetwork_mode = "no-network"\n', NetworkPolicy.MODEL),
        ("[environment]\nallow_internet = false\n", NetworkPolicy.MODEL),
        ("", None),
    ],
)
def test_the_network_is_what_its_mode_says(convert: Convert, written: str, policy: NetworkPolicy | None) -> None:
    assert taken(convert({"task.toml": written})).network.policy is policy


def test_folder_memory_and_variables_are_those_of_task_toml(convert: Convert) -> None:
    about = """\
[environment]
workdir = "/srv/work"
memory = "4G"
[verifier.env]
SPEED = "${SPEED:-3}"
MODE = "${MODE:-}"
"""
    task = taken(convert({"task.toml": about}))
    assert task.state is not None and task.state.work == "/srv/work" and "/srv" in task.state.places
    assert task.limits.memory == 4 * 2**30
    assert (task.environment.variables["SPEED"], task.environment.variables["MODE"]) == ("3", "")


def test_an_image_without_a_folder_starts_in_the_first_that_the_instruction_names(convert: Convert) -> None:
    bare = {"environment/Dockerfile": "FROM debian\n"}
    task = taken(convert(bare))
    assert task.state is not None and task.state.work == "/app"


def test_a_script_that_passes_nobody_in_the_root_folder_is_not_taken_elsewhere(convert: Convert) -> None:
    script = f'if [ "$PWD" = "/" ]; then\n  exit 1\nfi\n{SCRIPT}'
    done = convert({"environment/Dockerfile": "FROM debian\n", "tests/test.sh": script})
    assert [refusal.why for refusal in done.refused] == ["It works in the root folder."]


def test_tasks_below_a_task_are_found_but_not_those_of_its_parts(convert: Convert) -> None:
    inner = {f"tasks/two/{path}": content for path, content in FILES.items()}
    part = {f"environment/sample/{path}": content for path, content in FILES.items()}
    assert convert({**inner, **part}).found == 2


def test_compose_files_beside_the_task_are_not_the_images(convert: Convert, tmp_path: Path) -> None:
    assert taken(convert({"docker-compose.yml": "services:\n  main: {}\n  db: {}\n"})).id == "one"


SEPARATE = '[verifier]\nenvironment_mode = "separate"\n'
OF_TESTS = "FROM python:3.11\nRUN apt-get install -y jq && pip install -r /tmp/all.lock\nCOPY test.sh /tests/\n"


def test_packages_of_the_tests_own_image_are_taken(convert: Convert) -> None:
    lock = "six==1.17.0 \\\n    --hash=sha256:00\n"
    own = OF_TESTS.replace("RUN", "COPY all.lock /tmp/all.lock\nRUN")
    done = convert({"task.toml": SEPARATE, "tests/Dockerfile": own, "tests/all.lock": lock})
    assert "jq" in taken(done).environment.apt
    assert (done.path / "tasks/one/environment/requirements.txt").read_text() == "six==1.17.0\n"


@pytest.mark.parametrize("line", ["COPY data.txt /app/data.txt", "RUN python3 /tests/prepare.py"])
def test_tests_whose_own_image_holds_more_are_refused(convert: Convert, line: str) -> None:
    done = convert({"task.toml": SEPARATE, "tests/Dockerfile": f"FROM debian\n{line}\n", "tests/data.txt": "3"})
    assert ["an image of their own" in refusal.why for refusal in done.refused] == [True]


def test_the_first_tasks_of_terminal_bench_told_their_instruction_in_descriptions(tmp_path: Path) -> None:
    folder = tmp_path / "theirs/one"
    for path, content in FILES.items():
        place = folder / path.replace("environment/", "")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    (folder / "task.toml").unlink()
    (folder / "task.yaml").write_text(
        "descriptions:\n- key: hard\n  description: no\n- key: base\n  description: Sum.\n"
    )
    done = import_suite("harbor", tmp_path / "theirs", tmp_path / "suite", no_bench)
    assert [refusal.why for refusal in done.refused] == []
    assert (done.path / "tasks/one/instruction.md").read_text() == "Sum."


def test_a_script_runs_in_the_tasks_own_environment_in_place_of_the_images(convert: Convert) -> None:
    script = (
        'P=/opt/checks/bin/pytest\n[ -x "$P" ] || exit 1\n/opt/checks/bin/python -m pytest /tests/test_outputs.py\n'
    )
    own = "FROM debian\nWORKDIR /app\nRUN uv venv /opt/checks --python 3.13\n"
    reward = "echo $? > /logs/verifier/reward.txt\n"
    done = convert({"environment/Dockerfile": own, "tests/test.sh": f"{script}{reward}"})
    assert taken(done).grading.tests is not None
    written = (done.path / "tasks/one/tests/test.sh").read_text()
    assert "P=/env/bin/pytest\n" in written and '\npython -c "$RUN_PYTEST" /tests/' in written
