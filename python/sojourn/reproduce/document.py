"""Reproductions as one JSON document: the claims of one paper or of several, with numbers and grades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sojourn.reproduce.findings import findings
from sojourn.reproduce.grades import Graded
from sojourn.reproduce.league import over_all_rows, rows
from sojourn.reproduce.ours import Measured, of_claim, of_finding
from sojourn.reproduce.runs import command

if TYPE_CHECKING:
    from sojourn.reproduce import Reproduction

__all__ = ["document"]


def document(several: Sequence[Reproduction], without: Sequence[str] = ()) -> dict[str, Any]:
    """The document: tables of claims, findings, league standings, live and failed runs over all papers given.

    `without` has a line for each paper that could not be graded.
    """
    return {
        "quick": any(of.quick for of in several),
        "papers": [_paper(of) for of in several],
        "claims": [_claim(of, one) for of in several for one in of.claims],
        "findings": [row for of in several for row in _findings(of)],
        "league": [{"paper": of.paper.name, **row} for of in several for row in rows(of)],
        "league_over_all": list(over_all_rows(several)),
        "live": [row for of in several for row in _live(of)],
        "failed": [
            *(f"{of.paper.name}, {line}" for of in several for line in of.samples.failures),
            *without,
        ],
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
        "ours": [_quantity(quantity) for quantity in of_claim(of.paper, one)],
        "grade": one.grade.value,
        "evidence": one.evidence,
        "why": claim.why,
        "same_as": claim.same_as,
        "command": command(of.paper, claim, quick=of.quick),
    }


def _live(of: Reproduction) -> Iterator[dict[str, Any]]:
    """The trust in each live run."""
    for one in of.samples.trust:
        place = {"experiment": one.experiment, "qdisc": one.qdisc, "seed": one.seed}
        yield {"paper": of.paper.name, **place, **one.trust}


def _findings(of: Reproduction) -> Iterator[dict[str, Any]]:
    for one in findings(of.paper, of.samples):
        yield {
            "paper": of.paper.name,
            "item": one.item,
            "finding": one.finding.text,
            "test": one.finding.test.text,
            "outcome": one.outcome.value,
            "ours": [_quantity(quantity, _OF_CLAIMS) for quantity in of_finding(one)],
        }


#: Keys of claims alone: the names of a finding have their settings.
_OF_CLAIMS = ("settings", "variant", "window", "once", "stand_in")


def _quantity(of: Measured, without: Sequence[str] = ()) -> dict[str, Any]:
    """Its numbers, in SI units."""
    return {key: value for key, value in asdict(of).items() if key not in ("unit", *without)}
