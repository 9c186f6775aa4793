"""Result folders: written whole or not at all, and read back."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import files
from sojourn.errors import InputError, NotWritten, WriteWarning
from sojourn.result import SCHEMA, WINDOW_KINDS, Result, Row, checks, scenario_kinds, windows
from sojourn.result.rules import AS_WRITTEN

RESULT = "result.json"
PROVENANCE = "provenance.json"
SERIES = "series.parquet"
DISTRIBUTIONS = "distributions.parquet"
WINDOWS = "windows.parquet"
REPORT = "report.html"

A_RESULT = "expected a folder that 'sojourn run --out' wrote"
FREE_PLACE = "expected a new folder, an empty one or an earlier result"

#: Files of a result folder, first the one that every folder has; nothing else is ever removed.
OURS = (
    RESULT,
    PROVENANCE,
    SERIES,
    DISTRIBUTIONS,
    WINDOWS,
    REPORT,
    # Records, and rows of those that a killed process was writing.
    *(f"{name}.parquet" for name in ("packets", "flows", "gauges")),
    *(f"*.seed[0-9]*.{suffix}" for suffix in ("pcapng", "sqlog", "rows", "flent.gz")),
)
#: The largest JSON document, bytes, and the deepest.
MOST_BYTES, MOST_LEVELS = 2_000_000_000, 40

SERIES_COLUMNS = ("time", "plant", "link", "qdisc", "seed", "name", "value")
DISTRIBUTION_COLUMNS = ("plant", "link", "qdisc", "seed", "name", "value", "cumulative")
#: Columns of texts. Few texts repeat over many millions of rows: as `polars.Enum` each row has a number.
TEXTS = ("plant", "link", "qdisc", "name")


def write(result: Result, place: files.Claim, page: str | None = None, records: Path | None = None) -> Path:
    """Write the folder beside its place, with its page, and move it there in one step when complete.

    The files of the folder `records` become its own.

    Raises `NotWritten` if that fails, with the earlier content untouched: the line names the actual place of
    the runs, if any. If the place has changed since it was claimed, or cannot be replaced, they are beside it
    under another name. Warns (`WriteWarning`) of problems that do not keep the folder from its place.
    """
    fill = partial(_fill, result, page, records)
    try:
        written = files.put_folder(place, fill)
    except _UNWRITTEN as error:
        kept = _keep_elsewhere(place, fill)
        where = f"the runs are kept in {kept}" if kept else "the runs are not kept"
        raise NotWritten(f"{place.folder}: cannot be written ({files.why(error)}); {where}") from None
    for note in written.notes:
        warnings.warn(note, WriteWarning, stacklevel=2)
    if written.why is not None:
        kept = f"nothing there was touched: the runs are kept in {written.path}"
        raise NotWritten(f"{place.folder}: {written.why}; {kept}")
    return place.folder


#: Errors of writing: Polars has some of its own.
_UNWRITTEN = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def renew(result: Result, place: files.Claim, records: Path | None = None) -> Path:
    """Write the folder, with a page if the earlier result had one, in one step.

    The page keeps its baseline if the result has that qdisc. Raises as `write` does.
    """
    from sojourn import report
    from sojourn.report.page import page as drawing

    page = Path(place.place, REPORT)
    if not page.is_file():
        return write(result, place, None, records)
    try:
        drawn = drawing(result, result.baseline(report.baseline_of(page, result)))
    except Exception:
        write(result, place, None, records)
        raise
    return write(result, place, drawn, records)


def _fill(result: Result, page: str | None, records: Path | None, folder: int) -> None:
    """Write all files into an open folder."""
    if records is not None:
        files.adopt(folder, records)
    tables = {SERIES: result.series, DISTRIBUTIONS: result.distributions}
    for name, table in (tables | {WINDOWS: result.windows} if len(result.windows) else tables).items():
        with files.create(folder, name) as file:
            table.write_parquet(file)
    texts = {PROVENANCE: _document(_provenance(result)), RESULT: result.to_json()}
    for name, text in (texts if page is None else texts | {REPORT: page}).items():
        with files.create(folder, name) as file:
            file.write(text.encode("utf-8", "replace"))


def _keep_elsewhere(place: files.Claim, fill: Callable[[int], None]) -> str | None:
    """Write the folder to the temporary directory; None if that is no better."""
    with suppress(*_UNWRITTEN):
        above = tempfile.mkdtemp(prefix="sojourn-")
        try:
            return files.put_folder(files.claim(Path(above, place.name), OURS), fill).path
        except BaseException:
            with suppress(OSError):
                os.rmdir(above)
            raise
    return None


def claim(folder: Path) -> files.Claim:
    """Claim the place for a result. Raises `InputError` if it cannot be written; leaves no trace."""
    try:
        found = files.claim(folder, OURS)
        if found.place in (os.getcwd(), *map(str, Path.cwd().parents)):
            raise InputError(
                f"--out: {folder} is the current folder or above it; expected a folder of its own"
            )
        if os.path.ismount(found.place):
            raise InputError(f"--out: {folder} is where a file system begins; expected a folder in it")
        if os.path.lexists(found.place):
            _check_replaceable(folder, Path(found.place))
        files.probe(found)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        why = files.why(error)
        expected = "expected a folder in a writable place"
        raise InputError(f"--out: {folder} cannot be written ({why}); {expected}") from None
    return found


def read(folder: Path) -> Result:
    """Read a folder that `write` made, by this version or an earlier one.

    All files are those of one folder, even if another result takes its place meanwhile.
    """
    try:
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(f"{folder}: there is no such folder; {A_RESULT}") from None
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({files.why(error)}); {A_RESULT}") from None
    try:
        return _read(folder, number)
    finally:
        os.close(number)


def _read(folder: Path, number: int) -> Result:
    document = _read_json(folder / RESULT, number)
    checks.check_schema(folder / RESULT, document)
    _check_letters(folder / RESULT, document)
    scenario_kinds.check(folder / RESULT, document)
    checks.check_result(folder / RESULT, document)
    provenance = _read_json(folder / PROVENANCE, number)
    checks.check_provenance(folder / PROVENANCE, provenance)
    rows, scenario = _rows(document, provenance), document["scenario"]
    tables = {}
    for name, columns, series in (
        (SERIES, SERIES_COLUMNS, checks.SAMPLED),
        (DISTRIBUTIONS, DISTRIBUTION_COLUMNS, ("sojourn_s",)),
    ):
        most = partial(checks.most_rows, rows, scenario, sampled=name == SERIES)
        tables[name] = _read_table(folder / name, number, columns, most)
        checks.check_table(folder / name, tables[name], scenario)
        checks.check_agreement(folder / name, tables[name], rows, series)
    return Result(
        scenario=scenario,
        runs=rows,
        series=tables[SERIES],
        distributions=tables[DISTRIBUTIONS],
        provenance=provenance,
        windows=_read_windows(folder / WINDOWS, number, rows, scenario),
    )


def _read_windows(path: Path, folder: int, rows: tuple[Row, ...], scenario: dict[str, Any]) -> pl.DataFrame:
    """The table of windows; empty for a scenario without windows, and for fluid runs, which have none."""
    if not scenario.get("windows") or all(row.plant == "fluid" for row in rows):
        return windows.table(())
    found = _read_table(path, folder, tuple(WINDOW_KINDS), lambda _: windows.most_rows(rows))
    found = found.with_columns(pl.col(name).cast(kind) for name, kind in WINDOW_KINDS.items())
    windows.check(path, found, scenario, rows)
    return found


def _check_replaceable(folder: Path, place: Path) -> None:
    if not place.is_dir():
        raise InputError(f"--out: {folder} is a file; expected a folder, new or with an earlier result")
    foreign = files.foreign(place, OURS)
    if foreign is not None:
        raise InputError(f"--out: {folder} holds {foreign}, which no result has; {FREE_PLACE}")
    names = os.listdir(place)
    if names and RESULT not in names:
        raise InputError(f"--out: {folder} holds files but no {RESULT}; {FREE_PLACE}")


def _provenance(result: Result) -> dict[str, Any]:
    cost = [
        {"plant": row.plant, "qdisc": row.qdisc, "seed": row.seed, "link": row.link, **row.cost}
        for row in result.runs
        if row.cost
    ]
    return {"schema": SCHEMA, **result.provenance, "cost": cost}


def _document(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1) + "\n"


def _read_json(path: Path, folder: int) -> dict[str, Any]:
    try:
        text = files.read(path.name, MOST_BYTES, folder)
        if len(text) > MOST_BYTES:
            raise InputError(f"{path}: is too large; expected at most {MOST_BYTES // 10**9} GB")
        document = json.loads(text.decode("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: is missing; {A_RESULT}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({files.why(error)}); expected a readable file") from None
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise InputError(f"{path}: is not JSON ({why}); {AS_WRITTEN}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: is not a JSON object; {AS_WRITTEN}")
    if _levels(document) > MOST_LEVELS:
        raise InputError(f"{path}: is nested too deeply; {AS_WRITTEN}")
    return document


def _check_letters(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` for a lone surrogate, which JSON can hold and no font can draw."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start].encode("unicode_escape").decode()
        raise InputError(f"{path}: holds {half}, which is half a letter; {AS_WRITTEN}") from None


def _levels(document: object) -> int:
    """Depth of nested lists and objects, up to one more than `MOST_LEVELS`."""
    level, here = 0, [document]
    while here and level <= MOST_LEVELS:
        parts = (
            one.values() if isinstance(one, dict) else one for one in here if isinstance(one, dict | list)
        )
        here = [part for one in parts for part in one]
        level += 1
    return level


def _rows(document: dict[str, Any], provenance: dict[str, Any]) -> tuple[Row, ...]:
    costs = {}
    for given in provenance.get("cost", []):
        cost = dict(given)
        key = (cost.pop("plant"), cost.pop("qdisc"), cost.pop("seed"), cost.pop("link"))
        costs[key] = cost
    rows = []
    for row in document["runs"]:
        key = (row["plant"], row["qdisc"], row["seed"], row["link"])
        rows.append(
            Row(
                plant=row["plant"],
                qdisc=row["qdisc"],
                seed=row["seed"],
                link=row["link"],
                metrics=row["metrics"],
                conservation=row.get("conservation", {}),
                traffic_class=row.get("class"),
                queue=row.get("queue"),
                qdisc_here=row.get("qdisc_here"),
                trust=row.get("trust", {}),
                cost=costs.get(key, {}) if row.get("class") is None and row.get("queue") is None else {},
            )
        )
    return tuple(rows)


def _read_table(
    path: Path, folder: int, columns: tuple[str, ...], most_rows: Callable[[int], int]
) -> pl.DataFrame:
    """Read the columns of a table, and no others, if their number fits the runs; `most_rows` is by bytes."""
    try:
        with files.opened(path.name, folder) as file:
            table = pl.scan_parquet(file)
            checks.check_columns(path, table.collect_schema(), columns)
            rows, most = table.select(pl.len()).collect().item(), most_rows(os.fstat(file.fileno()).st_size)
            if rows > most:
                raise InputError(
                    f"{path}: has {rows} rows; expected at most {most} of so many runs and bytes"
                )
            file.seek(0)
            read = pl.read_parquet(file, columns=list(columns))
    except FileNotFoundError:
        raise InputError(f"{path}: is missing; {A_RESULT}") from None
    except files.NotAFile as error:
        raise InputError(f"{path}: cannot be read ({files.why(error)}); expected a readable file") from None
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: is not Parquet ({why}); {AS_WRITTEN}") from None
    return read.select(columns).with_columns(
        read[text].cast(pl.Enum(read[text].drop_nulls().unique(maintain_order=True)))
        for text in TEXTS
        if text in columns and path.name != WINDOWS
        if read.schema[text] == pl.String  # by an earlier version
    )
