"""The report: one offline HTML page of a result. It reads results only."""

from __future__ import annotations

import errno
import warnings
from collections.abc import Callable
from pathlib import Path

from sojourn import files
from sojourn.errors import InputError, NotWritten, SojournError, WriteWarning
from sojourn.report.page import baseline_mark, page
from sojourn.result import Result

__all__ = ["baseline_of", "check_name", "check_place", "page", "put", "put_text", "write"]


def baseline_of(path: Path, result: Result) -> str | None:
    """The disc of `result` to which an earlier page takes its differences; None where it has no such disc."""
    try:
        head = files.read(path, HEAD).decode("utf-8", "replace")
    except OSError:
        return None  # a page that nobody may read is replaced all the same
    return next((disc for disc in result.discs if baseline_mark(disc) in head), None)


#: What the name of a page may end with.
_ENDINGS = (".html", ".htm", ".xhtml")
#: A page names its baseline within so many bytes.
HEAD = 4096
#: What is wrong with the name of a file, and not with the place where it is to go.
_WRONG_NAMES = (
    errno.ENOTDIR,
    errno.EEXIST,
    errno.EISDIR,
    errno.EINVAL,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.ENXIO,
)


def write(
    result: Result, path: Path, baseline: str | None = None, within: tuple[int, int] | None = None
) -> Path:
    """Write the page, whole or not at all; raises as `put` does."""
    return put(path, lambda: page(result, baseline), within)


def put(path: Path, make: Callable[[], str], within: tuple[int, int] | None = None) -> Path:
    """Write a page that `make` makes, whole or not at all; raises as `check_name` and `put_text` do."""
    check_name(path)
    return put_text(path, make(), within)


def put_text(path: Path, text: str, within: tuple[int, int] | None = None) -> Path:
    """Write a file, whole or not at all.

    `within` is the identity of the folder that the file belongs into (`files.identity`). Raises `InputError`
    for the name of what is no regular file, and `NotWritten` where the file cannot be written; warns
    (`WriteWarning`) where it may not last.
    """
    try:
        notes = files.replace(path, text.encode("utf-8", "replace"), within)
    except (OSError, ValueError) as fault:
        raise not_written(path, fault) from None
    for note in notes:
        warnings.warn(note, WriteWarning, stacklevel=2)
    return path


def check_name(path: Path) -> None:
    """Raise `InputError` for a name that is none of a page: a bare name is that of a scenario."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; legal: the name of a file, such as report.html")
    is_special = files.is_stream(path) or (path.exists() and not path.is_file())
    if path.suffix.lower() not in _ENDINGS and not is_special:
        raise InputError(f"{path}: has no ending of a page; legal: a file such as {path.name or 'page'}.html")


def check_place(path: Path) -> None:
    """Raise `InputError` where `put_text` cannot write; leaves no trace."""
    try:
        files.probe_file(path)
    except (OSError, ValueError) as fault:
        raise InputError(*not_written(path, fault).lines) from None


def not_written(path: Path, fault: OSError | ValueError) -> SojournError:
    """The error for a file that cannot be written: for what is wrong with its name, or with its place."""
    why, number = files.why(fault), getattr(fault, "errno", errno.EINVAL)
    if isinstance(fault, files.Moved):
        return NotWritten(f"{path}: not written: {why}")
    if isinstance(fault, files.NotAFile):
        return InputError(f"{path}: {why}; legal: a new file or one to be replaced, in a writable folder")
    kind = InputError if number in _WRONG_NAMES else NotWritten
    return kind(f"{path}: cannot be written ({why}); legal: a file in a writable folder")
