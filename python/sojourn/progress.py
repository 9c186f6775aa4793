"""Progress of runs below the cell of a notebook that waits for them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

#: Called with a text and the fraction of the work that is done, 0 to 1.
Show = Callable[[str, float], None]

#: Time until progress appears, and between two updates, s.
AFTER_S, EVERY_S = 0.5, 0.25


@contextmanager
def progress() -> Iterator[Show | None]:
    """Show progress under the cell that runs, and remove it at the end; None outside of notebooks."""
    if not in_a_notebook():
        yield None
        return
    shown = _Progress(time.monotonic())
    try:
        yield shown.update
    finally:
        shown.clear()


@contextmanager
def of_runs(number: int | None = None) -> Iterator[Callable[[int, float], None] | None]:
    """Progress of runs, by the number finished, of `number` if known, and the fraction of all work."""
    with progress() as show:
        of = "" if number is None else f" of {number}"
        yield None if show is None else lambda done, fraction: show(f"{done}{of} runs", fraction)


@contextmanager
def of_cells() -> Iterator[Callable[[int, int, object], None] | None]:
    """Progress of a sweep, by what has finished, out of how many, and their name or the last of them."""
    with progress() as show:
        yield (
            None
            if show is None
            else lambda done, todo, last: show(
                f"{done} of {todo} {last if isinstance(last, str) else 'cells'}", done / max(1, todo)
            )
        )


def in_a_notebook() -> bool:
    """True in a kernel of Jupyter, which shows HTML."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return hasattr(running, "kernel")


class _Progress:
    """A bar below the cell, from `AFTER_S` on."""

    def __init__(self, start: float) -> None:
        self._next = start + AFTER_S
        self._handle: Any = None

    def update(self, text: str, fraction: float) -> None:
        """Show a text and a fraction, now and then."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY_S
            self._put(f'<progress value="{fraction:.3f}" max="1"></progress> {escape(text)}')

    def clear(self) -> None:
        """Leave nothing below the cell."""
        if self._handle is not None:
            self._put("")

    def _put(self, html: str) -> None:
        # Not one of our dependencies: there if a kernel runs.
        of = import_module("IPython.display")
        if self._handle is None:
            self._handle = of.display(of.HTML(html), display_id=True)
        else:
            self._handle.update(of.HTML(html))
