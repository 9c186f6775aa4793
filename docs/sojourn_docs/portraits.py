"""Pictures of the laws, drawn while the pages are built: each by itself, and all beside each other."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

import sojourn as sj
from sojourn import catalogue
from sojourn.errors import InputError
from sojourn.plot import style
from sojourn.prove.region import Region
from sojourn_docs import behaviour
from sojourn_docs.behaviour import LINKS, SCENARIOS, STEP_S, Link, Row

#: The link of the pictures of one law.
LINK = LINKS["arm_pfc_like"]
#: The time that is drawn, s: it has the step of the load.
FIRST_S, LAST_S = 60.0, 120.0
#: Points of a stability region along each axis.
POINTS = 40
#: The smallest share of packets that a distribution is drawn to: that of the p99.9.
LEAST = 1e-3
#: Panels in a row.
COLUMNS = 4


def of_law(law: str, pictures: Path, static: str) -> str:
    """A law's response to a step of the load, its delays and its stability region, in Markdown."""
    found, mapped = behaviour.row(law, LINK), _region(law)
    figure, axes = style.figure((9.0, 2.9), 1, 3 if mapped else 2, apart=0.06)
    _queue(axes[0], found, LINK)
    style.label(axes[0], "time, s", "queue, packets")
    _delays(axes[1], found)
    target = ", the target dashed" if _target(law, LINK) else ""
    captions = [
        f"The queue as 60 flows become 120 at 80 s: one seed, the range of all ten pale{target}.",
        "The share of packets that wait longer.",
    ]
    if mapped:
        certificate, region = mapped
        certificate.plot.map(region, ax=axes[2]).get_legend().remove()
        captions.append(
            "Where the loop is stable (green) and unstable (orange), or not judged (grey); the point is this "
            "link with all 120 flows, and the gains are those of it."
        )
    name = f"portrait_{law}.svg"
    figure.savefig(pictures / name, metadata={"Date": None}, transparent=True)
    alt = f"Queue over time, distribution of delay and stability region of {law}"
    run = f"sojourn run behaviour/{LINK.name} --qdisc {shlex.quote(behaviour.spec(law, LINK))} --seeds 1..10"
    return _figure(f"{static}/{name}", alt, " ".join(captions), run)


def together(link: str, pictures: Path, static: str) -> str:
    """The queue under every law on a link, a panel each, in Markdown."""
    laws = [entry["name"] for entry in catalogue.entries("laws")]
    of = LINKS[link]
    rows = -(-len(laws) // COLUMNS)
    figure, axes = style.figure((9.0, 1.5 * rows), rows, COLUMNS, apart=0.03, above=0.05)
    found = {law: behaviour.row(law, of) for law in laws}
    top = np.nanquantile([np.nanmax(one.traces[:, _drawn(one)]) for one in found.values()], 0.75)
    for place, (law, ax) in enumerate(zip(laws, axes, strict=False)):
        _queue(ax, found[law], of)
        ax.set_ylim(0, top)
        ax.set_title(law, loc="left", fontsize=style.FONT_PT - 1, color=style.INK)
        ax.tick_params(labelsize=style.FONT_PT - 2)
        if place % COLUMNS:
            ax.set_yticklabels([])
        if place + COLUMNS < len(laws):
            ax.set_xticklabels([])
    for ax in axes[len(laws) :]:
        ax.set_visible(False)
    name = f"behaviour_{link}.svg"
    figure.savefig(pictures / name, metadata={"Date": None}, transparent=True)
    alt = f"Queue in packets over time in seconds under every law on {link}"
    caption = (
        "Queue, packets, over time, s: one seed, the range of all ten pale, targets dashed. "
        "Longer queues leave their panels."
    )
    return _figure(f"{static}/{name}", alt, caption, None)


def _queue(ax: Axes, found: Row, link: Link) -> None:
    """The queue of one seed over the range of all, about the step of the load."""
    drawn = _drawn(found)
    times, traces = found.times[drawn], found.traces[:, drawn]
    colour = style.colour(0)
    low, high = np.nanmin(traces, axis=0), np.nanmax(traces, axis=0)
    ax.fill_between(times, low, high, color=colour, alpha=style.BAND_ALPHA, linewidth=0)
    ax.plot(times, traces[0], color=colour, linewidth=style.THIN)
    target = _target(found.qdisc, link)
    if target is not None:
        ax.axhline(target, color=style.MUTED, linewidth=0.9, linestyle=(0, (4, 3)))
    style.change(ax, STEP_S - 1)
    style.quieten(ax)
    ax.set_xlim(FIRST_S, LAST_S)
    ax.set_ylim(0, None)


def _drawn(of: Row) -> slice:
    """Places of the drawn time."""
    first, last = np.searchsorted(of.times, (FIRST_S, LAST_S))
    return slice(int(first), int(last))


def _target(qdisc: str, link: Link) -> float | None:
    """Target of the mean queue, packets; None for a law without one."""
    law = qdisc.partition(":")[0]
    if law in behaviour.TARGETED:
        return link.target_packets
    return behaviour.DELAYED[law] / link.packet_ms if law in behaviour.DELAYED else None


def _delays(ax: Axes, found: Row) -> None:
    """Share of packets that wait longer: the mean over the seeds, and their range."""
    mean = found.longer.mean(axis=0)
    low, high = found.longer.min(axis=0), found.longer.max(axis=0)
    colour = style.colour(0)
    ax.fill_between(
        found.delays, np.maximum(low, LEAST / 2), high, color=colour, alpha=style.BAND_ALPHA, linewidth=0
    )
    ax.plot(found.delays, mean, color=colour, linewidth=style.LINE)
    ax.set_yscale("log")
    ax.set_ylim(LEAST, 1)
    style.quieten(ax)
    ax.set_xlim(0, found.delays[int(np.argmax(mean < LEAST)) or -1])
    ax.set_yticks([1, 0.5, 0.1, 0.05, 0.01, LEAST], ["all", "p50", "p90", "p95", "p99", "p99.9"])
    ax.minorticks_off()
    style.label(ax, "delay, ms", "")


def _region(law: str) -> tuple[sj.Certificate, Region] | None:
    """A certificate and its stability region; None of a law that is not judged."""
    certificate = sj.prove(sj.load(SCENARIOS / f"{LINK.name}.toml"), behaviour.spec(law, LINK))
    try:
        region = certificate.region(points=POINTS)
    except InputError:
        return None
    return (certificate, region) if {"stable", "unstable"} & region.shares().keys() else None


def _figure(source: str, alt: str, caption: str, run: str | None) -> str:
    lines = [
        "```{raw} html",
        f'<figure class="run"><img src="{source}" alt="{alt}">',
        f"<figcaption>{caption}</figcaption></figure>",
        "```",
    ]
    if run is not None:
        lines += ["", "```sh", run, "```"]
    return "\n".join(lines)
