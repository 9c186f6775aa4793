"""Folders of our own files: a place is claimed before the work, and filled in one step after it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn.files import writing
from sojourn.files.writing import OLD, Stage, folder_above

#: Other names that are tried for what cannot have its own.
_OTHER_NAMES = 1000

#: What stands at a place: its folder, and its first file's inode and time, since inodes are used again.
Found = tuple[tuple[int, int], tuple[int, int] | None]


@dataclass(frozen=True)
class Claim:
    """A place for a folder, as found before the work: what stood there may be replaced, nothing else."""

    #: As the user named it.
    folder: Path
    #: Without symbolic links.
    place: str
    #: What stood there; None: nothing.
    found: Found | None
    #: The files that such a folder holds; the first is always there.
    ours: Sequence[str]

    @property
    def name(self) -> str:
        """The last part of the place."""
        return os.path.basename(self.place)


def claim(folder: Path, ours: Sequence[str]) -> Claim:
    """What stands at a place now. Raises `OSError` where that cannot be found out."""
    place = os.path.realpath(folder)
    try:
        found = _found(os.open(place, writing.AS_FOLDER), ours[0])
    except FileNotFoundError:
        found = None
    return Claim(folder, place, found, ours)


def probe(claimed: Claim) -> None:
    """Raise `OSError` where no folder can be made at the place; leaves no trace."""
    there = next(above for above in Path(claimed.place).parents if above.exists())
    with folder_above(there / claimed.name) as above, writing.staged(above, claimed.name, folder=True):
        pass


def identity(folder: Path) -> tuple[int, int]:
    """Device and inode of a folder. Raises `OSError`."""
    return writing.identity_of(os.stat(folder))


def foreign(folder: Path, ours: Sequence[str]) -> str | None:
    """The first name in a folder that is none of our files. Raises `OSError`."""
    number = os.open(folder, writing.AS_FOLDER)
    try:
        return writing.foreign_in(number, ours)
    finally:
        os.close(number)


def sweep(path: str | Path, ours: Sequence[str] = ()) -> list[str]:
    """Clean up beside `path` what killed processes have left of it; gives a sentence for each.

    A folder that was out of its place at that moment is put back; a folder goes only where it holds no files
    but `ours`.
    """
    where = os.path.dirname(os.fspath(path))
    try:
        place = os.path.realpath(path) if ours else os.fspath(path)
        name = os.path.basename(place)
        with folder_above(place) as above:
            told = _put_back(above, name, ours) if ours else []
            gone = writing.remove_stages(above, name, ours)
    except OSError:
        return []
    left = "left by a process that was killed"
    return [f"{path}: put back in its place, {left}" for _ in told] + [
        f"{os.path.join(where, one)}: removed, {left}" for one in gone
    ]


def _put_back(above: int, name: str, ours: Sequence[str]) -> list[str]:
    """An earlier folder that waits under another name for the new one that never came; else it goes."""
    back = []
    for entry in os.listdir(above):
        if writing.is_stage(entry, name) != OLD:
            continue
        with writing.held_if_dead(above, entry) as number:
            if number is None:
                continue
            try:
                writing.rename_to_free(above, entry, name)
                back.append(entry)
                continue
            except FileExistsError:
                pass
        writing.remove_if_dead(above, entry, ours)
    return back


def put_folder(claimed: Claim, fill: Callable[[int], None]) -> str:
    """Make a folder with what `fill` writes, by the folder's descriptor, and put it in its place in one step.

    Gives the path where it is: another one where somebody else has written there since it was claimed.
    Raises `OSError` with nothing changed.
    """
    os.makedirs(os.path.dirname(claimed.place), exist_ok=True)
    with folder_above(claimed.place) as above:
        writing.remove_stages(above, claimed.name, claimed.ours)
        with writing.staged(above, claimed.name, folder=True) as stage:
            fill(stage.number)
            os.fsync(stage.number)
            name = (
                claimed.name if _placed(above, stage, claimed) else _placed_elsewhere(above, stage, claimed)
            )
        os.fsync(above)
    if name == claimed.name:
        return os.fspath(claimed.folder)
    is_link = claimed.folder.name != claimed.name or claimed.folder.is_symlink()
    return os.fspath(Path(claimed.place).with_name(name) if is_link else claimed.folder.with_name(name))


def _placed(above: int, stage: Stage, claimed: Claim) -> bool:
    """Put the stage in its place; False where there is what was not there when it was claimed."""
    try:
        writing.rename_to_free(above, stage.name, claimed.name)
        stage.placed = True
        return True
    except FileExistsError:
        pass
    try:
        number = os.open(claimed.name, writing.AS_FOLDER, dir_fd=above)
    except OSError:
        return False
    try:
        # Another who writes here right now has it locked.
        if writing.lock(number) is False or not _is_claimed(number, claimed):
            return False
        if not writing.exchange(above, stage.name, claimed.name):
            _exchange_in_two(above, stage, claimed.name, number)
        elif not writing.is_at(above, stage.name, number) or writing.foreign_in(number, claimed.ours):
            # In the last moment somebody was faster, or has put a file of theirs there.
            writing.exchange(above, stage.name, claimed.name)
            return False
        else:
            os.fsync(above)
            with suppress(OSError):
                writing.remove(above, stage.name, number)
        stage.placed = True
        return True
    finally:
        os.close(number)


def _exchange_in_two(above: int, stage: Stage, name: str, number: int) -> None:
    """Replace a folder where two names cannot be exchanged in one step.

    Who dies between the two leaves the earlier folder under a name of `OLD`, which `sweep` puts back.
    """
    old = writing.stage_name(name, OLD)
    os.rename(name, old, src_dir_fd=above, dst_dir_fd=above)
    try:
        os.rename(stage.name, name, src_dir_fd=above, dst_dir_fd=above)
    except BaseException:
        os.rename(old, name, src_dir_fd=above, dst_dir_fd=above)
        raise
    os.fsync(above)
    with suppress(OSError):
        writing.remove(above, old, number)


def _placed_elsewhere(above: int, stage: Stage, claimed: Claim) -> str:
    """Put the stage under the first free one of its other names."""
    for place in range(2, _OTHER_NAMES):
        with suppress(FileExistsError):
            writing.rename_to_free(above, stage.name, f"{claimed.name}-{place}")
            stage.placed = True
            return f"{claimed.name}-{place}"
    raise FileExistsError(errno.EEXIST, "no free name beside it", claimed.place)


def _is_claimed(number: int, claimed: Claim) -> bool:
    """Whether an open folder is the one that was claimed, or an empty one, and may be replaced."""
    if not os.listdir(number):
        return True
    if writing.foreign_in(number, claimed.ours):
        return False
    return _found(os.dup(number), claimed.ours[0]) == claimed.found


def _found(number: int, first: str) -> Found:
    """What is known of an open folder, which is closed."""
    try:
        folder = writing.identity_of(os.fstat(number))
        try:
            one = os.stat(first, dir_fd=number, follow_symlinks=False)
        except FileNotFoundError:
            return folder, None
        return folder, (one.st_ino, one.st_mtime_ns)
    finally:
        os.close(number)
