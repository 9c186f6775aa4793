"""The laws beside each other: their metrics, and their differences to one of them."""

from __future__ import annotations

from html import escape

from matplotlib.axes import Axes

from sojourn.plot import Plots, intervals
from sojourn.report import verdicts
from sojourn.report.parts import cell, group, name, panels, pictures, table, told
from sojourn.result import Arm, Result, words
from sojourn.result.agreement import Gap, gaps

# What the intervals are drawn of.
COMPARED = (words.SOJOURN, words.QUEUE_STD, words.UTILIZATION, words.DROPS)


def summary(result: Result, ids: str = "") -> str:
    """Every metric of every law, in a table and in pictures; `ids` is what ids begin with."""
    columns = [words.fitted(result, column) for column in words.COLUMNS]
    shown = [column for column in columns if any(words.scaled(result, one, column) for one in result.arms)]
    rows = [(one, [cell(column, words.cell(result, one, column)) for column in shown]) for one in result.arms]
    return (
        f'<section id="{ids}summary">\n<h2>Summary</h2>\n{table(result, shown, rows)}\n'
        f'<figure id="{ids}means">{_means(result, ids)}\n'
        f'<figcaption class="note">{escape(_summary_note(result))}</figcaption></figure>\n</section>'
    )


def _summary_note(result: Result) -> str:
    seedless = words.seedless_told(result)
    if not any(one.seeded for one in result.arms):
        return seedless
    note = "One seed: no intervals."
    if words.most_seeds(result) > 1:
        note = (
            f"Mean over {words.seeds_told(result)}, and half the width of the 95\u00a0% interval "
            "(Student's t). Large dots: means and their intervals. Small dots: the seeds. "
            "Sentences give means; they claim an order or a bound only where 95\u00a0% intervals show it."
        )
    return f"{note} {seedless}".rstrip()


def _means(result: Result, ids: str) -> str:
    """The pictures of the summary; none of a single run, whose dots would have nothing beside them."""
    if len(result.arms) == 1 and len(result.seeds) == 1:
        return ""
    drawn = panels(result, Plots.summary, COMPARED, intervals.height_in(result, result.arms))
    return pictures(f"{ids}means", verdicts.by_plant(verdicts.headline, result), drawn)


def differences(result: Result, baseline: str, ids: str = "") -> str:
    """Every law against the baseline, seed by seed; nothing where there is no other law."""
    others = [one for one in result.arms if one.disc != baseline]
    if not others:
        return ""
    columns = [words.fitted(result, column) for column in words.COLUMNS]
    gaps = {c.apart: [words.difference_to(result, one, baseline, c) for one in others] for c in columns}
    shown = [column for column, found in gaps.items() if any(found)]
    rows = [(one, [_difference(result, one, baseline, c) for c in shown]) for one in others]
    name = words.short_names(result.discs)[baseline]
    said = _differences_said(result, name)
    seeds = [
        gap.n
        for found in gaps.values()
        for one, gap in zip(others, found, strict=True)
        if gap is not None and one.seeded
    ]
    note = _differences_note(result, name, max(seeds, default=0))
    note += " pp: percentage points." if any(column.unit == "pp" for column in shown) else ""

    def draw(plots: Plots, metric: str, *, ax: Axes) -> Axes:
        return plots.differences(metric, baseline=baseline, ax=ax)

    drawn = panels(result, draw, COMPARED, intervals.height_in(result, others))
    picture = pictures(f"{ids}gaps", said, drawn)
    return (
        f'<section id="{ids}differences" class="differences">\n<h2>Differences to {escape(name)}</h2>\n'
        f'<p class="verdict">{escape(said)}</p>\n{table(result, shown, rows)}\n'
        f'<figure id="{ids}gaps">{picture}\n'
        f'<figcaption class="note">{escape(note)}</figcaption></figure>\n</section>'
    )


def agreement(result: Result, ids: str = "") -> str:
    """The fluid against the packets, law by law; nothing where they did not both run."""
    found = gaps(result)
    if not found:
        return ""
    called = words.short_names(result.discs)
    groups = "\n".join(
        f"<tbody>\n{group(name(called[disc]), 3)}\n"
        + "\n".join(_gap(gap) for gap in found if gap.disc == disc)
        + "\n</tbody>"
        for disc in dict.fromkeys(gap.disc for gap in found)
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("fluid", "packet", "difference"))
    said = verdicts.agreement(found, called)
    note = "What the fluid has more than the packets"
    some = any(gap.difference.half is not None for gap in found)
    note += ", with the interval of the packets' mean." if some else "."
    note += " pp: percentage points." if any(gap.column.unit == "%" for gap in found) else ""
    return (
        f'<section id="{ids}agreement">\n<h2>Fluid against packets</h2>\n'
        f'<p class="verdict">{told(said)}</p>\n<div class="scroll"><table class="classes">\n'
        f'<thead><tr><th scope="col">law</th>{heads}</tr></thead>\n{groups}\n</table></div>\n'
        f'<p class="note">{escape(note)}</p>\n</section>'
    )


def _gap(gap: Gap) -> str:
    cells = [
        cell(gap.column, words.with_half(gap.fluid)),
        cell(gap.column, words.with_half(gap.packet)),
        cell(gap.column.apart, words.with_sign(gap.difference)),
    ]
    return f'<tr><th scope="row">{escape(gap.column.long)}</th>{"".join(cells)}</tr>'


def _differences_said(result: Result, name: str) -> str:
    if not any(one.seeded for one in result.arms):
        return f"What each law has more than {name}."
    plant = " in the same plant" if len(result.plants) > 1 else ""
    return (
        f"What each law has more than {name}{plant}, seed by seed: "
        "under one seed all laws meet the same flows."
    )


def _differences_note(result: Result, name: str, seeds: int) -> str:
    """How far to trust them: what comes of so many seeds."""
    seedless = words.seedless_told(result)
    if seedless:
        seedless += f" Strong there: more than one part in {words.EXACT}."
    if not any(one.seeded for one in result.arms):
        return seedless
    note = (
        "Mean difference over the seeds that both laws have, and half the width of its 95\u00a0% interval "
        "(paired, Student's t). "
        "Strong, with a full dot: the interval leaves zero out. Where nothing differs, one such interval "
        "in twenty does so by chance."
        if seeds > 1
        else "One seed: no intervals, so that no difference is shown to be more than chance."
        if seeds
        else "No seed has run under both laws."
        if len(result.discs) == 2
        else f"No seed has run under {name} and another law."
    )
    return f"{note} {seedless}".rstrip()


def _difference(result: Result, one: Arm, baseline: str, column: words.Column) -> str:
    found = words.difference_to(result, one, baseline, column)
    if found is None:
        return cell(column, "")
    kind = "clear" if words.differs(result, one, baseline, column) else "unclear"
    return cell(column, words.with_sign(found), kind)
