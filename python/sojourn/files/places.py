"""Folders of Sojourn's own files: a place is claimed before the work, and filled in one step after it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sojourn.files import writing
from sojourn.files.writing import WHOLE, Stage, folder_above

#: Identity of a folder: its own, and its first file's inode and time, since inodes are used again.
Found = tuple[tuple[int, int], tuple[int, int] | None]


@dataclass(frozen=True)
class Claim:
    """A place for a folder, as found before the work: only the content of that moment may be replaced."""

    #: As named by the user.
    folder: Path
    #: Without symbolic links.
    place: str
    #: The folder found there; None: nothing.
    found: Found | None
    #: Files of such a folder; the first always exists.
    ours: Sequence[str]

    @property
    def name(self) -> str:
        """Last component of the place."""
        return os.path.basename(self.place)


@dataclass(frozen=True)
class Written:
    """Place of a folder that was written."""

    path: str
    #: Reason for another place than the claimed one; None: the claimed one.
    why: str | None = None
    #: Remarks, a sentence each.
    notes: list[str] = field(default_factory=list)


def claim(folder: Path, ours: Sequence[str]) -> Claim:
    """Claim a place with its present content. Raises `OSError` if that cannot be determined."""
    place = os.path.realpath(folder)
    try:
        found = _found(os.open(place, writing.AS_FOLDER), ours[0])
    except FileNotFoundError:
        found = None
    return Claim(folder, place, found, ours)


def probe(claimed: Claim) -> None:
    """Raise `OSError` if no folder can be made at the place; leaves no trace."""
    if claimed.found is not None and not os.access(claimed.place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), claimed.place)
    there = next(above for above in Path(claimed.place).parents if above.exists())
    with folder_above(there / claimed.name) as above, writing.staged_folder(above, claimed.name):
        pass


@contextmanager
def beside(claimed: Claim) -> Iterator[Path]:
    """A folder beside the place, for files on their way to it; removed at the end with our files in it.

    Raises `OSError` if it cannot be made.
    """
    os.makedirs(os.path.dirname(claimed.place), exist_ok=True)
    with (
        folder_above(claimed.place) as above,
        writing.staged_folder(above, claimed.name, claimed.ours) as stage,
    ):
        yield Path(claimed.place).with_name(stage.name)


def identity(folder: Path) -> tuple[int, int]:
    """Device and inode of a folder. Raises `OSError`."""
    return writing.identity_of(os.stat(folder))


def foreign(folder: Path, ours: Sequence[str]) -> str | None:
    """First name in a folder that is none of our files. Raises `OSError`."""
    number = os.open(folder, writing.AS_FOLDER)
    try:
        return writing.foreign_in(number, ours)
    finally:
        os.close(number)


def sweep(path: str | Path, ours: Sequence[str] = ()) -> list[str]:
    """Clean up remnants of killed processes beside `path`; returns a sentence for each.

    A whole folder moves to the place if nothing is there, and is removed only if another one has the place. A
    folder with files other than `ours` is never removed.
    """
    where = os.path.dirname(os.fspath(path))
    try:
        place = os.path.realpath(path) if ours else os.fspath(path)
        name = os.path.basename(place)
        with folder_above(place) as above:
            is_back = bool(ours) and _put_back(above, name, ours)
            gone = writing.remove_stages(above, name, ours)
            gone += _remove_replaced(above, name, ours) if ours else []
    except OSError:
        return []
    left = "left by a process that was killed"
    return [f"{path}: put in its place, {left}"] * is_back + [
        f"{os.path.join(where, one)}: removed, {left}" for one in gone
    ]


def _put_back(above: int, name: str, ours: Sequence[str]) -> bool:
    """Move the newest whole folder to the place, if that is free or empty; returns True if it did."""
    entries = [entry for entry in os.listdir(above) if writing.is_stage(entry, name) == WHOLE]
    for entry in sorted(entries, key=lambda one: writing.time_of(above, one), reverse=True):
        with writing.held_if_dead(above, entry) as number:
            if number is None or not _is_whole(number, ours):
                continue
            try:
                writing.rename_to_free(above, entry, name)
            except FileExistsError:
                with suppress(OSError):  # rename(2) replaces only empty folders
                    os.rename(entry, name, src_dir_fd=above, dst_dir_fd=above)
                    return True
                return False
            return True
    return False


def _remove_replaced(above: int, name: str, ours: Sequence[str]) -> list[str]:
    """Remove whole folders of killed processes if another one has the place; returns their names."""
    with _standing(above, name) as number:
        if number is None or not _is_whole(number, ours):
            return []
    # They may be the place's earlier content: sync its new content to the disk first.
    writing.sync(above)
    return writing.remove_stages(above, name, ours, WHOLE)


def _is_whole(number: int, ours: Sequence[str]) -> bool:
    """True if an open folder holds our files and no others."""
    return ours[0] in os.listdir(number) and writing.foreign_in(number, ours) is None


@contextmanager
def _standing(above: int, name: str) -> Iterator[int | None]:
    """The folder of that name, by descriptor; None: absent."""
    try:
        number = os.open(name, writing.AS_FOLDER, dir_fd=above)
    except OSError:
        yield None
        return
    try:
        yield number
    finally:
        os.close(number)


def put_folder(claimed: Claim, fill: Callable[[int], None]) -> Written:
    """Make a folder with `fill`, which takes its descriptor, and move it to its place in one step.

    If the place has changed since it was claimed, or cannot be replaced, the folder goes beside it. The
    permissions of a folder that is replaced, and of its files, stay. Raises `OSError` with nothing changed.
    Once the folder is in its place nothing is a failure any more.
    """
    os.makedirs(os.path.dirname(claimed.place), exist_ok=True)
    with folder_above(claimed.place) as above:
        writing.remove_stages(above, claimed.name, claimed.ours)
        with writing.staged_folder(above, claimed.name, claimed.ours) as stage:
            fill(stage.number)
            with _standing(above, claimed.name) as earlier:
                _give_access(stage, claimed, earlier)
                writing.complete(stage)
                name, why, replaced = _place(stage, claimed, earlier)
                path = _shown(claimed, name)
                notes = writing.settle(above, path)
                # The earlier folder stays until the new one is on the disk: the next command removes it.
                if replaced is not None and earlier is not None and not notes:
                    notes = _retire(above, replaced, earlier, claimed)
        with suppress(OSError):
            _remove_replaced(above, claimed.name, claimed.ours)
    return Written(path, why, notes)


def _give_access(stage: Stage, claimed: Claim, earlier: int | None) -> None:
    """Give a folder and its files the permissions of those that they replace, else the usual ones."""
    if earlier is None:
        writing.set_mode(stage.number, stage.mode)
        return
    found = os.fstat(earlier)
    if claimed.found is None or claimed.found[0] != writing.identity_of(found):
        # Nothing to replace: the intersection of both permissions.
        writing.set_mode(stage.number, stage.mode & found.st_mode | stat.S_IRWXU)
        return
    for name in claimed.ours:
        with suppress(FileNotFoundError):
            before = os.stat(name, dir_fd=earlier, follow_symlinks=False)
            if not stat.S_ISREG(before.st_mode):
                continue
            number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=stage.number)
            try:
                writing.give_access(number, before)
            finally:
                os.close(number)
    writing.give_access(stage.number, found)


def _place(stage: Stage, claimed: Claim, earlier: int | None) -> tuple[str, str | None, str | None]:
    """Move a whole stage to its place, or beside it.

    Returns its name, the reason if beside, and the name of the earlier folder, which is then that of a stage.
    Raises `OSError` with nothing changed.
    """
    changed = "holds something else than before the runs"
    try:
        if earlier is None:
            writing.rename_to_free(stage.above, stage.name, claimed.name)
            return claimed.name, None, None
        # Another process that writes here now has it locked.
        if writing.lock(earlier) is not False and _is_claimed(earlier, claimed):
            replaced = _exchange(stage, claimed, earlier)
            if replaced is not None:
                return claimed.name, None, replaced
    except FileExistsError:
        pass
    except OSError as error:
        # Such as EXDEV for a folder in a lower layer of an overlay (overlayfs).
        changed = f"cannot be replaced ({writing.why(error)})"
    return writing.rename_to_other(stage.above, stage.name, claimed.name), changed, None


def _exchange(stage: Stage, claimed: Claim, earlier: int) -> str | None:
    """Replace the earlier folder; returns its new name, None with nothing changed.

    Raises `OSError` with nothing changed.
    """
    above = stage.above
    if not writing.exchange(above, stage.name, claimed.name):
        return _exchange_in_two(stage, claimed, earlier)
    if not _is_untouched(above, stage.name, earlier, claimed):
        # Another process was faster, or has put a file of its own there.
        with suppress(OSError):  # the new one then stays there, and this one gets a visible name
            writing.exchange(above, stage.name, claimed.name)
            return None
    return stage.name


def _exchange_in_two(stage: Stage, claimed: Claim, earlier: int) -> str | None:
    """Replace a folder where two names cannot be exchanged in one step.

    A process killed between the two steps leaves the earlier folder as a whole stage, which `sweep` puts
    back.
    """
    above, replaced = stage.above, writing.stage_name(claimed.name, WHOLE)
    try:
        os.rename(claimed.name, replaced, src_dir_fd=above, dst_dir_fd=above)
        if _is_untouched(above, replaced, earlier, claimed):
            writing.rename_to_free(above, stage.name, claimed.name)
            return replaced
        writing.rename_to_free(above, replaced, claimed.name)
        return None
    except BaseException:
        with suppress(OSError):  # if it has not moved, or the new one has the place
            writing.rename_to_free(above, replaced, claimed.name)
        raise


def _is_untouched(above: int, name: str, earlier: int, claimed: Claim) -> bool:
    """True if the name is that of the earlier folder, with our files alone in it."""
    try:
        return writing.is_at(above, name, earlier) and writing.foreign_in(earlier, claimed.ours) is None
    except OSError:
        return False


def _retire(above: int, name: str, earlier: int, claimed: Claim) -> list[str]:
    """Remove the earlier folder; files that came into it meanwhile stay under a visible name, with a note."""
    try:
        left = writing.remove(above, name, earlier, claimed.ours)
        if left is None:
            return []
        shown = _shown(claimed, writing.rename_to_other(above, left, claimed.name))
    except OSError:
        return []  # the next command removes it
    return [f"{shown}: holds what came into {claimed.folder} while it was replaced"]


def _shown(claimed: Claim, name: str) -> str:
    """Path of a folder of that name at or beside the place, as named by the user."""
    if name == claimed.name:
        return os.fspath(claimed.folder)
    is_link = claimed.folder.name != claimed.name or os.path.islink(claimed.folder)
    return os.fspath(Path(claimed.place).with_name(name) if is_link else claimed.folder.with_name(name))


def _is_claimed(number: int, claimed: Claim) -> bool:
    """True if an open folder is the claimed one, or an empty one, and may be replaced."""
    if not os.listdir(number):
        return True
    if writing.foreign_in(number, claimed.ours):
        return False
    return _found(os.dup(number), claimed.ours[0]) == claimed.found


def _found(number: int, first: str) -> Found:
    """Identity of an open folder, which is closed."""
    try:
        folder = writing.identity_of(os.fstat(number))
        try:
            one = os.stat(first, dir_fd=number, follow_symlinks=False)
        except FileNotFoundError:
            return folder, None
        return folder, (one.st_ino, one.st_mtime_ns)
    finally:
        os.close(number)
