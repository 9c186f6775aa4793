"""The qdisc that serves users best: how far each is behind the best value of all that they notice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sojourn.report import claims, wording
from sojourn.report.claims import Comparison, Ranking
from sojourn.report.parts import cell, prose, table
from sojourn.result import Result, Variant, words
from sojourn.result.column import Column
from sojourn.result.experience import Experience, experiences
from sojourn.result.statistics import Estimate

__all__ = ["ALIKE", "Noticed", "Service", "noticed", "service"]

#: Largest difference that users do not notice, as a share of the larger value.
ALIKE = 0.05
#: Most qdiscs listed one by one; of more there are the first and the last.
MOST_LISTED = 5
#: Most metrics in the table.
MOST_METRICS = 4
#: Kind of the mean, as the sentence names it.
MEAN = "geometric mean over what they notice"
#: Note below the table.
NOTE = (
    "Behind the best: ratios to the best value of each metric, 5 % of which are added on both sides; "
    "geometric means over the metrics of a class, then over the classes. About as good: less than 5 % apart."
)
#: Column of the table: how far a qdisc is behind, on average.
BEHIND = Column("behind", "behind the best", "%")

#: A metric that users notice, qdisc by qdisc.
Noticed = tuple[Experience, Comparison]


def noticed(result: Result) -> list[Noticed]:
    """The metrics that users notice, compared."""
    return [(one, claims.compare(result, one.column, one.traffic_class)) for one in experiences(result)]


def service(result: Result) -> Service | None:
    """The qdiscs in one plant by how they serve users.

    None with fewer than two, with nothing to notice, and where the qdiscs have no seed in common.
    """
    found = [(one, of) for one, of in noticed(result) if of.ranked]
    seeds = _common([of for _, of in found])
    if len(result.variants) < 2 or not seeds:
        return None
    return Service(words.variant_names(result), found, _behind(result.variants, found, seeds))


@dataclass(frozen=True)
class Service:
    """Qdiscs by how far they are behind the best values.

    That is the logarithm of a ratio, as the mean over the metrics of each class and then over the classes.
    """

    names: dict[Variant, str]
    noticed: Sequence[Noticed]
    behind: Comparison

    @cached_property
    def ranking(self) -> Ranking:
        """The qdiscs with how far they are behind, the best first; those that lack a value are the last."""
        return sorted(self.behind.ranked, key=lambda pair: pair[0] in self.lacks)

    @property
    def order(self) -> list[Variant]:
        """The qdiscs, the best first."""
        return [variant for variant, _ in self.ranking]

    @cached_property
    def lacks(self) -> dict[Variant, list[Experience]]:
        """Metrics without a value under some qdiscs, as where no page is complete."""
        found: dict[Variant, list[Experience]] = {}
        for one, of in self.noticed:
            for variant in self.behind.values:
                if variant not in of.means:
                    found.setdefault(variant, []).append(one)
        return found

    @cached_property
    def near(self) -> list[Variant]:
        """Those less than 5 % apart from the best."""
        return [one for one in self._rivals if self._is_near(one)]

    @cached_property
    def undecided(self) -> list[Variant]:
        """Those further apart that the seeds do not distinguish from the best."""
        return [one for one in self._rivals if not self._is_near(one) and not self._is_shown(one)]

    @property
    def best(self) -> list[Variant]:
        """The best, and those as good."""
        return [self.order[0], *self.near, *self.undecided]

    @property
    def lead(self) -> str:
        """Such as ``Best for users is fq_codel``."""
        seed = " under this one seed" if self._is_one_seed else ""
        return f"Best for users{seed} is {self.names[self.order[0]]}"

    @property
    def why(self) -> str:
        """How far it is behind, those as good, the others, and metrics without a value."""
        (_, mean), *_ = self.ranking
        others = [pair for pair in self.ranking if pair[0] in self._rivals and pair[0] not in self.best]
        parts = []
        if self.near:
            parts.append(f"about as good: {self._listed(self.near)}")
        if self.undecided:
            doubt = wording.too_few(self.behind)
            parts.append(f"{doubt} distinguish it from {self._listed(self.undecided)}")
        first = f"{_percent(mean)} behind the best values ({MEAN})"
        if others:
            ends = wording.ends(others, self.names, _percent)
            if parts:
                parts.append(f"the other{'s' if len(others) > 1 else ''} {ends}")
            else:
                first += f", against {ends}"
        return "; ".join([first, *parts, *self._lacking()])

    def _lacking(self) -> list[str]:
        """Such as ``codel has no page load of web``."""
        if len(self.lacks) > MOST_LISTED:
            return [f"{wording.counted(len(self.lacks), 'qdisc')} lack a value"]
        return [
            f"{self.names[variant]} has no {wording.both([_noun(one) for one in what])}"
            for variant, what in self.lacks.items()
        ]

    def _listed(self, of: Sequence[Variant]) -> str:
        """Such as ``fq_codel (2.1 %) and cake (3.6 %)``."""
        ranking = [pair for pair in self.ranking if pair[0] in of]
        if len(ranking) > MOST_LISTED:
            return wording.ends(ranking, self.names, _percent)
        return wording.both([f"{self.names[variant]} ({_percent(mean)})" for variant, mean in ranking])

    @property
    def sentence(self) -> str:
        """All of it in words."""
        return f"{self.lead}: {self.why}."

    @property
    def _rivals(self) -> list[Variant]:
        """The qdiscs behind the first that lack no value, unless the first does."""
        first, *others = self.order
        return [one for one in others if (one in self.lacks) == (first in self.lacks)]

    @property
    def _is_one_seed(self) -> bool:
        return self.behind.seeds == 1 and all(variant.seeded for variant in self.behind.values)

    def _is_near(self, variant: Variant) -> bool:
        means = self.behind.means
        return means[variant].mean - means[self.order[0]].mean < math.log1p(ALIKE)

    def _is_shown(self, variant: Variant) -> bool:
        """True if the seeds show that it is behind the first; one seed shows what it has."""
        return self._is_one_seed or self.behind.less(self.order[0], variant)

    def table(self, result: Result) -> str:
        """The qdiscs in order, with the first metric of each class."""
        first: dict[str, Experience] = {}
        for one, _ in self.noticed:
            first.setdefault(one.traffic_class, one)
        shown = list(first.values())[:MOST_METRICS]
        columns = [BEHIND, *(_named(one) for one in shown)]
        rows = []
        for variant, mean in self.ranking:
            own = (words.cell(result, variant, one.column, one.traffic_class) for one in shown)
            behind = "" if variant in self.lacks else _percent(mean).removesuffix(" %")
            texts = [behind, *own]
            rows.append((variant, [cell(column, text) for column, text in zip(columns, texts, strict=True)]))
        shape = "ranking compact sortable"
        drawn = table(result, columns, rows, kind=shape, strong=set(self.best), by=BEHIND)
        return f'{drawn}\n<p class="note">{prose(NOTE)}</p>'


def _named(one: Experience) -> Column:
    noun = one.noun if one.noun.endswith(one.traffic_class) else f"{one.traffic_class}: {one.noun}"
    return Column(one.column.metric, noun, one.column.unit, one.column.scale)


def _noun(one: Experience) -> str:
    return f"{one.noun} of {one.traffic_class}"


def _percent(found: Estimate, further: int = 0) -> str:
    """A mean logarithm as a percentage behind: two digits, and all before the point."""
    percent = 100 * math.expm1(found.mean)
    if percent < 0.05:
        return "0 %"
    return f"{percent:.{further}f} %" if percent >= 9.95 else f"{percent:.{2 + further}g} %"


def _behind(variants: Sequence[Variant], found: Sequence[Noticed], seeds: Sequence[int]) -> Comparison:
    """How far each qdisc is behind, seed by seed."""
    by_class: dict[str, list[Noticed]] = {}
    for one, of in found:
        by_class.setdefault(one.traffic_class, []).append((one, of))

    def mean(variant: Variant, seed: int) -> float:
        classes = [
            sum(_log_ratio(variant, one, of, seed) for one, of in of_class) / len(of_class)
            for of_class in by_class.values()
        ]
        return sum(classes) / len(classes)

    values = {one: {seed: mean(one, seed) for seed in seeds} for one in variants}
    return Comparison(BEHIND, values, len(seeds), any(of.partial for _, of in found))


def _common(found: Sequence[Comparison]) -> list[int]:
    """Seeds under which all metrics are measured for all qdiscs that have them."""
    if not found or any(of.seeds == 0 for of in found):
        return []
    first, *others = ([*next(iter(of.values.values()))] for of in found)
    return [seed for seed in first if all(seed in other for other in others)]


def _log_ratio(variant: Variant, one: Experience, found: Comparison, seed: int) -> float:
    """Logarithm of the ratio to the best; 5 % of the best, added on both sides, keep it finite.

    A qdisc without a value has that of the worst.
    """
    values = {of: max(found.values[of][seed], 0.0) for of in found.values}
    best, worst = (max(values.values()), min(values.values()))[:: 1 if one.more else -1]
    little = ALIKE * (best or worst) or 1.0
    ratio = (best + little) / (values.get(variant, worst) + little)
    return math.log(ratio) if one.more else -math.log(ratio)
