"""What builds that failed printed, as real ones did, in one sentence; the rest is kept in a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repoassay.sandbox import Cache
from repoassay.workspace.build_errors import build_error

NPM = """\
npm error code 1
npm error path /agent/node_modules/@charmland/crush
npm error command failed
npm error command sh -c node install.js
npm error file:///agent/node_modules/@charmland/crush/lib.js:162
npm error 		throw new Error(`Installation failed: ${err.message}`);
npm error 		      ^
npm error
npm error Error: Installation failed: HTTP 403: Forbidden
npm error     at install (file:///agent/node_modules/@charmland/crush/lib.js:162:9)
npm error
npm error Node.js v20.20.2
npm error A complete log of this run can be found in: /agent/.downloads/npm/_logs/2026-debug-0.log
"""
ABSENT = """\
npm error code E404
npm error 404 Not Found - GET https://registry.example/no-such-agent - Not found
npm error 404
npm error 404  'no-such-agent@1.0.0' is not in this registry.
"""
UV = """\
error: Failed to download and build `sweagent @ https://forge.example/v1.1.0.tar.gz`
  cause: Request failed after 3 retries in 8.4s
  cause: tunnel error: unsuccessful
"""
ABSENT_FOR_UV = """\
error: No solution found when resolving dependencies
  cause: Because no-such-agent was not found in the package registry and you require no-such-agent, we can
"""
UNSOLVED = """\
  \u00d7 No solution found when resolving dependencies:
  \u2570\u2500\u25b6 Because a was not found in the package registry and you require a==1, we can conclude
      that your requirements are unsatisfiable.
"""


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (NPM, "Error: Installation failed: HTTP 403: Forbidden."),
        (ABSENT, "404 Not Found - GET https://registry.example/no-such-agent - Not found."),
        (UV, "v1.1.0.tar.gz` cause: Request failed after 3 retries in 8.4s cause: tunnel error: unsuccessful."),
        (
            UNSOLVED,
            "Because a was not found in the package registry and you require a==1, we can"
            " conclude that your requirements are unsatisfiable.",
        ),
        (ABSENT_FOR_UV, "Because no-such-agent was not found in the package registry"),
        ("Killed\n", "Killed."),
        ("", "it printed nothing."),
        ("one\n\x1b[31mtwo\x07\n", "two"),
    ],
)
def test_one_line_tells_and_a_file_has_the_rest(tmp_path: Path, printed: str, told: str) -> None:
    said = build_error(printed, Cache(tmp_path))
    assert said.removeprefix("\\x1b[31m").startswith(told) or told in said
    assert "\n" not in said and "\x1b" not in said and "Node.js" not in said
    kept = re.search(r"All it printed is in (\S+)\.", said)
    assert (kept is not None) == (len(printed.splitlines()) > 1)
    if kept:
        assert Path(kept[1]).read_text() == printed


def test_a_full_disk_takes_the_file_alone(tmp_path: Path) -> None:
    (tmp_path / "errors").write_text("no folder")
    assert build_error(UV, Cache(tmp_path)).endswith("tunnel error: unsuccessful.")
