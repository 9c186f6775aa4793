"""Margins of a loop, marked in its Bode and Nyquist plots in the same colours."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from sojourn.plot import style
from sojourn.prove import headline
from sojourn.prove.headline import decibels, gain_crossing, phase_crossing

#: Indices of the colours of the margins in the palette.
PHASE, GAIN, MODULUS = 1, 2, 3
#: Width of a mark, points.
WIDTH = 2.4

#: Frequencies, rad/s, and phases, degrees.
Curve: TypeAlias = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


def in_bode(ax: Axes, loop: dict[str, Any]) -> None:
    """Mark the gain margin at its phase crossover, in the axes of the gain."""
    at, margin = gain_crossing(loop), loop["gain_margin"]
    if at is not None:
        ax.plot([at, at], [-decibels(margin), 0], label=_text(headline.gain(loop)), **_look(GAIN))


def in_phases(ax: Axes, above: Axes, loop: dict[str, Any], curve: Curve) -> None:
    """Mark the phase margin at its gain crossover, between the `curve` of the phase and -180 degrees.

    Or between it and another odd multiple of them. Its legend is that of the axes `above`.
    """
    at, margin = phase_crossing(loop), loop["phase_margin_deg"]
    if at is not None:
        phase = float(np.interp(math.log(at), np.log(curve[0]), curve[1]))
        ax.plot([at, at], [phase - margin, phase], **_look(PHASE))
        above.plot([], [], label=_text(headline.phase(loop)), **_look(PHASE))


def in_nyquist(ax: Axes, loop: dict[str, Any]) -> None:
    """Mark -1, the unit circle, and the margins of phase, gain and modulus."""
    turn = np.linspace(0, 2 * math.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color=style.RULE, linewidth=1, label="unit circle")
    phase, gain, modulus = loop["phase_margin_deg"], loop["gain_margin"], loop["modulus_margin"]
    if phase_crossing(loop) is not None:
        arc = -math.pi + np.linspace(0, math.radians(phase), 100)
        ax.plot(np.cos(arc), np.sin(arc), label=_text(headline.phase(loop)), **_look(PHASE))
    if gain_crossing(loop) is not None:
        ax.plot([-1, -1 / gain], [0, 0], label=_text(headline.gain(loop)), **_look(GAIN))
    if modulus:
        look = _look(MODULUS) | {"linewidth": 1.2}
        circle = -1 + modulus * np.exp(1j * turn)
        ax.plot(circle.real, circle.imag, label=f"modulus margin {modulus:.3g}", **look)
    ax.plot([-1], [0], marker="+", color=style.INK, markersize=9)


def _text(found: headline.Margin | None) -> str:
    return "" if found is None else f"{found.name} {found.value}"


def _look(place: int) -> dict[str, Any]:
    return {
        "color": style.colour(place),
        "linewidth": WIDTH,
        "zorder": 3,
        "solid_capstyle": "butt",
    }
