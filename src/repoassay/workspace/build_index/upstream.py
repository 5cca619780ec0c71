"""Asking an index: with the user's own credentials, certificates and proxy, which builds never see."""

from __future__ import annotations

import contextlib
import http.client
import netrc
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from repoassay.errors import InfraFault
from repoassay.package_proxy import basic

__all__ = ["IndexDenied", "IndexUpstream", "NotThere"]

_SECONDS = 60


class NotThere(InfraFault):
    """The index does not have it (404 or 410)."""


class IndexDenied(InfraFault):
    """The index answers, and will answer the same when asked again (another 4xx)."""


class IndexUpstream:
    """Opens addresses of indexes.

    Args:
        logins: `Authorization` headers by host, or host and port, from the user's settings.
        bundle: A file of certificates to trust besides the system's.
    """

    def __init__(self, logins: Mapping[str, str], bundle: Path | None = None) -> None:
        self._logins = dict(logins)
        context = ssl.create_default_context()
        if bundle is not None:
            context.load_verify_locations(bundle)
        self._opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))

    def open(self, url: str, accept: str = "*/*", *, pages: bool = False) -> http.client.HTTPResponse:
        """Open an address of http or https; `pages` may come compressed.

        Raises:
            NotThere: The server does not have it.
            IndexDenied: The server says no.
            InfraFault: It cannot be had; the sentence names the address without what is secret.
        """
        if urlsplit(url).scheme not in ("http", "https"):
            raise InfraFault(f"{_public(url)} is not an address of http or https.")
        headers = {"Accept": accept, "User-Agent": "repoassay", **({"Accept-Encoding": "gzip"} if pages else {})}
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - the scheme was looked at
        if login := self._login(url):
            request.add_unredirected_header("Authorization", login)  # not to be told to another host
        try:
            answer: http.client.HTTPResponse = self._opener.open(request, timeout=_SECONDS)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (404, 410):
                raise NotThere(f"{_public(url)} is not there.") from None
            again = error.code >= 500 or error.code in (408, 429)
            raise (InfraFault if again else IndexDenied)(
                f"The package index answers {error.code} for {_public(url)}.", "Check its address and credentials."
            ) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            why = error.reason if isinstance(error, urllib.error.URLError) else error
            raise InfraFault(
                f"The package index cannot be reached at {_public(url)}: {why}.",
                "Check the network and the index (UV_DEFAULT_INDEX, npm config get registry).",
            ) from None
        return answer

    def _login(self, url: str) -> str:
        parts = urlsplit(url)
        host = parts.hostname or ""
        for name in (f"{host}:{parts.port}", host) if parts.port else (host,):
            if name in self._logins:
                return self._logins[name]
        with contextlib.suppress(OSError, netrc.NetrcParseError):
            if found := netrc.netrc().authenticators(host):
                return basic(found[0], found[2])
        return ""


def _public(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
