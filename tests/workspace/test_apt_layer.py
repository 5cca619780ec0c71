"""Debian packages as a folder: unpacked without root, links led where they were meant to, variables that find them."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.errors import InfraFault, Unavailable
from repoassay.sandbox.cache import Cache, lock_limit
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.workspace import apt_layer
from repoassay.workspace.build_output import take_over
from repoassay.workspace.sharing import copy_tree, share_files
from repoassay.workspace.variables import search_paths

CONTROL = "Package: some-lib\nVersion: 1.0\nArchitecture: all\nMaintainer: nobody <a@b.c>\nDescription: nothing\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with links of every kind, and a script that must not run."""
    if shutil.which("dpkg-deb") is None or not apt_layer._STATUS.is_file():
        pytest.skip("this machine is no Debian")
    tree = tmp_path / "package"
    libraries = tree / "usr/lib/x86_64-linux-gnu"
    for folder in (tree / "DEBIAN", tree / "usr/bin", tree / "lib", libraries / "pkgconfig"):
        folder.mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(CONTROL)
    (tree / "DEBIAN/preinst").write_text("#!/bin/sh\ntouch /env/apt/ran\n")
    (tree / "DEBIAN/preinst").chmod(0o755)
    (tree / "usr/bin/some").write_text("#!/bin/sh\necho here\n")
    (tree / "usr/bin/some").chmod(0o4755)
    (libraries / "libsome.so.1").write_text("library")
    (libraries / "pkgconfig/some.pc").write_text("prefix=/usr\nlibdir=/usr/lib\n")
    (libraries / "libsome.so").symlink_to("/usr/lib/x86_64-linux-gnu/libsome.so.1")
    (tree / "lib/libsome.so").symlink_to("x86_64-linux-gnu/libsome.so.1")
    (tree / "usr/bin/shell").symlink_to("sh")
    (tree / "usr/bin/gone").symlink_to("/etc/shadow")
    (tree / "usr/bin/out").symlink_to("../../../../../../../etc/passwd")
    return tree


@pytest.fixture
def built(package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same package, which is what any download gives."""

    def download(_: tuple[str, ...], place: Path) -> Path:
        place.chmod(0o755)
        subprocess.run(["dpkg-deb", "--build", package, place / "some-lib.deb"], check=True, capture_output=True)
        return place

    monkeypatch.setattr(apt_layer, "_download", download)
    return package


@pytest.mark.usefixtures("built")
def test_packages_are_unpacked_and_found(tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox) -> None:
    layer = apt_layer.apt_layer(("some-lib",), cache, sandbox)
    there = {str(path.relative_to(layer)): path for path in layer.rglob("*") if not path.is_dir()}
    libraries = "usr/lib/x86_64-linux-gnu"
    assert sorted(there) == [
        "lib/libsome.so", "usr/bin/shell", "usr/bin/some", f"{libraries}/libsome.so", f"{libraries}/libsome.so.1",
        f"{libraries}/pkgconfig/some.pc",
    ]  # fmt: skip
    assert str(there[f"{libraries}/libsome.so"].readlink()) == "libsome.so.1"
    assert there["lib/libsome.so"].read_text() == "library"
    assert str(there["usr/bin/shell"].readlink()) == "/usr/bin/sh"
    assert there["usr/bin/some"].stat().st_mode & 0o7777 == 0o755
    assert there[f"{libraries}/pkgconfig/some.pc"].read_text() == "prefix=/env/apt/usr\nlibdir=/env/apt/usr/lib\n"
    assert apt_layer.apt_layer(("some-lib",), cache, sandbox) == layer
    environment = tmp_path / "environment"
    shutil.copytree(layer, environment / "apt", symlinks=True)
    found = search_paths(environment)
    assert found["PATH"] == "/env/bin:/env/apt/usr/bin:/usr/local/bin:/usr/bin:/bin"
    assert found["LD_LIBRARY_PATH"] == f"/env/apt/{libraries}:/env/apt/usr/lib"
    assert found["PKG_CONFIG_PATH"] == f"/env/apt/{libraries}/pkgconfig"
    assert found["CMAKE_PREFIX_PATH"] == "/env/apt/usr"
    assert not {"CPATH", "GS_LIB", "RUBYLIB", "COB_CONFIG_DIR"} & set(found)
    lua = ("usr/share/lua/5.1", "usr/share/lua/5.3", f"{libraries}/lua/5.3")
    perl = ("usr/share/perl5", f"{libraries}/perl5/5.36")
    ruby = ("usr/lib/ruby/3.1.0", f"{libraries}/ruby/3.1.0")
    ghostscript = [f"usr/share/ghostscript/10.00.0/{each}" for each in ("Resource/Font", "Resource/Init", "lib")]
    for folder in (*lua, *perl, *ruby, *ghostscript, "etc/gnucobol", "usr/share/gnucobol/copy"):
        (environment / "apt" / folder).mkdir(parents=True)
    found = search_paths(environment)
    assert found["GS_LIB"].split(":") == [f"/env/apt/{folder}" for folder in ghostscript]
    assert found["RUBYLIB"] == f"/env/apt/usr/lib/ruby/3.1.0:/env/apt/{libraries}/ruby/3.1.0"
    assert found["PERL5LIB"] == f"/env/apt/usr/share/perl5:/env/apt/{libraries}/perl5/5.36"
    assert found["LUA_PATH"] == "/env/apt/usr/share/lua/5.1/?.lua;/env/apt/usr/share/lua/5.1/?/init.lua;;"
    assert found["LUA_PATH_5_3"] == found["LUA_PATH"].replace("5.1", "5.3") and "LUA_CPATH" not in found
    assert found["LUA_CPATH_5_3"] == f"/env/apt/{libraries}/lua/5.3/?.so;;"
    assert found["COB_CONFIG_DIR"] == "/env/apt/etc/gnucobol"
    assert found["COB_COPY_DIR"] == "/env/apt/usr/share/gnucobol/copy"


def test_a_machine_without_apt_says_so(
    cache: Cache, sandbox: NamespaceSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apt_layer, "_APT", "/nowhere/apt-get")
    with pytest.raises(Unavailable, match=r"needs Debian packages \(gcc, jq\).*no apt"):
        apt_layer.apt_layer(("gcc", "jq"), cache, sandbox)


def test_apt_ends_when_the_time_of_a_proof_is_over(
    tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "apt-get"
    slow.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 3000\n")
    slow.chmod(0o755)
    monkeypatch.setattr(apt_layer, "_APT", str(slow))
    over = threading.Event()
    threading.Thread(target=set_once_there, args=(over, tmp_path / "pid")).start()
    with pytest.raises(InfraFault, match="stopped"), lock_limit(over):
        apt_layer.apt_layer(("slow-tool",), cache, sandbox)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def set_once_there(event: threading.Event, file: Path) -> None:
    while not (file.exists() and file.read_text().strip()):
        time.sleep(0.05)
    event.set()


def test_copies_and_looks_at_builds_end_with_it_too(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/file").write_text("x")
    over = threading.Event()
    over.set()
    with lock_limit(over):
        works: tuple[Callable[[], object], ...] = (
            lambda: copy_tree(tmp_path / "tree", tmp_path / "copy"),
            lambda: share_files(tmp_path / "tree", tmp_path / "tree"),
            lambda: take_over(tmp_path / "tree", tmp_path / "manifest"),
        )
        for work in works:
            with pytest.raises(InfraFault, match="stopped"):
                work()
    copy_tree(tmp_path / "tree", tmp_path / "copy")
    assert (tmp_path / "copy/file").read_text() == "x"


def test_graphviz_finds_its_plug_ins(built: Path, tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox) -> None:
    plugins = built / "usr/lib/x86_64-linux-gnu/graphviz"
    plugins.mkdir()
    (plugins / "libgvplugin_core.so.6").write_text("plug-in")
    (built / "usr/bin/dot").write_text('#!/bin/sh\nls "$GVBINDIR" > /tmp/list && cp /tmp/list "$GVBINDIR/config$1"\n')
    (built / "usr/bin/dot").chmod(0o755)
    layer = apt_layer.apt_layer(("graphviz",), cache, sandbox)
    assert (layer / "usr/lib/x86_64-linux-gnu/graphviz/config-c").read_text() == "libgvplugin_core.so.6\n"
    shutil.copytree(layer, tmp_path / "apt", symlinks=True)
    assert search_paths(tmp_path)["GVBINDIR"] == "/env/apt/usr/lib/x86_64-linux-gnu/graphviz"
