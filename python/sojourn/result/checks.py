"""What a result folder must hold to be read: each fault names file, key and what is legal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import InputError
from sojourn.result import SCHEMA, Arm, Run, rules
from sojourn.result.rules import AS_WRITTEN
from sojourn.result.words import COLUMNS, LATER, seconds

#: What the pages and pictures are drawn from: every run has it, packet by packet.
SAMPLED = ("queue_packets", "sojourn_s", "p", "drop_ratio", "mark_ratio", "utilization", "window_packets")
#: What a fluid has of it in any case.
OF_FLUIDS = ("queue_packets",)

# Metrics that are a list, with an entry for each stretch between changes.
_LISTS = ("settling_s", "overshoot_packets")
# Steps of a series where the scenario has no `sample`, columns of a link, and values of a run: the limits of
# `crates/scenario/src/series.rs`, with room for those of other versions.
_MOST_STEPS, _MOST_COLUMNS, _MOST_VALUES = 2_000, 100, 20_000_000
# Steps of a series where the scenario has a `sample`: the limit of `crates/scenario/src/read/mod.rs`.
_MOST_SAMPLES = 1_000_000
# Rows of a byte of a series: so many, and so many more over the steps. Columns that stand still cost a file
# next to nothing; the times cost it some bytes a step. At 2000, 10 000, 100 000 and 1 000 000 steps such
# series have 21, 6, 1.4 and 1.1 rows a byte, those of busy links 0.1.
_ROWS_A_BYTE, _MORE_BY_STEPS = 4, 160_000
# Points of a distribution: the buckets of `crates/sim/src/histogram.rs`, likewise.
_MOST_POINTS = 250_000

# What tells runs apart; in result.json those of one class have its name, too.
_PLACE = ("plant", "disc", "seed", "link")
_KINDS: dict[str, Any] = {
    "seed": pl.UInt64,
    "time": pl.Float64,
    "value": pl.Float64,
    "cumulative": pl.Float64,
}


def check_schema(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` for a document of a later Sojourn, or one without a schema number."""
    schema: Any = document.get("schema")
    legal = "1" if SCHEMA == 1 else f"1 to {SCHEMA}"
    if not rules.is_whole(schema) or schema < 1:
        raise InputError(
            f"{path}: schema: {rules.told(document, 'schema')} is no schema number; legal: {legal}"
        )
    if schema > SCHEMA:
        what = f"is of a newer Sojourn; this version reads schema {legal}"
        raise InputError(f"{path}: schema: {schema} {what}: update Sojourn")


def check_result(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` where result.json does not hold runs."""
    rules.need(path, document, "runs", (rules.is_filled_list, "a list of runs, one at least"))
    seen: dict[tuple[Any, ...], int] = {}
    for place, run in enumerate(document["runs"]):
        at = f"runs[{place}]"
        _check_run(path, run, at)
        earlier = seen.setdefault((*(run[key] for key in _PLACE), run.get("class")), place)
        if earlier != place:
            told = _run_told([run[key] for key in _PLACE])
            raise InputError(f"{path}: {at}: {told} is runs[{earlier}] too; legal: each disc and seed once")
    for place, run in enumerate(document["runs"]):
        if run["link"] is None:
            continue
        whole = (*(run[key] for key in _PLACE), None)
        if whole not in seen:
            told = f"{_run_told(whole)}, class {run['class']}"
            raise InputError(f"{path}: runs[{place}]: {told}: its link has no row; {AS_WRITTEN}")
    names = list(dict.fromkeys(name for run in document["runs"] for name in run["metrics"]))
    always = (column.metric for column in COLUMNS if column not in LATER)
    needed = dict.fromkeys([*always, *names])
    for place, run in enumerate(document["runs"]):
        for name in needed:
            if name not in run["metrics"]:
                raise InputError(f"{path}: runs[{place}].metrics.{name}: is missing; {AS_WRITTEN}")


def check_provenance(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` where provenance.json says something that is not of its kind."""
    text, number = (rules.is_text, "text"), (rules.is_number, "a number from 0")
    for key, rule in {
        "command": (rules.is_texts, "a list of words"),
        "notes": (rules.is_texts, "a list of sentences"),
        "started": text,
        "wall_s": number,
        "runs_asked": (rules.is_count, "a whole number from 0"),
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


def most_rows(runs: Sequence[Run], scenario: dict[str, Any], size: int, *, sampled: bool) -> int:
    """Most rows of a file of `size` bytes about these runs: sampled over time, or of distributions."""
    if not sampled:
        return len(runs) * _MOST_POINTS
    step = seconds(scenario.get("sample"))
    steps = (seconds(scenario["duration"]) or 0.0) / step if step else _MOST_STEPS
    steps = max(1.0, min(steps, _MOST_SAMPLES))
    count = len({(run.plant, run.disc, run.seed) for run in runs})
    by_runs = min(len(runs) * _MOST_COLUMNS * (steps + 1), 2 * count * _MOST_VALUES)
    return int(min(by_runs, size * (_ROWS_A_BYTE + _MORE_BY_STEPS / steps)))


def check_columns(path: Path, schema: Mapping[str, pl.DataType], columns: Sequence[str]) -> None:
    """Raise `InputError` where a column is missing or not of its kind."""
    for name in columns:
        if name not in schema:
            raise InputError(f"{path}: has no column {name}; legal: {', '.join(columns)}")
        kind, legal = schema[name], _KINDS.get(name, pl.String)
        # Words may be numbered, as ours are.
        if kind != legal and not (legal == pl.String and isinstance(kind, pl.Enum | pl.Categorical)):
            raise InputError(f"{path}: column {name}: is {kind}; legal: {legal}")


def check_table(path: Path, table: pl.DataFrame, scenario: dict[str, Any]) -> None:
    """Raise `InputError` where a column holds what no run gives."""
    for name in table.columns:
        # What was sampled of a class whose data cross no link with a disc has no link.
        if name not in ("value", "link") and table[name].null_count():
            raise InputError(f"{path}: column {name}: has no value in some row; {AS_WRITTEN}")
    end = (seconds(scenario["duration"]) or 0.0) * (1 + 1e-9)
    for name, most in (("time", end), ("cumulative", 1 + 1e-9), ("value", rules.MOST)):
        if name not in table.columns:
            continue
        wrong = table[name].filter(~table[name].is_between(0, most))
        if len(wrong):
            legal = {"time": "within the run", "cumulative": "0 to 1", "value": f"0 to {rules.MOST:g}"}[name]
            raise InputError(f"{path}: column {name}: {wrong[0]} is out of range; legal: {legal}")


def check_agreement(path: Path, table: pl.DataFrame, runs: tuple[Run, ...], names: tuple[str, ...]) -> None:
    """Raise `InputError` unless the table is about these runs, and has these names for each of them."""
    rows = set(table.select(*_PLACE, "name").unique().iter_rows())
    found = {row[:-1] for row in rows}
    links = (run for run in runs if run.traffic_class is None)
    known = {(run.plant, run.disc, run.seed, run.link): run for run in links}
    elsewhere = {(run.plant, run.disc, run.seed, None) for run in runs if run.link is None}
    for place in sorted(found - known.keys() - elsewhere, key=str):
        raise InputError(f"{path}: {_run_told(place)} is no run of result.json; {AS_WRITTEN}")
    for place, run in known.items():
        for name in _needed(table, run, names):
            if (*place, name) not in rows:
                raise InputError(f"{path}: {_run_told(place)}, {name}: is missing; {AS_WRITTEN}")


def _needed(table: pl.DataFrame, run: Run, names: tuple[str, ...]) -> tuple[str, ...]:
    """Which of the names a run must have in the table."""
    if run.plant == "fluid":
        return tuple(name for name in names if name in OF_FLUIDS)
    # Where no packet left the disc, there is no distribution of the delay.
    nothing_left = "time" not in table.columns and run.metrics["sojourn_mean_s"] is None
    return () if nothing_left else names


def _check_run(path: Path, run: Any, at: str) -> None:
    rules.need(path, {at: run}, at, rules.AN_OBJECT)
    # Rows of all traffic have none, or null.
    of_class = run.get("class") is not None
    if of_class:
        rules.need(path, run, "class", rules.NAME, at=f"{at}.")
    if "disc_here" in run:
        rules.need(path, run, "disc_here", rules.NAME, at=f"{at}.")
    for key, rule in (rules.PLACES | {"link": rules.NAME_OR_NULL} if of_class else rules.PLACES).items():
        rules.need(path, run, key, rule, at=f"{at}.")
    rules.need(path, run, "metrics", rules.AN_OBJECT, at=f"{at}.")
    for name in run["metrics"]:
        rules.need(
            path, run["metrics"], name, rules.LISTED if name in _LISTS else rules.SINGLE, at=f"{at}.metrics."
        )
    # The first results were written without it.
    if "conservation" in run:
        rules.need(path, run, "conservation", rules.AN_OBJECT, at=f"{at}.")
        for name in run["conservation"]:
            rules.need(
                path,
                run["conservation"],
                name,
                (rules.is_count, "a whole number from 0"),
                at=f"{at}.conservation.",
            )


def _run_told(place: Sequence[Any]) -> str:
    plant, disc, seed, *_ = place
    return Arm(disc, plant).run_told(seed)
