"""Patches made elsewhere: the files in which several benchmarks hand them in."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from repoassay.errors import BadInput, Problem
from repoassay.formats.edit_row import checked_id
from repoassay.formats.json_records import MAX_LINE, MAX_LINES, open_regular, read_json_records
from repoassay.formats.record_problems import PlacedRecord, Problems, kind_of
from repoassay.formats.task_folders import is_folder
from repoassay.records import FilePrefix, longest_prefix
from repoassay.tasks import read_regular, unreadable
from repoassay.text import join_names, printable
from repoassay.types import Record

__all__ = ["PatchSubmission", "SubmissionMark", "SubmissionReader", "read_submissions"]

_IDS = ("id", "instance_id")
_PATCHES = ("patch", "model_patch", "fix_patch")
_MODELS = ("model_name_or_path", "model", "prefix")
_SUFFIXES = frozenset({".diff", ".patch"})
_MAX_FILES = 100_000
_MAX_ID = 512
_FORM = "Write {id, patch}, {instance_id, model_patch} or {org, repo, number, fix_patch}."


class PatchSubmission(Record):
    """A patch for one task, as somebody handed it in.

    `patch` is empty where there was none. `model` is who made it, as far as said. `number` counts the submissions of
    one id from 0, in the order of the file.
    """

    id: Annotated[str, Field(min_length=1, max_length=_MAX_ID), AfterValidator(checked_id)]
    patch: str = ""
    model: str = ""
    number: Annotated[int, Field(ge=0)] = 0

    @property
    def content(self) -> bytes:
        """The patch as bytes; half of a surrogate pair, which JSON can hold, is encoded like any character."""
        return self.patch.encode("utf-8", "surrogatepass")

    @property
    def sha256(self) -> str:
        """Of the patch."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class SubmissionMark:
    """How far a file of JSON Lines was read: its first `size` bytes and their sha256, `lines`, and `count` submissions.

    `numbers` has how many submissions of each id are among them.
    """

    size: int
    lines: int
    digest: str
    count: int
    numbers: Mapping[str, int]


class SubmissionReader:
    """Submissions from a JSON or JSON Lines file, or a folder of `ID.diff` and `ID.patch` files, in their order.

    Of lines, no more than one is held at a time. Patches are kept as they are, CR LF included; one that is null,
    missing or empty is an empty submission. Iterated over once; problems are raised when reading ends.

    Args:
        path: A file (lines of at most 64 MiB; a document of at most 1 GiB), or a folder.
        after: Pass over what was read before, where that is unchanged; else reading starts at the beginning.

    Raises:
        BadInput: With the problems of up to 20 records: place, key, what is wrong and the remedy.
    """

    def __init__(self, path: Path, after: SubmissionMark | None = None) -> None:
        self._path = path
        read = _unchanged(path, after) if after else None
        self._read = read or FilePrefix()
        self.count = after.count if after and read else 0
        """Submissions read, those passed over among them."""
        self._numbers: Counter[str] = Counter(after.numbers if after and read else {})

    def __iter__(self) -> Iterator[PatchSubmission]:
        folder = is_folder(self._path)
        problems = Problems(self._path, "submissions folder" if folder else "submissions file")
        entries = (
            _from_folder(self._path, problems) if folder
            else _from_records(read_json_records(self._path, problems, _OWN, self._read), problems, bool(self.count))
        )  # fmt: skip
        for name, patch, model in entries:
            if problems.found:  # nothing will be graded; the rest is read for what is wrong with it
                continue
            submission = PatchSubmission(id=name, patch=patch, model=model, number=self._numbers[name])
            self._numbers[name] += 1
            self.count += 1
            yield submission
        problems.check()
        if not self.count:
            problems.add(Problem(".", "", "holds no submissions.", _FORM))
            problems.check()

    @property
    def ids(self) -> Iterable[str]:
        """Every id that submissions had so far."""
        return self._numbers.keys()

    @property
    def numbers(self) -> Mapping[str, int]:
        """How many submissions of each id were read so far."""
        return self._numbers

    def mark(self) -> SubmissionMark | None:
        """How far reading is; None where it is no file of lines."""
        if not self._read.size:
            return None
        read = self._read
        return SubmissionMark(read.size, read.lines, read.digest.hexdigest(), self.count, dict(self._numbers))


def read_submissions(path: Path) -> list[PatchSubmission]:
    """Read all submissions of a file or folder, as `SubmissionReader` does one by one.

    Raises:
        BadInput: As `SubmissionReader` raises it.
    """
    return list(SubmissionReader(path))


def _unchanged(path: Path, mark: SubmissionMark) -> FilePrefix | None:
    if is_folder(path):
        return None
    with open_regular(path, MAX_LINES) as stream:
        return longest_prefix(stream, [(mark.size, mark.lines, mark.digest)])


_OWN = frozenset({*_IDS, *_PATCHES, "org"})
_Given = tuple[str, str, str]
"""Id, patch, model."""


def _from_records(records: Iterable[PlacedRecord], problems: Problems, with_patch: bool) -> Iterator[_Given]:
    without: PlacedRecord | None = None
    for found in records:
        data = found.value
        if found.key is not None and (data is None or isinstance(data, str)):
            data = {"patch": data}
        if not isinstance(data, dict):
            problems.add(Problem(found.place, "", f"is {kind_of(data)}.", f"It must be an object. {_FORM}"))
            continue
        wrong: list[Problem] = []
        name = _name(found, data, wrong)
        patch = _string(found.place, data, _PATCHES, wrong)
        model = _string(found.place, data, _MODELS, wrong)
        if wrong:
            problems.add(*wrong)
            continue
        if data.keys().isdisjoint(_PATCHES):
            without = without or found
        else:
            with_patch = True
        yield name, patch, model
    # One record without a patch is an agent that gave up; a whole file of them has another name for it.
    if without and not with_patch:
        keys = join_names(map(str, without.value), 8) if isinstance(without.value, dict) else ""
        problems.add(
            Problem(without.place, "patch", f"is missing, here and in every other record, which has {keys}.", _FORM)
        )


def _name(found: PlacedRecord, data: Mapping[str, object], wrong: list[Problem]) -> str:
    """The id that a record states, or the key it stands under."""
    name = _string(found.place, data, _IDS, wrong)
    if not name and {"org", "repo", "number"} <= data.keys():
        name = _multi(found.place, data, wrong)
    if found.key is not None and name not in ("", found.key):
        wrong.append(Problem(found.place, "id", "is not the key it stands under.", "Leave one of them out."))
    name = name or found.key or ""
    if not wrong and not name:
        wrong.append(Problem(found.place, "id", "is missing or empty.", _FORM))
    elif not wrong:
        try:
            checked_id(name)
        except ValueError as error:
            wrong.append(Problem(found.place, "id", f"{str(error).partition(';')[0]}.", "Give it a plain name."))
        if len(name) > _MAX_ID:
            wrong.append(Problem(found.place, "id", f"is longer than {_MAX_ID} characters.", "Shorten it."))
    return name


def _multi(place: str, data: Mapping[str, object], wrong: list[Problem]) -> str:
    """Multi-SWE-bench's id."""
    wrong += [
        Problem(place, key, f"is {kind_of(data[key])}.", "It must be text.")
        for key in ("org", "repo")
        if not isinstance(data[key], str) or not data[key]
    ]
    number = data["number"]
    if isinstance(number, bool) or not (isinstance(number, int) or (isinstance(number, str) and number.isdecimal())):
        wrong.append(Problem(place, "number", f"is {kind_of(number)}.", "It must be a whole number."))
    elif isinstance(number, int) and abs(number) > 10**15:  # so that making text of it stays cheap
        wrong.append(Problem(place, "number", "is too large.", "It must be the number of a pull request."))
    return "" if wrong else f"{data['org']}__{data['repo']}-{number}"


def _string(place: str, data: Mapping[str, object], keys: tuple[str, ...], wrong: list[Problem]) -> str:
    """The text under whichever of the keys is there; empty when none is, or it is null."""
    found: dict[str, str] = {}
    for key in keys:
        if (value := data.get(key)) is None:
            continue
        if isinstance(value, str):
            found[key] = value
        else:
            wrong.append(Problem(place, key, f"is {kind_of(value)}.", "It must be text or null."))
    if len(found) > 1 and keys is not _MODELS and len(set(found.values())) > 1:
        wrong.append(Problem(place, " and ".join(found), "differ.", "Keep one of them."))
    return next((text for text in found.values() if text), "")


def _from_folder(folder: Path, problems: Problems) -> Iterator[_Given]:
    """Each file of the folder itself by name; links are refused, other files and folders are passed over."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for _, entry in zip(range(_MAX_FILES + 1), entries, strict=False))
    except OSError as error:
        raise BadInput(f"The folder {printable(str(folder), 500)} cannot be read: {error.strerror}.") from error
    if len(names) > _MAX_FILES:
        raise BadInput(f"The folder {printable(str(folder), 500)} holds more than {_MAX_FILES:,} files.", "Split it.")
    for name in names:
        stem, suffix = os.path.splitext(name)  # noqa: PTH122 - a name, not a path; Path reads '..diff' otherwise
        if suffix.lower() not in _SUFFIXES:
            continue
        try:
            checked_id(stem)
            yield stem, read_regular(folder / name, MAX_LINE).decode(), ""
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            what = f"is not UTF-8 (line {line}, byte {error.start + 1})."
            problems.add(Problem(printable(name), "", what, "Write it as UTF-8, or its bytes as a Git binary patch."))
        except ValueError as error:
            problems.add(Problem(printable(name), "", f"has a name that {str(error).partition(';')[0]}.", "Rename it."))
        except OSError as error:
            problems.add(unreadable(name, error))
