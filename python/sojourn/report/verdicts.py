"""The numbers in one sentence each. An order is claimed only where the seeds show it (`claims`).

Laws are ranked within a plant: `by_plant` gives a sentence for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from sojourn.report import claims
from sojourn.report.claims import Ranking
from sojourn.result import Arm, Result, words
from sojourn.result.agreement import Gap
from sojourn.result.statistics import Estimate
from sojourn.result.words import Column

#: Utilisations closer than this, in percentage points, count as equal.
BUSY_MARGIN = 1.0
#: A sentence names so many laws; of more it names the ends.
NAMED = 4

#: How a sentence of one plant begins, where there are several.
BEGINNINGS = {"fluid": "As a fluid", "packet": "Packet by packet"}


def by_plant(verdict: Callable[[Result], str], result: Result) -> str:
    """A verdict; of several plants one for each."""
    if len(result.plants) == 1:
        return verdict(result)
    bare = replace(result, series=result.series.clear(), distributions=result.distributions.clear())
    return " ".join(
        f"{BEGINNINGS.get(plant, plant)}: {verdict(bare.within(plant))}" for plant in result.plants
    )


def headline(result: Result) -> str:
    """The law with the lowest delay, and its price: utilisation, the delay of the slowest packets, loss."""
    busy = claims.ranking(result, words.UTILIZATION)
    delay = claims.ranking(result, words.SOJOURN)
    if not busy or not delay:
        return "The runs delivered no packets after the warm-up."
    if len(delay) == 1:
        return _alone(result, delay[0], busy[0][1])
    lowest = _least(result, delay, words.SOJOURN, name="mean delay", say=_time)
    parts = (lowest, _use(result, delay, busy), _tail(result, delay), _price(result, delay))
    return " ".join(part for part in parts if part)


def queue(result: Result) -> str:
    """The mean queues, and the steadiest of them."""
    called = words.arm_names(result)
    length = claims.ranking(result, words.QUEUE)
    swing = claims.ranking(result, words.QUEUE_STD)
    if not length or not swing:
        return "No queue was measured."
    if len(length) == 1:
        arm, found = length[0]
        return (
            f"{called[arm]} holds {_plain(found)} packets on average, "
            f"with a standard deviation of {_plain(swing[0][1])}."
        )
    listed = _listing(length, called, _packets)
    steadiest = _least(result, swing, words.QUEUE_STD, name="standard deviation", say=_packets)
    return f"Mean queue: {listed}. {steadiest}"


def delay(result: Result) -> str:
    """The delay that 95 of 100 packets do not exceed."""
    called = words.arm_names(result)
    found = claims.ranking(result, words.SOJOURN_P95)
    means = claims.ranking(result, words.SOJOURN)
    if found:
        return f"95 of 100 packets wait no longer than {_listing(found, called, _time)}."
    return f"The mean delay is {_listing(means, called, _time)}." if means else "No delay was measured."


def marks(result: Result) -> str:
    """The shares of packets that each law drops and marks."""
    drops = claims.ranking(result, words.DROPS)
    if not drops:
        return "No drops or marks were measured."
    if len(drops) > NAMED:
        marked = claims.ranking(result, words.MARKS)
        some = f"; marks: {_ends(result, marked)}" if marked and marked[-1][1].mean > 0 else ""
        return f"Drops: {_ends(result, drops)}{some}, of the packets offered."
    called = words.arm_names(result)
    parts = []
    for arm, dropped in drops:
        marked_by = words.scaled(result, arm, words.MARKS)
        and_marks = f" and marks {_percent(marked_by)}" if marked_by and marked_by.mean > 0 else ""
        parts.append(f"{called[arm]} drops {_share(dropped)}{and_marks}")
    return "; ".join(parts) + (" of the packets offered." if len(parts) == 1 else ", of the packets offered.")


def utilization(result: Result) -> str:
    """The share of the time that the link is busy."""
    found = claims.ranking(result, words.UTILIZATION)
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
    """The mean delays at several links, longest first."""
    seen = words.views(result)
    waits = {link: claims.ranking(view, words.SOJOURN) for link, view in seen if link is not None}
    found = sorted((pair for pair in waits.items() if pair[1]), key=lambda pair: -pair[1][-1][1].mean)
    if not found:
        return "The runs delivered no packets after the warm-up."
    parts = [f"{_from_to(ranked)} at {link}" for link, ranked in found[:NAMED]]
    rest = found[NAMED:]
    more = f"; at {len(rest)} other links at most {_time(rest[0][1][-1][1])}" if rest else ""
    return f"Mean delays at {len(result.links)} links: {_and(parts)}{more}."


def classes(result: Result) -> str:
    """The goodput of each class of traffic, and the time of its transfers."""
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
    """The mean queues of the fluid plant, against those of packets."""
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


def _alone(result: Result, delay: tuple[Arm, Estimate], busy: Estimate) -> str:
    """The measured figures of a single law."""
    arm, found = delay
    called = words.arm_names(result)
    lost = words.scaled(result, arm, words.DROPS)
    loss = f" and drops {_percent(lost)} of the packets" if lost and lost.mean > 0 else ""
    return f"{called[arm]} keeps the link {_percent(busy)} busy at a mean delay of {_time(found)}{loss}."


def _least(
    result: Result, ranked: Ranking, column: Column, *, name: str, say: Callable[[Estimate], str]
) -> str:
    """The law with the least of a metric; where others may have as little, the evidence that is missing."""
    called = words.arm_names(result)
    (arm, found), *others = ranked
    doubted = claims.rivals(result, ranked, column)
    if not doubted:
        return f"{called[arm]} has the lowest {name}: {say(found)}, against {_listing(others, called, say)}."
    rest = [pair for pair in others if pair not in doubted]
    evidence = _too_few(result, arm, doubted, column)
    behind = f"; the others have {_listing(rest, called, say)}" if rest else ""
    return (
        f"{called[arm]} has the lowest {name} measured, {say(found)}; {evidence} tell it apart from "
        f"{_listing(doubted, called, say)}{behind}."
    )


def _too_few(result: Result, arm: Arm, others: Ranking, column: Column) -> str:
    """The subject of a sentence on the seeds that do not show an order."""
    if not arm.seeded:
        return "one run does not"
    common = claims.common_seeds(result, arm, others, column)
    if common == 0:
        return "no seed has run under both, so that none can"
    return f"{common} seeds do not" if common > 1 else "one seed does not"


def _use(result: Result, delay: Ranking, busy: Ranking) -> str:
    """What the law with the lowest delay leaves of the link, and where a busier one stands."""
    called = words.arm_names(result)
    first, column = delay[0][0], words.UTILIZATION
    own, delays = dict(busy).get(first), dict(delay)
    if own is None:
        return ""
    others = [pair for pair in busy if pair[0] != first]
    top, most = others[-1]
    if all(claims.at_most(result, other, first, column, margin=BUSY_MARGIN) for other, _ in others):
        law = "the other" if len(others) == 1 else "any other"
        return f"It keeps the link as busy as {law}, within one percentage point: {_percent(own)}."
    if not claims.less(result, first, top, column):
        evidence = _too_few(result, first, [(top, most)], column)
        return (
            f"It keeps the link {_percent(own)} busy; {evidence} tell that apart from "
            f"{_percent(most)} under {called[top]}."
        )
    said = (
        f"It leaves more of the link unused: {_percent(own)} busy, "
        f"against {_percent(most)} under {called[top]} at a mean delay of {_time(delays[top])}."
    )
    near = (arm for arm, _ in delay if claims.at_most(result, top, arm, column, margin=BUSY_MARGIN))
    middle = next(near, top)
    if middle == top or not claims.less(result, middle, top, words.SOJOURN):
        return said
    return (
        f"{said[:-1]}; {called[middle]} comes within one percentage point of that at {_time(delays[middle])}."
    )


def _tail(result: Result, delay: Ranking) -> str:
    """The law under which nearly all packets wait less than under that with the lowest mean."""
    arm = delay[0][0]
    found = claims.ranking(result, words.SOJOURN_P95)
    own = dict(found).get(arm)
    if own is None or not claims.less(result, found[0][0], arm, words.SOJOURN_P95):
        return ""
    (best, least), called = found[0], words.arm_names(result)
    alone = len(found) > 2 and not claims.rivals(result, found, words.SOJOURN_P95)
    return (
        f"95 of 100 packets wait {'least' if alone else 'less'} under {called[best]}: "
        f"no longer than {_time(least)}, against {_time(own)} under {called[arm]}."
    )


def _price(result: Result, delay: Ranking) -> str:
    """The loss that the law with the lowest delay pays, or saves."""
    called, column = words.arm_names(result), words.DROPS
    arm = delay[0][0]
    losses = claims.ranking(result, column)
    own = dict(losses).get(arm)
    if own is None or len(losses) < 2 or not claims.less(result, arm, delay[-1][0], words.SOJOURN):
        return ""
    (least, lowest), (most, highest) = losses[0], losses[-1]
    if own.mean == 0:
        more = claims.less(result, arm, most, column)
        return f"It drops no packets, where {called[most]} drops {_percent(highest)}." if more else ""
    if least == arm:
        if claims.rivals(result, losses, column):
            return ""
        second, loss = losses[1]
        against = f"{_percent(loss)} under {called[second]}"
        return f"It also drops the fewest packets: {_percent(own)}, against {against}."
    if not claims.less(result, least, arm, column):
        return ""
    return (
        f"The price is loss: it drops {_percent(own)} of the packets, "
        f"where {called[least]} drops {_share(lowest)}."
    )


def _ends(result: Result, ranked: Ranking) -> str:
    """Such as ``none (pi) to 6.1 % (tail_drop)``."""
    called = words.arm_names(result)
    return " to ".join(f"{_share(found)} ({called[arm]})" for arm, found in (ranked[0], ranked[-1]))


def _listing(ranking: Ranking, called: dict[Arm, str], say: Callable[[Estimate], str]) -> str:
    """Such as ``149 ms under red and 220 ms under pi``; of many ``127 ms (pi) to 300 ms (tail_drop)``."""
    if len(ranking) > NAMED:
        return " to ".join(f"{say(found)} ({called[arm]})" for arm, found in (ranking[0], ranking[-1]))
    return _and([f"{say(found)} under {called[arm]}" for arm, found in ranking])


def _and(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _plain(found: Estimate) -> str:
    """The mean to three digits."""
    return _digits(found.mean)


def _packets(found: Estimate) -> str:
    return f"{_plain(found)} packets"


def _share(found: Estimate) -> str:
    """A percentage; ``none`` for nothing."""
    return _percent(found) if found.mean > 0 else "none"


def _percent(found: Estimate) -> str:
    if 0 < found.mean < 0.005:
        return "less than 0.01 %"
    digits = 2 if 0 < abs(found.mean) < 0.1 or abs(found.mean - 100) < 0.1 else 1
    return f"{found.mean:.{digits}f} %"


def _time(found: Estimate) -> str:
    """A mean in ms in the unit that fits it."""
    unit, scale = words.unit_for(abs(found.mean) / 1e3, words.TIMES[1:]) if found.mean else ("ms", 1.0)
    return f"{_digits(found.mean / 1e3 * scale)} {unit}"


def _digits(value: float) -> str:
    """Three digits."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
