"""Agents from npm: a hostile install script sees neither the registry's token nor anything of other installs."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.workspace.agent_install import Recipe, find_node, install_agent, installed_at
from repoassay.workspace.build_output import is_intact
from workspace.build_index.index import PASSWORD, Index, serving

SCRIPT = "env > told; find / -name .npmrc -exec cat {} + >> told 2>/dev/null; touch $npm_config_cache/spoiled || true"


def package(name: str, script: str) -> bytes:
    told = {"name": name, "version": "1.0.0", "scripts": {"postinstall": script}}
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as bundle:
        content = json.dumps(told).encode()
        member = tarfile.TarInfo("package/package.json")
        member.size = len(content)
        bundle.addfile(member, io.BytesIO(content))
    return made.getvalue()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    if find_node() is None:
        pytest.skip("this machine has no node with npm")
    with serving(Index()) as index:
        index.locked = True
        content = package("evil-agent", SCRIPT)
        integrity = f"sha512-{b64encode(hashlib.sha512(content).digest()).decode()}"
        address = f"http://127.0.0.1:{index.port}"
        version = {
            "name": "evil-agent",
            "version": "1.0.0",
            "hasInstallScript": True,
            "dist": {"tarball": f"{address}/t/evil-agent-1.0.0.tgz", "integrity": integrity},
        }
        page = {"name": "evil-agent", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
        index.pages |= {"/evil-agent": json.dumps(page).encode(), "/t/evil-agent-1.0.0.tgz": content}
        settings = tmp_path / "npmrc"
        token = b64encode(f"me:{PASSWORD}".encode()).decode()
        settings.write_text(f"registry={address}/\n//127.0.0.1:{index.port}/:_auth=${{TOKEN_OF_TEST}}\n")
        monkeypatch.setenv("TOKEN_OF_TEST", token)
        for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY", "npm_config_userconfig"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(settings))
        index.token = token
        yield index


@pytest.mark.long
def test_an_install_script_learns_no_token_and_leaves_no_trace(registry: Index, tmp_path: Path) -> None:
    cache, node = Cache(tmp_path / "cache"), find_node()
    assert node is not None
    sandbox = NamespaceSandbox(cache)
    found = install_agent("first", Recipe("npm", ("evil-agent",), scripts=True), node, cache, sandbox)
    told = (found.tree / "node_modules/evil-agent/told").read_text()
    assert "npm_config_registry=http://127.0.0.1:4711/" in told
    assert registry.token not in told and PASSWORD not in told and str(registry.port) not in told
    assert not list(cache.path.rglob("spoiled"))
    again = install_agent("second", Recipe("npm", ("evil-agent",)), node, cache, sandbox)
    assert not (again.tree / "node_modules/evil-agent/told").exists()
    assert registry.asked.count("GET /t/evil-agent-1.0.0.tgz") == 1


@pytest.mark.exhaustive
def test_a_spoiled_agent_is_not_used(registry: Index, tmp_path: Path) -> None:
    cache, node = Cache(tmp_path / "cache"), find_node()
    assert node is not None
    sandbox, recipe = NamespaceSandbox(cache), Recipe("npm", ("evil-agent",))
    found = install_agent("first", recipe, node, cache, sandbox)
    (found.tree / "node_modules/evil-agent/package.json").write_text("{}")
    is_intact.cache_clear()
    assert installed_at("first", cache) is None
    again = install_agent("first", recipe, node, cache, sandbox)
    assert "evil-agent" in (again.tree / "node_modules/evil-agent/package.json").read_text()


def test_what_the_registry_refuses_is_named(registry: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_TEST", "bm90aGluZzo=")
    cache, node = Cache(tmp_path / "cache"), find_node()
    assert node is not None
    with pytest.raises(InfraFault, match=r"(?s)could not be installed.*answers 401"):
        install_agent("first", Recipe("npm", ("evil-agent",)), node, cache, NamespaceSandbox(cache))
