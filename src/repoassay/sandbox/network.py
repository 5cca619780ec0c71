"""Network policies: which one an attempt gets, and refusing what a sandbox cannot enforce."""

from __future__ import annotations

from repoassay.errors import NoIsolation
from repoassay.sandbox.protocol import Sandbox, SandboxNetwork
from repoassay.types import NetworkPolicy

__all__ = ["network_of", "permitted_hosts"]


def permitted_hosts(
    policy: NetworkPolicy, sandbox: Sandbox, *, needs_model: bool, requested: NetworkPolicy | None = None
) -> NetworkPolicy:
    """The policy of an attempt: the one `requested` by the user, or the task's `policy`.

    An agent that uses no model gets `none` unless the user asked: it has nothing to reach, and where the sandbox cannot
    cut its network, the isolation's own flag has accepted that.

    Raises:
        NoIsolation: When the sandbox cannot hold an agent to the policy.
    """
    if requested is None and not needs_model:
        return NetworkPolicy.NONE
    chosen = requested or policy
    if chosen is NetworkPolicy.OPEN or sandbox.network_is_private:
        return chosen
    raise NoIsolation(
        f"The isolation {sandbox.name!r} cannot hold an agent to the network policy {chosen.value!r}.",
        "Accept that it reaches everything this machine does with --network open, or use --isolation namespaces.",
    )


def network_of(policy: NetworkPolicy) -> SandboxNetwork:
    """What a command is given under a policy: all but `open` have a loopback of their own, and port forwards."""
    return SandboxNetwork.HOST if policy is NetworkPolicy.OPEN else SandboxNetwork.NONE
