"""Installing agents: once per recipe, from a tiny package on this disk, by the real uv in the real sandbox."""

from __future__ import annotations

import hashlib
import json
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from repoassay.agents.install import availability, installed, obtain
from repoassay.agents.spec import AgentSpec
from repoassay.errors import BadInput, InfraFault, Unavailable
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Command, Mount, Sandbox
from repoassay.sandbox.sandbox import open_sandbox


def wheel(folder: Path, said: str = "hello") -> Path:
    """A package `tinyagent` with a program of that name."""
    path = folder / "tinyagent-1.0-py3-none-any.whl"
    files = {
        "tinyagent.py": f"def main():\n    print({said!r})\n",
        "tinyagent-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tinyagent\nVersion: 1.0\n",
        "tinyagent-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "tinyagent-1.0.dist-info/entry_points.txt": "[console_scripts]\ntinyagent = tinyagent:main\n",
    }
    record = "".join(
        f"{name},sha256={urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()},{len(text)}\n"
        for name, text in files.items()
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, "tinyagent-1.0.dist-info/RECORD": record}.items():
            archive.writestr(name, text)
    return path


def spec(**install: object) -> AgentSpec:
    return AgentSpec.model_validate(
        {"schema": 1, "name": "t", "dialect": "chat", "install": install, "run": {"command": ["x", "{prompt}"]}}
    )


@pytest.fixture
def own(tmp_path: Path) -> tuple[Cache, Sandbox]:
    cache = Cache(tmp_path / "cache")
    return cache, open_sandbox("namespaces", cache)


def test_it_is_installed_once_and_again_when_its_package_changes(own: tuple[Cache, Sandbox], tmp_path: Path) -> None:
    cache, sandbox = own
    recipe = spec(kind="pip", requirements=[f"tinyagent @ file://{wheel(tmp_path)}"])
    assert availability(recipe, cache).state == "available"
    first = obtain(recipe, cache, sandbox)
    assert any("tinyagent" in package for package in first.packages)
    assert list((first.tree / "lib").glob("python*/site-packages/__pycache__/tinyagent.*.pyc"))
    assert availability(recipe, cache).state == "installed"
    assert obtain(recipe, cache, sandbox) == first
    assert len(list((cache.path / "agents").glob("[!.]*"))) == 1
    mounts = (Mount(first.tree, "/agent"), *first.mounts)
    done = sandbox.run(Command(argv=("/agent/bin/python", "-I", "/agent/bin/tinyagent"), mounts=mounts))
    assert done.stdout == b"hello\n"
    spoil = ("/bin/sh", "-c", "echo x > /agent/lib/x || echo read-only")
    assert sandbox.run(Command(argv=spoil, mounts=mounts)).stdout == b"read-only\n"
    wheel(tmp_path, "changed")
    second = obtain(recipe, cache, sandbox)
    assert second.tree != first.tree
    shown = json.loads((second.tree.parent / "installed.json").read_text())
    assert shown["requirements"] == list(recipe.install.requirements)
    assert not list(second.tree.parent.glob("settings-*"))


def test_what_cannot_be_installed_is_a_fault_with_the_reason_and_leaves_nothing(
    own: tuple[Cache, Sandbox], tmp_path: Path
) -> None:
    cache, sandbox = own
    broken = tmp_path / "tinyagent-1.0-py3-none-any.whl"
    broken.write_bytes(b"no wheel")
    recipe = spec(kind="pip", requirements=[f"tinyagent @ file://{broken}"])
    with pytest.raises(InfraFault, match=r"^The agent \S+ could not be installed .*All it printed is in") as caught:
        obtain(recipe, cache, sandbox)
    assert "\n" not in caught.value.message
    assert not list((cache.path / "agents").iterdir())
    broken.unlink()
    with pytest.raises(BadInput, match="There is no package"):
        obtain(recipe, cache, sandbox)


@pytest.mark.parametrize(
    ("install", "said"),
    [
        ({"kind": "pip", "requirements": ["a==1"], "python": ">=3.99"}, "needs Python >=3.99"),
        ({"kind": "npm", "requirements": ["a@1.0.0"], "needs": ["node>=999"]}, "Node"),
        ({"needs": ["python>=3.99"]}, "needs Python"),
        ({"kind": "pip", "requirements": ["a==1"], "unpublished": "It is ours."}, "It is ours."),
    ],
)
def test_what_this_machine_lacks_is_told_with_the_remedy(
    own: tuple[Cache, Sandbox], install: dict[str, object], said: str
) -> None:
    cache, sandbox = own
    found = availability(spec(**install), cache)
    assert found.state == "missing" and said in found.why and found.remedy
    with pytest.raises(Unavailable):
        obtain(spec(**install), cache, sandbox)


def test_without_node_npm_agents_say_so(own: tuple[Cache, Sandbox], monkeypatch: pytest.MonkeyPatch) -> None:
    from repoassay.workspace import agent_install

    monkeypatch.setenv("PATH", "/nonexistent")
    agent_install.find_node.cache_clear()
    try:
        found = availability(spec(kind="npm", requirements=["a@1.0.0"]), own[0])
    finally:
        monkeypatch.undo()
        agent_install.find_node.cache_clear()
    assert found.state == "missing" and "Node" in found.why and "install" in found.remedy.lower()


def test_an_agent_without_an_install_is_always_there(own: tuple[Cache, Sandbox]) -> None:
    assert availability(spec(), own[0]).state == "installed"
    assert installed(spec(), own[0]) is not None
