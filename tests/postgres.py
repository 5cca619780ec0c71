"""A PostgreSQL server of the tests' own: fixtures that a room's conftest imports where its databases may be remote."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["cluster", "postgres"]


def _programs() -> Path | None:
    """The folder of initdb and pg_ctl; Debian keeps them off the search path."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((each for each in folders if (each / "initdb").exists() and (each / "pg_ctl").exists()), None)


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """A private PostgreSQL cluster, run as somebody unprivileged, without durability: the URL but for the database."""
    programs = _programs()
    if programs is None:
        pytest.skip("initdb and pg_ctl of PostgreSQL are not installed")
    user = "nobody" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as place:  # its socket's path must be short
        if user:
            shutil.chown(place, user)
        data = f"{place}/data"
        settings = f"-k {place} -c listen_addresses='' -c fsync=off -c max_connections=100"

        def call(*line: str | Path) -> None:
            quiet = subprocess.DEVNULL
            subprocess.run(line, check=True, user=user, cwd=place, stdout=quiet, stderr=quiet)

        call(programs / "initdb", "-D", data, "-U", "judge", "-A", "trust", "--no-sync")
        control = (programs / "pg_ctl", "-D", data, "-w", "-l", f"{place}/log")
        call(*control, "-o", settings, "start")
        try:
            yield f"postgresql://judge@/{{}}?host={place}"
        finally:
            call(*control, "-m", "immediate", "stop")


@pytest.fixture
def postgres(cluster: str) -> str:
    """URL of a fresh database."""
    psycopg = pytest.importorskip("psycopg")
    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(cluster.format("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return cluster.format(name)
