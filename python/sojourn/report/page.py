"""The page: what ran, what came out, how to repeat it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.plot import COARSE, Canvas, Plots, bands, style
from sojourn.report import setting, verdicts
from sojourn.report.figures import svg
from sojourn.result import Result, words

# How many points a line of a figure has, about.
POINTS = 200

# Every figure is drawn twice, for wide and for narrow pages; the style sheet shows one of them.
# Inches; the page shows 72 units an inch, so that its text is 10 to 12 pixels high in both.
WIDE = Canvas(size=(11.8, 4.1), points=POINTS, legend=False)
NARROW = Canvas(size=(5.1, 3.7), points=POINTS, legend=False)
NARROW_STACKED = Canvas(size=(5.1, 6.2), points=POINTS, legend=False, stacked=True)

BAND_NOTE = "Line: mean over the seeds. Band: from the lowest seed to the highest."

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


@dataclass(frozen=True)
class Chapter:
    """One figure of the page."""

    name: str
    title: str
    verdict: Callable[[Result], str]
    draw: Callable[[Plots], Axes | tuple[Axes, Axes]]
    #: Whether it has the fine time step rather than the coarse one; None where it is not over time.
    fine: bool | None


CHAPTERS = (
    Chapter("queue", "Queue over time", verdicts.queue, Plots.queue, True),
    Chapter("delay", "Delay", verdicts.delay, Plots.delay, None),
    Chapter("marks", "Drops and marks", verdicts.marks, Plots.marks, False),
    Chapter("utilization", "Utilisation", verdicts.utilization, Plots.utilization, False),
)


def page(result: Result) -> str:
    """The whole page as text. It needs no other file, no network and no script."""
    body = [
        _head(result),
        _summary(result),
        *(_chapter(result, chapter) for chapter in CHAPTERS),
        _repeat(result),
        _meanings(),
    ]
    sheet = files("sojourn.report").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="generator" content="Sojourn">\n'
        f"<title>{escape(result.title)}</title>\n<style>\n{sheet}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _head(result: Result) -> str:
    ran = " ".join(setting.sentences(result.scenario))
    return (
        f'<header>\n<p class="kind">Sojourn report</p>\n<h1>{escape(result.title)}</h1>\n'
        f'<p class="setting">{escape(ran)} {escape(_extent(result))}</p>\n'
        f'<p class="headline">{_told(verdicts.headline(result))}</p>\n{_incomplete(result)}</header>'
    )


def _extent(result: Result) -> str:
    discs, seeds = len(result.discs), len(result.seeds)
    law = "law" if discs == 1 else "laws"
    seed = "seed" if seeds == 1 else "seeds"
    return f"{discs} {law}, {seeds} {seed}; packet by packet."


def _incomplete(result: Result) -> str:
    asked = result.provenance.get("runs_asked")
    if not isinstance(asked, int) or asked <= len(result.runs):
        return ""
    return f'<p class="warning">Not whole: {len(result.runs)} of {asked} runs finished.</p>\n'


def _summary(result: Result) -> str:
    shown = [column for column in words.COLUMNS if any(words.scaled(result, d, column) for d in result.discs)]
    heads = "".join(
        f'<th scope="col">{escape(column.short)}<span class="unit">{escape(column.unit)}</span></th>'
        for column in shown
    )
    rows = "\n".join(
        f'<tr><th scope="row">{_chip(place)}{_disc_name(disc)}</th>'
        + "".join(_cell(result, disc, column) for column in shown)
        + "</tr>"
        for place, disc in enumerate(result.discs)
    )
    many = len(result.seeds) > 1
    note = (
        f"Mean over {len(result.seeds)} seeds, and half the width of the 95\u00a0% interval (Student's t)."
        if many
        else "One seed: no intervals."
    )
    return (
        '<section id="summary">\n<h2>Summary</h2>\n<div class="scroll"><table>\n'
        f'<thead><tr><th scope="col">law</th>{heads}</tr></thead>\n'
        f'<tbody>\n{rows}\n</tbody>\n</table></div>\n<p class="note">{escape(note)}</p>\n</section>'
    )


def _cell(result: Result, disc: str, column: words.Column) -> str:
    text = words.cell(result, disc, column)
    mean, _, half = text.partition(" ± ")
    spread = f'<span class="half">± {escape(half)}</span>' if half else ""
    return f'<td data-name="{escape(column.long)}">{mean or "-"}{spread}</td>'


def _chapter(result: Result, chapter: Chapter) -> str:
    verdict = chapter.verdict(result)
    narrow = NARROW_STACKED if chapter.name == "marks" else NARROW
    pictures = "\n".join(
        f'<div class="{kind}">{svg(figure, f"{chapter.name}-{kind}", verdict)}</div>'
        for kind, figure in (
            ("wide", _figure(result, chapter, WIDE)),
            ("narrow", _figure(result, chapter, narrow)),
        )
    )
    return (
        f'<section id="{chapter.name}">\n<h2>{escape(chapter.title)}</h2>\n'
        f'<p class="verdict">{_told(verdict)}</p>\n<figure>\n{_legend(result)}\n{pictures}\n'
        f'<figcaption class="note">{escape(_caption(result, chapter))}</figcaption>\n</figure>\n</section>'
    )


def _figure(result: Result, chapter: Chapter, canvas: Canvas) -> Figure:
    axes = chapter.draw(Plots(result, canvas))
    drawn = (axes[0] if isinstance(axes, tuple) else axes).get_figure(root=True)
    assert drawn is not None, "Plots draws every axes in a figure"
    return drawn


def _caption(result: Result, chapter: Chapter) -> str:
    if chapter.fine is None:
        return f"The share of packets that wait no longer than the time below. {_band_note(result)}"
    step = bands.step_s(result, POINTS if chapter.fine else POINTS // COARSE)
    changes = " Dotted lines: scheduled changes." if result.scenario.get("at") else ""
    return f"{_band_note(result)} Each point averages {step:g} s.{changes}"


def _band_note(result: Result) -> str:
    return BAND_NOTE if len(result.seeds) > 1 else "One seed."


def _legend(result: Result) -> str:
    items = "".join(f"<li>{_chip(place)}{_disc_name(disc)}</li>" for place, disc in enumerate(result.discs))
    return f'<ul class="legend">{items}</ul>'


def _chip(place: int) -> str:
    """A short line in the disc's colour and dash."""
    colour = place % len(style.PALETTE)
    dashes = {"-": "", "--": ' stroke-dasharray="6 3"', ":": ' stroke-dasharray="2 3"'}[style.dash(place)]
    return (
        f'<svg class="chip" viewBox="0 0 24 8" aria-hidden="true"><path d="M0 4H24" '
        f'stroke="var(--disc-{colour})" stroke-width="4"{dashes}/></svg>'
    )


def _disc_name(disc: str) -> str:
    law, _, parameters = disc.partition(":")
    detail = f'<span class="parameters">{escape(parameters.replace(",", ", "))}</span>' if parameters else ""
    return f'<span class="law">{escape(law)}</span>{detail}'


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
    shown = f"<pre><code>{escape(_shell(command))}</code></pre>\n" if command else ""
    promise = (
        "The same scenario, seeds and version give the same numbers, "
        "on any machine and with any number of workers."
    )
    return (
        f'<section id="repeat">\n<h2>How to repeat it</h2>\n{shown}<dl>{rows}</dl>\n'
        f'<p class="note">{promise}</p>\n</section>'
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
    if len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _wall(seconds: object) -> str:
    return f"{seconds:.1f} s" if isinstance(seconds, int | float) else "unknown time"


def _told(sentence: str) -> str:
    """A sentence for the page: numbers do not part from their units."""
    return re.sub(r"(\d) (ms|%|packets)", r"\1&nbsp;\2", escape(sentence))
