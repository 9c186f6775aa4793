"""Order among laws as the seeds show it: a relation holds where a 95 % interval says so.

A metric is compared over the seeds under which every law has it, so that means and paired differences are
of the same runs. A superlative needs each of its comparisons to hold, so that more laws do not make it wrong
more often (an intersection-union test: Berger 1982, Technometrics 24, 295-300); so does a bound on all laws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sojourn.result import Arm, Result, words
from sojourn.result.statistics import Estimate, difference, estimate
from sojourn.result.words import Column

#: Variants with their mean, lowest first.
Ranking = list[tuple[Arm, Estimate]]


@dataclass(frozen=True)
class Comparison:
    """A metric of several laws in one plant, in the column's unit."""

    column: Column
    #: Law -> seed -> value, of the laws to which the metric applies. Where the seeds are common to all, these
    #: alone; where no seed is, each law has its own.
    values: dict[Arm, dict[int, float]]
    #: Number of seeds under which every law has the metric.
    seeds: int
    #: Some law has the metric under further seeds, which are left out.
    partial: bool

    @cached_property
    def ranked(self) -> Ranking:
        """The laws with their means, lowest first."""
        found = [(arm, estimate(list(values.values()))) for arm, values in self.values.items()]
        return sorted(found, key=lambda pair: pair[1].mean)

    @cached_property
    def means(self) -> dict[Arm, Estimate]:
        """Law -> mean and interval, lowest first."""
        return dict(self.ranked)

    def less(self, left: Arm, right: Arm) -> bool:
        """Whether `left` is shown to have less of the metric than `right`."""
        found = self._difference(left, right)
        return found is not None and found.mean < 0 and words.is_clear(left, found, self.means[left])

    def at_most(self, left: Arm, right: Arm, *, margin: float) -> bool:
        """Whether `left` is shown to exceed `right` by less than `margin`, in the column's unit."""
        found = self._difference(left, right)
        if found is None:
            return False
        high = found.high if left.seeded else found.mean
        return high is not None and high < margin

    def alike(self, left: Arm, right: Arm, *, margin: float) -> bool:
        """Whether the two are shown to differ by less than `margin`: two one-sided tests."""
        return self.at_most(left, right, margin=margin) and self.at_most(right, left, margin=margin)

    def rivals(self) -> Ranking:
        """Those behind the first that are not shown to have more than it: with none, it has the least."""
        (first, _), *others = self.ranked
        return [pair for pair in others if not self.less(first, pair[0])]

    def interval(self, arm: Arm) -> tuple[float, float] | None:
        """Ends of the 95 % interval of the mean; the value itself in a plant without randomness.

        None for a single seed.
        """
        found = self.means[arm]
        if not arm.seeded:
            return found.mean, found.mean
        return None if found.low is None or found.high is None else (found.low, found.high)

    def _difference(self, left: Arm, right: Arm) -> Estimate | None:
        return difference(self.values[left], self.values[right])


def compare(
    result: Result,
    column: Column,
    traffic_class: str | None = None,
    *,
    among: Comparison | None = None,
) -> Comparison:
    """The metric over the seeds under which every law to which it applies has it.

    `among` limits the laws and the seeds to those of another comparison.
    """
    found: dict[Arm, dict[int, float]] = {}
    for arm in result.arms if among is None else among.values:
        values = result.values(arm.disc, column.metric, traffic_class=traffic_class, plant=arm.plant)
        if among is not None:
            values = {seed: value for seed, value in values.items() if seed in among.values[arm]}
        if values:
            found[arm] = {seed: value * column.scale for seed, value in values.items()}
    common = _common(list(found.values()))
    kept = {
        arm: {seed: values[seed] for seed in common} if common else values for arm, values in found.items()
    }
    partial = any(len(values) > len(common) for values in found.values())
    return Comparison(column, kept, len(common), partial)


def _common(columns: Sequence[dict[int, float]]) -> list[int]:
    if not columns:
        return []
    first, *others = columns
    return [seed for seed in first if all(seed in other for other in others)]
