"""Quantities with units, read as scenarios have them: one reader for files, options and arguments."""

from __future__ import annotations

from sojourn import _core
from sojourn.errors import refusal
from sojourn.kinds import one_of_kind
from sojourn.kinds import text as of_text

__all__ = ["quantity"]


def quantity(kind: str, text: str) -> tuple[float, str]:
    """A quantity, as ``rate``, ``queue``, ``size``, ``frequency`` or ``time``: its value and its unit.

    Units are ``bit/s``, ``packets/s``, ``packets``, ``B``, ``Hz`` or ``s``. Raises `InputError` with a line
    that lists those that a text may have.

    >>> quantity("rate", "10 MB/s"), quantity("queue", "5ms")
    ((80000000.0, 'bit/s'), (0.005, 's'))
    """
    one_of_kind(kind, of_text, text)
    try:
        return _core.quantity(kind, text)
    except _core.ScenarioError as error:
        raise refusal(error) from None
