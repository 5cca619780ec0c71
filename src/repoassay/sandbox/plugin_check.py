"""Looking at every installed plug-in by importing it, each in a process of its own: `repoassay doctor`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from repoassay import plugins
from repoassay.plugins import Plugin
from repoassay.sandbox.finding import HostFinding

__all__ = ["examine_plugins"]

_SECONDS = 60.0
_AT_A_TIME = 4
_DONE = "the plug-in was imported"
# A plug-in may print, hang, or end the process while it is imported; only this line at the end is believed.
_TRY = f"""\
import sys
from repoassay import plugins
from repoassay.errors import Unavailable
group, name, value, distribution, version = sys.argv[1:]
plugin = plugins.Plugin(group, name, value, distribution, version)
try:
    plugins.resolve(plugin)
    if group == "repoassay.metrics":
        from repoassay.grading.registry import check_plugin
        check_plugin(plugin)
except Unavailable as error:
    print("\\n" + error.message)
else:
    print("\\n{_DONE}")
"""


def examine_plugins() -> list[HostFinding]:
    """Return a finding for every entry point of another distribution, or that there is none.

    A plug-in that cannot be used is `degraded`: everything else works without it. Each gets at most 60 seconds.
    """
    found = list(_installed())
    if not found:
        return [HostFinding("plug-ins", "ok", "none installed")]
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        return list(pool.map(_examine, found))


def _installed() -> Iterator[tuple[Plugin, ...]]:
    for group in plugins.GROUPS:
        yield from plugins.installed_plugins(group).values()


def _examine(offers: tuple[Plugin, ...]) -> HostFinding:
    first = offers[0]
    if first.name in plugins.bundled_plugins(first.group):
        what = f"{first.title} is passed over, since its name is a bundled one"
        return HostFinding("plug-in", "degraded", what, f"Ask the authors of {first.distribution} for another name.")
    if len(offers) > 1:
        names = " and ".join(plugin.origin for plugin in offers)
        what = f"{plugins.GROUPS[first.group]} {first.name!r} is offered by {names}"
        return HostFinding("plug-in", "degraded", what, "Uninstall all of them but one.")
    reason = _reason(first)
    if reason:
        return HostFinding("plug-in", "degraded", reason, f"Repair or uninstall {first.distribution}.")
    note = "; how well it isolates is not verified" if first.group == "repoassay.sandboxes" else ""
    return HostFinding("plug-in", "ok", f"{first.title} ({first.value}){note}")


def _reason(plugin: Plugin) -> str:
    """Why a plug-in cannot be imported; empty when it can."""
    fields = (plugin.group, plugin.name, plugin.value, plugin.distribution, plugin.version)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _TRY, *fields], capture_output=True, timeout=_SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{plugin.title} takes more than {_SECONDS:.0f} seconds to import"
    last = done.stdout.decode(errors="replace").rstrip("\n").rpartition("\n")[2]
    if last == _DONE:
        return ""
    return ascii(last[:500])[1:-1] or f"{plugin.title} ended the process that imported it, with {done.returncode}"
