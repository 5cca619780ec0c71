"""A server of sandboxes on this machine's loopback, for tests of what asks one."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.remote.client import SandboxClient
from repoassay.sandbox.remote.server import HolderShares, SandboxHost, SandboxServer

__all__ = ["OTHER_TOKEN", "TOKEN", "ServedSandboxes", "serve_sandboxes"]

TOKEN = "a-token-for-sandboxes"
OTHER_TOKEN = "a-token-of-somebody-else"


@dataclass(frozen=True)
class ServedSandboxes:
    """A server that answers, and a client of it."""

    url: str
    host: SandboxHost
    client: SandboxClient


@contextlib.contextmanager
def serve_sandboxes(
    cache: Cache, tls: ssl.SSLContext | None = None, most: int = 16, shares: HolderShares | None = None
) -> Iterator[ServedSandboxes]:
    """Serve the default sandbox while the context lasts, to `TOKEN` and to `OTHER_TOKEN`."""
    holders = {TOKEN: "us", OTHER_TOKEN: "others"}
    with SandboxHost(NamespaceSandbox(cache), most, 2**33, shares) as host:
        listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        url = f"{'https' if tls else 'http'}://127.0.0.1:{listening.getsockname()[1]}"
        server = SandboxServer(listening, host, lambda token: holders.get(str(token)), tls)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield ServedSandboxes(url, host, SandboxClient(url, TOKEN))
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
