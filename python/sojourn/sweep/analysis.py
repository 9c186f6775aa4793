"""Tables of a sweep: means, differences, effects, indices and lines, each computed over its points."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import polars as pl

from sojourn.errors import InputError
from sojourn.result import SEEDLESS
from sojourn.result.factors import Effect, effects
from sojourn.result.sensitivity import Index, sobol
from sojourn.result.statistics import Regression, estimates, holm, paired_p, quantile_interval, regress
from sojourn.sweep.pictures import THEORY, line_kinds
from sojourn.sweep.store import columns, scan, value_of, window_columns

if TYPE_CHECKING:
    from sojourn.sweep import Sweep

__all__ = ["analysed", "estimated", "names", "paired", "quantiles", "regression", "sensitivity", "tested"]


@functools.cache
def names() -> frozenset[str]:
    """Names of all columns of tables of a sweep, also of those on the way there, but for axes."""
    none: dict[str, list[object]] = {"metric": [], "link": [], "seed": [], "value": [], "difference": []}
    lists = pl.DataFrame(none, schema_overrides=dict.fromkeys(("value", "difference"), pl.List(pl.Float64())))
    tables = (
        lists,
        estimated(lists, "value"),
        tested(lists),
        quantiles(pl.LazyFrame({"metric": [], "link": []}), "metric", 0.5),
        analysed(lists, "metric", ["value"], interactions=False),
    )
    own = ("point", "plant", "_place", "base", "failed", "share", "verdict", "axis", "points", "name")
    of_rows = [one.name for kind in (Index, Regression) for one in fields(kind)]
    return frozenset(
        (
            *columns(),
            *window_columns(),
            *THEORY,
            *own,
            *of_rows,
            *(name for one in tables for name in one.columns),
        )
    )


def analysed(rows: pl.DataFrame, metric: str, factors: Sequence[str], *, interactions: bool) -> pl.DataFrame:
    """Effects of factors on a metric at each link."""
    found: list[tuple[str | None, Effect]] = []
    for (link,), of in rows.group_by("link", maintain_order=True):
        levels = {name: of[name].to_list() for name in factors}
        try:
            seeds = ("seed", of["seed"].to_list()) if _shared(of, factors) else None
            values = of[metric].to_list()
            found += ((link, one) for one in effects(values, levels, interactions=interactions, blocks=seeds))
        except ValueError as error:
            raise InputError(f"factors: {error}") from None
    corrected = iter(holm([one.p for _, one in found if one.p is not None]))
    return pl.DataFrame(
        {
            "link": [link for link, _ in found],
            "effect": [" x ".join(one.factors) or "residual" for _, one in found],
            "sum_of_squares": [one.sum_of_squares for _, one in found],
            "df": [one.freedom for _, one in found],
            "f": [one.f for _, one in found],
            "p": [one.p for _, one in found],
            "p_holm": [None if one.p is None else next(corrected) for _, one in found],
            "partial_eta_squared": [one.share for _, one in found],
        },
        schema_overrides={"f": pl.Float64(), "p": pl.Float64(), "p_holm": pl.Float64()},
    )


def _shared(rows: pl.DataFrame, factors: Sequence[str]) -> bool:
    """True if there are several seeds, and one of them is at several levels."""
    levels = rows.select("seed", *factors).unique().group_by("seed").len()
    return levels.height > 1 and int(levels["len"].max() or 0) > 1  # type: ignore[arg-type]


def sensitivity(of: Sweep, metric: str, drawn: Sequence[str], points: int) -> pl.DataFrame:
    """Indices at each link and each point of the axes that are not drawn."""
    others = [name for name in of.axes if name not in drawn]
    column = value_of(metric)
    assert column is not None, "the caller has checked the metric"
    values = (
        of.plan.lazy()
        .join(scan(of.folder).filter(pl.col("error").is_null()), on="cell", how="inner")
        .filter(pl.col("class").is_null(), pl.col("queue").is_null())
        # Points in the order of the sample; a cell may be at several of them.
        .group_by(*others, "link", "point")
        .agg(column.mean())
        .drop_nulls(metric)
        .sort(*others, "link", "point")
        .collect()
    )
    whole, rows = points * (len(drawn) + 2), []
    for key, group in values.group_by(*others, "link", maintain_order=True):
        if group.height < whole:
            lost = f"{whole - group.height} of {whole} points have no {metric}"
            raise InputError(f"sensitivity: {lost}; expected one at each of the sample")
        place = dict(zip((*others, "link"), key, strict=True)) | {"points": whole}
        rows += [
            place
            | {"axis": one.name, "first": one.first, "first_half": one.first_half}
            | {"total": one.total, "total_half": one.total_half}
            for one in sobol(group[metric].to_list(), drawn)
        ]
    if not rows:
        raise InputError(f"sensitivity: no cell has {metric}; expected a metric of these runs")
    return pl.DataFrame(rows)


def regression(of: Sweep, metric: str, on: str) -> pl.DataFrame:
    """Lines through a metric over a figure of certificates, of each qdisc and plant at each link."""
    kinds = line_kinds(of)
    points = of.summary(metric).join(
        of.theory().select(*of.axes, on), on=of.axes, how="inner", nulls_equal=True, maintain_order="left"
    )
    rows = []
    for key, group in points.drop_nulls(on).group_by(*kinds, "link", maintain_order=True):
        found = regress(group[on].to_list(), group["mean"].to_list())
        if found is not None:
            rows.append(dict(zip((*kinds, "link"), key, strict=True)) | asdict(found))
    if not rows:
        raise InputError(
            f"regression: no qdisc has {on} and {metric} at three points; expected three at least"
        )
    corrected = holm([row["p"] for row in rows])
    return pl.DataFrame(rows).with_columns(p_holm=pl.Series(corrected))


def estimated(samples: pl.DataFrame, column: str) -> pl.DataFrame:
    """The table with mean and interval of each list in a column."""
    means, lows, highs = estimates(samples[column].to_list())
    return samples.with_columns(
        n=pl.col(column).list.len(),
        mean=pl.Series(means, dtype=pl.Float64()),
        ci95_low=pl.Series(lows, dtype=pl.Float64()),
        ci95_high=pl.Series(highs, dtype=pl.Float64()),
    ).drop(column)


def quantiles(rows: pl.LazyFrame, metric: str, quantile: float) -> pl.DataFrame:
    """Quantiles of a metric over the rows that are equal in all other columns."""
    alike = pl.all().exclude(metric)
    samples = rows.drop_nulls(metric).group_by(alike, maintain_order=True).agg(metric).collect()
    found = [quantile_interval(one, quantile) for one in samples[metric].to_list()]
    return samples.drop(metric).with_columns(
        n=pl.Series([one.n for one in found], dtype=pl.UInt32()),
        value=pl.Series([one.value for one in found], dtype=pl.Float64()),
        ci95_low=pl.Series([one.low for one in found], dtype=pl.Float64()),
        ci95_high=pl.Series([one.high for one in found], dtype=pl.Float64()),
    )


def paired(rows: pl.DataFrame, metric: str, axis: str, baseline: object) -> pl.DataFrame:
    """Differences of each run from that of the baseline under its seed, or from one without a seed.

    Rows have the other axes, the link, seed and metric.
    """
    places = [name for name in rows.columns if name not in (axis, "seed", metric)]
    rows = rows.with_row_index("_row").with_columns(_fixed=pl.col("plant").is_in(list(SEEDLESS)))
    base = rows.filter(pl.col(axis) == baseline)
    found = []
    for left in (False, True):
        for right in (False, True):
            on = places if left or right else [*places, "seed"]
            found.append(
                rows.filter(pl.col(axis) != baseline, _fixed=left).join(
                    base.filter(_fixed=right).select(*on, base=metric), on=on, how="inner", nulls_equal=True
                )
            )
    pairs = pl.concat(found).sort("_row", maintain_order=True)
    return pairs.with_columns(difference=pl.col(metric) - pl.col("base"))


def tested(samples: pl.DataFrame) -> pl.DataFrame:
    """The same with p of each list of differences, and corrected; null for one seed."""
    found = [paired_p(one) for one in samples["difference"].to_list()]
    corrected = iter(holm([p for p in found if p is not None]))
    return estimated(samples, "difference").with_columns(
        p=pl.Series(found, dtype=pl.Float64()),
        p_holm=pl.Series([None if p is None else next(corrected) for p in found], dtype=pl.Float64()),
    )
