"""The digest of what an agent is made of: another by any change of it, the same while it is used."""

from __future__ import annotations

from pathlib import Path

from repoassay.agents import content_digest


def test_runs_written_into_an_agents_folder_do_not_change_it(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text("true")
    (tmp_path / "attempts").mkdir()
    before = content_digest(tmp_path)
    run = tmp_path / "runs" / "20260101-starter"
    (run / "attempts").mkdir(parents=True)
    (run / "run.json").write_text("{}")
    (run / "attempts" / "log.txt").write_text("one")
    assert content_digest(tmp_path) == before
    (tmp_path / "attempts" / "plan.txt").write_text("a folder of the agent's own")
    assert content_digest(tmp_path) != before


def test_a_file_called_as_a_runs_is_the_agents(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "run.json").write_text("{}")
    before = content_digest(tmp_path)
    (tmp_path / "config" / "run.json").write_text("[]")
    assert content_digest(tmp_path) != before
