"""Reading what is not meant to be read: ground truth, our own code, the harness and its environment."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import repoassay
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Access, Completed, Mount
from repoassay.types.files import FileEdit

SANDBOXES = ("namespaces", "bubblewrap", "http")

Inside = Callable[..., Completed]
Plain = Callable[..., subprocess.CompletedProcess[bytes]]

LIST = "import os, sys; print(os.listdir(sys.argv[1]))"
SEARCH = """
import os, sys
found = []
for top, folders, files in os.walk("/"):
    if top in ("/proc", "/sys", "/usr"):
        folders.clear()
    found += [top + "/" + name for name in files if name in ("task.toml", sys.argv[1])]
print(found)
"""
ENVIRONMENTS = """
import glob, os
print(dict(os.environ))
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        print(open(path, "rb").read())
    except OSError:
        pass
"""


def test_ground_truth_is_not_there(inside: Inside, plain: Plain, tree: Path, tmp_path: Path) -> None:
    truth = tmp_path / "task/tests/truth-7f3a.txt"
    truth.parent.mkdir(parents=True)
    truth.write_text("42")
    code = "import sys; print(open(sys.argv[1]).read())"
    assert plain(code, str(truth)).stdout == b"42\n"
    done = inside(code, str(truth))
    assert b"FileNotFoundError" in done.stderr
    assert inside(SEARCH, truth.name, mounts=(Mount(tree, "/workspace/repo", Access.COPY_ON_WRITE),)).stdout == b"[]\n"


@pytest.mark.every_sandbox
def test_our_own_package_and_cache_are_not_there(inside: Inside, plain: Plain, cache: Cache) -> None:
    package = Path(repoassay.__file__).parent
    for path in (package, cache.path):
        assert plain(LIST, str(path)).returncode == 0
        done = inside(LIST, str(path))
        assert done.stdout in (b"", b"[]\n")
    assert b"ModuleNotFoundError" in inside("import repoassay.workspace").stderr


def test_a_cache_below_a_shown_folder_is_covered(plain: Plain, inside: Inside) -> None:
    import shutil
    import tempfile

    from repoassay.sandbox.namespaces import NamespaceSandbox
    from repoassay.sandbox.protocol import Command

    try:
        folder = Path(tempfile.mkdtemp(prefix="repoassay-test-", dir="/usr/local"))
    except OSError:
        pytest.skip("only root may make a folder below /usr")
    try:
        folder.chmod(0o755)
        (folder / "cache").mkdir()
        (folder / "cache/truth").write_text("42")
        (folder / "link").symlink_to("cache")
        for name in ("cache", "link"):
            sandbox = NamespaceSandbox(Cache(folder / name))
            assert sandbox.run(Command(argv=("ls", "-A", str(folder / "cache")))).stdout == b""
        other = NamespaceSandbox(Cache(folder / "another"))
        assert b"truth" in other.run(Command(argv=("ls", "-A", str(folder / "cache")))).stdout
    finally:
        shutil.rmtree(folder)


@pytest.mark.every_sandbox
def test_secrets_of_our_environment_stay_with_us(inside: Inside, plain: Plain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "s3cret-7f3a")
    assert b"s3cret-7f3a" in plain(ENVIRONMENTS).stdout
    done = inside(ENVIRONMENTS, env={"GIVEN": "yes"})
    assert b"s3cret-7f3a" not in done.stdout
    assert b"SOME_API_KEY" not in done.stdout
    assert b"'GIVEN': 'yes'" in done.stdout


def test_the_environment_holds_what_was_given_and_a_fixed_few(inside: Inside) -> None:
    done = inside("import json, os; print(json.dumps(dict(os.environ)))", env={"GIVEN": "yes", "HOME": "/tmp"})
    seen = json.loads(done.stdout)
    assert set(seen) - {"LC_CTYPE"} == {"PATH", "HOME", "USER", "LANG", "TMPDIR", "TERM", "GIVEN"}
    assert seen["HOME"] == "/tmp"


@pytest.mark.every_sandbox
def test_no_process_of_the_host_is_in_sight(inside: Inside, plain: Plain) -> None:
    code = "import os, sys; os.kill(int(sys.argv[1]), 0); print(open(f'/proc/{sys.argv[1]}/cmdline').read())"
    assert b"python" in plain(code, str(os.getpid())).stdout
    assert b"ProcessLookupError" in inside(code, str(os.getpid())).stderr
    done = inside("import os; print([name for name in os.listdir('/proc') if name.isdigit()], os.getppid())")
    assert done.stdout == b"['1', '2'] 1\n"


@pytest.mark.by_day(4)
@pytest.mark.parametrize(
    "name", ["environ", "mem", "maps", "exe", "cwd", "root/etc/hostname", "fd/0", "ns/net", "stack"]
)
def test_process_1_cannot_be_looked_into(inside: Inside, name: str) -> None:
    done = inside("import sys; print(open('/proc/1/' + sys.argv[1], 'rb').read(1))", name)
    assert b"PermissionError" in done.stderr


@pytest.mark.every_sandbox
def test_nothing_but_the_three_streams_is_open(inside: Inside, plain: Plain) -> None:
    code = """
import os
for number in range(4096):
    try:
        print(number, os.readlink(f"/proc/self/fd/{number}").split(":")[0])
    except OSError:
        pass
"""
    assert inside(code).stdout.split() == b"0 /memfd 1 pipe 2 pipe".split()
    seen = inside(code + "print(os.environ['REPOASSAY_CHANNEL'])", channel=True).stdout.split()
    assert seen[:6] == b"0 /memfd 1 pipe 2 pipe".split()
    assert seen[6:] == [seen[-1], b"pipe", seen[-1]]


@pytest.mark.every_sandbox
def test_the_command_is_an_account_without_any_power(inside: Inside, tmp_path: Path) -> None:
    done = inside("import os; print(open('/proc/self/status').read(), os.getresuid(), os.getresgid(), os.getgroups())")
    status = done.stdout.decode()
    for line in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert f"{line}:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status
    assert "(1000, 1000, 1000) (1000, 1000, 1000)" in status
    if os.geteuid() == 0:
        assert "[]" in status
        kept = tmp_path / "root-only"
        kept.write_text("only root may read this")
        kept.chmod(0o600)
        read = inside("print(open('/given').read())", mounts=(Mount(kept, "/given"),))
        assert b"PermissionError" in read.stderr


def test_homes_and_variable_data_of_the_host_are_not_there(inside: Inside, plain: Plain) -> None:
    assert plain(LIST, "/var").stdout != b"['tmp']\n"
    assert inside(LIST, "/home").stdout == b"['agent']\n"
    assert inside(LIST, "/home/agent").stdout == b"[]\n"
    assert inside(LIST, "/var").stdout == b"['tmp']\n"
    assert inside(LIST, "/run").stdout == b"[]\n"
    assert inside("print(open('/etc/passwd').read().count(':x:'))").stdout == b"2\n"
    assert inside("import os; print(os.uname().nodename)").stdout == b"workspace\n"
    assert socket.gethostname() != "workspace"


def test_an_agents_own_files_are_the_only_ones_below_run(inside: Inside) -> None:
    assert inside(LIST, "/run", edits={"/run/agent.py": FileEdit(b"")}).stdout == b"['agent.py']\n"
