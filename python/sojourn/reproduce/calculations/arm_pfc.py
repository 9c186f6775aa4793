"""Calculations of the ARM-PFC paper: its design, its predictor, the gains of PI, and operations an update.

The design point is the paper's: 100 flows, 1250 packets/s, 280 ms, d = 5, h = 7, Psi = 0.83. Equation numbers
are the paper's. The plant is of the project's designs (`sojourn.design.box`), and so is the rule of PI.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.design.box import Network
from sojourn.design.rules import tustin

__all__ = ["CALCULATIONS"]

#: The network of the design: 40 ms on both sides and 20 ms between, both ways, and 100 packets.
PROPAGATION_S, TARGET = 2 * (0.04 + 0.02 + 0.04), 100
NOMINAL = Network(flows=100, capacity=1250, rtt=PROPAGATION_S + TARGET / 1250)
DELAY, POINT, PSI = 5, 7, 0.83
PRINTED_PI = 6.48e-7, 6.42e-7
PACKET_BYTES = 1000
#: Samples per second of the example of Hollot et al. 2002.
RATE_HZ = 160


@dataclass(frozen=True)
class Model:
    """The sampled model (12) with (13), and its parts (15)."""

    period: float
    alpha: tuple[float, float]
    #: k_i (1 - alpha_i), packets per unit of probability, negative: the queue falls when p rises.
    b: tuple[float, float]

    @property
    def n(self) -> tuple[float, float]:
        return -sum(self.alpha), math.prod(self.alpha)

    @property
    def m(self) -> tuple[float, float]:
        return sum(self.b), -(self.b[0] * self.alpha[1] + self.b[1] * self.alpha[0])

    def effect(self, steps: int) -> float:
        """Response to a step of u so many periods after its delay."""
        return sum(b * (1 - a**steps) / (1 - a) for a, b in zip(self.alpha, self.b, strict=True))


def model(of: Network, delay: int) -> Model:
    """Model of a network, sampled `delay` times in a round trip."""
    period, tau = of.rtt / delay, (of.rtt, 1 / of.window_pole)
    gain = (tau[0] / (tau[0] - tau[1]), tau[1] / (tau[1] - tau[0]))
    alpha = math.exp(-period / tau[0]), math.exp(-period / tau[1])
    return Model(period, alpha, (-of.gain * gain[0] * (1 - alpha[0]), -of.gain * gain[1] * (1 - alpha[1])))


def design() -> Mapping[str, float]:
    """The paper's design point: R_0, gamma of (16), and the time constant of (23) in round trips."""
    period = NOMINAL.rtt / DELAY
    time_constant = -period / math.log(PSI)
    return {
        "rtt_s": NOMINAL.rtt,
        "gamma": period / math.hypot(NOMINAL.rtt, 1 / NOMINAL.window_pole),
        "time_constant_rtts": time_constant / NOMINAL.rtt,
        "settling_2_percent_rtts": time_constant * math.log(50) / NOMINAL.rtt,
        "psi_of_4_rtts": math.exp(-1 / (4 * DELAY)),
    }


def pi_rule() -> Mapping[str, float]:
    """Gains of PI by Hollot et al. 2002 for the nominal network: its crossover on the pole of the windows."""
    a, b = _hollot(NOMINAL)
    # The example of that paper, which prints 1.822e-5 and 1.816e-5.
    example = _hollot(Network(flows=60, capacity=3750, rtt=0.246))
    ratio = a / PRINTED_PI[0]
    return {
        "a": a,
        "b": b,
        "a_over_printed": ratio,
        "a_over_printed_in_bytes": ratio / PACKET_BYTES,
        "a_of_example": example[0],
    }


def _hollot(of: Network) -> tuple[float, float]:
    z = of.window_pole
    return tustin(z * math.hypot(1, z * of.rtt) / of.gain, z, 1 / RATE_HZ)


def predictor() -> Mapping[str, float]:
    """Errors of the predictor (19) with the states (20), printed and corrected, against iterating (12).

    u is random up to k and constant from there on. Errors are RMS, relative to the RMS of the output. By (14)
    and (15), each state of (20) has k_i (1 - alpha_i) u(k - d - 1) more than is printed.
    """
    of = model(NOMINAL, DELAY)
    u = np.random.default_rng(1).uniform(-0.1, 0.1, 400)
    errors: dict[str, list[float]] = {"printed": [], "corrected": []}
    outputs = []
    for k in range(60, 380):
        held = np.where(np.arange(u.size) > k, u[k], u)
        y = _iterated(of, held)
        outputs.append(y[k + POINT])
        for name, found in errors.items():
            states = _states(of, y, held, k, printed=name == "printed")
            found.append(_ahead(of, states, held, k) - y[k + POINT])
    scale = np.sqrt(np.mean(np.square(outputs)))
    return {name: float(np.sqrt(np.mean(np.square(found))) / scale) for name, found in errors.items()}


def _iterated(of: Model, u: Sequence[float] | np.ndarray) -> np.ndarray:
    """Output of (12)."""
    (n1, n2), (m1, m2) = of.n, of.m
    y = np.zeros(len(u))
    for k in range(DELAY + 2, len(u)):
        y[k] = -n1 * y[k - 1] - n2 * y[k - 2] + m1 * u[k - DELAY - 1] + m2 * u[k - DELAY - 2]
    return y


def _states(of: Model, y: np.ndarray, u: np.ndarray, k: int, *, printed: bool) -> tuple[float, float]:
    """y_1(k) and y_2(k) of (20)."""
    a1, a2 = of.alpha
    late, both = u[k - DELAY - 1], sum(of.b)
    first = a1 / (a1 - a2) * (y[k] - a2 * y[k - 1] - both * late)
    second = a2 / (a2 - a1) * (y[k] - a1 * y[k - 1] - both * late)
    if printed:
        return first, second
    return first + of.b[0] * late, second + of.b[1] * late


def _ahead(of: Model, states: tuple[float, float], u: np.ndarray, k: int) -> float:
    """Output at k + h by (19)."""
    found = of.effect(POINT - DELAY) * u[k]
    for a, b, state in zip(of.alpha, of.b, states, strict=True):
        found += a**POINT * state + b * sum(
            a ** (POINT - DELAY - 1 + j) * u[k - j] for j in range(1, DELAY + 1)
        )
    return float(found)


class Counted:
    """A number that counts the additions and multiplications in which it takes part."""

    count = 0

    def __add__(self, _: object) -> Counted:
        Counted.count += 1
        return self

    __sub__ = __mul__ = __radd__ = __rsub__ = __rmul__ = __add__


def operations() -> Mapping[str, float]:
    """Additions and multiplications of an update, each law run once on numbers that count them.

    All have h = 7, one move of u, and their constants made beforehand; DMC's step response is as long as the
    model takes to 1 % of its end. The GPC is the recursion over the horizon, and, folded, the linear law that
    it amounts to without constraints.
    """
    of = model(NOMINAL, DELAY)
    final = of.effect(10_000)
    length = DELAY + next(n for n in range(1, 10_000) if of.effect(n) / final > 0.99)
    laws: dict[str, Callable[[], Counted]] = {
        "arm_pfc": _arm_pfc,
        "dmc": lambda: _dmc(length),
        "gpc": _gpc,
        "gpc_folded": lambda: _row(3 + DELAY + 2) + Counted(),
        "pi": lambda: Counted() + Counted() * Counted() - Counted() * Counted(),
    }
    found = {}
    for name, law in laws.items():
        Counted.count = 0
        law()
        found[name] = float(Counted.count)
    return found


def _row(terms: int) -> Counted:
    """A sum of so many products."""
    found = Counted() * Counted()
    for _ in range(terms - 1):
        found = found + Counted() * Counted()
    return found


def _arm_pfc() -> Counted:
    """(27): y_m by (12), y_past of (21) from 2 outputs and d + 1 inputs, and u."""
    output, past = _row(4), _row(2 + DELAY + 1)
    return (Counted() * Counted() - past + output) * Counted()


def _dmc(length: int) -> Counted:
    """Dynamic matrix control: the prediction moves by the last step of u; then a row of errors."""
    for _ in range(length):
        Counted() + Counted() * Counted()
    return _errors_ahead()


def _gpc() -> Counted:
    """Generalised predictive control: free response by recursion, then a row of errors."""
    for _ in range(POINT):
        _row(5)
    return _errors_ahead()


def _errors_ahead() -> Counted:
    """Sum of the errors at each period ahead, times gains: the bias of the prediction, and (22) at each."""
    bias = Counted() - Counted()
    for _ in range(POINT):
        Counted() * Counted() - (Counted() + bias)
    return Counted() + _row(POINT)


def capacity() -> Mapping[str, float]:
    """What links carry: of experiment 5 in 100 s, and what the UDP flows of experiment 8 send on average."""
    varied, constant = (10e6 * 70 + 6e6 * 30) / 8, 10e6 * 100 / 8
    printed = {"arm_pfc": 124464043, "pi": 108863810, "red": 106406600, "rem": 99086200}
    shares = {f"{law}_share": goodput / varied for law, goodput in printed.items()}
    return {
        "exp5_bytes": varied,
        "arm_pfc_share_of_a_constant_link": printed["arm_pfc"] / constant,
        **shares,
        "arm_pfc_share_in_packets": shares["arm_pfc_share"] * 1000,
        "exp8_udp_over_link": 150 * 0.5 * 20e3 * 8 / 10e6,
    }


CALCULATIONS = {
    "design": design,
    "pi_rule": pi_rule,
    "predictor": predictor,
    "operations.plain": operations,
    "operations.folded": lambda: {**operations(), "gpc": operations()["gpc_folded"]},
    "capacity": capacity,
}
