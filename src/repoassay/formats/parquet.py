"""Records of tables: CSV, and through packages of the extra `datasets` parquet, arrow and the dataset hub."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput, MissingExtra, Unavailable
from repoassay.formats.json_records import MAX_FILE, MAX_LINE, open_regular
from repoassay.formats.record_problems import PlacedRecord
from repoassay.text import printable, quote

__all__ = ["hub_records", "read_arrow_records", "read_csv_records", "read_parquet_records"]

_MAX_UNPACKED = 4 * 2**30
_BATCH = 64


def read_csv_records(path: Path) -> Iterator[PlacedRecord]:
    """Yield the rows of a CSV file of at most 1 GiB, whose first line names the columns; every value is text.

    Raises:
        BadInput: When it cannot be read.
    """
    before = csv.field_size_limit(MAX_LINE)
    try:
        with io.TextIOWrapper(open_regular(path, MAX_FILE), "utf-8-sig", newline="") as stream:
            for number, row in enumerate(csv.DictReader(stream, restkey="", strict=True), 1):
                yield PlacedRecord(f"row {number}", None, row)
    except (csv.Error, UnicodeDecodeError) as error:
        name = printable(str(path), 500)
        raise BadInput(f"{name} is no CSV that can be read: {error}.", "Write it anew, in UTF-8.") from error
    finally:
        csv.field_size_limit(before)


def read_parquet_records(path: Path) -> Iterator[PlacedRecord]:
    """Yield the rows of a parquet file of at most 1 GiB, 4 GiB unpacked.

    Raises:
        BadInput: When it cannot be read.
        MissingExtra: Without pyarrow.
    """
    parquet = _import("pyarrow.parquet")
    name = printable(str(path), 500)
    number = 0
    with open_regular(path, MAX_FILE) as stream:
        try:
            file = parquet.ParquetFile(stream)
            groups = range(file.metadata.num_row_groups)
            size = sum(file.metadata.row_group(group).total_byte_size for group in groups)
            if size > _MAX_UNPACKED:
                raise BadInput(f"{name} unpacks to {size:,} bytes; at most {_MAX_UNPACKED:,} are read.", "Split it.")
            for batch in file.iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield PlacedRecord(f"row {number}", None, row)
        except (OSError, ValueError, KeyError, TypeError, NotImplementedError) as error:  # what pyarrow's errors are
            raise BadInput(
                f"{name} is no parquet file that can be read: {printable(str(error), 200)}.", "Write it anew."
            ) from error


def read_arrow_records(path: Path) -> Iterator[PlacedRecord]:
    """Yield the rows of an arrow file of at most 1 GiB: a file or a stream of record batches, not compressed.

    Raises:
        BadInput: When it cannot be read.
        MissingExtra: Without pyarrow.
    """
    ipc = _import("pyarrow.ipc")
    number = 0
    with open_regular(path, MAX_FILE) as stream:
        try:
            is_file = stream.read(6) == b"ARROW1"
            stream.seek(0)
            reader = ipc.open_file(stream) if is_file else ipc.open_stream(stream)
            batches = (reader.get_batch(index) for index in range(reader.num_record_batches)) if is_file else reader
            for batch in batches:
                for row in batch.to_pylist():
                    number += 1
                    yield PlacedRecord(f"row {number}", None, row)
        except (OSError, ValueError, KeyError, TypeError, NotImplementedError) as error:
            raise BadInput(
                f"{printable(str(path), 500)} is no arrow file that can be read: {printable(str(error), 200)}.",
                "Write it anew.",
            ) from error


def hub_records(name: str, split: str) -> Iterator[PlacedRecord]:
    """Yield the rows of one split of a data set on the hub; the `datasets` package fetches and keeps it.

    Raises:
        MissingExtra: Without the package.
        Unavailable: When the data set cannot be had.
    """
    datasets = _import("datasets")
    try:
        rows = datasets.load_dataset(name, split=split)
        for number, row in enumerate(rows, 1):
            yield PlacedRecord(f"row {number}", None, dict(row))
    except Exception as error:  # the package raises whatever its many backends raise
        raise Unavailable(
            f"The split {quote(split)} of {quote(name)} cannot be had from the hub: {printable(str(error), 200)}.",
            "Check both names and the network, or download the file and name it instead.",
        ) from error


def _import(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(module.partition(".")[0], "datasets") from error
