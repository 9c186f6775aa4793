"""A step of the load: rates one period (5 s) later are those of the greatest utility for the flows of then.

`step = "optimum"`, the closed form, is the default; its steps are in the middle of a period.
"""

from __future__ import annotations

import pytest
import trials
from trials import IS_LONG, Points

RATE_MBPS, PERIOD_S, STEP_S = 20, 5, 22
#: Base RTTs of the flows that are there from the start, and of those of the step, ms.
FIRST_MS, OTHERS_MS = (40, 80, 120, 160, 200), (60, 100, 140)
#: From a period after the step on, for so long, s.
MEASURED_S = 40 if IS_LONG else 20
FLOOD = f'app = {{ cbr = {{ rate = "{RATE_MBPS} Mbit/s" }} }}'

pytestmark = pytest.mark.slow


def found(steps: dict[str, str], qdisc: str) -> Points:
    """The rates from a period after the step on, where these keys belong to the flows of the step."""
    end = STEP_S + PERIOD_S
    text = trials.bottleneck("A step of the load", RATE_MBPS, 400, (end + MEASURED_S, end))
    text += "".join(trials.flow(f"f{rtt}", rtt, RATE_MBPS, FLOOD) for rtt in FIRST_MS)
    more = "".join(f"{key} = {value}\n" for key, value in steps.items())
    text += "".join(trials.flow(f"s{rtt}", rtt, RATE_MBPS, f"{FLOOD}\n{more}") for rtt in OTHERS_MS)
    (points,) = trials.points(trials.scenario(text), [qdisc], RATE_MBPS).values()
    return points


COME = {"start": f'"{STEP_S} s"'}
LEAVE = {"stop": f'"{STEP_S} s"'}


@pytest.mark.parametrize("qdisc", ["sqm", "sqm:utility=equal", "sqm:alpha=1", "sqm:scheduler=wfq"])
@pytest.mark.parametrize("steps", [COME, LEAVE], ids=["come", "leave"])
def test_floods_have_the_new_rates_after_a_period(steps: dict[str, str], qdisc: str) -> None:
    points = found(steps, qdisc)
    assert largest_deviation(points, optimum(steps, qdisc)) <= 0.05


def optimum(steps: dict[str, str], qdisc: str) -> dict[str, float]:
    """Rates of the greatest utility after the step, packets/s: (w / price)^(1 / alpha)."""
    rtts = {f"f{rtt}": rtt for rtt in FIRST_MS} | {f"s{rtt}": rtt for rtt in OTHERS_MS if steps == COME}
    demands = {name: 1 / rtt for name, rtt in rtts.items()}
    if "alpha=1" in qdisc:
        demands = {name: demand**2 for name, demand in demands.items()}
    if "equal" in qdisc:
        demands = dict.fromkeys(demands, 1.0)
    capacity = trials.packets_per_second(RATE_MBPS)
    return {name: capacity * demand / sum(demands.values()) for name, demand in demands.items()}


def largest_deviation(points: Points, best: dict[str, float]) -> float:
    """Largest deviation of the mean rate of a flow from its optimum, relative."""
    of_udp = trials.PAYLOAD / trials.DATAGRAM
    deviations = {
        name: of_udp * sum(point.rates[name] for point in points.values()) / len(points) / rate - 1
        for name, rate in best.items()
    }
    print(
        "  from the optimum, %:", *(f"{name} {100 * of:+.1f}" for name, of in deviations.items()), flush=True
    )
    return max(map(abs, deviations.values()))
