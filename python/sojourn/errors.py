"""What can go wrong, and the exit code of each: the only place that ties the two together."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sojourn.result import Result

DONE = 0
FAILED = 1
BAD_INPUT = 2
MISSING = 3
NOT_PROVEN = 4
INTERRUPTED = 130


class SojournError(Exception):
    """Base of Sojourn's own errors; `lines` are what a user is told, one line a fault."""

    exit_code = FAILED

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class Excerpt(NamedTuple):
    """A line of a file that shows an error: its number, its text, and the characters before the place."""

    line: int
    text: str
    before: int


class InputError(SojournError, ValueError):
    """The input is wrong: each line says what, where, and what is expected (exit code 2).

    `excerpts` has, for each of `lines`, the lines of the file that show it; none where it is about no file.
    """

    exit_code = BAD_INPUT

    def __init__(self, *lines: str, excerpts: Sequence[Sequence[tuple[int, str, int]]] = ()) -> None:
        super().__init__(*lines)
        self.excerpts = [[Excerpt(*one) for one in shown] for shown in excerpts]


class NotWritten(SojournError):
    """What was computed could not be written where it belongs (exit code 1).

    The lines name the path and the reason, and where the result is instead, if it is anywhere. What stood at
    the path is as it was.
    """

    exit_code = FAILED


class WriteWarning(UserWarning):
    """What was written may not survive a power failure, or a file of another's is beside it."""


class ArgumentError(InputError, TypeError):
    """An argument in Python is of a wrong kind, or there is no such argument: the line names it."""


class NotProvenError(SojournError):
    """A certificate says neither stable nor unstable, or there is no model for one (exit code 4)."""

    exit_code = NOT_PROVEN


class MissingError(SojournError):
    """The machine lacks something: the line says what, and how to get it (exit code 3)."""

    exit_code = MISSING


def missing_core(fault: ImportError) -> MissingError:
    """The error for a Sojourn whose compiled half cannot be loaded."""
    return MissingError(
        f"sojourn: the compiled part sojourn._core cannot be loaded ({fault}); "
        "install Sojourn with pip, or build it with 'maturin develop --release'"
    )


class RunFailed(SojournError):
    """A run failed (exit code 1). `result` holds the runs that had finished, or None."""

    exit_code = FAILED

    def __init__(self, line: str, result: Result | None) -> None:
        super().__init__(line)
        self.result = result


class LawFailed(RunFailed):
    """A law written in Python failed in a run (exit code 1); the line names the law, the seed and its code.

    What the law raised, if anything, is the `__cause__`. `result` holds the runs that had finished, or None.
    """


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run (exit code 130). `result` holds the runs that had finished, or None."""

    exit_code = INTERRUPTED

    def __init__(self, line: str, result: Result | None) -> None:
        super().__init__(line)
        self.lines = (line,)
        self.result = result


def settle(error: BaseException, command: str) -> tuple[int, list[str]]:
    """The exit code of an error and the lines to print for it.

    `command` (such as ``sojourn run``) stands before lines that do not name a place themselves.
    Set the environment variable ``SOJOURN_TRACEBACK=1`` to see where an unexpected error arose.
    """
    if isinstance(error, SojournError | Interrupted):
        before = "" if isinstance(error, InputError | MissingError | NotWritten) else f"{command}: "
        return error.exit_code, [f"{before}{line}" for line in error.lines]
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, [f"{command}: interrupted; nothing was written"]
    if isinstance(error, MemoryError):
        return MISSING, [f"{command}: this machine ran out of memory; try fewer --jobs or fewer seeds"]
    if os.environ.get("SOJOURN_TRACEBACK") == "1":
        raise error
    if isinstance(error, UnicodeEncodeError):
        return BAD_INPUT, [f"{command}: {_no_text(error)}"]
    return FAILED, [f"{command}: {_unforeseen(error)}"]


def _no_text(error: UnicodeEncodeError) -> str:
    """The line for bytes in an argument that are not UTF-8, where they name no file."""
    shown = error.object.encode("utf-8", "backslashreplace").decode()
    return f'"{shown[:60]}" is no text in UTF-8; legal: letters, as only names of files may have other bytes'


def _unforeseen(error: BaseException) -> str:
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    what = " ".join(str(error).split())
    return f"internal fault: {type(error).__name__}: {what} (SOJOURN_TRACEBACK=1 shows where)"


def refuse_unknown(kind: type, given: Iterable[str], legal: Iterable[str]) -> None:
    """Raises `ArgumentError` with one line where `given` holds what is no parameter of the class."""
    known = sorted(legal)
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            told = f"legal: {', '.join(known) or 'none'}"
            raise ArgumentError(f"{kind.__name__} has no parameter {name}; {hint}{told}")
