"""Grades of claims.

A claim is judged under each combination of the settings of its laws, of its variants and of its windows.
*Reproduced*: true under all of them. *Depends*: under some. *Partly*: under none, but what remains of it
where the number is not met is true. *Not*: false. *Undecided*: true under none, and the intervals leave some
open.
*Uninformative*: true with tail drop, with PI by its rule or with another law of the experiment in the place
of the law that it is about, in each case in which it is true of that law. A control is a law that should fail
there: where the claim is that a law does badly, not tail drop, but the law of the paper under each of its
settings; and tail drop never where marks alone are compared. Also where a grade is the same with the two laws
that alone run there exchanged. *Contradicts itself*: the paper's
own statements cannot all hold. *Not run*.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType

import numpy as np

from sojourn.reproduce.calculations import value
from sojourn.reproduce.paper import CONTROLS, Claim, Name, Paper, Setting, in_variant, split
from sojourn.reproduce.predicate import Lookup, Predicate, Truth
from sojourn.reproduce.runs import Sample, Samples

__all__ = ["Grade", "Graded", "grade"]

#: Controls as evidence has them.
CALLED = {"tail_drop": "tail drop", "pi_rule": "PI by its rule"}
#: Metrics of which tail drop has none.
OF_MARKS = ("mark_ratio", "marked_packets")
#: Keys of samples in the place of a law, by the experiment.
StandIns = Mapping[str, Mapping[str, str]]


class Grade(Enum):
    """Grade of a claim."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    DEPENDS = "depends"
    UNINFORMATIVE = "uninformative"
    NOT = "not"
    UNDECIDED = "undecided"
    CONTRADICTS_ITSELF = "contradicts itself"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Open:
    """What a paper leaves open apart from settings: None where a claim offers none."""

    #: Variant of the experiments of names that have none.
    variant: str | None
    #: Window of the names that have none.
    window: str | None


@dataclass(frozen=True)
class Case:
    """A claim under one combination of settings."""

    #: Setting of each law that the claim names.
    settings: Mapping[str, Setting]
    open: Open
    truth: Truth
    test: Predicate
    #: Samples of the names of its predicate under these settings.
    lookup: Lookup


@dataclass(frozen=True)
class Graded:
    """A claim with its grade."""

    claim: Claim
    grade: Grade
    cases: Sequence[Case]
    #: Cases of what remains of it, where that decides.
    rest: Sequence[Case]
    #: What stood in the place of the law with the same outcome.
    stand_ins: Sequence[str]
    #: Evidence in a sentence.
    evidence: str
    #: Cases of each control with the same outcome.
    controls: Mapping[str, Sequence[Case]] = field(default_factory=dict)


def grade(paper: Paper, claim: Claim, samples: Samples) -> Graded:
    """Grade a claim."""
    if claim.test is None:
        return Graded(claim, Grade.NOT_RUN, (), (), (), claim.not_run or "")
    judge = _Judge(paper, claim, samples)
    if absent := judge.absent(claim.test):
        reason = f"with few seeds the experiments of this claim do not run: {', '.join(absent)}"
        if any(paper.experiments[name].plant == "live" for name in absent):
            reason = f"its runs are live, by the TCP of this machine: sojourn reproduce {paper.name} --live"
        return Graded(claim, Grade.NOT_RUN, (), (), (), reason)
    cases = judge.cases(claim.test)
    rest = judge.rest(cases)
    found, stand_ins, evidence = judge.outcome(claim.test, cases, rest)
    if claim.permuted and found in (Grade.REPRODUCED, Grade.DEPENDS, Grade.PARTLY):
        found, evidence = Grade.UNINFORMATIVE, f"{evidence}; {claim.permuted}"
    decisive = [case for case in rest or cases if case.truth is Truth.TRUE]
    controls = {
        called: [judge.controlled(case, control) for case in decisive]
        for control, called in CALLED.items()
        if called in stand_ins
    }
    return Graded(claim, found, cases, rest, stand_ins, evidence, controls)


@dataclass(frozen=True)
class _Judge:
    """Judges one claim."""

    paper: Paper
    claim: Claim
    samples: Samples
    found: dict[tuple[str, str | None], Name] = field(default_factory=dict)

    def rest(self, cases: Sequence[Case]) -> Sequence[Case]:
        """Cases of what remains of a claim that is true under none of its own, and not open."""
        if self.claim.partly is None or _true(cases) or self._is_open(cases):
            return ()
        return self.cases(self.claim.partly)

    def outcome(
        self, test: Predicate, cases: Sequence[Case], rest: Sequence[Case]
    ) -> tuple[Grade, Sequence[str], str]:
        """Grade of a claim by its cases and what remains, stand-ins, and the evidence."""
        true = _true(cases)
        if self.claim.contradiction is not None:
            shown = true == len(cases)
            evidence = self.claim.contradiction if shown else f"not shown: {_counted(cases)}"
            return (Grade.CONTRADICTS_ITSELF if shown else Grade.UNDECIDED), (), evidence
        if true and self._is_open(cases) and not any(case.truth is Truth.FALSE for case in cases):
            return Grade.UNDECIDED, (), f"with few seeds, {_deciding(cases)}"
        as_true = dict(self._stand_ins(test, cases)) if true else {}
        if stand_ins := [name for name, count in as_true.items() if count == true]:
            held = f"as true with {', '.join(stand_ins)} in its place"
            return Grade.UNINFORMATIVE, stand_ins, f"{held}; {_deciding(cases)}"
        exchanged = self._exchange(test, cases) if true else None
        if exchanged is not None and self._survives(test, cases, exchanged[1]):
            law, count = exchanged
            held = f"exchanged with {law}, true under {count} of {len(cases)} settings, too"
            return Grade.UNINFORMATIVE, (law,), f"{held}; {_deciding(cases)}"
        if true:
            evidence = "; ".join([_deciding(cases), *_in_part(as_true, true)])
            if exchanged is not None:
                evidence += f"; exchanged with {exchanged[0]}, true under {exchanged[1]}"
            return (Grade.REPRODUCED if true == len(cases) else Grade.DEPENDS), (), evidence
        return self._untrue(cases, rest)

    def _untrue(self, cases: Sequence[Case], rest: Sequence[Case]) -> tuple[Grade, Sequence[str], str]:
        """The same of a claim that is true under none of its cases."""
        if self._is_open(cases):
            return Grade.UNDECIDED, (), f"{_counted(cases)}, with few seeds"
        remains, evidence = self.claim.partly, _counted(cases)
        if remains is not None:
            if _true(rest) == len(rest):
                held = f"{evidence}; what holds: {remains.text}"
                as_true = dict(self._stand_ins(remains, rest))
                if stand_ins := [name for name, count in as_true.items() if count == len(rest)]:
                    return Grade.UNINFORMATIVE, stand_ins, f"{held}, as true with {', '.join(stand_ins)}"
                return Grade.PARTLY, (), "; ".join([held, *_in_part(as_true, len(rest))])
            if self._is_open(rest):
                return Grade.UNDECIDED, (), f"with few seeds, {_counted(rest)}: {remains.text}"
            evidence += f"; {_counted(rest)}: {remains.text}"
        is_open = any(case.truth is Truth.UNDECIDED for case in [*cases, *rest])
        return (Grade.UNDECIDED if is_open else Grade.NOT), (), evidence

    def _is_open(self, cases: Sequence[Case]) -> bool:
        """True if more seeds may decide a case."""
        return self.samples.quick and any(case.truth is Truth.UNDECIDED for case in cases)

    def cases(self, test: Predicate) -> list[Case]:
        """A predicate under each combination of the settings of its laws."""
        laws = self._laws(test)
        offered = [self._offered(law) for law in laws]
        combinations = [dict(zip(laws, chosen, strict=True)) for chosen in itertools.product(*offered)]
        variants, windows = self.claim.variants or (None,), self.claim.windows or (None,)
        open_ones = [Open(*one) for one in itertools.product(variants, windows)]
        return [self._case(test, chosen, one) for chosen in combinations for one in open_ones]

    def _offered(self, law: str) -> list[Setting]:
        """Settings of a law that the claim has."""
        return [one for one in self.paper.laws[law] if one.name in self.claim.settings.get(law, (one.name,))]

    def absent(self, test: Predicate) -> list[str]:
        """Experiments that a predicate names and that did not run."""
        named = {one.of for one in self._names(test) if one.law is not None}
        return sorted(named - self.samples.experiments)

    def _laws(self, test: Predicate) -> list[str]:
        """Laws that a predicate names, in the order of the paper's file."""
        named = {one.law for one in self._names(test)}
        return [law for law in self.paper.laws if law in named]

    def _names(self, test: Predicate) -> set[Name]:
        """Names of a predicate in their parts, in each of its variants."""
        variants = self.claim.variants or (None,)
        return {self._parts(*one) for one in itertools.product(test.names, variants)}

    def _parts(self, name: str, variant: str | None) -> Name:
        """The parts of a name, found once: a claim may have a thousand cases."""
        if (name, variant) not in self.found:
            experiments = self.paper.experiments
            own = in_variant(name, variant, self.paper.name, experiments)
            self.found[name, variant] = split(own, self.paper.name, experiments)
        return self.found[name, variant]

    def _case(
        self,
        test: Predicate,
        chosen: Mapping[str, Setting],
        of: Open,
        stand_ins: StandIns = MappingProxyType({}),
    ) -> Case:
        """A predicate with these settings, and with others in the place of laws."""

        def lookup(name: str) -> Sample:
            parts = self._parts(name, of.variant)
            if parts.law is None:
                return np.asarray(value(self.paper.name, parts.of, parts.metric))
            replaced = stand_ins.get(parts.law)
            qdisc = replaced[parts.of] if replaced else chosen[parts.law].key
            return self.samples.of(replace(parts, window=parts.window or of.window), qdisc)

        return Case(chosen, of, test.holds(lookup), test, lookup)

    def _stand_ins(self, test: Predicate, cases: Sequence[Case]) -> Iterator[tuple[str, int]]:
        """In how many of the cases in which the claim is true another law in the place of its own is, too."""
        laws, about = self._laws(test), self._about(test)
        if not about:
            return
        true = [case for case in cases if case.truth is Truth.TRUE]
        own = {one.qdisc for law in about for one in self._offered(law)}
        for control in CONTROLS:
            if not own.isdisjoint(of.controls[control] for of in self.paper.experiments.values()):
                # PI by its rule is no control of a claim about PI.
                continue
            if control == "tail_drop" and (self.claim.fails or self._is_of_marks(test, about)):
                # It does badly, and marks nothing, whatever the experiment.
                continue
            yield CALLED[control], _true([self.controlled(case, control) for case in true])
        if self.claim.fails:
            yield self.paper.name, self._as_bad(test, true, about)
        for other in laws:
            if other not in about:
                yield (
                    other,
                    max(
                        sum(self._exchanged(test, case, law, other) is Truth.TRUE for case in true)
                        for law in about
                    ),
                )

    def _exchange(self, test: Predicate, cases: Sequence[Case]) -> tuple[str, int] | None:
        """The other of two laws, and in how many cases a claim is true with both exchanged."""
        laws = self._laws(test)
        if len(laws) != 2 or len(set(laws) & set(self.claim.about)) != 1:
            return None
        own, other = sorted(laws, key=lambda law: law not in self.claim.about)
        return other, sum(self._exchanged(test, case, own, other) is Truth.TRUE for case in cases)

    def _survives(self, test: Predicate, cases: Sequence[Case], exchanged: int) -> bool:
        """True if its grade survives all permutations of the laws that run: with two, their exchange."""
        ran = {law for one in self._names(test) if one.law for law in self.paper.experiments[one.of].laws}
        if ran != set(self._laws(test)):
            return False
        return exchanged == len(cases) if _true(cases) == len(cases) else 0 < exchanged < len(cases)

    def _is_of_marks(self, test: Predicate, laws: Sequence[str]) -> bool:
        """True if all that it compares of these laws is marks."""
        variant = (self.claim.variants or (None,))[0]
        of = [[self._parts(name, variant) for name in quantity.names] for quantity in test.quantities]
        own = [parts for parts in of if any(one.law in laws for one in parts)]
        return bool(own) and all(one.metric in OF_MARKS for parts in own for one in parts)

    def _as_bad(self, test: Predicate, true: Sequence[Case], about: Sequence[str]) -> int:
        """In how many cases the law of the paper does as badly in their place under each of its settings."""
        own = self.paper.laws.get(self.paper.name, ())
        ran = {one.of for one in self._names(test) if one.law in about}
        if self.paper.name in self._laws(test) or any(
            self.paper.name not in self.paper.experiments[of].laws for of in ran
        ):
            return 0
        stand_ins = [dict.fromkeys(about, dict.fromkeys(self.paper.experiments, one.key)) for one in own]
        return sum(
            bool(stand_ins)
            and all(self._case(test, case.settings, case.open, one).truth is Truth.TRUE for one in stand_ins)
            for case in true
        )

    def _about(self, test: Predicate) -> list[str]:
        """Laws of a predicate that the claim is about."""
        return [law for law in self._laws(test) if law in self.claim.about]

    def controlled(self, case: Case, control: str) -> Case:
        """A case with a control in the place of the claim's laws, under the changes of the settings there."""
        stand_ins = {
            law: {
                name: case.settings[law].instead(of.controls[control]).key
                for name, of in self.paper.experiments.items()
            }
            for law in self._about(case.test)
        }
        return self._case(case.test, case.settings, case.open, stand_ins)

    def _exchanged(self, test: Predicate, case: Case, law: str, other: str) -> Truth:
        """Truth of a case with two of its laws exchanged."""
        stand_ins = {
            one: dict.fromkeys(self.paper.experiments, case.settings[by].key)
            for one, by in ((law, other), (other, law))
        }
        return self._case(test, case.settings, case.open, stand_ins).truth


def _true(cases: Sequence[Case]) -> int:
    return sum(case.truth is Truth.TRUE for case in cases)


def _in_part(as_true: Mapping[str, int], true: int) -> list[str]:
    """What is as true in its place in some of the cases."""
    some = [f"{name} in {count}" for name, count in as_true.items() if count]
    return [f"of these {true} also true with {', '.join(some)}"] if some else []


def _counted(cases: Sequence[Case]) -> str:
    """How often it was true."""
    counts = {truth: sum(case.truth is truth for case in cases) for truth in Truth}
    parts = [f"{truth.value} under {count}" for truth, count in counts.items() if count]
    return f"{', '.join(parts)} of {len(cases)} settings"


def _deciding(cases: Sequence[Case]) -> str:
    """The settings under which it was true: those of a law that always or never were, or their number."""
    named = {law: [case.settings[law].name for case in cases] for law in cases[0].settings}
    parts = []
    named["variant"] = [case.open.variant or "" for case in cases]
    named["window"] = [case.open.window or "" for case in cases]
    for choice, of in named.items():
        shares: dict[str, list[bool]] = {}
        for name, case in zip(of, cases, strict=True):
            shares.setdefault(name, []).append(case.truth is Truth.TRUE)
        if len(shares) > 1:
            held = [f"{name} {sum(true)} of {len(true)}" for name, true in shares.items()]
            parts.append(f"{choice}: {', '.join(held)}")
    return "; ".join([_counted(cases), *parts])
