"""FB-OCQ, from the control problem of Radwan, To, Hwang (2016) and the algorithm of docs/laws/fb_ocq.md.

min over u of the integral of x + R (w - u) + eps (u - u_s)^2, x' = u - g(x), g(x) = mu x / (a + x). R is the
one whose singular arc, where R g'(x) = 1, is at the target; eps is the one under which the linear feedback
has the time constant t_c; and u is the root of the Hamilton-Jacobi-Bellman equation itself, with psi(x) = x +
R (w - g(x)): (u - g)^2 = (g - u_s)^2 + (psi(x) - psi(x_s)) / eps, towards the target.

With load = integral w = mu / (1 - p_w), where p_w follows 1 - (1 - p_w) (1 - k (x - x_s) / mu) with the time
constant tau_w, k = 1 / t_c - 1 / R. The loop gain k (1 - p_w) R0 / (2 p_w) is 1 and tau_w = R0 / sqrt(2 p_w),
unless given, at least two and three round trips (0.5 s where unknown), with p_w within 0.002 and 0.9. There
x - x_s counts as 3 x_s at most, and p = 0 while the link is busy less than three quarters of R0, on average.

With form = receding the first input of a plan is in the place of u: fb_ocq_receding.
"""

from __future__ import annotations

import math
from typing import Any

from fb_ocq_receding import Receding


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> tuple[list[str], list[float]]:
    """Every verdict of the trace, and p after every update."""
    law = FbOcq(header["params"], header["link"])
    answers, probabilities = [], []
    for call in calls:
        if call["call"] == "rate":
            law.link(call["rate_bps"])
        elif call["call"] == "update":
            law.update(call)
            probabilities.append(law.p)
        elif call["call"] == "arrival":
            hit = call["u"][0] < law.p
            answers.append(("drop" if call["ecn"] == "not_ect" else "mark") if hit else "pass")
        elif call["call"] == "departure":
            answers.append("pass")
    return answers, probabilities


class FbOcq:
    def __init__(self, params: dict[str, Any], link: dict[str, Any]) -> None:
        self.params = params
        self.bytes_a_second, self.size = link["rate_bps"] / 8, link["packet_bytes"]
        self.mu = self.bytes_a_second / self.size
        self.x_s = target(params.get("target", "40 packets"), self.mu)
        rtt = link["base_rtt_ns"] / 1e9
        self.tau_w = seconds(params["tau_w"]) if "tau_w" in params else max(1.0, 5 * rtt)
        self.t_c = seconds(params.get("t_c", "0.5 s"))
        self.rtt = rtt or 0.1
        self.least = (2 * rtt, 3 * rtt) if rtt else (0.5, 0.5)
        self.left = [self.mu, self.bytes_a_second]
        flows = link.get("flows") or 0.0
        window = flows and (self.rtt * self.mu + self.x_s) / flows
        self.w, self.p, self.p_w = 0.0, 0.0, min(2 / window**2, 0.9) if flows else 0.0
        self.stopped, self.busy = False, 0.0
        form = params.get("form", "sqrt")
        plain = form in {"sqrt", "receding"} and params.get("bias", True)
        period = seconds(params.get("period", "10 ms"))
        self.receding = Receding(params, period, self.rtt, self.x_s, self.mu) if form == "receding" else None
        self.load = params.get("load", "integral" if plain else "virtual")

    def link(self, rate_bps: float) -> None:
        self.stopped = rate_bps == 0
        if self.stopped:
            return
        self.mu *= rate_bps / 8 / self.bytes_a_second
        self.bytes_a_second = rate_bps / 8

    def update(self, seen: dict[str, Any]) -> None:
        elapsed = seen["elapsed_s"]
        if self.load == "integral":
            self.integrate(seen)
            self.serve(seen)
            self.w = self.mu / (1 - self.p_w)
        else:
            marks = seen["marked_packets"] if self.load == "virtual" else 0.0
            load = seen["arrived_packets"] + marks / (1 - min(self.p, 0.9))
            self.w = average(self.w, load / elapsed, elapsed / self.tau_w)
            self.serve(seen)
        p = self.planned(seen) if self.receding else self.closed(seen)
        self.p = min(max(p, 0.0), self.params.get("p_max", 1.0))

    def closed(self, seen: dict[str, Any]) -> float:
        if self.idles():
            return 0.0
        return 1 - max(self.u(seen["backlog_packets"]), 0.0) / self.w if self.w > 0 else 0.0

    def planned(self, seen: dict[str, Any]) -> float:
        plan = self.receding
        assert plan is not None
        p_w = min(max(1 - self.mu / self.w, 0.0), 0.9) if self.w > 0 else 0.0
        if not self.stopped:
            plan.observe(seen, self.mu)
        if self.idles():
            plan.admit(seen, self.mu, p_w, math.inf)
            return 0.0
        if plan.budget == 0:
            plan.admit(seen, self.mu, p_w, self.u(seen["backlog_packets"]))
            return self.closed(seen)
        return plan.p(seen, self, p_w)

    def idles(self) -> bool:
        return self.load == "integral" and self.busy < 0.75

    def integrate(self, seen: dict[str, Any]) -> None:
        if self.stopped:
            return
        t_c, tau_w = self.times()
        r0 = self.rtt + self.x_s / self.mu
        self.busy = average(self.busy, seen["busy_s"] / seen["elapsed_s"], seen["elapsed_s"] / r0)
        k = 1 / t_c - self.a() * self.mu / (self.a() + self.x_s) ** 2
        above = min(seen["backlog_packets"], 4 * self.x_s) - self.x_s
        linear = 1 - (1 - self.p_w) * (1 - k * above / self.mu)
        p_w = average(self.p_w, linear, seen["elapsed_s"] / tau_w)
        self.p_w = min(max(p_w, 0.0), self.params.get("p_max", 1.0), 0.9)

    def times(self) -> tuple[float, float]:
        """t_c and tau_w."""
        price = (self.a() + self.x_s) ** 2 / (self.a() * self.mu)
        least = min(self.t_c, price / 2)
        if self.load != "integral":
            return least, self.tau_w
        p, r0 = min(max(self.p_w, 0.002), 0.9), self.rtt + self.x_s / self.mu
        slow = 1 / (2 * p / ((1 - p) * r0) + 1 / price)
        t_c = least if "t_c" in self.params else max(min(self.least[0], price / 2), slow)
        by_rule = max(self.least[1], r0 / math.sqrt(2 * p))
        return t_c, self.tau_w if "tau_w" in self.params else by_rule

    def serve(self, seen: dict[str, Any]) -> None:
        elapsed, packets = seen["elapsed_s"], seen["departed_packets"]
        if self.params.get("service", "link") == "measured":
            if seen["busy_s"] > elapsed * (1 - 1e-6):
                self.mu = average(self.mu, packets / elapsed, elapsed)
        elif packets:
            counts = (packets, seen["departed_bytes"])
            self.left = [average(a, n / elapsed, elapsed) for a, n in zip(self.left, counts, strict=True)]
            self.mu = self.bytes_a_second * self.left[0] / self.left[1]

    def u(self, x: float) -> float:
        a, mu, x_s = self.a(), self.mu, self.x_s

        def g(x: float) -> float:
            return mu * x / (a + x)

        price = (a + x_s) ** 2 / (a * mu)
        bias = mu - g(x_s) if self.params.get("bias", True) else 0.0
        if self.params.get("form", "sqrt") == "deadbeat":
            return g(x) + (x_s - x) / seconds(self.params["period"]) + bias
        eps = 1 / ((a + x_s) * (1 / self.times()[0] ** 2 - 1 / price**2))

        def psi(x: float) -> float:
            return x + price * (self.w - g(x))

        square = (g(x) - g(x_s)) ** 2 + (psi(x) - psi(x_s)) / eps
        return g(x) - math.copysign(math.sqrt(max(square, 0.0)), x - x_s) + bias

    def a(self) -> float:
        """a = 1, or by bisection the smaller one at which R = (a + x_s)^2 / (a mu) is 2 t_c."""
        if "a" in self.params:
            return float(self.params["a"])
        t_c = self.least[0] if self.load == "integral" and "t_c" not in self.params else self.t_c
        least, most = 0.0, min(1.0, self.x_s)
        if (most + self.x_s) ** 2 / (most * self.mu) >= 2 * t_c:
            return most
        for _ in range(200):
            a = (least + most) / 2
            short = (a + self.x_s) ** 2 < 2 * t_c * a * self.mu
            least, most = (least, a) if short else (a, most)
        return least


def average(old: float, new: float, time: float) -> float:
    return old + (1 - math.exp(-time)) * (new - old)


def seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[unit]


def target(text: str, packets_a_second: float) -> float:
    number, unit = text.split()
    return float(number) if unit == "packets" else seconds(text) * packets_a_second
