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
from sojourn.result import SCHEMA, Result, Run, checks, scenario_kinds
from sojourn.result.rules import AS_WRITTEN

RESULT = "result.json"
PROVENANCE = "provenance.json"
SERIES = "series.parquet"
DISTRIBUTIONS = "distributions.parquet"
REPORT = "report.html"

A_RESULT = "legal: a folder that 'sojourn run --out' wrote"
FREE_PLACE = "legal: a new folder, an empty one or an earlier result"

#: The files that a result folder may hold, first the one that none lacks; nothing else is ever removed.
OURS = (RESULT, PROVENANCE, SERIES, DISTRIBUTIONS, REPORT)
#: The largest JSON document that is read, bytes, and the deepest.
MOST_BYTES, MOST_LEVELS = 2_000_000_000, 40

SERIES_COLUMNS = ("time", "plant", "link", "disc", "seed", "name", "value")
DISTRIBUTION_COLUMNS = ("plant", "link", "disc", "seed", "name", "value", "cumulative")
#: The columns of texts. Few texts stand in many millions of rows: as `polars.Enum` each row has a number.
TEXTS = ("plant", "link", "disc", "name")


def write(result: Result, place: files.Claim, page: str | None = None) -> Path:
    """Write the folder beside its place and move it there, in one step, when it is complete; with its page.

    Raises `NotWritten` where that cannot be, with what stood there untouched: the line says where the runs
    are kept instead, if anywhere. They are under another name beside it where somebody else has written there
    since the place was claimed, or where what stands there cannot be replaced. Warns (`WriteWarning`) of what
    does not keep the folder from its place.
    """
    fill = partial(_fill, result, page)
    try:
        written = files.put_folder(place, fill)
    except _UNWRITTEN as fault:
        kept = _keep_elsewhere(place, fill)
        told = f"the runs are kept in {kept}" if kept else "the runs are not kept"
        raise NotWritten(f"{place.folder}: cannot be written ({files.why(fault)}); {told}") from None
    for note in written.notes:
        warnings.warn(note, WriteWarning, stacklevel=2)
    if written.why is not None:
        kept = f"nothing there was touched: the runs are kept in {written.path}"
        raise NotWritten(f"{place.folder}: {written.why}; {kept}")
    return place.folder


#: What is raised where files cannot be written: Polars has errors of its own.
_UNWRITTEN = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def renew(result: Result, place: files.Claim) -> Path:
    """Write the folder, with a page of its own where the earlier result had one, all in one step.

    The page keeps its baseline where the result has that disc. Raises as `write` does.
    """
    from sojourn import report

    page = Path(place.place, REPORT)
    if not page.is_file():
        return write(result, place)
    try:
        drawn = report.page(result, result.baseline(report.baseline_of(page, result)))
    except Exception:
        write(result, place)
        raise
    return write(result, place, drawn)


def _fill(result: Result, page: str | None, folder: int) -> None:
    """Write all files into an open folder."""
    for name, table in ((SERIES, result.series), (DISTRIBUTIONS, result.distributions)):
        with files.create(folder, name) as file:
            table.write_parquet(file)
    texts = {PROVENANCE: _document(_provenance(result)), RESULT: result.to_json()}
    for name, text in (texts if page is None else texts | {REPORT: page}).items():
        with files.create(folder, name) as file:
            file.write(text.encode("utf-8", "replace"))


def _keep_elsewhere(place: files.Claim, fill: Callable[[int], None]) -> str | None:
    """Write the folder among the temporary ones; None where that is no better."""
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
    """The place for a result. Raises `InputError` when one cannot be written there; leaves no trace."""
    try:
        found = files.claim(folder, OURS)
        if found.place in (os.getcwd(), *map(str, Path.cwd().parents)):
            raise InputError(f"--out: {folder} is the current folder or above it; legal: a folder of its own")
        if os.path.ismount(found.place):
            raise InputError(f"--out: {folder} is where a file system begins; legal: a folder in it")
        if os.path.lexists(found.place):
            _check_replaceable(folder, Path(found.place))
        files.probe(found)
    except (OSError, ValueError) as fault:
        if isinstance(fault, InputError):
            raise
        why = files.why(fault)
        legal = "legal: a folder in a writable place"
        raise InputError(f"--out: {folder} cannot be written ({why}); {legal}") from None
    return found


def read(folder: Path) -> Result:
    """Read a folder that `write` made, by this version or an earlier one.

    All files are those of one folder, even where another result takes its place meanwhile.
    """
    try:
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(f"{folder}: there is no such folder; {A_RESULT}") from None
    except OSError as fault:
        raise InputError(f"{folder}: cannot be read ({files.why(fault)}); {A_RESULT}") from None
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
    runs, scenario = _runs(document, provenance), document["scenario"]
    tables = {}
    for name, columns, series in (
        (SERIES, SERIES_COLUMNS, checks.SAMPLED),
        (DISTRIBUTIONS, DISTRIBUTION_COLUMNS, ("sojourn_s",)),
    ):
        most = partial(checks.most_rows, runs, scenario, sampled=name == SERIES)
        tables[name] = _read_table(folder / name, number, columns, most)
        checks.check_table(folder / name, tables[name], scenario)
        checks.check_agreement(folder / name, tables[name], runs, series)
    return Result(
        scenario=scenario,
        runs=runs,
        series=tables[SERIES],
        distributions=tables[DISTRIBUTIONS],
        provenance=provenance,
    )


def _check_replaceable(folder: Path, place: Path) -> None:
    if not place.is_dir():
        raise InputError(f"--out: {folder} is a file; legal: a folder, new or with an earlier result")
    foreign = files.foreign(place, OURS)
    if foreign is not None:
        raise InputError(f"--out: {folder} holds {foreign}, which no result has; {FREE_PLACE}")
    names = os.listdir(place)
    if names and RESULT not in names:
        raise InputError(f"--out: {folder} holds files but no {RESULT}; {FREE_PLACE}")


def _provenance(result: Result) -> dict[str, Any]:
    cost = [
        {"plant": run.plant, "disc": run.disc, "seed": run.seed, "link": run.link, **run.cost}
        for run in result.runs
        if run.cost
    ]
    return {"schema": SCHEMA, **result.provenance, "cost": cost}


def _document(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1) + "\n"


def _read_json(path: Path, folder: int) -> dict[str, Any]:
    try:
        text = files.read(path.name, MOST_BYTES, folder)
        if len(text) > MOST_BYTES:
            raise InputError(f"{path}: is too large; legal: at most {MOST_BYTES // 10**9} GB")
        document = json.loads(text.decode("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: is missing; {A_RESULT}") from None
    except OSError as fault:
        raise InputError(f"{path}: cannot be read ({files.why(fault)}); legal: a readable file") from None
    except InputError:
        raise
    except (ValueError, RecursionError) as fault:
        why = " ".join(str(fault).split())
        raise InputError(f"{path}: is not JSON ({why}); {AS_WRITTEN}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: is not a JSON object; {AS_WRITTEN}")
    if _levels(document) > MOST_LEVELS:
        raise InputError(f"{path}: is nested too deeply; {AS_WRITTEN}")
    return document


def _check_letters(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` for half a letter (a lone surrogate), which JSON can write and nobody can draw."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as fault:
        half = fault.object[fault.start].encode("unicode_escape").decode()
        raise InputError(f"{path}: holds {half}, which is half a letter; {AS_WRITTEN}") from None


def _levels(document: object) -> int:
    """How deeply lists and objects are nested, as far as `MOST_LEVELS` and one more."""
    level, here = 0, [document]
    while here and level <= MOST_LEVELS:
        parts = (
            one.values() if isinstance(one, dict) else one for one in here if isinstance(one, dict | list)
        )
        here = [part for one in parts for part in one]
        level += 1
    return level


def _runs(document: dict[str, Any], provenance: dict[str, Any]) -> tuple[Run, ...]:
    costs = {}
    for given in provenance.get("cost", []):
        row = dict(given)
        key = (row.pop("plant"), row.pop("disc"), row.pop("seed"), row.pop("link"))
        costs[key] = row
    runs = []
    for row in document["runs"]:
        key = (row["plant"], row["disc"], row["seed"], row["link"])
        runs.append(
            Run(
                plant=row["plant"],
                disc=row["disc"],
                seed=row["seed"],
                link=row["link"],
                metrics=row["metrics"],
                conservation=row.get("conservation", {}),
                traffic_class=row.get("class"),
                disc_here=row.get("disc_here"),
                cost=costs.get(key, {}) if row.get("class") is None else {},
            )
        )
    return tuple(runs)


def _read_table(
    path: Path, folder: int, columns: tuple[str, ...], most_rows: Callable[[int], int]
) -> pl.DataFrame:
    """Read the columns of a table, and no others, where they can be of its runs; `most_rows` is by bytes."""
    try:
        with files.opened(path.name, folder) as file:
            table = pl.scan_parquet(file)
            checks.check_columns(path, table.collect_schema(), columns)
            rows, most = table.select(pl.len()).collect().item(), most_rows(os.fstat(file.fileno()).st_size)
            if rows > most:
                raise InputError(f"{path}: has {rows} rows; legal: at most {most} of so many runs and bytes")
            file.seek(0)
            read = pl.read_parquet(file, columns=list(columns))
    except FileNotFoundError:
        raise InputError(f"{path}: is missing; {A_RESULT}") from None
    except files.NotAFile as fault:
        raise InputError(f"{path}: cannot be read ({files.why(fault)}); legal: a readable file") from None
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as fault:
        why = str(fault).splitlines()[0] if str(fault) else type(fault).__name__
        raise InputError(f"{path}: is not Parquet ({why}); {AS_WRITTEN}") from None
    return read.select(columns).with_columns(
        read[text].cast(pl.Enum(read[text].drop_nulls().unique(maintain_order=True)))
        for text in TEXTS
        if read.schema[text] == pl.String  # by an earlier version
    )
