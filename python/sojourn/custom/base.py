"""Common bases of laws, qdiscs and congestion controls in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sojourn.custom.parameters import check_kinds, defaults_of
from sojourn.errors import refuse_unknown

if TYPE_CHECKING:
    from sojourn._core import LinkContext

__all__ = ["STAND_IN", "CustomLaw", "CustomQdisc", "InPython"]

#: Law in the place of one written in Python, where a text is needed.
STAND_IN = "tail_drop"


class InPython:
    """Base of what is written in Python: parameters by name, one copy for each run or flow."""

    #: Name in results; None: the class and the parameters that are not at their defaults.
    label: str | None = None

    def __init__(self, **parameters: Any) -> None:
        refuse_unknown(type(self), parameters, defaults_of(type(self)))
        check_kinds(type(self), parameters)
        for name, value in parameters.items():
            setattr(self, name, value)

    def reset(self) -> None:
        """Set the initial state."""


class CustomQdisc(InPython):
    """Base of what a link may have: a `sojourn.Controller`, a `sojourn.Law` or a `sojourn.Qdisc`."""

    #: Target backlog, packets, for QACD, settling and overshoot; None: no target.
    target_packets: float | None = None
    #: The link and its traffic, as configured; set in a run's own copy, from `reset` on.
    link: LinkContext

    def reset(self) -> None:
        """Set the initial state; called once for each run, on its own copy.

        >>> import sojourn as sj
        >>> class Smooth(sj.Controller):
        ...     period = "10 ms"
        ...
        ...     def reset(self):
        ...         self.mean = 0.0
        ...
        ...     def update(self, seen):
        ...         self.mean += 0.1 * (seen.backlog_packets - self.mean)
        ...         return min(1.0, self.mean / 200)
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"}), Smooth()).qdiscs
        ['Smooth']
        """

    def set_params(self, **parameters: Any) -> None:
        """Change parameters during a run, as ``[[at]]`` in the scenario does; the state stays.

        `parameters` are all set so far, as written in the file. This method sets each as an attribute. A
        class that derives other values from its parameters overrides it; an exception refuses them.
        `period` and `target_packets` are read again afterwards.

        >>> import sojourn as sj
        >>> class Line(sj.Controller):
        ...     period = "10 ms"
        ...     full = 200
        ...
        ...     def reset(self):
        ...         self.slope = 1 / self.full
        ...
        ...     def set_params(self, **parameters):
        ...         super().set_params(**parameters)
        ...         self.slope = 1 / self.full
        ...
        ...     def update(self, seen):
        ...         return min(1.0, self.slope * seen.backlog_packets)
        >>> law = Line()
        >>> law.set_params(full=100)
        >>> law.slope
        0.01
        """
        refuse_unknown(type(self), parameters, defaults_of(type(self)))
        check_kinds(type(self), parameters)
        for name, value in parameters.items():
            # A frozen dataclass refuses setattr.
            object.__setattr__(self, name, value)


class CustomLaw(CustomQdisc):
    """Base of `sojourn.Controller` and `sojourn.Law`."""
