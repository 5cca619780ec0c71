"""From the bytes of a submission to a patch: Git diffs, plain diffs, and mailboxes of commits."""

from __future__ import annotations

import re

from repoassay.diffs.binary import read_binary
from repoassay.diffs.cursor import Lines
from repoassay.diffs.headers import GitHeader, is_header_line, read_git_header, shown_name
from repoassay.diffs.hunks import is_hunk_header, read_hunks
from repoassay.diffs.model import MAX_FILES, Binary, ChangeKind, FilePatch, Hunk, Patch, PatchError
from repoassay.diffs.traditional import read_plain_file
from repoassay.text import printable

__all__ = ["read_patch"]

MAX_LINES_BETWEEN = 200_000

_COMMIT = re.compile(rb"(?:From|commit) [0-9a-f]{40,64}(?: .*)?", re.DOTALL)
_WITHOUT_DATA = re.compile(rb"(?:Binary files|Files) .* (?:and .* )?differ", re.DOTALL)
_NOT_COMPARED = re.compile(rb"Only in [^:]+: .+|File .+ is an? .+ while file .+ is an? .+", re.DOTALL)
_PROSE = (b"rename ", b"copy ")
"""Header lines that a commit's message may well start a line with."""


def read_patch(data: bytes, *, max_bytes: int = 32 * 2**20) -> Patch:
    """Read a unified diff strictly.

    Args:
        data: The patch as submitted.
        max_bytes: Refuse anything longer.

    Raises:
        PatchError: When any part of it is not understood exactly, or is of a kind that is refused. Its `empty` is set
            when the patch holds nothing but white space.
    """
    if len(data) > max_bytes:
        raise PatchError(f"the patch has {len(data):,} bytes; at most {max_bytes:,} are read")
    if not data.strip():
        raise PatchError("the patch is empty", empty=True)
    patch = _Reader(data).read()
    if not patch.files:
        first = data.lstrip()[:500].splitlines()[0].decode(errors="replace")
        raise PatchError(f'there is no unified diff in the patch, which begins "{printable(first)}"')
    return patch


class _Reader:
    """A patch being read; what is allowed between files depends on what came before."""

    def __init__(self, data: bytes) -> None:
        self._lines = Lines(data)
        self._files: list[FilePatch] = []
        self._hunks = 0
        self._series = 0
        self._passed = 0
        self._in_mail = False
        self._bare: GitHeader | None = None  # of the file just read, when nothing followed its header

    def read(self) -> Patch:
        lines = self._lines
        while (text := lines.text()) is not None:
            if text.startswith(b"diff --git "):
                self._add(*self._git_file())
            elif (
                text.startswith(b"--- ")
                and lines.starts(b"+++ ", 1)
                and (not self._in_mail or is_hunk_header(lines.text(2)))
            ):
                self._refuse_torn(text, lines.text(1) or b"")
                self._add(read_plain_file(lines, self._hunks, self._series))
            else:
                self._pass_over(text)
                lines.take()
        return Patch(tuple(self._files), lines.crlf)

    def _add(self, file: FilePatch, header: GitHeader | None = None) -> None:
        if len(self._files) == MAX_FILES:
            raise PatchError(f"the patch changes more than {MAX_FILES:,} files", line=file.line)
        self._files.append(file)
        self._hunks += len(file.hunks)
        self._in_mail = False
        self._bare = header if header and not file.hunks and not file.binary else None

    def _refuse_torn(self, *pair: bytes) -> None:
        """Refuse `---` and `+++` that an unknown line parts from their Git header: they would read as a second file."""
        header, line = self._bare, self._lines.number
        names = {shown_name(text[4:], line)[0] for text in pair}
        if header and names & {header.old_shown, header.new_shown}:
            raise PatchError("a line of no known kind stands in the file's header", header.new_path, line=line)

    def _pass_over(self, text: bytes) -> None:
        """Allow one line that is no part of a diff; what could be one out of place is refused."""
        line = self._lines.number
        self._passed += 1
        if self._passed > MAX_LINES_BETWEEN:
            raise PatchError(
                f"the patch has more than {MAX_LINES_BETWEEN:,} lines that belong to no file's diff", line=line
            )
        if is_hunk_header(text):
            raise PatchError("a hunk stands outside of any file's diff", line=line)
        if _COMMIT.fullmatch(text):
            self._series += bool(self._files)
            self._in_mail = True
            self._bare = None
        if text == b"GIT binary patch" or (is_header_line(text) and not (self._in_mail and text.startswith(_PROSE))):
            raise PatchError("a line of a file's header stands outside of any", line=line)
        if self._in_mail:
            return
        if _WITHOUT_DATA.fullmatch(text):
            raise PatchError("a binary file has changed, and its content is not in the patch", line=line)
        if _NOT_COMPARED.fullmatch(text):
            raise PatchError("diff compared folders without showing all their files (use diff -ruN)", line=line)
        if text.startswith((b"diff --cc ", b"diff --combined ")):
            raise PatchError("a combined diff of a merge cannot be applied", line=line)
        if text.startswith(b"diff -") and not self._lines.starts(b"--- ", 1) and not self._lines.starts(b"Binary ", 1):
            raise PatchError("a diff command is not followed by a unified diff", line=line)
        # The signature below a mail is the one line of this look that may follow a hunk.
        if self._files and text[:1] in {b" ", b"+", b"-", b"\\"} and text not in {b"-- ", b"--"}:
            raise PatchError("a line stands after the hunks and looks like content; their counts are wrong", line=line)

    def _git_file(self) -> tuple[FilePatch, GitHeader]:
        lines = self._lines
        header = read_git_header(lines)
        hunks: tuple[Hunk, ...] = ()
        binary: Binary | None = None
        text = lines.text() or b""
        if text.startswith(b"--- "):
            _check_names(lines, header)
            hunks = read_hunks(lines, header.new_path, self._hunks)
        elif text == b"GIT binary patch":
            binary = read_binary(lines, header.new_path, header.index)
        elif _WITHOUT_DATA.fullmatch(text):
            raise PatchError(
                "the file is binary and its content is not in the patch (use git diff --binary)",
                header.new_path,
                line=lines.number,
            )
        elif is_hunk_header(text):
            raise PatchError("a hunk follows the header without '---' and '+++'", header.new_path, line=lines.number)
        return _git_patch(header, hunks, binary, self._series), header


def _check_names(lines: Lines, header: GitHeader) -> None:
    """Pass the `---` and `+++` lines, which must repeat the names of the header."""
    for sign, shown, absent in (
        (b"--- ", header.old_shown, header.kind is ChangeKind.CREATE),
        (b"+++ ", header.new_shown, header.kind is ChangeKind.DELETE),
    ):
        text = lines.text() or b""
        if not text.startswith(sign):
            raise PatchError("no '+++' line follows the '---' line", header.new_path, line=lines.number)
        name, _ = shown_name(text[4:], lines.number)
        if name != (b"/dev/null" if absent else shown):
            reason = f"the name after '{sign.decode().strip()}' is not the one in the header above"
            raise PatchError(reason, header.new_path, line=lines.number)
        lines.take()


def _git_patch(header: GitHeader, hunks: tuple[Hunk, ...], binary: Binary | None, series: int) -> FilePatch:
    kind = header.kind
    if not hunks and binary is None:
        if header.promises_content:
            raise PatchError(
                "the index line promises a change of content that is not there", header.new_path, line=header.line
            )
        if kind is ChangeKind.MODIFY:
            if header.mode is None:
                raise PatchError("the diff changes nothing", header.new_path, line=header.line)
            kind = ChangeKind.MODE
    elif hunks and header.mode is None and kind is ChangeKind.MODIFY and all(hunk.old == hunk.new for hunk in hunks):
        raise PatchError("the diff changes nothing", header.new_path, line=header.line)
    return FilePatch(
        old_path=None if kind is ChangeKind.CREATE else header.old_path,
        new_path=None if kind is ChangeKind.DELETE else header.new_path,
        kind=kind,
        new_mode=header.mode,
        hunks=hunks,
        binary=binary,
        line=header.line,
        series=series,
        of_link=header.of_link,
    )
