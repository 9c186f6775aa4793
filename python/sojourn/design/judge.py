"""Margins of a law at points of a box, each evaluation counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sojourn import _core, stops
from sojourn._core import ScenarioError
from sojourn.design.box import Box, Where
from sojourn.design.values import counted, short
from sojourn.errors import InputError, refusal
from sojourn.resolve import under_qdisc
from sojourn.scenario import Scenario

__all__ = ["BudgetSpentError", "Judge", "Point", "Watch", "watched"]

#: Evaluations of a design: points at which a law is judged.
BUDGET = 100_000
#: Parts that interval bounds may examine at a rate.
PARTS = 400_000
#: Windows below this have timeouts, which no model of windows has.
LEAST_WINDOW = 2.0
#: Reasons of a point that lies outside of the theory under any law of this target, and not of this law.
OUTSIDE = (
    "the window is under one packet",
    "no equilibrium",
    "the link is not full",
    "losses keep",
    "what comes to bottleneck.back",
)
#: Time to within 2 % over the time constant of the slowest pole.
TIME_CONSTANTS = 4.0


#: Called with what is being done, and the share of the most evaluations that is spent.
Watch = Callable[[str, float], None]

_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(watch: Watch | None) -> Iterator[None]:
    """Report evaluations in this context to a watch."""
    before = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(before)


class BudgetSpentError(Exception):
    """The evaluations ran out."""


@dataclass(frozen=True)
class Point:
    """A law at a point of the box."""

    flows: float
    rtt_s: float
    capacity_pps: float
    p: float
    backlog_packets: float
    window_packets: float
    #: Least destabilising lag, degrees; infinite: unlimited. Negative: the loop is unstable.
    phase_margin_deg: float
    gain_margin: float
    crossover_rad_s: float
    #: 4 time constants of the slowest pole, s; NaN where it was not computed.
    settling_s: float
    #: Reason for no loop at the point; None: there is one.
    reason: str | None = None

    @property
    def where(self) -> Where:
        """Its place in the box."""
        return self.flows, self.rtt_s, self.capacity_pps

    @property
    def outside(self) -> str | None:
        """Reason for which the theory does not reach the point, whatever the gains are; None: it does."""
        if self.reason is not None:
            return self.reason if self.reason.startswith(OUTSIDE) else None
        return f"the window is under {LEAST_WINDOW:g} packets" if self.window_packets < LEAST_WINDOW else None

    @property
    def margin(self) -> float:
        """The phase margin, minus infinity where the law has no loop."""
        return -math.inf if self.reason is not None else self.phase_margin_deg

    def to_dict(self) -> dict[str, Any]:
        """The point for JSON; None: unlimited or unknown."""
        found: dict[str, Any] = dict(self.__dict__)
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in found.items()
        }


@dataclass
class Judge:
    """Judges texts of qdiscs over a box. Raises `BudgetSpentError` when the evaluations run out."""

    box: Box
    model: str = "calibrated"
    cc: str = "newreno"
    ecn: bool = True
    #: True if a model of a part of the law counts.
    partial: bool = False
    budget: int = BUDGET
    spent: int = 0
    _scenarios: dict[float, Scenario] = field(default_factory=dict)

    def at(self, spec: str, points: Sequence[Where], *, poles: bool = False) -> list[Point]:
        """The law at these points, in their order."""
        self.spent += len(points)
        if self.spent > self.budget:
            raise BudgetSpentError
        found: dict[Where, Point] = {}
        for capacity in dict.fromkeys(point[2] for point in points):
            places = [point for point in points if point[2] == capacity]
            scenario = under_qdisc(self.scenario(capacity), spec, "SPEC").scenario
            at = [(flows, self.box.base_rtt(rtt, capacity)) for flows, rtt, _ in places]
            try:
                rows, reasons = stops.interruptible(
                    partial(_core.margins_at, scenario, at, poles, self.partial)
                )
            except ScenarioError as error:
                raise InputError(*map(_as_argument, refusal(error, nameless="SPEC").lines)) from None
            for place, row, reason in zip(places, rows.tolist(), reasons, strict=True):
                found[place] = _point(place, row, reason)
        self._report(f"{self.spent} of at most {BUDGET} evaluations")
        return [found[point] for point in points]

    def _report(self, text: str) -> None:
        watch = _WATCH.get()
        if watch is not None:
            watch(text, min(1.0, self.spent / BUDGET))

    def over(self, spec: str, box: Box, margins: tuple[float, float]) -> tuple[int, bool, str | None]:
        """Examine margins (degrees, a factor) by interval bounds over a box, at each rate of its grid.

        Parts examined, and True if gains follow p; the reason where they do not show them.
        """
        parts, follows, rates = 0, False, box.axes(1)[2]
        for place_of, capacity in enumerate(rates):
            self._report(f"interval bounds at rate {place_of + 1} of {len(rates)}")
            scenario = under_qdisc(self.scenario(capacity), spec, "SPEC").scenario
            base_rtts = box.base_rtt(box.rtt_s[0], capacity), box.base_rtt(box.rtt_s[1], capacity)
            some, follow, place, reason = stops.interruptible(
                partial(_core.margins_over, scenario, box.flows, base_rtts, LEAST_WINDOW, margins, PARTS)
            )
            if place is not None:
                flows, rtt = place[0], place[1] + box.target.in_seconds(capacity)
                where = f"{counted(flows)} and {short(1e3 * rtt)} ms"
                reason = f"at {where} they are too wide after {some} parts"
            if reason is not None:
                return 0, False, reason
            parts, follows = parts + some, follows or follow
        return parts, follows, None

    def scenario(self, capacity: float) -> Scenario:
        """The middle of the box at this capacity, without a law."""
        if capacity not in self._scenarios:
            flows, rtt, _ = self.box.middle
            self._scenarios[capacity] = self.one(flows, rtt, capacity)
        return self._scenarios[capacity]

    def buffer(self, rtt_s: float, capacity: float) -> int:
        """Packets of the buffer: four targets, twice what a round trip holds, and 1000; no law comes near."""
        return math.ceil(4 * self.box.target.in_packets(capacity) + 2 * rtt_s * capacity + 1000)

    def one(self, flows: float, rtt_s: float, capacity: float) -> Scenario:
        """One network of the box as a scenario: long flows over one link with the `buffer`."""
        segment = self.box.segment_bytes
        try:
            return Scenario.from_dict(
                {
                    "title": "A point of a design's box",
                    "duration": "60 s",
                    "plant": {"fluid": {"model": self.model}},
                    "bottleneck": {
                        "rate": f"{capacity * segment * 8:.9g} bit/s",
                        "delay": f"{self.box.base_rtt(rtt_s, capacity) * 500:.9g} ms",
                        "buffer": f"{self.buffer(rtt_s, capacity)} packets",
                        "qdisc": "tail_drop",
                    },
                    "flows": [
                        {
                            "count": max(1, round(flows)),
                            "app": "bulk",
                            "cc": self.cc,
                            "ecn": self.ecn,
                            "segment": f"{segment} B",
                        }
                    ],
                }
            )
        except InputError as error:
            raise InputError(*map(_as_argument, error.lines)) from None


#: Keys of a scenario by the arguments of a design that set them.
_KEYS = {
    "flows[0].cc": "cc",
    "flows[0].ecn": "ecn",
    "flows[0].segment": "segment_bytes",
    "bottleneck.rate": "capacity_pps",
    "bottleneck.delay": "rtt_s",
    "bottleneck.buffer": "target",
    "plant.fluid.model": "model",
}


def _as_argument(line: str) -> str:
    """A line about a key of the scenario as one about the argument that sets it."""
    key, _, rest = line.partition(": ")
    return f"{_KEYS[key]}: {rest}".replace("plant.fluid.model =", "model =") if key in _KEYS else line


def _point(place: Where, row: list[float], reason: str | None) -> Point:
    p, backlog, window, _, unstable, margin, gain, crossover, pole = row
    # Without a value a stable loop is unlimited, and an unstable one has no lead that stabilises it.
    unlimited = math.inf if unstable == 0 else -math.inf
    return Point(
        *place,
        p=p,
        backlog_packets=backlog,
        window_packets=window,
        phase_margin_deg=unlimited if math.isnan(margin) and reason is None else margin,
        gain_margin=unlimited if math.isnan(gain) and reason is None else gain,
        crossover_rad_s=crossover,
        settling_s=math.nan if math.isnan(pole) else math.inf if pole >= 0 else TIME_CONSTANTS / -pole,
        reason=reason,
    )
