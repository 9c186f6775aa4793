"""What a result folder must hold to be read: each fault names file, key and what is legal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import InputError
from sojourn.result import SCHEMA, Arm, Run
from sojourn.result.words import COLUMNS, LATER, seconds

AS_WRITTEN = "legal: as 'sojourn run' wrote it"

#: What the pages and pictures are drawn from: every run has it, packet by packet.
SAMPLED = ("queue_packets", "sojourn_s", "p", "drop_ratio", "mark_ratio", "utilization", "window_packets")
#: What a fluid has of it in any case.
OF_FLUIDS = ("queue_packets",)

# Metrics that are a list, with an entry for each stretch between changes.
_LISTS = ("settling_s", "overshoot_packets")
# No metric is beyond this, and sums of squares of what is below it are finite.
_MOST = 1e18
_LAST_SEED = 2**64 - 1

# What tells runs apart; in result.json those of one class have its name, too.
_PLACE = ("plant", "disc", "seed", "link")
_KINDS: dict[str, Any] = {
    "seed": pl.UInt64,
    "time": pl.Float64,
    "value": pl.Float64,
    "cumulative": pl.Float64,
}

Rule = Callable[[Any], bool]


def check_schema(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` for a document of a later Sojourn, or one without a schema number."""
    schema: Any = document.get("schema")
    legal = "1" if SCHEMA == 1 else f"1 to {SCHEMA}"
    if not _is_whole(schema) or schema < 1:
        raise InputError(f"{path}: schema: {_told(document, 'schema')} is no schema number; legal: {legal}")
    if schema > SCHEMA:
        what = f"is of a newer Sojourn; this version reads schema {legal}"
        raise InputError(f"{path}: schema: {schema} {what}: update Sojourn")


def check_result(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` where result.json does not hold a scenario and runs."""
    _check_scenario(path, document)
    _need(path, document, "runs", (_is_filled_list, "a list of runs, one at least"))
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
    text, number = (_is_text, "text"), (_is_number, "a number from 0")
    for key, rule in {
        "command": (_is_texts, "a list of words"),
        "notes": (_is_texts, "a list of sentences"),
        "started": text,
        "wall_s": number,
        "runs_asked": (_is_count, "a whole number from 0"),
        "interrupted": (lambda value: isinstance(value, bool), "true or false"),
        "laws": _AN_OBJECT,
        "versions": _AN_OBJECT,
        "machine": _AN_OBJECT,
        "cost": (_is_list, "a list"),
    }.items():
        if key in document:
            _need(path, document, key, rule)
    for place, row in enumerate(document.get("cost", [])):
        at = f"cost[{place}]"
        _need(path, {at: row}, at, _AN_OBJECT)
        for key in {*_PLACE, *row}:
            either = (lambda value: value is None or _is_number(value), "a number from 0, or null")
            _need(path, row, key, _PLACES.get(key, either), at=f"{at}.")


def check_table(path: Path, table: pl.DataFrame, scenario: dict[str, Any]) -> None:
    """Raise `InputError` where a column is not of its kind or holds what no run gives."""
    for name, kind in table.schema.items():
        legal = _KINDS.get(name, pl.String)
        # Words may be numbered, as ours are.
        if kind != legal and not (legal == pl.String and isinstance(kind, pl.Enum | pl.Categorical)):
            raise InputError(f"{path}: column {name}: is {kind}; legal: {legal}")
        # What was sampled of a class whose data cross no link with a disc has no link.
        if name not in ("value", "link") and table[name].null_count():
            raise InputError(f"{path}: column {name}: has no value in some row; {AS_WRITTEN}")
    end = (seconds(scenario["duration"]) or 0.0) * (1 + 1e-9)
    for name, most in (("time", end), ("cumulative", 1 + 1e-9), ("value", _MOST)):
        if name in table.columns:
            wrong = table[name].drop_nulls().filter(~table[name].drop_nulls().is_between(0, most))
            if len(wrong):
                legal = (
                    "within the run" if name == "time" else f"0 to {1 if name == 'cumulative' else _MOST:g}"
                )
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


def _check_scenario(path: Path, document: dict[str, Any]) -> None:
    _need(path, document, "scenario", _AN_OBJECT)
    scenario = document["scenario"]
    time = (lambda value: seconds(value) is not None, 'a time such as "60 s"')
    objects = (_is_filled_list, "a list of objects, one at least")
    for key, rule in (
        ("title", (_is_text, "text")),
        ("duration", time),
        ("warmup", time),
        ("flows", objects),
        ("at", (_is_list, "a list of objects")),
    ):
        _need(path, scenario, key, rule, at="scenario.")
    for key, inner, must in (
        ("flows", "count", (_is_count, "a whole number")),
        ("flows", "access", _AN_OBJECT_OR_NULL),
        ("at", "time", time),
        ("at", "set", _AN_OBJECT),
    ):
        for place, item in enumerate(scenario[key]):
            at = f"scenario.{key}[{place}]"
            _need(path, {at: item}, at, _AN_OBJECT)
            _need(path, item, inner, must, at=f"{at}.")


def _check_run(path: Path, run: Any, at: str) -> None:
    _need(path, {at: run}, at, _AN_OBJECT)
    # Rows of all traffic have none, or null.
    of_class = run.get("class") is not None
    if of_class:
        _need(path, run, "class", _NAME, at=f"{at}.")
    if "disc_here" in run:
        _need(path, run, "disc_here", _NAME, at=f"{at}.")
    for key, rule in (_PLACES | {"link": _NAME_OR_NULL} if of_class else _PLACES).items():
        _need(path, run, key, rule, at=f"{at}.")
    _need(path, run, "metrics", _AN_OBJECT, at=f"{at}.")
    for name in run["metrics"]:
        _need(path, run["metrics"], name, _LISTED if name in _LISTS else _SINGLE, at=f"{at}.metrics.")
    # The first results were written without it.
    if "conservation" in run:
        _need(path, run, "conservation", _AN_OBJECT, at=f"{at}.")
        for name in run["conservation"]:
            _need(
                path,
                run["conservation"],
                name,
                (_is_count, "a whole number from 0"),
                at=f"{at}.conservation.",
            )


def _need(path: Path, holder: dict[str, Any], key: str, rule: tuple[Rule, str], *, at: str = "") -> None:
    """Raise `InputError` unless `holder` has the key, with a value that follows the rule."""
    follows, legal = rule
    if key not in holder:
        raise InputError(f"{path}: {at}{key}: is missing; legal: {legal}")
    if not follows(holder[key]):
        raise InputError(f"{path}: {at}{key}: {_told(holder, key)} is damaged; legal: {legal}")


def _told(holder: dict[str, Any], key: str) -> str:
    """The value as JSON writes it, shortened."""
    if key not in holder:
        return "nothing"
    text = json.dumps(holder[key], ensure_ascii=True)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _run_told(place: Sequence[Any]) -> str:
    plant, disc, seed, *_ = place
    return Arm(disc, plant).run_told(seed)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and 0 <= value <= _LAST_SEED


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= _MOST and math.isfinite(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_filled_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_metric(value: Any) -> bool:
    return value is None or _is_number(value)


_AN_OBJECT: tuple[Rule, str] = (lambda value: isinstance(value, dict), "an object")
_AN_OBJECT_OR_NULL: tuple[Rule, str] = (
    lambda value: value is None or isinstance(value, dict),
    "an object, or null",
)
_SINGLE: tuple[Rule, str] = (_is_metric, f"a number from 0 to {_MOST:g}, or null")
_LISTED: tuple[Rule, str] = (
    lambda value: value is None or (isinstance(value, list) and all(map(_is_metric, value))),
    f"a list of numbers from 0 to {_MOST:g} and nulls, or null",
)
_NAME: tuple[Rule, str] = (lambda value: isinstance(value, str) and bool(value), "a name")
_NAME_OR_NULL: tuple[Rule, str] = (lambda value: value is None or _NAME[0](value), "a name, or null")
_PLACES: dict[str, tuple[Rule, str]] = {
    "plant": _NAME,
    "disc": _NAME,
    "seed": (_is_count, f"a whole number from 0 to {_LAST_SEED}"),
    "link": _NAME,
}
