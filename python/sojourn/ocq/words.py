"""Sentences and columns about solutions of the control problem, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Callable

from sojourn.ocq.comparison import PAPER, Printed, Row, Table
from sojourn.ocq.problem import Problem

#: Columns of a table: title, unit, cell of a row, cell of the paper's number, meaning.
COLUMNS: tuple[tuple[str, str, Callable[[Row], str], Callable[[Printed, float], str], str], ...] = (
    (
        "J",
        "packets s",
        lambda row: f"{row.cost:.9f}",
        lambda printed, _: f"{printed.J:.8g}",
        "Exact cost of the control: the queue is followed arc by arc, whatever mesh the method had.",
    ),
    (
        "above J*",
        "packets s",
        lambda row: "" if row.excess is None else _small(row.excess, row.cost),
        lambda printed, optimum: f"{printed.J - optimum:.1e}",
        "Excess of J over the least cost, by the exact switching times; 0 stands for less than rounding.",
    ),
    (
        "gap",
        "packets s",
        lambda row: _small(row.solution.gap, row.cost),
        lambda *_: "",
        "Certificate of the control's exact cost: no control has a cost that is lower by more, whatever the "
        "mesh and the method.",
    ),
    (
        "converged",
        "",
        lambda row: "yes" if row.solution.converged else "no",
        lambda *_: "",
        "The method's own test of convergence, for Algorithm 1 and the interior point by the gap on the "
        "mesh; a genetic algorithm has none.",
    ),
    (
        "iterations",
        "",
        lambda row: str(row.solution.iterations) if row.solution.iterations else "",
        lambda *_: "",
        "Iterations, of a genetic algorithm generations.",
    ),
    (
        "time",
        "ms",
        lambda row: _millis(row.solution.wall_s),
        lambda printed, _: _millis(printed.cpu_s),
        "Wall time on this machine, without imports; the paper's is CPU time on its own machine.",
    ),
)
#: Cost below which a difference is rounding, relative to J.
_ROUNDING = 1e-13


def _millis(seconds: float) -> str:
    millis = 1e3 * seconds
    return f"{millis:.0f}" if millis >= 100 else f"{millis:.3g}"


def cells(row: Row) -> list[str]:
    """Cells of a row."""
    return [cell(row) or "-" for _, _, cell, _, _ in COLUMNS]


def printed(table: Table, instance: str) -> list[tuple[str, list[str]]]:
    """Rows of the paper's numbers, which are of instance P."""
    optimum = table.of(instance)[0].optimum
    if instance != "P" or optimum is None:
        return []
    return [(one.name, [paper(one, optimum) or "-" for _, _, _, paper, _ in COLUMNS]) for one in PAPER]


def about(instance: str, problem: Problem) -> str:
    """The problem in a sentence."""
    price = _over_time(problem.R, "s")
    load = _over_time(problem.w, "packets/s")
    given = (("least", problem.u_min, 0.0), ("most", problem.u_max, None))
    limits = [
        f"{_over_time(bound, 'packets/s')} at {which}"
        for which, bound, usual in given
        if bound is not None and bound != ((0.0, usual),)
    ]
    bounds = f" of which {' and '.join(limits)}," if limits else ""
    name = f"{instance}: " if instance else ""
    return (
        f"{name}w = {load},{bounds} mu = {problem.mu:g} packets/s, a = {problem.a:g} packets, "
        f"R = {price}, x0 = {problem.x0:g} packets, t_f = {problem.t_f:g} s."
    )


def _over_time(signal: object, unit: str) -> str:
    """A signal in words: ``60 packets/s, 0 from 1 s``."""
    if callable(signal):
        return "a function of time"
    pieces: tuple[tuple[float, float], ...] = signal  # type: ignore[assignment]
    if len(pieces) > _MOST_PIECES:
        return f"{len(pieces)} steps"
    first, *rest = pieces
    return ", ".join([f"{first[1]:.6g} {unit}", *(f"{value:.6g} from {start:g} s" for start, value in rest)])


#: Steps of a signal that a sentence lists.
_MOST_PIECES = 6


def verdict(row: Row) -> str:
    """One solution in a sentence."""
    found, excess = row.solution, row.excess
    if found.arcs:
        course = ", ".join(f"{_ARCS[arc.kind]} until {arc.until:.6g} s" for arc in found.arcs)
        which = "the least cost" if found.converged else "which is not certified to be the least cost"
        return f"J = {row.cost:.13g} packets s, {which} (gap {found.gap:.1e}): {course}."
    above = "" if excess is None else f", {_small(excess, row.cost)} above the least cost {row.optimum:.13g}"
    end = "" if found.converged else ", where its test of convergence did not hold"
    if found.method == "genetic":
        end = "; it has no test of convergence"
    return (
        f"J = {row.cost:.9g} packets s{above}. No control is better by more than the certified gap, "
        f"{found.gap:.1e}. By {row.name} with {found.iterations} iterations{end}."
    )


_ARCS = {"lower": "u = 0", "singular": "u = u_s at x_s", "upper": "u = w"}


def headline(table: Table) -> list[str]:
    """What the table shows, in sentences that its rows prove."""
    sentences = []
    rows = table.of("P")
    if rows and rows[0].optimum is not None:
        optimum = rows[0].optimum
        shares = [100 * (one.J / optimum - 1) for one in PAPER]
        sentences.append(
            f"On P, the paper's own instance, the least cost is {optimum:.12f} packets s. The paper's "
            f"Table 1 lies above it: FB-OCQ by {shares[0]:.2f} %, collocation by {shares[1]:.1f} %, the "
            f"genetic algorithm by {shares[2]:.1f} %."
        )
        ours = next((row for row in rows if row.solution.method == "genetic"), None)
        excess = None if ours is None else ours.excess
        if excess is not None and excess < PAPER[0].J - optimum:
            sentences.append(
                "Its ranking does not reproduce: the genetic algorithm, the last there, is here "
                f"{excess:.1e} above the least cost, and the paper's first, FB-OCQ, "
                f"{PAPER[0].J - optimum:.1e}."
            )
    if table.rows and all(row.excess is not None and _is_certified(row) for row in table.rows):
        sentences.append("Each control's excess over the least cost is within its certified gap.")
    return sentences


def _is_certified(row: Row) -> bool:
    return row.excess is not None and row.excess <= row.solution.gap + _ROUNDING * row.cost


def _small(value: float, scale: float) -> str:
    return "0" if abs(value) <= _ROUNDING * scale else f"{value:.1e}"
