"""Work on the tasks of an array job of Slurm, which connect to this process as Slurm starts them.

Tasks may begin, end and be put back into the queue at any time. While none is at work, jobs wait for as long as Slurm
has the array; when it has none any more, the work ends.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import secrets
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from repoassay.errors import BadInput, Unavailable
from repoassay.executors.node_cluster import NodeCluster, NodeMember, Ticket
from repoassay.executors.node_link import LinkClosed, LinkKind, NodeLink, Strangers
from repoassay.executors.placement import NodeLoad
from repoassay.executors.protocol import Cluster, NodeSetup
from repoassay.executors.slurm_node import CallerPlace
from repoassay.records import to_json
from repoassay.text import one_line, quote
from repoassay.workspace import cancel_jobs, check_slurm, jobs_at_work, submit_tasks

__all__ = ["SlurmCluster", "SlurmExecutor"]

_LOG = logging.getLogger("repoassay")
_NODES = 16
_ASK = 10.0
"""Seconds between looks at whether Slurm still has the job."""
_FAREWELL = 5.0
"""Seconds in which nodes end what is warm, before Slurm ends them."""
_MOST_STRANGERS = 64
"""Connections that may be proving themselves, besides those of the nodes submitted."""
_LOG_END = 2_000


class SlurmExecutor:
    """Opens clusters of so many tasks of one array job.

    Args:
        address: `NODES`, or `NODES?OPTION=VALUE&...` with options of sbatch; 16 tasks where it is empty.

    Raises:
        BadInput: The address is none.
        Unavailable: There is no Slurm here.
    """

    def __init__(self, address: str = "") -> None:
        found = re.fullmatch(r"([1-9][0-9]{0,4})?(?:\?(.+))?", address)
        if found is None:
            raise BadInput(
                f"{quote(address)} does not say which nodes Slurm is asked for.",
                "Write slurm://NODES, or slurm://NODES?partition=cpu&cpus-per-task=4 with options of sbatch.",
            )
        check_slurm()
        self._count = int(found[1] or _NODES)
        self._options = tuple(f"--{unquote(each)}" for each in (found[2] or "").split("&") if each)

    def open(self, setup: NodeSetup, workers: int | None) -> Cluster:
        """See `Executor.open`; waits for as long as Slurm lets the first node wait."""
        return SlurmCluster(setup, workers, self._count, self._options)


class SlurmCluster(NodeCluster):
    """The tasks of an array job. See `Cluster`.

    Args:
        setup: How nodes make their work.
        workers: Jobs at a time on a node; None for one a CPU that Slurm gave it.
        nodes: How many tasks are submitted.
        options: Further options of sbatch.

    Raises:
        Unavailable: There is no Slurm here, or its job ended before a node was ready.
        BadInput: Slurm refuses.
        RepoAssayError: What the first node said that cannot make its work.
    """

    def __init__(self, setup: NodeSetup, workers: int | None, nodes: int, options: Sequence[str]) -> None:
        super().__init__(setup, "Slurm")
        self._workers, self._nodes = workers, nodes
        self._joined: list[NodeMember] = []
        self._strangers = Strangers(nodes + _MOST_STRANGERS)
        self._asked, self._job, self._key = time.monotonic(), "", secrets.token_bytes(32)
        self._listener = socket.create_server(("", 0), backlog=256)
        self._listener.settimeout(0.5)  # closing it would not wake who accepts
        self._folder = _private_folder()
        try:
            self._write_place()
            command = ("repoassay.executors.slurm_node", str(self._folder / "caller.json"))
            self._job = submit_tasks(self._folder, command, nodes, options, unset=self._secrets)
            threading.Thread(target=self._listen, name="slurm-listener", daemon=True).start()
            _LOG.warning(
                "repoassay: Job %s of Slurm is submitted (nodes: %d); waiting for the first.", self._job, nodes
            )
            self.start(None)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """See `Cluster.close`."""
        if self._thread.ident is not None:
            super().close()
        self._closing.set()
        self._listener.close()
        if self._job:
            with contextlib.suppress(BadInput, Unavailable):  # it has ended, or will by itself: its caller is gone
                cancel_jobs([self._job])
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write_place(self) -> None:
        """Write down where this process listens, for the account that runs the jobs alone."""
        place = CallerPlace(hosts=_own_addresses(), port=self._listener.getsockname()[1], key=self._key.hex())
        path = self._folder / "caller.json"
        path.touch(mode=0o600)
        path.write_bytes(to_json(place))

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                connection, (host, *_) = self._listener.accept()
            except TimeoutError:
                continue
            except OSError as error:  # there may be too many open files for a while
                _LOG.debug("A node could not be let in: %s", error)
                self._closing.wait(0.2)
                continue
            self._strangers.enter(connection, host)
            threading.Thread(target=self._serve, args=(connection, host), name="slurm-node", daemon=True).start()

    def _serve(self, connection: socket.socket, host: str) -> None:
        """Take what one node says; what follows of it is done by the thread that takes events."""
        member: NodeMember | None = None
        try:
            link = NodeLink(connection, self._key, caller=True)
            self._strangers.leave(connection)
            kind, cores, facts = link.receive()
            if kind is not LinkKind.HELLO or not 0 < cores < 2**16:
                link.close()
                return
            member = NodeMember(f"{host}/{next(self._numbers)}", host, link, NodeLoad(self._workers or cores))
            self._events.put(partial(self._join, member, facts))
            while True:
                kind, number, body = link.receive()
                if kind is LinkKind.ANSWER:
                    answer = partial(self._settle, number) if number else partial(self._admit, member)
                    self._events.put(partial(self._hear, member, number, partial(answer, body)))
                elif kind is LinkKind.WANTED:
                    link.send(LinkKind.PARCEL, number, self._parcel(member, body))
        except LinkClosed as error:
            if member is not None:
                self._events.put(partial(self._lose, member, one_line(str(error))))
        finally:
            self._strangers.leave(connection)

    def _join(self, member: NodeMember, facts: bytes) -> None:
        self._joined.append(member)
        if self._fits(member, facts):
            secrets_line = json.dumps(self._secrets).encode()
            member.handle.send(LinkKind.OPEN, member.load.workers, secrets_line + b"\n" + self._setup)

    def _hear(self, member: NodeMember, number: int, answer: partial[None]) -> None:
        """Take an answer of a node to what it was given, and to nothing else."""
        if member in self._joined and (number in member.load.jobs or (number == 0 and not member.opened)):
            answer()

    def _parcel(self, member: NodeMember, name: bytes) -> bytes:
        """A parcel of one of a node's jobs."""
        tickets = [ticket for ticket, placed in list(self._placed.values()) if placed is member]
        for parcel in (parcel for ticket in tickets for parcel in ticket.job.parcels):
            if parcel.name.encode() == name:
                try:
                    return b"+" + parcel.pack()
                except Exception as error:  # noqa: BLE001 - the node's job fails, and says so
                    _LOG.warning("repoassay: What a node needs cannot be read: %s", one_line(str(error)))
        return b"-"

    def _members(self) -> list[NodeMember]:
        return list(self._joined)

    def _look(self) -> None:
        """Ask now and then whether Slurm still has the job, while no node is at work."""
        if any(member.opened for member in self._joined) or time.monotonic() - self._asked < _ASK:
            return
        self._asked = time.monotonic()
        try:
            if jobs_at_work([self._job]):
                return
        except BadInput as error:  # its controller may be busy
            _LOG.debug("Slurm does not say whether job %s is there: %s", self._job, error)
            return
        if not self._joined:
            message = self._last_printed_line()
            raise Unavailable(
                f"Job {self._job} of Slurm has ended, and no node is at work. {message}".rstrip(),
                ""
                if message
                else "Call this in a folder that nodes see, on a machine that they reach; or see `sacct`.",
            )

    def _last_printed_line(self) -> str:
        """The end of what a task printed last."""
        logs = sorted(self._folder.glob("node-*.log"), key=lambda path: path.stat().st_mtime)
        text = b"".join(path.read_bytes()[-_LOG_END:] for path in logs[-1:]).decode(errors="replace")
        return one_line(text.strip().rpartition("\n")[2], 300)

    def _send(self, ticket: Ticket, member: NodeMember) -> None:
        names = json.dumps([parcel.name for parcel in ticket.job.parcels]).encode()
        member.handle.send(LinkKind.JOB, ticket.number, names + b"\n" + ticket.job.record.model_dump_json().encode())

    def _cancel(self, ticket: Ticket, member: NodeMember) -> None:
        member.handle.send(LinkKind.CANCEL, ticket.number)

    def _forget(self, member: NodeMember) -> bool:
        if member not in self._joined:
            return False
        self._joined.remove(member)
        member.handle.close()
        return True

    def _leave(self, members: Sequence[NodeMember]) -> None:
        for member in members:
            member.handle.send(LinkKind.CLOSE)
        end = time.monotonic() + _FAREWELL
        while self._joined and time.monotonic() < end:
            self._take_events()
        for member in self._members():
            self._forget(member)


def _private_folder() -> Path:
    """A folder for scripts and logs where nodes see it: in the working folder, as Slurm has it."""
    try:
        return Path(tempfile.mkdtemp(prefix=".repoassay-slurm-", dir=Path.cwd()))
    except OSError as error:
        raise BadInput(
            f"{Path.cwd()} cannot be written to: {error.strerror}.", "Call this in a folder of yours that nodes see."
        ) from error


def _own_addresses() -> tuple[str, ...]:
    """Names and addresses of this machine by which nodes may reach it; the loopback last, for a cluster of one."""
    found = [socket.gethostname(), socket.getfqdn()]
    with contextlib.suppress(OSError):
        found += [str(each[4][0]) for each in socket.getaddrinfo(found[0], None, socket.AF_INET)]
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing: it only asks which way is out
        found.append(probe.getsockname()[0])
    return tuple(dict.fromkeys([*found, "127.0.0.1"]))
