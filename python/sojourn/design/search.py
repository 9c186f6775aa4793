"""The search for gains: the fastest loop of a rule that keeps its margins over a box."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sojourn.design.box import Box, Where
from sojourn.design.judge import BudgetSpentError, Judge, Point
from sojourn.design.rules import Demand, Parameters, Rule
from sojourn.errors import InputError
from sojourn.units import quantity

__all__ = ["Family", "Found", "Wanted", "checked", "fastest", "hardest", "spec_of", "verified", "widest"]

#: Points along an axis while the search runs, and where the outcome is verified; random points besides.
COARSE, DENSE, RANDOM = 5, 15, 300
#: Bisections between a factor of the gain that keeps the margins and one that does not.
BISECTIONS = 9
#: Verifications of a shape: each adds the points at which the search's outcome failed.
VERIFICATIONS, ADDED = 6, 4
#: Random points about each of the hardest ones, ever closer.
AROUND, CLOSER = 30, 3
#: Bisections of an end of the box.
ENDS = 6
#: Evaluations that the largest boxes leave to the default parameters.
RESERVE = 2000
#: The greatest factor.
MOST_FACTOR = 2.0**24


@dataclass(frozen=True)
class Wanted:
    """Demands on a loop at each point: margins of phase (degrees) and gain, and settling, s."""

    margin_deg: float
    gain_margin: float = 2.0
    settling_s: float | None = None

    def slack(self, point: Point) -> float:
        """Distance of a point within both margins, relative to those wanted; negative: it lacks one."""
        if point.reason is not None:
            return -math.inf
        if point.margin <= 0:
            # The loop is unstable; it has no gain margin.
            return point.margin / self.margin_deg - 1
        return min(point.margin / self.margin_deg, point.gain_margin / self.gain_margin) - 1

    def lacking(self, points: Sequence[Point]) -> int:
        """Number of points that lack a margin, among those that the theory reaches."""
        return sum(one.outside is None and self.slack(one) < 0 for one in points)

    def limiting(self, points: Sequence[Point]) -> Point | None:
        """The point nearest to a margin, among those that the theory reaches; None: it reaches none."""
        return min((one for one in points if one.outside is None), key=self.slack, default=None)


@dataclass(frozen=True)
class Found:
    """A law's text, and how it fares at points."""

    spec: str
    factor: float
    shape: float
    points: tuple[Point, ...]

    @property
    def slowest(self) -> Point | None:
        """The point that settles last, among those that the theory reaches."""
        inside = (one for one in self.points if one.outside is None)
        return max(inside, key=lambda one: one.settling_s, default=None)

    @property
    def settling_s(self) -> float:
        """The longest settling, s."""
        return math.inf if self.slowest is None else self.slowest.settling_s

    def keeps(self, wanted: Wanted) -> bool:
        """True if every point within the theory has both margins."""
        limiting = wanted.limiting(self.points)
        return limiting is not None and wanted.slack(limiting) >= 0

    def meets(self, wanted: Wanted) -> bool:
        """True if every point within the theory has both margins, and settles in time."""
        return self.keeps(wanted) and not self.is_late(wanted)

    def is_late(self, wanted: Wanted) -> bool:
        """True if a point within the theory settles later than wanted."""
        return wanted.settling_s is not None and self.settling_s > wanted.settling_s


def spec_of(law: str, target: str, parameters: Parameters) -> str:
    """The law as text."""
    values: Parameters = {"target": target} if target else {}
    values |= parameters
    texts = (f"{key}={value if isinstance(value, str) else f'{value:.9g}'}" for key, value in values.items())
    return f"{law}:{','.join(texts)}"


def period(fixed: Parameters) -> float | None:
    """Sampling period by a fixed `period` or `rate`, s; None: none is fixed, or none that can be read."""
    try:
        if "period" in fixed:
            return quantity("time", str(fixed["period"]))[0] or None
        return 1 / quantity("frequency", str(fixed["rate"]))[0] if "rate" in fixed else None
    except InputError:
        return None


@dataclass(frozen=True)
class Family:
    """The texts of a law over factors and shapes: its rule, with what the user has fixed."""

    law: str
    rule: Rule
    target: Callable[[Box], str]
    fixed: Parameters

    def spec(self, of: Demand) -> str:
        """The law's text for a box."""
        return self.text(of.box, self.rule.gains(replace(of, period_s=period(self.fixed))) | self.fixed)

    def text(self, box: Box, gains: Parameters) -> str:
        """The law's text with these gains."""
        return spec_of(self.law, self.target(box), gains)


def fastest(family: Family, judge: Judge, wanted: Wanted) -> Found | None:
    """The fastest loop that keeps the margins over the dense grid and random points; None: there is none.

    The source's shape is the answer if it has the margins, and the settling time where one is wanted.
    Otherwise the shape that settles first is. A loop that settles too late at the points of the search is
    verified no further.
    """
    best: Found | None = None
    for shape in (1.0, *family.rule.shapes):
        found = _of_shape(family, judge, wanted, shape)
        if found is not None and (best is None or found.settling_s < best.settling_s):
            best = found
        if best is not None and not family.rule.is_searched and best.meets(wanted):
            break
    return best


def checked(box: Box) -> list[Where]:
    """Points at which the outcome of a search is verified."""
    return [*box.grid(DENSE), *box.random(RANDOM)]


def _of_shape(family: Family, judge: Judge, wanted: Wanted, shape: float) -> Found | None:
    """The fastest loop of a shape: points at which an outcome fails join the next search."""
    box = judge.box
    searched = box.grid(COARSE)
    for _ in range(VERIFICATIONS):
        found = _bisected(family, judge, wanted, (shape, searched))
        if found is None:
            return None
        if wanted.settling_s is not None:
            found = replace(found, points=tuple(judge.at(found.spec, searched, poles=True)))
            if found.is_late(wanted):
                return found
        found = verified(found, judge, wanted)
        if found.keeps(wanted):
            return replace(found, points=tuple(judge.at(found.spec, checked(box), poles=True)))
        searched += hardest(found, wanted)
    return None


def verified(found: Found, judge: Judge, wanted: Wanted) -> Found:
    """The outcome of a search at the points that verify it, and at random ones about the hardest of them.

    The margins of a law with steps, such as PIE's divisor, have their least beside a step.
    """
    box = judge.box
    points = judge.at(found.spec, checked(box))
    if len(points) > 1:
        for closer in range(CLOSER):
            reach = 1 / (DENSE - 1) / 4**closer
            for k, where in enumerate(hardest(replace(found, points=tuple(points)), wanted)):
                points += judge.at(found.spec, box.around(where, AROUND, 100 * closer + k, reach))
    return replace(found, points=tuple(points))


def hardest(found: Found, wanted: Wanted) -> list[Where]:
    """The points nearest to a margin, or farthest beyond it."""
    inside = (one for one in found.points if one.outside is None)
    return [one.where for one in sorted(inside, key=wanted.slack)[:ADDED]]


def _bisected(family: Family, judge: Judge, wanted: Wanted, over: tuple[float, list[Where]]) -> Found | None:
    """The largest factor of the gain that keeps the margins at these points: doubled, then bisected."""
    shape, points = over

    def tried(factor: float) -> Found | None:
        spec = family.spec(Demand(judge.box, wanted.margin_deg, factor, shape))
        found = Found(spec, factor, shape, tuple(judge.at(spec, points)))
        return found if found.keeps(wanted) else None

    low = high = 1.0
    best = tried(low)
    while best is None:
        low, high = low / 2, low
        if low < family.rule.least:
            return None
        best = tried(low)
    while low == high < MOST_FACTOR:
        faster = tried(2 * high)
        if faster is None:
            high = 2 * high
        elif faster.spec == best.spec:
            return best
        else:
            best, low, high = faster, 2 * high, 2 * high
    for _ in range(BISECTIONS):
        middle = math.sqrt(low * high)
        if (found := tried(middle)) is None:
            high = middle
        else:
            best, low = found, middle
    return best


#: A search for the loop of a family over a judge's box; None: there is none.
Search = Callable[[Family, Judge, Wanted], Found | None]


def widest(family: Family, judge: Judge, wanted: Wanted, search: Search = fastest) -> list[tuple[Box, Found]]:
    """The largest boxes that a search can meet, each with one end moved by bisection; largest first."""
    box = judge.box
    (fewest, most), (shortest, longest), (lowest, highest) = box.flows, box.rtt_s, box.capacity_pps
    cuts: list[Callable[[float], Box]] = []
    if shortest < longest:
        cuts.append(lambda share: replace(box, rtt_s=(shortest, shortest * (longest / shortest) ** share)))
        cuts.append(lambda share: replace(box, rtt_s=(longest * (shortest / longest) ** share, longest)))
    if fewest < most:
        cuts.append(lambda share: replace(box, flows=(most * (fewest / most) ** share, most)))
        cuts.append(lambda share: replace(box, flows=(fewest, fewest * (most / fewest) ** share)))
    if lowest < highest:
        cuts.append(lambda share: replace(box, capacity_pps=(lowest, lowest * (highest / lowest) ** share)))
        cuts.append(lambda share: replace(box, capacity_pps=(highest * (lowest / highest) ** share, highest)))

    def searched(part: Judge) -> Found | None:
        return search(family, part, wanted)

    found = [_cut(judge, wanted, searched, cut) for cut in cuts]
    if judge.spent >= judge.budget - RESERVE and not any(found):
        raise BudgetSpentError
    kept = sorted((one for one in found if one is not None), key=lambda one: -one[0])
    return [(part, best) for _, part, best in kept]


def _cut(
    judge: Judge, wanted: Wanted, search: Callable[[Judge], Found | None], cut: Callable[[float], Box]
) -> tuple[float, Box, Found] | None:
    """The greatest share of the way to the whole box that can be met, with its box and its loop.

    It is the greatest that has been found where the evaluations run out.
    """

    def tried(share: float) -> tuple[float, Box, Found] | None:
        part = replace(judge, box=cut(share), budget=judge.budget - RESERVE)
        try:
            found = search(part)
        finally:
            judge.spent = max(judge.spent, min(part.spent, part.budget))
        return (share, part.box, found) if found is not None and found.meets(wanted) else None

    low, high, best = 0.0, 1.0, None
    try:
        best = tried(0.0)
        for _ in range(ENDS if best is not None else 0):
            middle = (low + high) / 2
            if (found := tried(middle)) is None:
                high = middle
            else:
                best, low = found, middle
    except BudgetSpentError:
        # What has been found holds.
        pass
    return best
