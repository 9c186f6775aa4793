"""Reading of regular files only: pipes and devices could block."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

#: Names of the caller's own streams, such as ``/dev/stdin`` and a shell's ``<(...)``.
_STREAM = re.compile(rb"/dev/std(?P<name>in|out|err)|(?:/dev|/proc/self)/fd/(?P<number>[0-9]{1,9})")
_STANDARD = {b"in": 0, b"out": 1, b"err": 2}

_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a symbolic link"),
)


class NotAFile(OSError):
    """Not a regular file; `strerror` names its kind."""


def opened(path: str | Path, dir_fd: int | None = None) -> BinaryIO:
    """Open a regular file for reading, relative to the folder `dir_fd` if given.

    Symbolic links are followed. Raises `OSError`: `NotAFile` for a pipe, a socket or a device, which is not
    even opened, unless its name is one of the caller's own streams, such as ``/dev/stdin``, or ``/dev/null``.
    """
    if is_stream(path) or os.fspath(path) == os.devnull:
        return open(path, "rb")
    refuse_kind(os.stat(path, dir_fd=dir_fd), path)
    # The file may have been replaced since; with O_NONBLOCK no open blocks.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        refuse_kind(os.fstat(number), path)
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def read(path: str | Path, most: int, dir_fd: int | None = None) -> bytes:
    """Bytes of a regular file, at most one more than `most`; raises `OSError` as `opened` does."""
    with opened(path, dir_fd) as file:
        return file.read(most + 1)


def refuse_kind(found: os.stat_result, path: str | Path) -> None:
    """Raise `OSError` unless the file found is regular."""
    if stat.S_ISREG(found.st_mode):
        return
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise NotAFile(errno.EINVAL, f"it is {kind_of(found)}", os.fspath(path))


def kind_of(found: os.stat_result) -> str:
    """Kind of file, such as ``a pipe``."""
    return next((name for test, name in _KINDS if test(found.st_mode)), "no regular file")


def is_stream(path: str | Path) -> bool:
    """True for the name of one of the caller's streams.

    >>> is_stream("/dev/stdin"), is_stream("/dev/sda"), is_stream("results/x")
    (True, False, False)
    """
    return descriptor_of(path) is not None


def descriptor_of(path: str | Path) -> int | None:
    """File descriptor of one of the caller's streams; None for any other name.

    >>> descriptor_of("/dev/stdout"), descriptor_of("/dev/fd/63"), descriptor_of("/dev/null")
    (1, 63, None)
    """
    found = _STREAM.fullmatch(os.fsencode(path))
    if found is None:
        return None
    return _STANDARD[found["name"]] if found["name"] else int(found["number"])
