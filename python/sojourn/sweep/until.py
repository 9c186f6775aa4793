"""Sequential stopping: further seeds at each point until the interval of a metric's mean is narrow enough."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import polars as pl

from sojourn.errors import InputError
from sojourn.kinds import shown
from sojourn.result import SEEDLESS
from sojourn.result.statistics import LEAST_REPLICATIONS, estimate, further
from sojourn.sweep.pictures import named
from sojourn.sweep.store import scan, value_of

if TYPE_CHECKING:
    from pathlib import Path

    from sojourn.sweep import Sweep

#: Seeds of a point, by default at most, and what that may be.
MOST_SEEDS, LIMIT = 100, 10_000
#: Points that are shown with what they have reached, at most.
MOST_SHOWN = 20


@dataclass(frozen=True)
class Until:
    """A precision of a metric's mean at every point and link."""

    metric: str
    #: Half-width of the 95 % interval by the mean, at most.
    relative: float
    #: Seeds of a point, at most.
    most: int = MOST_SEEDS

    def to_dict(self) -> dict[str, object]:
        """The same as a JSON document, which is that of the arguments of `Until`."""
        return asdict(self)


def read(given: str | Mapping[str, object], most: int | None = None) -> Until:
    """A precision such as ``queue_mean_packets=2%``, or as ``{"queue_mean_packets": 0.02}``.

    Raises `InputError`, with a line that begins with ``until``.
    """
    expected = "expected a metric and a share of its mean, such as queue_mean_packets=2%"
    if isinstance(given, str):
        name, _, text = (part.strip() for part in given.partition("="))
        found = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(%?)", text)
        share: object = float(found[1]) / (100 if found[2] else 1) if found else None
    elif isinstance(given, Mapping) and len(given) == 1:
        ((name, share),) = given.items()
    else:
        raise InputError(f"until: {shown(given)} is no precision; {expected}")
    if value_of(name) is None:
        raise InputError(f"until: {shown(name)} is no metric with one value; see 'sojourn list metrics'")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise InputError(f"until: {shown(given)} has no share between 0 and 1; {expected}")
    seeds = MOST_SEEDS if most is None else most
    if isinstance(seeds, bool) or not isinstance(seeds, int) or not LEAST_REPLICATIONS <= seeds <= LIMIT:
        raise InputError(
            f"most_seeds: {shown(seeds)} is not a number of seeds; expected {LEAST_REPLICATIONS} to {LIMIT}"
        )
    return Until(name, float(share), seeds)


def needed(until: Until, folder: Path, plan: pl.DataFrame) -> dict[int, int]:
    """Numbers of seeds that points need next, by their place, each more than they have in the plan.

    A point with a cell that failed, or in a plant without randomness, ends with the seeds that it has, and so
    does one whose metric has no value under 20 seeds. Links without any value are left out.
    """
    random = plan.lazy().filter(~pl.col("plant").is_in(list(SEEDLESS)))
    seeds = dict(random.group_by("point").len().collect().iter_rows())
    value = value_of(until.metric)
    assert value is not None, "a metric with one value"
    own = scan(folder).select("cell", "error", "link", "class", "queue", value)
    rows = random.select("cell", "point", "seed").join(own, on="cell", how="inner")
    failed = set(rows.filter(pl.col("error").is_not_null()).select("point").unique().collect()["point"])
    samples = (
        rows.filter(pl.col("class").is_null(), pl.col("queue").is_null(), pl.col("error").is_null())
        .sort("point", "seed")
        .group_by("point", "link", maintain_order=True)
        .agg(pl.col(until.metric).drop_nulls())
        .collect()
    )
    found: dict[int, int] = {}
    for point, _, values in samples.iter_rows():
        if point not in failed:
            found[point] = max(found.get(point, 0), _following(until, values, seeds[point]))
    return {point: size for point, size in found.items() if size > seeds[point]}


def _following(until: Until, values: list[float], seeds: int) -> int:
    """Number of seeds to run a point with next, from the values at a link, of which seeds may have none."""
    if not values:
        return max(seeds, min(LEAST_REPLICATIONS, until.most))
    more = further(estimate(values), until.relative, until.most) - len(values)
    wanted = seeds + math.ceil(more * seeds / len(values))
    return max(seeds, min(wanted, until.most, max(LEAST_REPLICATIONS, 2 * seeds)))


def imprecise(until: Until, summary: pl.DataFrame, points: pl.DataFrame) -> pl.DataFrame:
    """Rows of a summary whose mean is not that precise, or of fewer than 20 values.

    `share` is half of the interval by the mean. Points of a plant with randomness that the summary lacks are
    rows with no value (`n` is 0).
    """
    half = (pl.col("ci95_high") - pl.col("ci95_low")) / 2
    found = (
        points.filter(~pl.col("plant").is_in(list(SEEDLESS)))
        .join(summary, on=points.columns, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            pl.col("n").fill_null(0), share=pl.when(pl.col("mean") != 0).then(half / pl.col("mean").abs())
        )
    )
    is_precise = (pl.col("n") >= LEAST_REPLICATIONS) & (half <= until.relative * pl.col("mean").abs())
    return found.filter(~is_precise.fill_null(value=False)).select(
        *points.columns, "link", "n", "mean", "share"
    )


def shortfalls(of: Sweep) -> list[str]:
    """Lines on the points that have not the precision of `until`: their number, then each of some."""
    rows = of.imprecise()
    if not rows.height:
        return []
    wanted = f"{100 * of.about['until']['relative']:.4g} %"
    axes = [name for name in of.axes if of.plan[name].n_unique() > 1] or of.axes[:1]
    links = rows["link"].drop_nulls().n_unique() > 1
    points = of.plan.select(of.axes).unique().height
    missed = rows.select(of.axes).unique().height
    lines = [f"{missed} of {points} points {'has' if missed == 1 else 'have'} not reached {wanted}:"]
    for row in rows.head(MOST_SHOWN).iter_rows(named=True):
        place = named(of, {name: row[name] for name in (*axes, *(["link"] if links and row["link"] else []))})
        share = "no share" if row["share"] is None else f"{100 * row['share']:.3g} %"
        lines.append(f"{place}: {share}, {row['n']} {'value' if row['n'] == 1 else 'values'}")
    left = rows.height - MOST_SHOWN
    return [*lines, f"and {left} more"] if left > 0 else lines
