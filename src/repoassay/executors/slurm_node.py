"""A task of an array job that works for the caller that submitted it: `python -m repoassay.executors.slurm_node FILE`.

The file says where the caller listens, with the key of the cluster. Secrets of the work come over the connection and
are in no file.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.executors.node_link import LinkClosed, LinkKind, NodeLink
from repoassay.executors.node_process import NodeProcess
from repoassay.executors.node_work import node_facts
from repoassay.records import parse, to_json
from repoassay.types import Record

__all__ = ["CallerPlace", "work_for"]

_KNOCK = 5.0
"""Seconds in which an address of the caller must accept a connection."""
_ROUNDS, _PAUSE = 3, 2.0
"""How often all addresses are tried, and the seconds between."""


class CallerPlace(Record):
    """Where a caller listens; its file is for the account that runs the jobs alone.

    Attributes:
        hosts: Names and addresses of its machine, to be tried in turn.
        port: Where it listens.
        key: By which caller and nodes know each other, as hexadecimal digits.
    """

    hosts: tuple[str, ...]
    port: int
    key: str


class _Node:
    """One node at work, until the caller ends it or is gone."""

    def __init__(self, link: NodeLink) -> None:
        self._link = link
        self._process = NodeProcess()
        self._pool: ThreadPoolExecutor | None = None
        self._requests = count(1)
        self._wanted: dict[int, Future[bytes]] = {}

    def run(self) -> None:
        """Do what the caller says."""
        try:
            self._link.send(LinkKind.HELLO, _cores(), to_json(node_facts()))
            while True:
                kind, number, body = self._link.receive()
                if kind is LinkKind.CLOSE:
                    return
                if kind is LinkKind.OPEN:
                    self._pool = ThreadPoolExecutor(number, thread_name_prefix="node")
                    self._pool.submit(self._open, number, body)
                elif kind is LinkKind.JOB and self._pool is not None:
                    self._pool.submit(self._do, number, body)
                elif kind is LinkKind.CANCEL:
                    self._process.cancel(number)
                elif kind is LinkKind.PARCEL and number in self._wanted:
                    self._wanted.pop(number).set_result(body)
        except LinkClosed:
            return
        finally:
            self._link.close()
            self._process.close()
            for each in self._wanted.values():
                each.set_exception(InfraFault("The caller is gone."))

    def _open(self, workers: int, body: bytes) -> None:
        secrets, _, setup = body.partition(b"\n")
        self._link.send(LinkKind.ANSWER, 0, self._process.open(setup, workers, json.loads(secrets)))

    def _do(self, number: int, body: bytes) -> None:
        head, _, record = body.partition(b"\n")
        reads = {name: partial(self._parcel, name) for name in json.loads(head)}
        self._link.send(LinkKind.ANSWER, number, self._process.do(number, record, reads))

    def _parcel(self, name: str) -> bytes:
        """A parcel's bytes from the caller, who alone has them."""
        request, answer = next(self._requests), Future[bytes]()
        self._wanted[request] = answer
        self._link.send(LinkKind.WANTED, request, name.encode())
        found = answer.result()
        if found[:1] != b"+":
            raise InfraFault("The caller could not send what a job needs.")
        return found[1:]


def work_for(place: CallerPlace) -> None:
    """Work for a caller until it ends this node, or is gone.

    Raises:
        LinkClosed: It cannot be reached.
    """
    why = LinkClosed("no address")
    for number, host in enumerate(place.hosts * _ROUNDS):
        try:
            time.sleep(_PAUSE if number and number % len(place.hosts) == 0 else 0)  # it may be crowded by strangers
            connection = socket.create_connection((host, place.port), _KNOCK)
            link = NodeLink(connection, bytes.fromhex(place.key), caller=False)
        except (OSError, LinkClosed) as error:
            why = LinkClosed(f"{host}:{place.port}: {error}")
            continue
        _Node(link).run()
        return
    raise why


def _cores() -> int:
    """CPUs that Slurm gave this task, which it says only where it was asked for more than one."""
    return int(os.environ.get("SLURM_CPUS_PER_TASK", "1"))


def main(arguments: Sequence[str]) -> int:
    """Work for the caller that a file names."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        work_for(parse(CallerPlace, Path(arguments[0]).read_bytes(), arguments[0]))
    except FileNotFoundError:
        sys.stderr.write("The caller has ended, or this machine does not see its folder.\n")
        return 1
    except LinkClosed as error:
        sys.stderr.write(f"The caller cannot be reached: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    left_with = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(left_with)  # whatever a job does that was given up
