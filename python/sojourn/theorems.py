"""What is known in closed form: the optimal control of a queue, and SQM's link.

The equations stand in docs/theory/ocq.md and docs/theory/sqm.md; the mathematics is Rust's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sojourn import _core
from sojourn._core import ScenarioError
from sojourn.errors import InputError

__all__ = ["ocq", "sqm"]

#: What is not so in the printed paper, told with every answer of `sqm`.
REMARK = (
    "The paper's linearisation (16) has a term -dq/D which its own model (3) does not have; it is what makes "
    "Theorem 3's matrix stable. The sigma at that printed limit is unstable in the model; sigma_limit is the "
    "exact one, and Theorem 3's sigma is safe because it is tens of times larger."
)


def ocq(
    w: float,
    mu: float,
    a: float,
    r: float,
    *,
    x0: float = 0.0,
    t_f: float = 1.0,
    control: Sequence[float] | None = None,
) -> dict[str, Any]:
    """The cheapest control of a queue over a horizon, exactly, with its certificate.

    Of a load `w` (packets/s) the input u is let in so that the integral of x + r (w - u) over `t_f` seconds
    is least, where x' = u - mu x / (a + x), x(0) = `x0` packets; `r` in s. ``J`` is the least cost in
    packets s. ``gap`` bounds by how much a control is above it: that of a `control`, an array of inputs
    (packets/s) each as long as the others, stands under ``given``.

    >>> found = ocq(60, 50, 1, 2 / 9, control=[60])
    >>> round(found["J"], 6), round(found["given"]["gap"], 3)
    (6.661394, 12.366)
    """
    try:
        instance = [float(number) for number in (w, mu, a, r, x0, t_f)]
        inputs = None if control is None else [float(u) for u in control]
        found: dict[str, Any] = json.loads(_core.ocq_json(instance, inputs))
    except ScenarioError as fault:
        raise InputError(*fault.faults) from None
    return found


def sqm(
    capacity: float,
    weights: Sequence[float],
    rtts: Sequence[float],
    alpha: float = 2.0,
    *,
    utility: Sequence[float] | None = None,
    phase_margin_deg: float = 45.0,
    rho: float = 1.01,
) -> dict[str, Any]:
    """Rest, Theorem 3's bound and the sigmas of margins of SQM's link, flow by flow.

    `capacity` in packets/s, `weights` Q of the fair queues, `rtts` D in s, `alpha` of the utility; each flow
    grows as Reno, k = 1 / D^2. `utility` are the flows' w, 1 each as in the paper where none are given
    (2 / D^2 makes p a probability). ``sigma_margin`` has `phase_margin_deg` with the exact delay,
    ``sigma_limit`` none, ``sigma_theorem_3`` fulfils (23) with `rho`, ``sigma_per_flow`` each flow's part of
    it; ``remark`` says what the printed linearisation gets wrong.

    >>> found = sqm(1000, [1500, 1000], [0.1, 0.15])
    >>> found["rates_pps"]
    [600.0, 400.0]
    """
    if len(weights) != len(rtts) or (utility is not None and len(utility) != len(rtts)):
        raise InputError(f"rtts: {len(rtts)} are given for {len(weights)} weights; legal: one a flow")
    ones = [1.0] * len(rtts) if utility is None else utility
    for index, rtt in enumerate(rtts):
        if not rtt > 0:
            raise InputError(f"rtts[{index}]: {rtt} is not legal; legal: more than 0")
    flows = [
        [1 / float(d) ** 2, float(w), float(d), float(q)] for q, d, w in zip(weights, rtts, ones, strict=True)
    ]
    try:
        told = _core.sqm_json(float(capacity), float(alpha), flows, [float(phase_margin_deg), float(rho)])
    except ScenarioError as fault:
        raise InputError(*fault.faults) from None
    found: dict[str, Any] = json.loads(told)
    return found | {"remark": REMARK}
