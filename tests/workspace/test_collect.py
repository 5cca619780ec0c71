"""What crosses out of a dead sandbox, and what does not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.sandbox.launcher.collect import collect
from repoassay.sandbox.protocol import Completed, ExportSpec

Inside = Callable[..., Completed]
ACCOUNT = os.geteuid() or 65534


@pytest.fixture
def leave(inside: Inside, tmp_path: Path) -> Callable[..., tuple[Path, dict[str, str]]]:
    """Run code that leaves something in /out; return what crossed and why the rest did not."""

    def run(code: str, **options: object) -> tuple[Path, dict[str, str]]:
        into = tmp_path / "got"
        collect = ExportSpec("/out", into, **options)  # type: ignore[arg-type]  # any field
        done = inside(f"import os\nos.chdir('/out')\n{code}", scratch=("/out",), collect=(collect,))
        assert done.exit.code == 0, done.stderr.decode()
        return into, {item.path: item.reason for item in done.rejected}

    return run


Leave = Callable[..., tuple[Path, dict[str, str]]]


def test_files_cross_with_content_and_the_x_bit_alone(leave: Leave) -> None:
    code = "os.makedirs('a/b')\nopen('a/b/data', 'wb').write(bytes(range(256)) * 9000)\n"
    code += "for name, mode in (('x', 0o777), ('s', 0o6755), ('w', 0o666), ('o', 0o000), ('empty', 0o600)):\n"
    code += "    open(name, 'w').write(name * (name != 'empty')); os.chmod(name, mode)"
    into, rejected = leave(code)
    assert rejected == {}
    assert (into / "a/b/data").read_bytes() == bytes(range(256)) * 9000
    modes = {path.name: path.stat().st_mode & 0o7777 for path in into.iterdir() if path.is_file()}
    assert modes == {"x": 0o755, "s": 0o755, "w": 0o644, "o": 0o644, "empty": 0o644}
    assert (into / "o").read_text() == "o"
    assert {path.stat().st_uid for path in into.rglob("*")} == {os.getuid()}


def test_locked_folders_are_opened(leave: Leave) -> None:
    into, rejected = leave(
        "os.mkdir('locked'); open('locked/file', 'w').write('x'); os.chmod('locked', 0); os.chmod('.', 0)"
    )
    assert rejected == {}
    assert (into / "locked/file").read_text() == "x"


@pytest.mark.parametrize("mode", [0o000, 0o100, 0o400, 0o600])
def test_locked_folders_are_opened_by_an_ordinary_account_too(mode: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        os.chown(place, ACCOUNT, ACCOUNT)
        seteuid = os.seteuid if os.geteuid() == 0 else lambda account: None
        seteuid(ACCOUNT)
        try:
            (Path(place) / "got").mkdir()
            (Path(place) / "left/locked/in").mkdir(parents=True)
            (Path(place) / "left/locked/in/file").write_text("x")
            (Path(place) / "left/locked").chmod(mode)
            assert collect(f"{place}/left", f"{place}/got", 1000, 10, []) == []
            assert (Path(place) / "got/locked/in/file").read_text() == "x"
        finally:
            seteuid(0)


LEFT = """
import os
for folder in ('kit/inner', 'deep'):
    os.makedirs(folder)
for name, text in (('real', 'r'), ('kit/tool', 't'), ('kit/inner/data', 'd'), ('/tmp/made', 'm'), ('deep/key', 'k')):
    open(name, 'w').write(text)
os.chmod('kit/tool', 0o755)
for to, name in (
    ('real', 'relative'), ('/out/real', 'absolute'), ('relative', 'twice'), ('/tmp/made', 'elsewhere'),
    ('../real', 'deep/up'), ('../../../../out/real', 'beyond'), ('kit', 'folder'), ('kit/../real', 'around'),
    ('folder/tool', 'through'), ('/usr/include/../../etc/passwd', 'passwd'),
    ('.', 'loop'), ('/', 'all'), ('self', 'self'), ('b', 'a'), ('a', 'b'), ('nowhere', 'dangling'),
    ('/dev/null', 'null'), ('/proc/self/environ', 'environ'), ('/proc/1/root/etc/passwd', 'magic'),
    ('/sys/kernel', 'kernel'), ('/tests/test_it.py', 'tests'), ('/etc/shadow', 'shadow'), ('/tmp/pipe', 'pipe'),
    ('../..', 'kit/top'), ('inner', 'kit/nested'), ('tool', 'kit/alias'),
):
    os.symlink(to, name)
os.mkfifo('/tmp/pipe')
"""


def test_links_cross_as_what_they_lead_to(leave: Leave) -> None:
    into, rejected = leave(LEFT, links=())
    files = [path for path in into.rglob("*") if path.is_file() and path.name != "passwd"]
    crossed = {str(path.relative_to(into)): path.read_text() for path in files}
    plain = {"real": "r", "kit/tool": "t", "kit/inner/data": "d", "deep/key": "k"}
    links = dict.fromkeys(("relative", "absolute", "twice", "deep/up", "beyond", "around"), "r")
    links |= {"elsewhere": "m", "through": "t", "kit/alias": "t", "folder/tool": "t", "folder/inner/data": "d"}
    assert crossed == {**plain, **links, "folder/alias": "t", "kit/nested/data": "d"}
    assert not any(path.is_symlink() for path in into.rglob("*"))
    assert os.access(into / "folder/tool", os.X_OK) and not os.access(into / "twice", os.X_OK)
    assert "agent" in (into / "passwd").read_text()  # the sandbox's own, not the host's
    assert set(rejected) == {
        "loop", "all", "self", "a", "b", "dangling", "null", "environ", "magic", "kernel", "tests", "shadow", "pipe",
        "kit/top", "folder/top", "folder/nested",
    }  # fmt: skip


def test_links_that_stood_there_before_are_left_alone(leave: Leave) -> None:
    into, rejected = leave("open('a', 'w'); os.symlink('a', 'old'); os.symlink('a', 'new')", links=("old",))
    assert sorted(path.name for path in into.iterdir()) == ["a", "new"] and set(rejected) == {"old"}


def test_only_what_the_command_could_read_is_followed(leave: Leave) -> None:
    code = "os.mkdir('/tmp/own'); open('/tmp/own/x', 'w').write('x')\nos.symlink('/tmp/own/x', 'x')\n"
    into, rejected = leave(code + "os.chmod('/tmp/own/x', 0o600); os.symlink('/var/lib/private', 'var')", links=())
    assert [path.name for path in into.iterdir()] == ["x"] and set(rejected) == {"var"}


def test_what_links_lead_to_is_bounded_and_never_at_the_price_of_files(leave: Leave) -> None:
    code = "os.mkdir('big'); open('big/data', 'wb').truncate(3000); open('z', 'wb').truncate(3000)\n"
    code += "os.symlink('big', 'also'); os.symlink('z', 'a'); os.symlink('z', 'b'); os.symlink('z', 'c')"
    into, rejected = leave(code, links=(), max_bytes=10_000)
    assert sorted(path.name for path in into.rglob("*")) == ["a", "big", "data", "z"]
    assert set(rejected) == {"also", "b", "c"}


def test_a_folder_crosses_whole_in_the_place_of_a_link_or_not_at_all(leave: Leave) -> None:
    code = "os.mkdir('many')\nfor n in range(2100): open(f'many/{n}', 'w')\nos.symlink('many', 'm')\n"
    code += "os.mkdir('locked'); open('locked/x', 'w'); os.chmod('locked', 0); os.symlink('locked', 'l')"
    into, rejected = leave(code, links=())
    assert set(rejected) == {"m"} and len(list(into.rglob("*"))) == 2105 and (into / "l/x").is_file()


def test_links_pipes_and_sockets_do_not_cross(leave: Leave) -> None:
    code = "import socket\nos.symlink('/etc/passwd', 'link'); os.symlink('nowhere', 'dangling'); os.mkfifo('pipe')\n"
    code += "socket.socket(socket.AF_UNIX).bind('socket'); open('kept', 'w'); os.link('kept', 'hard')"
    into, rejected = leave(code)
    assert sorted(path.name for path in into.iterdir()) == ["hard", "kept"]
    assert set(rejected) == {"link", "dangling", "pipe", "socket"}
    assert "symbolic link" in rejected["link"] and "device, pipe or socket" in rejected["pipe"]


def test_the_limit_of_bytes_holds_for_all_files_together(leave: Leave) -> None:
    into, rejected = leave("for n in 'abcd': open(n, 'wb').write(b'x' * 400)", max_bytes=1000)
    assert sorted(path.name for path in into.iterdir()) == ["a", "b"]
    assert rejected == dict.fromkeys("cd", "400 bytes are more than the 200 left of the submission's limit")


def test_the_limit_of_files_holds_for_all_folders_together(leave: Leave) -> None:
    code = "for f in 'ab':\n    os.mkdir(f)\n    for n in range(30): open(f'{f}/{n:02}', 'w')"
    into, rejected = leave(code, max_files=20)
    assert len(list(into.rglob("*"))) <= 20
    assert "too many files" in next(iter(rejected.values()))


def test_of_very_many_rejections_some_are_named(leave: Leave) -> None:
    _, rejected = leave("for n in range(1500): os.symlink('x', f'{n:04}')")
    assert len(rejected) == 201
    assert rejected[""] == "1300 more were left behind"


def test_holes_count_as_what_they_claim_and_stay_holes(leave: Leave) -> None:
    code = (
        "open('small', 'wb').truncate(8 * 2**20)\nwith open('mixed', 'wb') as f: f.seek(4 * 2**20); f.write(b'end')\n"
    )
    code += "open('large', 'wb').truncate(15 * 2**20)"
    into, rejected = leave(code, max_bytes=13 * 2**20)
    assert set(rejected) == {"large"} or set(rejected) == {"small"}
    assert (into / "mixed").stat().st_size == 4 * 2**20 + 3
    assert (into / "mixed").read_bytes().endswith(b"\0end")
    assert (into / "mixed").stat().st_blocks * 512 < 2**20


@pytest.mark.parametrize("name", ["b'\\xff\\xfe'", "b'new\\nline'", "b'\\x1b[31mred'", "'\\u202egnp.exe'.encode()"])
def test_names_that_cannot_be_shown_are_refused_legibly(leave: Leave, name: str) -> None:
    into, rejected = leave(f"open({name}, 'w'); open('kept', 'w')")
    assert [path.name for path in into.iterdir()] == ["kept"]
    ((path, reason),) = rejected.items()
    assert path.isprintable() and "unprintable" in reason


def test_names_of_all_languages_cross(leave: Leave) -> None:
    into, rejected = leave("open('größe 数据.txt', 'w')")
    assert rejected == {}
    assert (into / "größe 数据.txt").exists()


def test_bottomless_folders_are_cut(leave: Leave) -> None:
    into, rejected = leave("for _ in range(300):\n    os.mkdir('d'); os.chdir('d')")
    assert len(list(into.rglob("*"))) <= 60
    assert "too deep" in next(iter(rejected.values()))


@pytest.mark.parametrize(
    "code", ["os.rmdir('/tmp/out')", "os.rename('/tmp/out', '/tmp/o'); open('/tmp/out', 'w')"], ids=["gone", "a file"]
)
def test_a_folder_that_is_no_more_is_said_so(inside: Inside, tmp_path: Path, code: str) -> None:
    done = inside(f"import os; os.mkdir('/tmp/out'); {code}", collect=(ExportSpec("/tmp/out", tmp_path / "got"),))
    assert [item.reason for item in done.rejected] == ["the folder is gone or is not a folder"]


def test_entries_to_skip_are_skipped_at_the_top_alone(leave: Leave) -> None:
    code = "os.makedirs('.git'); os.symlink('x', '.git/link'); os.makedirs('a/.git'); open('a/.git/config', 'w')"
    into, rejected = leave(code, skip=(".git",))
    assert rejected == {}
    assert sorted(str(path.relative_to(into)) for path in into.rglob("*")) == ["a", "a/.git", "a/.git/config"]
