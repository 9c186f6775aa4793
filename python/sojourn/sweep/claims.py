"""Whether points of a sweep hold a claim: a bound on a mean is claimed only where its interval shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.catalogue import entries
from sojourn.errors import InputError
from sojourn.kinds import shown
from sojourn.result import SEEDLESS
from sojourn.sweep.quantities import quantity

if TYPE_CHECKING:
    from sojourn.sweep import Sweep

__all__ = ["OPEN", "VERDICTS", "bounds", "counted", "judged"]

#: Verdicts on a point, in the order in which they are counted.
VERDICTS = ("holds", "does not hold", "undecided", "one seed", "failed", "no value")
#: Those where the mean is on one side, which is not shown.
OPEN = ("undecided", "one seed")


def judged(
    of: Sweep,
    metric: str,
    most: float | None,
    least: float | None,
    *,
    link: str | None = None,
    at: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """A row for each point of the plan: its axes, `n`, `mean`, the 95 % interval, and `verdict`.

    A point ``holds`` where the whole interval is within the bounds, and ``does not hold`` where all of it is
    beyond one; in a plant without randomness the value decides. Between them it is ``undecided``, and with
    ``one seed`` there is no interval. A point with a cell that failed has ``failed``, whatever its other
    seeds say. `link` is by default the first. Raises `InputError`.
    """
    points = _at(of.plan.select(of.axes).unique(maintain_order=True), at or {})
    found = of.summary(metric)
    links = found["link"].unique(maintain_order=True).to_list()
    if link is not None and link not in links:
        raise InputError(f"link: '{link}' has no values; expected one of {links}")
    own = found.filter(pl.col("link").eq_missing(link or (links[0] if links else None)))
    failed = of.failures().select(of.axes).unique().with_columns(failed=True)
    rows = points.join(
        own.select(*of.axes, "n", "mean", "ci95_low", "ci95_high"),
        on=of.axes,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    ).join(failed, on=of.axes, how="left", nulls_equal=True, maintain_order="left")
    fixed = pl.col("plant").is_in(list(SEEDLESS))
    low, high = (pl.when(fixed).then("mean").otherwise(end) for end in ("ci95_low", "ci95_high"))
    bounds = -float("inf") if least is None else least, float("inf") if most is None else most
    verdict = (
        pl.when(pl.col("failed").is_not_null())
        .then(pl.lit("failed"))
        .when(pl.col("mean").is_null())
        .then(pl.lit("no value"))
        .when(low.is_null())
        .then(pl.lit("one seed"))
        .when((low >= bounds[0]) & (high <= bounds[1]))
        .then(pl.lit("holds"))
        .when((low > bounds[1]) | (high < bounds[0]))
        .then(pl.lit("does not hold"))
        .otherwise(pl.lit("undecided"))
    )
    return rows.with_columns(verdict=verdict).drop("failed")


def bounds(metric: str, most: object, least: object, place: str = "") -> tuple[float | None, float | None]:
    """Bounds of a metric as numbers in its unit: of numbers, and of texts such as ``"20 ms"``.

    Raises `InputError`, with a line that begins with `place`, for another unit or an empty range.
    """
    high, low = _bound(metric, most, f"{place}most"), _bound(metric, least, f"{place}least")
    if high is not None and low is not None and low > high:
        raise InputError(f"{place}least: {shown(least)} is above most, {shown(most)}; expected least <= most")
    return high, low


def _bound(metric: str, given: object, place: str) -> float | None:
    if given is None:
        return None
    unit = {entry["name"]: entry.get("unit") for entry in entries("metrics")}.get(metric.partition("[")[0])
    own, found = quantity(f"1 {unit}"), quantity(given)
    if found is not None:
        if own is None or own.dimension != found.dimension:
            of = f"is in {unit}" if own is not None else "has no unit"
            number = f'a number, or such as "1 {unit}"' if own is not None else "a number"
            raise InputError(f"{place}: {shown(given)} is no bound, as {metric} {of}; expected {number}")
        return found.value
    if isinstance(given, bool) or not isinstance(given, int | float) or math.isnan(given):
        raise InputError(f'{place}: {shown(given)} is no bound; expected a number, or such as "20 ms"')
    return float(given)


def counted(verdicts: Sequence[str]) -> str:
    """Counts of verdicts, such as "holds at 6 of 8 points, does not at 1, undecided at 1"."""
    counts = {name: list(verdicts).count(name) for name in VERDICTS}
    whole = len(verdicts)
    parts = [f"holds at {counts['holds']} of {whole} {'point' if whole == 1 else 'points'}"]
    words = {
        "does not hold": "does not at {}",
        "undecided": "undecided at {} (the 95 % interval crosses the bound)",
        "one seed": "undecided at {} (one value has no interval)",
        "failed": "failed at {}",
        "no value": "no value at {}",
    }
    parts += [text.format(counts[name]) for name, text in words.items() if counts[name]]
    return ", ".join(parts)


def _at(rows: pl.DataFrame, at: Mapping[str, Any]) -> pl.DataFrame:
    for name, value in at.items():
        rows = rows.filter(pl.col(name) == value)
    return rows
