"""What the OpenAPI document says is what the service does, whatever it is sent; and it never fails at it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from server.serving import Process

pytestmark = pytest.mark.exhaustive

TOKEN = "a-token-for-schemathesis"
HERE = Path(__file__).parent


def test_schemathesis_finds_no_fault_and_nothing_undocumented(tmp_path: Path) -> None:
    pytest.importorskip("schemathesis")
    (tmp_path / "tokens.txt").write_text(TOKEN)
    with Process("--database", str(tmp_path / "q.sqlite"), "--token-file", str(tmp_path / "tokens.txt")) as server:
        done = subprocess.run(
            [
                Path(sys.executable).with_name("schemathesis"), "run", f"{server.url}/v1/openapi.json",
                "--header", f"Authorization: Bearer {TOKEN}", "--max-time", "12", "--max-examples", "60",
                "--continue-on-failure", "--request-timeout", "10", "--no-shrink", "--warnings", "off", "--no-color",
                "--generation-database", "none", "--exclude-checks",
                # Few names are tasks; and the `id` of an answer is RES-Q's, the task's, not what its URL is made of.
                "positive_data_acceptance,ensure_resource_availability",
            ],
            capture_output=True, text=True, timeout=200, check=False, cwd=tmp_path,
            env={**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(HERE)},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Selected: 6/6" in done.stdout, done.stdout
        headers = {"Authorization": f"Bearer {TOKEN}"}
        text = httpx.get(f"{server.url}/metrics", headers=headers, timeout=60).text
        assert 'error="fault"' not in text and 'error="no_queue"' not in text
        assert float(text.partition("\nrepoassay_submissions_accepted_total ")[2].partition("\n")[0]) >= 1
        assert server.stop() == 0
    assert "Traceback" not in "".join(server.log)
