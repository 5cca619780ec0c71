"""The sandbox that Inspect gets: by Inspect's own checks of providers, and by what hostile commands try."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

pytest.importorskip("inspect_ai")
import anyio
from inspect_ai.util import SandboxUnavailableError, SandboxUserUnsupportedError
from inspect_ai.util._sandbox import self_check

from repoassay.errors import BadInput
from repoassay.integrations.inspect_extension import RepoAssaySandbox, SampleConfig

T = TypeVar("T")
NO_ROOT = {"test_exec_as_user"}
"""Checks that want root in the sandbox, which nothing in ours is."""


def within(work: Callable[[RepoAssaySandbox], Awaitable[T]], config: SampleConfig | None = None) -> T:
    """What `work` returns of a sample's sandbox, which is thrown away afterwards."""

    async def whole() -> T:
        made = await RepoAssaySandbox.sample_init("a task", config, {})
        try:
            return await work(made["default"].as_type(RepoAssaySandbox))
        finally:
            await RepoAssaySandbox.sample_cleanup("a task", config, made, interrupted=False)

    return anyio.run(whole)


@pytest.mark.long
def test_inspects_own_checks_hold() -> None:
    async def all_checks(sandbox: RepoAssaySandbox) -> dict[str, str]:
        failures = {}
        for name in sorted(set(self_check.__all__) - NO_ROOT):
            try:
                await getattr(self_check, name)(sandbox)
            except Exception as error:  # noqa: BLE001 - each check raises what it likes
                failures[name] = f"{type(error).__name__}: {error}"[:500]
        return failures

    assert len(self_check.__all__) > 40
    assert within(all_checks) == {}


@pytest.mark.parametrize("user", ["root", "0", "nobody"])
def test_nobody_is_another_user(user: str) -> None:
    async def as_user(sandbox: RepoAssaySandbox) -> None:
        assert (await sandbox.exec(["id", "-u"], user="agent")).success
        with pytest.raises(SandboxUserUnsupportedError):
            await sandbox.exec(["id"], user=user)

    within(as_user)


@pytest.mark.long
def test_a_command_that_is_given_up_is_killed_with_what_it_started() -> None:
    async def give_up(sandbox: RepoAssaySandbox) -> str:
        with anyio.move_on_after(1.5):
            await sandbox.exec(["/bin/sh", "-c", "sleep 1234 & setsid sleep 1234 & sleep 1234"])
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            done = await sandbox.exec(["/bin/sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
            if "sleep 1234" not in done.stdout.replace("cat /proc", ""):
                return "gone"
            await anyio.sleep(0.2)
        return done.stdout

    assert within(give_up) == "gone"


@pytest.mark.long
def test_a_sample_that_is_given_up_while_it_opens_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from repoassay.integrations.inspect_extension.open_samples import OpenSample, open_sample

    closed = threading.Event()
    close = OpenSample.close

    def slow(config: object, metadata: object) -> OpenSample:
        time.sleep(1)
        return open_sample(None, {})

    def noted(sample: OpenSample) -> None:
        close(sample)
        closed.set()

    monkeypatch.setattr("repoassay.integrations.inspect_extension.sample_sandbox.open_sample", slow)
    monkeypatch.setattr(OpenSample, "close", noted)

    async def impatient() -> None:
        with anyio.move_on_after(0.2):
            await RepoAssaySandbox.sample_init("a task", None, {})

    anyio.run(impatient)
    assert closed.wait(30)


def test_no_network_and_no_file_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("a secret of the host")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 3)"

        async def try_it(sandbox: RepoAssaySandbox) -> tuple[bool, str, bool]:
            call = await sandbox.exec(["python3", "-c", code])
            home = await sandbox.exec(["cat", str(tmp_path / "secret.txt"), str(Path.home() / ".cache")])
            with pytest.raises(FileNotFoundError):
                await sandbox.read_file(str(tmp_path / "secret.txt"))
            with pytest.raises(PermissionError):
                await sandbox.write_file("/etc/passwd", "root::0:0::/:/bin/sh")
            return call.success, home.stdout, "refused" in call.stderr or "unreachable" in call.stderr

        assert within(try_it) == (False, "", True)


def test_a_sample_sees_no_solution_and_no_hidden_test() -> None:
    """Of a task whose solution and tests are known to name something that its repository does not."""

    async def search(sandbox: RepoAssaySandbox) -> str:
        done = await sandbox.exec(
            ["/bin/sh", "-c",
             "find / -xdev \\( -name changes.diff -o -name 'test_*hidden*' -o -name task.toml \\) 2>/dev/null; "
             "grep -rlsE 'fail_to_pass|FAIL_TO_PASS' /workspace /tmp /run /var /home /opt"],
            timeout=200,
        )  # fmt: skip
        listing = (await sandbox.exec(["ls", "/workspace"])).stdout.split()
        assert listing == ["inputs", "instruction.md", "repo"]
        return done.stdout

    assert within(search, SampleConfig(suite="starter", task="edit-ledger-monthly")) == ""


@pytest.mark.long
def test_what_has_ended_is_no_failure_of_the_model() -> None:
    async def outlive(sandbox: RepoAssaySandbox) -> None:
        with pytest.raises(SandboxUnavailableError):
            await sandbox.exec(["sleep", "60"])
        with pytest.raises(SandboxUnavailableError):
            await sandbox.read_file("x")

    within(outlive, SampleConfig(seconds=1.5))


def test_a_configuration_of_somebody_else_is_a_sentence() -> None:
    async def nothing(sandbox: RepoAssaySandbox) -> None: ...

    with pytest.raises(BadInput, match="No task of starter matches 'nothing-like-it'"):
        within(nothing, SampleConfig(suite="starter", task="nothing-like-it"))
    with pytest.raises(BadInput, match="is no compose file of one service"):
        anyio.run(lambda: RepoAssaySandbox.sample_init("a task", "values.yaml", {}))
    assert RepoAssaySandbox.config_deserialize({"suite": "starter", "task": "x"}) == SampleConfig(
        suite="starter", task="x"
    )
