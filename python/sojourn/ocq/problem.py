"""Problem of the optimal control of a queue, its checks, and its mesh.

A. Radwan, H.-L. To, W.-J. Hwang, "Optimal Control for Bufferbloat Queue Management Using Indirect Method with
Parametric Optimization", Scientific Programming, 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from sojourn import _core
from sojourn.errors import InputError
from sojourn.kinds import number, one_of_kind, plain, shown, whole

Floats: TypeAlias = NDArray[np.float64]
#: Function of time: a number, a schedule of (time, value), an array of pieces of equal length, or a callable.
Signal: TypeAlias = (
    "float | Sequence[float] | Sequence[tuple[float, float]] | Floats | Callable[[float], float]"
)
Schedule: TypeAlias = tuple[tuple[float, float], ...]

#: Largest number whose squared products stay finite.
_LARGEST = 1e12
MOST_CELLS = 100_000


class Mesh(NamedTuple):
    """Cells of time, on each of which w and R are constant."""

    #: N + 1 nodes from 0 to t_f, s.
    t: Floats
    #: Offered load of each cell, packets/s.
    w: Floats
    #: Cost of a rejected packet in each cell, s.
    R: Floats
    #: Bounds of the input in each cell, packets/s.
    low: Floats
    high: Floats

    @property
    def h(self) -> Floats:
        """Length of each cell, s.

        >>> Problem(w=60, mu=50, a=1, R=0.2, N=2).mesh.h
        array([0.5, 0.5])
        """
        return np.diff(self.t)


@dataclass(frozen=True)
class Problem:
    """Least cost of a queue over a horizon.

    Of an offered load w(t), packets/s, the input u is admitted, such that

        J = integral of [x + R (w - u)] from 0 to t_f  is least,
        x' = u - mu x / (a + x),   0 <= u <= w,   x(0) = x0

    `mu` is the outflow of a long queue, packets/s; `a` the backlog at which half of it flows out, packets;
    `R` the cost of a rejected packet, s; `x0` in packets, `t_f` in s. J is in packets s.

    `u_min` and `u_max` bound the input more closely than 0 and w(t); what `u_max` keeps out is rejected.

    `w`, `R`, `u_min` and `u_max` are numbers, schedules of (time, value) from time 0 on, arrays (the values
    of pieces of equal length, as over a mesh), or functions of t. All but functions are kept as schedules; a
    function is taken at the middle of each cell. The mesh has `N` cells, of equal length where all changes
    fall on nodes of that mesh; else each piece has its share of the cells. R of at most a / mu is valid:
    there is no singular arc.

    Raises `InputError` with one line that names the argument.

    >>> problem = Problem(w=[(0, 60), (1, 0)], mu=50, a=1, R=0.2, t_f=2, N=4)
    >>> problem.mesh.t, problem.mesh.w
    (array([0. , 0.5, 1. , 1.5, 2. ]), array([60., 60.,  0.,  0.]))
    >>> Problem(w=-60, mu=50, a=1, R=0.2)
    Traceback (most recent call last):
    sojourn.errors.InputError: w: -60 is out of range; expected 0 to 1e+12
    """

    w: Signal
    mu: float
    a: float
    R: Signal
    x0: float = 0.0
    t_f: float = 1.0
    N: int = 1000
    u_min: Signal = 0.0
    u_max: Signal | None = None

    def __post_init__(self) -> None:
        for name, above in (("mu", True), ("a", True), ("t_f", True), ("x0", False)):
            self._set(name, _value(name, getattr(self, name), above))
        self._set("N", _cells(self.N))
        self._set("w", _signal("w", self.w, False, self.t_f))
        self._set("R", _signal("R", self.R, True, self.t_f))
        self._set("u_min", _signal("u_min", self.u_min, False, self.t_f))
        if self.u_max is not None:
            self._set("u_max", _signal("u_max", self.u_max, False, self.t_f))
        # A function that fails does so here.
        _ = self.mesh

    @cached_property
    def mesh(self) -> Mesh:
        """The cells, and w, R and the bounds on them."""
        signals = (self.w, self.R, self.u_min, self.u_max)
        # Signals are schedules from `_signal` on, where they are no functions.
        steps = [signal for signal in signals if signal is not None and not callable(signal)]
        starts = {start for pieces in cast("list[Schedule]", steps) for start, _ in pieces}
        t = _nodes(np.array([*sorted(starts), self.t_f] if starts else [0.0, self.t_f]), self.N)
        middles = (t[1:] + t[:-1]) / 2
        w, low = _at("w", self.w, False, middles), _at("u_min", self.u_min, False, middles)
        high = w if self.u_max is None else np.minimum(w, _at("u_max", self.u_max, False, middles))
        if (outside := low > high).any():
            cell = int(np.argmax(outside))
            place, expected = f"u_min({middles[cell]:g})", f"expected 0 to {high[cell]:g}, the upper bound"
            raise InputError(f"{place}: {low[cell]:g} is out of range; {expected}")
        return Mesh(t, w, _at("R", self.R, True, middles), low, high)

    @property
    def x_s(self) -> float | None:
        """Backlog of the singular arc, packets: sqrt(a mu R) - a.

        None where R is at most a / mu, so that there is none, or where R varies.

        >>> Problem(w=60, mu=50, a=1, R=2 / 9).x_s
        2.3333333333333335
        >>> Problem(w=60, mu=50, a=1, R=0.015).x_s is None
        True
        """
        price = self.mesh.R[0]
        x_s = _core.ocq_x_s(self.mu, self.a, price)
        return x_s if x_s > 0 and (price == self.mesh.R).all() else None

    @property
    def u_s(self) -> float | None:
        """Input of the singular arc, packets/s: its outflow mu x_s / (a + x_s).

        >>> round(Problem(w=60, mu=50, a=1, R=2 / 9).u_s, 9)
        35.0
        """
        x_s = self.x_s
        return None if x_s is None else self.mu * x_s / (self.a + x_s)

    @property
    def notes(self) -> list[str]:
        """Sentences about what is valid but may surprise.

        >>> Problem(w=60, mu=50, a=1, R=0.015).notes
        ['R = 0.015 s is at most a / mu = 0.02 s: there is no singular arc, an empty queue is best']
        """
        signals = {"w": self.w, "R": self.R, "u_min": self.u_min, "u_max": self.u_max}
        functions = ", ".join(name for name, signal in signals.items() if callable(signal))
        sampled = f"{functions}: taken at the middle of each cell, and constant in it (N = {self.N})"
        return [*self._without_arc(), *([sampled] if functions else [])]

    def _without_arc(self) -> list[str]:
        prices, most = self.mesh.R, self.a / self.mu
        least = float(np.min(prices))
        # R above a / mu by rounding alone is none, either.
        if _core.ocq_x_s(self.mu, self.a, least) > 0:
            return []
        if np.all(prices == least):
            found = f"R = {least:g} s is at most a / mu = {most:g} s"
            return [f"{found}: there is no singular arc, an empty queue is best"]
        return [f"R falls to {least:g} s, at most a / mu = {most:g} s: there is no singular arc then"]

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


def _signal(name: str, given: object, above: bool, t_f: float) -> Schedule | Callable[[float], float]:
    """A signal as a schedule of its changes, or a function as it is."""
    if callable(given):
        return given
    given = plain(given)
    if isinstance(given, Mapping):
        given = list(given.items())
    if isinstance(given, str | bytes | Set) or not isinstance(given, Iterable):
        try:
            number(given)
        except TypeError:
            expected = "expected a number, a list of (time, value), an array of values, or a function of t"
            raise InputError(f"{name}: {shown(given)} is no function of time; {expected}") from None
        return ((0.0, _value(name, given, above)),)
    items = [plain(item) for item in given]
    if not items:
        raise InputError(f"{name}: there are no values; expected one or more")
    if all(isinstance(item, Iterable) and not isinstance(item, str) for item in items):
        return _merged(_schedule(name, items, above, t_f))
    values = [_value(f"{name}[{index}]", item, above) for index, item in enumerate(items)]
    return _merged([(t_f * index / len(values), value) for index, value in enumerate(values)])


def _schedule(name: str, items: list[object], above: bool, t_f: float) -> list[tuple[float, float]]:
    pieces: list[tuple[float, float]] = []
    for index, item in enumerate(items):
        place, pair = f"{name}[{index}]", list(cast("Iterable[object]", item))
        if len(pair) != 2:
            raise InputError(f"{place}: {shown(item)} is no piece; expected (time, value), such as (0, 60)")
        time, value = _value(place, pair[0], False), _value(place, pair[1], above)
        if not pieces and time != 0:
            raise InputError(f"{place}: begins at {time:g} s; expected the first piece at 0 s")
        if pieces and not pieces[-1][0] < time < t_f:
            expected = f"expected later than {pieces[-1][0]:g} s, and before t_f = {t_f:g} s"
            raise InputError(f"{place}: begins at {time:g} s; {expected}")
        pieces.append((time, value))
    return pieces


def _merged(pieces: list[tuple[float, float]]) -> Schedule:
    """The changes alone."""
    before = [None, *(value for _, value in pieces)]
    return tuple(piece for piece, last in zip(pieces, before, strict=False) if piece[1] != last)


def _nodes(edges: Floats, cells: int) -> Floats:
    """Nodes of a mesh that has all `edges`, with cells of nearly one length."""
    pieces = len(edges) - 1
    if pieces > cells:
        raise InputError(f"N: {cells} cells for {pieces} pieces of w and R; expected one a piece, or more")
    ideal = cells * np.diff(edges) / edges[-1]
    counts = np.maximum(np.round(ideal).astype(int), 1)
    while (excess := int(counts.sum()) - cells) > 0:
        counts[np.argmax(np.where(counts > 1, counts - ideal, -np.inf))] -= 1
    counts[np.argsort(counts - ideal, kind="stable")[: max(-excess, 0)]] += 1
    parts = [
        np.linspace(low, high, count, endpoint=False)
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    return np.concatenate([*parts, edges[-1:]])


def _at(name: str, signal: object, above: bool, times: Floats) -> Floats:
    if not callable(signal):
        starts, values = np.array(signal).T
        return cast("Floats", values[np.searchsorted(starts, times, side="right") - 1])
    return np.array([_called(name, signal, above, float(time)) for time in times])


def _called(name: str, signal: Callable[[float], object], above: bool, time: float) -> float:
    try:
        value = signal(time)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{name}({time:g}): raises {reason}; expected a number") from error
    return _value(f"{name}({time:g})", value, above)


def _value(name: str, given: object, above: bool) -> float:
    """A number in range: more than 0 if `above`, else 0 or more. Raises `InputError`."""
    value = cast("float", one_of_kind(name, number, given))
    if not (value > 0 if above else value >= 0) or value > _LARGEST:
        expected = f"more than 0, at most {_LARGEST:g}" if above else f"0 to {_LARGEST:g}"
        raise InputError(f"{name}: {value:g} is out of range; expected {expected}")
    # -0 is 0.
    return value + 0.0


def check_step(problem: Problem, why: str) -> None:
    """Refuse a mesh on which a step of the method of Runge and Kutta does not damp as the queue does.

    >>> check_step(Problem(w=60, mu=50, a=1, R=0.2, N=25), "method fast")
    """
    least = int(_core.ocq_least_cells([problem.mu, problem.a], problem.N, float(problem.mesh.h.max())))
    if least <= problem.N:
        return
    why = f"{why}, where h mu / a is at most 2"
    expected = f"expected {least} or more in {why}"
    if least > MOST_CELLS:
        needed = str(least) if least < 10**15 else f"{least:.1e}"
        expected = f"{why}, needs {needed}, above {MOST_CELLS}; expected switching, or a shorter t_f"
    raise InputError(f"N: {problem.N} cells are too few; {expected}")


def _cells(given: object) -> int:
    cells = cast("int", one_of_kind("N", whole, given))
    if not 1 <= cells <= MOST_CELLS:
        raise InputError(f"N: {cells} is out of range; expected 1 to {MOST_CELLS} cells")
    return cells
