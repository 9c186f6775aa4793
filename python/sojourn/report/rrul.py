"""The picture of RRUL as Flent's users know it: download, upload and ping over time."""

from __future__ import annotations

from sojourn.plot import COARSE, ROUND_TRIP, Canvas, Plots, bands, style
from sojourn.report import chapters, wording
from sojourn.report.parts import not_drawn, pictures
from sojourn.report.service import service
from sojourn.result import Result, Variant, words

#: Sizes of the picture, inches, for pages of several widths.
SIZES = {"wide": (14.5, 7.2), "middle": (8.8, 6.6), "narrow": (5.1, 6.6)}
#: Endings of the classes of a test, and what each of its panels shows.
PANELS = (("-down", "download"), ("-up", "upload"), ("-ping", "ping"))
#: Most qdiscs that are drawn over each other; each has panels of its own in the charts by class.
MOST = 3
#: Shortest time that a point averages, s: two pings of the test and more.
SHORTEST_S = 0.5


def stems(result: Result) -> list[str]:
    """Names of the tests that the result has, such as ``rrul``."""
    series = set(result.series["name"].unique())
    found = (name.removesuffix("-down") for name in result.classes if name.endswith("-down"))
    return [
        one
        for one in found
        if all(f"{one}{end}" in result.classes for end, _ in PANELS) and f"{ROUND_TRIP}{one}-ping" in series
    ]


def section(result: Result, baseline: str) -> str:
    """The picture: the baseline, and the qdiscs that serve users best; empty without a test."""
    names = stems(result)
    if not names:
        return ""
    name, *others = names
    shown = _shown(result, baseline)
    points = int((words.seconds(result.scenario["duration"]) or 0.0) / SHORTEST_S)
    canvas = Canvas(points=COARSE * max(2, min(points, Canvas.points // COARSE)), legend=False, only=shown)
    plots, drawn = Plots(result, canvas), {}
    for kind, size in SIZES.items():
        _, axes = style.figure(size, len(PANELS), 1, apart=0.12, above=0.04)
        for ax, (end, title) in zip(axes, PANELS, strict=True):
            draw = plots.ping if end == "-ping" else plots.goodput
            draw(f"{name}{end}", ax=ax)
            ax.set_ylabel(f"{title}, {ax.get_ylabel().partition(', ')[2]}")
            if ax is not axes[-1]:
                ax.set_xlabel("")
        style.legend(axes[0], above=True)
        drawn[kind] = axes[0]
    alt = f"Download, upload and ping of {name} over time under {_named(result, shown)}."
    left = len(result.variants) - len(shown)
    further = f"{wording.counted(left, 'more qdisc')}: by class of traffic, below." if left else ""
    unit, times = plots.time_unit()
    step = bands.step_s(result, canvas.points // COARSE) * times
    caption = wording.joined(chapters.seeds_note(result), f"Each point averages {step:g} {unit}.", further)
    return (
        f'<figure id="rrul">{pictures("rrul", alt, drawn)}\n'
        f'<figcaption class="note">{caption}</figcaption>\n{not_drawn(others)}</figure>\n'
    )


def _shown(result: Result, baseline: str) -> tuple[Variant, ...]:
    """The qdiscs that are drawn, in the order of the result."""
    if len(result.variants) <= MOST:
        return tuple(result.variants)
    first = next((one for one in result.variants if one.qdisc == baseline), result.variants[0])
    found = service(result)
    order = result.variants if found is None else found.order
    best = [one for one in order if one != first]
    return tuple(one for one in result.variants if one in (first, *best[: MOST - 1]))


def _named(result: Result, shown: tuple[Variant, ...]) -> str:
    called = words.variant_names(result)
    return wording.both([called[one] for one in shown])
