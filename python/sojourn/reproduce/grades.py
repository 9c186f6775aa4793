"""Grades of claims.

A claim is judged under each combination of the settings of the laws that it names. *Reproduced*: true under all of
them. *Depends*: under some. *Partly*: under none, but what remains of it where the number is not met is true. *Not*:
else. *Uninformative*: as true with tail drop, with PI by its rule or with another law of the experiment in the place of
the law that it is about. *Contradicts itself*: the paper's own statements cannot all hold. *Not run*.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from sojourn.reproduce.calculations import value
from sojourn.reproduce.paper import CONTROLS, Claim, Paper, Setting, split
from sojourn.reproduce.predicate import Predicate, Truth
from sojourn.reproduce.runs import Sample, Samples

__all__ = ["Grade", "Graded", "grade"]


class Grade(Enum):
    """Grade of a claim."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    DEPENDS = "depends"
    UNINFORMATIVE = "uninformative"
    NOT = "not"
    CONTRADICTS_ITSELF = "contradicts itself"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Case:
    """A claim under one combination of settings."""

    #: Setting of each law that the claim names.
    settings: Mapping[str, Setting]
    truth: Truth
    #: Samples of the names of its predicate; none where nothing was measured.
    samples: Mapping[str, Sample]


@dataclass(frozen=True)
class Graded:
    """A claim with its grade."""

    claim: Claim
    grade: Grade
    cases: Sequence[Case]
    #: What stood in the place of the law with the same outcome.
    stand_ins: Sequence[str]
    #: Evidence in a sentence.
    evidence: str


def grade(paper: Paper, claim: Claim, samples: Samples) -> Graded:
    """Grade a claim."""
    if claim.test is None:
        return Graded(claim, Grade.NOT_RUN, (), (), claim.not_run or "")
    cases = [_case(paper, claim.test, chosen, samples) for chosen in _combinations(paper, claim, claim.test)]
    true = sum(case.truth is Truth.TRUE for case in cases)
    if claim.contradiction is not None and true == len(cases):
        return Graded(claim, Grade.CONTRADICTS_ITSELF, cases, (), claim.contradiction)
    stand_ins = list(_stand_ins(paper, claim, claim.test, cases, samples)) if true else []
    if stand_ins:
        return Graded(
            claim, Grade.UNINFORMATIVE, cases, stand_ins, f"as true with {', '.join(stand_ins)} in its place"
        )
    if true == len(cases):
        return Graded(claim, Grade.REPRODUCED, cases, (), _counted(cases))
    if true:
        return Graded(claim, Grade.DEPENDS, cases, (), _deciding(cases))
    if claim.partly is not None:
        rest = claim.partly
        others = [_case(paper, rest, chosen, samples) for chosen in _combinations(paper, claim, rest)]
        if all(case.truth is Truth.TRUE for case in others):
            return Graded(claim, Grade.PARTLY, cases, (), f"{rest.text} holds")
    return Graded(claim, Grade.NOT, cases, (), _counted(cases))


def _laws(paper: Paper, test: Predicate) -> list[str]:
    """Laws that a predicate names, in order."""
    named = {split(name, paper.name, paper.experiments).law for name in test.names}
    return [law for law in paper.laws if law in named]


def _combinations(paper: Paper, claim: Claim, test: Predicate) -> Iterator[dict[str, Setting]]:
    """Each combination of the settings of its laws."""
    laws = _laws(paper, test)
    offered = [
        [one for one in paper.laws[law] if one.name in claim.settings.get(law, (one.name,))] for law in laws
    ]
    for chosen in itertools.product(*offered):
        yield dict(zip(laws, chosen, strict=True))


def _case(
    paper: Paper,
    test: Predicate,
    chosen: Mapping[str, Setting],
    samples: Samples,
    stand_in: Mapping[str, Mapping[str, str]] | None = None,
) -> Case:
    """A predicate with these settings; a stand-in has a law's qdisc by the experiment."""
    found: dict[str, Sample] = {}

    def lookup(name: str) -> Sample:
        parts = split(name, paper.name, paper.experiments)
        if parts.law is None:
            found[name] = np.asarray(value(paper.name, parts.of, parts.metric))
        else:
            replaced = (stand_in or {}).get(parts.law)
            qdisc = replaced[parts.of] if replaced else chosen[parts.law].qdisc
            found[name] = samples.of(parts, qdisc)
        return found[name]

    truth = test.holds(lookup)
    return Case(chosen, truth, found)


def _stand_ins(
    paper: Paper, claim: Claim, test: Predicate, cases: Sequence[Case], samples: Samples
) -> Iterator[str]:
    """What makes the claim as often true in the place of its law: a control, or a law of the same experiments."""
    if claim.about is None or claim.about not in _laws(paper, test):
        return
    true = sum(case.truth is Truth.TRUE for case in cases)
    for control in CONTROLS:
        qdiscs = {name: of.controls[control] for name, of in paper.experiments.items()}
        own = [_case(paper, test, case.settings, samples, {claim.about: qdiscs}) for case in cases]
        if sum(case.truth is Truth.TRUE for case in own) >= true:
            yield {"tail_drop": "tail drop", "pi_rule": "PI by its rule"}[control]
    for other in _laws(paper, test):
        if other != claim.about:
            swapped = [
                _case(paper, test, case.settings, samples, _swap(paper, case, claim.about, other))
                for case in cases
            ]
            if sum(case.truth is Truth.TRUE for case in swapped) >= true:
                yield f"{other} exchanged for it"


def _swap(paper: Paper, case: Case, one: str, other: str) -> dict[str, dict[str, str]]:
    def of(law: str) -> dict[str, str]:
        return dict.fromkeys(paper.experiments, case.settings[law].qdisc)

    return {one: of(other), other: of(one)}


def _counted(cases: Sequence[Case]) -> str:
    """How often it was true."""
    counts = {truth: sum(case.truth is truth for case in cases) for truth in Truth}
    said = [f"{truth.value} under {count}" for truth, count in counts.items() if count]
    return f"{', '.join(said)} of {len(cases)} settings"


def _deciding(cases: Sequence[Case]) -> str:
    """The settings under which it was true: those of a law that always or never were, or their number."""
    parts = []
    for law in cases[0].settings:
        shares: dict[str, list[bool]] = {}
        for case in cases:
            shares.setdefault(case.settings[law].name, []).append(case.truth is Truth.TRUE)
        if len(shares) > 1:
            held = [f"{name} {sum(of)} of {len(of)}" for name, of in shares.items()]
            parts.append(f"{law}: {', '.join(held)}")
    return "; ".join([_counted(cases), *parts])
