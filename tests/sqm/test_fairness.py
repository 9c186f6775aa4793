"""Five NewReno against five CUBIC flows: equal shares, and those of the default utility."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import pytest
import trials
from trials import IS_LONG, Points, mean

RATE_MBPS, BUFFER = 50, 833
#: Base RTT of the NewReno and of the CUBIC flows, ms, and the least utilisation.
ROUND_TRIPS = {(120, 120): 0.95, (80, 180): 0.92, (180, 80): 0.92}
EQUAL, DEFAULT = "sqm:utility=equal", "sqm"
OTHERS = ("codel", "pie:target=5 ms", "sfq_codel", "fq_codel", "cake") if IS_LONG else ()
#: Duration of the runs and of their warm-up, s: of the tables, and of the rates of single flows.
SHORT_S, LONG_S = (80, 20), (300, 20)

pytestmark = pytest.mark.slow


def round_trips(several: Iterable[tuple[int, int]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("of", several, ids=lambda of: "-".join(map(str, of)))


@functools.cache
def found(of: tuple[int, int], times: tuple[int, int], qdiscs: tuple[str, ...]) -> dict[str, Points]:
    """The link and the rates of its ten flows, the NewReno flows first, under each qdisc."""
    newreno, cubic = of
    flows = [("newreno", newreno)] * 5 + [("cubic", cubic)] * 5
    text = trials.bottleneck(f"NewReno {newreno} ms, CUBIC {cubic} ms", RATE_MBPS, BUFFER, times)
    text += "".join(
        trials.flow(f"{cc}{number}", rtt, RATE_MBPS, f'cc = "{cc}"') for number, (cc, rtt) in enumerate(flows)
    )
    seeds = trials.SEEDS if times == SHORT_S else range(1, max(trials.SEEDS.stop, 7))
    return trials.points(trials.scenario(text), qdiscs, RATE_MBPS, seeds=seeds)


@round_trips(ROUND_TRIPS)
def test_equal_utilities_give_equal_rates(of: tuple[int, int]) -> None:
    points = found(of, SHORT_S, (EQUAL, DEFAULT, *OTHERS))
    show(points)
    assert mean(points[EQUAL], "jain") >= 0.95
    assert mean(points[EQUAL], "utilisation") >= ROUND_TRIPS[of]


def show(points: dict[str, Points]) -> None:
    trials.show(
        ("qdisc", "utilisation", "Jain", "NewReno : CUBIC", "backlog / C, ms", "sojourn, ms", "its p99"),
        (
            (
                f"`{qdisc}`",
                *(f"{mean(of, name):.3f}" for name in ("utilisation", "jain")),
                f"{ratio(of):.2f}",
                *(f"{mean(of, name):.1f}" for name in ("delay_ms", "sojourn_ms", "sojourn_p99_ms")),
            )
            for qdisc, of in points.items()
        ),
    )


def ratio(of: Points) -> float:
    """Rate of the NewReno flows over that of the CUBIC flows."""
    rates = rates_of(of)
    return sum(rates[:5]) / sum(rates[5:])


def rates_of(of: Points) -> list[float]:
    """Mean rate of each flow, packets/s."""
    several = [list(point.rates.values()) for point in of.values()]
    return [sum(rates) / len(rates) for rates in zip(*several, strict=True)]


@round_trips(ROUND_TRIPS if IS_LONG else [(80, 180)])
def test_each_flow_has_the_rate_of_the_greatest_utility(of: tuple[int, int]) -> None:
    """With alpha = 2 and w = 2 / D^2 rates are as 1 / D."""
    (points,) = found(of, LONG_S, (DEFAULT,)).values()
    optimum = optimal_rates(of)
    deviations = [rate / best - 1 for rate, best in zip(rates_of(points), optimum, strict=True)]
    single = [
        max(abs(rate / best - 1) for rate, best in zip(point.rates.values(), optimum, strict=True))
        for point in points.values()
    ]
    print(f"{of}: utilisation {mean(points, 'utilisation'):.3f}, Jain {mean(points, 'jain'):.3f}", end="; ")
    print("from the optimum, %:", *(f"{100 * deviation:+.1f}" for deviation in deviations), end="; ")
    print(f"the largest of one run {100 * max(single):.1f} %", flush=True)
    assert max(map(abs, deviations)) <= 0.05


def optimal_rates(of: tuple[int, int]) -> list[float]:
    """Rates of the greatest utility, packets/s."""
    demands = [1 / of[0]] * 5 + [1 / of[1]] * 5
    capacity = trials.packets_per_second(RATE_MBPS)
    return [capacity * demand / sum(demands) for demand in demands]
