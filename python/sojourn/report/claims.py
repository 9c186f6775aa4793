"""Order among laws as the seeds show it: a relation holds where a 95 % interval says so.

Differences are paired, seed by seed. A superlative needs each of its comparisons to hold, so that more laws
do not make it wrong more often (an intersection-union test: Berger 1982, Technometrics 24, 295-300).
"""

from __future__ import annotations

from sojourn.result import Arm, Result, words
from sojourn.result.statistics import Estimate
from sojourn.result.words import Column

#: Variants with their mean, lowest first.
Ranking = list[tuple[Arm, Estimate]]


def ranking(result: Result, column: Column) -> Ranking:
    """The laws to which the metric applies, lowest mean first."""
    found = [(arm, words.scaled(result, arm, column)) for arm in result.arms]
    applies = [(arm, estimate) for arm, estimate in found if estimate is not None]
    return sorted(applies, key=lambda pair: pair[1].mean)


def less(result: Result, left: Arm, right: Arm, column: Column) -> bool:
    """Whether `left` is shown to have less of the metric than `right`."""
    found = words.difference_to(result, left, right.disc, column)
    return found is not None and found.mean < 0 and words.differs(result, left, right.disc, column)


def at_most(result: Result, left: Arm, right: Arm, column: Column, *, margin: float) -> bool:
    """Whether `left` is shown to exceed `right` by less than `margin`, in the column's unit."""
    found = words.difference_to(result, left, right.disc, column)
    if found is None:
        return False
    if not left.seeded:
        return found.mean < margin
    return found.high is not None and found.high < margin


def rivals(result: Result, ranked: Ranking, column: Column) -> Ranking:
    """Those behind the first that are not shown to have more than it: with none, it has the least."""
    (first, _), *others = ranked
    return [pair for pair in others if not less(result, first, pair[0], column)]


def common_seeds(result: Result, arm: Arm, others: Ranking, column: Column) -> int:
    """Under how many seeds `arm` and each of the others ran, at least."""
    found = [words.difference_to(result, arm, other.disc, column) for other, _ in others]
    return min(0 if one is None else one.n for one in found)
