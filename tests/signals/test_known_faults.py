"""Changes with one known fault each: its signal finds it at its line, and no other says anything unexpected."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from repoassay.signals import SignalState
from signals import projects
from signals.conftest import Signals

# What each change must make the signals find, as (signal, path, what the line says, what the evidence says), and the
# other signals that are right to speak up about it.
Fault = tuple[Callable[[], dict[str, str]], tuple[tuple[str, str, str, str], ...], set[str]]
PRICING, TESTS = "parcels/pricing.py", "tests/test_pricing.py"
FAULTS: dict[str, Fault] = {
    "untested": (
        projects.without_tests,
        (("diff_coverage", PRICING, "def express", "No test enters express"), ("tests_added", PRICING, "", "")),
        set(),
    ),
    "vacuous": (
        projects.vacuous,
        (
            ("tests_on_base", TESTS, "def test_express_is_documented", "runs none of the changed code"),
            ("vacuous_tests", TESTS, "assert True", "always holds"),
        ),
        set(),
    ),
    "vacuous in disguise": (
        projects.vacuous_in_disguise,
        (("tests_on_base", "tests/test_express.py", "def test_express_like_price", "passes on the base"),),
        {"diff_coverage"},
    ),
    "type error in an untouched caller": (
        projects.required_parameter,
        (
            ("mypy.elsewhere", "parcels/labels.py", "price(weight, zone)", 'Missing positional argument "fragile"'),
            ("existing_tests", "tests/test_labels.py", "def test_label", "missing 1 required positional argument"),
        ),
        {"docstrings"},
    ),
    "undocumented": (
        projects.undocumented,
        (
            ("docstrings", PRICING, "def express", "has no docstring"),
            ("guides", PRICING, "def express", "README.md speaks"),
            ("changelog", PRICING, "", "without an entry"),
        ),
        set(),
    ),
    "copied": (
        projects.copied,
        (("duplication", PRICING, "def read_options", "parcels/labels.py from line 17"),),
        {"docstrings", "diff_coverage"},
    ),
    "copied and renamed": (
        projects.copied_and_renamed,
        (("duplication", PRICING, "def read_options", "but for names"),),
        {"docstrings", "diff_coverage"},
    ),
    "unformatted": (projects.unformatted, (("formatting", PRICING, "hours<12", "hours < 12"),), set()),
    "new lint finding": (projects.linted, (("ruff.changed_lines", PRICING, "unused = hours", "F841"),), set()),
    "loosened": (
        projects.loosened,
        (
            ("loosened", "pyproject.toml", "select", "'F'"),
            ("ruff.changed_lines", PRICING, "unused = hours", "F841"),
        ),
        set(),
    ),
    "suppressed": (
        projects.suppressed,
        (
            ("suppressions", PRICING, "unused: str", "type: ignore"),
            ("suppressions", PRICING, "unused: str", "noqa"),
        ),
        set(),
    ),
    "littered": (
        projects.littered,
        (
            ("artefacts", "reproduce_issue.py", "from parcels", "scratch"),
            ("artefacts", "IMPLEMENTATION_SUMMARY.md", "# Summary", "about the work"),
            ("artefacts", "parcels/run.log", "started", "leave behind"),
        ),
        {"diff_coverage", "debug_prints", "scope", "formatting"},
    ),
    "debugged": (
        projects.debugged,
        (("debug_prints", PRICING, "print(", "print()"), ("debug_prints", PRICING, "breakpoint()", "breakpoint()")),
        set(),
    ),
    "oversized": (
        projects.oversized,
        (("size", "tools_alpha/alpha.py", "", "lines added"), ("scope", "tools_beta/beta.py", "", "this folder")),
        {"diff_coverage", "duplication"},
    ),
    "complicated": (
        projects.complicated,
        (("complexity", PRICING, "def express", "complexity 18"),),
        {"diff_coverage", "tests_on_base"},
    ),
    "unused": (
        projects.unused,
        (
            ("dead_code", PRICING, "def _rounded", "Nothing mentions _rounded"),
            ("dead_code", PRICING, "print(cents)", "cannot be reached"),
        ),
        {"diff_coverage", "debug_prints"},
    ),
    "broken": (
        projects.broken,
        (
            ("existing_tests", TESTS, "def test_price", "150"),
            ("weakened_tests", TESTS, "def test_total", "fewer"),
        ),
        {"tests_on_base", "vacuous_tests", "ruff.changed_lines"},
    ),
    "skipped": (
        projects.skipped,
        (("vacuous_tests", TESTS, "@pytest.mark.skip", "is marked"),),
        set(),
    ),
}
NOT_HERE = {"eslint.changed_lines", "eslint.elsewhere", "tsc.changed_lines", "tsc.elsewhere"}


@pytest.mark.exhaustive  # that of `repoassay signals` is a quick test
def test_the_reference_is_silent(found: Signals) -> None:
    told = found(projects.reference())
    assert {id for id, each in told.items() if each.state is SignalState.FINDING} == set()
    assert {id for id, each in told.items() if each.state is SignalState.UNKNOWN} == NOT_HERE
    for id in NOT_HERE:
        assert told[id].reason.endswith(".")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FAULTS)
def test_a_known_fault_is_found_at_its_line(found: Signals, name: str) -> None:
    make, expected, besides = FAULTS[name]
    head = make()
    told = found(head)
    speaking = {id for id, each in told.items() if each.state is SignalState.FINDING}
    for id, path, quote, text in expected:
        places = [each for each in told[id].evidence if each.path == path and quote in each.quote and text in each.text]
        assert places, f"{id} says {told[id]}"
        for each in places:
            assert each.line is not None
            lines = head[path].split("\n")
            assert lines[each.line - 1].strip() == each.quote
            assert each.anchor == f"{path}#L{each.line}"
    assert {id for id, *_ in expected} <= speaking <= {id for id, *_ in expected} | besides


@pytest.mark.exhaustive
def test_several_faults_at_once(found: Signals) -> None:
    """What the exhaustive tests show one by one, in a change that has it all."""
    head = projects.required_parameter()
    head["tests/test_pricing.py"] = projects.vacuous()["tests/test_pricing.py"]
    head["pyproject.toml"] = projects.loosened()["pyproject.toml"]
    source = head["parcels/labels.py"]
    head["parcels/pricing.py"] += "\n\n" + source[source.index("def parse") :].replace("def parse", "def read_options")
    told = found(head)
    speaking = {id for id, each in told.items() if each.state is SignalState.FINDING}
    wanted = {"mypy.elsewhere", "existing_tests", "vacuous_tests", "tests_on_base", "loosened", "duplication"}
    assert wanted <= speaking
    assert [(each.path, each.line) for each in told["mypy.elsewhere"].evidence] == [("parcels/labels.py", 14)]
