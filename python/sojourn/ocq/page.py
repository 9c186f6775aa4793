"""The page of solutions of the control problem: one offline file, the result first."""

from __future__ import annotations

from html import escape
from pathlib import Path

from matplotlib.axes import Axes

from sojourn.ocq import words
from sojourn.ocq.comparison import Row, Table
from sojourn.ocq.plots import Plots
from sojourn.report import put
from sojourn.report.document import document
from sojourn.report.figures import svg
from sojourn.report.parts import figure_of, prose

PICTURES = (
    ("trajectory", "Trajectories", "The queue with x_s as a line, and the input below the load, dashed."),
    ("costate", "Adjoint", "The costate: cost of one more packet from then on. R is dashed."),
    (
        "switching",
        "Switching function",
        "H_u, the costate less R: the load is admitted where it is below 0, and nothing where it is above; "
        "on the singular arc it is 0.",
    ),
    (
        "beta",
        "Beta history",
        "The penalty of Algorithm 1: smaller after each better step, greater otherwise.",
    ),
    ("gap", "Gap on the mesh", "Bound of the excess over the least cost on the mesh, by iteration."),
)
#: What the certificate is, on every page.
CERTIFICATE = (
    "The problem is convex in disguise, so the costate of any control bounds its excess over the least cost: "
    "J - J* is at most the integral of (costate - R) (u - u_min) where the costate is above R, and of "
    "(R - costate) (u_max - u) where it is below; the bounds u_min and u_max are 0 and w unless others are "
    "given. It needs one sweep backwards in time and no second method."
)


def write(table: Table, path: Path) -> Path:
    """Write the page, whole or not at all."""
    return put(path, lambda: page(table))


def page(table: Table) -> str:
    """The whole page as text. It needs no other file and no network."""
    alone = len(table.rows) == 1
    title = "Optimal control of a queue" if alone else "Optimal control of a queue: Table 1 done again"
    sentences = [words.verdict(table.rows[0])] if alone else words.headline(table)
    headlines = "".join(f'<p class="headline">{prose(one)}</p>\n' for one in sentences)
    sections = [_section(table, instance, f"i{place}") for place, instance in enumerate(table.instances)]
    head = (
        '<header>\n<p class="kind">Sojourn, optimal control</p>\n'
        f"<h1>{escape(title)}</h1>\n{headlines}</header>"
    )
    return document(title, [head, *sections, _meanings()])


def _section(table: Table, instance: str, ids: str) -> str:
    rows = table.of(instance)
    problem = rows[0].solution.problem
    name = f"Instance {instance}" if instance else "The problem"
    notes = [*problem.notes, *(f"Skipped: {line}" for line in table.skipped)]
    parts = [
        f'<section id="{ids}">\n<h2>{escape(name)}</h2>',
        f"<p>{prose(words.about(instance, problem))}</p>",
        _table(table, instance),
        *(f'<p class="note">{prose(note)}</p>' for note in notes),
        '<div class="pictures">',
        *_pictures(rows, ids),
        "</div>\n</section>",
    ]
    return "\n".join(parts)


def _table(table: Table, instance: str) -> str:
    heads = "".join(
        f'<th scope="col">{escape(title)}<span class="unit">{escape(unit)}</span></th>'
        for title, unit, *_ in words.COLUMNS
    )
    rows = [(row.name, words.cells(row)) for row in table.of(instance)]
    paper = words.printed(table, instance) if len(rows) > 1 else []
    body = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for name, cells in [*rows, *paper]
    )
    return (
        '<div class="scroll"><table>\n'
        f'<thead><tr><th scope="col">method</th>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _pictures(rows: list[Row], ids: str) -> list[str]:
    plots = Plots([row.solution for row in rows], [row.name for row in rows])
    has = {
        "beta": any(len(row.solution.betas) for row in rows),
        "gap": any(len(row.solution.gaps) > 1 for row in rows),
    }
    return [
        _picture(getattr(plots, kind)(), f"{ids}-{kind}", title, meaning)
        for kind, title, meaning in PICTURES
        if has.get(kind, True)
    ]


def _picture(ax: Axes, ids: str, title: str, meaning: str) -> str:
    drawn = svg(figure_of(ax), ids, f"{title}. {meaning}")
    caption = f'<figcaption class="note">{prose(meaning)}</figcaption>'
    return f'<figure id="{ids}">\n<h3>{title}</h3>\n<div class="still">{drawn}</div>\n{caption}\n</figure>'


def _meanings() -> str:
    terms = "".join(
        f"<dt>{escape(title)}</dt><dd>{escape(meaning)}</dd>" for title, _, _, _, meaning in words.COLUMNS
    )
    return (
        f'<section id="certificate">\n<h2>The certificate</h2>\n<p>{escape(CERTIFICATE)}</p>\n</section>\n'
        f'<section id="meanings">\n<h2>Meanings of the columns</h2>\n<dl>{terms}</dl>\n</section>\n'
    )
