"""Whatever a trajectory holds, a diagnosis comes of it, within bounds."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from repoassay.diagnosis import AttemptCase, Diagnosis, diagnose, evidence_text
from repoassay.diagnosis.classifier import prompt_of
from repoassay.diagnosis.shell import parse
from repoassay.types.trajectory import Observation, Source, StepCall, Trajectory, TrajectoryStep
from repoassay.types.verdict import Outcome

SCRAPS = st.sampled_from(
    [
        "Traceback (most recent call last):",
        '  File "/repo/a.py", line 3, in f',
        "ModuleNotFoundError: No module named 'a.b'",
        "git log --all",
        "pip install torch",
        "cat <<EOF",
        "EOF",
        "python - <<'E'",
        "$(",
        "`",
        "'",
        '"',
        "&&",
        "|",
        ">",
        "2>&1",
        "output.txt",
        "/groundtruth/a",
        "mock data",
        "Killed",
        "\r",
        "\x00",
        "```bash\nls\n```",
        "<execute_bash>",
        "\ud7ff",
        "((((",
        "Successfully installed a",
        "ImportError: cannot import name 'x' from 'y' (/z)",
        "submit",
        "*** Update File: t/test_a.py",
    ]
)
TEXTS = st.one_of(
    st.text(max_size=60), st.lists(SCRAPS, max_size=12).map("\n".join), st.lists(SCRAPS, max_size=12).map(" ".join)
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXTS), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)
NAMES = st.one_of(
    st.sampled_from(
        ["bash", "Bash", "action", "str_replace_editor", "apply_patch", "Write", "Edit", "python", "WebFetch"]
    ),
    st.text(max_size=10),
)
KEYS = st.sampled_from(
    ["command", "cmd", "path", "file_path", "content", "old_str", "new_string", "code", "url", "input", "edits"]
)
CALLS = st.builds(
    StepCall, id=st.sampled_from(["", "1", "2"]), name=NAMES, arguments=st.dictionaries(KEYS, VALUES, max_size=4)
)
OBSERVATIONS = st.builds(Observation, call=st.sampled_from(["", "1", "2", "9"]), text=TEXTS, failed=st.booleans())
STEPS = st.lists(
    st.tuples(
        st.sampled_from(Source),
        TEXTS,
        st.lists(CALLS, max_size=3).map(tuple),
        st.lists(OBSERVATIONS, max_size=3).map(tuple),
    ),
    max_size=8,
)
CASES = st.builds(
    AttemptCase,
    repository=st.sampled_from(["", "a", "FunASR"]),
    packages=st.sampled_from([(), ("a",), ("funasr",)]),
    expected=st.lists(TEXTS, max_size=2).map(tuple),
    left=st.one_of(st.none(), st.lists(TEXTS, max_size=2).map(tuple)),
    outcome=st.one_of(st.none(), st.sampled_from(Outcome)),
    edit=st.booleans(),
    patch=TEXTS,
    reference=TEXTS,
    inputs=st.lists(TEXTS, max_size=1).map(tuple),
    ground_truth=st.lists(TEXTS, max_size=1).map(tuple),
)


def made(steps: list[tuple[Source, str, tuple[StepCall, ...], tuple[Observation, ...]]]) -> Trajectory:
    return Trajectory(
        agent="any",
        steps=tuple(
            TrajectoryStep(index=number, source=source, text=text, calls=calls, observations=seen)
            for number, (source, text, calls, seen) in enumerate(steps, 1)
        ),
    )


@given(STEPS, CASES)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@pytest.mark.long
def test_any_trajectory_has_a_diagnosis(
    steps: list[tuple[Source, str, tuple[StepCall, ...], tuple[Observation, ...]]], case: AttemptCase
) -> None:
    trajectory = made(steps)
    found = diagnose(trajectory, None, case)
    assert found == diagnose(trajectory, None, case)
    assert Diagnosis.model_validate_json(found.model_dump_json()) == found
    assert found.label in {"E1", "E2", "E3", "E4", "E5", "none", "unclear"}
    told = [evidence for one in found.classes for evidence in one.evidence]
    told += [evidence for one in found.findings for evidence in one.evidence]
    for evidence in told:
        if evidence.step:
            whole = evidence_text(trajectory, evidence)
            assert whole[evidence.start : evidence.end][:200] == evidence.quote
    if case.outcome in {Outcome.PASSED, Outcome.INFRA_FAULT, Outcome.NOT_GRADABLE}:
        assert found.primary is None and not found.unclear
    assert prompt_of(trajectory, None, case)


@given(TEXTS)
def test_any_shell_text_is_parsed(text: str) -> None:
    for simple in parse(text):
        assert simple.words or simple.redirects


HOSTILE = (
    "(" * 100_000,
    "$(" * 50_000,
    "'" * 99_999,
    "<<A " * 25_000,
    "a=" * 50_000,
    "\\" * 100_000,
    "`" * 99_999,
    "\n" * 100_000,
    "if x == '" + "a" * 100_000,
    "synthetic " * 20_000,
    "No such file or directory " * 8_000,
    "Error: " * 30_000,
    'File "' * 30_000,
    "mock mock " * 20_000,
    "\r" * 100_000,
    "git show " * 20_000,
    "[" * 100_000,
    "def __eq__(self, a):" * 9000,
)


@pytest.mark.long
def test_hostile_texts_are_bounded() -> None:
    # The suite's own time limit is the check: a pattern that backtracks would take hours on these.
    for text in HOSTILE:
        steps = (
            TrajectoryStep(
                index=1,
                source=Source.AGENT,
                text=text,
                calls=(
                    StepCall(id="1", name="bash", arguments={"command": text}),
                    StepCall(id="2", name="Write", arguments={"file_path": "a.py", "content": text}),
                ),
                observations=(Observation(call="1", text=text), Observation(call="2", text=text, failed=True)),
            ),
        )
        found = diagnose(
            Trajectory(agent="any", steps=steps), None, AttemptCase(repository="a", expected=("a.txt",), left=())
        )
        assert len(found.findings) < 2000
