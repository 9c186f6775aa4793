"""Feedback over an infinite horizon, where an input away from u_s has a cost of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from sojourn import _core
from sojourn.errors import InputError
from sojourn.kinds import number, one_of_kind, shown
from sojourn.ocq.problem import Floats


@dataclass(frozen=True)
class Feedback:
    """Input as a function of the queue, u*(x); the law `fb_ocq` follows from it."""

    #: Outflow of a long queue, packets/s, and the queue at which half of it flows out, packets.
    mu: float
    a: float
    #: Cost of a rejected packet, s.
    R: float
    #: Equilibrium, packets, and its input, packets/s.
    x_s: float
    u_s: float
    #: Penalty on (u - u_s)^2, s^2/packet.
    eps: float

    def input(self, x: object) -> Floats:
        """u*(x), packets/s, at backlogs `x` in packets; not limited to 0 and the offered load.

        >>> feedback(50, R=2 / 9, eps=0.01).input([1, 2, 3]).round(6)
        array([38.743685, 35.879209, 33.333333])
        """
        try:
            backlogs = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"x: {shown(x)} is no array; expected one of numbers, packets") from None
        inside = (backlogs >= 0) & (backlogs <= _LARGEST)
        if not inside.all():
            outside = float(backlogs[~inside].flat[0])
            raise InputError(f"x: a backlog of {outside:g}; expected packets, 0 to {_LARGEST:g}")
        # By x_s, of which R may be a / mu to rounding.
        found = _core.ocq_feedback(
            [self.mu, self.a], None, self.x_s, [self.eps, None], backlogs.ravel().tolist()
        )
        _, inputs = cast("tuple[object, list[float]]", found)
        return np.array(inputs).reshape(backlogs.shape)


def feedback(
    mu: float,
    a: float = 1.0,
    *,
    R: float | None = None,  # noqa: N803
    target: float | None = None,
    eps: float | None = None,
    t_c: float | None = None,
) -> Feedback:
    """Feedback of a queue `mu` (packets/s), `a` (packets) with the penalty eps (u - u_s)^2 per second.

    Either `R`, s, or the equilibrium `target`, packets, of which R = (a + target)^2 / (a mu); and either
    `eps`, s^2/packet, or the time constant `t_c` of the equilibrium, s, less than R. The closed form is
    equation (5) of docs/laws/fb_ocq.md, eps and t_c are related by its (6). Raises `InputError`.

    >>> found = feedback(1250, target=40, t_c=0.2)
    >>> round(found.R, 4), round(found.u_s, 6), round(found.eps, 12)
    (1.3448, 1219.512195, 0.000997676296)
    """
    given = {"mu": mu, "a": a, "R": R, "target": target, "eps": eps, "t_c": t_c}
    values = {name: _positive(name, value) for name, value in given.items() if value is not None}
    for one, other in (("R", "target"), ("eps", "t_c")):
        if (one in values) == (other in values):
            which = "both are given" if one in values else "neither is given"
            raise InputError(f"{one}, {other}: {which}; expected one of them")
    if "R" in values and _core.ocq_x_s(values["mu"], values["a"], values["R"]) <= 0:
        raise InputError(f"R: {R:g} is out of range; expected more than a / mu = {a / mu:g} s")
    found = _core.ocq_feedback(
        [values["mu"], values["a"]],
        values.get("R"),
        values.get("target"),
        [values.get("eps"), values.get("t_c")],
        [],
    )
    if found is None:
        raise InputError(f"t_c: {t_c:g} is out of range; expected less than R")
    return Feedback(values["mu"], values["a"], *found[0])


def _positive(name: str, given: object) -> float:
    value = cast("float", one_of_kind(name, number, given))
    if not 0 < value <= _LARGEST:
        raise InputError(f"{name}: {value:g} is out of range; expected more than 0, at most {_LARGEST:g}")
    return value


#: Largest number whose squared products stay finite.
_LARGEST = 1e12
