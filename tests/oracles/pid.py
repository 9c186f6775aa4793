"""PID, from sections 2.6 and 4.1 of Ryu, Ryu, Jeong and Park, "PI-PD Controller", alone.

Every error is kept. p is K_P e + K_I (the trapezoids so far) + K_D (the last slope); the velocity form (6) is
the difference of two of these added to the last p. The velocity form is clipped at 0 and 1 in p, the other
one in its sum. Designed gains solve (s + p1)(s + p2) + G (K_P1 + K_D1 s) = s^2 + 2 xi w s + w^2.
"""

from __future__ import annotations

import math
from typing import Any

from pi import target


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> tuple[list[str], list[float]]:
    """Every verdict of the trace, and p after every update."""
    params, link = header["params"], header["link"]
    rate = link["rate_bps"] / 8 / link["packet_bytes"]
    q_ref = target(params.get("target", "100 packets"), rate)
    base = link["base_rtt_ns"] / 1e9
    rtt = base + q_ref / rate
    f_s = float(params["rate"].removesuffix(" Hz")) if "rate" in params else 29.5 * 0.246 / rtt
    period = max(round(1e9 / f_s), 1_000_000) / 1e9
    follows, average = params.get("adapt", "none") == "load", 0.0
    if "kp" in params:
        gains = params["kp"], params["ki"], params["kd"]
    else:
        flows = params.get("flows", link["flows"])
        average = within(2 * (flows / (rtt * rate)) ** 2)
        if follows:
            flows = rtt * rate * math.sqrt(average / 2)
        gains = designed(min(flows, rtt * rate), rate, rtt)
    velocity = params.get("form", "position") == "velocity"
    p, total = 0.0, gains[0] * q_ref
    errors = [-q_ref, -q_ref]
    answers, probabilities = [], []
    for call in calls:
        if call["call"] == "rate":
            rate = call["rate_bps"] / 8 / link["packet_bytes"]
            rtt = base + q_ref / rate
        elif call["call"] == "update":
            elapsed = call["elapsed_s"]
            if follows:
                average += (1 - math.exp(-elapsed / 5)) * (p - average)
                flows = rtt * rate * math.sqrt(within(average) / 2)
                gains = designed(min(flows, rtt * rate), rate, rtt)
            kp, ki, kd = gains
            periods = min(max(round(elapsed / period), 1), 1000)
            begin, end = errors[-1], call["backlog_packets"] - q_ref
            for k in range(1, periods + 1):
                errors.append(begin + (end - begin) * k / periods)
                now, last, before = errors[-1], errors[-2], errors[-3]
                trapezoid = ki * period * (now + last) / 2
                if velocity:
                    p += kp * (now - last) + trapezoid + kd * ((now - last) - (last - before)) / period
                else:
                    total = min(max(total + trapezoid, 0.0), 1.0)
                    p = total + kp * now + kd * (now - last) / period
                p = min(max(p, 0.0), 1.0)
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


def designed(flows: float, rate: float, rtt: float) -> tuple[float, float, float]:
    """K_P, K_I and K_D of section 4.1: 5 % of overshoot, kappa = 0.05."""
    slow, fast, gain = 2 * flows / (rtt**2 * rate), 1 / rtt, rate**2 / (2 * flows)
    decay = -math.log(0.05) / math.pi
    xi = decay / math.sqrt(1 + decay**2)
    w = 2 / (rtt * xi)
    kp1, kd1 = (w**2 - slow * fast) / gain, (2 * xi * w - slow - fast) / gain
    kp2 = w**2 / (gain * kp1)
    ki2 = slow * kp2
    return 0.05 * (kp1 * kp2 + kd1 * ki2), 0.05 * kp1 * ki2, 0.05 * kd1 * kp2
