"""The programs that builds, tests and agents are made of, under the filter: each does real work inside."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.programs import uv_program
from repoassay.sandbox.protocol import Command, Mount
from repoassay.types import Limits
from sandbox.conftest import PYTHON

SANDBOXES = ("namespaces", "bubblewrap", "http")

LIMITS = Limits(seconds=120, memory=2**30, disk=256 * 2**20, processes=256)
WORK = {
    "bash": "diff <(echo a; sleep 0.01) <(echo a) && (trap 'exit 0' TERM; kill $BASHPID)",
    "git": "git init -q r && cd r && echo x > x && git add . && git -c user.name=a -c user.email=a@b commit -qm m"
    " && git gc -q && git worktree add -q ../w && git -C ../w log --oneline | grep -q m",
    "gcc": "printf '#include <pthread.h>\\nvoid *f(void *a){return a;}\\nint main(){pthread_t t;"
    "return pthread_create(&t,0,f,0)||pthread_join(t,0);}' > x.c && gcc -O2 -pthread x.c -o x && ./x",
    "make": "printf 'all: a b\\na b:\\n\\ttouch $@\\n' > Makefile && make -s -j4 && test -e b",
    "node": 'node -e \'const w=require("worker_threads"),f=require("fs"),c=require("child_process");'
    'f.cpSync("/etc/hosts","h");f.watch("h").close();c.execSync("true");'
    'new w.Worker("require(\\"zlib\\").gzipSync(\\"x\\")",{eval:true}).on("exit",process.exit)\'',
    "ffmpeg": "ffmpeg -v error -f lavfi -i sine=duration=1 x.wav && test -s x.wav",
    "tar": "mkdir d && mkfifo d/f && ln -s f d/l && tar cf - d | tar tf - && rm -r d",
    "sqlite3": "sqlite3 x.db 'pragma journal_mode=wal; create table t(a); insert into t values(1); select * from t'",
}
PYTHON_WORK = """
import asyncio, concurrent.futures, ctypes, mmap, multiprocessing, os, select, shutil, signal, socket, sqlite3
import subprocess, tempfile, threading, time
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        assert list(pool.map(abs, [-3])) == [3]
    async def talk():
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        assert await reader.read() == b""
        process = await asyncio.create_subprocess_exec("true")
        assert await process.wait() == 0
    asyncio.run(talk())
    with tempfile.TemporaryDirectory() as folder:
        base = sqlite3.connect(f"{folder}/x.db")
        base.execute("pragma journal_mode=wal")
        base.execute("create table t (a)")
        base.commit()
        os.mkfifo(f"{folder}/pipe")
        shutil.copytree(folder, f"{folder}/../copied", ignore=shutil.ignore_patterns("pipe"))
    left, right = socket.socketpair()
    socket.send_fds(left, [b"x"], [0])
    os.close(socket.recv_fds(right, 1, 1)[1][0])
    signal.setitimer(signal.ITIMER_REAL, 30)
    os.close(os.eventfd(0))
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    os.posix_fallocate(os.open("/tmp/space", os.O_RDWR | os.O_CREAT), 0, 4096)
    os.copy_file_range(os.open("/tmp/space", os.O_RDONLY), os.open("/tmp/c", os.O_CREAT | os.O_WRONLY), 10)
    print("worked")
"""


@pytest.mark.by_day(4)
@pytest.mark.parametrize("program", WORK)
def test_a_program_works(sandbox: NamespaceSandbox, program: str) -> None:
    if shutil.which(program, path="/usr/local/bin:/usr/bin:/bin") is None:
        pytest.skip(f"this machine has no {program}")
    done = sandbox.run(Command(argv=("bash", "-ec", WORK[program]), cwd="/tmp", limits=LIMITS))
    assert done.exit.code == 0, done.stderr


@pytest.mark.every_sandbox
def test_python_works(sandbox: NamespaceSandbox, tmp_path_factory: pytest.TempPathFactory) -> None:
    script = tmp_path_factory.mktemp("script") / "work.py"
    script.write_text(PYTHON_WORK)
    done = sandbox.run(Command(argv=(PYTHON, "-B", "/work.py"), mounts=(Mount(script, "/work.py"),), limits=LIMITS))
    assert done.stdout == b"worked\n", done.stderr


def test_uv_works(sandbox: NamespaceSandbox) -> None:
    argv = ("/run/uv", "venv", "--no-project", "--offline", "--python", PYTHON, "/tmp/env")
    done = sandbox.run(Command(argv=argv, mounts=(Mount(Path(uv_program()), "/run/uv"),), limits=LIMITS))
    assert done.exit.code == 0, done.stderr
