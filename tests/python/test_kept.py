"""No computed run is lost, and no foreign file is harmed: the commands on full disks and in traps."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("undrawn")]

FLAGS = ("--seeds", "1..2", "--out", "out")


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


def whole(place):
    """Seeds of the result in a folder, which is read as a whole."""
    return sj.Result.read(place).seeds


@pytest.fixture
def alone(scenario):
    """A result of one run, whose page is soon drawn."""
    return sj.run(scenario)


def test_an_interrupt_keeps_all_qdiscs_of_the_seeds_that_had_finished(folder):
    (folder / "g.toml").write_text(
        'title = "T"\nduration = "20 s"\nwarmup = "1 s"\n[bottleneck]\nrate = "10 Mbit/s"\ndelay = "10 ms"\n'
        'buffer = "100 packets"\nqdisc = "pi2"\n[[flows]]\ncount = 10\n'
    )
    words = [
        "run",
        "g.toml",
        "--qdisc",
        "pi2",
        "--qdisc",
        "codel",
        "--seeds",
        "1..400",
        "--jobs",
        "1",
        "--out",
        "out",
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "sojourn", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        time.sleep(4)
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    result = sj.Result.read(folder / "out")
    first, second = (len(result.values(qdisc, "goodput_bps")) for qdisc in ("pi2", "codel"))
    assert 0 < second <= first <= second + 1


# ---- Disks ------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(folder):
    """A shell in which the folder `tiny` is a disk of its own, too small for a result."""
    place = folder / "tiny"
    place.mkdir()
    mount = f"mount -t tmpfs -o size=20k none {shlex.quote(str(place))}"
    words = ["unshare", "--map-root-user", "--mount"] if os.getuid() else ["unshare", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*words, "sh", "-c", mount], check=False).returncode:
        pytest.skip("no private mounts here: util-linux's unshare")
    return lambda script: subprocess.run(
        [*words, "sh", "-c", f"{mount}; S='{sys.executable} -m sojourn'; {script}"],
        cwd=folder,
        env=os.environ | {"COLUMNS": "120", "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_full_disk_keeps_the_table_and_the_runs(tiny, folder):
    done = tiny("$S run small.toml --seeds 1..2 --out tiny/out; echo $?; ls -A tiny")
    assert "queue mean" in done.stdout
    assert done.stdout.splitlines()[-1] == "1", "the exit code, and an empty disk"
    (line,) = done.stderr.splitlines()
    (place,) = folder.glob("sojourn-*/out")
    assert line == (f"tiny/out: cannot be written (No space left on device); the runs are kept in {place}")
    assert whole(place) == [1, 2]


def test_a_full_disk_keeps_the_earlier_page_and_result(tiny, alone, folder):
    alone.write(folder / "out")
    script = (
        "echo old > tiny/page.html; $S report out -o tiny/page.html; echo $?;"
        "$S prove dumbbell -o tiny/page.html; echo $?; cat tiny/page.html; ls -A tiny"
    )
    done = tiny(script)
    assert "Stable: pi at bottleneck" in done.stdout
    assert done.stdout.splitlines()[0] == "1"
    assert done.stdout.splitlines()[-3:] == ["1", "old", "page.html"]
    for line in done.stderr.splitlines():
        assert line.startswith("tiny/page.html: cannot be written (No space left on device); ")
    assert len(done.stderr.splitlines()) == 2


def test_an_earlier_result_below_an_overlay_is_kept_beside_the_new_one(made, folder):
    """In a container whose image holds a result: overlayfs renames no folder of a lower layer."""
    made.write(folder / "low" / "out")
    for name in ("disk", "merged"):
        (folder / name).mkdir()
    mount = (
        "mount -t tmpfs none disk && mkdir disk/upper disk/work && mount -t overlay overlay -o "
        "lowerdir=low,upperdir=disk/upper,workdir=disk/work merged && cp small.toml merged && cd merged"
    )
    words = ["unshare", "--map-root-user", "--mount"] if os.getuid() else ["unshare", "--mount"]
    if shutil.which("unshare") is None:
        pytest.skip("util-linux's unshare is not here")
    rename = f'{sys.executable} -c \'import os; os.rename("out", "elsewhere")\''
    check = [*words, "sh", "-c", f"{mount} && {rename}"]
    tried = subprocess.run(check, cwd=folder, capture_output=True, text=True, check=False)
    if "Invalid cross-device link" not in tried.stderr:
        pytest.skip("no private overlays here, or such as rename folders of lower layers")
    script = (
        f"{mount} && {sys.executable} -m sojourn run small.toml --out out --quiet; echo $?; ls -A . out-2"
    )
    done = subprocess.run(
        [*words, "sh", "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )
    (line,) = done.stderr.splitlines()
    assert line == (
        "out: cannot be replaced (Invalid cross-device link); nothing there was touched: "
        "the runs are kept in out-2"
    )
    assert done.stdout.split("\n1\n")[1].split() == [
        *(".:", "out", "out-2", "small.toml"),
        *("out-2:", "distributions.parquet", "provenance.json", "result.json", "series.parquet"),
    ]


def test_a_folder_that_cannot_be_synced_is_written_with_a_warning(made, folder, monkeypatch):
    above, fsync = folder.stat().st_ino, os.fsync

    def failing(number):
        if os.fstat(number).st_ino == above:
            raise OSError(errno.EIO, "Input/output error")
        fsync(number)

    monkeypatch.setattr(os, "fsync", failing)
    for write, place in ((made.write, folder / "out"), (made.report, folder / "page.html")):
        with pytest.warns(sj.WriteWarning, match="written, but may not survive a power failure"):
            assert write(place) == place
    assert listed(folder) == ["out", "page.html", "small.toml"]


def test_a_warning_of_a_command_is_one_line(made, folder, monkeypatch, capsys):
    made.write(folder / "out")
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sojourn.files.replace", lambda *_: ["page.html: is\na warning"])
    assert main(["report", "out", "-o", "page.html"]) == 0
    assert capsys.readouterr() == ("page.html\n", "warning: page.html: is\\na warning\n")


def test_a_failure_to_write_is_no_input_error(made, folder, monkeypatch):
    """`except sj.InputError` is for mistakes in typing."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sojourn.files.put_folder", full)
    monkeypatch.setattr("sojourn.files.replace", full)
    for write, place in ((made.write, folder / "out"), (made.report, folder / "page.html")):
        with pytest.raises(sj.NotWritten, match="No space left on device") as caught:
            write(place)
        assert not isinstance(caught.value, sj.InputError | ValueError)
        assert caught.value.exit_code == 1


def test_a_certificate_that_cannot_be_written_keeps_no_other_from_it(folder, monkeypatch, capsys):
    from sojourn import report

    put_text = report.put_text

    def failing(path, *more):
        if path.name != "page.html":
            raise sj.NotWritten(f"{path}: cannot be written (No space left on device)")
        return put_text(path, *more)

    monkeypatch.setattr(report, "put_text", failing)
    monkeypatch.chdir(folder)
    assert main(["prove", "dumbbell", "--qdisc", "pi", "--out", "cert", "-o", "new/page.html"]) == 1
    output = capsys.readouterr()
    assert output.out.startswith("Stable: pi at bottleneck")
    assert output.out.endswith("\nnew/page.html\n")
    assert output.err.splitlines() == [
        f"cert/{name}: cannot be written (No space left on device)"
        for name in ("certificate.json", "certificate.html")
    ]
    assert (folder / "new" / "page.html").is_file()


@pytest.mark.parametrize("wrong", ["cert/certificate.json", "cert", "page.html", "link"])
def test_the_places_of_a_certificate_are_tried_before_the_work(refused, folder, monkeypatch, wrong):
    monkeypatch.setattr("sojourn.prove.several.prove_each", None)
    if wrong == "cert":
        (folder / "cert").touch()
    elif wrong == "link":
        (folder / "page.html").symlink_to("elsewhere")
    else:
        (folder / wrong).mkdir(parents=True)
    before = listed(folder)
    (line,) = refused("prove", "dumbbell", "--out", "cert", "-o", "page.html")
    assert line.startswith(("cert", "page.html"))
    assert "; expected " in line
    assert listed(folder) == before


def test_a_limit_of_file_sizes_is_one_line(sojourn, folder):
    sojourn("run", "small.toml", "--out", "out")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for words in (("run", "small.toml", "--out", "out", "--seed", "2"), ("report", "out")):
        done = sojourn(*words, preexec_fn=limit)
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        place = "out" if words[0] == "run" else "out/report.html"
        assert line.startswith(f"{place}: cannot be written (File too large); ")
    assert whole(folder / "out") == [1]
    assert listed(folder) == ["out", "small.toml"]


def test_a_folder_that_vanished_is_named(folder, monkeypatch, capsys):
    """Removed, or replaced by a file, while the runs were under way."""
    from sojourn import simulate

    carry_out = simulate.carry_out

    def vanish(*arguments):
        found = carry_out(*arguments)
        shutil.rmtree(folder / "deep")
        (folder / "deep").write_text("a file by now")
        return found

    monkeypatch.setattr(simulate, "carry_out", vanish)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(folder)
    (folder / "deep").mkdir()
    assert main(["run", "small.toml", "--out", "deep/out"]) == 1
    output = capsys.readouterr()
    assert "queue mean" in output.out
    (place,) = folder.glob("sojourn-*/out")
    assert output.err.splitlines()[-1].startswith("deep/out: cannot be written (")
    assert output.err.splitlines()[-1].endswith(f"; the runs are kept in {place}")
    assert whole(place) == [1]


def test_a_read_only_place_is_named(alone, folder):
    if os.getuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("root writes everywhere, and util-linux's setpriv is not here")
    alone.write(folder / "out")
    for path in (folder, folder / "out"):
        path.chmod(0o555)
    other = ["setpriv", "--reuid=65534", "--clear-groups"] if os.getuid() == 0 else []
    open_up(folder)
    try:
        for place in ("out/report.html", "page.html"):
            words = [sys.executable, "-m", "sojourn", "report", "out", "-o", place]
            done = subprocess.run([*other, *words], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 1, done
            line = done.stderr.splitlines()[-1]
            assert (
                line
                == f"{place}: cannot be written (Permission denied); expected a file in a writable folder"
            )
    finally:
        folder.chmod(0o755)


def open_up(folder):
    """Give everybody access to the folder, as far as it is ours."""
    for above in folder.parents:
        if above.name.startswith("pytest-"):
            above.chmod(above.stat().st_mode | 0o055)


def test_an_unprintable_result_is_written(folder):
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "sojourn", "run", "small.toml", *FLAGS]
        done = subprocess.run(words, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "sojourn run: No space left on device" in done.stderr
    assert whole(folder / "out") == [1, 2]


def test_a_closed_pipe_loses_no_folder(folder):
    words = shlex.join([sys.executable, "-m", "sojourn", "run", "small.toml", *FLAGS])
    done = subprocess.run(
        f"{words} | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0
    assert whole(folder / "out") == [1, 2]


def test_a_closed_pipe_hides_no_failure(folder):
    """Neither its line nor its exit code, of any command."""
    law = "import sojourn as sj\nclass Bad(sj.Controller):\n    period = '10 ms'\n"
    (folder / "bad.py").write_text(law + "    def update(self, seen): raise ValueError('no')\n")
    for words, line in (
        ("run small.toml --qdisc codel --qdisc bad.py:Bad --jobs 1", "sojourn run: Bad, seed 1: bad.py:4: "),
        ("prove dumbbell --qdisc tail_drop", "sojourn prove: "),
        ("conform --law codel --against 'yes pass'", "sojourn conform: "),
    ):
        script = f"{sys.executable} -m sojourn {words} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == (4 if words.startswith("prove") else 1), (words, done)
        assert done.stderr.splitlines()[-1].startswith(line), words


@pytest.mark.parametrize("printed", [True, False])
@pytest.mark.parametrize("written", [True, False])
def test_an_interrupted_run_reports_only_what_was_kept(made, folder, monkeypatch, capsys, printed, written):
    from sojourn import simulate
    from sojourn.cli import printing

    def interrupted(*_):
        raise sj.Interrupted("interrupted; 6 of 9 runs had finished", made)

    def gone(_):
        raise printing.ReaderGone

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(simulate, "carry_out", interrupted)
    monkeypatch.chdir(folder)
    if not printed:
        monkeypatch.setattr(printing, "say", gone)
    if not written:
        monkeypatch.setattr("sojourn.files.put_folder", full)
    assert main(["run", "small.toml", "--out", "out"]) == 130
    facts = " and ".join(["printed"] * printed + ["written to out"] * written)
    lines = (
        ["wrote out"]
        if written
        else ["out: cannot be written (No space left on device); the runs are not kept"]
    )
    output = capsys.readouterr()
    assert output.err.splitlines() == [
        *lines,
        "sojourn run: interrupted; 6 of 9 runs had finished" + (f": {facts}" if facts else ""),
    ]
    assert ("queue mean" in output.out) == printed
    assert (folder / "out").exists() == written


# ---- Signals ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see when a run is at work")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_stop_keeps_what_has_finished(folder, number):
    words = [
        "run",
        "small.toml",
        "--set",
        "duration=100 s",
        "--seeds",
        "1..4000",
        "--jobs",
        "1",
        "--out",
        "out",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hang_up_ends,  # noqa: PLW1509 - there are no threads
    )
    try:
        at_work(process, 3.0)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    (line,) = [line for line in err.splitlines() if "interrupted" in line]
    assert re.fullmatch(
        r"sojourn run: interrupted; [0-9]+ of 4000 runs had finished: printed and written to out", line
    )
    assert "queue mean" in out
    assert sj.Result.read(folder / "out").provenance["interrupted"] is True


def hang_up_ends():
    """A child takes a hang-up as usual, also where the tests run under nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def at_work(process, seconds):
    """Wait until the process has used this much CPU time."""
    tick = os.sysconf("SC_CLK_TCK")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        if (int(fields[11]) + int(fields[12])) / tick > seconds:
            return
        time.sleep(0.01)


def test_a_terminal_that_goes_away_takes_no_result_with_it(folder):
    ours, theirs = os.openpty()
    words = [
        "run",
        "small.toml",
        "--set",
        "duration=100 s",
        "--seeds",
        "1..4000",
        "--jobs",
        "1",
        "--out",
        "out",
    ]
    process = subprocess.Popen(
        ["setsid", "--ctty", sys.executable, "-m", "sojourn", *words],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=hang_up_ends,  # noqa: PLW1509 - there are no threads
    )
    os.close(theirs)
    at_work(process, 3.0)
    os.close(ours)
    process.wait(timeout=60)
    assert sj.Result.read(folder / "out").provenance["interrupted"] is True


def test_ignored_signals_stay_ignored(folder, monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        monkeypatch.chdir(folder)
        assert main(["check", "small.toml"]) == 0
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


# ---- Strangers' folders -----------------------------------------------------------------------------


def test_links_in_a_stranger_s_folder_lead_nowhere(made, refused, folder, monkeypatch):
    place = made.write(folder / "out")
    mine = folder / "mine"
    mine.write_text("dear diary")
    # The names of the stages, as guessed by a stranger.
    names = ["0" * 16, "1" * 16, "2" * 16]
    for name in names[:2]:
        (place / f".report.html.{name}.part").symlink_to(mine)
    (place / "report.html").symlink_to(mine)
    (line,) = refused("report", "out")
    assert line.startswith("out/report.html: it is a symbolic link; expected ")
    assert mine.read_text() == "dear diary"
    os.unlink(place / "report.html")
    monkeypatch.setattr("secrets.token_hex", lambda _: names.pop(0))
    assert main(["report", "out"]) == 0
    assert names == []
    assert mine.read_text() == "dear diary"
    assert (place / "report.html").is_file()
    (place / "link.html").symlink_to(mine)
    assert main(["prove", "dumbbell", "-o", "out/link.html"]) == 2
    assert mine.read_text() == "dear diary"


@pytest.mark.parametrize("target", ["/dev/null", "pipe"])
def test_a_page_that_leads_to_a_device_or_a_pipe_is_refused(made, refused, folder, target):
    place = made.write(folder / "out")
    os.mkfifo(folder / "pipe")
    (place / "report.html").symlink_to(folder / target)
    (line,) = refused("report", "out")
    assert line.startswith("out/report.html: it is a symbolic link; expected ")
    os.unlink(place / "report.html")
    os.mkfifo(place / "report.html")
    (line,) = refused("report", "out")
    assert line.startswith("out/report.html: it is a pipe; expected ")
    (line,) = refused("run", "small.toml", "--out", "out")
    assert line.startswith("sojourn run: --out: out holds report.html, which no result has; expected ")


@pytest.mark.parametrize(
    "name", ["result.json", "provenance.json", "series.parquet", "distributions.parquet"]
)
def test_a_pipe_in_a_result_is_one_line(made, refused, folder, name):
    place = made.write(folder / "out")
    os.unlink(place / name)
    os.mkfifo(place / name)
    (line,) = refused("report", "out")
    assert line == f"out/{name}: cannot be read (it is a pipe); expected a readable file"


@pytest.mark.parametrize("command", [("check",), ("run",), ("prove",), ("run", "small.toml", "--qdisc")])
def test_a_pipe_is_no_scenario_and_no_law(refused, folder, command):
    os.mkfifo(folder / "pipe.py")
    (line,) = refused(*command, "pipe.py" if len(command) == 1 else "pipe.py:Law")
    assert "pipe.py: cannot be read (it is a pipe); expected " in line


def test_a_pipe_among_the_scenarios_is_listed_as_such(sojourn, folder):
    (folder / "scenarios").mkdir()
    os.mkfifo(folder / "scenarios" / "pipe.toml")
    done = sojourn("list", "scenarios")
    assert re.search(r"/pipe\.toml +\(cannot be read", done.stdout)


def test_a_shell_s_own_pipes_are_read(folder):
    words = shlex.join([sys.executable, "-m", "sojourn", "check"])
    script = f"{words} <(cat small.toml) && {words} /dev/stdin < small.toml"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Eight flows on a small link") == 2


def test_a_small_table_of_very_many_rows_is_refused_at_once(made, refused, folder):
    import polars as pl

    path = made.write(folder / "out") / "series.parquet"
    row = pl.read_parquet(path).head(1)
    pl.concat([row] * 20).select(pl.all().repeat_by(2_000_000).explode()).write_parquet(path)
    (line,) = refused("report", "out")
    assert line.startswith("out/series.parquet: has 40000000 rows; expected at most ")
    assert path.stat().st_size < 2e6


def test_remnants_of_a_killed_run_are_noted_and_removed(sojourn, folder):
    for left in (".out.0123456789abcdef.part", ".out.fedcba9876543210.part", ".out.1.part"):
        (folder / left).mkdir()
        (folder / left / "series.parquet").touch()
    done = sojourn("run", "small.toml", "--out", "out")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "note: .out.0123456789abcdef.part: removed, left by a process that was killed",
        "note: .out.fedcba9876543210.part: removed, left by a process that was killed",
        "wrote out",
    ]
    assert listed(folder) == [".out.1.part", "out", "small.toml"]
    (folder / "out" / ".report.html.0123456789abcdef.part").touch()
    assert sojourn("run", "small.toml", "--out", "out", "--quiet").stderr == ""
    (folder / "out" / ".report.html.0123456789abcdef.part").touch()
    assert "note: out/.report.html.0123456789abcdef.part: removed" in sojourn("report", "out").stderr
    assert ".report.html.0123456789abcdef.part" not in listed(folder / "out")


def test_a_page_may_go_down_a_stream(alone, folder, monkeypatch):
    monkeypatch.undo()  # the page is drawn
    alone.write(folder / "out")
    words = shlex.join([sys.executable, "-m", "sojourn", "report", "out", "-o"])
    script = f"{words} >(cat > one) > two; echo before > three; {words} /dev/stdout >> three"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = alone.report(folder / "page.html").read_bytes()
    for name, text in {"one": page, "two": b"", "three": b"before\n" + page}.items():
        assert (folder / name).read_bytes() == text, name


# ---- Names ------------------------------------------------------------------------------------------

NAMES = ["v[2]", "v*", "file:x", "~", "~root", "{v2,v3}", "v%32", "-o", os.fsdecode(b"v\xff2")]


@pytest.mark.parametrize("name", NAMES)
def test_the_names_of_folders_are_literal(folder, name, monkeypatch, made):
    monkeypatch.chdir(folder)
    made.write("v2")
    assert main(["run", "small.toml", "--seed", "3", f"--out={name}", "--quiet"]) == 0
    assert whole(folder / name) == [3]
    assert main(["report", "--", name]) == 0
    assert "<dt>Seeds</dt><dd>3</dd>" in (folder / name / "report.html").read_text()
    assert whole(folder / "v2") == [1, 2, 3]
    assert listed(folder) == sorted({"small.toml", "v2", name})


@pytest.mark.parametrize(
    "words",
    [
        ("run", "small.toml", "--qdisc"),
        ("run", "small.toml", "--cc"),
        ("run", "small.toml", "--set", "title="),
        ("prove", "dumbbell", "--link"),
        ("explain",),
        ("list",),
        ("conform", "--law"),
        ("report", "out", "--baseline"),
        (),
    ],
)
def test_bytes_that_are_not_utf8_are_one_line(refused, made, folder, words):
    made.write(folder / "out")
    *before, last = words or ("",)
    odd = os.fsdecode(b"v\xff")
    (line,) = refused(*before, f"{last}{odd}") if last.endswith("=") else refused(*words, odd)
    assert line.startswith(("sojourn", "--baseline"))
    assert "expected " in line or "expected " in line
    assert "internal" not in line


def test_files_of_every_kind_may_have_such_names(sojourn, folder):
    odd = os.fsdecode(b"\xff")
    law = "import sojourn as sj\nclass L(sj.Controller):\n    period = '10 ms'\n"
    (folder / f"{odd}.toml").write_bytes((folder / "small.toml").read_bytes())
    (folder / f"{odd}.py").write_text(law + "    def update(self, seen): return 0.01\n")
    for words in (
        ("run", f"{odd}.toml", "--qdisc", f"{odd}.py:L", "--out", odd),
        ("report", odd, "-o", f"{odd}.html"),
        ("prove", "dumbbell", "-o", f"{odd}.html", "--out", f"{odd}2"),
    ):
        done = sojourn(*words)
        assert done.returncode == 0, done.stderr
    assert listed(folder) == sorted({odd, f"{odd}2", f"{odd}.html", f"{odd}.py", f"{odd}.toml", "small.toml"})


def test_a_page_has_an_ending_so_that_it_is_no_scenario(refused, sojourn, folder):
    for command in (("prove", "dumbbell"), ("report", "out")):
        (line,) = refused(*command, "-o", "dumbbell")
        assert line == "dumbbell: has no ending of a page; expected a file such as dumbbell.html"
    assert listed(folder) == ["small.toml"]
    assert sojourn("check", "dumbbell").stdout.startswith("Fifty long flows")
    result = sj.run(sj.load(folder / "small.toml"))
    for report in (result.report, sj.prove(sj.load("dumbbell"), "pi").report):
        with pytest.raises(sj.InputError, match=r"^dumbbell: has no ending of a page; expected "):
            report("dumbbell")
    # A folder of that name, as of `run --out`, hides none.
    assert sojourn("run", "small.toml", "--out", "dumbbell").returncode == 0
    assert sojourn("check", "dumbbell").stdout.startswith("Fifty long flows")


# ---- Races ------------------------------------------------------------------------------------------


# Runs a command that waits, once it has its place, until the other one has, too.
TOGETHER = """
import sys, time
from pathlib import Path
from sojourn import simulate
from sojourn.cli import main

carry_out, mine, other = simulate.carry_out, *map(Path, sys.argv[1:3])

def together(*arguments):
    mine.touch()
    until = time.monotonic() + 60
    while not other.exists() and time.monotonic() < until:
        time.sleep(0.01)
    return carry_out(*arguments)

simulate.carry_out = together
sys.exit(main(sys.argv[3:]))
"""


def test_two_runs_into_one_folder_both_keep_their_results(folder):
    both = [
        subprocess.Popen(
            [
                *(sys.executable, "-c", TOGETHER, f"{number}.ready", f"{1 - number}.ready"),
                *("run", "small.toml", "--out", "out", "--json", "--seeds", seeds),
            ],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, seeds in enumerate(("1..3", "11..13"))
    ]
    outputs = [process.communicate(timeout=120) for process in both]
    seeds = [[run["seed"] for run in json.loads(out)["runs"]] for out, _ in outputs]
    assert seeds == [[1, 2, 3], [11, 12, 13]]
    assert sorted(process.returncode for process in both) == [0, 1]
    loser = outputs[[process.returncode for process in both].index(1)]
    assert loser[1].splitlines()[-1] == (
        "out: holds something else than before the runs; nothing there was touched: "
        "the runs are kept in out-2"
    )
    kept = {name: whole(folder / name) for name in ("out", "out-2")}
    assert sorted(kept.values()) == seeds
    assert listed(folder) == ["0.ready", "1.ready", "out", "out-2", "small.toml"]
