"""Exit statuses in words, and why a program could not start."""

from __future__ import annotations

import pytest

from repoassay.agents import exit_meaning, last_lines, start_failure
from repoassay.types import Ended, Exit


def ended(code: int | None, signal: int | None = None) -> Exit:
    return Exit(ended=Ended.EXITED if signal is None else Ended.SIGNALLED, code=code, signal=signal)


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (ended(0), "code 0"),
        (ended(126), "found, but not executable"),
        (ended(127), "command not found"),
        (ended(137), "SIGKILL, often for want of memory"),
        (ended(139), "SIGSEGV, a segmentation fault"),
        (ended(None, 11), "SIGSEGV"),
        (ended(None, 250), "signal 250"),
        (Exit(ended=Ended.TIMED_OUT), "timed out"),
    ],
)
def test_an_exit_status_is_said_in_words(ending: Exit, said: str) -> None:
    assert said in exit_meaning(ending)


@pytest.mark.parametrize(
    ("code", "output", "why"),
    [
        (127, "/bin/sh: 1: my-agent: not found", "there is no program my-agent"),
        (127, "bash: line 1: my-agent: command not found", "there is no program my-agent"),
        (127, "env: 'node': No such file or directory", "there is no node"),
        (127, "", "command not found"),
        (126, "/bin/sh: 1: /agent/x: Permission denied", "it is not executable"),
        (126, "sh: 1: ./x: Exec format error", "another kind of machine"),
        (127, "x: error while loading shared libraries: libfoo.so.1: cannot open", "the library libfoo.so.1"),
        (2, "python: can't open file '/agent/agnt.py': [Errno 2] No such file", "no file /agent/agnt.py"),
        (1, "Traceback ...\nModuleNotFoundError: No module named 'requests'\n", "the Python module requests"),
        (1, "/env/bin/python: No module named my_agent", "the Python module my_agent"),
        (1, "ImportError: cannot import name 'x' from 'y'", "cannot import name 'x'"),
        (1, "Error: Cannot find module '/agent/x.js'\n    at a\n    at b\n", "the Node module /agent/x.js"),
        (1, "KeyError: 'OPENAI_API_KEY'", "it wants OPENAI_API_KEY"),
        (1, "Error: ANTHROPIC_API_KEY is not set", "it wants ANTHROPIC_API_KEY"),
        (1, "Please set MY_TOKEN first; MY_ACCESS_TOKEN is missing", "it wants MY_"),
    ],
)
def test_last_lines_tell_why_it_could_not_start(code: int, output: str, why: str) -> None:
    found = start_failure(ended(code), output)
    assert found is not None and found.ours
    assert why in found.why and f"code {code}" in found.why
    assert found.remedy.endswith((".", ")."))


def test_a_missing_network_is_told_and_is_not_our_fault() -> None:
    found = start_failure(ended(1), "Error: getaddrinfo ENOTFOUND api.example.org")
    assert found is not None and not found.ours and "--network open" in found.remedy


@pytest.mark.parametrize(
    "ending", [ended(0), ended(1), ended(3), ended(137), ended(None, 9), Exit(ended=Ended.TIMED_OUT)]
)
def test_other_endings_say_nothing_of_the_start(ending: Exit) -> None:
    assert start_failure(ending, "AssertionError: 3 != 4\nwrote output/daily.csv") is None


def test_an_agent_that_ended_well_had_started_whatever_it_printed() -> None:
    assert start_failure(ended(0), "ModuleNotFoundError: No module named 'requests'") is None


def test_last_lines_are_fit_to_print() -> None:
    assert last_lines("a\n\n \x1b[31mred\nlast \u202e\n", 2) == ("␛[31mred".replace("␛", "^["), "last ⟨U+202E⟩")
