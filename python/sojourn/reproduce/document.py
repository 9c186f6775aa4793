"""Reproductions as one JSON document: the claims of one paper or of several, with numbers and grades."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sojourn.reproduce.findings import findings
from sojourn.reproduce.grades import Case, Graded
from sojourn.reproduce.league import over_all_rows, rows
from sojourn.reproduce.paper import in_variant, split
from sojourn.reproduce.runs import Sample, command, over_seeds

if TYPE_CHECKING:
    from sojourn.reproduce import Reproduction

__all__ = ["document"]


def document(several: Sequence[Reproduction]) -> dict[str, Any]:
    """The document: tables of claims, findings, league standings and failed runs over all papers given."""
    return {
        "quick": any(of.quick for of in several),
        "papers": [_paper(of) for of in several],
        "claims": [_claim(of, one) for of in several for one in of.claims],
        "findings": [row for of in several for row in _findings(of)],
        "league": [{"paper": of.paper.name, **row} for of in several for row in rows(of)],
        "league_over_all": list(over_all_rows(several)),
        "failed": [f"{of.paper.name}, {line}" for of in several for line in of.samples.failures],
    }


def _paper(of: Reproduction) -> dict[str, Any]:
    counts = {grade.value: count for grade, count in of.counts().items()}
    paper = of.paper
    return {"paper": paper.name, "title": paper.title, "reference": paper.reference, "grades": counts}


def _claim(of: Reproduction, one: Graded) -> dict[str, Any]:
    claim = one.claim
    return {
        "paper": of.paper.name,
        "id": claim.id,
        "item": claim.item,
        "claim": claim.claim,
        "says": claim.says,
        "test": None if claim.test is None else claim.test.text,
        "ours": list(_measured(of, one.cases)),
        "grade": one.grade.value,
        "evidence": one.evidence,
        "why": claim.why,
        "command": command(of.paper, claim, quick=of.quick),
    }


def _measured(of: Reproduction, cases: Sequence[Case]) -> Iterator[dict[str, Any]]:
    """Means of the samples of a claim, once for each setting, variant and window that its cases have."""
    paper, seen = of.paper, set()
    for case in cases:
        for name, sample in case.samples.items():
            own = in_variant(name, case.open.variant, paper.name, paper.experiments)
            parts = split(own, paper.name, paper.experiments)
            choice = {
                "setting": None if parts.law is None else case.settings[parts.law].name,
                "variant": case.open.variant,
                "window": parts.window or case.open.window,
            }
            if (key := (name, *choice.values())) not in seen:
                seen.add(key)
                yield {"sample": name, **choice, **_numbers(sample)}


def _numbers(sample: Sample) -> Mapping[str, float | int | None]:
    """Mean, interval and number of seeds; of a calculation the number, without an interval."""
    found = over_seeds(sample)
    numbers = {"mean": found.mean, "low": found.low, "high": found.high}
    known = {name: of if of is not None and math.isfinite(of) else None for name, of in numbers.items()}
    return {**known, "n": found.n}


def _findings(of: Reproduction) -> Iterator[dict[str, Any]]:
    for one in findings(of.paper, of.samples):
        yield {
            "paper": of.paper.name,
            "item": one.item,
            "finding": one.finding.text,
            "test": one.finding.test.text,
            "outcome": one.outcome.value,
            "ours": [{"sample": name, **_numbers(sample)} for name, sample in one.samples.items()],
        }
