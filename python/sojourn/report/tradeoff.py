"""The first picture of a link: delay against utilisation, beside the qdiscs in order of their delay."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from sojourn.plot import Canvas, Plots, style, tradeoff
from sojourn.plot.tradeoff import Point
from sojourn.report import claims, constant, headline, verdicts, wording
from sojourn.report.claims import Comparison, Ranking
from sojourn.report.figures import svg
from sojourn.report.parts import cell, figure_of, prose, table
from sojourn.result import Result, Variant, metrics, words

#: Sizes of the picture, inches, for pages of several widths; a wide page has the table beside it.
SIZES = {"wide": (7.4, 5.3), "middle": (8.8, 5.0), "narrow": (5.1, 5.0)}
#: Columns of the ranking.
DELAY, USE = metrics.SOJOURN_P95_S, metrics.UTILIZATION
RANKED = (DELAY, USE, metrics.GOODPUT_BPS, metrics.DROP_RATIO)
#: A sentence above the picture.
PARAGRAPH = '<p class="verdict">{}</p>\n'
#: A sentence has losses above this, %.
NOTED_LOSS = 1.0
#: Least utilisations that a sentence demands, %.
DEMANDS = (95.0, 99.0)


def applies(result: Result) -> bool:
    """True for two qdiscs or more with a delay."""
    return len(tradeoff.points(result, DELAY, USE)) > 1


def section(result: Result, ids: str = "", *, stated: bool = False) -> str:
    """The picture and the ranking, with their sentence unless it is `stated` elsewhere; empty without."""
    if not applies(result):
        return ""
    found = tradeoff.points(result, words.fitted(result, DELAY), words.fitted(result, USE))
    sentence = verdicts.by_plant(demands, result)
    pictures = "\n".join(_picture(result, kind, ids, sentence) for kind in SIZES)
    return (
        f'<section id="{ids}tradeoff" class="tradeoff">\n<h2>Delay against utilisation</h2>\n'
        f"{'' if stated else PARAGRAPH.format(prose(sentence))}"
        f'<div class="beside">\n'
        f'<figure>{pictures}\n<figcaption class="note">{escape(_note(found))}</figcaption></figure>\n'
        f"{_ranking(result, found)}\n</div>\n</section>"
    )


def demands(result: Result) -> str:
    """The qdisc of the lowest p95 delay: of all, and of those that keep the link busy.

    The headline where no delays can be compared.
    """
    delay = claims.compare(result, DELAY)
    busy = claims.compare(result, USE, among=delay)
    ranked = [pair for pair in delay.ranked if pair[0] in busy.means]
    if len(ranked) < 2 or not delay.seeds or all(wait.mean == 0 for _, wait in ranked):
        return headline.headline(result)
    found: dict[Variant, tuple[float | None, Ranking]] = {}
    for least in (None, *DEMANDS):
        kept = [pair for pair in ranked if least is None or _keeps(busy, pair[0], least)]
        if kept:
            found.setdefault(kept[0][0], (least, kept))
    drops = claims.compare(result, metrics.DROP_RATIO, among=delay)
    named = _Demands(words.variant_names(result), delay, busy, drops)
    sentences = [named.sentence(*demand) for demand in found.values()]
    some = any(variant.seeded for variant in delay.values)
    alone = "One seed has no error bars: run five or more." if delay.seeds == 1 and some else ""
    return wording.joined(*sentences, alone, wording.common_seeds(delay, busy))


def _keeps(busy: Comparison, variant: Variant, least: float) -> bool:
    """True if the link is shown to be as busy, or was so in the only run."""
    low, _ = busy.interval(variant) or (busy.means[variant].mean, None)
    return low >= least


@dataclass(frozen=True)
class _Demands:
    """Sentences on the lowest delay among qdiscs that keep the link busy."""

    names: dict[Variant, str]
    delay: Comparison
    busy: Comparison
    drops: Comparison

    def sentence(self, least: float | None, kept: Ranking) -> str:
        """The lowest of those that are `kept`, because they keep the link at least so busy."""
        (first, wait), *others = kept
        rivals = [pair for pair in others if not self.delay.less(first, pair[0])]
        form = wording.distinguishing(wording.time, wait, others[:1])
        used = wording.percent(self.busy.means[first])
        if least is None:
            lowest = "the lowest p95 delay measured" if rivals else "the lowest p95 delay"
            text = f"{self.names[first]} has {lowest}: {form(wait)}, with the link {used} busy"
        else:
            demand = f"Of those that keep it at least {least:g} % busy"
            text = f"{demand}, {self.names[first]} has {form(wait)} at {used}"
        text += self.loss(first)
        if self.delay.seeds == 1:  # stated once, after all sentences
            return f"{text}."
        doubt = f"; {wording.too_few(self.delay)} distinguish it from " if rivals else ""
        return f"{text}{doubt}{wording.listing(rivals, self.names, form) if rivals else ''}."

    def loss(self, variant: Variant) -> str:
        """Its loss, where that is a price."""
        lost = self.drops.means.get(variant)
        return f", and drops {wording.percent(lost)}" if lost is not None and lost.mean > NOTED_LOSS else ""


def _picture(result: Result, kind: str, ids: str, alt: str) -> str:
    """The picture for pages of one kind, as an `<svg>` element."""
    _, (ax,) = style.figure(SIZES[kind])
    Plots(result, Canvas(legend=False)).delay_utilization(ax=ax)
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


def _note(found: list[Point]) -> str:
    spread = any(one.ellipse() is not None for one in found)
    runs = "Crosses: 95\u00a0% intervals. " if any(one.delay.half is not None for one in found) else ""
    runs += "Ellipses: one standard deviation of the seeds (RFC 7928, section 2.7). " if spread else ""
    return (
        f"{runs}Bold, and joined by the line: no qdisc measured has less delay at as much utilisation, "
        "within a thousandth. Grey: no better than one of these in either."
    )


def _ranking(result: Result, found: list[Point]) -> str:
    """The qdiscs by their p95 delay; those on the front are bold."""
    best = {one.variant for one in tradeoff.front(found)}
    fitted = [words.fitted(result, column) for column in RANKED]
    varied, _ = constant.split(result, fitted[2:])
    columns = [*fitted[:2], *varied]
    order = sorted(found, key=lambda one: one.centre[0])
    rows = [
        (one.variant, [cell(column, words.cell(result, one.variant, column)) for column in columns])
        for one in order
    ]
    return table(result, columns, rows, kind="ranking sortable", strong=best, by=columns[0])
