"""Samples with the laws' rows permuted: a claim that does not notice is about none of them."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sojourn.reproduce.grades import Grade, grade
from sojourn.reproduce.paper import Claim, Name, Paper
from sojourn.reproduce.runs import Sample, Samples

#: Grades of a claim that was true.
TRUE = (Grade.REPRODUCED, Grade.DEPENDS, Grade.PARTLY)


class Permuted(Samples):
    """Samples in which laws have the rows of others, setting by setting; controls keep theirs."""

    def __init__(self, of: Samples, paper: Paper, order: Mapping[str, str]) -> None:
        super().__init__(quick=of.quick)
        self.whole = of
        self.experiments = of.experiments
        self.controls = {
            name: set(experiment.controls.values()) for name, experiment in paper.experiments.items()
        }
        #: Keys of the rows of other laws by law and key.
        self.keys = {
            law: {
                own.key: paper.laws[other][place % len(paper.laws[other])].key
                for place, own in enumerate(paper.laws[law])
            }
            for law, other in order.items()
        }

    def of(self, name: Name, qdisc: str) -> Sample:
        return self.whole.of(name, self._instead(name, qdisc))

    def _instead(self, name: Name, qdisc: str) -> str:
        """The rows of a law's setting; of one that stands in for it those of its own law, but of controls."""
        if qdisc in self.keys.get(name.law or "", {}):
            return self.keys[name.law or ""][qdisc]
        if qdisc.partition(" with ")[0] in self.controls[name.of]:
            return qdisc
        return next((keys[qdisc] for keys in self.keys.values() if qdisc in keys), qdisc)


def surviving(paper: Paper, samples: Samples) -> Iterator[str]:
    """True claims whose grade is the same whichever of their experiments' laws have the rows of theirs."""
    for marked in paper.claims:
        claim = replace(marked, permuted="")
        named, ran = _laws(paper, claim)
        found = grade(paper, claim, samples).grade
        if len(ran) < 2 or found not in TRUE:
            continue
        orders = [dict(zip(named, other, strict=True)) for other in itertools.permutations(ran, len(named))]
        if all(grade(paper, claim, Permuted(samples, paper, order)).grade is found for order in orders):
            yield claim.id


def _laws(paper: Paper, claim: Claim) -> tuple[list[str], list[str]]:
    """Laws that a claim names, and those of the experiments that it names."""
    tests = [test for test in (claim.test, claim.partly) if test is not None]
    names = {name.split(".")[0] for test in tests for name in test.names}
    own = [of for name, of in paper.experiments.items() if name.partition(".")[0] in names]
    ran = list(dict.fromkeys(law for one in own for law in one.laws))
    parts = {part for test in tests for name in test.names for part in name.split(".")}
    return [law for law in ran if law in parts], ran
