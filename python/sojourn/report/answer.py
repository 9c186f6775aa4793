"""The answer of a comparison: the qdisc that serves best by one rule, and what other demands would choose.

The rule: of the qdiscs that use the link nearly as much as the busiest, the one of the lowest p95 delay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sojourn.report import claims, headline, wording
from sojourn.report.claims import Comparison, Ranking
from sojourn.result import Result, Variant, metrics, words
from sojourn.result.statistics import Estimate

#: Name of the qdisc that the rule chooses; where the page is about what users notice, it is this one.
CALLED, CALLED_BESIDE_USERS = "best here", "least delay here"
#: Utilisation below which a link is not busy under any qdisc, %: the answer names it.
LOW = 90.0
#: Largest share of the highest utilisation that the best qdisc may leave unused, %.
SLACK = 5.0
#: Least utilisation, and largest share of dropped packets, of further demands, %.
BUSY, LOSS = 99.0, 1.0
#: Most qdiscs named in place of one that the seeds do not distinguish from them.
MOST_TIED = 3
#: Most others whose delays are listed one by one.
MOST_LISTED = 2
#: Largest relative difference that rounding explains.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Row:
    """A demand and the qdiscs of the lowest p95 delay that meet it: one, or those not distinguished."""

    #: The demand, or several that the same qdisc meets best.
    label: str
    tied: tuple[Variant, ...]
    name: str
    delay: str
    use: str
    loss: str

    @property
    def phrase(self) -> str:
        """The row in words."""
        loss = f", drops {self.loss}" if self.loss else ""
        label = self.label[:1].lower() + self.label[1:]
        return f"{label}: {self.name}, p95 delay {self.delay}, link {self.use} busy{loss}"


@dataclass(frozen=True)
class Answer:
    """The best qdisc, why, and the rows of all demands, its own first."""

    #: Such as ``Best here is pie``.
    lead: str
    why: str
    #: Sentences on its loss, and on less delay where the rule does not allow it; may be empty.
    price: str
    #: Sentences on what the seeds leave open.
    doubts: str
    rows: tuple[Row, ...]

    @property
    def sentences(self) -> str:
        """All of it in words, but for the use and the drops of its own row; the others are one sentence."""
        rest = "; ".join(row.phrase for row in self.rows[1:])
        rest = rest[:1].upper() + rest[1:]
        return wording.joined(
            f"{self.lead}: {self.why}.", self.price, self.doubts, f"{rest}." if rest else ""
        )


def sentences(result: Result) -> str:
    """The answer in words; the headline where no delays can be compared."""
    found = answer(result)
    return headline.headline(result) if found is None else found.sentences


def answer(result: Result, called: str = CALLED) -> Answer | None:
    """The answer in one plant; None where no p95 delays of two qdiscs or more can be compared.

    `called` names the qdisc that it chooses.
    """
    delay = claims.compare(result, metrics.SOJOURN_P95_S)
    use = claims.compare(result, metrics.UTILIZATION, among=delay)
    ranked = [pair for pair in delay.ranked if pair[0] in use.means]
    if len(ranked) < 2 or not delay.seeds or all(wait.mean == 0 for _, wait in ranked):
        return None
    drops = claims.compare(result, metrics.DROP_RATIO, among=delay)
    found = _Choice(words.variant_names(result), ranked, delay, use, drops, called)
    return Answer(found.lead(), found.why(), found.price(), found.doubts(), tuple(found.rows()))


@dataclass(frozen=True)
class _Choice:
    """Choices among qdiscs, `ranked` by their delay."""

    names: dict[Variant, str]
    ranked: Ranking
    delay: Comparison
    use: Comparison
    drops: Comparison
    called: str

    @cached_property
    def busiest(self) -> tuple[Variant, Estimate]:
        """The qdisc of the highest utilisation."""
        return self.use.ranked[-1]

    @property
    def slack(self) -> float:
        """Largest utilisation that may be left unused, percentage points."""
        return self.busiest[1].mean * SLACK / 100

    @cached_property
    def kept(self) -> Ranking:
        """Qdiscs that are nearly as busy as the busiest, by their means."""
        least = self.busiest[1].mean - self.slack
        return [pair for pair in self.ranked if self.use.means[pair[0]].mean >= least]

    def lead(self) -> str:
        """The best qdisc, or those that are not distinguished from it."""
        one_seed = self.delay.seeds == 1 and all(variant.seeded for variant in self.delay.values)
        seed = " under this one seed" if one_seed else ""
        return f"{self.called.capitalize()}{seed} is {self._either(self._tied(self.kept))}"

    def why(self) -> str:
        """The rule, and the delays that decide."""
        tied = self._tied(self.kept)
        own = [pair for pair in self.kept if pair[0] in tied]
        others = [pair for pair in self.kept if pair[0] not in tied]
        form = wording.distinguishing(wording.time, own[0][1], others[:1])
        most = "lower" if len(self.kept) == 2 else "lowest"
        lowest = f"it has the {most} p95 delay" if len(own) == 1 else "they have the lowest p95 delays"
        doubt = "" if len(own) == 1 else f", which {wording.too_few(self.delay)} distinguish"
        several = wording.ends if len(others) > MOST_LISTED else wording.listing
        against = f", against {several(others, self.names, form)}" if others else ""
        return f"{self._among(len(own))} {lowest}, {_span(form, own)}{doubt}{against}"

    def _among(self, own: int) -> str:
        """The qdiscs among which the rule chooses, as the beginning of a sentence."""
        _, highest = self.busiest
        level = f" ({wording.percent(highest)})" if highest.mean < LOW else ""
        within = f"within {SLACK:g} % of the highest utilisation{level}"
        count, whole = len(self.kept), len(self.ranked)
        if count == own < whole:
            alone = "alone is" if own == 1 else "alone are"
            return f"{'it' if own == 1 else 'they'} {alone} {within}, and"
        if count == whole:
            return f"{'both' if whole == 2 else f'all {whole}'} qdiscs are {within}, and"
        return f"of the {count} qdiscs {within}"

    def price(self) -> str:
        """The loss of the best, where it is one, and the least delay of those that are not as busy."""
        best = self.kept[0][0]
        lost = self.drops.means.get(best)
        alone = len(self._tied(self.kept)) == 1
        loss = alone and lost is not None and lost.mean > LOSS and f"It drops {wording.percent(lost)}."
        first, wait = self.ranked[0]
        used = wording.percent(self.use.means[first])
        less = first not in dict(self.kept) and (
            f"Outside of the {SLACK:g} %, {self.names[first]} has {wording.time(wait)} at {used}."
        )
        return wording.joined(loss or "", less or "")

    def doubts(self) -> str:
        """Sentences on what the seeds leave open, and on seeds that not all qdiscs have."""
        alone = self.delay.seeds == 1 and any(variant.seeded for variant in self.delay.values)
        return wording.joined(
            "One seed, no error bars." if alone else self._open(),
            wording.common_seeds(self.delay, self.use),
        )

    def _open(self) -> str:
        """Qdiscs of as little delay that may or may not be as busy."""
        last = self.kept[0][0]
        before = self.ranked[: [variant for variant, _ in self.ranked].index(last) + 1]
        some = [self.names[variant] for variant, _ in before if self._is_open(variant)]
        if not some:
            return ""
        which = wording.both(some) if len(some) <= wording.NAMED else wording.counted(len(some), "qdisc")
        be = "is" if len(some) == 1 else "are"
        return (
            f"{wording.counted(self.use.seeds, 'seed')} leave open whether {which} {be} within {SLACK:g} %."
        )

    def _is_open(self, variant: Variant) -> bool:
        top = self.busiest[0]
        within = self.use.at_most(top, variant, margin=self.slack)
        return variant != top and not within and not self.use.exceeds(top, variant, margin=self.slack)

    def rows(self) -> Iterator[Row]:
        """The demands, each with the qdisc that meets it at the lowest delay, and once for several."""
        labels: dict[Variant, list[str]] = {}
        ties: dict[Variant, list[Variant]] = {}
        for label, met in self._demands():
            if met:
                labels.setdefault(met[0][0], []).append(label)
                ties.setdefault(met[0][0], self._tied(met))
        for first, several in labels.items():
            yield self._row(wording.both(several).capitalize(), ties[first])

    def _demands(self) -> Iterator[tuple[str, Ranking]]:
        """Each demand, and the qdiscs that meet it."""
        yield self.called, self.kept
        yield "lowest delay", self.ranked
        yield (
            f"at least {BUSY:g} % busy",
            [pair for pair in self.ranked if self._end(self.use, pair[0], 0) >= BUSY],
        )
        best = self.drops.means.get(self.kept[0][0])
        if best is not None and best.mean > LOSS:
            known = [pair for pair in self.kept if pair[0] in self.drops.means]
            few = [pair for pair in known if self._end(self.drops, pair[0], 1) <= LOSS]
            yield f"best with at most {LOSS:g} % dropped", few

    def _row(self, label: str, tied: Sequence[Variant]) -> Row:
        delay, use = ([(one, found.means[one]) for one in tied] for found in (self.delay, self.use))
        lost = [(one, self.drops.means[one]) for one in tied if one in self.drops.means]
        loss = _span(wording.share, lost) if lost else ""
        name = self._either(tied)
        return Row(label, tuple(tied), name, _span(wording.time, delay), _span(wording.percent, use), loss)

    def _tied(self, ranking: Ranking) -> list[Variant]:
        """The first, and those that the seeds do not show to have more delay; of one seed equal ones."""
        (first, least), *others = ranking
        if self.delay.seeds == 1 and first.seeded:
            same = least.mean * (1 + ROUNDING)
            return [first, *(variant for variant, wait in others if wait.mean <= same)]
        return [first, *(variant for variant, _ in others if not self.delay.less(first, variant))]

    def _either(self, tied: Sequence[Variant]) -> str:
        """Text such as ``pi or red``."""
        called = [self.names[variant] for variant in tied]
        if len(called) > MOST_TIED:
            return f"{called[0]} or one of {len(called) - 1} others"
        return " or ".join(called)

    @staticmethod
    def _end(found: Comparison, variant: Variant, side: int) -> float:
        """An end of the interval: 0 the lower, 1 the upper; of a single run its value."""
        interval = found.interval(variant)
        return found.means[variant].mean if interval is None else interval[side]


def _span(form: wording.Format, ranking: Ranking) -> str:
    """The value, or the range of several, such as ``153 to 157 ms``."""
    ordered = sorted((mean for _, mean in ranking), key=lambda one: one.mean)
    least, most = form(ordered[0]), form(ordered[-1])
    number, _, unit = least.rpartition(" ")
    start = number if most.endswith(f" {unit}") else least
    return least if least == most else f"{start} to {most}"
