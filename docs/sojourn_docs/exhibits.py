"""The gallery: scenarios with a picture and what it shows, from runs made while the page is built."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes

import sojourn as sj
from sojourn.plot import Plots
from sojourn.report import verdicts

SEEDS = range(1, 6)


@dataclass(frozen=True)
class Exhibit:
    """A scenario under some qdiscs, and its picture."""

    scenario: str
    qdiscs: tuple[str, ...]
    draw: Callable[[Plots], Axes]
    #: About the picture.
    caption: str


def _queue(plots: Plots) -> Axes:
    return plots.queue()


def _delay(plots: Plots) -> Axes:
    return plots.delay()


def _goodputs(plots: Plots) -> Axes:
    return plots.classes("goodput_bps")


def _metric(metric: str, of: str) -> Callable[[Plots], Axes]:
    return lambda plots: plots.bars(metric, of)


OVER_TIME = f"Lines are of seed {SEEDS[0]}, bands the range of all seeds."
OF_SEEDS = "Means over the seeds with their 95 % intervals."
EXHIBITS = (
    Exhibit("home/bufferbloat", ("tail_drop", "pie", "fq_codel", "cake"), _delay, OVER_TIME),
    Exhibit("home/browsing", ("tail_drop", "codel", "fq_codel"), _metric("fct_mean_s", "web"), OF_SEEDS),
    Exhibit("home/game", ("tail_drop", "pie", "fq_codel", "cake"), _metric("fct_p95_s", "game"), OF_SEEDS),
    Exhibit("home/hosts", ("tail_drop", "fq_codel", "cake"), _goodputs, OF_SEEDS),
    Exhibit("transports/cubic_newreno", ("tail_drop", "codel", "sqm"), _goodputs, OF_SEEDS),
    Exhibit("links/lte", ("tail_drop", "codel", "pie", "fq_codel"), _delay, OVER_TIME),
    Exhibit("traffic/flash_crowd", ("tail_drop", "red", "pie", "arm_pfc"), _queue, OVER_TIME),
    Exhibit("arm_pfc/exp5", ("pi:target=100packets", "arm_pfc:target=100packets", "rem"), _queue, OVER_TIME),
    Exhibit("cobalt/flood", ("codel", "cobalt", "pie"), _delay, OVER_TIME),
)


def shown(pictures: Path, static: str) -> str:
    """All of them, in Markdown."""
    return "\n\n".join(_exhibit(one, pictures, static) for one in EXHIBITS)


def _exhibit(one: Exhibit, pictures: Path, static: str) -> str:
    result = sj.run(sj.load(one.scenario), qdiscs=list(one.qdiscs), seeds=SEEDS)
    file = f"gallery_{one.scenario.replace('/', '_')}.svg"
    drawn = one.draw(result.plot).figure
    drawn.savefig(pictures / file, metadata={"Date": None}, transparent=True)
    found = verdicts.classes(result) if one.draw is _goodputs else _headline(result)
    qdiscs = " ".join(f"--qdisc {shlex.quote(qdisc)}" for qdisc in one.qdiscs)
    return "\n".join(
        [
            f"## {result.title}",
            "",
            found,
            "",
            "```{raw} html",
            f'<figure class="run"><img src="{static}/{file}" alt="{result.title}">',
            f"<figcaption>{one.caption}</figcaption></figure>",
            "```",
            "",
            "```sh",
            f"sojourn run {one.scenario} {qdiscs} --seeds {SEEDS[0]}..{SEEDS[-1]} --out build/gallery",
            "```",
        ]
    )


def _headline(result: sj.Result) -> str:
    """The first sentences of its report."""
    return verdicts.opening(result, result.qdiscs[0])
