"""The page: what ran, what came out, how to repeat it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from matplotlib.axes import Axes

from sojourn.plot import COARSE, Canvas, Plots, bands, style
from sojourn.report import comparison, live, setting, verdicts
from sojourn.report.figures import svg
from sojourn.report.parts import chip, disc_name, figure_of, told
from sojourn.result import Result, words

# The still pictures, for paper and for readers without scripts; the page shows 72 units an inch, so
# that their text is about 10 pixels high.
STILL = Canvas(size=(7.4, 3.2), points=200)
NETWORK = Canvas(size=(5.9, 1.6))
BAND_NOTE = (
    "Here and below, the line is the mean over the seeds, the band goes from the lowest seed to the highest."
)
CDF_NOTE = "The share of packets that wait no longer than the time below."

MEANINGS = (
    ("utilisation", "bits that the link delivered, of all that it could have delivered"),
    ("queue mean, sd", "the backlog over time, without the packet on the wire"),
    (
        "sojourn mean, p95",
        "the time that delivered packets spent in the queue; 95 of 100 waited no longer than p95",
    ),
    (
        "drops, marks",
        "packets dropped (by the law or for want of room) and marked, of all offered to the queue",
    ),
    ("goodput", "application bytes delivered, of all flows together"),
    ("Jain index", "1 when all long flows get the same goodput, 1/n when one of n gets all"),
)

# What a dark page has in place of the pictures' ink and paper.
NIGHT = {
    "paper": "#14171b",
    "raised": "#1c2026",
    "ink": "#e8eaed",
    "muted": "#9aa4ae",
    "rule": "#333a42",
    "warning": "#ffb084",
}

# The page may load nothing, from nowhere: the browser itself sees to it.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Chapter:
    """One question, its answer in a sentence, and the charts that show it."""

    name: str
    title: str
    verdict: Callable[[Result], str]
    charts: tuple[str, ...]


CHAPTERS = (
    Chapter("queue", "Queue over time", verdicts.queue, ("queue",)),
    Chapter("delay", "Delay", verdicts.delay, ("delay", "cdf")),
    Chapter("marks", "Drops and marks", verdicts.marks, ("drops", "marks")),
    Chapter("use", "Use of the link", verdicts.utilization, ("utilization", "window")),
)


def page(result: Result, baseline: str | None = None) -> str:
    """The whole page as text. It needs no other file and no network.

    Without scripts its pictures stand still. Differences are taken to `baseline`, a disc of the result; the
    first one where none is named.
    """
    chosen = result.baseline(baseline)
    plots = Plots(result, STILL)
    axes = {chart.name: chart.draw(plots) for chart in live.CHARTS}
    body = [
        _head(result),
        _tools(result),
        comparison.summary(result),
        comparison.differences(result, chosen),
        *(_chapter(result, chapter, axes) for chapter in CHAPTERS),
        _repeat(result),
        _meanings(),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="generator" content="Sojourn">\n'
        f"{baseline_mark(chosen)}\n"
        f"<title>{escape(result.title)}</title>\n<style>\n{_sheet()}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + f"\n</main>\n{_scripts(result, axes)}</body>\n</html>\n"
    )


def baseline_mark(disc: str) -> str:
    """What a page says of its baseline, for the page that may come in its place."""
    return f'<meta name="sojourn-baseline" content="{escape(disc)}">'


def _sheet() -> str:
    """The colours for day, night and paper, then uPlot's style sheet and ours."""
    day = {"paper": style.PAPER, "ink": style.INK, "muted": style.MUTED, "rule": style.RULE}
    day |= {f"disc-{place}": colour for place, colour in enumerate(style.PALETTE)}
    night = NIGHT | {f"disc-{place}": colour for place, colour in enumerate(style.PALETTE_ON_DARK)}
    text = _file("page.css")
    for mark, colours in (("day", day), ("night", night)):
        lines = "".join(f"  --{name}: {colour};\n" for name, colour in colours.items())
        text = text.replace(f"/* colours of the {mark} */\n", lines)
    return _file("vendor/uPlot.min.css") + "\n" + text


def _scripts(result: Result, axes: dict[str, Axes]) -> str:
    numbers = json.dumps(live.data(result, axes), separators=(",", ":"), allow_nan=False)
    numbers = numbers.replace("<", "\\u003c")  # what a user wrote ends no script
    # uPlot's own banner is an address and its version: the whole licence stands in its place.
    plotter = re.sub(r"^/\*!.*?\*/\n", "", _file("vendor/uPlot.iife.min.js"), flags=re.S)
    licence = _file("vendor/uPlot.LICENSE")
    return (
        f'<script type="application/json" id="data">{numbers}</script>\n'
        f"<script>\n/* uPlot\n\n{licence}*/\n{plotter}</script>\n<script>\n{_file('page.js')}</script>\n"
    )


def _file(name: str) -> str:
    return files("sojourn.report").joinpath(name).read_text(encoding="utf-8")


def _head(result: Result) -> str:
    ran = " ".join(setting.sentences(result.scenario))
    network = svg(figure_of(Plots(result, NETWORK).network()), "network", f"The network. {ran}")
    return (
        f'<header>\n<p class="kind">Sojourn report</p>\n<h1>{escape(result.title)}</h1>\n'
        f'<p class="headline">{told(verdicts.headline(result))}</p>\n{_incomplete(result)}'
        f'<div class="scene"><p class="setting">{told(f"{ran} {_extent(result)}")}</p>\n'
        f'<figure id="network">{network}</figure></div>\n</header>'
    )


def _extent(result: Result) -> str:
    discs = len(result.discs)
    law = "law" if discs == 1 else "laws"
    return f"{discs} {law}, {words.seeds_told(result)}; packet by packet."


def _incomplete(result: Result) -> str:
    asked = result.provenance.get("runs_asked")
    if not isinstance(asked, int) or asked <= result.run_count:
        return ""
    return f'<p class="warning">Not whole: {result.run_count} of {asked} runs finished.</p>\n'


def _tools(result: Result) -> str:
    """The bar that stays in view: which law is which, and what the reader may do; for scripts alone."""
    called = words.short_names(result.discs)
    laws = "".join(
        f'<button type="button" class="toggle" data-law="{place}" aria-pressed="true">'
        f"{chip(place)}{disc_name(called[disc])}</button>"
        for place, disc in enumerate(result.discs)
    )
    return (
        f'<div class="tools" role="toolbar" aria-label="Charts">\n<div class="laws">{laws}</div>\n'
        '<span class="hint">drag to zoom, double-click for the whole run</span>'
        '<button type="button" class="plain" id="whole" hidden>whole run</button>'
        '<button type="button" class="plain" id="theme">dark</button>\n</div>'
    )


def _chapter(result: Result, chapter: Chapter, axes: dict[str, Axes]) -> str:
    verdict = chapter.verdict(result)
    charts = [chart for chart in live.CHARTS if chart.name in chapter.charts]
    figures = "\n".join(_chart(result, chart, axes[chart.name], verdict) for chart in charts)
    return (
        f'<section id="{chapter.name}">\n<h2>{escape(chapter.title)}</h2>\n'
        f'<p class="verdict">{told(verdict)}</p>\n<div class="charts">\n{figures}\n</div>\n</section>'
    )


def _chart(result: Result, chart: live.Chart, ax: Axes, verdict: str) -> str:
    """A figure: the place for the script's chart, the still picture, and what both show."""
    still = svg(figure_of(ax), chart.name, verdict)
    return (
        f'<figure id="chart-{chart.name}">\n<h3>{escape(chart.title)}<span class="unit">'
        f"{escape(ax.get_ylabel().rpartition(', ')[2])}</span></h3>\n"
        f'<div class="chart" data-chart="{chart.name}" tabindex="0" role="img" '
        f'aria-label="{escape(verdict)}"></div>\n<div class="still">{still}</div>\n'
        f'<figcaption class="note">{_caption(result, chart)}</figcaption>\n</figure>'
    )


def _caption(result: Result, chart: live.Chart) -> str:
    if chart.series is None:
        return escape(CDF_NOTE)
    unit, times = Plots(result).time_unit()
    step = bands.step_s(result, STILL.points // (COARSE if chart.coarse else 1)) * times
    live_or_still = f'<span class="step">{step:g}</span><span class="paper">{step:g}</span>'
    notes = [f"Each point averages {live_or_still} {escape(unit)}."]
    finest, sample = live.finest_s(result, chart), bands.sample_s(result)
    if finest > sample * (1 + 1e-9):
        fine = f"finest here {words.short_time(finest)}; series.parquet has {words.short_time(sample)}"
        notes[0] = notes[0].removesuffix(".") + f'<span class="live-only"> ({escape(fine)})</span>.'
    if chart is live.CHARTS[0]:
        notes.insert(0, BAND_NOTE if words.most_seeds(result) > 1 else "One seed.")
    if chart.name == "window" and bands.flows(result):
        notes.append(f"Thin lines: single flows under seed {min(result.seeds)}.")
    if chart is live.CHARTS[0] and result.scenario.get("at"):
        notes.append("Dotted verticals: scheduled changes.")
    return " ".join(notes)


def _repeat(result: Result) -> str:
    origin = result.provenance
    command = origin.get("command") or []
    versions, machine = origin.get("versions") or {}, origin.get("machine") or {}
    facts = [
        ("Seeds", _numbers(result.seeds)),
        (
            "Version",
            f"Sojourn {versions.get('sojourn', 'unknown')}, Python {versions.get('python', 'unknown')}",
        ),
        ("Made", f"{origin.get('started', 'unknown')}, in {_wall(origin.get('wall_s'))}"),
        ("Machine", f"{machine.get('system', 'unknown')} {machine.get('architecture', '')}".strip()),
    ]
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    recipe = _shell(command) if command else _calls(result)
    promise = (
        "The same scenario, seeds and version give the same numbers, "
        "on any machine and with any number of workers."
    )
    resolved = json.dumps(result.scenario, indent=1, ensure_ascii=False)
    return (
        '<section id="repeat">\n<h2>How to repeat it</h2>\n'
        f"<pre><code>{escape(recipe)}</code></pre>\n<dl>{rows}</dl>\n"
        f'<p class="note">{promise}</p>\n'
        "<details><summary>The scenario, with every default</summary>\n"
        f"<pre><code>{escape(resolved)}</code></pre>\n</details>\n{_sources(result)}</section>"
    )


def _sources(result: Result) -> str:
    """The laws that were written in Python, each under its label."""
    return "".join(
        f"<details><summary>The law {escape(label)}</summary>\n"
        f"<pre><code>{escape(source or 'Python had no source of it.')}</code></pre>\n</details>\n"
        for label, source in _python_laws(result).items()
    )


def _python_laws(result: Result) -> dict[str, str | None]:
    """Label -> source."""
    laws = result.provenance.get("laws")
    if not isinstance(laws, dict):
        return {}
    return {str(label): None if source is None else str(source) for label, source in laws.items()}


def _calls(result: Result) -> str:
    """What one writes in Python where there was no command."""
    laws = list(_python_laws(result))
    names = {label: "law" if len(laws) == 1 else f"law_{place}" for place, label in enumerate(laws, 1)}
    told = [
        f"{name} = ...  # {' '.join(label.split())}: its source is below" for label, name in names.items()
    ]
    discs = ", ".join(names.get(disc) or json.dumps(disc, ensure_ascii=False) for disc in result.discs)
    seeds = result.seeds
    listed = f"range({seeds[0]}, {seeds[-1] + 1})" if _in_a_row(seeds) else str(seeds)
    return "\n".join(
        [
            "import sojourn as sj",
            "",
            'scenario = sj.load("scenario.toml")  # the one below',
            *told,
            f"result = sj.run(scenario, discs=[{discs}], seeds={listed})",
            'result.report("report.html")',
        ]
    )


def _shell(command: list[object]) -> str:
    """The command as one types it; a long one with a line for each option."""
    whole = shlex.join(map(str, command))
    if len(whole) <= 80:
        return whole
    lines: list[list[str]] = [[]]
    for word in map(str, command):
        if word.startswith("-"):
            lines.append([])
        lines[-1].append(word)
    return " \\\n    ".join(shlex.join(line) for line in lines)


def _meanings() -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(meaning)}</dd>" for name, meaning in MEANINGS)
    return f'<section id="meanings">\n<h2>What the columns mean</h2>\n<dl>{rows}</dl>\n</section>'


def _numbers(seeds: list[int]) -> str:
    if _in_a_row(seeds):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _in_a_row(seeds: list[int]) -> bool:
    return len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1


def _wall(seconds: object) -> str:
    return f"{seconds:.1f} s" if isinstance(seconds, int | float) else "unknown time"
