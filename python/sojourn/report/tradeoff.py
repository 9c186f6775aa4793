"""The first picture of a link: delay against utilisation, beside the qdiscs in order of their delay."""

from __future__ import annotations

import re
from html import escape

from sojourn.plot import Canvas, Plots, style, tradeoff
from sojourn.plot.tradeoff import Point
from sojourn.report import answer, differing, first, verdicts
from sojourn.report.figures import svg
from sojourn.report.parts import cell, figure_of, table
from sojourn.result import Result, Variant, metrics, words

#: Sizes of the picture, inches, for pages of several widths; a wide page has the table beside it.
SIZES = {"wide": (7.4, 5.3), "middle": (8.8, 5.0), "narrow": (5.1, 4.3)}
#: Columns of the ranking.
DELAY, USE = metrics.SOJOURN_P95_S, metrics.UTILIZATION
RANKED = (DELAY, USE, metrics.GOODPUT_BPS, metrics.DROP_RATIO)


def applies(result: Result) -> bool:
    """True for two qdiscs or more with a delay."""
    return len(tradeoff.points(result, DELAY, USE)) > 1


def section(
    result: Result, ids: str = "", *, stated: bool = False, note: str = "", called: str = answer.CALLED
) -> str:
    """The picture and the ranking; above them a note, and the answer unless it is `stated` elsewhere.

    Empty without them.
    """
    if not applies(result):
        return ""
    found = tradeoff.points(result, words.fitted(result, DELAY), words.fitted(result, USE))
    sentence = verdicts.by_plant(answer.sentences, result)
    best = [one for one in found if one.variant in _best(result)]
    pictures = "\n".join(_picture(result, kind, ids, sentence, best=best) for kind in SIZES)
    return (
        f'<section id="{ids}tradeoff" class="tradeoff">\n<h2>Delay against utilisation</h2>\n'
        f"{note}{'' if stated else first.section(result, called=called)}"
        f'<div class="beside">\n'
        f"<figure>{pictures}\n"
        f'<figcaption class="note">{escape(_note(found, best, called))}</figcaption></figure>\n'
        f"{_ranking(result, found, called)}\n</div>\n</section>"
    )


def _best(result: Result) -> set[Variant]:
    """The qdiscs of the answer in each plant."""
    found = (answer.answer(view) for _, view in verdicts.plants(result))
    return {variant for one in found if one is not None for variant in one.rows[0].tied}


def _picture(result: Result, kind: str, ids: str, alt: str, *, best: list[Point]) -> str:
    """The picture for pages of one kind, as an `<svg>` element."""
    _, (ax,) = style.figure(SIZES[kind])
    Plots(result, Canvas(legend=False)).delay_utilization(ax=ax)
    tradeoff.ring(ax, best)
    picture = svg(figure_of(ax), f"{ids}tradeoff-{kind}", alt)
    return f'<div class="{kind}">{_titled(result, picture)}</div>'


def _titled(result: Result, picture: str) -> str:
    """The picture whose points have their law's number, for the script, and their own numbers as a title."""
    called = list(words.variant_names(result).values())
    columns = [words.fitted(result, DELAY), USE]

    def titled(head: re.Match[str]) -> str:
        place = int(head[2])
        variant = result.variants[place]
        numbers = ", ".join(
            f"{column.short} {words.cell(result, variant, column)} {column.unit}" for column in columns
        )
        return f'{head[1]} data-law="{place}"><title>{escape(f"{called[place]}: {numbers}")}</title>'

    return re.sub(rf'(<g id="[^"]*-{tradeoff.ID}([0-9]+)")>', titled, picture)


def _note(found: list[Point], best: list[Point], called: str) -> str:
    spread = any(one.ellipse() is not None for one in found)
    plant = "of the same plant " if len({one.variant.plant for one in found}) > 1 else ""
    parts = [
        f"Ringed: {called}." if best else "",
        f"Bold, on the line: no qdisc {plant}has less delay at as much utilisation.",
        f"Grey: another {plant}has no more delay and no less utilisation, within 0.1\u00a0%.",
        "Crosses: 95\u00a0% intervals." if any(one.delay.half is not None for one in found) else "",
        "Ellipses: one standard deviation over the seeds (RFC 7928, 2.7)." if spread else "",
    ]
    return " ".join(part for part in parts if part)


def _ranking(result: Result, found: list[Point], called: str) -> str:
    """The qdiscs by their p95 delay; those on the front are bold, the best is marked."""
    front = {one.variant for one in tradeoff.front(found)}
    fitted = [words.fitted(result, column) for column in RANKED]
    varied, _ = differing.split(result, fitted)
    columns = [*fitted[:2], *(column for column in varied if column in fitted[2:])]
    order = sorted(found, key=lambda one: one.centre[0])
    rows = [
        (one.variant, [cell(column, words.cell(result, one.variant, column)) for column in columns])
        for one in order
    ]
    return table(
        result,
        columns,
        rows,
        kind="ranking compact sortable",
        strong=front,
        by=columns[0],
        point=True,
        best=_best(result),
        called=called,
    )
