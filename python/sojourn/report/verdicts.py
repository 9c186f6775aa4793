"""What the numbers say, in one sentence each. A difference is claimed only where the seeds show it.

Laws are ranked within a plant: `by_plant` says a sentence of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from sojourn.result import Arm, Result, words
from sojourn.result.agreement import Gap
from sojourn.result.statistics import Estimate
from sojourn.result.words import Column

#: A law that keeps the link this close to the busiest one, in percentage points, counts as equally busy.
BUSY_MARGIN = 1.0
#: A sentence names so many laws; of more it names the ends.
NAMED = 4

#: How a sentence of one plant begins, where there are several.
BEGINNINGS = {"fluid": "As a fluid", "packet": "Packet by packet"}

Ranking = list[tuple[Arm, Estimate]]


def by_plant(verdict: Callable[[Result], str], result: Result) -> str:
    """What a verdict says; of several plants it speaks of each."""
    if len(result.plants) == 1:
        return verdict(result)
    bare = replace(result, series=result.series.clear(), distributions=result.distributions.clear())
    return " ".join(
        f"{BEGINNINGS.get(plant, plant)}: {verdict(bare.within(plant))}" for plant in result.plants
    )


def headline(result: Result) -> str:
    """Which law does best on this link, and what it pays."""
    busy = _ranking(result, words.UTILIZATION)
    delay = _ranking(result, words.SOJOURN)
    if not busy or not delay:
        return "The runs delivered no packets after the warm-up."
    called = words.arm_names(result)
    if len(delay) == 1:
        arm, found = delay[0]
        lost = words.scaled(result, arm, words.DROPS)
        loss = f" and drops {_percent(lost)} of the packets" if lost else ""
        used = _percent(busy[0][1])
        return f"{called[arm]} keeps the link {used} busy at a mean delay of {_time(found)}{loss}."
    most = busy[-1][1].mean
    level = {arm for arm, found in busy if found.mean >= most - BUSY_MARGIN}
    rivals = [(arm, found) for arm, found in delay if arm in level]
    if len(rivals) == 1:
        first = _busiest(result, busy, rivals[0])
    else:
        first = _winner(result, rivals, everyone=len(level) == len(delay))
    parts = (first, _tail(result, rivals), _price(result, rivals))
    return " ".join(part for part in parts if part)


def queue(result: Result) -> str:
    """Who holds the shortest queue, and who the steadiest."""
    called = words.arm_names(result)
    length = _ranking(result, words.QUEUE)
    swing = _ranking(result, words.QUEUE_STD)
    if not length or not swing:
        return "No queue was measured."
    if len(length) == 1:
        arm, found = length[0]
        return (
            f"{called[arm]} holds {_plain(found)} packets on average, "
            f"with a standard deviation of {_plain(swing[0][1])}."
        )
    listed = _listing(length, called, lambda found: f"{_plain(found)} packets")
    if not _apart(result, swing[0][0], swing[1][0], words.QUEUE_STD):
        return f"Mean queue: {listed}. How steady they are cannot be told apart."
    arm, found = swing[0]
    worst = swing[-1]
    return (
        f"Mean queue: {listed}. {called[arm]} is the steadiest, with a standard deviation of "
        f"{_plain(found)} packets; {called[worst[0]]} swings most, with {_plain(worst[1])}."
    )


def delay(result: Result) -> str:
    """How long nearly all packets wait."""
    called = words.arm_names(result)
    found, means = _ranking(result, words.SOJOURN_P95), _ranking(result, words.SOJOURN)
    if found:
        return f"95 of 100 packets wait no longer than {_listing(found, called, _time)}."
    return f"The mean delay is {_listing(means, called, _time)}." if means else "No delay was measured."


def marks(result: Result) -> str:
    """How many packets each law drops and marks."""
    called = words.arm_names(result)
    parts = []
    for arm, drops in _ranking(result, words.DROPS):
        marked = words.scaled(result, arm, words.MARKS)
        and_marks = f" and marks {_percent(marked)}" if marked is not None and marked.mean > 0 else ""
        dropped = _percent(drops) if drops.mean > 0 else "none"
        parts.append(f"{called[arm]} drops {dropped}{and_marks}")
    if not parts:
        return "No drops or marks were measured."
    if len(parts) > NAMED:
        parts = [parts[0], parts[-1]]
    return "; ".join(parts) + (" of the packets offered." if len(parts) == 1 else ", of the packets offered.")


def utilization(result: Result) -> str:
    """How busy the link is kept."""
    found = _ranking(result, words.UTILIZATION)
    if not found or found[-1][1].mean == 0:
        return "Nothing was sent after the warm-up." if found else "No utilisation was measured."
    called = words.arm_names(result)
    (worst, low), (_, high) = found[0], found[-1]
    if len(found) == 1:
        return f"{called[worst]} keeps the link {_percent(low)} busy."
    if low.mean >= 99.95:
        return "Every law keeps the link busy all the time."
    if high.mean < BUSY_MARGIN:
        return f"Every law leaves the link all but idle: it is busy {_percent(high)} of the time at most."
    if high.mean - low.mean < BUSY_MARGIN:
        return f"Every law keeps the link at least {math.floor(low.mean * 10) / 10:.1f} % busy."
    return f"The link is kept busy {_listing(found, called, lambda one: f'{_percent(one)} of the time')}."


def links(result: Result) -> str:
    """Where packets wait longest, of several links."""
    seen = words.views(result)
    waits = {link: _ranking(view, words.SOJOURN) for link, view in seen if link is not None}
    found = sorted((pair for pair in waits.items() if pair[1]), key=lambda pair: -pair[1][-1][1].mean)
    if not found:
        return "The runs delivered no packets after the warm-up."
    parts = [f"{_from_to(ranking)} at {link}" for link, ranking in found[:NAMED]]
    more = f"; at {len(found) - NAMED} other links less" if len(found) > NAMED else ""
    return f"Packets queue at {len(result.links)} links. On average they wait {_and(parts)}{more}."


def classes(result: Result) -> str:
    """What each class of traffic got, and how long its transfers took."""
    parts = []
    for name in result.classes[:NAMED]:
        said = [f"{name} gets {_of_class(result, name, words.GOODPUT)}"]
        times = _of_class(result, name, words.COMPLETION)
        if times:
            said.append(f"its transfers take {times} on average")
        parts.append(", and ".join(said))
    more = len(result.classes) - NAMED
    return "; ".join(parts) + (f"; {more} more below." if more > 0 else ".")


def agreement(gaps: list[Gap], called: dict[str, str]) -> str:
    """How long the queues are in the fluid plant, against those of packets."""
    found = [gap for gap in gaps if gap.column.metric == words.QUEUE.metric]
    pairs = [
        f"{_plain(gap.fluid)} against {_plain(gap.packet)} packets under {called[gap.disc]}" for gap in found
    ]
    return f"Mean queue, as a fluid and packet by packet: {_and(pairs[:NAMED])}." if pairs else ""


def _of_class(result: Result, name: str, column: Column) -> str:
    """Such as ``5.1 Mbit/s under pi and 5.6 Mbit/s under red``; empty where the metric does not apply."""
    column = words.fitted(result, column, (name,))
    found = [(arm, words.scaled(result, arm, column, name)) for arm in result.arms]
    applies = sorted(((arm, one) for arm, one in found if one is not None), key=lambda pair: pair[1].mean)

    def say(one: Estimate) -> str:
        return f"{_plain(one)} {column.unit}"

    if len(result.arms) == 1:
        return say(applies[0][1]) if applies else ""
    return _listing(applies, words.arm_names(result), say) if applies else ""


def _from_to(ranking: Ranking) -> str:
    """Such as ``20 ms``, or ``20 ms to 80 ms`` where the laws differ."""
    least, most = _time(ranking[0][1]), _time(ranking[-1][1])
    return least if least == most else f"{least} to {most}"


def _busiest(result: Result, busy: Ranking, delay: tuple[Arm, Estimate]) -> str:
    """The law that keeps the link busier than every other, at which delay."""
    called = words.arm_names(result)
    arm, found = delay
    said = (
        f"{called[arm]} keeps the link busier than every other law, by more than one percentage point, "
        f"at a mean delay of {_time(found)}"
    )
    second = busy[-2][0]
    if _apart(result, arm, second, words.UTILIZATION):
        return f"{said}."
    return f"{said}; but {_undecided(result, arm, second)} tell it and {called[second]} apart."


def _winner(result: Result, rivals: Ranking, *, everyone: bool) -> str:
    """The law with the lowest delay among `rivals`, which are about equally busy."""
    called = words.arm_names(result)
    arm, found = rivals[0]
    among = (
        "All laws keep the link about equally busy; "
        if everyone
        else "Among the laws that keep the link busiest, "
    )
    close = [rival for rival in rivals[1:] if not _apart(result, arm, rival[0], words.SOJOURN)]
    if close:
        second, next_found = close[0]
        both, delays = f"{called[arm]} and {called[second]}", f"{_time(found)} and {_time(next_found)}"
        return f"{among}{_undecided(result, arm, second)} tell {both} apart on delay ({delays} on average)."
    others = _listing(rivals[1:], called, _time)
    return f"{among}{called[arm]} has the lowest delay: {_time(found)} on average, against {others}."


def _undecided(result: Result, arm: Arm, other: Arm) -> str:
    """How many seeds, which both laws have run under, do not show who is ahead."""
    if not arm.seeded:
        return "one run does not"
    common = words.difference_to(result, arm, other.disc, words.SOJOURN)
    if common is None:
        return "no seed has run under both, so that none can"
    return f"{common.n} seeds do not" if common.n > 1 else "one seed does not"


def _tail(result: Result, rivals: Ranking) -> str:
    """Under whom nearly all packets wait less, where that is not the law with the lowest mean."""
    arm = rivals[0][0]
    level = {rival for rival, _ in rivals}
    found = [pair for pair in _ranking(result, words.SOJOURN_P95) if pair[0] in level]
    if len(found) < 2 or found[0][0] == arm or not _apart(result, arm, found[0][0], words.SOJOURN_P95):
        return ""
    (best, least), own = found[0], dict(found).get(arm)
    called = words.arm_names(result)
    against = f", against {_time(own)} under {called[arm]}" if own is not None else ""
    most = f"95 of 100 no longer than {_time(least)}{against}"
    return f"Nearly all packets wait least under {called[best]}: {most}."


def _price(result: Result, rivals: Ranking) -> str:
    """What the law with the lowest delay pays, or saves, in lost packets."""
    called = words.arm_names(result)
    arm = rivals[0][0]
    losses = _ranking(result, words.DROPS)
    own = dict(losses).get(arm)
    if own is None or len(losses) < 2 or not _apart(result, arm, rivals[-1][0], words.SOJOURN):
        return ""
    least, lowest = losses[0]
    lost = _percent(own)
    most, highest = losses[-1]
    if own.mean == 0 and highest.mean > 0:
        return f"It drops no packets, where {called[most]} drops {_percent(highest)}."
    if least == arm:
        second, loss = losses[1]
        if not _apart(result, arm, second, words.DROPS):
            return ""
        return f"It also drops the fewest packets: {lost}, against {_percent(loss)} under {called[second]}."
    if not _apart(result, arm, least, words.DROPS):
        return ""
    other = _percent(lowest) if lowest.mean > 0 else "none"
    return f"The price is loss: it drops {lost} of the packets, where {called[least]} drops {other}."


def _ranking(result: Result, column: Column) -> Ranking:
    """The laws to which the metric applies, lowest first."""
    found = [(arm, words.scaled(result, arm, column)) for arm in result.arms]
    applies = [(arm, estimate) for arm, estimate in found if estimate is not None]
    return sorted(applies, key=lambda pair: pair[1].mean)


def _apart(result: Result, left: Arm, right: Arm, column: Column) -> bool:
    """Whether two laws differ by more than chance."""
    return words.differs(result, left, right.disc, column)


def _listing(ranking: Ranking, called: dict[Arm, str], say: Callable[[Estimate], str]) -> str:
    """Such as ``149 ms under red and 220 ms under pi``; of many ``127 ms (pi) to 300 ms (tail_drop)``."""
    if len(ranking) > NAMED:
        return " to ".join(f"{say(found)} ({called[arm]})" for arm, found in (ranking[0], ranking[-1]))
    return _and([f"{say(found)} under {called[arm]}" for arm, found in ranking])


def _and(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _plain(found: Estimate) -> str:
    """The mean to three digits."""
    return f"{found.mean:.0f}" if abs(found.mean) >= 100 else f"{found.mean:.3g}"


def _percent(found: Estimate) -> str:
    if 0 < found.mean < 0.005:
        return "less than 0.01 %"
    digits = 2 if 0 < abs(found.mean) < 0.1 or abs(found.mean - 100) < 0.1 else 1
    return f"{found.mean:.{digits}f} %"


def _time(found: Estimate) -> str:
    """A mean in ms in the unit that fits it."""
    unit, scale = words.unit_for(abs(found.mean) / 1e3, words.TIMES[1:]) if found.mean else ("ms", 1.0)
    value = found.mean / 1e3 * scale
    return f"{value:.{0 if value >= 10 else 1}f} {unit}"
