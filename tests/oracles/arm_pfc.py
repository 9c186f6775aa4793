"""ARM-PFC, from the paper of Bigdeli and Haeri and the design that the documentation of the law adds to it.

The model is equations (12) and (13), its predictions are (12) run ahead step by step: once with a constant
input, and once more for each unknown future input. So nothing of (18) to (21) is needed. The parts that
follow the load are recomputed at each update: p_0 is the average of p over 5 s, within 0.002 and 0.9 and at
most the p of windows of `least_window` segments, and the model's outputs are counted from the new p_0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pi import target


@dataclass
class Model:
    """Sampled TCP and queue about p_0; `gain` is k_t."""

    p0: float
    gain: float
    n: tuple[float, float]
    m: tuple[float, float]

    @staticmethod
    def at(p0: float, rate: float, rtt: float, period: float) -> Model:
        """Equations (11) and (13), the gain negative: m_1 is the step response after one period."""
        gain, tau1, tau2 = rtt * rate / (2 * p0), rtt, rtt / math.sqrt(2 * p0)
        a1, a2 = math.exp(-period / tau1), math.exp(-period / tau2)
        if abs(tau1 - tau2) > 1e-3 * rtt:
            left = (tau1 * a1 - tau2 * a2) / (tau1 - tau2)
        else:  # the mean of the derivative of tau exp(-T / tau) between the two, by Gauss and Legendre
            middle, half = (tau1 + tau2) / 2, math.sqrt(0.6) * (tau1 - tau2) / 2
            at = [period / tau for tau in (middle - half, middle, middle + half)]
            left = sum(w * math.exp(-x) * (1 + x) for w, x in zip((5, 8, 5), at, strict=True)) / 18
        m1 = -gain * (1 - left)
        return Model(p0, gain, (-(a1 + a2), a1 * a2), (m1, -gain * (1 - a1) * (1 - a2) - m1))

    def next(self, outputs: list[float], inputs: list[float]) -> float:
        """Equation (12) from the last two outputs and the two inputs that come into force."""
        return sum(m * u - n * y for m, n, u, y in zip(self.m, self.n, inputs, outputs, strict=True))


class ArmPfc:
    """The controller; times in seconds, probabilities latest first."""

    def __init__(self, params: dict[str, Any], link: dict[str, Any]) -> None:
        self.packet = link["packet_bytes"]
        self.rate = link["rate_bps"] / 8 / self.packet
        self.q_ref = target(params.get("target", "100 packets"), self.rate)
        self.base = link["base_rtt_ns"] / 1e9
        self.rtt = self.base + self.q_ref / self.rate
        self.paper = params.get("form", "indep") == "paper"
        self.ramp = params.get("base", "step") == "ramp"
        self.psi = params.get("psi", 0.83)
        self.follows = params.get("adapt", "none" if self.paper else "load") == "load"
        self.most_p = 2 / params.get("least_window", 5.0) ** 2
        p0 = 2 * (params.get("flows", link["flows"]) / (self.rtt * self.rate)) ** 2
        self.average = within(p0)
        if self.follows:
            p0 = min(self.average, self.most_p)
        self.d = params.get("delay", max(usual_delay(self.average), 5) if self.follows else usual_delay(p0))
        first = self.d + 2 if self.paper else max(5 * self.d // 2, self.d + 2)
        self.points = params.get("coincidence", [first, first + 2] if self.ramp else [first])
        self.period = round(self.rtt / self.d * 1e9) / 1e9
        self.model = Model.at(p0, self.rate, self.rtt, self.period)
        self.errors = [-self.q_ref, -self.q_ref]
        self.outputs = [self.model.gain * p0] * 2
        self.applied = [0.0] * (self.d + 2)

    def new_rate(self, bits_per_second: float) -> None:
        if not self.follows:
            return
        self.rate = bits_per_second / 8 / self.packet
        self.rtt = self.base + self.q_ref / self.rate
        d = min(max(round(self.rtt / self.period), 1), 100)
        self.points = [point + d - self.d for point in self.points]
        self.applied = (self.applied + [self.applied[-1]] * d)[: d + 2]
        self.d = d

    def update(self, backlog: float, elapsed: float) -> float:
        error = backlog - self.q_ref
        missed = min(max(round(elapsed / self.period), 1), 1000) - 1
        begin = self.errors[0]
        for k in range(1, missed + 1):
            self.remember(begin + (error - begin) * k / (missed + 1), self.output(), self.applied[0])
        if self.follows:
            self.follow(elapsed)
        output = self.output()
        p = min(max(self.model.p0 + self.wanted(error, output), 0.0), 1.0)
        self.remember(error, output, p)
        return p

    def follow(self, elapsed: float) -> None:
        self.average += (1 - math.exp(-elapsed / 5)) * (self.applied[0] - self.average)
        old, p0 = self.model, min(within(self.average), self.most_p)
        self.outputs = [output + old.gain * (p0 - old.p0) for output in self.outputs]
        self.model = Model.at(p0, self.rate, self.rtt, self.period)

    def output(self) -> float:
        """y_m(k)."""
        past = [p - self.model.p0 for p in self.applied[self.d : self.d + 2]]
        return self.model.next(self.errors if self.paper else self.outputs, past)

    def ahead(self, outputs: list[float], past: list[float], future: list[float]) -> list[float]:
        """Outputs from k + 1 on, from those at k and k - 1, inputs past (latest first) and future."""
        inputs, outputs = past[::-1] + future, list(outputs)
        now = len(past)
        for step in range(1, len(future) + 1):
            felt = now + step - self.d - 1
            outputs.insert(0, self.model.next(outputs[:2], [inputs[felt], inputs[felt - 1]]))
        return outputs[-3::-1]

    def wanted(self, error: float, output: float) -> float:
        """Equation (27): the u with which the prediction best meets the reference at the points."""
        far, rest = max(self.points), [0.0] * len(self.applied)
        begin = [error, self.errors[0]] if self.paper else [output, self.outputs[0]]
        free = self.ahead(begin, [p - self.model.p0 for p in self.applied], [0.0] * far)
        step = self.ahead([0.0, 0.0], rest, [1.0] * far)
        slope = self.ahead([0.0, 0.0], rest, [float(k) for k in range(far)])
        lack = [error * self.psi**h - error + output - free[h - 1] for h in self.points]
        g = [step[h - 1] for h in self.points]
        if self.ramp and len(g) == 2:
            s = [slope[h - 1] for h in self.points]
            return (lack[0] * s[1] - lack[1] * s[0]) / (g[0] * s[1] - g[1] * s[0])
        return sum(a * b for a, b in zip(g, lack, strict=True)) / sum(a * a for a in g)

    def remember(self, error: float, output: float, p: float) -> None:
        self.errors = [error, self.errors[0]]
        self.outputs = [output, self.outputs[0]]
        self.applied = [p, *self.applied[:-1]]


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> tuple[list[str], list[float]]:
    """Every verdict of the trace, and p after every update."""
    law, p = ArmPfc(header["params"], header["link"]), 0.0
    answers, probabilities = [], []
    for call in calls:
        if call["call"] == "rate":
            law.new_rate(call["rate_bps"])
        elif call["call"] == "update":
            p = law.update(call["backlog_packets"], call["elapsed_s"])
            probabilities.append(p)
        elif call["call"] == "arrival":
            hit = call["u"][0] < p
            answers.append(("drop" if call["ecn"] == "not_ect" else "mark") if hit else "pass")
        elif call["call"] == "departure":
            answers.append("pass")
    return answers, probabilities


def within(average: float) -> float:
    """The average p as clipped for a design."""
    return min(max(average, 0.002), 0.9)


def usual_delay(p0: float) -> int:
    """Equation (16) with gamma = 0.11."""
    return min(max(round(1 / (0.11 * math.hypot(1, 1 / math.sqrt(2 * p0)))), 1), 100)
