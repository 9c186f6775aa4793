"""Requests and messages between a command and the process of its live run, each behind its length.

A request is the parent's path of modules and, pickled for itself, the work: a law may be of a module on that
path. Any byte after it ends the run early, and the end of the file ends the process.
"""

from __future__ import annotations

import io
import operator
import os
import pickle
import sys
from types import FunctionType
from typing import Any

__all__ = ["END", "LawStopped", "pickled", "receive", "send"]

#: Ends a run early, and a command.
END = b"end"
#: Bytes of a length.
_LENGTH = 8


class LawStopped(Exception):
    """A law in Python failed, or answered what it may not: its line of code and what is wrong there."""


def pickled(request: object) -> bytes:
    """A request in bytes. Raises `pickle.PicklingError`, `AttributeError` or `TypeError`."""
    into = io.BytesIO()
    _Pickler(into).dump(request)
    return into.getvalue()


class _Pickler(pickle.Pickler):
    """Pickles classes of laws in files of the user, whose modules are named by path and content."""

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, type | FunctionType):
            return NotImplemented
        if value.__module__ == "__main__":
            # Another process has another one, and to run this program there would run it twice.
            raise pickle.PicklingError(f"{value.__qualname__} is of the program itself")
        path, _, mark = value.__module__.rpartition(" ")
        if path.endswith(".py") and mark:
            # As the user has written it, for messages.
            file = vars(sys.modules[value.__module__]).get("__file__") or path
            return _of_file, (file, value.__qualname__)
        return NotImplemented


def _of_file(path: str, name: str) -> Any:
    """A class or a function of a file."""
    from sojourn.custom.files import module_of

    return operator.attrgetter(name)(module_of(path, "--qdisc"))


def send(file: int, part: bytes) -> None:
    """Write a part to a file by its number."""
    left = memoryview(len(part).to_bytes(_LENGTH, "big") + part)
    while left:
        left = left[os.write(file, left) :]


def receive(file: int) -> bytes:
    """The next part, and no byte after it. Raises `EOFError`."""
    return _exactly(file, int.from_bytes(_exactly(file, _LENGTH), "big"))


def _exactly(file: int, length: int) -> bytes:
    parts = []
    while length:
        part = os.read(file, length)
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
