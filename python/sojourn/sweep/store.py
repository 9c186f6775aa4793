"""The store of a sweep: a folder of Parquet files, and a journal that no kill can tear.

A finished cell is one line of the journal, with a checksum, before the next one is recorded. From time to
time the lines become a Parquet file, written whole or not at all, and the journal begins anew. A finished
sweep has one file, in the order of hashes, or several by their first digits where there are many cells: so
its bytes depend on its cells alone.
"""

from __future__ import annotations

import functools
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import files
from sojourn.catalogue import entries
from sojourn.errors import InputError, NotWritten
from sojourn.result.metrics import LISTS

__all__ = ["JOURNAL", "Record", "Store", "columns", "opened", "scan"]

#: The journal, and the lock of the process that writes.
JOURNAL, LOCK = "journal.jsonl", "lock"
#: Files of a store besides those of cells.
OURS = ("sweep.json", "plan.parquet", "designs.json", "theory.parquet", "report.html", JOURNAL, LOCK)
#: Files of cells.
CELLS = "cells-*.parquet"
A_SWEEP = "expected a folder that 'sojourn sweep' wrote"
#: Cells of a Parquet file; while they run, and when all are finished.
_BATCH, _FINAL = 2_000, 10_000
#: Digits of the checksum of a line of the journal.
_DIGITS = 8


@dataclass(frozen=True)
class Record:
    """A finished cell: its rows, or the message of its failure."""

    cell: str
    #: Canonical qdisc.
    spec: str
    #: Link, class, queue and metrics of each row.
    rows: Sequence[tuple[str | None, str | None, str | None, dict[str, Any]]]
    error: str | None = None


@functools.cache
def columns() -> dict[str, pl.DataType]:
    """Columns of the files of cells: places, then all metrics."""
    texts = ("link", "class", "queue", "spec", "error")
    metrics = {
        entry["name"]: pl.List(pl.Float64()) if entry["name"] in LISTS else pl.Float64()
        for entry in entries("metrics")
    }
    return {"cell": pl.String(), "row": pl.UInt32(), **dict.fromkeys(texts, pl.String()), **metrics}


@dataclass
class Store:
    """An open store, which this process alone writes."""

    folder: Path
    journal: int
    #: Lines of the journal, and bytes of it that are whole.
    pending: list[Record] = field(default_factory=list)
    length: int = 0

    def finished(self) -> dict[str, str | None]:
        """Finished cells, with the message of each failure. Raises `InputError` for damaged files."""
        try:
            found = scan(self.folder).filter(pl.col("row") == 0).select("cell", "error").collect()
        except (OSError, pl.exceptions.PolarsError) as error:
            message = f"a file of cells cannot be read ({files.why(error)})"
            raise InputError(
                f"{self.folder}: {message}; expected the store as 'sojourn sweep' wrote it"
            ) from None
        return dict(found.iter_rows()) | {one.cell: one.error for one in self.pending}

    def add(self, record: Record) -> None:
        """Record a finished cell: from here on no kill of this process loses it. Raises `NotWritten`."""
        self._append(record)
        if len(self.pending) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Make a Parquet file of the journal, and begin it anew. Raises `NotWritten`."""
        if not self.pending:
            return
        self._write(
            _frame(self.pending),
            f"cells-{zlib.crc32(self.pending[0].cell.encode()):08x}"
            f"{zlib.crc32(self.pending[-1].cell.encode()):08x}-{len(self.pending)}.parquet",
        )
        os.ftruncate(self.journal, 0)
        self.pending, self.length = [], 0

    def settle(self) -> None:
        """Put all cells into the fewest files, in the order of hashes. Raises `NotWritten`."""
        self.flush()
        parts = sorted(self.folder.glob(CELLS))
        cells = scan(self.folder).filter(pl.col("row") == 0).select(pl.len()).collect().item()
        digits = next(digits for digits in range(8) if cells <= _FINAL * 16**digits)
        wanted = _finals(digits)
        if [part.name for part in parts] == [*wanted]:
            return
        for name, prefix in wanted.items():
            own = scan(self.folder).filter(pl.col("cell").str.starts_with(prefix))
            self._write(own.sort("cell", "row").collect(), f"new-{name}")
        # From here on a kill leaves cells twice, which `scan` reads once.
        for name in wanted:
            os.rename(self.folder / f"new-{name}", self.folder / name)
        for part in parts:
            if part.name not in wanted:
                part.unlink()

    def write(self, name: str, data: bytes) -> None:
        """Write a file of the store, whole or not at all. Raises `NotWritten`."""
        try:
            files.replace(self.folder / name, data)
        except OSError as error:
            raise self._unwritten(error) from None

    def _write(self, frame: pl.DataFrame, name: str) -> None:
        buffer = io.BytesIO()
        frame.write_parquet(buffer, compression="zstd", statistics=False)
        self.write(name, buffer.getvalue())

    def _append(self, record: Record) -> None:
        line = _line(record)
        try:
            _write_all(self.journal, line, self.length)
        except OSError as error:
            raise self._unwritten(error) from None
        self.length += len(line)
        self.pending.append(record)

    def _unwritten(self, error: OSError) -> NotWritten:
        kept = "the cells that had finished are kept there"
        return NotWritten(f"{self.folder}: cannot be written ({files.why(error)}); {kept}")


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """Open a store, new or with what an earlier sweep has left, killed or not.

    Raises `InputError` for a folder with something else, or while another process writes there, and
    `NotWritten`.
    """
    _check(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except (OSError, ValueError) as error:
        reason = files.why(error)
        raise NotWritten(f"{folder}: cannot be written ({reason}); nothing was run") from None
    try:
        if not files.locked(lock):
            raise InputError(f"{folder}: another sweep writes there; expected a folder of its own, or wait")
        journal = os.open(folder / JOURNAL, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            yield _recovered(folder, journal)
        finally:
            os.close(journal)
    finally:
        os.close(lock)


def scan(folder: Path) -> pl.LazyFrame:
    """All rows of a store, read where they are needed; each cell once."""
    parts = sorted(folder.glob(CELLS))
    if not parts:
        return pl.LazyFrame(schema=columns())
    found = pl.scan_parquet(
        parts, glob=False, schema=columns(), missing_columns="insert", extra_columns="ignore"
    )
    names = [part.name for part in parts]
    if any(names == [*_finals(digits)] for digits in range(3)):
        return found
    return found.unique(["cell", "row"], keep="any")


def _finals(digits: int) -> dict[str, str]:
    """Names of the files of a finished sweep, each with the first digits of its cells."""
    prefixes = [f"{place:0{digits}x}" for place in range(16**digits)] if digits else [""]
    return {f"cells-all{prefix}.parquet": prefix for prefix in prefixes}


def _check(folder: Path) -> None:
    """Refuse a folder with files of others."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; expected a new folder, or one that 'sojourn sweep' wrote")
    for path in sorted(folder.iterdir()):
        name = path.name.removeprefix(".")
        if not name.startswith((*OURS, "cells-", "new-cells-")):
            message = f"holds {path.name}, which is of no sweep"
            raise InputError(f"{folder}: {message}; expected a new folder, or one that 'sojourn sweep' wrote")


def _recovered(folder: Path, journal: int) -> Store:
    """The store with the whole lines of its journal; a torn end is cut off."""
    store = Store(folder, journal)
    for pattern in ("new-cells-*", ".*"):
        for remnant in folder.glob(pattern):
            remnant.unlink()
    with os.fdopen(os.dup(journal), "rb") as file:
        for line in file:
            record = _read_line(line)
            if record is None:
                break
            store.pending.append(record)
            store.length += len(line)
    try:
        os.ftruncate(journal, store.length)
        store.flush()
    except OSError as error:
        raise NotWritten(f"{folder}: cannot be written ({files.why(error)}); nothing was run") from None
    return store


def _line(record: Record) -> bytes:
    """A record as a line with its checksum."""
    text = json.dumps([record.cell, record.spec, record.rows, record.error], ensure_ascii=True).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _read_line(line: bytes) -> Record | None:
    """The record of a line; None: the line is torn."""
    check, text = line[:_DIGITS], line[_DIGITS + 1 : -1]
    if not line.endswith(b"\n") or check != b"%08x" % zlib.crc32(text):
        return None
    cell, spec, rows, error = json.loads(text)
    return Record(cell, spec, [tuple(row) for row in rows], error)


def _write_all(number: int, data: bytes, at: int) -> None:
    """Write at a place of the file, all of it or nothing. Raises `OSError`."""
    done = 0
    try:
        while done < len(data):
            done += os.pwrite(number, data[done:], at + done)
    except OSError:
        os.ftruncate(number, at)
        raise


def _frame(records: Iterable[Record]) -> pl.DataFrame:
    """Records as a table: a failure is a row without metrics."""
    kinds = columns()
    found: dict[str, list[Any]] = {name: [] for name in kinds}
    for one in records:
        for place, (link, group, queue, metrics) in enumerate(one.rows or [(None, None, None, {})]):
            row = {"cell": one.cell, "row": place, "link": link, "class": group, "queue": queue}
            row |= {"spec": one.spec, "error": one.error, **metrics}
            for name, values in found.items():
                values.append(row.get(name))
    return pl.DataFrame(found, schema=kinds)
