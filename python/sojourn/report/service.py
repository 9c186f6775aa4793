"""The qdisc that serves users best: how far each is behind the best value of all that they notice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sojourn.report import claims, wording
from sojourn.report.claims import Comparison, Ranking
from sojourn.report.parts import cell, prose, table
from sojourn.result import Result, Variant, metrics, words
from sojourn.result.column import Column
from sojourn.result.experience import Experience, experiences
from sojourn.result.statistics import Estimate

__all__ = ["ALIKE", "Noticed", "Service", "noticed", "service"]

#: Largest difference that users do not notice, as a share of the larger value.
ALIKE = 0.05
#: Most qdiscs named in place of one that nothing distinguishes from them, and most metrics of the table.
MOST_TIED, MOST_METRICS = 5, 4
#: How what a qdisc is behind is a mean.
MEAN = "geometric mean over what they notice"
#: Note below the table.
NOTE = (
    "Behind the best: ratios to the best value of each metric, 5 % of which are added on both sides; "
    "geometric means over the metrics of a class, then over the classes."
)
#: Column of the table: how far a qdisc is behind, on average.
BEHIND = Column("behind", "behind the best", "%")

#: A metric that users notice, qdisc by qdisc.
Noticed = tuple[Experience, Comparison]


def noticed(result: Result) -> list[Noticed]:
    """The metrics that users notice, compared."""
    return [(one, claims.compare(result, one.column, one.traffic_class)) for one in experiences(result)]


def service(result: Result) -> Service | None:
    """The qdiscs in one plant by how they serve users; None with fewer than two, or nothing to notice."""
    found = noticed(result)
    if len(result.variants) < 2 or not any(of.ranked for _, of in found):
        return None
    return Service(words.variant_names(result), found, _behind(result.variants, found))


@dataclass(frozen=True)
class Service:
    """Qdiscs by how far they are behind the best values.

    That is the logarithm of a ratio, as the mean over the metrics of each class and then over the classes.
    """

    names: dict[Variant, str]
    noticed: Sequence[Noticed]
    behind: Comparison

    @property
    def order(self) -> list[Variant]:
        """The qdiscs, the best first."""
        return [variant for variant, _ in self.behind.ranked]

    @cached_property
    def best(self) -> list[Variant]:
        """The best qdisc, and those less than 5 % apart from it or not distinguished by the seeds."""
        first, *others = self.order
        return [first, *(one for one in others if self._is_near(one) or not self._is_shown(one))]

    @property
    def lead(self) -> str:
        """Such as ``Best for users is fq_codel``."""
        seed = " under this one seed" if self._is_one_seed else ""
        return f"Best for users{seed} is {self.names[self.order[0]]}"

    @property
    def why(self) -> str:
        """How far it is behind, those as good, and the others."""
        (first, mean), *_ = self.behind.ranked
        near = [pair for pair in self.behind.ranked if pair[0] in self.best and pair[0] != first]
        others = [pair for pair in self.behind.ranked if pair[0] not in self.best]
        parts = [f"{_percent(mean)} behind the best values ({MEAN})"]
        if near:
            parts.append(f"{self._doubt} {self._listed(near)}")
        if others:
            against = "the others" if near else "against"
            parts.append(f"{against} {wording.ends(others, self.names, _percent)}")
        return "; ".join(parts) if near else ", ".join(parts)

    def _listed(self, near: Ranking) -> str:
        """Such as ``fq_codel (2.1 %) and cake (3.6 %)``."""
        if len(near) > MOST_TIED:
            return wording.ends(near, self.names, _percent)
        return wording.both([f"{self.names[variant]} ({_percent(mean)})" for variant, mean in near])

    @property
    def sentence(self) -> str:
        """All of it in words."""
        return f"{self.lead}: {self.why}."

    @property
    def _doubt(self) -> str:
        """Beginning of the list of those as good."""
        if all(map(self._is_near, self.best[1:])):
            return f"less than {100 * ALIKE:g} % from it:"
        return f"{wording.too_few(self.behind)} distinguish it from"

    @property
    def _is_one_seed(self) -> bool:
        return self.behind.seeds < 2 and all(variant.seeded for variant in self.behind.values)

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
        for variant, mean in self.behind.ranked:
            own = (words.cell(result, variant, one.column, one.traffic_class) for one in shown)
            texts = [_percent(mean).removesuffix(" %"), *own]
            rows.append((variant, [cell(column, text) for column, text in zip(columns, texts, strict=True)]))
        shape = "ranking compact sortable"
        drawn = table(result, columns, rows, kind=shape, strong=set(self.best), by=BEHIND)
        return f'{drawn}\n<p class="note">{prose(NOTE)}</p>'


def _named(one: Experience) -> Column:
    noun = one.noun if one.noun.endswith(one.traffic_class) else f"{one.traffic_class}: {one.noun}"
    return Column(one.column.metric, noun, one.column.unit, one.column.scale)


def _percent(found: Estimate, further: int = 0) -> str:
    """A mean logarithm as a percentage behind."""
    return f"{100 * math.expm1(found.mean):.{2 + further}g} %" if found.mean < math.log(2) else _times(found)


def _times(found: Estimate) -> str:
    """The same of more than 100 %, in whole percents."""
    return f"{100 * math.expm1(found.mean):.0f} %"


def _behind(variants: Sequence[Variant], found: Sequence[Noticed]) -> Comparison:
    """How far each qdisc is behind, seed by seed; by means where the metrics have no seed in common."""
    seeds = _common([of for _, of in found if of.ranked])
    by_class: dict[str, list[Noticed]] = {}
    for one, of in found:
        if of.ranked:
            by_class.setdefault(one.traffic_class, []).append((one, of))

    def mean(variant: Variant, seed: int | None) -> float:
        classes = [
            sum(_short(variant, one, of, seed) for one, of in of_class) / len(of_class)
            for of_class in by_class.values()
        ]
        return sum(classes) / len(classes)

    listed: Sequence[int | None] = seeds or [None]
    values = {one: {-1 if seed is None else seed: mean(one, seed) for seed in listed} for one in variants}
    partial = any(of.partial for _, of in found)
    return Comparison(metrics.UTILIZATION, values, len(seeds), partial)


def _common(found: Sequence[Comparison]) -> list[int]:
    """Seeds under which all metrics are measured for all qdiscs that have them."""
    if any(of.seeds == 0 for of in found):
        return []
    first, *others = ([*next(iter(of.values.values()))] for of in found)
    return [seed for seed in first if all(seed in other for other in others)]


def _short(variant: Variant, one: Experience, found: Comparison, seed: int | None) -> float:
    """Logarithm of the ratio to the best; 5 % of the best, added on both sides, keep it finite.

    A qdisc without a value, as where no page is complete, has that of the worst.
    """
    values = {
        of: max(mean.mean if seed is None else found.values[of][seed], 0.0)
        for of, mean in found.means.items()
    }
    best, worst = (max(values.values()), min(values.values()))[:: 1 if one.more else -1]
    little = ALIKE * (best or worst) or 1.0
    ratio = (best + little) / (values.get(variant, worst) + little)
    return math.log(ratio) if one.more else -math.log(ratio)
