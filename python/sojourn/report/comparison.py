"""The laws beside each other: their metrics, and their differences to one of them."""

from __future__ import annotations

from html import escape

from matplotlib.axes import Axes

from sojourn.plot import Plots, intervals
from sojourn.report import verdicts
from sojourn.report.parts import cell, panels, pictures, table
from sojourn.result import Result, words

# What the intervals are drawn of.
COMPARED = (words.SOJOURN, words.QUEUE_STD, words.UTILIZATION, words.DROPS)


def summary(result: Result, ids: str = "") -> str:
    """Every metric of every law, in a table and in pictures; `ids` is what ids begin with."""
    columns = [words.fitted(result, column) for column in words.COLUMNS]
    shown = [column for column in columns if any(words.scaled(result, d, column) for d in result.discs)]
    rows = [
        (place, disc, [cell(column, words.cell(result, disc, column)) for column in shown])
        for place, disc in enumerate(result.discs)
    ]
    many = words.most_seeds(result) > 1
    note = (
        f"Mean over {words.seeds_told(result)}, and half the width of the 95\u00a0% interval (Student's t)."
        if many
        else "One seed: no intervals."
    )
    dots = " Large dots: means and their intervals. Small dots: the seeds." if many else ""
    return (
        f'<section id="{ids}summary">\n<h2>Summary</h2>\n{table(shown, rows)}\n'
        f'<figure id="{ids}means">{_means(result, ids)}\n'
        f'<figcaption class="note">{escape(note + dots)}</figcaption></figure>\n</section>'
    )


def _means(result: Result, ids: str) -> str:
    """The pictures of the summary; none of a single run, whose dots would have nothing beside them."""
    if len(result.discs) == 1 and len(result.seeds) == 1:
        return ""
    height = _height_in(result, result.discs)
    drawn = panels(result, Plots.summary, COMPARED, height)
    return pictures(f"{ids}means", verdicts.headline(result), drawn)


def differences(result: Result, baseline: str, ids: str = "") -> str:
    """Every law against the baseline, seed by seed; nothing where there is no other law."""
    others = [disc for disc in result.discs if disc != baseline]
    if not others:
        return ""
    columns = [words.fitted(result, column) for column in words.COLUMNS]
    gaps = {c.apart: [words.difference_to(result, d, baseline, c) for d in others] for c in columns}
    shown = [column for column, found in gaps.items() if any(found)]
    seeds = max((gap.n for found in gaps.values() for gap in found if gap), default=0)
    rows = [
        (result.discs.index(disc), disc, [_difference(result, disc, baseline, c) for c in shown])
        for disc in others
    ]
    name = words.short_names(result.discs)[baseline]
    said = f"What each law has more than {name}, seed by seed: under one seed all laws meet the same flows."
    note = (
        "Mean difference over the seeds that both laws have, and half the width of its 95\u00a0% interval "
        "(paired, Student's t). "
        "Strong, with a full dot: the interval leaves zero out. Where nothing differs, one such interval "
        "in twenty does so by chance."
        if seeds > 1
        else "One seed: no intervals, so that no difference is shown to be more than chance."
        if seeds
        else "No seed has run under both laws."
    )
    note += " pp: percentage points." if any(column.unit == "pp" for column in shown) else ""

    def draw(plots: Plots, metric: str, *, ax: Axes) -> Axes:
        return plots.differences(metric, baseline=baseline, ax=ax)

    drawn = panels(result, draw, COMPARED, _height_in(result, others))
    picture = pictures(f"{ids}gaps", said, drawn)
    return (
        f'<section id="{ids}differences" class="differences">\n<h2>Differences to {escape(name)}</h2>\n'
        f'<p class="verdict">{escape(said)}</p>\n{table(shown, rows)}\n'
        f'<figure id="{ids}gaps">{picture}\n'
        f'<figcaption class="note">{escape(note)}</figcaption></figure>\n</section>'
    )


def _difference(result: Result, disc: str, baseline: str, column: words.Column) -> str:
    found = words.difference_to(result, disc, baseline, column)
    if found is None:
        return cell(column, "")
    text = words.with_half(found)
    sign = "+" if found.mean > 0 and float(text.partition(" ")[0]) != 0 else ""
    kind = "clear" if words.shown(found) else "unclear"
    return cell(column, sign + text.replace("-", "\u2212"), kind)


def _height_in(result: Result, discs: list[str]) -> float:
    """The height of a picture with a row for each of the discs."""
    called = words.short_names(result.discs)
    return intervals.height_in([called[disc] for disc in discs])
