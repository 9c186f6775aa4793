"""Where a law written in Python failed: the line of its author, not of ours."""

from __future__ import annotations

import dis
import inspect
import linecache
import traceback
from types import CodeType, FunctionType

from sojourn.laws_in_python import BASES, InPython
from sojourn.laws_in_python.congestion import CC_CALLS
from sojourn.laws_in_python.law import CALLS

__all__ = ["failure_of", "line_of", "said_by", "shown", "source_of"]

# Letters of what is quoted from a law.
_LONGEST = 200


def failure_of(law: InPython, fault: BaseException, *, in_a_run: bool = True) -> str:
    """One line for a law that failed: ``FILE:LINE: what, in "SOURCE", at TIME of the run``."""
    what, time_s, method, legal = fault.args
    when = f", at {time_s:.9g} s of the run" if in_a_run else ""
    if fault.__cause__ is not None:
        return f"{line_of(law, fault.__cause__, method)}{when}"
    code = _code_of(law, method)
    said = _placed(code.co_filename, _answering_line(code), shown(what)) if code else shown(what)
    return f"{said}{when}; legal: {legal}"


def line_of(law: InPython, fault: BaseException, method: str) -> str:
    """``FILE:LINE: KIND: what, in "SOURCE"`` of the last line in the law's own files that raised this."""
    text = said_by(fault)
    said = f"{type(fault).__name__}: {text}" if text else type(fault).__name__
    files = _files_of(law)
    for frame in reversed(traceback.extract_tb(fault.__traceback__)):
        if frame.filename in files and frame.lineno is not None:
            return _placed(frame.filename, frame.lineno, shown(said))
    # It was not raised in there: the method was called with arguments that it does not take.
    code = _code_of(law, method)
    return _placed(code.co_filename, code.co_firstlineno, shown(said)) if code else shown(said)


def source_of(law: InPython) -> str | None:
    """The source of the law's class, as a result keeps it; None where Python does not have it."""
    try:
        return inspect.getsource(type(law))
    except (OSError, TypeError):
        return None


def said_by(fault: BaseException) -> str:
    """The text of a fault; empty where a class of its author's cannot give one."""
    try:
        return str(fault)
    except Exception:
        return ""


def shown(text: str) -> str:
    """The text on one line of bearable length."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " ..."


def _placed(file: str, line: int, what: str) -> str:
    linecache.checkcache(file)
    source = shown(linecache.getline(file, line))
    return f'{file}:{line}: {what}, in "{source}"' if source else f"{file}:{line}: {what}"


def _code_of(law: InPython, method: str) -> CodeType | None:
    """None where the method is no function of its author's in Python."""
    function = getattr(law, method, None)
    if getattr(function, "__func__", function) in [vars(base).get(method) for base in BASES]:
        return None
    return getattr(inspect.unwrap(function), "__code__", None)  # type: ignore[arg-type]


def _answering_line(code: CodeType) -> int:
    """The line that gives the answer where there is only one such, else where the function begins."""
    steps = dis.get_instructions(code)
    returns = {step.positions.lineno for step in steps if step.positions and step.opname in _RETURNS}
    line = returns.pop() if len(returns) == 1 else None
    return line or code.co_firstlineno


def _files_of(law: InPython) -> set[str]:
    """The files in which the methods of the law and of its author's bases stand."""
    kinds = [kind for kind in type(law).__mro__ if kind not in BASES]
    values = [value for kind in kinds for value in vars(kind).values()]
    functions = [value.fget if isinstance(value, property) else value for value in values]
    codes = [function.__code__ for function in functions if isinstance(function, FunctionType)]
    codes += [code for name in ("update", *CALLS, *CC_CALLS) if (code := _code_of(law, name)) is not None]
    return {code.co_filename for code in codes}


_RETURNS = {"RETURN_VALUE", "RETURN_CONST"}
