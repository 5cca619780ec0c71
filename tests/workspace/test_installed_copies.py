"""Copies of a task's own project on this machine: found wherever sandboxes show them, and covered."""

from __future__ import annotations

import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from engine.metering import mini
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Command
from repoassay.types import Limits
from repoassay.workspace import PreparedTask, installed_copies
from repoassay.workspace.installed_copies import cover_installed_copies

SITE = Path("lib/python3.11/site-packages")


def prefix(at: Path) -> Path:
    """An installation that has the project in five places, and others beside it."""
    for name in ("sums/core.py", "other/core.py", "pip/_vendor/sums/core.py", "big/vendor/sums.py", "summing/core.py"):
        (at / SITE / name).parent.mkdir(parents=True, exist_ok=True)
        (at / SITE / name).write_text("LATER = True\n")
    bundled = at / "lib/python3.11/ensurepip/_bundled"
    bundled.mkdir(parents=True)
    for name, inner in (("pip-1.whl", "pip/_vendor/sums/core.py"), ("plain-1.whl", "plain/core.py")):
        with zipfile.ZipFile(bundled / name, "w") as archive:
            archive.writestr(inner, "LATER = True\n")
    (bundled / "broken-1.whl").write_bytes(b"no archive")
    return at


def layout(tmp_path: Path) -> PreparedTask:
    (folder,) = mini("fix-total").tasks
    for name in ("base", "inputs"):
        (tmp_path / name).mkdir()
    return PreparedTask(folder, tmp_path / "base", tmp_path / "inputs", prefix(tmp_path / "env"))


def test_every_copy_is_covered_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = prefix(tmp_path / "shown")
    monkeypatch.setattr(installed_copies, "_prefixes", lambda: (shown,))
    found = cover_installed_copies(layout(tmp_path), Cache(tmp_path / "cache"))
    site, bundled = shown / SITE, "lib/python3.11/ensurepip/_bundled/pip-1.whl"
    assert {mount.target for mount in found} == {
        str(site / "sums"), str(site / "pip/_vendor/sums"), str(site / "big/vendor/sums.py"), str(shown / bundled),
        f"/env/{bundled}", f"/env/{SITE}/pip/_vendor/sums", f"/env/{SITE}/big/vendor/sums.py",
    }  # fmt: skip
    for mount in found:
        assert not (list(mount.source.iterdir()) if mount.source.is_dir() else mount.source.read_bytes())


def test_an_agent_sees_nothing_where_one_is(tmp_path: Path) -> None:
    """The interpreter has a pip of its own; here it is what the task is about."""
    site = Path(sys.base_prefix) / f"lib/python3.{sys.version_info.minor}/site-packages"
    if not (site / "pip/__init__.py").is_file():
        pytest.skip("this interpreter came without pip")
    made = layout(tmp_path)
    source = made.folder.task.repository.model_copy(update={"source": "bundled:pip"})
    made = replace(made, folder=replace(made.folder, task=made.folder.task.model_copy(update={"repository": source})))
    cache = Cache(tmp_path / "cache")
    look = "import json, os, sys; print(json.dumps([os.listdir(each) for each in sys.argv[1:]]))"
    argv = (str(Path(sys.base_prefix, "bin/python3")), "-c", look, str(site / "pip"), str(site))
    for mounts, seen in ((cover_installed_copies(made, cache), False), ((), True)):
        done = NamespaceSandbox(cache).run(Command(argv=argv, mounts=mounts, limits=Limits(seconds=30)))
        inner, outer = json.loads(done.stdout)
        assert ("__init__.py" in inner) is seen and "pip" in outer
