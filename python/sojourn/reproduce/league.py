"""League tables: all laws of an experiment beside each other, and no winner inside the noise.

Each law is tested against the one of the best mean by paired differences over common seeds. Since the same
seeds choose that one, the one-sided p is multiplied by the number of the other laws, any of which may be it
(C. E. Bonferroni 1936): a p of the hypothesis that no law is better. Holm's method (1979) corrects these
together for all laws and measures of a table. Laws that this does not separate are *level* with the best. For
normal differences no law that is truly as good as the best is separated, in all of the table, with a
probability of at least 0.95: a model confidence set (P. R. Hansen, A. Lunde, J. M. Nason, Econometrica 79,
2011).
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.reproduce.paper import TODAY, Experiment, Name, labelled
from sojourn.result import metrics
from sojourn.result.column import Column
from sojourn.result.statistics import Estimate, estimate, greater_p, holm, standardized
from sojourn.result.words import seconds
from sojourn.scenario import load

if TYPE_CHECKING:
    from sojourn.reproduce import Reproduction

__all__ = [
    "MEASURES",
    "Measure",
    "Standing",
    "as_ratio",
    "compare",
    "league",
    "over_all",
    "over_all_rows",
    "rows",
    "seeds_of",
    "settling_share",
    "share_of_best",
]


@dataclass(frozen=True)
class Measure:
    """A column of a league table."""

    name: str
    column: Column
    #: True if larger values are better.
    more_is_better: bool
    #: In the table over all scenarios: a ratio to tail drop's, a difference from it, or the value.
    against: str

    @property
    def reference(self) -> str | None:
        """What a value of the table over all scenarios is beside tail drop's; None: itself."""
        words = {"ratio": "ratio to tail drop", "difference": "difference from tail drop"}
        return words.get(self.against)

    def relative(self, value: float, other: float) -> float:
        """A mean relative to tail drop's in the same experiment; of a ratio the logarithm."""
        match self.against:
            case "ratio":
                return math.log(value / other) if value > 0 and other > 0 else math.nan
            case "difference":
                return value - other
        return value


MEASURES = (
    Measure("delay", metrics.SOJOURN_P95_S, more_is_better=False, against="ratio"),
    Measure("utilisation", metrics.UTILIZATION, more_is_better=True, against="difference"),
    Measure("loss", metrics.DROP_RATIO, more_is_better=False, against="difference"),
    Measure("fairness", metrics.JAIN_INDEX, more_is_better=True, against="difference"),
    Measure("settling", Column("settling_s", "settling", "s"), more_is_better=False, against="value"),
)
#: Labels of the laws that run in each scenario of the table over all.
COMMON = ("tail drop", "PI by its rule", *TODAY)
#: Corrected p below which a law is separated from the best.
SEPARATED = 0.05
#: Common seeds of which fewer separate no law: of two the interval has one degree of freedom.
LEAST_SEEDS = 3
#: Relative difference that is rounding.
ROUNDED = 1e-9

#: Values by seed, or by scenario.
Units = Mapping[Any, float]


@dataclass(frozen=True)
class Standing:
    """A law in a column of a league table."""

    estimate: Estimate
    #: True if no mean is better.
    best: bool
    #: Paired standardised difference from the best; None for the best itself, one seed, or equal differences.
    effect: Estimate | None
    #: Seeds that the best has, too.
    common: int
    #: Value of p that no law is better, corrected for all of the table; None where it has no test.
    p: float | None

    @property
    def level(self) -> bool | None:
        """True unless it is separated from the best; None: of too few common seeds."""
        if self.common < LEAST_SEEDS:
            return None
        return self.best or self.p is None or self.p >= SEPARATED


def compare(table: Mapping[Measure, Mapping[str, Units]]) -> dict[tuple[str, Measure], Standing]:
    """Standings of labelled samples: each beside the best of its measure, over the units that both have."""
    means = {
        (label, measure): estimate(list(units.values()))
        for measure, by_label in table.items()
        for label, units in by_label.items()
    }
    bests: dict[Measure, str] = {}
    differences: dict[tuple[str, Measure], list[float]] = {}
    found: dict[tuple[str, Measure], float | None] = {}
    for measure, by_label in table.items():
        sign = -1 if measure.more_is_better else 1
        best = min(by_label, key=lambda label: sign * means[label, measure].mean, default="")
        bests[measure] = best
        for label, units in by_label.items():
            own = by_label[best]
            common = [value - own[unit] for unit, value in units.items() if unit in own]
            differences[label, measure] = common
            p = None if label == best else _tested([sign * one for one in common])
            found[label, measure] = None if p is None else min(1.0, (len(by_label) - 1) * p)
    # The best and laws without a test are among the hypotheses: the data alone choose which these are.
    corrected = holm([1.0 if p is None else p for p in found.values()])
    return {
        key: Standing(
            means[key],
            key[0] == bests[key[1]],
            standardized(differences[key]),
            len(differences[key]),
            None if found[key] is None else p,
        )
        for key, p in zip(found, corrected, strict=True)
    }


def _tested(worse: Sequence[float]) -> float | None:
    """Value of p that a law is no worse; None for few paired differences, or equal ones but for rounding.

    Then the seeds change nothing in either law, or both are within bins of a histogram.
    """
    if len(worse) < LEAST_SEEDS or max(worse) - min(worse) <= ROUNDED * max(map(abs, worse)):
        return None
    return greater_p(worse)


def league(of: Reproduction, experiment: Experiment) -> dict[tuple[str, Measure], Standing]:
    """The league table of an experiment, by labels of laws; empty if it did not run, or repeats another."""
    if _is_repeated(of, experiment):
        return {}
    return compare({measure: _samples(of, experiment, measure) for measure in MEASURES})


def rows(of: Reproduction) -> Iterator[dict[str, object]]:
    """The league tables of a paper: a row an experiment, law and measure."""
    for experiment in of.paper.experiments.values():
        qdiscs = {label: qdisc for qdisc, label in _labels(of, experiment).items()}
        for (label, measure), one in league(of, experiment).items():
            yield {
                "experiment": experiment.name,
                "law": label,
                "qdisc": qdiscs[label],
                "measure": measure.name,
                "metric": measure.column.metric,
                **_columns(one, one.estimate),
            }


def over_all_rows(several: Sequence[Reproduction]) -> Iterator[dict[str, object]]:
    """The league table over all scenarios: a row a law and measure, with ratios in place of logarithms."""
    for (label, measure), one in over_all(several).items():
        yield {
            "law": label,
            "measure": measure.name,
            "metric": measure.column.metric,
            "against": measure.reference,
            **_columns(one, as_ratio(one.estimate) if measure.against == "ratio" else one.estimate),
        }


def as_ratio(of: Estimate) -> Estimate:
    """A mean of logarithms as a ratio with its interval."""
    low, high = (None if end is None else math.exp(end) for end in (of.low, of.high))
    return Estimate(of.n, math.exp(of.mean), low, high)


def _columns(of: Standing, shown: Estimate) -> dict[str, object]:
    effect = of.effect
    return {
        "n": shown.n,
        "mean": shown.mean,
        "low": shown.low,
        "high": shown.high,
        "effect": None if effect is None else effect.mean,
        "effect_low": None if effect is None else effect.low,
        "effect_high": None if effect is None else effect.high,
        "p_holm": of.p,
        "best": of.best,
        "level": of.level,
    }


def share_of_best(of: Reproduction) -> dict[tuple[str, Measure], tuple[int, int]]:
    """Numbers of experiments in which a law is level with the best, and in which it is measured.

    Those with too few seeds do not count.
    """
    found: dict[tuple[str, Measure], tuple[int, int]] = {}
    for experiment in of.paper.experiments.values():
        for key, one in league(of, experiment).items():
            if one.level is not None:
                level, ran = found.get(key, (0, 0))
                found[key] = (level + one.level, ran + 1)
    return found


def seeds_of(of: Reproduction) -> list[int]:
    """Numbers of seeds of the experiments that have a league table, in order."""
    tables = [league(of, one) for one in of.paper.experiments.values()]
    return sorted({max(one.estimate.n for one in table.values()) for table in tables if table})


def over_all(several: Sequence[Reproduction]) -> dict[tuple[str, Measure], Standing]:
    """Controls and today's laws relative to tail drop: the units are the scenarios that have them all.

    Experiments of a paper in one scenario, which differ by their changes, are a unit: the mean of them.
    """
    values: dict[Measure, dict[str, dict[str, list[float]]]] = {measure: {} for measure in MEASURES}
    for of in several:
        for experiment in (one for one in of.paper.experiments.values() if not _is_repeated(of, one)):
            unit = f"{of.paper.name}.{experiment.scenario}"
            for (label, measure), value in _relative(of, experiment).items():
                values[measure].setdefault(label, {}).setdefault(unit, []).append(value)
    return compare(
        {
            measure: {
                label: {unit: math.fsum(each) / len(each) for unit, each in units.items()}
                for label, units in by_label.items()
            }
            for measure, by_label in values.items()
            if by_label
        }
    )


def _relative(of: Reproduction, experiment: Experiment) -> dict[tuple[str, Measure], float]:
    """Means of the common laws relative to tail drop's; empty if they did not all run."""
    found: dict[tuple[str, Measure], float] = {}
    by_measure = {measure: _samples(of, experiment, measure) for measure in MEASURES}
    if not set(COMMON) <= by_measure[MEASURES[0]].keys():
        return {}
    for measure, samples in by_measure.items():
        means = {label: estimate(list(units.values())).mean for label, units in samples.items()}
        for label in (one for one in COMMON if one in means):
            if measure.against == "value" or COMMON[0] in means:
                found[label, measure] = measure.relative(means[label], means.get(COMMON[0], math.nan))
    return {key: value for key, value in found.items() if not math.isnan(value)}


def _is_repeated(of: Reproduction, experiment: Experiment) -> bool:
    """True where an earlier experiment has these laws in the same scenario, it would count twice, or live."""
    if experiment.plant == "live":
        return True
    for one in of.paper.experiments.values():
        if one is experiment:
            return False
        is_same = (one.scenario, one.changes) == (experiment.scenario, experiment.changes)
        if is_same and one.name in of.samples.experiments and experiment.laws.keys() <= one.laws.keys():
            return True
    return False


def _labels(of: Reproduction, experiment: Experiment) -> dict[str, str]:
    """Labels of qdiscs: of several one that all papers share, else the first."""
    found: dict[str, str] = {}
    for label, qdisc in labelled(of.paper, experiment):
        if label in COMMON:
            found[qdisc] = label
        found.setdefault(qdisc, label)
    return found


def _samples(of: Reproduction, experiment: Experiment, measure: Measure) -> dict[str, dict[int, float]]:
    """Values by label and seed, in the metric's own unit."""
    found: dict[str, dict[int, float]] = {}
    for qdisc, label in _labels(of, experiment).items():
        seeds = of.samples.seeds.get(experiment.name, [])
        values = _values(of, experiment, qdisc, measure.column.metric)
        by_seed = {seed: value for seed, value in zip(seeds, values, strict=False) if not math.isnan(value)}
        if by_seed:
            found[label] = by_seed
    return found


def _values(of: Reproduction, experiment: Experiment, qdisc: str, metric: str) -> Sequence[float]:
    if metric == "settling_s":
        return _settling(of, experiment, qdisc)
    try:
        sample = of.samples.of(Name(experiment.name, metric), qdisc)
    except LookupError:
        return ()
    return [float(value) for value in np.atleast_1d(sample)]


def settling_share(several: Sequence[Reproduction]) -> float | None:
    """Mean share of the time after a change that settling takes; None: there is no change."""
    shares = [
        time / length
        for of in several
        for (name, qdisc) in of.samples.settling
        for seed in _after_changes(of, of.paper.experiments[name], qdisc)
        for time, length in seed
    ]
    return math.fsum(shares) / len(shares) if shares else None


def _settling(of: Reproduction, experiment: Experiment, qdisc: str) -> list[float]:
    """Mean settling time of each seed after the changes; not a number without a change or a target."""
    seeds = _after_changes(of, experiment, qdisc)
    return [math.fsum(time for time, _ in seed) / len(seed) if seed else math.nan for seed in seeds]


def _after_changes(
    of: Reproduction, experiment: Experiment, qdisc: str
) -> Iterator[list[tuple[float, float]]]:
    """Settling time and length of the stretch after each change, by seed; without settling as long as it.

    The stretch from the start on is none: its end is not that of a response, but the last time that a queue
    under bursty traffic leaves the band.
    """
    for times in of.samples.settling.get((experiment.name, qdisc), []):
        stretches = zip(times or [], _stretches(experiment, len(times or [])), strict=True)
        yield [(length if time is None else time, length) for time, length in stretches][1:]


@functools.cache
def _stretches(experiment: Experiment, count: int) -> list[float]:
    """Lengths of the stretches between changes, s; the whole run for each where the changes are others."""
    scenario = load(experiment.scenario, dict(experiment.changes))
    times = sorted({seconds(one["time"]) or 0.0 for one in json.loads(scenario.to_json())["at"]})
    ends = [0.0, *times, scenario.duration_s]
    lengths = [end - start for start, end in itertools.pairwise(ends)]
    return lengths if len(lengths) == count else [scenario.duration_s] * count
