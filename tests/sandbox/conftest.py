"""A sandbox with small limits, and, for comparison, the same Python code as a plain process.

An attack is shown twice: `plain` proves that it works where nothing is in its way, `inside` that the sandbox is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apptainer_here import make_apptainer
from docker_here import docker_daemon
from marked_processes import Marked
from podman_here import IMAGE, make_podman
from remote_sandboxes import serve_sandboxes
from repoassay.sandbox.apptainer import ApptainerSandbox
from repoassay.sandbox.bubblewrap import BubblewrapSandbox
from repoassay.sandbox.cache import Cache, settle
from repoassay.sandbox.containers import ContainerSandbox
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.none import NoSandbox
from repoassay.sandbox.protocol import Command, Completed, Sandbox
from repoassay.sandbox.remote.http_sandbox import HttpSandbox
from repoassay.types import Limits

PYTHON = str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))
SMALL = Limits(seconds=20, memory=128 * 2**20, disk=16 * 2**20, processes=32, output=64 * 2**10)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("cache"))


KINDS = {"namespaces": NamespaceSandbox, "bubblewrap": BubblewrapSandbox}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try the tests of a module that names `SANDBOXES` on each of them, but for those marked `namespaces_alone`.

    By day the default sandbox has all of them, and the others those marked `every_sandbox`: of each kind of attack one.
    The same holds for the fixture `kind` of tests of sessions, whose modules name fixtures in `SESSIONS`.
    """
    by_night = () if metafunc.definition.get_closest_marker("every_sandbox") else pytest.mark.exhaustive
    sessions = getattr(metafunc.module, "SESSIONS", ())
    if sessions and "kind" in metafunc.fixturenames:
        tried = [sessions[0], *(pytest.param(other, marks=by_night) for other in sessions[1:])]
        metafunc.parametrize("kind", tried, indirect=True)
    kinds = getattr(metafunc.module, "SANDBOXES", ())
    if kinds and "sandbox" in metafunc.fixturenames:
        alone = metafunc.definition.get_closest_marker("namespaces_alone") is not None
        if os.geteuid() and metafunc.definition.get_closest_marker("boxes_of_root"):
            alone = True
        tried = [
            "namespaces",
            *(pytest.param(kind, marks=by_night) for kind in kinds if kind != "namespaces" and not alone),
        ]
        metafunc.parametrize("sandbox", tried, indirect=True, scope="session")


@pytest.fixture(scope="session")
def sandbox(cache: Cache, request: pytest.FixtureRequest) -> NamespaceSandbox:
    kind = getattr(request, "param", "namespaces")
    if kind == "http":
        return request.getfixturevalue("remote")  # type: ignore[no-any-return]  # the same contract
    if kind == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return KINDS[kind](cache)  # type: ignore[return-value]  # each keeps the same contract


@pytest.fixture(scope="session")
def watched(cache: Cache) -> NamespaceSandbox:
    """A sandbox as an account without control groups has it."""
    return NamespaceSandbox(cache, control_groups=False)


@pytest.fixture(scope="session")
def bubblewrap(cache: Cache) -> BubblewrapSandbox:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return BubblewrapSandbox(cache)


@pytest.fixture(scope="session")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerSandbox]:
    programs = make_podman(tmp_path_factory.mktemp("podman"))
    if programs is None:
        pytest.skip("podman is not installed, or cannot run a container here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        made = ContainerSandbox("podman", IMAGE)
    yield made
    subprocess.run([programs / "podman", "rmi", "--force", IMAGE], capture_output=True, check=False)


@pytest.fixture(scope="session")
def docker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerSandbox]:
    with docker_daemon(tmp_path_factory.mktemp("docker")) as address, pytest.MonkeyPatch.context() as patch:
        if address is None:
            pytest.skip("no daemon of Docker can be started here: it takes root and the program dockerd")
        patch.setenv("DOCKER_HOST", address)
        yield ContainerSandbox("docker", IMAGE)


@pytest.fixture(scope="session")
def apptainer(cache: Cache, tmp_path_factory: pytest.TempPathFactory) -> ApptainerSandbox:
    found = make_apptainer(tmp_path_factory.mktemp("apptainer"))
    if found is None:
        pytest.skip("neither Apptainer nor bubblewrap, which can show an image in its place to root, is here")
    programs, image = found
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{programs}:{os.environ['PATH']}" if programs else os.environ["PATH"])
        return ApptainerSandbox(cache, str(image))


@pytest.fixture(scope="session")
def remote(cache: Cache) -> Iterator[HttpSandbox]:
    """The default sandbox behind a server of sandboxes, at an address of this machine alone."""
    with serve_sandboxes(cache) as served:
        yield HttpSandbox(served.client, cache)


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> Sandbox:
    """Each sandbox that the module names."""
    found: Sandbox = NoSandbox() if request.param == "none" else request.getfixturevalue(request.param)
    return found


@pytest.fixture
def inside(sandbox: NamespaceSandbox) -> Callable[..., Completed]:
    """Run Python code in the sandbox. Options are limits, `within` (another sandbox), and fields of `Command`."""

    def run(
        code: str,
        *arguments: str,
        within: NamespaceSandbox = sandbox,
        cancel: threading.Event | None = None,
        **options: object,
    ) -> Completed:
        limits = SMALL.model_copy(update={name: options.pop(name) for name in Limits.model_fields if name in options})
        argv = (PYTHON, "-I", "-B", "-c", code, *arguments)
        return within.run(Command(argv=argv, limits=limits, **options), cancel)  # type: ignore[arg-type]  # any field

    return run


@pytest.fixture
def plain() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run Python code as a process like any other."""

    def run(code: str, *arguments: str, seconds: float = 30) -> subprocess.CompletedProcess[bytes]:
        argv = [PYTHON, "-I", "-B", "-c", code, *arguments]
        return subprocess.run(argv, capture_output=True, timeout=seconds, check=False)

    return run


@pytest.fixture
def marked() -> Iterator[Marked]:
    mark = Marked()
    yield mark
    mark.kill()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder as checkouts and inputs lie in the cache: three files, of which one is a program and one nested."""
    top = tmp_path / "tree"
    (top / "inner").mkdir(parents=True)
    (top / "plain.txt").write_text("as it was\n")
    (top / "program").write_text("#!/bin/sh\necho ran\n")
    (top / "program").chmod(0o755)
    (top / "inner/data.bin").write_bytes(bytes(range(256)))
    settle(top)
    return top
