"""Errors and their exit codes."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sojourn._core import ScenarioError
    from sojourn.result import Result

DONE = 0
FAILED = 1
BAD_INPUT = 2
MISSING = 3
NOT_PROVEN = 4
INTERRUPTED = 130


class SojournError(Exception):
    """Base of Sojourn's own errors; `lines` are for the user, one for each error."""

    exit_code = FAILED

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class Diagnostic(NamedTuple):
    """One error of an input, in parts; those that it lacks are None or empty."""

    #: The line for the user.
    text: str
    #: Class of the error: "syntax", "unknown_key", "unknown_name", "missing", "repeated", "type", "range",
    #: "conflict", "file", or "argument" outside of scenarios.
    kind: str = "argument"
    #: Name of the file, and the place in it, from 1.
    file: str | None = None
    line: int | None = None
    column: int | None = None
    #: Key of the override that has the value, as it was written: "bulk.count".
    override: str | None = None
    #: Dotted key of the value: "flows[0].app.web.objects"; of an argument its name: "--target", "flows".
    key: str = ""
    #: The value, as the line quotes it.
    found: str | None = None
    #: The rest of the line: the fault, a similar name that exists, and values that would do.
    problem: str = ""
    hint: str | None = None
    expected: str = ""
    #: Lines of the file with a caret under the place.
    drawing: str = ""


class InputError(SojournError, ValueError):
    """Invalid input: each line has the place, the error and the expected input (exit code 2).

    `diagnostics` has the same errors in parts, one for each of `lines`.

    >>> import sojourn as sj
    >>> try:
    ...     sj.load("dumbbell", {"bottleneck.rate": "fast"})
    ... except sj.InputError as error:
    ...     print(error.diagnostics[0].kind, error.diagnostics[0].key)
    type bottleneck.rate
    """

    exit_code = BAD_INPUT

    def __init__(self, *lines: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(*lines)
        self.diagnostics = list(diagnostics) or [_of_argument(line) for line in lines]


#: A line about an argument: its command, its name, the fault, and values that would do.
_ARGUMENT = re.compile(
    r"(?:sojourn \w+: )?(?P<key>[^\s:]+(?:, [^\s:]+)*): (?P<problem>.+?)(?:; expected (?P<expected>.+))?",
    re.DOTALL,
)


def _of_argument(line: str) -> Diagnostic:
    """The parts of a line that has them all in its text."""
    found = _ARGUMENT.fullmatch(line)
    if found is None:
        return Diagnostic(line, problem=line)
    return Diagnostic(line, key=found["key"], problem=found["problem"], expected=found["expected"] or "")


def refusal(
    error: ScenarioError, *, before: str = "", setting: str = "--set ", nameless: str = ""
) -> InputError:
    """The errors of the compiled half, each with its line for the user.

    `before` precedes each line, and `setting` the key of an override; `nameless` is the key of a value that
    has neither a place nor a key.
    """
    found = [_diagnostic(one, before, setting, nameless) for one in error.diagnostics]
    return InputError(*(one.text for one in found), diagnostics=found)


def _diagnostic(parts: dict[str, Any], before: str, setting: str, nameless: str) -> Diagnostic:
    fields = dict(parts)
    place, inside, message = (fields.pop(part) for part in ("place", "inside", "message"))
    if fields["override"] is not None:
        place = f"{setting}{place}"
    if not place and not inside:
        fields["key"] = inside = nameless
    line = before + ": ".join(part for part in (place, inside, message) if part)
    return Diagnostic(text=line, **fields)


class NotWritten(SojournError):
    """A result could not be written to its place (exit code 1).

    The lines name the path, the reason, and the result's actual place, if any. The earlier content of the
    path is unchanged.
    """

    exit_code = FAILED


class WriteWarning(UserWarning):
    """A written file may not survive a power failure, or a foreign file is beside it."""


class ArgumentError(InputError, TypeError):
    """An argument in Python is of the wrong kind or unknown: the line names it."""


class NotProvenError(SojournError):
    """A certificate is neither stable nor unstable, or there is no model for one (exit code 4)."""

    exit_code = NOT_PROVEN


class MissingError(SojournError):
    """The machine lacks a component: the line names it, and how to install it (exit code 3)."""

    exit_code = MISSING


def missing_core(error: ImportError) -> MissingError:
    """Error for a compiled half that cannot be loaded."""
    return MissingError(
        f"sojourn: the compiled part sojourn._core cannot be loaded ({error}); "
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

    The law's exception, if any, is the `__cause__`. `result` holds the runs that had finished, or None.
    """


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run (exit code 130). `result` holds the runs that had finished, or None."""

    exit_code = INTERRUPTED

    def __init__(self, line: str, result: Result | None) -> None:
        super().__init__(line)
        self.lines = (line,)
        self.result = result


def settle(error: BaseException, command: str) -> tuple[int, list[str]]:
    """Exit code of an error and the lines to print for it.

    `command` (such as ``sojourn run``) precedes lines that name no place. Set the environment variable
    ``SOJOURN_TRACEBACK=1`` to see where an unexpected error arose.
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
    """Line for bytes in an argument that are not UTF-8 and not part of a file name."""
    shown = error.object.encode("utf-8", "backslashreplace").decode()
    return (
        f'"{shown[:60]}" is no text in UTF-8; expected letters, as only names of files may have other bytes'
    )


def _unforeseen(error: BaseException) -> str:
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    message = " ".join(str(error).split())
    return f"internal error: {type(error).__name__}: {message} (SOJOURN_TRACEBACK=1 shows where)"


def refuse_unknown(kind: type, given: Iterable[str], parameters: Iterable[str]) -> None:
    """Raise `ArgumentError` with one line for a name in `given` that is none of `parameters`."""
    known = sorted(parameters)
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            expected = f"expected {', '.join(known) or 'none'}"
            raise ArgumentError(f"{kind.__name__} has no parameter {name}; {hint}{expected}")
