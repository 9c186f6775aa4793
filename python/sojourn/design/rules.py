"""Rules of gains: for each law its source's, made for the worst corner of a box, times a factor."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sojourn.design.box import Box, Network

__all__ = ["RULES", "Demand", "Parameters", "Rule"]

#: Values of a law's parameters, numbers or texts with a unit.
Parameters = dict[str, float | str]


@dataclass(frozen=True)
class Demand:
    """Box and margin that gains are made for.

    `factor` scales the gain of the loop: with a smaller one the margins grow, down to some loop that is slow
    enough. `shape` moves what else the gains have, relative to the source's, which is 1: the zero of PI.
    `period_s` is the sampling period that is given, None: it is the rule's.
    """

    box: Box
    margin_deg: float
    factor: float = 1.0
    shape: float = 1.0
    period_s: float | None = None

    def period(self, of_rule: float) -> float:
        """Sampling period, s: the given one, or the rule's."""
        return of_rule if self.period_s is None else self.period_s


@dataclass(frozen=True)
class Rule:
    """Gains of a law as functions of a box."""

    #: Parameters without the target.
    gains: Callable[[Demand], Parameters]
    #: The rule in a sentence, with its source.
    words: str
    #: Other shapes that a search may try.
    shapes: tuple[float, ...] = ()
    #: True if the target is a delay; else the law takes packets, too.
    of_delay: bool = False
    #: True if the law follows its load, so that a margin is of gains adapted to each point.
    adapts: bool = False
    #: True if the other shapes are tried in any case: the source's is of another load.
    is_searched: bool = False
    #: The least factor that still is such a law.
    least: float = 2.0**-24
    #: Gains without a closed form for a box, which are optimised from those of the rule.
    free: tuple[str, ...] = ()
    #: The part of the law that its model has, where it has a part alone.
    partial: str | None = None


def crossover(rtt: float, margin_deg: float, lags: int) -> float:
    """Frequency, rad/s, at which an integrator with a delay of R and so many lags of R has this margin."""
    allowed = math.radians(90 - margin_deg)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle + lags * math.atan(middle) < allowed else (low, middle)
    return low / rtt


def hollot(of: Demand) -> tuple[float, float]:
    """K and z of C(s) = K (s/z + 1)/s: z on the window's pole of the worst corner, K for the margin there."""
    at = of.box.worst
    w = crossover(at.rtt, of.margin_deg, 1)
    # At other zeros K / z, the gain above the zero, stays.
    return of.shape * w * math.hypot(1, w * at.rtt) / at.gain, of.shape * at.window_pole


def tustin(k: float, z: float, period: float) -> tuple[float, float]:
    """Steps a, b of p <- p + a e - b e_old, by Tustin's rule; the zero at most 1 / T."""
    z = min(z, 1 / period)
    return k * (1 / z + period / 2), k * (1 / z - period / 2)


def sampling(box: Box, z: float) -> float:
    """Samples per second: Hollot's 160, ten in 1/z, and two in the shortest round trip; at most 100 000."""
    return math.ceil(min(1e5, max(160.0, 10 * z, 2 / box.mildest.rtt)))


def pi(of: Demand) -> Parameters:
    """Hollot et al. 2002."""
    k, z = hollot(of)
    rate = sampling(of.box, z)
    a, b = tustin(of.factor * k, z, of.period(1 / rate))
    return {"a": a, "b": b, "rate": f"{rate}Hz"}


def rem(of: Demand) -> Parameters:
    """REM is PI about its equilibrium: gains g (1 + alpha) and g with g = gamma ln(phi)."""
    k, z = hollot(of)
    a, b = tustin(of.factor * k, z, of.period(2e-3))
    return {"alpha": a / b - 1, "gamma": b / math.log(1.001), "phi": 1.001, "period": "2ms"}


def pid(of: Demand) -> Parameters:
    """Both lags of the worst corner cancelled: an integrator with the delay is left."""
    at = of.box.worst
    z = min(of.shape * at.window_pole, 1 / at.rtt)
    k = of.factor * of.shape * crossover(at.rtt, of.margin_deg, 0) / at.gain
    return {"kp": k * (1 / z + at.rtt), "ki": k, "kd": k * at.rtt / z, "rate": f"{sampling(of.box, z)}Hz"}


def pid_of_load(of: Demand) -> Parameters:
    """The gains of the paper's section 4.1, which follow p; kappa is its own factor of all of them."""
    return followed(of.box.worst, 1.0) | {
        "kappa": min(1.0, 0.05 * of.factor),
        "rate": f"{sampling(of.box, 0.0)}Hz",
    }


def pie(of: Demand) -> Parameters:
    """PIE is PI with steps (alpha + beta) / (C d) and beta / (C d), d the divisor of RFC 8033 at its p."""
    at = of.box.worst
    period = of.period(min(15e-3, of.box.mildest.rtt / 2))
    k, z = hollot(of)
    a, b = tustin(of.factor * k, z, period)
    scale = at.capacity * divisor(at.p)
    return {"alpha": (a - b) * scale, "beta": b * scale, "period": f"{period * 1e3:.9g}ms"}


def divisor(p: float) -> float:
    """Divisor of a step of PIE, RFC 8033, section 4.2."""
    ladder = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (0.1, 2))
    return next((float(by) for below, by in ladder if p < below), 1.0)


def pi2(of: Demand) -> Parameters:
    """RFC 9332, Figure 2: alpha = 0.1 Tupdate / RTT_max^2, beta = 0.3 / RTT_max."""
    longest = of.box.worst.rtt
    period = min(of.box.target.in_seconds(of.box.capacity_pps[1]), longest / 3, of.box.mildest.rtt / 2)
    alpha, beta = 0.1 * period / longest**2, 0.3 / longest
    return {
        "rtt_max": f"{longest * 1e3:.9g}ms",
        "period": f"{period * 1e3:.9g}ms",
        "alpha": of.factor * alpha / of.shape,
        "beta": of.factor * beta,
    }


def pi_pd(of: Demand) -> Parameters:
    """An integrator: alpha = K_i T_s q_ref, K_i = 1 / (2 k (T_1 + 2 R + 1.5 T_s)), k = R C / (2 p)."""
    at = of.box.worst
    target = of.box.target.in_packets(of.box.capacity_pps[1])
    period = min(50e-3, 0.9 * target / at.capacity, of.box.mildest.rtt / 2)
    k, t1 = at.rtt * at.capacity / (2 * at.p), at.rtt / math.sqrt(2 * at.p)
    ki = of.factor / (2 * k * (t1 + 2 * at.rtt + 1.5 * period))
    return {"alpha": min(1.0, ki * period * target), "period": f"{period * 1e3:.9g}ms", "schedule": "false"}


def cpc(of: Demand) -> Parameters:
    """The paper's cascade with the delay counted, for the longest round trip; slower for a longer one."""
    return followed(of.box.worst, of.factor) | {"period": f"{min(20.0, 500 * of.box.mildest.rtt):.9g}ms"}


def cpc_by_margins(of: Demand) -> Parameters:
    """Equations (4) and (5) of docs/laws/cpc.md at the worst corner, as gains of `form = autotune`."""
    at = of.box.worst
    gain, time = (at.rtt * at.capacity / at.flows) ** 3 / 4, 1 / at.window_pole
    lags = 2 * (time + at.rtt)
    kp = lags / (4 * at.flows * at.rtt)
    gains: Parameters = {"inner": gain * lags / of.factor, "kp": kp, "ki": kp / lags, "kd": kp * time}
    period = f"{min(20.0, 500 * of.box.mildest.rtt):.9g}ms"
    return {"form": "autotune"} | followed(at, 1.0) | {"period": period} | gains


def arm_pfc(of: Demand) -> Parameters:
    """The model of the longest round trip; Psi, the decay of the error in a period, towards 1."""
    return followed(of.box.worst, 1.0) | {
        "psi": math.exp(math.log(0.83) * of.factor),
        "delay": periods(of.box),
    }


def periods(box: Box) -> str:
    """Periods in the longest round trip: the paper's 5, or as many as the shortest one needs."""
    return f"{max(5, math.ceil(box.worst.rtt / box.mildest.rtt))}"


def followed(at: Network, factor: float) -> Parameters:
    """Design point of a law that follows its load."""
    return {"flows": at.flows, "rtt": f"{at.rtt / factor * 1e3:.9g}ms"}


def red(of: Demand) -> Parameters:
    """Hollot et al. 2001: K = -C ln(1 - w_q) such that |L| = 1 at a tenth of the slower pole."""
    at, target = of.box.worst, of.box.target.in_packets(of.box.capacity_pps[0])
    low, high = target / 2, 2 * target
    most = min(1.0, max(0.02, of.box.mildest.p))
    slope = most / (high - low)
    w = 0.1 * min(at.window_pole, 1 / at.rtt)
    k = w / math.sqrt(max((slope * at.gain) ** 2 - 1, 1e-12))
    weight = -math.expm1(-of.factor * k / at.capacity)
    return {
        "min": f"{low:.9g}packets",
        "max": f"{high:.9g}packets",
        "max_p": most,
        "weight": min(1.0, weight),
    }


#: Rules by law.
RULES: dict[str, Rule] = {
    "pi": Rule(
        pi,
        "Hollot et al. 2002: the zero on the pole 2 N / (R^2 C) of the windows of the fewest flows over the "
        "longest round trip, the gain for the margin there",
        (2.0, 4.0, 8.0, 16.0, 32.0),
    ),
    "rem": Rule(
        rem,
        "REM is PI about its equilibrium: the rule of pi (Hollot et al. 2002)",
        (2.0, 4.0, 8.0, 16.0, 32.0),
    ),
    "pid": Rule(
        pid,
        "the zeros of PID on both poles of Hollot's plant at the fewest flows over the longest round trip",
        (2.0, 4.0, 8.0),
    ),
    "pid:adapt=load": Rule(
        pid_of_load, "Ryu and others, section 4.1: kappa times a design that follows p", adapts=True
    ),
    "pie": Rule(
        pie,
        "the rule of pi (Hollot et al. 2002), over the divisor of RFC 8033, section 4.2",
        (4.0, 8.0),
        of_delay=True,
        is_searched=True,
    ),
    "pi2": Rule(
        pi2,
        "RFC 9332, Figure 2, for the longest round trip, its zero moved down towards the pole of the windows",
        (4.0, 8.0),
        of_delay=True,
        is_searched=True,
    ),
    "pi_pd": Rule(
        pi_pd,
        "alpha of an integrator whose time is twice the loop's small lags (docs/laws/pi_pd.md)",
        partial="equation (11), on one side of the target",
    ),
    "cpc": Rule(
        cpc, "the magnitude optimum of its cascade for the longest round trip", adapts=True, least=1 / 8
    ),
    "cpc:form=autotune": Rule(
        cpc_by_margins,
        "robust optimisation: a pattern search for the gains that settle first, from the magnitude optimum "
        "of the cascade at the fewest flows over the longest round trip",
        free=("inner", "kp", "ki", "kd"),
    ),
    "arm_pfc": Rule(arm_pfc, "its model for the longest round trip, the reference's decay Psi", adapts=True),
    "red": Rule(
        red,
        "Hollot et al. 2001: the average slow enough that |L| = 1 at a tenth of the slower pole of the plant",
    ),
}
