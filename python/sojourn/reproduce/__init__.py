"""Reproductions: the experiments of a paper run again, and its claims graded.

`paper.py` reads the file of a paper (`sojourn/papers`), `runs.py` carries out its experiments as sweeps,
`predicate.py` judges claims over samples, `grades.py` grades them, `league.py` compares the laws,
`calculations` has what needs no packets, and `page.py` writes the pages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn.reproduce.grades import Grade, Graded, grade
from sojourn.reproduce.league import rows as league_rows
from sojourn.reproduce.paper import Paper, names, read
from sojourn.reproduce.runs import Samples, carry_out, command
from sojourn.result.statistics import Estimate, estimate

if TYPE_CHECKING:
    from sojourn.sweep import Watch

__all__ = ["Grade", "Reproduction", "names", "reproduce"]


@dataclass(frozen=True)
class Reproduction:
    """A paper with its claims graded."""

    paper: Paper
    claims: Sequence[Graded]
    samples: Samples
    #: True if fewer seeds ran.
    quick: bool

    def counts(self) -> dict[Grade, int]:
        """Number of claims by grade."""
        return {one: sum(of.grade is one for of in self.claims) for one in Grade}

    def table(self) -> pl.DataFrame:
        """A row a claim: what the paper has, what was measured, grade, evidence and command."""
        return pl.DataFrame([self._row(of) for of in self.claims])

    def league(self) -> pl.DataFrame:
        """League tables: a row an experiment, law and measure, with its mean and 95 % interval.

        `effect` is the paired standardised difference from the best law with its interval, `p_holm` its p,
        corrected over the experiment's table; `level`: not separated from the best.
        """
        return pl.DataFrame(list(league_rows(self)), infer_schema_length=None)

    def to_json(self) -> str:
        """The grades, the league tables, and the runs that failed as JSON."""
        rows = [self._row(of) for of in self.claims]
        about = {"paper": self.paper.name, "reference": self.paper.reference, "quick": self.quick}
        league, failed = list(league_rows(self)), self.samples.failures
        found = {**about, "claims": rows, "league": league, "failed": failed}
        return json.dumps(found, indent=1, ensure_ascii=False)

    def report(self, path: str | Path) -> Path:
        """Write the page. Raises `InputError` for a name that is none of a page, or `NotWritten`."""
        from sojourn.reproduce.page import write

        return write(self, Path(path))

    def _row(self, of: Graded) -> dict[str, str]:
        return {
            "id": of.claim.id,
            "item": of.claim.item,
            "claim": of.claim.claim,
            "paper": of.claim.says,
            "ours": "; ".join(f"{name} {text}" for name, text in measured(of).items()),
            "grade": of.grade.value,
            "evidence": of.evidence,
            "why": of.claim.why,
            "command": command(self.paper, of.claim, quick=self.quick),
        }


def reproduce(
    paper: str, out: str | Path | None = None, *, quick: bool = False, jobs: int | None = None
) -> Reproduction:
    """Run the experiments of a paper and grade its claims.

    `paper` is one of `names`. `out` is the folder of the stores (default: ``reproduced`` in the current
    one): what they have is not run again. With `quick` two seeds run in place of ten or more, and grades are
    rougher. `jobs` is the number of threads, which changes no result.

    Raises `InputError` for an unknown paper, `NotWritten` where a store cannot be written, and `Interrupted`
    on Ctrl-C: the cells that had finished are kept.
    """
    return graded(read(paper), Path("reproduced") if out is None else Path(out), quick=quick, jobs=jobs)


def graded(
    paper: Paper, out: Path, *, quick: bool = False, jobs: int | None = None, watch: Watch | None = None
) -> Reproduction:
    """The same for a paper that is read; `watch` is called for each cell."""
    samples = carry_out(paper, out, jobs, quick=quick, watch=watch)
    return Reproduction(paper, [grade(paper, claim, samples) for claim in paper.claims], samples, quick)


def measured(of: Graded) -> dict[str, str]:
    """Means with 95 % intervals of a claim's samples; their range where settings differ."""
    found: dict[str, list[Estimate]] = {}
    for case in of.cases:
        for name, sample in case.samples.items():
            by_seed = np.nanmean(sample, axis=-1) if sample.ndim > 1 else np.atleast_1d(sample)
            found.setdefault(name, []).append(estimate([float(one) for one in by_seed]))
    return {name: _written(several) for name, several in found.items()}


def _written(several: Sequence[Estimate]) -> str:
    means = {f"{one.mean:.4g}" for one in several}
    if len(means) > 1:
        least, most = (pick(several, key=lambda one: one.mean) for pick in (min, max))
        return f"{least.mean:.4g} to {most.mean:.4g}"
    one = several[0]
    if one.low is None or one.high is None or one.low == one.high:
        return f"{one.mean:.4g}"
    return f"{one.mean:.4g} ({one.low:.4g} to {one.high:.4g}, n = {one.n})"


class _Verb(ModuleType):
    """The callable module: ``sojourn.reproduce(...)`` is ``sojourn.reproduce.reproduce(...)``."""

    def __call__(self, paper: str, out: str | Path | None = None, **given: Any) -> Reproduction:
        return reproduce(paper, out, **given)


sys.modules[__name__].__class__ = _Verb
