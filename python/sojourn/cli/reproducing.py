"""The command `reproduce`: its work and its output."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.cli import options, printing, watching
from sojourn.errors import InputError, Interrupted, SojournError

if TYPE_CHECKING:
    from sojourn.reproduce import Reproduction

__all__ = ["run"]


def run(
    papers: Sequence[str],
    out: Path | None,
    jobs: int | None,
    *,
    quick: bool,
    live: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the experiments, print the grades, and write the pages."""
    from sojourn.reproduce import INDEX, check_places, graded, page_name
    from sojourn.reproduce.paper import read

    folder = out or Path("reproduced")
    read_ones = [read(name) for name in options.papers(papers)]
    pages = [one.name for one in read_ones] + [INDEX] * (len(read_ones) > 1)
    check_places(folder, [page_name(of, quick=quick) for of in pages])
    found: list[Reproduction] = []
    faults: dict[str, InputError] = {}
    try:
        for paper in read_ones:
            with watching.view("queue_mean_packets", quiet=quiet) as watch:
                try:
                    found.append(graded(paper, folder, quick=quick, live=live, jobs=jobs, watch=watch))
                except InputError as error:
                    faults[paper.name] = error
    except (Interrupted, KeyboardInterrupt):
        kept = f"runs that had finished are kept in {folder}, and the same command runs what is missing"
        raise Interrupted(
            f"interrupted; {kept if folder.is_dir() else 'nothing was written'}", None
        ) from None
    try:
        _deliver(found, faults, folder, as_json=as_json, quiet=quiet)
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; all runs had finished and are kept in {folder}", None) from None


def _deliver(
    found: Sequence[Reproduction],
    faults: Mapping[str, InputError],
    folder: Path,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print the grades, and write the pages.

    Raises the `InputError` of a paper whose stores cannot be read, and `SojournError` if a run has failed.
    """
    delivery = printing.Delivery()
    if found:
        _write(found, faults, folder, delivery, as_json=as_json)
    if not quiet:
        for written in delivery.written:
            printing.note(f"wrote {written}")
    failed = [f"{one.paper.name}, {line}" for one in found for line in one.samples.failures]
    outcome: SojournError | None = None
    if failed:
        runs = "1 run" if len(failed) == 1 else f"{len(failed)} runs"
        outcome = SojournError(f"{runs} failed and no sample has them, the first: {failed[0]}")
    delivery.errors += faults.values()
    delivery.conclude("sojourn reproduce", outcome)


def _write(
    found: Sequence[Reproduction],
    faults: Mapping[str, InputError],
    folder: Path,
    delivery: printing.Delivery,
    *,
    as_json: bool,
) -> None:
    """Print the document or the grades of the papers at hand, and write their pages."""
    from sojourn.reproduce import INDEX, page_name
    from sojourn.reproduce.document import document
    from sojourn.reproduce.page import write_all

    without = [f"{paper}, {line}" for paper, error in faults.items() for line in error.lines]
    delivery.show(lambda: _text(document(found, without)) if as_json else "\n\n".join(map(_table, found)))
    for one in found:
        place = folder / one.page
        delivery.write(place, lambda one=one, place=place: one.report(place))  # type: ignore[misc]
    if len(found) > 1:
        index = folder / page_name(INDEX, quick=found[0].quick)
        delivery.write(index, lambda: write_all(found, index))


def _text(of: dict[str, Any]) -> str:
    return json.dumps(of, indent=1, ensure_ascii=False)


def _table(of: Reproduction) -> str:
    """The claims of a paper: id, grade, claim and evidence, a paragraph each; then the counts."""
    width = max(72, shutil.get_terminal_size((110, 24)).columns)
    lines = [of.paper.title, ""]
    for one in of.claims:
        head = f"{one.claim.id:<12} {one.grade.value:<19}"
        again = f" (the sentence of {one.claim.same_as}, which counts)" if one.claim.same_as else ""
        text = f"{one.claim.claim}{again} {one.evidence.rstrip('.')}."
        lines += textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * len(head))
    if of.samples.trust:
        lines += ["", *(one.line for one in of.samples.trust)]
    counts = of.counts()
    parts = ", ".join(f"{count} {grade.value}" for grade, count in counts.items() if count)
    return "\n".join([*lines, "", f"{sum(counts.values())} claims: {parts}"])
