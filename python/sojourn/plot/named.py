"""Figures by name: the methods of a class of plots that draw, and the arguments that a text can give them."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from sojourn.errors import InputError
from sojourn.plot import Plots
from sojourn.plot.paper import Paper

__all__ = ["Figure", "figures", "parse"]

#: Annotations of arguments that a text can give.
TEXTS = ("str", "str | None", "float | str | None")


@dataclass(frozen=True)
class Figure:
    """A method of a class of plots: its name, first sentence, and own arguments of texts and numbers."""

    name: str
    summary: str
    #: Argument -> default; None: it has none, or must be given.
    arguments: Mapping[str, str | None]
    #: Arguments without a default.
    needs: tuple[str, ...]
    #: Those that may be numbers.
    numbers: tuple[str, ...]

    def draw(self, plots: Any, given: Mapping[str, Any], paper: Paper) -> Axes:
        """The picture, on paper of its own if that is given. Raises `InputError`."""
        for name in self.needs:
            if name not in given:
                raise InputError(f"{self.name}: lacks {name}; expected such as {self.name}:{name}=VALUE")
        own = {name: _number(value) if name in self.numbers else value for name, value in given.items()}
        drawn: Axes = getattr(plots, self.name)(**own, **paper)
        return drawn


def figures(of: type = Plots) -> dict[str, Figure]:
    """All figures of a class of plots by name, in its order.

    >>> figures()["goodput"].needs
    ('traffic_class',)
    """
    return {
        name: _figure(of, name)
        for name, method in vars(of).items()
        if not name.startswith("_") and "ax" in getattr(inspect.unwrap(method), "__annotations__", {})
    }


def _figure(of: type, name: str) -> Figure:
    method = getattr(of, name)
    summary = " ".join(str(inspect.getdoc(method)).partition("\n\n")[0].replace("``", "").split())
    own = [
        one
        for one in inspect.signature(method).parameters.values()
        if one.annotation in TEXTS and one.name not in Paper.__annotations__
    ]
    empty = inspect.Parameter.empty
    return Figure(
        name,
        summary,
        {one.name: None if one.default is empty else one.default for one in own},
        tuple(one.name for one in own if one.default is empty),
        tuple(one.name for one in own if "float" in str(one.annotation)),
    )


def _number(text: str) -> float | str:
    """The number that a text is, or the text."""
    try:
        return float(text)
    except ValueError:
        return text


def parse(
    spec: str, of: type = Plots, what: str = "a result", further: Collection[str] = ()
) -> tuple[Figure, dict[str, str]]:
    """The figure of ``NAME`` or ``NAME:ARGUMENT=VALUE,ARGUMENT=VALUE``, and its arguments.

    A value may have commas: it ends at the next argument of the figure, or of `further`. Errors call the
    subject of the plots `what`. Raises `InputError`.

    >>> figure, arguments = parse("bars:metric=fct_mean_s,traffic_class=web")
    >>> figure.name, arguments
    ('bars', {'metric': 'fct_mean_s', 'traffic_class': 'web'})
    """
    name, _, rest = spec.partition(":")
    known = figures(of)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(
            f"\"{name}\" is not a figure of {what}; {hint}expected one of 'sojourn list figures'"
        )
    figure = known[name]
    arguments = [*figure.arguments, *further]
    names = "|".join(map(re.escape, arguments)) or "(?!)"
    given: dict[str, str] = {}
    for part in re.split(rf",(?=(?:{names})=)", rest) if rest else []:
        argument, equals, value = part.partition("=")
        if not equals or argument not in arguments:
            expected = ", ".join(f"{one}=VALUE" for one in arguments) or "none"
            raise InputError(f'"{part}" is no argument of {name}; expected {expected}')
        if argument in given:
            raise InputError(f"{argument} is given twice; expected once")
        given[argument] = value
    return figure, given
