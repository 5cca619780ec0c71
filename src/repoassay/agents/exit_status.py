"""Why a program ended before it did anything: its exit status in words, and what its last lines tell.

Exit statuses mean what shells mean by them; the lines are those of the shell, of Python, of Node and of the dynamic
linker. All of them are the program's own words, so that they explain an ending and never excuse one that had begun.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from dataclasses import dataclass

from repoassay.text import one_line
from repoassay.types import Ended, Exit

__all__ = ["HERE", "QUICK", "StartFailure", "exit_meaning", "last_lines", "start_failure"]

QUICK = 10.0
"""Seconds within which an agent that cannot start has ended: a busy machine is slow, and Python's imports can be."""
_LINES = 40
_WIDTH = 300
_STATUSES = {126: "found, but not executable", 127: "command not found"}
_PACKED = (
    "Bring it along with --agent-dir, whose place is {agent} in the command line, or install it by an agent file: "
    "repoassay agents new (docs/agents.md says what the sandbox shows)."
)
_MODULE = (
    "The task's own Python has only the task's packages: give the agent a Python of its own by an agent file with "
    '[install] kind = "pip" (repoassay agents new).'
)
_KEY = (
    "No key of yours enters the sandbox: name a model with --model PROVIDER/NAME, and the agent finds the URL and key "
    "of the model proxy in OPENAI_BASE_URL, OPENAI_API_KEY and their like."
)
_NET = (
    "The sandbox has no network but the model proxy: let it use the base URL it is given, or allow more with "
    "--network open."
)
_LOOPBACK = (
    "127.0.0.1 in the sandbox is not this machine's: name the server of models with --model PROVIDER/NAME, and let the "
    "agent use the base URL it is given."
)
_LINE = "Correct the agent's command line."
_INSTALLS = (
    'Packages are installed once, before: name them in an agent file with [install] kind = "pip" or "npm" '
    "(repoassay agents new)."
)
HERE = "A function runs in RepoAssay's own process: what it needs must be installed and set there (docs/python.md)."
"""The remedy for what a Python function lacks."""


@dataclass(frozen=True, slots=True)
class StartFailure:
    """One sentence of why it could not start, and the remedy; `ours` when nothing of the agent's own ever ran."""

    why: str
    remedy: str
    ours: bool = True


@dataclass(frozen=True, slots=True)
class _Sign:
    """A line that tells why: its pattern, what it means of the match, the remedy, and among which exit codes."""

    pattern: re.Pattern[str]
    means: Callable[[re.Match[str]], str]
    remedy: str
    codes: tuple[int, ...] = ()
    ours: bool = True


def _sign(pattern: str, means: str, remedy: str, codes: tuple[int, ...] = (), *, ours: bool = True) -> _Sign:
    return _Sign(re.compile(pattern), lambda found: found.expand(means), remedy, codes, ours)


_SIGNS = (
    _sign(r"(?:ModuleNotFoundError: |: )No module named '?([\w.-]+)'?", r"the Python module \1 is missing", _MODULE),
    _sign(r"ImportError: (.{1,200})", r"an import failed (\1)", _MODULE),
    _sign(
        r"can't open file '?([^']{1,200}?)'?: \[Errno 13\]|PermissionError: .{0,40}'(/agent/[^']{0,200})'",
        r"the sandbox's account may not read \1\2", "Make what the agent is made of readable: chmod -R a+rX FOLDER.",
    ),
    _sign(r"can't open file '?([^']{1,200}?)'?: \[Errno \d+\]", r"there is no file \1", _PACKED),
    _sign(r"Cannot find (?:module|package) '([^']{1,200})'", r"the Node module \1 is missing", _PACKED),
    _sign(r"error while loading shared libraries: ([^:\s]{1,100})", r"the library \1 is missing", _PACKED),
    _sign(r"(?:bad interpreter|cannot execute): (.{1,100})", r"its interpreter is missing (\1)", _PACKED, (126, 127)),
    _sign(r"[Ee]xec format error", r"it is a program of another kind of machine", _PACKED, (126,)),
    _sign(r"Permission denied", r"it is not executable", "Make it executable with chmod +x.", (126,)),
    _sign(r"([^:\s]{1,200}): (?:command )?not found", r"there is no program \1", _PACKED, (127,)),
    _sign(r"([^:\s']{1,200})'?: No such file or directory", r"there is no \1", _PACKED, (126, 127)),
    _sign(
        r"(?i:KeyError: ['\"]|(?:missing|requires?|set|provide|no)\b[^\n]{0,80}?)"
        r"\b([A-Z][A-Z0-9_]{2,40}_(?:KEY|TOKEN|URL))\b",
        r"it wants \1", _KEY,
    ),
    _sign(r"\b([A-Z][A-Z0-9_]{2,40}_(?:KEY|TOKEN|URL))\b[^\n]{0,60}?(?:not set|missing|required|must be set|not found)",
          r"it wants \1", _KEY),
    _sign(
        r"(ENOTFOUND|EAI_AGAIN|getaddrinfo|[Nn]ame or service not known|[Tt]emporary failure in name resolution|"
        r"Could not resolve host|Network is unreachable|ENETUNREACH)",
        r"it wants the network (\1)", _NET, ours=False,
    ),
    _sign(r"(ECONNREFUSED|Connection ?[Rr]efused|Connect(?:ion)? call failed)",
          r"nobody answers where it connects to (\1)", _LOOPBACK, ours=False),
    _sign(
        r"(?i)\b((?:no|missing|invalid|without an?|requires? an?|provide an?|set an?|set your)\s(?:valid )?"
        r"api[ _-]?keys?\b[^\n]{0,80}|(?:not logged in|please (?:log|sign) in)[^\n]{0,80})",
        r"it wants a key or an account (\1)", _KEY, ours=False,
    ),
    _sign(
        r"(?i)((?:unrecogni[sz]ed|unknown|unexpected|no such|invalid) (?:command-line )?"
        r"(?:arguments?|options?|flags?)\b[^\n]{0,120}|the following arguments are required[^\n]{0,120}|"
        r"Missing (?:required )?(?:argument|option)[^\n]{0,120})",
        r"it does not take its command line (\1)", _LINE, ours=False,
    ),
    _sign(r"^\s*((?:SyntaxError|IndentationError|TabError): .{1,120})", r"it is no valid program (\1)",
          "Correct it, or start it with the language version it is written for.", ours=False),
    _sign(
        r"^The agent opened no session: (.{1,200})", r"it opened no session (\1)",
        "Give it a key by --model PROVIDER/NAME, and the words that make it speak the Agent Client Protocol; without "
        '`protocol = "acp"` it is told its task by its command line.', ours=False,
    ),
    _sign(r"(externally-managed-environment)", r"it installs packages (\1)", _INSTALLS, ours=False),
)  # fmt: skip


def exit_meaning(ending: Exit) -> str:
    """How a command ended in words, such as `code 127: command not found`, `SIGKILL, often for want of memory`."""
    if ending.code is None:
        return _signal(ending.signal) if ending.signal is not None else ending.ended.value.replace("_", " ")
    if ending.code in _STATUSES:
        return f"code {ending.code}: {_STATUSES[ending.code]}"
    if 128 < ending.code < 128 + 65:
        return f"code {ending.code}: a program in it was ended by {_signal(ending.code - 128)}"
    return f"code {ending.code}"


def _signal(number: int) -> str:
    meaning = {9: ", often for want of memory", 11: ", a segmentation fault", 6: ", an abort of its own"}.get(
        number, ""
    )
    try:
        return f"{signal.Signals(number).name}{meaning}"
    except ValueError:
        return f"signal {number}"


def last_lines(output: str, most: int = 3) -> tuple[str, ...]:
    """The last lines that are not blank, each fit to print."""
    lines = [line for line in output[-20_000:].splitlines() if line.strip()]
    return tuple(one_line(line.strip(), _WIDTH) for line in lines[-most:])


def start_failure(ending: Exit, output: str) -> StartFailure | None:
    """Why a program that ended so could not start; None where nothing says that it could not.

    Whether it had done something by then is the caller's to know.

    Args:
        ending: How it ended.
        output: What it printed, or the last of it.
    """
    if ending.ended is not Ended.EXITED or not ending.code:
        return None
    lines = [line for line in output[-20_000:].splitlines() if line.strip()][-_LINES:]
    for line in reversed(lines):
        for sign in _SIGNS:
            if (not sign.codes or ending.code in sign.codes) and (found := sign.pattern.search(line[:2000])):
                why = one_line(sign.means(found), _WIDTH)
                return StartFailure(f"{why} (exit {exit_meaning(ending)})", sign.remedy, sign.ours)
    if ending.code in _STATUSES:
        return StartFailure(f"exit {exit_meaning(ending)}", _PACKED)
    return None
