"""Reproductions: the experiments of a paper run again, and its claims graded.

`paper.py` reads the file of a paper (`sojourn/papers`), `runs.py` carries out its experiments as sweeps,
`live.py` those on the machine's own TCP,
`predicate.py` judges claims over samples, `grades.py` grades them, `findings.py` judges the findings of
future work, `ours.py` has what both compared, `league.py` compares the laws, `calculations` has what needs no
packets, `document.py` has all of it as JSON, and `page.py` writes the pages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import polars as pl

from sojourn import kinds
from sojourn.errors import InputError
from sojourn.kinds import takes
from sojourn.progress import of_cells
from sojourn.reproduce.document import document
from sojourn.reproduce.grades import Grade, Graded, grade
from sojourn.reproduce.league import rows as league_rows
from sojourn.reproduce.ours import of_claim, texts
from sojourn.reproduce.paper import Paper, names, read
from sojourn.reproduce.runs import Samples, carry_out, command

if TYPE_CHECKING:
    from sojourn.sweep import Watch

__all__ = ["INDEX", "Grade", "Reproduction", "check_places", "names", "page_name", "reproduce"]

#: Page over several papers.
INDEX = "index"


def page_name(of: str, *, quick: bool) -> str:
    """File of the page of a paper, or of `INDEX`; that of few seeds leaves the one of a full run as it is."""
    return f"{of}{'-quick' * quick}.html"


def check_places(out: Path, pages: Sequence[str]) -> None:
    """Raise `InputError` if the stores or the pages cannot be written into the folder; leaves no trace."""
    from sojourn.report import check_name, check_place

    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file; expected a folder, new or with earlier runs")
    for name in pages:
        check_name(out / name)
        check_place(out / name)


@dataclass(frozen=True, repr=False)
class Reproduction:
    """A paper with its claims graded."""

    paper: Paper
    claims: Sequence[Graded]
    samples: Samples
    #: True if fewer seeds ran.
    quick: bool

    @property
    def page(self) -> str:
        """File of its page, beside the stores. One of few seeds leaves that of a full run as it is."""
        return page_name(self.paper.name, quick=self.quick)

    def __repr__(self) -> str:
        counts = [f"{count} {grade.value}" for grade, count in self.counts().items() if count]
        return f"<Reproduction {self.paper.name}: {', '.join(counts)}>"

    def counts(self) -> dict[Grade, int]:
        """Number of claims by grade; other readings of a sentence are not counted again."""
        counted = [of.grade for of in self.claims if of.claim.same_as is None]
        return {one: counted.count(one) for one in Grade}

    def table(self) -> pl.DataFrame:
        """A row a claim: what the paper has, what was measured, grade, evidence and command."""
        return pl.DataFrame([self._row(of) for of in self.claims])

    def league(self) -> pl.DataFrame:
        """League tables: a row an experiment, law and measure, with its mean and 95 % interval.

        `effect` is the paired standardised difference from the best law with its interval, `p_holm` the p
        that no law is better, corrected for each that may be the best and over the experiment's table;
        `level`: not separated from the best, null for fewer than three seeds in common with it.
        """
        return pl.DataFrame(list(league_rows(self)), infer_schema_length=None)

    def to_json(self) -> str:
        """The claims, the findings of future work, the league tables, and the runs that failed as JSON."""
        return json.dumps(document([self]), indent=1, ensure_ascii=False)

    def report(self, path: str | Path) -> Path:
        """Write the page. Raises `InputError` for a name that is none of a page, or `NotWritten`."""
        from sojourn.reproduce.page import write

        return write(self, Path(path))

    def _row(self, of: Graded) -> dict[str, str]:
        return {
            "id": of.claim.id,
            "item": of.claim.item,
            "claim": of.claim.claim,
            "says": of.claim.says,
            "ours": "; ".join(
                f"{name} {'; '.join(lines)}" for name, lines in texts(of_claim(self.paper, of))
            ),
            "grade": of.grade.value,
            "evidence": of.evidence,
            "why": of.claim.why,
            "command": command(self.paper, of.claim, quick=self.quick),
        }


def _workers(value: object) -> int:
    found = kinds.whole(value)
    if found < 1:
        raise TypeError("is not a number of workers; expected 1 or more")
    return found


@takes(
    paper=kinds.text,
    out=kinds.optional(kinds.folder),
    quick=kinds.flag,
    live=kinds.flag,
    jobs=kinds.optional(_workers),
)
def reproduce(
    paper: str,
    out: str | Path | None = None,
    *,
    quick: bool = False,
    live: bool = False,
    jobs: int | None = None,
) -> Reproduction:
    """Run the experiments of a paper and grade its claims.

    `paper` is one of `names`. `out` is the folder of the stores (default: ``reproduced`` in the current
    one): what they have is not run again. With `quick` two seeds run in place of ten or more, and grades are
    rougher. With `live` its live experiments run, too, on the TCP of this machine: five repeats of each,
    three with `quick`, one after the other in real time; without it their claims are not run. `jobs` is the
    number of threads of the others (default: one a processor), which changes no result.

    Raises `InputError` for an unknown paper, an argument of the wrong kind, a folder that is a file, or a
    store with a damaged file; `MissingError` where the machine does not allow live runs; `NotWritten` where a
    store cannot be written, and `Interrupted` on Ctrl-C: the cells that had finished are kept.

    >>> import sojourn as sj
    >>> sj.reproduce("arm_pfc", out=3)
    Traceback (most recent call last):
    sojourn.errors.ArgumentError: out: 3 is no folder; expected a text such as "results", or a pathlib.Path
    """
    folder = Path("reproduced") if out is None else Path(out)
    check_places(folder, ())
    with of_cells() as watch:
        return graded(read(paper), folder, quick=quick, live=live, jobs=jobs, watch=watch)


def graded(
    paper: Paper,
    out: Path,
    *,
    quick: bool = False,
    live: bool = False,
    jobs: int | None = None,
    watch: Watch | None = None,
) -> Reproduction:
    """The same for a paper that is read; `watch` is called for each cell."""
    samples = carry_out(paper, out, jobs, quick=quick, live=live, watch=watch)
    return Reproduction(paper, [grade(paper, claim, samples) for claim in paper.claims], samples, quick)


class _Verb(ModuleType):
    """The callable module: ``sojourn.reproduce(...)`` is ``sojourn.reproduce.reproduce(...)``."""

    def __call__(
        self,
        paper: str,
        out: str | Path | None = None,
        *,
        quick: bool = False,
        live: bool = False,
        jobs: int | None = None,
    ) -> Reproduction:
        return reproduce(paper, out, quick=quick, live=live, jobs=jobs)

    __call__.__doc__ = reproduce.__doc__


sys.modules[__name__].__class__ = _Verb
