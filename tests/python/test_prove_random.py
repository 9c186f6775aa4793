"""Random sampled loops, against a computation independent of the certificates' own.

The linearised model of one class or two, each marked or dropped, is stepped by the trapezoidal rule, a whole
number of steps in a period of the law and in each round trip, with the contents of all delays as its state.
The matrix of a period has the poles as its eigenvalues, e^(sT); its frequency response from p to the backlog
is the discrete plant, by which L is known at the crossovers and on a grid. It uses no aliases, no transfer
function of a delay and no argument principle.
"""

import math

import numpy as np
import numpy.typing as npt
import pytest

import sojourn as sj

LOOPS = 91
#: Least number of steps in a round trip: the rule's error falls with their square.
STEPS = 36
#: Periods whose rate is a whole number of Hz, ms.
WHOLE = (2, 4, 5, 8, 10, 20, 25, 40, 50)

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

    def linear(self, point: sj.OperatingPoint) -> tuple[tuple[float, ...], tuple[float, ...]]:  # noqa: ARG002
        return self.above, self.below


#: True for marked classes; the third kind has traffic of both sorts.
KINDS = ((True,), (False,), (True, False), (True, True))


class Loop:
    """A network in which the round trips are rational numbers of periods, and a law.

    A law without a lag is the built-in PI if its rate can be written, a controller otherwise.
    """

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.marked = KINDS[seed % len(KINDS)]
        self.capacity = float(draw.integers(5, 60)) * 100.0
        # A period of `each` steps, round trips of `steps`.
        self.period_ms = int(draw.choice([*range(2, 60), *WHOLE, *WHOLE]))
        ratio = float(draw.uniform(1.2, 25.0))
        self.each = max(1, math.ceil(STEPS / ratio))
        ratios = [ratio, ratio * float(draw.uniform(1.1, 1.8))][: len(self.marked)]
        self.steps = [round(one * self.each) for one in ratios]
        self.period = self.period_ms / 1000.0
        self.rtts = [self.period * steps / self.each for steps in self.steps]
        self.target = float(draw.uniform(0.05, 0.5)) * self.rtts[0] * self.capacity
        shares = draw.dirichlet([2.0] * len(self.rtts)) if len(self.rtts) > 1 else [1.0]
        windows = draw.uniform(3, 30)
        self.flows = [
            max(1, round(share * rtt * self.capacity / windows))
            for share, rtt in zip(shares, self.rtts, strict=True)
        ]
        self.p = self.equilibrium_p()
        self.window = math.sqrt(2 / self.p)
        flows, rtt = sum(self.flows), sum(np.multiply(self.flows, self.rtts)) / sum(self.flows)
        a = 1.0 / (self.window * rtt)
        zero = a * 10 ** draw.uniform(-0.5, 0.7)
        slope = (rtt * self.capacity) ** 3 / (2 * flows) ** 2
        gain = 10 ** draw.uniform(-1.0, 2.2) * a / slope
        high, low = gain * (1 / zero + self.period / 2), gain * (1 / zero - self.period / 2)
        lag = float(draw.choice([0.0, draw.uniform(-0.4, 0.85)]))
        # PI behind a lag: (a - b z^-1) (1 - lag) / ((1 - z^-1) (1 - lag z^-1)).
        self.above = [high * (1 - lag), -low * (1 - lag)]
        self.below = [1.0, -1.0] if lag == 0.0 else [1.0, -1.0 - lag, lag]
        self.is_built_in = lag == 0.0 and self.period_ms in WHOLE

    def let_in(self, p: float) -> list[float]:
        """Share of each class's packets that is let in."""
        return [1.0 if marked else 1.0 - p for marked in self.marked]

    def equilibrium_p(self) -> float:
        """p at which the classes just fill the link: W = sqrt(2 / p) each, by bisection."""
        low, high = 1e-9, 1.0
        for _ in range(200):
            p = (low + high) / 2
            classes = zip(self.let_in(p), self.flows, self.rtts, strict=True)
            brought = sum(passes * n * math.sqrt(2 / p) / rtt for passes, n, rtt in classes)
            low, high = (p, high) if brought > self.capacity else (low, p)
        return high

    def plant(self) -> tuple[Matrix, Matrix]:
        """One period of the linearised model, equations (3) and (4) of its page: x <- A x + B p, q = x[0].

        x is q and the windows now and a step, two steps ... the longest round trip ago, then p of each of
        these steps.
        """
        c, w, kinds = self.capacity, self.window, len(self.rtts)
        m, h, wide = max(self.steps), self.period / self.each, 1 + len(self.rtts)
        # d x = now x + thens[i] x of R_i ago + felt[i] p of R_i ago + at_once p.
        now, at_once = np.zeros((wide, wide)), np.zeros(wide)
        thens, felt = np.zeros((kinds, wide, wide)), np.zeros((kinds, wide))
        classes = zip(self.marked, self.let_in(self.p), self.flows, self.rtts, strict=True)
        for i, (marked, passes, n, r) in enumerate(classes):
            now[0, 0] -= passes * n * w / (r * r * c)
            now[0, 1 + i] = passes * n / r
            at_once[0] -= 0.0 if marked else n * w / r
            # W' = 1 / R - W W_d p_d / (2 R_d), R = T + q / C.
            now[1 + i, 0] = -1 / (c * r * r)
            now[1 + i, 1 + i] = -w * self.p / (2 * r)
            thens[i, 1 + i, 0] = w * w * self.p / (2 * c * r * r)
            thens[i, 1 + i, 1 + i] = -w * self.p / (2 * r)
            felt[i, 1 + i] = -w * w / (2 * r)
        size = wide * (m + 1) + m
        step = np.zeros((size, size + 1))
        left = np.linalg.inv(np.eye(wide) - h / 2 * now)
        step[:wide, :wide] = left @ (np.eye(wide) + h / 2 * now)
        first = wide * (m + 1)
        for of, then, own in zip(self.steps, thens, felt, strict=True):
            step[:wide, wide * of : wide * (of + 1)] += left @ (h / 2 * then)
            step[:wide, wide * (of - 1) : wide * of] += left @ (h / 2 * then)
            # p is held over a step.
            step[:wide, first + of - 1] += left @ (h * own)
        step[:wide, size] = left @ (h * at_once)
        step[wide:first, : wide * m] = np.eye(wide * m)
        step[first, size] = 1.0
        step[first + 1 : size, first : size - 1] = np.eye(m - 1)
        own, put = step[:, :size], step[:, size]
        whole, given = np.eye(size), np.zeros(size)
        for _ in range(self.each):
            whole, given = own @ whole, own @ given + put
        return whole, given

    def closed(self, plant: Matrix, put: Matrix) -> Matrix:
        """Matrix of a period with the law: p of each update acts from it on."""
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
        bases = [rtt - self.target / self.capacity for rtt in self.rtts]
        # T = 2 (bottleneck.delay + 2 access.delay).
        ways = ", ".join(
            f'{{ name = "c{place}", count = {count}, cc = "newreno", ecn = {str(marked).lower()}, '
            f'segment = "1000 B", access = {{ rate = "100 Gbit/s", delay = "{base / 8 * 1e9:.0f} ns" }} }}'
            for place, (count, marked, base) in enumerate(
                zip(self.flows, self.marked, np.array(bases) * 2 - bases[0], strict=True)
            )
        )
        settings = {
            "bottleneck.rate": f"{self.capacity * 8e3:.0f} bit/s",
            "bottleneck.delay": f"{bases[0] / 4 * 1e9:.0f} ns",
            "bottleneck.buffer": f"{math.ceil(4 * self.target) + 10} packets",
            "bottleneck.qdisc": "tail_drop",
            "flows": f"[{ways}]",
            "at": "[]",
            "fluid_window": "mgt",
        }
        scenario = sj.load("dumbbell", settings)
        if self.is_built_in:
            a, b = self.above[0], -self.above[1]
            rate = f"{1000 // self.period_ms}Hz"
            return sj.prove(scenario, f"pi:target={self.target!r}packets,a={a:.17f},b={b:.17f},rate={rate}")
        own = {"period": f"{self.period_ms} ms", "target_packets": self.target}
        law = type("Own", (Drawn,), own | {"above": tuple(self.above), "below": tuple(self.below)})
        return sj.prove(scenario, law())


@pytest.mark.thinned(3)
@pytest.mark.parametrize("seed", range(LOOPS))
def test_a_random_loop_matches_its_lifted_matrix(seed: int) -> None:
    loop = Loop(seed)
    found = loop.certificate()
    assert found.equilibrium is not None
    assert found.equilibrium["p"] == pytest.approx(loop.p, rel=1e-6)
    signals = {(True,): "mark", (False,): "drop", (True, False): "both", (True, True): "mark"}
    assert found.equilibrium["signal"] == signals[loop.marked]
    plant, put = loop.plant()
    with np.errstate(divide="ignore", invalid="ignore"):
        # Zeros of the delays' states are infinitely far left.
        roots = np.log(np.linalg.eigvals(loop.closed(plant, put)).astype(complex)) / loop.period
    slowest = roots[np.argmax(roots.real)]
    assert found.verdict == ("stable" if slowest.real < 0 else "unstable")
    assert abs(found.poles[0] - complex(slowest.real, abs(slowest.imag))) < 5e-3 * abs(slowest)
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
    # Nothing on the grid is nearer to -1, and |L| is 1 nowhere else.
    assert np.abs(1 + on_grid).min() > judged["modulus_margin"] * 0.98
    above = np.log(np.abs(on_grid))
    left = len(gains) - np.searchsorted([one["frequency_rad_s"] for one in gains], grid)
    clear = np.abs(above) > 0.02
    assert ((above > 0) == (left % 2 == 1))[clear].all()


@pytest.mark.slow
def test_the_random_loops_are_of_every_kind() -> None:
    loops = [Loop(seed) for seed in range(LOOPS)]
    found = [loop.certificate() for loop in loops]
    for kind in KINDS:
        of_kind = [one for one, loop in zip(found, loops, strict=True) if loop.marked == kind]
        verdicts = [one.verdict for one in of_kind]
        assert min(verdicts.count("stable"), verdicts.count("unstable")) >= 4, (kind, verdicts)
    assert sum(loop.is_built_in for loop in loops) >= 10
    assert sum(len(loop.below) == 3 for loop in loops) >= 20
    several = [one for one in found if len(one.loops[-1]["gain_crossovers"]) > 1]
    assert len(several) >= 2, len(several)
