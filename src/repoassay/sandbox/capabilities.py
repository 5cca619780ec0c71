"""What a kind of sandbox offers and how far it can be trusted, as it states itself and verdicts name it."""

from __future__ import annotations

from dataclasses import dataclass

from repoassay.types import IsolationGrade

__all__ = ["SandboxCapabilities", "capabilities_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxCapabilities:
    """What a sandbox can do.

    Attributes:
        grade: How well it isolates.
        root: Whether commands can be root inside.
        apt: Whether system packages can be installed inside, at build time.
        network_phases: Whether the network can be cut for one command and open for another.
        port_forwards: Whether commands reach services outside, such as the model proxy, with the network cut.
        host_mounts: Whether host folders are mounted; otherwise they are copied in, and what is written stays inside.
        image: Whether commands see an image's operating system instead of this machine's.
        attests: Whether passes may be attested with it: nothing inside could have changed what is compared outside.
    """

    grade: IsolationGrade = IsolationGrade.UNVERIFIED
    root: bool = False
    apt: bool = False
    network_phases: bool = False
    port_forwards: bool = False
    host_mounts: bool = True
    image: bool = False
    attests: bool = False


def capabilities_of(sandbox: object) -> SandboxCapabilities:
    """What a sandbox states; nothing, and an unverified grade, of one that states nothing."""
    stated = getattr(sandbox, "capabilities", None)
    return stated if isinstance(stated, SandboxCapabilities) else SandboxCapabilities()
