"""Other programs under `sojourn conform --against`: their input, and failures."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.cli import main
from sojourn.conform import TracedLaw, against, compare, replay, without_answers
from sojourn.conversation import _Output

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "vectors"
EXAMPLES = VECTORS / "examples"
CONTROL_LAW = VECTORS / "codel" / "control_law.jsonl"
#: A law that lets everything pass.
ALWAYS = """sh -c 'while read line; do case "$line" in *arrival*|*departure*) echo pass;; esac; done'"""


@pytest.mark.slow
def test_a_program_gets_the_lines_of_the_file_byte_for_byte(tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    for path in sorted(VECTORS.glob("*/*.jsonl")):
        against(path, f"""sh -c 'cat > "{sent}"'""")
        expected = re.sub(rb',"(verdict|p|next_ns)":("[a-z_]+"|[-+.e0-9]+|null)', b"", path.read_bytes())
        answers = rb',"(sent|dropped|marked|update_ns|not_before_ns)":(\[[0-9,]*\]|[0-9]+|null)'
        expected = re.sub(answers, b"", expected)
        assert sent.read_bytes() == expected, path


def test_answers_are_cut_out_at_any_place() -> None:
    for line, rest in (
        ('{"verdict":"drop","call":"arrival"}', '{"call":"arrival"}'),
        (
            '{ "call" : "arrival" , "verdict" : "}," , "u":[0.50,1E-3] }\r\n',
            '{ "call" : "arrival" , "u":[0.50,1E-3] }\r\n',
        ),
        ('{"p":0.1,"next_ns":null}\n', "{}\n"),
        (
            '{"about":"a \\"verdict\\":1, too","link":{"p":1}}\n',
            '{"about":"a \\"verdict\\":1, too","link":{"p":1}}\n',
        ),
        ("{ }", "{ }"),
    ):
        assert without_answers(line).replace(" ", "") == rest.replace(" ", "")


def test_the_example_in_python_passes(sojourn) -> None:
    done = sojourn("conform", "--law", "codel", "--against", f"{sys.executable} {EXAMPLES / 'codel.py'}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 of 8 traces pass" in done.stdout


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """The example in C, as a program."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    program = tmp_path / "codel"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]
    subprocess.run(["cc", *flags, "-o", program, EXAMPLES / "codel.c", "-lm"], check=True)
    return program


def tenths(folder: Path) -> Iterator[Path]:
    """Traces of CoDel with a target of tenths of a millisecond; packets wait for a nanosecond less."""
    link = {"rate_bps": 1e6, "packet_bytes": 1000, "limit_packets": 200, "flows": 10, "base_rtt_ns": 10**8}
    for tenth in (3, 41, 82, 164, 323, 999):
        header = {
            "trace": 1,
            "law": "codel",
            "params": {"target": f"{tenth / 10} ms"},
            "about": "",
            "link": link,
        }
        law, lines = TracedLaw(header), [header]
        packet = {"len": 1000, "ecn": "not_ect", "flow": 0, "backlog_packets": 99, "backlog_bytes": 99_000}
        for time_ms in range(300, 600, 10):
            call = {"call": "departure", "now_ns": time_ms * 10**6, **packet, "sojourn_ns": tenth * 10**5 - 1}
            lines.append({**call, "u": [0.5, 0.5]} | law.answer({**call, "u": [0.5, 0.5]}))
        path = folder / f"{tenth}.jsonl"
        path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
        yield path


def test_the_examples_round_times(tmp_path: Path, compiled: Path) -> None:
    """A product such as 4.1 * 1e6 is a little less than a whole number."""
    for path in tenths(tmp_path):
        assert "drop" not in path.read_text()
        for program in (compiled, f"{sys.executable} {EXAMPLES / 'codel.py'}"):
            assert against(path, str(program)) == [], path


def test_the_example_in_c_passes(sojourn, compiled: Path) -> None:
    done = sojourn("conform", "--law", "codel", "--against", compiled)
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 of 8 traces pass" in done.stdout


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("sh -c 'exit 3'", "the command ended with exit code 3 after 0 of 229 verdicts"),
        (
            "sh -c 'echo pass; echo my reason >&2; exit 1'",
            "the command ended with exit code 1 after 1 of 229 verdicts: my reason",
        ),
        (
            f"{sys.executable} -c 'import nope'",
            "the command ended with exit code 1 after 0 of 229 verdicts: "
            "ModuleNotFoundError: No module named 'nope'",
        ),
        ("sh -c 'kill -SEGV $$'", "the command was killed by signal 11 (SIGSEGV) after 0 of 229 verdicts"),
        ("sleep 60", "the command did not end within 0.5 s, and was stopped after 0 of 229 verdicts"),
        ("sh -c 'exec >&-; sleep 60'", "the command did not end within 0.5 s, and was stopped after 0 of"),
        ("yes pass", "the command wrote much more than a verdict a line, and was stopped after "),
    ],
)
def test_a_program_that_fails_is_reported_before_any_clause(command: str, message: str) -> None:
    total = CONTROL_LAW.read_text().count('"verdict"')
    # A loaded machine may take long to start a program.
    first = against(CONTROL_LAW, command, timeout_s=0.5 if "did not end" in message else 60.0)[0]
    assert first.startswith(f"{CONTROL_LAW}: {message.replace('229', str(total))}")
    assert "RFC" not in first


@pytest.mark.parametrize("command", ["cat", "yes Pass"])
def test_a_flood_of_other_words_is_reported_by_its_first_word(command: str) -> None:
    first, second = against(CONTROL_LAW, command)
    assert "answers " in first
    assert "which is no verdict" in first
    assert "wrote much more than a verdict a line, and was stopped after 0 of" in second


@pytest.mark.parametrize(
    ("word", "quoted"),
    [("Pass", '"Pass"'), ("pass drop", '"pass drop"'), ("\033[2Jx", r"'\x1b[2Jx'"), ("x" * 99, "x" * 20)],
)
def test_an_invalid_verdict_is_reported_before_any_clause(tmp_path: Path, word: str, quoted: str) -> None:
    (tmp_path / "answers").write_text(f"drop\ndrop\n{word}\n")
    (line,) = against(CONTROL_LAW, f"cat {tmp_path / 'answers'}")
    assert line.startswith(f"{CONTROL_LAW}:4: answers ")
    assert quoted in line
    assert line.endswith("which is no verdict; expected pass, mark, drop, drop_both: here pass")


def test_a_difference_is_shown_with_its_line_and_the_parameters(sojourn) -> None:
    done = sojourn("conform", "--law", "codel", "--against", ALWAYS)
    lines = done.stdout.splitlines()
    at = next(
        number
        for number, line in enumerate(lines)
        if line.startswith("codel/re_entry.jsonl:52: answers pass")
    )
    call = (VECTORS / "codel" / "re_entry.jsonl").read_text().splitlines()[51]
    assert lines[at + 1].startswith(
        '  codel under {"interval": "50 ms", "target": "4 ms"} at {"rate_bps": 1000000.0, '
    )
    assert lines[at + 2] == f"  line 52: {call}"
    document = json.loads(sojourn("conform", "--law", "codel", "--against", ALWAYS, "--json").stdout)
    (first,) = [trace["first"] for trace in document["traces"] if trace["trace"] == "re_entry"]
    assert first["params"] == {"interval": "50 ms", "target": "4 ms"}
    assert (first["line"], first["call"]) == (52, json.loads(call))


def test_a_program_may_answer_early_or_late_or_read_nothing() -> None:
    path = VECTORS / "tail_drop" / "rate_stall.jsonl"
    count = path.read_text().count('"verdict"')
    assert against(path, f"sh -c 'yes pass | head -n {count}'") == []
    assert against(path, f"sh -c 'cat > /dev/null; yes pass | head -n {count}'") == []
    # Blanks and carriage returns are no part of an answer.
    assert against(path, f"""sh -c 'yes " pass\r" | head -n {count}'""") == []


def is_running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in ("Z", "X")


def ended(pid: int) -> bool:
    """Returns True if a process ends, soon."""
    for _ in range(200):
        if not is_running(pid):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
@pytest.mark.parametrize("after", ["", "sleep 300", "exec >&-; sleep 300", "yes", "exit 1"])
def test_all_that_a_program_started_ends_with_it(tmp_path: Path, after: str) -> None:
    pids = tmp_path / "pids"
    script = tmp_path / "program.sh"
    script.write_text(f"sleep 300 & echo $! > {pids}\n(sleep 300; sleep 300) & echo $! >> {pids}\n{after}\n")
    against(CONTROL_LAW, f"sh {script}", timeout_s=1.0)
    for pid in pids.read_text().split():
        assert ended(int(pid))


#: Ways out of the group and the session of a program.
ESCAPES = {
    "a group of its own": "set -m; sleep 300 & echo $! >> PIDS",
    "a session of its own": "setsid sleep 300 & echo $! >> PIDS",
    "a daemon": "env -i setsid sh -c 'sleep 300 & echo $! >> PIDS; cd /; exec >&- 2>&- <&-' &\nwait",
    "two levels": "setsid sh -c 'echo $$ >> PIDS; setsid sleep 300 & echo $! >> PIDS; wait' &",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="orphans come to a parent on Linux only")
@pytest.mark.skipif(shutil.which("setsid") is None, reason="no setsid")
@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("after", ["", "sleep 300"])
def test_no_process_escapes(tmp_path: Path, escape: str, after: str) -> None:
    pids, script = tmp_path / "pids", tmp_path / "program.sh"
    # The program goes on when the numbers are there.
    waits = f"until [ -s {pids} ]; do sleep 0.01; done"
    script.write_text(f"{ESCAPES[escape].replace('PIDS', str(pids))}\n{waits}\n{after}\n")
    against(CONTROL_LAW, f"{shutil.which('bash') or 'sh'} {script}", timeout_s=1.0)
    assert pids.read_text().split()
    for pid in pids.read_text().split():
        assert not is_running(int(pid))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a parent's end is a signal on Linux only")
def test_a_program_ends_with_a_command_that_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    program = f"sh -c 'echo $$ > {pid}.part; mv {pid}.part {pid}; sleep 300'"
    command = [sys.executable, "-m", "sojourn", "conform", "--law", "codel", "--timeout", "600"]
    with subprocess.Popen([*command, "--against", program], stderr=subprocess.DEVNULL) as process:
        for _ in range(600):
            if pid.exists():
                break
            time.sleep(0.05)
        process.kill()
    assert ended(int(pid.read_text()))


def test_of_a_long_stderr_the_beginning_and_the_last_line_are_kept(capfd: pytest.CaptureFixture[str]) -> None:
    path = VECTORS / "tail_drop" / "rate_stall.jsonl"
    answers = path.read_text().count('"verdict"')
    noise = "yes noise | head -c 3000000 >&2; echo the end >&2"
    assert against(path, f"sh -c 'yes pass | head -n {answers}; {noise}'") == []
    assert len(capfd.readouterr().err) == 65_537
    (first, *_) = against(path, f"sh -c '{noise}; exit 1'")
    assert first.endswith(f"the command ended with exit code 1 after 0 of {answers} verdicts: the end")
    kept = _Output(10)
    for _ in range(1000):
        kept.add(b"x" * 1000)
    assert (len(kept.first), len(kept.last)) == (10, 4096)


def test_a_trace_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/zero")):
        reason = "cannot be read \\(it is a (pipe|device)\\)|is too large"
        for replayed in (
            replay,
            lambda path: compare(path, []),
            lambda path: against(path, "true"),
        ):
            with pytest.raises(sj.InputError, match=f": ({reason}); expected "):
                replayed(path)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_and_its_children(tmp_path: Path, number: signal.Signals) -> None:
    pids = tmp_path / "pids"
    script = tmp_path / "program.sh"
    script.write_text(
        f"echo $$ > {pids}.part\nsleep 300 & echo $! >> {pids}.part; mv {pids}.part {pids}\nsleep 300\n"
    )
    command = [sys.executable, "-m", "sojourn", "conform", "--law", "codel", "--timeout", "600"]
    with subprocess.Popen(
        [*command, "--against", f"sh {script}"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509 (nohup ignores SIGHUP)
    ) as process:
        for _ in range(600):
            if pids.exists():
                break
            time.sleep(0.05)
        os.kill(process.pid, number)
        stderr = process.stderr.read()
    assert (process.returncode, stderr) == (
        130,
        "sojourn conform: interrupted; 0 of 8 traces were replayed\n",
    )
    for pid in pids.read_text().split():
        assert ended(int(pid))


@pytest.mark.parametrize("as_json", [False, True])
def test_replayed_traces_are_printed_at_an_interrupt(tmp_path: Path, as_json: bool) -> None:
    """The first trace differs, and is printed while the second one, which has no end, goes on."""
    once, pid = tmp_path / "once", tmp_path / "pid"
    program = tmp_path / "program.sh"
    program.write_text(
        f"if mkdir {once} 2>/dev/null; then echo drop; exit; fi\n"
        f"echo $$ > {pid}.part; mv {pid}.part {pid}; sleep 300\n"
    )
    command = [sys.executable, "-m", "sojourn", "conform", "--law", "codel", "--timeout", "600"]
    command += ["--against", f"sh {program}", *(["--json"] if as_json else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        first = "" if as_json else process.stdout.readline()
        for _ in range(600):
            if pid.exists():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.stdout.read(), process.stderr.read()
    assert (process.returncode, err) == (130, "sojourn conform: interrupted; 1 of 8 traces were replayed\n")
    if as_json:
        document = json.loads(out)
        assert (document["interrupted"], document["holds"]) == (True, False)
        (trace,) = document["traces"]
        assert not trace["holds"]
        assert trace["differences"]
    else:
        assert first.startswith("codel/")
        assert out.splitlines()[-1] == "0 of 1 traces pass"


@pytest.mark.parametrize("text", ["0", "-1", "x", "nan", "inf", "1e3", ""])
def test_a_time_limit_is_seconds(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert main(["conform", "--law", "codel", "--against", "true", f"--timeout={text}"]) == 2
    stderr = capsys.readouterr().err
    assert stderr.startswith(f'sojourn conform: --timeout: "{text}" is no time; ')
    assert stderr.count("\n") == 1


def test_a_time_limit_belongs_to_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--timeout", "5"]) == 2
    assert capsys.readouterr().err.startswith("sojourn conform: --timeout: belongs to a program; ")


def test_a_program_that_cannot_be_started_is_one_line() -> None:
    for command in ("", "   ", "no-such-program", "'", "/", "a\0b"):
        with pytest.raises(sj.InputError, match=r"^--against: ") as caught:
            against(CONTROL_LAW, command)
        assert len(caught.value.lines) == 1
