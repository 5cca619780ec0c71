"""Proof that a command could not start: RepoAssay looks itself whether what it names is there.

Nothing of the agent's is run, and nothing that it printed is believed. Only what comes before the agent's first
instruction is looked at: the program, the interpreter in its first line, the file an interpreter is told to run, and
the modules that a Python program imports before it does anything else. A command line in which the shell does more
than start one program proves nothing, since the shell's part of it is the agent's own doing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from repoassay.sandbox import Command, Sandbox, SandboxNetwork
from repoassay.types import FileEdit

__all__ = ["lacks", "started_words"]

_SECONDS = 20.0
_SHELL = ("/bin/sh", "-c")
_LOOK = """
found=$(command -v -- "$1") || {
    if [ -e "$1" ]; then echo "$1 is not executable"; else echo "there is no program $1"; fi; exit 9; }
case $found in /*) ;; *) exit 0;; esac
IFS= read -r line < "$found" 2>/dev/null
by=
cr=$(printf '\\r')
case $line in '#!'*"$cr") echo "its first line ends as Windows ends lines, and so names no interpreter"; exit 9;; esac
case $line in '#!'*)
    set -f; set -- "${2-}" ${line#??}
    [ "$2" = /usr/bin/env ] && case ${3-} in ''|-*) ;; *) set -- "$1" "$3";; esac
    by=$(command -v -- "$2") || { echo "its interpreter $2 is missing"; exit 9; }
    set -- x "$1";;
esac
[ -z "${2-}" ] || [ -r "$2" ] || { echo "there is no file $2"; exit 9; }
echo "$found"
echo "$by"
"""
_INTERPRETER = re.compile(r"(python[\d.]*|node|sh|bash|dash|perl|ruby)$")
_PYTHON = re.compile(r"python[\d.]*$")
_FLAGS = re.compile(r"-[BEIOSbdqsuvx]+$")
_IMPORTS = "/run/first_imports.py"


def lacks(command: Command, sandbox: Sandbox) -> str:
    """What a command needs to start and the sandbox has not, in words; empty where everything is there or is not known.

    Args:
        command: As it was run.
        sandbox: What it ran in.
    """
    words = started_words(command.argv)
    if not words or "$" in words[0]:
        return ""
    program, rest = words[0], list(words[1:])
    interpreted = _INTERPRETER.search(program) is not None
    while interpreted and rest and _FLAGS.match(rest[0]):
        rest.pop(0)
    file = rest[0] if interpreted and rest and not rest[0].startswith("-") and "$" not in rest[0] else ""
    code, output = _look(command, sandbox, (*_SHELL, _LOOK, "look", program, file))
    if code == 9:
        return output
    found, _, by = output.partition("\n")
    target = ("-c", rest[1]) if interpreted and rest[:1] == ["-c"] and len(rest) > 1 else (file,)
    if not code and by:
        found, target = by, (found,)
    if code or not target[0] or not _PYTHON.search(found) or found.startswith("/agent"):
        return ""
    folders = [folder for folder in command.env.get("PYTHONPATH", "").split(":") if folder]
    code, missing = _look(command, sandbox, (found, "-I", "-B", _IMPORTS, *target, *folders))
    return f"the Python module {missing} is missing" if not code and missing else ""


def _look(command: Command, sandbox: Sandbox, argv: tuple[str, ...]) -> tuple[int | None, str]:
    """Run something of ours where the command ran, with nothing of its environment but where programs are."""
    env = {"PATH": command.env["PATH"]} if "PATH" in command.env else {}
    script = (Path(__file__).with_name("scripts") / "first_imports.py").read_bytes()
    limits = command.limits.model_copy(update={"seconds": _SECONDS})
    edits = {**command.edits, _IMPORTS: FileEdit(script)}
    done = sandbox.run(
        replace(command, argv=argv, stdin=b"", env=env, edits=edits, limits=limits, network=SandboxNetwork.NONE,
                doors=(), hosts=(), collect=(), log=None, channel=False, on_channel=None)
    )  # fmt: skip
    return done.exit.code, done.stdout.decode("utf-8", "replace").strip()[:300]


def started_words(argv: Sequence[str]) -> tuple[str, ...]:
    """The words of the one program that a command starts; empty where a shell is told more than to start it."""
    if tuple(argv[:2]) == _SHELL and len(argv) > 2:
        words = _plain_words(argv[2])
        while words and re.match(r"[A-Za-z_]\w*=", words[0]):
            words.pop(0)
        return tuple(words[1:] if words[:1] == ["exec"] else words)
    if len(argv) > 5 and PurePosixPath(argv[3]).name == "acp_client.py":
        return tuple(argv[5:])
    return tuple(argv)


def _plain_words(line: str) -> list[str]:
    """The words of a line that is one plain command; empty where it holds anything that the shell carries out."""
    words: list[str] = []
    word: str | None = None
    quote, place = "", 0
    while place < len(line):
        char = line[place]
        place += 1
        if quote == "'" and char != "'":
            word = (word or "") + char
        elif char == "\\":
            word = (word or "") + line[place : place + 1]
            place += 1
        elif char == "`" or line.startswith("$(", place - 1):
            return []
        elif char in "'\"" and quote in ("", char):
            quote, word = "" if quote else char, word or ""
        elif quote:
            word = (word or "") + char
        elif char in " \t":
            words += [] if word is None else [word]
            word = None
        elif char in ";|&()<>\n*?[#~!":
            return []
        else:
            word = (word or "") + char
    return [] if quote else [*words, *([] if word is None else [word])]
