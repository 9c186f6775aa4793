"""The paper's Table 1, done again: every method on instances with a known optimum, beside its numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sojourn.errors import InputError, MissingError
from sojourn.kinds import count, function, optional, shown, takes
from sojourn.ocq.collocation import collocate
from sojourn.ocq.instances import INSTANCES
from sojourn.ocq.methods import METHODS, solve
from sojourn.ocq.problem import Problem
from sojourn.ocq.solution import Solution

if TYPE_CHECKING:
    from sojourn.ocq.plots import Plots


class Printed(NamedTuple):
    """A number of the paper's Table 1 and section 5.1, of instance P."""

    name: str
    J: float
    cpu_s: float


PAPER = (
    Printed("FB-OCQ (paper)", 6.81280316, 0.04),
    Printed("JModelica (paper)", 6.8678362, 0.52),
    Printed("GALib (paper)", 7.06744, 1.29),
)


@dataclass(frozen=True)
class Row:
    """One method on one instance."""

    #: Name of the instance; empty for a problem of the caller's own.
    instance: str
    #: Method, and in words what it is.
    name: str
    solution: Solution
    #: Least cost, packets s, by the exact switching times; None where they do not apply.
    optimum: float | None

    @property
    def cost(self) -> float:
        """Exact cost of the control, packets s.

        >>> round(table(["A"], ["switching"]).rows[0].cost, 9)
        6.661394457
        """
        return self.solution.run().J

    @property
    def excess(self) -> float | None:
        """Cost above the least one, packets s.

        >>> 0 < table(["A"], ["fast"]).rows[0].excess < 1e-5
        True
        """
        return None if self.optimum is None else self.cost - self.optimum

    def to_json(self, *, trajectory: bool = False) -> str:
        """The row as one JSON document.

        >>> json.loads(table(["A"], ["fast"]).rows[0].to_json())["converged"]
        True
        """
        return json.dumps({"schema": 1, **self.document(trajectory=trajectory)}, indent=1)

    def document(self, *, trajectory: bool = False) -> dict[str, Any]:
        """The row as data, with series over time and iterations on request.

        >>> table(["A"], ["switching"]).rows[0].document()["switch_times"]  # doctest: +ELLIPSIS
        [0.06908129984731..., 0.699857256327...]
        """
        found, problem = self.solution, self.solution.problem
        document = {
            "instance": self.instance or None,
            "method": found.method,
            "name": self.name,
            "J": self.cost,
            "J_on_mesh": found.J,
            "J_optimum": self.optimum,
            "excess": self.excess,
            "gap": found.gap,
            "converged": found.converged,
            "iterations": found.iterations,
            "evaluations": found.evaluations,
            "wall_s": found.wall_s,
            "status": found.status,
            "switch_times": list(found.switch_times),
            "arcs": [arc._asdict() for arc in found.arcs],
            "x_s": problem.x_s,
            "u_s": problem.u_s,
            "problem": _written(problem),
            "notes": problem.notes,
        }
        return document | _series(found) if trajectory else document


def _written(problem: Problem) -> dict[str, Any]:
    """A problem as data; functions of time by their values on the mesh."""
    names = ("w", "mu", "a", "R", "x0", "t_f", "N", "u_min", "u_max")
    fields = {name: getattr(problem, name) for name in names}
    on_mesh = {
        "w": problem.mesh.w,
        "R": problem.mesh.R,
        "u_min": problem.mesh.low,
        "u_max": problem.mesh.high,
    }
    return {name: on_mesh[name].tolist() if callable(value) else value for name, value in fields.items()}


def _series(found: Solution) -> dict[str, Any]:
    run = found.run()
    series = {"t": run.t, "x": run.x, "u": run.u, "costate": run.costate, "switching": found.switching}
    course = {"history": found.history, "gaps": found.gaps, "betas": found.betas}
    return {
        "trajectory": {name: values.tolist() for name, values in series.items()},
        "course": {name: values.tolist() for name, values in course.items()},
    }


@dataclass(frozen=True)
class Table:
    """Methods beside each other, instance by instance."""

    rows: tuple[Row, ...]
    #: A line for each method that this machine lacks.
    skipped: tuple[str, ...] = ()
    #: True if an interrupt ended the run, so that rows are missing.
    interrupted: bool = False

    @property
    def instances(self) -> list[str]:
        """Names of the instances, in order.

        >>> table(["A", "L"], ["switching"]).instances
        ['A', 'L']
        """
        return list(dict.fromkeys(row.instance for row in self.rows))

    def of(self, instance: str) -> list[Row]:
        """Rows of an instance.

        >>> [row.name for row in table(["A"], ["switching", "fast"]).of("A")]
        ['switching times', 'interior point']
        """
        return [row for row in self.rows if row.instance == instance]

    @property
    def plot(self) -> Plots:
        """Pictures of all rows together, where they are of one instance: as `Solution.plot`.

        >>> table(["A"], ["switching", "sweep"]).plot.beta().get_xlabel()
        'iteration'
        """
        from sojourn.ocq.plots import Plots

        if len(self.instances) != 1:
            raise InputError("plot: the table has several instances; expected one")
        return Plots([row.solution for row in self.rows], [row.name for row in self.rows])

    def report(self, path: str | PathLike[str]) -> Path:
        """Write one self-contained offline page; raises `InputError` for a name that is no page's.

        >>> table(["A"], ["switching"]).report("ocq.html")  # doctest: +SKIP
        """
        from sojourn.ocq.page import write

        return write(self, Path(path))

    def to_json(self, *, trajectory: bool = False) -> str:
        """The table as one JSON document, with the paper's numbers.

        >>> json.loads(table(["P"], ["switching"]).to_json())["paper"][0]["J"]
        6.81280316
        """
        rows = [row.document(trajectory=trajectory) for row in self.rows]
        paper = [printed._asdict() for printed in PAPER] if "P" in self.instances else []
        document = {
            "schema": 1,
            "rows": rows,
            "paper": paper,
            "skipped": list(self.skipped),
            "interrupted": self.interrupted,
        }
        return json.dumps(document, indent=1)


#: Options of a method in the table, by its name there.
_VARIANTS: Mapping[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "switching": (("switching times", {}),),
    "fast": (("interior point", {}),),
    "sweep": (
        ("Algorithm 1", {}),
        ("Algorithm 1, spectral", {"step": "spectral", "iterations": 400}),
    ),
    "collocation": (("Hermite-Simpson, IPOPT", {}), ("trapezoid, IPOPT", {"scheme": "trapezoid"})),
    "ga": (("genetic algorithm", {}),),
}


@takes(generations=optional(count), watch=optional(function))
def table(
    instances: Sequence[str] = ("P", "A", "L"),
    methods: Sequence[str] = METHODS,
    *,
    cells: int | None = None,
    generations: int | None = None,
    watch: Callable[[str], object] | None = None,
) -> Table:
    """Methods on instances, all in this process, one after the other.

    `instances` are names of `INSTANCES`, `methods` those of `solve`. The mesh has `cells` (by default those
    of the instance, 1000), the genetic algorithm `generations` (2500, the paper's: about a minute an
    instance). `watch` is called with the instance and method that begin. Methods of the extra
    ``sojourn[optimal]`` are skipped where it is not installed, with a line. Raises `InputError`, and
    `MissingError` where that leaves no row.

    >>> rows = table(["P"], ["switching", "sweep"]).rows
    >>> [(row.name, round(row.excess, 5)) for row in rows]
    [('switching times', 0.0), ('Algorithm 1', 0.00011), ('Algorithm 1, spectral', 0.0)]
    """
    return gathered(compared(instances, methods, cells=cells, generations=generations, watch=watch))


def gathered(found: Iterable[Row | str], into: list[Row | str] | None = None) -> Table:
    """Table of rows, and of lines on what is skipped; `into` keeps those found before an interrupt.

    >>> gathered(compared(["A"], ["switching"])).instances
    ['A']
    """
    into = [] if into is None else into
    into.extend(found)
    skipped = dict.fromkeys(line for line in into if isinstance(line, str))
    return Table(tuple(row for row in into if isinstance(row, Row)), tuple(skipped))


def compared(
    instances: Sequence[str],
    methods: Sequence[str],
    *,
    cells: int | None = None,
    generations: int | None = None,
    watch: Callable[[str], object] | None = None,
) -> Iterator[Row | str]:
    """The rows of `table`, one after the other, and a line for each method that is skipped.

    >>> [row.name for row in compared(["A"], ["switching", "fast"])]
    ['switching times', 'interior point']
    """
    _check_names("instances", instances, tuple(INSTANCES))
    _check_names("methods", methods, METHODS)
    if generations is not None and "ga" not in methods:
        raise InputError("generations: has no use without method ga; expected ga among the methods")
    missing: dict[str, MissingError] = {}
    for instance in instances:
        problem = INSTANCES[instance]
        problem = problem if cells is None else replace(problem, N=cells)
        optimum = solve(problem).J
        for method in methods:
            for name, options in _VARIANTS[method]:
                if watch is not None:
                    watch(f"{instance}: {name}")
                try:
                    solution = _solved(problem, method, options, generations)
                except MissingError as error:
                    missing[method] = error
                    yield f"{method}: {error.lines[0].partition(': ')[2]}"
                    break
                yield Row(instance, name, solution, optimum)
    if len(missing) == len(methods) > 0:
        raise MissingError(*dict.fromkeys(line for error in missing.values() for line in error.lines))


def _check_names(argument: str, given: Sequence[str], known: Sequence[str]) -> None:
    expected = f"expected a list of {', '.join(known)}"
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"{argument}: {shown(given)} is no list; {expected}")
    for place, name in enumerate(given):
        if name not in known:
            raise InputError(f"{argument}: {shown(name)} is unknown; {expected}")
        if name in given[:place]:
            raise InputError(f"{argument}: {shown(name)} is given twice; {expected}, each once")


def of_one(problem: Problem, solution: Solution, instance: str = "") -> Table:
    """Table of one solution, with the least cost where the exact method applies.

    >>> problem = Problem(w=60, mu=50, a=1, R=0.2)
    >>> of_one(problem, solve(problem, "fast")).rows[0].excess < 1e-5
    True
    """
    optimum = solution.J if solution.arcs else _least(problem)
    return Table((Row(instance, named(solution), solution, optimum),))


def named(solution: Solution) -> str:
    """Method of a solution in words, with its rule of the step.

    >>> named(solve(INSTANCES["A"], "sweep", step="spectral"))
    'Algorithm 1, spectral'
    """
    rule = "" if solution.step in ("", "beta") else f", {solution.step}"
    return _NAMES[solution.method] + rule


#: Methods of solutions in words.
_NAMES = {
    "switching": "switching times",
    "fast": "interior point",
    "sweep": "Algorithm 1",
    "hermite_simpson": "Hermite-Simpson, IPOPT",
    "trapezoid": "trapezoid, IPOPT",
    "genetic": "genetic algorithm",
}


def _least(problem: Problem) -> float | None:
    try:
        return solve(problem).J
    except InputError:
        return None


def _solved(problem: Problem, method: str, options: dict[str, Any], generations: int | None) -> Solution:
    if "scheme" in options:
        return collocate(problem, options["scheme"])
    if method == "ga":
        options = {"iterations": generations}
    return solve(problem, cast("Any", method), **options)
