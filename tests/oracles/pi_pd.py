"""PI-PD, from Ryu, Ryu, Jeong and Park, "PI-PD Controller", alone: equations (11) to (15) and section 3.3.

Every backlog sampled is kept, and each equation is evaluated anew from them. The default alpha is that of an
integral controller for TCP and queue, 1 / (2 k (T1 + 2 R + 1.5 T)), with k = RC / 2p and T1 = R / sqrt(2p) at
the average p.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from pi import target
from pid import within


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> tuple[list[str], list[float]]:
    """Every verdict of the trace, and p after every update."""
    params, link = header["params"], header["link"]
    rate, buffer = link["rate_bps"] / 8 / link["packet_bytes"], link["limit_packets"]
    q_ref = target(params.get("target", "100 packets"), rate)
    base = link["base_rtt_ns"] / 1e9
    rtt = base + q_ref / rate
    form = params.get("form", "switch")
    if "period" in params:
        period = float(params["period"].removesuffix(" ms")) / 1e3
    else:
        period = round(min(0.05, max(0.001, 0.9 * q_ref / rate)) * 1e9) / 1e9
    spread = {"switch": min(q_ref, buffer - q_ref), "pd": buffer - q_ref}.get(
        form, 1 / (1 / q_ref + 1 / (buffer - q_ref))
    )
    average = within(2 * (params.get("flows", link["flows"]) / (rtt * rate)) ** 2)
    alpha, p = params.get("alpha"), 0.0
    samples = [0.0, 0.0]
    answers, probabilities = [], []
    for call in calls:
        if call["call"] == "rate":
            rate = call["rate_bps"] / 8 / link["packet_bytes"]
            rtt = base + q_ref / rate
        elif call["call"] == "update":
            elapsed = call["elapsed_s"]
            if "alpha" not in params:
                average += (1 - math.exp(-elapsed / 5)) * (p - average)
                known = within(average)
                lags = rtt / math.sqrt(2 * known) + 2 * rtt + 1.5 * period
                alpha = min(spread * period * known / (rtt * rate * lags), 1.0)
            periods = min(max(round(elapsed / period), 1), 1000)
            begin, end = samples[-1], call["backlog_packets"]
            for k in range(1, periods + 1):
                samples.append(begin + (end - begin) * k / periods)
                p = min(max(p + alpha * step(samples[-3:], q_ref, buffer, form), 0.0), 1.0)
            probabilities.append(p)
        elif call["call"] == "arrival":
            hit = call["u"][0] < p
            answers.append(("drop" if call["ecn"] == "not_ect" else "mark") if hit else "pass")
        elif call["call"] == "departure":
            answers.append("pass")
    return answers, probabilities


def step(samples: list[float], q_ref: float, buffer: float, form: str) -> float:
    """Factor of alpha, from the last three samples."""
    _, last, now = samples
    mean = ((now + last) / 2 - q_ref) / q_ref
    ahead = (min(max(predicted(samples), 0.0), buffer) - q_ref) / (buffer - q_ref)
    if form == "switch":
        crossed = (now >= q_ref) != (last >= q_ref)
        return ahead if crossed else mean
    return ahead if form == "pd" else mean + ahead


def predicted(samples: list[float]) -> float:
    """Equation (14) in exact fractions; the ratio is at most 2, and undefined after a first step of 0."""
    before, last, now = map(Fraction, samples)
    first, second = last - before, now - last
    status = [1 if growth >= 0 else -1 for growth in (first, second)]
    if status[0] * status[1] != 1 or first == 0:
        return float(now + second)
    return float(now + second * min(second / first, 2))
