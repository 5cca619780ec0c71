"""What a task of Harbor asks for beside its image is taken as Harbor takes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from repoassay.engine import GradingContext
from repoassay.errors import BadInput
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
    image = {"environment/Dockerfile": "FROM python:3.11\nRUN pip install pytest\nWORKDIR /app\n"}
    assert taken(convert({"task.toml": written, **image})).network.policy is policy


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
    two = "services:\n  main: {}\n  db: {}\n"
    assert taken(convert({"docker-compose.yml": two, "environment/docker-compose.yml": two})).id == "one"


SEPARATE = '[verifier]\nenvironment_mode = "separate"\n'
OF_TESTS = "FROM python:3.11\nRUN apt-get install -y jq && pip install -r /tmp/all.lock\nCOPY test.sh /tests/\n"


def test_packages_of_the_tests_own_image_are_taken(convert: Convert) -> None:
    lock = "six==1.17.0 \\\n    --hash=sha256:00\n"
    own = OF_TESTS.replace("RUN", "COPY all.lock /tmp/all.lock\nRUN")
    done = convert({"task.toml": SEPARATE, "tests/Dockerfile": own, "tests/all.lock": lock})
    assert "jq" in taken(done).environment.apt
    assert (done.path / "tasks/one/environment/requirements.txt").read_text() == "six==1.17.0\n"


def test_a_python_environment_of_the_tests_own_image_is_the_tasks_own(convert: Convert) -> None:
    own = "FROM debian\nWORKDIR /app\nENV V=/opt/v\nRUN uv venv $V && $V/bin/pip install six\nCOPY test.sh /tests/\n"
    script = f"/opt/v/bin/{SCRIPT}"
    done = convert({"task.toml": SEPARATE, "tests/Dockerfile": own, "tests/test.sh": script})
    tests = taken(done).grading.tests
    assert tests is not None and tests.runner == "pytest"
    assert "/opt" in taken(done).state.places  # type: ignore[union-attr]


@pytest.mark.parametrize("line", ["COPY data.txt /usr/lib/data.txt", "RUN python3 /tests/prepare.py"])
def test_tests_whose_own_image_holds_more_are_refused(convert: Convert, line: str) -> None:
    done = convert({"task.toml": SEPARATE, "tests/Dockerfile": f"FROM debian\n{line}\n", "tests/data.txt": "3"})
    assert ["an image of their own" in refusal.why for refusal in done.refused] == [True]


def test_tests_in_an_image_that_nobody_can_read_are_refused(convert: Convert) -> None:
    done = convert({"task.toml": '[verifier.environment]\ndocker_image = "example.org/checks:1"\n'})
    assert [(refusal.why, refusal.text) for refusal in done.refused] == [
        (
            "Its tests have an image of their own without a Dockerfile.",
            "verifier.environment.docker_image = example.org/checks:1",
        )
    ]


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
    assert "P=/env/bin/pytest\n" in written and '\npython -I -c "${RUN_PYTEST:?}" /tests/' in written


RUN = "pytest /tests/test_outputs.py"
GIVE = "if [ $? -eq 0 ]; then\n  echo 1 > /logs/verifier/reward.txt\nelse\n  echo 0 > /logs/verifier/reward.txt\nfi\n"


@pytest.mark.parametrize(
    ("script", "by_name"),
    [
        (f"{RUN}\n{GIVE}", True),
        (
            f"{RUN}\nCODE=$?\nset -e\nif [ $CODE -eq 0 ]; then\n  echo 1 > /logs/verifier/reward.txt\nfi\nexit $?\n",
            True,
        ),
        (f"set -o pipefail\n{RUN} | tee /logs/verifier/log.txt\n{GIVE}", True),
        (f"{RUN} && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n", True),
        (f"{RUN}\necho done\n{GIVE}", False),
        (f"set +e\n{RUN}\nset -e\n{GIVE}", False),
        (f"{RUN} | tee /logs/verifier/log.txt\n{GIVE}", False),
        (f"{RUN} || true\n{GIVE}", False),
        (f"{RUN}\necho 1 > /logs/verifier/reward.txt\n", False),
    ],
)
def test_tests_run_by_name_only_where_the_reward_is_what_pytest_said(
    convert: Convert, script: str, by_name: bool
) -> None:
    tests = taken(convert({"tests/test.sh": script})).grading.tests
    assert tests is not None and tests.runner == ("pytest" if by_name else "script")


@pytest.mark.parametrize(
    "changed",
    [
        {"tests/run.py": "open('/logs/verifier/reward.json', 'w')\n"},
        {"task.toml": "[environment]\ndocker_image = 'registry.example.org/whole'\n"},
        {"environment/Dockerfile": "FROM registry.example.org/base\n"},
        {"environment/docker-compose.yaml": "services:\n  main: {}\n"},
    ],
)
def test_what_may_write_a_reward_elsewhere_is_a_task(convert: Convert, changed: Mapping[str, str]) -> None:
    done = convert({"tests/test.sh": "set -e\nbash /opt/judge.sh\n", **changed})
    assert (done.found, done.no_tasks) == (1, [])


def test_where_both_tools_have_a_file_harbors_counts(convert: Convert) -> None:
    both = {"task.yaml": "name: one\n", "task.toml": "[agent]\ntimeout_sec = 70\n", "Dockerfile": "FROM gone\n"}
    assert taken(convert(both)).limits.seconds == 70


@pytest.mark.parametrize(
    ("instruction", "good"),
    [
        ("Run `poetry install`, or `pip3 install -e .` in /app.\n", False),
        ("Write to /app.\nDo not `pip install` or `apt-get install -y` anything.\n", True),
        ("Make /app a package that `pip install` takes.\n", True),
    ],
)
def test_installing_into_the_machine_is_no_work_that_crosses(convert: Convert, instruction: str, good: bool) -> None:
    assert [each.why[:28] for each in convert({"instruction.md": instruction}).refused] == (
        [] if good else ["Its work is to install packa"]
    )


def test_a_link_that_the_user_names_is_followed(convert: Convert, tmp_path: Path) -> None:
    convert({})
    (tmp_path / "link").symlink_to(tmp_path / "theirs/one")
    assert import_suite("harbor", tmp_path / "link", tmp_path / "again", no_bench).tasks == ["link"]


def test_a_suite_that_cannot_be_written_is_told_in_a_sentence(convert: Convert, tmp_path: Path) -> None:
    convert({})
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        import_suite("harbor", tmp_path / "theirs", tmp_path / "file/suite", no_bench)


ASKS = '[verifier.env]\nOPENAI_API_KEY = "${OPENAI_API_KEY}"\nJUDGE_KEY = "${ANTHROPIC_API_KEY:-}"\n'
JUDGE = "#!/bin/bash\npython3 /tests/judge.py > /logs/verifier/reward.txt\n"


def test_keys_of_models_that_tests_ask_are_names_and_never_values(
    convert: Convert, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-0123456789")
    about = ASKS + 'OPENAI_BASE_URL = "${OPENAI_BASE_URL:-}"\nJUDGE_MODEL = "${JUDGE_MODEL:-gpt-4o}"\n'
    judge = 'import openai\nURL = "https://api.openai.com/v1"\n'
    done = convert({"task.toml": about, "tests/test.sh": JUDGE, "tests/judge.py": judge})
    tests = taken(done).grading.tests
    assert tests is not None and tests.runner == "script"
    assert tests.keys == {"OPENAI_API_KEY": "openai", "JUDGE_KEY": "anthropic"} and tests.optional_keys == (
        "JUDGE_KEY",
    )
    assert taken(done).environment.variables == {"JUDGE_MODEL": "gpt-4o"}
    assert "sk-real" not in (done.path / "tasks/one/task.toml").read_text()


def test_no_task_reads_the_environment_of_whoever_imports_it(convert: Convert, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://me:hunter2@db")
    (refusal,) = convert({"task.toml": '[verifier.env]\nPLACE = "${DATABASE_URL}"\n'}).refused
    assert "from the environment of its user" in refusal.why and "hunter2" not in str(refusal)
    assert refusal.line == 2


def test_a_variable_with_a_default_has_that_whatever_the_user_has(
    convert: Convert, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGION", "mine")
    task = taken(convert({"task.toml": '[environment.env]\nREGION = "${REGION:-theirs}"\n'}))
    assert task.environment.variables == {"REGION": "theirs"}


def test_tests_that_ask_a_model_run_as_the_script_they_are(convert: Convert) -> None:
    tests = taken(convert({"task.toml": ASKS})).grading.tests
    assert tests is not None and tests.fail_to_pass == ("test.sh::__script__",)


@pytest.mark.parametrize(
    ("judge", "why", "line"),
    [
        ("import http.client\nhttp.client.HTTPSConnection('api.openai.com')\n", "by a name of its host", 2),
        ("client = OpenAI(base_url='https://api.portkey.ai/v1')\n", "none of a provider known here", 1),
    ],
)
def test_a_model_that_cannot_be_led_to_the_proxy_is_refused_by_line(
    convert: Convert, judge: str, why: str, line: int
) -> None:
    (refusal,) = convert({"task.toml": ASKS, "tests/test.sh": JUDGE, "tests/judge.py": judge}).refused
    assert why in refusal.why and (refusal.file, refusal.line) == ("tests/judge.py", line)


def test_an_agent_as_a_judge_is_refused(convert: Convert) -> None:
    rubric = '[judge]\njudge = "claude-code"\n'
    (refusal,) = convert({"task.toml": ASKS, "tests/test.sh": JUDGE, "tests/rubric.toml": rubric}).refused
    assert "let an agent judge" in refusal.why and refusal.line == 2


def test_a_key_for_the_agent_that_nothing_reads_is_left_out(convert: Convert) -> None:
    about = '[environment.env]\nOPENROUTER_API_KEY = "${OPENROUTER_API_KEY}"\nMODE = "fast"\n'
    assert taken(convert({"task.toml": about})).environment.variables == {"MODE": "fast"}


REWARDKIT = "source $HOME/.local/bin/env\nuvx --from 'harbor-rewardkit==0.1.*' rewardkit /tests\n"


def test_reward_kit_runs_in_the_tasks_environment_and_writes_where_it_is_told(convert: Convert) -> None:
    done = convert({"environment/Dockerfile": "FROM debian\nWORKDIR /app\n", "tests/test.sh": REWARDKIT})
    folder = done.path / "tasks/one"
    assert taken(done).environment.python == "3.12"
    assert "rewardkit --output /logs/verifier/reward.json /tests" in (folder / "tests/test.sh").read_text()
    assert (folder / "environment/requirements.txt").read_text() == "harbor-rewardkit==0.1.*\n"


def test_reward_kit_is_not_run_on_an_older_python_than_it_wants(convert: Convert) -> None:
    old = {"environment/Dockerfile": "FROM python:3.10\nWORKDIR /app\n", "tests/test.sh": REWARDKIT}
    assert "newer Python" in convert(old).refused[0].why


_WITHOUT_PIP = "FROM ubuntu:24.04\nRUN apt-get update && apt-get install -y python3\nWORKDIR /app\n"
_BY_PIP = "python3 -m pip install --break-system-packages -q pytest==9.0.3"
_HAS_PYTEST = "FROM python:3.11\nRUN pip install pytest\nWORKDIR /app\n"
_OFFLINE = "[environment]\nallow_internet = false\n"
_STEP = '[[steps]]\nname = "sum"\n'
_STEP_FILES = {"steps/sum/instruction.md": "Write the sum.\n"}
_NODE = "FROM node:18-slim\nRUN npm install -g js-md5\nWORKDIR /app\n"
_BY_PYTHON = "python3 /tests/test_outputs.py\nif [ $? -eq 0 ]; then\n  echo 1 > /logs/verifier/reward.txt\nfi\n"
_OPEN = '[environment]\nnetwork_mode = "public"\n'


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"task.toml": "version = {version}\n"}, "its task.toml is no TOML"),
        ({"instruction.md": None}, "no instruction.md"),
        ({"tests/test.sh": None}, "no test script"),
        ({"environment/Dockerfile": None}, "cannot start it"),
        (
            {"environment/Dockerfile": "FROM debian\nCOPY --chown=a:a data.txt gone.txt /app/\n"},
            "cannot build its image",
        ),
        ({"tests/test.sh": f"set -e\n{RUN} --ctrf /logs/verifier/ctrf.json\nexit $?\n"}, "gets no verdict from it"),
        (
            {"environment/Dockerfile": _WITHOUT_PIP, "tests/test.sh": f"{_BY_PIP} 2>/dev/null || true\n{SCRIPT}"},
            "passes nobody: .* a pip that its image does not have",
        ),
        ({"environment/Dockerfile": _NODE, "tests/test.sh": _BY_PYTHON}, "no solution: its test script starts Python"),
        (
            {
                "environment/Dockerfile": "FROM ubuntu:24.04\nRUN echo 3 > /app/in.txt\nWORKDIR /app\n",
                "tests/test.sh": "apt-get install -y python3\n" + _BY_PYTHON,
                "solution/solve.sh": "cd /app\npython3 -c 'print(8)' > /app/out/sum.txt\n",
            },
            "not its own solution, which starts Python",
        ),
        (
            {
                "environment/Dockerfile": "FROM eclipse-temurin:17-jdk\nWORKDIR /app\n",
                "environment/docker-compose.yaml": "services:\n  main:\n    build:\n      context: ${CONTEXT_DIR}\n",
                "tests/test.sh": _BY_PYTHON,
            },
            "no solution: its test script starts Python",
        ),
        ({"task.toml": _OFFLINE}, "passes nobody: its tests have no network to fetch their pytest"),
        ({"task.toml": _OFFLINE, "tests/test.sh": f"{_BY_PIP} || true\n{SCRIPT}"}, "passes nobody: its tests have no"),
        (
            {"task.toml": _OFFLINE, "environment/Dockerfile": _HAS_PYTEST, "tests/test.sh": f"uvx {SCRIPT}"},
            "no network",
        ),
        ({"task.toml": f'{_OPEN}[verifier]\nnetwork_mode = "no-network"\n'}, "passes nobody: its tests have no"),
        ({"task.toml": f"{_OFFLINE}{_STEP}", **_STEP_FILES}, "passes nobody: its tests have no network"),
        (
            {
                "task.toml": _STEP,
                **_STEP_FILES,
                "environment/Dockerfile": _WITHOUT_PIP,
                "steps/sum/tests/test.sh": f"{_BY_PIP}\n{SCRIPT}",
            },
            "passes nobody: .* a pip that its image does not have",
        ),
    ],
)
def test_folders_that_harbor_itself_refuses_are_counted_apart(
    convert: Convert, tmp_path: Path, changed: Mapping[str, str | None], why: str
) -> None:
    for path, content in {**FILES, "environment/data.txt": "1\n", **changed}.items():
        place = tmp_path / "theirs/none" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            place.write_text(content)
    with pytest.raises(BadInput, match=why):
        import_suite("harbor", tmp_path / "theirs", tmp_path / "suite", no_bench)
    done = convert({})
    assert (done.found, done.tasks) == (1, ["one"])
    assert [(each.task, bool(re.search(why, each.why))) for each in done.no_tasks] == [("none", True)]


@pytest.mark.parametrize(
    ("image", "script"),
    [
        (f"{_WITHOUT_PIP}RUN apt-get install -y python3-pip\n", f"{_BY_PIP}\n{SCRIPT}"),
        (_WITHOUT_PIP, f"apt-get update && apt-get install -y python3-pip\n{_BY_PIP}\n{SCRIPT}"),
        (_WITHOUT_PIP.replace("ubuntu:24.04", "python:3.12"), f"{_BY_PIP}\n{SCRIPT}"),
        (f"{_WITHOUT_PIP}RUN apt-get install -y python3-pytest\n", SCRIPT),
        (f"{_NODE}RUN apt-get install -y mercurial\n", _BY_PYTHON),
        (_NODE.replace("18-slim", "18"), _BY_PYTHON),
        (_NODE, f"apt-get install -y python3\n{_BY_PYTHON}"),
    ],
)
def test_a_pip_of_image_or_script_is_one(convert: Convert, image: str, script: str) -> None:
    taken(convert({"environment/Dockerfile": image, "tests/test.sh": script}))


@pytest.mark.parametrize(
    "changed",
    [
        {"task.toml": f'{_OFFLINE}[verifier]\nnetwork_mode = "public"\n', "tests/test.sh": f"uvx {SCRIPT}"},
        {"task.toml": f"{_OFFLINE}{SEPARATE}", "tests/Dockerfile": _HAS_PYTEST},
        {"task.toml": _OFFLINE, "environment/Dockerfile": _HAS_PYTEST},
        {"task.toml": f"{_OFFLINE}{_STEP}", **_STEP_FILES, "environment/Dockerfile": _HAS_PYTEST},
        {"task.toml": f'{_OFFLINE}{_STEP}verifier = {{network_mode = "public"}}\n', **_STEP_FILES},
        {"task.toml": _OFFLINE, "solution/solve.sh": "pip install /wheels/pytest.whl\necho 8 > /app/out/sum.txt\n"},
        {
            "task.toml": _OFFLINE,
            "tests/test.sh": "cat /app/out/sum.txt\nif [ $? -eq 0 ]; then\n  echo 1 > /logs/verifier/reward.txt\nfi\n",
        },
    ],
)
def test_tests_without_a_network_may_have_their_pytest_otherwise(convert: Convert, changed: Mapping[str, str]) -> None:
    taken(convert(changed))


def test_files_of_the_tests_own_image_are_laid_where_they_have_them(convert: Convert) -> None:
    agents = "FROM python:3.11\nWORKDIR /app\nCOPY rules.txt /app/\nRUN python3 -c 'print(1)'\n"
    own = agents.replace("COPY rules.txt /app/", "COPY strict.txt /app/rules.txt") + "COPY test.sh /tests/\n"
    own += "COPY held/ /grader/held/\nCOPY answer.txt /app/answer.txt\n"
    files = {"environment/Dockerfile": agents, "environment/rules.txt": "lax\n", "tests/strict.txt": "strict\n"}
    settings = f"artifacts = ['/app/answer.txt']\n{SEPARATE}"
    done = convert(
        {"task.toml": settings, "tests/Dockerfile": own, "tests/held/a b.txt": "1", "tests/answer.txt": "", **files}
    )
    script = (done.path / "tasks/one/tests/test.sh").read_text()
    assert "mkdir -p /app && cp --remove-destination /tests/strict.txt /app/rules.txt\n" in script
    assert "cp --remove-destination '/tests/held/a b.txt' '/grader/held/a b.txt'\n" in script
    begin = "[ ! -L /grader ] || rm /grader; mkdir -p /grader && find /grader -mindepth 1 -delete\n"
    assert script.startswith(begin) and "answer.txt /app" not in script
    state = taken(done).state
    assert state is not None and state.places == ("/app", "/grader", "/logs/artifacts")


INLINE = "# /// script\n# requires-python = '>=3.12'\n# dependencies = [\n#   'six==1.17.0',\n# ]\n# ///\nimport six\n"


def test_a_script_that_names_its_packages_runs_in_the_tasks_environment(convert: Convert) -> None:
    script = "uv run /tests/check.py --all\n"
    files = {"environment/Dockerfile": "FROM debian\nWORKDIR /app\n", "tests/test.sh": script}
    writes = f"{INLINE}open('/logs/verifier/reward.txt', 'w').write('1')\n"
    done = convert({**files, "tests/check.py": writes})
    folder = done.path / "tasks/one"
    assert (folder / "tests/test.sh").read_text() == "python /tests/check.py --all\n"
    assert (folder / "environment/requirements.txt").read_text() == "six==1.17.0\n"
    assert taken(done).environment.python == "3.12"


OPTION = INLINE.replace("'six==1.17.0'", '"six==1.17.0\\n--index-url https://x.org"')
ELSEWHERE = INLINE.replace("six==1.17.0", "six @ https://x.org/six.whl")


@pytest.mark.parametrize("changed", ["", ELSEWHERE, OPTION, INLINE * 2])
def test_a_script_of_an_unknown_project_is_not_run(convert: Convert, changed: str) -> None:
    writes = f"{changed}open('/logs/verifier/reward.txt', 'w').write('1')\n"
    done = convert({"tests/test.sh": "uv run /tests/check.py\n", "tests/check.py": writes})
    assert "something with uv that is not understood" in done.refused[0].why


def test_a_variable_that_names_where_rewards_are_written_is_the_scripts_alone(convert: Convert) -> None:
    image = "FROM debian\nENV LOG_DIR=/logs/verifier MODE=fast\nWORKDIR /app\n"
    script = "set -u\npytest /tests/test_sum.py | tee out.txt\necho 1 > ${LOG_DIR:-/logs/verifier}/reward.txt\n"
    done = convert({"environment/Dockerfile": image, "tests/test.sh": script})
    assert taken(done).environment.variables == {"MODE": "fast"}
    assert (done.path / "tasks/one/tests/test.sh").read_text().startswith("LOG_DIR=/logs/verifier\n")
