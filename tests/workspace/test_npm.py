"""Tarballs of npm packages: taken by digest, from whichever registry is configured, and nothing else."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import Cache
from repoassay.workspace.npm import fetch_npm


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """A registry of files with one package, and its tarball's digest."""
    top = tmp_path / "registry"
    (top / "left-pad").mkdir(parents=True)
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as bundle:
        member = tarfile.TarInfo("package/index.js")
        member.size = 3
        bundle.addfile(member, io.BytesIO(b"x;\n"))
    (top / "left-pad-1.0.0.tgz").write_bytes(made.getvalue())
    page = {"dist": {"tarball": (top / "left-pad-1.0.0.tgz").as_uri()}}
    (top / "left-pad/1.0.0").write_text(json.dumps(page))
    monkeypatch.setenv("npm_config_registry", top.as_uri() + "/")
    return top, hashlib.sha256(made.getvalue()).hexdigest()


def test_a_tarball_is_taken_once(registry: tuple[Path, str], tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    first = fetch_npm("left-pad", "1.0.0", registry[1], cache)
    (registry[0] / "left-pad-1.0.0.tgz").unlink()
    assert fetch_npm("left-pad", "1.0.0", registry[1], cache) == first
    with tarfile.open(first) as bundle:
        assert bundle.getnames() == ["package/index.js"]


def test_another_digest_is_refused(registry: tuple[Path, str], tmp_path: Path) -> None:
    with pytest.raises(InfraFault, match="instead of 000000000000"):
        fetch_npm("left-pad", "1.0.0", "0" * 64, Cache(tmp_path / "cache"))


@pytest.mark.parametrize("page", ["", "[]", "{}", '{"dist": {}}', '{"dist": 3}', "null"])
def test_a_page_that_is_none(registry: tuple[Path, str], tmp_path: Path, page: str) -> None:
    (registry[0] / "left-pad/1.0.0").write_text(page)
    with pytest.raises(InfraFault, match="npm registry"):
        fetch_npm("left-pad", "1.0.0", registry[1], Cache(tmp_path / "cache"))


@pytest.mark.parametrize("name", ["absent", "@scope/absent", "../../etc"])
def test_what_is_not_there(registry: tuple[Path, str], tmp_path: Path, name: str) -> None:
    with pytest.raises(InfraFault):
        fetch_npm(name, "1.0.0", registry[1], Cache(tmp_path / "cache"))


def test_the_users_npmrc_names_the_registry(
    registry: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("npm_config_registry")
    rc = tmp_path / "npmrc"
    rc.write_text(f"cache=/tmp\nregistry = {registry[0].as_uri()}\n")
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(rc))
    for name in ("REPOASSAY_NPM_REGISTRY", "NPM_CONFIG_REGISTRY"):
        monkeypatch.delenv(name, raising=False)
    assert fetch_npm("left-pad", "1.0.0", registry[1], Cache(tmp_path / "cache")).is_file()
