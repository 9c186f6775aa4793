"""Writing: a stage under a random name, held by a lock, that takes its place in one step."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sojourn.files.reading import NotAFile, is_stream, kind_of, refuse_kind

#: What the name of a stage ends with; an earlier folder that is out of its place for a moment, with `OLD`.
PART, OLD = "part", "old"
#: Bytes of a name that the names of its stages begin with: these stay within the 255 of a file system.
_SHOWN = 200
#: Random names that are tried before something else must be wrong.
_TRIES = 100
#: The kernel's flags of renameat2 (linux/fs.h).
_NOREPLACE, _EXCHANGE = 1, 2
#: What renameat2 answers where the kernel or the file system has no such flag.
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP)

_LIBC = ctypes.CDLL(None, use_errno=True)


class Moved(OSError):
    """Another folder stands where the file was to go."""


@dataclass
class Stage:
    """What is being written: a file or a folder beside its place, open and locked."""

    above: int
    name: str
    number: int
    #: Whether it has its place and needs no removal.
    placed: bool = False


@contextmanager
def folder_above(path: str | Path) -> Iterator[int]:
    """The folder that holds the path, by descriptor."""
    number = os.open(os.path.dirname(path) or os.curdir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield number
    finally:
        os.close(number)


def replace(path: str | Path, data: bytes, within: tuple[int, int] | None = None) -> None:
    """Write a file, whole or not at all, in the place of a regular file or of none.

    `within` is the identity of the folder that the file belongs into. A pipe or a device that the caller
    names is written into. Raises `OSError`: `NotAFile` for a symbolic link, and for a pipe that nobody reads;
    `Moved` where another folder stands there by now.
    """
    if within is None and _is_sink(path):
        _pour(path, data)
        return
    with folder_above(path) as above:
        if within is not None and identity_of(os.fstat(above)) != within:
            raise Moved(errno.ESTALE, "another folder stands there by now", os.fspath(path))
        name = os.path.basename(path)
        refuse_target(above, name)
        remove_stages(above, name)
        with staged(above, name) as stage:
            with os.fdopen(stage.number, "wb", closefd=False) as file:
                file.write(data)
            os.fsync(stage.number)
            refuse_target(above, name)
            os.rename(stage.name, name, src_dir_fd=above, dst_dir_fd=above)
            stage.placed = True
        os.fsync(above)


def refuse_target(above: int, name: str) -> None:
    """Raise `OSError` where there is something else than a regular file; links are not followed."""
    with suppress(FileNotFoundError):
        refuse_kind(os.stat(name, dir_fd=above, follow_symlinks=False), name)


def _is_sink(path: str | Path) -> bool:
    """Whether the caller names a stream or, by its own name and not by a link, a pipe or a device."""
    if is_stream(path):
        return True
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _pour(path: str | Path, data: bytes) -> None:
    """Write into a pipe or a device, which stays what it is."""
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if is_stream(path) else os.O_NOFOLLOW)
    try:
        number = os.open(path, flags)
    except OSError as fault:
        if fault.errno == errno.ENXIO:
            raise NotAFile(errno.ENXIO, "it is a pipe that nobody reads", os.fspath(path)) from None
        raise
    os.set_blocking(number, True)
    with os.fdopen(number, "wb") as file:
        file.write(data)


@contextmanager
def create(above: int, name: str) -> Iterator[BinaryIO]:
    """A new file in the folder `above`, open for writing; it is on the disk when the block ends."""
    number = os.open(name, _NEW, 0o666, dir_fd=above)
    with os.fdopen(number, "wb") as file:
        yield file
        file.flush()
        os.fsync(number)


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


# ---- Stages -----------------------------------------------------------------------------------------


@contextmanager
def staged(above: int, name: str, *, folder: bool = False) -> Iterator[Stage]:
    """A new file or folder beside `name`, locked for as long as it is written; gone again unless placed."""
    stage = _new_stage(above, name, folder=folder)
    try:
        yield stage
    finally:
        if not stage.placed:
            with suppress(OSError):
                remove(above, stage.name, stage.number)
        os.close(stage.number)


def _new_stage(above: int, name: str, *, folder: bool) -> Stage:
    for _ in range(_TRIES):
        called = stage_name(name)
        try:
            if folder:
                os.mkdir(called, 0o777, dir_fd=above)
                number = os.open(called, AS_FOLDER, dir_fd=above)
            else:
                number = os.open(called, _NEW, 0o666, dir_fd=above)
        except (FileExistsError, FileNotFoundError):
            if folder_is_gone(above):
                raise
            continue  # the name is taken, or whoever cleans up here has been faster than the lock
        with suppress(OSError):  # a file system without locks: nobody can take ours for a dead one's then
            fcntl.flock(number, fcntl.LOCK_EX)
        if is_at(above, called, number):
            return Stage(above, called, number)
        os.close(number)
    raise OSError(errno.EEXIST, "no free name for a stage", name)


AS_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def stage_name(name: str, kind: str = PART) -> str:
    """A random name for a stage of `name`."""
    return f".{_shown(name)}.{secrets.token_hex(8)}.{kind}"


def is_stage(name: str, of: str) -> str | None:
    """`PART` or `OLD` where `name` is that of a stage of a file or folder called `of`; else None.

    >>> is_stage(".out.0123456789abcdef.part", "out"), is_stage(".out.1.part", "out")
    ('part', None)
    """
    found = re.fullmatch(rf"\.{re.escape(_shown(of))}\.[0-9a-f]{{16}}\.({PART}|{OLD})", name)
    return found[1] if found else None


def _shown(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:_SHOWN])


def lock(number: int) -> bool | None:
    """Take the lock of a file or folder: False where another has it, None where there are no locks."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def remove_stages(above: int, name: str, ours: Sequence[str] = ()) -> list[str]:
    """Remove what killed processes have left of `name` in the folder `above`; gives its names.

    A folder is removed only where it holds no other files than `ours`. What a living process writes is
    locked.
    """
    gone = []
    for entry in os.listdir(above):
        if is_stage(entry, name) == PART and remove_if_dead(above, entry, ours):
            gone.append(entry)
    return sorted(gone)


def remove_if_dead(above: int, entry: str, ours: Sequence[str]) -> bool:
    """Remove a stage that nobody holds; whether it was."""
    with held_if_dead(above, entry) as number:
        if number is None:
            return False
        if stat.S_ISDIR(os.fstat(number).st_mode) and foreign_in(number, ours) is not None:
            return False
        try:
            remove(above, entry, number)
        except OSError:
            return False
        return True


@contextmanager
def held_if_dead(above: int, entry: str) -> Iterator[int | None]:
    """A stage whose process is dead, locked; None where it lives, or where there are no locks to see that."""
    try:
        found = os.stat(entry, dir_fd=above, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            raise NotAFile(errno.EINVAL, f"it is {kind_of(found)}", entry)
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        number = os.open(entry, flags, dir_fd=above)
    except OSError:
        yield None
        return
    try:
        yield number if lock(number) and is_at(above, entry, number) else None
    finally:
        os.close(number)


def remove(above: int, name: str, number: int) -> None:
    """Remove a file, or a folder with the files in it; `number` is its descriptor."""
    if not stat.S_ISDIR(os.fstat(number).st_mode):
        os.unlink(name, dir_fd=above)
        return
    for entry in os.listdir(number):
        os.unlink(entry, dir_fd=number)
    os.rmdir(name, dir_fd=above)


def foreign_in(number: int, ours: Sequence[str]) -> str | None:
    """The first name in an open folder that is none of our files; stages of these are."""
    for name in sorted(os.listdir(number)):
        mode = os.stat(name, dir_fd=number, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode) or not (name in ours or any(is_stage(name, one) for one in ours)):
            return name
    return None


def is_at(above: int, name: str, number: int) -> bool:
    """Whether the name still is that of what the descriptor has open."""
    try:
        found = os.stat(name, dir_fd=above, follow_symlinks=False)
    except OSError:
        return False
    return identity_of(found) == identity_of(os.fstat(number))


def identity_of(found: os.stat_result) -> tuple[int, int]:
    """Device and inode."""
    return found.st_dev, found.st_ino


def folder_is_gone(above: int) -> bool:
    """Whether the open folder has been removed."""
    return os.fstat(above).st_nlink == 0


# ---- Names ------------------------------------------------------------------------------------------


def exchange(above: int, one: str, other: str) -> bool:
    """Exchange two names in one step; False where kernel or file system cannot (renameat2(2))."""
    return _renameat2(above, one, other, _EXCHANGE)


def rename_to_free(above: int, name: str, free: str) -> None:
    """Rename; raises `FileExistsError` where the new name is taken.

    Where there is no RENAME_NOREPLACE an empty folder of that name gives way, which loses nothing.
    """
    if not _renameat2(above, name, free, _NOREPLACE):
        try:
            os.rename(name, free, src_dir_fd=above, dst_dir_fd=above)
        except OSError as fault:
            if fault.errno not in (errno.ENOTEMPTY, errno.ENOTDIR):
                raise
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), free) from None


def _renameat2(above: int, one: str, other: str, flags: int) -> bool:
    """Whether it is done; raises `OSError` for whatever is no lack of the flags."""
    try:
        call = _LIBC.renameat2
    except AttributeError:
        return False
    if call(above, os.fsencode(one), above, os.fsencode(other), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNABLE:
        return False
    raise OSError(number, os.strerror(number), other)


def why(fault: BaseException) -> str:
    """The reason in an error of the system, or of Polars, which names it inside of a longer text."""
    if isinstance(fault, OSError):
        return fault.strerror or str(fault)
    found = re.search(r"\((?:os error|errno) ([0-9]+)\)|\[Errno ([0-9]+)\]", str(fault))
    return os.strerror(int(found[1] or found[2])) if found else " ".join(str(fault).split())
