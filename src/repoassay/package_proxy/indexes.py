"""The package indexes the user has configured, as the policy `packages` opens them and as a workspace gets them.

Read from where pip, uv and npm read them, environment before files; without any, the public ones. Passwords in
addresses stay outside: whoever lets agents use an index that asks for one gives the workspace a password knowingly.
"""

from __future__ import annotations

import configparser
import contextlib
import os
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from repoassay.errors import BadInput
from repoassay.package_proxy.egress_rules import HostRule, holds_sources
from repoassay.package_proxy.logins import logins_of
from repoassay.sandbox import Mount
from repoassay.types import is_local

__all__ = ["Indexes"]

_PYTHON = "https://pypi.org/simple"
_PYTHON_FILES = "files.pythonhosted.org"
_NODE = "https://registry.npmjs.org/"
_PUBLIC = ("pypi.org", "registry.npmjs.org")
_MODULES = ("proxy.golang.org", "sum.golang.org", "index.crates.io", "static.crates.io")
"""Where Go and cargo have their packages: public as the public indexes are, and for builds alone."""
_BUNDLES = (
    "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "npm_config_cafile",
    "GIT_SSL_CAINFO",
)  # fmt: skip
_PASSED_ON = ("PIP_DEFAULT_TIMEOUT", "UV_HTTP_TIMEOUT", "PIP_TRUSTED_HOST", "UV_INSECURE_HOST")
_SHOWN = ("/etc/ssl/", "/etc/ca-certificates/", "/usr/")
"""Folders of the host that every sandbox shows."""


@dataclass(frozen=True, slots=True)
class Indexes:
    """The configured package indexes.

    `python` and `node` are addresses of indexes, `more` further Python indexes, `links` pages or folders of links to
    packages, `scopes` registries of npm's scopes; `extra` are rules for hosts beside them; `bundle` is the host's own
    file of certificates, None where the usual one serves; `undated` is whether files without an upload time pass where
    a date is asked for; `logins` are `Authorization` headers by host, which never enter a sandbox.
    """

    python: str = _PYTHON
    node: str = _NODE
    more: tuple[str, ...] = ()
    extra: tuple[HostRule, ...] = ()
    bundle: Path | None = None
    settings: tuple[tuple[str, str], ...] = ()
    links: tuple[str, ...] = ()
    scopes: tuple[tuple[str, str], ...] = ()
    undated: bool = False
    logins: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def configured(cls, environ: Mapping[str, str] | None = None, home: Path | None = None) -> Indexes:
        """What this user's environment and settings name.

        `REPOASSAY_PACKAGE_HOSTS` adds hosts (`NAME` or `NAME:PORT`, spaces between) that are trusted as indexes are,
        such as one on which a private index keeps its files. `REPOASSAY_UNDATED_FILES=serve` takes files of indexes
        that tell no upload times as old enough, where a task's date is asked for; otherwise they are refused.

        Raises:
            BadInput: `REPOASSAY_UNDATED_FILES` says something else.
        """
        env = os.environ if environ is None else environ
        home = home or Path.home()
        pip = dict(_pip_settings(env, home))
        uv = _uv_settings(env, home)
        python = _first(env.get("UV_DEFAULT_INDEX"), env.get("UV_INDEX_URL"), env.get("PIP_INDEX_URL"),
                        uv.get("index-url"), pip.get("index-url"))  # fmt: skip
        more = " ".join(
            text
            for text in (
                env.get("UV_INDEX"), env.get("UV_EXTRA_INDEX_URL"), env.get("PIP_EXTRA_INDEX_URL"),
                uv.get("extra"), pip.get("extra-index-url"),
            )
            if text
        )  # fmt: skip
        npm = _npm_settings(env, home)
        node = _first(env.get("npm_config_registry"), env.get("NPM_CONFIG_REGISTRY"), npm.get("registry"))
        bundle = _first(*(env.get(name) for name in _BUNDLES), pip.get("cert"), npm.get("cafile"))
        hosts = env.get("REPOASSAY_PACKAGE_HOSTS", "").replace(",", " ").split()
        undated = env.get("REPOASSAY_UNDATED_FILES", "") or "refuse"
        if undated not in ("serve", "refuse"):
            raise BadInput(f"REPOASSAY_UNDATED_FILES is {undated!r}.", "Set it to serve or refuse, or not at all.")
        links = env.get("UV_FIND_LINKS", "").replace(",", " ").split()
        return cls(
            python=_plain(python) or _PYTHON,
            node=_plain(node) or _NODE,
            more=tuple(dict.fromkeys(filter(None, map(_plain, more.split())))),
            extra=tuple(HostRule.parse(host, trusted=True) for host in hosts),
            bundle=Path(bundle) if bundle and Path(bundle).is_file() else None,
            settings=tuple((name, env[name]) for name in _PASSED_ON if name in env),
            links=tuple(filter(None, (_plain(each) or _folder(each) for each in links))),
            scopes=tuple(
                (key.removesuffix(":registry"), _plain(url))
                for key, url in npm.items()
                if key.startswith("@") and key.endswith(":registry") and _plain(url)
            ),
            undated=undated == "serve",
            logins=logins_of([python, *more.split(), node, *links], env, npm),
        )

    def rules(self, hosts: Iterable[str] = ()) -> tuple[HostRule, ...]:
        """What an attempt may reach; `hosts` are those its task declares."""
        rules = [_rule(url) for url in (self.python, self.node, *self.more)]
        if any(rule.host == _PUBLIC[0] for rule in rules):
            rules.append(HostRule(_PYTHON_FILES, 443))
        return tuple(dict.fromkeys([*rules, *self.extra, *map(HostRule.parse, hosts)]))

    def public_rules(self) -> tuple[HostRule, ...]:
        """What a build may reach by itself, beside the relay: public indexes, and hosts the user adds by name.

        Whoever has the public index of Python has those of Go and Rust too; a private one says that nothing else is
        to be reached.
        """
        own = tuple(rule for rule in self.rules() if not rule.trusted or rule in self.extra)
        public = any(rule.host == _PUBLIC[0] for rule in own)
        return own + (tuple(HostRule(host, 443) for host in _MODULES) if public else ())

    def is_one(self, host: str) -> bool:
        """Whether a host, in lower case, holds an index, its files, or packages or sources of anybody's."""
        own = (_rule(url).host for url in (self.python, self.node, *self.more, *(url for _, url in self.scopes)))
        return host in own or any(rule.host == host for rule in self.extra) or holds_sources(host)

    def on_loopback(self) -> tuple[tuple[str, int], ...]:
        """Host and port of every index on this machine's own loopback, each of which needs its own port forward."""
        rules = (_rule(url) for url in (self.python, self.node, *self.more))
        return tuple(dict.fromkeys((rule.host, rule.port or 0) for rule in rules if is_local(rule.host)))

    def env(self, port: int) -> dict[str, str]:
        """Environment variables of a workspace whose proxy answers at 127.0.0.1:`port`."""
        proxy = f"http://127.0.0.1:{port}"
        env = dict(self.settings)
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            env[name] = env[name.lower()] = proxy
        env["NO_PROXY"] = env["no_proxy"] = "127.0.0.1,localhost"
        env |= {"NODE_USE_ENV_PROXY": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "npm_config_update_notifier": "false"}
        env |= {"PIP_INDEX_URL": self.python, "UV_DEFAULT_INDEX": self.python, "npm_config_registry": self.node}
        if self.more:
            env["PIP_EXTRA_INDEX_URL"] = env["UV_INDEX"] = " ".join(self.more)
        if self.bundle:
            env |= dict.fromkeys(_BUNDLES, str(self.bundle))
        return env

    def mounts(self) -> tuple[Mount, ...]:
        """What a workspace must see for `env` to hold."""
        if self.bundle is None or str(self.bundle).startswith(_SHOWN):
            return ()
        return (Mount(self.bundle, str(self.bundle)),)


def _first(*texts: str | None) -> str:
    return next((text.strip() for text in texts if text and text.strip()), "")


def _plain(url: str) -> str:
    """An address of an index without name, user and password; empty when it is not on the web, but a folder."""
    _, _, url = url.rpartition("=") if "=" in url.partition("://")[0] else ("", "", url)  # uv's NAME=URL
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return urlunsplit((parts.scheme, host + port, parts.path, parts.query, ""))


def _folder(place: str) -> str:
    path = Path(place.removeprefix("file://"))
    return str(path.absolute()) if path.is_dir() else ""


def _rule(url: str) -> HostRule:
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    return HostRule(host, parts.port or (443 if parts.scheme == "https" else 80), trusted=host not in _PUBLIC)


def _pip_settings(env: Mapping[str, str], home: Path) -> Iterator[tuple[str, str]]:
    """pip's own settings, in its order: a later file overrides an earlier one, `[install]` overrides `[global]`."""
    config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    named = env.get("PIP_CONFIG_FILE", "")
    files = [Path("/etc/pip.conf"), home / ".pip/pip.conf", config / "pip/pip.conf", Path(sys.prefix, "pip.conf")]
    if named == os.devnull:
        return
    for file in [*files, *([Path(named)] if named else [])]:
        parser = configparser.RawConfigParser()
        with contextlib.suppress(OSError, configparser.Error, UnicodeDecodeError):
            parser.read(file, encoding="utf-8")
        for section in ("global", "install"):
            if parser.has_section(section):
                yield from ((name.replace("_", "-"), value) for name, value in parser.items(section) if value)


def _uv_settings(env: Mapping[str, str], home: Path) -> dict[str, str]:
    """`index-url` and `extra` (spaces between) of uv's user settings."""
    file = env.get("UV_CONFIG_FILE") or Path(env.get("XDG_CONFIG_HOME") or home / ".config", "uv/uv.toml")
    try:
        settings = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    found: dict[str, list[str]] = {"index-url": [], "extra": []}
    for index in settings.get("index", []) if isinstance(settings.get("index"), list) else []:
        if isinstance(index, dict) and isinstance(index.get("url"), str):
            found["index-url" if index.get("default") is True else "extra"].append(index["url"])
    pip = settings.get("pip")
    for table in (settings, pip if isinstance(pip, dict) else {}):
        if isinstance(url := table.get("index-url"), str):
            found["index-url"].append(url)
        if isinstance(urls := table.get("extra-index-url"), list):
            found["extra"] += [url for url in urls if isinstance(url, str)]
    return {"index-url": next(iter(found["index-url"]), ""), "extra": " ".join(found["extra"])}


def _npm_settings(env: Mapping[str, str], home: Path) -> dict[str, str]:
    file = Path(env.get("npm_config_userconfig") or env.get("NPM_CONFIG_USERCONFIG") or home / ".npmrc")
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    pairs = (line.partition("=") for line in lines if not line.lstrip().startswith(("#", ";")))
    return {name.strip(): value.strip().strip("\"'") for name, _, value in pairs}
