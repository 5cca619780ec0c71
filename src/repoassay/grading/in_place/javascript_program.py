"""Starts a JavaScript runner on a repository's tests, and tells what its reporter says. Loaded by `program.py`.

This process holds the key and loads nothing of the repository; no process of the same user may look into it. What is
written to the reporter's pipe is passed on once it is well formed; a run whose reporter has not said that it came to
its end has no end.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import selectors
from typing import Any

REPORTER = "/run/reporter.cjs"
MODULES = "node_modules"
_VITEST = ("--coverage.enabled=false", "--typecheck.enabled=false")
_OUTCOMES = ("passed", "failed", "error", "skipped")
_MOST_LINE = 2**20
_DEEPEST = 8
_PR_SET_DUMPABLE = 4


def run_node_tests(job: dict[str, Any], results: Any) -> int:
    """Run the commands that come before, then the files of a job; this process ends where the runner was ended."""
    if ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        raise OSError("this process cannot be kept from being looked into")
    env = dict(os.environ)
    places = dict.fromkeys([os.path.join(job["root"], job["package"]), job["root"]])
    os.chdir(os.path.join(job["root"], job["package"]))
    programs = [os.path.join(place, MODULES, ".bin") for place in places]
    env["PATH"] = ":".join([*programs, env.get("PATH", "/usr/bin:/bin")])
    env["REPOASSAY_ROOT"] = os.path.realpath(job["root"])
    env.setdefault("CI", "true")  # else runners write what a test should have been compared with
    for command in job["before"]:
        status = os.waitpid(_start(["/bin/sh", "-ec", command], env), 0)[1]
        if status:
            results.broken(command, f"{command} failed ({status}), and the tests ran nevertheless.")
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    env["REPOASSAY_READER"], env["REPOASSAY_RESULTS"] = job["reader"], str(writing)
    runner = _start(command_of(job), env)
    os.close(writing)
    report = _Told(results)
    os.set_blocking(reading, False)
    with selectors.DefaultSelector() as waiting:
        waiting.register(reading, selectors.EVENT_READ)
        over = False
        while not over:
            if waiting.select(0.2):
                piece = os.read(reading, 2**16)
                report.hear(piece)
                if not piece:  # closed, by the runner and whoever else had it
                    os.waitpid(runner, 0)
                    break
            else:  # nothing is left to read, whoever holds the pipe open
                over = bool(os.waitpid(runner, os.WNOHANG)[0])
                if not over and report.ended and report.failed:  # what a failed test left open may never end
                    os.kill(runner, 9)
                    over = True
    if not report.ended:
        os._exit(4)  # without the line that says that all was told
    return 0


def _start(command: list[str], env: dict[str, str]) -> int:
    """Start a command whose output is not read, and return its process id."""
    return os.spawnve(os.P_NOWAIT, "/bin/sh", ["sh", "-c", 'exec "$@" >&2', "sh", *command], env)  # noqa: S606 - inside


def command_of(job: dict[str, Any]) -> list[str]:
    """How the reader's runner is called for the files of a job, or for some tests of them."""
    reader, arguments, files = job["reader"], job["arguments"], job["files"]
    chosen: list[str] = []
    if job["only"]:
        files = list(dict.fromkeys(test.partition("::")[0] for test in job["only"]))
        chosen = chosen_tests(reader, [test.partition("::")[2].split("::") for test in job["only"]])
    files = [os.path.relpath(file, job["package"]) for file in files] if job["package"] else files
    arguments = [*arguments, *chosen]
    if reader == "node":
        own = ["--test", f"--test-reporter={REPORTER}", "--test-reporter-destination=stderr"]
        return ["node", *arguments, *own, *files]
    if reader in ("ava", "jasmine", "tap", "tape", "uvu"):
        return ["node", REPORTER, *arguments, *files]
    release = int(_about(reader)["version"].partition(".")[0])
    within = "_mocha" if reader == "mocha" and release < 6 else reader  # else a process of its own, without our pipe
    program = ["node", _program(reader, within)]
    if reader == "vitest":
        known = _VITEST if release else _VITEST[:1]  # the other since 1.0
        return [*program, "run", f"--reporter={REPORTER}", *known, *arguments, *files]
    if reader == "jest":
        return [*program, "--ci", f"--reporters={REPORTER}", "--coverage=false", *arguments, "--runTestsByPath", *files]
    return [*program, "--reporter", REPORTER, *arguments, *files]


def chosen_tests(reader: str, paths: list[list[str]]) -> list[str]:
    """Options that have a runner leave out other tests, as far as it can; what it runs besides does no harm."""
    if reader in ("jasmine", "tap", "tape", "uvu") or any(re.search(r" #\d+$", path[-1]) for path in paths):
        return []
    if reader == "ava":
        names = [path[-1] for path in paths]
        return [] if any(re.search(r"[*!\\]", name) for name in names) else [f"--match={name}" for name in names]
    if reader == "node":
        nested = any(len(path) > 1 for path in paths)  # a suite must match as well, in some versions
        return [] if nested else [f"--test-name-pattern=^{_escaped(path[-1])}$" for path in paths]
    wanted = "^ ?(" + "|".join(_escaped(" ".join(path)) for path in paths) + ")$"
    # Some releases of Vitest begin a whole name with a blank, for the file that has no name.
    return [f"--grep={wanted}" if reader == "mocha" else f"--testNamePattern={wanted}"]


def _escaped(text: str) -> str:
    return re.sub(r"([^\w\s])", r"\\\1", text, flags=re.ASCII).replace("\\/", "/")


def _program(package: str, name: str) -> str:
    """A program of a package that is installed in the repository."""
    found = _about(package)["bin"]
    return os.path.join(_home(package), found if isinstance(found, str) else found[name])


def _about(package: str) -> Any:
    with open(os.path.join(_home(package), "package.json"), encoding="utf-8") as stream:
        return json.load(stream)


def _home(package: str) -> str:
    """Where a package is installed: here, or in a folder above, as Node looks for it."""
    places = (os.path.join("../" * up, MODULES, package) for up in range(_DEEPEST))
    return next((place for place in places if os.path.isdir(place)), os.path.join(MODULES, package))


class _Told:
    """Lines of a reporter, passed on as results; a name that comes again is told from the first by its number."""

    def __init__(self, results: Any) -> None:
        self._results, self._rest, self._seen = results, b"", {}  # type: ignore[var-annotated]
        self.ended = self.failed = False

    def hear(self, piece: bytes) -> None:
        """Take what was read."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > _MOST_LINE:
            raise ValueError("the reporter wrote a line without an end")
        for line in lines:
            self._line(line)

    def _line(self, line: bytes) -> None:
        try:
            event = json.loads(line.decode())
        except ValueError:
            event = None
        if not isinstance(event, dict):
            raise ValueError("the reporter wrote what is no result")  # noqa: TRY004 - of a stranger's text
        if "end" in event:
            self.ended = True
        elif "broken" in event:
            self.failed = True
            self._results.broken(str(event["broken"]), str(event.get("message", "")))
        else:
            outcome = event["outcome"] if event.get("outcome") in _OUTCOMES else "error"
            self.failed |= outcome not in ("passed", "skipped")
            name = "::".join([str(event.get("file")), *map(str, event.get("names") or [])])
            count = self._seen[name] = self._seen.get(name, 0) + 1
            name += f" #{count}" if count > 1 else ""
            self._results.hook.start()
            self._results.tell(name, outcome, float(event.get("seconds") or 0), str(event.get("message") or ""))
