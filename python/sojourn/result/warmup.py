"""The warm-up that the backlogs of a result have, beside that of its scenario."""

from __future__ import annotations

import polars as pl

from sojourn.result import SEEDLESS, Result
from sojourn.result.statistics import mser5
from sojourn.result.words import seconds

__all__ = ["warm_ups"]

BACKLOG = "queue_packets"
_SCHEMA = {
    "link": pl.String(),
    "qdisc": pl.String(),
    "plant": pl.String(),
    "seed": pl.UInt64(),
    "found_s": pl.Float64(),
    "warmup_s": pl.Float64(),
    "verdict": pl.String(),
}


def warm_ups(result: Result) -> pl.DataFrame:
    """A row for each run and link; see `Result.warm_up`."""
    warmup = seconds(result.scenario.get("warmup")) or 0.0
    end = min(
        (at for one in result.scenario.get("at") or [] if (at := seconds(one.get("time"))) is not None),
        default=float("inf"),
    )
    of = result.series.filter(
        pl.col("name") == BACKLOG, pl.col("time") <= end, ~pl.col("plant").is_in(list(SEEDLESS))
    ).drop_nulls("value")
    rows = []
    for (link, qdisc, plant, seed), own in of.group_by("link", "qdisc", "plant", "seed", maintain_order=True):
        values, times = own["value"].to_list(), own["time"].to_list()
        if len(values) < 10:
            continue
        dropped = mser5(values)
        # Samples are at the ends of their steps.
        found = 0.0 if dropped == 0 else float(times[dropped - 1])
        verdict = "short" if found > warmup else "long enough"
        # A minimum at the last place that MSER-5 may choose is none.
        if dropped >= 5 * (len(values) // 5 // 2):
            verdict = "not settled"
        rows.append((link, qdisc, plant, seed, found, warmup, verdict))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")
