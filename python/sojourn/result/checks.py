"""Checks of a result folder before it is read: each error names file, key and the expected value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import InputError
from sojourn.result import SCHEMA, Row, Variant, rules
from sojourn.result.metrics import LATER, LISTS, SUMMARY
from sojourn.result.rules import AS_WRITTEN
from sojourn.result.trust import NUMBERS, VERDICTS
from sojourn.result.words import seconds

#: Series of the pages and pictures that every packet-level run has.
SAMPLED = ("queue_packets", "sojourn_s", "p", "drop_ratio", "mark_ratio", "utilization", "window_packets")
#: Series whose values may be below 0.
SIGNED = ("regret", "utility")
#: Those that every fluid run has.
OF_FLUIDS = ("queue_packets",)

# Most steps of a series without `sample`, columns of a link, and values of a run: the limits of
# `crates/scenario/src/series.rs`, with room for those of other versions.
_MOST_STEPS, _MOST_COLUMNS, _MOST_VALUES = 2_000, 100, 20_000_000
# Most steps of a series with `sample`: the limit of `crates/scenario/src/read/mod.rs`.
_MOST_SAMPLES = 1_000_000
# Most rows of a byte of a series: a constant, plus a term over the steps. Constant columns compress to almost
# nothing; the times cost some bytes a step. At 2000, 10 000, 100 000 and 1 000 000 steps such series have 21,
# 6, 1.4 and 1.1 rows a byte, those of busy links 0.1.
_ROWS_A_BYTE, _MORE_BY_STEPS = 4, 160_000
# Most points of a distribution: the buckets of `crates/measure/src/histogram.rs`, with the same room.
_MOST_POINTS = 250_000

# Keys that distinguish runs; in result.json rows of one class or of one queue have its name, too.
_PLACE = ("plant", "qdisc", "seed", "link")
_KINDS: dict[str, Any] = {
    "seed": pl.UInt64,
    "time": pl.Float64,
    "from_s": pl.Float64,
    "until_s": pl.Float64,
    "value": pl.Float64,
    "cumulative": pl.Float64,
}


def check_schema(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` for a document of a later Sojourn, or one without a schema number."""
    schema: Any = document.get("schema")
    expected = "1" if SCHEMA == 1 else f"1 to {SCHEMA}"
    if not rules.is_whole(schema) or schema < 1:
        raise InputError(
            f"{path}: schema: {rules.shown(document, 'schema')} is no schema number; expected {expected}"
        )
    if schema > SCHEMA:
        message = f"is of a newer Sojourn; this version reads schema {expected}"
        raise InputError(f"{path}: schema: {schema} {message}: update Sojourn")


def check_result(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` if result.json does not hold runs."""
    rules.need(path, document, "runs", (rules.is_filled_list, "a list of runs, one at least"))
    seen: dict[tuple[Any, ...], int] = {}
    for place, row in enumerate(document["runs"]):
        at = f"runs[{place}]"
        _check_row(path, row, at)
        part = (row.get("class"), row.get("queue"))
        earlier = seen.setdefault((*(row[key] for key in _PLACE), *part), place)
        if earlier != place:
            name = _run_name([row[key] for key in _PLACE])
            raise InputError(
                f"{path}: {at}: {name} is runs[{earlier}] too; expected each qdisc and seed once"
            )
    for place, row in enumerate(document["runs"]):
        if row["link"] is None:
            continue
        whole = (*(row[key] for key in _PLACE), None, None)
        if whole not in seen:
            part_name = f"class {row['class']}" if row.get("class") is not None else f"queue {row['queue']}"
            name = f"{_run_name(whole)}, {part_name}"
            raise InputError(f"{path}: runs[{place}]: {name}: its link has no row; {AS_WRITTEN}")
    names = list(dict.fromkeys(name for row in document["runs"] for name in row["metrics"]))
    always = (column.metric for column in SUMMARY if column.metric not in LATER)
    needed = dict.fromkeys([*always, *names])
    for place, row in enumerate(document["runs"]):
        for name in needed:
            if name not in row["metrics"]:
                raise InputError(f"{path}: runs[{place}].metrics.{name}: is missing; {AS_WRITTEN}")


def check_provenance(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` if a value of provenance.json is not of its kind."""
    text, number = (rules.is_text, "text"), (rules.is_number, "a number from 0")
    for key, rule in {
        "command": (rules.is_texts, "a list of words"),
        "notes": (rules.is_texts, "a list of sentences"),
        "started": text,
        "wall_s": number,
        "runs_planned": (rules.is_count, "a whole number from 0"),
        "interrupted": (lambda value: isinstance(value, bool), "true or false"),
        "laws": rules.AN_OBJECT,
        "ccs": rules.AN_OBJECT,
        "versions": rules.AN_OBJECT,
        "machine": rules.AN_OBJECT,
        "cost": (rules.is_list, "a list"),
    }.items():
        if key in document:
            rules.need(path, document, key, rule)
    for place, row in enumerate(document.get("cost", [])):
        at = f"cost[{place}]"
        rules.need(path, {at: row}, at, rules.AN_OBJECT)
        for key in {*_PLACE, *row}:
            either = (lambda value: value is None or rules.is_number(value), "a number from 0, or null")
            rules.need(path, row, key, rules.PLACES.get(key, either), at=f"{at}.")


def most_rows(rows: Sequence[Row], scenario: dict[str, Any], size: int, *, sampled: bool) -> int:
    """Most rows of a file of `size` bytes of these runs: series if `sampled`, else distributions."""
    if not sampled:
        return len(rows) * _MOST_POINTS
    step = seconds(scenario.get("sample"))
    steps = (seconds(scenario["duration"]) or 0.0) / step if step else _MOST_STEPS
    steps = max(1.0, min(steps, _MOST_SAMPLES))
    count = len({(row.plant, row.qdisc, row.seed) for row in rows})
    by_rows = min(len(rows) * _MOST_COLUMNS * (steps + 1), 2 * count * _MOST_VALUES)
    return int(min(by_rows, size * (_ROWS_A_BYTE + _MORE_BY_STEPS / steps)))


def check_columns(path: Path, schema: Mapping[str, pl.DataType], columns: Sequence[str]) -> None:
    """Raise `InputError` if a column is missing or not of its kind."""
    for name in columns:
        if name not in schema:
            raise InputError(f"{path}: has no column {name}; expected {', '.join(columns)}")
        kind, expected = schema[name], _KINDS.get(name, pl.String)
        # Texts may be categorical, as in our own tables.
        if kind != expected and not (expected == pl.String and isinstance(kind, pl.Enum | pl.Categorical)):
            raise InputError(f"{path}: column {name}: is {kind}; expected {expected}")


def check_table(path: Path, table: pl.DataFrame, scenario: dict[str, Any]) -> None:
    """Raise `InputError` if a column holds a value that no run gives."""
    for name in table.columns:
        # Samples of a class whose data cross no link with a qdisc have no link.
        if name not in ("value", "link") and table[name].null_count():
            raise InputError(f"{path}: column {name}: has no value in some row; {AS_WRITTEN}")
    end = (seconds(scenario["duration"]) or 0.0) * (1 + 1e-9)
    for name, most in (("time", end), ("cumulative", 1 + 1e-9), ("value", rules.MOST)):
        if name not in table.columns:
            continue
        wrong = table.filter(~pl.col(name).is_between(0, most))
        if name == "value" and len(wrong):
            # A sum of utilities, and what is lost of it, may have either sign.
            signed = pl.col("name").cast(pl.String).is_in(SIGNED) & pl.col(name).is_between(-most, most)
            wrong = wrong.filter(~signed)
        if len(wrong):
            ranges = {"time": "within the run", "cumulative": "0 to 1", "value": f"0 to {rules.MOST:g}"}
            raise InputError(
                f"{path}: column {name}: {wrong[name][0]} is out of range; expected {ranges[name]}"
            )


def check_agreement(path: Path, table: pl.DataFrame, rows: tuple[Row, ...], names: tuple[str, ...]) -> None:
    """Raise `InputError` unless the table covers these runs, and has these names for each of them."""
    sampled = set(table.select(*_PLACE, "name").unique().iter_rows())
    found = {key[:-1] for key in sampled}
    links = (row for row in rows if row.traffic_class is None and row.queue is None)
    known = {(row.plant, row.qdisc, row.seed, row.link): row for row in links}
    elsewhere = {(row.plant, row.qdisc, row.seed, None) for row in rows if row.link is None}
    for place in sorted(found - known.keys() - elsewhere, key=str):
        raise InputError(f"{path}: {_run_name(place)} is no run of result.json; {AS_WRITTEN}")
    for place, row in known.items():
        for name in _needed(table, row, names):
            if (*place, name) not in sampled:
                raise InputError(f"{path}: {_run_name(place)}, {name}: is missing; {AS_WRITTEN}")


def _needed(table: pl.DataFrame, row: Row, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names that a run must have in the table."""
    if row.plant == "fluid":
        return tuple(name for name in names if name in OF_FLUIDS)
    # Without departures there is no distribution of the sojourn time.
    nothing_left = "time" not in table.columns and row.metrics["sojourn_mean_s"] is None
    return () if nothing_left else names


def _check_row(path: Path, row: Any, at: str) -> None:
    rules.need(path, {at: row}, at, rules.AN_OBJECT)
    # Rows of all traffic have none, or null.
    of_class = row.get("class") is not None
    if of_class:
        rules.need(path, row, "class", rules.NAME, at=f"{at}.")
    if row.get("queue") is not None:
        rules.need(path, row, "queue", rules.NAME, at=f"{at}.")
        if of_class:
            raise InputError(f"{path}: {at}: is of a class and of a queue; {AS_WRITTEN}")
    if "qdisc_here" in row:
        rules.need(path, row, "qdisc_here", rules.NAME, at=f"{at}.")
    for key, rule in (rules.PLACES | {"link": rules.NAME_OR_NULL} if of_class else rules.PLACES).items():
        rules.need(path, row, key, rule, at=f"{at}.")
    rules.need(path, row, "metrics", rules.AN_OBJECT, at=f"{at}.")
    for name in row["metrics"]:
        rules.need(
            path, row["metrics"], name, rules.LISTED if name in LISTS else rules.SINGLE, at=f"{at}.metrics."
        )
    if "trust" in row:
        _check_trust(path, row, at)
    # The first results were written without it.
    if "conservation" in row:
        rules.need(path, row, "conservation", rules.AN_OBJECT, at=f"{at}.")
        for name in row["conservation"]:
            rules.need(
                path,
                row["conservation"],
                name,
                (rules.is_count, "a whole number from 0"),
                at=f"{at}.conservation.",
            )


def _check_trust(path: Path, row: dict[str, Any], at: str) -> None:
    rules.need(path, row, "trust", rules.AN_OBJECT, at=f"{at}.")
    trust = row["trust"]
    rules.need(
        path, trust, "verdict", (VERDICTS.__contains__, f"one of {', '.join(VERDICTS)}"), at=f"{at}.trust."
    )
    for name in NUMBERS:
        rules.need(path, trust, name, rules.SINGLE, at=f"{at}.trust.")


def _run_name(place: Sequence[Any]) -> str:
    plant, qdisc, seed, *_ = place
    return Variant(qdisc, plant).run_name(seed)
