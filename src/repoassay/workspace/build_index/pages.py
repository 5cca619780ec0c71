"""Pages of indexes as a build is given them: every address is one of the relay's."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from repoassay.errors import InfraFault

__all__ = ["anchors", "packument", "simple"]

Known = Callable[[str, str], str]
"""Takes a file's address and digest (empty when the index gives none), and returns where the relay has it."""
Keep = Callable[[str], bool]
"""Takes the time at which a file was released (empty when the index tells none), and says whether to show it."""
_KEPT = ("data-requires-python", "data-yanked", "data-dist-info-metadata", "data-core-metadata")
_ALGORITHMS = ("sha256", "sha512", "sha384")
_JSON = "application/vnd.pypi.simple.v1+json"


def simple(kind: str, body: bytes, url: str, known: Known, keep: Keep | None = None) -> tuple[str, bytes]:
    """A project's page of a Python index (PEP 503 and 691), in the form it came in, with the files to keep.

    Raises:
        InfraFault: It is no such page, or does not say when files were released, which `keep` asks.
    """
    if "json" not in kind and keep is not None:
        raise InfraFault(
            f"The index does not say when the files at {url} were released, and the task's environment is dated.",
            "Use an index with upload times (PEP 700), or remove exclude_newer.",
        )
    if "json" not in kind:
        return "text/html", anchors(body, url, known)
    told = _read(body, url)
    try:
        if keep is not None:
            told["files"] = [item for item in told["files"] if keep(item.get("upload-time") or "")]
            told.pop("versions", None)
        for item in told["files"]:
            hashes = item.get("hashes") or {}
            digest = next((f"{name}-{hashes[name]}" for name in _ALGORITHMS if name in hashes), "")
            item["url"] = known(urljoin(url, item["url"]), digest)
            item.pop("gpg-sig", None)
        told.setdefault("meta", {}).pop("tracks", None)
    except (LookupError, TypeError, AttributeError) as error:
        raise InfraFault(f"The index answers {url} with what is no list of files.") from error
    return _JSON, json.dumps(told).encode()


def anchors(body: bytes, url: str, known: Known) -> bytes:
    """A page of links to files, of which nothing but the links is kept."""
    reader = _Anchors()
    reader.feed(body.decode("utf-8", "replace"))
    lines = ["<!DOCTYPE html><html><body>"]
    base = urljoin(url, reader.base)
    for link in reader.links:
        address, _, fragment = urljoin(base, link.get("href") or "").partition("#")
        algorithm, _, value = fragment.partition("&")[0].partition("=")
        digest = f"{algorithm}-{value.lower()}" if algorithm in _ALGORITHMS else ""
        name = unquote(urlsplit(address).path.rpartition("/")[2])
        if not name or urlsplit(address).scheme not in ("http", "https"):
            continue
        place = known(address, digest) + (f"#{algorithm}={value}" if digest else "")
        kept = "".join(f' {key}="{html.escape(link[key] or "")}"' for key in _KEPT if key in link)
        lines.append(f'<a href="{html.escape(place)}"{kept}>{html.escape(name)}</a>')
    return "\n".join([*lines, "</body></html>"]).encode()


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[dict[str, str | None]] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links.append(dict(attrs))
        elif tag == "base" and not self.base:
            self.base = dict(attrs).get("href") or ""


def packument(body: bytes, url: str, known: Known) -> bytes:
    """What an npm registry says of a package.

    Raises:
        InfraFault: It is nothing of the kind.
    """
    told = _read(body, url)
    versions = told.get("versions")
    for each in [*(versions.values() if isinstance(versions, dict) else ()), told]:
        dist = each.get("dist") if isinstance(each, dict) else None
        if isinstance(dist, dict) and isinstance(dist.get("tarball"), str):
            dist["tarball"] = known(urljoin(url, dist["tarball"]), _integrity(str(dist.get("integrity", ""))))
    return json.dumps(told).encode()


def _integrity(text: str) -> str:
    """Subresource integrity as a digest of ours; empty when it is of another kind."""
    import base64
    import binascii

    found = re.search(r"(sha512|sha384|sha256)-([A-Za-z0-9+/]+={0,2})", text)
    try:
        return f"{found[1]}-{base64.b64decode(found[2]).hex()}" if found else ""
    except binascii.Error:
        return ""


def _read(body: bytes, url: str) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except ValueError as error:
        raise InfraFault(f"The index answers {url} with what is not JSON.") from error
    if not isinstance(told, dict):
        raise InfraFault(f"The index answers {url} with what is no object.")
    return told
