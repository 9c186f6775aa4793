"""Options of `sojourn ocq` as a problem and a table, with errors that name the options."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from sojourn.cli import printing
from sojourn.cli.options import (
    CELLS,
    HALF,
    HORIZON,
    INSTANCE,
    LOAD,
    METHOD,
    PRICE,
    QUEUED,
    SERVICE,
    Option,
)
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.ocq import Problem, Row, Table
    from sojourn.ocq.methods import Method
    from sojourn.ocq.problem import Schedule

#: Options that describe a problem, by its fields.
_PROBLEM: dict[str, Option[Any]] = {
    "w": LOAD,
    "mu": SERVICE,
    "a": HALF,
    "R": PRICE,
    "x0": QUEUED,
    "t_f": HORIZON,
    "N": CELLS,
}


def solver(
    instance: str | None, fields: dict[str, str | None], method: str | None, iterations: int | None
) -> Callable[[], Table]:
    """Solution of one problem, its options checked."""
    from sojourn.ocq import comparison, solve

    problem = problem_of(instance, fields)
    name = "switching" if method is None else methods_of(one_of(METHOD, method))[0]
    printing.remark(problem.notes)

    def compute() -> Table:
        try:
            solution = solve(problem, cast("Method", name), iterations=iterations)
        except InputError as error:
            raise InputError(*with_flags(error.lines)) from None
        known = "" if any(fields.values()) else instance or ""
        return comparison.of_one(problem, solution, known)

    return compute


def tabulator(
    instance: str | None, fields: dict[str, str | None], method: str | None, generations: int | None
) -> Callable[[], Table]:
    """Table of methods and instances, its options checked; after an interrupt, of the rows found before."""
    from dataclasses import replace

    from sojourn.ocq import METHODS
    from sojourn.ocq.comparison import compared, gathered

    for field, text in fields.items():
        if text is not None and field != "N":
            flag = flag_of(field)
            raise InputError(f"{flag}: has no use in a table; expected --instance, or ocq solve")
    names = METHODS if method is None else methods_of(method)
    instances, cells = instances_of(instance), CELLS.or_none(fields["N"])
    if generations is not None and "ga" not in names:
        raise InputError("--iterations: has no use without method ga; expected ga among --method")
    watch = printing.note if printing.is_terminal(sys.stderr) else None

    def compute() -> Table:
        found: list[Row | str] = []
        try:
            rows = compared(instances, names, cells=cells, generations=generations, watch=watch)
            return gathered(rows, found)
        except KeyboardInterrupt:
            if not found:
                raise
            return replace(gathered((), found), interrupted=True)
        except InputError as error:
            raise InputError(*with_flags(error.lines)) from None

    return compute


def one_of(option: Option[list[str]], text: str) -> str:
    """The one name of an option that takes a list elsewhere."""
    names = option(text)
    if len(names) > 1:
        raise InputError(f'{option.names[-1]}: "{text}" is a list; expected one name, as of solve')
    return names[0]


def instances_of(text: str | None) -> list[str]:
    """Instances of a table."""
    from sojourn.ocq import INSTANCES

    found = ["P", "A", "L"] if text is None else INSTANCE(text)
    _check_names("--instance", found, tuple(INSTANCES))
    return found


def methods_of(text: str) -> list[str]:
    """Methods by name."""
    from sojourn.ocq import METHODS

    found = METHOD(text)
    _check_names("--method", found, METHODS)
    return found


def _check_names(flag: str, given: Sequence[str], known: Sequence[str]) -> None:
    for place, name in enumerate(given):
        if name not in known:
            raise InputError(f'{flag}: "{name}" is unknown; expected {", ".join(known)}')
        if name in given[:place]:
            raise InputError(f'{flag}: "{name}" is given twice; expected each name once')


def problem_of(instance: str | None, given: dict[str, str | None]) -> Problem:
    """Problem of an instance and the options given, by the fields that they set."""
    from dataclasses import replace

    from sojourn.ocq import INSTANCES, Problem

    fields = {name: _PROBLEM[name](text) for name, text in given.items() if text is not None}
    try:
        if instance is not None:
            one_of(INSTANCE, instance)
            known = INSTANCES[instances_of(instance)[0]]
            return replace(known, **(_within(known, fields.get("t_f")) | fields))
        for name in ("w", "mu", "a", "R"):
            if name not in fields:
                flag = _PROBLEM[name].names[-1]
                raise InputError(f"{flag}: is missing; expected --w, --mu, --a and --R, or --instance P")
        return Problem(**fields)
    except InputError as error:
        raise InputError(*with_flags(error.lines)) from None


def _within(known: Problem, t_f: float | None) -> dict[str, Any]:
    """Load of an instance up to a shorter horizon, where its other changes have no time."""
    if t_f is None or callable(known.w):
        return {}
    first, *changes = cast("Schedule", known.w)
    return {"w": [first, *(change for change in changes if change[0] < t_f)]}


def flag_of(field: str) -> str:
    """The option that sets a field of a problem."""
    return _PROBLEM[field].names[-1]


def with_flags(lines: Sequence[str]) -> list[str]:
    """Lines about arguments of Python as lines about their options."""
    flags = {name: flag_of(name) for name in _PROBLEM} | {
        name: f"--{name}" for name in ("method", "iterations")
    }
    named = [(line, re.match(r"[A-Za-z0-9_]+", line)) for line in lines]
    return [
        flags[name[0]] + line[name.end() :] if name and name[0] in flags else line for line, name in named
    ]
