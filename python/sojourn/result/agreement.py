"""The fluid against the packets: the model's prediction of a law, and its packet-level result."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sojourn.result import Result, Variant, metrics, words
from sojourn.result.column import Column
from sojourn.result.statistics import Estimate, estimate

FLUID, PACKET = "fluid", "packet"

#: The probability with which a law drops or marks; no metric, but sampled.
PROBABILITY = Column("p", "p mean", "%", 100, most=100)
#: Quantities compared between the two plants.
COMPARED = (metrics.QUEUE_MEAN_PACKETS, metrics.SOJOURN_MEAN_S, PROBABILITY, metrics.UTILIZATION)


@dataclass(frozen=True)
class Gap:
    """One quantity of a qdisc in both plants, in the column's unit."""

    qdisc: str
    column: Column
    fluid: Estimate
    packet: Estimate

    @property
    def difference(self) -> Estimate:
        """Excess of the fluid. Its interval is that of the packets: a fluid has none."""
        fluid, packet = self.fluid.mean, self.packet
        if packet.low is None or packet.high is None:
            return Estimate(packet.n, fluid - packet.mean, None, None)
        return Estimate(packet.n, fluid - packet.mean, fluid - packet.high, fluid - packet.low)


def gaps(result: Result) -> list[Gap]:
    """Gaps at one link, qdisc by qdisc; none if only one plant ran."""
    if not {FLUID, PACKET} <= set(result.plants):
        return []
    columns = [words.fitted(result, column) for column in COMPARED if column is not PROBABILITY]
    columns.insert(COMPARED.index(PROBABILITY), PROBABILITY)
    found = []
    for qdisc in result.qdiscs:
        for column in columns:
            fluid, packet = (_of(result, Variant(qdisc, plant), column) for plant in (FLUID, PACKET))
            if fluid is not None and packet is not None:
                found.append(Gap(qdisc, column, fluid, packet))
    return found


def _of(result: Result, variant: Variant, column: Column) -> Estimate | None:
    return _probability(result, variant) if column is PROBABILITY else words.scaled(result, variant, column)


def _probability(result: Result, variant: Variant) -> Estimate | None:
    """Mean of the samples after the warm-up, and its interval over the seeds."""
    warmup = words.seconds(result.scenario.get("warmup")) or 0.0
    rows = result.series.filter(
        (pl.col("name") == PROBABILITY.metric)
        & (pl.col("qdisc") == variant.qdisc)
        & (pl.col("plant") == variant.plant)
        & (pl.col("time") > warmup)
    )
    means = rows.group_by("seed", maintain_order=True).agg(pl.col("value").mean())["value"].drop_nulls()
    return estimate([PROBABILITY.scale * value for value in means]) if len(means) else None
