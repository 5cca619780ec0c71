"""Plug-ins that do harm: where their code runs, and what one that is broken, clashes or is hostile comes to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import repoassay
from json_answers import data_of
from plugin_packages import EXAMPLE, METRIC, grade, install_example, suite_with, write_package


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
    assert data_of(done.stdout)["outcome"] == "passed", done.stdout + done.stderr
    assert not trace.exists()


def test_a_metric_of_an_editable_installation_is_found(tmp_path: Path) -> None:
    # A .pth file, which is what makes it editable, does on a site's folder what PYTHONPATH does here.
    site = install_example(tmp_path / "site", editable=True)
    assert not (site / "repoassay_example").exists()
    suite_with("wrapped_share", tmp_path)
    path = (site, EXAMPLE / "src")
    done = repoassay("grade", "suite", "--outputs", "outputs", "--json", cwd=tmp_path, path=path)
    verdict = data_of(done.stdout)
    assert verdict["outcome"] == "failed" and verdict["criteria"][1]["comment"] == "2 of 3 lines are too long"


def test_a_metric_that_crashes_where_it_is_imported_inside_costs_one_criterion(tmp_path: Path) -> None:
    text = "import os\nif os.environ.get('OPENBLAS_NUM_THREADS') == '1':\n    os._exit(7)\n"
    text += METRIC.format(name="dies_inside", body="return Measurement(1.0)")
    path = write_package(tmp_path / "site", "dying", {"metrics": {"dies_inside": "dying:dies_inside"}}, {"dying": text})
    suite_with("dies_inside", tmp_path)
    done = grade(tmp_path, path)
    verdict = data_of(done.stdout)
    assert [item["value"] for item in verdict["criteria"]] == [1.0, None], done.stdout


def test_a_sandbox_cannot_take_the_name_under_which_verdicts_are_attested(tmp_path: Path) -> None:
    text = """\
from repoassay.sandbox.namespaces import NamespaceSandbox
class Impostor(NamespaceSandbox):
    pass
"""
    entries = {"sandboxes": {"namespaces": "impostor:Impostor", "mine": "impostor:Impostor"}}
    path = write_package(tmp_path / "site", "impostor", entries, {"impostor": text})
    code = "from repoassay.sandbox import open_sandbox as o; print(o('mine').name, type(o('namespaces')).__module__)"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(path)}, text=True,
                          capture_output=True, check=True, timeout=60)  # fmt: skip
    assert done.stdout.split() == ["mine", "repoassay.sandbox.namespaces"]
    assert done.stderr.count("how well it isolates is not verified") == 1
    unknown = repoassay("grade", "starter", "--outputs", ".", "--isolation", "bubble", cwd=tmp_path, path=(path,))
    assert unknown.returncode == 2 and "'bubble' is not one of" in unknown.stderr


@pytest.mark.long
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
    states = [item for item in data_of(doctor.stdout) if item["name"] == "plug-in"]
    assert len(states) == 7 and all(item["state"] == "degraded" and said in item["detail"] + "." for item in states)


@pytest.mark.exhaustive
def test_a_name_that_two_distributions_offer_names_both(tmp_path: Path) -> None:
    text = METRIC.format(name="twice", body="return Measurement(1.0)")
    for name in ("first", "second"):
        write_package(tmp_path / "site", name, {"metrics": {"twice": f"{name}:twice"}}, {name: text}, "2.0")
    done = repoassay("metrics", "twice", cwd=tmp_path, path=(tmp_path / "site",))
    assert done.returncode == 2
    assert "The metric 'twice' is offered by first 2.0 and second 2.0. Uninstall all of them but one." in done.stderr
    doctor = repoassay("doctor", cwd=tmp_path, path=(tmp_path / "site",))
    assert "metric 'twice' is offered by first 2.0 and second 2.0" in doctor.stdout


@pytest.mark.long
def test_a_bundled_name_is_never_taken_over(tmp_path: Path) -> None:
    text = METRIC.format(name="opens", body="return Measurement(1.0)") + "Agent = 1\n"
    entries = {"metrics": {"opens": "taker:opens"}, "agents": {"reference": "taker:Agent"}, "suites": {"starter": "t"}}
    path = write_package(tmp_path / "site", "taker", entries, {"taker": text})
    done = repoassay("metrics", "opens", "--json", cwd=tmp_path, path=(path,))
    assert data_of(done.stdout)[0]["source"] != "a test"
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
    ids=["leaves", "raises-no-exception", "lacks-the-name"],
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
    assert "loud" in [item["name"] for item in data_of(done.stdout)]
    assert "{noise" in done.stderr


@pytest.mark.exhaustive
def test_a_slow_or_deadly_import_harms_nobody_who_does_not_ask_for_it(tmp_path: Path) -> None:
    entries = {
        "agents": {"slow": "slow:Agent"}, "exporters": {"deadly": "deadly:E"}, "tables": {"odd-name": "ok:x"},
    }  # fmt: skip
    modules = {"slow": "import time; time.sleep(900)\n", "deadly": "import os; os._exit(0)\n", "ok": "x = list\n"}
    path = write_package(tmp_path / "site", "trouble", entries, modules)
    run = ("run", "starter", "--agent", "nothing", "--task", "sensor-log-daily")
    assert repoassay(*run, cwd=tmp_path, path=(path,)).returncode == 0
    code = (
        "import repoassay.sandbox.plugin_check as c; c._SECONDS = 45\n"
        "for found in c.examine_plugins(): print(found.state, found.detail)"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(path)}, text=True,
                          capture_output=True, check=True, timeout=200)  # fmt: skip
    assert "degraded agent 'slow' of trouble 1.0 takes more than 45 seconds to import" in done.stdout
    assert "degraded exporter 'deadly' of trouble 1.0 ended the process that imported it, with 0" in done.stdout
    assert "ok report table 'odd-name' of trouble 1.0 (ok:x)" in done.stdout


def test_an_agent_that_fails_is_refused_or_costs_its_attempt_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("""\
class Agent:
    def command(self, layout, limits):
        raise ValueError("not today")
class Empty:
    pass
""")
    run = ("run", "starter", "--task", "sensor-log-daily", "--agent")
    looked = repoassay(*run, "mine:Agent", cwd=tmp_path)
    assert looked.returncode == 2 and "ValueError: not today" in looked.stderr and not (tmp_path / "runs").exists()
    done = repoassay(*run, "mine:Agent", "--no-preflight", cwd=tmp_path)
    assert done.returncode == 0 and "infra_fault" in done.stderr and "not today" in done.stdout, done.stderr
    refused = repoassay(*run, "mine:Empty", cwd=tmp_path)
    assert refused.returncode == 2 and "is no agent" in refused.stderr
    absent = repoassay(*run, "mine:Nobody", cwd=tmp_path)
    assert absent.returncode == 2 and "has no attribute 'Nobody'" in absent.stderr
