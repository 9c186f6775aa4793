"""Predicates over measured samples: expressions that are parsed and checked here, and never run as code.

A name such as ``exp1.pi.utilization`` is a sample of one metric: a value for each seed. Arithmetic is seed
by seed, so that under common random numbers a comparison is one of paired differences: it is *true* where
the whole 95 % interval of the mean difference is on that side, *false* where all of it is on the other, and
*undecided* otherwise. A quantile over seeds has the interval of order statistics, and what is calculated with
it the interval of all values between the ends, so that two quantiles differ where their intervals are apart.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import f_oneway
from scipy.stats import t as student

from sojourn.errors import InputError
from sojourn.kinds import shown
from sojourn.result.statistics import estimate, quantile_interval

__all__ = ["Expression", "Interval", "Predicate", "Truth", "expression", "over_windows", "predicate"]

Sample = npt.NDArray[np.float64]
#: Looks a name up. Raises `LookupError` where nothing was measured.
Lookup = Callable[[str], Sample]


class Truth(Enum):
    """Outcome of a predicate."""

    TRUE = "true"
    FALSE = "false"
    UNDECIDED = "undecided"

    def __invert__(self) -> Truth:
        return _NOT[self]


@dataclass(frozen=True)
class Interval:
    """A statistic over the seeds with its 95 % interval; an end that so few do not bound is infinite."""

    value: float
    low: float
    high: float


#: Values by seed, by seed and window, or a number; or a statistic over the seeds.
Value = Sample | Interval

_NOT = {Truth.TRUE: Truth.FALSE, Truth.FALSE: Truth.TRUE, Truth.UNDECIDED: Truth.UNDECIDED}
_ARITHMETIC: dict[type[ast.operator], Callable[[Sample, Sample], Sample]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
#: Sign of the difference that a comparison wants, and whether none will do.
_ORDER: dict[type[ast.cmpop], tuple[int, bool]] = {
    ast.Lt: (-1, False),
    ast.LtE: (-1, True),
    ast.Gt: (1, False),
    ast.GtE: (1, True),
}


def _anova_f_each(runs: Sample, *groups: Sample) -> Sample:
    """F of each so many runs in turn; no two samples of an analysis are of the same runs."""
    size = int(runs)
    number = min(group.size // size for group in groups)
    if number < len(groups):
        raise LookupError("too few runs")
    parts = [group[: number * size].reshape(number, size) for group in groups]
    turned = [np.roll(part, -place, axis=0) for place, part in enumerate(parts)]
    return np.asarray([_anova_f(*levels) for levels in zip(*turned, strict=True)])


def _anova_f(*groups: Sample) -> float:
    """F of the runs that have a value."""
    return float(f_oneway(*(group[np.isfinite(group)] for group in groups)).statistic)


#: Seeds of which fewer have no statistic over them.
LEAST_SEEDS = 3
#: Relative difference that is rounding.
ROUNDED = 1e-9


def _enough(of: Sample) -> None:
    """Raise `LookupError` for too few seeds with a value."""
    if of.ndim == 1 and np.isfinite(of).sum() < LEAST_SEEDS:
        raise LookupError("too few runs")


def _quantile(of: Sample, share: Sample) -> Value:
    """Quantile over windows; over seeds with the interval of order statistics.

    The least and the largest seed (0 and 1) are the range of what ran, and numbers.
    """
    _enough(of)
    if of.ndim != 1 or not 0 < share < 1:
        return over_windows(functools.partial(np.nanquantile, q=float(share)), of)
    found = quantile_interval([float(one) for one in of[np.isfinite(of)]], float(share))
    low = -np.inf if found.low is None else found.low
    return Interval(found.value, low, np.inf if found.high is None else found.high)


def _predicted(of: Sample, share: Sample) -> Sample:
    """Quantile of one more value like those of the seeds, by Student's t of their logarithms.

    Raises `LookupError` for too few, or for what has no logarithm.
    """
    known = of[~np.isnan(of)]
    if of.ndim != 1 or known.size < LEAST_SEEDS or not ((known > 0) & np.isfinite(known)).all():
        raise LookupError("no values over seeds, or too few, or not positive")
    logarithms = np.log(known)
    width = np.std(logarithms, ddof=1) * np.sqrt(1 + 1 / known.size)
    return np.asarray(np.exp(np.mean(logarithms) + width * student.ppf(float(share), known.size - 1)))


def _quartiles(of: Sample) -> Value:
    """The distance between the quartiles."""
    third, first = (_quantile(of, np.asarray(share)) for share in (0.75, 0.25))
    return _calculated(operator.sub, third, first)


def _as_interval(of: Value) -> Interval:
    if isinstance(of, Interval):
        return of
    known = of[~np.isnan(of)]
    return Interval(float(np.mean(known)) if known.size else np.nan, *_interval(of))


def _calculated(action: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
    """Sum, difference, product or ratio: of intervals that of all values between their ends."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if not isinstance(left, Interval) and not isinstance(right, Interval):
            return np.asarray(action(left, right))
        one, two = _as_interval(left), _as_interval(right)
        of = [action(*pair) for pair in itertools.product(_ends(one), _ends(two))]
        value = action(np.float64(one.value), np.float64(two.value))
    is_open = action is operator.truediv and two.low <= 0 <= two.high
    if is_open or np.isnan(of).any():
        return Interval(float(value), -np.inf, np.inf)
    return Interval(float(value), float(min(of)), float(max(of)))


def _ends(of: Interval) -> tuple[np.float64, np.float64]:
    return np.float64(of.low), np.float64(of.high)


def _applied(name: str, parts: Sequence[Value]) -> Value:
    """A function of predicates. Raises `LookupError` for one of intervals that is neither max nor min."""
    samples = [of for of in parts if not isinstance(of, Interval)]
    if len(samples) == len(parts):
        found = _FUNCTIONS[name][1](*samples)
        return found if isinstance(found, Interval) else np.asarray(found)
    if name not in ("max", "min"):
        raise LookupError(f"{name} of a quantile over seeds has no interval")
    pick = max if name == "max" else min
    several = [_as_interval(of) for of in parts]
    return Interval(*(pick(ends) for ends in zip(*((of.value, *_ends(of)) for of in several), strict=True)))


def _largest(of: Sample) -> Sample:
    """The largest of the windows of each run; of one window itself."""
    return over_windows(np.nanmax, of) if of.ndim > 1 else of


def _std(of: Sample) -> Sample:
    """Standard deviation over windows; over seeds its jackknife pseudo-values, whose mean has an interval."""
    if of.ndim > 1:
        return over_windows(np.nanstd, of)
    _enough(of)
    known = of[~np.isnan(of)]
    size = known.size
    without = np.asarray([np.std(np.delete(known, place), ddof=1) for place in range(size)])
    found = np.full(of.shape, np.nan)
    found[~np.isnan(of)] = size * np.std(known, ddof=1) - (size - 1) * without
    return found


def over_windows(statistic: Callable[..., Any], of: Sample) -> Sample:
    """A statistic over the windows of each seed; not a number for a seed without a value."""
    found = np.full(of.shape[:-1], np.nan)
    known = ~np.isnan(of).all(axis=-1)
    found[known] = statistic(of[known], axis=-1)
    return found


_FUNCTIONS: dict[str, tuple[range, Callable[..., Any]]] = {
    "abs": (range(1, 2), np.abs),
    "largest": (range(1, 2), _largest),
    "max": (range(2, 99), lambda *parts: np.maximum.reduce(np.broadcast_arrays(*parts))),
    "hypot": (range(2, 3), np.hypot),
    "anova_f": (range(2, 99), _anova_f),
    "anova_f_each": (range(3, 99), _anova_f_each),
    "predicted": (range(2, 3), _predicted),
    "quantile": (range(2, 3), _quantile),
    "quartiles": (range(1, 2), _quartiles),
    "std": (range(1, 2), _std),
    "min": (range(2, 99), lambda *parts: np.minimum.reduce(np.broadcast_arrays(*parts))),
}
_EXPECTED = 'expected comparisons of samples such as "exp1.pi.utilization > exp1.red.utilization"'


@dataclass(frozen=True)
class Predicate:
    """A predicate over samples."""

    text: str
    tree: ast.expr
    #: The samples that it names.
    names: frozenset[str]
    #: What it compares: the sides of its comparisons, apart from constants.
    quantities: tuple[Expression, ...]

    def holds(self, lookup: Lookup) -> Truth:
        """Its truth for these samples; undecided where one has no value."""
        try:
            return _truth(self.tree, lookup)
        except LookupError:
            return Truth.UNDECIDED


@dataclass(frozen=True)
class Expression:
    """An expression over samples."""

    #: With the abbreviations of the paper.
    text: str
    tree: ast.expr
    #: The samples that it names.
    names: frozenset[str]

    def value(self, lookup: Lookup) -> Sample:
        """Its values by seed, or a number. Raises `LookupError` where a sample has none."""
        found = _value(self.tree, lookup)
        return np.asarray(found.value) if isinstance(found, Interval) else found

    def interval(self, lookup: Lookup) -> Interval | None:
        """The interval of a statistic over the seeds; None of values by seed, or of a number."""
        found = _value(self.tree, lookup)
        return found if isinstance(found, Interval) else None

    def sample(self, lookup: Lookup) -> Sample:
        """What a statistic over the seeds is of, by seed; else the same as `value`."""
        match self.tree:
            case ast.Call(func=ast.Name(id="predicted" | "quantile" | "quartiles" | "std"), args=[of, *_]):
                inner = _value(of, lookup)
                if not isinstance(inner, Interval) and inner.ndim == 1:
                    return inner
        return self.value(lookup)


def expression(text: str, place: str, measures: Mapping[str, str] = MappingProxyType({})) -> Expression:
    """Parse one side of a comparison. Raises `InputError` with one line that begins with `place`."""
    compared = predicate(f"{text} > 0", place, measures)
    if not isinstance(compared.tree, ast.Compare) or len(compared.tree.ops) > 1:
        raise InputError(f'{place}: "{text}" is no expression; expected one side of a comparison')
    return Expression(text, compared.tree.left, compared.names)


def predicate(text: object, place: str, measures: Mapping[str, str] = MappingProxyType({})) -> Predicate:
    """Parse a predicate. Raises `InputError` with one line that begins with `place`.

    Chains of ``<``, ``<=``, ``>``, ``>=``; ``near(x, value, by)``, true where the 95 % interval of x is
    within `by` of the value; ``and``, ``or``, ``not``, ``+``, ``-``, ``*``, ``/``, ``abs``, ``min``,
    ``max``, numbers and names; ``anova_f(x, y, ...)``, F of a one-way analysis of variance over samples;
    ``anova_f_each(10, x, y, z)``, F of each ten runs in turn, with other runs of x, y and z;
    ``quantile(x, share)``, ``quartiles(x)``, the distance between them, and ``std(x)``, over the windows of a
    window that is several, else over the seeds; ``largest(x)``, the largest of these windows of each run;
    ``hypot(x, y)``, the root of the sum of squares: ``hypot(mean - 100, std)`` is the RMS
    distance from 100. ``predicted(x, 0.025) < 3 < predicted(x, 0.975)`` is true where a single published
    value, 3, is within the 95 % prediction interval of one more value of x, by Student's t of the logarithms:
    more seeds do not widen it, as they do the range. `measures` are abbreviations of a paper's own, each of a
    place: with ``off`` for ``hypot({}.mean - 100, {}.std)`` it is ``off(e.pi)``.

    >>> from numpy import array
    >>> samples = {"a.pi.queue": array([1.0, 1.2, 1.1]), "a.red.queue": array([2.0, 2.3, 2.1])}
    >>> found = predicate("a.pi.queue < a.red.queue and near(a.pi.queue, 1.1, 0.5)", "test")
    >>> found.holds(samples.__getitem__)
    <Truth.TRUE: 'true'>
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{place}: {shown(text)} is no predicate; {_EXPECTED}")
    try:
        tree = ast.parse(_expanded(text, measures), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f'{place}: "{text}" cannot be read; {_EXPECTED}') from None
    names: set[str] = set()
    wrong = next(_unknown_of_truth(tree, names), None)
    if wrong is not None:
        part = ast.unparse(wrong)
        raise InputError(f'{place}: "{part}" has no place in a predicate; {_EXPECTED}')
    labels = _labels(text, measures)
    quantities = {one.text: one for one in _quantities(tree, labels)}
    return Predicate(" ".join(text.split()), tree, frozenset(names), tuple(quantities.values()))


def _labels(text: str, measures: Mapping[str, str]) -> dict[str, str]:
    """Abbreviations in a predicate by what they stand for, both in the form of `ast.unparse`."""
    found = {}
    for name in measures:
        for place in re.findall(rf"\b{name}\(([^()]*)\)", text):
            tree = ast.parse(_expanded(f"{name}({place})", measures), mode="eval").body
            found[ast.unparse(tree)] = f"{name}({place.strip()})"
    return found


def _quantities(node: ast.expr, labels: Mapping[str, str]) -> Iterator[Expression]:
    """What a predicate compares."""
    match node:
        case ast.BoolOp():
            for part in node.values:
                yield from _quantities(part, labels)
        case ast.UnaryOp():
            yield from _quantities(node.operand, labels)
        case ast.Compare():
            for part in (node.left, *node.comparators):
                yield from _of_side(part, labels)
        case ast.Call():
            yield from _of_side(node.args[0], labels)


def _of_side(node: ast.expr, labels: Mapping[str, str]) -> Iterator[Expression]:
    """What one side of a comparison has: the parts of `min` and `max`, and no constant beside them."""
    names = frozenset(_names(node))
    if not names:
        return
    match node:
        case _ if ast.unparse(node) in labels:
            pass
        case ast.Call(func=ast.Name(id="max" | "min")):
            for part in node.args:
                yield from _of_side(part, labels)
            return
        case ast.BinOp(left=left, right=right) if not (set(_names(left)) and set(_names(right))):
            other = left if set(_names(left)) else right
            if _dotted(other) or ast.unparse(other) in labels or _is_extreme(other):
                yield from _of_side(other, labels)
                return
    yield Expression(ast.unparse(_abbreviated(node, labels)), node, names)


def _is_extreme(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("max", "min")


def _names(node: ast.expr) -> Iterator[str]:
    """Names of samples in an expression."""
    if _dotted(node):
        yield ast.unparse(node)
        return
    for part in node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            yield from _names(part)


def _abbreviated(node: ast.expr, labels: Mapping[str, str]) -> ast.AST:
    """An expression with the abbreviations that it was written with."""

    class Abbreviate(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            label = labels.get(ast.unparse(node)) if isinstance(node, ast.expr) else None
            return ast.Name(label) if label is not None else self.generic_visit(node)

    return Abbreviate().visit(copy.deepcopy(node))


def _expanded(text: str, measures: Mapping[str, str]) -> str:
    """The text in one line, without abbreviations, which may have others in them."""
    for _ in measures:
        for name, written in measures.items():
            parts = re.split(rf"\b{name}\(([^()]*)\)", text)
            parts[1::2] = [f"({written.replace('{}', place)})" for place in parts[1::2]]
            text = "".join(parts)
    return " ".join(text.split())


def _unknown_of_truth(node: ast.expr, names: set[str]) -> Iterator[ast.expr]:
    """Parts that have no place where a truth is expected; adds the names."""
    match node:
        case ast.BoolOp():
            for part in node.values:
                yield from _unknown_of_truth(part, names)
        case ast.UnaryOp(op=ast.Not()):
            yield from _unknown_of_truth(node.operand, names)
        case ast.Compare() if all(type(sign) in _ORDER for sign in node.ops):
            for part in (node.left, *node.comparators):
                yield from _unknown_of_value(part, names)
        case ast.Call(func=ast.Name(id="near"), args=[value, ast.Constant(), ast.Constant()], keywords=[]):
            yield from _unknown_of_value(value, names)
        case ast.Call(func=ast.Name(id="near"), args=[value, ast.UnaryOp(), ast.Constant()], keywords=[]):
            yield from _unknown_of_value(value, names)
        case _:
            yield node


def _unknown_of_value(node: ast.expr, names: set[str]) -> Iterator[ast.expr]:
    """Parts that have no place where a number is expected; adds the names."""
    match node:
        case ast.Constant() if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            pass
        case ast.Name() | ast.Attribute() if _dotted(node):
            names.add(ast.unparse(node))
        case ast.UnaryOp(op=ast.USub()):
            yield from _unknown_of_value(node.operand, names)
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            yield from _unknown_of_value(node.left, names)
            yield from _unknown_of_value(node.right, names)
        case ast.Call(func=ast.Name(id=name), keywords=[]) if len(node.args) in _counts(name):
            for part in node.args:
                yield from _unknown_of_value(part, names)
        case _:
            yield node


def _counts(function: str) -> range:
    return _FUNCTIONS[function][0] if function in _FUNCTIONS else range(0)


def _dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _truth(node: ast.expr, lookup: Lookup) -> Truth:
    match node:
        case ast.BoolOp():
            found = {_truth(part, lookup) for part in node.values}
            decisive = Truth.FALSE if isinstance(node.op, ast.And) else Truth.TRUE
            if decisive in found:
                return decisive
            return Truth.UNDECIDED if Truth.UNDECIDED in found else ~decisive
        case ast.UnaryOp():
            return ~_truth(node.operand, lookup)
        case ast.Call():
            value, about, by = (_value(part, lookup) for part in node.args)
            return _within(_calculated(operator.sub, value, about), _as_interval(by).value)
        case ast.Compare():
            parts = [_value(part, lookup) for part in (node.left, *node.comparators)]
            pairs = zip(node.ops, parts, parts[1:], strict=False)
            found = {
                _compared(_ORDER[type(sign)], _calculated(operator.sub, left, right))
                for sign, left, right in pairs
            }
            if Truth.FALSE in found:
                return Truth.FALSE
            return Truth.UNDECIDED if Truth.UNDECIDED in found else Truth.TRUE
    raise AssertionError(ast.dump(node))


def _value(node: ast.expr, lookup: Lookup) -> Value:
    match node:
        case ast.Constant():
            return np.asarray(float(node.value))  # type: ignore[arg-type]
        case ast.UnaryOp():
            return _calculated(operator.mul, np.asarray(-1.0), _value(node.operand, lookup))
        case ast.BinOp():
            parts = (_value(part, lookup) for part in (node.left, node.right))
            return _calculated(_ARITHMETIC[type(node.op)], *parts)
        case ast.Call(func=ast.Name(id=name)):
            return _applied(name, [_value(part, lookup) for part in node.args])
    return lookup(_name(node))


@functools.cache
def _name(node: ast.expr) -> str:
    """Text of a name; a predicate is judged some thousand times."""
    return ast.unparse(node)


def _compared(wanted: tuple[int, bool], difference: Value) -> Truth:
    """Truth of a comparison by the mean difference."""
    sign, or_equal = wanted
    low, high = _interval(_calculated(operator.mul, np.asarray(float(sign)), difference))
    if low > 0 or (or_equal and low >= 0):
        return Truth.TRUE
    if high < 0 or (high <= 0 and not or_equal):
        return Truth.FALSE
    return Truth.UNDECIDED


def _within(difference: Value, by: float) -> Truth:
    low, high = _interval(difference)
    if -by <= low and high <= by:
        return Truth.TRUE
    return Truth.FALSE if low > by or high < -by else Truth.UNDECIDED


def _interval(values: Value) -> tuple[float, float]:
    """Interval of the mean: of a number the number itself, of several windows that of their mean.

    Seeds without a value do not count. A single seed has no interval, nor have equal ones that are fewer than
    three: they decide nothing.
    """
    if isinstance(values, Interval):
        return values.low, values.high
    if values.ndim == 0:
        return float(values), float(values)
    means = over_windows(np.nanmean, values) if values.ndim > 1 else values
    means = means[~np.isnan(means)]
    if means.size < 2 or not np.isfinite(means).all():
        return -np.inf, np.inf
    if np.ptp(means) <= ROUNDED * np.abs(means).max():
        mean = float(means.mean())
        return (mean, mean) if means.size >= LEAST_SEEDS else (-np.inf, np.inf)
    found = estimate([float(value) for value in means])
    if found.low is None or found.high is None:
        return -np.inf, np.inf
    return found.low, found.high
