"""What crosses out of a dead sandbox: regular files and folders, counted and bounded; everything else is named.

No symbolic link crosses as one. Where it is asked for, what it leads to crosses in its place, as if the command had
copied it there: looked for in the sandbox's own tree, part by part, and only what the command could have read.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from typing import Protocol

    class CollectTarget(Protocol):
        """What takes collected folders and files, by path below the collected one."""

        def make_folder(self, path: str) -> None:
            """Take a folder, whose own folder was taken before."""

        def copy_file(self, source: int, path: str, size: int, mode: int) -> None:
            """Take `size` bytes of the open file `source`; what it lacks is zeros."""


__all__ = ["CollectTarget", "Links", "collect", "collect_to", "is_kept_name"]

_CHUNK = 1 << 20
_NAMED = 200
"""So many are named of what was left behind."""
_LINKED_BYTES = 32 * 2**20
_LINKED_FILES = 2000
"""What may cross in the place of links; they could lead to everything that crosses, once more."""
_HOPS = 40
_KERNELS = ("dev", "proc", "sys")
"""Folders of a sandbox that hold the kernel's files, not a command's."""
_A_LINK = "a symbolic link; only regular files cross"
# The ranges of `repoassay.text`, which cannot be imported here; a test compares every code point.
_BLANK = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFF), (0x16FE4, 0x16FE4), (0x1BCA0, 0x1BCA3), (0x1D159, 0x1D159),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip


def collect(
    source: str, into: str, max_bytes: int, max_files: int, skip: list[str], links: Links | None = None
) -> list[tuple[str, str]]:
    """Copy the tree `source` to the existing folder `into`; return (path, reason) of what was left behind.

    Entries of the top folder named in `skip` are passed over in silence. Every part of a path is opened without
    following links, and nothing inside is alive to swap them. With `links` these are looked at once all else is copied.
    """
    return collect_to(_Folder(into), source, max_bytes, max_files, skip, links)


def collect_to(
    target: CollectTarget, source: str, max_bytes: int, max_files: int, skip: list[str], links: Links | None = None
) -> list[tuple[str, str]]:
    """As `collect`, but hand what crosses to `target`."""
    walk = _Walk(target, _Budget(max_bytes, max_files), links)
    try:
        top = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return [("", "the folder is gone or is not a folder")]
    try:
        walk.folder(top, "", links.place if links else "", frozenset(skip))
    finally:
        os.close(top)
    walk.follow()
    rejected = walk.rejected
    if len(rejected) > _NAMED:
        rejected[_NAMED:] = [("", f"{len(rejected) - _NAMED} more were left behind")]
    return [(_legible(path), reason) for path, reason in rejected]


class Links:
    """How symbolic links of a collected folder are followed.

    Args:
        root: The path of the sandbox's `/`, as this process sees it; empty for its own.
        place: The collected folder, as the command knows it.
        owner: The command's user id, as this process sees it.
        kept: Links, by path below the folder, that are none of the command's; they stay behind.
    """

    def __init__(self, root: str, place: str, owner: int, kept: list[str]) -> None:
        self.root, self.place, self.kept, self._owner = root, place, frozenset(kept), owner

    def readable(self, status: os.stat_result) -> bool:
        """Whether the command could read a file, or list a folder and enter it."""
        wanted = 0o5 if stat.S_ISDIR(status.st_mode) else 0o4
        return status.st_uid == self._owner or status.st_mode & wanted == wanted

    def end(self, link: str) -> str:
        """The place, through no link, that the command's path `link` leads to.

        Raises OSError where there is none, or the command could not have come to it.
        """
        left, done, hops = link.split("/")[::-1], "", 0
        while left:
            part = left.pop()
            if part == "..":
                done = done.rpartition("/")[0]
            if part in ("", ".", ".."):
                continue
            place = f"{done}/{part}"
            status = os.lstat(self.root + place)
            if stat.S_ISLNK(status.st_mode):
                hops += 1
                to = os.readlink(self.root + place)
                to = to[len(self.root) :] if self.root and to.startswith(f"{self.root}/") else to
                done = "" if to.startswith("/") else done
                left += to.split("/")[::-1]
            elif (not done and part in _KERNELS) or not self.readable(status):
                raise OSError(f"{link} leads to what the command could not read")
            else:
                done = place
            if hops > _HOPS:
                raise OSError(f"{link} leads round")
        return done


def _legible(path: str) -> str:
    """A path that can be shown and kept: names are bytes to the kernel, and need not be text."""
    return path if path.isascii() and path.isprintable() else "".join(map(_escaped, path))


def _escaped(letter: str) -> str:
    code = ord(letter)
    hidden = not letter.isprintable() or any(first <= code <= last for first, last in _BLANK)
    return letter.encode("unicode_escape").decode() if hidden else letter


class _Budget:
    def __init__(self, max_bytes: int, max_files: int) -> None:
        self.bytes, self.entries = max_bytes, max_files


class _Walk:
    def __init__(self, target: CollectTarget, budget: _Budget, links: Links | None) -> None:
        self._target, self._budget, self._links = target, budget, links
        self.rejected: list[tuple[str, str]] = []
        self._found: list[tuple[str, str]] = []  # links: path below the folder, and the command's path
        self._in_place_of_link = False

    def folder(self, source: int, prefix: str, place: str, skip: frozenset[str] = frozenset()) -> None:
        """Take what lies in the open folder `source`, which the command knows as `place`."""
        for name in sorted(set(os.listdir(source)) - skip):
            path = prefix + name
            self._budget.entries -= 1
            if self._budget.entries < 0:
                self.rejected.append((path, "too many files; this one and what follows was left behind"))
                return
            self._entry(name, source, path, f"{place}/{name}")

    def _entry(self, name: str, folder: int, path: str, place: str) -> None:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        reason = _refusal(status, path, self._budget)
        if stat.S_ISLNK(status.st_mode) and self._links and path not in self._links.kept and not reason:
            self._found.append((path, place))
        elif stat.S_ISLNK(status.st_mode):
            self.rejected.append((path, reason or _A_LINK))
        elif reason:
            self.rejected.append((path, reason))
        elif self._in_place_of_link and self._links and not self._links.readable(status):
            self.rejected.append((path, "cannot be read"))
        elif stat.S_ISDIR(status.st_mode):
            self._target.make_folder(path)
            child = _open(name, folder, os.O_DIRECTORY, locked=not status.st_mode & stat.S_IXUSR)
            if child is None:
                self.rejected.append((path, "cannot be opened"))
                return
            try:
                self.folder(child, f"{path}/", place)
            finally:
                os.close(child)
        elif not _copy(name, folder, self._target, path, status, self._budget):
            self.rejected.append((path, "cannot be read"))

    def follow(self) -> None:
        """Take what the links that were found lead to, in their places; of a folder all or nothing."""
        links, budget = self._links, self._budget
        budget.bytes, budget.entries = min(budget.bytes, _LINKED_BYTES), min(budget.entries, _LINKED_FILES)
        self._in_place_of_link = True
        first = len(self._found)
        for number, (path, link) in enumerate(self._found):  # a folder brings more of them, which lead to files alone
            assert links is not None
            try:
                end = links.end(link)
                status = os.lstat(links.root + end)
            except (OSError, ValueError):
                self.rejected.append((path, "a symbolic link that leads to nothing which may cross"))
                continue
            within = number >= first or f"{link}/".startswith(f"{end}/")
            if stat.S_ISDIR(status.st_mode) and (within or not self._has_room(links.root + end)):
                self.rejected.append((path, "a symbolic link to a folder that is too large, or holds it"))
                continue
            above, _, name = (links.root + end).rpartition("/")
            folder = os.open(above or "/", os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                self._entry(name, folder, path, end)
            finally:
                os.close(folder)

    def _has_room(self, top: str) -> bool:
        size = count = 0
        for folder, folders, files in os.walk(top):
            count += len(folders) + len(files)
            try:
                size += sum(os.lstat(f"{folder}/{name}").st_size for name in files)
            except OSError:  # a folder that is locked; what is not counted does not cross
                return False
            if count > self._budget.entries or size > self._budget.bytes:
                return False
        return True


def is_kept_name(path: str) -> bool:
    """Whether what lies at a path below the collected folder may cross by its name."""
    return path.isprintable() and "\\" not in path and len(path) <= 1000 and path.count("/") <= 50


def _refusal(status: os.stat_result, path: str, budget: _Budget) -> str:
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
        return "a device, pipe or socket; only regular files cross"
    if not is_kept_name(path):
        return "its name cannot be kept (unprintable, with a backslash, too long or too deep)"
    if stat.S_ISREG(status.st_mode) and status.st_size > budget.bytes:
        return f"{status.st_size} bytes are more than the {budget.bytes} left of the submission's limit"
    return ""


def _open(name: str, folder: int, extra: int, *, locked: bool = False) -> int | None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | extra
    try:
        if locked:  # the command may have locked its own file; it is ours to read all the same
            os.chmod(name, 0o700 if extra else 0o600, dir_fd=folder)
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        return None if locked else _open(name, folder, extra, locked=True)
    except OSError:
        return None


def _copy(name: str, folder: int, target: CollectTarget, path: str, status: os.stat_result, budget: _Budget) -> bool:
    source = _open(name, folder, 0)
    if source is None:
        return False
    budget.bytes -= status.st_size
    try:
        target.copy_file(source, path, status.st_size, 0o755 if status.st_mode & 0o100 else 0o644)
    finally:
        os.close(source)
    return True


class _Folder:
    """A folder of the host; see `CollectTarget`."""

    def __init__(self, into: str) -> None:
        self._into = into

    def make_folder(self, path: str) -> None:
        os.mkdir(f"{self._into}/{path}")

    def copy_file(self, source: int, path: str, size: int, mode: int) -> None:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        out = os.open(f"{self._into}/{path}", flags, mode)
        try:
            left = size
            while left > 0 and (chunk := os.read(source, min(_CHUNK, left))):
                left -= len(chunk)
                _write_sparse(out, chunk)
            os.ftruncate(out, size)
        finally:
            os.close(out)


def _write_sparse(out: int, chunk: bytes) -> None:
    if chunk.count(0) == len(chunk):
        os.lseek(out, len(chunk), os.SEEK_CUR)
        return
    view = memoryview(chunk)
    while view:
        view = view[os.write(out, view) :]
