"""Delivered files are opened in a sandbox alone: what takes for ever costs a sentence, and nobody else waits for it."""

from __future__ import annotations

import base64
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pytest
from PIL import Image, PngImagePlugin

from bombs import PDFS, PICTURES, WORKBOOKS
from repoassay.errors import BadInput, InfraFault, NoIsolation
from repoassay.review.rubric import read_rubric
from repoassay.review.studies import create_study
from repoassay.review.study import HiddenPart, Item, ItemPayload, Output, Study
from repoassay.sandbox.protocol import Command, Completed, Sandbox, SandboxSession, SandboxSetup
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.server.review.blobs import Blobs
from repoassay.server.review.changed_files import file_versions
from repoassay.server.review.outputs import shown_of
from repoassay.server.review.previews import PreviewResult, Previews
from repoassay.server.review.review_state import ReviewState
from repoassay.types import Ended, Exit
from repoassay.workspace.checkouts import commit_tree
from repoassay.workspace.git import run_git
from server.review.samples import NOW, Person, answering


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "files")


@pytest.fixture
def previews(blobs: Blobs) -> Iterator[Previews]:
    """Previews that give up early."""
    found = Previews(blobs, cpu=2)
    yield found
    found.close()


def made(previews: Previews, digest: str, kind: str) -> PreviewResult:
    while (found := previews.get(digest, kind)) is None:
        time.sleep(0.02)
    return found


def picture(**more: object) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (60, 40), "red").save(stream, "PNG", **more)
    return stream.getvalue()


def book(value: str) -> bytes:
    stream, made = io.BytesIO(), openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    sheet["B2"] = value
    made.save(stream)
    return stream.getvalue()


def note() -> bytes:
    cell = {"cell_type": "code", "source": ["print(1)\n", "2"], "outputs": [{"text": ["1\n"]}, {"data": {}}]}
    return json.dumps({"cells": [cell, {"cell_type": "markdown", "source": "# <b>"}]}).encode()


def test_honest_files_are_shown(previews: Previews, blobs: Blobs) -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("Author", "zebrawolf")
    digest = blobs.put(picture(pnginfo=text))
    found = made(previews, digest, "picture")
    assert found.pictures == 1 and not found.note
    data = previews.picture(digest).read_bytes()
    with Image.open(io.BytesIO(data)) as shown:
        assert (shown.size, shown.getpixel((3, 3)), shown.info) == ((60, 40), (255, 0, 0), {})
    assert b"zebrawolf" not in data  # what else the file held does not go along
    rows = made(previews, blobs.put(book("<b>x</b>")), "workbook").rows
    assert rows == [["", ""], ["", "<b>x</b>"]]
    cells = made(previews, blobs.put(note()), "notebook").cells
    assert [(cell.kind, cell.source) for cell in cells] == [("code", "print(1)\n2"), ("markdown", "# <b>")]
    assert [each.text for each in cells[0].outputs] == ["1\n"]


def document(pages: int) -> bytes:
    stream = io.BytesIO()
    sheets = [Image.new("RGB", (200, 300), (number, 0, 0)) for number in range(pages)]
    sheets[0].save(stream, "PDF", save_all=True, append_images=sheets[1:])
    return stream.getvalue()


def test_a_document_is_shown_page_by_page(previews: Previews, blobs: Blobs) -> None:
    digest = blobs.put(document(23))
    found = made(previews, digest, "pdf")
    assert found.pictures == 20 and "first 20 of 23 pages" in found.note
    with Image.open(previews.picture(digest, "pdf", 20)) as shown:
        assert shown.format == "PNG" and max(shown.size) <= 1400
    with pytest.raises(BadInput):
        previews.picture(digest, "pdf", 21)


def test_a_notebook_shows_what_its_cells_drew(previews: Previews, blobs: Blobs) -> None:
    good, bad = base64.b64encode(picture()).decode(), base64.b64encode(b"<svg onload=alert(1)>").decode()
    outputs = [{"data": {"image/png": data, "text/plain": "x"}} for data in (good, bad, "not base64!")]
    outputs.append({"data": {"text/html": "<script>alert(1)</script>", "text/plain": "plain"}})
    cell = {"cell_type": "code", "source": "draw()", "outputs": outputs}
    digest = blobs.put(json.dumps({"cells": [cell] * 30}).encode())
    found = made(previews, digest, "notebook")
    assert found.pictures == 20 and len(found.cells) == 30
    told = [(each.picture, each.text) for each in found.cells[1].outputs]
    assert told[0] == (2, "") and "does not open" in told[1][1] and told[3] == (0, "plain")
    with Image.open(previews.picture(digest, "notebook", 2)) as shown:
        assert shown.size == (60, 40)


@pytest.mark.long
def test_pictures_and_notebooks_of_a_change_are_shown_before_and_after(
    desk: ReviewState, owner: Person, tmp_path: Path
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "old.png").write_bytes(picture())
    (base / "note.ipynb").write_bytes(note())
    commit_tree(base)
    head = tmp_path / "head"
    shutil.copytree(base, head)
    Image.new("RGB", (60, 40), "blue").save(head / "old.png")
    Image.new("RGB", (20, 20), "blue").save(head / "new.png")
    (head / "note.ipynb").write_bytes(note().replace(b"print(1)", b"print(22)"))
    run_git(head, "add", "--all")
    diff = run_git(head, "diff", "--cached", "--binary").decode()
    versions = file_versions(base, diff, desk.blobs)
    rubric = read_rubric("mergeable")
    item = Item(id="s0", payload=ItemPayload(diff=diff, versions=versions), hidden=HiddenPart(task="t"))
    create_study(desk.database, Study(name="st", rubric=rubric.digest), rubric, [item], at=NOW)
    owner.get("/studies/st")
    ann = Person(str(owner.http.base_url), owner.invite("Ann"))
    assert "A binary file" not in ann.get("/item/s0").text
    pages = []
    for number in range(3):
        while "being made" in (text := ann.get(f"/item/s0/versions/{number}").text):
            time.sleep(0.05)
        pages.append(text)
    new, notebook, old = pages
    assert "After" in new and "Before" not in new and "versions/0/made.1.png" in new
    assert "print(22)" in notebook and "print(1)" in notebook
    assert "Swipe" in old and "versions/2/truth.1.png" in old and "Difference" in old
    sent = ann.get("/item/s0/versions/2/truth.1.png")
    with Image.open(io.BytesIO(sent.content)) as shown:
        assert shown.getpixel((3, 3)) == (255, 0, 0)
    assert "sandbox" in sent.headers["content-security-policy"]
    for odd in ("versions/9", "versions/2/other", "versions/2/made.0.png", "versions/0/truth"):
        assert ann.get(f"/item/s0/{odd}").status_code == 404


def test_a_moving_picture_moves_and_a_large_one_is_made_smaller(previews: Previews, blobs: Blobs) -> None:
    stream = io.BytesIO()
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("red", "green", "blue")]
    frames[0].save(stream, "GIF", save_all=True, append_images=frames[1:], duration=100)
    digest = blobs.put(stream.getvalue())
    assert made(previews, digest, "picture").pictures == 1
    with Image.open(previews.picture(digest)) as shown:
        assert (shown.format, getattr(shown, "n_frames", 1)) == ("PNG", 3)
    large = io.BytesIO()
    Image.new("L", (6000, 100)).save(large, "PNG")
    digest = blobs.put(large.getvalue())
    assert "shown smaller" in made(previews, digest, "picture").note
    with Image.open(previews.picture(digest)) as shown:
        assert shown.width == 4096


def test_what_was_made_is_kept_and_made_once(blobs: Blobs) -> None:
    ran: list[Command] = []

    class Counting:
        """The real sandbox, counted."""

        name, network_is_private = "namespaces", True

        def __init__(self) -> None:
            self._real = open_sandbox()

        def run(self, command: Command, cancel: object = None) -> Completed:
            ran.append(command)
            return self._real.run(command)

        def open(self, setup: SandboxSetup, cancel: object = None) -> SandboxSession:
            return self._real.open(setup)

    digest = blobs.put(book("x"))
    for _ in range(2):  # the second is another server of the same folder, or this one started again
        previews = Previews(blobs, Counting)
        assert made(previews, digest, "workbook").rows
        made(previews, digest, "workbook")
        previews.close()
    assert len(ran) == 1
    assert ran[0].network.value == "none" and len(ran[0].mounts) <= 4


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    **{f"{name}.pdf": ("pdf", PDFS[name]) for name in PDFS},
    **{f"{name}.xlsx": ("workbook", WORKBOOKS[name]) for name in WORKBOOKS},
    **{f"{name}.png": ("picture", PICTURES[name]) for name in PICTURES},
}


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("forms.pdf", "dimension.xlsx", "archive.xlsx", "pixels.png"), id="some"),
        pytest.param(tuple(BOMBS), id="all", marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.long
def test_bombs_end_in_a_sentence_or_harmless_and_our_memory_stays(
    previews: Previews, blobs: Blobs, names: tuple[str, ...]
) -> None:
    digests = {name: (blobs.put(BOMBS[name][1]()), BOMBS[name][0]) for name in names}
    before = resident()
    found = {name: made(previews, *key) for name, key in digests.items()}
    assert resident() - before < 100 * 2**20
    for name in {"forms.pdf", "strings.xlsx"} & set(names):
        assert "cannot be shown" in found[name].note and not (found[name].rows or found[name].pictures), found[name]
    assert "unpacks to" in found["archive.xlsx"].note
    assert "cannot be shown" in found["pixels.png"].note and not found["pixels.png"].pictures
    # Of huge sheets the first rows are shown, or a sentence; never more than that.
    assert all(each.note or each.pictures for each in found.values()) and found["dimension.xlsx"].rows == [["1"]]
    again = Previews(blobs, sandbox=refused)
    assert all(again.get(*digests[name]) == each for name, each in found.items())  # kept, bombs too


@pytest.mark.exhaustive
def test_the_document_does_take_that_long_where_nothing_stops_it(tmp_path: Path) -> None:
    (tmp_path / "bomb.pdf").write_bytes(PDFS["operations"]())
    code = "import pypdf, sys; [page.extract_text() for page in pypdf.PdfReader(sys.argv[1]).pages]"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "bomb.pdf")], capture_output=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (3, 4)),
    )  # fmt: skip
    assert done.returncode < 0, done.stderr  # it computed until it was stopped


def refused() -> Sandbox:
    raise NoIsolation("This machine gives no sandbox.", "Run `repoassay doctor`.")


def test_without_a_sandbox_nothing_is_opened(blobs: Blobs) -> None:
    previews = Previews(blobs, sandbox=refused)
    found = made(previews, blobs.put(picture()), "picture")
    assert "gives no sandbox" in found.note and not found.kept
    previews.close()


class Broken:
    """A sandbox in which something took over what opens files: it leaves what it likes."""

    name, network_is_private = "namespaces", True

    def __init__(self, files: dict[str, bytes] | None) -> None:
        self._files = files

    def run(self, command: Command, cancel: object = None) -> Completed:
        """Leave the files."""
        if self._files is None:
            raise InfraFault("The sandbox fell over.")
        into = command.collect[0].into
        for name, data in self._files.items():
            (into / name).write_bytes(data)
        return Completed(exit=Exit(ended=Ended.EXITED, code=0))

    def open(self, setup: SandboxSetup, cancel: object = None) -> SandboxSession:
        """Nobody asks for it."""
        raise NotImplementedError


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


@pytest.mark.by_day(5)
@pytest.mark.parametrize(
    "files",
    [
        {}, {"shown.json": b"[" * 100_000}, {"shown.json": b'{"note": 3}'}, {"shown.json": b'{"html": "<b>"}'},
        {"shown.json": json.dumps({"note": "x" * 300_000}).encode()}, {"shown.json": b'{"rows": [["' + b'","' * 99},
        {"shown.json": b'{"pictures": 1}'}, {"shown.json": b'{"pictures": 1}', "shown-1.png": b"<script>"},
        {"shown.json": b'{"pictures": 10000}'},
        {"shown.json": b'{"pictures": 1}', "shown-1.png": PNG + (2**31 - 1).to_bytes(4, "big") * 2}, None,
    ],
)  # fmt: skip
def test_what_comes_out_of_the_sandbox_is_not_believed(blobs: Blobs, files: dict[str, bytes] | None) -> None:
    previews = Previews(blobs, sandbox=lambda: Broken(files))
    digest = blobs.put(picture())
    found = made(previews, digest, "picture")
    assert found.note.startswith("This cannot be shown") and not (found.cells or found.rows or found.pictures)
    with pytest.raises(BadInput):
        previews.picture(digest)
    previews.close()


def study_of(desk: ReviewState, files: dict[str, bytes]) -> None:
    outputs = tuple(Output(path=name, media="x", sha256=desk.blobs.put(data)) for name, data in files.items())
    rubric = read_rubric("quality")
    items = [Item(id="s0", payload=ItemPayload(outputs=outputs), hidden=HiddenPart(task="t"))]
    create_study(desk.database, Study(name="st", rubric=rubric.digest), rubric, items, at=NOW)


@pytest.mark.exhaustive
def test_others_are_answered_while_a_bomb_is_opened(desk: ReviewState) -> None:
    desk.previews.close()
    desk.previews = Previews(desk.blobs, cpu=2)
    study_of(desk, {"a.pdf": PDFS["forms"](), "b.xlsx": WORKBOOKS["strings"](), "c.png": picture()})
    with answering(desk) as url:
        owner = Person(url, "/review/join/owner-token-owner-token-owner-token")
        owner.get("/studies/st")
        ann, bob = (Person(url, owner.invite(name)) for name in ("Ann", "Bob"))
        page = ann.get("/item/s0")  # this request began the bombs and did not wait for them
        assert page.status_code == 200 and "A preview is being made" in page.text
        for _ in range(10):
            assert bob.get("/queue").status_code == 200 and owner.get("/studies").status_code == 200
        payload = desk.shown("st", "s0").payload
        assert any(each.waits for each in shown_of(desk, payload.outputs))  # it was still at it
        while "A preview is being made" in (text := ann.get("/item/s0/outputs").text):
            time.sleep(0.05)
        # Which of its limits ends a bomb first depends on the machine.
        assert text.count("This cannot be shown") == 2 and 'hx-get="/review/item/s0/outputs"' not in text
        assert "/review/files/s0/2/made.1.png" in text
        shown = ann.get("/files/s0/2/made.png")
        assert shown.status_code == 200 and shown.content.startswith(b"\x89PNG")
        assert shown.headers["content-type"] == "image/png" and "sandbox" in shown.headers["content-security-policy"]
        assert ann.get("/files/s0/0/made.png").status_code == 422
        for which in ("made.svg", "made.png.exe", "truth.png"):
            assert ann.get(f"/files/s0/2/{which}").status_code == 404
        whole = ann.get("/files/s0/2/made")
        assert whole.headers["content-disposition"].startswith("attachment")


def test_a_playlist_is_not_played(desk: ReviewState, owner: Person) -> None:
    wave = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"
    study_of(desk, {"a.wav": wave, "b.mp4": b"#EXTM3U\n#EXTINF:1,\nhttp://evil.example/x.ts\n"})
    owner.get("/studies/st")
    text = Person(str(owner.http.base_url), owner.invite("Ann")).get("/item/s0").text
    assert "<audio" in text and "<video" not in text and "not what its name says" in text
