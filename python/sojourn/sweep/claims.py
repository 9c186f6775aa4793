"""Whether points of a sweep hold a claim: a bound on a mean is claimed only where its interval shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.errors import InputError
from sojourn.result import SEEDLESS

if TYPE_CHECKING:
    from sojourn.sweep import Sweep

__all__ = ["OPEN", "VERDICTS", "counted", "judged"]

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


def counted(verdicts: Sequence[str]) -> str:
    """Counts of verdicts, such as "holds at 6 of 8 points, does not at 1, undecided at 1"."""
    counts = {name: list(verdicts).count(name) for name in VERDICTS}
    whole = len(verdicts)
    parts = [f"holds at {counts['holds']} of {whole} {'point' if whole == 1 else 'points'}"]
    words = {
        "does not hold": "does not at {}",
        "undecided": "undecided at {} (the 95 % interval crosses the bound)",
        "one seed": "undecided at {} (one seed has no interval)",
        "failed": "failed at {}",
        "no value": "no value at {}",
    }
    parts += [text.format(counts[name]) for name, text in words.items() if counts[name]]
    return ", ".join(parts)


def _at(rows: pl.DataFrame, at: Mapping[str, Any]) -> pl.DataFrame:
    for name, value in at.items():
        rows = rows.filter(pl.col(name) == value)
    return rows
