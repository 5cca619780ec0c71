"""Fetching what a task names: source distributions by digest, and one commit of a git repository."""

from __future__ import annotations

import hashlib
import http.client
import json
import lzma
import os
import re
import shutil
import subprocess
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from repoassay.errors import InfraFault
from repoassay.sandbox import Cache, uv_program
from repoassay.text import normalize_name

__all__ = ["download", "fetch_commit", "fetch_folders", "fetch_sdist", "open_url", "reason", "repository_at", "unpack"]

_MAX_ARCHIVE = 256 * 2**20
_MAX_UNPACKED = 2**30
_MAX_MEMBERS = 100_000
_INDEX_SETTINGS = ("REPOASSAY_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")


def fetch_sdist(name: str, version: str, sha256: str, cache: Cache) -> Path:
    """Return the source distribution with this digest, from the cache or from the configured package index.

    Raises:
        InfraFault: When it cannot be had, or what came has another digest.
    """

    def build(part: Path) -> None:
        url = _find(_index_url(), name, sha256)
        if url is None:
            raise InfraFault(
                f"The package index has no source distribution of {name} {version} with sha256 {sha256[:12]}...",
                "Check the task's repository section, or point UV_DEFAULT_INDEX at an index that has it.",
            )
        target = part / url.partition("#")[0].rpartition("/")[2]
        digest = download(url, target)
        if digest != sha256:
            raise InfraFault(f"{name} {version} came with sha256 {digest[:12]}... instead of {sha256[:12]}...")

    return next(cache.entry("sdists", sha256, build).iterdir())


def _index_url() -> str:
    """The package index in force: an environment setting, else the one uv would use."""
    for setting in _INDEX_SETTINGS:
        if os.environ.get(setting):
            return os.environ[setting].rstrip("/")
    # uv alone knows its configuration files; asked to annotate an empty requirement list, it prints the index.
    output = subprocess.run(
        [uv_program(), "pip", "compile", "--emit-index-url", "--no-header", "--offline", "-q", "-"],
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    ).stdout.decode()
    found = re.search(r"^--index-url (\S+)", output, re.MULTILINE)
    if found is None:
        raise InfraFault("No package index is configured.", "Set UV_DEFAULT_INDEX to one.")
    return found[1].rstrip("/")


def _find(index: str, name: str, sha256: str) -> str | None:
    """The address of the file with this digest on the project's page (PEP 503 and 691)."""
    page = f"{index}/{normalize_name(name)}/"
    accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
    try:
        with open_url(page, accept) as answer:
            body = answer.read(64 * 2**20)
            kind = answer.headers.get("Content-Type", "")
    except (OSError, ValueError) as error:
        raise InfraFault(
            f"The package index cannot be reached for {name}: {reason(error)}.",
            "Check the network, or point UV_DEFAULT_INDEX at an index that can be reached.",
        ) from error
    if "json" in kind:
        try:
            files = json.loads(body)["files"]
            urls = iter([item["url"] for item in files if item.get("hashes", {}).get("sha256") == sha256])
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise InfraFault(f"The package index answers for {name} with what is no list of files.") from error
    else:
        links = re.findall(r'href="([^"]+)"', body.decode(errors="replace"))
        urls = (link for link in links if link.endswith(f"#sha256={sha256}"))
    found = next(urls, None)
    return None if found is None else urllib.parse.urljoin(page, found)


def open_url(url: str, accept: str) -> http.client.HTTPResponse:
    """Open an address of http, https or file; raises `OSError` or `ValueError`."""
    if not url.startswith(("https://", "http://", "file://")):
        raise ValueError("its address is not http, https or file")
    request = urllib.request.Request(url, headers={"Accept": accept, "User-Agent": "repoassay"})  # noqa: S310 - checked
    answer: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=60)  # noqa: S310 - checked above
    return answer


def download(url: str, target: Path) -> str:
    """Put what lies at an address into a file and return its sha256.

    Raises:
        InfraFault: When it cannot be had, or is too large.
    """
    digest = hashlib.sha256()
    size = 0
    try:
        with open_url(url, "*/*") as answer, target.open("wb") as out:
            while chunk := answer.read(1 << 20):
                size += len(chunk)
                if size > _MAX_ARCHIVE:
                    raise InfraFault(f"{target.name} is larger than {_MAX_ARCHIVE} bytes.")
                digest.update(chunk)
                out.write(chunk)
    except (OSError, ValueError) as error:
        raise InfraFault(f"{target.name} cannot be downloaded: {reason(error)}.") from error
    return digest.hexdigest()


def reason(error: Exception) -> str:
    """Why an address could not be opened."""
    return str(error.reason if isinstance(error, urllib.error.URLError) else error)


def unpack(archive: Path, into: Path) -> None:
    """Unpack a source distribution without its top folder: regular files alone, names confined, sizes bounded.

    Raises:
        InfraFault: When the archive is broken, too large, or names something outside.
    """
    count = size = 0
    try:
        for name, length, executable, stream in _members(archive):
            count, size = count + 1, size + length
            if count > _MAX_MEMBERS or size > _MAX_UNPACKED:
                raise InfraFault(f"{archive.name} unpacks to more than {_MAX_MEMBERS} files or {_MAX_UNPACKED} bytes.")
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\\" in name:
                raise InfraFault(f"{archive.name} holds a path that leaves its folder: {name!r}.")
            inner = path.parts[1:]
            if not inner or ".git" in inner:
                continue
            target = into.joinpath(*inner)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as out:
                shutil.copyfileobj(stream, out)
            target.chmod(0o755 if executable else 0o644)
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        OSError,
        ValueError,
        RuntimeError,
    ) as error:  # the last two: names that cannot be, encryption, unknown compression
        raise InfraFault(f"{archive.name} cannot be unpacked: {error}.") from error


def _members(archive: Path) -> Iterator[tuple[str, int, bool, IO[bytes]]]:
    """Name, size, x bit and content of every regular file; other kinds of member are passed over."""
    if archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            for item in zipped.infolist():
                if not item.is_dir() and item.external_attr >> 28 != 0xA:  # a symbolic link
                    with zipped.open(item) as stream:
                        yield item.filename, item.file_size, bool(item.external_attr >> 16 & 0o100), stream
        return
    with tarfile.open(archive) as bundle:
        for number, member in enumerate(bundle):
            if number > _MAX_MEMBERS:
                raise InfraFault(f"{archive.name} has more than {_MAX_MEMBERS} members.")
            content = bundle.extractfile(member) if member.isreg() else None
            if content is not None:
                yield member.name, member.size, bool(member.mode & 0o100), content


def repository_at(url: str, cache: Cache) -> str:
    """Return a git URL or folder as it is, and for a git bundle on this disk the bare repository with what it holds.

    Raises:
        InfraFault: When git cannot read the bundle.
    """
    from repoassay.workspace.git import run_git

    path = Path(url)
    if path.suffix != ".bundle" or not path.is_file():
        return url
    status = path.stat()
    identity = f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"

    def build(part: Path) -> None:
        run_git(part, "init", "--quiet", "--bare", "--template=")
        run_git(part, "fetch", "--quiet", "--no-tags", str(path.resolve()), "+refs/*:refs/*", seconds=1800)

    return str(cache.entry("bundles", hashlib.sha256(identity.encode()).hexdigest()[:32], build))


def fetch_commit(url: str, revision: str, into: Path) -> None:
    """Put the tree of one commit of a git repository into an empty folder, and nothing of its history."""
    fetch_folders(url, revision, (), into)


def fetch_folders(url: str, revision: str, folders: Sequence[str], into: Path, *, every: bool = True) -> None:
    """Put some folders (all when there are none named) of one commit into an empty folder; only they are downloaded.

    Raises:
        InfraFault: When the repository, the commit or, with `every`, a folder cannot be had.
    """
    from repoassay.workspace.git import ATTRIBUTES, run_git

    run_git(into, "init", "--quiet", "--template=")
    (into / ".git/info").mkdir(exist_ok=True)
    (into / ".git/info/attributes").write_text(ATTRIBUTES)
    run_git(into, "remote", "add", "--", "origin", url)
    partial: tuple[str, ...] = ()
    if folders:
        run_git(into, "sparse-checkout", "set", "--no-cone", *(f"/{folder}/" for folder in folders))
        partial = ("--filter=blob:none",)
    try:
        run_git(into, "fetch", "--quiet", "--depth=1", "--no-tags", *partial, "origin", revision, seconds=1800)
    except InfraFault as error:
        for sign, what in {"unable to read": "files of its", "not our ref": "the"}.items():
            if sign in str(error):
                remedy = "Get a whole copy, with git clone --mirror."
                raise InfraFault(f"The repository {url} lacks {what} commit {revision[:12]}.", remedy) from error
        raise InfraFault(str(error), "Check the network, or name a mirror.") from error
    run_git(into, "checkout", "--quiet", "--detach", "FETCH_HEAD", seconds=1800)
    shutil.rmtree(into / ".git")
    lacking = [folder for folder in folders if not (into / folder).is_dir()]
    if lacking and every:
        raise InfraFault(f"The commit {revision[:12]} of {url} has no folder {', '.join(lacking)}.")
