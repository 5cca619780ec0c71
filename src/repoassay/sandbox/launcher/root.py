"""The file tree the command sees: a read-only root with little in it, and scratch space that dies with the sandbox.

Everything writable lies on one tmpfs whose size is the disk limit::

    <mountpoint>/root       becomes /; frozen once it is laid out
    <mountpoint>/scratch/N  empty writable folders, bound to their places
    <mountpoint>/upper/N    what the command changes in copy-on-write mounts
"""

from __future__ import annotations

import errno
import os
import stat

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.identity import INSIDE

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from repoassay.sandbox.launcher.spec import Bind, Spec

__all__ = ["ALWAYS", "ETC", "ETC_SHOWN", "TERMINALS", "build", "inside", "remove", "write_file"]

TERMINALS = "newinstance,ptmxmode=0666,mode=0620,max=64"
"""Options of a folder of terminals that nobody else sees."""

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
ALWAYS = ("/tmp", "/dev/shm", "/home/agent")  # noqa: S108 - places inside the sandbox, each its own tmpfs folder
ETC = {
    "passwd": f"root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:{INSIDE}:{INSIDE}:agent:/home/agent:/bin/sh\n",
    "group": f"root:x:0:\nagent:x:{INSIDE}:\n",
    "hosts": "127.0.0.1 localhost workspace\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "hostname": "workspace\n",
    "services": "ftp 21/tcp\nssh 22/tcp\ntelnet 23/tcp\nsmtp 25/tcp\ndomain 53/tcp\ndomain 53/udp\nhttp 80/tcp www\n"
                "pop3 110/tcp\nntp 123/udp\nimap2 143/tcp imap\nldap 389/tcp\nhttps 443/tcp\nhttps 443/udp\n"
                "imaps 993/tcp\npop3s 995/tcp\n",
    "protocols": "ip 0 IP\nicmp 1 ICMP\ntcp 6 TCP\nudp 17 UDP\nipv6 41 IPv6\nipv6-icmp 58 IPv6-ICMP\n",
}  # fmt: skip
"""Files below /etc that are the same whatever the machine has; programs resolve the names of ports by two of them."""
ETC_SHOWN = ("alternatives", "ssl", "ca-certificates", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
              "localtime", "mime.types", "magic", "java-17-openjdk")  # fmt: skip
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
          "ptmx": "pts/ptmx"}  # fmt: skip


def build(spec: Spec) -> None:
    """Lay out everything below the mountpoint; raises OSError with what could not be had."""
    base = spec.mountpoint
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    inodes = max(4096, min(spec.disk // 2048, 2_000_000))
    kernel.mount("tmpfs", base, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV,
                 f"size={spec.disk},nr_inodes={inodes},mode=755")  # fmt: skip
    for name in ("root", "scratch", "upper", "work"):
        os.mkdir(f"{base}/{name}")
    root = f"{base}/root"
    kernel.mount(root, root, flags=kernel.MS_BIND)
    for bind in spec.system:
        _show(bind, root)
    _devices(root)
    _etc(root, spec)
    for folder in ("proc", "sys", "run", "var", "var/tmp", "workspace"):
        os.makedirs(f"{root}/{folder}", exist_ok=True)
    for path in spec.hide:
        _hide(path, root)
    _places(spec, root)
    for write in spec.writes:
        write_file(inside(spec, write.path), write.content, write.executable, INSIDE)


def inside(spec: Spec, path: str) -> str:
    """Where the supervisor finds what the command knows as `path`.

    Raises OSError when a link lies on the way: the supervisor still sees the host, and would follow it there.
    """
    place = f"{spec.mountpoint}/root"
    for part in path.split("/")[1:-1]:
        place = f"{place}/{part}"
        if part == ".." or os.path.islink(place):
            raise OSError(f"{path} does not lie in folders alone: {part} is a link or leads upwards")
    return f"{spec.mountpoint}/root{path}"


def _show(bind: Bind, root: str) -> None:
    """Show one read-only piece of the host's system: a link stays a link, anything else is bound."""
    target = root + bind.target
    if os.path.islink(bind.source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.lexists(target):
            os.symlink(os.readlink(bind.source), target)
    elif os.path.exists(bind.source) and not os.path.lexists(target):
        _bind(bind.source, target)


def _bind(source: str, target: str, *, read_only: bool = True) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.lexists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o444))
    kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)
    kernel.protect(target, read_only=read_only)


def _devices(root: str) -> None:
    os.makedirs(f"{root}/dev/pts", exist_ok=True)
    for name in _DEVICES:
        os.close(os.open(f"{root}/dev/{name}", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o666))
        # What /dev/zero maps stays when it is unmapped, so that no process shows it; /dev/full is read alike.
        kernel.mount(f"/dev/{'full' if name == 'zero' else name}", f"{root}/dev/{name}", flags=kernel.MS_BIND)
    for name, target in _LINKS.items():
        os.symlink(target, f"{root}/dev/{name}")
    kernel.mount("devpts", f"{root}/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, TERMINALS)


def _etc(root: str, spec: Spec) -> None:
    os.makedirs(f"{root}/etc", exist_ok=True)
    for name, content in ETC.items():
        with open(f"{root}/etc/{name}", "w") as stream:
            stream.write(content)
    for name in ETC_SHOWN:
        # Followed, as distributions link these out of /etc, and shown only where they lead to something.
        source = os.path.realpath(f"/etc/{name}")
        if os.path.exists(source):
            _bind(source, f"{root}/etc/{name}")
    if spec.host_network:
        for name in ("resolv.conf", "hosts"):
            if os.path.exists(f"/etc/{name}"):
                with open(f"/etc/{name}", "rb") as original, open(f"{root}/etc/{name}", "wb") as copy:
                    copy.write(original.read())
    elif spec.hosts:
        with open(f"{root}/etc/hosts", "a") as stream:
            stream.write(f"127.0.0.1 {' '.join(spec.hosts)}\n")


def _hide(path: str, root: str) -> None:
    """Cover a host path with an empty folder where the system binds made it visible."""
    if os.path.isdir(root + path):
        kernel.mount(
            "tmpfs",
            root + path,
            "tmpfs",
            kernel.MS_NOSUID | kernel.MS_NODEV,
            "size=64k,nr_inodes=256,mode=755",
        )


def _places(spec: Spec, root: str) -> None:
    """Bind scratch folders and mounts, outer before inner, so that one may lie in another."""
    places: list[tuple[str, Bind | None]] = [(path, None) for path in (*ALWAYS, *spec.scratch)]
    places += [(bind.target, bind) for bind in spec.binds]
    for number, (path, bind) in enumerate(sorted(places, key=lambda place: place[0].count("/"))):
        target = inside(spec, path)
        if os.path.islink(target):
            raise OSError(f"{path} is a link; nothing can be mounted there")
        if bind is None:
            source = f"{spec.mountpoint}/scratch/{number}"
            os.mkdir(source)
            os.chown(source, INSIDE, INSIDE)
            os.makedirs(target, exist_ok=True)
            kernel.mount(source, target, flags=kernel.MS_BIND)
        elif bind.access == "copy_on_write":
            _copy_on_write(spec, bind.source, target, number)
        else:
            _bind(bind.source, target, read_only=bind.access == "read")


def _copy_on_write(spec: Spec, source: str, target: str, number: int) -> None:
    upper, work = f"{spec.mountpoint}/upper/{number}", f"{spec.mountpoint}/work/{number}"
    for folder in (upper, work):
        os.mkdir(folder)
        os.chown(folder, INSIDE, INSIDE)
    os.makedirs(target, exist_ok=True)
    held = [os.open(folder, os.O_PATH | os.O_CLOEXEC) for folder in (source, upper, work)]
    # By number: overlay's options are shown inside, word for word, and would say where the cache lies.
    lower, above, beside = (f"/proc/self/fd/{descriptor}" for descriptor in held)
    try:
        kernel.mount("overlay", target, "overlay", kernel.MS_NOSUID | kernel.MS_NODEV,
                     f"lowerdir={lower},upperdir={above},workdir={beside},userxattr")  # fmt: skip
    except OSError:  # no overlay in user namespaces here: the same semantics at the price of a copy
        import shutil

        shutil.copytree(source, upper, symlinks=True, dirs_exist_ok=True)
        for folder, folders, files in os.walk(upper):
            for name in (*folders, *files):
                os.chown(f"{folder}/{name}", INSIDE, INSIDE, follow_symlinks=False)
        kernel.mount(upper, target, flags=kernel.MS_BIND)
    finally:
        for descriptor in held:
            os.close(descriptor)


def remove(path: str, dir_fd: int | None = None) -> None:
    """Remove a file, or a folder that has nothing in it any more; one that has something stays."""
    try:
        os.unlink(path, dir_fd=dir_fd)
    except IsADirectoryError:
        try:
            os.rmdir(path, dir_fd=dir_fd)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY):
                raise


def write_file(path: str, content: bytes | None, executable: bool, owner: int) -> None:
    """Write a file, in the place of a link or an empty folder too, or remove what is there; -1 keeps our own account.

    A path that ends with a slash is a folder. Raises OSError when it cannot be, and where another kind of thing lies.
    """
    if path.endswith("/"):
        _make_folders(path.rstrip("/"), owner)
        return
    if content is None or os.path.islink(path) or os.path.isdir(path):
        remove(path)
    if content is None:
        return
    _make_folders(os.path.dirname(path), owner)
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(f"{path} is not a regular file")
    descriptor = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        os.fchmod(stream.fileno(), 0o755 if executable else 0o644)
        os.fchown(stream.fileno(), owner, owner)


def _make_folders(path: str, owner: int) -> None:
    if not os.path.isdir(path):
        _make_folders(os.path.dirname(path), owner)
        os.mkdir(path)
        os.chown(path, owner, owner)
