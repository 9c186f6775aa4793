"""Calculations of "Cascade Probability Control to Mitigate Bufferbloat under Multiple Real-World TCP Stacks".

The text at hand has lost its equations; numbers (1) to (5) are those of docs/laws/cpc.md, where they are
derived again. Its example (section 4.2) is that of its reference [12], Hollot et al. 2001: 60 flows,
3750 packets/s, a round trip of 0.246 s.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn.prove import Certificate, prove
from sojourn.scenario import load

__all__ = ["CALCULATIONS", "CURVES"]

Complex = npt.NDArray[np.complex128]
Loop = Callable[[Complex], Complex]

#: The example: flows, packets/s, s.
FLOWS, CAPACITY, RTT = 60, 3750.0, 0.246
#: RED of [12] for it, its section V: the slope of p, 1/packet, and the filter's pole, rad/s.
RED_SLOPE, RED_POLE = 1.86e-4, 0.005
#: A queue of 46 ms, 172.5 packets, is what the round trip has beside 200 ms of propagation.
_NETWORK: dict[str, Any] = {
    "bottleneck.rate": "30 Mbit/s",
    "bottleneck.delay": "100 ms",
    "bottleneck.buffer": "2000 packets",
    "flows[0].count": FLOWS,
    "flows[0].access": {"rate": "1 Gbit/s"},
    "plant.fluid.model": "mgt",
}
#: RED's lower threshold at which p of the operating point, 2 / W^2, is reached at the same queue. It marks
#: every 1.5 / p_b packets on average, so that p has two thirds of the slope of p_b.
_RED = (
    f"red:min=127packets,max={127 + 0.1 / (1.5 * RED_SLOPE):.6g}packets,max_p=0.1,"
    f"weight={1 - np.exp(-RED_POLE / CAPACITY):.6g},gentle=false"
)
_QDISCS = {
    "paper": "cpc:target=46ms,form=paper",
    "delay_aware": "cpc:target=46ms",
    "autotune": "cpc:target=46ms,form=autotune",
    "red": _RED,
}


def _loops(qdisc: str, model: str) -> dict[str, float]:
    """Margins of the outer loop, and the rightmost pole of the loops of a cascade."""
    own = _own([one for one in _certificate(qdisc).loops if one["model"] == model and not one["sampled"]])
    outer = own[-1]
    return {
        "crossover": outer["crossover_rad_s"],
        "phase_margin": outer["phase_margin_deg"],
        "gain_margin": outer["gain_margin"] or np.inf,
        "delay_margin": outer["delay_margin_s"] or np.inf,
        "rightmost_pole": max(pole[0] for one in own for pole in one["poles"]),
    }


def _own(loops: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Inner and outer loop of a cascade, or the one that there is."""
    parts = {one["part"]: one for one in loops}
    return [parts["inner"], parts["outer"]] if "inner" in parts else [parts["whole"]]


def _textbook(name: str) -> list[dict[str, Any]]:
    """The loops of a law on the printed plant, with the delay exact."""
    loops = _certificate(_QDISCS[name]).loops
    return [one for one in loops if one["model"] == "textbook" and not one["sampled"]]


@functools.cache
def _certificate(qdisc: str) -> Certificate:
    return prove(load("dumbbell", _NETWORK), qdisc)


def _of(name: str, model: str) -> Mapping[str, float]:
    return _loops(_QDISCS[name], model)


def manual() -> Mapping[str, float]:
    """CPC by its own design, (5) with `form = paper`: the printed plant (1), its delay exact."""
    return _of("paper", "textbook")


def manual_undelayed() -> Mapping[str, float]:
    """The same, where the delay is left out as in the paper's design."""
    return _of("paper", "textbook without delay")


def delay_aware() -> Mapping[str, float]:
    """CPC with the delay counted as a lag in its design."""
    return _of("delay_aware", "textbook")


def autotune() -> Mapping[str, float]:
    """CPC tuned for a phase margin of 60 degrees, the default of MATLAB's pidtune, in both loops."""
    return _of("autotune", "textbook")


def tuned() -> Mapping[str, float]:
    """The crossover, rad/s, of the same."""
    return {"crossover": autotune()["crossover"]}


def tuned_fastest() -> Mapping[str, float]:
    """The highest crossover, rad/s, at which a PID of the outer loop has 60 degrees, with a lead of 90."""
    return {"crossover": _fastest(RTT)}


def tuned_fastest_undelayed() -> Mapping[str, float]:
    """The same, where the delay is left out as in the paper's design."""
    return {"crossover": _fastest(0.0)}


def _fastest(delay: float) -> float:
    """Frequency, rad/s, at which the outer plant has a phase of -210 degrees; the inner loop has 60, too."""
    w = np.geomspace(1e-3, 50, 100_001)
    lag = RTT**2 * CAPACITY / (2 * FLOWS)
    inner = np.exp(-1j * w * delay) / (1j * w * (1 + 1j * w * lag))
    inner /= np.abs(inner[np.argmax(np.unwrap(np.angle(inner)) < np.radians(-120))])
    plant = inner / (1 + inner) / (1 + 1j * w * RTT)
    return float(w[np.argmax(np.unwrap(np.angle(plant)) < np.radians(-210))])


def red() -> Mapping[str, float]:
    """RED of [12], near an integral controller of one loop, on the same plant."""
    return _of("red", "textbook")


def step() -> Mapping[str, float]:
    """Response of the queue to a step of its reference, with the exact delay.

    Times to 90 % and to stay within 5 %, s, and overshoots, of the closed outer loop of the paper's CPC, (1)
    and (5), and of RED. From the real part of the closed loop, y(t) = 2/pi times the integral of
    Re T(jw) sin(wt) / w.
    """
    t = np.concatenate([np.arange(0.02, 8, 0.02), np.arange(8, 100, 0.5)])
    found: dict[str, float] = {}
    loops: tuple[tuple[str, Loop], ...] = (("cpc", _cpc_loop), ("red", _red_loop))
    for name, loop in loops:
        y = _response(loop, t)
        # RED has no integral: it rests below its reference.
        rest = _closed(loop, np.array([1e-6 + 0j]))[0].real
        found[f"{name}_rise"] = float(t[np.argmax(y >= 0.9 * rest)])
        away = np.abs(y / rest - 1) > 0.05
        found[f"{name}_settling"] = float(t[np.flatnonzero(away)[-1] + 1])
        found[f"{name}_overshoot"] = float(y.max() / rest - 1)
    return found


def _cpc_loop(s: Complex) -> Complex:
    """Outer loop of the cascade by the magnitude optimum."""
    lag = RTT**2 * CAPACITY / (2 * FLOWS)
    # T_I = 2 K1 T1, so that the static gain cancels.
    inner = np.exp(-s * RTT) / (2 * lag * s * (1 + lag * s))
    k_p = lag / (FLOWS * RTT)
    pid = k_p * (1 + 1 / (2 * lag * s) + lag * s)
    return pid * inner / (1 + inner) * FLOWS / (1 + RTT * s)


def _red_loop(s: Complex) -> Complex:
    """Loop of RED by [12], from the reference to the queue."""
    lag = RTT**2 * CAPACITY / (2 * FLOWS)
    static = (RTT * CAPACITY) ** 3 / (4 * FLOWS**2)
    controller = RED_SLOPE / (1 + s / RED_POLE)
    return controller * static * np.exp(-s * RTT) / ((1 + lag * s) * (1 + RTT * s))


def _closed(loop: Loop, s: Complex) -> Complex:
    of = loop(s)
    return of / (1 + of)


def _response(loop: Loop, t: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    w = np.concatenate([np.linspace(1e-5, 2, 8001), np.geomspace(2, 500, 8001)[1:]])
    real = _closed(loop, 1j * w).real / w
    return np.array([2 / np.pi * np.trapezoid(real * np.sin(w * one), w) for one in t])


def statements() -> Mapping[str, float]:
    """The paper's own numbers beside each other, s.

    Section 5.2.2: a buffer of about eight bandwidth-delay products fills, and the round trip is then 2.5 s.
    So the propagation there and back is 2.5 s / 9, if the product is of that round trip, and 2.5 s / 5 if it
    is of one way. Figures 6 and 7: 180 ms and 130 ms under CPC.
    """
    full = 2.5
    return {
        "least_propagation": full / 9,
        "reno": 0.18,
        "cubic": 0.13,
    }


CALCULATIONS = {
    "manual": manual,
    "manual_undelayed": manual_undelayed,
    "delay_aware": delay_aware,
    "autotune": autotune,
    "tuned.sixty_degrees": tuned,
    "tuned.fastest": tuned_fastest,
    "tuned.fastest_undelayed": tuned_fastest_undelayed,
    "red": red,
    "step": step,
    "statements": statements,
}


def responses() -> Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """The queue after a unit step of its reference, of what it rests at."""
    t = np.concatenate([np.arange(0.02, 8, 0.02), np.arange(8, 60, 0.5)])
    loops: tuple[tuple[str, Loop], ...] = (("CPC", _cpc_loop), ("RED", _red_loop))
    rests = {name: _closed(loop, np.array([1e-6 + 0j]))[0].real for name, loop in loops}
    return {name: (t, _response(loop, t) / rests[name]) for name, loop in loops}


def _autotuned_loop(s: Complex) -> Complex:
    """Outer loop of the cascade with 60 degrees in both loops, which the two crossovers determine."""
    lag = RTT**2 * CAPACITY / (2 * FLOWS)
    inner_at, outer_at = (
        next(of["crossover_rad_s"] for of in _textbook("autotune") if of["part"] == part)
        for part in ("inner", "outer")
    )

    def inner(s: Complex) -> Complex:
        return np.exp(-s * RTT) / (s * (1 + lag * s))

    def plant(s: Complex) -> Complex:
        closed = inner(s) / (abs(inner(1j * inner_at)) + inner(s))
        return closed / (1 + RTT * s)

    there = plant(np.asarray(1j * outer_at))
    lead = np.radians(-120) - np.angle(there)
    integral = 2 / outer_at * np.tan(np.pi / 4 + lead / 2)
    pid = np.cos(lead) / abs(there) * (1 + 1 / (integral * s) + integral / 4 * s)
    return np.asarray(pid * plant(s))


#: Outer loops of the three schemes of Fig. 2(b), and their certificates.
_SCHEMES: tuple[tuple[str, str, Loop], ...] = (
    ("CPC", "paper", _cpc_loop),
    ("CPC, autotuned", "autotune", _autotuned_loop),
    ("RED", "red", _red_loop),
)
#: Frequencies of Fig. 2(b), rad/s.
_FREQUENCIES = np.geomspace(1e-3, 10, 400)
#: Real part left of which a pole is not drawn, 1/s.
_FAST = -5.0


@functools.cache
def _bode() -> Mapping[str, Complex]:
    s = np.asarray(1j * _FREQUENCIES, dtype=np.complex128)
    return {name: loop(s) for name, _, loop in _SCHEMES}


def magnitudes() -> Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """Magnitude of the loops over the frequency."""
    return {name: (_FREQUENCIES, np.abs(response)) for name, response in _bode().items()}


def phases() -> Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """Phase of the loops over the frequency, degrees."""
    return {
        name: (_FREQUENCIES, np.degrees(np.unwrap(np.arctan2(response.imag, response.real))))
        for name, response in _bode().items()
    }


def poles() -> Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """Poles of all loops of each scheme, closed, 1/s; those that decay faster than 5/s are left out."""
    found = {}
    for name, qdisc, _ in _SCHEMES:
        upper = np.array([complex(*pole) for of in _own(_textbook(qdisc)) for pole in of["poles"]])
        slow = upper[upper.real > _FAST]
        both = np.concatenate([slow, slow[slow.imag > 0].conj()])
        found[name] = (both.real, both.imag)
    return found


CURVES = {"responses": responses, "magnitudes": magnitudes, "phases": phases, "poles": poles}
