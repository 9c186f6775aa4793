"""Samples with the laws' rows permuted: a claim that does not notice is about none of them."""

import itertools
from collections.abc import Iterator, Mapping

from sojourn.reproduce.grades import Grade, grade
from sojourn.reproduce.paper import Claim, Name, Paper
from sojourn.reproduce.runs import Sample, Samples

#: Grades of a claim that was true.
TRUE = (Grade.REPRODUCED, Grade.DEPENDS, Grade.PARTLY)


class Permuted(Samples):
    """Samples in which each law has the rows of another, setting by setting."""

    def __init__(self, of: Samples, paper: Paper, order: Mapping[str, str]) -> None:
        super().__init__(quick=of.quick)
        self.whole = of
        self.experiments = of.experiments
        self.keys = {
            own.key: paper.laws[other][place % len(paper.laws[other])].key
            for law, other in order.items()
            for place, own in enumerate(paper.laws[law])
        }

    def of(self, name: Name, qdisc: str) -> Sample:
        return self.whole.of(name, self.keys.get(qdisc, qdisc))


def surviving(paper: Paper, samples: Samples) -> Iterator[str]:
    """True claims whose grade is the same however the rows of their experiments' laws are permuted."""
    for claim in paper.claims:
        laws = _laws(paper, claim)
        found = grade(paper, claim, samples).grade
        if len(laws) < 2 or found not in TRUE:
            continue
        orders = (dict(zip(laws, other, strict=True)) for other in itertools.permutations(laws))
        if all(grade(paper, claim, Permuted(samples, paper, order)).grade is found for order in orders):
            yield claim.id


def _laws(paper: Paper, claim: Claim) -> list[str]:
    """Laws of the experiments that a claim names."""
    names = claim.test.names if claim.test is not None else frozenset()
    first = {name.partition(".")[0] for name in names}
    own = [of for name, of in paper.experiments.items() if name.partition(".")[0] in first]
    return list(dict.fromkeys(law for one in own for law in one.laws))
