"""What users notice: the quality of calls, waits for answers and pages, RPM, and rates of transfers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sojourn.result import Result, metrics, words
from sojourn.result.calls import quality
from sojourn.result.column import Column
from sojourn.result.qoo import of_classes
from sojourn.result.traffic import app_of

#: Name of the completion time of an application, where it has one of its own.
TIMES = {"game": "lag", "web": "page load", "video": "segment"}

#: Median of the round trips.
RTT_P50_S = replace(metrics.RTT_P95_S, metric="rtt_p50_s", short="round trip p50")
#: A round trip in a hundred is longer.
RTT_P99_S = replace(metrics.RTT_P95_S, metric="rtt_p99_s", short="round trip p99")
#: Round trips of pings and their names.
PINGS = ((RTT_P50_S, "p50 ping"), (metrics.RTT_P95_S, "p95 ping"), (RTT_P99_S, "p99 ping"))


@dataclass(frozen=True)
class Experience:
    """One metric of one class that its users notice."""

    traffic_class: str
    column: Column
    #: Such as ``page load``.
    noun: str
    #: True if more of it is better.
    more: bool = False
    #: Value of an idle network, in the unit of the column.
    idle: float | None = None

    @property
    def title(self) -> str:
        """Such as ``web: page load, s``."""
        return f"{self.traffic_class}: {self.noun}{f', {self.column.unit}' if self.column.unit else ''}"

    @property
    def is_wait(self) -> bool:
        """True for calls and waits, as opposed to rates of transfers."""
        return self.column.metric != metrics.GOODPUT_BPS.metric

    def remark(self, value: float) -> str:
        """Remark on a value: of calls their mean opinion score and category; else empty."""
        return quality(value) if self.column.metric == metrics.R_FACTOR.metric else ""

    @property
    def better(self) -> str:
        """The better direction."""
        return "more is better" if self.more else "less is better"


def experiences(result: Result) -> list[Experience]:
    """What the users of each class notice, first calls and waits; empty without any of these.

    Transfers that end by themselves, such as those of mice, count as answers only if a person waits for them:
    of games, pages and video. Of several classes of pings, such as those of RRUL, the first counts.
    """
    apps = {str(group.get("name")): app_of(group)[0] for group in result.scenario.get("flows") or []}
    pings = [name for name in apps if apps[name] == "ping"]
    known = [name for name in apps if name in result.classes and name not in pings[1:]]
    found = [one for name in known for one in _of_class(result, name, apps[name])]
    waits, rates = [one for one in found if one.is_wait], [one for one in found if not one.is_wait]
    return [*waits, *rates] if waits else []


def outcomes(result: Result) -> list[Experience]:
    """Quality of Outcome of each class whose application has requirements."""
    known = [name for name in of_classes(result.scenario) if name in result.classes]
    return [one for name in known if name for one in _measured(result, name, metrics.QOO, "QoO", more=True)]


def _of_class(result: Result, name: str, app: str) -> Iterator[Experience]:
    if app == "voip":
        yield from _measured(result, name, metrics.R_FACTOR, "R-factor", more=True)
        yield from _measured(result, name, metrics.ONE_WAY_P95_S, "p95 delay")
    elif app == "game":
        yield from _measured(result, name, metrics.FCT_P95_S, f"p95 {TIMES[app]}")
    elif app == "ping":
        for column, noun in PINGS:
            for one in _measured(result, name, column, noun):
                yield replace(one, idle=_idle(result, name, one.column))
        yield from _measured(result, name, metrics.PING_RPM, "ping-RPM", more=True)
    elif app in TIMES:
        yield from _measured(result, name, metrics.FCT_MEAN_S, TIMES[app])
        yield from _measured(result, name, metrics.STALL_RATIO, "stalls")
    elif app == "rpm":
        yield from _measured(result, name, metrics.RESPONSIVENESS_RPM, "RPM", more=True)
    elif app == "bulk":
        yield from _measured(result, name, metrics.GOODPUT_BPS, "goodput", more=True)


def _measured(
    result: Result, name: str, column: Column, noun: str, *, more: bool = False
) -> Iterator[Experience]:
    """The experience in a fitting unit, if any run measured it."""
    if any(words.scaled(result, variant, column, name) for variant in result.variants):
        yield Experience(name, words.fitted(result, column, (name,)), noun, more)


def _idle(result: Result, name: str, column: Column) -> float | None:
    """Round trip of a class of pings without queues, in the unit of a column; the same under every qdisc."""
    of = replace(column, metric="rtt_idle_s")
    found = (words.scaled(result, one, of, name) for one in result.variants)
    return next((one.mean for one in found if one is not None), None)
