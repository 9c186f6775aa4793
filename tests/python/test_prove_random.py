"""Random sampled loops, against a computation that has nothing in common with the certificates' own.

The linearised model of one marked class is stepped by the trapezoidal rule, a whole number of steps in a
period of the law and in a round trip, with all that the delay holds as its state. The matrix of a period has
the roots as its eigenvalues, e^(sT); its frequency response from p to the backlog is the discrete plant, by
which L is known at the crossovers and on a grid. No aliases, no transfer function of a delay and no argument
principle is in it.
"""

import math

import numpy as np
import numpy.typing as npt
import pytest

import sojourn as sj

LOOPS = 91
#: Steps in a round trip, at least: the rule's error falls with their square.
STEPS = 36

Matrix = npt.NDArray[np.float64]


class Drawn(sj.Controller):
    """p = C(z) of the backlog's error, with an integrator: numerator and denominator in z^-1."""

    label = "drawn"
    above: tuple[float, ...]
    below: tuple[float, ...]

    def reset(self) -> None:
        self.errors = [0.0] * len(self.above)
        self.past = [0.0] * (len(self.below) - 1)

    def update(self, seen: sj.Observation) -> float:
        self.errors = [seen.backlog_packets - self.target_packets, *self.errors[:-1]]
        moved = sum(a * e for a, e in zip(self.above, self.errors, strict=True))
        p = moved - sum(b * old for b, old in zip(self.below[1:], self.past, strict=True))
        p = min(max(p, 0.0), 1.0)
        self.past = [p, *self.past[:-1]]
        return p

    def linear(self, rest: sj.Rest) -> tuple[tuple[float, ...], tuple[float, ...]]:  # noqa: ARG002
        return self.above, self.below


class Loop:
    """A network in which the round trip is a rational number of periods, and a law."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.capacity = float(draw.integers(5, 60)) * 100.0
        # A period of `each` steps, a round trip of `steps`.
        period_ms = int(draw.integers(2, 60))
        ratio = float(draw.uniform(1.2, 25.0))
        self.each = max(1, math.ceil(STEPS / ratio))
        self.steps = round(ratio * self.each)
        self.period = period_ms / 1000.0
        self.rtt = self.period * self.steps / self.each
        self.target = float(draw.uniform(0.05, 0.5)) * self.rtt * self.capacity
        self.flows = max(1, round(self.rtt * self.capacity / draw.uniform(3, 30)))
        self.window = self.rtt * self.capacity / self.flows
        a = 1.0 / (self.window * self.rtt)
        zero = a * 10 ** draw.uniform(-0.5, 0.7)
        slope = (self.rtt * self.capacity) ** 3 / (2 * self.flows) ** 2
        gain = 10 ** draw.uniform(-1.3, 0.6) * a / slope
        high, low = gain * (1 / zero + self.period / 2), gain * (1 / zero - self.period / 2)
        lag = float(draw.choice([0.0, draw.uniform(-0.4, 0.85)]))
        # PI behind a lag: (a - b z^-1) (1 - lag) / ((1 - z^-1) (1 - lag z^-1)).
        self.above = [high * (1 - lag), -low * (1 - lag)]
        self.below = [1.0, -1.0] if lag == 0.0 else [1.0, -1.0 - lag, lag]

    def plant(self) -> tuple[Matrix, Matrix]:
        """One period of the linearised model, equations (2) and (3) of its page: x <- A x + B p, q = x[0].

        x is q and W now and a step, two steps ... a round trip ago, then p of each of these steps.
        """
        r, c, w, n = self.rtt, self.capacity, self.window, self.flows
        m, h = self.steps, self.period / self.each
        # d(q, W) = now (q, W) + then (q, W)_d + felt p_d.
        now = np.array([[-1 / r, n / r], [-1 / (c * r * r), -1 / (w * r)]])
        then = np.array([[0.0, 0.0], [1 / (c * r * r), -1 / (w * r)]])
        felt = np.array([0.0, -w * w / (2 * r)])
        size = 2 * (m + 1) + m
        step = np.zeros((size, size + 1))
        left = np.linalg.inv(np.eye(2) - h / 2 * now)
        step[:2, :2] = left @ (np.eye(2) + h / 2 * now)
        step[:2, 2 * m : 2 * m + 2] += left @ (h / 2 * then)
        step[:2, 2 * m - 2 : 2 * m] += left @ (h / 2 * then)
        # p is held over a step; what was held a round trip ago is the oldest of the state.
        oldest = size - 1
        step[:2, oldest] += left @ (h * felt)
        step[2 : 2 * (m + 1), : 2 * m] = np.eye(2 * m)
        first = 2 * (m + 1)
        step[first, size] = 1.0
        step[first + 1 : size, first : size - 1] = np.eye(m - 1)
        own, put = step[:, :size], step[:, size]
        whole, given = np.eye(size), np.zeros(size)
        for _ in range(self.each):
            whole, given = own @ whole, own @ given + put
        return whole, given

    def closed(self, plant: Matrix, put: Matrix) -> Matrix:
        """The matrix of a period with the law: p of each update acts from it on."""
        size, order = len(put), len(self.below) - 1
        # The law's state: backlogs and p of earlier updates.
        past = len(self.above) - 1
        matrix = np.zeros((size + past + order, size + past + order))
        p = np.zeros(size + past + order)
        p[0] = self.above[0]
        p[size : size + past] = self.above[1:]
        p[size + past :] = -np.array(self.below[1:])
        matrix[:size, :size] = plant
        matrix[:size] += np.outer(put, p)
        matrix[size, 0] = 1.0
        matrix[size + 1 : size + past, size : size + past - 1] = np.eye(past - 1)
        matrix[size + past] = p
        matrix[size + past + 1 :, size + past : -1] = np.eye(order - 1)
        return matrix

    def response(self, plant: Matrix, put: Matrix, frequencies: Matrix) -> npt.NDArray[np.complex128]:
        """L(e^(j w T))."""
        z = np.exp(1j * frequencies * self.period)
        resolvents = z[:, None, None] * np.eye(len(put)) - plant
        found = np.linalg.solve(resolvents, np.broadcast_to(put[:, None], (len(z), len(put), 1)))[:, 0, 0]
        law = np.polyval(self.above[::-1], 1 / z) / np.polyval(self.below[::-1], 1 / z)
        return np.asarray(-law * found)

    def certificate(self) -> sj.Certificate:
        base = self.rtt - self.target / self.capacity
        settings = {
            "bottleneck.rate": f"{self.capacity * 8e3:.0f} bit/s",
            "bottleneck.delay": f"{base / 2 * 1e9:.0f} ns",
            "bottleneck.buffer": f"{math.ceil(4 * self.target) + 10} packets",
            "bottleneck.disc": "tail_drop",
            "flows[0].count": self.flows,
            "flows[0].access": '{ rate = "100 Gbit/s" }',
            "at": "[]",
        }
        period = f"{round(self.period * 1000)} ms"
        own = {"period": period, "target_packets": self.target}
        law = type("Own", (Drawn,), own | {"above": tuple(self.above), "below": tuple(self.below)})
        return sj.prove(sj.load("dumbbell", settings), law())


@pytest.mark.parametrize("seed", range(LOOPS))
def test_a_random_loop_is_what_its_lifted_matrix_is(seed: int) -> None:
    loop = Loop(seed)
    found = loop.certificate()
    assert found.equilibrium is not None
    assert found.equilibrium["p"] == pytest.approx(2 / loop.window**2, rel=1e-6)
    plant, put = loop.plant()
    roots = np.log(np.linalg.eigvals(loop.closed(plant, put)).astype(complex)) / loop.period
    slowest = roots[np.argmax(roots.real)]
    assert found.verdict == ("stable" if slowest.real < 0 else "unstable")
    assert abs(found.roots[0] - complex(slowest.real, abs(slowest.imag))) < 5e-3 * abs(slowest)
    if found.verdict != "stable":
        assert found.margins["gain_margin"] is None
        return
    judged = found.loops[-1]
    gains, phases = judged["gain_crossovers"], judged["phase_crossovers"][:3]
    places = [one["frequency_rad_s"] for one in (*gains, *phases)]
    crossover = found.margins["crossover_rad_s"]
    assert crossover is not None
    band = math.pi / loop.period
    grid = np.geomspace(crossover / 30, band * (1 - 1e-9), 40)
    response = loop.response(plant, put, np.array([*places, *grid]))
    at_gains, at_phases, on_grid = np.split(response, [len(gains), len(places)])
    np.testing.assert_allclose(np.abs(at_gains), 1, rtol=5e-3)
    lags = np.degrees(np.angle(-at_gains)) % 360
    assert found.margins["phase_margin_deg"] == pytest.approx(lags.min(), abs=0.5)
    for one, value in zip(phases, at_phases, strict=True):
        if abs(value) > 1e-2 and one["frequency_rad_s"] < 0.9 * band:
            assert abs(1 + one["gain_margin"] * value) < 0.02
    # Nothing on the way is nearer to -1, and |L| is 1 nowhere else.
    assert np.abs(1 + on_grid).min() > judged["modulus_margin"] * 0.98
    above = np.log(np.abs(on_grid))
    left = len(gains) - np.searchsorted([one["frequency_rad_s"] for one in gains], grid)
    clear = np.abs(above) > 0.02
    assert ((above > 0) == (left % 2 == 1))[clear].all()
