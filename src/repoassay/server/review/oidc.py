"""OpenID Connect: who came with an invitation, as an identity provider says it.

The code flow with PKCE (RFC 7636), state and nonce, by Authlib; tokens are verified by joserfc with the provider's
keys, which are found by discovery. Nothing is fetched before somebody logs in, and nothing at all without settings.
"""

from __future__ import annotations

import os
import threading
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from repoassay.errors import BadInput, MissingExtra, Unavailable
from repoassay.review import PendingLogin
from repoassay.server.access import is_loopback
from repoassay.text import printable

__all__ = ["SECRET_VARIABLE", "Account", "IdentityProvider", "OIDCSettings", "read_oidc_settings"]

SECRET_VARIABLE = "REPOASSAY_OIDC_SECRET"  # noqa: S105 - the name of a variable
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by the provider's private key; never `none`, never one by a secret that others may know."""
_CALLBACK = "/review/oidc/callback"
_SECONDS = 10.0
_MOST = 2**20
_LEEWAY = 60
_Short = Annotated[str, Field(min_length=1, max_length=500)]


class OIDCSettings(BaseModel):
    """What `--oidc FILE` says.

    Attributes:
        issuer: The provider, as its tokens name it.
        client_id: This application there.
        address: Where browsers reach this application, without a path.
        domains: An account is let in whose verified address of e-mail ends in one of these.
        subjects: Accounts that are let in by their lasting name, whatever their address.
        public: Whether the client has no secret.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    issuer: _Short
    client_id: _Short
    address: _Short
    domains: list[_Short] = []
    subjects: list[_Short] = []
    public: bool = False


@dataclass(frozen=True, slots=True)
class Account:
    """An account that the provider vouches for."""

    issuer: str
    subject: str


def read_oidc_settings(path: Path, environment: Mapping[str, str] = os.environ) -> tuple[OIDCSettings, str]:
    """Return the settings of a file, and the client's secret from the environment.

    Raises:
        BadInput: When the file cannot be read, a setting is wrong, or the secret is missing.
    """
    where = printable(str(path), 300)
    try:
        with path.open("rb") as file:
            settings = OIDCSettings.model_validate(tomllib.loads(file.read(_MOST).decode()))
    except OSError as error:
        raise BadInput(f"{where} cannot be read: {error.strerror or error}.", "Give a file of TOML.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{where} is not TOML: {printable(str(error), 300)}.", "Correct it.") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInput(
            f"{where}: {printable(place, 100)}: {printable(str(first['msg']), 300)}.",
            "It holds issuer, client_id, address, domains, subjects and public.",
        ) from None
    for name in ("issuer", "address"):
        if not _safe(getattr(settings, name)):
            raise BadInput(f"{where}: {name} must be an https address without query.", "Write https://...")
    if urlsplit(settings.address).path.strip("/"):
        raise BadInput(f"{where}: address must have no path.", f"Write the part before {_CALLBACK}.")
    if not settings.domains and not settings.subjects:
        raise BadInput(f"{where} lets nobody in.", 'Name domains = ["example.org"] or subjects = ["..."].')
    secret = environment.get(SECRET_VARIABLE, "")
    if not secret and not settings.public:
        raise BadInput(
            f"The client's secret is not in {SECRET_VARIABLE}.", "Set it, or write public = true for a client without."
        )
    return settings, "" if settings.public else secret


class IdentityProvider:
    """One provider, as this application uses it.

    Args:
        settings: Of the provider.
        secret: Of the client; empty for a public one.

    Raises:
        MissingExtra: Without the extra `oidc`.
    """

    def __init__(self, settings: OIDCSettings, secret: str = "") -> None:
        try:
            import authlib.integrations.requests_client
            import joserfc.jwt  # noqa: F401 - so that its absence is said at the start
        except ImportError as error:
            raise MissingExtra((error.name or "authlib").partition(".")[0], "oidc") from None
        self._sessions = authlib.integrations.requests_client.OAuth2Session
        self._settings = settings
        self._secret = secret
        self._known: dict[str, Any] = {}
        self._lock = threading.Lock()

    @property
    def issuer(self) -> str:
        """The provider's name."""
        return self._settings.issuer

    @property
    def host(self) -> str:
        """Where people are sent, to be shown before they go."""
        return urlsplit(self._settings.issuer).netloc

    def address_for(self, login: PendingLogin) -> str:
        """Return the address at the provider that a login begins at.

        Raises:
            Unavailable: When the provider does not answer, or not as one.
        """
        session = self._session()
        address, _ = session.create_authorization_url(
            self._metadata()["authorization_endpoint"], state=login.state, nonce=login.nonce,
            code_verifier=login.verifier,
        )  # fmt: skip
        return str(address)

    def account(self, login: PendingLogin, code: str, now: datetime) -> Account:
        """Exchange a code for the account that logged in.

        Raises:
            BadInput: When the provider refuses the code, its token is not good for this login, or the account is not
                one of those let in.
            Unavailable: When the provider does not answer, or not as one.
        """
        from authlib.common.errors import AuthlibBaseError
        from requests import RequestException

        try:
            with self._session() as session:
                token = session.fetch_token(
                    self._metadata()["token_endpoint"], code=code, code_verifier=login.verifier, timeout=_SECONDS,
                    grant_type="authorization_code", allow_redirects=False,
                )  # fmt: skip
        except AuthlibBaseError as error:
            reason = printable(str(error.error or "no reason"), 100)
            raise BadInput(f"{self.host} does not confirm this login ({reason}).", "Log in once more.") from None
        except (RequestException, ValueError):
            raise self._silent() from None
        text = token.get("id_token")
        if not isinstance(text, str):
            raise BadInput(f"{self.host} sent no token of identity.", "Tell whoever runs this server.")
        return self._let_in(self._claims(text, token.get("access_token"), login, now))

    def _claims(self, text: str, access: object, login: PendingLogin, now: datetime) -> Mapping[str, Any]:
        """Verify a token of identity: signature, issuer, audience, time and nonce."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError, JoseError
        from joserfc.jwk import KeySet

        offered = self._metadata().get("id_token_signing_alg_values_supported")
        allowed = [each for each in _ALGORITHMS if not isinstance(offered, list) or each in offered]
        options = {
            "iss": {"essential": True, "value": self.issuer},
            "aud": {"essential": True, "value": self._settings.client_id},
            "nonce": {"essential": True, "value": login.nonce},
        }
        expected = {"nonce": login.nonce, "client_id": self._settings.client_id, "access_token": access}
        try:
            try:
                found = jwt.decode(text, KeySet.import_key_set(self._keys()), algorithms=allowed)
            except InvalidKeyIdError:  # keys are replaced now and then
                found = jwt.decode(text, KeySet.import_key_set(self._keys(fresh=True)), algorithms=allowed)
            claims = CodeIDToken(found.claims, found.header, options, expected)
            claims.validate(now=int(now.timestamp()), leeway=_LEEWAY)
        except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            reason = printable(str(getattr(error, "description", "") or type(error).__name__), 200)
            raise BadInput(
                f"The token of {self.host} is not good for this login: {reason}", "Log in once more."
            ) from None
        values: Mapping[str, Any] = claims
        return values

    def _let_in(self, claims: Mapping[str, Any]) -> Account:
        subject, mail = claims.get("sub"), claims.get("email")
        if not isinstance(subject, str) or not 0 < len(subject) <= 255:
            raise BadInput(f"The token of {self.host} names no account.", "Tell whoever runs this server.")
        ours = False
        if isinstance(mail, str) and claims.get("email_verified") is True:
            domain = mail.rpartition("@")[2].lower()
            ours = any(domain == each.lower().removeprefix("@") for each in self._settings.domains)
        if not ours and subject not in self._settings.subjects:
            raise BadInput(
                "This account is not one of those that this server lets in.", "Log in with the one of your team."
            )
        return Account(self.issuer, subject)

    def _session(self) -> Any:
        session = self._sessions(
            self._settings.client_id, self._secret or None, scope="openid email", code_challenge_method="S256",
            redirect_uri=self._settings.address.rstrip("/") + _CALLBACK,
        )  # fmt: skip
        # A proxy of the environment has no business with this machine itself.
        session.trust_env = not is_loopback(urlsplit(self.issuer).hostname or "")
        return session

    def _metadata(self) -> dict[str, Any]:
        """What discovery says, fetched at the first login and kept."""
        with self._lock:
            if "metadata" in self._known:
                return dict(self._known["metadata"])
        found = self._fetch(self.issuer.rstrip("/") + "/.well-known/openid-configuration")
        if found.get("issuer") != self.issuer:
            raise Unavailable(f"{self.host} says that it is another issuer.", "Correct the issuer in the settings.")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not isinstance(found.get(name), str) or not _safe(found[name], query=True):
                raise Unavailable(f"{self.host} names no {name} with https.", "Ask whoever runs it.")
        with self._lock:
            self._known["metadata"] = found
        return found

    def _keys(self, fresh: bool = False) -> Any:
        with self._lock:
            if "keys" in self._known and not fresh:
                return self._known["keys"]
        found = self._fetch(str(self._metadata()["jwks_uri"]))
        with self._lock:
            self._known["keys"] = found
        return found

    def _fetch(self, address: str) -> dict[str, Any]:
        """Fetch a small JSON object; no redirect is followed, since it could lead anywhere."""
        import json

        from requests import RequestException
        from urllib3.exceptions import HTTPError

        try:
            with (
                self._session() as session,
                session.get(
                    address, withhold_token=True, timeout=_SECONDS, allow_redirects=False, stream=True
                ) as answer,
            ):
                text = answer.raw.read(_MOST + 1, decode_content=True)
                found = json.loads(text) if answer.status_code == 200 and len(text) <= _MOST else None
        except (RequestException, HTTPError, OSError, ValueError, RecursionError):
            raise self._silent() from None
        if not isinstance(found, dict):
            raise self._silent()
        return found

    def _silent(self) -> Unavailable:
        return Unavailable(
            f"{self.host} does not answer as an identity provider.", "Try again later, or ask whoever runs it."
        )


def _safe(address: str, *, query: bool = False) -> bool:
    """Whether an address is of https, or of this machine."""
    try:
        parts = urlsplit(address)
    except ValueError:  # `https://[`
        return False
    local = parts.scheme == "http" and is_loopback(parts.hostname or "")
    plain = not parts.fragment and not parts.username and (query or not parts.query)
    return bool(parts.hostname) and plain and (parts.scheme == "https" or local)
