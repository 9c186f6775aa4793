"""Where a law written in Python failed: the line of its author, not of ours."""

from __future__ import annotations

import dis
import inspect
import linecache
import traceback
from types import CodeType, FunctionType

from sojourn.controller import Controller

__all__ = ["failure_of", "line_of", "shown", "source_of"]

# Letters of what is quoted from a law.
_LONGEST = 200


def failure_of(controller: Controller, fault: BaseException) -> str:
    """One line for a law that failed in a run: ``FILE:LINE: what, in "SOURCE", at TIME of the run``."""
    what, time_s = fault.args
    if fault.__cause__ is not None:
        return f"{line_of(controller, fault.__cause__)}, at {time_s:.9g} s of the run"
    code, legal = _code_of_update(controller), "legal: a probability, a number from 0 to 1"
    said = _placed(code.co_filename, _answering_line(code), shown(what)) if code else shown(what)
    return f"{said}, at {time_s:.9g} s of the run; {legal}"


def line_of(controller: Controller, fault: BaseException) -> str:
    """``FILE:LINE: KIND: what, in "SOURCE"`` of the last line in the law's own files that raised this."""
    said = f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__
    files = _files_of(controller)
    for frame in reversed(traceback.extract_tb(fault.__traceback__)):
        if frame.filename in files and frame.lineno is not None:
            return _placed(frame.filename, frame.lineno, shown(said))
    # It was not raised in there: update was called with an argument that it does not take.
    code = _code_of_update(controller)
    return _placed(code.co_filename, code.co_firstlineno, shown(said)) if code else shown(said)


def source_of(controller: Controller) -> str | None:
    """The source of the law's class, as a result keeps it; None where Python does not have it."""
    try:
        return inspect.getsource(type(controller))
    except (OSError, TypeError):
        return None


def shown(text: str) -> str:
    """The text on one line of bearable length."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " ..."


def _placed(file: str, line: int, what: str) -> str:
    linecache.checkcache(file)
    source = shown(linecache.getline(file, line))
    return f'{file}:{line}: {what}, in "{source}"' if source else f"{file}:{line}: {what}"


def _code_of_update(controller: Controller) -> CodeType | None:
    """None where `update` is no function of Python's."""
    update = inspect.unwrap(controller.update)
    return getattr(update, "__code__", None)


def _answering_line(code: CodeType) -> int:
    """The line that gives the answer where there is only one such, else where the function begins."""
    steps = dis.get_instructions(code)
    returns = {step.positions.lineno for step in steps if step.positions and step.opname in _RETURNS}
    line = returns.pop() if len(returns) == 1 else None
    return line or code.co_firstlineno


def _files_of(controller: Controller) -> set[str]:
    """The files in which the methods of the law and of its author's bases stand."""
    kinds = [kind for kind in type(controller).__mro__ if kind not in (Controller, object)]
    methods = [value for kind in kinds for value in vars(kind).values() if isinstance(value, FunctionType)]
    codes = [method.__code__ for method in methods] + [_code_of_update(controller)]
    return {code.co_filename for code in codes if code is not None}


_RETURNS = {"RETURN_VALUE", "RETURN_CONST"}
