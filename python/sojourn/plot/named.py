"""Figures by name: the methods of `Plots` that draw, and the arguments that a text can give them."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes

from sojourn.errors import InputError
from sojourn.plot import Plots
from sojourn.plot.paper import Paper

__all__ = ["Figure", "figures", "parse"]


@dataclass(frozen=True)
class Figure:
    """A method of `Plots`: its name, its first sentence, and its own arguments that are texts."""

    name: str
    summary: str
    #: Argument -> default; None: it has none, or must be given.
    arguments: Mapping[str, str | None]
    #: Arguments without a default.
    needs: tuple[str, ...]

    def draw(self, plots: Plots, given: Mapping[str, str], paper: Paper) -> Axes:
        """The picture, on paper of its own if that is given. Raises `InputError`."""
        for name in self.needs:
            if name not in given:
                raise InputError(f"{self.name}: lacks {name}; expected such as {self.name}:{name}=VALUE")
        drawn: Axes = getattr(plots, self.name)(**given, **paper)
        return drawn


def figures() -> dict[str, Figure]:
    """All figures by name, in the order of `Plots`.

    >>> figures()["goodput"].needs
    ('traffic_class',)
    """
    return {
        name: _figure(name)
        for name, method in vars(Plots).items()
        if not name.startswith("_") and "ax" in getattr(inspect.unwrap(method), "__annotations__", {})
    }


def _figure(name: str) -> Figure:
    method = getattr(Plots, name)
    summary = " ".join(str(inspect.getdoc(method)).partition("\n\n")[0].replace("``", "").split())
    own = [
        one
        for one in inspect.signature(method).parameters.values()
        if one.annotation in ("str", "str | None") and one.name not in Paper.__annotations__
    ]
    empty = inspect.Parameter.empty
    return Figure(
        name,
        summary,
        {one.name: None if one.default is empty else one.default for one in own},
        tuple(one.name for one in own if one.default is empty),
    )


def parse(spec: str) -> tuple[Figure, dict[str, str]]:
    """The figure of ``NAME`` or ``NAME:ARGUMENT=VALUE,ARGUMENT=VALUE``, and its arguments.

    A value may have commas: it ends at the next argument of the figure. Raises `InputError`.

    >>> figure, arguments = parse("bars:metric=fct_mean_s,traffic_class=web")
    >>> figure.name, arguments
    ('bars', {'metric': 'fct_mean_s', 'traffic_class': 'web'})
    """
    name, _, rest = spec.partition(":")
    known = figures()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(f"\"{name}\" is not a figure; {hint}expected one of 'sojourn list figures'")
    figure = known[name]
    names = "|".join(figure.arguments) or "(?!)"
    given: dict[str, str] = {}
    for part in re.split(rf",(?=(?:{names})=)", rest) if rest else []:
        argument, equals, value = part.partition("=")
        if not equals or argument not in figure.arguments:
            expected = ", ".join(f"{one}=VALUE" for one in figure.arguments) or "none"
            raise InputError(f'"{part}" is no argument of {name}; expected {expected}')
        if argument in given:
            raise InputError(f"{argument} is given twice; expected once")
        given[argument] = value
    return figure, given
