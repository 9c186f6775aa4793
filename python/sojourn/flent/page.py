"""The page of captures: what users of Flent know, as one offline file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from matplotlib.axes import Axes

from sojourn.flent import plots
from sojourn.flent.capture import DIRECTIONS, Capture, Line
from sojourn.report import put
from sojourn.report.document import document
from sojourn.report.figures import svg
from sojourn.report.parts import figure_of, prose

#: Most captures of a page, and columns of the summary.
MOST = 28
COLUMNS = ("mean", "median", "p99", "samples")


def write(captures: Sequence[Capture], path: Path) -> Path:
    """Write the page, whole or not at all."""
    return put(path, lambda: page(captures))


def page(captures: Sequence[Capture]) -> str:
    """The whole page as text. It needs no other file and no network."""
    names = names_of(captures)
    title = names[0] if len(captures) == 1 else f"{len(captures)} captures of Flent"
    body = [
        f'<header>\n<p class="kind">Flent capture</p>\n<h1>{escape(title)}</h1>\n'
        + "".join(f'<p class="setting">{prose(line)}</p>\n' for line in _settings(captures, names))
        + "</header>",
        '<section id="pictures">\n<div class="pictures">',
        *_pictures(captures, names),
        "</div>\n</section>",
        *(
            _summary(one, name if len(captures) > 1 else "Summary")
            for one, name in zip(captures, names, strict=True)
        ),
    ]
    return document(title, body)


def names_of(captures: Sequence[Capture]) -> list[str]:
    """A name for each capture: its title, and the name of its file where titles are alike."""
    titles = [one.title or one.origin for one in captures]
    return [
        f"{title} ({one.origin})" if titles.count(title) > 1 else title
        for title, one in zip(titles, captures, strict=True)
    ]


def cells(line: Line) -> list[str]:
    """The numbers of a line of the summary, as Flent rounds them."""
    values = ("-" if value is None else f"{value:.2f}" for value in (line.mean, line.median, line.p99))
    return [*values, str(line.count)]


def _settings(captures: Sequence[Capture], names: Sequence[str]) -> Iterator[str]:
    """A sentence for each capture: its test, its ends, and its length."""
    for place, (one, name) in enumerate(zip(captures, names, strict=True)):
        about = one.metadata
        ends = " to ".join(str(end) for end in (about.get("LOCAL_HOST"), about.get("HOST")) if end)
        before = "" if len(captures) == 1 else f"{place + 1}: {name}. "
        length = f"{max(one.x_values):.4g} s"
        between = f", {ends}" if ends else ""
        yield f"{before}Test {one.test}{between}, {length}. {about.get('NOTE') or ''}".strip()


def _pictures(captures: Sequence[Capture], names: Sequence[str]) -> Iterator[str]:
    thin = " Thin: its flows." if len(captures) == 1 else ""
    for direction in DIRECTIONS:
        yield _picture(
            plots.goodput(captures, names, direction),
            direction,
            f"{direction.capitalize()} over time",
            f"Sum of the goodputs of all flows.{thin}",
        )
    yield _picture(plots.pings(captures, names), "pings", "Pings over time", "Each answer at its time.")
    drawn = plots.boxes(captures)
    yield _picture(
        drawn[0] if drawn else None,
        "boxes",
        "Totals",
        "Quartiles and median while flows send; whiskers to the last value within 1.5 times the box.",
    )
    about = "Share of the pings that are answered within that time, while flows send."
    yield _picture(plots.cdf(captures, names), "cdf", "Distribution of the pings", about)


def _picture(ax: Axes | None, ids: str, title: str, meaning: str) -> str:
    """A figure with its caption; empty without a picture."""
    if ax is None:
        return ""
    drawn = svg(figure_of(ax), ids, f"{title}. {meaning}")
    caption = f'<figcaption class="note">{prose(meaning)}</figcaption>'
    return f'<figure id="{ids}">\n<h3>{title}</h3>\n<div class="still">{drawn}</div>\n{caption}\n</figure>'


def _summary(capture: Capture, title: str) -> str:
    """The table that Flent prints as its summary."""
    heads = "".join(f'<th scope="col">{column}</th>' for column in ("unit", *COLUMNS))
    body = "\n".join(
        f'<tr><th scope="row">{escape(line.name)}</th><td data-name="unit">{escape(line.unit)}</td>'
        + "".join(
            f'<td data-name="{column}">{cell}</td>' for column, cell in zip(COLUMNS, cells(line), strict=True)
        )
        + "</tr>"
        for line in capture.summary()
    )
    return (
        f'<section>\n<h2>{escape(title)}</h2>\n<div class="scroll"><table>\n'
        f'<thead><tr><th scope="col">series</th>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>\n"
        '<p class="note">Quantiles are of the samples of each series over the whole test, as in the summary '
        "that Flent prints.</p>\n</section>"
    )
