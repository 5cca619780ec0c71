"""Where the forward proxy lets an attempt go: named hosts, and never by a public name to a private address."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from dataclasses import dataclass
from typing import Self

__all__ = ["HostRule", "holds_sources", "refusal_of"]

_FORBIDDEN = tuple(
    map(
        ipaddress.ip_network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3", "168.63.129.16/32",
            "::/96", "100::/64", "2001::/32", "2002::/16", "64:ff9b:1::/48", "fc00::/7", "fe80::/9", "ff00::/8",
        ),
    )
)  # fmt: skip
"""Where a public name has no business: this host, private networks, metadata services, multicast, tunnels."""
_IPV4_INSIDE = tuple(map(ipaddress.IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))


_SOURCES = frozenset(
    (
        "pypi.org", "pythonhosted.org", "pypi.python.org", "npmjs.org", "npmjs.com", "yarnpkg.com", "npmmirror.com",
        "jsr.io", "unpkg.com", "jsdelivr.net", "esm.sh", "anaconda.org", "anaconda.com", "prefix.dev", "piwheels.org",
        "github.com", "githubusercontent.com", "github.io", "ghcr.io", "gitlab.com", "bitbucket.org", "codeberg.org",
        "sourceforge.net", "sr.ht", "launchpad.net", "gitee.com", "gitea.com", "softwareheritage.org", "archive.org",
        "debian.org", "ubuntu.com", "readthedocs.io", "readthedocs.org", "proxy.golang.org",
    )
)  # fmt: skip
"""Domains that hand out packages, or sources of projects: whoever reaches one has every release."""


@dataclass(frozen=True, slots=True)
class HostRule:
    """One allowed host: a name, `*.suffix` for every name below one, or an address (IPv6 without brackets).

    Without a `port`, 443 through CONNECT and 80 for plain pages. `trusted` hosts, which the user's own settings name,
    may lie at private addresses; a rule by address must be.
    """

    host: str
    port: int | None = None
    trusted: bool = False

    @classmethod
    def parse(cls, text: str, *, trusted: bool = False) -> Self:
        """Read `NAME`, `NAME:PORT` or `*.SUFFIX`, as a task declares them."""
        host, _, port = text.partition(":")
        return cls(host.lower().rstrip("."), int(port) if port else None, trusted)

    def allows(self, host: str, port: int) -> bool:
        """Whether a host, in lower case, may be reached at a port."""
        if self.port not in (None, port) or (self.port is None and port not in (80, 443)):
            return False
        return host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host


def holds_sources(host: str) -> bool:
    """Whether a host, in lower case, is known to hand out packages or sources of anybody's projects."""
    parts = host.split(".")
    return any(".".join(parts[place:]) in _SOURCES for place in range(len(parts)))


def refusal_of(address: str) -> str:
    """Why a public name must not lead to an address; empty when it may."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        for network in _IPV4_INSIDE:
            if found in network:
                return refusal_of(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
    if any(found.version == network.version and found in network for network in _FORBIDDEN):
        return "is not a public address"
    # No packet is sent: this asks the routing table alone.
    family = socket.AF_INET6 if found.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect((address, 9))
        if probe.getsockname()[0] == address:
            return "is an address of this machine"
    return ""
