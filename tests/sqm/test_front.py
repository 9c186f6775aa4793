"""Two bottlenecks and the paper's flows: delay, utilisation, and the front of the laws of one queue.

The front is what the laws reach with targets of 1 ms to 20 ms, and what a mixture in time of any two of them
would: the least concave function above their points (mean delay, mean utilisation).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import trials
from trials import IS_LONG, Points, mean

import sojourn as sj
from sojourn.result.statistics import Estimate, estimate

SCENARIOS = {"sqm/scenario1": 0.90, "sqm/scenario2": 0.95}
LINK, RATE_MBPS = "r2-r3", 50
LAWS = {
    "codel": "codel:target={} ms",
    "pie": "pie:target={} ms",
    "pi2": "pi2:target={} ms",
    "fq_codel": "fq_codel:law.target={} ms",
}
TARGETS_MS = (1, 2, 3, 5, 7, 10, 15, 20) if IS_LONG else (5, 7)
FORM_PI = "sqm:form=pi"
SFQ_CODEL, PIE = "sfq_codel", "pie:target=5 ms"

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Trial:
    """A scenario under `sqm`, the laws swept, and `sfq_codel`."""

    name: str
    sqm: Points
    swept: dict[str, list[Points]]
    sfq_codel: Points

    @property
    def pie(self) -> Points:
        """PIE at the target of `sqm`."""
        return self.swept["pie"][TARGETS_MS.index(5)]


@pytest.fixture(scope="module", params=list(SCENARIOS))
def trial(request: pytest.FixtureRequest) -> Trial:
    specs = {law: [spec.format(target) for target in TARGETS_MS] for law, spec in LAWS.items()}
    qdiscs = ["sqm", FORM_PI, SFQ_CODEL, *(spec for several in specs.values() for spec in several)]
    found = trials.points(sj.load(request.param), qdiscs, RATE_MBPS, link=LINK)
    swept = {law: [found[spec] for spec in several] for law, several in specs.items()}
    one = Trial(request.param, found["sqm"], swept, found[SFQ_CODEL])
    show(found)
    return one


def show(found: dict[str, Points]) -> None:
    trials.show(
        ("qdisc", "utilisation", "backlog / C, ms", "its p99", "sojourn, ms", "its p99"),
        (
            (
                f"`{qdisc}`",
                f"{trials.spread(of, 'utilisation').mean:.3f} ± {trials.spread(of, 'utilisation').half:.3f}",
                f"{trials.spread(of, 'delay_ms').mean:.2f} ± {trials.spread(of, 'delay_ms').half:.2f}",
                *(f"{mean(of, name):.1f}" for name in ("delay_p99_ms", "sojourn_ms", "sojourn_p99_ms")),
            )
            for qdisc, of in found.items()
        ),
    )


def test_the_delay_is_the_target_and_the_link_is_used(trial: Trial) -> None:
    assert mean(trial.sqm, "delay_ms") == pytest.approx(5.0, abs=2.0)
    assert mean(trial.sqm, "utilisation") >= SCENARIOS[trial.name]


@pytest.mark.parametrize("law", [*LAWS, "all"])
def test_sqm_is_above_the_front(trial: Trial, law: str) -> None:
    """At the mean delay of `sqm` the front has less utilisation, seed by seed."""
    swept = [of for name, several in trial.swept.items() if law in {name, "all"} for of in several]
    margin = above(trial.sqm, swept)
    print(
        f"{trial.name}: above the front of {law} by {margin.mean:.4f}, {margin.low:.4f} to {margin.high:.4f}"
    )
    assert margin.mean > 0.0
    assert margin.low is not None
    assert margin.low > 0.0 or not IS_LONG


def above(sqm: Points, swept: list[Points]) -> Estimate:
    """Utilisation of `sqm` less that of the front at the same mean delay, over the seeds."""
    _, (less, more, part) = max(mixtures(mean(sqm, "delay_ms"), swept), key=lambda pair: pair[0])
    return estimate(
        [
            own.utilisation - (1 - part) * less[seed].utilisation - part * more[seed].utilisation
            for seed, own in sqm.items()
        ]
    )


def mixtures(delay_ms: float, swept: list[Points]) -> Iterator[tuple[float, tuple[Points, Points, float]]]:
    """Mixtures of two points that have this delay, each after its utilisation.

    If all points have more delay: the one with the least.
    """
    least = min(swept, key=lambda of: mean(of, "delay_ms"))
    if mean(least, "delay_ms") >= delay_ms:
        yield mean(least, "utilisation"), (least, least, 0.0)
    for less in swept:
        low = mean(less, "delay_ms")
        if low <= delay_ms:
            # More delay never has less utilisation on the front.
            yield mean(less, "utilisation"), (less, less, 0.0)
        for more in swept:
            high = mean(more, "delay_ms")
            if low < delay_ms < high:
                part = (delay_ms - low) / (high - low)
                utilisation = (1 - part) * mean(less, "utilisation") + part * mean(more, "utilisation")
                yield utilisation, (less, more, part)


def test_the_longest_backlogs_are_shorter_than_those_of_sfq_codel_and_pie(trial: Trial) -> None:
    own = mean(trial.sqm, "delay_p99_ms")
    assert own < mean(trial.sfq_codel, "delay_p99_ms")
    assert own < mean(trial.pie, "delay_p99_ms")


def test_the_front_of_two_points_is_the_line_between() -> None:
    def point(utilisation: float, delay_ms: float) -> Points:
        return {seed: trials.Point(utilisation, delay_ms, 0, 0, 0, 0, 0) for seed in (1, 2)}

    swept = [point(0.8, 2.0), point(0.9, 6.0), point(0.7, 3.0)]
    assert above(point(0.9, 4.0), swept).mean == pytest.approx(0.05)
    assert above(point(0.9, 1.0), swept).mean == pytest.approx(0.1)
    assert above(point(0.9, 8.0), swept).mean == pytest.approx(0.0)
