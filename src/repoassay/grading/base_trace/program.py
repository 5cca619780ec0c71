"""Runs hidden tests in a fork inside the sandbox, and notes every path of the repository that anything there looks at.

The fork runs the tests as a fork of a prefork server does. The kernel holds each call that takes a path, by a filter
that the fork cannot take off and that all it starts inherit, until this process has noted what it looks at: the name
in each folder on the way, found or not. What is done in ways that are not followed makes the notes worth nothing, and
they say so (`unread`). Printed as JSON at the end; the tests' own report goes over the channel as ever.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import socket
import stat
import struct
import sys
from typing import Any

SPARED = 4000
"""The descriptor over which the fork hands the listener out; the filter does not tell of messages over it."""
_RECEIVE, _SEND, _GO_ON = 0xC0502100, 0xC0182101, 1
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_PATH_MAX, _MOST_LINKS = 4096, 40
_NO_FOLDER, _REMOVE_FOLDER, _IN_ROOT = 0xFFFFFF9C, 0x200, 0x10
_READ_ONLY = (b"/usr/", b"/lib", b"/bin", b"/sbin", b"/env/", b"/etc/")
_OPEN = ("open", "openat", "openat2", "creat")


class UnreadCallError(Exception):
    """A call reaches files in a way that is not followed."""


class PathLog:
    """What was looked at below a folder.

    Args:
        root: The folder.
    """

    def __init__(self, root: bytes) -> None:
        self._root = root
        self.looked: set[bytes] = set()
        self.listed: set[bytes] = set()
        self.unread = ""
        self._links: dict[bytes, bytes | None] = {}

    def walk(self, thread: int, start: bytes, path: bytes) -> bytes:
        """Note each name on the way as the kernel looks it up, through links; returns where the path leads.

        A link at its end is followed too, and what follows an absent name is noted: more than was looked at does no
        harm.
        """
        at = [] if path.startswith(b"/") else [part for part in start.split(b"/") if part]
        left = path.split(b"/")[::-1]
        links = 0
        while left:
            part = left.pop()
            if part in (b"", b"."):
                continue
            if part == b"..":
                del at[-1:]
                continue
            here = b"/" + b"/".join([*at, part])
            self._note(here)
            target = self._link(thread, here)
            if target is None:
                at.append(part)
                continue
            links += 1
            if links > _MOST_LINKS:
                break
            if target.startswith(b"/"):
                at = []
            left += target.split(b"/")[::-1]
        return b"/" + b"/".join(at)

    def list(self, place: bytes) -> None:
        """Note that the names in a folder were read, if it is one."""
        if self.inside(place) and stat.S_ISDIR(_mode(place)):
            self.listed.add(place[len(self._root) + 1 :])

    def inside(self, place: bytes) -> bool:
        """Whether a place is the folder or below it."""
        return place == self._root or place.startswith(self._root + b"/")

    def _note(self, place: bytes) -> None:
        if place.startswith(self._root + b"/"):
            self.looked.add(place[len(self._root) + 1 :])

    def _link(self, thread: int, place: bytes) -> bytes | None:
        if place in (b"/proc/self", b"/proc/thread-self"):
            return b"%d" % thread  # links of a thread's own are those of its process, but for the number
        if place in self._links:
            return self._links[place]
        try:
            found = os.readlink(place)
        except PermissionError:
            raise UnreadCallError(f"where {os.fsdecode(place)} leads is a secret") from None
        except OSError:
            found = None
        if place.startswith(_READ_ONLY):
            self._links[place] = found
        return found


class CallReader:
    """Reads what held calls look at, from the memory and the folders of who calls.

    Args:
        log: Takes the notes.
        calls: Names of calls, and the (folder, path) arguments of each, by number.
    """

    def __init__(self, log: PathLog, calls: dict[int, tuple[str, list[list[int]]]]) -> None:
        self._log, self._calls = log, calls

    def read(self, thread: int, number: int, arguments: tuple[int, ...]) -> None:
        """Note what one call looks at.

        Raises:
            UnreadCallError: It cannot be followed.
        """
        name, places = self._calls[number]
        if not places:
            self._socket(thread, name, arguments)
            return
        ends = []
        for folder, path in places:
            text = _text(thread, arguments[path])
            if text:  # an empty one stands for the descriptor itself, which somebody opened
                ends.append(self._log.walk(thread, self._start(thread, arguments, folder, text), text))
            elif name == "execveat":
                raise UnreadCallError("a program was started by its descriptor")
        if not ends:
            return
        if name in _OPEN or name == "rmdir" or (name == "unlinkat" and arguments[2] & _REMOVE_FOLDER):
            self._log.list(ends[0])
        if name == "openat2" and _number(thread, arguments[2] + 16) & _IN_ROOT:
            raise UnreadCallError("a path was opened below another root")
        if name.startswith("rename") and any(self._log.inside(end) and stat.S_ISDIR(_mode(end)) for end in ends):
            raise UnreadCallError("a folder was renamed")
        if name.startswith("execve"):
            self._program(thread, ends[0])

    @staticmethod
    def _start(thread: int, arguments: tuple[int, ...], folder: int, path: bytes) -> bytes:
        if path.startswith(b"/"):
            return b"/"
        number = arguments[folder] & 0xFFFFFFFF if folder >= 0 else _NO_FOLDER
        inner = b"cwd" if number == _NO_FOLDER else b"fd/%d" % number
        try:
            return os.readlink(b"/proc/%d/%b" % (thread, inner))
        except FileNotFoundError:
            return b"/"  # there is no such descriptor, and the call will fail

    def _program(self, thread: int, place: bytes, depth: int = 0) -> None:
        """What the kernel itself looks at for a program: the interpreter of a script."""
        try:
            with open(place, "rb") as stream:
                head = stream.read(256)
        except OSError:
            if place.endswith(b" (deleted)"):
                raise UnreadCallError("a program without a name was started") from None
            return
        if head.startswith(b"#!") and depth < 5:
            words = head[2:].split(b"\n")[0].split()
            if words:
                start = os.readlink(b"/proc/%d/cwd" % thread)
                self._program(thread, self._log.walk(thread, start, words[0]), depth + 1)
        elif not os.statvfs(place).f_flag & os.ST_RDONLY:  # else it is the system's, and so is its loader
            raise UnreadCallError(f"a program of its own was started, {os.fsdecode(place)}")

    def _socket(self, thread: int, name: str, arguments: tuple[int, ...]) -> None:
        at, size = {"connect": (1, 2), "bind": (1, 2), "sendto": (4, 5)}.get(name, (0, 0))
        if name == "sendmsg":
            head = _memory(thread, arguments[1], 12)
            place, length = struct.unpack("QI", head)
        elif at:
            place, length = arguments[at], arguments[size] & 0xFFFFFFFF
        else:
            raise UnreadCallError(f"{name} was called")
        if not place or length < 3:
            return
        address = _memory(thread, place, min(length, 110))
        path = address[2:].split(b"\0")[0]
        if struct.unpack("H", address[:2])[0] == socket.AF_UNIX and path:
            self._log.walk(thread, os.readlink(b"/proc/%d/cwd" % thread), path)


def _mode(place: bytes) -> int:
    try:
        return os.lstat(place).st_mode
    except OSError:
        return 0


def _memory(thread: int, address: int, size: int) -> bytes:
    descriptor = os.open(b"/proc/%d/mem" % thread, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, size, address)
    finally:
        os.close(descriptor)


def _number(thread: int, address: int) -> int:
    return int.from_bytes(_memory(thread, address, 8), "little")


def _text(thread: int, address: int) -> bytes:
    """A string that ends with zero; page by page, since the next page may not be there."""
    found = b""
    while address and b"\0" not in found and len(found) < _PATH_MAX:
        more = _memory(thread, address + len(found), 4096 - (address + len(found)) % 4096)
        if not more:
            break
        found += more
    return found.split(b"\0")[0]


def _load(name: str) -> dict[str, Any]:
    """Run a program of ours that lies beside this one, as a prefork server runs its own; return what it defines."""
    path = f"/run/{name}.py"
    space: dict[str, Any] = {"__name__": "repoassay_program", "__file__": path}
    with open(path) as stream:
        exec(compile(stream.read(), path, "exec"), space)  # noqa: S102 - our own program
    return space


def _be_traced(job: dict[str, Any], theirs: socket.socket, channel: int, work: Any) -> None:
    """In the fork: be as a fork of a prefork server is, put the filter on, and run the tests."""
    os.setsid()
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.dup2(2, 1)
    os.dup2(theirs.detach(), SPARED, inheritable=False)
    os.dup2(channel, 3, inheritable=False)
    os.closerange(4, SPARED)
    os.environ.clear()
    os.environ.update(job["env"])
    os.chdir("/tmp")  # noqa: S108 - inside the sandbox
    _load("importer")["look_up_names"](job["facts"]["path"], SPARED - 100)
    listener = _filter(bytes.fromhex(job["filter"]))
    with socket.socket(fileno=SPARED) as out:
        out.sendmsg([b"l"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", listener))])
    os.close(listener)
    work({"facts": job["facts"]}, 3)


def _filter(program: bytes) -> int:
    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    libc = ctypes.CDLL(None, use_errno=True)
    header = Program(len(program) // 8, program)
    descriptor: int = libc.syscall(
        _SECCOMP[os.uname().machine], ctypes.c_ulong(1), ctypes.c_ulong(8), ctypes.byref(header)
    )
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "no listener could be made")
    return descriptor


def _listen(mine: socket.socket, worker: int, reader: CallReader, log: PathLog) -> int:
    """Deal with calls until the fork has ended; returns how it ended, as `waitpid` tells."""
    _, extra, *_ = mine.recvmsg(1, socket.CMSG_SPACE(4))
    listener = struct.unpack("i", extra[0][2])[0] if extra else -1
    if listener < 0:
        log.unread = "no listener could be made"
        return os.waitpid(worker, 0)[1]
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    while True:
        ready = poll.poll(20)
        if ready and ready[0][1] & select.POLLIN:
            _answer(listener, reader, log)
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            return status


def _answer(listener: int, reader: CallReader, log: PathLog) -> None:
    request = bytearray(80)
    try:
        fcntl.ioctl(listener, _RECEIVE, request, True)
    except FileNotFoundError:
        return  # who called was interrupted, and will call again
    number_of, thread, _, number, _, _, *arguments = struct.unpack("QIIiIQ6Q", request)
    try:
        reader.read(thread, number, tuple(arguments))
    except (OSError, UnreadCallError, struct.error) as error:
        log.unread = log.unread or f"{type(error).__name__}: {error}"
    try:
        fcntl.ioctl(listener, _SEND, struct.pack("QqiI", number_of, 0, 0, _GO_ON))
    except FileNotFoundError:
        pass


def main() -> None:
    """Run one job from standard input: `facts` for the tests' runner, and the `filter`, `calls`, `root` and `env`."""
    job = json.load(sys.stdin)
    channel = int(os.environ.pop("REPOASSAY_CHANNEL"))
    runner = _load("runner")
    runner["prepare"]()
    log = PathLog(os.fsencode(job["root"]))
    reader = CallReader(log, {int(number): tuple(each) for number, each in job["calls"].items()})
    mine, theirs = socket.socketpair()
    worker = os.fork()
    if worker == 0:
        try:
            mine.close()
            _be_traced(job, theirs, channel, runner["work"])
        except BaseException as error:  # noqa: BLE001 - whatever the tests raised, their process ends here
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(1)
    theirs.close()
    os.close(channel)
    status = _listen(mine, worker, reader, log)
    try:
        found = {"looked": [each.decode() for each in log.looked], "listed": [each.decode() for each in log.listed]}
    except UnicodeDecodeError:
        found, log.unread = {"looked": [], "listed": []}, "a name is not UTF-8"
    json.dump({**found, "unread": log.unread}, sys.stdout)
    sys.stdout.flush()
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
    os._exit(code)


if __name__ == "__main__":
    main()
