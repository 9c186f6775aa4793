"""CoDel, RFC 8289 section 5, as a program for `sojourn conform`, which replays the golden traces with it.

    sojourn conform --law codel --against 'python3 codel.py'

It reads a trace on stdin, one object a line, and writes a verdict for each arrival and each departure.
Everything up to `main` is the law; another law has other rules there and the same `main`.
"""

import json
import math
import sys
from typing import Any

NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


class CoDel:
    """CoDel's state, updated packet by packet at departure; times in ns."""

    def __init__(self, params: dict[str, Any]) -> None:
        self.target = time_of(params.get("target", "5 ms"))
        self.interval = time_of(params.get("interval", "100 ms"))
        self.ecn = params.get("ecn", True)
        self.fixed = "mtu" in params
        self.maxpacket = int(params["mtu"].split()[0]) if self.fixed else 512
        #: Time from which the delay will have been above the target for an interval.
        self.first_above: int | None = None
        self.dropping, self.drop_next, self.count, self.lastcount = False, 0, 0, 0
        #: Reason of the last drop in the same dequeue: "entry" or "drop".
        self.after: str | None = None

    def departure(self, packet: dict[str, Any]) -> str:
        """Section 5.5: the verdict on a packet that is about to leave."""
        now = packet["now_ns"]
        if not self.fixed:
            self.maxpacket = max(self.maxpacket, packet["len"])
        late = self.is_late(now, packet["sojourn_ns"], packet["backlog_bytes"])
        if not self.is_due(now, late):
            self.after = None
            return "pass"
        entry = not self.dropping
        if self.dropping:
            self.count += 1
        if packet["ecn"] == "not_ect" or not self.ecn:
            # The packet behind it sets the time of the next one.
            self.after = "entry" if entry else "drop"
            return "drop"
        if entry:
            self.enter(now)
        else:
            self.drop_next = self.control_law(self.drop_next)
        self.after = None
        return "mark"

    def idle(self, now: int) -> None:
        """The queue was empty."""
        self.first_above = None
        self.is_due(now, late=False)
        self.after = None

    def is_late(self, now: int, sojourn: int, backlog_bytes: int) -> bool:
        """Section 5.6, dodequeue: above the target for a whole interval, with more than a packet behind."""
        if sojourn < self.target or backlog_bytes <= self.maxpacket:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = now + self.interval
        return now >= self.first_above

    def is_due(self, now: int, late: bool) -> bool:
        """Section 5.5, dequeue, from one packet to the next."""
        if self.after == "entry":
            self.enter(now)
            return False
        if self.after == "drop" and late:
            self.drop_next = self.control_law(self.drop_next)
        if self.dropping:
            self.dropping = late
            return late and now >= self.drop_next
        return late

    def enter(self, now: int) -> None:
        """Section 5.5: count on entry of the drop state."""
        delta = self.count - self.lastcount
        recent = now - self.drop_next < 16 * self.interval
        self.dropping = True
        self.count = delta if delta > 1 and recent else 1
        self.lastcount = self.count
        self.drop_next = self.control_law(now)

    def control_law(self, t: int) -> int:
        """Section 5.6: time of the next drop."""
        return t + int(self.interval / math.sqrt(self.count))


def time_of(text: str) -> int:
    """Nanoseconds of a text such as "5 ms"."""
    number, unit = text.split()
    return round(float(number) * NANOSECONDS[unit])


def main() -> None:
    """Answer one trace."""
    header = json.loads(sys.stdin.readline())
    if header["law"] != "codel":
        sys.exit(f"codel.py: this is CoDel, not {header['law']}")
    law = CoDel(header["params"])
    for line in sys.stdin:
        call = json.loads(line)
        if call["call"] == "arrival":
            print("pass")
        elif call["call"] == "departure":
            print(law.departure(call))
        elif call["call"] == "idle":
            law.idle(call["now_ns"])


if __name__ == "__main__":
    main()
