"""Analysis of variance of several factors (R. A. Fisher 1925; F. Yates 1934): which of them moves a mean."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sojourn.errors import InputError

Array = npt.NDArray[np.float64]

#: Share of the variance that rounding leaves.
ROUNDING = 1e-24


@dataclass(frozen=True)
class Effect:
    """What one factor, or the interaction of two, does to a mean; or what is left, the residual."""

    #: Names of its factors, or that of the blocks; none: the residual.
    factors: tuple[str, ...]
    sum_of_squares: float
    #: Degrees of freedom.
    freedom: int
    #: F, and the probability of an F as large without an effect; None: the residual, or it has no variance;
    #: blocks.
    f: float | None
    p: float | None
    #: Share of the variance that neither another effect nor this one leaves: partial eta squared.
    share: float | None


def effects(
    values: Sequence[float],
    factors: Mapping[str, Sequence[object]],
    *,
    interactions: bool = True,
    blocks: tuple[str, Sequence[object]] | None = None,
) -> list[Effect]:
    """Effects of factors on values, of all pairs of them too, and the residual at the end.

    `factors` has the level of each value. Sums of squares are of type II: an effect beside all others that do
    not contain it, whatever the numbers of samples. Samples are independent, and normal with one variance.

    Samples under common random numbers are not independent: `blocks`, a name and the block of each value,
    such as its seed, makes of it a randomised block analysis (R. A. Fisher 1935; D. C. Montgomery, Design and
    Analysis of Experiments, chapters 4 and 5). What the samples of a block have in common is a term of its
    own, in front of the residual and without F; residuals within a block are equally correlated.

    Raises `InputError` for a factor that has not one level of each value; `ValueError` for a factor of one
    level, or fewer samples than the effects leave a residual.

    >>> sizes = {"law": ["pi", "pi", "red", "red"] * 2, "flows": [5, 50] * 4}
    >>> found = effects([1.0, 3.0, 2.0, 4.0, 1.2, 3.1, 2.1, 4.2], sizes, interactions=False)
    >>> [(one.factors, one.freedom) for one in found]
    [(('law',), 1), (('flows',), 1), ((), 5)]
    """
    from scipy.special import fdtrc

    for name, given in [*factors.items(), *([blocks] if blocks is not None else [])]:
        if len(given) != len(values):
            count = f"{len(given)} levels of {len(values)} values"
            raise InputError(f"{name}: {count}; expected one level of each value")
    # About one of the samples, so that digits in common cancel exactly.
    observed = np.array(values, dtype=np.float64) - (values[0] if len(values) else 0.0)
    coded: dict[tuple[str, ...], Array] = {
        (name,): _contrasts(name, levels) for name, levels in factors.items()
    }
    if interactions:
        for one, other in itertools.combinations(factors, 2):
            left, right = coded[one,], coded[other,]
            coded[one, other] = (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)

    common = np.ones((len(observed), 1))
    if blocks is not None:
        common = np.hstack([common, _contrasts(*blocks)])

    def rest(names: Sequence[tuple[str, ...]], beside: Array = common) -> tuple[float, int]:
        """Sum of squares that effects leave, and its degrees of freedom."""
        design = np.hstack([beside, *(coded[name] for name in names)])
        fit, _, rank, _ = np.linalg.lstsq(design, observed, rcond=None)
        return float(np.sum((observed - design @ fit) ** 2)), len(observed) - int(rank)

    residual, freedom = rest(list(coded))
    if freedom < 1:
        raise ValueError(
            f"{len(observed)} samples for {len(observed) - freedom} means; "
            "expected more: other seeds, or no interactions"
        )
    whole = float(np.sum((observed - observed.mean()) ** 2))
    if residual <= ROUNDING * whole:
        residual = 0.0
    found = []
    for effect in coded:
        others = [name for name in coded if not set(effect) <= set(name)]
        (without, before), (beside, after) = rest(others), rest([*others, effect])
        squares, own = max(0.0, without - beside), before - after
        f = squares / own / (residual / freedom) if residual > 0 and own > 0 else None
        p = None if f is None else float(fdtrc(own, freedom, f))
        share = squares / (squares + residual) if squares + residual > 0 else None
        found.append(Effect(effect, squares, own, f, p, share))
    if blocks is not None:
        without, degrees = rest(list(coded), np.ones((len(observed), 1)))
        found.append(Effect((blocks[0],), max(0.0, without - residual), degrees - freedom, None, None, None))
    return [*found, Effect((), residual, freedom, None, None, None)]


def _contrasts(name: str, levels: Sequence[object]) -> Array:
    """A column for each level but the last: 1 there, -1 at the last, 0 elsewhere."""
    known = list(dict.fromkeys(levels))
    if len(known) < 2:
        raise ValueError(f"{name} has {len(known)} level; expected two or more")
    places = np.array([known.index(level) for level in levels])
    coded: Array = np.eye(len(known))[:, :-1]
    coded[-1] = -1
    column: Array = coded[places]
    return column
