"""Byte code is made by an interpreter that no task's packages can have touched, and shared by all of a checkout."""

from __future__ import annotations

import marshal
import os
import struct
import time
from pathlib import Path

from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.workspace.bytecode import bytecode_of


def test_what_a_checkout_holds_cannot_make_it_run_or_write_elsewhere(
    tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox
) -> None:
    base = tmp_path / "base"
    (base / ".git").mkdir(parents=True)
    (base / "good.py").write_text("x = 1\n")
    (base / "os.py").write_text("raise SystemExit('shadowed')\n")
    (base / "sitecustomize.py").write_text("raise SystemExit('run')\n")
    (base / "broken.py").write_text("def (:\n")
    (base / "deep.py").write_text("(" * 5000)
    (base / "link.py").symlink_to("/etc/hostname")
    (base / "__pycache__").symlink_to("/tmp")
    tmp_path.chmod(0o755)
    found = bytecode_of(base, cache, sandbox)
    made = sorted(path.name.partition(".")[0] for path in found.rglob("*.pyc"))
    assert made == ["good", "os", "sitecustomize"]
    code = next(found.rglob("good.*.pyc")).read_bytes()[16:]
    assert marshal.loads(code).co_filename == "/workspace/repo/good.py"
    assert bytecode_of(base, cache, sandbox) == found


def test_what_is_written_at_once_is_never_taken_for_what_was_compiled(
    tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox
) -> None:
    base = tmp_path / "base"
    (base / ".git").mkdir(parents=True)
    (base / "old.py").write_text("x = 1\n")
    os.utime(base / "old.py", (2**32, 2**32))  # as an archive may have it
    tmp_path.chmod(0o755)
    time.sleep(1 - time.time() % 1)  # a second begins, and is long enough to compile and to write within it
    (base / "good.py").write_text("x = 1\n")
    found = bytecode_of(base, cache, sandbox)
    (base / "good.py").write_text("x = 2\n")
    compiled, size = struct.unpack("<II", next(found.rglob("good.*.pyc")).read_bytes()[8:16])
    status = (base / "good.py").stat()
    assert size == status.st_size
    assert compiled != int(status.st_mtime)
