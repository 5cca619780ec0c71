"""Debian packages of a task, as a folder that an environment holds: no root, nothing installed on the machine.

The machine's own apt says which packages it lacks, and downloads them with the signatures it trusts. They are unpacked
in a sandbox, where no script of theirs is ever run; Graphviz alone is let write down which plug-ins it has. Packages
that the machine has are seen by sandboxes anyway.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import time
from pathlib import Path

from repoassay.errors import InfraFault, Unavailable
from repoassay.sandbox import Access, Cache, Command, Mount, Sandbox, check_limit, scratch_beside, settle
from repoassay.types import Ended, Limits
from repoassay.workspace.build_output import intact_entry, manifest_place, take_over

__all__ = ["SHOWN", "apt_layer"]

_FORMAT = "2"
_APT = "/usr/bin/apt-get"
_STATUS = Path("/var/lib/dpkg/status")
_SECONDS = 600
_LOOK = 0.2
_UNPACK = 'for package in /run/packages/*.deb; do dpkg-deb -x "$package" /env/apt || exit; done'
SHOWN = (Path("/usr"), Path("/lib"), Path("/bin"), Path("/sbin"))
"""Folders of the host that every sandbox shows, to which links of packages may lead."""


def apt_layer(names: tuple[str, ...], cache: Cache, sandbox: Sandbox) -> Path:
    """The files of Debian packages and of what they need beyond this machine's, for /env/apt; read-only.

    Raises:
        Unavailable: This machine has no apt, or apt does not have them.
    """
    if not os.access(_APT, os.X_OK) or not _STATUS.is_file():
        raise Unavailable(
            f"The task needs Debian packages ({', '.join(names)}), and this machine has no apt.",
            "Run it on Debian or Ubuntu.",
        )
    has = hashlib.sha256(_STATUS.read_bytes()).hexdigest()
    identity = " ".join((_FORMAT, platform.machine(), has, *sorted(set(names))))

    def build(part: Path) -> None:
        with scratch_beside(part) as place:
            packages = _download(names, place)
            settle(part)
            if packages:
                _unpack(packages, part, sandbox)
        _lead_links(part)
        for plugins in part.glob("usr/lib/*/graphviz") if (part / "usr/bin/dot").is_file() else ():
            _list_plugins(plugins.relative_to(part), part, sandbox)
        for file in part.rglob("*.pc"):
            if file.is_file() and not file.is_symlink():
                file.write_bytes(file.read_bytes().replace(b"=/usr", b"=/env/apt/usr"))
        take_over(part, manifest_place(part), leads_to=SHOWN)

    return intact_entry(cache, "apt", hashlib.sha256(identity.encode()).hexdigest()[:32], build)


def _download(names: tuple[str, ...], place: Path) -> Path | None:
    """Have apt download what is missing, by the lists the machine has, else by new ones; None when nothing is."""
    archives = place / "archives"
    for folder in (archives / "partial", place / "lists" / "partial"):
        folder.mkdir(parents=True)
    own = ["-o", f"Dir::Cache={place}", "-o", f"Dir::Log={place}", "-o", "APT::Sandbox::User=", "-o",
           "Debug::NoLocking=1", "-o", f"Dir::Cache::archives={archives}"]  # fmt: skip
    wanted = ["install", "--yes", "--download-only", "--no-install-recommends", "--", *names]
    error = _apt([*own, *wanted])
    if error is not None:
        newer = [*own, "-o", f"Dir::State::lists={place / 'lists'}"]
        error = _apt([*newer, "update"]) or _apt([*newer, *wanted])
    if error is not None:
        raise Unavailable(
            f"apt does not get the packages {', '.join(names)}: {error}",
            "Correct environment.apt, or run apt-get update.",
        )
    for package in archives.glob("libc6_*.deb"):
        package.unlink()  # two C libraries in one process would end it
    archives.chmod(0o755)
    return archives if any(archives.glob("*.deb")) else None


def _apt(arguments: list[str]) -> str | None:
    """The last words of an apt that failed; None of one that did not."""
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    env |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    until, none = time.monotonic() + _SECONDS, subprocess.DEVNULL
    with subprocess.Popen([_APT, *arguments], env=env, stdin=none, stdout=none, stderr=subprocess.PIPE) as apt:
        try:
            while True:
                try:
                    error = apt.communicate(timeout=_LOOK)[1].decode(errors="replace").strip()
                    return error[-300:] or "it failed." if apt.returncode else None
                except subprocess.TimeoutExpired:
                    check_limit()
                    if time.monotonic() > until:
                        return f"it took longer than {_SECONDS} s."
        finally:
            apt.kill()


def _unpack(packages: Path, part: Path, sandbox: Sandbox) -> None:
    for package in packages.glob("*.deb"):
        package.chmod(0o644)
    done = sandbox.run(
        Command(
            argv=("/bin/sh", "-c", _UNPACK),
            mounts=(Mount(part, "/env/apt", Access.WRITE), Mount(packages, "/run/packages")),
            limits=Limits(seconds=600, memory=2 * 2**30, disk=2**30),
        )
    )
    if done.exit.ended is not Ended.EXITED or done.exit.code:
        message = done.stderr.decode(errors="replace").strip()[-300:]
        raise InfraFault(f"The Debian packages could not be unpacked: {message or done.exit.ended}.")


def _list_plugins(plugins: Path, part: Path, sandbox: Sandbox) -> None:
    """Have Graphviz write the list of its plug-ins, as its package does once it is installed; it knows none without."""
    done = sandbox.run(
        Command(
            argv=("/env/apt/usr/bin/dot", "-c"),
            env={"GVBINDIR": f"/env/apt/{plugins}", "LD_LIBRARY_PATH": f"/env/apt/{plugins.parent}:/env/apt/usr/lib"},
            mounts=(Mount(part, "/env/apt", Access.WRITE),),
            limits=Limits(seconds=60, memory=2**30),
        )
    )
    if done.exit.ended is not Ended.EXITED or done.exit.code:
        message = done.stderr.decode(errors="replace").strip()[-300:]
        raise InfraFault(f"The plug-ins of Graphviz could not be listed: {message or done.exit.ended}.")


def _lead_links(layer: Path) -> None:
    """Make links lead where their packages meant them to: into the layer, else to the machine's own files."""
    for link in [path for path in layer.rglob("*") if path.is_symlink()]:
        meant = os.path.normpath(Path("/", link.parent.relative_to(layer), link.readlink()))
        link.unlink()
        inside = next((at for at in _spellings(meant) if os.path.lexists(f"{layer}{at}")), None)
        if inside is not None:
            link.symlink_to(os.path.relpath(f"{layer}{inside}", link.parent))
        elif meant.startswith(tuple(f"{place}/" for place in SHOWN)) and Path(meant).exists():
            link.symlink_to(meant)


def _spellings(path: str) -> tuple[str, ...]:
    """A path, and the same where /lib and /bin are those of /usr."""
    return (path, path.removeprefix("/usr")) if path.startswith("/usr/") else (path, f"/usr{path}")
