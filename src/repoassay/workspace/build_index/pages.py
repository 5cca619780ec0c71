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

__all__ = ["anchors", "as_html", "packument", "simple"]

Known = Callable[[str, str, str], str]
"""Takes a file's address, digest and upload time (empty when the index gives none), and returns where the relay has it;
empty when it is held back."""
_KEPT = ("data-requires-python", "data-yanked", "data-dist-info-metadata", "data-core-metadata")
_ALGORITHMS = ("sha256", "sha512", "sha384")
_JSON = "application/vnd.pypi.simple.v1+json"


def simple(kind: str, body: bytes, url: str, known: Known) -> tuple[str, bytes]:
    """A project's page of a Python index (PEP 503 and 691), in the form it came in.

    Raises:
        InfraFault: It is no such page.
    """
    if "json" not in kind:
        return "text/html", anchors(body, url, known)
    page = _read(body, url)
    try:
        for item in page["files"]:
            hashes = item.get("hashes") or {}
            digest = next((f"{name}-{hashes[name]}" for name in _ALGORITHMS if name in hashes), "")
            place = _joined(url, item["url"])
            item["url"] = place and known(place, digest, str(item.get("upload-time") or ""))
            item.pop("gpg-sig", None)
        kept = [item for item in page["files"] if item["url"]]
        if len(kept) < len(page["files"]) and "versions" in page:
            names = [str(item.get("filename")) for item in kept]
            page["versions"] = [each for each in page["versions"] if any(_is_of(name, each) for name in names)]
        page["files"] = kept
        page.setdefault("meta", {}).pop("tracks", None)
    except (LookupError, TypeError, AttributeError) as error:
        raise InfraFault(f"The index answers {url} with what is no list of files.") from error
    return _JSON, json.dumps(page).encode()


def _is_of(file: str, version: str) -> bool:
    return any(f"-{version}{mark}" in file for mark in "-.")


def anchors(body: bytes, url: str, known: Known) -> bytes:
    """A page of links to files, of which nothing but the links is kept."""
    reader = _Anchors()
    reader.feed(body.decode("utf-8", "replace"))
    lines = ["<!DOCTYPE html><html><body>"]
    base = _joined(url, reader.base)
    for link in reader.links:
        address, _, fragment = _joined(base, link.get("href") or "").partition("#")
        algorithm, _, value = fragment.partition("&")[0].partition("=")
        digest = f"{algorithm}-{value.lower()}" if algorithm in _ALGORITHMS else ""
        name = unquote(urlsplit(address).path.rpartition("/")[2])
        if not name or urlsplit(address).scheme not in ("http", "https"):
            continue
        if not (place := known(address, digest, "")):  # no page of links tells upload times
            continue
        place += f"#{algorithm}={value}" if digest else ""
        kept = "".join(f' {key}="{html.escape(link[key] or "")}"' for key in _KEPT if key in link)
        lines.append(f'<a href="{html.escape(place)}"{kept}>{html.escape(name)}</a>')
    return "\n".join([*lines, "</body></html>"]).encode()


def _joined(base: str, link: str) -> str:
    """The address that a link leads to; empty where it is none, as one with a bracket that is not closed."""
    try:
        address = urljoin(base, link)
        urlsplit(address)
    except ValueError:
        return ""
    return address


def as_html(page: bytes) -> bytes:
    """A page of ours in JSON as the page of links that older tools read (PEP 503)."""
    lines = ["<!DOCTYPE html><html><body>"]
    for item in json.loads(page)["files"]:
        digest = next((f"#{name}={item['hashes'][name]}" for name in _ALGORITHMS if name in item["hashes"]), "")
        attributes = {"data-requires-python": item.get("requires-python"), "data-yanked": item.get("yanked") or None}
        kept = "".join(f' {key}="{html.escape(str(value))}"' for key, value in attributes.items() if value)
        lines.append(f'<a href="{html.escape(item["url"] + digest)}"{kept}>{html.escape(item["filename"])}</a>')
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
    document = _read(body, url)
    versions, times = document.get("versions"), document.get("time")
    versions = versions if isinstance(versions, dict) else {}
    times = times if isinstance(times, dict) else {}
    gone = [name for name, each in versions.items() if not _placed(each, url, str(times.get(name) or ""), known)]
    for name in gone:
        del versions[name]
    if gone:
        document["time"] = {name: moment for name, moment in times.items() if name in versions}
        _retag(document, versions, times)
    _placed(document, url, "", known)
    return json.dumps(document).encode()


def _placed(entry: object, url: str, uploaded: str, known: Known) -> bool:
    """Put the relay's address of a tarball into what describes it; False when it is held back."""
    dist = entry.get("dist") if isinstance(entry, dict) else None
    if isinstance(dist, dict) and isinstance(dist.get("tarball"), str):
        digest = _integrity(str(dist.get("integrity", "")))
        place = _joined(url, dist["tarball"])
        dist["tarball"] = place and known(place, digest, uploaded)
        return bool(dist["tarball"])
    return True


def _retag(document: dict[str, Any], versions: dict[str, Any], times: dict[str, Any]) -> None:
    """Let `latest` be the version uploaded last of those that are left, and no tag name one that is not."""
    tags = document.get("dist-tags")
    kept = {name: each for name, each in tags.items() if each in versions} if isinstance(tags, dict) else {}
    left = [name for name in versions if "-" not in name] or list(versions)
    if "latest" not in kept and left:
        kept["latest"] = max(left, key=lambda name: str(times.get(name) or ""))
    document["dist-tags"] = kept


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
        document = json.loads(body)
    except ValueError as error:
        raise InfraFault(f"The index answers {url} with what is not JSON.") from error
    if not isinstance(document, dict):
        raise InfraFault(f"The index answers {url} with what is no object.")
    return document
