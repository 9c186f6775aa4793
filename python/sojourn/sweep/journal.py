"""Journals: files of lines with checksums, which no kill can tear."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Journal", "lines"]

#: Digits of the checksum of a line.
_DIGITS = 8


@dataclass
class Journal:
    """An open journal, which this process alone writes: a JSON document a line."""

    number: int
    #: Bytes of it that are whole.
    length: int = 0

    @classmethod
    def opened(cls, path: Path) -> Journal:
        """Open a journal, new or after its whole lines; a torn end is cut off. Raises `OSError`."""
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            found = cls(number, sum(length for _, length in lines(path)))
            os.ftruncate(number, found.length)
        except BaseException:
            os.close(number)
            raise
        return found

    def append(self, document: Any) -> None:
        """Add a line, all of it or nothing: from here on no kill loses it. Raises `OSError`."""
        text = json.dumps(document, ensure_ascii=True).encode()
        data, done = b"%08x %s\n" % (zlib.crc32(text), text), 0
        try:
            while done < len(data):
                done += os.pwrite(self.number, data[done:], self.length + done)
        except OSError:
            os.ftruncate(self.number, self.length)
            raise
        self.length += len(data)

    def clear(self) -> None:
        """Begin it anew. Raises `OSError`."""
        os.ftruncate(self.number, 0)
        self.length = 0

    def close(self) -> None:
        """Close the file."""
        os.close(self.number)


def lines(path: Path) -> Iterator[tuple[Any, int]]:
    """The documents of the whole lines of a journal, each with its length, bytes; none without a file.

    Raises `OSError`.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            check, text = line[:_DIGITS], line[_DIGITS + 1 : -1]
            if not line.endswith(b"\n") or check != b"%08x" % zlib.crc32(text):
                return
            yield json.loads(text), len(line)
