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
) -> Callable[[], tuple[Table, bool]]:
    """Solution of one problem, its options checked; False: not interrupted."""
    from sojourn.ocq import comparison, solve

    problem = problem_of(instance, fields)
    name = "switching" if method is None else methods_of(one_of(METHOD, method))[0]
    printing.remark(problem.notes)

    def compute() -> tuple[Table, bool]:
        try:
            solution = solve(problem, cast("Method", name), iterations=iterations)
        except InputError as error:
            raise InputError(*with_flags(error.lines)) from None
        known = "" if any(fields.values()) else instance or ""
        return comparison.of_one(problem, solution, known), False

    return compute


def tabulator(
    instance: str | None, fields: dict[str, str | None], method: str | None, generations: int | None
) -> Callable[[], tuple[Table, bool]]:
    """Table of methods and instances, its options checked; True: interrupted, with the rows found before."""
    from sojourn.ocq import METHODS
    from sojourn.ocq.comparison import compared, gathered

    for field, text in fields.items():
        if text is not None and field != "N":
            flag = flag_of(field)
            raise InputError(f"{flag}: has no use in a table; expected --instance, or ocq solve")
    names = METHODS if method is None else methods_of(method)
    instances, cells = instances_of(instance), CELLS.or_none(fields["N"])
    watch = printing.note if printing.is_terminal(sys.stderr) else lambda _: None

    def compute() -> tuple[Table, bool]:
        found: list[Row | str] = []
        try:
            rows = compared(instances, names, cells=cells, generations=generations, watch=watch)
            return gathered(rows, found), False
        except KeyboardInterrupt:
            if not found:
                raise
            return gathered((), found), True
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
    for name in found:
        if name not in INSTANCES:
            raise InputError(f'--instance: "{name}" is unknown; expected {", ".join(INSTANCES)}')
    return found


def methods_of(text: str) -> list[str]:
    """Methods by name."""
    from sojourn.ocq import METHODS

    found = METHOD(text)
    for name in found:
        if name not in METHODS:
            raise InputError(f'--method: "{name}" is unknown; expected {", ".join(METHODS)}')
    return found


def problem_of(instance: str | None, given: dict[str, str | None]) -> Problem:
    """Problem of an instance and the options given, by the fields that they set."""
    from dataclasses import replace

    from sojourn.ocq import INSTANCES, Problem

    fields = {name: _PROBLEM[name](text) for name, text in given.items() if text is not None}
    try:
        if instance is not None:
            one_of(INSTANCE, instance)
            return replace(INSTANCES[instances_of(instance)[0]], **fields)
        for name in ("w", "mu", "a", "R"):
            if name not in fields:
                flag = _PROBLEM[name].names[-1]
                raise InputError(f"{flag}: is missing; expected --w, --mu, --a and --R, or --instance P")
        return Problem(**fields)
    except InputError as error:
        raise InputError(*with_flags(error.lines)) from None


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
