"""Odd input to every command: one line that names the place and the expected input; no traceback, no hang.

A row is a command line, the content of its folder, the exit code, and the beginning and content of the line.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small import SCENARIO

import sojourn as sj
from sojourn.cli import main

#: Words of which each error has one: the expected input, or a reference to it.
EXPECTED = (
    "expected ",
    "(expected ",
    "expected ",
    "write it like",
    "did you mean",
    "nearest: ",
    "units: ",
    "see sojourn",
    "at least",
    "or more",
    "is written like",
    "write its place",
)

FILES: dict[str, tuple[bytes, str]] = {
    # Content of the file, and the line about it.
    "empty": (b"", ":1:1: the file holds no keys; "),
    "blank": (b"\n \n# words\n", ":1:1: the file holds no keys; "),
    "carriage returns alone": (SCENARIO.replace("\n", "\r").encode(), ":1:42: is not TOML: carriage return "),
    "a NUL": (SCENARIO.encode() + b"\0", ":17:1: holds a NUL byte: a binary file; "),
    "UTF-16": (SCENARIO.encode("utf-16"), ":1:4: holds a NUL byte: a binary file; "),
    "Latin-1": (
        SCENARIO.replace("Eight", "\u00dcber").encode("latin-1"),
        ":1:13: byte 0xdc is not UTF-8: a binary",
    ),
    "a picture": (b"\x89PNG\r\n\x1a\n", ":1:1: byte 0x89 is not UTF-8: a binary file; "),
    "an array 10 000 deep": (b"x = " + b"[" * 10_000, ":1:85: is not TOML: too many brackets"),
    "a closed array 10 000 deep": (
        b"x = " + b"[" * 10_000 + b"]" * 10_000,
        ":1:85: is not TOML: too many brackets",
    ),
    "tables 10 000 deep": (b"x = " + b"{a=" * 10_000 + b"1" + b"}" * 10_000, ":1:245: is not TOML: too many"),
    "a dotted key 10 000 deep": (b"x" + b".a" * 10_000 + b" = 1", ":1:1: is not TOML: too many brackets"),
    "a key of 10 MB": (b"k" * 10_000_000 + b" = 1", ": is too large; expected a scenario file"),
    "a text of 3 MB": (
        SCENARIO.replace("Eight", "E" * 3_000_000).encode(),
        ":1:1: title: is a text of 3000022 bytes; ",
    ),
    "an open bracket": (
        SCENARIO.replace('"12 ms"] }', '"12 ms" }').encode(),
        ":16:69: is not TOML: the `[` opened at line 16, column 52 ",
    ),
    "an open quote": (
        SCENARIO.replace('"6 s"', '"6 s').encode(),
        ':2:16: is not TOML: the `"` opened at line 2, column 12 ',
    ),
    "a lookalike letter": (
        SCENARIO.replace("2 Mbit/s", "2 \u041cbit/s").encode(),
        ":6:1: bottleneck.rate: \"\u041cbit/s\" is not a unit of a rate (it holds '\u041c', U+041C)",
    ),
    "a lookalike digit": (
        SCENARIO.replace("2 Mbit/s", "\uff12 Mbit/s").encode(),
        ':6:1: bottleneck.rate: "\uff12 Mbit/s" is not a number with a unit (it holds',
    ),
    "a lookalike minus": (
        SCENARIO.replace("2 Mbit/s", "\u22122 Mbit/s").encode(),
        ':6:1: bottleneck.rate: "\u22122 Mbit/s" is not a number with a unit (it holds',
    ),
    "a rate in bytes a second": (
        SCENARIO.replace("2 Mbit/s", "2 MBps").encode(),
        ':6:1: bottleneck.rate: "MBps" is not a unit of a rate; did you mean "Mbit/s" or, in bytes, "MB/s"?',
    ),
    "a time for a rate": (
        SCENARIO.replace("2 Mbit/s", "2 ms").encode(),
        ':6:1: bottleneck.rate: "ms" is not a unit of a rate',
    ),
    "a huge rate": (
        SCENARIO.replace("2 Mbit/s", "1e400 Mbit/s").encode(),
        ':6:1: bottleneck.rate: "1e400 Mbit/s" is too large',
    ),
    "a huge count": (
        SCENARIO.replace("= 8", "= 99999999999999999999999").encode(),
        ":12:1: flows[0].count: 99999999999999999999999 is too large; ",
    ),
    "a large count": (
        SCENARIO.replace("= 8", "= 9223372036854775807").encode(),
        ":12:1: flows[0].count: 9223372036854775807 is too large; ",
    ),
    "nan": (SCENARIO.replace("= 8", "= nan").encode(), ":12:1: flows[0].count: NaN is not a whole number; "),
    "infinity": (
        SCENARIO.replace('"6 s"', '"inf s"').encode(),
        ':2:1: duration: "inf s" is not a number with a unit; ',
    ),
    "a negative time": (SCENARIO.replace('"6 s"', '"-6 s"').encode(), ':2:1: duration: "-6 s" is negative; '),
    "an escape in a title": (
        SCENARIO.replace("Eight", "\\u001b[31mEight").encode(),
        ":1:1: title: is more than one line; ",
    ),
    "a key twice": (SCENARIO.encode() + b"count = 9\n", ":17:1: count: is given twice; "),
    "a date": (SCENARIO.replace('"6 s"', "1979-05-27").encode(), ":2:1: duration: 1979-05-27 is a date"),
    "a flag for a time": (
        SCENARIO.replace('"6 s"', "true").encode(),
        ":2:1: duration: true is not text with a unit; ",
    ),
    "a near key": (
        SCENARIO.replace("buffer", "bufer").encode(),
        ':8:1: bottleneck.bufer: unknown key; did you mean "buffer"? ',
    ),
}


@pytest.fixture
def errors_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """Run a command in this process, in the folder of the small scenario; returns the lines of stderr."""
    monkeypatch.chdir(folder)

    def command(code: int, *arguments: str) -> list[str]:
        capsys.readouterr()
        assert main(list(arguments)) == code
        out = capsys.readouterr()
        assert out.out == ""
        assert "Traceback" not in out.err
        return out.err.splitlines()

    return command


@pytest.mark.parametrize("command", ["check", "run", "prove"])
@pytest.mark.parametrize("name", FILES)
def test_an_odd_file_is_one_line(
    errors_of: Callable[..., list[str]], folder: Path, name: str, command: str
) -> None:
    data, begins = FILES[name]
    (folder / "odd.toml").write_bytes(data)
    (line,) = errors_of(2, command, "odd.toml")
    assert line.startswith(f"odd.toml{begins}")
    assert any(word in line for word in EXPECTED) or "is too large" in line or "which no key takes" in line
    assert len(line) < 1000


@pytest.mark.parametrize("oddity", ["byte order mark", "carriage returns", "no-break spaces"])
def test_an_unusual_file_is_read(folder: Path, monkeypatch, capsys, oddity: str) -> None:
    data = {
        "byte order mark": b"\xef\xbb\xbf" + SCENARIO.encode(),
        "carriage returns": SCENARIO.replace("\n", "\r\n").encode(),
        "no-break spaces": SCENARIO.replace("2 Mbit/s", "2\u00a0Mbit/s").encode(),
    }
    monkeypatch.chdir(folder)
    (folder / "odd.toml").write_bytes(data[oddity])
    assert main(["check", "odd.toml"]) == 0
    assert capsys.readouterr().err == ""


def no_file(folder: Path) -> None:
    """Create nothing."""


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "odd.toml")


def loop(folder: Path) -> None:
    (folder / "odd.toml").symlink_to("odd.toml")


def directory(folder: Path) -> None:
    (folder / "odd.toml").mkdir()


@pytest.mark.parametrize(
    ("name", "make", "begins"),
    [
        ("odd.toml", no_file, "odd.toml: there is no such file; "),
        ("odd.toml", pipe, "odd.toml: cannot be read (it is a pipe); "),
        ("odd.toml", loop, "odd.toml: cannot be read (Too many levels of symbolic links); "),
        ("odd.toml", directory, "odd.toml: is a folder; "),
        ("", no_file, '"": is no file name; '),
        ("  ", no_file, '"  ": is no file name; '),
        ("a\nb.toml", no_file, r"a\nb.toml: there is no such file; "),
        ("\033[31m.toml", no_file, r"\x1b[31m.toml: there is no such file; "),
        ("x" * 300, no_file, "x" * 300 + ": cannot be read (File name too long); "),
        ("small.toml/x", no_file, "small.toml/x: cannot be read (Not a directory); "),
        ("/dev/null", no_file, "/dev/null:1:1: the file holds no keys; "),
        ("/dev/zero", no_file, "/dev/zero: cannot be read (it is a device); "),
        ("smal.toml", no_file, "smal.toml: there is no such file; "),
        ("~/small.toml", no_file, "~/small.toml: there is no such file; "),
    ],
)
@pytest.mark.parametrize("command", ["check", "run", "prove"])
def test_a_missing_or_special_file_is_one_line(
    errors_of, folder: Path, name: str, make, begins: str, command: str
) -> None:
    make(folder)
    (line,) = errors_of(2, command, name)
    assert line.startswith(begins)
    assert "expected " in line


LAW = """
import sojourn as sj
class Mine(sj.Controller):
    period = "10 ms"
    g = 0.1
    def update(self, seen):
        return 0.0
"""
LINES = [
    # The command line, and the beginning of the line.
    (["run"], "sojourn run: FILE is missing; "),
    (["run", "small.toml", "extra"], "sojourn run: extra: has no use"),
    (["run", "small.toml", "--nope"], "sojourn run: --nope: is not an option; "),
    (["run", "small.toml", "--out"], "sojourn run: --out: has no value; "),
    (["run", "small.toml", "--json=1"], "sojourn run: --json: takes no value; "),
    (
        ["run", "small.toml", "--out", "a", "--out", "b"],
        "sojourn run: --out: is given 2 times; expected once",
    ),
    (
        ["run", "small.toml", "--jobs=1", "--jobs=2", "--jobs=3"],
        "sojourn run: --jobs: is given 3 times; expected once",
    ),
    (
        ["run", "small.toml", "--seed", "1", "--seed", "2"],
        "sojourn run: --seed: is given 2 times; expected once",
    ),
    (["run", "small.toml", "--seeds", "1..2", "--seeds", "1..2"], "sojourn run: --seeds: is given 2 times; "),
    (
        ["run", "small.toml", "--plant", "packet", "--plant", "fluid"],
        "sojourn run: --plant: is given 2 times; ",
    ),
    (
        ["report", "x", "-o", "a", "--output", "b"],
        "sojourn report: --output: is given 2 times; expected once",
    ),
    (["report", "x", "--baseline", "a", "--baseline", "b"], "sojourn report: --baseline: is given 2 times; "),
    (
        ["prove", "small.toml", "--link", "a", "--link", "b"],
        "sojourn prove: --link: is given 2 times; expected once",
    ),
    (
        ["prove", "small.toml", "--map", "N,R", "--map", "N,R"],
        "sojourn prove: --map: is given 2 times; expected once",
    ),
    (["conform", "--law", "pi", "--law", "red"], "sojourn conform: --law: is given 2 times; expected once"),
    (["run", "small.toml", "--set", ""], '--set: "" has no key or no "="; '),
    (["run", "small.toml", "--set", "="], '--set: "=" has no key or no "="; '),
    (["run", "small.toml", "--set", "duration"], '--set: "duration" has no key or no "="; '),
    (["run", "small.toml", "--set", "bottleneck=1"], "--set bottleneck: 1 is not a table; "),
    (["run", "small.toml", "--set", "flows=[]"], "--set flows: is empty; "),
    (
        ["run", "small.toml", "--set", "flows.count=1"],
        '--set flows.count: "count" is a key, and this is a list; ',
    ),
    (
        ["run", "small.toml", "--set", "flows[9].count=1"],
        "--set flows[9].count: there is no item 9; expected 0",
    ),
    (
        ["run", "small.toml", "--set", "flows[-1].count=1"],
        "--set flows[-1].count: is not a key; expected a key such as",
    ),
    (
        ["run", "small.toml", "--set", "flows[99999999999999999999].count=1"],
        "--set flows[99999999999999999999].count: is not a key",
    ),
    (
        ["run", "small.toml", "--set", "duration=[1,"],
        "--set duration: [1, is not a TOML value: unclosed array",
    ),
    (["run", "small.toml", "--set", "duration="], "--set duration: "),
    (["run", "small.toml", "--set", f"duration={'[' * 5000}"], "--set duration: [[[["),
    (["run", "small.toml", "--set", f"{'x' * 1000}=1"], f"--set {'x' * 64}...: unknown key"),
    (["run", "small.toml", "--set", "x." * 20 + "x=1"], "--set x.x.x"),
    (
        ["run", "small.toml", "--set", "bottleneck.rate=10 MBps"],
        '--set bottleneck.rate: "MBps" is not a unit of a rate; ',
    ),
    (
        ["run", "small.toml", "--qdisc", "codel", "--set", "bottleneck.dics=pi"],
        "--set bottleneck.dics: unknown key; ",
    ),
    (["run", "small.toml", "--seeds", "5..1"], 'sojourn run: --seeds: "5..1" is empty; '),
    (
        ["run", "small.toml", "--seeds", "1..99999999999999999999"],
        "sojourn run: --seeds: 99999999999999999999 is not a seed",
    ),
    (["run", "small.toml", "--seeds", "1..100001"], 'sojourn run: --seeds: "1..100001" is too many; '),
    (["run", "small.toml", "--seeds", "1...5"], 'sojourn run: --seeds: "1...5" is not a range; '),
    (["run", "small.toml", "--seed", "\uff11"], 'sojourn run: --seed: "\uff11" is not a seed; '),
    (["run", "small.toml", "--jobs", "0"], 'sojourn run: --jobs: "0" is not a number of workers; '),
    (["run", "small.toml", "--jobs", "1e9"], 'sojourn run: --jobs: "1e9" is not a number of workers; '),
    (["run", "small.toml", "--plant", ""], '--plant: "" does not exist; '),
    (["run", "small.toml", "--plant", "fluid,fluid"], "--plant: each plant once; "),
    (["run", "small.toml", "--qdisc", ""], "--qdisc: "),
    (["run", "small.toml", "--qdisc", "codell"], '--qdisc: "codell" is not a qdisc; did you mean "codel"?'),
    (["run", "small.toml", "--qdisc", "codel:target"], '--qdisc: "target" is not KEY=VALUE; '),
    (
        ["run", "small.toml", "--qdisc", "codel:targt=5 ms"],
        '--qdisc: codel.targt: unknown key; did you mean "target"?',
    ),
    (
        ["run", "small.toml", "--qdisc", "codel:target=5"],
        '--qdisc: codel.target: "5" needs a unit; expected a time such as "5 ms" (ns, us, ms, ',
    ),
    (["run", "small.toml", "--qdisc", "codel:target=5 s"], "--qdisc: codel.target: "),
    (
        ["run", "small.toml", "--qdisc", "codel:target=1ms,target=2ms"],
        "--qdisc: codel.target: is given twice; ",
    ),
    (["run", "small.toml", "--qdisc", "up=codel"], '--qdisc: "up" is no link with a qdisc'),
    (["run", "small.toml", "--qdisc", "none.py:Mine"], "--qdisc: none.py: cannot be read (No such file"),
    (
        ["run", "small.toml", "--qdisc", "mine.py:Mien"],
        '--qdisc: mine.py: "Mien" is not a law or qdisc in it; did you mean "Mine"?',
    ),
    (
        ["run", "small.toml", "--qdisc", "mine.py:Mine:g=x"],
        "--qdisc: mine.py:Mine: Mine: g: 'x' is not a number; expected ",
    ),
    (
        ["run", "small.toml", "--qdisc", "mine.py:Mine:h=1"],
        "--qdisc: mine.py:Mine: Mine has no parameter h; ",
    ),
    (["run", "small.toml", "--qdisc", "\udcff"], "--qdisc: '\\udcff' is not text; "),
    (
        ["run", "small.toml", "--cc", "cubik"],
        '--cc: "cubik" is not a congestion control; did you mean "cubic"?',
    ),
    (["run", "small.toml", "--cc", "flows[9]=cubic"], "--cc: 9 is no group of flows that use TCP; "),
    (["run", "small.toml", "--cc", "cubic:x=1"], "--cc: cubic.x: unknown key"),
    (["run", "small.toml", "--cc", "\udcff"], "--cc: '\\udcff' is not text; "),
    (["run", "small.toml", "--set", "title=\udcff"], "--set: 'title=\\udcff' is not text; "),
    (["run", "small.toml", "--out", ""], '--out: "" is not a name; '),
    (["run", "small.toml", "--out", "small.toml"], "--out: small.toml cannot be written (Not a directory); "),
    (["prove", "small.toml", "--qdisc", "pi", "--map", "X"], '--map: "X" is not a map; '),
    (["prove", "small.toml", "--qdisc", "pi", "--flows", "1..2"], "--flows: belongs to a map; "),
    (
        ["prove", "small.toml", "--qdisc", "pi", "--map", "N,R", "--flows", "5..1"],
        '--flows: "5..1" is no range; ',
    ),
    (
        ["prove", "small.toml", "--qdisc", "pi", "--map", "N,R", "--rtt", "1..2"],
        '--rtt: "1" needs a unit (expected ns, us, ms, s, min, h)',
    ),
    (["prove", "small.toml", "--qdisc", "pi", "-o", ""], '--output: "" is not a name; '),
    (
        ["prove", "small.toml", "--qdisc", "pi", "--link", "\udcff"],
        "--link: '\\udcff' is not text; ",
    ),
    (["report"], "sojourn report: DIR is missing; "),
    (["report", ""], 'sojourn report: DIR: "" is not a name; '),
    (["report", "small.toml"], "small.toml: there is no such folder; "),
    (["report", "nowhere"], "nowhere: there is no such folder; "),
    (["list"], "sojourn list: KIND is missing; "),
    (["list", "LAWS"], 'sojourn list: KIND: "LAWS" is not a list; '),
    (["list", "laws", "more"], "sojourn list: more: has no use"),
    (
        ["reproduce", "FB-OCQ"],
        'sojourn reproduce: PAPER: "FB-OCQ" is no paper; did you mean fb_ocq? expected ',
    ),
    (["reproduce", "ALL"], 'sojourn reproduce: PAPER: "ALL" is no paper; did you mean all? expected '),
    (["explain", ""], 'sojourn explain: "" is not known; '),
    (["explain", "codell"], 'sojourn explain: "codell" is not known; nearest: codel'),
    (
        ["explain", "bottleneck.rat"],
        'sojourn explain: "bottleneck.rat" is not known; nearest: bottleneck.rate',
    ),
    (["explain", "\033[31m"], r'sojourn explain: "\x1b[31m" is not known; '),
    (["explain", "x" * 100_000], 'sojourn explain: "xxx'),
    (["explain", "\udcff"], "sojourn explain: NAME: '\\udcff' is not text; "),
    (["conform", "--law", "coddle"], 'sojourn conform: --law: "coddle" has no traces; '),
    (["conform", "--against"], "sojourn conform: --against: has no value; "),
    (
        ["conform", "--against", "no-such-program"],
        'sojourn conform: --against: "no-such-program" cannot be started ',
    ),
    (
        ["conform", "--against", "'"],
        'sojourn conform: --against: "\'" cannot be started (No closing quotation); ',
    ),
    (["version", "--json"], "sojourn version: --json: is not an option; "),
    (["frobnicate"], 'sojourn: "frobnicate" is not a command; expected run, '),
    (["rnu"], 'sojourn: "rnu" is not a command; did you mean run? expected run, '),
]


@pytest.mark.parametrize(
    ("arguments", "begins"), LINES, ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else ""
)
def test_an_odd_command_line_is_one_line(errors_of, folder: Path, arguments: list[str], begins: str) -> None:
    (folder / "mine.py").write_text(LAW)
    (line,) = errors_of(2, *arguments)
    assert line.removeprefix(f"sojourn {arguments[0]}: ").startswith(
        begins.removeprefix(f"sojourn {arguments[0]}: ")
    )
    assert any(word in line for word in EXPECTED), line
    assert len(line) <= 2010


#: The interpreter with the command, for a shell.
US = f"{sys.executable} -m sojourn"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "page"),
    [
        # A page costs seconds: those may change it whose files or letters it has.
        ({"TERM": "dumb", "COLUMNS": "1"}, []),
        ({"TERM": "", "COLUMNS": "0", "TZ": "Nowhere/X"}, []),
        ({"COLUMNS": "x", "FORCE_COLOR": "1"}, []),
        ({"COLUMNS": "99999999", "PYTHONIOENCODING": "ascii"}, []),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, ["-o", "page.html"]),
        ({"LC_ALL": "xx_YY.NOPE", "MPLBACKEND": "nope"}, ["-o", "page.html"]),
        ({"HOME": "/nonexistent"}, ["-o", "page.html"]),
        ({"MPLCONFIGDIR": "/dev/null", "TMPDIR": "/nonexistent"}, ["-o", "page.html"]),
    ],
    ids=str,
)
def test_an_odd_environment_is_no_error(sojourn, environment: dict[str, str], page: list[str]) -> None:
    for arguments in (["run", "small.toml", "--quiet"], ["prove", "dumbbell", "--qdisc", "pi", *page]):
        done = sojourn(*arguments, env=environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "code", "line"),
    [
        ("{us} run small.toml | head -c 1 > /dev/null; exit ${{PIPESTATUS[0]}}", 0, ""),
        ("{us} list laws | true; exit ${{PIPESTATUS[0]}}", 0, ""),
        ("{us} explain scenario | true; exit ${{PIPESTATUS[0]}}", 0, ""),
        ("{us} --help | true; exit ${{PIPESTATUS[0]}}", 0, ""),
        ("{us} conform --law codel | true; exit ${{PIPESTATUS[0]}}", 0, ""),
        ("{us} check small.toml >&-", 0, ""),
        ("{us} run small.toml >&-", 0, ""),
        ("{us} run small.toml >&- 2>&-", 0, ""),
        ("{us} run small.toml 2>&-", 0, ""),
        ("{us} run none.toml 2>&-", 2, ""),
        ("{us} frobnicate 2>&-", 2, ""),
        ("{us} run small.toml <&-", 0, ""),
        ("{us} --help >&-", 0, ""),
        ("{us} check small.toml > /dev/full", 1, "sojourn check: No space left on device"),
        ("{us} version > /dev/full", 1, "sojourn version: No space left on device"),
        ("{us} list laws > /dev/full", 1, "sojourn list: No space left on device"),
        ("{us} explain red > /dev/full", 1, "sojourn explain: No space left on device"),
        ("{us} conform --law codel > /dev/full", 1, "sojourn conform: No space left on device"),
        ("{us} run none.toml 2> /dev/full", 2, ""),
        ("{us} check <(cat small.toml) > /dev/null", 0, ""),
        ("cat small.toml | {us} check /dev/stdin > /dev/null", 0, ""),
        ("mkdir gone; cd gone; rmdir ../gone; {us} list scenarios > /dev/null", 0, ""),
        ("mkdir gone; cd gone; rmdir ../gone; {us} check dumbbell > /dev/null", 0, ""),
        (
            "mkdir gone; cd gone; rmdir ../gone; {us} check small.toml",
            2,
            "small.toml: there is no such file; ",
        ),
        ("mkdir gone; cd gone; rmdir ../gone; {us} report out", 2, "out: there is no such folder; "),
        ("mkdir gone; cd gone; rmdir ../gone; {us} conform --law codel > /dev/null", 0, ""),
    ],
)
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_odd_ends_of_streams_and_folders(folder: Path, script: str, code: int, line: str) -> None:
    done = subprocess.run(
        ["bash", "-c", script.format(us=US)],
        cwd=folder,
        env=os.environ | {"COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (code, 1 if line else 0), done.stderr
    assert done.stderr.startswith(line)


def test_the_rows_are_many() -> None:
    """Three commands on most of the files, and the others."""
    assert len(FILES) + len(LINES) > 100


def test_at_a_terminal_the_line_follows_with_a_caret(folder: Path) -> None:
    (folder / "odd.toml").write_text("title = 'x'\nlist = [1, 2\n  rate = \"\u65e5\u672c\", [flows\n")
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "sojourn", "check", "odd.toml"]
    with subprocess.Popen(command, cwd=folder, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        try:
            while more := os.read(ours, 4096):
                seen += more
        except OSError:  # Linux reports EIO when the other side has closed.
            pass
    os.close(ours)
    assert process.returncode == 2
    assert seen.decode().splitlines() == [
        "odd.toml:3:3: is not TOML: the `[` opened at line 2, column 8 is not closed; "
        "expected `]` here or before",
        "  |",
        "2 | list = [1, 2",
        "  |        ^",
        '3 |   rate = "\u65e5\u672c", [flows',
        "  |   ^",
    ]


def test_a_caret_stands_under_wide_letters(folder: Path) -> None:
    (folder / "wide.toml").write_text("x = '\u65e5\u672c' y\n")
    with pytest.raises(sj.InputError) as caught:
        sj.load(folder / "wide.toml")
    shown = caught.value.diagnostics[0].drawing.splitlines()
    assert shown == ["  |", "1 | x = '\u65e5\u672c' y", "  | " + " " * 11 + "^"]


@pytest.mark.slow
def test_every_error_of_the_syntax_is_one_line(folder: Path, monkeypatch, capsys) -> None:
    """For any replaced character of a scenario, there is one line for an error, or a scenario."""
    monkeypatch.chdir(folder)
    broken = 0
    for at in range(0, len(SCENARIO), 7):
        for letter in ("", '"', "]", "[", "{", "=", "\n"):
            (folder / "odd.toml").write_text(SCENARIO[:at] + letter + SCENARIO[at + 1 :])
            code = main(["check", "odd.toml"])
            lines = capsys.readouterr().err.splitlines()
            assert code == (2 if lines else 0)
            assert all(re.match("odd.toml:[0-9]+:[0-9]+: ", line) for line in lines)
            syntax = [line for line in lines if "is not TOML" in line]
            assert not syntax or len(lines) == 1, lines
            broken += len(syntax)
    assert broken > 100
