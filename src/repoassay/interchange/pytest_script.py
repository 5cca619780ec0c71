"""Which tests a shell script runs with pytest, where it does nothing else that decides."""

from __future__ import annotations

import re
import shlex

from repoassay.interchange.image_file import ImportRefusal
from repoassay.interchange.shell_steps import read_shell

__all__ = ["AGENTS_TESTS", "PytestScript", "check_reward", "check_reward_place", "read_test_script"]

AGENTS_TESTS = "Its test script runs tests that lie among the files of the agent."
_NOTHING = re.compile(
    r"^(#.*|set [-+].*|(sudo )?(apt(-get)?|apk) .*|(curl|wget) .*install\.sh.*|(source|\.) .*"
    r"|\w+=(\$\?|[\w./:$\"'-]*)|export ((UV|PIP|DEBIAN)_\w+|TEST_DIR)=[^`(]*|export PATH=[^`(]*\.(local|cargo)/[^`(]*"
    r"|uv (venv|init|python)\b.*|exit .*|then|else|fi|true|:|trap .*|deactivate|pip3? install --upgrade pip.*"
    r"|(echo|printf) [^>]*(>+ ?(&\d|\"?(/logs|\$)\S*)[^>]*)?"
    r"|(mkdir -p|chmod|rm -r?f?)( [\w+=]+)?( \"?(/logs|/tests|\$)\S*)+( 2>/dev/null)?( \|\| (true|:))?"
    r"|(el)?if \[+ [^`(]*(\$\?|\$\{?\w+\}?)[^`(]*)$",
    re.IGNORECASE,
)
"""Lines that install pytest, keep its exit code, or write the reward by it."""
_MOST_LETTERS = 4000
_RUNNERS = re.compile(r"^(if )?(! )?(uvx?\b.*?\s)?(python3?[\d.]* -m )?pytest\b")


_SPOKEN = re.compile(r"(?m)^[ \t]*(?:#.*|(\"\"\"|''')[\s\S]*?\1)")
"""Remarks, and texts that describe a program."""


class PytestScript:
    """What a script comes to.

    Attributes:
        files: Paths of test files below the tests' folder.
        pip: Packages it installs for them.
    """

    def __init__(self) -> None:
        self.files: list[str] = []
        self.pip: list[str] = []


def read_test_script(text: str, name: str, work: str) -> PytestScript:
    """Read a script of tests, which starts in the folder `work`.

    Raises:
        ImportRefusal: It does something else than running pytest on files of its own folder.
    """
    found = PytestScript()
    joined = re.sub(r"\\\n", " ", text)
    for number, line in enumerate(joined.split("\n"), 1):
        step = re.sub(r"\s+", " ", line.strip()).rstrip(";")
        try:
            if step.rstrip("/") != f"cd {work}":
                _take(step.removesuffix("; then"), found)
        except ValueError as error:
            raise ImportRefusal(str(error), name, number, step) from error
    if not found.files:
        raise ImportRefusal("Its test script runs no pytest on files of its own.", name)
    return found


def check_reward_place(text: str, name: str) -> None:
    """See that tests name the place where a reward is looked for.

    Raises:
        ImportRefusal: They do not, so that they pass nobody.
    """
    if not re.search(r"/logs/verifier(/reward\w*\.(txt|json)|(?!/\w))", _SPOKEN.sub("", text)):
        raise ImportRefusal("Its test script writes no reward where one is looked for.", name)


def check_reward(text: str, name: str) -> None:
    """See that the reward of a script is what pytest's exit code says, so that tests by name mean the same.

    Raises:
        ImportRefusal: It writes none, or one that other commands decide: such a script has to run as it is.
    """
    check_reward_place(text, name)
    joined = re.sub(r"\\\n", " ", text)
    lines = [" ".join(line.split()) for line in joined.split("\n") if line.strip() and not line.strip().startswith("#")]
    writes = [line for line in lines if re.search(r"reward\w*\.(txt|json)|\$\{?REWARD", line)]
    if not any(">" in line for line in writes):
        raise ImportRefusal("Its test script writes no reward where one is looked for.", name)
    runs = [number for number, line in enumerate(lines) if "pytest" in line and _RUNNERS.match(line)]
    asks = [number for number, line in enumerate(lines) if "$?" in line and not line.startswith(("exit", "trap"))]
    last = runs[-1] if runs else 0
    piped = re.search(r"[^|]\|[^|]", lines[last]) and not re.search(r"pipefail|PIPESTATUS", text)
    passed_over = re.search(r"\|\| ?(true|:)$", lines[last])
    late = [number for number in asks if number > last + 1]
    decided = any(re.match(r"(el)?if\b", line) for line in lines) or any(
        re.search(r"\$|&&|\|\|", line) for line in writes
    )
    if len(runs) > 1 or (asks and (piped or passed_over)) or late or not decided:
        raise ImportRefusal("Its test script gives its reward by more than what pytest said.", name)


def _take(step: str, found: PytestScript) -> None:
    if not step:
        return
    if len(step) > _MOST_LETTERS:
        raise ValueError("Its test script has a line that is longer than any that is read.")
    if re.fullmatch(r"bash \$\{?TEST_DIR\}?/run-uv-pytest\.sh", step):  # of terminal-bench 1 itself
        found.files.append("test_outputs.py")
    elif "pytest" in step and _RUNNERS.match(step) and " install" not in step:
        _run(step, found)
    elif re.match(r"^(uv )?(pip3?|python3? -m pip) install\b|^uv (add|pip install)\b", step):
        plain = re.sub(r"^uv (add|pip install)\b", "pip install", step)
        found.pip += read_shell(plain).pip
    elif not _NOTHING.match(step) or re.search(r"`|\$\((?!dirname|pwd|date|nproc)", step):
        raise ValueError("Its test script does more than running pytest.")


_VALUED = frozenset({"--ctrf", "-p", "-w", "--with", "-o", "-c", "--rootdir", "--junitxml", "--timeout", "-k", "-m",
                     "--json-report-file", "--tb", "--python", "--from"})  # fmt: skip


_SELECTS = re.compile(r"-[km]|--(deselect|ignore|lf|last-failed|sw|stepwise|co|collect-only)\b|.*::")
"""What lets pytest run some tests and pass over others."""


def _run(step: str, found: PytestScript) -> None:
    step = re.split(r"\s(\|\||&&|\||>|2>|\|&)", step)[0]
    words = shlex.split(re.sub(r"\$\{?TEST_DIR(:-[^}]*)?\}?", "/tests", step))
    options = words[words.index("pytest") + 1 :] if "pytest" in words else words
    if any(_SELECTS.match(word) for word in options):
        raise ValueError("Its test script runs some tests of a file alone.")
    before = True
    while words:
        word = words.pop(0)
        before &= not re.fullmatch(r"pytest", word)
        if word in ("-w", "--with") and words:
            found.pip.append(words.pop(0))
        elif word.startswith("--with="):
            found.pip.append(word.partition("=")[2])
        elif word in _VALUED and words and not (word == "-m" and before):
            words.pop(0)
        elif word.endswith(".py"):
            if not word.startswith("/tests/"):
                raise ValueError(AGENTS_TESTS)
            found.files.append(word.removeprefix("/tests/"))
        elif word.rstrip("/") == "/tests":
            found.files.append(".")
    found.pip = [name for name in found.pip if not re.match(r"pytest(-json-ctrf)?($|[=<>~!])", name)]
