"""The headline: the qdisc with the lowest delay, and its price."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.report import claims, wording
from sojourn.report.claims import Comparison
from sojourn.result import Result, Variant, metrics, words
from sojourn.result.statistics import Estimate

#: Utilisations closer than this, in percentage points, count as equal.
BUSY_MARGIN = 1.0

NO_PACKETS = "The runs delivered no packets after the warm-up."


def headline(result: Result) -> str:
    """The qdisc with the lowest delay, and its price: utilisation, the delay of the slowest packets, loss."""
    delay = claims.compare(result, metrics.SOJOURN_MEAN_S)
    if not delay.ranked:
        return NO_PACKETS
    busy, tail, drops = (
        claims.compare(result, column, among=delay)
        for column in (metrics.UTILIZATION, metrics.SOJOURN_P95_S, metrics.DROP_RATIO)
    )
    names = words.variant_names(result)
    found = _Headline(names, delay, busy, tail, drops)
    if len(delay.ranked) == 1:
        parts = [found.alone()]
    elif all(mean.mean == 0 for _, mean in delay.ranked):
        parts = ["No packet waits under any qdisc."]
    elif not delay.seeds:
        parts = [f"Mean delay: {wording.listing(delay.ranked, names, wording.time)}."]
    else:
        lowest = wording.least(delay, names, "mean delay", wording.time)
        # The last sentence is on another qdisc.
        parts = [lowest, found.use(), found.price(), found.slowest()]
    idle = [names[variant] for variant in result.variants if variant not in delay.means]
    return wording.joined(*parts, _no_packets(idle), wording.common_seeds(delay, busy, tail, drops))


@dataclass(frozen=True)
class _Headline:
    """Sentences on the qdisc with the lowest mean delay, ``it`` in all but `slowest`."""

    names: dict[Variant, str]
    delay: Comparison
    busy: Comparison
    tail: Comparison
    drops: Comparison

    @property
    def first(self) -> Variant:
        """The qdisc with the lowest mean delay."""
        return self.delay.ranked[0][0]

    @property
    def also(self) -> str:
        """The word before a second superlative, if the first is one."""
        return "" if self.delay.rivals() else "also "

    def alone(self) -> str:
        """Measured figures of the only qdisc that delivered packets."""
        name, wait = self.names[self.first], wording.time(self.delay.means[self.first])
        used, lost = self.busy.means.get(self.first), self.drops.means.get(self.first)
        loss = f" and drops {wording.percent(lost)} of the packets" if lost and lost.mean > 0 else ""
        if used is None:
            return f"{name} has a mean delay of {wait}{loss}."
        return f"{name} keeps the link {wording.percent(used)} busy at a mean delay of {wait}{loss}."

    def use(self) -> str:
        """Its utilisation, beside that of the others."""
        busy, first = self.busy, self.first
        others = [pair for pair in busy.ranked if pair[0] != first]
        if first not in busy.means or not others or not busy.seeds:
            return ""
        own = busy.means[first]
        text = wording.percent(own)
        if all(busy.alike(first, other, margin=BUSY_MARGIN) for other, _ in others):
            any_other = "the other" if len(others) == 1 else "any other"
            return f"It keeps the link as busy as {any_other}, within one percentage point: {text}."
        doubted = [pair for pair in others if not busy.less(pair[0], first)]
        if not doubted:
            form = wording.distinguishing(wording.percent, own, others)
            rest = wording.listing(others, self.names, form)
            busiest = "busier" if len(others) == 1 else "busiest"
            return f"It {self.also}keeps the link {busiest}: {form(own)}, against {rest}."
        if all(busy.at_most(other, first, margin=BUSY_MARGIN) for other, _ in others):
            return (
                "No qdisc keeps the link busier by more than one percentage point: "
                f"it is {text} busy under {self.names[first]}."
            )
        top, most = others[-1]
        if busy.less(first, top):
            return self._unused(top, own, most)
        rival, near = doubted[-1]
        return (
            f"It keeps the link {text} busy; {wording.too_few(busy)} distinguish that from "
            f"{wording.percent(near)} under {self.names[rival]}."
        )

    def _unused(self, top: Variant, own: Estimate, most: Estimate) -> str:
        """The trade-off between delay and utilisation, and a qdisc between its ends."""
        form = wording.distinguishing(wording.percent, own, [(top, most)])
        text = (
            f"It leaves more of the link unused: {form(own)} busy, against {form(most)} "
            f"under {self.names[top]} at a mean delay of {wording.time(self.delay.means[top])}"
        )
        for variant, wait in self.delay.ranked:
            near = variant in self.busy.means and self.busy.at_most(top, variant, margin=BUSY_MARGIN)
            if near and variant not in (self.first, top) and self.delay.less(variant, top):
                middle = f"{self.names[variant]} comes within one percentage point of that"
                return f"{text}; {middle} at {wording.time(wait)}."
        return f"{text}."

    def slowest(self) -> str:
        """The qdisc with a lower p95 delay than the one with the lowest mean."""
        tail, first = self.tail, self.first
        if first not in tail.means:
            return ""
        (best, least), own = tail.ranked[0], tail.means[first]
        if not tail.less(best, first):
            return ""
        lowest = "the lower" if len(tail.ranked) == 2 else "a lower" if tail.rivals() else "the lowest"
        form = wording.distinguishing(wording.time, least, [(first, own)])
        against = f"against {form(own)} under {self.names[first]}"
        return f"{self.names[best]} has {lowest} p95 delay: {form(least)}, {against}."

    def price(self) -> str:
        """The loss that the qdisc with the lowest delay pays, or saves."""
        drops, first = self.drops, self.first
        if first not in drops.means or len(drops.ranked) < 2:
            return ""
        own, least = drops.means[first], drops.ranked[0][0]
        if own.mean == 0 or least == first:
            return self._saved(own)
        if not drops.less(least, first):
            return ""
        most = drops.ranked[-1][0]
        if drops.less(first, most):
            ends = [(variant, drops.means[variant]) for variant in (least, most)]
            form = wording.distinguishing(wording.share, own, ends)
            more, fewer = (f"{self.names[variant]} ({form(mean)})" for variant, mean in ends)
            return f"It drops {form(own)} of the packets, more than {more} and fewer than {fewer}."
        form = wording.distinguishing(wording.share, own, [(least, drops.means[least])])
        fewer = f"{self.names[least]} drops {form(drops.means[least])}"
        if self.delay.less(first, least):
            return f"The price is loss: it drops {form(own)} of the packets, where {fewer}."
        return f"It drops more of the packets: {form(own)}, where {fewer}."

    def _saved(self, own: Estimate) -> str:
        """Loss of a qdisc that has the least, or none."""
        drops, first = self.drops, self.first
        if own.mean == 0:
            most, highest = drops.ranked[-1]
            if not drops.less(first, most):
                return ""
            return f"It drops no packets, where {self.names[most]} drops {wording.percent(highest)}."
        if drops.rivals():
            return ""
        others = drops.ranked[1:]
        form = wording.distinguishing(wording.percent, own, others)
        fewest = "fewer" if len(others) == 1 else "the fewest"
        rest = wording.listing(others, self.names, form)
        return f"It {self.also}drops {fewest} packets: {form(own)}, against {rest}."


def _no_packets(idle: list[str]) -> str:
    """The qdiscs that delivered nothing, beside others that did."""
    if not idle:
        return ""
    qdiscs = wording.both(idle) if len(idle) <= wording.NAMED else wording.counted(len(idle), "qdisc")
    return f"No packets were delivered after the warm-up under {qdiscs}."
