"""Tasks of Harbor become state tasks, or are refused with the line that is not understood."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import repoassay
from json_answers import data_of
from repoassay.engine import GradingContext
from repoassay.errors import BadInput
from repoassay.interchange import TaskRefusal, import_suite, verifier_script
from repoassay.interchange.pytest_script import read_test_script
from repoassay.interchange.shell_steps import read_shell
from repoassay.interchange.shell_text import split_commands
from repoassay.tasks import find_suite
from repoassay.types import NetworkPolicy, Task, TaskKind

DOCKERFILE = """\
FROM ubuntu:24.04
# what the sums are made with
ARG FOLDER=/app
ENV DEBIAN_FRONTEND=noninteractive LIMIT="20 kg"
RUN apt-get update && \\
    # comments may stand here
    apt-get install -y --no-install-recommends python3-pip jq=1.7 && rm -rf /var/lib/apt/lists/*
RUN pip3 install --no-cache-dir --break-system-packages "pytest==8.4.1" 'tabulate>=0.9'
WORKDIR $FOLDER
RUN mkdir -p reports /var/log/parcels
COPY data/ ./data/
COPY notes.txt /srv/
RUN python3 -c "open('seed.txt', 'w').write('7')" && chmod +x data/list.sh
CMD ["bash"]
"""
TEST = """\
import json
from pathlib import Path


def test_input_is_kept():
    assert Path("/app/data/parcels.txt").read_text() == "3\\n5\\n"


def test_sum():
    assert json.loads(Path("/app/reports/sum.json").read_text()) == {"sum": 8}


class TestNotes:
    def test_notes(self):
        assert "done" in Path("/tmp/notes.txt").read_text()
"""
SCRIPT = """\
#!/bin/bash
apt-get update && apt-get install -y curl
curl -LsSf https://astral.sh/uv/install.sh | sh
source $HOME/.local/bin/env
uvx -p 3.13 -w pytest==8.4.1 -w pytest-json-ctrf==0.3.5 -w pyyaml pytest --ctrf /logs/verifier/ctrf.json \\
  /tests/test_outputs.py -rA
if [ $? -eq 0 ]; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""
REWARD = "echo 1 > /logs/verifier/reward.txt\n"
ABOUT = """\
version = "1.0"
[metadata]
category = "data"
[verifier]
timeout_sec = 90.0
[agent]
timeout_sec = 300.0
[environment]
memory_mb = 1024
allow_internet = false
"""
FILES = {
    "task.toml": ABOUT,
    "instruction.md": "# Sum the parcels\n\nWrite their sum to reports/sum.json.\n",
    "environment/Dockerfile": DOCKERFILE,
    "environment/data/parcels.txt": "3\n5\n",
    "environment/data/list.sh": "cat parcels.txt\n",
    "environment/notes.txt": "none\n",
    "environment/docker-compose.yaml": "services:\n  main:\n    command: sleep infinity\n",
    "tests/test.sh": SCRIPT,
    "tests/test_outputs.py": TEST,
    "solution/solve.sh": "echo '{\"sum\": 8}' > reports/sum.json; echo done > /tmp/notes.txt\n",
}
Write = Callable[..., Path]


@pytest.fixture
def theirs(tmp_path: Path) -> Write:
    def write(name: str = "parcels", **changed: str) -> Path:
        for path, content in FILES.items():
            place = tmp_path / "theirs" / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(changed.get(path.rsplit("/", 1)[-1].partition(".")[0], content))
        return tmp_path / "theirs"

    return write


def no_bench() -> GradingContext:
    """Nothing of these tasks runs while they are converted."""
    raise AssertionError("something was to run")


def taken(source: Path) -> Task:
    done = import_suite("harbor", source, source.parent / "suite", no_bench)
    assert [refusal.why for refusal in done.refused] == []
    return find_suite(str(done.path)).tasks[0].task


def refused(source: Path) -> TaskRefusal:
    done = import_suite("harbor", source, source.parent / "suite", no_bench)
    assert done.tasks == []
    return done.refused[0]


def test_a_task_is_what_its_files_say(theirs: Write) -> None:
    task = taken(theirs())
    assert (task.id, task.kind, task.title, task.domain) == ("parcels", TaskKind.STATE, "Sum the parcels", "data")
    assert task.state is not None and task.state.work == "/app"
    assert task.state.places == ("/app", "/srv", "/tmp", "/var/log")
    assert {"/app/reports", "/app/data", "/var/log/parcels"} <= set(task.state.folders)
    assert task.environment.apt == ("jq",) and task.environment.python == "3.11"
    assert task.environment.variables == {"LIMIT": "20 kg"}
    assert len(task.environment.build) == 1 and task.environment.build[0].startswith("cd /app && python3 -c")
    assert task.grading.tests is not None
    assert task.grading.tests.fail_to_pass == (
        "test_outputs.py::test_input_is_kept", "test_outputs.py::test_sum", "test_outputs.py::TestNotes::test_notes",
    )  # fmt: skip
    assert (task.grading.tests.seconds, task.limits.seconds, task.limits.memory) == (90, 300, 2**30)
    assert task.network_policy is NetworkPolicy.MODEL


def test_files_lie_at_their_places_and_packages_are_those_of_both(theirs: Write) -> None:
    source = theirs()
    taken(source)
    folder = source.parent / "suite/tasks/parcels"
    assert (folder / "files/app/data/parcels.txt").read_text() == "3\n5\n"
    assert (folder / "files/srv/notes.txt").read_text() == "none\n"
    listed = (folder / "environment/requirements.txt").read_text().split()
    assert listed == ["pytest==8.4.1", "tabulate>=0.9", "pyyaml"]
    assert (folder / "solution/solve.sh").is_file()


REFUSALS = {
    "another image": ({"Dockerfile": "FROM nvidia/cuda:12\n"}, "is made from nvidia/cuda", 1),
    "stages with the same file": (
        {
            "Dockerfile": "FROM debian AS made\nWORKDIR /app\nCOPY notes.txt .\nRUN touch x\nFROM debian\n"
            "COPY notes.txt /app/\nCOPY --from=made /app/x /app/\n"
        },
        "at the same place",
        0,
    ),
    "another image's files": ({"Dockerfile": "FROM debian\nCOPY --from=nginx /x /app/\n"}, "out of another image", 2),
    "another account": ({"Dockerfile": "FROM node\nWORKDIR /app\nUSER node\n"}, "an account beside root", 0),
    "an agent's account": ({"task": ABOUT.replace("[agent]", "[agent]\nuser = 'node'")}, "an account beside root", 0),
    "steps": ({"task": f"{ABOUT}[[steps]]\nname = 'a'\n[[steps]]\nname = 'b'\n"}, "no instruction.md", 0),
    "a download": ({"Dockerfile": "FROM python:3.12\nRUN true && \\\n  curl -O $ADDRESS\n"}, "with curl", 2),
    "a hidden download": (
        {"Dockerfile": "FROM debian\nRUN for i in 1; do wget x.org; done\n"},
        "something with wget",
        2,
    ),
    "a service": ({"Dockerfile": "FROM debian\nRUN apt-get install -y nginx\n"}, "the service nginx", 2),
    "users": (
        {"Dockerfile": "FROM debian\nWORKDIR /app\nRUN useradd -m ann\n", "instruction": "Write /app/a as ann.\n"},
        "makes users",
        0,
    ),
    "files of the system": ({"Dockerfile": "FROM debian\nWORKDIR /app\nCOPY notes.txt /usr/lib/\n"}, "in /usr", 0),
    "an unknown word": ({"Dockerfile": "FROM debian\nONBUILD RUN true\n"}, "has ONBUILD", 2),
    "a file that is not there": ({"Dockerfile": "FROM debian\nCOPY gone.txt /app/\n"}, "does not have", 2),
    "a file from outside": ({"Dockerfile": "FROM debian\nCOPY ../tests /app/\n"}, "outside of its folder", 2),
    "a program of its own": ({"Dockerfile": 'FROM debian\nWORKDIR /app\nENTRYPOINT ["/serve"]\n'}, "a program of", 3),
    "a GPU": ({"task": f"{ABOUT}gpus = 1\n"}, "needs a GPU", 0),
    "a key": ({"task": ABOUT + '[verifier.env]\nKEY = "${API_KEY}"\n'}, "takes a variable", 12),
    "an agent's key": (
        {"task": ABOUT + '[environment.env]\nA_KEY = "${A_KEY}"\n', "solve": "echo $A_KEY\n"},
        "Its agent is given",
        12,
    ),
    "a hidden key": (
        {"task": ABOUT + '[verifier.env]\nMY_TOKEN = "${MY_TOKEN:-}"\n', "test": f"echo $MY_TOKEN\n{REWARD}"},
        "look for a key of the user",
        12,
    ),
    "a download of the tests": ({"test": f"wget -q x.org/data\n{REWARD}"}, "reaches out with wget", 1),
    "a download in a heredoc": ({"test": f"bash <<'E'\nnpm install\nE\n{REWARD}"}, "reaches out with npm install", 2),
    "a service of the tests": ({"test": f"service nginx start\n{REWARD}"}, "needs service nginx start", 1),
    "a program of uv": ({"test": f"uv run manage check\n{REWARD}"}, "something with uv", 1),
    "a program that fetches": (
        {"Dockerfile": "FROM debian\nWORKDIR /app\nCOPY data/list.sh .\nRUN bash list.sh\n", "list": "curl x.org"},
        "a program that fetches",
        4,
    ),
    "tests that nobody has put there": (
        {"test": f"python3 warm_up.py\npython3 -m pytest tests/test_outputs.py\n{REWARD}"},
        "among the files of the agent",
        2,
    ),
    "a folder of its host": (
        {"docker-compose": "services:\n  main:\n    volumes: ['/var/run/docker.sock:/run/docker.sock']\n"},
        "of its host",
        0,
    ),
    "two services": ({"docker-compose": "services:\n  main: {}\n  db: {}\n"}, "services beside", 3),
    "more rights": ({"docker-compose": "services:\n  main:\n    privileged: true\n"}, "more rights", 3),
    "tests of the agent": ({"test": f"pytest /app/test_outputs.py\n{REWARD}"}, "among the files of the agent", 1),
    "links": ({"test_outputs": "def test_it():\n    assert p.is_symlink()\n"}, "symbolic links", 2),
    "running programs": ({"test_outputs": "def test_it():\n    run(['pgrep', 'x'])\n"}, "running programs", 2),
    "tests of another account": (
        {"test_outputs": "AS = ['setpriv', '--reuid=65534']\n\n\ndef test_it():\n    run(AS)\n"},
        "as another account",
        1,
    ),
    "another account, of a script": (
        {"test": f"true\nsetsid setpriv \\\n    --reuid=9 --clear-groups go test\n{REWARD}"},
        "as another account",
        2,
    ),
    "a service left running": ({"test_outputs": "def test_it():\n    get('http://localhost:80')\n"}, "a service", 2),
    "places of the system": ({"test_outputs": "def test_it():\n    open('/etc/motd')\n"}, "look at /etc", 0),
}


@pytest.mark.parametrize(("changed", "why", "line"), REFUSALS.values(), ids=REFUSALS)
def test_what_is_not_understood_is_refused_with_its_line(
    theirs: Write, changed: dict[str, str], why: str, line: int
) -> None:
    refusal = refused(theirs(**changed))
    assert why in refusal.why and refusal.line == line, refusal


MOUNTS = """\
services:
  main:
    volumes:
      - ./data:/srv/parcels:ro
      - ${HOST_VERIFIER_LOGS_PATH}:${ENV_VERIFIER_LOGS_PATH}
      - ${CONTEXT_DIR:-.}/../..:/shared
      - kept:/data/kept
      - type: bind
        source: ./gone
        target: /app/runs
"""


def test_what_a_compose_file_mounts_is_part_of_the_image(theirs: Write) -> None:
    source = theirs(**{"docker-compose": MOUNTS})
    task = taken(source)
    assert (source.parent / "suite/tasks/parcels/files/srv/parcels/parcels.txt").read_text() == "3\n5\n"
    assert task.state is not None
    assert {"/srv/parcels", "/shared", "/data/kept", "/app/runs"} <= set(task.state.folders)
    assert {"/shared", "/data"} <= set(task.state.places) and "/logs" not in " ".join(task.state.places)


def test_tests_that_a_compose_file_mounts_run_as_they_were_published(tmp_path: Path) -> None:
    folder = tmp_path / "theirs/first"
    (folder / "tests").mkdir(parents=True)
    for name, text in {
        "task.yaml": "instruction: Write the sum.\n", "Dockerfile": "FROM python:3.11\nWORKDIR /app\n",
        "docker-compose.yaml": "services:\n  main:\n    volumes: ['.:/app']\n", "tests/test_outputs.py": TEST,
        "run-tests.sh": "python3 warm_up.py\npytest tests/test_outputs.py\n", "solution.sh": "true\n",
    }.items():  # fmt: skip
        (folder / name).write_text(text)
    taken(tmp_path / "theirs")
    written = tmp_path / "suite/tasks/first"
    assert "cp --remove-destination /tests/test_outputs.py /app/tests/" in (written / "tests/run-tests.sh").read_text()
    assert (written / "files/app/task.yaml").is_file() and not list((written / "files").rglob("solution*"))


def test_official_images_may_come_from_any_registry(theirs: Write) -> None:
    for number, name in enumerate(("public.ecr.aws/docker/library/python:3.12-slim", "mirror.gcr.io/library/node:20")):
        source = theirs(f"task-{number}", Dockerfile=f"FROM {name}\nWORKDIR /app\n")
    done = import_suite("harbor", source, source.parent / "suite", no_bench)
    assert len(done.tasks) == 2, done.refused


def test_an_image_that_is_named_may_have_been_made_from_the_whole_task(theirs: Write) -> None:
    file = "FROM debian\nWORKDIR /app\nCOPY environment/data /app/data\nCOPY tests/. /tests\n"
    named = ABOUT + 'docker_image = "example.org/parcels:1"\n'
    source = theirs(Dockerfile=file, task=named)
    taken(source)
    assert (source.parent / "suite/tasks/parcels/files/app/data/parcels.txt").is_file()
    theirs(Dockerfile=file)
    theirs("told", Dockerfile=f"{file}COPY solution /app\n", task=named)
    done = import_suite("harbor", source, source.parent / "again", no_bench)
    assert done.tasks == [] and {refusal.line for refusal in done.refused} == {3, 5}


def test_a_test_that_no_link_was_left_is_taken(theirs: Write) -> None:
    text = "def test_it():\n    assert not Path('/app/x').is_symlink(), 'a link'\n"
    assert taken(theirs(test_outputs=text)).id == "parcels"


def test_long_commands_of_a_build_are_kept(theirs: Write) -> None:
    lines = " && ".join(f"echo {number},2.5 >> readings.csv" for number in range(300))
    task = taken(theirs(Dockerfile=f"FROM debian\nWORKDIR /app\nRUN {lines}\n"))
    assert task.environment.build[0].count("readings.csv") == 300


@pytest.mark.parametrize(
    ("name", "target"),
    [("environment/data/secret", "/etc/passwd"), ("environment/etc", "/etc"), ("tests/more", "/etc")],
)
def test_links_are_not_followed(theirs: Write, name: str, target: str) -> None:
    source = theirs(Dockerfile="FROM debian\nWORKDIR /app\nCOPY etc/passwd /app/\n")
    (source / "parcels" / name).symlink_to(target)
    assert "a link" in refused(source).why


@pytest.mark.long
def test_some_are_taken_and_the_rest_is_told(theirs: Write, tmp_path: Path) -> None:
    theirs()
    theirs("broken", Dockerfile="FROM scratch\n")
    theirs("other")
    done = repoassay("import", "theirs", "--as", "harbor", "--out", "suite", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 of 3 tasks are converted" in done.stdout and "(broken/environment/Dockerfile:1)" in done.stdout
    told = data_of(repoassay("import", "theirs", "--out", "again", "--json", cwd=tmp_path).stdout)
    assert told["converted"] == ["other", "parcels"] and told["refused"][0]["task"] == "broken"
    assert repoassay("import", "theirs", "--out", "suite", cwd=tmp_path).returncode == 2


def test_a_seed_draws_the_same_tasks(theirs: Write, tmp_path: Path) -> None:
    for number in range(12):
        source = theirs(f"task-{number}")
    draws = [
        import_suite("harbor", source, tmp_path / f"s{n}", no_bench, sample=4, seed=s).tasks
        for n, s in enumerate("aab")
    ]
    assert draws[0] == draws[1] != draws[2]
    with pytest.raises(BadInput, match="no task"):
        import_suite("harbor", tmp_path / "s0" / "tasks" / draws[0][0] / "tests", tmp_path / "x", no_bench)


def test_commands_are_split_where_a_shell_would() -> None:
    assert split_commands("a 'x && y'; b \"; c\" && (d && e)\nf") == ["a 'x && y'", 'b "; c"', "(d && e)", "f"]
    assert split_commands("for i in 1 2; do x; done") == ["for i in 1 2; do x; done"]
    with pytest.raises(ValueError, match="not closed"):
        split_commands("echo 'x")


def test_packages_are_told_from_options() -> None:
    steps = read_shell(
        "DEBIAN_FRONTEND=x apt-get install -y -q g++ tmux && python3 -m pip install -U pip a==1 -r r.txt"
    )
    assert (steps.apt, steps.pip, steps.build) == (["g++"], ["a==1", "-r r.txt"], [])
    assert read_shell("pip install -q a==1 2>/dev/null >/tmp/log").pip == ["a==1"]
    for line in ("pip install git+https://x.org/a", "pip install --index-url https://x a"):
        with pytest.raises(ValueError, match="installs"):
            read_shell(line)


def test_a_script_names_its_files() -> None:
    found = read_test_script(SCRIPT, "test.sh", "/app")
    assert (found.files, found.pip) == (["test_outputs.py"], ["pyyaml"])
    assert read_test_script("cd /app\npytest $TEST_DIR/test_a.py -rA | tee log\n", "test.sh", "/app").files == [
        "test_a.py"
    ]


PARAMETERS = "@pytest.mark.parametrize('a', [1])\ndef test_it(a): pass\n"
SCORED = """\
#!/bin/bash
set -e
apt-get update && apt-get install -y jq
uv pip install numpy 2>/dev/null || true
cd /app
if ! python3 -m pytest --ctrf /logs/verifier/ctrf.json /tests/test_outputs.py; then
  echo 0 > /logs/verifier/reward.txt
fi
uvx -p 3.13 -w pytest==8.4.1 -w rich pytest /tests/test_outputs.py
python3 /tests/score.py > /logs/verifier/reward.txt
"""


@pytest.mark.parametrize("changed", [{"test_outputs": PARAMETERS}, {"test": SCORED}])
def test_tests_that_have_no_names_run_as_their_script(theirs: Write, changed: dict[str, str]) -> None:
    task = taken(theirs(**changed))
    assert task.grading.tests is not None
    assert (task.grading.tests.runner, task.grading.tests.all_ids) == ("script", ("test.sh::__script__",))


def test_a_script_installs_nothing_and_runs_no_module_of_the_agent_as_pytest(theirs: Write) -> None:
    source = theirs(test=SCORED)
    task = taken(source)
    folder = source.parent / "suite/tasks/parcels"
    text = (folder / "tests/test.sh").read_text()
    program = Path(verifier_script.__file__).with_name("run_pytest.py").read_text()  # which speaks of pytest
    commands = text.replace(shlex.quote(program), "")
    assert len(commands) < len(text)
    assert not [word for word in ("apt-get", "uv", "--ctrf", "-m pytest") if word in commands]
    assert text.count('python -I -c "${RUN_PYTEST:?}"') == 2
    assert 'python -I -c "${RUN_PYTEST:?}" alone /tests/' in text  # uvx does not look into the folder
    assert "python3 /tests/score.py >" in text
    assert {"numpy", "rich"} <= set((folder / "environment/requirements.txt").read_text().split())
    assert task.environment.apt == ("jq",)


def test_tests_that_agents_have_too_run_as_they_were_published(theirs: Write) -> None:
    source = theirs(
        Dockerfile="FROM gcc:latest\nWORKDIR /app\nCOPY notes.txt test_outputs.py\n", notes=TEST,
        test=f"pytest /app/test_outputs.py\n{REWARD}",
    )  # fmt: skip
    task = taken(source)
    text = (source.parent / "suite/tasks/parcels/tests/test.sh").read_text()
    assert task.environment.apt == ("gcc", "g++", "make")
    assert text.startswith("mkdir -p /app && cp --remove-destination /tests/test_outputs.py /app/test_outputs.py\n")


def test_a_program_may_have_to_be_one_and_remarks_say_nothing(theirs: Write) -> None:
    text = "# not by netstat\ndef test_it():\n    assert Path('/app/x').stat().st_mode & 0o111\n"
    assert taken(theirs(test_outputs=text)).id == "parcels"


def test_commands_in_a_shell_of_their_own_are_understood() -> None:
    steps = read_shell("bash -lc 'set -e; apt-get install -o Acquire::Retries=5 -y g++; rm -rf /var/lib/apt/lists/*'")
    assert (steps.apt, steps.build) == (["g++"], [])
    assert read_shell("curl -fsSL https://deb.nodesource.com/setup_20.x | bash - && apt-get install -y nodejs").apt == [
        "nodejs"
    ]
    assert read_shell("chmod -R 777 /root/results /logs /tests/a").build == ["chmod -R 777 /root/results"]
    assert read_shell("chmod -R 777 /logs/agent").build == []
    assert read_shell("sed -i -e 's#a#b#' /etc/apt/sources.list && sed -i s/a/b/ x").build == ["sed -i s/a/b/ x"]
    assert read_shell("scripts/build.sh --all").build == ["scripts/build.sh --all"]
    assert read_shell("npm install -g js-md5").build == ["npm install --global --prefix /env js-md5"]
    with pytest.raises(ValueError, match="fetches"):
        read_shell("curl https://x.org/setup.sh | bash")


STAGES = """\
ARG RELEASE=3.12
FROM debian AS given
ARG RELEASE
WORKDIR /in
COPY data ./data
COPY notes.txt /in/old.txt
FROM python:$RELEASE AS base
USER root
ENV LIMIT=20
WORKDIR /app
FROM base
COPY --from=given /in/data/ ./data/
COPY --from=0 /in/old.txt new.txt
"""


def test_stages_give_the_files_that_they_have(theirs: Write) -> None:
    source = theirs(Dockerfile=STAGES)
    task = taken(source)
    assert task.state is not None and task.state.work == "/app"
    assert task.environment.python in ("3.12", "3.11") and task.environment.variables == {"LIMIT": "20"}
    files = source.parent / "suite/tasks/parcels/files"
    assert {path.relative_to(files).as_posix() for path in files.rglob("*") if path.is_file()} >= {
        "app/data/parcels.txt", "app/new.txt",
    }  # fmt: skip
    assert not (files / "in").exists()


def test_a_task_of_one_step_is_that_step(theirs: Write) -> None:
    source = theirs(task=f"{ABOUT}[[steps]]\nname = 'only'\n[steps.agent]\ntimeout_sec = 77.0\n")
    folder = source / "parcels"
    (folder / "steps/only").mkdir(parents=True)
    for name in ("instruction.md", "tests", "solution"):
        (folder / name).rename(folder / "steps/only" / name)
    task = taken(source)
    assert task.limits.seconds == 77 and task.title == "Sum the parcels"
    made = source.parent / "suite/tasks/parcels"
    assert (made / "solution/solve.sh").is_file() and (made / "tests/test_outputs.py").read_text() == TEST
