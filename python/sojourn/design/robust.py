"""Robust optimisation: free gains that settle first among those that keep the margins over a box."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sojourn.design.box import Where
from sojourn.design.judge import Judge
from sojourn.design.rules import Demand, Parameters
from sojourn.design.search import COARSE, VERIFICATIONS, Family, Found, Wanted, checked, hardest, verified

__all__ = ["optimised"]

#: Factors of a gain: the first step of the search, and the last.
FIRST, LAST = 4.0, 1.03
#: Trials of a search, each at the points searched.
TRIALS = 200
#: Room at the points searched, for those between: a share of the margins wanted.
ROOM = 0.01


@dataclass
class _Search:
    """A pattern search (R. Hooke and T. A. Jeeves, "Direct search", Journal of the ACM 8(2), 1961)."""

    family: Family
    judge: Judge
    wanted: Wanted
    points: list[Where]
    trials: int = 0

    def from_(self, gains: Parameters) -> tuple[Found, Parameters]:
        """The free gains that come nearest to the margins, and settle first of those that have them."""
        step, best = FIRST, self._tried(gains)
        while step > LAST and self.trials < TRIALS:
            found, gains = self._around(gains, best, step)
            if found is best:
                step = math.sqrt(step)
            best = found
        return best, gains

    def _around(self, gains: Parameters, best: Found, step: float) -> tuple[Found, Parameters]:
        """The best of a step more or less in each gain in turn, and the gains there."""
        for name in self.family.rule.free:
            for factor in (step, 1 / step):
                if name in self.family.fixed:
                    continue
                moved = gains | {name: float(gains[name]) * factor}
                found = self._tried(moved)
                if self._worth(found) > self._worth(best):
                    gains, best = moved, found
                    break
        return best, gains

    def _worth(self, found: Found) -> tuple[float, float]:
        limiting = self.wanted.limiting(found.points)
        slack = -math.inf if limiting is None else self.wanted.slack(limiting)
        return min(slack, ROOM), -found.settling_s

    def _tried(self, gains: Parameters) -> Found:
        self.trials += 1
        spec = self.family.text(self.judge.box, gains)
        return Found(spec, 1.0, 1.0, tuple(self.judge.at(spec, self.points, poles=True)))


def optimised(family: Family, judge: Judge, wanted: Wanted) -> Found:
    """The free gains of a rule that settle first of those that keep the margins over a box, or come near.

    The optimum is a local one, near the gains of the rule. Points at which an outcome fails join the next
    search, which starts from it. A loop that settles too late at the points of a search is verified no
    further.
    """
    box = judge.box
    gains = family.rule.gains(Demand(box, wanted.margin_deg)) | family.fixed
    points = box.grid(COARSE)
    for _ in range(VERIFICATIONS):
        found, gains = _Search(family, judge, wanted, points).from_(gains)
        if found.is_late(wanted):
            return found
        found = verified(found, judge, wanted)
        if found.keeps(wanted):
            break
        points = points + hardest(found, wanted)
    return replace(found, points=tuple(judge.at(found.spec, checked(box), poles=True)))
