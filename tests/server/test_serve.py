"""A real server: handed in, read back, stopped, killed, started again; nothing lost, nothing judged twice."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from server.serving import Process, solution

pytestmark = pytest.mark.exhaustive

TASK = "edit-ledger-monthly"
STORM = Path(__file__).parents[2] / "measurements/serve_kill.py"
REPOASSAY = str(Path(sys.executable).with_name("repoassay"))


def given(key: str, patch: str | None = None) -> dict[str, str]:
    return {"id": TASK, "patch": solution(TASK) if patch is None else patch, "key": key}


def test_handed_in_read_back_stopped_and_started_again(tmp_path: Path) -> None:
    queue = str(tmp_path / "queue.sqlite")
    with Process("--database", queue) as server, httpx.Client(base_url=server.url, timeout=60) as http:
        accepted = http.post("/v1/submissions", json=[given("a"), given("b", "")]).json()["submissions"]
        whole = [http.get(each["url"], params={"wait": 60}).json() for each in accepted]
        assert [each["message"] for each in whole] == ["PASS", "PATCH FAILED"]
        assert [each["success"] for each in whole] == [True, False]
        assert whole[0]["verdict"]["tests"] == [] and whole[0]["feedback"] == "" and whole[1]["feedback"]
        lines = [json.loads(line) for line in http.get("/v1/results", params={"whole": True}).iter_lines()]
        assert {each["submission"] for each in lines} == {each["submission"] for each in accepted}
        assert sorted(lines, key=lambda line: int(line["cursor"])) == lines and lines[0]["verdict"]
        assert 'repoassay_verdicts_total{verdict="PASS"} 1.0' in http.get("/metrics").text

        streamed: list[str] = []
        begun = threading.Event()

        def follow() -> None:
            with httpx.stream("GET", f"{server.url}/v1/results", params={"wait": 600}, timeout=60) as answer:
                for line in answer.iter_lines():
                    streamed.append(line)
                    begun.set()

        follower = threading.Thread(target=follow)
        follower.start()
        more = http.post("/v1/submissions", json=[given(f"c{number}") for number in range(8)])
        assert more.status_code == 202 and begun.wait(60)
        assert server.stop() == 0
        follower.join(60)
        assert len(streamed) >= 2 and not follower.is_alive()  # a stream ends with its server, with whole lines
        assert all(json.loads(line) for line in streamed)
    with Process("--database", queue) as server, httpx.Client(base_url=server.url, timeout=60) as http:
        again = http.post("/v1/submissions", json=[given("a"), given("b", "")]).json()["submissions"]
        assert [each["submission"] for each in again] == [each["submission"] for each in accepted]
        for each in more.json()["submissions"]:
            assert http.get(each["url"], params={"wait": 60}).json()["message"] == "PASS"
        cursors = [json.loads(line)["cursor"] for line in http.get("/v1/results").iter_lines()]
        assert len(cursors) == len(set(cursors)) == 10
        assert server.stop(signal.SIGINT) == 0
        assert "Stopped." in "".join(server.log) and "Traceback" not in "".join(server.log)


def storm(database: str) -> None:
    done = subprocess.run(
        [sys.executable, STORM, "--submissions", "60", "--clients", "12", "--kills", "1", "--tasks", "edit-ledger-a*",
         "--lease", "3",
         *(("--database", database) if database else ())],
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("yes  ") == 6 and "60 submissions" in done.stdout


def test_killed_while_many_hand_in_every_submission_gets_one_verdict() -> None:
    storm("")


def test_the_same_with_postgresql(postgres: str) -> None:
    storm(postgres)


def test_what_a_killed_server_was_judging_is_taken_over_by_another(postgres: str) -> None:
    options = ("--database", postgres, "--lease", "2")
    with Process(*options) as doomed, Process(*options) as other:
        accepted = httpx.post(f"{doomed.url}/v1/submissions", json=[given(f"{n}") for n in range(12)], timeout=60)
        while httpx.get(f"{other.url}/healthz").json()["running"] < 3:
            time.sleep(0.01)
            if httpx.get(f"{other.url}/healthz").json()["queued"] == 0:
                break
        doomed.kill()
        for each in accepted.json()["submissions"]:
            found = httpx.get(other.url + each["url"], params={"wait": 60}, timeout=90).json()
            assert found["message"] == "PASS"
        lines = httpx.get(f"{other.url}/v1/results").text.splitlines()
        assert len(lines) == 12
        assert other.stop() == 0


def test_a_second_signal_gives_up_what_is_under_way(tmp_path: Path) -> None:
    queue = str(tmp_path / "queue.sqlite")
    with Process("--database", queue, "--grace", "600") as server:
        httpx.post(f"{server.url}/v1/submissions", json=[given(f"{n}") for n in range(40)], timeout=60)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        assert server.stop(signal.SIGTERM) == 0
    with Process("--database", queue) as server:
        assert httpx.get(f"{server.url}/healthz").json()["queued"] > 0
        for each in httpx.get(f"{server.url}/v1/submissions").json()["submissions"]:
            assert (
                httpx.get(server.url + f"/v1/submissions/{each['submission']}", params={"wait": 60}, timeout=90).json()[
                    "message"
                ]
                == "PASS"
            )


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--suite", "starter", "--host", "0.0.0.0"), 2, "--token-file"),
        (("--suite", "starter", "--rate-limit", "often"), 2, "600/min"),
        (("--suite", "starter", "--token-file", "absent"), 2, "cannot be read"),
        (("--suite", "starter", "--database", "mysql://x"), 2, "of no kind we know"),
        (("--suite", "starter", "--database", "postgresql://nobody:secret@127.0.0.1:1/none"), 3, "cannot be used"),
        (("--suite", "starter", "--database", "postgresql://nobody:secret@[::1/none"), 2, "not one that PostgreSQL"),
        (("--suite", "starter", "--database", "postgresql://nobody:secret/x@h/none"), 2, "percent-encoded"),
        (("--suite", "starter", "--database", "postgresql://nobody:x@secret@h/none"), 2, "percent-encoded"),
        (("--suite", "starter", "--database", "/proc/none/queue.sqlite"), 2, "cannot be opened"),
        (("--suite", "starter", "--host", "203.0.113.1", "--insecure"), 2, "cannot be had"),
        (("--suite", "starter", "--host", "a" * 70, "--insecure"), 2, "no address"),
        (("--dataset", "absent.jsonl"), 2, "absent.jsonl"),
        ((), 2, "--dataset or --suite"),
    ],
)
def test_what_cannot_be_served_is_a_sentence(options: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [REPOASSAY, "serve", *options], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path,
        env={**os.environ, "REPOASSAY_DATA": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stderr and "secret" not in done.stderr


def refused(*options: str, without: str = "", cwd: Path) -> subprocess.CompletedProcess[str]:
    hidden = f"sys.modules[{without!r}] = None; " if without else ""
    code = f"import sys; {hidden}from repoassay.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "serve", "--suite", "starter", *options],
        capture_output=True, text=True, timeout=60, check=False, cwd=cwd,
        env={**os.environ, "REPOASSAY_DATA": str(cwd)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("module", "extra"),
    [("fastapi", "serve"), ("uvicorn", "serve"), ("prometheus_client", "serve"), ("psycopg", "postgres")],
)
def test_a_missing_extra_is_a_sentence_with_the_command(module: str, extra: str, tmp_path: Path) -> None:
    done = refused("--database", "postgresql://x@127.0.0.1:1/x" if extra == "postgres" else "", without=module,
                   cwd=tmp_path)  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (3, False), done.stderr
    assert f"repoassay[{extra}]" in done.stderr and "install" in done.stderr


def test_a_port_in_use_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = refused("--port", str(taken.getsockname()[1]), cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert "Address already in use" in done.stderr and "--port" in done.stderr


def test_what_is_kept_is_nobody_elses_to_read_and_tokens_are_told_nobody(tmp_path: Path) -> None:
    token = "a-token-nobody-may-read"
    (tmp_path / "tokens").write_text(token)
    options = ("--token-file", str(tmp_path / "tokens"), "--database", str(tmp_path / "deep/queue.sqlite"))
    with Process(*options) as server:
        headers = {"Authorization": f"Bearer {token}"}
        accepted = httpx.post(f"{server.url}/v1/submissions", json=given("k", ""), headers=headers, timeout=60)
        assert accepted.status_code == 202
        httpx.get(f"{server.url}/v1/results?token={token}", headers={"Authorization": f"Bearer {token}x"})
        text = httpx.get(f"{server.url}/metrics", headers=headers, timeout=60).text
        assert server.stop() == 0
    kept = [each for each in (tmp_path / "deep").iterdir() if each.is_file()]
    assert kept and all(each.stat().st_mode & 0o077 == 0 for each in kept), kept
    assert token not in "".join(server.log) + text
    assert all(token.encode() not in each.read_bytes() for each in kept)


def test_two_signals_at_once_end_it_without_a_traceback(tmp_path: Path) -> None:
    with Process("--database", str(tmp_path / "queue.sqlite")) as server:
        server.process.send_signal(signal.SIGINT)
        assert server.stop(signal.SIGTERM) == 0
        assert "Traceback" not in "".join(server.log)
