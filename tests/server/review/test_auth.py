"""Breaking in: without a session, with another's, from another site, with the wrong role, too late, too large."""

from __future__ import annotations

import itertools
import re
import socket

import httpx
import pytest
from fastapi.routing import APIRoute

from repoassay.review.tables import raters, sessions
from repoassay.server import connection
from repoassay.server.review import auth
from repoassay.server.review.app import _ROUTERS
from repoassay.server.review.review_state import ReviewState
from repoassay.server.review.sessions import OWNER_SECONDS, RATER_SECONDS
from server.review.conftest import OWNER, Clock
from server.review.samples import Person, answers

PUBLIC = {"/join/{token}", "/join", "/oidc/callback"}
ROUTES = [
    (method, route.path)
    for module in _ROUTERS
    for route in module.router.routes
    if isinstance(route, APIRoute)
    for method in sorted(route.methods or ())
]


def filled(path: str, item: str = "sxxxxxxxx") -> str:
    values = {
        "study": "st",
        "item": item,
        "number": "0",
        "which": "made",
        "rater": "x",
        "name": "x",
        "kind": "csv",
        "token": "x",
    }
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], path)


@pytest.fixture
def ann(owner: Person, url: str) -> Person:
    owner.study()
    return Person(url, owner.invite("Ann"))


def test_every_route_asks_who_is_there(url: str) -> None:
    tried = 0
    for method, path in ROUTES:
        if path in PUBLIC:
            continue
        answer = httpx.request(method, f"{url}/review{filled(path)}", content=b"{}" if method == "POST" else None)
        assert answer.status_code == 401, (method, path)
        tried += 1
    assert tried > 30


def test_a_rater_reaches_no_page_of_leads(owner: Person, ann: Person) -> None:
    ann.get("/queue")
    for method, path in ROUTES:
        if path.startswith("/studies"):
            place = f"/review{filled(path)}"
            answer = ann.http.request(method, place, data={"csrf": ann.csrf} if method == "POST" else None)
            assert answer.status_code == 403, (method, path)


def test_a_lead_reaches_no_page_of_raters_and_no_other_study(owner: Person, url: str) -> None:
    owner.study("st")
    owner.study("other")
    lead = Person(url, owner.invite("Lea", "lead", study="other"))
    assert lead.get("/studies/other").status_code == 200
    for method, path in ROUTES:
        place = f"/review{filled(path)}"
        data = {"csrf": lead.csrf} if method == "POST" else None
        if path.startswith("/studies/{study}"):
            assert lead.http.request(method, place, data=data).status_code == 404, (method, path)
        elif path.startswith(("/item", "/queue", "/next", "/files", "/api")) and not path.startswith("/api"):
            assert lead.http.request(method, place, data=data).status_code == 403, (method, path)
    assert "st<" not in lead.get("/studies").text


def test_only_an_admin_makes_admins(owner: Person, url: str) -> None:
    owner.study()
    lead = Person(url, owner.invite("Lea", "lead"))
    lead.get("/studies/st")
    assert lead.form("/studies/st/invite", name="Eve", role="admin").status_code == 403
    assert lead.form("/studies/st/invite", name="Eve", role="judge").status_code == 403
    assert owner.form("/studies/st/invite", name="Eve", role="admin").status_code == 200
    admin = next(line for line in owner.get("/studies/st").text.split("<tr>") if "Eve" in line)
    found = re.search(r"/disable/(\w+)", admin)
    assert found is not None
    assert lead.form(f"/studies/st/disable/{found[1]}").status_code == 403


@pytest.mark.parametrize("token", ["", "wrong", "0" * 64])
def test_changes_need_the_token_of_this_session(ann: Person, owner: Person, token: str) -> None:
    item = ann.next()
    before = ann.csrf
    for given in {token, owner.csrf}:
        ann.csrf = given
        assert ann.call(f"/item/{item}/draft", version=0, answers=answers()).status_code == 403
        assert ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers()).status_code == 403
        assert ann.form("/next").status_code == 403
        assert ann.form("/leave").status_code == 403
    ann.csrf = before
    assert ann.call(f"/item/{item}/draft", version=0, answers=answers()).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://["}, {"Origin": "://"},
    ],
)  # fmt: skip
def test_changes_from_elsewhere_are_refused_even_with_the_token(ann: Person, headers: dict[str, str]) -> None:
    ann.get("/queue")
    assert ann.http.post("/review/next", data={"csrf": ann.csrf}, headers=headers).status_code == 403
    assert ann.http.post("/review/join", data={"token": OWNER}, headers=headers).status_code == 403
    own = {"Origin": str(ann.http.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert ann.http.post("/review/next", data={"csrf": ann.csrf}, headers=own).status_code == 200


def test_a_get_changes_nothing_for_who_is_not_there(ann: Person) -> None:
    for path in ("/next", "/leave", "/join"):
        assert ann.http.get(f"/review{path}").status_code in {404, 405}


def test_the_cookie_is_kept_from_scripts_and_other_sites(url: str, owner: Person) -> None:
    owner.study()
    link = owner.invite("Ann")
    answer = httpx.post(f"{url}/review/join", data={"token": link.rsplit("/", 1)[1]})
    cookie = answer.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/review", "max-age="))
    assert "set-cookie" not in httpx.get(f"{url}{link}").headers  # a preview of the link lets nobody in


def test_secrets_are_kept_as_digests(url: str, desk: ReviewState, owner: Person) -> None:
    owner.study()
    link = owner.invite("Ann")
    ann = Person(url, link)
    token, secret = link.rsplit("/", 1)[1], ann.http.cookies["repoassay_review"]
    with desk.database.reading() as connection:
        kept = str(connection.execute(sessions.select()).all()) + str(connection.execute(raters.select()).all())
    assert token not in kept and secret not in kept and ann.csrf not in kept and OWNER not in kept


@pytest.mark.parametrize("cookie", ["", "x", "a" * 43, "\u00e9" * 30, "a" * 5000, "';--" * 10])
def test_made_up_cookies_are_nobody(url: str, cookie: str) -> None:
    headers = {b"Cookie": f"repoassay_review={cookie}".encode()}
    assert httpx.get(f"{url}/review/queue", headers=headers).status_code == 401


@pytest.mark.by_day(3)
@pytest.mark.parametrize("token", ["", "x", "a" * 43, "%00", "..%2f..", "\u202e" * 10, "a" * 4000])
def test_made_up_invitations_are_refused(url: str, token: str) -> None:
    assert httpx.get(f"{url}/review/join/{token}").status_code in {404, 405}
    assert httpx.post(f"{url}/review/join", data={"token": token}).status_code == 404


def test_sessions_end(ann: Person, owner: Person, clock: Clock) -> None:
    clock.forward(OWNER_SECONDS - 1)
    assert owner.get("/studies").status_code == 200
    clock.forward(2)
    assert owner.get("/studies").status_code == 401
    assert ann.get("/queue").status_code == 200
    clock.forward(RATER_SECONDS)
    assert ann.get("/queue").status_code == 401


def test_leaving_ends_the_session_for_whoever_kept_the_cookie(ann: Person, url: str) -> None:
    ann.get("/queue")
    secret = ann.http.cookies["repoassay_review"]
    ann.form("/leave")
    assert httpx.get(f"{url}/review/queue", cookies={"repoassay_review": secret}).status_code == 401


def test_a_disabled_rater_is_out_at_once_and_stays_out(ann: Person, owner: Person, url: str) -> None:
    link = owner.invite("Bob")
    bob = Person(url, link)
    item = bob.next()
    found = re.search(r"/disable/(\w+)\"[^>]*>(?:(?!</form>).)*Disable Bob", owner.get("/studies/st").text, re.DOTALL)
    assert found is not None
    owner.form(f"/studies/st/disable/{found[1]}")
    assert bob.call(f"/item/{item}/draft", version=0, answers=answers()).status_code == 401
    assert bob.join(link).status_code == 404
    assert ann.get("/queue").status_code == 200


def test_a_rater_reaches_nothing_of_another_study_or_queue(owner: Person, url: str) -> None:
    owner.study("st", mode="balanced", overlap="1")
    owner.study("other", seed="2")
    ann, bob = Person(url, owner.invite("Ann")), Person(url, owner.invite("Bob"))
    owner.form("/studies/st/assign")
    cara = Person(url, owner.invite("Cara", study="other"))
    mine = ann.next()
    for stranger in (bob, cara):
        for path in (f"/item/{mine}", f"/item/{mine}/diff/0", f"/item/{mine}/files", f"/item/{mine}/comments",
                     f"/files/{mine}/0/made", f"/api/item/{mine}/draft", f"/item/{mine}/evidence"):  # fmt: skip
            assert stranger.get(path).status_code in {403, 404, 422}, path
        assert stranger.call(f"/item/{mine}/draft", version=0, answers=answers()).status_code == 422
        assert stranger.call(f"/item/{mine}/submit", key="k" * 12, answers=answers()).status_code == 422
        told = stranger.call(f"/item/{mine}/comments", file=0, side="new", line=1, text="x")
        assert told.status_code == 422


def test_what_is_too_large_is_refused(ann: Person) -> None:
    item = ann.next()
    headers = {"X-CSRF-Token": ann.csrf}
    place = f"/review/api/item/{item}/draft"
    assert ann.http.post(place, content=b"x" * (3 * 2**20), headers=headers).status_code == 413
    parts = itertools.repeat(b"x" * 2**16, 64)
    assert ann.http.post(place, content=parts, headers=headers).status_code == 413  # no length told


def test_a_stranger_sends_little(url: str) -> None:
    assert httpx.post(f"{url}/review/join", data={"token": "x" * 2**16}).status_code == 413


@pytest.mark.long
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"])
def test_a_body_that_does_not_arrive_holds_no_connection(kind: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody need be logged in for one, and a connection at work never gives way to others."""
    monkeypatch.setattr(auth, "_SECONDS", 0.5)
    monkeypatch.setattr(connection, "_HEAD", 0.5)
    place = httpx.URL(url)
    with socket.create_connection((place.host, place.port or 0), timeout=30) as wire:
        head = f"POST /review/join HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: 1000\r\n\r\n"
        wire.sendall(head.encode() + b"--b\r\n")
        assert b" 408 " in wire.recv(65536)
        while wire.recv(65536):
            pass  # until the server closes it


NONSENSE = (
    b"", b"[]", b"nul", b"[" * 100_000, b'{"version": NaN}', b'{"version": true, "answers": {}}', b'{"version": -1}',
     b'{"version": 0, "answers": []}', b'{"version": 0, "answers": {"axes": {"a b": {}}}}',
     b'{"version": 0, "answers": {"secret": 1}}', b'{"version": 0, "phase": "later", "answers": {}}',
     b'{"version": 99999999999999999999999, "answers": {}}', b'{"version": 0, "answers": {"notes": "\\ud800"}}',
     b'{"version": 0, "answers": {"notes": "\xff"}}', b'{"version": 0, "answers": {"minutes": 1e999}}',
)  # fmt: skip


def test_nonsense_is_refused_in_a_sentence(ann: Person) -> None:
    item = ann.next()
    for body in NONSENSE:
        answer = ann.http.post(f"/review/api/item/{item}/draft", content=body, headers={"X-CSRF-Token": ann.csrf})
        assert answer.status_code == 422, (body[:99], answer.text)
        assert answer.json()["error"]


def test_every_answer_has_the_headers(ann: Person, url: str) -> None:
    item = ann.next()
    places = ["/queue", f"/item/{item}", f"/item/{item}/diff/0", f"/api/item/{item}/draft", "/static/review.js",
              "/static/nothing.js", "/nothing", "/studies", "/join/x"]  # fmt: skip
    for place in places:
        headers = ann.get(place).headers
        assert "script-src 'self'" in headers["content-security-policy"], place
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in httpx.get(f"{url}/review/queue").headers["content-security-policy"]


def test_pages_hold_no_inline_script_or_style(ann: Person, owner: Person) -> None:
    item = ann.next()
    ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers())
    pages = [ann.get("/queue"), ann.get(f"/item/{item}"), ann.get(f"/item/{item}/diff/0")]
    pages += [owner.get(f"/studies{path}") for path in ("", "/new", "/st", "/st/figures", "/st/disputes", "/st/log",
                                                        f"/st/items/{item}")]  # fmt: skip
    for page in pages:
        assert page.status_code == 200
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", page.text)


def test_foreign_host_names_are_refused(desk: ReviewState) -> None:
    from server.review.samples import answering

    desk.hosts = frozenset({"127.0.0.1", "localhost"})
    with answering(desk) as url:
        assert httpx.get(f"{url}/review/join/x").status_code == 404
        assert httpx.get(f"{url}/review/join/x", headers={"Host": "evil.example"}).status_code == 421
        assert httpx.get(f"{url}/review/join/x", headers={"Host": "127.0.0.1.evil.example"}).status_code == 421
