"""The numbers as sentences: means, and orders and bounds if the seeds show them (`claims`).

Qdiscs are compared within a plant, over the seeds under which every qdisc has the metric: `by_plant` gives a
sentence for each plant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sojourn.report import answer, claims, users, wording
from sojourn.report.claims import Comparison, Ranking
from sojourn.report.headline import BUSY_MARGIN, NO_PACKETS, headline
from sojourn.report.service import service
from sojourn.report.wording import NAMED
from sojourn.result import Result, metrics, words
from sojourn.result.agreement import Gap
from sojourn.result.column import Column
from sojourn.result.statistics import Estimate

__all__ = [
    "agreement",
    "by_plant",
    "classes",
    "delay",
    "headline",
    "links",
    "marks",
    "mean_delay",
    "opening",
    "plants",
    "queue",
    "shares",
    "utilization",
]

#: Beginning of a sentence on one plant, if there are several.
BEGINNINGS = {"fluid": "As a fluid", "packet": "Packet by packet", "live": "Live"}


def by_plant(verdict: Callable[[Result], str], result: Result) -> str:
    """A verdict, or one for each of several plants."""
    if len(result.plants) == 1:
        return verdict(result)
    return " ".join(f"{BEGINNINGS.get(plant, plant)}: {verdict(view)}" for plant, view in plants(result))


def plants(result: Result) -> Iterator[tuple[str, Result]]:
    """Each plant with its rows, without samples where there are several."""
    if len(result.plants) == 1:
        yield result.plants[0], result
        return
    bare = replace(result, series=result.series.clear(), distributions=result.distributions.clear())
    yield from ((plant, bare.for_plant(plant)) for plant in result.plants)


def opening(result: Result, baseline: str) -> str:
    """The first sentences: what users notice against `baseline`, or the answer, or delays of each link."""
    sentences = answer.sentences if len(result.links) == 1 else links
    if not users.applies(result):
        return by_plant(sentences, result)

    def noticed(one: Result) -> str:
        found = service(one)
        changed = users.headline(one, baseline)
        # A fluid has neither calls nor pages.
        return sentences(one) if found is None else wording.joined(found.sentence, changed)

    return by_plant(noticed, result)


def queue(result: Result) -> str:
    """Mean queues, and the steadiest of them."""
    names = words.variant_names(result)
    length = claims.compare(result, metrics.QUEUE_MEAN_PACKETS)
    swing = claims.compare(result, metrics.QUEUE_STD_PACKETS, among=length)
    if not length.ranked or not swing.ranked:
        return "No queue was measured."
    if len(length.ranked) == 1:
        variant, found = length.ranked[0]
        return (
            f"{names[variant]} holds {wording.plain(found)} packets on average, "
            f"with a standard deviation of {wording.plain(swing.means[variant])}."
        )
    text = f"Mean queue: {wording.listing(length.ranked, names, wording.packets)}."
    if swing.seeds and len(swing.ranked) > 1:
        text += f" {wording.least(swing, names, 'standard deviation', wording.packets)}"
    return wording.joined(text, wording.common_seeds(length, swing))


def delay(result: Result) -> str:
    """The p95 delays."""
    return _delay(result, ((metrics.SOJOURN_P95_S, "p95"), (metrics.SOJOURN_MEAN_S, "mean")))


def mean_delay(result: Result) -> str:
    """The mean delays."""
    return _delay(result, ((metrics.SOJOURN_MEAN_S, "mean"),))


def _delay(result: Result, quantities: Sequence[tuple[Column, str]]) -> str:
    """The first of these delays that was measured."""
    names = words.variant_names(result)
    for column, name in quantities:
        found = claims.compare(result, column)
        if found.ranked:
            text = f"The {name} delay is {wording.listing(found.ranked, names, wording.time)}."
            return wording.joined(text, wording.common_seeds(found))
    return "No delay was measured."


def marks(result: Result) -> str:
    """Shares of packets that each qdisc drops and marks."""
    drops = claims.compare(result, metrics.DROP_RATIO)
    marked = claims.compare(result, metrics.MARK_RATIO, among=drops)
    if not drops.ranked:
        return "No drops or marks were measured."
    names = words.variant_names(result)
    some = bool(marked.ranked) and marked.ranked[-1][1].mean > 0
    if len(drops.ranked) > NAMED:
        marks_too = f"; marks: {wording.ends(marked.ranked, names, wording.share)}" if some else ""
        text = (
            f"Drops: {wording.ends(drops.ranked, names, wording.share)}{marks_too}, of the packets offered."
        )
        return wording.joined(text, wording.common_seeds(drops, marked))
    parts = []
    for variant, dropped in drops.ranked:
        own = marked.means.get(variant)
        and_marks = f" and marks {wording.percent(own)}" if own is not None and own.mean > 0 else ""
        parts.append(f"{names[variant]} drops {wording.share(dropped)}{and_marks}")
    text = "; ".join(parts) + (" of the packets offered." if len(parts) == 1 else ", of the packets offered.")
    return wording.joined(text, wording.common_seeds(drops, marked))


def utilization(result: Result) -> str:
    """Share of the time that the link is busy."""
    found = claims.compare(result, metrics.UTILIZATION)
    if not found.ranked:
        return "No utilisation was measured."
    return wording.joined(_busy(result, found), wording.common_seeds(found))


def shares(_result: Result) -> str:
    """The charts of shares by utility, which have no metric."""
    return (
        "A qdisc that shares its link by utility: what its shares lost against the best fixed ones in "
        "hindsight, their utility in each period, and the price at which the flows demand them."
    )


def links(result: Result) -> str:
    """Mean delays at several links, longest first."""
    seen = words.views(result)
    waits = {link: claims.compare(view, metrics.SOJOURN_MEAN_S) for link, view in seen if link is not None}
    found = sorted(
        ((link, wait) for link, wait in waits.items() if wait.ranked),
        key=lambda pair: -pair[1].ranked[-1][1].mean,
    )
    if not found:
        return NO_PACKETS
    parts = [f"{_from_to(wait.ranked)} at {link}" for link, wait in found[:NAMED]]
    if rest := [pair for _, wait in found[NAMED:] for pair in wait.ranked]:
        others = wording.counted(len(found) - NAMED, "other link")
        parts.append(f"{_from_to(sorted(rest, key=lambda pair: pair[1].mean))} at {others}")
    text = f"Mean delays at {wording.counted(len(found), 'link')}: {wording.both(parts)}"
    if empty := [link for link in waits if not waits[link].ranked]:
        idle = wording.both(empty) if len(empty) <= NAMED else wording.counted(len(empty), "link")
        text += f"; no packets at {idle}"
    text += "."
    return wording.joined(text, wording.common_seeds(*(wait for _, wait in found)))


def classes(result: Result) -> str:
    """Goodput of each class of traffic, and the time of its transfers."""
    parts, comparisons = [], []
    for name in result.classes[:NAMED]:
        goodput, times = (
            claims.compare(result, words.fitted(result, column, (name,)), name)
            for column in (metrics.GOODPUT_BPS, metrics.FCT_MEAN_S)
        )
        facts = [f"{name} gets {_of_class(result, goodput)}"] if goodput.ranked else []
        if times.ranked:
            whose = "its completed transfers" if facts else f"completed transfers of {name}"
            facts.append(f"{whose} take {_of_class(result, times)} on average")
        parts += [", and ".join(facts)] if facts else []
        comparisons += [goodput, times]
    more = len(result.classes) - NAMED
    text = "; ".join(parts) + (f"; {more} more below." if more > 0 else ".")
    return wording.joined(text, wording.common_seeds(*comparisons)) if parts else "No goodput was measured."


def agreement(gaps: list[Gap], names: dict[str, str]) -> str:
    """Mean queues of the fluid plant, against those of packets."""
    found = [gap for gap in gaps if gap.column.metric == metrics.QUEUE_MEAN_PACKETS.metric]
    pairs = [
        f"{wording.plain(gap.fluid)} against {wording.plain(gap.packet)} packets under {names[gap.qdisc]}"
        for gap in found
    ]
    more = f"; {len(pairs) - NAMED} more below" if len(pairs) > NAMED else ""
    return (
        f"Mean queue, as a fluid and packet by packet: {wording.both(pairs[:NAMED])}{more}." if pairs else ""
    )


def _busy(result: Result, found: Comparison) -> str:
    names = words.variant_names(result)
    (variant, low), (_, high) = found.ranked[0], found.ranked[-1]
    if high.mean == 0:
        return "Nothing was sent after the warm-up."
    if len(found.ranked) == 1:
        return f"{names[variant]} keeps the link {wording.percent(low)} busy."
    if min(value for values in found.values.values() for value in values.values()) >= 100 - wording.ROUNDING:
        return "Every qdisc keeps the link busy all the time."
    ends = [found.interval(variant) for variant in found.means]
    least = min((end[0] for end in ends if end is not None), default=0.0)
    most = max((end[1] for end in ends if end is not None), default=100.0)
    if None not in ends and most < BUSY_MARGIN:
        bound = math.ceil(most * 100 - 1e-6) / 100
        idle = f"on average it is busy {bound:.2f} % of the time at most"
        return f"Every qdisc leaves the link all but idle: {idle}."
    if None not in ends and high.mean - least < BUSY_MARGIN:
        bound = math.floor(least * 10 + 1e-6) / 10
        return f"On average every qdisc keeps the link at least {bound:.1f} % busy."
    return f"The link is kept busy {wording.listing(found.ranked, names, wording.of_the_time)}."


def _of_class(result: Result, found: Comparison) -> str:
    """Text such as ``5.1 Mbit/s under pi and 5.6 Mbit/s under red``."""

    def form(one: Estimate, further: int = 0) -> str:
        return f"{wording.plain(one, further)} {found.column.unit}"

    if len(result.variants) == 1:
        return form(found.ranked[0][1])
    return wording.listing(found.ranked, words.variant_names(result), form)


def _from_to(ranking: Ranking) -> str:
    """Range such as ``20 ms``, or ``20 ms to 80 ms`` if the qdiscs differ."""
    least, most = wording.time(ranking[0][1]), wording.time(ranking[-1][1])
    return least if least == most else f"{least} to {most}"
