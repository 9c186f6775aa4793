"""A summary with a column for each metric."""

from __future__ import annotations

import polars as pl

#: Columns of a summary that are of its metrics; the others say whose metrics they are.
_OF_METRICS = ("metric", "n", "mean", "ci95_low", "ci95_high")


def widened(long: pl.DataFrame) -> pl.DataFrame:
    """One row for each place of a summary; a metric has its mean, and its half-width as ``METRIC_ci95``."""
    places = [name for name in long.columns if name not in _OF_METRICS]
    metrics = long["metric"].unique(maintain_order=True)
    columns: list[pl.Expr] = [pl.col("n").max()]
    for name in metrics:
        here = pl.col("metric") == name
        half = (pl.col("ci95_high") - pl.col("ci95_low")) / 2
        columns += [
            pl.col("mean").filter(here).first().alias(name),
            half.filter(here).first().alias(f"{name}_ci95"),
        ]
    return long.group_by(places, maintain_order=True).agg(columns)
