"""Mining on a disk that fills up: a commit that met it is a fault, which the next call tries again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from construct.making import CODE, make_repo
from repoassay.construct import MINE_LOG
from repoassay.workspace import release_lines  # noqa: F401  # asked by the mark, as a test starts

REPOASSAY = str(Path(sys.executable).with_name("repoassay"))
TEST = "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n"
FIXED = TEST + "\n\ndef test_average():\n    assert shop.average([1, 3, 5]) == 3\n"
BROKEN = CODE + "\n\ndef average(prices):\n    return total(prices) / 2\n"
SMALL = f'mount -t tmpfs -o size=256k none disk && "$@" && cp disk/suite/{MINE_LOG} log'


@pytest.mark.long
@pytest.mark.skipif("not release_lines()", reason="this machine has no Python of uv or pyenv")
@pytest.mark.skipif(shutil.which("unshare") is None or os.geteuid() != 0, reason="mounts a disk as root")
def test_a_commit_whose_tests_do_not_fit_on_the_disk_is_a_fault(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop")
    repo.commit({"shop.py": BROKEN, "tests/test_shop.py": TEST, "LICENSE": ""}, "Start")
    large = f"{FIXED}\nPRICES = '{'x' * 400_000}'\n"
    repo.commit({"shop.py": BROKEN.replace("/ 2", "/ len(prices)"), "tests/test_shop.py": large},
                "Fix the average of three prices\n\nIt came out as 4.5, and should be 3.")  # fmt: skip
    (tmp_path / "disk").mkdir()
    words = ("mine", "shop", "--out", "disk/suite", "--proofs", "1", "--workers", "1")
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", SMALL, "sh", REPOASSAY, *words],
        cwd=tmp_path, env={**os.environ, "REPOASSAY_CACHE": "cache"}, capture_output=True, text=True, timeout=250,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [(row["cause"], "is full" in row["reason"]) for row in rows if row["status"] == "fault"] == [("fault", True)]
