"""What `apt-get install` in an image comes to here."""

from __future__ import annotations

import re
from itertools import pairwise

__all__ = ["apt_packages"]

_LEFT_TO_US = frozenset({
    "python3", "python3-pip", "python3-venv", "python3-dev", "python3-setuptools", "python3-wheel", "python3-full",
    "python-is-python3", "python3-pytest", "python3.12", "python3.12-venv", "ca-certificates", "tmux", "asciinema",
    "sudo", "locales", "tzdata", "apt-utils", "apt-transport-https", "software-properties-common", "lsb-release",
    "bash", "coreutils", "findutils", "grep", "sed", "gawk", "mawk", "procps", "man-db", "less", "nano", "vim",
    "build-essential",
})  # fmt: skip
"""Packages whose work the task's environment or any machine does; a compiler is named by `_MEANT`."""
_MEANT = {"build-essential": ("gcc", "g++", "make"), "procps": ("procps",), "gawk": ("gawk",)}
# A list, since no index of packages says which of them are of use only while they run as a service.
_SERVICES = re.compile(
    r"^(postgresql|mysql|mariadb|redis|nginx|apache2|httpd|docker|openssh-server|rabbitmq|mongo|supervisor|cron$|systemd"
    r"|memcached|haproxy|postfix|dovecot|bind9|vsftpd|proftpd|samba|slapd|squid|tomcat|elasticsearch|kafka|zookeeper"
    r"|xvfb|xfce|vnc|qemu|mininet|iptables|nftables|wireguard|kubectl|minikube|grafana|prometheus$|etcd)"
    r"(?!.*-(client|tools|dev|doc)\b)"
)


def apt_packages(words: list[str]) -> list[str]:
    """The Debian packages that a command installs and that an environment here would lack.

    Args:
        words: The command's words.

    Raises:
        ValueError: One is a service, or is no name.
    """
    # `-o`, `-t` and `-c` of apt take a value.
    targets = [
        word for before, word in pairwise(words) if not word.startswith("-") and before not in ("-o", "-t", "-c")
    ]
    if not targets or targets[0] != "install":
        return []
    found: list[str] = []
    for word in targets[1:]:
        name = word.partition("=")[0].partition(":")[0].partition("/")[0].lower()
        if _SERVICES.match(name):
            raise ValueError(f"Its image needs the service {name[:40]}, and a sandbox runs none.")
        if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name):
            raise ValueError("Its Dockerfile installs Debian packages by something other than their names.")
        found += _MEANT.get(name, () if name in _LEFT_TO_US else (name,))
    return found
