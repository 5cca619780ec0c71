"""A converted task means what its original does: what pytest passes over, finds or is told; what is not in an image."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import repoassay
from json_answers import data_of
from repoassay.engine import GradingContext
from repoassay.interchange import TaskRefusal, import_suite
from repoassay.tasks import TaskFolder, find_suite

DOCKERFILE = "FROM debian:12\nWORKDIR /app\nCOPY . /app\n"
SCRIPT = """\
#!/bin/bash
pytest /tests/test_sum.py -rA
if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
"""
TEST = "def test_sum():\n    assert open('/app/sum.txt').read().strip() == '8'\n"
NAMED = ("test_sum.py::test_sum",)
STRICT = """\
#!/bin/bash -e
[[ $- == *e* && $(cat /app/sum.txt) == 8 ]]
echo 1 > /logs/verifier/reward.txt
"""


def written(place: Path, files: dict[str, str]) -> Path:
    """A task of Harbor with some files beside the usual ones, or in their place."""
    usual = {
        "task.toml": 'version = "1.0"\n[metadata]\n',
        "instruction.md": "Write the sum of 3 and 5 to /app/sum.txt.\n",
        "environment/Dockerfile": DOCKERFILE,
        "tests/test.sh": SCRIPT,
        "tests/test_sum.py": TEST,
        "solution/solve.sh": "#!/bin/bash\necho 8 > /app/sum.txt\n",
    }
    for name, text in {**usual, **files}.items():
        file = place / "theirs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return place / "theirs"


def no_bench() -> GradingContext:
    """Nothing of these tasks runs while they are converted."""
    raise AssertionError("something was to run")


def converted(place: Path, files: dict[str, str]) -> TaskFolder | TaskRefusal:
    """A task, or why it is none."""
    done = import_suite("harbor", written(place, files), place / "suite", no_bench)
    return done.refused[0] if done.refused else find_suite(str(done.path)).tasks[0]


def how(place: Path, files: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    """The runner of a task's tests, and their names."""
    folder = converted(place, files)
    assert isinstance(folder, TaskFolder)
    tests = folder.task.grading.tests
    assert tests is not None
    return tests.runner, tests.all_ids


def test_plain_tests_run_by_name(tmp_path: Path) -> None:
    usual = SCRIPT.replace(
        "pytest ", "export PATH=$HOME/.local/bin:$PATH\nmkdir -p /logs/verifier\nchmod +x /tests/*.sh\npytest ", 1
    )
    assert how(tmp_path, {"tests/test.sh": usual}) == ("pytest", NAMED)


@pytest.mark.parametrize(
    "test",
    [
        pytest.param("import pytest\n\n\n@pytest.mark.xfail\ndef test_more():\n    assert 0\n", id="expected to fail"),
        pytest.param("import pytest\n\n\ndef test_more():\n    pytest.skip('not here')\n", id="skipped"),
        pytest.param("if True:\n    def test_more():\n        assert False\n", id="conditional"),
        pytest.param("class TestOne:\n    def test_a(self):\n        pass\n\n\nclass TestTwo(TestOne):\n    pass\n",
                     id="inherited"),
        pytest.param("globals()['test_more'] = lambda: None\n", id="made"),
        pytest.param("from test_others import *\n", id="imported"),
        pytest.param("def pytest_generate_tests(metafunc):\n    pass\n", id="generated"),
    ],
)  # fmt: skip
def test_tests_that_pytest_counts_otherwise_run_as_their_script(tmp_path: Path, test: str) -> None:
    assert how(tmp_path, {"tests/test_sum.py": f"{test}\n\n{TEST}"})[0] == "script"


@pytest.mark.parametrize("name", ["pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "more/conftest.py"])
def test_tests_with_settings_of_their_own_run_as_their_script(tmp_path: Path, name: str) -> None:
    assert how(tmp_path, {f"tests/{name}": ""})[0] == "script"


@pytest.mark.parametrize(
    "line",
    [
        "export LIMIT=3",
        "export PATH=/app/bin:$PATH",
        "chmod +x /app/run.sh",
        "rm -rf /app/cache",
        "mkdir -p /app/out",
        "echo seven > /app/seed.txt",
    ],
)
def test_a_script_that_prepares_something_runs_as_it_is(tmp_path: Path, line: str) -> None:
    assert how(tmp_path, {"tests/test.sh": SCRIPT.replace("pytest ", f"{line}\npytest ", 1)})[0] == "script"


@pytest.mark.parametrize(
    "options",
    ["-k sum", "-ksum", "-m quick", "--deselect /tests/test_sum.py::test_more", "--ignore=/tests/test_more.py",
     "/tests/test_more.py::test_one"],
)  # fmt: skip
def test_a_script_that_runs_some_tests_alone_runs_as_it_is(tmp_path: Path, options: str) -> None:
    assert how(tmp_path, {"tests/test.sh": SCRIPT.replace("-rA", options)})[0] == "script"


def test_every_file_that_pytest_looks_into_is_named(tmp_path: Path) -> None:
    files = {
        "tests/test.sh": SCRIPT.replace("/tests/test_sum.py", "/tests"),
        "tests/more/test_more.py": "def test_more():\n    assert True\n",
        "tests/last_test.py": "def test_last():\n    assert True\n",
    }
    runner, names = how(tmp_path, files)
    assert (runner, set(names)) == ("pytest", {*NAMED, "more/test_more.py::test_more", "last_test.py::test_last"})


@pytest.mark.parametrize("text", ['"""Not to /logs/verifier/reward.txt."""\n', "# no /logs/verifier/reward.txt\n"])
def test_a_reward_that_nobody_looks_for_refuses_the_task(tmp_path: Path, text: str) -> None:
    script = SCRIPT.replace("/logs/verifier", "/app")
    refusal = converted(tmp_path, {"tests/test.sh": script, "tests/more.py": text})
    assert isinstance(refusal, TaskRefusal)
    assert refusal.why == "Its test script writes no reward where one is looked for."


def test_tests_have_the_time_that_harbor_gives_where_none_is_told(tmp_path: Path) -> None:
    folder = converted(tmp_path, {})
    assert isinstance(folder, TaskFolder) and folder.task.grading.tests is not None
    assert folder.task.grading.tests.seconds == 600


def test_what_a_dockerignore_names_is_not_in_the_image(tmp_path: Path) -> None:
    files = {
        "environment/.dockerignore": "# notes\n*.md\n!keep.md\n**/*.log\n/secret/\ndata/*\n!data/in.txt\n",
        "environment/answer.md": "8",
        "environment/keep.md": "kept",
        "environment/deep/notes.md": "kept: the pattern is of the top folder",
        "environment/deep/run.log": "",
        "environment/secret/key.txt": "",
        "environment/data/in.txt": "3 5",
        "environment/data/out.txt": "8",
    }
    folder = converted(tmp_path, files)
    assert isinstance(folder, TaskFolder)
    place = folder.path / "files/app"
    found = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    assert found == {".dockerignore", "Dockerfile", "keep.md", "deep/notes.md", "data/in.txt"}


def test_a_dockerignore_full_of_stars_takes_no_time(tmp_path: Path) -> None:
    deep = "/".join("a" * 40)
    files = {
        "environment/.dockerignore": f"{'a/**/' * 40}b\n{'**/' * 200}b\n{'a*' * 200}b\n",
        f"environment/{deep}/c": "kept",
        f"environment/{'a' * 200}": "kept",
    }
    folder = converted(tmp_path, files)
    assert isinstance(folder, TaskFolder)
    assert (folder.path / "files/app" / deep / "c").is_file() and (folder.path / "files/app" / ("a" * 200)).is_file()


UV = """\
#!/bin/bash
ready() {
  if command -v uvx >/dev/null 2>&1; then return 0; fi
  curl -LsSf https://astral.sh/uv/install.sh | sh
  command -v uvx >/dev/null 2>&1
}
if ! ready; then echo 0 > /logs/verifier/reward.txt; exit 1; fi
FILES=(/tests/test_*.py)
uvx -w pytest==8.4.1 pytest "${FILES[@]}"
if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
"""
LEFT = {
    "instruction.md": "Write the sum of 3 and 5 to /logs/agent/out/sum.txt.\n",
    "tests/test_sum.py": TEST.replace("/app/", "/logs/agent/out/"),
    "solution/solve.sh": "#!/bin/bash\nset -e\nmkdir -p /logs/agent/out\necho 8 > /logs/agent/out/sum.txt\n",
}


def linked(place: Path, *, target: str = "../now/three.txt") -> dict[str, str]:
    """A task whose image holds a link, which its tests and its solution read."""
    link = place / "theirs/environment/data/by/name.txt"
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    return {
        "environment/data/now/three.txt": "3\n",
        "environment/Dockerfile": "FROM debian:12\nWORKDIR /app\nCOPY data /app/data\n",
        "tests/test_sum.py": TEST + "    assert open('/app/data/by/name.txt').read() == '3\\n'\n",
        "solution/solve.sh": "#!/bin/bash\nset -e\nread -r one < data/by/name.txt\necho $((one + 5)) > /app/sum.txt\n",
    }


@pytest.mark.long
def test_a_link_of_an_image_to_a_file_of_it_is_proven_as_a_link(tmp_path: Path) -> None:
    source = written(tmp_path, linked(tmp_path))
    done = repoassay("import", source, "--as", "harbor", "--out", tmp_path / "suite", "--prove", "--json", cwd=tmp_path)
    assert [proof["state"] for proof in data_of(done.stdout)["proofs"]] == ["proven"], done.stdout
    (task,) = find_suite(str(tmp_path / "suite")).tasks
    assert not (task.path / "files/app/data/by/name.txt").exists()
    assert "ln -sfn ../now/three.txt /app/data/by/name.txt" in task.task.environment.build


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../instruction.md", "../../../../../x"])
def test_a_link_that_leads_out_of_the_image_refuses_the_task(tmp_path: Path, target: str) -> None:
    refusal = converted(tmp_path, linked(tmp_path, target=target))
    assert isinstance(refusal, TaskRefusal) and "hold a link" in refusal.why


def test_a_link_behind_a_link_is_looked_at_as_a_whole(tmp_path: Path) -> None:
    files = linked(tmp_path, target="../away/three.txt")
    (tmp_path / "theirs/environment/data/away").symlink_to(tmp_path)
    refusal = converted(tmp_path, files)
    assert isinstance(refusal, TaskRefusal) and "hold a link" in refusal.why


@pytest.mark.long
@pytest.mark.parametrize(
    "files",
    [
        pytest.param(LEFT, id="left among the logs of the agent"),
        pytest.param({**LEFT, "tests/test.sh": UV}, id="both"),
        pytest.param({"tests/test.sh": STRICT}, id="run by what the first line names"),
    ],
)
def test_it_is_proven(tmp_path: Path, files: dict[str, str]) -> None:
    source = written(tmp_path, files)
    done = repoassay("import", source, "--as", "harbor", "--out", tmp_path / "suite", "--prove", "--json", cwd=tmp_path)
    assert [proof["state"] for proof in data_of(done.stdout)["proofs"]] == ["proven"], done.stdout


@pytest.mark.long
def test_a_solution_is_run_by_what_its_first_line_names(tmp_path: Path) -> None:
    source = written(tmp_path, {"solution/solve.sh": "#!/bin/bash -e\nfalse\necho 8 > /app/sum.txt\n"})
    done = repoassay("import", source, "--as", "harbor", "--out", tmp_path / "suite", "--prove", "--json", cwd=tmp_path)
    assert [proof["state"] for proof in data_of(done.stdout)["proofs"]] == ["unproven"], done.stdout


@pytest.mark.parametrize("lines", [SCRIPT.replace("\n", "\r\n"), SCRIPT.replace("-rA\n", "-rA\r\n")])
def test_carriage_returns_refuse_a_script(tmp_path: Path, lines: str) -> None:
    (written(tmp_path, {}) / "tests/test.sh").write_bytes(lines.encode())
    done = import_suite("harbor", tmp_path / "theirs", tmp_path / "suite", no_bench)
    assert ["carriage returns" in refusal.why for refusal in done.refused] == [True]


def test_variables_of_the_tests_are_not_shown_to_agents(tmp_path: Path) -> None:
    told = '[environment.env]\nLIMIT = "3"\n[verifier.env]\nANSWER = "it\'s 8"\n'
    folder = converted(tmp_path, {"task.toml": told, "tests/check.sh": "echo $ANSWER"})
    assert isinstance(folder, TaskFolder)
    assert folder.task.environment.variables == {"LIMIT": "3"}
    assert (folder.tests / "test.sh").read_text().startswith("#!/bin/bash\nexport ANSWER='it'\"'\"'s 8'\n")


@pytest.mark.parametrize(
    ("shown", "put_back"),
    [
        ({"data/in.txt": "3 5"}, []),
        ({"data/in.txt": "3 5", "checks/test_sum.py": TEST}, ["/app/checks/test_sum.py"]),
        (
            {"checks/data/in.txt": "3 5", "checks/test_sum.py": TEST},
            ["/app/checks/data/in.txt", "/app/checks/test_sum.py"],
        ),
    ],
    ids=["data", "data and a test elsewhere", "data of a test"],
)
def test_data_that_the_image_shows_are_the_agents_to_change(
    tmp_path: Path, shown: dict[str, str], put_back: list[str]
) -> None:
    hidden = {"tests/in.txt": "3 5", "tests/test.sh": SCRIPT.replace("pytest ", "echo start > /app/log\npytest ", 1)}
    folder = converted(tmp_path, {**hidden, **{f"environment/{name}": text for name, text in shown.items()}})
    assert isinstance(folder, TaskFolder)
    lines = (folder.tests / "test.sh").read_text().splitlines()
    assert [line.rpartition(" ")[2] for line in lines if "--remove-destination" in line] == put_back


def test_lists_of_packages_that_a_script_deletes_are_no_place_of_the_task(tmp_path: Path) -> None:
    folder = converted(tmp_path, {"tests/test.sh": f"apt-get update && rm -rf /var/lib/apt/lists/*\n{SCRIPT}"})
    assert isinstance(folder, TaskFolder) and folder.task.state is not None
    assert folder.task.state.places == ("/app",)


@pytest.mark.parametrize(
    "line",
    [
        "SCORE = Path('/tests') / 'score.txt'\n\n\ndef test_more():\n    SCORE.write_text('1')",
        "SCORE = TESTS_DIR / 'score.txt'\n\n\ndef test_more():\n    open(SCORE, 'w').write('1')",
        "def test_more():\n    open('/tests/score.txt', 'w').write('1')",
    ],
)
def test_tests_that_write_into_their_own_folder_are_refused(tmp_path: Path, line: str) -> None:
    refusal = converted(tmp_path, {"tests/test_more.py": f"{line}\n"})
    assert isinstance(refusal, TaskRefusal)
    assert refusal.why == "Its tests write into their own folder, which is read-only here."
    assert refusal.file == "tests/test_more.py"


@pytest.mark.parametrize(
    "line",
    [
        "SCORE = Path('/tests') / 'score.txt'\n\n\ndef test_more():\n    SCORE.read_text()",
        "OUT = Path('/app/tests/out.txt')\n\n\ndef test_more():\n    OUT.write_text('1')",
    ],
)
def test_tests_that_read_there_or_write_elsewhere_are_taken(tmp_path: Path, line: str) -> None:
    assert isinstance(converted(tmp_path, {"tests/test_more.py": f"{line}\n"}), TaskFolder)
