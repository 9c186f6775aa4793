"""The commands `sweep` and `cite`: their work and their output."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from sojourn.cli import options, printing, watching
from sojourn.errors import InputError, Interrupted, MissingError, SojournError

if TYPE_CHECKING:
    from sojourn.result.statistics import Estimate
    from sojourn.sweep import Sweep
    from sojourn.sweep.grid import Grid
    from sojourn.sweep.until import Until

__all__ = ["How", "is_store", "report", "run", "sources"]

#: Metrics of the printed table, and its most rows.
_SHOWN = ("utilization", "queue_mean_packets", "sojourn_p95_s", "drop_ratio", "mark_ratio", "goodput_bps")
_MOST_ROWS = 40
#: Largest file that is looked at as a grid.
_MOST_BYTES = 10_000_000


class How(NamedTuple):
    """Flags of a sweep."""

    resume: bool
    until: Until | None
    as_json: bool
    quiet: bool
    page: Path | None = None
    engine: str = "local"
    cluster: str | None = None
    retry: bool = False
    #: Of --seeds and --set.
    seeds: Sequence[int] | None = None
    changes: Mapping[str, str] = MappingProxyType({})


def run(grid: str, out: Path | None, jobs: int | None, how: How) -> None:
    """Run a sweep and print its summary. Raises `SojournError` if a cell has failed."""
    from sojourn.sweep import carry_out, folder_of
    from sojourn.sweep.engines import Engine
    from sojourn.sweep.grid import read

    engine = Engine(how.engine, how.cluster, jobs or os.cpu_count() or 1)
    folder = folder_of(grid, out)
    checked = read(grid, seeds=how.seeds, changes=how.changes)
    if how.page is not None:
        from sojourn.report import check_place
        from sojourn.result.sensitivity import salib

        options.make_room(how.page)
        check_place(how.page)
        if any(one.kind == "sensitivity" for one in checked.about.pictures):
            salib()
    if how.resume and not folder.is_dir():
        raise InputError(f"--resume: {folder} does not exist; expected a store, or no --resume")
    shown = watching.view(watching.metric_of(checked, how.until), quiet=how.quiet)
    # A law in Python may print, and stdout holds one document.
    aside: AbstractContextManager[object] = redirect_stdout(sys.stderr) if how.as_json else nullcontext()
    with aside, shown as watch:
        found = carry_out(checked, folder, engine, watch=watch, until=how.until, retry=how.retry)
    try:
        _deliver(found, folder, how)
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; all cells had finished and are kept in {folder}", None) from None


def _deliver(found: Sweep, folder: Path, how: How) -> None:
    """Print the summary, and write the page. Raises `SojournError` if a cell has failed."""
    from sojourn.sweep.until import shortfalls

    failed = found.failures()
    delivery = printing.Delivery()
    delivery.show(lambda: found.to_json() if how.as_json else _summary(found, failed.height))
    if how.page is not None:
        place = how.page
        delivery.write(place, lambda: found.report(place))
    if not how.quiet:
        printing.note(f"wrote {folder}" if found.ran else f"{folder} has all of them")
        for written in delivery.written:
            printing.note(f"wrote {written}")
    outcome = None
    if failed.height:
        line = f"{failed.height} of {found.plan.height} cells failed, the first: {failed['error'][0]}"
        line += "; --retry runs them again"
        outcome = SojournError(line)
    elif short := shortfalls(found):
        more = found.imprecise().height - 3
        rest = f"; and {more} more" if more > 0 else ""
        outcome = SojournError(f"{short[0]} {'; '.join(short[1:4])}{rest}")
    delivery.conclude("sojourn sweep", outcome)


def is_grid(file: str) -> bool:
    """True for a file with axes, and for a name of `list campaigns` that is none of a scenario."""
    from sojourn import files
    from sojourn.scenario import has_axes, is_campaign

    place = Path(file)
    # A stream can be read once.
    if files.is_stream(place):
        return False
    try:
        return has_axes(files.read(place, _MOST_BYTES)) if place.exists() else is_campaign(file)
    except (OSError, ValueError):
        # As a scenario it has an error of its own.
        return False


def check(file: str, changes: Mapping[str, str]) -> None:
    """Print the size of a grid. Raises `SojournError` if a point would be refused, `InputError` if all."""
    from sojourn.sweep.cells import settings
    from sojourn.sweep.designs import Designer
    from sojourn.sweep.grid import read
    from sojourn.sweep.plan import seeds_at

    grid = read(file, changes=changes)
    cells = points = 0
    refused: list[str] = []
    for setting in settings(grid, Designer({})):
        points += 1
        cells += len(seeds_at(grid, setting.point))
        if setting.refused is not None:
            at = ", ".join(f"{name} = {_text(value)}" for name, value in setting.point.columns.items())
            refused.append(f"{setting.refused} (at {at}, {setting.point.plant})")
    drawn = [one.name for one in grid.axes if one.values is None]
    parts = [f"{len(one.values)} {one.name}" for one in grid.axes if one.values is not None]
    if grid.sample is not None:
        parts.insert(0, f"{grid.sample.size(len(drawn))} of {', '.join(drawn)} ({grid.sample.method})")
    parts += [f"{len(grid.plants)} plants"] if len(grid.plants) > 1 else []
    seeds, repeats = len(grid.seeds), _repeats(grid.sample.points if grid.sample else 0, grid.repeated)
    lines = [grid.about.title or f'A grid of the scenario "{grid.base.title}"']
    lines += [grid.about.question] if grid.about.question else []
    lines += [repeats] if repeats else []
    lines += [
        f"points: {points} ({' x '.join(parts)}{', less those left out' if _leaves_out(grid) else ''})",
        f"cells: {cells} ({seeds} {'seed' if seeds == 1 else 'seeds'} a point)",
    ]
    line = f"{file}: {len(refused)} of {points} points would be refused"
    line += f", the first: {refused[0]}" if refused else ""
    if len(refused) == points:
        raise InputError(line)
    printing.say("\n".join(lines))
    if refused:
        raise SojournError(line)


def _repeats(points: int, number: int, before: str = "") -> str:
    """A line on points of a sample that are left out, and what stands before it; empty: there are none."""
    if not number:
        return ""
    verb = "equals" if number == 1 else "equal"
    return f"{before}{number} of {points} points of the sample {verb} an earlier one, and are left out"


def _leaves_out(grid: Grid) -> bool:
    return bool(grid.conditions or grid.excluded)


def is_store(folder: Path) -> bool:
    """True for a folder that 'sojourn sweep' wrote."""
    return (folder / "sweep.json").is_file()


def report(folder: Path, named: Path | None, baseline: str | None) -> None:
    """Write the page of a store. Raises `InputError`, `NotWritten` and `MissingError`."""
    from sojourn import files
    from sojourn.report import check_place
    from sojourn.sweep import load

    if baseline is not None:
        raise InputError("--baseline: belongs to a result; expected none for a sweep")
    page = folder / "report.html" if named is None else named
    options.make_room(page)
    check_place(page)
    load(folder).report(page)
    if not files.is_stream(page):
        printing.say(str(page))


def cited(file: str) -> list[dict[str, str]]:
    """Sources of a scenario, of a folder of results, or of a campaign of the gallery. Raises `InputError`."""
    from sojourn import citations
    from sojourn.scenario import is_campaign

    if not is_campaign(file):
        return citations.bibliography(file)
    from sojourn.sweep.grid import read
    from sojourn.sweep.plan import named_by

    return citations.sources(named_by(read(file)))


def sources(found: Sequence[dict[str, str]]) -> str:
    """A bibliography as text: each name with its source."""
    return "\n".join(
        textwrap.fill(f"{one['name']}: {one['source']}", 88, subsequent_indent="    ", break_long_words=False)
        for one in found
    )


def _summary(found: Sweep, failed: int) -> str:
    """Counts, and means over seeds at each point."""
    from sojourn.result import metrics

    head = f"{found.plan['cell'].n_unique()} cells: {found.ran} run, {found.found} found, {failed} failed"
    sample = found.about.get("sample") or {}
    head += _repeats(sample.get("points", 0), sample.get("repeated", 0), ". ")
    names = [name for name in found.axes if found.plan[name].n_unique() > 1] or found.axes[:1]
    points = _points(found, names)
    if not points:
        return head
    columns = [
        column
        for column in metrics.SUMMARY
        if column.metric in _SHOWN and any(column.metric in own for own in points.values())
    ]
    several = any(one.n > 1 for own in points.values() for one in own.values())
    meaning = "; mean ± half-width of the 95 % interval over seeds" if several else ""
    rows = [
        [*place, *(_cell(own.get(column.metric), column.scale) for column in columns)]
        for place, own in points.items()
    ]
    width = max(72, shutil.get_terminal_size((110, 24)).columns)
    table = printing.table([*names, *(column.long for column in columns)], rows, width, gap=1)
    left = found.table().select(found.axes).unique().collect().height - _MOST_ROWS
    more = [f"and {left} more points: --json and the store have them"] if left > 0 else []
    return "\n".join([f"{head}{meaning}\n", table, *more, *_imprecise(found), *_answer(found)])


def _imprecise(found: Sweep) -> list[str]:
    """The points that have not the precision of --until, with what they have."""
    from sojourn.sweep.until import shortfalls

    lines = shortfalls(found)
    return [f"\n{lines[0]}", *(f"  {line}" for line in lines[1:])] if lines else []


def _answer(found: Sweep) -> list[str]:
    """The question of a grid, and what its pictures say."""
    from sojourn.sweep.answers import answers

    question = found.about.get("question")
    try:
        parts = answers(found)
    except MissingError as error:
        parts = list(error.lines)
    if not parts and not question:
        return []
    lines = [f"\n{question}"] if question else [""]
    return lines + [
        textwrap.fill(line, 110, subsequent_indent="  ", break_long_words=False) for line in parts
    ]


def _points(found: Sweep, names: Sequence[str]) -> dict[tuple[str, ...], dict[str, Estimate]]:
    """Estimates by metric at the first points, by the values of these axes."""
    from sojourn.result.statistics import Estimate

    points: dict[tuple[str, ...], dict[str, Estimate]] = {}
    for row in found.summary(*_SHOWN, first=_MOST_ROWS).iter_rows(named=True):
        place = tuple(found.written(name, row[name]) for name in names)
        estimate = Estimate(row["n"], row["mean"], row["ci95_low"], row["ci95_high"])
        # Of several links the first.
        points.setdefault(place, {}).setdefault(row["metric"], estimate)
    return points


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _cell(found: Estimate | None, scale: float) -> str:
    from sojourn.result.statistics import Estimate
    from sojourn.result.words import with_half

    if found is None:
        return ""
    low, high = (None if end is None else end * scale for end in (found.low, found.high))
    return with_half(Estimate(found.n, found.mean * scale, low, high))
