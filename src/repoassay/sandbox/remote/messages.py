"""The messages of the protocol of remote sandboxes, checked alike at both ends.

Bytes are URL-safe base64. A server ignores nothing that it does not know; a client ignores what newer servers add.
"""

from __future__ import annotations

import posixpath
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from repoassay.types import Ended, Exit, Limits

__all__ = [
    "CHANNEL", "COLLECTED_OVERHEAD", "MESSAGE", "PIECE", "PROTOCOL", "Acknowledgement", "CollectRequest",
    "CommandRequest", "ExecNumber", "ExecRequest", "FileError", "FileRequest", "RemoteChange", "RemoteChanges",
    "RemoteExit", "RemoteOutcome", "RemoteRejection", "RemoteState", "ServiceDescription", "SessionName",
    "SessionRequest", "SnapshotName", "SnapshotRequest", "TreeMount", "TreeNames", "read_message", "write_message",
]  # fmt: skip

PROTOCOL = 1
MESSAGE = 256 * 2**20
"""Bytes of a request at most, but for a tree's."""
PIECE = 2**20
"""Bytes of the log, and of the channel, that one answer brings at most."""
CHANNEL = 16 * 2**20
"""Bytes that a command's channel takes in all."""
COLLECTED_OVERHEAD = 2048
"""Bytes that an archive has for each of its files beside the content, at most on average."""
_DIGEST = r"^[0-9a-f]{64}$"
_PRIVATE = ("/dev", "/proc", "/sys")
_Count = Annotated[int, Field(ge=0, le=2**53)]
_Seconds = Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)]
_Reason = Annotated[str, Field(max_length=10_000)]


def _place(path: str) -> str:
    if not path.startswith("/") or posixpath.normpath(path) != path or path.startswith("//") or "\0" in path:
        raise ValueError("is no absolute path in plain form")
    return path


def _target(path: str) -> str:
    if path == "/" or any(path == top or path.startswith(f"{top}/") for top in _PRIVATE):
        raise ValueError("is a place of the sandbox's own")
    return path


def _written(path: str) -> str:
    _target(_place(path.removesuffix("/") or "/"))
    return path


_Place = Annotated[str, Field(max_length=4096), AfterValidator(_place)]
_Target = Annotated[_Place, AfterValidator(_target)]


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_bytes="base64", val_json_bytes="base64")


class TreeMount(_Message):
    """A tree that was sent before, by the digest of its archive, and where commands see it."""

    tree: Annotated[str, Field(pattern=_DIGEST)]
    target: _Target
    access: Literal["read", "copy_on_write"]


class TreeNames(_Message):
    """Digests of trees: those that a session needs, and in the answer those that the server has not."""

    trees: Annotated[tuple[Annotated[str, Field(pattern=_DIGEST)], ...], Field(max_length=10_000)]


class FileRequest(_Message):
    """A file written before anything starts; with no content it is deleted.

    A path with a slash at its end is an empty folder.
    """

    path: Annotated[str, Field(max_length=4096), AfterValidator(_written)]
    content: bytes | None
    executable: bool = False


class CollectRequest(_Message):
    """A folder to hand back once everything inside is dead; see `ExportSpec`."""

    source: _Target
    max_bytes: _Count
    max_files: _Count
    skip: Annotated[tuple[str, ...], Field(max_length=10_000)] = ()
    links: tuple[str, ...] | None = None


class CommandRequest(_Message):
    """The one command of a session that is over with it."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    stdin: bytes = b""
    channel: bool = False


class SessionRequest(_Message):
    """What a session shows and may use, as `SandboxSetup` says; with a command, it is that alone."""

    env: dict[str, str] = {}
    cwd: _Place = "/"
    mounts: Annotated[tuple[TreeMount, ...], Field(max_length=1000)] = ()
    scratch: Annotated[tuple[_Target, ...], Field(max_length=1000)] = ()
    files: Annotated[tuple[FileRequest, ...], Field(max_length=100_000)] = ()
    limits: Limits = Limits()
    hosts: Annotated[tuple[str, ...], Field(max_length=1000)] = ()
    ports: Annotated[tuple[Annotated[int, Field(ge=1, le=65535)], ...], Field(max_length=64)] = ()
    collect: Annotated[tuple[CollectRequest, ...], Field(max_length=100)] = ()
    command: CommandRequest | None = None


class ExecRequest(_Message):
    """One command of a session; see `SandboxSession.exec`."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    cwd: str = ""
    env: dict[str, str] = {}
    stdin: bytes = b""
    timeout: _Seconds | None = None
    output: _Count
    logged: bool = True


class SessionName(_Answer):
    """The name of a session that was made, a secret between its two sides."""

    session: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{16,64}$")]


class ExecNumber(_Answer):
    """The number of a command that was started in a session."""

    exec: _Count


class SnapshotRequest(_Message):
    """Folders to remember the files of, none for the copy-on-write mounts."""

    folders: tuple[str, ...] = ()


class SnapshotName(_Answer):
    """The name of a snapshot within its session."""

    snapshot: Annotated[str, Field(min_length=1, max_length=200)]


class RemoteExit(_Answer):
    """How a command or a session ended; see `Exit`."""

    ended: Ended
    code: Annotated[int, Field(ge=0, le=255)] | None = None
    signal: Annotated[int, Field(ge=1, le=64)] | None = None
    wall: _Seconds = 0.0
    cpu: _Seconds = 0.0
    peak_memory: _Count | None = None
    output_truncated: bool = False

    @model_validator(mode="after")
    def _check_end(self) -> Self:
        if (self.ended is Ended.EXITED and self.code is None) or (
            self.ended is Ended.SIGNALLED and self.signal is None
        ):
            raise ValueError("says that it ended, and not with what")
        return self


class RemoteRejection(_Answer):
    """What was not handed back, and why."""

    path: _Reason
    reason: _Reason


class RemoteOutcome(_Answer):
    """What came of a command, or of a session as a whole."""

    exit: RemoteExit
    stdout: bytes = b""
    stderr: bytes = b""
    rejected: Annotated[tuple[RemoteRejection, ...], Field(max_length=1000)] = ()

    def plain_exit(self) -> Exit:
        """How it ended, as a record."""
        return Exit(**self.exit.model_dump())


class RemoteState(_Answer):
    """What is new of a session or a command: `outcome` once it is over, `fault` where the sandbox failed.

    Of a command, `gone` says that the session has ended; with no outcome, that its caller or its cancelling did that.
    """

    outcome: RemoteOutcome | None = None
    fault: _Reason = ""
    gone: bool = False
    log: bytes = b""
    channel: bytes = b""


class RemoteChange(_Answer):
    """A file that differs from a snapshot; see `SnapshotChange`. The path is bytes, as it is to the kernel."""

    path: Annotated[bytes, Field(min_length=1, max_length=4096)]
    change: Literal["added", "changed", "deleted"]
    size: _Count = 0
    regular: bool = True
    executable: bool = False


class RemoteChanges(_Answer):
    """All that differs from a snapshot."""

    changes: Annotated[tuple[RemoteChange, ...], Field(max_length=1_000_000)]


class Acknowledgement(_Answer):
    """An answer that tells nothing but that it was done."""


class FileError(_Answer):
    """Why a file could not be read, written or listed: the kernel's number, and a sentence."""

    errno: Annotated[int, Field(ge=1, le=200)]
    error: _Reason


class ServiceDescription(_Answer):
    """What a server says of itself: the isolation behind it, its grade, and what commands find there."""

    protocol: Literal[1]
    isolation: Annotated[str, Field(max_length=200)]
    grade: Literal["kernel", "container", "unverified", "none"] = "unverified"
    root: bool = False
    image: bool = False
    network_cut: bool = False
    ports: bool = False
    python_prefix: Annotated[str, Field(max_length=4096)] = ""
    python_version: Annotated[str, Field(max_length=100)] = ""


_Model = TypeVar("_Model", bound=BaseModel)


def read_message(model: type[_Model], data: bytes) -> _Model:
    """A message from its JSON; raises `ValueError`, with one line, for anything else."""
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "the message"
        raise ValueError(f"{place}: {first['msg']}") from None


def write_message(message: BaseModel) -> bytes:
    """A message as JSON; raises `ValueError` for text that is no Unicode."""
    return message.model_dump_json().encode()
