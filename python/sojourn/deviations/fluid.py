"""The running fluid after steps of rate and load: its response, and the largest steps it comes back from."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sojourn.errors import InputError
from sojourn.prove import certify
from sojourn.simulate import Plan, carry_out
from sojourn.validity.figures import backlog, samples
from sojourn.validity.runs import rate_bps

if TYPE_CHECKING:
    from sojourn.resolve import Setup

Array = npt.NDArray[np.float64]

#: Relative swing of the backlog that counts as rest, and the factor by which a swing that decays falls.
REST, DECAYS = 0.02, 0.7
#: Part of the time before a step over which the backlog before it is averaged.
BEFORE = 5.0
#: Relative distance from a target that is as good as none.
AT_TARGET = 0.05
#: Largest factor of a step, either way, and steps on the way there before the bisection.
FARTHEST, OUTWARDS = 16.0, 8


@dataclass(frozen=True)
class Bench:
    """A scenario in the fluid plant that rests before a step, all flows from 0 on."""

    setup: Setup
    link: str
    #: Backlog at equilibrium, packets.
    backlog: float
    #: Limit of the buffer, packets, and True if the law holds a target.
    limit: float
    holds_target: bool
    #: Time before a step, and after it, s, and the interval of samples, s.
    before: float
    after: float
    sample: float
    #: Called after each run.
    ran: Callable[[], None] = field(default=lambda: None, compare=False)

    def response(self, change: dict[str, str]) -> tuple[Array, Array]:
        """Times since a change, s, and the backlog, packets, less that before it."""
        scenario = self.setup.scenario.with_(**self._keys(change))
        plan = Plan(scenario, (replace(self.setup, scenario=scenario),), ("fluid",), (1,), 1, ())
        time, queue = samples(carry_out(plan), backlog(self.link, "fluid"), 0.0)
        self.ran()
        middle = time - self.sample / 2 - self.before
        rest = (middle < 0) & (middle > -self.before / BEFORE)
        return middle[middle > 0], queue[middle > 0] - float(np.mean(queue[rest]))

    def _keys(self, change: dict[str, str]) -> dict[str, Any]:
        values = ", ".join(f'"{key}" = {value}' for key, value in change.items())
        groups = range(len(json.loads(self.setup.scenario.to_json())["flows"]))
        return {f"flows[{place}].start": "0 s" for place in groups} | {
            "at": f'[{{ time = "{self.before:.9g} s", set = {{ {values} }} }}]',
            "duration": f"{self.before + self.after:.9g} s",
            "warmup": f"{self.before / 2:.9g} s",
            "sample": f"{self.sample:.9g} s",
        }

    def rate(self, factor: float) -> dict[str, str]:
        """The link's rate times a factor."""
        return {f"{self.link}.rate": f'"{rate_bps(self.setup.scenario, self.link) * factor:.12g} bit/s"'}

    def flows(self, factor: float) -> dict[str, str]:
        """The count of each class of flows times a factor, as a whole number above 0."""
        return {f"{name}.count": str(_whole(count, factor)) for name, count in self._counts().items()}

    def realised(self, factor: float) -> float:
        """The factor on the number of flows that `flows` comes to."""
        counts = self._counts().values()
        return sum(_whole(count, factor) for count in counts) / sum(counts)

    def _counts(self) -> dict[str, int]:
        groups = json.loads(self.setup.scenario.to_json())["flows"]
        return {group["name"]: group["count"] for group in groups if group.get("cc") is not None}

    def comes_back_from(self, change: Callable[[float], dict[str, str]]) -> Callable[[float], bool]:
        """`comes_back` after a change by a factor."""
        return lambda factor: self.comes_back(change(factor))

    def comes_back(self, change: dict[str, str]) -> bool:
        """True if the backlog rests after a change or swings less and less, neither empty nor at its limit.

        Under a law with a target it is there, or that is where its means over quarters of the time tend to.
        """
        _, queue = self.response(change)
        _, second, third, last = np.array_split(queue + self.backlog, 4)
        now, was, mean = float(np.ptp(last)), float(np.ptp(third)), float(last.mean())
        end = _limit(float(second.mean()), float(third.mean()), mean)
        target = self._target(change) if self.holds_target else self.backlog
        if self.holds_target and abs(end - target) > AT_TARGET * target:
            return False
        rests = now <= REST * max(target, 10.0) or now < DECAYS * was
        return rests and REST * target < mean < self.limit - REST * target

    def _target(self, change: dict[str, str]) -> float:
        """Backlog of the equilibrium after a change, packets: a target in time is one in proportion to C."""
        values = {key: json.loads(value) for key, value in change.items()}
        changed = replace(self.setup, scenario=self.setup.scenario.with_(**values))
        try:
            equilibrium = certify(changed, self.link, "qdisc").equilibrium
        except InputError:
            equilibrium = None
        return self.backlog if equilibrium is None else float(equilibrium["backlog_packets"])


def _whole(count: int, factor: float) -> int:
    return max(1, round(count * factor))


def _limit(first: float, second: float, third: float) -> float:
    """Limit of a sequence that converges geometrically, by Aitken's extrapolation; else its last value."""
    bend = (third - second) - (second - first)
    if abs(third - second) >= abs(second - first) or bend == 0:
        return third
    return third - (third - second) ** 2 / bend


def largest(comes_back: Callable[[float], bool], end: float, iterations: int) -> tuple[float, bool]:
    """The largest factor between 1 and `end` up to which all come back; True if it is `end` itself.

    Outwards in steps, then by bisection of the logarithm between the last one that does and the next.

    >>> factor, is_end = largest(lambda factor: factor < 2 or factor > 3, 16, 20)
    >>> round(factor, 3), is_end
    (2.0, False)
    """
    near, far = 0.0, math.log(end) / OUTWARDS
    while comes_back(math.exp(far)):
        near = far
        if near >= math.log(end) * (1 - 1e-9):
            return end, True
        far += math.log(end) / OUTWARDS
    for _ in range(iterations):
        middle = (near + far) / 2
        if comes_back(math.exp(middle)):
            near = middle
        else:
            far = middle
    return math.exp(near), False
