"""Calculations of the SQM paper: the link of its Fig. 3, Theorem 3 and Theorem 4.

J. Ye et al., "A Control-Theoretic and Online Learning Approach to Self-Tuning Queue Management". Equation
numbers are the paper's; docs/theory/sqm.md has the mathematics.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn import theorems

__all__ = ["CALCULATIONS", "CURVES"]

Floats = npt.NDArray[np.float64]

#: Fig. 3: packets/s, weights, round trips evenly from 100 to 150 ms.
_CAPACITY, _WEIGHTS, _RTTS = 1000.0, [1500.0] * 5 + [1000.0] * 5, np.linspace(0.1, 0.15, 10)
#: alpha of Reno, and beta, packets, which the paper does not print.
_ALPHA, _BETA = 2.0, 5.0
_STEP_S, _END_S = 0.01, 50.0
#: Section V-B in periods: flows at most, packets/s, periods; a flow is there in three of five.
_FLOWS, _RATE, _PERIODS, _PRESENT = 40, 50e6 / 12000, 2000, 0.6


@functools.cache
def _link() -> dict[str, Any]:
    return theorems.sqm(_CAPACITY, _WEIGHTS, list(_RTTS))


def rates() -> Mapping[str, float]:
    """Rates at rest by (5) to (8), packets/s, of a flow of each weight."""
    found = _link()["rates_pps"]
    return {"heavy": found[0], "light": found[-1], "spread": max(found[:5]) - min(found[:5])}


def figure3_margin() -> Mapping[str, float]:
    """Fig. 3 by (2) to (5), with a sigma that has a phase margin of 45 degrees with the exact delay."""
    return _figure3(np.array(_link()["sigma_margin"]))


def figure3_theorem() -> Mapping[str, float]:
    """The same with the sigma of Theorem 3, (23) in equal parts."""
    return _figure3(np.array(_link()["sigma_theorem_3"]))


def figure3_per_flow() -> Mapping[str, float]:
    """The same with the sigma of (23) for each flow alone."""
    return _figure3(np.array(_link()["sigma_per_flow"]))


def figure3_printed_limit() -> Mapping[str, float]:
    """The same with a sigma above the limit of the printed linearisation (15), (16) by a twentieth."""
    return _figure3(1.05 * np.array(_link()["sigma_printed_limit"]))


def _figure3(sigma: Floats) -> Mapping[str, float]:
    """Numbers of `_rates`.

    Rates at 50 s; the time after which all are within 2 % of rest (50 s: never); the greatest deviation over
    the last 10 s, of rest; the mean queue at the end, packets.
    """
    history, q = _rates(tuple(sigma))
    share, x = _CAPACITY * np.array(_WEIGHTS) / np.sum(_WEIGHTS), history[-1]
    away = np.abs(history / share - 1).max(axis=1)
    outside = np.flatnonzero(away > 0.02)
    return {
        "heavy": float(x[:5].mean()),
        "light": float(x[5:].mean()),
        "settles": float((outside[-1] + 1 if outside.size else 0) * _STEP_S),
        "last_deviation": float(away[-round(10 / _STEP_S) :].max()),
        "queue": float(q.mean()),
    }


def rates_over_time() -> Mapping[str, tuple[Floats, Floats]]:
    """The rates of Fig. 3 over time, packets/s: the first flow of each weight under each sigma."""
    found: dict[str, tuple[Floats, Floats]] = {}
    for name, key in {"45 degrees": "sigma_margin", "each flow alone": "sigma_per_flow"}.items():
        history, _ = _rates(tuple(_link()[key]))
        times: Floats = _STEP_S * np.arange(len(history), dtype=np.float64)
        for weight, flow in (("1500", 0), ("1000", 5)):
            found[f"weight {weight}, {name}"] = times[::5], history[::5, flow]
    return found


@functools.cache
def _rates(sigma: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Rates over time and queues at the end by (2) to (5), from x = 1 packet/s and empty queues (RK4)."""
    share = _CAPACITY * np.array(_WEIGHTS) / np.sum(_WEIGHTS)
    steps, gain = round(_END_S / _STEP_S), 1 / _RTTS**2
    prices = np.zeros((steps + 1, 10))
    flows, lag = np.arange(10), _RTTS / _STEP_S
    x, q = np.ones(10), np.zeros(10)
    history = np.empty((steps + 1, 10))
    history[0] = x

    def slopes(x: Floats, q: Floats, time: float) -> tuple[Floats, Floats]:
        at = np.clip(time - lag, 0, None)
        before = at.astype(int)
        part = at - before
        price = (1 - part) * prices[before, flows] + part * prices[before + 1, flows]
        growth = x - share
        return gain * (1 - x**_ALPHA * price), np.where(q > 0, growth, np.maximum(growth, 0))

    for step in range(steps):
        h = _STEP_S
        kx1, kq1 = slopes(x, q, step)
        kx2, kq2 = slopes(x + h / 2 * kx1, q + h / 2 * kq1, step + 0.5)
        kx3, kq3 = slopes(x + h / 2 * kx2, q + h / 2 * kq2, step + 0.5)
        kx4, kq4 = slopes(x + h * kx3, q + h * kq3, step + 1)
        x = np.maximum(x + h / 6 * (kx1 + 2 * kx2 + 2 * kx3 + kx4), 0)
        q = np.maximum(q + h / 6 * (kq1 + 2 * kq2 + 2 * kq3 + kq4), 0)
        prices[step + 1] = np.maximum(q - _BETA, 0) / np.array(sigma)
        history[step + 1] = x
    return history, q


def theorem3() -> Mapping[str, float]:
    """Least phase margins in degrees, with the exact delay, of (2) to (5) under sigma by (23).

    On the links of Fig. 3 and of section V-B with 10 and with 40 flows, of 80 to 180 ms, and with a sigma at
    the limit of the printed linearisation (15), (16); standing queues sigma p* of (23), packets, and what the
    target of 5 ms is of a flow.
    """
    found: dict[str, float] = {}
    for name, link in (("figure3", _link()), ("ten", _network(10)), ("forty", _network(40))):
        found[name] = min(link["phase_margin_theorem_3_deg"])
        found[f"{name}_printed_limit"] = min(link["phase_margin_printed_limit_deg"])
        rates = np.array(link["rates_pps"])
        found[f"{name}_queue"] = float((np.array(link["sigma_theorem_3"]) / rates**_ALPHA).min())
    return found | {"target_of_ten": 0.005 * _RATE / 10}


def _network(flows: int) -> dict[str, Any]:
    return theorems.sqm(_RATE, [1500.0] * flows, list(np.linspace(0.08, 0.18, flows)))


@functools.cache
def _learned() -> tuple[Floats, Floats, float]:
    """Algorithm 1 from the rates of 1 packet/s that the paper begins with: rates, presences, and G D.

    epsilon = 1, alpha = 2. Over one link X is a simplex cut at epsilon: D is the distance of its corners.
    """
    random = np.random.default_rng(1)
    present = random.uniform(size=(_PERIODS, _FLOWS)) < _PRESENT
    free = _RATE - _FLOWS
    diameter, gradient = np.sqrt(2) * free, np.sqrt(_FLOWS)
    x, rates = np.ones(_FLOWS), np.empty((_PERIODS, _FLOWS))
    for period in range(_PERIODS):
        rates[period] = x
        eta = diameter / (gradient * np.sqrt(period + 1))
        x = 1 + _onto(x - 1 + eta * present[period] / x**_ALPHA, free)
    return rates, present.astype(np.float64), float(gradient * diameter)


def _onto(y: Floats, most: float) -> Floats:
    """Nearest point of those that are not negative and have a sum of at most `most`."""
    cut = np.maximum(y, 0)
    if cut.sum() <= most:
        return cut
    down = np.sort(y)[::-1]
    excess = (np.cumsum(down) - most) / np.arange(1, len(y) + 1)
    over: Floats = np.maximum(y - excess[np.flatnonzero(down > excess)[-1]], 0)
    return over


def regret() -> Mapping[str, float]:
    """(30) after 125, 500 and 2000 periods, and as a share of the bound (31).

    The best fixed rates are max(1, sqrt(m_i / nu)) with m_i the periods in which a flow was there.
    """
    rates, present, bound = _learned()
    found: dict[str, float] = {}
    for periods in (125, 500, 2000):
        times = present[:periods].sum(axis=0)
        least = float((times / _best(times)).sum())
        found[f"after_{periods}"] = float((present[:periods] / rates[:periods]).sum()) - least
        found[f"of_bound_{periods}"] = found[f"after_{periods}"] / float(1.5 * bound * np.sqrt(periods))
    return found


def _best(times: Floats) -> Floats:
    """Fixed rates of the greatest utility of flows that were there so often."""
    low, high = 1e-12, 1e12
    for _ in range(200):
        price = np.sqrt(low * high)
        rates = np.maximum(1, np.sqrt(times / price))
        low, high = (price, high) if rates.sum() > _RATE else (low, price)
    return np.maximum(1, np.sqrt(times / high))


CALCULATIONS = {
    "rates": rates,
    "figure3.margin": figure3_margin,
    "figure3.theorem": figure3_theorem,
    "figure3.per_flow": figure3_per_flow,
    "figure3_printed_limit": figure3_printed_limit,
    "theorem3": theorem3,
    "regret": regret,
}

CURVES = {"rates": rates_over_time}
