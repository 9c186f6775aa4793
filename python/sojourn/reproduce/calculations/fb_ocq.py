"""Calculations of the FB-OCQ paper: its problem (OCQ), solved on 1000 cells as there.

A. Radwan, H.-L. To, W.-J. Hwang, "Optimal Control for Bufferbloat Queue Management Using Indirect Method with
Parametric Optimization". The parameters are those of instance P (`sojourn.ocq.INSTANCES`), which its authors'
archive of trajectories fixes. Equation numbers are the paper's; docs/theory/ocq.md has the mathematics.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import numpy as np

from sojourn import ocq
from sojourn.ocq.genetic import simulate
from sojourn.ocq.problem import Floats

__all__ = ["CALCULATIONS", "CURVES"]

_PROBLEM = ocq.INSTANCES["P"]
#: The paper's J of Algorithm 1, of collocation and of the genetic algorithm, packets s.
_PRINTED = {"fb_ocq": 6.81280316, "direct": 6.8678362, "genetic": 7.06744}
#: Generations here, of the paper's 2500, and its population.
_GENERATIONS, _POPULATION = 20, 200
#: Measured once: J and the distance of the input from the optimal one, packets/s, of `sojourn.ocq.solve` with
#: "ga", 200 individuals over 2500 generations by pymoo 0.6.2, and its seconds, a minute at least; those of
#: "sweep", and of "collocation" by CasADi 3.8.2 and IPOPT.
LIBRARY = {"cost": 6.800243, "distance": 8.77, "fb_ocq_s": 0.011, "direct_s": 3.1, "genetic_s": 60.0}

_BY_PYMOO = "2026-11-28 with pymoo 0.6.2; `LONG=1 pytest tests/reproduce/test_fb_ocq.py` repeats it"
_SECONDS = (
    "2026-11-28 on one machine, with pymoo 0.6.2, CasADi 3.8.2 and IPOPT; "
    "`LONG=1 pytest tests/reproduce/test_fb_ocq.py` repeats their order"
)
#: Numbers of calculations that are constants of `LIBRARY`.
MEASURED_ONCE = {
    ("table.library", "genetic"): _BY_PYMOO,
    ("trajectories.library", "genetic"): _BY_PYMOO,
    **dict.fromkeys((("work.seconds", name) for name in _PRINTED), _SECONDS),
}


@functools.cache
def _exact() -> ocq.Solution:
    return ocq.solve(_PROBLEM)


@functools.cache
def _sweep(iterations: int) -> ocq.Solution:
    return ocq.solve(_PROBLEM, "sweep", iterations=iterations, tolerance=1e-12)


@functools.cache
def _direct() -> ocq.Solution:
    return ocq.solve(_PROBLEM, "fast")


@functools.cache
def _genetic() -> tuple[Floats, Floats]:
    """Best inputs of a genetic algorithm, and its best J after each generation.

    The inputs of the cells are the genes: tournaments of two, uniform crossover, one gene in a hundred drawn
    again, and the better half of parents and offspring survives.
    """
    random = np.random.default_rng(1)
    w = _PROBLEM.mesh.w
    people = random.uniform(size=(_POPULATION, _PROBLEM.N)) * w
    costs = simulate(_PROBLEM, people)[1]
    history = []
    for _ in range(_GENERATIONS):
        pairs = random.integers(_POPULATION, size=(2, 2, _POPULATION))
        mother, father = np.where(costs[pairs[0]] < costs[pairs[1]], pairs[0], pairs[1])
        of_mother = random.uniform(size=people.shape) < 0.5
        children = np.where(of_mother, people[mother], people[father])
        is_new = random.uniform(size=people.shape) < 0.01
        children = np.where(is_new, random.uniform(size=people.shape) * w, children)
        everyone = np.concatenate([people, children])
        costs = np.concatenate([costs, simulate(_PROBLEM, children)[1]])
        best = np.argsort(costs, kind="stable")[:_POPULATION]
        people, costs = everyone[best], costs[best]
        history.append(costs[0])
    return people[0], np.array(history)


def table_ended() -> Mapping[str, float]:
    """J of Table 1, packets s: of Algorithm 1, a direct method, a genetic algorithm, and the optimum.

    Algorithm 1 has 50 iterations. The direct method is an interior point on the cells; the genetic algorithm
    has 20 of the paper's 2500 generations. `..._passes_at` is the iteration or generation at which a method
    passes its printed J.
    """
    sweep, direct, (_, history) = _sweep(50), _direct(), _genetic()
    return {
        "optimum": _exact().J,
        "fb_ocq": sweep.run().J,
        "direct": direct.run().J,
        "genetic": float(history[-1]),
        "fb_ocq_passes_at": _first(sweep.history, _PRINTED["fb_ocq"]),
        "direct_passes_at": _first(direct.history, _PRINTED["direct"]),
        "genetic_passes_at": 1 + _first(history, _PRINTED["genetic"]),
    }


def table_library() -> Mapping[str, float]:
    """The same with the printed budget of a library's genetic algorithm."""
    return {**table_ended(), "genetic": LIBRARY["cost"]}


def table_passing() -> Mapping[str, float]:
    """J at the iteration or generation that first is at or below the printed J."""
    histories = {"fb_ocq": _sweep(50).history, "direct": _direct().history, "genetic": _genetic()[1]}
    return {name: float(of[int(_first(of, _PRINTED[name]))]) for name, of in histories.items()}


def _first(history: Floats, printed: float) -> float:
    below = np.flatnonzero(history <= printed)
    if not below.size:
        raise LookupError("it is not reached")
    return float(below[0])


def work_near() -> Mapping[str, float]:
    """Passes over the mesh in the place of the CPU times of Table 1, until J is within 1e-4 of the optimum.

    Algorithm 1: three sweeps an iteration; the interior point: three passes a step of Newton's method, one of
    them back; the genetic algorithm: its printed budget, one an evaluation.
    """
    near = _exact().J * (1 + 1e-4)
    return {
        "fb_ocq": 3 * _first(_sweep(50).history, near),
        "direct": 3 * _direct().iterations,
        "genetic": 200.0 * 2500.0,
    }


def work_passing() -> Mapping[str, float]:
    """Passes over the mesh until each method has its printed J."""
    ended = table_ended()
    return {
        "fb_ocq": 3 * ended["fb_ocq_passes_at"],
        "direct": 3 * ended["direct_passes_at"],
        "genetic": _POPULATION * ended["genetic_passes_at"],
    }


def work_seconds() -> Mapping[str, float]:
    """CPU seconds, measured once: of Algorithm 1, collocation and a genetic algorithm by libraries."""
    return {name: LIBRARY[f"{name}_s"] for name in _PRINTED}


def control() -> Mapping[str, float]:
    """The input of Fig. 3, packets/s: at first, and on the singular arc, where R g'(x) = 1."""
    pieces = _exact().pieces
    assert _PROBLEM.u_s is not None
    return {"first": pieces[0].u, "singular": float(_PROBLEM.u_s)}


def gradient() -> Mapping[str, float]:
    """Norm of H_u = lambda - R of line 24 in L2, after 8000 iterations of Algorithm 1.

    The times that beta rises and falls in 50 iterations; the norm at the optimum.
    """
    return {"norm": _norms(_sweep(8000))[0], "optimum": _norms(_exact())[0], **_turns()}


def gradient_14() -> Mapping[str, float]:
    """The same of what the multipliers of (14) leave of it, clip(u - H_u, 0, w) - u."""
    return {"norm": _norms(_sweep(8000))[1], "optimum": _norms(_exact())[1], **_turns()}


def gradient_14_after_50() -> Mapping[str, float]:
    """The same after 50 iterations."""
    return {"norm": _norms(_sweep(50))[1], **_turns()}


def gradient_26_after_50() -> Mapping[str, float]:
    """The square of that of line 24 after 50 iterations, the gamma of lines 25 and 26."""
    return {"norm": _norms(_sweep(50))[0] ** 2, **_turns()}


def _turns() -> Mapping[str, float]:
    steps = np.diff(_sweep(50).betas)
    return {"beta_rises": float((steps > 0).sum()), "beta_falls": float((steps < 0).sum())}


def _norms(of: ocq.Solution) -> tuple[float, float]:
    """Norm of H_u in L2, and of what the multipliers leave of it."""
    run, switching = of.run(), of.switching
    h = np.diff(run.t)
    middle = (switching[:-1] + run.costate[1:] - float(_PROBLEM.mesh.R[0])) / 2
    cells = np.searchsorted(_PROBLEM.mesh.t, (run.t[1:] + run.t[:-1]) / 2) - 1
    reduced = np.clip(run.u - middle, 0, _PROBLEM.mesh.w[cells]) - run.u
    return float(np.sqrt(np.sum(h * middle**2))), float(np.sqrt(np.sum(h * reduced**2)))


def trajectories() -> Mapping[str, float]:
    """Root of the mean squared distance of each method's input from the optimal one, packets/s."""
    exact = _exact().u
    inputs = {"fb_ocq": _sweep(50).u, "direct": _direct().u, "genetic": _genetic()[0]}
    return {name: float(np.sqrt(np.mean((u - exact) ** 2))) for name, u in inputs.items()}


def trajectories_library() -> Mapping[str, float]:
    """The same with the printed budget of a library's genetic algorithm."""
    return {**trajectories(), "genetic": LIBRARY["distance"]}


def hamiltonian() -> Mapping[str, float]:
    """Second difference of the Hamiltonian (11) in u, and the first step of the best input, packets/s."""
    x, costate, w, mu, a, weight = 5.0, 0.3, 60.0, 50.0, 1.0, float(_PROBLEM.mesh.R[0])

    def of(u: float) -> float:
        return x + weight * (w - u) + costate * (u - mu * x / (a + x))

    first, singular = (piece.u for piece in _exact().pieces[:2])
    return {"curvature": of(31.0) - 2 * of(30.0) + of(29.0), "jump": float(first - singular)}


def curves() -> Mapping[str, float]:
    """The least of a square root less RED's line, as p / max_p, between the thresholds: of sqrt(z) - z."""
    z = np.linspace(0.01, 0.99, 99)
    return {"least_difference": float((np.sqrt(z) - z).min())}


#: Values that a law keeps of a queue from one packet or update to the next, apart from its settings, by their
#: names in crates/aqm/src/laws.
STATES = {
    "fb_ocq": {
        "offered": 1,
        "held": 1,
        "busy": 1,
        "service.packets": 1,
        "service.stopped": 1,
        "service.rate": 1,
        "service.left": 2,
        "p": 1,
    },
    "red": {"average": 1, "p": 1, "count": 1, "in_band": 1, "idle_since": 1},
    "pi": {"p": 1, "error": 1},
    "rem": {"price": 1, "error": 1},
}
#: Further ones of form = receding: of a cell of the horizon, and of a period of the round trip ahead.
CELL = {
    "input": 1,
    "most": 1,
    "backlog": 1,
    "tried": 2,
    "kept": 1,
    "costate": 1,
    "gradient": 1,
    "feedback": 3,
}
SLOT = {"acknowledged": 1, "signals": 1, "input": 1}
#: Bytes of a value.
VALUE = 8
#: The sensor network's link: packets of its buffer and of the target, bytes, bit/s, base RTT and period, s.
SENSOR = {"buffer": 20, "target": 8, "packet": 100, "rate": 250e3, "base_rtt": 0.13, "period": 0.01}


def memory() -> Mapping[str, float]:
    """Bytes that a law keeps of a queue, and those of the packets of a full one on the sensor network's link.

    `receding` has a cell for each period of a round trip with the target's delay, and, ahead, those of a
    round trip with four times that delay and two more.
    """
    values = {name: sum(state.values()) for name, state in STATES.items()}
    delay = SENSOR["target"] * SENSOR["packet"] * 8 / SENSOR["rate"]
    cells = round((SENSOR["base_rtt"] + delay) / SENSOR["period"])
    ahead = math.ceil((SENSOR["base_rtt"] + 4 * delay) / SENSOR["period"]) + 2
    # And its last input.
    values["receding"] = values["fb_ocq"] + 1 + cells * sum(CELL.values()) + ahead * sum(SLOT.values())
    found = {name: float(VALUE * number) for name, number in values.items()}
    return found | {
        "queue": float(SENSOR["buffer"] * SENSOR["packet"]),
        "cells": float(cells),
        "ahead": ahead,
    }


CALCULATIONS = {
    "memory": memory,
    "table.ended": table_ended,
    "table.library": table_library,
    "table.passing": table_passing,
    "work.near": work_near,
    "work.passing": work_passing,
    "work.seconds": work_seconds,
    "control": control,
    "gradient.line_24": gradient,
    "gradient.equation_14": gradient_14,
    "gradient.equation_14_after_50": gradient_14_after_50,
    "gradient.line_26_after_50": gradient_26_after_50,
    "trajectories.ended": trajectories,
    "trajectories.library": trajectories_library,
    "hamiltonian": hamiltonian,
    "curves": curves,
}


def inputs() -> Mapping[str, tuple[Floats, Floats]]:
    """The inputs of Figs. 3 to 5 over time, packets/s, as steps."""
    t = np.asarray(_PROBLEM.mesh.t, dtype=np.float64)
    return {name: (np.repeat(t, 2)[1:-1], np.repeat(u, 2)) for name, u in _inputs().items()}


def _inputs() -> Mapping[str, Floats]:
    return {
        "optimum": _exact().u,
        "FB-OCQ": _sweep(50).u,
        "collocation": _direct().u,
        "genetic": _genetic()[0],
    }


def queues() -> Mapping[str, tuple[Floats, Floats]]:
    """The queues of Figs. 3 to 5 over time, packets, under these inputs."""
    t = np.asarray(_PROBLEM.mesh.t, dtype=np.float64)
    found = _inputs()
    backlogs = simulate(_PROBLEM, np.array(list(found.values())))[0]
    return {name: (t, backlogs[:, place]) for place, name in enumerate(found)}


def betas() -> Mapping[str, tuple[Floats, Floats]]:
    """Steps of Algorithm 1 by iteration, s^2/packet."""
    of = _sweep(50).betas
    return {"FB-OCQ": (np.arange(of.size, dtype=np.float64), of)}


def norms() -> Mapping[str, tuple[Floats, Floats]]:
    """Norm of H_u after iterations of Algorithm 1, and of what the multipliers of (14) leave of it."""
    after = (1, 2, 3, 5, 10, 20, 50, 100, 300, 1000, 8000)
    both = np.array([_norms(_sweep(iterations)) for iterations in after])
    places = np.array(after, dtype=np.float64)
    return {"norm of H_u": (places, both[:, 0]), "with its multipliers": (places, both[:, 1])}


CURVES = {"inputs": inputs, "queues": queues, "betas": betas, "norms": norms}
