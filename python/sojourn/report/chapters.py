"""Chapters of a link: each with its answer in a sentence, and its charts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from sojourn.plot import COARSE, Plots, bands
from sojourn.report import live, verdicts
from sojourn.report.figures import svg
from sojourn.report.parts import figure_of, prose
from sojourn.result import Result, words

BAND_NOTE = "The line is {}, the band goes from the lowest seed to the highest."
PLANT_NOTES = {
    "fluid": "thin and sharp: the fluid plant",
    "packet": "broad and pale: what packets did",
    "live": "dotted: live packets",
}
CCDF_NOTE = "Logarithmic axes: at p99, one packet in a hundred waits longer than the time below."
MEAN_NOTE = "The line is the mean over the seeds."


@dataclass(frozen=True)
class Chapter:
    """One chapter: its title, its answer in a sentence, and its charts."""

    name: str
    title: str
    verdict: Callable[[Result], str]
    charts: tuple[str, ...]


#: It comes before the tables: means and quantiles hide the tails.
DISTRIBUTION = Chapter("distribution", "Distribution of delay", verdicts.delay, ("ccdf",))
CHAPTERS = (
    Chapter("queue", "Queue over time", verdicts.queue, ("queue",)),
    Chapter("delay", "Delay over time", verdicts.mean_delay, ("delay",)),
    Chapter("marks", "Drops and marks", verdicts.marks, ("drops", "marks")),
    Chapter("use", "Use of the link", verdicts.utilization, ("utilization", "window")),
    Chapter("shares", "Shares by utility", verdicts.shares, tuple(chart.name for chart in live.OF_UTILITY)),
)


def section(sight: live.Sight, chapter: Chapter) -> str:
    """A chapter with its charts; empty without any."""
    charts = [chart for chart in sight.charts if chart.name in chapter.charts]
    if not charts:
        return ""
    verdict = verdicts.by_plant(chapter.verdict, sight.view)
    first, *others = charts
    figures = [figure(sight, first, f"{first.title}: {verdict}")]
    figures += [figure(sight, chart, f"{chart.title} under each qdisc.") for chart in others]
    drawn = "\n".join(figures)
    return (
        f'<section id="{sight.ids}{chapter.name}">\n<h2>{escape(chapter.title)}</h2>\n'
        f'<p class="verdict">{prose(verdict)}</p>\n<div class="charts">\n{drawn}\n</div>\n</section>'
    )


def figure(sight: live.Sight, chart: live.Chart, alt: str) -> str:
    """The script's chart, the still picture, both with their text `alt`, and their caption."""
    ax, name = sight.axes[chart.name], f"{sight.ids}{chart.name}"
    still = svg(figure_of(ax), name, alt)
    return (
        f'<figure id="{sight.ids}chart-{chart.name}">\n<h3>{escape(chart.title)}<span class="unit">'
        f"{escape(live.unit(ax))}</span></h3>\n"
        f'<div class="chart" data-chart="{name}" tabindex="0" role="group" '
        f'aria-label="{escape(alt)}" aria-describedby="keys"></div>\n<div class="still">{still}</div>\n'
        f'<figcaption class="note">{_caption(sight, chart)}</figcaption>\n</figure>'
    )


def _caption(sight: live.Sight, chart: live.Chart) -> str:
    result = sight.view
    if chart.series is None:
        return escape(f"{CCDF_NOTE} {MEAN_NOTE if words.most_seeds(result) > 1 else ''}".rstrip())
    unit, times = Plots(result).time_unit()
    step = bands.step_s(result, live.STILL.points // (COARSE if chart.coarse else 1)) * times
    live_or_still = f'<span class="step">{step:g}</span><span class="paper">{step:g}</span>'
    notes = [f"Each point averages {live_or_still} {escape(unit)}."]
    finest, sample = sight.finest_s(chart), bands.sample_s(result)
    if finest > sample * (1 + 1e-9):
        fine = f"finest here {words.short_time(finest)}; series.parquet has {words.short_time(sample)}"
        notes[0] = notes[0].removesuffix(".") + f'<span class="live-only"> ({escape(fine)})</span>.'
    notes.insert(0, seeds_note(result))
    if chart is live.CHARTS[0]:
        strokes = "; ".join(note for plant, note in PLANT_NOTES.items() if plant in result.plants)
        notes += [f"{strokes[0].upper()}{strokes[1:]}."] * (len(result.plants) > 1)
    if chart.name == "window" and bands.flows(result):
        kind = "Thin" if len(result.plants) == 1 else "Faint"
        notes.append(f"{kind} lines: single flows under seed {min(result.seeds)}.")
    if chart is live.CHARTS[0] and result.scenario.get("at"):
        notes.append("Dotted verticals: scheduled changes.")
    return " ".join(notes)


def seeds_note(result: Result) -> str:
    """What the lines and bands of charts over time are of, as a sentence."""
    if not any(variant.seeded for variant in result.variants):
        return words.seedless_note(result)
    first = "the first seed" if words.most_seeds(result) < len(result.seeds) else f"seed {min(result.seeds)}"
    return BAND_NOTE.format(first) if words.most_seeds(result) > 1 else "One seed."
