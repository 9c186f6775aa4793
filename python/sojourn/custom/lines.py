"""Failures of laws and qdiscs written in Python, located at a line of their source."""

from __future__ import annotations

import dis
import inspect
import linecache
import traceback
from types import CodeType, FunctionType

from sojourn.custom import BASES, InPython
from sojourn.custom.congestion import CC_CALLS
from sojourn.custom.law import CALLS
from sojourn.custom.qdisc import QDISC_CALLS

__all__ = ["failure_of", "line_of", "message_of", "shown", "source_of"]

# Longest quotation from a law, characters.
_LONGEST = 200


def failure_of(law: InPython, error: BaseException, *, in_a_run: bool = True) -> str:
    """One line for a law that failed: ``FILE:LINE: error, in "SOURCE", at TIME of the run``."""
    message, time_s, method, expected = error.args
    when = f", at {time_s:.9g} s of the run" if in_a_run else ""
    if error.__cause__ is not None:
        return f"{line_of(law, error.__cause__, method)}{when}"
    code = _code_of(law, method)
    line = _placed(code.co_filename, _answering_line(code), shown(message)) if code else shown(message)
    return f"{line}{when}; expected {expected}"


def line_of(law: InPython, error: BaseException, method: str) -> str:
    """``FILE:LINE: KIND: error, in "SOURCE"`` of the last line in the law's own files that raised this."""
    text = message_of(error)
    message = f"{type(error).__name__}: {text}" if text else type(error).__name__
    files = _files_of(law)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in files and frame.lineno is not None:
            return _placed(frame.filename, frame.lineno, shown(message))
    # Raised by the call: the method does not take these arguments.
    code = _code_of(law, method)
    return _placed(code.co_filename, code.co_firstlineno, shown(message)) if code else shown(message)


def source_of(law: InPython) -> str | None:
    """Source of the law's class, as a result keeps it; None if Python does not have it."""
    try:
        return inspect.getsource(type(law))
    except (OSError, TypeError):
        return None


def message_of(error: BaseException) -> str:
    """Text of an error; empty if its class cannot give one."""
    try:
        return str(error)
    except Exception:
        return ""


def shown(text: str) -> str:
    """The text on one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " ..."


def _placed(file: str, line: int, message: str) -> str:
    linecache.checkcache(file)
    source = shown(linecache.getline(file, line))
    return f'{file}:{line}: {message}, in "{source}"' if source else f"{file}:{line}: {message}"


def _code_of(law: InPython, method: str) -> CodeType | None:
    """Code of a method; None if it is no Python function of its author."""
    function = getattr(law, method, None)
    if getattr(function, "__func__", function) in [vars(base).get(method) for base in BASES]:
        return None
    return getattr(inspect.unwrap(function), "__code__", None)  # type: ignore[arg-type]


def _answering_line(code: CodeType) -> int:
    """The only line that returns a value, else the first line of the function."""
    steps = dis.get_instructions(code)
    returns = {step.positions.lineno for step in steps if step.positions and step.opname in _RETURNS}
    line = returns.pop() if len(returns) == 1 else None
    return line or code.co_firstlineno


def _files_of(law: InPython) -> set[str]:
    """Files that define the methods of the law and of its author's bases."""
    kinds = [kind for kind in type(law).__mro__ if kind not in BASES]
    values = [value for kind in kinds for value in vars(kind).values()]
    functions = [value.fget if isinstance(value, property) else value for value in values]
    codes = [function.__code__ for function in functions if isinstance(function, FunctionType)]
    codes += [
        code
        for name in ("update", *CALLS, *QDISC_CALLS, *CC_CALLS)
        if (code := _code_of(law, name)) is not None
    ]
    return {code.co_filename for code in codes}


_RETURNS = {"RETURN_VALUE", "RETURN_CONST"}
