"""The page of a paper, one offline file: claims with grades, what was measured, and the settings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.report import put
from sojourn.report.document import document
from sojourn.report.figures import svg
from sojourn.report.parts import prose
from sojourn.report.setting import sentences
from sojourn.reproduce.drawing import draw
from sojourn.reproduce.figures import Figure, Row, Table
from sojourn.reproduce.findings import Outcome, judge, looked_up
from sojourn.reproduce.grades import Grade, Graded
from sojourn.reproduce.league import (
    MEASURES,
    Measure,
    Standing,
    as_ratio,
    league,
    seeds_of,
    settling_share,
    share_of_best,
)
from sojourn.reproduce.league import over_all as overall
from sojourn.reproduce.ours import Measured, of_claim, of_expression, of_finding, texts
from sojourn.reproduce.paper import Claim, Experiment, Name, labelled
from sojourn.reproduce.predicate import expression
from sojourn.reproduce.runs import command, figure_command
from sojourn.result import words
from sojourn.result.column import Column
from sojourn.result.statistics import estimate
from sojourn.result.words import seconds
from sojourn.scenario import load

if TYPE_CHECKING:
    from sojourn.reproduce import Reproduction

__all__ = ["over_all", "page", "write", "write_all"]

#: Words in tables: beginning at the left, and broken where they must be. The page is as wide as its tables.
STYLE = """
main { max-width: 1760px; padding-left: 24px; padding-right: 24px }
.texts { width: 100%; min-width: 44rem; table-layout: fixed }
#claims table { font-size: 0.88rem }
.texts th, .texts td { text-align: left; vertical-align: top; white-space: normal; overflow-wrap: anywhere }
.texts code, .texts pre { white-space: pre-wrap; font-size: 0.85em }
.texts .few { width: 7.5rem }
.texts .name { width: 5.5rem }
.texts .most { width: 32% }
figure + figure { margin-top: 36px }
figure { max-width: 1040px }
figure > p { margin-bottom: 6px }
figcaption { color: var(--muted) }
.finding { margin: 0 0 12px }
.finding code { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.85em }
.league th, .league td { padding-top: 6px; padding-bottom: 6px }
.league td, .league thead th:not(:first-child) { padding-right: 14px }
.league td { position: relative }
.league .level { font-weight: 600 }
.league .level::after { content: "\\2022"; position: absolute; top: 6px; right: 0; color: var(--qdisc-0) }
@media screen and (max-width: 720px) {
  #claims table { min-width: 0 }
  #claims thead { display: none }
  #claims tr { display: block; padding: 10px 0; border-bottom: 1px solid var(--rule) }
  #claims tbody th, #claims tbody td { display: block; padding: 2px 0; border: 0 }
  #claims td[data-column]::before { content: attr(data-column) ": "; color: var(--muted) }
}
"""
#: Columns of a name, of few words, and of most of them, by their classes in the style.
WIDTHS = {
    "name": ("id",),
    "few": ("paper", "grade", "law", "setting"),
    "most": ("why",),
}
#: Runs that failed and are listed.
MOST_FAILURES = 20
#: Meaning of each grade.
MEANINGS = {
    Grade.REPRODUCED: "true under every setting of the laws",
    Grade.PARTLY: "the order or the shape is, the number is not",
    Grade.DEPENDS: "true under some of the settings that the paper leaves open",
    Grade.UNINFORMATIVE: "as true with another law in the place of the one that it is about",
    Grade.NOT: "false under every setting",
    Grade.UNDECIDED: "true under no setting, and left open under some by the intervals",
    Grade.CONTRADICTS_ITSELF: "the paper's own statements cannot all hold",
    Grade.NOT_RUN: "for the reason given",
}
#: Metrics of the table of an experiment.
SHOWN = ("utilization", "queue_mean_packets", "queue_std_packets", "qacd_packets", "drop_ratio", "mark_ratio")


def write(of: Reproduction, path: Path) -> Path:
    """Write the page of a paper, whole or not at all."""
    return put(path, lambda: page(of))


def write_all(several: Sequence[Reproduction], path: Path) -> Path:
    """Write the page over all papers, whole or not at all."""
    return put(path, lambda: over_all(several))


def page(of: Reproduction) -> str:
    """The page of a paper as text."""
    body = [
        f'<header>\n<p class="kind">Sojourn reproduction</p>\n<h1>{escape(of.paper.title)}</h1>\n'
        f'<p class="verdict">{prose(_counted(of))}</p>\n<p class="setting">{prose(of.paper.reference)}.</p>\n'
        f"{_hurry(quick=of.quick)}</header>",
        _claims(of),
        _failures(of),
        _trusted(of),
        _assumed(of),
        _abbreviations(of),
        _settings(of),
        _figures(of),
        _tables(of),
        _further(of),
        _leagues(of),
        *(
            _experiment(of, one)
            for one in of.paper.experiments.values()
            if one.name in of.samples.experiments
        ),
        _grades(),
    ]
    return _whole(of.paper.title, body)


def over_all(several: Sequence[Reproduction]) -> str:
    """The page over all papers as text."""
    head = "".join(f"<th>{escape(one.value)}</th>" for one in Grade)
    rows = "\n".join(
        f'<tr><th scope="row"><a href="{of.page}">{escape(of.paper.title)}</a></th>'
        + "".join(f"<td>{count}</td>" for count in of.counts().values())
        + "</tr>"
        for of in several
    )
    sums = [sum(counts) for counts in zip(*(of.counts().values() for of in several), strict=True)]
    rows += f'\n<tr><th scope="row">all</th>{"".join(f"<td>{count}</td>" for count in sums)}</tr>'
    total = sum(sums)
    body = [
        f'<header>\n<p class="kind">Sojourn reproduction</p>\n<h1>Claims of {len(several)} papers</h1>\n'
        f'<p class="verdict">{total} claims, each by its predicate over runs of this build.</p>\n'
        f"{_hurry(quick=any(of.quick for of in several))}</header>",
        "<section>\n<h2>Grades</h2>\n"
        f'<div class="scroll"><table><thead><tr><th>paper</th>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>\n</section>",
        _overall(several),
        _grades(),
    ]
    return _whole("Claims of papers", body)


def _whole(title: str, body: Iterable[str]) -> str:
    return document(title, body, styles=STYLE)


def _counted(of: Reproduction) -> str:
    counts = of.counts()
    parts = [f"{count} {one.value}" for one, count in counts.items() if count]
    return f"{sum(counts.values())} claims: {', '.join(parts)}."


def _hurry(*, quick: bool) -> str:
    text = (
        "Few seeds ran (--quick): intervals are wide, grades rougher, and some experiments did not run. The "
        "numbers under why are those of full runs."
    )
    return f'<p class="note">{prose(text)}</p>\n' if quick else ""


def _claims(of: Reproduction) -> str:
    rows = "\n".join(_claim(of, one) for one in of.claims)
    head = _head("id", "claim", "paper", "ours", "grade", "why")
    note = (
        "A command prints the usual metrics; with <code>--json</code> it has all of them, and with "
        "<code>--out FOLDER</code> those of windows as a table."
    )
    return (
        f'<section id="claims">\n<h2>Claims</h2>\n<p class="note">{note}</p>\n'
        '<div class="scroll"><table class="texts">\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n</section>"
    )


def _head(*names: str) -> str:
    kinds = {name: kind for kind, of in WIDTHS.items() for name in of}
    return "".join(
        f'<th class="{kinds[name]}">{name}</th>' if name in kinds else f"<th>{name}</th>" for name in names
    )


def _claim(of: Reproduction, one: Graded) -> str:
    claim = one.claim
    ours = _ours_of(of_claim(of.paper, one))
    why = [one.evidence, claim.why]
    test = "" if claim.test is None else f"<p><code>{escape(claim.test.text)}</code></p>"
    commands = command(of.paper, claim, quick=of.quick)
    how = f"<details><summary>command</summary><pre>{escape(commands)}</pre></details>" if commands else ""
    cells = [
        f'<th scope="row" id="{escape(claim.id)}">{escape(claim.id)}</th>',
        f"<td>{prose(claim.claim)} <small>{escape(claim.item)}</small>{_reading_of(claim)}{test}</td>",
        f'<td data-column="paper">{escape(claim.says)}</td>',
        f'<td data-column="ours">{ours}</td>',
        f'<td data-column="grade">{escape(one.grade.value)}</td>',
        f'<td data-column="why">{" ".join(prose(_sentence(part)) for part in why if part)}{how}</td>',
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _reading_of(claim: Claim) -> str:
    """The claim of the same sentence that counts for both."""
    if claim.same_as is None:
        return ""
    name = escape(claim.same_as)
    return f'<p><small>Same sentence as <a href="#{name}">{name}</a>, which counts for both.</small></p>'


def _ours_of(several: Iterable[Measured]) -> str:
    """A line each, with its cases below where it has several."""
    lines = []
    for name, cases in texts(several):
        first, *rest = cases if len(cases) == 1 else ["", *cases]
        lines += [f"<code>{escape(name)}</code> {escape(first)}", *map(escape, rest)]
    return "<br>".join(lines)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _failures(of: Reproduction) -> str:
    """Runs that failed, with their messages: no sample has them."""
    failed = of.samples.failures
    if not failed:
        return ""
    rows = "".join(f"<li>{escape(one)}</li>\n" for one in failed[:MOST_FAILURES])
    left = len(failed) - MOST_FAILURES
    rows += f"<li>and {left} more</li>\n" if left > 0 else ""
    return f'<section id="failures">\n<h2>Runs that failed</h2>\n<ul>\n{rows}</ul>\n</section>'


def _trusted(of: Reproduction) -> str:
    """The trust in each live run."""
    if not of.samples.trust:
        return ""
    rows = "".join(f"<li>{escape(one.line)}</li>\n" for one in of.samples.trust)
    note = (
        "Live runs are of this machine's own TCP, in real time, and do not repeat: a seed is the number of a "
        "repeat. A void run counts for nothing; of a degraded one delays are longer than the network's."
    )
    return (
        f'<section id="live">\n<h2>Trust in live runs</h2>\n<p class="note">{prose(note)}</p>\n'
        f"<ul>\n{rows}</ul>\n</section>"
    )


def _assumed(of: Reproduction) -> str:
    if not of.paper.assumed:
        return ""
    rows = "".join(f"<li>{prose(one)}</li>\n" for one in of.paper.assumed)
    return f'<section id="assumed">\n<h2>Assumptions</h2>\n<ul>\n{rows}</ul>\n</section>'


def _abbreviations(of: Reproduction) -> str:
    """Abbreviations in predicates, with a law in the place of the braces."""
    rows = "".join(
        f"<dt><code>{escape(name)}(law)</code></dt><dd><code>{escape(text)}</code></dd>\n"
        for name, text in of.paper.measures.items()
    )
    if not rows:
        return ""
    note = "In predicates; <code>{}</code> is the law."
    head = f'<section id="abbreviations">\n<h2>Abbreviations</h2>\n<p class="note">{note}</p>'
    return f"{head}\n<dl>\n{rows}</dl>\n</section>"


def _settings(of: Reproduction) -> str:
    head = _head("law", "setting", "qdisc", "origin")
    rows = "\n".join(
        f'<tr><th scope="row">{escape(law)}</th><td>{escape(one.name)}</td>'
        f"<td><code>{escape(one.key)}</code></td><td>{prose(one.origin)}</td></tr>"
        for law, several in of.paper.laws.items()
        for one in several
    )
    return (
        '<section id="settings">\n<h2>Settings</h2>\n<div class="scroll"><table class="texts">\n'
        f"<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody></table></div>\n</section>"
    )


def _experiment(of: Reproduction, one: Experiment) -> str:
    """Means of the qdiscs of an experiment that ran."""
    columns = [words.column_named(metric) for metric in SHOWN]
    head = "".join(f"<th>{escape(column.long)}</th>" for column in columns)
    cells = {
        label: [_mean(of, one, qdisc, column) for column in columns]
        for label, qdisc in labelled(of.paper, one)
    }
    ran = {label: row for label, row in cells.items() if any(cell is not None for cell in row)}
    rows = "\n".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(f"<td>{'-' if cell is None else cell}</td>" for cell in row)
        + "</tr>"
        for label, row in ran.items()
    )
    left = ", ".join(label for label in cells if label not in ran)
    note = f'<p class="note">Did not run{" in --quick" * of.quick}: {escape(left)}.</p>\n' if left else ""
    return (
        f'<section id="{escape(one.name)}">\n<h2>{escape(one.name)}: {escape(one.scenario)}</h2>\n'
        f'{_measured(of, one)}<div class="scroll"><table><thead><tr><th>law</th>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>\n{note}</section>"
    )


def _measured(of: Reproduction, one: Experiment) -> str:
    """What ran and when it was measured: the scenario, windows and number of seeds."""
    scenario = json.loads(load(one.scenario, dict(one.changes)).to_json())
    n = one.quick_seeds if of.quick else one.seeds
    half = " and half of their 95 % intervals" if n > 1 else ""
    means = f"Means over {n} seed{'s' * (n > 1)}{half}, of {_time_measured(scenario)}."
    windows = "; ".join(f"{name}: {window}" for name, window in one.windows.items())
    named = f'<p class="note">Windows of predicates: {escape(windows)}.</p>\n' if windows else ""
    starts = "Flows with neither a start nor arrivals here begin at random within the first second."
    return f"<p>{prose(' '.join([*sentences(scenario), starts, means]))}</p>\n{named}"


def _time_measured(scenario: Mapping[str, Any]) -> str:
    warmup = seconds(scenario.get("warmup") or "0 s") or 0.0
    return f"the time after {scenario['warmup']}" if warmup else "all of the run"


def _mean(of: Reproduction, one: Experiment, qdisc: str, column: Column) -> str | None:
    try:
        sample = of.samples.of(Name(one.name, column.metric), qdisc)
    except LookupError:
        return None
    found = estimate([column.scale * float(value) for value in sample[~np.isnan(sample)]])
    half = "" if found.low is None else f" ± {found.mean - found.low:.2g}"
    return f"{found.mean:.4g}{half}"


def _grades() -> str:
    rows = "".join(f"<dt>{escape(one.value)}</dt><dd>{prose(text)}</dd>\n" for one, text in MEANINGS.items())
    return f'<section id="grades">\n<h2>Grades</h2>\n<dl>\n{rows}</dl>\n</section>'


def _figures(of: Reproduction) -> str:
    """The figures of the paper, drawn with ours."""
    drawn = "\n".join(_figure(of, one) for one in of.paper.figures if one.finding is None)
    return f'<section id="figures">\n<h2>Figures</h2>\n{drawn}\n</section>' if drawn else ""


def _further(of: Reproduction) -> str:
    """The paper's future work: its figures and tables, and what was found."""
    parts = [_table(of, one) for one in of.paper.tables if one.finding is not None]
    parts += [_figure(of, one) for one in of.paper.figures if one.finding is not None]
    if not parts:
        return ""
    return '<section id="further">\n<h2>Future work of the paper</h2>\n' + "\n".join(parts) + "\n</section>"


def _finding(of: Reproduction, one: Figure | Table) -> str:
    """The finding, its outcome, and the evidence."""
    if one.finding is None:
        return ""
    found = judge(of.paper, one.item, one.finding, of.samples)
    outcome = f"{found.outcome.value.capitalize()} in these runs"
    if found.outcome is Outcome.NOT_RUN:
        outcome = "Not run in --quick" if of.quick else "Not run"
    values = _ours_of(of_finding(found))
    return (
        f'<p class="verdict">{prose(one.finding.text)}</p>\n'
        f'<details class="finding"><summary>{outcome}.</summary><p><code>{escape(found.finding.test.text)}'
        f"</code></p>{f'<p>{values}</p>' if values else ''}</details>\n"
    )


def _figure(of: Reproduction, figure: Figure) -> str:
    picture = draw(of, figure)
    if picture is None:
        why = "left out with few seeds" if of.quick else "nothing was measured"
        text = prose(f"{figure.title} {why.capitalize()}.")
        finding = _finding(of, figure)
        return f"<figure>\n<h3>{escape(figure.item)}</h3>\n<p>{text}</p>{finding}</figure>"
    alt = f"{figure.item}: {figure.title}"
    how = escape(figure_command(of.paper, figure, quick=of.quick))
    return (
        f"<figure>\n<h3>{escape(figure.item)}</h3>\n<p>{prose(figure.title)}</p>\n{_finding(of, figure)}"
        f"{svg(picture, f'figure-{figure.name}', alt)}\n"
        f"<figcaption><small>{escape(_caption(of, figure))}</small>"
        f"<details><summary>command</summary><pre>{how}</pre></details></figcaption></figure>"
    )


def _caption(of: Reproduction, figure: Figure) -> str:
    """Seeds, window, and how to read it."""
    if figure.kind == "curves":
        return "Calculated, without packets" + ("; dashed: the paper's values." if figure.paper else ".")
    experiments = [of.paper.experiments[name] for name in figure.at.values()]
    if figure.kind == "series":
        parts = [f"Seed 1, means of {figure.every} each"]
        if any(metric.endswith("queue_mean_packets") for metric in figure.metrics):
            parts.append("pale: the range of the queue for nine tenths of the time in them")
    else:
        counts = {(of.quick and one.quick_seeds) or one.seeds for one in experiments}
        seeds = " to ".join(str(one) for one in sorted(counts))
        about = {"boxes": "quartiles, with whiskers to 5 % and 95 %", "cdf": "all windows together"}
        windows = dict.fromkeys(_window(experiments[0], metric) for metric in figure.metrics)
        parts = [
            f"{seeds} seeds",
            f"window: {'; '.join(windows)}",
            about.get(figure.kind, "means with 95 % intervals"),
        ]
    if figure.level is not None:
        parts.append(f"dashed: {figure.level:g}")
    if figure.paper:
        parts.append("diamonds: the paper's values")
    return "; ".join(parts) + "."


def _window(experiment: Experiment, metric: str) -> str:
    named = [part for part in metric.split(".") if part in experiment.windows]
    if named:
        return experiment.windows[named[0]]
    return _time_measured(json.loads(load(experiment.scenario, dict(experiment.changes)).to_json()))


def _tables(of: Reproduction) -> str:
    """The tables of the paper, with ours."""
    parts = [_table(of, one) for one in of.paper.tables if one.finding is None]
    if not parts:
        return ""
    return '<section id="tables">\n<h2>Tables</h2>\n' + "\n".join(parts) + "\n</section>"


def _table(of: Reproduction, table: Table) -> str:
    found = {row.of: _ours(of, table, row) for row in table.rows}
    rows = "\n".join(
        f'<tr><th scope="row">{escape(row.of)}</th><td>{escape(row.paper)}</td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for row in table.rows
        if (cells := found[row.of]) is not None
    )
    chosen = ", ".join(f"{law}: {setting}" for law, setting in table.settings.items())
    notes = [f"Settings: {chosen}."] if chosen else []
    if left := ", ".join(name for name, cells in found.items() if cells is None):
        notes.append(f"{'Left out with few seeds' if of.quick else 'Not measured'}: {left}.")
    note = f'<p class="note">{escape(" ".join(notes))}</p>' if notes else ""
    return (
        f"<h3>{escape(table.item)}</h3>\n<p>{prose(table.title)}</p>\n{_finding(of, table)}"
        '<div class="scroll"><table class="league"><thead><tr><th></th><th>paper</th><th>ours</th>'
        f"<th>95 % interval</th><th>n</th></tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>{note}"
    )


def _ours(of: Reproduction, table: Table, row: Row) -> tuple[str, str, str] | None:
    """Mean or statistic of an expression, its interval and number; of a calculation the number alone."""
    paper = of.paper
    lookup = looked_up(paper, of.samples, table.settings)
    found = of_expression(expression(row.ours, table.item, paper.measures), lookup)
    if found.mean is None:
        return None
    if found.low is None or found.high is None:
        return f"{found.mean:.4g}", "-", "-"
    return f"{found.mean:.4g}", f"{found.low:.4g} to {found.high:.4g}", str(found.n)


#: How to read a league table.
READING = (
    "Bold with a dot: level with the best, that is, the best mean or not separated from it by paired "
    "differences over common seeds (one-sided p below 0.05, corrected for each law that may be the best "
    "and, by Holm's method, for all laws and measures: for normal differences a law as good as the best is "
    "separated in at most one table of twenty). A law with fewer than three is neither separated nor marked. "
    "d: the mean difference from the best over the standard deviation of the differences, with its 95 % "
    "interval."
)
ABOUT_MEASURES = (
    "Delay: time in the queue that 95 % of the packets do not exceed; loss: drops of the law and of a full "
    "buffer; fairness: Jain's index of the long flows; settling: from a change of the scenario until the "
    "queue, averaged over a second, stays within a tenth of the law's target until the next change or the "
    "end, else all of that time, the mean over the changes. None without a change or a target."
)


def _about_measures(several: Sequence[Reproduction]) -> str:
    """The sentence with how much of its time settling takes, which is what it can separate."""
    share = settling_share(several)
    if share is None:
        return ABOUT_MEASURES
    taken = (
        f"In these runs settling takes {100 * share:.0f} % of the time to the next change, on average over"
    )
    return f"{ABOUT_MEASURES} {taken} laws and seeds: the nearer to all of it, the less it separates laws."


def _leagues(of: Reproduction) -> str:
    """The league tables of a paper: how often a law is level with the best, then each experiment."""
    counts = seeds_of(of)
    if not counts:
        return ""
    each = "\n".join(filter(None, (_league(of, one) for one in of.paper.experiments.values())))
    return (
        f'<section id="league">\n<h2>League table</h2>\n{_shares(of, counts)}'
        f'<p class="note">{escape(READING)} {escape(_about_measures([of]))}</p>\n{each}\n</section>'
    )


def _shares(of: Reproduction, counts: Sequence[int]) -> str:
    """In how many experiments a law is level with the best; a sentence where too few seeds ran."""
    shares = share_of_best(of)
    n = " to ".join(str(one) for one in dict.fromkeys((counts[0], counts[-1])))
    if not shares:
        text = f"No law is marked as level with the best, nor counted: n = {n} seeds separate hardly any."
        return f"<p>{text}</p>\n"
    body = "\n".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(f"<td>{_share(shares.get((label, measure)))}</td>" for measure in MEASURES)
        + "</tr>"
        for label in dict.fromkeys(label for label, _ in shares)
    )
    return (
        "<p>Experiments in which a law is level with the best, of those in which it has the measure, each "
        f"over n = {n} seeds.</p>\n"
        f'<div class="scroll"><table class="league"><thead><tr><th>law</th>{_measure_heads(units=False)}</tr>'
        f"</thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
    )


def _share(of: tuple[int, int] | None) -> str:
    return "-" if of is None else f"{of[0]} of {of[1]}"


def _measure_heads(*, units: bool) -> str:
    return "".join(
        f"<th>{escape(one.name)}"
        + (f'<span class="unit">{escape(one.column.long)}</span>' if units else "")
        + "</th>"
        for one in MEASURES
    )


def _league(of: Reproduction, one: Experiment) -> str:
    standings = league(of, one)
    if not standings:
        return ""
    body = "\n".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(_standing(standings.get((label, measure)), measure) for measure in MEASURES)
        + "</tr>"
        for label in dict.fromkeys(label for label, _ in standings)
    )
    n = max(standing.estimate.n for standing in standings.values())
    return (
        f"<details><summary>{escape(one.name)}, {n} seed{'s' * (n > 1)}</summary>\n"
        f'<div class="scroll"><table class="league"><thead><tr><th>law</th>{_measure_heads(units=True)}</tr>'
        f"</thead>\n<tbody>\n{body}\n</tbody></table></div></details>"
    )


def _standing(of: Standing | None, measure: Measure, *, ratio: bool = False) -> str:
    """A cell: mean and half the interval, and the effect below."""
    if of is None:
        return "<td>-</td>"
    effect = ""
    if of.effect is not None:
        d = of.effect
        effect = f'<span class="half">d {_digits(d.mean)} ({_digits(d.low)} to {_digits(d.high)})</span>'
    kind = ' class="level"' if of.level else ""
    text = _ratio(of) if ratio else _interval(of, measure)
    return f"<td{kind}>{text}{effect}</td>"


def _interval(of: Standing, measure: Measure) -> str:
    scale = measure.column.scale
    return with_half(scale * of.estimate.mean, None if of.estimate.half is None else scale * of.estimate.half)


def with_half(mean: float, half: float | None) -> str:
    """A mean to the two leading digits of half its interval, at most to the fourth decimal."""
    if not half:
        return f"{mean:.4g}"
    decimals = min(4, max(0, 1 - math.floor(math.log10(half))))
    return f"{mean:.{decimals}f} ± {half:.{decimals}f}"


def _ratio(of: Standing) -> str:
    found = as_ratio(of.estimate)
    if found.low is None or found.high is None:
        return f"{found.mean:.2f}"
    return f"{found.mean:.2f} ({found.low:.2f} to {found.high:.2f})"


def _digits(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.1f}"


def _overall(several: Sequence[Reproduction]) -> str:
    """The league table over all scenarios."""
    standings = overall(several)
    if not standings:
        return ""
    heads = "".join(
        f'<th>{escape(one.name)}<span class="unit">{escape(_against(one))}</span></th>' for one in MEASURES
    )
    body = "\n".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(
            _standing(standings.get((label, measure)), measure, ratio=measure.against == "ratio")
            for measure in MEASURES
        )
        + "</tr>"
        for label in dict.fromkeys(label for label, _ in standings)
    )
    n = max(one.estimate.n for one in standings.values())
    links = ", ".join(f'<a href="{of.page}#league">{escape(of.paper.title)}</a>' for of in several)
    return (
        '<section id="league">\n<h2>League table</h2>\n'
        f"<p>Tail drop, PI by its rule and today's laws by default in {n} scenario{'s' * (n > 1)}: means "
        "over the scenarios with 95 % intervals. Experiments of a paper that vary one scenario are averaged "
        "first, and count once. The tables of the experiments are with the papers: "
        f"{links}.</p>\n"
        f'<div class="scroll"><table class="league"><thead><tr><th>law</th>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>\n"
        f'<p class="note">{escape(READING.replace("common seeds", "common scenarios"))} '
        f"{escape(_about_measures(several))}</p>\n</section>"
    )


def _against(of: Measure) -> str:
    unit = of.column.apart.unit
    if of.reference is None:
        return of.column.long
    return f"{of.column.short}, {of.reference}" + (f", {unit}" if unit and of.against == "difference" else "")
