"""Results in closed form: the optimal control of a queue, and SQM's link.

The equations are in docs/theory/ocq.md and docs/theory/sqm.md; the computation is in Rust.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, cast

from sojourn import _core
from sojourn._core import ScenarioError
from sojourn.errors import InputError, refusal
from sojourn.kinds import number, one_of_kind

__all__ = ["ocq", "sqm"]

#: Smallest RTT, s: below it the gain 1 / D^2 exceeds the limit of the equations, 1e12.
_LEAST_RTT_S = 1e-6

#: Error of the printed paper, for any link.
_PRINTED = (
    "The paper's linearisation (16) has a term -dq/D which its own model (3) does not have; it is what makes "
    "Theorem 3's matrix stable."
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
    """Exact optimal control of a queue over a horizon, with its certificate.

    The admitted input u of a load `w` (packets/s) minimises the integral of x + r (w - u) over `t_f` seconds,
    where x' = u - mu x / (a + x), x(0) = `x0` packets; `r` in s. ``J`` is the least cost in packets s.
    ``gap`` bounds the excess cost of a control: under ``given`` that of `control`, an array of inputs
    (packets/s) of equal durations.

    >>> found = ocq(60, 50, 1, 2 / 9, control=[60])
    >>> round(found["J"], 6), round(found["given"]["gap"], 3)
    (6.661394, 12.366)
    """
    given = {"w": w, "mu": mu, "a": a, "r": r, "x0": x0, "t_f": t_f}
    instance = [_number(name, value) for name, value in given.items()]
    inputs = None if control is None else _numbers("control", control)
    try:
        found: dict[str, Any] = json.loads(_core.ocq_json(instance, inputs))
    except ScenarioError as error:
        raise refusal(error) from None
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
    """Equilibrium, Theorem 3's bound and the sigmas of margins of SQM's link, flow by flow.

    `capacity` in packets/s, `weights` Q of the fair queues, `rtts` D in s, `alpha` of the utility; each flow
    grows as Reno, k = 1 / D^2. `utility` are the flows' w, by default 1 each as in the paper (2 / D^2 makes p
    a probability). ``sigma_margin`` has `phase_margin_deg` with the exact delay, ``sigma_limit`` none,
    ``sigma_theorem_3`` fulfils (23) with `rho`, ``sigma_per_flow`` each flow's part of it, and
    ``sigma_printed_limit`` is at the limit of the paper's linearisation. The phase margins of Theorem 3's
    sigma and of this one in the model are ``phase_margin_theorem_3_deg`` and
    ``phase_margin_printed_limit_deg``. ``remark`` has the error of the printed linearisation, and its size on
    this link.

    >>> found = sqm(1000, [1500, 1000], [0.1, 0.15])
    >>> found["rates_pps"]
    [600.0, 400.0]
    >>> found["remark"].partition("stable. ")[2].partition(";")[0]
    'Here its limit is at a sigma 35 times smaller than the exact one, sigma_limit'
    """
    delays, shares = _numbers("rtts", rtts), _numbers("weights", weights)
    ones = [1.0] * len(shares) if utility is None else _numbers("utility", utility)
    for name, given in (("rtts", delays), ("utility", ones)):
        if len(given) != len(shares):
            raise InputError(f"{name}: {len(given)} are given for {len(shares)} weights; expected one a flow")
    for index, delay in enumerate(delays):
        if not _LEAST_RTT_S <= delay <= 1 / _LEAST_RTT_S:
            expected = f"expected {_LEAST_RTT_S:g} to {1 / _LEAST_RTT_S:g} s"
            raise InputError(f"rtts[{index}]: {delay:g} s is out of range; {expected}")
    flows = [[1 / d**2, w, d, q] for q, d, w in zip(shares, delays, ones, strict=True)]
    link = _number("capacity", capacity), _number("alpha", alpha)
    margins = [_number("phase_margin_deg", phase_margin_deg), _number("rho", rho)]
    try:
        document = _core.sqm_json(*link, flows, margins)
    except ScenarioError as error:
        raise refusal(error) from None
    found: dict[str, Any] = json.loads(document)
    return found | {"remark": f"{_PRINTED} {_on_this_link(found)}"}


def _number(name: str, value: object) -> float:
    """Number of an argument. Raises `ArgumentError`."""
    return cast("float", one_of_kind(name, number, value))


def _numbers(name: str, values: object) -> list[float]:
    """Numbers of a non-empty argument. Raises `InputError`."""
    expected = "expected one number or more in a list, such as [0.1, 0.15]"
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name}: {values!r} is no list of numbers; {expected}")
    found = [_number(f"{name}[{index}]", value) for index, value in enumerate(values)]
    if not found:
        raise InputError(f"{name}: there are none; {expected}")
    return found


def _on_this_link(found: dict[str, Any]) -> str:
    """Ratios of the printed limit and of Theorem 3 to the exact limit, over all flows."""
    printed, theorem = found["phase_margin_printed_limit_deg"], found["phase_margin_theorem_3_deg"]
    limits = list(zip(found["sigma_limit"], found["sigma_printed_limit"], strict=True))
    bounds = list(zip(found["sigma_theorem_3"], found["sigma_limit"], strict=True))
    below = _spread([exact / limit for exact, limit in limits])
    above = _spread([bound / exact for bound, exact in bounds])
    return (
        f"Here its limit is at a sigma {below} times smaller than the exact one, sigma_limit; the model is "
        f"{_stability(printed)} there. Theorem 3's sigma is {above} times sigma_limit; the model is "
        f"{_stability(theorem)} with it."
    )


def _stability(margins_deg: Sequence[float]) -> str:
    """Verdict on a model whose flows have these phase margins."""
    verdict = "stable" if min(margins_deg) > 0 else "unstable"
    return f"{verdict} (phase margin {_spread(margins_deg)} degrees)"


def _spread(values: Sequence[float]) -> str:
    """Smallest to greatest, in whole numbers or two digits."""
    low, high = (f"{value:.{1 if abs(value) < 9.95 else 0}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
