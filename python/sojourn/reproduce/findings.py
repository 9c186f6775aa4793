"""Findings of the papers' future work, judged by the runs at hand as claims are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

import numpy as np

from sojourn.reproduce.calculations import value
from sojourn.reproduce.figures import Finding
from sojourn.reproduce.paper import Paper, Setting, split
from sojourn.reproduce.predicate import Lookup, Truth
from sojourn.reproduce.runs import Sample, Samples

__all__ = ["Judged", "Outcome", "findings", "judge", "looked_up"]


class Outcome(Enum):
    """Outcome of a finding."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    UNDECIDED = "undecided"
    NOT_RUN = "not run"


_OUTCOMES = {
    Truth.TRUE: Outcome.HOLDS,
    Truth.FALSE: Outcome.DOES_NOT_HOLD,
    Truth.UNDECIDED: Outcome.UNDECIDED,
}


@dataclass(frozen=True)
class Judged:
    """A finding with its outcome."""

    #: The figure or table that it stands beside.
    item: str
    finding: Finding
    outcome: Outcome
    #: Samples of the names of its predicate; None: it is not run.
    lookup: Lookup | None


def findings(paper: Paper, samples: Samples) -> Iterator[Judged]:
    """The findings of a paper in the order of its page."""
    for item, finding in paper.findings:
        yield judge(paper, item, finding, samples)


def judge(paper: Paper, item: str, finding: Finding, samples: Samples) -> Judged:
    """Judge a finding."""
    names = {name: split(name, paper.name, paper.experiments) for name in sorted(finding.test.names)}
    if any(one.law is not None and one.of not in samples.experiments for one in names.values()):
        return Judged(item, finding, Outcome.NOT_RUN, None)
    lookup = looked_up(paper, samples)
    return Judged(item, finding, _OUTCOMES[finding.test.holds(lookup)], lookup)


def looked_up(paper: Paper, samples: Samples, settings: Mapping[str, str] = MappingProxyType({})) -> Lookup:
    """Samples by name; of a name without a setting that of `settings`, else the first one of the law."""

    def lookup(name: str) -> Sample:
        parts = split(name, paper.name, paper.experiments)
        if parts.law is None:
            return np.asarray(value(paper.name, parts.of, parts.metric))
        return samples.of(parts, _setting(paper, parts.law, parts.setting or settings.get(parts.law)).key)

    return lookup


def _setting(paper: Paper, law: str, name: str | None) -> Setting:
    return next(one for one in paper.laws[law] if name in (None, one.name))
