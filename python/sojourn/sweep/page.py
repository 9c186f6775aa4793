"""The page of a sweep: one offline file, the question and its answers first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.errors import InputError
from sojourn.report import put
from sojourn.report.document import document
from sojourn.report.figures import svg
from sojourn.report.parts import figure_of, prose
from sojourn.result import SEEDLESS, metrics, words
from sojourn.sweep.answers import MOST, pictures, sentences
from sojourn.sweep.pictures import KINDS, Picture, capital, named
from sojourn.sweep.store import scan
from sojourn.sweep.until import shortfalls

if TYPE_CHECKING:
    from sojourn.sweep import Sweep

__all__ = ["page", "write"]

#: Most points of the table, the same of a sample, most failures that are listed, and letters of a grid.
MOST_POINTS, MOST_DRAWN, MOST_FAILURES, MOST_LETTERS = 200, 20, 20, 20_000
#: Metrics of the table.
SHOWN = (
    "utilization",
    "queue_mean_packets",
    "queue_std_packets",
    "sojourn_p95_s",
    "drop_ratio",
    "mark_ratio",
)


def write(of: Sweep, path: Path) -> Path:
    """Write the page, whole or not at all."""
    return put(path, lambda: page(of))


def page(of: Sweep) -> str:
    """The whole page as text. It needs no other file and no network."""
    title = of.about.get("question") or of.about.get("title") or of.about.get("scenario") or "A sweep"
    shown = pictures(of)
    found = [line for one in shown for line in sentences(of, one)][:MOST]
    headlines = "".join(
        f'<p class="{"verdict" if place else "headline"}">{prose(line)}</p>\n'
        for place, line in enumerate(found)
    )
    drawn = [part for place, one in enumerate(shown) for part in _drawn(of, one, f"p{place}")]
    body = [
        f'<header>\n<p class="kind">Sojourn sweep</p>\n<h1>{escape(title)}</h1>\n'
        f"{headlines}{_extent(of)}</header>",
        '<section id="pictures">\n<h2>Pictures</h2>\n<div class="pictures">',
        *drawn,
        "</div>\n</section>",
        _failures(of),
        _table(of),
        _theory(of),
        _grid(of),
        _meanings(),
    ]
    return document(title, body)


def _extent(of: Sweep) -> str:
    """Number of cells, points and seeds."""
    points = of.plan.select(of.axes).unique().height
    counts = of.plan.filter(~pl.col("plant").is_in(list(SEEDLESS)))["point"].value_counts()["count"]
    least, seeds = (int(end) if isinstance(end, int) else 1 for end in (counts.min(), counts.max()))
    named_scenario = of.about.get("scenario") or ""
    text = (
        f"{of.plan['cell'].n_unique()} cells: {points} {'point' if points == 1 else 'points'}, "
        f"{seeds if seeds == least else f'{least} to {seeds}'} {'seed' if seeds == 1 else 'seeds'}"
    )
    if of.unfinished:
        whole = of.plan["cell"].n_unique()
        text = f"{whole - of.unfinished} of {whole} cells have finished: {text.partition(': ')[2]}"
    of_what = f" of the scenario “{escape(named_scenario)}”" if named_scenario else ""
    return f'<p class="setting">{prose(text)}{of_what}.</p>\n{_precision(of)}'


def _precision(of: Sweep) -> str:
    """The precision of --until, and the points that have not reached it."""
    given = of.about.get("until")
    if given is None:
        return ""
    short = words.column_named(given["metric"]).short
    text = (
        f"Further seeds until the half-width of the 95 % interval of {short} is at most "
        f"{100 * given['relative']:.4g} % of the mean, {given['most']} seeds at most."
    )
    lines = shortfalls(of) or ["No point with a value has missed it."]
    missed = "".join(f"<li>{prose(line)}</li>\n" for line in lines[1:])
    return f'<p class="note" id="precision">{prose(f"{text} {lines[0]}")}</p>\n' + (
        f"<ul>\n{missed}</ul>\n" if missed else ""
    )


def _drawn(of: Sweep, one: Picture, ids: str) -> Iterator[str]:
    """The pictures of one entry of the grid, each as a figure; a line where it has no values."""
    column = words.column_named(one.metric)
    kind = KINDS[one.kind]
    several = kind.places(of, one)
    for place, at in enumerate(itertools.islice(several, MOST)):
        title = capital(column.short)
        if at:
            title = f"{title}: {named(of, at)}"
        try:
            ax = kind.draw(of, one, at)
        except InputError as error:
            why = "No cell has finished yet." if _waits(of, at) else error.lines[0]
            yield f"<figure>\n<h3>{escape(title)}</h3>\n<p>{prose(why)}</p>\n</figure>"
            continue
        name = f"{ids}-{place}"
        meaning = kind.caption(one)
        yield (
            f'<figure id="{name}">\n<h3>{escape(title)}</h3>\n'
            f'<div class="still">{svg(figure_of(ax), name, f"{title}. {meaning}")}</div>\n'
            f'<figcaption class="note">{prose(meaning)}</figcaption>\n</figure>'
        )
    if len(several) > MOST:
        yield f'<p class="note">{len(several) - MOST} more are left out.</p>'


def _waits(of: Sweep, at: Mapping[str, Any]) -> bool:
    """True if no cell at these values of axes has finished, of a sweep that has not."""
    if not of.unfinished:
        return False
    of_it = of.plan.filter(pl.col(name).eq_missing(pl.lit(value)) for name, value in at.items())
    return of_it.lazy().join(scan(of.folder), on="cell", how="semi").collect().is_empty()


def _failures(of: Sweep) -> str:
    """Cells that failed, with their messages."""
    failed = of.failures()
    if not failed.height:
        return ""
    names = [name for name in failed.columns if name not in ("cell", "point", "error")]
    lines = "".join(
        f"<li>{escape(named(of, {name: row[name] for name in names}))}: {prose(row['error'])}</li>\n"
        for row in failed.head(MOST_FAILURES).iter_rows(named=True)
    )
    left = failed.height - MOST_FAILURES
    more = f'<p class="note">and {left} more, which the store has.</p>\n' if left > 0 else ""
    return (
        f'<section id="failures">\n<h2>{failed.height} of {of.plan.height} cells failed</h2>\n'
        f"<ul>\n{lines}</ul>\n{more}</section>"
    )


def _table(of: Sweep) -> str:
    """Means of the points."""
    places = [name for name in of.axes if of.plan[name].n_unique() > 1] or of.axes[:1]
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in of.summary(*SHOWN).iter_rows(named=True):
        key = (*(row[name] for name in places), row["link"])
        found.setdefault(key, {})[row["metric"]] = row
    columns = [
        column
        for column in metrics.ALL
        if column.metric in SHOWN and any(column.metric in own for own in found.values())
    ]
    if not found:
        return ""
    links = len({key[-1] for key in found}) > 1
    heads = [*places, *(["link"] if links else [])]
    lines, most = [], MOST_DRAWN if of.about.get("drawn") else MOST_POINTS
    for key, own in itertools.islice(found.items(), most):
        texts = [of.written(name, one) for name, one in zip(heads, key[: len(heads)], strict=True)]
        names = "".join(f'<th scope="row">{escape(text)}</th>' for text in texts)
        cells = "".join(_cell(own.get(column.metric), column.scale) for column in columns)
        lines.append(f"<tr>{names}{cells}</tr>")
    body = "\n".join(lines)
    titles = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads) + "".join(
        f'<th scope="col">{escape(one.short)}<span class="unit">{escape(one.unit)}</span></th>'
        for one in columns
    )
    left = len(found) - most
    more = f'\n<p class="note">{left} more points are in the store.</p>' if left > 0 else ""
    return (
        '<section id="points">\n<h2>Points</h2>\n'
        '<p class="note">Means over the seeds, with the half-widths of 95 % intervals (Student\'s t).</p>\n'
        f'<div class="scroll"><table>\n<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody>\n'
        f"</table></div>{more}\n</section>"
    )


def _cell(row: Mapping[str, Any] | None, scale: float) -> str:
    if row is None:
        return "<td>-</td>"
    mean = f"{row['mean'] * scale:.4g}"
    if row["ci95_low"] is None:
        return f"<td>{mean}</td>"
    half = (row["ci95_high"] - row["ci95_low"]) / 2 * scale
    return f'<td>{mean}<span class="half">± {half:.2g}</span></td>'


def _theory(of: Sweep) -> str:
    """Verdicts of the certificates."""
    if not of.about.get("theory"):
        return ""
    counts = of.theory()["verdict"].str.split(":").list.first().value_counts(sort=True)
    found = ", ".join(f"{number} {verdict}" for verdict, number in counts.rows())
    text = f"{of.theory().height} points: {found}."
    return (
        f'<section id="theory">\n<h2>Certificates</h2>\n<p>{prose(text)}</p>\n'
        '<p class="note">Unstable points have margins but no predicted deviation.</p>\n</section>'
    )


def _grid(of: Sweep) -> str:
    """Text of the grid's file."""
    source = of.about.get("source") or ""
    if not source:
        return ""
    return (
        '<section id="grid">\n<h2>The grid</h2>\n'
        f"<pre><code>{escape(source[:MOST_LETTERS])}</code></pre>\n"
        '<p class="note">The same grid and version give the same numbers, on any machine, by any engine, '
        "with any number of workers.</p>\n</section>"
    )


def _meanings() -> str:
    rows = "".join(
        f"<dt>{escape(one.short)}</dt><dd>{escape(metrics.ABOUT[one.metric])}</dd>"
        for one in metrics.ALL
        if one.metric in SHOWN
    )
    return f'<section id="meanings">\n<h2>Meanings of the columns</h2>\n<dl>{rows}</dl>\n</section>'
