"""Which programs of a test script run apart from the agent's folder."""

from __future__ import annotations

import pytest

from repoassay.interchange.inline_programs import isolate_programs

APART = [
    """python3 -c "import json; print(json.load(open('/logs/verifier/reward.json'))['reward'])" > x""",
    """R="$(python3 -c "import json, sys as s; print(1 if \\"a\\" else 2)")\"""",
    "python -u -c 'from os.path import join'",
    "python3.11 - <<'PY' > /logs/verifier/reward.json\nimport csv\nfrom json import dumps\nprint(dumps({}))\nPY\n",
    'cd /app && /usr/bin/python3 - "$SCORE" /app/out <<PY\nimport sys\nPY',
    "python3 <<-EOF\n\timport re\n\tEOF\necho import yaml",
    "python3 -c 'print(2)'",
    "echo {} | python3 -m json.tool > out",
]
LEFT = [
    "python3 -c 'import json, solution'",
    "python3 - <<'PY'\nimport json\nfrom app.main import run\nPY\n",
    "python3 -c 'from . import x'",
    "python3 -c 'import importlib; importlib.import_module(name)'",
    "python3 -c 'import sys; sys.path.append(\"/app\"); print(1)'",
    "python3 -c 'import json; '\"'\"'import solution'\"'\"",
    'python3 -c "import json; $(cat /app/program.py)"',
    'python3 -I -c "$RUN_PYTEST" /app/test.py',
    "python3 - <<'PY'\nimport json\n",
    "python3 /tests/check.py",
    "python3 -m json.tool_of_mine x",
    "cat x | python3 - <<< 'import solution'",
]


@pytest.mark.parametrize("text", APART)
def test_a_program_of_pythons_own_modules_runs_apart(text: str) -> None:
    changed = isolate_programs(text)
    assert changed.replace(" -I", "", 1) == text != changed
    signs = (" -c", " -\x20", "<<", " -m")
    assert changed.index(" -I") < min(place for sign in signs if (place := changed.find(sign)) > 0)


@pytest.mark.parametrize("text", LEFT)
def test_what_may_import_an_agents_modules_is_left(text: str) -> None:
    assert isolate_programs(text) == text
