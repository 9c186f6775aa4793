"""FQ-CoDel, RFC 8290 section 4, as a program for `sojourn conform`, which replays the golden traces with it.

    sojourn conform --qdisc fq_codel --against 'python3 fq_codel.py'

It reads a trace on stdin, one object a line, and writes an object for each enqueue and each dequeue: the
packets that it sent, dropped and marked. Everything up to `main` is the qdisc, with the CoDel of `codel.py`
in each queue; another qdisc has other rules there and the same `main`.
"""

import json
import sys
from collections import deque
from typing import Any

from codel import CoDel, time_of

Packet = dict[str, Any]


class FlowQueue:
    """Packets of a flow, its credits and its law."""

    def __init__(self, law: CoDel) -> None:
        self.law, self.packets, self.bytes, self.credits = law, deque[Packet](), 0, 0

    def append(self, packet: Packet) -> None:
        """Add a packet at the tail."""
        self.packets.append(packet)
        self.bytes += packet["len"]

    def pop(self) -> Packet:
        """Take the packet at the head."""
        packet = self.packets.popleft()
        self.bytes -= packet["len"]
        return packet


class FqCoDel:
    """New queues, old queues, and the packets dropped and marked in the present call."""

    def __init__(self, params: dict[str, str]) -> None:
        self.params: dict[str, str] = {}
        self.queues: dict[int, FlowQueue] = {}
        self.new, self.old = deque[FlowQueue](), deque[FlowQueue]()
        self.dropped: list[int] = []
        self.marked: list[int] = []
        self.set_params(params)

    def set_params(self, params: dict[str, Any]) -> None:
        """Set parameters; the packets and the state of each law stay."""
        self.params |= {key: str(value) for key, value in params.items()}
        self.quantum = size_of(self.params.get("quantum", "1514 B"))
        self.limit = int(self.params.get("limit", 10240))
        self.memory = size_of(self.params.get("memory", "33554432 B"))
        self.batch = int(self.params.get("batch", 64))
        self.ce_threshold = time_of(self.params["ce_threshold"]) if "ce_threshold" in self.params else None
        for queue in self.queues.values():
            law = self.law()
            queue.law.target, queue.law.interval, queue.law.ecn = law.target, law.interval, law.ecn

    def law(self) -> CoDel:
        """CoDel at its start."""
        given = {
            key.removeprefix("law."): value for key, value in self.params.items() if key.startswith("law.")
        }
        return CoDel(given | {"ecn": given.get("ecn", "true") != "false"})

    def enqueue(self, now: int, packet: Packet) -> None:
        """Section 4.1: to the queue of its flow; above the limit the fattest queue loses packets."""
        flow = packet["flow"]
        if flow not in self.queues:
            self.queues[flow] = FlowQueue(self.law())
        queue = self.queues[flow]
        queue.append(packet | {"arrival_ns": now})
        if queue not in self.new and queue not in self.old:
            queue.credits = self.quantum
            self.new.append(queue)
        while self.exceeds_limit():
            fattest = max(self.queues.values(), key=lambda queue: queue.bytes)
            for _ in range(max(min(self.batch, (len(fattest.packets) + 1) // 2), 1)):
                self.dropped.append(fattest.pop()["id"])

    def exceeds_limit(self) -> bool:
        """All queues together hold more packets or bytes than they may."""
        packets = sum(len(queue.packets) for queue in self.queues.values())
        return packets > self.limit or sum(queue.bytes for queue in self.queues.values()) > self.memory

    def dequeue(self, now: int) -> int | None:
        """Section 4.2: the next packet of the first queue with credits, new ones before old ones."""
        while self.new or self.old:
            lists = self.new or self.old
            queue = lists[0]
            if queue.credits <= 0:
                queue.credits += self.quantum
                self.old.append(lists.popleft())
                continue
            packet = self.take(now, queue)
            if packet is not None:
                queue.credits -= packet["len"]
                return int(packet["id"])
            lists.popleft()
            if lists is self.new:
                self.old.append(queue)
        return None

    def take(self, now: int, queue: FlowQueue) -> Packet | None:
        """The next packet of a queue that its law lets pass."""
        while queue.packets:
            packet = queue.pop()
            sojourn = now - packet["arrival_ns"]
            seen = packet | {"now_ns": now, "sojourn_ns": sojourn, "backlog_bytes": queue.bytes}
            verdict = queue.law.departure(seen)
            if verdict == "drop":
                self.dropped.append(packet["id"])
                continue
            is_late = self.ce_threshold is not None and sojourn > self.ce_threshold
            if (verdict == "mark" or is_late) and packet["ecn"] != "not_ect":
                self.marked.append(packet["id"])
            return packet
        queue.law.idle(now)
        return None


def size_of(text: str) -> int:
    """Bytes of a text such as "1514 B"."""
    number, unit = text.split()
    return round(float(number) * {"B": 1, "kB": 1_000, "MB": 1_000_000}[unit])


def params_of(spec: str) -> dict[str, str]:
    """Parameters of a SPEC such as "fq_codel:by=class,quantum=300 B"."""
    return dict(item.split("=") for item in spec.partition(":")[2].split(",") if item)


def main() -> None:
    """Answer one trace."""
    header = json.loads(sys.stdin.readline())
    name = header["qdisc"].partition(":")[0]
    if name != "fq_codel":
        sys.exit(f"fq_codel.py: this is FQ-CoDel, not {name}")
    buffer = header["link"]["limit_packets"]
    params = params_of(header["qdisc"])
    qdisc = FqCoDel(params | {"limit": str(min(int(params.get("limit", buffer)), buffer))})
    for line in sys.stdin:
        call = json.loads(line)
        qdisc.dropped, qdisc.marked = [], []
        if call["call"] == "enqueue":
            qdisc.enqueue(call["now_ns"], call)
            print(json.dumps({"dropped": qdisc.dropped, "marked": qdisc.marked}))
        elif call["call"] == "dequeue":
            sent = qdisc.dequeue(call["now_ns"])
            print(json.dumps({"sent": sent, "dropped": qdisc.dropped, "marked": qdisc.marked}))
        elif call["call"] == "set_params":
            qdisc.set_params(call["params"])


if __name__ == "__main__":
    main()
