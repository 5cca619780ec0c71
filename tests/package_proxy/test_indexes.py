"""Which indexes a user has configured, what an attempt may reach for them, and what its workspace is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.package_proxy.egress_rules import HostRule
from repoassay.package_proxy.indexes import Indexes


def configured(home: Path, **env: str) -> Indexes:
    return Indexes.configured({"PIP_CONFIG_FILE": "/dev/null", **env}, home)


def test_without_settings_the_public_indexes(tmp_path: Path) -> None:
    found = configured(tmp_path)
    assert found == Indexes()
    assert {(rule.host, rule.port, rule.trusted) for rule in found.rules()} == {
        ("pypi.org", 443, False), ("files.pythonhosted.org", 443, False), ("registry.npmjs.org", 443, False),
    }  # fmt: skip
    assert found.on_loopback() == ()
    assert found.mounts() == ()


@pytest.mark.parametrize("name", ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"])
def test_an_index_of_ones_own_replaces_the_public_one_and_may_be_private(tmp_path: Path, name: str) -> None:
    found = configured(tmp_path, **{name: "https://index.corp.example:8443/simple"})
    rules = found.rules()
    assert HostRule("index.corp.example", 8443, trusted=True) in rules
    assert not any(rule.host.endswith(("pypi.org", "pythonhosted.org")) for rule in rules)
    env = found.env(8081)
    assert env["PIP_INDEX_URL"] == env["UV_DEFAULT_INDEX"] == "https://index.corp.example:8443/simple"


def test_builds_alone_reach_the_registries_of_go_and_rust_and_only_beside_the_public_index(tmp_path: Path) -> None:
    found = configured(tmp_path)
    assert HostRule("proxy.golang.org", 443) in found.public_rules()
    assert HostRule("proxy.golang.org", 443) not in found.rules()
    own = configured(tmp_path, UV_DEFAULT_INDEX="https://index.corp.example/simple").public_rules()
    assert {rule.host for rule in own} == {"registry.npmjs.org"}


def test_passwords_stay_outside(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text(
        "registry=https://me:hunter2@npm.corp.example/\n//npm.corp.example/:_authToken=hunter3"
    )
    found = configured(
        tmp_path, PIP_INDEX_URL="https://me:hunter2@index.corp.example/simple",
        UV_INDEX="corp=https://me:hunter2@more.corp.example/simple https://two.corp.example/simple",
    )  # fmt: skip
    assert "hunter" not in repr((found, found.rules(), found.env(8081)))
    assert found.more == ("https://more.corp.example/simple", "https://two.corp.example/simple")
    assert found.node == "https://npm.corp.example/"


def test_settings_files_are_read_after_the_environment(tmp_path: Path) -> None:
    (tmp_path / ".config/pip").mkdir(parents=True)
    (tmp_path / ".config/pip/pip.conf").write_text(
        "[global]\nindex-url = https://one.example/simple\nextra-index-url =\n  https://two.example/s\n  file:///opt/x\n"
    )
    (tmp_path / ".npmrc").write_text("; a comment\nregistry = 'http://127.0.0.1:4873/'\n")
    found = Indexes.configured({}, tmp_path)
    assert (found.python, found.node) == ("https://one.example/simple", "http://127.0.0.1:4873/")
    assert "https://two.example/s" in found.more
    assert not any(url.startswith("file:") for url in found.more)
    assert found.on_loopback() == (("127.0.0.1", 4873),)
    assert configured(tmp_path, PIP_INDEX_URL="https://env.example/s").python == "https://env.example/s"


def test_uv_settings(tmp_path: Path) -> None:
    (tmp_path / ".config/uv").mkdir(parents=True)
    (tmp_path / ".config/uv/uv.toml").write_text(
        '[[index]]\nurl = "https://extra.example/simple"\n'
        '[[index]]\nurl = "https://main.example/simple"\ndefault = true\n'
    )
    found = configured(tmp_path)
    assert (found.python, found.more) == ("https://main.example/simple", ("https://extra.example/simple",))


@pytest.mark.parametrize("content", ["[[index", "index = 3", 'index = [3]\npip = 4\nextra-index-url = "x"', "\0"])
def test_broken_settings_are_passed_over(tmp_path: Path, content: str) -> None:
    for place in (".config/uv/uv.toml", ".config/pip/pip.conf", ".npmrc"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(content)
    assert (
        configured(tmp_path, PIP_INDEX_URL="https://[broken/", UV_INDEX="ftp://x/").python == "https://pypi.org/simple"
    )


def test_declared_and_trusted_hosts(tmp_path: Path) -> None:
    found = configured(tmp_path, REPOASSAY_PACKAGE_HOSTS="files.corp.example:8080, pypi.org")
    rules = found.rules(["data.example.org", "*.cdn.example.org"])
    assert HostRule("files.corp.example", 8080, trusted=True) in rules
    assert HostRule("pypi.org", None, trusted=True) in rules
    assert HostRule("data.example.org") in rules
    assert HostRule("*.cdn.example.org") in rules


def test_the_workspace_is_told_of_the_proxy_in_every_spelling_and_of_the_certificates(tmp_path: Path) -> None:
    bundle = tmp_path / "corp.pem"
    bundle.write_text("certificates")
    found = configured(tmp_path, SSL_CERT_FILE=str(bundle))
    env = found.env(8081)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        assert env[name] == "http://127.0.0.1:8081"
    assert env["NO_PROXY"] == env["no_proxy"] == "127.0.0.1,localhost"
    for name in ("SSL_CERT_FILE", "PIP_CERT", "NODE_EXTRA_CA_CERTS"):
        assert env[name] == str(bundle)
    (mount,) = found.mounts()
    assert (mount.source, mount.target) == (bundle, str(bundle))
    assert configured(tmp_path, SSL_CERT_FILE=str(tmp_path / "gone.pem")).bundle is None
