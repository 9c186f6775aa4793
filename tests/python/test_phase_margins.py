"""Phase margins quoted on the pages of PIE, PI2 and DOCSIS-PIE, from the transfer functions on those pages.

The loop is `a` and `b` per update on the plant of docs/laws/pi.md, equation (6), with its exact delay and
that of half a sampling period.
"""

import math

import pytest
from scipy.optimize import brentq


def phase_margin(flows, capacity, rtt, period, a, b):
    """Phase margin in degrees; capacity in packets/s, times in s, gains in 1/packet."""
    gain, zero = (a - b) / period, 2 * (a - b) / ((a + b) * period)
    slow = 2 * flows / (rtt**2 * capacity)
    plant = capacity**2 / (2 * flows)

    def excess(w):
        return gain * math.hypot(1, w / zero) / w * plant / math.hypot(w, slow) / math.hypot(w, 1 / rtt) - 1

    w = brentq(excess, 1e-3, 1e3)
    lag = math.pi / 2 - math.atan(w / zero) + math.atan(w / slow) + math.atan(w * rtt)
    return math.degrees(math.pi - lag - w * (rtt + period / 2))


def equilibrium(flows, capacity, rtt):
    """Probability of equation (6)."""
    return 2 * flows**2 / (rtt * capacity) ** 2


SMALL, LONG = (20, 833, 0.1), (100, 1250, 0.28)


@pytest.mark.parametrize(
    ("network", "p", "plain", "spread"), [(SMALL, 0.115, 45.5, 60.3), (LONG, 0.163, -35.4, -15.7)]
)
def test_pie(network, p, plain, spread):
    alpha, beta, period = 0.125, 1.25, 0.015
    capacity, p_0 = network[1], equilibrium(*network)
    assert round(p_0, 3) == p
    a, b = (alpha + beta) / capacity, beta / capacity
    assert round(phase_margin(*network, period, a, b), 1) == plain
    # Equation (9): the p whose spread draws drop p_0, and its slope there.
    own = 3.7 * p_0 / (2 + p_0)
    slope = 7.4 / (3.7 - own) ** 2
    assert round(phase_margin(*network, period, slope * a, slope * b), 1) == spread


@pytest.mark.parametrize(
    ("network", "rtt_max", "margin"), [(SMALL, 0.1, 62.5), (LONG, 0.1, -26.9), (LONG, 0.28, 72)]
)
def test_pi2(network, rtt_max, margin):
    # RFC 9332, Figure 2.
    period = min(rtt_max / 3, 0.015)
    alpha, beta = 0.1 * period / rtt_max**2, 0.3 / rtt_max
    steps = 2 * math.sqrt(equilibrium(*network)) / network[1]
    found = phase_margin(*network, period, steps * (alpha + beta), steps * beta)
    assert round(found, 0 if margin == 72 else 1) == margin


@pytest.mark.parametrize(("rtt", "margin"), [(0.1, -10.6), (0.05, 90)])
def test_docsis_pie(rtt, margin):
    found = phase_margin(20, 833, rtt, 0.016, 2 * 2.75 / 833, 2 * 2.5 / 833)
    assert round(found, 0 if margin == 90 else 1) == margin
