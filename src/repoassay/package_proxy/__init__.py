"""The package proxy: the only network of builds and of agents that may install packages.

Knows types and the sandbox's mounts; not models, nor what is installed or why.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.package_proxy.egress_rules import HostRule as HostRule
    from repoassay.package_proxy.event_loop_thread import LoopThread as LoopThread
    from repoassay.package_proxy.indexes import Indexes as Indexes
    from repoassay.package_proxy.logins import basic as basic
    from repoassay.package_proxy.packages import PackageProxy as PackageProxy, Visit as Visit
else:
    __getattr__, __dir__ = attach(__name__)
