"""The fluid against the packets: what the model says of a law, and what it came to packet by packet."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sojourn.result import Arm, Result, words
from sojourn.result.statistics import Estimate, estimate
from sojourn.result.words import Column

FLUID, PACKET = "fluid", "packet"

#: The probability with which a law drops or marks; it is no metric, but sampled.
PROBABILITY = Column("p", "p mean", "%", 100, most=100)
#: What the two plants are compared by.
COMPARED = (words.QUEUE, words.SOJOURN, PROBABILITY, words.UTILIZATION)


@dataclass(frozen=True)
class Gap:
    """One quantity of a disc in both plants, in the column's unit."""

    disc: str
    column: Column
    fluid: Estimate
    packet: Estimate

    @property
    def difference(self) -> Estimate:
        """What the fluid has more. Its interval is that of the packets: a fluid has none."""
        fluid, packet = self.fluid.mean, self.packet
        if packet.low is None or packet.high is None:
            return Estimate(packet.n, fluid - packet.mean, None, None)
        return Estimate(packet.n, fluid - packet.mean, fluid - packet.high, fluid - packet.low)


def gaps(result: Result) -> list[Gap]:
    """What both plants have measured at one link, disc by disc; nothing where only one of them ran."""
    if not {FLUID, PACKET} <= set(result.plants):
        return []
    columns = [words.fitted(result, column) for column in COMPARED if column is not PROBABILITY]
    columns.insert(COMPARED.index(PROBABILITY), PROBABILITY)
    found = []
    for disc in result.discs:
        for column in columns:
            fluid, packet = (_of(result, Arm(disc, plant), column) for plant in (FLUID, PACKET))
            if fluid is not None and packet is not None:
                found.append(Gap(disc, column, fluid, packet))
    return found


def _of(result: Result, arm: Arm, column: Column) -> Estimate | None:
    return _probability(result, arm) if column is PROBABILITY else words.scaled(result, arm, column)


def _probability(result: Result, arm: Arm) -> Estimate | None:
    """The mean of what was sampled after the warm-up, and its interval over the seeds."""
    warmup = words.seconds(result.scenario.get("warmup")) or 0.0
    rows = result.series.filter(
        (pl.col("name") == PROBABILITY.metric)
        & (pl.col("disc") == arm.disc)
        & (pl.col("plant") == arm.plant)
        & (pl.col("time") > warmup)
    )
    means = rows.group_by("seed", maintain_order=True).agg(pl.col("value").mean())["value"].drop_nulls()
    return estimate([PROBABILITY.scale * value for value in means]) if len(means) else None
