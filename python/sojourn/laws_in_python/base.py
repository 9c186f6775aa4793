"""What is written in Python shares: parameters, a name; and laws a target, a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sojourn.errors import refuse_unknown
from sojourn.laws_in_python.parameters import check_kinds, defaults_of

if TYPE_CHECKING:
    from sojourn._core import Site

__all__ = ["InPython", "LawInPython"]


class InPython:
    """Base of what users write in Python: parameters by name, a copy of its own for each run or flow."""

    #: The name in results; None: the class and the parameters that are not at their defaults.
    label: str | None = None

    def __init__(self, **parameters: Any) -> None:
        refuse_unknown(type(self), parameters, defaults_of(type(self)))
        check_kinds(type(self), parameters)
        for name, value in parameters.items():
            setattr(self, name, value)

    def reset(self) -> None:
        """Set the state of a start."""


class LawInPython(InPython):
    """Base of `sojourn.Controller` and `sojourn.Law`."""

    #: The backlog that the law tries to hold, packets, for QACD, settling and overshoot; None: no target.
    target_packets: float | None = None
    #: The link and its traffic, as the scenario tells them; a run's own copy has it, from `reset` on.
    site: Site

    def reset(self) -> None:
        """Set the state of a run's start; called once for each run, on its own copy.

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
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"}), Smooth()).discs
        ['Smooth']
        """

    def retune(self, **parameters: Any) -> None:
        """Take other parameters while it works, as ``[[at]]`` in the scenario says; the state stays.

        It is told all that were set so far, as the file writes them. As it is, it sets each under its name. A
        class in which more follows from its parameters has a method of its own, and one that raises refuses
        them. `period` and `target_packets` are read again afterwards.

        >>> import sojourn as sj
        >>> class Line(sj.Controller):
        ...     period = "10 ms"
        ...     full = 200
        ...
        ...     def reset(self):
        ...         self.slope = 1 / self.full
        ...
        ...     def retune(self, **parameters):
        ...         super().retune(**parameters)
        ...         self.slope = 1 / self.full
        ...
        ...     def update(self, seen):
        ...         return min(1.0, self.slope * seen.backlog_packets)
        >>> law = Line()
        >>> law.retune(full=100)
        >>> law.slope
        0.01
        """
        refuse_unknown(type(self), parameters, defaults_of(type(self)))
        check_kinds(type(self), parameters)
        for name, value in parameters.items():
            # A frozen dataclass refuses setattr.
            object.__setattr__(self, name, value)
