"""A server of sandboxes over HTTP: this machine's, for RepoAssay on another one.

Its protocol is in docs/reference/sandbox-protocol.md. Those who hold a token run code in sandboxes here, and nothing
beside: what they send is unpacked, mounted and written below a folder of the server's alone. It needs no web framework.
"""

from __future__ import annotations

from repoassay.sandbox.remote.server.holder_shares import HolderShares
from repoassay.sandbox.remote.server.http_server import SandboxServer
from repoassay.sandbox.remote.server.sandbox_host import SandboxHost

__all__ = ["HolderShares", "SandboxHost", "SandboxServer"]
