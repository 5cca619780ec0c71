"""Writing where nothing may be written, and having us follow links on the host."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.errors import InfraFault
from repoassay.sandbox.protocol import Access, Completed, ExportSpec, Mount, Sandbox
from repoassay.tasks import digest_folder
from repoassay.types.files import FileEdit

SANDBOXES = ("namespaces", "bubblewrap", "http")

Inside = Callable[..., Completed]
Plain = Callable[..., subprocess.CompletedProcess[bytes]]

OVERWRITE = "import sys; open(sys.argv[1], 'w').write('spoiled')"
SPOIL = """
import os, pathlib, shutil, sys
top = pathlib.Path(sys.argv[1])
(top / "plain.txt").write_text("spoiled")
(top / "program").chmod(0o777)
os.utime(top / "program", (0, 0))
shutil.rmtree(top / "inner")
(top / "inner").write_text("now a file")
(top / "new").mkdir()
print(sorted(os.listdir(top)), (top / "plain.txt").read_text())
"""


def state(top: Path) -> str:
    """Content, modes, owners and times of a tree as one digest."""
    facts = [(str(path), *path.lstat()[:6], path.lstat().st_mtime_ns) for path in sorted(top.rglob("*"))]
    return hashlib.sha256((repr(facts) + digest_folder(top)).encode()).hexdigest()


@pytest.mark.every_sandbox
def test_a_copy_on_write_mount_takes_everything_and_the_host_sees_nothing_of_it(
    inside: Inside, plain: Plain, tree: Path, tmp_path: Path
) -> None:
    shutil.copytree(tree, tmp_path / "unprotected")
    before = digest_folder(tmp_path / "unprotected")
    assert plain(SPOIL, str(tmp_path / "unprotected")).returncode == 0
    assert digest_folder(tmp_path / "unprotected") != before
    before = state(tree)
    for _ in range(2):  # nor does the second sandbox
        done = inside(SPOIL, "/workspace/repo", mounts=(Mount(tree, "/workspace/repo", Access.COPY_ON_WRITE),))
        assert done.stdout == b"['inner', 'new', 'plain.txt', 'program'] spoiled\n", done.stderr
    assert state(tree) == before


@pytest.mark.by_day(4)
@pytest.mark.every_sandbox
@pytest.mark.parametrize("path", ["/in/plain.txt", "/in/new", "/in/inner/new"])
def test_a_read_only_mount_refuses_writing(inside: Inside, plain: Plain, tree: Path, path: str) -> None:
    before = state(tree)
    done = inside(OVERWRITE, path, mounts=(Mount(tree, "/in"),))
    assert b"Read-only file system" in done.stderr
    assert state(tree) == before
    assert plain(OVERWRITE, str(tree) + path.removeprefix("/in")).returncode == 0
    assert state(tree) != before


@pytest.mark.by_day(4)
@pytest.mark.parametrize(
    "action",
    [
        "os.chmod('/in/plain.txt', 0o777)",
        "os.chown('/in/plain.txt', 1000, 1000)",
        "os.utime('/in/plain.txt')",
        "os.unlink('/in/plain.txt')",
        "os.rename('/in/plain.txt', '/in/gone')",
        "os.setxattr('/in/plain.txt', 'user.x', b'x')",
        "os.link('/in/plain.txt', '/in/again')",
        "os.symlink('/etc/passwd', '/in/link')",
        "os.rename('/in', '/elsewhere')",
        "os.rmdir('/in')",
    ],
)
def test_nothing_changes_a_read_only_mount(inside: Inside, tree: Path, action: str) -> None:
    before = state(tree)
    done = inside(f"import os; {action}", mounts=(Mount(tree, "/in"),))
    assert done.exit.code == 1
    assert b"OSError" in done.stderr or b"PermissionError" in done.stderr
    assert state(tree) == before


def test_no_hard_link_leads_to_a_read_only_file(inside: Inside, plain: Plain, tree: Path, tmp_path: Path) -> None:
    code = "import os, sys; os.link(*sys.argv[1:]); open(sys.argv[2], 'w').write('spoiled')"
    assert plain(code, str(tree / "program"), str(tmp_path / "hard")).returncode == 0
    assert (tree / "program").read_text() == "spoiled"
    done = inside(code, "/in/plain.txt", "/tmp/hard", mounts=(Mount(tree, "/in"),))
    assert b"Invalid cross-device link" in done.stderr
    assert (tree / "plain.txt").read_text() == "as it was\n"


@pytest.mark.by_day(4)
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/usr/new", "/new", "/dev/new", "/proc/new", "/run/new", "/root/new", "/sys/new"]
)
def test_the_system_cannot_be_written(inside: Inside, path: str) -> None:
    assert inside(OVERWRITE, path).exit.code == 1
    assert b"workspace" in inside("print(open('/etc/hostname').read())").stdout


def test_a_writable_mount_is_the_only_way_to_change_the_host(inside: Inside, tree: Path) -> None:
    assert inside(SPOIL, "/out", mounts=(Mount(tree, "/out", Access.WRITE),)).exit.code == 0
    assert (tree / "plain.txt").read_text() == "spoiled"


@pytest.mark.every_sandbox
def test_links_in_the_output_lead_nowhere(inside: Inside, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("ground truth")
    code = "import os, sys; [os.symlink(sys.argv[1], f'/out/{n}') for n in 'ab']; os.symlink('/', '/out/root')\n"
    code += "os.makedirs('/out/deep'); os.symlink('../../../..' + sys.argv[1], '/out/deep/up')\n"
    code += "open('/out/a', 'w').write('spoiled')"
    into = tmp_path / "got"
    done = inside(code, str(secret), scratch=("/out",), collect=(ExportSpec("/out", into),))
    assert b"No such file" in done.stderr
    assert secret.read_text() == "ground truth"
    assert {item.path for item in done.rejected} == {"a", "b", "root", "deep/up"}
    assert [path.name for path in into.rglob("*")] == ["deep"]
    naive = tmp_path / "naive"
    (naive / "out").mkdir(parents=True)
    (naive / "out/a").symlink_to(secret)
    shutil.copytree(naive / "out", naive / "copied")
    assert (naive / "copied/a").read_text() == "ground truth"


def test_a_collected_folder_that_became_a_link_is_not_followed(
    inside: Inside, sandbox: Sandbox, tmp_path: Path
) -> None:
    (tmp_path / "host/below").mkdir(parents=True)
    (tmp_path / "host/below/secret.txt").write_text("ground truth")
    into = tmp_path / "got"
    code = "import os, sys; os.symlink(sys.argv[1], '/tmp/link')"
    for source in ("/tmp/link", "/tmp/link/below", "/tmp/x/../link/below"):
        if sandbox.name.startswith("http") and ".." in source:
            continue  # which its server refuses to be asked for
        done = inside(code, str(tmp_path / "host"), collect=(ExportSpec(source, into),))
        assert len(done.rejected) == 1
        assert list(into.iterdir()) == []


@pytest.mark.parametrize("path", ["/workspace/repo/link/planted", "/workspace/repo/../planted"])
def test_an_edit_does_not_follow_a_link_of_the_repository_to_the_host(
    inside: Inside, tree: Path, tmp_path: Path, path: str
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("as it was")
    (tree / "link").symlink_to(victim)
    (tree / "file-link").symlink_to(victim / "file")
    (tree / "link/naive").write_text("an unguarded write lands outside")
    assert (victim / "naive").exists()
    with pytest.raises(InfraFault):
        inside("", edits={path: FileEdit(b"spoiled")}, mounts=(Mount(tree, "/workspace/repo", Access.COPY_ON_WRITE),))
    assert sorted(found.name for found in victim.iterdir()) == ["file", "naive"]
    assert (victim / "file").read_text() == "as it was"


@pytest.mark.every_sandbox
def test_a_mount_does_not_follow_a_link_of_the_repository_to_the_host(
    inside: Inside, tree: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (tree / "link").symlink_to(victim)
    repo = Mount(tree, "/workspace/repo", Access.COPY_ON_WRITE)
    for target in ("/workspace/repo/link", "/workspace/repo/link/made/deeper"):
        with pytest.raises(InfraFault):
            inside("", mounts=(repo, Mount(tree, target)))
    assert list(victim.iterdir()) == []


def test_edits_land_in_copies_and_scratch_alone(inside: Inside, tree: Path) -> None:
    before = state(tree)
    edits = {
        "/workspace/repo/plain.txt": None,
        "/workspace/repo/inner/data.bin": FileEdit(b"new", executable=True),
        "/workspace/repo/a/b/c.txt": FileEdit(b"made with its folders"),
        "/run/script": FileEdit(b"ours"),
    }
    code = "import os; os.chdir('/workspace/repo'); print(os.path.exists('plain.txt'), open('inner/data.bin').read(),"
    code += "os.access('inner/data.bin', os.X_OK), open('a/b/c.txt').read(), open('/run/script').read());"
    code += "open('a/b/c.txt', 'w'); open('inner/data.bin', 'w')"
    done = inside(code, edits=edits, mounts=(Mount(tree, "/workspace/repo", Access.COPY_ON_WRITE),))
    assert done.stdout == b"False new True made with its folders ours\n"
    assert done.exit.code == 0
    assert state(tree) == before


def test_the_script_of_an_agent_cannot_be_overwritten(inside: Inside) -> None:
    done = inside(OVERWRITE, "/run/script", edits={"/run/script": FileEdit(b"ours")})
    assert done.exit.code == 1


@pytest.mark.parametrize("name", ["with space", "comma,colon:back\\slash", "quote'\"$(x)", "ünïcode"])
def test_folders_of_any_name_can_be_mounted(inside: Inside, tree: Path, tmp_path: Path, name: str) -> None:
    odd = tmp_path / name
    shutil.copytree(tree, odd)
    code = "print(open('/copy/plain.txt').read() + open('/read/plain.txt').read())"
    done = inside(code, mounts=(Mount(odd, "/copy", Access.COPY_ON_WRITE), Mount(odd, "/read")))
    assert done.stdout == b"as it was\nas it was\n\n", done.stderr


@pytest.mark.namespaces_alone
def test_where_no_overlay_can_be_mounted_a_copy_does_the_same(inside: Inside) -> None:
    # Overlays refuse file systems that compare names in their own way, as /proc/sys does.
    source = Path("/proc/sys/kernel/random")
    code = "import os; os.chmod('/copy', 0o755); os.chmod('/copy/poolsize', 0o644); open('/copy/new', 'w').write('x');"
    code += "open('/copy/poolsize', 'w').write('spoiled');"
    code += "print(sorted(os.listdir('/copy')), open('/copy/poolsize').read(), open('/copy/boot_id').read(),"
    code += "'overlay' in open('/proc/mounts').read())"
    before = (source / "poolsize").read_text()
    done = inside(code, mounts=(Mount(source, "/copy", Access.COPY_ON_WRITE),))
    names = sorted(["new", *(path.name for path in source.iterdir())])
    boot = (source / "boot_id").read_text()
    assert done.stdout.decode() == f"{names} spoiled {boot} False\n", done.stderr
    assert (source / "poolsize").read_text() == before


def test_a_cache_whose_path_has_commas_still_gives_overlays(tree: Path, tmp_path: Path) -> None:
    from repoassay.sandbox.cache import Cache
    from repoassay.sandbox.namespaces import NamespaceSandbox
    from repoassay.sandbox.protocol import Command

    odd = NamespaceSandbox(Cache(tmp_path / "a,b:c\\d"))
    done = odd.run(
        Command(argv=("grep", "overlay", "/proc/mounts"), mounts=(Mount(tree, "/copy", Access.COPY_ON_WRITE),))
    )
    assert done.exit.code == 0
