"""Reviews posted to a forge that is played on this machine: planned first, once, and on from where it broke off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forges.loopback import TOKEN, played
from forges.recording import as_gitlab, made
from repoassay.cli.main import cli
from repoassay.review import add_comment, add_rater, items_of, open_database, open_item, submit
from repoassay.types import Anchor
from review.samples import NOW, answers, later


@pytest.fixture(name="studied", params=["github", "gitlab"])
def _studied(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """A study of twelve pull requests, rated by one person, and its forge."""
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
    monkeypatch.setattr("time.sleep", lambda _: None)
    forge, place = request.param, tmp_path / "r.sqlite"
    source = tmp_path / "pulls.json"
    source.write_text(json.dumps([as_gitlab(each) for each in made()] if forge == "gitlab" else made()))
    done = CliRunner().invoke(cli, ["review", "import-pr", str(source), "--study", "st", "--database", str(place)])
    assert done.exit_code == 0, done.output
    database = open_database(place)
    rater = add_rater(database, "st", "ana", at=NOW).rater
    for item in items_of(database, "st"):
        open_item(database, rater, item.id, NOW)
        for file in item.payload.diff.split("+++ b/")[1:2]:
            where = Anchor(path=file.split("\n")[0], line=1, end_line=1)
            add_comment(database, rater, item.id, where, "Why?", now=NOW)
        submit(database, rater, item.id, answers(would_merge=True), key=item.id, now=later(60))
    database.close()
    return forge, place


def post(studied: tuple[str, Path], url: str, *more: str, to: str = "acme/shop") -> Any:
    forge, place = studied
    words = ["review", "export-pr", "st", "--database", str(place), "--post", f"{forge}:{to}", "--api", url, *more]
    return CliRunner().invoke(cli, words)


def test_a_plan_is_shown_and_nothing_posted_without_yes(studied: tuple[str, Path]) -> None:
    with played(made()) as server:
        done = post(studied, server.url)
        assert done.exit_code == 0 and "to be posted" in done.output and "nothing was" in done.output
        assert server.asked == []


def test_nothing_is_posted_twice(studied: tuple[str, Path]) -> None:
    with played(made()) as server:
        assert post(studied, server.url, "--yes").exit_code == 0
        first = list(server.posted)
        again = post(studied, server.url, "--yes")
        assert "0 requests were posted" in again.output and server.posted == first
    numbers = {path.split("/")[-2] for path, _ in first}
    assert numbers == {str(number) for number in range(101, 113)}
    # GitHub: one review a pull request. GitLab: a note, a thread where there is a line, an approval.
    assert len(first) == (12 if studied[0] == "github" else 36)
    assert TOKEN.encode() not in b"".join(path.read_bytes() for path in studied[1].parent.iterdir())


@pytest.mark.by_day(1)
def test_what_broke_off_goes_on_and_looks_first_whether_it_arrived(studied: tuple[str, Path]) -> None:
    with played(made()) as server:
        server.post_failures = [(201, True), (201, True), (500, True)]  # the third arrives, and nobody is told
        broken = post(studied, server.url, "--yes")
        assert broken.exit_code == 1 and len(server.posted) >= 3
        assert post(studied, server.url, "--yes").exit_code == 0
        sent = [json.dumps(each, sort_keys=True) for each in server.posted]
        assert len(sent) == len(set(sent)) == (12 if studied[0] == "github" else 36)


@pytest.mark.by_day(1)
def test_what_the_forge_refuses_is_told_and_can_be_sent_later(studied: tuple[str, Path]) -> None:
    with played(made()) as server:
        server.post_failures = [(422, False)]
        done = post(studied, server.url, "--yes")
        assert done.exit_code == 1 and "1 refused" in done.output and "status 422" in done.output
        assert post(studied, server.url, "--yes").exit_code == 0
        assert len(server.posted) == (12 if studied[0] == "github" else 36)


@pytest.mark.by_day(1)
def test_a_review_that_changed_is_left_alone(studied: tuple[str, Path]) -> None:
    with played(made()) as server:
        post(studied, server.url, "--yes")
        before = len(server.posted)
        database = open_database(studied[1])
        rater = add_rater(database, "st", "bo", at=NOW).rater
        item = items_of(database, "st")[0]
        open_item(database, rater, item.id, NOW)
        submit(database, rater, item.id, answers(would_merge=False), key="later-on-st", now=later(90))
        database.close()
        assert "left alone" in post(studied, server.url, "--yes").output and len(server.posted) == before


def test_an_export_does_not_say_where_a_token_goes(studied: tuple[str, Path]) -> None:
    with played(made()) as server:
        done = post(studied, server.url, "--yes", to="acme/other")
        assert done.exit_code != 0 and "is one of" in str(done.exception) and server.asked == []
