"""PI, from Hollot, Misra, Towsley, Gong (IEEE TAC 47(6), 2002) alone.

Every period p(k) = p(k-1) + a (q(k) - q_ref) - b (q(k-1) - q_ref), kept within 0 and 1. Gains that are not
parameters follow the paper's design: C(s) = K (s/z + 1) / s with z at the window's pole 2N/(R^2 C), the
loop's crossover w_g there too, |L(j w_g)| = 1 for the plant (RC)^3/(4N^2) e^(-sR) / ((s/z + 1)(sR + 1)), and
Tustin's rule. A late update adds the integral of the error since the last one, linearly interpolated.
"""

from __future__ import annotations

from typing import Any


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> tuple[list[str], list[float]]:
    """Every verdict of the trace, and p after every update."""
    params, link = header["params"], header["link"]
    packets_a_second = link["rate_bps"] / 8 / link["packet_bytes"]
    q_ref = target(params.get("target", "100 packets"), packets_a_second)
    f_s = float(params.get("rate", "160 Hz").removesuffix(" Hz"))
    period = round(1e9 / f_s) / 1e9
    if "a" in params:
        a, b = params["a"], params["b"]
    else:
        rtt = link["base_rtt_ns"] / 1e9 + q_ref / packets_a_second
        a, b = gains(link["flows"], packets_a_second, rtt, period)
    p, q_old = 0.0, 0.0
    answers, probabilities = [], []
    for call in calls:
        if call["call"] == "update":
            q = call["backlog_packets"]
            p += a * (q - q_ref) - b * (q_old - q_ref)
            late = call["elapsed_s"] / period - 1
            if late > 0.5:
                p += (a - b) * late * ((q - q_ref) + (q_old - q_ref)) / 2
            p, q_old = min(max(p, 0.0), 1.0), q
            probabilities.append(p)
        elif call["call"] == "arrival":
            hit = call["u"][0] < p
            answers.append(("drop" if call["ecn"] == "not_ect" else "mark") if hit else "pass")
        elif call["call"] == "departure":
            answers.append("pass")
    return answers, probabilities


def gains(flows: float, capacity: float, rtt: float, period: float) -> tuple[float, float]:
    """The paper's design, from the complex loop itself rather than a formula for its magnitude."""
    z = 2 * flows / (rtt**2 * capacity)
    s = 1j * z
    plant = (rtt * capacity) ** 3 / (4 * flows**2) / ((s / z + 1) * (s * rtt + 1))
    k = 1 / abs((s / z + 1) / s * plant)
    # s <- 2/T (v - 1)/(v + 1): C(v) = (a v - b) / (v - 1).
    return k / z + k * period / 2, k / z - k * period / 2


def target(text: str, packets_a_second: float) -> float:
    number, unit = text.split()
    scale = {"packets": 1.0, "s": packets_a_second, "ms": packets_a_second / 1000}
    return float(number) * scale[unit]
