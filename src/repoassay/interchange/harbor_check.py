"""Runs the tests of an exported task in Harbor's container; it goes out with each task as `tests/check.py`.

    python check.py IDS PLACE TESTS

IDS is a JSON list of the tests that must pass, PLACE the folder they run in, TESTS where their files lie. A test that
is skipped, missing or expected to fail has not passed. Runs in the container's own Python, 3.6 or newer, without our
packages.
"""

import json
import os
import subprocess
import sys
from typing import Any, List, Set


class Recorder:
    """A plug-in of pytest that keeps what each test came to."""

    def __init__(self) -> None:
        self.passed: Set[str] = set()
        self.other: Set[str] = set()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep one phase of one test; a phase that is not passed decides."""
        if report.outcome != "passed" or hasattr(report, "wasxfail"):
            self.other.add(report.nodeid)
        elif report.when == "call":
            self.passed.add(report.nodeid)


def run_script(path: str, place: str) -> bool:
    """Whether a file ends without an error when it is run as a script."""
    return subprocess.call([sys.executable, path], cwd=place) == 0


def passed_tests(files: List[str], place: str, tests: str) -> Set[str]:
    """The ids that passed, as `FILE::NAME` relative to the folder of the tests."""
    import pytest

    recorder = Recorder()
    os.chdir(place)
    pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", tests, *files], plugins=[recorder])
    return recorder.passed - recorder.other


def main(ids_file: str, place: str, tests: str) -> int:
    """Print every test that did not pass; the exit code is 0 when all have."""
    with open(ids_file) as stream:
        ids = json.load(stream)
    scripts = [name for name in ids if name.endswith("::__script__")]
    passed = {name for name in scripts if run_script(os.path.join(tests, name.split("::")[0]), place)}
    files = sorted({os.path.join(tests, name.split("::")[0]) for name in set(ids) - set(scripts)})
    if files:
        passed |= passed_tests(files, place, tests)
    missing = [name for name in ids if name not in passed]
    for name in missing:
        sys.stdout.write("not passed: {}\n".format(name))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
