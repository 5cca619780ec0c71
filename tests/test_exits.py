"""Every end of a program is a sentence and an exit code, also of an error nobody foresaw."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from interrupts import interruptible

PROGRAMS = [str(Path(sys.executable).with_name(name)) for name in ("repoassay", "gittaskbench")]
RAISING = """
import os, sys
from repoassay.exits import exit_with

def command():
    secret = "sk-in-a-local"
    {body}

exit_with("repoassay", command)
"""


def run_program(body: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RAISING.format(body=body)],
        capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **env},
    )  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_full_disk_is_one_sentence(program: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [program, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert done.returncode == 3
    assert done.stderr.endswith(
        "A file cannot be written: No space left on device. Free some space, or choose another place.\n"
    )


def test_a_file_that_fails_to_be_read_is_one_sentence(tmp_path: Path) -> None:
    done = run_program("open('/proc/self/mem', 'rb').read(1)", REPOASSAY_CACHE=str(tmp_path))
    assert done.returncode == 3
    assert done.stderr.startswith("repoassay: A file cannot be opened: Input/output error. Check the disk")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            f"OSError({errno.EMFILE}, 'Too many', 'there')",
            "'there' cannot be opened: Too many. Raise the limit of open",
        ),
        (f"OSError({errno.ENOTEMPTY}, 'Full', 'a', None, 'b')", "'b' cannot be written: Full. Another command has"),
        (
            "__import__('shutil').Error([('a', 'b', '[Errno 28] No space left on device: a -> b'), ('c', 'd', '')])",
            "'b' cannot be written: No space left on device. Free some space",
        ),
        (
            f"OSError({errno.EAGAIN}, os.strerror({errno.EAGAIN}))",
            "No more processes can be started. Raise their limit",
        ),
        (
            'RuntimeError("can\'t start new thread")',
            "No more processes can be started. Raise their limit (`ulimit -u`)",
        ),
        ("MemoryError()", "There is not enough memory. Free some, raise its limit (`ulimit -v`)"),
    ],
)
def test_what_limits_and_other_commands_do_is_one_sentence(tmp_path: Path, error: str, sentence: str) -> None:
    """Nor do finalizers of packages add anything to it, which fail then as well."""
    fails = "exec('class Fails:\\n def __del__(self): 1 / 0\\nsys.kept = Fails()', {'sys': sys})"
    done = run_program(f"{fails}; raise {error}", REPOASSAY_CACHE=str(tmp_path))
    assert done.returncode == 3
    assert done.stderr.startswith(f"repoassay: {sentence}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_an_error_nobody_foresaw_is_one_sentence_that_names_its_traceback(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    done = run_program("raise KeyError('attempt')", REPOASSAY_CACHE=str(cache))
    assert done.returncode == 70
    assert done.stderr.count("\n") == 1
    found = re.search(r"traceback is in (\S+\.log)", done.stderr)
    assert found is not None, done.stderr
    log = Path(found[1])
    assert log.is_relative_to(cache)
    assert log.stat().st_mode & 0o077 == 0
    assert "Traceback (most recent call last)" in log.read_text()


def test_values_of_variables_are_not_in_the_log(tmp_path: Path) -> None:
    done = run_program("raise KeyError('attempt')", REPOASSAY_CACHE=str(tmp_path))
    (log,) = (tmp_path / "errors").iterdir()
    assert done.returncode == 70
    assert "KeyError" in done.stderr
    assert "Traceback" not in done.stderr
    assert "KeyError: 'attempt'" in log.read_text()
    assert "sk-in-a-local" not in log.read_text()


def test_the_traceback_is_shown_on_request(tmp_path: Path) -> None:
    done = run_program("raise KeyError('attempt')", REPOASSAY_CACHE=str(tmp_path), REPOASSAY_TRACEBACK="1")
    assert done.returncode == 70
    assert "KeyError: 'attempt'" in done.stderr


def test_a_cache_that_cannot_be_written_sends_the_log_to_the_temporary_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run_program("raise KeyError('attempt')", REPOASSAY_CACHE=str(tmp_path / "file/cache"), TMPDIR=str(tmp_path))
    assert done.returncode == 70
    assert len(list(tmp_path.glob("repoassay-*.log"))) == 1


@pytest.mark.parametrize(
    "body",
    [
        "raise KeyboardInterrupt",
        "raise ValueError('Error calling function `shown`: KeyboardInterrupt: ')",
        "raise ValueError('in C') from KeyboardInterrupt()",
        "exec('try:\\n raise KeyboardInterrupt\\nexcept BaseException:\\n raise TypeError')",
    ],
)
def test_an_interrupt_that_became_another_error_is_an_interrupt(body: str, tmp_path: Path) -> None:
    done = run_program(body, REPOASSAY_CACHE=str(tmp_path))
    assert done.returncode == 130, done.stderr
    assert done.stderr == "Interrupted.\n"


def test_a_real_ctrl_c_in_a_callback_of_a_serializer_is_an_interrupt(tmp_path: Path) -> None:
    body = """import time
    from pydantic import BaseModel, field_serializer
    class Slow(BaseModel):
        x: int = 1
        @field_serializer("x")
        def _x(self, value):
            print("ready", flush=True)
            time.sleep(60)
    Slow().model_dump_json()"""
    with interruptible():
        process = subprocess.Popen(
            [sys.executable, "-c", RAISING.format(body=body)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**os.environ, "REPOASSAY_CACHE": str(tmp_path)},
        )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said == "Interrupted.\n"


def test_ctrl_c_while_the_command_is_imported_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import sys, time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    with interruptible():
        process = subprocess.Popen(
            [PROGRAMS[0], "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "")


def test_sigterm_leaves_nothing_behind(tmp_path: Path) -> None:
    body = """import tempfile, time
    with tempfile.TemporaryDirectory(dir=sys.argv[1]):
        print("ready", flush=True)
        time.sleep(60)"""
    process = subprocess.Popen(
        [sys.executable, "-c", RAISING.format(body=body), str(tmp_path)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (143, "Interrupted.\n")
    assert not list(tmp_path.iterdir())


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    words = ["bash", "-c", f"set -o pipefail; {line}", PROGRAMS[0]]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams_lead_nowhere(tmp_path: Path, closed: str) -> None:
    done = shell(f'"$0" metrics {closed}', tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path: Path) -> None:
    done = shell('"$0" metrics | true', tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_working_folder_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    done = shell('mkdir gone; cd gone; rmdir ../gone; "$0" agents new agent --command x --no-try', tmp_path)
    said = "repoassay: The working folder was removed. Change to one that is there, and repeat.\n"
    assert (done.returncode, done.stderr) == (3, said)


@pytest.mark.parametrize(("body", "code"), [("return None", 0), ("return 1", 1), ("sys.exit(3)", 3)])
def test_codes_pass_through(body: str, code: int) -> None:
    assert run_program(body).returncode == code


def test_a_sentence_moves_no_cursor(tmp_path: Path) -> None:
    body = "from repoassay.errors import BadInput; raise BadInput('The file \\x1b]0;x\\x07 is none.')"
    done = run_program(body)
    assert (done.returncode, done.stderr) == (2, "repoassay: The file \\x1b]0;x\\x07 is none.\n")


def test_a_folder_in_the_place_of_a_file_is_a_sentence(tmp_path: Path) -> None:
    done = run_program(f"import os; os.open({str(tmp_path)!r}, os.O_RDWR)")
    assert done.returncode == 3
    assert "Remove the folder that is where a file belongs" in done.stderr
