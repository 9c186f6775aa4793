"""Writing and reading files: whole or not at all, despite kills, races and traps."""

import errno
import fcntl
import os
import secrets
import shutil
import signal
import stat
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from sojourn import files
from sojourn.files import places, writing

OURS = ("one", "two")
OLD = {"one": b"old 1", "two": b"old 2"}
NEW = {"one": b"new 1", "two": b"new 2"}


def fill(folder, texts=NEW):
    for name, text in texts.items():
        with files.create(folder, name) as file:
            file.write(text)


def put(place, texts=NEW):
    return files.put_folder(files.claim(place, OURS), lambda folder: fill(folder, texts))


def put_at(place):
    """The path at which it is written."""
    return put(place).path


def hidden(folder):
    return [name for name in os.listdir(folder) if name.startswith(".")]


def held(place):
    return {path.name: path.read_bytes() for path in place.iterdir()}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Skip fsync: no power fails here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(params=["in one step", "in two steps"])
def steps(request, monkeypatch):
    """With a kernel that can exchange two names, and with one that cannot."""
    if request.param == "in two steps":
        monkeypatch.setattr(writing, "_renameat2", lambda *_: False)
    return request.param


#: System calls of writing.
STEPS = [
    *("open", "mkdir", "listdir", "stat", "fstat", "fchmod", "fchown"),
    *("rename", "fsync", "unlink", "rmdir"),
]


@contextmanager
def stepping(before, after=lambda: None):
    """Call `before` ahead of each step of writing, and `after` behind each."""

    def watched(step):
        def call(*arguments, **more):
            before()
            found = step(*arguments, **more)
            after()
            return found

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in STEPS:
            patch.setattr(os, name, watched(getattr(os, name)))
        patch.setattr(fcntl, "flock", watched(fcntl.flock))
        patch.setattr(writing, "_renameat2", watched(writing._renameat2))
        yield


def at(number, act, *, lasts=False):
    """A function that acts at its call of this number, or from it on, and the list of calls so far."""
    calls = []

    def count():
        calls.append(None)
        if len(calls) == number + 1 or (lasts and len(calls) > number):
            act()

    return count, calls


def fail(error):
    def act():
        raise error()

    return act


def killed_at(call, number):
    """Run it in a child that kills itself before its step of this number; True if it came so far."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
        return os.WIFSIGNALED(status)
    try:
        with stepping(at(number, lambda: os.kill(os.getpid(), signal.SIGKILL))[0]):
            call()
        os._exit(0)
    finally:
        os._exit(1)


def test_a_folder_is_old_or_new_wherever_its_writer_is_killed(tmp_path, steps):
    place, number = tmp_path / "out", 0
    while True:
        put(place, OLD)
        was_killed = killed_at(lambda: put(place), number)
        if steps == "in one step":
            assert held(place) in (OLD, NEW), number
        sentences = files.sweep(place, OURS)
        assert held(place) in (OLD, NEW), number
        assert os.listdir(tmp_path) == ["out"], number
        assert len(sentences) <= 2
        if not was_killed:
            break
        number += 1
    assert number > 40
    assert held(place) == NEW


def test_a_killed_writers_whole_stage_moves_to_a_free_place(tmp_path):
    place, number, back = tmp_path / "out", 0, 0
    put(place, OLD)
    while killed_at(lambda: put(place), number):
        shutil.rmtree(place)
        if number % 2:
            place.mkdir()
        if files.sweep(place, OURS)[:1] == [f"{place}: put in its place, left by a process that was killed"]:
            assert held(place) in (OLD, NEW), number
            back += 1
        assert hidden(tmp_path) == [], number
        put(place, OLD)
        number += 1
    assert back > 5


def test_a_killed_writers_whole_stage_stays_if_its_place_is_taken(tmp_path):
    place, whole = tmp_path / "out", tmp_path / f".out.{'0' * 16}.whole"
    put(place, OLD)
    place.rename(whole)
    place.mkdir()
    (place / "diary").touch()
    assert files.sweep(place, OURS) == []
    assert held(whole) == OLD
    (place / "diary").unlink()
    assert len(files.sweep(place, OURS)) == 1
    assert held(place) == OLD


@dataclass(frozen=True)
class Stop:
    """An interruption of a step of writing."""

    error: Callable[[], BaseException]
    #: True if every later step fails too.
    lasts: bool = False
    #: True if the step is done: Ctrl-C, unlike a system error, also comes after it.
    done: bool = False

    @property
    def by_the_user(self):
        return self.error is KeyboardInterrupt

    def at(self, number):
        """Interrupt at the step of this number; returns the calls so far."""
        count, calls = at(number, fail(self.error), lasts=self.lasts)
        return stepping(*((lambda: None, count) if self.done else (count,))), calls


def broken():
    return OSError(errno.EIO, "Input/output error")


@pytest.fixture(
    params=[
        pytest.param(Stop(broken), id="EIO"),
        pytest.param(Stop(broken, lasts=True), id="EIO from then on"),
        pytest.param(Stop(lambda: OSError(errno.EXDEV, "Invalid cross-device link")), id="EXDEV"),
        pytest.param(Stop(KeyboardInterrupt), id="Ctrl-C before"),
        pytest.param(Stop(KeyboardInterrupt, done=True), id="Ctrl-C after"),
    ]
)
def stop(request):
    """An error of the system, or Ctrl-C."""
    return request.param


def test_a_folder_is_old_or_new_whatever_fails(tmp_path, steps, stop):
    place, number = tmp_path / "out", 0
    while True:
        put(place, OLD)
        stopping, calls = stop.at(number)
        written = None
        with suppress(OSError, KeyboardInterrupt), stopping:
            written = put(place)
        at_once = held(place) if place.exists() else None
        files.sweep(place, OURS)
        assert hidden(tmp_path) == [], number
        assert held(place) in (OLD, NEW), number
        if at_once is None:
            assert steps == "in two steps", number
            assert stop.by_the_user or stop.lasts, number
        else:
            assert held(place) == at_once, number
        if written is None:
            assert stop.by_the_user or at_once in (OLD, None), "an error leaves all as it was"
        elif written.why is None:
            assert (written.path, held(place)) == (str(place), NEW), number
        else:
            assert (held(place), held(Path(written.path))) == (OLD, NEW), number
        for path in tmp_path.glob("out-*"):
            shutil.rmtree(path)
        if len(calls) <= number:
            break
        number += 1
    assert number > 40
    assert held(place) == NEW


@pytest.mark.usefixtures("steps")
def test_a_new_folder_is_whole_or_not_there_whatever_fails(tmp_path, stop):
    place, number = tmp_path / "out", 0
    while True:
        stopping, calls = stop.at(number)
        written = None
        with suppress(OSError, KeyboardInterrupt), stopping:
            written = put(place)
        assert not place.exists() or held(place) == NEW, number
        assert place.exists() or written is None or held(Path(written.path)) == NEW, number
        files.sweep(place, OURS)
        assert not place.exists() or held(place) == NEW, number
        assert hidden(tmp_path) == []
        for path in tmp_path.glob("out*"):
            shutil.rmtree(path)
        if len(calls) <= number:
            break
        number += 1
    assert number > 20


def test_a_file_is_old_or_new_whatever_fails(tmp_path, stop):
    page, number = tmp_path / "page.html", 0
    while True:
        page.write_bytes(b"old")
        stopping, calls = stop.at(number)
        failed = True
        with suppress(OSError, KeyboardInterrupt), stopping:
            files.replace(page, b"new")
            failed = False
        now = page.read_bytes()
        assert now in ((b"old", b"new") if stop.by_the_user else (b"old",) if failed else (b"new",))
        files.sweep(page)
        assert page.read_bytes() == now
        assert os.listdir(tmp_path) == ["page.html"]
        if len(calls) <= number:
            break
        number += 1
    assert number > 10
    assert now == b"new"


def coming(folder):
    """A function that makes a file in a folder, by a descriptor of it; True if it did; its end."""
    number, came = os.open(folder, os.O_RDONLY), []

    def come():
        with suppress(FileNotFoundError):  # once the folder is gone, nothing is added
            os.close(os.open("diary", os.O_CREAT | os.O_WRONLY, dir_fd=number))
            came.append(True)

    return come, came, lambda: os.close(number)


@pytest.mark.usefixtures("steps")
def test_a_file_added_at_any_moment_is_not_removed(tmp_path):
    place, number, beside = tmp_path / "out", 0, 0
    while True:
        put(place, OLD)
        come, came, leave = coming(place)
        count, calls = at(number, come)
        with stepping(count):
            written = put(place)
        leave()
        files.sweep(place, OURS)
        shown = [path.parent for path in tmp_path.glob("out*/diary")]
        assert len(shown) == len(came), number
        assert NEW in (held(place), held(Path(written.path))), number
        if written.why is None and came:
            assert written.notes == [f"{shown[0]}: holds what came into {place} while it was replaced"]
            beside += 1
        for path in tmp_path.glob("out*"):
            shutil.rmtree(path)
        if len(calls) <= number:
            break
        number += 1
    assert beside > 2


def test_a_file_added_during_a_sweep_is_not_removed(tmp_path):
    number = 0
    while True:
        left = tmp_path / f".out.{'0' * 16}.part"
        put(left, OLD)
        come, came, leave = coming(left)
        count, calls = at(number, come)
        with stepping(count):
            files.sweep(tmp_path / "out", OURS)
        leave()
        assert (left / "diary").exists() == bool(came), number
        shutil.rmtree(left, ignore_errors=True)
        if len(calls) <= number:
            break
        number += 1
    assert number > 15


def test_remnants_of_a_killed_writer_are_named_and_never_in_the_way(tmp_path):
    place = tmp_path / "out"
    put(place, OLD)
    assert killed_at(lambda: put(place), 25)
    (left,) = tmp_path.glob(".out.*.part")
    (line,) = files.sweep(place, OURS)
    assert line == f"{left}: removed, left by a process that was killed"
    assert files.sweep(place, OURS) == []
    # Stage names of earlier versions are not in the way either.
    (tmp_path / f".out.{os.getpid()}.part").mkdir()
    assert put_at(place) == str(place)
    assert held(place) == NEW


def test_the_stage_of_a_living_process_is_not_removed(tmp_path):
    place = tmp_path / "out"

    def meanwhile(folder):
        assert files.sweep(place, OURS) == []
        assert len(list(tmp_path.glob(".out.*.part"))) == 1
        put(place, OLD)
        fill(folder)

    written = files.put_folder(files.claim(place, OURS), meanwhile).path
    assert written == f"{place}-2"
    assert (held(place), held(Path(written))) == (OLD, NEW)


def test_a_stranger_s_folder_under_the_name_of_a_stage_stays(tmp_path):
    name = f".out.{'0' * 16}.part"
    (tmp_path / name).mkdir()
    (tmp_path / name / "diary").write_text("dear diary")
    (tmp_path / f".out.{'1' * 16}.part").symlink_to(tmp_path / name)
    os.mkfifo(tmp_path / f".out.{'2' * 16}.part")
    before = sorted(os.listdir(tmp_path))
    assert files.sweep(tmp_path / "out", OURS) == []
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / name / "diary").read_text() == "dear diary"


@pytest.mark.usefixtures("steps")
def test_the_loser_of_a_race_has_another_name(tmp_path):
    place = tmp_path / "out"
    claims = [files.claim(place, OURS) for _ in range(3)]
    written = [files.put_folder(one, fill).path for one in claims]
    assert written == [str(place), f"{place}-2", f"{place}-3"]
    again = [files.claim(place, OURS) for _ in range(2)]
    assert files.put_folder(again[0], fill).path == str(place)
    assert files.put_folder(again[1], lambda folder: fill(folder, OLD)).path == f"{place}-4"
    assert held(place) == NEW
    assert not list(tmp_path.glob(".*"))


@pytest.mark.usefixtures("steps")
def test_a_file_added_meanwhile_is_not_removed(tmp_path):
    place = tmp_path / "out"
    put(place, OLD)
    claim = files.claim(place, OURS)
    (place / "notes").write_text("dear diary")
    assert files.put_folder(claim, fill).path == f"{place}-2"
    assert held(place) == OLD | {"notes": b"dear diary"}


def test_a_file_added_in_the_last_moment_is_not_removed(tmp_path, monkeypatch, steps):
    place = tmp_path / "out"
    put(place, OLD)

    def late(step):
        def call(*arguments, **more):
            if place.exists():
                (place / "notes").touch()
            return step(*arguments, **more)

        return call

    if steps == "in one step":
        monkeypatch.setattr(writing, "exchange", late(writing.exchange))
    else:
        monkeypatch.setattr(places, "_exchange_in_two", late(places._exchange_in_two))
    assert put_at(place) == f"{place}-2"
    assert held(place) == OLD | {"notes": b""}
    assert hidden(tmp_path) == []


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("look", [1, 2, 3])
def test_a_page_that_takes_its_place_meanwhile_is_no_stranger(tmp_path, monkeypatch, look):
    """Its stage disappears between two reads of the folder."""
    place = tmp_path / "out"
    put(place, OLD)
    page, listdir = place / f".two.{'0' * 16}.part", os.listdir
    looks = []

    def late(folder):
        names = listdir(folder)
        if page.name in names:
            looks.append(folder)
            if len(looks) == look:
                os.rename(page.name, "two", src_dir_fd=folder, dst_dir_fd=folder)
        return names

    page.write_bytes(b"new page")
    monkeypatch.setattr(os, "listdir", late)
    assert put_at(place) == str(place)
    assert held(place) == NEW
    assert len(looks) == look
    assert hidden(tmp_path) == []


def test_an_empty_folder_is_filled_and_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    assert put_at(tmp_path / "out") == str(tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert held(tmp_path / "real") == NEW


def test_a_full_disk_leaves_the_earlier_content(tmp_path):
    place = tmp_path / "out"
    put(place, OLD)

    def full(folder):
        fill(folder, {"one": b"new"})
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        files.put_folder(files.claim(place, OURS), full)
    assert held(place) == OLD
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder"])
def test_only_regular_files_are_replaced(tmp_path, kind):
    page, other = tmp_path / "page.html", tmp_path / "other"
    other.write_bytes(b"mine")
    within = files.identity(tmp_path)
    if kind == "pipe":
        os.mkfifo(page)
    elif kind == "folder":
        page.mkdir()
    else:
        page.symlink_to(other if kind == "link" else tmp_path / "nowhere")
    before = page.lstat()
    with pytest.raises(OSError, match=r"a pipe|a symbolic link|directory"):
        files.replace(page, b"new", within)
    assert stat.S_IFMT(page.lstat().st_mode) == stat.S_IFMT(before.st_mode)
    assert other.read_bytes() == b"mine"
    assert sorted(os.listdir(tmp_path)) == ["other", "page.html"]


def test_a_pipe_without_a_reader_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(files.NotAFile, match="a pipe that nobody reads"):
        files.replace(tmp_path / "pipe", b"new")
    with pytest.raises(files.NotAFile, match="it is a pipe"):
        files.read(tmp_path / "pipe", 10)
    with pytest.raises(IsADirectoryError):
        files.read(tmp_path, 10)


def test_a_page_does_not_go_into_another_folder(tmp_path):
    place = tmp_path / "out"
    put(place, OLD)
    within = files.identity(place)
    put(place)
    with pytest.raises(files.Moved):
        files.replace(place / "page.html", b"page of the old", within)
    assert held(place) == NEW


@pytest.mark.parametrize(
    "name", ["v[2]", "*", "file:x", "~", "{a,b}", " ", "a\nb", os.fsdecode(b"v\xff"), "n" * 250]
)
def test_names_are_literal(tmp_path, name):
    (tmp_path / "v2").mkdir()
    assert put_at(tmp_path / name) == str(tmp_path / name)
    assert held(tmp_path / name) == NEW
    files.replace(tmp_path / name / "page.html", b"page")
    assert files.read(tmp_path / name / "page.html", 10) == b"page"
    assert sorted(os.listdir(tmp_path)) == sorted({"v2", name})


@pytest.mark.parametrize("trap", ["link", "dangling link", "file", "folder", "pipe"])
@pytest.mark.parametrize("kind", ["page", "folder"])
def test_a_trap_under_the_name_of_a_stage_is_avoided(tmp_path, monkeypatch, trap, kind):
    """Even if the name is guessed: the next one is taken."""
    named = ["a" * 16, "a" * 16, "b" * 16]
    monkeypatch.setattr(secrets, "token_hex", lambda _: named.pop(0))
    mine, place = tmp_path / "mine", tmp_path / ("page.html" if kind == "page" else "out")
    mine.write_bytes(b"dear diary")
    there = tmp_path / f".{place.name}.{'a' * 16}.part"
    if trap == "file":
        there.write_bytes(b"dear diary")
        there.chmod(0o444)
    elif trap == "folder":
        there.mkdir()
        (there / "diary").write_bytes(b"dear diary")
    elif trap == "pipe":
        os.mkfifo(there)
    else:
        there.symlink_to(mine if trap == "link" else tmp_path / "nowhere")
    before = there.lstat()
    holder = os.open(there, os.O_RDONLY) if trap in ("file", "folder") else None
    if holder is not None:
        fcntl.flock(holder, fcntl.LOCK_SH)  # another process is at work there
    if kind == "page":
        files.replace(place, b"new")
        assert place.read_bytes() == b"new"
    else:
        put(place)
        assert held(place) == NEW
    assert named == []
    assert there.lstat()[:9] == before[:9]
    assert mine.read_bytes() == b"dear diary"
    assert trap != "file" or there.read_bytes() == b"dear diary"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.usefixtures("steps")
def test_no_link_is_followed_within_a_folder(tmp_path, monkeypatch):
    """Between two reads a name may become a link: no opening follows one."""
    put(tmp_path / "out", OLD)
    put(tmp_path / f".out.{'0' * 16}.part", OLD)
    opened, real = [], os.open

    def watched(path, flags, *more, **where):
        if where.get("dir_fd") is not None:
            opened.append((path, flags))
        return real(path, flags, *more, **where)

    monkeypatch.setattr(os, "open", watched)
    files.sweep(tmp_path / "out", OURS)
    put(tmp_path / "out")
    files.replace(tmp_path / "out" / "one", b"new")
    assert len(opened) > 8
    for path, flags in opened:
        assert flags & (os.O_NOFOLLOW | os.O_EXCL), path
        assert flags & os.O_CLOEXEC, path


def test_a_pipe_that_has_become_a_link_is_not_followed(tmp_path, monkeypatch):
    mine, pipe = tmp_path / "mine", tmp_path / "pipe"
    mine.write_bytes(b"dear diary")
    os.mkfifo(pipe)
    is_sink = writing._is_sink

    def late(path):
        found = is_sink(path)
        pipe.unlink()
        pipe.symlink_to(mine)
        return found

    monkeypatch.setattr(writing, "_is_sink", late)
    with pytest.raises(OSError, match="symbolic link"):
        files.replace(pipe, b"new")
    assert mine.read_bytes() == b"dear diary"


@pytest.fixture
def record(monkeypatch):
    """Syncs to the disk, by inode, and each new name or removal, in order."""
    found = []
    monkeypatch.setattr(os, "fsync", lambda number: found.append(("fsync", os.fstat(number).st_ino)))
    for name in ("rename", "unlink"):
        real = getattr(os, name)

        def noted(*arguments, name=name, real=real, **more):
            real(*arguments, **more)
            found.append((name, arguments[1] if name == "rename" else arguments[0]))

        monkeypatch.setattr(os, name, noted)
    real_renameat2 = writing._renameat2

    def renameat2(above, one, other, flags):
        done = real_renameat2(above, one, other, flags)
        if done:
            found.append(("rename", other))
        return done

    monkeypatch.setattr(writing, "_renameat2", renameat2)
    return found


def test_a_page_is_on_the_disk_before_it_has_its_place(tmp_path, record):
    page = tmp_path / "page.html"
    files.replace(page, b"new")
    inodes = [path.stat().st_ino for path in (page, tmp_path)]
    assert record == [("fsync", inodes[0]), ("rename", "page.html"), ("fsync", inodes[1])]


@pytest.mark.usefixtures("steps")
def test_a_folder_is_on_the_disk_before_it_has_its_place_and_before_the_earlier_one_goes(tmp_path, record):
    place = tmp_path / "out"
    put(place, OLD)
    record.clear()
    put(place)
    where = {path: record.index(("fsync", path.stat().st_ino)) for path in (*place.iterdir(), place)}
    placed = max(number for number, step in enumerate(record) if step == ("rename", "out"))
    first_gone = min(number for number, (step, _) in enumerate(record) if step == "unlink")
    assert max(where.values()) == where[place] < placed
    assert ("fsync", tmp_path.stat().st_ino) in record[placed:first_gone]


def test_a_file_system_without_fsync_of_folders_is_written_to(tmp_path, monkeypatch):
    def fsync(number):
        if stat.S_ISDIR(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", fsync)
    put(tmp_path / "out", OLD)
    assert put(tmp_path / "out") == files.Written(str(tmp_path / "out"))
    assert files.replace(tmp_path / "page.html", b"page") == []
    assert sorted(os.listdir(tmp_path)) == ["out", "page.html"]


@pytest.mark.usefixtures("steps")
def test_a_placed_file_counts_as_written_without_a_sync_of_the_folder_above(tmp_path, monkeypatch):
    above = tmp_path.stat().st_ino

    def fsync(number):
        if os.fstat(number).st_ino == above:
            raise OSError(errno.EIO, "Input/output error")

    place, page = tmp_path / "out", tmp_path / "page.html"
    put(place, OLD)
    monkeypatch.setattr(os, "fsync", fsync)
    notes = [
        f"{path}: written, but may not survive a power failure (Input/output error)" for path in (place, page)
    ]
    assert put(place) == files.Written(str(place), None, notes[:1])
    assert files.replace(page, b"page") == notes[1:]
    assert (held(place), page.read_bytes()) == (NEW, b"page")
    # The earlier folder may still have its place on the disk: it stays until it has not.
    (earlier,) = tmp_path.glob(".out.*.whole")
    assert held(earlier) == OLD
    assert files.sweep(place, OURS) == []
    monkeypatch.setattr(os, "fsync", lambda _: None)
    assert len(files.sweep(place, OURS)) == 1
    assert sorted(os.listdir(tmp_path)) == ["out", "page.html"]


def test_a_folder_that_cannot_be_replaced_is_kept_beside_the_new_one(tmp_path, monkeypatch):
    """As a folder in a lower layer of an overlay, in containers."""
    place = tmp_path / "out"
    put(place, OLD)

    def exchange(*_):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(writing, "exchange", exchange)
    why = "cannot be replaced (Invalid cross-device link)"
    assert put(place) == files.Written(f"{place}-2", why)
    assert (held(place), held(tmp_path / "out-2")) == (OLD, NEW)
    assert sorted(os.listdir(tmp_path)) == ["out", "out-2"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_stream_of_the_caller_is_appended_to(tmp_path, name):
    (tmp_path / "file").write_bytes(b"before\n")
    with open(tmp_path / "file", "ab") as file:
        child = os.fork()
        if not child:
            os.dup2(file.fileno(), 1)
            files.replace(name, b"page\n")
            os.write(1, b"after\n")
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert (tmp_path / "file").read_bytes() == b"before\npage\nafter\n"


@pytest.mark.parametrize("name", ["/dev/sda", "/dev/shm/x", "/dev/std", "/dev/fd/", "/dev/fd/x", "results/x"])
def test_only_the_streams_of_the_caller_are_streams(name):
    assert not files.is_stream(name)


# ---- Permissions ------------------------------------------------------------------------------------


def modes(*paths):
    return [stat.S_IMODE(path.stat().st_mode) for path in paths]


@pytest.mark.usefixtures("steps")
def test_permissions_of_replaced_files_stay(tmp_path):
    place, page = tmp_path / "out", tmp_path / "page.html"
    put(place, OLD)
    page.touch()
    for path, mode in ((place, 0o710), (place / "one", 0o600), (place / "two", 0o640), (page, 0o600)):
        path.chmod(mode)
    put(place)
    files.replace(page, b"page")
    assert modes(place, place / "one", place / "two", page) == [0o710, 0o600, 0o640, 0o600]
    assert held(place) == NEW


def test_a_result_beside_its_place_has_no_more_permissions_than_the_place(tmp_path):
    place = tmp_path / "out"
    claims = [files.claim(place, OURS) for _ in range(2)]
    files.put_folder(claims[0], fill)
    place.chmod(0o700)
    assert files.put_folder(claims[1], fill).path == f"{place}-2"
    assert modes(tmp_path / "out-2") == [0o700]


def test_a_link_among_the_files_of_an_earlier_result_opens_none_of_ours(tmp_path):
    """A link has all permissions itself (symlink(7))."""
    place = tmp_path / "out"
    put(place, OLD)
    claim = files.claim(place, OURS)
    (place / "two").unlink()
    (place / "two").symlink_to("one")
    usual = modes(place / "one")
    assert files.put_folder(claim, fill).path == f"{place}-2"
    assert modes(tmp_path / "out-2" / "two") == usual


def test_nobody_else_can_read_a_stage(tmp_path):
    place, page = tmp_path / "out", tmp_path / "page.html"
    page.touch()
    page.chmod(0o600)
    seen = []

    def look():
        paths = [*tmp_path.glob(".out.*.part"), *tmp_path.glob(".page.html.*.part")]
        seen.extend((path.name[:5], stat.S_IMODE(path.stat().st_mode) & 0o077) for path in paths)

    files.put_folder(files.claim(place, OURS), lambda folder: (look(), fill(folder), look()))
    with pytest.MonkeyPatch.context() as patch:
        fdopen = os.fdopen
        patch.setattr(os, "fdopen", lambda *given, **more: (look(), fdopen(*given, **more))[1])
        files.replace(page, b"new")
    assert set(seen) == {(".out.", 0), (".page", 0)}


def test_a_folder_that_nobody_may_write_into_is_not_replaced(tmp_path):
    place = tmp_path / "out"
    put(place, OLD)
    place.chmod(0o555)
    if os.access(place, os.W_OK):
        pytest.skip("root writes everywhere")
    with pytest.raises(PermissionError):
        files.probe(files.claim(place, OURS))


def test_the_place_of_a_file_is_tried_without_a_trace(tmp_path):
    files.probe_file(tmp_path / "new" / "deep" / "page.html")
    assert os.listdir(tmp_path) == []
    (tmp_path / "page.html").symlink_to("nowhere")
    with pytest.raises(files.NotAFile, match="a symbolic link"):
        files.probe_file(tmp_path / "page.html")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        files.probe_file(tmp_path / "file" / "page.html")
    assert sorted(os.listdir(tmp_path)) == ["file", "page.html"]


def test_a_file_has_the_mode_that_others_have(tmp_path):
    (tmp_path / "plain").touch()
    files.replace(tmp_path / "page.html", b"page")
    assert (tmp_path / "page.html").stat().st_mode == (tmp_path / "plain").stat().st_mode
