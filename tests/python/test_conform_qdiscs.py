"""Whole qdiscs under `sojourn conform`: packets in, packets out."""

# ruff: noqa: ARG002

from __future__ import annotations

import json
import shutil
import sys
from collections import deque
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.cli import main
from sojourn.conform import TracedQdisc, against, compare, replay, traces

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
EXAMPLES = VECTORS / "examples"
NEW_QUEUE = VECTORS / "fq_codel" / "new_queue.jsonl"


class Rounds(sj.Qdisc):
    """RFC 8290, section 4, without a law in the queues."""

    quantum = 3000
    new_first = True

    def reset(self):
        self.queues, self.credits = {}, {}
        self.new, self.old = deque(), deque()

    def enqueue(self, now, packet):
        queue = self.queues.setdefault(packet.flow, deque())
        if packet.flow not in self.new and packet.flow not in self.old:
            self.credits[packet.flow] = self.quantum
            (self.new if self.new_first else self.old).append(packet.flow)
        queue.append(packet)

    def dequeue(self, now):
        while self.new or self.old:
            lists = self.new or self.old
            flow = lists[0]
            if self.credits[flow] <= 0:
                self.credits[flow] += self.quantum
                self.old.append(lists.popleft())
            elif self.queues[flow]:
                packet = self.queues[flow].popleft()
                self.credits[flow] -= packet.len_bytes
                return packet
            else:
                lists.popleft()
                if lists is self.new:
                    self.old.append(flow)
        return None


def test_a_qdisc_in_python_replays_a_trace() -> None:
    assert replay(NEW_QUEUE, Rounds()) == []
    first, *_ = replay(NEW_QUEUE, Rounds(new_first=False))
    clause = "RFC 8290, section 4.1: a queue that is not active is added to the end of the list of new queues"
    assert (
        first
        == f"{NEW_QUEUE}:16: answers sent 4, dropped [], marked [], expected sent 8, {ENDING} ({clause})"
    )


ENDING = "dropped [], marked []"


def test_a_fault_of_a_qdisc_in_python_is_one_line() -> None:
    class Forgets(Rounds):
        def enqueue(self, now, packet):
            pass

    with pytest.raises(sj.LawFailed, match=r"^Forgets: .*: dequeue gave None while 8 packets are held"):
        replay(NEW_QUEUE, Forgets())
    with pytest.raises(sj.InputError, match=r"new_queue.jsonl:1: Late is a law, and the trace is of a qdisc"):
        replay(NEW_QUEUE, type("Late", (sj.Law,), {"on_departure": lambda _self, _packet: None})())
    with pytest.raises(sj.InputError, match=r"Rounds is a qdisc, and the trace is of a law"):
        replay(VECTORS / "codel" / "one_mtu.jsonl", Rounds())


def test_the_example_passes_and_a_mutant_fails_with_its_line(sojourn, tmp_path: Path) -> None:
    program = f"{sys.executable} {EXAMPLES / 'fq_codel.py'}"
    done = sojourn("conform", "--qdisc", "fq_codel", "--against", program)
    count = len(traces(qdisc="fq_codel"))
    assert count > 10
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{count} of {count} traces pass" in done.stdout
    shutil.copy(EXAMPLES / "codel.py", tmp_path)
    text = (EXAMPLES / "fq_codel.py").read_text()
    mutant = tmp_path / "mutant.py"
    mutant.write_text(text.replace("self.new.append(queue)", "self.old.append(queue)"))
    done = sojourn("conform", "--qdisc", "fq_codel", "--against", f"{sys.executable} {mutant}")
    assert done.returncode == 1
    line = "fq_codel/new_queue.jsonl:16: answers sent 4, expected sent 8 (RFC 8290, section 4.1: a queue that"
    assert line in done.stdout


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("echo pass", 'answers "pass", which is no answer; expected a JSON object such as {"sent": 7, '),
        ("echo '{}'", "1 answers, expected 20"),
        ("echo '[]'", 'answers "[]", which is no answer'),
        ("""echo '{"send": 3}'""", "which is no answer"),
        ("exit 3", "the command ended with exit code 3 after 0 of 20 answers"),
    ],
)
def test_a_program_that_does_not_answer_is_reported(tmp_path: Path, program: str, message: str) -> None:
    script = tmp_path / "program.sh"
    script.write_text(f"{program}\n")
    first, *_ = against(NEW_QUEUE, f"sh {script}")
    assert message in first


def test_answers_are_compared_one_by_one() -> None:
    _, *lines = NEW_QUEUE.read_text().splitlines()
    answers = [
        json.dumps({key: call[key] for key in ("sent", "dropped", "marked") if key in call})
        for call in map(json.loads, lines)
    ]
    assert compare(NEW_QUEUE, answers) == []
    answers[-1] = '{"sent": 77, "dropped": [1]}'
    (line,) = compare(NEW_QUEUE, answers)
    assert "answers sent 77, dropped [1], expected sent " in line


def test_names_and_options(capsys) -> None:
    for arguments, line in [
        (
            ["--qdisc", "codel"],
            '--qdisc: "codel" has no traces; did you mean --law codel?; expected cake, drr, ',
        ),
        (["--law", "drr"], '--law: "drr" has no traces; did you mean --qdisc drr?; expected ared, '),
        (["--law", "codel", "--qdisc", "drr"], "--qdisc: is given with --law; expected one of them"),
    ]:
        assert main(["conform", *arguments]) == 2
        (text,) = capsys.readouterr().err.splitlines()
        assert text.startswith(f"sojourn conform: {line}")
    assert main(["conform", "--qdisc", "dual", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["holds"]
    assert {one["law"] for one in document["traces"]} == {"dual"}


def test_a_header_and_calls_in_full() -> None:
    link = {"rate_bps": 1e6, "packet_bytes": 1000, "limit_packets": 20}
    flows = [{"class": "bulk"}, {"class": "call", "dscp": 46, "to_host": 2}]
    qdisc = TracedQdisc({"qdisc": "prio:order=[call]", "link": link, "flows": flows})
    for number, flow in enumerate((0, 0, 1)):
        call = {"call": "enqueue", "now_ns": 0, "id": number, "len": 1000, "ecn": "not_ect", "flow": flow}
        assert qdisc.answer(call)["dropped"] == []
    qdisc.answer({"call": "set_params", "now_ns": 0, "params": {"limit": 3}})
    assert [qdisc.answer({"call": "dequeue", "now_ns": 0})["sent"] for _ in range(4)] == [2, 0, 1, None]
    with pytest.raises(sj.InputError, match=r"^params: limi: unknown key; did you mean"):
        qdisc.answer({"call": "set_params", "now_ns": 0, "params": {"limi": 3}})
    with pytest.raises(
        sj.InputError, match=r'^call: "enque" is not enqueue, dequeue, update, rate, connection or set_params'
    ):
        qdisc.answer({"call": "enque", "now_ns": 0})
    with pytest.raises(sj.InputError, match=r"^class: is not text"):
        TracedQdisc({"qdisc": "drr", "link": link, "flows": [{"class": 3}]})
