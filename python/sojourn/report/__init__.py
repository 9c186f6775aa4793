"""The report: one offline HTML page of a result.

The page is imported where it is drawn: the sentences of the command line need no pictures.
"""

from __future__ import annotations

import errno
import warnings
from collections.abc import Callable
from pathlib import Path

from sojourn import files
from sojourn.errors import InputError, NotWritten, SojournError, WriteWarning
from sojourn.result import Result

__all__ = ["baseline_of", "check_name", "check_place", "put", "put_bytes", "put_text", "write"]


def baseline_of(path: Path, result: Result) -> str | None:
    """Qdisc of `result` to which an earlier page takes its differences; None if it has no such qdisc."""
    from sojourn.report.page import baseline_mark

    try:
        head = files.read(path, HEAD).decode("utf-8", "replace")
    except OSError:
        return None  # an unreadable page is replaced all the same
    return next((qdisc for qdisc in result.qdiscs if baseline_mark(qdisc) in head), None)


#: Endings of a page's name.
_ENDINGS = (".html", ".htm", ".xhtml")
#: Bytes at the beginning of a page that hold the name of its baseline.
HEAD = 4096
#: Errors of a file's name, as opposed to its place.
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
    from sojourn.report.page import page

    return put(path, lambda: page(result, baseline), within)


def put(path: Path, make: Callable[[], str], within: tuple[int, int] | None = None) -> Path:
    """Write the page of `make`, whole or not at all; raises as `check_name` and `put_text` do."""
    check_name(path)
    return put_text(path, make(), within)


def put_text(path: Path, text: str, within: tuple[int, int] | None = None) -> Path:
    """Write a file of text, as `put_bytes` does."""
    return put_bytes(path, text.encode("utf-8", "replace"), within)


def put_bytes(path: Path, content: bytes, within: tuple[int, int] | None = None) -> Path:
    """Write a file, whole or not at all.

    `within` is the identity of the folder that must hold the file (`files.identity`). Raises `InputError` for
    a name of anything but a regular file, and `NotWritten` if the file cannot be written; warns
    (`WriteWarning`) if it may not survive a power failure.
    """
    try:
        notes = files.replace(path, content, within)
    except (OSError, ValueError) as error:
        raise not_written(path, error) from None
    for note in notes:
        warnings.warn(note, WriteWarning, stacklevel=2)
    return path


def check_name(path: Path) -> None:
    """Raise `InputError` for a name without the ending of a page: a bare name is that of a scenario."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; expected the name of a file, such as report.html")
    is_special = files.is_stream(path) or (path.exists() and not path.is_file())
    if path.suffix.lower() not in _ENDINGS and not is_special:
        raise InputError(
            f"{path}: has no ending of a page; expected a file such as {path.name or 'page'}.html"
        )


def check_place(path: Path) -> None:
    """Raise `InputError` if `put_text` cannot write; leaves no trace."""
    try:
        files.probe_file(path)
    except (OSError, ValueError) as error:
        raise InputError(*not_written(path, error).lines) from None


def not_written(path: Path, error: OSError | ValueError) -> SojournError:
    """Error for a file that cannot be written, because of its name or its place."""
    why, number = files.why(error), getattr(error, "errno", errno.EINVAL)
    if isinstance(error, files.Moved):
        return NotWritten(f"{path}: not written: {why}")
    if isinstance(error, files.NotAFile):
        return InputError(f"{path}: {why}; expected a new file or one to be replaced, in a writable folder")
    kind = InputError if number in _WRONG_NAMES else NotWritten
    return kind(f"{path}: cannot be written ({why}); expected a file in a writable folder")
