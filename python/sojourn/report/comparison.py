"""The qdiscs side by side: their metrics, and their differences to one of them."""

from __future__ import annotations

from html import escape

from matplotlib.axes import Axes

from sojourn.plot import Plots, intervals
from sojourn.report import differing, verdicts, wording
from sojourn.report.parts import cell, group, name, panels, pictures, prose, table
from sojourn.result import Result, Variant, metrics, words
from sojourn.result.agreement import Gap, gaps
from sojourn.result.column import Column

#: A line on columns in which no qdisc differs.
SAME = '<p class="same">{}</p>\n'
# Metrics drawn with intervals.
COMPARED = (metrics.SOJOURN_MEAN_S, metrics.QUEUE_STD_PACKETS, metrics.UTILIZATION, metrics.DROP_RATIO)


def summary(result: Result, ids: str = "") -> str:
    """The metrics in which qdiscs differ, in a table and in pictures; `ids` is the prefix of ids."""
    columns = [words.fitted(result, column) for column in metrics.SUMMARY]
    shown, same = differing.split(result, columns)
    rows = [
        (one, [cell(column, words.cell(result, one, column)) for column in shown]) for one in result.variants
    ]
    # Each of several links has the sentence under its name, and the page of one qdisc at its head.
    stated = ids or len(result.qdiscs) == 1
    verdict = verdicts.by_plant(verdicts.headline, result)
    sentence = "" if stated else f'<p class="verdict">{prose(verdict)}</p>\n'
    return (
        f'<section id="{ids}summary">\n<h2>Summary</h2>\n{sentence}{table(result, shown, rows)}\n'
        f"{SAME.format(prose(same)) if same else ''}"
        f"{_means(result, ids)}\n</section>"
    )


def _summary_note(result: Result) -> str:
    seedless = words.seedless_note(result)
    if not any(one.seeded for one in result.variants):
        return seedless
    note = "One seed: no intervals."
    if words.most_seeds(result) > 1:
        note = (
            f"Mean over {words.seed_count(result)}, and half the width of the 95\u00a0% interval "
            "(Student's t). Large dots: means and their intervals. Small dots: the seeds. "
            "Sentences give means; they claim an order or a bound only where 95\u00a0% intervals show it."
        )
    return f"{note} {seedless}".rstrip()


def _means(result: Result, ids: str) -> str:
    """Pictures of the summary, and their note; of a single run, which has nothing to compare, the note."""
    note = escape(_summary_note(result))
    if len(result.variants) == 1 and len(result.seeds) == 1:
        return f'<p class="note">{note}</p>'
    drawn = panels(result, Plots.summary, COMPARED, intervals.height_in(result, result.variants))
    picture = pictures(f"{ids}means", verdicts.by_plant(verdicts.headline, result), drawn)
    return f'<figure id="{ids}means">{picture}\n<figcaption class="note">{note}</figcaption></figure>'


def differences(result: Result, baseline: str, ids: str = "") -> str:
    """Every qdisc against the baseline, seed by seed; empty without another qdisc."""
    others = [one for one in result.variants if one.qdisc != baseline]
    if not others:
        return ""
    columns = [words.fitted(result, column) for column in metrics.SUMMARY]
    gaps = {c.apart: [words.difference_to(result, one, baseline, c) for one in others] for c in columns}
    some = {column: found for column, found in gaps.items() if any(found)}
    shown = [column for column, found in some.items() if any(gap is None or gap.mean for gap in found)]
    same = [column.short for column in some if column not in shown]
    rows = [(one, [_difference(result, one, baseline, c) for c in shown]) for one in others]
    name = words.short_names(result.qdiscs)[baseline]
    sentence = _differences_sentence(result, name)
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
    picture = pictures(f"{ids}gaps", sentence, drawn)
    return (
        f'<section id="{ids}differences" class="differences">\n<h2>Differences to {escape(name)}</h2>\n'
        f'<p class="verdict">{escape(sentence)}</p>\n{table(result, shown, rows)}\n'
        f"{SAME.format(escape(f'No differences in {wording.both(same)}.')) if same else ''}"
        f'<figure id="{ids}gaps">{picture}\n'
        f'<figcaption class="note">{escape(note)}</figcaption></figure>\n</section>'
    )


def agreement(result: Result, ids: str = "") -> str:
    """The fluid against the packets, qdisc by qdisc; empty unless both ran."""
    found = gaps(result)
    if not found:
        return ""
    called = words.short_names(result.qdiscs)
    groups = "\n".join(
        f"<tbody>\n{group(name(called[qdisc]), 3)}\n"
        + "\n".join(_gap(gap) for gap in found if gap.qdisc == qdisc)
        + "\n</tbody>"
        for qdisc in dict.fromkeys(gap.qdisc for gap in found)
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("fluid", "packet", "difference"))
    sentence = verdicts.agreement(found, called)
    note = "Excess of the fluid over the packets"
    some = any(gap.difference.half is not None for gap in found)
    note += ", with the interval of the packets' mean." if some else "."
    note += " pp: percentage points." if any(gap.column.unit == "%" for gap in found) else ""
    return (
        f'<section id="{ids}agreement">\n<h2>Fluid against packets</h2>\n'
        f'<p class="verdict">{prose(sentence)}</p>\n<div class="scroll"><table class="classes">\n'
        f'<thead><tr><th scope="col">qdisc</th>{heads}</tr></thead>\n{groups}\n</table></div>\n'
        f'<p class="note">{escape(note)}</p>\n</section>'
    )


def _gap(gap: Gap) -> str:
    cells = [
        cell(gap.column, words.with_half(gap.fluid)),
        cell(gap.column, words.with_half(gap.packet)),
        cell(gap.column.apart, words.with_sign(gap.difference)),
    ]
    return f'<tr><th scope="row">{escape(gap.column.long)}</th>{"".join(cells)}</tr>'


def _differences_sentence(result: Result, name: str) -> str:
    if not any(one.seeded for one in result.variants):
        return f"Excess of each qdisc over {name}."
    plant = " in the same plant" if len(result.plants) > 1 else ""
    flows = "under one seed all qdiscs have the same flows"
    return f"Excess of each qdisc over {name}{plant}, seed by seed: {flows}."


def _differences_note(result: Result, name: str, seeds: int) -> str:
    """Note on the evidence of so many seeds."""
    seedless = words.seedless_note(result)
    if seedless:
        seedless += f" Strong there: more than one part in {words.EXACT}."
    if not any(one.seeded for one in result.variants):
        return seedless
    note = (
        "Mean difference over the seeds that both qdiscs have, and half the width of its 95\u00a0% interval "
        "(paired, Student's t). "
        "Strong, with a full dot: the interval excludes zero. Where nothing differs, one such interval "
        "in twenty does so by chance."
        if seeds > 1
        else "One seed: no intervals, so that no difference is shown to be more than chance."
        if seeds
        else "No seed has run under both qdiscs."
        if len(result.qdiscs) == 2
        else f"No seed has run under {name} and another qdisc."
    )
    return f"{note} {seedless}".rstrip()


def _difference(result: Result, one: Variant, baseline: str, column: Column) -> str:
    found = words.difference_to(result, one, baseline, column)
    if found is None:
        return cell(column, "")
    kind = "clear" if words.differs(result, one, baseline, column) else "unclear"
    return cell(column, words.with_sign(found), kind)
