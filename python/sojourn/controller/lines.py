"""Where a law written in Python failed: the line of its author, not of ours."""

from __future__ import annotations

import dis
import linecache
import traceback
from types import FunctionType

from sojourn.controller import Controller

__all__ = ["failure_of", "line_of", "shown"]

# Letters of what is quoted from a law.
_LONGEST = 200


def failure_of(controller: Controller, fault: BaseException) -> str:
    """One line for a law that failed in a run: ``FILE:LINE: what, in "SOURCE", at TIME of the run``."""
    what, time_s = fault.args
    if fault.__cause__ is not None:
        return f"{line_of(controller, fault.__cause__)}, at {time_s:.9g} s of the run"
    file, line = _answer_of(controller)
    legal = "legal: a probability, a number from 0 to 1"
    return f"{_placed(file, line, shown(what))}, at {time_s:.9g} s of the run; {legal}"


def line_of(controller: Controller, fault: BaseException) -> str:
    """``FILE:LINE: KIND: what, in "SOURCE"`` of the last line in the law's own files that raised this."""
    said = f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__
    files = {function.__code__.co_filename for function in _functions(controller)}
    frames = traceback.extract_tb(fault.__traceback__, limit=None)
    for frame in reversed(frames):
        if frame.filename in files and frame.lineno is not None:
            return _placed(frame.filename, frame.lineno, shown(said))
    # It was not raised in there: update was called with an argument that it does not take.
    code = type(controller).update.__code__
    return _placed(code.co_filename, code.co_firstlineno, shown(said))


def shown(text: str) -> str:
    """The text on one line of bearable length."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " ..."


def _placed(file: str, line: int, what: str) -> str:
    source = shown(linecache.getline(file, line))
    return f'{file}:{line}: {what}, in "{source}"' if source else f"{file}:{line}: {what}"


def _answer_of(controller: Controller) -> tuple[str, int]:
    """The line that gives the answer of `update` where there is only one such, else where it begins."""
    code = type(controller).update.__code__
    steps = dis.get_instructions(code)
    returns = {step.positions.lineno for step in steps if step.positions and step.opname in _RETURNS}
    line = returns.pop() if len(returns) == 1 else None
    return code.co_filename, line or code.co_firstlineno


def _functions(controller: Controller) -> list[FunctionType]:
    kinds = [kind for kind in type(controller).__mro__ if kind not in (Controller, object)]
    return [value for kind in kinds for value in vars(kind).values() if isinstance(value, FunctionType)]


_RETURNS = {"RETURN_VALUE", "RETURN_CONST"}
