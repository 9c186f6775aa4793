"""The report: one offline HTML page of a result. It reads results only."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sojourn.errors import InputError
from sojourn.report.page import baseline_mark, page
from sojourn.result import Result

__all__ = ["baseline_of", "page", "put", "write"]


def baseline_of(path: Path, result: Result) -> str | None:
    """The disc of `result` to which an earlier page takes its differences; None where it has no such disc."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.read(HEAD)
    except OSError:
        return None  # a page that nobody may read is replaced all the same
    return next((disc for disc in result.discs if baseline_mark(disc) in head), None)


#: A page names its baseline within so many characters.
HEAD = 4096


def write(result: Result, path: Path, baseline: str | None = None) -> Path:
    """Write the page, whole or not at all. Raises `InputError` where it cannot be written."""
    return put(path, lambda: page(result, baseline))


def put(path: Path, make: Callable[[], str]) -> Path:
    """Write a page that `make` makes, whole or not at all. Raises `InputError` where it cannot be written."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; legal: the name of a file, such as report.html")
    text = make()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.exists() and not path.is_file():
            # A device or a pipe is written into; a file in its stead would break whoever else uses it.
            path.write_text(text, encoding="utf-8", errors="replace")
            return path
        part.write_text(text, encoding="utf-8", errors="replace")
        part.replace(path)
    except OSError as fault:
        why = fault.strerror or str(fault)
        raise InputError(f"{path}: cannot be written ({why}); legal: a file in a writable folder") from None
    finally:
        with suppress(OSError):
            part.unlink()
    return path
