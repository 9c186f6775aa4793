"""Sequential stopping: further seeds at each point until the interval of a metric's mean is narrow enough."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from sojourn.errors import InputError
from sojourn.kinds import shown
from sojourn.result import SEEDLESS
from sojourn.result.statistics import LEAST_REPLICATIONS, estimate, further
from sojourn.sweep.store import columns, scan

if TYPE_CHECKING:
    from pathlib import Path

#: Seeds of a point, by default at most, and what that may be.
MOST_SEEDS, LIMIT = 100, 10_000


@dataclass(frozen=True)
class Until:
    """A precision of a metric's mean at every point and link."""

    metric: str
    #: Half-width of the 95 % interval by the mean, at most.
    relative: float
    #: Seeds of a point, at most.
    most: int = MOST_SEEDS


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
    if columns().get(name) != pl.Float64():
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
    """Numbers of seeds that points need next, by their place; those that have ended are left out.

    `plan` has the place of each cell as the column ``point``. A point with a cell that failed, or in a plant
    without randomness, ends with the seeds that it has.
    """
    own = scan(folder).select("cell", "error", "link", "class", "queue", until.metric)
    rows = plan.lazy().join(own, on="cell", how="inner")
    failed = rows.filter(pl.col("error").is_not_null()).select("point").unique().collect()
    samples = (
        rows.filter(pl.col("class").is_null(), pl.col("queue").is_null(), pl.col("error").is_null())
        .filter(~pl.col("plant").is_in(list(SEEDLESS)))
        .drop_nulls(until.metric)
        .sort("point", "seed")
        .group_by("point", "link", maintain_order=True)
        .agg(until.metric)
        .collect()
    )
    ended = set(failed["point"].to_list())
    found: dict[int, int] = {}
    for point, _, values in samples.iter_rows():
        following = further(estimate(values), until.relative, until.most)
        if point not in ended and following > len(values):
            found[point] = max(found.get(point, 0), following)
    return found
