"""Raters who log in at an identity provider, and who tries to come in as another: real HTTP, signed tokens."""

from __future__ import annotations

import html
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

pytest.importorskip("authlib", reason="the extra oidc is not installed")
pytest.importorskip("joserfc", reason="the extra oidc is not installed")

from repoassay.errors import BadInput, Unavailable
from repoassay.review.account_binding import PendingLogin
from repoassay.review.database import event_log, open_database
from repoassay.server.review.blobs import Blobs
from repoassay.server.review.oidc import IdentityProvider, OIDCSettings, read_oidc_settings
from repoassay.server.review.review_state import ReviewState
from server.review.conftest import OWNER, Clock
from server.review.identity_provider import CLIENT, SECRET, Provider, providing
from server.review.samples import Person, answering

PROGRAM = str(Path(sys.executable).with_name("repoassay"))


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


@pytest.fixture
def provider(clock: Clock) -> Iterator[Provider]:
    with providing(clock) as found:
        yield found


@pytest.fixture
def desk(run: Path, clock: Clock, tmp_path: Path, provider: Provider) -> Iterator[ReviewState]:
    """A desk that asks the provider."""
    database = open_database(tmp_path / "reviews.sqlite")
    # The provider leads back to a name that nobody answers at; the tests follow it to where the server is.
    settings = OIDCSettings(
        issuer=provider.url, client_id=CLIENT, address="http://127.0.0.1:1", domains=["example.org"], subjects=["zoe"]
    )
    found = ReviewState(
        database, Blobs(tmp_path / "files"), owner=OWNER, runs=[run], clock=clock,
        provider=IdentityProvider(settings, SECRET),
    )  # fmt: skip
    yield found
    found.previews.close()
    database.close()


class Browser:
    """A browser that follows an invitation to the provider and back, step by step."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, follow_redirects=True)
        self.url = url

    def leave_for_provider(self, link: str) -> str:
        """Press the button of the invitation; returns the address at the provider."""
        answer = self.http.post("/review/join", data={"token": link.rsplit("/", 1)[1]})
        assert answer.status_code == 200, answer.text
        found = re.search(r'class="button primary" href="(http[^"]+)"', answer.text)
        assert found is not None, answer.text
        return html.unescape(found[1])

    def at_provider(self, address: str) -> str:
        """Log in there; returns what our server is asked then, with its query."""
        answer = httpx.get(address, follow_redirects=False)
        place = urlsplit(answer.headers["location"])
        return f"{place.path}?{place.query}"

    def enter(self, link: str) -> httpx.Response:
        """All of it."""
        return self.http.get(self.at_provider(self.leave_for_provider(link)))

    def inside(self) -> bool:
        """Whether there is a session."""
        return self.http.get("/review/queue").status_code == 200


@pytest.fixture
def browser(url: str) -> Iterator[Callable[[], Browser]]:
    made: list[Browser] = []

    def fresh() -> Browser:
        made.append(Browser(url))
        return made[-1]

    yield fresh
    for each in made:
        each.http.close()


@pytest.fixture
def link(owner: Person) -> str:
    owner.study()
    return owner.invite("Ann")


def test_an_account_comes_in_and_is_bound(
    owner: Person, link: str, provider: Provider, browser: Callable[[], Browser], desk: ReviewState
) -> None:
    ann = browser()
    address = ann.leave_for_provider(link)
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert query["response_type"] == "code" and query["code_challenge_method"] == "S256"
    assert query["redirect_uri"] == "http://127.0.0.1:1/review/oidc/callback" and "openid" in query["scope"]
    assert len(query["nonce"]) > 20 and len(query["state"]) > 20
    assert not ann.inside()  # the invitation alone is not enough
    answer = ann.http.get(ann.at_provider(address))
    assert answer.status_code == 200 and "Welcome, Ann" in answer.text
    assert ann.inside()
    again = browser()
    assert again.enter(link).status_code == 200 and again.inside()  # the same account, later
    kinds = [event.kind for event in event_log(desk.database, "st")]
    assert kinds.count("account_bound") == 1
    assert "account confirmed" in owner.get("/studies/st").text


def test_the_owner_asks_nobody(owner: Person, provider: Provider) -> None:
    provider.metadata = {"issuer": "http://elsewhere.example"}
    assert owner.get("/studies").status_code == 200


def test_another_account_is_refused_and_logged(
    link: str, provider: Provider, browser: Callable[[], Browser], desk: ReviewState
) -> None:
    assert browser().enter(link).status_code == 200
    provider.account = {"sub": "mallory", "email": "mallory@example.org", "email_verified": True}
    other = browser()
    answer = other.enter(link)
    assert answer.status_code == 403 and "belongs to another account" in answer.text and not other.inside()
    assert any(event.kind == "login_refused" for event in event_log(desk.database, "st"))


def test_one_account_is_not_two_raters(owner: Person, link: str, browser: Callable[[], Browser]) -> None:
    assert browser().enter(link).status_code == 200
    second = browser()
    answer = second.enter(owner.invite("Bob"))
    assert answer.status_code == 403 and "another rater" in answer.text and not second.inside()


@pytest.mark.by_day(6)
@pytest.mark.parametrize(
    ("account", "good"),
    [
        ({"sub": "a", "email": "a@example.org", "email_verified": True}, True),
        ({"sub": "a", "email": "a@EXAMPLE.org", "email_verified": True}, True),
        ({"sub": "zoe"}, True),
        ({"sub": "a", "email": "a@example.org", "email_verified": False}, False),
        ({"sub": "a", "email": "a@example.org"}, False),
        ({"sub": "a", "email": "a@example.org", "email_verified": "true"}, False),
        ({"sub": "a", "email": "a@example.org.evil.example", "email_verified": True}, False),
        ({"sub": "a", "email": "a@notexample.org", "email_verified": True}, False),
        ({"sub": "a", "email": "zoe", "email_verified": True}, False),
        ({"sub": ""}, False), ({}, False), ({"sub": ["zoe"]}, False), ({"sub": "z" * 300}, False),
    ],
)  # fmt: skip
def test_who_is_let_in(
    link: str, provider: Provider, browser: Callable[[], Browser], account: dict[str, Any], good: bool
) -> None:
    provider.account = account
    ann = browser()
    answer = ann.enter(link)
    assert (answer.status_code == 200) is ann.inside() is good
    assert good or answer.status_code == 403


@pytest.mark.by_day(5)
@pytest.mark.parametrize(
    "tamper",
    [
        {"nonce": "another"}, {"nonce": None}, {"nonce": ""}, {"aud": "another-client"}, {"aud": None},
        {"aud": ["another-client", CLIENT]}, {"aud": CLIENT, "azp": "another-client"}, {"iss": "http://evil.example"},
        {"iss": None}, {"exp": 1}, {"exp": None}, {"iat": 9999999999}, {"exp": "soon"},
    ],
)  # fmt: skip
def test_a_token_that_is_not_for_this_login_is_refused(
    link: str, provider: Provider, browser: Callable[[], Browser], tamper: dict[str, Any]
) -> None:
    provider.tamper = tamper
    ann = browser()
    answer = ann.enter(link)
    assert answer.status_code == 403 and "not good for this login" in answer.text and not ann.inside()


def test_a_token_expires_by_our_clock(
    link: str, provider: Provider, browser: Callable[[], Browser], clock: Clock
) -> None:
    ann = browser()
    back = ann.at_provider(ann.leave_for_provider(link))
    old = int(clock().timestamp()) - 400
    provider.tamper = {"iat": old, "exp": old + 300}
    assert ann.http.get(back).status_code == 403 and not ann.inside()


@pytest.mark.parametrize("how", ["none", "HS256", "RS256"])
def test_a_token_without_the_providers_signature_is_refused(
    link: str, provider: Provider, browser: Callable[[], Browser], how: str
) -> None:
    from joserfc.jwk import RSAKey

    provider.algorithm = how
    provider.signer = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
    ann = browser()
    assert ann.enter(link).status_code == 403 and not ann.inside()


def test_a_state_is_good_once_and_in_one_browser_alone(
    link: str, provider: Provider, browser: Callable[[], Browser], clock: Clock
) -> None:
    ann, mallory = browser(), browser()
    back = ann.at_provider(ann.leave_for_provider(link))
    assert ann.http.get(back).status_code == 200
    ann.http.cookies.delete("repoassay_review")
    assert ann.http.get(back).status_code == 403 and not ann.inside()  # replayed
    # Mallory's own login, slipped into Ann's browser, would make her rate as Mallory.
    slipped = mallory.at_provider(mallory.leave_for_provider(link))
    assert ann.http.get(slipped).status_code == 403 and not ann.inside()
    assert mallory.http.get(slipped).status_code == 403  # and whoever was told a state spends it
    late = ann.at_provider(ann.leave_for_provider(link))
    clock.forward(601)
    assert ann.http.get(late).status_code == 403 and not ann.inside()
    for query in ("", "?state=x&code=y", "?code=y", "?state=" + "x" * 5000):
        assert ann.http.get(f"/review/oidc/callback{query}").status_code in {403, 422}


def test_a_code_of_another_login_is_refused(link: str, provider: Provider, browser: Callable[[], Browser]) -> None:
    ann, mallory = browser(), browser()
    mine = ann.at_provider(ann.leave_for_provider(link))
    theirs = mallory.at_provider(mallory.leave_for_provider(link))
    state = parse_qs(urlsplit(mine).query)["state"][0]
    code = parse_qs(urlsplit(theirs).query)["code"][0]
    answer = ann.http.get("/review/oidc/callback", params={"state": state, "code": code})
    assert answer.status_code == 403 and not ann.inside()  # PKCE: the code was not asked for here


@pytest.mark.parametrize("endpoint", ["token_endpoint", "jwks_uri"])
def test_a_provider_that_fails_in_the_middle(
    link: str, provider: Provider, browser: Callable[[], Browser], endpoint: str
) -> None:
    provider.metadata = {endpoint: f"{provider.url}/nowhere" if endpoint == "jwks_uri" else "http://127.0.0.1:1/token"}
    ann = browser()
    answer = ann.enter(link)
    assert answer.status_code == 503 and "does not answer" in answer.text and not ann.inside()
    assert "Traceback" not in answer.text and SECRET not in answer.text


def test_an_answer_of_another_provider_is_refused(link: str, browser: Callable[[], Browser]) -> None:
    ann = browser()
    back = ann.at_provider(ann.leave_for_provider(link))
    mixed = re.sub(r"iss=[^&]+", "iss=http%3A%2F%2Fevil.example", back)
    assert ann.http.get(mixed).status_code == 403 and not ann.inside()


def test_nothing_leads_elsewhere(link: str, browser: Callable[[], Browser]) -> None:
    ann = browser()
    back = ann.at_provider(ann.leave_for_provider(link))
    answer = ann.http.get(
        back + "&next=https://evil.example/&redirect_uri=https://evil.example/&return_to=//evil.example"
    )
    assert answer.status_code == 200 and not answer.history and "evil" not in answer.text
    assert "evil" not in str(answer.headers)
    login = browser()
    held = login.http.post(
        "/review/join", data={"token": link.rsplit("/", 1)[1], "next": "https://evil.example/"},
        headers={"X-Forwarded-Host": "evil.example"},
    )  # fmt: skip
    assert "evil" not in held.text and "form-action 'self'" in held.headers["content-security-policy"]


def test_what_the_provider_says_is_text(link: str, browser: Callable[[], Browser]) -> None:
    ann = browser()
    state = parse_qs(urlsplit(ann.leave_for_provider(link)).query)["state"][0]
    answer = ann.http.get("/review/oidc/callback", params={"state": state, "error": "<script>alert(1)</script>"})
    assert answer.status_code == 403 and "<script>" not in answer.text and not ann.inside()


def test_an_invitation_that_is_good_once_is_not_spent_by_a_refusal(
    owner: Person, link: str, provider: Provider, browser: Callable[[], Browser]
) -> None:
    found = re.search(
        r'data-path="([^"]+)"', owner.form("/studies/st/invite", name="Bob", role="rater", once="on").text
    )
    assert found is not None
    good = provider.account
    provider.account = {"sub": "stranger"}
    assert browser().enter(found[1]).status_code == 403
    provider.account = good
    assert browser().enter(found[1]).status_code == 200
    assert browser().http.get(found[1]).status_code == 404


@pytest.mark.by_day(3)
@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "http://127.0.0.1:9/other"}, {"token_endpoint": "http://evil.example/token"}, {"jwks_uri": 3},
        {"authorization_endpoint": "javascript:alert(1)"}, {"authorization_endpoint": None},
        {"token_endpoint": "https://[x"},
    ],
)  # fmt: skip
def test_a_provider_that_is_none_is_said_in_a_sentence(
    link: str, provider: Provider, browser: Callable[[], Browser], metadata: dict[str, Any]
) -> None:
    provider.metadata = metadata
    answer = browser().http.post("/review/join", data={"token": link.rsplit("/", 1)[1]})
    assert answer.status_code == 503 and "127.0.0.1" in answer.text and "Traceback" not in answer.text


def test_a_provider_that_is_away(run: Path, clock: Clock, tmp_path: Path) -> None:
    settings = OIDCSettings(
        issuer=f"http://127.0.0.1:{free_port()}", client_id=CLIENT, address="https://x.example", subjects=["a"]
    )
    database = open_database(tmp_path / "r.sqlite")
    desk = ReviewState(database, Blobs(tmp_path / "f"), owner=OWNER, runs=[run], clock=clock,
                       provider=IdentityProvider(settings, SECRET))  # fmt: skip
    with answering(desk) as url:
        owner = Person(url, f"/review/join/{OWNER}")
        owner.study()
        answer = httpx.post(f"{url}/review/join", data={"token": owner.invite("Ann").rsplit("/", 1)[1]})
        assert answer.status_code == 503 and "does not answer as an identity provider" in answer.text
    desk.previews.close()
    database.close()


@pytest.mark.parametrize("answer", [b"100\r\n\r\n{", b"200000\r\n\r\n" + b"[" * 200_000])
def test_discovery_that_breaks_off_or_never_ends_is_said_in_a_sentence(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer_once() -> None:
            with server.accept()[0] as peer:
                peer.recv(65_536)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: " + answer)

        thread = threading.Thread(target=answer_once)
        thread.start()
        settings = OIDCSettings(
            issuer=f"http://127.0.0.1:{server.getsockname()[1]}",
            client_id=CLIENT,
            address="https://x.example",
            subjects=["a"],
        )
        with pytest.raises(Unavailable, match="does not answer as an identity provider"):
            IdentityProvider(settings, SECRET).address_for(PendingLogin("r", "s", "b", "n", "v" * 43))
        thread.join()


GOOD = {"issuer": '"https://id.example"', "client_id": '"c"', "address": '"https://r.example"', "domains": '["x.org"]'}


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"issuer": '"http://id.example"'}, "issuer must be an https address"),
        ({"issuer": '"https://me@id.example"'}, "issuer must be an https address"),
        ({"issuer": '"https://[x"'}, "issuer must be an https address"),
        ({"address": '"https://r.example/review"'}, "address must have no path"),
        ({"client_id": None}, "client_id"), ({"issuer": "3"}, "issuer"), ({"client_secret": '"x"'}, "client_secret"),
        ({"domains": "[]"}, "lets nobody in"), ({"domains": "["}, "is not TOML"),
    ],
)  # fmt: skip
def test_bad_settings_are_said_in_a_sentence(tmp_path: Path, changes: dict[str, str | None], word: str) -> None:
    lines = [f"{name} = {value}" for name, value in (GOOD | changes).items() if value is not None]
    (tmp_path / "oidc.toml").write_text("\n".join(lines))
    with pytest.raises(BadInput, match=word):
        read_oidc_settings(tmp_path / "oidc.toml", {"REPOASSAY_OIDC_SECRET": "x"})


def test_the_secret_is_in_the_environment_alone(tmp_path: Path) -> None:
    path = tmp_path / "oidc.toml"
    path.write_text("\n".join(f"{name} = {value}" for name, value in GOOD.items()))
    with pytest.raises(BadInput, match="REPOASSAY_OIDC_SECRET"):
        read_oidc_settings(path, {})
    assert read_oidc_settings(path, {"REPOASSAY_OIDC_SECRET": "x"})[1] == "x"
    path.write_text(path.read_text() + "\npublic = true")
    assert read_oidc_settings(path, {})[1] == ""
    with pytest.raises(BadInput, match="cannot be read"):
        read_oidc_settings(tmp_path / "none.toml", {})


@pytest.mark.exhaustive  # starts the command, which imports a web framework
def test_the_command_names_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "oidc.toml"
    path.write_text("\n".join(f"{name} = {value}" for name, value in GOOD.items()))
    line = [PROGRAM, "review", "--oidc", str(path), "--no-browser", "--database", str(tmp_path / "r.sqlite")]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "REPOASSAY_OIDC_SECRET" in done.stderr and "Traceback" not in done.stderr
    hide = "import sys; sys.modules['authlib'] = None; from repoassay.cli.main import main; main()"
    environment = {"PATH": "/usr/bin", "HOME": str(tmp_path), "REPOASSAY_OIDC_SECRET": "x"}
    done = subprocess.run(
        [sys.executable, "-c", hide, *line[1:]], capture_output=True, text=True, timeout=60, check=False,
        env=environment,
    )  # fmt: skip
    assert "repoassay[oidc]" in done.stderr and "Traceback" not in done.stderr and done.returncode == 3
