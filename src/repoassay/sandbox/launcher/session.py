"""Process 1 of a session: starts one command after another, or several at once, for the host outside.

The host asks over a local socket, each time with a marshalled document in a memory file and the descriptors that the
command is to have as standard input, output and error. What a command prints never passes through here, and no command
inherits the socket or may look into this process. Files are read, written and listed (`files.py`) by children as well.
"""

from __future__ import annotations

import _socket
import os
import resource
import select
import signal
import struct

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.command import become, limit
from repoassay.sandbox.launcher.files import ACTIONS
from repoassay.sandbox.launcher.framing import decode, encode
from repoassay.sandbox.launcher.identity import become_command

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from repoassay.sandbox.launcher.spec import Spec

__all__ = ["serve"]

_ALL_DESCRIPTORS = 1 << 20
_AT_ONCE = 500
"""So many of the dead are buried before the host is listened to again."""
_KIB = 1024


def serve(spec: Spec, program: bytes) -> None:
    """Do what the host asks for until it closes its end; commands get the seccomp filter `program`."""
    bell, ring = os.pipe()
    for descriptor in (bell, ring):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    _Session(spec, program, bell).run()


class _Session:
    def __init__(self, spec: Spec, program: bytes, bell: int) -> None:
        self._spec, self._program, self._bell = spec, program, bell
        self._host = _socket.socket(-1, -1, -1, spec.session_fd)
        self._children: dict[int, int] = {}  # by process id, the number the host gave it

    def run(self) -> None:
        """Serve until the host closes its end."""
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        poll.register(self._host, select.POLLIN)
        self._host.send(encode({"ready": True}))
        wait: float | None = None
        while True:
            ready = dict(poll.poll(wait))
            if self._bell in ready:
                os.read(self._bell, 4096)
            wait = 0 if self._bury() else None
            if self._host.fileno() in ready and not self._listen():
                return

    def _listen(self) -> bool:
        data, extra, *_ = self._host.recvmsg(16, _socket.CMSG_SPACE(16), _socket.MSG_CMSG_CLOEXEC)
        if not data:
            return False
        numbers = b"".join(part for *_, part in extra)
        body, *descriptors = struct.unpack(f"{len(numbers) // 4}i", numbers)
        try:
            request = decode(os.pread(body, os.fstat(body).st_size, 0))
            assert isinstance(request, dict)
            if "kill" in request:
                self._kill(request["kill"])
            else:
                self._start(request, descriptors)
        finally:
            for descriptor in (body, *descriptors):
                os.close(descriptor)
        return True

    def _start(self, request: dict[str, Any], descriptors: list[int]) -> None:
        try:
            child = os.fork()
        except OSError as error:
            self._host.send(encode({"id": request["id"], "refused": str(error)}))
            return
        if child == 0:
            _be_child(self._spec, request, descriptors, self._program)
        self._children[child] = request["id"]

    def _kill(self, number: int) -> None:
        """End the process group of a command, or, for 0, whatever runs in here."""
        if number == 0:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for child in [child for child, known in self._children.items() if known == number]:
            for end in (os.killpg, os.kill):  # it may not have come to make its group yet
                try:
                    end(child, signal.SIGKILL)  # not buried yet: it can be nobody else
                except ProcessLookupError:
                    pass

    def _bury(self) -> bool:
        """Bury children and orphans, and tell the host of the former; whether there may be more."""
        for _ in range(_AT_ONCE):
            try:
                child, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if child == 0:
                return False
            if child in self._children:
                self._host.send(encode(_exit_document(self._children.pop(child), status, usage)))
        return True


def _exit_document(number: int, status: int, usage: resource.struct_rusage) -> dict[str, object]:
    code = os.waitstatus_to_exitcode(status)
    return {"id": number, "code": code, "cpu": usage.ru_utime + usage.ru_stime, "peak_memory": usage.ru_maxrss * _KIB}


def _be_child(spec: Spec, request: dict[str, Any], descriptors: list[int], program: bytes) -> NoReturn:
    """In a fork: let go of everything that is process 1's, then be the command or do what it is to do itself."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
        os.closerange(len(descriptors), _ALL_DESCRIPTORS)
        if request["do"] == "run":
            env = {**dict(spec.env), **request["env"]}
            become(spec, request["argv"], env, os.path.join(spec.cwd, request["cwd"]), program)
        if request["do"] == "list":  # reads names and facts alone, and keeps the right to look into locked folders
            os._exit(ACTIONS["list"](request))
        limit(spec)
        os.umask(0o022)
        os.chdir(spec.cwd)
        become_command()
        kernel.drop_capabilities()
        kernel.set_filter(program)
        os._exit(ACTIONS[request["do"]](request))
    except BaseException as error:  # noqa: BLE001 - nobody above to report to but the host
        os.write(2, f"{type(error).__name__}: {error}".encode(errors="replace")[:2000])
    finally:
        os._exit(125)
