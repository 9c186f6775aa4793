"""Requests and messages between a command and the process of its live run.

A request is the parent's path of modules and, pickled for itself, what to do: a law may be of a module on
that path. Any byte after it ends the run early, and the end of the file ends the process.
"""

from __future__ import annotations

import io
import operator
import os
import pickle
import sys
from typing import Any

__all__ = ["END", "LawStopped", "pickled", "read_exactly", "write_all"]

#: Ends a run early, and a command.
END = b"end"


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
        if isinstance(value, type):
            path, _, mark = value.__module__.rpartition(" ")
            if path.endswith(".py") and mark:
                # As the user has written it, for messages.
                file = vars(sys.modules[value.__module__]).get("__file__") or path
                return _class_in, (file, value.__qualname__)
            if value.__module__ == "__main__":
                # Another process has another one, and to run this program there would run it twice.
                raise pickle.PicklingError(f"{value.__qualname__} is of the program itself")
        return NotImplemented


def _class_in(path: str, name: str) -> Any:
    """A class of a file."""
    from sojourn.custom.files import module_of

    return operator.attrgetter(name)(module_of(path, "--qdisc"))


def write_all(file: int, data: bytes) -> None:
    """Write to a file by its number, without a buffer that a signal's handler could find half filled."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def read_exactly(file: int, length: int) -> bytes:
    """Read so many bytes, and none after them. Raises `EOFError`."""
    parts = []
    while length:
        part = os.read(file, length)
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
