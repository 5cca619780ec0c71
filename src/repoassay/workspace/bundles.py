"""Git bundles: a repository's history in one file, unpacked once so that commits can be fetched out of it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from repoassay.sandbox import Cache
from repoassay.workspace.git import run_git

__all__ = ["repository_at"]


def repository_at(url: str, cache: Cache) -> str:
    """Return a git URL or folder as it is, and for a bundle on this disk the bare repository with what it holds.

    Raises:
        InfraFault: When git cannot read the bundle.
    """
    path = Path(url)
    if path.suffix != ".bundle" or not path.is_file():
        return url
    status = path.stat()
    identity = f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"

    def build(part: Path) -> None:
        run_git(part, "init", "--quiet", "--bare", "--template=")
        run_git(part, "fetch", "--quiet", "--no-tags", str(path.resolve()), "+refs/*:refs/*", seconds=1800)

    return str(cache.entry("bundles", hashlib.sha256(identity.encode()).hexdigest()[:32], build))
