"""Writing: a stage under a random name, held by a lock, that takes its place in one step."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sojourn.files.reading import NotAFile, descriptor_of, kind_of, refuse_kind

#: Endings of the names of stages: of what is being written or removed, and of a folder that is whole, either
#: on the way to its place or just replaced there.
PART, WHOLE = "part", "whole"
#: Bytes of a name that the names of its stages begin with: these stay within the 255 of a file system.
_SHOWN = 200
#: Random names that are tried before something else must be wrong.
_TRIES = 100
#: Other names that are tried for what cannot have its own.
_OTHER_NAMES = 1000
#: The kernel's flags of renameat2 (linux/fs.h).
_NOREPLACE, _EXCHANGE = 1, 2
#: What renameat2 answers where the kernel or the file system has no such flag.
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP)
#: What fsync answers where the file system has none for this kind of file (fsync(2)).
_NO_SYNC = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP)

_LIBC = ctypes.CDLL(None, use_errno=True)


class Moved(OSError):
    """Another folder stands where the file was to go."""


@dataclass
class Stage:
    """What is being written: a file or a folder beside its place, open and locked."""

    above: int
    name: str
    number: int
    #: The permissions of a new file or folder under the caller's umask.
    mode: int


@contextmanager
def folder_above(path: str | Path) -> Iterator[int]:
    """The folder that holds the path, by descriptor."""
    number = os.open(os.path.dirname(path) or os.curdir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield number
    finally:
        os.close(number)


def replace(path: str | Path, data: bytes, within: tuple[int, int] | None = None) -> list[str]:
    """Write a file, whole or not at all, in the place of a regular file or of none; gives notes on it.

    `within` is the identity of the folder that the file belongs into. A pipe or a device that the caller
    names is written into. The permissions of a file that is replaced stay. Raises `OSError` with nothing
    changed: `NotAFile` for a symbolic link, and for a pipe that nobody reads; `Moved` where another folder
    stands there by now.
    """
    if within is None and _is_sink(path):
        _pour(path, data)
        return []
    with folder_above(path) as above:
        if within is not None and identity_of(os.fstat(above)) != within:
            raise Moved(errno.ESTALE, "another folder stands there by now", os.fspath(path))
        name = os.path.basename(path)
        earlier = refuse_target(above, name)
        remove_stages(above, name)
        with staged(above, name, private=earlier is not None) as stage:
            with os.fdopen(stage.number, "wb", closefd=False) as file:
                file.write(data)
            if earlier is not None:
                give_access(stage.number, earlier)
            sync(stage.number)
            refuse_target(above, name)
            os.rename(stage.name, name, src_dir_fd=above, dst_dir_fd=above)
        return settle(above, path)


def probe_file(path: Path) -> None:
    """Raise `OSError` where no file can be written at the path; leaves no trace."""
    if _is_sink(path):
        return
    place = Path(os.path.abspath(path))
    there = next(above for above in place.parents if above.exists())
    with folder_above(there / place.name) as above:
        if there == place.parent:
            refuse_target(above, place.name)
        with staged(above, place.name):
            pass


def refuse_target(above: int, name: str) -> os.stat_result | None:
    """The regular file of that name, None where there is nothing; raises `OSError` for anything else.

    Links are not followed.
    """
    try:
        found = os.stat(name, dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        return None
    refuse_kind(found, name)
    return found


def sync(number: int) -> None:
    """Bring a file or folder to the disk, as far as its file system can; raises `OSError`."""
    try:
        os.fsync(number)
    except OSError as fault:
        if fault.errno not in _NO_SYNC:
            raise


def settle(above: int, path: str | Path) -> list[str]:
    """Bring to the disk that `path` has its place in the folder `above`; gives a note where that fails.

    It is no failure of the writing: the place is taken.
    """
    try:
        sync(above)
    except OSError as fault:
        return [f"{os.fspath(path)}: written, but may not survive a power failure ({why(fault)})"]
    return []


def _is_sink(path: str | Path) -> bool:
    """Whether the caller names a stream or, by its own name and not by a link, a pipe or a device."""
    if descriptor_of(path) is not None:
        return True
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _pour(path: str | Path, data: bytes) -> None:
    """Write into a pipe or a device, which stays what it is, or on into one of the caller's streams."""
    stream = descriptor_of(path)
    number = _open_sink(path) if stream is None else os.dup(stream)
    with os.fdopen(number, "wb") as file:
        file.write(data)


def _open_sink(path: str | Path) -> int:
    try:
        number = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as fault:
        if fault.errno == errno.ENXIO:
            raise NotAFile(errno.ENXIO, "it is a pipe that nobody reads", os.fspath(path)) from None
        raise
    os.set_blocking(number, True)
    return number


@contextmanager
def create(above: int, name: str) -> Iterator[BinaryIO]:
    """A new file in the folder `above`, open for writing; it is on the disk when the block ends."""
    number = os.open(name, _NEW, 0o666, dir_fd=above)
    with os.fdopen(number, "wb") as file:
        yield file
        file.flush()
        sync(number)


# With O_EXCL no link is followed either (open(2)).
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


# ---- Stages -----------------------------------------------------------------------------------------


@contextmanager
def staged(above: int, name: str, *, private: bool = False) -> Iterator[Stage]:
    """A new file beside `name`, locked for as long as it is written; gone again unless it has its place then.

    Where it is `private` nobody else may read it.
    """
    mode = 0o600 if private else 0o666
    with _staged(above, name, lambda called: os.open(called, _NEW, mode, dir_fd=above), ()) as stage:
        yield stage


@contextmanager
def staged_folder(above: int, name: str, ours: Sequence[str] = ()) -> Iterator[Stage]:
    """The same for a folder of files that are named `ours`; nobody else may enter it meanwhile."""

    def new(called: str) -> int:
        os.mkdir(called, 0o777, dir_fd=above)
        return os.open(called, AS_FOLDER, dir_fd=above)

    with _staged(above, name, new, ours) as stage:
        with suppress(OSError):  # a file system without permissions
            os.fchmod(stage.number, stage.mode & ~0o077)
        yield stage


@contextmanager
def _staged(above: int, name: str, new: Callable[[str], int], ours: Sequence[str]) -> Iterator[Stage]:
    stage = _new_stage(above, name, new)
    try:
        yield stage
    finally:
        try:
            with suppress(OSError):
                remove(above, stage.name, stage.number, ours)
        finally:
            os.close(stage.number)


def _new_stage(above: int, name: str, new: Callable[[str], int]) -> Stage:
    for _ in range(_TRIES):
        called = stage_name(name)
        try:
            number = new(called)
        except (FileExistsError, FileNotFoundError):
            if folder_is_gone(above):
                raise
            continue  # the name is taken, or whoever cleans up here has been faster than the lock
        try:
            with suppress(OSError):  # a file system without locks: nobody can take ours for a dead one's then
                fcntl.flock(number, fcntl.LOCK_EX)
            if is_at(above, called, number):
                return Stage(above, called, number, stat.S_IMODE(os.fstat(number).st_mode))
        except BaseException:
            os.close(number)
            raise
        os.close(number)
    raise OSError(errno.EEXIST, "no free name for a stage", name)


def give_access(number: int, earlier: os.stat_result) -> None:
    """Give what is open the permissions of what it replaces, and owner and group where that may be.

    Without the group there are no permissions for one.
    """
    mode, found = stat.S_IMODE(earlier.st_mode), os.fstat(number)
    if found.st_uid != earlier.st_uid:
        with suppress(OSError):
            os.fchown(number, earlier.st_uid, -1)
    if found.st_gid != earlier.st_gid:
        try:
            os.fchown(number, -1, earlier.st_gid)
        except OSError:
            mode &= ~stat.S_IRWXG
    set_mode(number, mode)


def set_mode(number: int, mode: int) -> None:
    """Set permissions where they are others: not every file system can."""
    if stat.S_IMODE(os.fstat(number).st_mode) != mode:
        os.fchmod(number, mode)


AS_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def stage_name(name: str, kind: str = PART) -> str:
    """A random name for a stage of `name`."""
    return f".{_shown(name)}.{secrets.token_hex(8)}.{kind}"


def is_stage(name: str, of: str) -> str | None:
    """`PART` or `WHOLE` where `name` is that of a stage of a file or folder called `of`; else None.

    >>> is_stage(".out.0123456789abcdef.part", "out"), is_stage(".out.1.part", "out")
    ('part', None)
    """
    found = re.fullmatch(rf"\.{re.escape(_shown(of))}\.[0-9a-f]{{16}}\.({PART}|{WHOLE})", name)
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


def complete(stage: Stage) -> None:
    """Mark the stage of a folder as whole, once it is on the disk."""
    sync(stage.number)
    whole = f"{stage.name.removesuffix(PART)}{WHOLE}"
    rename_to_free(stage.above, stage.name, whole)
    stage.name = whole


def remove_stages(above: int, name: str, ours: Sequence[str] = (), kind: str = PART) -> list[str]:
    """Remove what killed processes have left of `name` in the folder `above`; gives its names.

    A folder is removed only where it holds no other files than `ours`. What a living process writes is
    locked.
    """
    entries = [entry for entry in os.listdir(above) if is_stage(entry, name) == kind]
    return sorted(entry for entry in entries if _remove_if_dead(above, entry, ours))


def _remove_if_dead(above: int, entry: str, ours: Sequence[str]) -> bool:
    """Remove a stage that nobody holds; whether it was."""
    with held_if_dead(above, entry) as number:
        if number is None:
            return False
        try:
            if stat.S_ISDIR(os.fstat(number).st_mode) and foreign_in(number, ours) is not None:
                return False
            return remove(above, entry, number, ours) is None
        except OSError:
            return False


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


def remove(above: int, name: str, number: int, ours: Sequence[str] = ()) -> str | None:
    """Remove the stage `name` where `number` is its descriptor: a file, or a folder with our files in it.

    Gives the name under which something stays: a folder with files that are not `ours`, or whatever else has
    that name by now. Raises `OSError`.
    """
    if not is_at(above, name, number):
        return name if exists(above, name) else None
    if not stat.S_ISDIR(os.fstat(number).st_mode):
        os.unlink(name, dir_fd=above)
        return None
    if name.endswith(f".{WHOLE}"):
        # Not whole from here on: nobody puts it back.
        part = f"{name.removesuffix(WHOLE)}{PART}"
        rename_to_free(above, name, part)
        name = part
    for entry in os.listdir(number):
        if _is_ours(entry, number, ours):
            with suppress(FileNotFoundError):
                os.unlink(entry, dir_fd=number)
    try:
        os.rmdir(name, dir_fd=above)
    except OSError as fault:
        if fault.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return name
    return None


def foreign_in(number: int, ours: Sequence[str]) -> str | None:
    """The first name in an open folder that is none of our files; stages of these are."""
    return next((name for name in sorted(os.listdir(number)) if not _is_ours(name, number, ours)), None)


def _is_ours(name: str, folder: int, ours: Sequence[str]) -> bool:
    """Whether a name in an open folder is that of a file of ours, or of what has just gone."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return True  # such as the stage of a page, which has its place now
    return stat.S_ISREG(mode) and (name in ours or any(is_stage(name, one) for one in ours))


def exists(above: int, name: str) -> bool:
    """Whether there is anything of that name."""
    try:
        os.stat(name, dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def is_at(above: int, name: str, number: int) -> bool:
    """Whether the name still is that of what the descriptor has open."""
    try:
        found = os.stat(name, dir_fd=above, follow_symlinks=False)
    except OSError:
        return False
    return identity_of(found) == identity_of(os.fstat(number))


def time_of(above: int, name: str) -> int:
    """The time of a file or folder, ns; 0 where it has gone."""
    try:
        return os.stat(name, dir_fd=above, follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


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


def rename_to_other(above: int, name: str, wanted: str) -> str:
    """Rename to the first free one of `wanted`-2, `wanted`-3 and so on; gives that name. Raises `OSError`."""
    for number in range(2, _OTHER_NAMES):
        with suppress(FileExistsError):
            rename_to_free(above, name, f"{wanted}-{number}")
            return f"{wanted}-{number}"
    raise FileExistsError(errno.EEXIST, "no free name beside it", wanted)


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
