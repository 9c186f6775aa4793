"""Order among qdiscs as the seeds show it: a relation holds if a 95 % interval shows it.

A metric is compared over the seeds under which every qdisc has it, so that means and paired differences are
of the same runs. A superlative needs each of its comparisons to hold, so that more qdiscs do not make it
wrong more often (an intersection-union test: Berger 1982, Technometrics 24, 295-300); so does a bound on all
qdiscs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sojourn.result import Result, Variant, words
from sojourn.result.column import Column
from sojourn.result.statistics import Estimate, difference, estimate

#: Variants with their mean, lowest first.
Ranking = list[tuple[Variant, Estimate]]


@dataclass(frozen=True)
class Comparison:
    """A metric of several qdiscs in one plant, in the column's unit."""

    column: Column
    #: Qdisc -> seed -> value, of the qdiscs to which the metric applies; the common seeds alone, or, if no
    #: seed is common, each qdisc's own.
    values: dict[Variant, dict[int, float]]
    #: Number of seeds under which every qdisc has the metric.
    seeds: int
    #: True if some qdisc has the metric under further seeds, which are left out.
    partial: bool

    @cached_property
    def ranked(self) -> Ranking:
        """The qdiscs with their means, lowest first."""
        found = [(variant, estimate(list(values.values()))) for variant, values in self.values.items()]
        return sorted(found, key=lambda pair: pair[1].mean)

    @cached_property
    def means(self) -> dict[Variant, Estimate]:
        """Law -> mean and interval, lowest first."""
        return dict(self.ranked)

    def less(self, left: Variant, right: Variant) -> bool:
        """True if `left` is shown to have less of the metric than `right`."""
        found = self._difference(left, right)
        return found is not None and found.mean < 0 and words.is_clear(left, found, self.means[left])

    def at_most(self, left: Variant, right: Variant, *, margin: float) -> bool:
        """True if `left` is shown to exceed `right` by less than `margin`, in the column's unit."""
        found = self._difference(left, right)
        if found is None:
            return False
        high = found.high if left.seeded else found.mean
        return high is not None and high < margin

    def exceeds(self, left: Variant, right: Variant, *, margin: float) -> bool:
        """True if `left` is shown to exceed `right` by more than `margin`, in the column's unit."""
        found = self._difference(left, right)
        if found is None:
            return False
        low = found.low if left.seeded else found.mean
        return low is not None and low > margin

    def alike(self, left: Variant, right: Variant, *, margin: float) -> bool:
        """True if the two are shown to differ by less than `margin`: two one-sided tests."""
        return self.at_most(left, right, margin=margin) and self.at_most(right, left, margin=margin)

    def rivals(self) -> Ranking:
        """Laws behind the first that are not shown to exceed it: if none, it has the least."""
        (first, _), *others = self.ranked
        return [pair for pair in others if not self.less(first, pair[0])]

    def interval(self, variant: Variant) -> tuple[float, float] | None:
        """Ends of the 95 % interval of the mean; the value itself in a plant without randomness.

        None for a single seed.
        """
        found = self.means[variant]
        if not variant.seeded:
            return found.mean, found.mean
        return None if found.low is None or found.high is None else (found.low, found.high)

    def _difference(self, left: Variant, right: Variant) -> Estimate | None:
        return difference(self.values[left], self.values[right])


def compare(
    result: Result,
    column: Column,
    traffic_class: str | None = None,
    *,
    among: Comparison | None = None,
) -> Comparison:
    """The metric over the seeds under which every qdisc to which it applies has it.

    `among` limits the qdiscs and the seeds to those of another comparison.
    """
    found: dict[Variant, dict[int, float]] = {}
    for variant in result.variants if among is None else among.values:
        values = result.values(variant.qdisc, column.metric, traffic_class=traffic_class, plant=variant.plant)
        if among is not None:
            values = {seed: value for seed, value in values.items() if seed in among.values[variant]}
        if values:
            found[variant] = {seed: value * column.scale for seed, value in values.items()}
    common = _common(list(found.values()))
    kept = {
        variant: {seed: values[seed] for seed in common} if common else values
        for variant, values in found.items()
    }
    partial = any(len(values) > len(common) for values in found.values())
    return Comparison(column, kept, len(common), partial)


def _common(columns: Sequence[dict[int, float]]) -> list[int]:
    if not columns:
        return []
    first, *others = columns
    return [seed for seed in first if all(seed in other for other in others)]
