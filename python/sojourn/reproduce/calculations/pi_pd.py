"""Calculations of the PI-PD paper: TCP without a controller, designs, and the F of its Table 2.

S. Ryu, B. Ryu, M. Jeong, S. Park, "PI-PD Controller for Adaptive and Robust Active Queue Management for
Internet Congestion Control"; equation numbers are the paper's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy import signal, stats

from sojourn.prove import prove
from sojourn.scenario import Scenario, load

__all__ = ["CALCULATIONS", "CURVES"]

#: Example 1: flows, and the rate in packets/s.
_N, _C = 60, 3750.0
#: Round-trip time of the text, and the one that its digits 4.5793 and 54 985.1 have, s.
_R, _R_OF_DIGITS = 0.246, 0.2467
#: Fig. 6: the average propagation delay of 120 ms, and the link's 10 ms, s.
_R_OF_FIG6 = 0.13
#: Numerator of P(s) and its poles, as printed.
_G, _P1, _P2 = 117187.3, 0.53, 4.05


def example1() -> Mapping[str, float]:
    """Example 1: frequency, damping and rules of thumb of (1), and the unit-step response by SciPy.

    The paper's poles have the sum 4.5793. ``inverse_error`` is 1/e_ss = 1 + (R_0 C)^3 / (4 N^2).
    """
    w_n = math.sqrt(_G)
    damping = 4.5793 / (2 * w_n)
    times, response = _step(200_001)
    final = _G / (_P1 * _P2 + _G)
    outside = np.flatnonzero(np.abs(response - final) > 0.02 * final)
    rise = [times[int(np.argmax(response >= share * final))] for share in (0.1, 0.9)]
    return {
        "w_n": w_n,
        "damping": damping,
        "overshoot_percent": 100 * math.exp(-math.pi * damping / math.sqrt(1 - damping**2)),
        "rise_ms": 1e3 * 1.8 / w_n,
        "settling_s": 4 / (damping * w_n),
        "simulated_overshoot_percent": 100 * (float(response.max()) / final - 1),
        "simulated_rise_ms": 1e3 * float(rise[1] - rise[0]),
        "simulated_settling_s": float(times[outside[-1]]),
        "inverse_error": 1 + _dc_gain(_R),
        "inverse_error_of_digits": 1 + _dc_gain(_R_OF_DIGITS),
    }


def _step(points: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    closed = signal.TransferFunction([_G], [1, _P1 + _P2, _P1 * _P2 + _G])
    times, response = signal.step(closed, T=np.linspace(0, 5, points))
    return times, response


def figure3() -> Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """The unit-step response of (1), by the tenth of its period."""
    return {"response": _step(2501)}


def _dc_gain(rtt: float) -> float:
    return (rtt * _C) ** 3 / (4 * _N**2)


def pid() -> Mapping[str, float]:
    """The design of section 4.1: gains of (16), and those times kappa = 0.05 of Table 1.

    An overshoot of 5 % is the damping 0.6901; w_n = 2 / (R_0 damping); K_P1 and K_D1 give the loop of the PD
    part these (the pole sum 2 damping w_n), and w_n^2 = G K_P1 K_P2; the zero of the PI part is at 0.526.
    ``bandwidth_hz`` is that of the loop closed by the PD part, at -3 dB.
    """
    gain = _C**2 / (2 * _N)
    damping = -math.log(0.05) / math.hypot(math.pi, math.log(0.05))
    w_n = 2 / (_R * damping)
    k_p1 = (w_n**2 - _P1 * _P2) / gain
    k_d1 = (2 * damping * w_n - _P1 - _P2) / gain
    k_p2 = w_n**2 / (gain * k_p1)
    k_i2 = 0.526 * k_p2
    k_p, k_d, k_i = k_p1 * k_p2 + k_d1 * k_i2, k_d1 * k_p2, k_p1 * k_i2
    loop = signal.TransferFunction([gain * k_d1, gain * k_p1], [1, 2 * damping * w_n, w_n**2])
    w, magnitude, _ = signal.bode(loop, w=np.linspace(1, 100, 99_001))
    below = int(np.argmax(magnitude < magnitude[0] - 20 * math.log10(math.sqrt(2))))
    return {
        "damping": damping,
        "w_n": w_n,
        "kp1": k_p1,
        "kd1": k_d1,
        "kp": k_p,
        "kd": k_d,
        "ki": k_i,
        "table_kp": 0.05 * k_p,
        "table_kd": 0.05 * k_d,
        "table_ki": 0.05 * k_i,
        "bandwidth_hz": float(w[below]) / (2 * math.pi),
    }


def pid_margins() -> Mapping[str, float]:
    """Gain margin as the law runs, with the printed K_D and with 5.1e-6.

    N = 60 flows and about R_0 = 0.246 s with the queue at the target; the delay is exact.
    """
    network, found = _network(), dict[str, float]()
    for name, kd in {"printed": "5.1e-5", "corrected": "5.1e-6"}.items():
        law = f"pid:target=200packets,kp=6.2e-5,ki=3.12e-5,kd={kd},rate=29.5Hz,form=velocity"
        found[name] = prove(network, law).margins["gain_margin"] or math.inf
    return found


def _network() -> Scenario:
    """The network of Example 1."""
    return load(
        "dumbbell",
        {
            "bottleneck.rate": "30 Mbit/s",
            "bottleneck.delay": "100 ms",
            "bottleneck.buffer": "800 packets",
            "flows[0].count": _N,
            "flows[0].access": {"rate": "1 Gbit/s"},
            "plant.fluid.model": "mgt",
        },
    )


def pi_pd_margins() -> Mapping[str, float]:
    """Phase margins of PI-PD, degrees, over its sampling time and its gain; negative: unstable."""
    designs = {
        **{f"ms{int(ms)}": (ms, 8e-4) for ms in (12.5, 25, 50, 100, 200)},
        "half": (50, 4e-4),
        "double": (50, 1.6e-3),
    }
    network, found = _network(), dict[str, float]()
    for name, (ms, alpha) in designs.items():
        margins = prove(network, f"pi_pd:target=200packets,alpha={alpha:g},period={ms:g}ms").margins
        found[name] = math.nan if margins["phase_margin_deg"] is None else margins["phase_margin_deg"]
    return found


def table2() -> Mapping[str, float]:
    """Table 2: the critical F of 5 % and p of the printed F, for three loads of ten runs each."""
    freedom = (2, 27)
    return {
        "f_critical": float(stats.f.isf(0.05, *freedom)),
        "p_pi_pd": float(stats.f.sf(1.6426, *freedom)),
        "p_pid": float(stats.f.sf(4.7159, *freedom)),
        "log10_p_pi": float(stats.f.logsf(426.3, *freedom)) / math.log(10),
    }


def sampling() -> Mapping[str, float]:
    """Section 4.1's note: 10 to 20 times w_g / (2 pi), Hz: w_g of (4) for Fig. 6, and 0.53 rad/s."""
    of_fig6 = 2 * _N / (_R_OF_FIG6**2 * _C) / (2 * math.pi)
    of_text = _P1 / (2 * math.pi)
    return {
        "fig6_least_hz": 10 * of_fig6,
        "fig6_most_hz": 20 * of_fig6,
        "text_least_hz": 10 * of_text,
        "text_most_hz": 20 * of_text,
    }


CALCULATIONS = {
    "example1": example1,
    "pid": pid,
    "pid_margins": pid_margins,
    "pi_pd_margins": pi_pd_margins,
    "table2": table2,
    "sampling": sampling,
}

CURVES = {"figure3": figure3}
