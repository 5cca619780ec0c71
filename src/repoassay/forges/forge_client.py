"""Asking the API of a forge: pages, rate limits, a token that goes to its host alone and stands in no sentence."""

from __future__ import annotations

import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote as percent, urlencode, urlsplit

from repoassay.errors import BadInput, InfraFault, RepoAssayError, Unavailable
from repoassay.text import printable, quote

__all__ = ["ForgeAddress", "ForgeClient", "ForgeRefused", "forge_address"]

_APIS = {"github": ("https://api.github.com", "GITHUB_TOKEN"), "gitlab": ("https://gitlab.com/api/v4", "GITLAB_TOKEN")}
_NAMED = re.compile(r"(github|gitlab):((?:[\w.-]+/)+[\w.-]+)")
_NEXT = re.compile(r'<([^<>]+)>\s*;[^,<>]*\brel="?next"?')
_MOST_ANSWER = 64 * 2**20
_MOST_PAGES = 1000
_MOST_WAIT = 3700
"""Seconds; limits of GitHub are renewed every hour."""
_TRIES = 4
_SECONDS = 60


class ForgeRefused(RepoAssayError):
    """The forge will not do one thing, and will say so again; `status` is HTTP's."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class ForgeAddress:
    """A repository on a forge: `api` is the address of its API without a slash at the end."""

    forge: Literal["github", "gitlab"]
    repository: str
    api: str
    variable: str
    token: str = field(default="", repr=False)

    @property
    def path(self) -> str:
        """Where the API has the repository."""
        if self.forge == "github":
            return f"/repos/{percent(self.repository, safe='/')}"
        return f"/projects/{percent(self.repository, safe='')}"


def forge_address(repository: str, api: str = "", variable: str = "") -> ForgeAddress:
    """Read `github:OWNER/REPO` or `gitlab:GROUP/REPO`, with the token from the environment; it may be without one.

    Args:
        repository: Which.
        api: Address of the API; the public forge's where empty.
        variable: Environment variable that holds the token; `GITHUB_TOKEN` or `GITLAB_TOKEN` where empty.

    Raises:
        BadInput: When one of them cannot be used, or the token would be sent without encryption.
    """
    found = _NAMED.fullmatch(repository)
    dots = found is not None and any(set(part) <= {"."} for part in found[2].split("/"))
    if found is None or dots or (found[1] == "github" and found[2].count("/") != 1):
        raise BadInput(
            f"{quote(repository)} is no repository of a forge.", "Write github:OWNER/REPO or gitlab:GROUP/REPO."
        )
    forge: Literal["github", "gitlab"] = "github" if found[1] == "github" else "gitlab"
    public, usual = _APIS[forge]
    api, variable = (api or public).rstrip("/"), variable or usual
    try:
        parts = urlsplit(api)
    except ValueError:  # `https://[`
        parts = urlsplit("")
    local = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if not parts.hostname or parts.scheme not in {"https", "http"} or parts.username or (
        parts.scheme == "http" and not local
    ):  # fmt: skip
        raise BadInput(f"{quote(api)} cannot be asked with a token.", "Give an address of https without a login in it.")
    token = os.environ.get(variable, "").strip()
    if not re.fullmatch(r"[!-~]*", token):
        raise BadInput(f"The token in {variable} holds what no header may.", "Set it to the token alone.")
    return ForgeAddress(forge, found[2], api, variable, token)


class ForgeClient:
    """Asks one forge.

    A limit that was reached is waited out, up to an hour and a bit; a server that fails is asked again. A request that
    changes something is sent again only where the forge says that it was not carried out.

    Args:
        address: Whom, with the token.
        tell: Told in a sentence when there is a wait.
        sleep: Waits so many seconds; the clock's own where none is given.
    """

    def __init__(
        self, address: ForgeAddress, tell: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], None] | None = None,
    ) -> None:  # fmt: skip
        self.address = address
        self._tell = tell
        self._sleep = sleep or time.sleep
        local = urlsplit(address.api).scheme == "http"
        proxies = [urllib.request.ProxyHandler({})] if local else []
        self._opener = urllib.request.build_opener(_SameHost(address.api), *proxies)

    def pages(self, path: str, **query: object) -> Iterator[Any]:
        """Yield the entries of a list, page after page.

        Raises:
            As `ask`.
        """
        url = self._url(path, {"per_page": 100} | query)
        for _ in range(_MOST_PAGES):
            body, headers = self._get(url)
            if not isinstance(body, list):
                raise InfraFault(f"The forge answers {self._path(url)} with what is no list.")
            yield from body
            after = _NEXT.search(headers.get("Link", ""))
            if after is None:
                return
            url = after[1]
            if _origin(url) != _origin(self.address.api):
                raise InfraFault(f"The forge continues {self._path(path)} on another host, which gets no token.")

    def ask(self, path: str, **query: object) -> Any:
        """Return one answer.

        Raises:
            ForgeRefused: The forge does not have it, or does not give it.
            InfraFault: It does not answer, or not with JSON.
            Unavailable: Its limit is reached for longer than an hour.
        """
        return self._get(self._url(path, query))[0]

    def text(self, path: str, accept: str) -> str:
        """Return one answer that is a text, such as a diff; raises as `ask`."""
        data, _ = self._open("GET", self._url(path, {}), None, accept)
        return data.decode("utf-8", "replace")

    def send(self, path: str, body: object) -> Any:
        """Post JSON and return the answer, after a second, as GitHub asks of what makes content; raises as `ask`."""
        self._sleep(1)
        data, _ = self._open("POST", self._url(path, {}), json.dumps(body).encode(), "application/json")
        return self._read(data, path)

    def _url(self, path: str, query: dict[str, object]) -> str:
        return f"{self.address.api}{path}" + (f"?{urlencode(query)}" if query else "")

    def _get(self, url: str) -> tuple[Any, Any]:
        data, headers = self._open("GET", url, None, "application/json")
        return self._read(data, url), headers

    def _read(self, data: bytes, url: str) -> Any:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise InfraFault(f"The forge answers {self._path(url)} with what is no JSON.") from None

    def _open(self, method: str, url: str, data: bytes | None, accept: str) -> tuple[bytes, Any]:
        headers = {"Accept": accept, "User-Agent": "repoassay"} | ({"Content-Type": "application/json"} if data else {})
        for attempt in range(1, _TRIES + 1):
            request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - the scheme was looked at
            if self.address.token:
                request.add_unredirected_header("Authorization", f"Bearer {self.address.token}")
            try:
                with self._opener.open(request, timeout=_SECONDS) as answer:
                    body = answer.read(_MOST_ANSWER + 1)
                    if len(body) > _MOST_ANSWER:
                        raise InfraFault(f"The forge answers {self._path(url)} with more than {_MOST_ANSWER:,} bytes.")
                    return body, answer.headers
            except urllib.error.HTTPError as error:
                with error:
                    wait = _limit_wait(error.code, error.headers)
                    message = "" if wait is not None else _refusal_reason(error)
                if wait is None and (error.code < 500 or method == "POST"):
                    raise self._refusal(url, error.code, message) from None
                self._wait(wait, attempt, f"it answers {error.code}", url)
            except (OSError, ValueError, http.client.HTTPException) as error:
                why = error.reason if isinstance(error, urllib.error.URLError) else error
                if method == "POST":
                    raise InfraFault(self._unreached(url, why)) from None
                self._wait(None, attempt, printable(str(why)), url)
        raise InfraFault(f"The forge does not answer {self._path(url)}.", "Try again later.")

    def _wait(self, wait: float | None, attempt: int, why: str, url: str) -> None:
        if attempt == _TRIES:
            raise InfraFault(self._unreached(url, why), "Try again later; what is stored is kept.")
        if wait is not None and wait > _MOST_WAIT:
            raise Unavailable(
                f"The forge's limit is reached for {wait:,.0f} s.", "Try again then, or use another token."
            )
        seconds = 2.0**attempt if wait is None else max(wait, 1.0)
        if seconds > 5:
            self._tell(f"The forge's limit is reached; going on in {seconds:,.0f} s.")
        self._sleep(seconds)

    def _unreached(self, url: str, why: object) -> str:
        return f"The forge does not answer {self._path(url)}: {printable(str(why), 200)}."

    def _refusal(self, url: str, code: int, message: str) -> ForgeRefused:
        words = f" ({message})" if message else ""
        token = (
            f"the token in {self.address.variable}" if self.address.token else f"no token in {self.address.variable}"
        )
        with_token = f"; it was asked with {token}" if code in (401, 403, 404) else ""
        return ForgeRefused(f"The forge refuses {self._path(url)} with status {code}{words}{with_token}.", code)

    def _path(self, url: str) -> str:
        return quote(urlsplit(url).path)


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows what moved on the same host, with the token, and nothing to another."""

    def __init__(self, api: str) -> None:
        self._origin = _origin(api)

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if _origin(newurl) != self._origin:
            raise urllib.error.HTTPError(req.full_url, code, "moved to another host", headers, fp)
        if req.get_method() != "GET":
            # It would be asked again as a GET, whose answer looks as if the forge had taken what was posted.
            raise urllib.error.HTTPError(req.full_url, code, "moved", headers, fp)
        moved = super().redirect_request(req, fp, code, msg, headers, newurl)
        if moved is not None and (token := req.unredirected_hdrs.get("Authorization")):
            moved.add_unredirected_header("Authorization", token)
        return moved


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:  # `https://[`
        return "", ""
    return parts.scheme, parts.netloc


def _limit_wait(code: int, headers: Any) -> float | None:
    """Seconds until a limit ends, None where the answer speaks of none. GitHub says 403 of its limits, too."""
    if code not in (403, 429, 503):
        return None
    after = headers.get("Retry-After", "")
    if re.fullmatch(r"\d{1,9}", after):
        return float(after)
    for left, reset in (("X-RateLimit-Remaining", "X-RateLimit-Reset"), ("RateLimit-Remaining", "RateLimit-Reset")):
        until = headers.get(reset, "")
        if headers.get(left) == "0" and re.fullmatch(r"\d{1,12}", until):
            return max(float(until) - time.time(), 0.0)
    return 60.0 if code == 429 else None


def _refusal_reason(error: urllib.error.HTTPError) -> str:
    """What the forge says of a refusal, as one short line."""
    try:
        body = json.loads(error.read(100_000))
    except (OSError, ValueError, RecursionError, http.client.HTTPException):
        return ""
    if not isinstance(body, dict):
        return ""
    more = body.get("errors")
    words = [body.get("message") or body.get("error") or "", *(more if isinstance(more, list) else [more])]
    return printable("; ".join(each if isinstance(each, str) else json.dumps(each) for each in words if each), 300)
