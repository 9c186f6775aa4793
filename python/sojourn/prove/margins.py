"""Margins of a certificate's law over loads and base RTTs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sojourn import _core, stops
from sojourn._core import ScenarioError
from sojourn.errors import refusal

if TYPE_CHECKING:
    from sojourn.scenario import Scenario

#: Columns of `_core.margins_at`: unstable poles, phase margin, gain margin.
UNSTABLE, PHASE, GAIN = 4, 5, 6
#: Evaluations that a point may take.
EVALUATIONS = 400_000


@dataclass(frozen=True)
class MarginMap:
    """Margins over the number of flows N and the base RTT."""

    #: N of each column, and base RTT of each row, s; both grow by factors.
    flows: npt.NDArray[np.float64]
    rtt_s: npt.NDArray[np.float64]
    #: Least destabilising lag of each row and column, degrees; infinite: none destabilises; negative, or
    #: minus infinite: the loop is unstable. NaN: there is no loop, for one of `reasons`.
    phase_margin_deg: npt.NDArray[np.float64]
    #: Factor by which the gain may grow; infinite: unlimited; NaN: the loop is unstable, or there is none.
    gain_margin: npt.NDArray[np.float64]
    #: Reasons of points without a loop, each once.
    reasons: list[str]
    #: The scenario's own N and base RTT.
    here: tuple[float, float]

    def to_dict(self) -> dict[str, object]:
        """The map for JSON; None: unlimited, unstable without a lead that helps, or without a loop."""

        def rows(of: npt.NDArray[np.float64]) -> list[list[float | None]]:
            return [[value if math.isfinite(value) else None for value in row] for row in of.tolist()]

        return {
            "flows": self.flows.tolist(),
            "base_rtt_s": self.rtt_s.tolist(),
            "phase_margin_deg": rows(self.phase_margin_deg),
            "gain_margin": rows(self.gain_margin),
            "reasons": self.reasons,
        }


def over(
    of: tuple[Scenario, str], ends: Sequence[tuple[float, float]], points: int, here: tuple[float, float]
) -> MarginMap:
    """Margins of the law of a scenario's link between the ends of flows and of base RTTs, s.

    There are `points` along each axis. Raises `InputError`.
    """
    scenario, link = of
    across, up = (np.geomspace(low, high, points) for low, high in ends)
    at = [(count, rtt) for rtt in up.tolist() for count in across.tolist()]
    try:
        rows, reasons = stops.interruptible(
            lambda: _core.margins_at(scenario, at, evaluations=EVALUATIONS, link=link)
        )
    except ScenarioError as error:
        raise refusal(error, nameless="map") from None
    known = np.array([reason is None for reason in reasons])
    unlimited = np.where(rows[:, UNSTABLE] == 0, math.inf, -math.inf)
    phase = np.where(np.isnan(rows[:, PHASE]) & known, unlimited, rows[:, PHASE])
    gain = np.where(np.isnan(rows[:, GAIN]) & known & (rows[:, UNSTABLE] == 0), math.inf, rows[:, GAIN])
    side = (points, points)
    why = list(dict.fromkeys(reason for reason in reasons if reason is not None))
    return MarginMap(across, up, phase.reshape(side), gain.reshape(side), why, here)
