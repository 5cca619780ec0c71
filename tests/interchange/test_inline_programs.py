"""Which programs of a test script run apart from the agent's folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
FOLDER_LAST = [
    ("python3 -c '", "from . import x'"),
    ("python3 -c '", "import json, solution'"),
    ("python3 - <<'PY' > out\n", "import json\nfrom app.main import run\nPY\n"),
    ("python3 -c '", "import importlib; importlib.import_module(name)'"),
    ("python3 -c '", 'import sys; sys.path.append("/app"); print(1)\''),
    ('python3 -c "', '\nimport json; $(cat /app/program.py)" && python3 - <<< "import solution"'),
]
LEFT = [
    "python3 -c 'import json; '\"'\"'import solution'\"'\"",
    "python3 -c 'from __future__ import annotations; import solution'",
    "python3 -c '\n    import solution\n'",
    'python3 -c "$(cat /app/program.py)"',
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


@pytest.mark.parametrize(("before", "program"), FOLDER_LAST)
def test_a_program_about_an_agents_modules_looks_into_the_folder_last(before: str, program: str) -> None:
    assert isolate_programs(before + program) == f"{before}import sys; sys.path.sort(key=bool, reverse=True)\n{program}"


def test_an_agents_module_is_found_but_not_in_the_place_of_an_installed_one(tmp_path: Path) -> None:
    for name in ("json", "iniconfig", "solution"):
        (tmp_path / f"{name}.py").write_text(f"print('the agent has {name}')\n")
    script = isolate_programs("python3 - <<'PY'\nimport json, iniconfig, solution\nPY\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], check=True, cwd=tmp_path, env={"PATH": path}, capture_output=True)
    assert done.stdout == b"the agent has solution\n"


@pytest.mark.parametrize("text", LEFT)
def test_what_cannot_be_told_is_left(text: str) -> None:
    assert isolate_programs(text) == text
