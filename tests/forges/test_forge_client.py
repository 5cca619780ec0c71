"""Pull requests from the API of a forge, played by a server on this machine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forges.loopback import TOKEN, LoopbackForge, played
from forges.recording import made
from repoassay.cli.main import cli
from repoassay.errors import BadInput, InfraFault, RepoAssayError, Unavailable
from repoassay.forges import ForgeClient, PullQuery, fetch_pulls, forge_address
from repoassay.forges.forge_client import ForgeRefused
from repoassay.review import items_of, open_database


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("OTHER_TOKEN", TOKEN)


def client(forge: LoopbackForge, waits: list[float] | None = None) -> ForgeClient:
    """Ask that forge, without really waiting."""
    return ForgeClient(forge_address("github:acme/shop", forge.url), sleep=([] if waits is None else waits).append)


def call(*words: object) -> Any:
    return CliRunner().invoke(cli, ["review", "import-pr", *map(str, words)])


@pytest.mark.long
@pytest.mark.parametrize(("forge", "token"), [("github", ""), ("gitlab", "OTHER_TOKEN")])
def test_a_study_is_made_of_what_the_forge_has(tmp_path: Path, forge: str, token: str) -> None:
    database, keep = tmp_path / "r.sqlite", tmp_path / "kept.json"
    with played(made()) as server:
        words = ["--from", f"{forge}:acme/shop", "--api", server.url, "--study", "st", "--database", database]
        done = call(
            *words, "--max", 12, "--state", "all", "--keep", keep, *(["--token-variable", token] if token else [])
        )
    assert done.exit_code == 0 and "12 pull requests; 0 were passed over" in done.output, done.output
    with_issue = [item for item in items_of(open_database(database), "st") if "shop is wrong" in item.payload.issue]
    assert len(with_issue) == (11 if forge == "github" else 0)  # the recording has no issues of GitLab
    # The export that was kept makes the same study, and neither holds the token.
    again = call(keep, "--study", "st2", "--database", database, "--repository", "acme/shop")
    assert "12 pull requests; 0 were" in again.output
    assert not [path for path in tmp_path.iterdir() if TOKEN.encode() in path.read_bytes()]


def test_state_and_number_bound_what_is_asked() -> None:
    with played(made()) as server:
        found = list(fetch_pulls(client(server), PullQuery("merged", None, 3)))
        assert [each["number"] for each in found] == [111, 110, 109] and all(each["merged_at"] for each in found)
        assert not [line for line in server.asked if "/108" in line]


def test_limits_are_waited_out_and_failures_asked_again() -> None:
    waits: list[float] = []
    with played(made()) as server:
        server.failures = [(403, {"Retry-After": "7"}), (429, {}), (502, {})]
        assert client(server, waits).ask("/repos/acme/shop/pulls/101")["number"] == 101
        assert waits == [7, 60, 8]
        server.failures = [(403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 9000)})]
        with pytest.raises(Unavailable, match="limit is reached"):
            client(server).ask("/repos/acme/shop/pulls/101")
        server.failures = [(500, {})] * 4
        with pytest.raises(InfraFault, match="answers 500"):
            client(server).ask("/repos/acme/shop/pulls/101")
        server.failures = [(403, {})]
        with pytest.raises(ForgeRefused, match="status 403"):
            client(server).ask("/repos/acme/shop/pulls/101")


def test_the_token_goes_nowhere_else_and_stands_in_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with played(made()) as server, played([]) as other:
        server.failures = [(302, {"Location": f"{other.url}/elsewhere"})]
        with pytest.raises(ForgeRefused) as caught:
            client(server).ask("/repos/acme/shop/pulls/101")
        assert other.asked == [] and TOKEN not in str(caught.value)
        server.failures = [(301, {"Location": f"{server.url}/repos/acme/shop/pulls/102"})]
        assert client(server).ask("/repos/acme/shop/pulls/101")["number"] == 102
        with pytest.raises(ForgeRefused, match="the token in GITHUB_TOKEN") as caught:
            client(server).ask("/repos/acme/nothing")
        assert TOKEN not in str(caught.value) and TOKEN not in repr(client(server).address)
    monkeypatch.setenv("GITHUB_TOKEN", "a\nb")
    with pytest.raises(BadInput, match="GITHUB_TOKEN holds what no header may"):
        forge_address("github:acme/shop")
    for given, api in (
        ("github:acme", ""),
        ("github:../x", ""),
        ("other:a/b", ""),
        ("github:a/b", "http://forge.example"),
        ("github:a/b", "https://[x"),
    ):
        with pytest.raises(BadInput):
            forge_address(given, api)


@pytest.mark.parametrize("said", ['{"message": "x"}', "[[[[", '[{"number": "x"}]', "[" * 100_000])
def test_an_answer_that_is_none_is_one_sentence(said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ForgeClient, "_open", lambda *_: (said.encode(), {}))
    done = call("--from", "github:acme/shop", "--study", "st", "--database", tmp_path / "r.sqlite")
    assert done.exit_code != 0 and isinstance(done.exception, RepoAssayError), done.exception
    assert not (tmp_path / "r.sqlite").exists()


def test_a_post_that_is_led_elsewhere_was_not_carried_out() -> None:
    path = "/repos/acme/shop/pulls/101/reviews"
    with played(made()) as server:
        server.post_headers = {"Location": f"{server.url}{path}"}
        for status in (301, 302, 303, 307):
            server.post_failures = [(status, False)]
            with pytest.raises(ForgeRefused, match=f"status {status}"):
                client(server).send(path, {"body": "Good."})
        assert server.posted == [] and not [line for line in server.asked if line.startswith("GET")]


@pytest.mark.by_day(2)
@pytest.mark.parametrize("errors", [True, 5, {"a": 1}, "why", [None, {"b": 2}]])
def test_a_refusal_of_any_shape_is_one_sentence(errors: object) -> None:
    with played(made()) as server:
        server.post_failures, server.post_body = [(422, False)], {"message": "No.", "errors": errors}
        with pytest.raises(ForgeRefused, match=r"status 422 \(No\."):
            client(server).send("/repos/acme/shop/pulls/101/reviews", {"body": "Good."})


@pytest.mark.parametrize("link", ['<https://[x>; rel="next"', "<a>;" * 8000])
def test_a_hostile_link_to_the_next_page_is_one_sentence_at_once(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ForgeClient, "_open", lambda *_: (b"[]", {"Link": link}))
    begun = time.process_time()
    asked = ForgeClient(forge_address("github:acme/shop")).pages("/x")
    if "next" in link:
        with pytest.raises(InfraFault, match="another host"):
            list(asked)
    else:
        assert list(asked) == []
    assert time.process_time() - begun < 2


def test_a_merge_request_that_is_a_list_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ForgeClient, "_open", lambda *_: (b'[{"iid": 1}]', {}))
    with pytest.raises(RepoAssayError, match="merge request"):
        list(fetch_pulls(ForgeClient(forge_address("gitlab:acme/shop")), PullQuery("all")))
