"""What several sections of the page are made of."""

from __future__ import annotations

import re
from html import escape

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.plot import style
from sojourn.report.figures import svg


def pictures(name: str, spoken: str, axes: dict[str, Axes]) -> str:
    """The same picture for pages of several widths; the style sheet shows one of them."""
    return "\n".join(
        f'<div class="{kind}">{svg(figure_of(ax), f"{name}-{kind}", spoken)}</div>'
        for kind, ax in axes.items()
    )


def figure_of(ax: Axes) -> Figure:
    """The figure that the axes stand in."""
    drawn = ax.get_figure(root=True)
    assert drawn is not None, "Plots draws every axes in a figure"
    return drawn


def chip(place: int) -> str:
    """A short line in the disc's colour and dash."""
    dashes = " ".join(f"{length:g}" for length in style.pattern(place))
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<svg class="chip" viewBox="0 0 30 8" aria-hidden="true"><path d="M0 4H30" '
        f'stroke="var(--disc-{place % len(style.PALETTE)})" stroke-width="3"{dashed}/></svg>'
    )


def disc_name(disc: str) -> str:
    """A disc's law, and beside it what is set of it."""
    law, _, parameters = disc.partition(":")
    told = escape(re.sub(r",\s*", ", ", parameters))
    detail = f'<span class="parameters">{told}</span>' if told else ""
    return f'<span class="law">{escape(law)}</span>{detail}'


def told(sentence: str) -> str:
    """A sentence for the page: numbers do not part from their units."""
    return re.sub(
        r"(\d) (ns|µs|ms|s\b|%|packets|[kMG]bit/s|B\b|laws?\b|seeds?\b)", r"\1&nbsp;\2", escape(sentence)
    )
