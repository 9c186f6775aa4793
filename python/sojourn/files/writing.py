"""Writing: a stage under a random name, held by a lock, moved to its place in one step."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import fnmatch
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sojourn.files.reading import NotAFile, descriptor_of, kind_of, refuse_kind

#: Suffixes of stages: of one being written or removed, and of a whole folder, on the way to its place or just
#: replaced there.
PART, WHOLE = "part", "whole"
#: Bytes of a name that begin the names of its stages, which stay within the 255 of a file system.
_SHOWN = 200
#: Random names tried before giving up.
_TRIES = 100
#: Other names tried if the wanted one is taken.
_OTHER_NAMES = 1000
#: Flags of renameat2 (linux/fs.h).
_NOREPLACE, _EXCHANGE = 1, 2
#: Errors of renameat2 where the kernel or the file system lacks the flag.
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP)
#: Errors of link where there can be none (link(2)).
_NO_LINK = (errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK)
#: Errors of fsync where the file system has none for this kind of file (fsync(2)).
_NO_SYNC = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP)

_LIBC = ctypes.CDLL(None, use_errno=True)


class Moved(OSError):
    """Another folder has taken the place of the file's own."""


@dataclass
class Stage:
    """A file or a folder being written beside its place, open and locked."""

    above: int
    name: str
    number: int
    #: Permissions of a new file or folder under the caller's umask.
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
    """Write a file, whole or not at all, replacing a regular file or none; returns notes on it.

    `within` is the identity of the folder that must hold the file. A pipe or a device named by the caller is
    written into. The permissions of a file that is replaced stay. Raises `OSError` with nothing changed:
    `NotAFile` for a symbolic link, and for a pipe without a reader; `Moved` if another folder has taken the
    place.
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
    """Raise `OSError` if no file can be written at the path; leaves no trace."""
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
    """The regular file of that name, None if absent; raises `OSError` for anything else.

    Links are not followed.
    """
    try:
        found = os.stat(name, dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        return None
    refuse_kind(found, name)
    return found


def sync(number: int) -> None:
    """Sync a file or folder to the disk, as far as its file system can; raises `OSError`."""
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def settle(above: int, path: str | Path) -> list[str]:
    """Sync the entry of `path` in the folder `above` to the disk; returns a note if that fails.

    Such a failure is none of the writing: the file is in its place.
    """
    try:
        sync(above)
    except OSError as error:
        return [f"{os.fspath(path)}: written, but may not survive a power failure ({why(error)})"]
    return []


def _is_sink(path: str | Path) -> bool:
    """True if the caller names a stream or, by its own name and not by a link, a pipe or a device."""
    if descriptor_of(path) is not None:
        return True
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _pour(path: str | Path, data: bytes) -> None:
    """Write into a pipe or a device, or append to one of the caller's streams."""
    stream = descriptor_of(path)
    number = _open_sink(path) if stream is None else os.dup(stream)
    with os.fdopen(number, "wb") as file:
        file.write(data)


def _open_sink(path: str | Path) -> int:
    try:
        number = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise NotAFile(errno.ENXIO, "it is a pipe that nobody reads", os.fspath(path)) from None
        raise
    os.set_blocking(number, True)
    return number


@contextmanager
def create(above: int, name: str) -> Iterator[BinaryIO]:
    """A new file in the folder `above`, open for writing; synced to the disk when the block ends."""
    number = os.open(name, _NEW, 0o666, dir_fd=above)
    with os.fdopen(number, "wb") as file:
        yield file
        file.flush()
        sync(number)


def adopt(folder: int, source: Path) -> None:
    """Enter the files of the folder `source` in an open folder, too, synced to the disk.

    Where the two are on different file systems, or the file system has no links, they are copied.
    """
    for name in sorted(os.listdir(source)):
        number = os.open(source / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            try:
                os.link(source / name, name, dst_dir_fd=folder, follow_symlinks=False)
                sync(number)
            except OSError as error:
                if error.errno not in _NO_LINK:
                    raise
                with create(folder, name) as copy:
                    shutil.copyfileobj(file, copy)


# O_EXCL follows no link either (open(2)).
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


# ---- Stages -----------------------------------------------------------------------------------------


@contextmanager
def staged(above: int, name: str, *, private: bool = False) -> Iterator[Stage]:
    """A new file beside `name`, locked while written; removed at the end unless it was moved to its place.

    If `private`, nobody else may read it.
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
            continue  # the name is taken, or a sweep was faster than the lock
        try:
            with suppress(OSError):  # no locks in this file system: no sweep can mistake ours for a dead one
                fcntl.flock(number, fcntl.LOCK_EX)
            if is_at(above, called, number):
                return Stage(above, called, number, stat.S_IMODE(os.fstat(number).st_mode))
        except BaseException:
            os.close(number)
            raise
        os.close(number)
    raise OSError(errno.EEXIST, "no free name for a stage", name)


def give_access(number: int, earlier: os.stat_result) -> None:
    """Give an open file the permissions of the one that it replaces, and owner and group if allowed.

    If the group cannot be kept, the group's permissions are dropped.
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
    """Set permissions if they differ: not every file system can."""
    if stat.S_IMODE(os.fstat(number).st_mode) != mode:
        os.fchmod(number, mode)


AS_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def stage_name(name: str, kind: str = PART) -> str:
    """Random name for a stage of `name`."""
    return f".{_shown(name)}.{secrets.token_hex(8)}.{kind}"


def is_stage(name: str, of: str) -> str | None:
    """`PART` or `WHOLE` if `name` is a stage of a file or folder called `of`; else None.

    >>> is_stage(".out.0123456789abcdef.part", "out"), is_stage(".out.1.part", "out")
    ('part', None)
    """
    found = re.fullmatch(rf"\.{re.escape(_shown(of))}\.[0-9a-f]{{16}}\.({PART}|{WHOLE})", name)
    return found[1] if found else None


def _shown(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:_SHOWN])


def lock(number: int) -> bool | None:
    """Take the lock of a file or folder: False if another process holds it, None without locks."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def locked(number: int) -> bool:
    """True unless another process holds the lock of the file; this one holds it until it closes the file.

    A file system without locks has them all free.
    """
    return lock(number) is not False


def complete(stage: Stage) -> None:
    """Mark the stage of a folder as whole, once it is on the disk."""
    sync(stage.number)
    whole = f"{stage.name.removesuffix(PART)}{WHOLE}"
    rename_to_free(stage.above, stage.name, whole)
    stage.name = whole


def remove_stages(above: int, name: str, ours: Sequence[str] = (), kind: str = PART) -> list[str]:
    """Remove remnants of killed processes of `name` in the folder `above`; returns their names.

    A folder is removed only if it holds no files other than `ours`. The stage of a living process is locked.
    """
    entries = [entry for entry in os.listdir(above) if is_stage(entry, name) == kind]
    return sorted(entry for entry in entries if _remove_if_dead(above, entry, ours))


def _remove_if_dead(above: int, entry: str, ours: Sequence[str]) -> bool:
    """Remove a stage whose process is dead; returns True if it was removed."""
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
    """The stage of a dead process, locked; None if the process runs, or without locks to see that."""
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
    """Remove the stage `name` if `number` is its descriptor: a file, or a folder with our files in it.

    Returns the name of what remains: a folder with files other than `ours`, or whatever else has that name by
    now. Raises `OSError`.
    """
    if not is_at(above, name, number):
        return name if exists(above, name) else None
    if not stat.S_ISDIR(os.fstat(number).st_mode):
        os.unlink(name, dir_fd=above)
        return None
    if name.endswith(f".{WHOLE}"):
        # Not whole from here on: nothing puts it back.
        part = f"{name.removesuffix(WHOLE)}{PART}"
        rename_to_free(above, name, part)
        name = part
    for entry in os.listdir(number):
        if _is_ours(entry, number, ours):
            with suppress(FileNotFoundError):
                os.unlink(entry, dir_fd=number)
    try:
        os.rmdir(name, dir_fd=above)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return name
    return None


def foreign_in(number: int, ours: Sequence[str]) -> str | None:
    """First name in an open folder that is none of our files, whose stages count as ours."""
    return next((name for name in sorted(os.listdir(number)) if not _is_ours(name, number, ours)), None)


def _is_ours(name: str, folder: int, ours: Sequence[str]) -> bool:
    """True if a name in an open folder is that of one of our files, or of one just removed.

    A name of ours may be a pattern, as ``*.pcapng``.
    """
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return True  # such as the stage of a page that has since moved to its place
    if not stat.S_ISREG(mode):
        return False
    return any(fnmatch.fnmatchcase(name, one) or is_stage(name, one) is not None for one in ours)


def exists(above: int, name: str) -> bool:
    """True if the name exists."""
    try:
        os.stat(name, dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def is_at(above: int, name: str, number: int) -> bool:
    """True if the name still is that of the open descriptor."""
    try:
        found = os.stat(name, dir_fd=above, follow_symlinks=False)
    except OSError:
        return False
    return identity_of(found) == identity_of(os.fstat(number))


def time_of(above: int, name: str) -> int:
    """Modification time of a file or folder, ns; 0: gone."""
    try:
        return os.stat(name, dir_fd=above, follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def identity_of(found: os.stat_result) -> tuple[int, int]:
    """Device and inode."""
    return found.st_dev, found.st_ino


def folder_is_gone(above: int) -> bool:
    """True if the open folder has been removed."""
    return os.fstat(above).st_nlink == 0


# ---- Names ------------------------------------------------------------------------------------------


def exchange(above: int, one: str, other: str) -> bool:
    """Exchange two names in one step; False if kernel or file system cannot (renameat2(2))."""
    return _renameat2(above, one, other, _EXCHANGE)


def rename_to_free(above: int, name: str, free: str) -> None:
    """Rename; raises `FileExistsError` if the new name is taken.

    Without RENAME_NOREPLACE an empty folder of that name is replaced, which loses nothing.
    """
    if not _renameat2(above, name, free, _NOREPLACE):
        try:
            os.rename(name, free, src_dir_fd=above, dst_dir_fd=above)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.ENOTDIR):
                raise
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), free) from None


def rename_to_other(above: int, name: str, wanted: str) -> str:
    """Rename to the first free one of `wanted`-2, `wanted`-3 and so on; returns the name.

    Raises `OSError`.
    """
    for number in range(2, _OTHER_NAMES):
        with suppress(FileExistsError):
            rename_to_free(above, name, f"{wanted}-{number}")
            return f"{wanted}-{number}"
    raise FileExistsError(errno.EEXIST, "no free name beside it", wanted)


def _renameat2(above: int, one: str, other: str, flags: int) -> bool:
    """Returns True if done; raises `OSError` for any error but a lack of the flags."""
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


def why(error: BaseException) -> str:
    """Reason in an error of the system, or of Polars, which embeds it in a longer text.

    Polars quotes bytes of a damaged file, which are no text for a terminal.
    """
    if isinstance(error, OSError):
        return error.strerror or str(error)
    found = re.search(r"\((?:os error|errno) ([0-9]+)\)|\[Errno ([0-9]+)\]", str(error))
    if found:
        return os.strerror(int(found[1] or found[2]))
    text = " ".join(str(error).split())
    return text if text.isprintable() and "\N{REPLACEMENT CHARACTER}" not in text else "damaged content"
