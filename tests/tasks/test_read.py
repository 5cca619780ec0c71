"""A sound task folder is read; a broken one is refused with a sentence that names file, key and remedy."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

from repoassay.errors import BadTask
from repoassay.tasks import TaskFolder, read_task, task_from_toml
from repoassay.types import TaskKind

MINI = Path(__file__).parents[1] / "assets/suites/mini"
METRICS = ("opens", "table_cells_f1", "table_rows", "ssim")
Break = Callable[[Path], object]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MINI, tmp_path / "mini"))


def read(folder: Path) -> TaskFolder:
    return read_task(folder, repositories=folder.parents[1] / "repositories", metrics=METRICS)


def refused(folder: Path) -> BadTask:
    with pytest.raises(BadTask) as caught:
        read(folder)
    return caught.value


def test_a_deliverable_is_read(suite: Path) -> None:
    found = read(suite / "tasks/sum-ledger")
    assert found.task.id == "sum-ledger"
    assert found.task.kind is TaskKind.DELIVERABLE
    assert found.task.repository.source == "bundled:sums"
    assert found.task.limits.memory == 2**30
    assert found.instruction.startswith("# Total a ledger")
    assert len(found.digest) == 64
    assert (found.inputs / "ledger.csv").is_file()


def test_an_edit_is_read(suite: Path) -> None:
    found = read(suite / "tasks/fix-total")
    assert found.task.grading.tests is not None
    assert len(found.task.grading.tests.all_ids) == 3


def test_a_relative_path_is_as_good_and_metrics_are_checked_only_when_known(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(suite / "tasks/sum-ledger")
    found = read_task(Path(), repositories=suite / "repositories")
    assert found.path == (suite / "tasks/sum-ledger").resolve()


def toml(old: str, new: str) -> Break:
    """Replace text in task.toml."""

    def change(folder: Path) -> None:
        file = folder / "task.toml"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return change


def write(name: str, content: bytes) -> Break:
    def change(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)

    return change


def remove(name: str) -> Break:
    return lambda folder: (folder / name).unlink()


def link(name: str, target: str) -> Break:
    return lambda folder: (folder / name).symlink_to(target)


def folder_named_task_toml(folder: Path) -> None:
    (folder / "task.toml").unlink()
    (folder / "task.toml").mkdir()


def pipe_named_task_toml(folder: Path) -> None:
    (folder / "task.toml").unlink()
    os.mkfifo(folder / "task.toml")


def link_named_task_toml(folder: Path) -> None:
    (folder / "task.toml").rename(folder / "t")
    (folder / "task.toml").symlink_to("t")


def sparse(name: str, size: int) -> Break:
    def change(folder: Path) -> None:
        with (folder / name).open("r+b" if (folder / name).exists() else "wb") as stream:
            stream.truncate(size)

    return change


def requirements(text: str) -> Break:
    def change(folder: Path) -> None:
        write("environment/requirements.txt", text.encode())(folder)
        toml('path = ["src"]', 'path = ["src"]\nrequirements = "environment/requirements.txt"')(folder)

    return change


HASH = "--hash=sha256:" + "0" * 64
D = "sum-ledger"
E = "fix-total"
CRITERION = '[[grading.process]]\nmetric = "opens"'

BROKEN: list[tuple[str, str, Break, list[str]]] = [
    ("no task.toml", D, remove("task.toml"), ["task.toml: is missing."]),
    ("task.toml is a folder", D, folder_named_task_toml, ["task.toml: cannot be read: it is not a regular file."]),
    ("task.toml is huge", D, sparse("task.toml", 2**30), ["task.toml: cannot be read: it is larger than 2097152 bytes",
                                                          "holds 1024 MiB, more than 512 MiB"]),
    ("task.toml is a pipe", D, pipe_named_task_toml,
     ["task.toml: is neither a file nor a folder. Remove it."]),
    ("not TOML", D, toml('id = "sum-ledger"', "id = "), ["task.toml: is not TOML: line 4, column 6: invalid value."]),
    ("cut off", D, write("task.toml", b"schema = 1\nx = [1"), ["is not TOML: line 2: unclosed array"]),
    ("not UTF-8", D, write("task.toml", b"schema = 1\ntitle = '\xff'"), ["task.toml: is not UTF-8 (line 2, byte 21)"]),
    ("nested deeply", D, write("task.toml", b"a = " + b"[" * 9000 + b"]" * 9000), ["is nested too deeply."]),
    ("dotted deeply", D, write("task.toml", b"a" + b".a" * 90000 + b" = 1"), ["line 1 has more than 1000 dots."]),
    ("dotted in many lines", D, write("task.toml", b"".join(b"k%d%s = 1\n" % (n, b".a" * 900) for n in range(1000))),
     ["long lines have many dots."]),
    ("huge number", D, toml("seconds = 60", "seconds = " + "9" * 5000), ["task.toml: is not TOML: "]),
    ("huge hexadecimal", D, toml("seconds = 60", "seconds = 0x" + "f" * 5000), ["limits.seconds: is "]),
    ("huge size", D, toml('"1 MB"', f'"{"9" * 400} GB"'), ["outputs.max_bytes: is not a size; write"[:31]]),
    ("schema missing", D, toml("schema = 1\n", ""), ["schema: is missing. Write schema = 1"]),
    ("schema of the future", D, toml("schema = 1", "schema = 2"), ["schema: is 2; this version reads 1."]),
    ("schema true", D, toml("schema = 1", "schema = true"), ["schema: is True; this version reads 1."]),
    ("no [task]", D, toml("[task]", "[tasks]"), ["task: is missing. Add the section [task].",
                                               "tasks: is not a known key. Did you mean task?"]),
    ("task is no table", D, write("task.toml", b"schema = 1\ntask = 3\n"), ["task: is not a table."]),
    ("typo in a key", D, toml("at_least", "at_last"), ["grading.result[0].at_last: is not a known key. "
                                                     "Did you mean at_least?"]),
    ("typo in [task]", D, toml("domain", "domian"), ["task.domian: is not a known key. Did you mean domain?",
                                                   "task.domain: is missing."]),
    ("typo in a section", D, toml("[limits]", "[limit]"), ["limit: is not a known key. Did you mean limits?"]),
    ("own key outside", D, toml("schema = 1", 'schema = 1\ntitle = "none"'), ["title: stands outside the section"]),
    ("section inside [task]", D, toml('kind = "deliverable"', 'kind = "deliverable"\ngrading = 1'),
     ["task.grading: is a section of its own. Write it as [grading]."]),
    ("unknown kind", D, toml('"deliverable"', '"deliverables"'),
     ["task.kind: is 'deliverables'. It must be 'deliverable', 'edit', 'pull_request' or 'state'."]),
    ("network", D, toml('kind = "deliverable"', 'kind = "deliverable"\nnetwork = "host"'),
     ["task.network: is a section of its own. Write it as [network]."]),
    ("network policy", D, toml("[economics]", '[network]\npolicy = "host"\n[economics]'),
     ["network.policy: is 'host'."]),
    ("network hosts", D, toml("[economics]", '[network]\nhosts = ["127.0.0.1"]\n[economics]'), ["network.hosts"]),
    ("hosts unreached", D, toml("[economics]", '[network]\npolicy = "model"\nhosts = ["a.example"]\n[economics]'),
     ["network: has hosts, which the policy model does not reach"]),
    ("bad id", D, toml('id = "sum-ledger"', 'id = "../sum"'), ["task.id: is '../sum'. It must start with a letter"]),
    ("id is not the folder", D, toml('id = "sum-ledger"', 'id = "fix-total"'),
     ["task.id: is 'fix-total', but the folder is called 'sum-ledger'. Give both the same name"]),
    ("number as text", D, toml("at_least = 0.99", 'at_least = "high"'),
     ["grading.result[0].at_least: is 'high'. It must be a number."]),
    ("nan", D, toml("at_least = 0.99", "at_least = nan"), ["at_least: is nan. It must be a number that is neither"]),
    ("text as number", D, toml('"Total a ledger by month"', "5"), ["task.title: is 5. It must be text in quotes."]),
    ("list as text", D, toml('["ledger.csv"]', '"ledger.csv"'), ["inputs.files: is 'ledger.csv'. It must be a list."]),
    ("a date", D, toml('"Total a ledger by month"', "2025-01-01"), ["task.title: is a date or time."]),
    ("two thresholds", D, toml("at_least = 0.99", "at_least = 0.99\nequals = 1"),
     ["grading.result[0]: has equals beside another threshold. Keep one."]),
    ("no threshold", D, toml("at_least = 0.99", ""), ["grading.result[0]: has no threshold. Add at_least"]),
    ("odd option", D, toml('options = { format = "csv" }', "options = { format = { a = 1 } }"),
     ["grading.process[0].options.format: must be text, a number"]),
    ("of is no output", D, toml('of = "totals.csv"', 'of = "total.csv"'),
     ["grading: criteria read ['total.csv'], which outputs.files does not name."]),
    ("a deliverable without criteria", D,
     lambda f: (f / "task.toml").write_text((f / "task.toml").read_text().replace("grading.result", "grading.process")),
     ["grading.result: a deliverable task needs at least one"]),
    ("limits", D, toml("seconds = 60", "seconds = 0"), ["limits.seconds: is 0. It must be more than 0"]),
    ("economics", D, toml("low = 2.00", "low = 6.00"), ["economics: needs low <= value <= high."]),
    ("pypi without digest", D, toml('"bundled:sums"', '"pypi:six==1.17.0"'), ["repository: needs sha256"]),
    ("git without revision", D, toml('"bundled:sums"', '"git:https://example.org/x"'), ["repository: needs revision"]),
    ("odd source", D, toml('"bundled:sums"', '"svn:x"'),
     ["repository.source: is 'svn:x'. It must be pypi:NAME==VERSION, npm:NAME==VERSION, bundled:NAME, "
      "folder:PATH or git:URL."]),
    ("bundled repository unknown", D, toml('"bundled:sums"', '"bundled:sum"'),
     ["repository.source: names the bundled repository 'sum', which is not in repositories/. Did you mean sums?"]),
    ("folder repository outside", D, toml('"bundled:sums"', '"folder:../../repositories/sums"'),
     ["repository.source: names the folder '../../repositories/sums', which is not a folder of its own inside"]),
    ("folder repository hidden", D, toml('"bundled:sums"', '"folder:solution"'), ["folder 'solution', which is not"]),
    ("folder repository is all", D, toml('"bundled:sums"', '"folder:."'), ["names the folder '.', which is not"]),
    ("folder repository absent", D, toml('"bundled:sums"', '"folder:repository"'), ["which does not exist. Add it."]),
    ("no licence key", D, toml('licence = "Apache-2.0"', ""), ["repository.licence: is missing."]),
    ("python", D, toml('">=3.11"', '"three"'),
     ["environment.python: is 'three'. Write it as '>=3.11', or as one release line such as '3.9'."]),
    ("import path leaves", D, toml('path = ["src"]', 'path = ["../.."]'),
     ["environment.path[0]: is '../..', which is no folder inside the repository."]),
    ("import path absolute", D, toml('path = ["src"]', 'path = ["src", "/etc"]'), ["environment.path[1]: is '/etc'"]),
    ("import path colon", D, toml('path = ["src"]', 'path = ["src:/etc"]'), ["environment.path[0]: is 'src:/etc'"]),
    ("import path absent", D, toml('path = ["src"]', 'path = ["lib"]'), ["'lib', which is not a folder"]),
    ("input absent", D, remove("inputs/ledger.csv"),
     ["inputs.files[0]: names 'ledger.csv', which is not in inputs/. Add the file."]),
    ("input misspelt", D, toml('["ledger.csv"]', '["ledgers.csv"]'),
     ["names 'ledgers.csv', which is not in inputs/. Did you mean ledger.csv?",
      "inputs/ledger.csv: is not named in inputs.files."]),
    ("input not named", D, write("inputs/more.csv", b"x"), ["inputs/more.csv: is not named in inputs.files."]),
    ("input outside", D, toml('["ledger.csv"]', '["../tests/totals.csv"]'),
     ["inputs.files[0]: must be a relative path with forward slashes that stays inside its folder."]),
    ("input twice", D, toml('["ledger.csv"]', '["ledger.csv", "./ledger.csv"]'),
     ["inputs.files: names 'ledger.csv' 2 times. Keep one."]),
    ("input is compiled", D, toml('["ledger.csv"]', '["ledger.csv", "x.pyc"]'), ["names 'x.pyc', compiled code."]),
    ("output twice", D, toml('["totals.csv"]', '["totals.csv", "totals.csv"]'),
     ["outputs.files: names 'totals.csv' 2 times. Keep one."]),
    ("output in output", D, toml('["totals.csv"]', '["totals.csv", "totals.csv/x"]'),
     ["names 'totals.csv' both as a file and as the folder of 'totals.csv/x'."]),
    ("truth absent", D, remove("tests/totals.csv"),
     ["grading.result[0].against: names 'totals.csv', which is not in tests/. Add the file."]),
    ("truth outside", D, toml("truth:totals.csv", "truth:../task.toml"), ["result[0]: must be a relative path"]),
    ("reference is no input", D, toml("truth:totals.csv", "input:ledge.csv"),
     ["names 'ledge.csv', which inputs.files does not. Did you mean ledger.csv?"]),
    ("unknown metric", D, toml('"table_cells_f1"', '"table_cell_f1"'),
     ["grading.result[0].metric: is 'table_cell_f1', which is not a metric. Did you mean table_cells_f1?"]),
    ("no requirements file", D, toml('path = ["src"]', 'path = ["src"]\nrequirements = "requirements.txt"'),
     ["environment.requirements: names 'requirements.txt', which does not exist."]),
    ("requirement not pinned", D, requirements("six>=1.0\n"), ["requirements.txt: line 1: 'six' is not pinned"]),
    ("requirement without digest", D, requirements("# x\nsix==1.17.0\n"), ["line 2: 'six' has no --hash=sha256:"]),
    ("requirement with an option", D, requirements(f"--index-url https://example.org\nsix==1.0 {HASH}"),
     ["line 1: '--index-url' is an option"]),
    ("no instruction", D, remove("instruction.md"), ["instruction.md: is missing."]),
    ("empty instruction", D, write("instruction.md", b" \n\t\n"), ["instruction.md: is empty."]),
    ("instruction not UTF-8", D, write("instruction.md", b"caf\xe9"), ["instruction.md: is not UTF-8 (byte 4)."]),
    ("instruction with NUL", D, write("instruction.md", b"a\0b"), ["instruction.md: holds a NUL character."]),
    ("instruction too long", D, sparse("instruction.md", 2**20), ["instruction.md: cannot be read: it is larger than"]),
    ("no solution", D, remove("solution/solve.py"), ["solution/solve.py: is missing."]),
    ("empty solution", E, write("solution/changes.diff", b""), ["solution/changes.diff: is empty."]),
    ("no diff", E, remove("solution/changes.diff"), ["solution/changes.diff: is missing."]),
    ("deep", D, lambda folder: (folder / "inputs" / "/".join(["d"] * 201)).mkdir(parents=True),
     ["is within more than 200"]),
    ("link inside", D, link("inputs/other.csv", "ledger.csv"), ["inputs/other.csv: is a link."]),
    ("link out", D, link("tests/passwd", "/etc/passwd"), ["tests/passwd: is a link. Put a copy"]),
    ("linked task.toml", D, link_named_task_toml,
     ["task.toml: is a link.", "task.toml: cannot be read: it is a link."]),
    ("linked folder", D, link("environment", "/etc"), ["environment: is a link."]),
    ("pipe", D, lambda f: os.mkfifo(f / "tests/pipe"), ["tests/pipe: is neither a file nor a folder."]),
    ("too large", D, sparse("tests/large", 2**30), ["holds 1024 MiB", "largest file is tests/large"]),
    ("hostile name", D, write("inputs/\x1b[31m\nred", b"x"), [r"inputs/\x1b[31m\nred: is not named"]),
    ("name that is no text", D, lambda f: Path(os.fsdecode(os.fsencode(f / "inputs") + b"/\xff")).write_text("x"),
     [r"inputs/\udcff: is not named"]),
    ("edit without tests", E, toml("[grading.tests]", "[grading.test]"),
     ["grading.test: is not a known key. Did you mean tests?"]),
    ("edit with outputs", E, toml("[limits]", '[outputs]\nfiles = ["x"]\n[limits]'),
     ["grading: an edit task is graded by tests alone. Remove its criteria and outputs."]),
    ("no test must turn", E, toml('["test_total.py::test_every_value_counts"]', "[]"),
     ["grading.tests.fail_to_pass: is an empty list. It needs at least 1 of them."]),
    ("test file absent", E, remove("tests/test_total.py"),
     ["grading.tests.fail_to_pass[0]: names the file 'test_total.py', which is not in tests/."]),
    ("test file outside", E, toml("test_total.py::test_every", "../solution/x.py::test_every"),
     ["fail_to_pass[0]: names the file '../solution/x.py', which is not in tests/."]),
    ("test without a name", E, toml("test_total.py::test_every_value_counts", "test_total.py"),
     ["grading.tests.fail_to_pass[0]: is 'test_total.py'. Write it as FILE::NAME"]),
    ("test twice", E, toml("test_nothing_adds_up_to_nothing", "test_every_value_counts"),
     ["grading.tests: names these tests more than once: test_total.py::test_every_value_counts."]),
]  # fmt: skip


@pytest.mark.parametrize(("task", "spoil", "words"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_broken_folder_is_refused_in_words(suite: Path, task: str, spoil: Break, words: list[str]) -> None:
    folder = suite / "tasks" / task
    spoil(folder)
    error = refused(folder)
    assert error.exit_code == 2
    said = str(error)
    for part in words:
        assert part in said
    assert said.isascii() and all(letter.isprintable() or letter == "\n" for letter in said)
    assert "pydantic" not in said and "Traceback" not in said

    from repoassay.cli.tasks import tasks

    linted = CliRunner().invoke(tasks, ["lint", str(folder)])
    assert linted.exit_code == 2, linted.output
    listed = CliRunner().invoke(tasks, ["list", str(folder)])
    assert getattr(listed.exception, "exit_code", None) == 2, listed.output
    for part in words:
        assert part in linted.output
        assert part in str(listed.exception)


def test_all_problems_come_at_once(suite: Path) -> None:
    folder = suite / "tasks/sum-ledger"
    toml("at_least = 0.99", "at_last = 0.99")(folder)
    toml("seconds = 60", "seconds = -1")(folder)
    toml('"bundled:sums"', '"bundled:nowhere"')(folder)
    (folder / "instruction.md").unlink()
    (folder / "inputs/ledger.csv").unlink()
    (folder / "solution/solve.py").unlink()
    (folder / "tests/way-out").symlink_to("/")
    places = {(problem.file, problem.key) for problem in refused(folder).problems}
    assert places >= {
        ("task.toml", "grading.result[0].at_last"),
        ("task.toml", "limits.seconds"),
        ("task.toml", "repository.source"),
        ("task.toml", "inputs.files[0]"),
        ("instruction.md", ""),
        ("solution/solve.py", ""),
        ("tests/way-out", ""),
    }


def test_every_problem_has_something_to_say(suite: Path) -> None:
    folder = suite / "tasks/sum-ledger"
    (folder / "task.toml").write_text("schema = 1\n[task]\n[repository]\n[grading]\n[economics]\n")
    for problem in refused(folder).problems:
        assert problem.file and problem.what.endswith(".") and "?" not in problem.what


def test_a_flood_of_problems_is_cut_short(suite: Path) -> None:
    folder = suite / "tasks/sum-ledger"
    for number in range(500):
        (folder / f"inputs/{number}.csv").write_text("x")
    error = refused(folder)
    assert len(error.problems) == 101
    assert error.problems[-1].what == "has more problems than are listed here."


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "text",
    [
        "schema = 1\n" + "".join(f"key{number} = 1\n" for number in range(20000)),
        "schema = 1\n[task]\n" + "".join(f"key{number} = 1\n" for number in range(20000)),
        "schema = 1\n[limits]\n" + "".join(f"key{number} = 1\n" for number in range(20000)),
        f"schema = 1\n[inputs]\nfiles = {[str(number) for number in range(25000)]}",
        f"schema = 1\n[outputs]\nfiles = ['{'a/' * 100000}a']",
        f"schema = 1\n[outputs]\nfiles = {['a/' * 500 + str(number) for number in range(230)]}",
        "schema = 1\n" + f"[a{'.a' * 999}]\n" * 100,
        "schema = 1\n" + "".join(f"[a{number}{'.a' * 999}]\n" for number in range(100)),
    ],
    ids=["keys", "task keys", "section keys", "inputs", "deep path", "deep paths", "same table", "deep tables"],
)
@pytest.mark.timeout(30)
def test_a_file_made_to_take_long_is_refused_soon(suite: Path, text: str) -> None:
    folder = suite / "tasks/sum-ledger"
    for number in range(2000):
        (folder / f"inputs/{number}.csv").touch()
    assert len(text) < 256 * 2**10
    (folder / "task.toml").write_text(text)
    assert len(refused(folder).problems) <= 101


@pytest.mark.parametrize("repositories", [None, Path("nowhere")])
def test_a_bundled_repository_needs_its_folder(repositories: Path | None) -> None:
    with pytest.raises(BadTask, match="names the bundled repository 'sums'"):
        read_task(MINI / "tasks/sum-ledger", repositories=repositories)


def test_bundled_repositories_are_not_followed_through_links(suite: Path) -> None:
    (suite / "repositories").rename(suite / "elsewhere")
    (suite / "repositories").symlink_to("elsewhere")
    assert "names the bundled repository 'sums'" in str(refused(suite / "tasks/sum-ledger"))
    (suite / "repositories").unlink()
    (suite / "repositories").mkdir()
    (suite / "repositories/sums").symlink_to("../elsewhere/sums")
    assert "names the bundled repository 'sums'" in str(refused(suite / "tasks/sum-ledger"))


@pytest.mark.parametrize("name", ["nowhere", "a\0b", "x" * 5000, "loop"])
def test_a_path_that_leads_nowhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(BadTask, match="cannot be opened") as caught:
        read_task(tmp_path / name)
    assert caught.value.exit_code == 2


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder anybody may enter, and this process as somebody who may read only what everybody may."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        try:
            yield Path(place)
        finally:
            if root:
                os.seteuid(0)


def test_what_may_not_be_read_is_named(nobody: Path) -> None:
    me = os.geteuid()
    if os.getuid() == 0:
        os.seteuid(0)
    folder = nobody / "tasks/sum-ledger"
    shutil.copytree(MINI, nobody, dirs_exist_ok=True)
    for name in ("task.toml", "instruction.md", "tests"):
        (folder / name).chmod(0)
    if os.getuid() == 0:
        os.seteuid(me)
    error = refused(folder)
    assert "task.toml: cannot be read: Permission denied." in str(error)
    assert "instruction.md: cannot be read: Permission denied." in str(error)
    assert "tests/: cannot be read: Permission denied." in str(error)
    if os.getuid() == 0:
        os.seteuid(0)
    (folder / "tests").chmod(0o755)


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_bytes_end_in_a_sentence(tmp_path_factory: pytest.TempPathFactory, junk: bytes) -> None:
    folder = tmp_path_factory.mktemp("junk")
    (folder / "task.toml").write_bytes(junk)
    with pytest.raises(BadTask):
        read_task(folder)


VALUES = st.recursive(
    st.sampled_from(
        ['"x"', "1", "-1", "1e999", "nan", "inf", "true", "0xffffffffffffffffffffff", "1979-05-27", "''", '"a\\u0000b"',
         '"\\u001b"', "[]", "{}", '"bundled:sums"', '"folder:\\u0000"', '"truth:x"', '"edit"', '"1 MB"', "07:32:00"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        inner.map(lambda value: f"{{ a = {value} }}"),
    ),
    max_leaves=4,
)  # fmt: skip


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_value_in_any_place_ends_in_a_sentence_or_a_task(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([D, E]))
    lines = (MINI / "tasks" / name / "task.toml").read_text().splitlines()
    places = [index for index, line in enumerate(lines) if " = " in line]
    for index in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=4)):
        key = lines[index].split(" = ")[0]
        lines[index] = f"{key} = {data.draw(VALUES)}"
    text = "\n".join(lines)
    with contextlib.suppress(BadTask):
        assert task_from_toml(text).id
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(MINI, place, dirs_exist_ok=True)) / "tasks" / name
        (folder / "task.toml").write_text(text)
        with contextlib.suppress(BadTask):
            assert read(folder).instruction


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_is_no_task(text: str) -> None:
    with pytest.raises(BadTask):
        task_from_toml(text)
