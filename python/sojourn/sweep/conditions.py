"""Conditions between axes: expressions that are parsed and checked here, and never run as code."""

from __future__ import annotations

import ast
import difflib
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sojourn.errors import InputError
from sojourn.kinds import shown
from sojourn.sweep.quantities import quantity

__all__ = ["Condition", "condition"]

#: Longest expression, characters; deeper nesting than that can have is beyond Python's parser.
_MOST_LETTERS = 500
_EXPECTED = 'expected a comparison such as "flows * delay <= 2"'

#: Makes of a constant what a column has.
Reader = Callable[[Any], Any]

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_EQUALITY: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda one, several: one in several,
    ast.NotIn: lambda one, several: one not in several,
}


@dataclass(frozen=True)
class Condition:
    """An expression over the values of a point."""

    text: str
    place: str
    tree: ast.expr
    names: frozenset[str]
    #: Readers of constants that are compared with a name, where they are no numbers in SI units.
    readers: Mapping[str, Reader] = field(default_factory=dict)

    def holds(self, values: Mapping[str, Any]) -> bool:
        """True if the expression is true of these values, which are numbers in SI units or texts.

        Raises `InputError` where a text is compared with a number, or a divisor is 0.
        """
        try:
            return self._truth(self.tree, values)
        except ZeroDivisionError:
            message = f'"{self.text}" divides by 0'
        except TypeError:
            message = f'"{self.text}" calculates with a text, or compares one with a number'
        given = ", ".join(f"{name} = {shown(values[name])}" for name in sorted(self.names))
        raise InputError(f"{self.place}: {message} at {given}; {_EXPECTED}")

    def _truth(self, node: ast.expr, values: Mapping[str, Any]) -> bool:
        found = self._value(node, values)
        if not isinstance(found, bool):
            raise TypeError
        return found

    def _value(self, node: ast.expr, values: Mapping[str, Any]) -> Any:
        found: Any
        match node:
            case ast.Constant():
                found = _number(node.value)
            case ast.List() | ast.Tuple():
                found = [self._value(item, values) for item in node.elts]
            case ast.BoolOp(op=ast.And()):
                found = all(self._truth(part, values) for part in node.values)
            case ast.BoolOp():
                found = any(self._truth(part, values) for part in node.values)
            case ast.UnaryOp(op=ast.Not()):
                found = not self._truth(node.operand, values)
            case ast.UnaryOp():
                found = _negated(self._value(node.operand, values))
            case ast.BinOp():
                found = _calculated(node.op, *(self._value(part, values) for part in (node.left, node.right)))
            case ast.Compare():
                found = self._compared(node, values)
            case _:
                found = values[ast.unparse(node)]
        return found

    def _compared(self, node: ast.Compare, values: Mapping[str, Any]) -> bool:
        """The truth of a chain of comparisons, such as ``1 < x <= 2``."""
        parts = [node.left, *node.comparators]
        for sign, one, other in zip(node.ops, parts, parts[1:], strict=False):
            left, right = self._side(one, other, values), self._side(other, one, values)
            if type(sign) in _ORDER:
                if isinstance(left, str) or isinstance(right, str):
                    raise TypeError
                truth = _ORDER[type(sign)](left, right)
            else:
                truth = _EQUALITY[type(sign)](left, right)
            if not truth:
                return False
        return True

    def _side(self, node: ast.expr, beside: ast.expr, values: Mapping[str, Any]) -> Any:
        """Value of a side of a comparison; a constant beside a name is read as a value of that axis."""
        match node:
            case ast.Constant() if reader := self.readers.get(ast.unparse(beside)):
                return reader(node.value)
            case ast.List() | ast.Tuple():
                return [self._side(item, beside, values) for item in node.elts]
            case _:
                return self._value(node, values)


def _calculated(sign: ast.operator, left: Any, right: Any) -> Any:
    """Two numbers combined. Raises `TypeError` for anything else."""
    if any(isinstance(one, str | list | bool) for one in (left, right)):
        raise TypeError
    return _ARITHMETIC[type(sign)](left, right)


def _negated(value: Any) -> Any:
    if isinstance(value, str | list | bool):
        raise TypeError
    return -value


def condition(
    text: object, names: Sequence[str], place: str, readers: Mapping[str, Reader] = MappingProxyType({})
) -> Condition:
    """Parse an expression over these names. Raises `InputError` with one line that begins with `place`.

    Comparisons (``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``not in``), ``and``, ``or``, ``not``,
    ``+``, ``-``, ``*``, ``/``, parentheses, numbers, texts, and lists of them. A text with a unit is a number
    in SI units; beside a name in `readers` it is what that makes of it.

    >>> found = condition("delay <= '20 ms' or law == 'pi'", ["delay", "law"], "where")
    >>> found.holds({"delay": 0.05, "law": "pi"}), found.holds({"delay": 0.05, "law": "red"})
    (True, False)
    """
    if not isinstance(text, str) or not text.strip() or len(text) > _MOST_LETTERS:
        raise InputError(f"{place}: {shown(text)} is no condition; {_EXPECTED}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f'{place}: "{text}" cannot be read; {_EXPECTED}') from None
    found: set[str] = set()
    if not _is_known(tree, names, found):
        raise InputError(f'{place}: "{text}" has a part that no condition may have; {_EXPECTED}')
    for name in sorted(found):
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise InputError(f'{place}: "{name}" is no axis; {hint}expected {", ".join(names)}')
    for name, value in _beside(tree):
        try:
            readers.get(name, str)(value)
        except InputError as error:
            raise InputError(f'{place}: "{text}" compares {name}: {error.lines[0]}') from None
    return Condition(text.strip(), place, tree, frozenset(found), readers)


def _beside(tree: ast.expr) -> Iterator[tuple[str, Any]]:
    """Names, each with a constant that it is compared with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            for one, other in (*itertools.pairwise(parts), *itertools.pairwise(parts[::-1])):
                several = other.elts if isinstance(other, ast.List | ast.Tuple) else [other]
                yield from (
                    (ast.unparse(one), each.value) for each in several if isinstance(each, ast.Constant)
                )


def _is_known(node: ast.expr, names: Sequence[str], found: set[str]) -> bool:
    """True if an expression has known parts only; adds the names that it has."""
    if isinstance(node, ast.Name) or ast.unparse(node) in names:
        found.add(ast.unparse(node))
        return True
    match node:
        case ast.Constant():
            return isinstance(node.value, bool | int | float | str)
        case ast.List() | ast.Tuple():
            parts = node.elts
        case ast.BoolOp():
            parts = node.values
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            parts = [node.operand]
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            parts = [node.left, node.right]
        case ast.Compare() if all(type(sign) in _ORDER | _EQUALITY for sign in node.ops):
            parts = [node.left, *node.comparators]
        case _:
            return False
    return all(_is_known(part, names, found) for part in parts)


def _number(value: Any) -> Any:
    """A text with a unit as a number."""
    found = quantity(value)
    return value if found is None else found.value
