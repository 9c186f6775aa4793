"""Windows of time: their table, its checks, and means over the seeds."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from sojourn.errors import InputError
from sojourn.result import WINDOW_KINDS, Variant, metrics, rules
from sojourn.result.column import Column
from sojourn.result.statistics import estimate
from sojourn.result.words import RATES, TIMES, seconds, unit_for, with_half

if TYPE_CHECKING:
    from sojourn.result import Result, Row

#: Columns that are null where they do not apply.
_OPEN = ("link", "class", "queue")
#: Columns of a place: those of all seeds together.
PLACE = ("window", "from_s", "until_s", "plant", "qdisc", "link", "class", "queue")
#: First word of the windows of one length, which documents leave out: they may be a thousand.
EVERY = "every "
#: Columns of metrics that the summary of a run has not.
OF_WINDOWS = (
    Column("rtt_p95_s", "round trip p95", "ms", 1000.0),
    Column("qacd_packets", "QACD", "packets"),
    Column("settling_s[0]", "settling", "s"),
    Column("overshoot_packets[0]", "overshoot", "packets"),
    Column("itae_packets_s2[0]", "ITAE", "packets s²"),
    Column("loss_sync_ratio", "loss synchronisation", "%", 100.0, most=100.0),
    Column("loss_run_mean_packets", "loss runs mean", "packets"),
    Column("pdv_p95_s", "PDV p95", "ms", 1000.0),
)
#: Most rows of a run: those of `crates/scenario/src/read/windows.rs` with their metrics, with room for other
#: versions.
_MOST_ROWS = 20_000 * 200


def table(rows: Iterable[tuple[Any, ...]]) -> pl.DataFrame:
    """The table of rows in the order of `WINDOW_KINDS`."""
    columns = list(zip(*rows, strict=True)) or [()] * len(WINDOW_KINDS)
    return pl.DataFrame(dict(zip(WINDOW_KINDS, columns, strict=True)), schema=WINDOW_KINDS)


def check(path: Path, found: pl.DataFrame, scenario: dict[str, Any], runs: Sequence[Row]) -> None:
    """Raise `InputError` unless the table holds windows of these runs, with values in their ranges."""
    for name in found.columns:
        if name not in _OPEN and found[name].null_count():
            raise InputError(f"{path}: column {name}: has no value in some row; {rules.AS_WRITTEN}")
    end = (seconds(scenario["duration"]) or 0.0) * (1 + 1e-9)
    wrong = found.filter(
        ~pl.col("from_s").is_between(0, end)
        | ~pl.col("until_s").is_between(0, end)
        | (pl.col("from_s") >= pl.col("until_s"))
        | ~pl.col("value").is_between(-rules.MOST, rules.MOST)
    )
    if len(wrong):
        row = wrong.row(0, named=True)
        place = f"{row['name']} = {row['value']} from {row['from_s']} to {row['until_s']} s"
        raise InputError(f"{path}: {place} is out of range; {rules.AS_WRITTEN}")
    known = {(row.plant, row.qdisc, row.seed) for row in runs}
    for plant, qdisc, seed in found.select("plant", "qdisc", "seed").unique().iter_rows():
        if (plant, qdisc, seed) not in known:
            raise InputError(
                f"{path}: {qdisc}, {plant}, seed {seed} is no run of result.json; {rules.AS_WRITTEN}"
            )
    key = [name for name in WINDOW_KINDS if name != "value"]
    if found.select(key).is_duplicated().any():
        raise InputError(f"{path}: has a metric of a window twice; {rules.AS_WRITTEN}")


def most_rows(runs: Sequence[Row]) -> int:
    """Most rows of a table of these runs."""
    return _MOST_ROWS * len({(row.plant, row.qdisc, row.seed) for row in runs})


def documents(found: pl.DataFrame) -> list[dict[str, Any]]:
    """The windows as in result.json, one object for each place and seed, but for those of one length."""
    named = found.filter(~pl.col("window").str.starts_with(EVERY))
    places: dict[tuple[Any, ...], dict[str, float]] = {}
    keys = (*PLACE, "seed")
    for row in named.iter_rows(named=True):
        places.setdefault(tuple(row[key] for key in keys), {})[row["name"]] = row["value"]
    return [
        {
            key: value
            for key, value in zip(keys, place, strict=True)
            if value is not None or key not in ("class", "queue")
        }
        | {"metrics": metrics}
        for place, metrics in places.items()
    ]


def names(result: Result) -> list[str]:
    """The windows as the scenario has them, in its order."""
    return result.windows["window"].unique(maintain_order=True).to_list()


def chosen(result: Result, window: str) -> pl.DataFrame:
    """The rows of a window, as the scenario has it or by its times. Raises `InputError`."""
    found = result.windows.filter(pl.col("window") == window)
    if not len(found):
        times = [seconds(part) for part in window.split("..")]
        if len(times) == 2 and None not in times:
            same = (pl.col("from_s") - times[0]).abs() < 1e-9
            same &= (pl.col("until_s") - times[1]).abs() < 1e-9
            found = result.windows.filter(same)
            # Of several lists with that window, one.
            found = found.filter(pl.col("window") == found["window"].first()) if len(found) else found
    if not len(found):
        known = names(result)
        expected = (
            f"expected {' or '.join(known)}, or the times of one such as 10 s..40 s"
            if known
            else 'the scenario has none: set windows, as in windows = ["phases"]'
        )
        raise InputError(f'window: "{window}" is no window here; {expected}')
    return found


class Place(NamedTuple):
    """What the values of a window are of."""

    qdisc: str
    plant: str
    #: None: the first link, or the first place of the class.
    link: str | None = None
    traffic_class: str | None = None
    queue: str | None = None


def values(result: Result, window: str, metric: str, place: Place) -> dict[int, float]:
    """A metric of one window: seed -> value. Raises `InputError` for an unknown window, metric or place.

    For a window that is several, such as phases, too.
    """
    found = chosen(result, window)
    if metric.partition("[")[0] not in metrics.UNITS:
        near = difflib.get_close_matches(metric, metrics.UNITS, n=1)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        expected = "expected what 'sojourn list metrics' or 'sojourn list window_metrics' prints"
        raise InputError(f'metric: "{metric}" is not a metric of windows{hint}; {expected}')
    spans = found.select("from_s", "until_s").unique(maintain_order=True).rows()
    if len(spans) > 1:
        (from_s, until_s), *_ = spans
        example = f"{_number(from_s)} s..{_number(until_s)} s"
        raise InputError(
            f'window: "{window}" is {len(spans)} windows; expected the times of one, such as "{example}"'
        )
    if place.link is not None:
        result.check_link(place.link)
    if place.traffic_class is not None and not found["class"].is_in([place.traffic_class]).any():
        raise InputError(f'class: "{place.traffic_class}" is no class of traffic here')
    for name, value in (("class", place.traffic_class), ("queue", place.queue)):
        found = found.filter(pl.col(name).is_null() if value is None else pl.col(name) == value)
    link = found["link"].first() if place.link is None else place.link
    found = found.filter(pl.col("link").is_null() if link is None else pl.col("link") == link)
    found = found.filter(
        (pl.col("name") == metric) & (pl.col("qdisc") == place.qdisc) & (pl.col("plant") == place.plant)
    )
    return dict(found.select("seed", "value").iter_rows())


def rows(result: Result, window: str, traffic_class: str | None) -> pl.DataFrame:
    """The rows of a window at the result's first place, of all traffic or of one class."""
    found = chosen(result, window).filter(pl.col("queue").is_null())
    of = pl.col("class").is_null() if traffic_class is None else pl.col("class") == traffic_class
    found = found.filter(of)
    first = found["link"].first()
    return found.filter(pl.col("link").is_null() if first is None else pl.col("link") == first)


def spans(found: pl.DataFrame) -> list[tuple[float, float]]:
    """The times of windows, in order."""
    return found.select("from_s", "until_s").unique().sort("from_s", "until_s").rows()


def summary(found: pl.DataFrame) -> pl.DataFrame:
    """Mean and 95 % interval of every metric over the seeds, for each window and place.

    An entry of a list is left out unless every seed has it.
    """
    keys = [*PLACE, "name"]
    groups: dict[tuple[Any, ...], list[float]] = {}
    for row in found.select(*keys, "value").iter_rows():
        groups.setdefault(row[:-1], []).append(row[-1])
    seeds = {place: len(group) for place, group in _seeds(found)}
    rows = []
    for key, values in groups.items():
        if "[" in key[-1] and len(values) < seeds[key[:-1]]:
            continue
        interval = estimate(values)
        rows.append((*key, interval.n, interval.mean, interval.low, interval.high))
    kinds = {name: WINDOW_KINDS[name] for name in PLACE} | {
        "metric": pl.String,
        "n": pl.Int64,
        "mean": pl.Float64,
        "ci95_low": pl.Float64,
        "ci95_high": pl.Float64,
    }
    return pl.DataFrame(rows, schema=kinds, orient="row")


def columns(found: pl.DataFrame) -> list[Column]:
    """Columns of a table of these windows, those that apply to any, in units that fit."""
    shown = []
    for column in metrics.SUMMARY:
        values = found.filter(pl.col("name") == column.metric)["value"]
        if not len(values):
            continue
        choices = {"s": TIMES, "ms": TIMES, "Mbit/s": RATES}.get(column.unit)
        largest = values.abs().max()
        if choices is not None and isinstance(largest, int | float):
            unit, scale = unit_for(float(largest), choices)
            shown.append(replace(column, unit=unit, scale=scale))
        else:
            shown.append(column)
    return [*shown, *(one for one in OF_WINDOWS if found["name"].is_in([one.metric]).any())]


def cell(found: pl.DataFrame, variant: Variant, span: tuple[float, float], column: Column) -> str:
    """Text such as ``285.8 ± 1.3`` of a metric in one window; empty if it does not apply."""
    here = found.filter(
        (pl.col("qdisc") == variant.qdisc)
        & (pl.col("plant") == variant.plant)
        & (pl.col("from_s") == span[0])
        & (pl.col("until_s") == span[1])
    )
    values = here.filter(pl.col("name") == column.metric)["value"]
    # The mean over the seeds that settled would flatter the law.
    if not len(values) or ("[" in column.metric and len(values) < here["seed"].n_unique()):
        return ""
    return with_half(estimate([value * column.scale for value in values]))


def _seeds(found: pl.DataFrame) -> Iterator[tuple[tuple[Any, ...], set[int]]]:
    groups: dict[tuple[Any, ...], set[int]] = {}
    for *place, seed in found.select(*PLACE, "seed").unique().iter_rows():
        groups.setdefault(tuple(place), set()).add(seed)
    yield from groups.items()


def span(from_s: float, until_s: float) -> str:
    """The times of a window, such as ``10 to 40 s``.

    >>> span(10.0, 40.0)
    '10 to 40 s'
    """
    return f"{_number(from_s)} to {_number(until_s)} s"


def _number(value: float) -> str:
    return re.sub(r"\.?0+$", "", f"{value:.6f}") if value and math.isfinite(value) else "0"
