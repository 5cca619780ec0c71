"""Joining a Ray cluster, or starting one of this machine alone that nobody else can reach.

Whoever may join a Ray cluster may run code on its machines: Ray's own word. So a cluster of ours listens on loopback
alone, has its files in a folder of the user's own, and asks for a token; the dashboard and the usage report stay off.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from functools import partial
from typing import Any

from repoassay.errors import BadInput, MissingExtra, Unavailable
from repoassay.sandbox import make_temporary, usable_cores
from repoassay.text import one_line, quote

__all__ = ["RayConnection"]

_KNOCK = 3.0
"""Seconds in which an address must accept a connection; Ray itself would try for minutes."""
_QUIET = {"log_to_driver": False, "logging_level": "ERROR"}


class RayConnection:
    """This process as a driver of a Ray cluster; closed once. Where the program has joined one itself, it is that one.

    Args:
        address: `HOST:PORT` of the cluster's head; empty for the one that `RAY_ADDRESS` names or that runs on this
            machine, and where there is none for one of this machine alone.
        workers: Jobs at a time, on a machine alone.

    Raises:
        MissingExtra: Ray is not installed.
        BadInput: The address is none.
        Unavailable: The cluster cannot be joined.
    """

    def __init__(self, address: str, workers: int | None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ModuleNotFoundError:
            raise MissingExtra("ray", "ray") from None
        self.ray: Any = ray
        self._ends = contextlib.ExitStack()
        if ray.is_initialized():
            return
        place = address or _known_address(ray)
        if place:
            _knock(place)
            self._join(address or "auto")  # Ray looks for a token by itself where it is given no address
        else:
            self._start(workers or usable_cores())
        self._ends.callback(ray.shutdown)

    def close(self) -> None:
        """Leave the cluster; one of ours ends."""
        self._ends.close()

    def _join(self, place: str) -> None:
        try:
            self.ray.init(address=place, **_QUIET)
        except Exception as error:  # Ray's own, of many kinds
            raise Unavailable(
                f"The Ray cluster at {place} cannot be joined: {one_line(str(error), 300)}",
                "Run repoassay on a machine of the cluster, with the same Python and Ray; where the cluster asks for a"
                " token, with RAY_AUTH_MODE=token and that token in ~/.ray/auth_token.",
            ) from error

    def _start(self, workers: int) -> None:
        from ray._private import ray_constants

        folder = str(make_temporary("ray"))
        self._ends.callback(shutil.rmtree, folder, ignore_errors=True)
        reachable = ray_constants.ENABLE_RAY_CLUSTER
        ray_constants.ENABLE_RAY_CLUSTER = False  # as Ray has it on other systems: every port is on loopback
        begin = partial(
            self.ray.init, "local", num_cpus=workers, include_dashboard=False, _temp_dir=folder,
            _system_config={"prestart_worker_first_driver": False}, **_QUIET,
        )  # fmt: skip
        try:
            try:
                begin()
            except Exception:  # noqa: BLE001 - Ray gives up after half a minute, which a machine under load may need
                self.ray.shutdown()
                begin()
        except Exception as error:
            self._ends.close()
            raise Unavailable(f"Ray cannot be started here: {one_line(str(error), 300)}") from error
        finally:
            ray_constants.ENABLE_RAY_CLUSTER = reachable


def _known_address(ray: Any) -> str:
    """The cluster that the environment names, else the one that runs on this machine; empty when there is none."""
    named = os.environ.get("RAY_ADDRESS", "")
    if named:
        return named
    found = ray._private.utils.read_ray_address()
    try:
        _knock(found or "")
    except (BadInput, Unavailable):  # the file is left of one that ended
        return ""
    return str(found)


def _knock(place: str) -> None:
    host, _, port = place.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise BadInput(
            f"{quote(place)} is no address of a Ray cluster.",
            "Write ray://HOST:PORT, with the port of its head (6379).",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK).close()
    except OSError as error:
        raise Unavailable(
            f"There is no Ray cluster at {place}: {error.strerror or error}.",
            "Start one with: ray start --head --port 6379",
        ) from error
