"""The store of a sweep: a folder of Parquet files, and a journal that no kill can tear.

A finished cell is one line of the journal, with a checksum, before the next one is recorded. From time to
time the lines become Parquet files, each written whole or not at all, and the journal begins anew. A finished
sweep has one file of each table, in the order of hashes, or several by their first digits where there are
many cells: so its bytes depend on its cells alone.
"""

from __future__ import annotations

import functools
import io
import json
import os
import re
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
from sojourn.sweep.journal import Journal, lines

__all__ = [
    "CELLS",
    "JOURNAL",
    "WINDOWS",
    "WINDOW_ROWS",
    "Record",
    "Store",
    "collected",
    "columns",
    "opened",
    "scan",
    "value_of",
    "whole",
    "window_columns",
]

#: The journal, the lock of the process that writes, and what makes a folder a store.
JOURNAL, LOCK, SHEET = "journal.jsonl", "lock", "sweep.json"
#: Tables of a store: rows of cells, and of their windows.
CELLS, WINDOWS = "cells", "windows"
#: Column of the files of cells: a cell with fewer rows of windows has lost a file.
WINDOW_ROWS = "window_rows"
#: Files of a store besides those of tables.
_FACTS = ("plan.parquet", "designs.json", "designs.jsonl", "theory.parquet", "theory.jsonl")
OURS = (SHEET, *_FACTS, "report.html", JOURNAL, LOCK)
#: Files of tables: as they are written while cells run, of a finished sweep, and on the way there.
_PART = re.compile(rf"(?:new-)?(?:{CELLS}|{WINDOWS})-(?:all[0-9a-f]*|[0-9a-f]{{16}}-[0-9]+)\.parquet")
#: Stages of files that a killed process has left.
_STAGE = re.compile(r"\.(.+)\.[0-9a-f]{16}\.part")
A_SWEEP = "expected a folder that 'sojourn sweep' wrote"
#: Cells of a Parquet file while they run, and bytes of the journal.
_BATCH, _BATCH_BYTES = 2_000, 32_000_000
#: When all are finished: cells of a file, and rows of one of windows.
_FINAL = {CELLS: 10_000, WINDOWS: 500_000}
#: Errors of reading a damaged file.
_UNREADABLE = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
#: A number of a metric that is a list.
_ENTRY = re.compile(r"(\w+)\[([0-9]{1,4})\]")

#: A row of windows: the window, its ends, link, class, queue, and a metric with its value.
Window = tuple[str, float, float, str | None, str | None, str | None, str, float]


@dataclass(frozen=True)
class Record:
    """A finished cell: its rows, or the message of its failure."""

    cell: str
    #: Canonical qdisc.
    spec: str
    #: Link, class, queue and metrics of each row.
    rows: Sequence[tuple[str | None, str | None, str | None, dict[str, Any]]]
    error: str | None = None
    windows: Sequence[Window] = ()


@functools.cache
def columns() -> dict[str, pl.DataType]:
    """Columns of the files of cells: places, the number of rows of its windows, then all metrics."""
    texts = ("link", "class", "queue", "spec", "error")
    metrics = {
        entry["name"]: pl.List(pl.Float64()) if entry["name"] in LISTS else pl.Float64()
        for entry in entries("metrics")
    }
    place: dict[str, pl.DataType] = {"cell": pl.String(), "row": pl.UInt32(), WINDOW_ROWS: pl.UInt32()}
    return {**place, **dict.fromkeys(texts, pl.String()), **metrics}


@functools.cache
def window_columns() -> dict[str, pl.DataType]:
    """Columns of the files of windows."""
    texts: dict[str, pl.DataType] = dict.fromkeys(("link", "class", "queue", "name"), pl.String())
    times: dict[str, pl.DataType] = dict.fromkeys(("from_s", "until_s"), pl.Float64())
    place: dict[str, pl.DataType] = {"cell": pl.String(), "row": pl.UInt32(), "window": pl.String()}
    return {**place, **times, **texts, "value": pl.Float64()}


def _schema(table: str) -> dict[str, pl.DataType]:
    return columns() if table == CELLS else window_columns()


def value_of(metric: str) -> pl.Expr | None:
    """A metric as a column of cells, or an entry of a list such as ``settling_s[0]``; None: it is none."""
    kinds = columns()
    if kinds.get(metric) == pl.Float64():
        return pl.col(metric)
    found = _ENTRY.fullmatch(metric) if isinstance(metric, str) else None
    if found is None or not isinstance(kinds.get(found[1]), pl.List):
        return None
    return pl.col(found[1]).list.get(int(found[2]), null_on_oob=True).alias(metric)


@dataclass
class Store:
    """An open store, which this process alone writes."""

    folder: Path
    journal: Journal
    #: Lines of the journal.
    pending: list[Record] = field(default_factory=list)
    #: Journals of other facts, by the names of their files.
    _notes: dict[str, Journal] = field(default_factory=dict)

    def finished(self) -> dict[str, str | None]:
        """Finished cells, with the message of each failure. Raises `InputError` for damaged files."""
        return dict(collected(self.folder, whole(self.folder)).iter_rows())

    def add(self, record: Record) -> None:
        """Record a finished cell: from here on no kill of this process loses it. Raises `NotWritten`."""
        with self._writing():
            self.journal.append(_documented(record))
        self.pending.append(record)
        if len(self.pending) >= _BATCH or self.journal.length >= _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Make Parquet files of the journal, and begin it anew. Raises `NotWritten`."""
        if not self.pending:
            return
        ends = (self.pending[0].cell, self.pending[-1].cell)
        name = f"{''.join(f'{zlib.crc32(end.encode()):08x}' for end in ends)}-{len(self.pending)}.parquet"
        # A kill in between leaves rows twice, which `scan` reads once.
        windows = _window_frame(self.pending)
        if windows.height:
            self._write(windows, f"{WINDOWS}-{name}")
        self._write(_frame(self.pending), f"{CELLS}-{name}")
        with self._writing():
            self.journal.clear()
        self.pending = []

    def settle(self, without: Iterable[str] = ()) -> None:
        """Put all cells but those of these names into the fewest files, in the order of hashes.

        Raises `NotWritten`, and `InputError` for damaged files.
        """
        self.flush()
        left_out = sorted(without)
        for table in (WINDOWS, CELLS):
            self._settle(table, left_out)

    def _settle(self, table: str, left_out: Sequence[str]) -> None:
        parts = _parts(self.folder, table)
        if not parts:
            return
        kept = scan(self.folder, table)
        if left_out:
            kept = kept.filter(~pl.col("cell").is_in(left_out))
        # Cells are counted, or the rows of windows.
        counted = kept.filter(pl.col("row") == 0) if table == CELLS else kept
        number = int(collected(self.folder, counted.select(pl.len())).item())
        digits = next(digits for digits in range(8) if number <= _FINAL[table] * 16**digits)
        wanted = _finals(table, digits)
        if not left_out and [part.name for part in parts] == [*wanted]:
            return
        for name, prefix in wanted.items():
            own = kept.filter(pl.col("cell").str.starts_with(prefix)).sort("cell", "row")
            self._write(collected(self.folder, own), f"new-{name}")
        # From here on a kill leaves cells twice, which `scan` reads once.
        with self._writing():
            for name in wanted:
                os.rename(self.folder / f"new-{name}", self.folder / name)
            # The new files stay after a power failure, before the old ones go.
            with files.folder_above(self.folder / JOURNAL) as above:
                files.sync(above)
            for part in parts:
                if part.name not in wanted:
                    part.unlink()

    def note(self, name: str, document: Any) -> None:
        """Keep a fact in a journal of its own as soon as it is found, which `noted` reads.

        Raises `NotWritten`.
        """
        with self._writing():
            if name not in self._notes:
                self._notes[name] = Journal.opened(self.folder / name)
            self._notes[name].append(document)

    def drop_notes(self, name: str) -> None:
        """Remove a journal of facts, once a file has them. Raises `NotWritten`."""
        if name in self._notes:
            self._notes.pop(name).close()
        with self._writing():
            (self.folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the journals."""
        for one in (self.journal, *self._notes.values()):
            one.close()

    def write(self, name: str, data: bytes) -> None:
        """Write a file of the store, whole or not at all. Raises `NotWritten`."""
        with self._writing():
            files.replace(self.folder / name, data)

    def _write(self, frame: pl.DataFrame, name: str) -> None:
        buffer = io.BytesIO()
        # In one chunk, so that the bytes do not depend on how the rows came together.
        frame.rechunk().write_parquet(buffer, compression="zstd", statistics=False)
        self.write(name, buffer.getvalue())

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Raise `NotWritten` for an error of the disk."""
        try:
            yield
        except OSError as error:
            is_there = self.folder.is_dir()
            kept = (
                f"the cells that had finished {'are kept there' if is_there else 'are gone with the folder'}"
            )
            raise NotWritten(f"{self.folder}: cannot be written ({files.why(error)}); {kept}") from None


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
        store = _recovered(folder)
        try:
            store.flush()
            yield store
        finally:
            store.close()
    finally:
        os.close(lock)


def scan(folder: Path, table: str = CELLS) -> pl.LazyFrame:
    """All rows of a table, those of the journal too, read where they are needed; each once."""
    schema = _schema(table)
    # The journal first: a sweep that still runs may make a file of it in between, and rows are read once.
    waiting = _journal(folder)
    parts = _parts(folder, table)
    frames = [(_frame if table == CELLS else _window_frame)(waiting).lazy()] if waiting else []
    if parts:
        stored = pl.scan_parquet(
            parts, glob=False, schema=schema, missing_columns="insert", extra_columns="ignore"
        )
        frames.insert(0, stored)
    if not frames:
        return pl.LazyFrame(schema=schema)
    found = pl.concat(frames)
    digits = max(0, len(parts) - 1).bit_length() // 4
    if not waiting and [part.name for part in parts] == [*_finals(table, digits)]:
        return found
    return found.unique(["cell", "row"], keep="any")


def whole(folder: Path) -> pl.LazyFrame:
    """Cells with their errors, but for those whose windows are in no file."""
    found = scan(folder).filter(pl.col("row") == 0).select("cell", "error", WINDOW_ROWS)
    rows = scan(folder, WINDOWS).group_by("cell").len("rows")
    lost = pl.col(WINDOW_ROWS) != pl.col("rows").fill_null(0)
    return found.join(rows, on="cell", how="left").filter(~lost.fill_null(False)).select("cell", "error")


def collected(folder: Path, frame: pl.LazyFrame) -> pl.DataFrame:
    """Rows of a store. Raises `InputError` with the name of a damaged file."""
    try:
        return frame.collect()
    except _UNREADABLE as error:
        raise _damaged(folder, error) from None


def _damaged(folder: Path, error: BaseException) -> InputError:
    """Error for the file of a table that cannot be read: without one of its files a store is incomplete."""
    place = folder
    for part in (*_parts(folder, CELLS), *_parts(folder, WINDOWS)):
        try:
            pl.read_parquet(part)
        except _UNREADABLE as own:
            place, error = part, own
            break
    remedy = f"delete the folder {folder} and run again, which repeats its cells"
    return InputError(f"{place}: cannot be read ({files.why(error)}); {remedy}")


def _parts(folder: Path, table: str) -> list[Path]:
    """Files of a table."""
    try:
        names = sorted(name for name in os.listdir(folder) if _PART.fullmatch(name))
    except OSError:
        return []
    return [folder / name for name in names if name.startswith(f"{table}-")]


def _finals(table: str, digits: int) -> dict[str, str]:
    """Names of the files of a finished sweep, each with the first digits of its cells."""
    prefixes = [f"{place:0{digits}x}" for place in range(16**digits)] if digits else [""]
    return {f"{table}-all{prefix}.parquet": prefix for prefix in prefixes}


def _check(folder: Path) -> None:
    """Refuse a folder that is neither a store nor empty: a sheet makes one, with any files beside it."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; expected a new folder, or one that 'sojourn sweep' wrote")
    names = sorted(os.listdir(folder))
    if _is_sheet(folder / SHEET):
        return
    for name in names:
        # Killed before it wrote its sheet.
        found = _STAGE.fullmatch(name)
        if not _is_ours(name if found is None else found[1]):
            message = f"holds {name}, which is of no sweep"
            raise InputError(f"{folder}: {message}; expected a new folder, or one that 'sojourn sweep' wrote")


def _is_sheet(path: Path) -> bool:
    """True for the sheet of a store, as opposed to a file of others with its name."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "build" in found


def _is_ours(name: str) -> bool:
    """True for the name of a file that a store has."""
    return name in OURS or _PART.fullmatch(name) is not None


def _recovered(folder: Path) -> Store:
    """The store with the whole lines of its journal."""
    try:
        _clean(folder)
        store = Store(folder, Journal.opened(folder / JOURNAL))
    except OSError as error:
        raise NotWritten(f"{folder}: cannot be written ({files.why(error)}); nothing was run") from None
    store.pending = _journal(folder)
    return store


def _clean(folder: Path) -> None:
    """Remove what a killed process has left of its files. Raises `OSError`."""
    with files.folder_above(folder / JOURNAL) as above:
        for name in os.listdir(above):
            found = _STAGE.fullmatch(name)
            if found is not None and _is_ours(found[1]):
                files.remove_stages(above, found[1])
            elif name.startswith("new-") and _PART.fullmatch(name):
                os.unlink(name, dir_fd=above)


def _journal(folder: Path) -> list[Record]:
    """The records of a journal; none without one."""
    return [_recorded(document) for document in noted(folder, JOURNAL)]


def noted(folder: Path, name: str) -> list[Any]:
    """The documents of a journal of a store; none without one."""
    try:
        return [document for document, _ in lines(folder / name)]
    except OSError:
        return []


def _documented(record: Record) -> list[Any]:
    """A record as a line of the journal has it."""
    return [record.cell, record.spec, record.rows, record.error, record.windows]


def _recorded(document: Any) -> Record:
    cell, spec, rows, error, *more = document
    windows = [tuple(row) for row in more[0]] if more else []
    return Record(cell, spec, [tuple(row) for row in rows], error, windows)


def _frame(records: Iterable[Record]) -> pl.DataFrame:
    """Records as a table: a failure is a row without metrics."""
    kinds = columns()
    found: dict[str, list[Any]] = {name: [] for name in kinds}
    for one in records:
        for place, (link, group, queue, metrics) in enumerate(one.rows or [(None, None, None, {})]):
            row = {"cell": one.cell, "row": place, "link": link, "class": group, "queue": queue}
            row |= {"spec": one.spec, "error": one.error, WINDOW_ROWS: len(one.windows), **metrics}
            for name, values in found.items():
                values.append(row.get(name))
    return pl.DataFrame(found, schema=kinds)


def _window_frame(records: Iterable[Record]) -> pl.DataFrame:
    """Windows of records as a table."""
    rows = [(one.cell, place, *row) for one in records for place, row in enumerate(one.windows)]
    return pl.DataFrame(rows, schema=window_columns(), orient="row")
