"""Other solutions than the recorded one come to the same in a pytest session and without one, whatever they do."""

from __future__ import annotations

import pytest

from repoassay.grading.hidden_tests.test_form import is_simple
from repoassay.workspace.preparation import PreparedTask
from two_ways import laid_out, words

TESTS = """\
import unittest

import pytest
import ways


def test_first(tmp_path):
    ways.place = tmp_path.parent


def test_it(capsys):
    ways.run()
    assert capsys.readouterr().err == ""


def test_then(tmp_path):
    assert ways.run() is None
    assert tmp_path.parent == ways.place


def test_prints(capsys):
    print(ways.__name__)
    assert capsys.readouterr() == ("ways\\n", "")


def test_gives():
    return ways.given()


class Case(unittest.TestCase):
    def test_one(self):
        self.addClassCleanup(ways.close)

    def test_two(self):
        ways.run()
"""
WAYS = "def run(): pass\ndef given(): pass\ndef close(): pass\n"
IDS = ("test_first", "test_it", "test_then", "test_prints", "test_gives", "Case::test_one", "Case::test_two")
OTHERS = {
    "logs": ("import logging\ndef run(): logging.warning('said')\n", ()),
    "logs what cannot be told": (
        "import logging\nlogging.getLogger().setLevel(10)\ndef run(): logging.getLogger('x').info('%d', 'x')\n",
        ("test_it", "test_then", "Case::test_two"),
    ),
    "takes away who listens": (
        "import logging\ndef run():\n    for one in logging.root.handlers[:]: logging.root.removeHandler(one)\n", ()),
    "fails in a thread": (
        "import threading\ndef run():\n    t = threading.Thread(target=lambda: 1 / 0)\n    t.start()\n    t.join()\n",
        ()),
    "fails while it is finalized": ("class One:\n    def __del__(self): 1 / 0\ndef run(): One()\n", ()),
    "reads": ("import sys\ndef run(): sys.stdin.read()\n", ("test_it", "test_then", "Case::test_two")),
    "keeps a stream of its own": ("import io, sys\ndef run(): sys.stderr = sys.stdout = io.StringIO()\n",
                                  ("test_prints",)),
    "puts the environment back": (
        "import os\nbefore = dict(os.environ)\ndef run():\n    os.environ.clear()\n    os.environ.update(before)\n",
        ()),
    "is somebody else": ("import os\ndef run(): os.environ['LOGNAME'] = 'nobody-at-all'\n", ()),
    "closes a stream": ("import sys\ndef close(): sys.stdout.close()\n", ("Case::test_two",)),
    "has another clock": ("import time\ndef run(): time.perf_counter = time.monotonic = None\n", ()),
    "asks who runs it": (
        "import os\ndef run(): assert {'PYTEST_VERSION', 'PYTEST_CURRENT_TEST'} <= os.environ.keys()\n", ()),
    "cannot be closed": ("def close(): raise ValueError('close')\n", ("Case::test_two",)),
    "gives what is to be awaited": ("async def given(): pass\n", ("test_gives",)),
}  # fmt: skip


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> PreparedTask:
    return laid_out(tmp_path_factory.mktemp("suite"), {"ways.py": WAYS}, TESTS)


@pytest.mark.parametrize("name", OTHERS)
def test_another_solution_comes_to_what_it_comes_to_in_a_session(task: PreparedTask, name: str) -> None:
    more, wrong = OTHERS[name]
    session, direct = (words(task, {"ways.py": WAYS + more}, *IDS, direct=way) for way in (False, True))
    assert direct == session
    if name != "keeps a stream of its own":
        assert {test for test, word in direct.items() if word != "passed"} == set(wrong)


def test_what_is_tested_here_is_simple() -> None:
    assert is_simple(TESTS)
    assert not is_simple(TESTS.replace("import ways", "from ways import *"))
