"""Plug-ins: the example package through the command line, a kind at a time; broken, clashing and hostile ones."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plugin_packages import EXAMPLE, install_example, repoassay, write_package
from repoassay import plugins
from repoassay.errors import BadInput, Unavailable

WRAPPING = ("run", "example-wrapping", "--agent", "wrapper")
METRIC = """\
from repoassay.grading.protocol import Measurement
from repoassay.grading.registry import metric

@metric({name!r}, unit="yes or no", span="[0, 1]", better="larger", source="a test")
def {name}(of):
    {body}
"""


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the example package is installed to."""
    return install_example(tmp_path_factory.mktemp("example") / "site")


def suite_with(metric: str, place: Path) -> Path:
    """A copy of the example's suite, graded by another metric, and an output for its task."""
    folder = Path(shutil.copytree(EXAMPLE / "src/repoassay_example/suite", place / "suite"))
    task = folder / "tasks/wrap-notes/task.toml"
    task.write_text(task.read_text().replace('"wrapped_share"', f'"{metric}"').replace("options = { width = 72 }", ""))
    (place / "outputs/wrap-notes").mkdir(parents=True)
    shutil.copyfile(folder / "tasks/wrap-notes/inputs/notes.txt", place / "outputs/wrap-notes/wrapped.txt")
    return folder


def grade(place: Path, path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return repoassay("grade", "suite", "--outputs", "outputs", "--json", *more, cwd=place, path=(path,))


# --- the example, a kind at a time


def test_doctor_lists_every_kind_with_its_distribution(example: Path, tmp_path: Path) -> None:
    done = repoassay("doctor", "--json", cwd=tmp_path, path=(example,))
    assert done.returncode == 0, done.stderr
    lines = [item for item in json.loads(done.stdout) if item["name"] == "plug-in"]
    assert {item["state"] for item in lines} == {"ok"}
    for kind in plugins.GROUPS.values():
        assert any(item["detail"].startswith(f"{kind} '") for item in lines), kind
    assert all("of repoassay-example 0.1.0 (repoassay_example" in item["detail"] for item in lines)


@pytest.fixture(scope="session")
def finished(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the example's agent on the example's suite, in the example's sandbox."""
    place = tmp_path_factory.mktemp("finished")
    done = repoassay(*WRAPPING, "--isolation", "one-minute", cwd=place, path=(example,))
    assert done.returncode == 0, done.stderr
    assert "how well it isolates is not verified, and no verdict in it is attested" in done.stderr
    assert "1 passed" in done.stdout and "isolation one-minute" in done.stdout
    return place


def test_agent_suite_metric_and_sandbox_work_together(finished: Path) -> None:
    (folder,) = (finished / "runs").glob("2*")
    plan = json.loads((folder / "run.json").read_text())
    assert plan["isolation"] == "one-minute"
    assert plan["agents"]["wrapper"]["version"] == "repoassay-example 0.1.0"
    (verdict,) = folder.glob("attempts/*/verdict.json")
    results = {item["metric"]: item for item in json.loads(verdict.read_text())["criteria"]}
    assert results["wrapped_share"]["value"] == 1.0 and results["wrapped_share"]["unit"] == "ratio"


def test_an_exporter_writes_runs_and_suites(example: Path, finished: Path, tmp_path: Path) -> None:
    (folder,) = (finished / "runs").glob("2*")
    for source, text in (
        (str(folder), "- wrap-notes by wrapper: passed\n"),
        ("example-wrapping", "- wrap-notes: Wrap the lines of a text\n"),
    ):
        done = repoassay("export", source, "--as", "markdown", "--out", "out.md", cwd=tmp_path, path=(example,))
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "out.md").read_text() == text
    listed = repoassay("export", "--list", "--json", cwd=tmp_path, path=(example,))
    assert set(json.loads(listed.stdout)) == {"atif", "csv", "jsonl", "markdown"}


def test_a_table_stands_in_the_report(example: Path, finished: Path, tmp_path: Path) -> None:
    (folder,) = (finished / "runs").glob("2*")
    done = repoassay("report", str(folder), "--out", "report", "--format", "json", cwd=tmp_path, path=(example,))
    assert done.returncode == 0, done.stderr
    table = json.loads((tmp_path / "report/tables/comments.json").read_text())
    assert "What verdicts say" in json.dumps(table)


def test_a_metric_is_listed_and_its_suite_is_validated(example: Path, tmp_path: Path) -> None:
    done = repoassay("metrics", "wrapped_share", cwd=tmp_path, path=(example,))
    assert "Share of the lines of a text" in done.stdout
    assert "wrapped_share" in repoassay("metrics", cwd=tmp_path, path=(example,)).stdout
    listed = repoassay("tasks", "list", "--json", cwd=tmp_path, path=(example,))
    assert {"suite": "example-wrapping", "id": "wrap-notes"}.items() <= json.loads(listed.stdout)[-1].items()
    proofs = repoassay("tasks", "validate", "example-wrapping", cwd=tmp_path, path=(example,))
    assert proofs.returncode == 0, proofs.stdout


def test_a_reader_reads_what_an_agent_printed(example: Path, tmp_path: Path) -> None:
    (tmp_path / "talker.toml").write_text("""\
schema = 1
name = "talker"
dialect = "chat"
[run]
command = ["/bin/sh", "-c", "echo first; echo second"]
prompt = "stdin"
[transcript]
parser = "plain-lines"
""")
    (tmp_path / "dialogue.jsonl").write_text('{"kind": "turn", "text": "Done."}\n')
    run = ("run", "example-wrapping", "--agent", "talker.toml", "--model", "scripted/x", "--dialogue", "dialogue.jsonl")
    done = repoassay(*run, cwd=tmp_path, path=(example,))
    assert done.returncode == 0, done.stderr
    (trajectory,) = tmp_path.glob("runs/2*/attempts/*/trajectory.json")
    assert [step["text"] for step in json.loads(trajectory.read_text())["steps"]] == ["first", "second"]
    exported = repoassay("export", "latest", "--as", "atif", "--out", "t.jsonl", cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    assert json.loads((tmp_path / "t.jsonl").read_text())["schema_version"] == "ATIF-v1.4"
    refused = repoassay(*run, cwd=tmp_path)
    assert refused.returncode == 2 and "is wrong at transcript.parser: is 'plain-lines'" in refused.stderr


def test_rows_of_another_format_are_read(example: Path, tmp_path: Path) -> None:
    row = {
        "task": "a-1", "git": "https://host.invalid/a.git", "commit": "0" * 40, "ask": "Do it.",
        "check": "def test_a():\n    assert True\n", "answer": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    }  # fmt: skip
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    done = repoassay("stats", "dataset", "rows.jsonl", "--json", cwd=tmp_path, path=(example,))
    assert done.returncode == 0, done.stderr
    assert "a-1" in done.stdout
    refused = repoassay("stats", "dataset", "rows.jsonl", cwd=tmp_path)
    assert refused.returncode == 2 and "is of no known format" in refused.stderr


# --- where code runs


def test_a_metric_runs_in_the_grading_sandbox_alone(tmp_path: Path) -> None:
    secret, trace = tmp_path / "secret", tmp_path / "trace"
    secret.write_text("of this machine")
    body = f"""\
    import os, socket
    from pathlib import Path
    try:
        Path({str(trace)!r}).write_text("was here")
    except OSError:
        pass
    seen = [Path({str(secret)!r}).exists(), os.path.exists("/workspace/inputs"), len(socket.if_nameindex()) > 1]
    return Measurement(0.0 if any(seen) else 1.0, f"seen: {{seen}}")"""
    text = METRIC.format(name="confined_metric", body=body.strip())
    path = write_package(tmp_path / "site", "sneaky", {"metrics": {"confined_metric": "sneaky:confined_metric"}},
                         {"sneaky": text})  # fmt: skip
    suite_with("confined_metric", tmp_path)
    done = grade(tmp_path, path)
    assert json.loads(done.stdout)["outcome"] == "passed", done.stdout + done.stderr
    assert not trace.exists()


def test_a_metric_of_an_editable_installation_is_found(tmp_path: Path) -> None:
    # A .pth file, which is what makes it editable, does on a site's folder what PYTHONPATH does here.
    site = install_example(tmp_path / "site", editable=True)
    assert not (site / "repoassay_example").exists()
    suite_with("wrapped_share", tmp_path)
    path = os.pathsep.join((str(site), str(EXAMPLE / "src")))
    done = repoassay("grade", "suite", "--outputs", "outputs", "--json", cwd=tmp_path, path=(Path(path),))
    verdict = json.loads(done.stdout)
    assert verdict["outcome"] == "failed" and verdict["criteria"][1]["comment"] == "2 of 3 lines are too long"


def test_a_metric_that_crashes_where_it_is_imported_inside_costs_one_criterion(tmp_path: Path) -> None:
    text = "import os\nif os.environ.get('OPENBLAS_NUM_THREADS') == '1':\n    os._exit(7)\n"
    text += METRIC.format(name="dies_inside", body="return Measurement(1.0)")
    path = write_package(tmp_path / "site", "dying", {"metrics": {"dies_inside": "dying:dies_inside"}}, {"dying": text})
    suite_with("dies_inside", tmp_path)
    done = grade(tmp_path, path)
    verdict = json.loads(done.stdout)
    assert [item["value"] for item in verdict["criteria"]] == [1.0, None], done.stdout


def test_a_sandbox_cannot_take_the_name_under_which_verdicts_are_attested(tmp_path: Path) -> None:
    text = """\
from repoassay.workspace.namespaces import NamespaceSandbox
class Impostor(NamespaceSandbox):
    pass
"""
    entries = {"sandboxes": {"namespaces": "impostor:Impostor", "mine": "impostor:Impostor"}}
    path = write_package(tmp_path / "site", "impostor", entries, {"impostor": text})
    code = "from repoassay.workspace import open_sandbox as o; print(o('mine').name, type(o('namespaces')).__module__)"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(path)}, text=True,
                          capture_output=True, check=True, timeout=60)  # fmt: skip
    assert done.stdout.split() == ["mine", "repoassay.workspace.namespaces"]
    assert done.stderr.count("how well it isolates is not verified") == 1
    unknown = repoassay("grade", "starter", "--outputs", ".", "--isolation", "bubble", cwd=tmp_path, path=(path,))
    assert unknown.returncode == 2 and "'bubble' is not one of" in unknown.stderr


# --- what goes wrong


def test_a_broken_plug_in_is_one_sentence_where_it_is_used_and_none_elsewhere(tmp_path: Path) -> None:
    entries = {
        "metrics": {"broken_metric": "broken:metric"}, "agents": {"broken-agent": "broken:Agent"},
        "exporters": {"broken": "broken:Exporter"}, "tables": {"broken": "broken:tables"},
        "suites": {"broken-suite": "broken"}, "sandboxes": {"broken-box": "broken:Box"}, "rows": {"b": "broken:Row"},
    }  # fmt: skip
    path = write_package(tmp_path / "site", "broken", entries, {"broken": "import nothing_of_this_name\n"})
    said = "of broken 1.0 cannot be imported: ModuleNotFoundError: No module named 'nothing_of_this_name'."
    fine = repoassay("tasks", "show", "starter", "sensor-log-daily", cwd=tmp_path, path=(path,))
    assert fine.returncode == 0 and fine.stderr == ""
    listed = repoassay("metrics", cwd=tmp_path, path=(path,))
    assert listed.returncode == 0 and listed.stderr.count(said) == 1 and listed.stderr.count("\n") == 1
    exports = repoassay("export", "--list", cwd=tmp_path, path=(path,))
    assert exports.returncode == 0 and exports.stderr.count(said) == 1 and "csv" in exports.stdout
    for line in (
        ("run", "starter", "--agent", "broken-agent", "--task", "sensor-log-daily"),
        ("run", "broken-suite", "--agent", "nothing"),
        ("grade", "starter", "--outputs", ".", "--isolation", "broken-box"),
        ("export", "starter", "--as", "broken", "--out", "x"),
        ("metrics", "broken_metric"),
    ):
        done = repoassay(*line, cwd=tmp_path, path=(path,))
        assert done.returncode == 3 and said in done.stderr, (line, done.stderr)
        assert "Traceback" not in done.stderr
    doctor = repoassay("doctor", "--json", cwd=tmp_path, path=(path,))
    assert doctor.returncode == 0
    states = [item for item in json.loads(doctor.stdout) if item["name"] == "plug-in"]
    assert len(states) == 7 and all(item["state"] == "degraded" and said in item["detail"] + "." for item in states)


def test_a_name_that_two_distributions_offer_names_both(tmp_path: Path) -> None:
    text = METRIC.format(name="twice", body="return Measurement(1.0)")
    for name in ("first", "second"):
        write_package(tmp_path / "site", name, {"metrics": {"twice": f"{name}:twice"}}, {name: text}, "2.0")
    done = repoassay("metrics", "twice", cwd=tmp_path, path=(tmp_path / "site",))
    assert done.returncode == 2
    assert "The metric 'twice' is offered by first 2.0 and second 2.0. Uninstall all of them but one." in done.stderr
    doctor = repoassay("doctor", cwd=tmp_path, path=(tmp_path / "site",))
    assert "metric 'twice' is offered by first 2.0 and second 2.0" in doctor.stdout


def test_a_bundled_name_is_never_taken_over(tmp_path: Path) -> None:
    text = METRIC.format(name="opens", body="return Measurement(1.0)") + "Agent = 1\n"
    entries = {"metrics": {"opens": "taker:opens"}, "agents": {"reference": "taker:Agent"}, "suites": {"starter": "t"}}
    path = write_package(tmp_path / "site", "taker", entries, {"taker": text})
    done = repoassay("metrics", "opens", "--json", cwd=tmp_path, path=(path,))
    assert json.loads(done.stdout)[0]["source"] != "a test"
    run = repoassay("run", "starter", "--agent", "reference", "--task", "sensor-log-daily", cwd=tmp_path, path=(path,))
    assert run.returncode == 0 and "1 passed" in run.stdout
    doctor = repoassay("doctor", cwd=tmp_path, path=(path,))
    assert doctor.stdout.count("is passed over, since its name is a bundled one") == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("print('noise')\nraise SystemExit(5)\n", "SystemExit: 5"),
        ("class Own(BaseException): pass\nraise Own('a\\x1b[31mb')\n", "Own: a\\\\x1b[31mb"),
        ("print('noise')\n", "AttributeError: module 'hostile' has no attribute 'Agent'"),
    ],
)
def test_a_hostile_import_ends_in_a_sentence(tmp_path: Path, text: str, reason: str) -> None:
    path = write_package(tmp_path / "site", "hostile", {"agents": {"bad": "hostile:Agent"}}, {"hostile": text})
    done = repoassay("run", "starter", "--agent", "bad", "--task", "sensor-log-daily", cwd=tmp_path, path=(path,))
    assert done.returncode == 3 and reason.replace("\\\\", "\\") in done.stderr, done.stderr
    assert done.stdout == "" and "\x1b" not in done.stderr


def test_what_prints_at_import_leaves_json_alone(tmp_path: Path) -> None:
    text = "print('{noise')\n" + METRIC.format(name="loud", body="return Measurement(1.0)")
    path = write_package(tmp_path / "site", "loud", {"metrics": {"all-of-it": "loud"}}, {"loud": text})
    done = repoassay("metrics", "--json", cwd=tmp_path, path=(path,))
    assert "loud" in [item["name"] for item in json.loads(done.stdout)]
    assert "{noise" in done.stderr


def test_a_slow_or_deadly_import_harms_nobody_who_does_not_ask_for_it(tmp_path: Path) -> None:
    entries = {
        "agents": {"slow": "slow:Agent"}, "exporters": {"deadly": "deadly:E"}, "tables": {"odd-name": "ok:x"},
    }  # fmt: skip
    modules = {"slow": "import time; time.sleep(60)\n", "deadly": "import os; os._exit(0)\n", "ok": "x = list\n"}
    path = write_package(tmp_path / "site", "trouble", entries, modules)
    begun = time.monotonic()
    run = ("run", "starter", "--agent", "nothing", "--task", "sensor-log-daily")
    assert repoassay(*run, cwd=tmp_path, path=(path,)).returncode == 0
    code = (
        "import repoassay.workspace.plugin_check as c; c._SECONDS = 5\n"
        "for found in c.examine_plugins(): print(found.state, found.detail)"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(path)}, text=True,
                          capture_output=True, check=True, timeout=50)  # fmt: skip
    assert time.monotonic() - begun < 55
    assert "degraded agent 'slow' of trouble 1.0 takes more than 5 seconds to import" in done.stdout
    assert "degraded exporter 'deadly' of trouble 1.0 ended the process that imported it, with 0" in done.stdout
    assert "ok report table 'odd-name' of trouble 1.0 (ok:x)" in done.stdout


def test_an_agent_that_fails_costs_its_attempt_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("""\
class Agent:
    def command(self, layout, limits):
        raise ValueError("not today")
class Empty:
    pass
""")
    run = ("run", "starter", "--task", "sensor-log-daily", "--agent")
    done = repoassay(*run, "mine:Agent", cwd=tmp_path)
    assert done.returncode == 0 and "infra_fault" in done.stderr and "not today" in done.stdout, done.stderr
    refused = repoassay(*run, "mine:Empty", cwd=tmp_path)
    assert refused.returncode == 2 and "has no method command(layout, limits)" in refused.stderr
    absent = repoassay(*run, "mine:Nobody", cwd=tmp_path)
    assert absent.returncode == 3 and "has no attribute 'Nobody'" in absent.stderr


def test_a_folder_with_the_name_of_an_installed_suite_is_not_guessed_at(example: Path, tmp_path: Path) -> None:
    (tmp_path / "example-wrapping").mkdir()
    done = repoassay("tasks", "list", "example-wrapping", cwd=tmp_path, path=(example,))
    assert done.returncode == 2
    assert "is both a folder here and a suite of repoassay-example 0.1.0. Write ./example-wrapping" in done.stderr


# --- the loader


@pytest.mark.parametrize("group", plugins.GROUPS)
def test_everything_bundled_can_be_imported(group: str) -> None:
    names = plugins.bundled(group)
    assert names
    for name in names:
        assert plugins.load(group, name) is not None


def test_without_a_source_tree_the_installed_metadata_says_what_is_bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    known = plugins._bundled()
    monkeypatch.setattr(plugins, "_source_tables", lambda: None)
    assert plugins._bundled.__wrapped__() == known
    monkeypatch.setattr(plugins, "_SELF", "a-package-nobody-installed")
    with pytest.raises(Unavailable, match="lies here without its metadata"):
        plugins._bundled.__wrapped__()


def test_nothing_is_imported_to_look_a_name_up() -> None:
    code = """\
import sys
from repoassay import plugins
from repoassay.grading.registry import names
from repoassay.suites import find_suite
find_suite("starter", metrics=names())
assert plugins._installed.cache_info().currsize == 0, "installed distributions were looked at"
metrics = ("repoassay.grading.metrics.", "repoassay.grading.published.")
print(*[name for name in sys.modules if name.startswith(metrics)])
"""
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True, timeout=60)
    assert done.stdout.strip() == ""


def test_a_dotted_path_counts_only_where_the_caller_allows_it() -> None:
    assert plugins.load("repoassay.agents", "repoassay.agents.reference:ReferenceAgent", dotted=True)
    with pytest.raises(BadInput, match="There is no agent called"):
        plugins.load("repoassay.agents", "repoassay.agents.reference:ReferenceAgent")
    with pytest.raises(BadInput, match="Did you mean nothing"):
        plugins.load("repoassay.agents", "nothin", dotted=True)
