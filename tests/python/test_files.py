"""Writing and reading files: whole or not at all, whoever dies, races or has laid traps on the way."""

import errno
import os
import signal
import stat
from pathlib import Path

import pytest

from sojourn import files
from sojourn.files import writing

OURS = ("one", "two")
OLD = {"one": b"old 1", "two": b"old 2"}
NEW = {"one": b"new 1", "two": b"new 2"}


def fill(folder, what=NEW):
    for name, text in what.items():
        with files.create(folder, name) as file:
            file.write(text)


def put(place, what=NEW):
    return files.put_folder(files.claim(place, OURS), lambda folder: fill(folder, what))


def held(place):
    return {path.name: path.read_bytes() for path in place.iterdir()}


@pytest.fixture(params=["in one step", "in two steps"])
def steps(request, monkeypatch):
    """With a kernel that can exchange two names, and with one that cannot."""
    if request.param == "in two steps":
        monkeypatch.setattr(writing, "_renameat2", lambda *_: False)
    return request.param


def killed_at(call, number):
    """Do it in a child that kills itself before its step of this number; whether it came so far."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
        return os.WIFSIGNALED(status)
    left = iter(range(number))

    def mortal(step):
        def counted(*arguments, **more):
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return step(*arguments, **more)

        return counted

    try:
        for name in ("mkdir", "rename", "fsync", "unlink", "rmdir", "open"):
            setattr(os, name, mortal(getattr(os, name)))
        writing._renameat2 = mortal(writing._renameat2)
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
        said = files.sweep(place, OURS)
        assert held(place) in (OLD, NEW), number
        assert os.listdir(tmp_path) == ["out"], number
        assert len(said) <= 2
        if not was_killed:
            break
        number += 1
    assert number > 15
    assert held(place) == NEW


@pytest.mark.usefixtures("steps")
def test_a_new_folder_is_whole_or_not_there_wherever_its_writer_is_killed(tmp_path):
    place, number = tmp_path / "out", 0
    while killed_at(lambda: put(place), number):
        assert not place.exists() or held(place) == NEW, number
        files.sweep(place, OURS)
        assert os.listdir(tmp_path) in ([], ["out"]), number
        for path in [*place.glob("*"), *tmp_path.glob("*")]:
            path.rmdir() if path.is_dir() else path.unlink()
        number += 1
    assert held(place) == NEW


def test_a_file_is_old_or_new_wherever_its_writer_is_killed(tmp_path):
    page, number = tmp_path / "page.html", 0
    page.write_bytes(b"old")
    while killed_at(lambda: files.replace(page, b"new"), number):
        assert page.read_bytes() in (b"old", b"new")
        files.sweep(page)
        assert os.listdir(tmp_path) == ["page.html"]
        page.write_bytes(b"old")
        number += 1
    assert number > 3
    assert page.read_bytes() == b"new"


def test_what_is_left_of_a_killed_writer_is_named_and_never_in_the_way(tmp_path):
    place = tmp_path / "out"
    put(place, OLD)
    assert killed_at(lambda: put(place), 8)
    (left,) = tmp_path.glob(".out.*.part")
    (line,) = files.sweep(place, OURS)
    assert line == f"{left}: removed, left by a process that was killed"
    assert files.sweep(place, OURS) == []
    # The names of earlier versions are in nobody's way either.
    (tmp_path / f".out.{os.getpid()}.part").mkdir()
    assert put(place) == str(place)
    assert held(place) == NEW


def test_what_a_living_process_writes_is_not_cleaned_up(tmp_path):
    place = tmp_path / "out"

    def meanwhile(folder):
        assert files.sweep(place, OURS) == []
        assert len(list(tmp_path.glob(".out.*.part"))) == 1
        put(place, OLD)
        fill(folder)

    written = files.put_folder(files.claim(place, OURS), meanwhile)
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
    written = [files.put_folder(one, fill) for one in claims]
    assert written == [str(place), f"{place}-2", f"{place}-3"]
    again = [files.claim(place, OURS) for _ in range(2)]
    assert files.put_folder(again[0], fill) == str(place)
    assert files.put_folder(again[1], lambda folder: fill(folder, OLD)) == f"{place}-4"
    assert held(place) == NEW
    assert not list(tmp_path.glob(".*"))


@pytest.mark.usefixtures("steps")
def test_a_file_that_came_meanwhile_is_not_removed(tmp_path):
    place = tmp_path / "out"
    put(place, OLD)
    claim = files.claim(place, OURS)
    (place / "notes").write_text("dear diary")
    assert files.put_folder(claim, fill) == f"{place}-2"
    assert held(place) == OLD | {"notes": b"dear diary"}


def test_a_file_that_comes_in_the_last_moment_is_not_removed(tmp_path, monkeypatch):
    place = tmp_path / "out"
    put(place, OLD)
    exchange = writing.exchange

    def late(above, one, other):
        (place / "notes").touch()
        return exchange(above, one, other)

    monkeypatch.setattr(writing, "exchange", late)
    assert put(place) == f"{place}-2"
    assert held(place) == OLD | {"notes": b""}


def test_an_empty_folder_is_filled_and_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    assert put(tmp_path / "out") == str(tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert held(tmp_path / "real") == NEW


def test_a_full_disk_leaves_what_there_was(tmp_path):
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


def test_a_pipe_that_nobody_reads_holds_nobody_up(tmp_path):
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
    assert put(tmp_path / name) == str(tmp_path / name)
    assert held(tmp_path / name) == NEW
    files.replace(tmp_path / name / "page.html", b"page")
    assert files.read(tmp_path / name / "page.html", 10) == b"page"
    assert sorted(os.listdir(tmp_path)) == sorted({"v2", name})


def test_a_file_has_the_mode_that_others_have(tmp_path):
    (tmp_path / "plain").touch()
    files.replace(tmp_path / "page.html", b"page")
    assert (tmp_path / "page.html").stat().st_mode == (tmp_path / "plain").stat().st_mode
