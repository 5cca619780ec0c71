"""What this machine offers a workspace, what degrades, and the remedy: the findings behind `repoassay doctor`."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from repoassay.errors import BadInput, RepoAssayError
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.cgroups import make_cgroups, remove_cgroups
from repoassay.sandbox.finding import HostFinding
from repoassay.sandbox.plugin_check import examine_plugins
from repoassay.sandbox.programs import git_program, uv_program
from repoassay.sandbox.protocol import Access, Command, Mount
from repoassay.sandbox.sandbox_check import examine_sandboxes
from repoassay.sandbox.scratch import temporary_folder

__all__ = ["HostFinding", "examine"]

_METRICS_PACKAGES = ("numpy", "openpyxl", "PIL", "pypdf", "rapidfuzz")
_LOW_DISK = 5 * 2**30


def examine() -> list[HostFinding]:
    """Look at everything a run needs, and at plug-ins, by trying it, never by guessing from version numbers.

    Takes about a second, and one more for every few plug-ins. Where the cache cannot be used, everything else is tried
    with another one.
    """
    looks: tuple[Callable[[Cache], HostFinding], ...] = (
        _platform, _git, _uv, _sandbox, _copy_on_write, _network_cut, _limits, _disk, _metrics,
    )  # fmt: skip
    with contextlib.ExitStack() as stack:
        try:
            cache = Cache()
            with cache.lock("doctor"):
                found = _cache(cache)
        except BadInput as error:
            found = HostFinding("cache", "missing", error.message, error.remedy)
            cache = Cache(Path(stack.enter_context(temporary_folder("doctor"))))
            cache.path.chmod(0o755)  # the account of commands finds its mounts there
        return [found, *(_look(look, cache) for look in looks), *examine_sandboxes(cache), *examine_plugins()]


def _cache(cache: Cache) -> HostFinding:
    """Whoever may write to it decides what agents and tests are run with."""
    status = cache.path.stat()
    if status.st_uid in (0, os.geteuid()) and not status.st_mode & stat.S_IWOTH:
        return HostFinding("cache", "ok", f"{cache.path} can be written to by this account")
    return HostFinding(
        "cache",
        "degraded",
        f"other accounts may write to {cache.path}, and with it change what agents and tests are run with",
        "Set REPOASSAY_CACHE to a folder of your own, or take the right from others (chmod o-w).",
    )


def _look(look: Callable[[Cache], HostFinding], cache: Cache) -> HostFinding:
    try:
        return look(cache)
    except (RepoAssayError, OSError, subprocess.SubprocessError) as error:
        name = look.__name__.strip("_").replace("_", " ")
        remedy = error.remedy if isinstance(error, RepoAssayError) else ""
        message = error.message if isinstance(error, RepoAssayError) else str(error)
        return HostFinding(name, "missing", message, remedy)


def _platform(_: Cache) -> HostFinding:
    text = f"{platform.system()} {platform.release()} {platform.machine()}, Python {platform.python_version()}"
    if sys.platform != "linux":
        return HostFinding(
            "platform", "degraded", text, "The sandbox needs Linux; elsewhere only --isolation none works."
        )
    return HostFinding("platform", "ok", text)


def _git(_: Cache) -> HostFinding:
    version = subprocess.run([git_program(), "--version"], capture_output=True, timeout=20, check=True).stdout
    return HostFinding("git", "ok", version.decode().strip())


def _uv(_: Cache) -> HostFinding:
    version = subprocess.run([uv_program(), "--version"], capture_output=True, timeout=20, check=True).stdout
    return HostFinding("uv", "ok", version.decode().strip())


def _sandbox(cache: Cache) -> HostFinding:
    from repoassay.sandbox.namespaces import NamespaceSandbox

    try:
        done = NamespaceSandbox(cache).run(Command(argv=("id", "-u")))
    except RepoAssayError as error:
        return HostFinding("sandbox", "missing", error.message, _sandbox_remedy())
    if done.exit.code != 0:
        message = done.stderr.decode(errors="replace").strip()
        return HostFinding(
            "sandbox", "missing", f"a command in it ended with {done.exit.code}: {message}", _sandbox_remedy()
        )
    account = "as root, with an account of its own" if os.geteuid() == 0 else "without root"
    return HostFinding("sandbox", "ok", f"namespaces work {account}; the command is uid {done.stdout.decode().strip()}")


def _sandbox_remedy() -> str:
    if sys.platform != "linux":
        return "Use a Linux machine, or accept no isolation with --isolation none."
    settings = {
        "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sysctl kernel.unprivileged_userns_clone=1"),
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
            "1",
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        "/proc/sys/user/max_user_namespaces": ("0", "sysctl user.max_user_namespaces=15000"),
    }
    for path, (bad, remedy) in settings.items():
        if Path(path).exists() and Path(path).read_text().strip() == bad:
            return f"As root: {remedy}; or accept no isolation with --isolation none."
    return (
        "Linux 5.12 or newer with user namespaces is needed (inside a container: --security-opt seccomp=unconfined"
        " --security-opt systempaths=unconfined); or accept no isolation with --isolation none."
    )


def _copy_on_write(cache: Cache) -> HostFinding:
    from repoassay.sandbox.namespaces import NamespaceSandbox

    probe = cache.path / "probe"
    probe.mkdir(exist_ok=True)
    look = "grep -c ' /workspace/repo overlay' /proc/self/mounts"
    done = NamespaceSandbox(cache).run(
        Command(argv=("/bin/sh", "-c", look), mounts=(Mount(probe, "/workspace/repo", Access.COPY_ON_WRITE),))
    )
    if done.exit.code == 0:
        return HostFinding("copy-on-write", "ok", "overlay mounts work in a user namespace")
    return HostFinding("copy-on-write", "degraded", "no overlay mounts; every workspace copies its repository")


def _network_cut(cache: Cache) -> HostFinding:
    from repoassay.sandbox.namespaces import NamespaceSandbox

    done = NamespaceSandbox(cache).run(Command(argv=("/bin/sh", "-c", "cat /proc/net/dev")))
    names = [line.split(":")[0].strip() for line in done.stdout.decode().splitlines() if ":" in line]
    if names == ["lo"]:
        return HostFinding("network", "ok", "a workspace has a loopback of its own and nothing else")
    return HostFinding("network", "missing", f"a workspace sees the interfaces {names}", "Please report this.")


def _limits(_: Cache) -> HostFinding:
    groups = make_cgroups(2**30, 64)
    remove_cgroups(groups)
    if groups:
        return HostFinding("limits", "ok", f"control groups hold a workspace to its limits ({len(groups)} controllers)")
    return HostFinding(
        "limits",
        "degraded",
        "no control groups for this account; memory is watched 20 times a second instead",
        "Run under a delegated group, for instance: systemd-run --user --scope -p Delegate=yes repoassay ...",
    )


def _disk(cache: Cache) -> HostFinding:
    free = shutil.disk_usage(cache.path).free
    text = f"{free / 2**30:.0f} GiB free for the cache at {cache.path}"
    if free < _LOW_DISK:
        return HostFinding("disk", "degraded", text, "Set REPOASSAY_CACHE to a larger disk.")
    return HostFinding("disk", "ok", text)


def _metrics(_: Cache) -> HostFinding:
    absent = [name for name in _METRICS_PACKAGES if importlib.util.find_spec(name) is None]
    if absent:
        return HostFinding(
            "metrics",
            "degraded",
            f"not installed: {', '.join(absent)}; tasks that need them cannot be graded",
            "pip install 'repoassay[metrics]'",
        )
    return HostFinding("metrics", "ok", "the packages that open images, workbooks and PDFs are installed")
