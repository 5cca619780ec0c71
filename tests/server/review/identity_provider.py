"""An identity provider on this machine: discovery, keys, codes for PKCE and signed tokens, over real HTTP.

It is honest unless `tamper` is set; then its tokens are what an attacker would like.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "review-client", "a-secret-of-the-client"
"""What the provider knows of the application."""


@functools.cache
def own_key() -> RSAKey:
    """The key of every provider of a test process, since making one takes longer than a test."""
    return RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, private=True)


class Provider:
    """The provider's state: who logs in next, and what is wrong with its answers."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.clock = clock
        self.key = own_key()
        self.account: dict[str, Any] = {"sub": "ann-1", "email": "ann@example.org", "email_verified": True}
        self.tamper: dict[str, Any] = {}
        self.algorithm = "RS256"
        self.signer: Any = self.key
        self.metadata: dict[str, Any] = {}
        self.asked: list[dict[str, str]] = []
        self.exchanged: list[dict[str, str]] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.url = ""

    def discovery(self) -> dict[str, Any]:
        """The document of discovery."""
        found = {
            "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token", "jwks_uri": f"{self.url}/keys",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
        }  # fmt: skip
        return found | self.metadata

    def authorize(self, query: dict[str, str]) -> str:
        """Log the account in at once, and lead back with a code."""
        self.asked.append(query)
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'iss': self.url})}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Exchange a code, once, for who proves that it began the login."""
        self.exchanged.append(form)
        given = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        begun = self.codes.pop(form.get("code", ""), None)
        proof = _encoded(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if authorization != f"Basic {given}":
            return 401, {"error": "invalid_client"}
        if begun is None or proof != begun["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        now = int(self.clock().timestamp())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": begun["nonce"], **self.account}
        claims |= self.tamper
        claims = {name: value for name, value in claims.items() if value is not None}
        return 200, {"access_token": "x", "token_type": "Bearer", "expires_in": 300, "id_token": self._signed(claims)}

    def _signed(self, claims: dict[str, Any]) -> str:
        header = {"alg": self.algorithm, "kid": "one"}
        if self.algorithm == "RS256":
            return jwt.encode(header, claims, self.signer)
        text = ".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
        # As with a secret, but one that everybody knows: the text of the public key.
        known = hmac.digest(self.key.as_pem(private=False), text.encode(), "sha256")
        return f"{text}.{_encoded(known) if self.algorithm == 'HS256' else ''}"


def _encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).decode().rstrip("=")


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers as `provider` says."""

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            """Discovery, keys, and the page where somebody logs in."""
            place = urlsplit(self.path)
            if place.path == "/authorize":
                query = {name: values[0] for name, values in parse_qs(place.query).items()}
                self.send_response(302)
                self.send_header("Location", provider.authorize(query))
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif place.path == "/keys":
                self._json(200, {"keys": [provider.key.as_dict(private=False)]})
            elif place.path == "/.well-known/openid-configuration":
                self._json(200, provider.discovery())
            else:
                self._json(404, {})

        def do_POST(self) -> None:
            """Tokens."""
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(text).items()}
            self._json(*provider.token(form, self.headers.get("Authorization", "")))

        def _json(self, status: int, value: dict[str, Any]) -> None:
            text = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    return Handler


@contextlib.contextmanager
def providing(clock: Callable[[], datetime]) -> Iterator[Provider]:
    """Serve a provider from a thread."""
    provider = Provider(clock)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
