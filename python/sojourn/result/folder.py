"""Result folders: written whole or not at all, and read back."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import InputError
from sojourn.result import SCHEMA, Result, Run, checks
from sojourn.result.checks import AS_WRITTEN

RESULT = "result.json"
PROVENANCE = "provenance.json"
SERIES = "series.parquet"
DISTRIBUTIONS = "distributions.parquet"
REPORT = "report.html"

A_RESULT = "legal: a folder that 'sojourn run --out' wrote"
FREE_PLACE = "legal: a new folder, an empty one or an earlier result"

#: The files that a result folder may hold; nothing else is ever removed.
OURS = {RESULT, PROVENANCE, SERIES, DISTRIBUTIONS, REPORT}

SERIES_COLUMNS = ("time", "plant", "link", "disc", "seed", "name", "value")
DISTRIBUTION_COLUMNS = ("plant", "link", "disc", "seed", "name", "value", "cumulative")
#: The columns of texts. Few texts stand in many millions of rows: as `polars.Enum` each row has a number.
TEXTS = ("plant", "link", "disc", "name")


def write(result: Result, folder: Path) -> Path:
    """Write the folder beside its place and move it there when it is complete."""
    check_place(folder)
    place = folder.resolve()
    stage = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        stage.mkdir(parents=True)
        result.series.write_parquet(stage / SERIES)
        result.distributions.write_parquet(stage / DISTRIBUTIONS)
        (stage / PROVENANCE).write_text(_document(_provenance(result)), encoding="utf-8")
        (stage / RESULT).write_text(result.to_json(), encoding="utf-8")
        _swap(stage, place)
    except OSError as fault:
        raise _not_writable(folder, fault) from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return folder


def check_place(folder: Path) -> None:
    """Raise `InputError` when a result cannot be written to `folder`; leave no trace."""
    try:
        place = folder.resolve()
        if place == Path.cwd() or place in Path.cwd().parents:
            raise InputError(f"--out: {folder} is the current folder or above it; legal: a folder of its own")
        if place.exists():
            _check_replaceable(folder, place)
        above = next(parent for parent in place.parents if parent.exists())
        os.rmdir(tempfile.mkdtemp(prefix=".sojourn-", dir=above))
    except OSError as fault:
        raise _not_writable(folder, fault) from None


def read(folder: Path) -> Result:
    """Read a folder that `write` made, by this version or an earlier one."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; {A_RESULT}")
    document = _read_json(folder / RESULT)
    checks.check_schema(folder / RESULT, document)
    checks.check_result(folder / RESULT, document)
    provenance = _read_json(folder / PROVENANCE)
    checks.check_provenance(folder / PROVENANCE, provenance)
    runs, scenario = _runs(document, provenance), document["scenario"]
    tables = {}
    for name, columns, series in (
        (SERIES, SERIES_COLUMNS, checks.SAMPLED),
        (DISTRIBUTIONS, DISTRIBUTION_COLUMNS, ("sojourn_s",)),
    ):
        tables[name] = _read_table(folder / name, columns)
        checks.check_table(folder / name, tables[name], scenario)
        checks.check_agreement(folder / name, tables[name], runs, series)
    return Result(
        scenario=scenario,
        runs=runs,
        series=tables[SERIES],
        distributions=tables[DISTRIBUTIONS],
        provenance=provenance,
    )


def _swap(stage: Path, place: Path) -> None:
    """Put `stage` in the place of an earlier result, or of nothing; the earlier one survives a failure."""
    if not place.exists():
        stage.rename(place)
        return
    old = place.with_name(f".{place.name}.{os.getpid()}.old")
    place.rename(old)
    try:
        stage.rename(place)
    except BaseException:
        old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _check_replaceable(folder: Path, place: Path) -> None:
    if not place.is_dir():
        raise InputError(f"--out: {folder} is a file; legal: a folder, new or with an earlier result")
    names = {entry.name for entry in place.iterdir()}
    foreign = sorted(names - OURS)
    if foreign:
        raise InputError(f"--out: {folder} holds {foreign[0]}, which no result has; {FREE_PLACE}")
    if names and RESULT not in names:
        raise InputError(f"--out: {folder} holds files but no {RESULT}; {FREE_PLACE}")


def _not_writable(folder: Path, fault: OSError) -> InputError:
    why = fault.strerror or str(fault)
    return InputError(f"--out: {folder} cannot be written ({why}); legal: a folder in a writable place")


def _provenance(result: Result) -> dict[str, Any]:
    cost = [
        {"plant": run.plant, "disc": run.disc, "seed": run.seed, "link": run.link, **run.cost}
        for run in result.runs
        if run.cost
    ]
    return {"schema": SCHEMA, **result.provenance, "cost": cost}


def _document(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1) + "\n"


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: is missing; {A_RESULT}") from None
    except OSError as fault:
        raise InputError(f"{path}: cannot be read ({fault.strerror}); legal: a readable file") from None
    except (ValueError, RecursionError) as fault:
        why = " ".join(str(fault).split())
        raise InputError(f"{path}: is not JSON ({why}); {AS_WRITTEN}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: is not a JSON object; {AS_WRITTEN}")
    return document


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


def _read_table(path: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    try:
        table = pl.read_parquet(path)
    except FileNotFoundError:
        raise InputError(f"{path}: is missing; {A_RESULT}") from None
    except (OSError, pl.exceptions.PolarsError) as fault:
        why = str(fault).splitlines()[0] if str(fault) else type(fault).__name__
        raise InputError(f"{path}: is not Parquet ({why}); {AS_WRITTEN}") from None
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise InputError(f"{path}: has no column {missing[0]}; legal: {', '.join(columns)}")
    return table.select(columns).with_columns(
        table[text].cast(pl.Enum(table[text].drop_nulls().unique(maintain_order=True)))
        for text in TEXTS
        if table.schema[text] == pl.String  # by an earlier version
    )
