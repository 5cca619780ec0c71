"""Data sets of Inspect as state tasks: samples whose target is a short answer, with their files and their setup.

A data set holds no scorer: that is Python of the task, which is not run here. So the answer is asked for in a file, and
compared with the target, as Inspect's scorer `exact` would but for case.
"""

from __future__ import annotations

import base64
import binascii
import csv
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from repoassay.engine import GradingContext
from repoassay.errors import BadInput
from repoassay.formats import Problems, read_arrow_records, read_json_records, read_parquet_records
from repoassay.interchange.image_file import ImageRecipe, ImportRefusal
from repoassay.interchange.image_recipe import read_image
from repoassay.interchange.shell_steps import read_shell
from repoassay.interchange.state_task import StateTask, state_places, write_state_task
from repoassay.sandbox import temporary_folder
from repoassay.text import printable

__all__ = ["InspectDataset", "SampleTask"]

_WORK = "/workspace"
_ANSWER = "answer.txt"
_ADDED = f"\n\nWrite your answer, and nothing else, to the file {_WORK}/{_ANSWER}.\n"
_TEST = """\
from pathlib import Path

TARGETS = {targets}


def test_answer():
    told = Path("{answer}").read_text("utf-8", "replace")
    assert told.strip().casefold() in [target.strip().casefold() for target in TARGETS]
"""
_LONGEST_TARGET = 200
_MOST_FILE = 64 * 2**20
_MOST_HEAD = 2**16
_FIELDS = ("choices", "files", "input", "metadata", "sandbox", "setup", "target")
_PLACE = re.compile(r"\s*[~/]|.*\.\./|[\w+-]+://")
"""A file's content that would mean a place outside of the data set's folder."""


class InspectDataset:
    """A file of samples with the fields of Inspect: `input`, `target`, `id`, `choices`, `files`, `setup`, `sandbox`."""

    title = "samples of a data set of Inspect (CSV, JSON, JSON Lines, parquet, arrow) with short targets"
    gives = "suite"
    version = "fields of Sample (inspect_ai 0.3)"
    lost = (
        "Tasks in Python: solvers, scorers and tools are programs, and are not run; a sample's answer is compared with"
        " its target, in a file, but for case and space at its ends.",
        "Samples without a target, or with one of more than a line or 200 letters, which only a scorer could judge.",
        "Conversations, pictures and sound as input, compose files, and metadata.",
    )  # fmt: skip

    def __init__(self) -> None:
        self._samples: dict[Path, list[Any]] = {}

    def recognizes(self, source: Path) -> bool:
        """Whether a file begins with a record of an input and a target."""
        try:
            with source.open("rb") as stream:
                head = stream.read(_MOST_HEAD).decode("utf-8", "replace")
        except (OSError, ValueError):
            return False
        first = head.partition("\n")[0]
        if source.suffix == ".csv":
            return {"input", "target"} <= set(next(csv.reader([first.removeprefix("\ufeff")]), []))
        if source.suffix == ".json":  # a list of samples; a log of Inspect is an object that has some
            return head.lstrip()[:1] == "[" and all(f'"{key}":' in head for key in ("input", "target"))
        try:
            record = json.loads(first) if source.suffix == ".jsonl" else None
        except (ValueError, RecursionError):
            return False
        return isinstance(record, dict) and "input" in record and "target" in record

    def folders(self, source: Path) -> Iterator[Path]:
        """One path a sample: below the file, its number."""
        if source.is_symlink() or not source.is_file():
            raise BadInput(f"{source} is no file of samples.", "Name the CSV, JSON, JSON Lines, parquet or arrow file.")
        self._samples[source] = list(_records(source))
        yield from (source / f"{number:06}" for number in range(1, len(self._samples[source]) + 1))

    def convert(self, folder: Path) -> SampleTask:
        """Understand one sample; `folder` is a path of `folders`.

        Raises:
            ImportRefusal: It has no short target, or asks for what no task here has.
        """
        number, source = int(folder.name), folder.parent
        record = self._samples[source][number - 1]
        if not isinstance(record, dict):
            raise ImportRefusal("It is no record.", source.name, number)
        try:
            return _sample(record, source, number)
        except ValueError as error:
            raise ImportRefusal(str(error), source.name, number) from error


def _records(source: Path) -> Iterator[Any]:
    suffix = source.suffix.lower()
    if suffix == ".csv":
        if source.stat().st_size > _MOST_FILE:
            raise BadInput(f"{source} has more than 64 MiB.", "Split it.")
        try:
            with source.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
                rows = list(csv.DictReader(stream))
        except csv.Error as error:
            raise BadInput(f"{source} is no CSV: {error}.") from error
        yield from ({key: _cell(key, value) for key, value in row.items() if value} for row in rows)
    elif suffix in (".parquet", ".arrow"):
        read = read_parquet_records if suffix == ".parquet" else read_arrow_records
        yield from (found.value for found in read(source))
    else:
        yield from (
            found.value for found in read_json_records(source, Problems(source, "data set"), frozenset(_FIELDS))
        )


def _cell(key: str, value: str) -> object:
    """A cell of CSV; what has parts is JSON there."""
    if key not in ("choices", "files", "sandbox", "target", "input") or value[:1] not in "[{":
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


@dataclass(slots=True)
class SampleTask:
    """A sample that was understood.

    Attributes:
        name: Its id.
        instruction: Its input, its choices, and where the answer goes.
        targets: Answers of which any is right.
        image: What its sandbox starts with.
        files: Content of its files, by absolute path.
        origin: Where it comes from.
    """

    name: str
    instruction: str
    targets: tuple[str, ...]
    image: ImageRecipe
    files: Mapping[str, bytes] = field(default_factory=dict)
    origin: str = ""

    def write(self, place: Path, open_bench: Callable[[], GradingContext]) -> None:
        """See `ConvertedTask`; nothing is run."""
        image, answer = self.image, f"{_WORK}/{_ANSWER}"
        with temporary_folder("import") as scratch:
            for number, (name, content) in enumerate(self.files.items()):
                image.files[name] = Path(scratch, str(number))
                image.files[name].write_bytes(content)
            tests, solution = Path(scratch, "tests"), Path(scratch, "solve.sh")
            tests.mkdir()
            text = _TEST.format(targets=json.dumps(self.targets), answer=answer)
            (tests / "test_answer.py").write_text(text, encoding="utf-8")
            solution.write_text(f"printf '%s\\n' {shlex.quote(self.targets[0])} > {answer}\n", encoding="utf-8")
            held = [image.work, *image.folders, *(str(PurePosixPath(name).parent) for name in image.files)]
            first = next((line.strip() for line in self.instruction.splitlines() if len(line.strip()) > 2), self.name)
            task = StateTask(
                name=place.name, title=printable(first, 100), instruction=self.instruction, recipe=image,
                work=image.work, places=state_places(held, (), ()), tests=tests, solution=solution,
                fail_to_pass=("test_answer.py::test_answer",), internet=False, origin=self.origin,
            )  # fmt: skip
            write_state_task(task, place)


def _sample(record: dict[str, Any], source: Path, number: int) -> SampleTask:
    """Raises ValueError with the reason, `ImportRefusal` where a file says it."""
    target = record.get("target")
    targets = tuple(
        str(each).strip() for each in (target if isinstance(target, list) else [target]) if each is not None
    )
    if not targets or not all(targets):
        raise ValueError("It has no target, so that only a scorer could judge it.")
    if any(len(each) > _LONGEST_TARGET or "\n" in each or "\0" in each for each in targets):
        raise ValueError("Its target is a text that only a scorer could judge.")
    image = _image(record.get("sandbox"), source.parent)
    image.pip = [*image.pip, *(("pytest==8.4.1",) if not any(each.startswith("pytest") for each in image.pip) else ())]
    if setup := str(record.get("setup") or "").strip():
        steps = read_shell("\n".join(line for line in setup.splitlines() if not line.startswith("#!")))
        if steps.apt or steps.pip or steps.folders:
            raise ValueError("Its setup installs packages or makes folders, which an image does.")
        image.build += [f"cd {shlex.quote(image.work)} && {command}" for command in steps.build]
    name = str(record.get("id") or "").strip() or f"sample-{number:06}"
    return SampleTask(
        name, _question(record) + _ADDED, targets, image, dict(_files(record.get("files"), image.work, source.parent)),
        f"sample {printable(name, 200)} of {printable(source.name, 200)}",
    )  # fmt: skip


def _question(record: dict[str, Any]) -> str:
    messages = record.get("input")
    if isinstance(messages, list) and all(isinstance(each, dict) for each in messages):
        if any(
            each.get("role") not in ("system", "user") or not isinstance(each.get("content"), str) for each in messages
        ):
            raise ValueError("Its input is a conversation, or more than text.")
        messages = "\n\n".join(each["content"] for each in messages)
    if not isinstance(messages, str) or not messages.strip():
        raise ValueError("It has no input.")
    choices = record.get("choices")
    if isinstance(choices, list) and choices:
        lines = (f"{chr(ord('A') + place)}) {choice}" for place, choice in enumerate(choices[:26]))
        return f"{messages.strip()}\n\n" + "\n".join(lines) + "\n\nThe answer is a letter."
    return messages.strip()


def _image(sandbox: object, folder: Path) -> ImageRecipe:
    """What the sandbox starts with: a Dockerfile that is named or lies beside the data set, else an empty folder."""
    named = sandbox[1] if isinstance(sandbox, list) and len(sandbox) > 1 else None
    if named is not None and (not isinstance(named, str) or PurePosixPath(named).name != named):
        raise ValueError("Its sandbox has a configuration that is no file beside the data set.")
    file = folder / (named or "Dockerfile")
    if "compose" in file.name or (named is None and list(folder.glob("*compose.y*ml"))):
        raise ValueError("Its sandbox is made by a compose file, which is not understood.")
    if named is None and not file.is_file():
        return ImageRecipe(work=_WORK, folders=[_WORK])
    image = read_image(file, folder, file.name)
    image.work = _WORK if image.work == "/" else image.work
    image.folders.append(_WORK)
    return image


def _files(value: object, work: str, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Absolute path and content of each file: named beside the data set, written out, or as a data URL."""
    if value is None:
        return
    if not isinstance(value, dict):
        raise ValueError("Its files are no names with contents.")  # noqa: TRY004 - a reason for the user
    for name, content in value.items():
        place = PurePosixPath(work, str(name))
        if ".." in place.parts or ":" in str(name) or not isinstance(content, str) or place.name in ("", _ANSWER):
            raise ValueError("Its files have a name or content that is not understood.")
        yield str(place), _content(content, folder)


def _content(text: str, folder: Path) -> bytes:
    if text.startswith("data:"):
        try:
            return base64.b64decode(text.partition(";base64,")[2], validate=True)
        except binascii.Error as error:
            raise ValueError("Its files have a data URL that is not base64.") from error
    if "\n" in text or len(text) > 1000:
        return text.encode("utf-8", "replace")
    if _PLACE.match(text):
        raise ValueError("Its files lie outside of the folder of the data set.")
    file = folder
    try:
        for part in PurePosixPath(text).parts:
            file = file / part
            if file.is_symlink():
                raise ValueError("Its files hold a link or something else that is no plain file.")
        if text and file.is_dir():
            raise ValueError("Its files are a whole folder, which is not read.")
        if text and file.is_file() and file.stat().st_size <= _MOST_FILE:
            return file.read_bytes()
    except OSError:
        pass  # no name of a file, so it is the content itself
    return text.encode("utf-8", "replace")
