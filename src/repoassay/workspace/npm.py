"""Fetching a package's tarball from an npm registry, by digest. Nothing of it is run, and no dependency comes along."""

from __future__ import annotations

import json
import os
import re
import urllib.parse
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.sandbox import Cache
from repoassay.workspace.sources import download, open_url, reason

__all__ = ["fetch_npm"]

_SETTINGS = ("REPOASSAY_NPM_REGISTRY", "npm_config_registry", "NPM_CONFIG_REGISTRY")
_DEFAULT = "https://registry.npmjs.org"
_MAX_PAGE = 4 * 2**20


def fetch_npm(name: str, version: str, sha256: str, cache: Cache) -> Path:
    """Return the tarball of a package's version with this digest, from the cache or from the configured registry.

    Args:
        name: As npm has it, scope included.
        version: The exact version.
        sha256: Of the tarball.
        cache: Where it is kept.

    Raises:
        InfraFault: When it cannot be had, or what came has another digest.
    """

    def build(part: Path) -> None:
        target = part / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name)}-{version}.tgz"
        digest = download(_address(name, version), target)
        if digest != sha256:
            raise InfraFault(f"{name} {version} came with sha256 {digest[:12]}... instead of {sha256[:12]}...")

    return next(cache.entry("tarballs", sha256, build).iterdir())


def _registry() -> str:
    """The registry in force: an environment setting, else the one in the user's npmrc, else npm's own."""
    for setting in _SETTINGS:
        if os.environ.get(setting):
            return os.environ[setting].rstrip("/")
    try:
        settings = Path(os.environ.get("NPM_CONFIG_USERCONFIG") or Path.home() / ".npmrc").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, RuntimeError):
        settings = ""
    found = re.search(r"^registry\s*=\s*(\S+)\s*$", settings, re.MULTILINE)
    return (found[1] if found else _DEFAULT).rstrip("/")


def _address(name: str, version: str) -> str:
    page = f"{_registry()}/{urllib.parse.quote(name, safe='@')}/{urllib.parse.quote(version)}"
    try:
        with open_url(page, "application/json") as answer:
            body = answer.read(_MAX_PAGE)
        address = json.loads(body)["dist"]["tarball"]
    except (OSError, ValueError) as error:
        raise InfraFault(
            f"The npm registry cannot be asked for {name} {version}: {reason(error)}.",
            "Check the network, or point npm_config_registry at a registry that can be reached.",
        ) from error
    except (LookupError, TypeError) as error:
        raise InfraFault(f"The npm registry answers for {name} {version} with what is no package.") from error
    return urllib.parse.urljoin(page, str(address))
