"""Objects of a run store: on an object store or a shared folder, named by the sha256 of their content.

Nothing is ever asked what it holds: names come from a manifest that is checked, so that a hostile listing has no say.
fsspec and its drivers bring the protocols; what a driver raises becomes a sentence.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput, InfraFault, MissingExtra, RepoAssayError, Unavailable
from repoassay.text import is_hidden, one_line, quote

__all__ = ["RemoteStore", "is_store_url", "store_url"]

_URL = re.compile(r"([a-z][a-z0-9+.-]*):/+(.+)", re.DOTALL)
_STEP = 1 << 20


def is_store_url(path: Path | str) -> bool:
    """Whether a path is the URL of a store, perhaps as a path has it: with one slash for two."""
    return _URL.fullmatch(str(path)) is not None


def store_url(path: Path | str) -> str:
    """The URL that was meant by a path.

    Raises:
        BadInput: It is none, or one of several parts, of which each could mean another store.
    """
    found = _URL.fullmatch(str(path))
    if found is None or "::" in str(path) or any(map(is_hidden, str(path))):
        raise BadInput(
            f"{quote(path)} is no URL of a store.", "Write it such as s3://BUCKET/RUN or file:///FOLDER/RUN."
        )
    return f"{found[1]}://{'/' if found[1] in ('file', 'local', 'memory') else ''}{found[2].strip('/')}"


class RemoteStore:
    """One run's objects below a URL.

    Args:
        url: Such as `s3://bucket/run`.

    Raises:
        BadInput: It is no URL that fsspec knows.
        MissingExtra: fsspec is not installed.
        Unavailable: The driver of its protocol is not installed.
    """

    def __init__(self, url: str) -> None:
        self.url = store_url(url)
        try:
            from fsspec.core import url_to_fs
        except ModuleNotFoundError:
            raise MissingExtra("fsspec", "storage") from None
        try:
            self._files: Any
            self._files, self._root = url_to_fs(self.url)
        except ImportError as error:
            raise Unavailable(f"{quote(self.url)} needs a driver: {one_line(str(error))}", "Install it.") from error
        except ValueError as error:
            raise BadInput(f"{quote(self.url)} cannot be used: {one_line(str(error))}", "Correct the URL.") from error

    def read(self, name: str, limit: int) -> bytes | None:
        """An object of at most `limit` bytes; None where there is none.

        Raises:
            BadInput: It is larger.
            InfraFault: The store cannot be read.
        """
        with self._driver_errors("read"):
            try:
                with self._opened(name) as stream:
                    data: bytes = stream.read(limit + 1)
            except FileNotFoundError:
                return None
        if len(data) > limit:
            raise BadInput(f"{name} of {quote(self.url)} is larger than {limit:,} bytes.", "It is no store of a run.")
        return data

    def write(self, name: str, content: bytes) -> None:
        """Write an object so that it is there whole or not at all.

        Raises:
            InfraFault: The store cannot be written.
        """
        place = self._place(name)
        with self._driver_errors("written"):
            self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
            stream = self._files.open(place, "wb", autocommit=False)
            try:
                stream.write(content)
                stream.close()
            except BaseException:
                stream.discard()
                raise
            stream.commit()

    def has(self, digest: str, size: int) -> bool:
        """Whether the content of a digest is there, as far as its size tells."""
        with self._driver_errors("read"):
            try:
                return bool(self._files.info(self._place(_object(digest)))["size"] == size)
            except FileNotFoundError:
                return False

    def put(self, content: bytes) -> bool:
        """Make sure of a content; returns whether it had to be sent."""
        digest = hashlib.sha256(content).hexdigest()
        if self.has(digest, len(content)):
            return False
        self.write(_object(digest), content)
        return True

    def fetch(self, digest: str, size: int, into: Any) -> None:
        """Copy the content of a digest into an open file.

        Raises:
            BadInput: It is missing, or not the content of that digest and size.
            InfraFault: The store cannot be read.
        """
        found, left = hashlib.sha256(), size + 1
        with self._driver_errors("read"):
            try:
                with self._opened(_object(digest)) as stream:
                    while left and (part := stream.read(min(left, _STEP))):
                        found.update(part)
                        left -= len(part)
                        into.write(part)
            except FileNotFoundError:
                left = 0
        if left != 1 or found.hexdigest() != digest:
            raise BadInput(
                f"{quote(self.url)} has not what its manifest names: object {digest[:16]} is missing or another.",
                "Push the run again from where it is whole.",
            )

    def _opened(self, name: str) -> Any:
        place = self._place(name)
        if self.url.startswith(("file:", "local:")) and self._files.info(place)["type"] != "file":
            raise BadInput(f"{name} of {quote(self.url)} is a pipe, a device or a folder.", "It is no store of a run.")
        return self._files.open(place, "rb")

    def _place(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    @contextmanager
    def _driver_errors(self, verb: str) -> Iterator[None]:
        try:
            yield
        except (RepoAssayError, FileNotFoundError):
            raise
        except Exception as error:  # drivers raise what their libraries raise
            message = one_line(f"{type(error).__name__}: {error}")
            remedy = "Check the address, your rights and the network, and repeat: what is there is not sent again."
            raise InfraFault(f"{quote(self.url)} cannot be {verb}: {message}", remedy) from error


def _object(digest: str) -> str:
    return f"objects/{digest[:2]}/{digest}"
