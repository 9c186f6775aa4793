"""Units of what predicates compare, and their numbers in units for display."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from sojourn.result import metrics, words

__all__ = ["NUMBER", "SHARE", "scale_for", "unit_of"]

#: Unit of a number without one, and of a share, which is displayed in per cent.
NUMBER, SHARE = "", "%"
#: Functions of predicates whose values have none.
_NUMBERS = ("anova_f", "anova_f_each")
#: Display units by the unit of the values.
_CHOICES = {"s": words.TIMES, "bit/s": words.RATES, SHARE: ((SHARE, 100.0),)}


def unit_of(node: ast.expr) -> str | None:
    """Unit of an expression: that of its metrics, `SHARE`, or `NUMBER`; None: it has none of these.

    >>> unit_of(ast.parse("e.pi.sojourn_mean_s - 0.1", mode="eval").body)
    's'
    """
    match node:
        case ast.Name() | ast.Attribute():
            return _of_metric(ast.unparse(node).rpartition(".")[2])
        case ast.UnaryOp():
            return unit_of(node.operand)
        case ast.BinOp():
            return _of_operation(node)
        case ast.Call(func=ast.Name(id=name), args=several) if name not in _NUMBERS:
            units = {unit_of(of) for of in several if not isinstance(of, ast.Constant)}
            return units.pop() if len(units) == 1 else None
    return NUMBER if isinstance(node, ast.Call) else None


def _of_metric(metric: str) -> str | None:
    unit = metrics.UNITS.get(metric)
    if unit != "1":
        return unit
    return SHARE if words.column_named(metric).unit == SHARE else NUMBER


def _of_operation(of: ast.BinOp) -> str | None:
    """Unit of a sum, a product or a ratio; a constant beside a unit is in that unit, or a factor."""
    left, right = unit_of(of.left), unit_of(of.right)
    if isinstance(of.right, ast.Constant):
        return left
    if isinstance(of.left, ast.Constant):
        return _ratio(NUMBER, right) if isinstance(of.op, ast.Div) else right
    if isinstance(of.op, ast.Add | ast.Sub):
        return left if left == right else None
    if isinstance(of.op, ast.Mult) and left in (NUMBER, SHARE):
        return right
    return _ratio(left, right)


def _ratio(left: str | None, right: str | None) -> str | None:
    if left is not None and left == right:
        return NUMBER
    return left if right in (NUMBER, SHARE) else None


def scale_for(unit: str | None, values: Iterable[float | None]) -> tuple[str, float]:
    """Display unit of values, and its factor: the largest is at least 1 in it.

    >>> scale_for("bit/s", [8.4e6, 950e3])
    ('Mbit/s', 1e-06)
    """
    choices = _CHOICES.get(unit or NUMBER)
    if choices is None:
        return unit or NUMBER, 1.0
    return words.unit_for(max((abs(one) for one in values if one is not None), default=0.0), choices)
