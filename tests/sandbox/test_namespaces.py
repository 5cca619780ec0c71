"""The contract of `Sandbox.run`, kept by the namespace sandbox: streams, channel, mounts, faults, ordinary accounts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import repoassay
from repoassay.errors import BadInput, InfraFault
from repoassay.options import KINDS_OF_ISOLATION
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.none import NoSandbox
from repoassay.sandbox.protocol import Access, Command, Completed, Mount
from repoassay.sandbox.sandbox import ISOLATIONS, open_sandbox
from repoassay.types import Ended, Limits
from repoassay.types.files import FileEdit

SANDBOXES = ("namespaces", "bubblewrap", "http")

Inside = Callable[..., Completed]


def test_standard_input_arrives_whole(inside: Inside) -> None:
    content = bytes(range(256)) * 5000
    done = inside("import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())", stdin=content)
    import hashlib

    assert done.stdout.decode().strip() == hashlib.sha256(content).hexdigest()


def test_without_any_standard_input_reading_ends_at_once(inside: Inside) -> None:
    assert inside("import sys; print(sys.stdin.read() == '')").stdout == b"True\n"


@pytest.mark.every_sandbox
def test_the_channel_is_apart_from_output(inside: Inside) -> None:
    code = "import os, sys; os.write(int(os.environ['REPOASSAY_CHANNEL']), b'result');"
    code += "print('out'); print('err', file=sys.stderr)"
    done = inside(code, channel=True)
    assert (done.stdout, done.stderr, done.channel) == (b"out\n", b"err\n", b"result")


def test_without_a_channel_there_is_none(inside: Inside) -> None:
    assert inside("import os; print(os.environ.get('REPOASSAY_CHANNEL'))").stdout == b"None\n"


def test_a_grandchild_inherits_neither_the_channel_nor_a_way_to_block_us(inside: Inside) -> None:
    code = "import os, subprocess; subprocess.Popen(['sleep', '40'], close_fds=False); os._exit(7)"
    assert inside(code, channel=True).exit.code == 7


@pytest.mark.parametrize(
    ("argv", "code"),
    [(("true",), 0), (("false",), 1), (("/nonexistent",), 127), (("/etc/passwd",), 126), (("a\0b",), 126)],
)
@pytest.mark.parametrize("kind", ["namespaces", "none"])
def test_exit_codes_are_those_of_a_shell(
    sandbox: NamespaceSandbox, kind: str, argv: tuple[str, ...], code: int
) -> None:
    chosen = sandbox if kind == "namespaces" else NoSandbox()
    done = chosen.run(Command(argv=argv))
    assert (done.exit.ended, done.exit.code) == (Ended.EXITED, code)


def test_names_of_ports_and_protocols_are_known(inside: Inside) -> None:
    code = (
        "import socket as s\nprint(s.getservbyname('http', 'tcp'), s.getservbyname('www'), s.getprotobyname('udp'))\n"
    )
    code += "print(s.getaddrinfo('1.2.3.4', 'http', type=s.SOCK_STREAM)[0][4])"
    assert inside(code).stdout == b"80 80 17\n('1.2.3.4', 80)\n"


def test_what_was_used_is_reported(inside: Inside) -> None:
    code = "import time; held = bytearray(40 * 2**20); end = time.process_time() + 0.3\n"
    code += "while time.process_time() < end: pass"
    done = inside(code)
    assert done.exit.wall >= 0.3
    assert done.exit.cpu >= 0.3
    assert done.exit.peak_memory is not None
    assert 40 * 2**20 <= done.exit.peak_memory <= 144 * 2**20


def test_one_mount_may_lie_in_another(inside: Inside, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("a single file")
    (tmp_path / "one.txt").chmod(0o644)
    mounts = (
        Mount(tmp_path / "one.txt", "/work/repo/inner/one.txt"),
        Mount(tree, "/work/repo", Access.COPY_ON_WRITE),
    )
    code = "import os; os.chdir('/work');"
    code += "print(open('repo/inner/one.txt').read(), os.listdir('.'), os.access('.', os.W_OK))"
    done = inside(code, mounts=mounts, scratch=("/work",))
    assert done.stdout == b"a single file ['repo'] True\n"
    assert not (tree / "inner/one.txt").exists()


@pytest.mark.parametrize(
    "command",
    [
        Command(argv=("true",), mounts=(Mount(Path("/nonexistent"), "/in"),)),
        Command(argv=("true",), mounts=(Mount(Path("/nonexistent"), "/in", Access.COPY_ON_WRITE),)),
        Command(argv=("true",), edits={"/tmp/missing": None}),
        Command(argv=("true",), edits={"/tmp": FileEdit(b"")}),
        Command(argv=("true",), mounts=(Mount(Path(__file__).parent, "/lib"),)),
    ],
    ids=["no source", "no source to copy", "nothing to delete", "a folder", "a link"],
)  # fmt: skip
def test_what_cannot_be_set_up_is_a_fault_of_ours_in_one_sentence(sandbox: NamespaceSandbox, command: Command) -> None:
    with pytest.raises(InfraFault, match="could not be set up") as caught:
        sandbox.run(command)
    assert "Traceback" not in str(caught.value)
    assert sandbox.run(Command(argv=("true",))).exit.code == 0


@pytest.mark.parametrize("kind", ["namespaces", "bubblewrap", "none"])
def test_an_emptied_folder_is_deleted_and_gives_way(cache: Cache, tree: Path, kind: str) -> None:
    if kind == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    for name in ("gone/a", "gone/b/c", "file/a", "kept/a", "kept/b"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    deleted = ("gone/b/c", "gone/b", "gone/a", "gone", "file/a", "kept/a", "kept")
    edits: dict[str, FileEdit | None] = {f"/in/{name}": None for name in deleted}
    done = open_sandbox(kind, cache).run(
        Command(
            argv=("/bin/sh", "-c", "ls -d gone file/ 2>/dev/null; cat file; ls kept; cd made/in && ls -A . ../../kept"),
            cwd="/in",
            edits={**edits, "/in/file": FileEdit(b"new\n"), "/in/made/in/": FileEdit(b""), "/in/kept/": FileEdit(b"")},
            mounts=(Mount(tree, "/in", Access.COPY_ON_WRITE),),
        )
    )  # fmt: skip
    assert done.stdout == b"new\nb\n.:\n\n../../kept:\nb\n"
    assert (tree / "gone/b/c").exists()


@pytest.mark.parametrize("kind", ["namespaces", "bubblewrap", "none"])
def test_a_link_gives_way_and_is_not_followed(cache: Cache, tree: Path, tmp_path: Path, kind: str) -> None:
    if kind == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    (tmp_path / "host").mkdir(mode=0o777)
    (tmp_path / "host/file").write_text("as it was")
    for name in ("file", "folder", "deleted", "broken"):
        (tree / name).symlink_to(tmp_path / "host" / ("file" if name != "folder" else ""))
    (tree / "broken").unlink()
    (tree / "broken").symlink_to("nowhere")
    edits = {f"/in/{name}": FileEdit(f"{name}\n".encode()) for name in ("file", "broken", "folder/made", "folder/too")}
    done = open_sandbox(kind, cache).run(
        Command(
            argv=("/bin/sh", "-c", "cat file broken folder/*; ls"), cwd="/in",
            edits={"/in/deleted": None, "/in/folder": None, **edits},
            mounts=(Mount(tree, "/in", Access.COPY_ON_WRITE),),
        )
    )  # fmt: skip
    assert done.stdout.startswith(b"file\nbroken\nfolder/made\nfolder/too\nbroken\nfile\nfolder\n"), done
    assert [path.read_text() for path in (tmp_path / "host").iterdir()] == ["as it was"]
    assert (tree / "deleted").is_symlink() and (tree / "file").is_symlink()


def test_a_working_folder_that_is_missing_is_the_commands_failure(sandbox: NamespaceSandbox) -> None:
    assert sandbox.run(Command(argv=("true",), cwd="/nowhere")).exit.code == 127


def test_the_log_takes_what_is_printed_as_it_comes(inside: Inside, tmp_path: Path) -> None:
    inside("import sys; print('out'); sys.stdout.flush(); print('err', file=sys.stderr)", log=tmp_path / "a/log.txt")
    assert (tmp_path / "a/log.txt").read_bytes() == b"out\nerr\n"


def test_isolations_are_found_by_name(cache: Cache) -> None:
    assert open_sandbox("namespaces", cache).name == "namespaces"
    assert open_sandbox("none", cache).name == "none"
    assert KINDS_OF_ISOLATION == ISOLATIONS
    with pytest.raises(
        BadInput, match="Choose one of: namespaces, bubblewrap, podman, docker, apptainer, kubernetes, http, none"
    ):
        open_sandbox("jail", cache)


ORDINARY = """
import os, sys
from pathlib import Path
from repoassay.types import Limits
from repoassay.sandbox.protocol import Access, ExportSpec, Command, Mount, SandboxSetup
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
top = Path(sys.argv[1])
assert os.geteuid() != 0
sandbox = open_sandbox("namespaces", Cache(top / "cache"))
(top / "tree").mkdir(); (top / "tree/file").write_text("as it was"); (top / "secret").write_text("ground truth")
code = '''
id -u; cat /proc/self/status | grep -E "CapEff|CapBnd|NoNewPrivs"; echo spoiled > /copy/file; cat /copy/file
echo made > /out/file; mkdir /out/locked; echo x > /out/locked/y; chmod 000 /out/locked
echo x > /read/new; cat %s; mount -t tmpfs none /tmp; ls /proc | grep -c "^[0-9]"
''' % (top / "secret")
mounts = (Mount(top / "tree", "/copy", Access.COPY_ON_WRITE), Mount(top / "tree", "/read"))
done = sandbox.run(Command(argv=("/bin/sh", "-c", code), mounts=mounts, scratch=("/out",), collect=(ExportSpec("/out", top / "got"),)))
print(done.stdout.decode()); print(done.stderr.decode(), file=sys.stderr)
print((top / "tree/file").read_text(), sorted(p.name for p in (top / "got").rglob("*")), done.rejected)
bomb = "import os\\nheld = []\\nwhile True: held.append(b'x' * 2**20)"
limits = Limits(seconds=20, memory=2**27, disk=2**24, processes=32)
with sandbox.open(SandboxSetup(mounts=mounts, scratch=("/out",), cwd="/copy")) as session:
    before = session.snapshot()
    session.write("new", b"written")
    session.exec(["/bin/sh", "-c", "setsid sleep 60 & ln -s %s link" % (top / "secret")])
    try: print(session.read("link"))
    except OSError as error: print(error.strerror, session.read("new"), [change.path for change in session.diff(before)])
    session.kill()
    print(session.exec(["id", "-u"]).stdout, session.exec(["sleep", "9"], timeout=0.2).exit.ended.value)
print(sandbox.run(Command(argv=("/usr/bin/python3", "-c", bomb), limits=limits)).exit.ended.value)
"""  # noqa: E501 - reads as the program it is


def test_it_works_without_root(tmp_path_factory: pytest.TempPathFactory) -> None:
    if os.geteuid() != 0:
        pytest.skip("every other test shows it already")
    system = Path("/usr/bin/python3")
    setpriv = shutil.which("setpriv")
    if setpriv is None or not system.exists():
        pytest.skip("needs setpriv and a Python that other accounts may run")
    script_env = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PATH": os.environ["PATH"]}
    as_nobody = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", str(system)]
    check = subprocess.run(
        [*as_nobody, "-c", "import repoassay.types"], env=script_env, capture_output=True, check=False
    )
    if check.returncode != 0:
        pytest.skip("an ordinary account cannot import repoassay here: " + check.stderr.decode()[-200:])
    import tempfile

    with tempfile.TemporaryDirectory(prefix="repoassay-ordinary-") as folder:
        os.chown(folder, 65534, 65534)
        done = subprocess.run(
            [*as_nobody, "-c", ORDINARY, folder],
            env=script_env,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1000\n")
    assert "CapEff:\t0000000000000000\n" in done.stdout
    assert "CapBnd:\t0000000000000000\n" in done.stdout
    assert "NoNewPrivs:\t1\nspoiled\n" in done.stdout
    assert "as it was ['file', 'locked', 'y'] ()" in done.stdout
    assert "ground truth" not in done.stdout
    assert "No such file or directory b'written' ['/copy/link', '/copy/new']\nb'1000\\n' timed_out\n" in done.stdout
    assert "Read-only file system" in done.stderr
    assert done.stdout.endswith("out_of_memory\n")


def test_the_launcher_imports_nothing_but_itself_and_the_standard_library() -> None:
    source = str(Path(repoassay.__file__).parent.parent)
    code = "import sys; sys.path.insert(0, sys.argv[1]); import repoassay.sandbox.launcher.main;"
    code += "print([m for m in sys.modules if m.startswith(('repoassay', 'pydantic')) and 'launcher' not in m])"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, source], capture_output=True, text=True, check=True)
    assert done.stdout == "['repoassay.lazy', 'repoassay', 'repoassay.sandbox']\n"


@pytest.mark.every_sandbox
def test_limits_of_the_smallest_size_hold(sandbox: NamespaceSandbox) -> None:
    done = sandbox.run(Command(argv=("echo", "hello"), limits=Limits(output=1, processes=8)))
    assert done.exit.output_truncated
    assert done.stdout.startswith(b"h")
