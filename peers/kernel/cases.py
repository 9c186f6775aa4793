"""What is compared: a qdisc of the kernel under a trace, and the SPEC of ours that is the same.

Sizes are those at the kernel's qdisc, with the Ethernet header: ours counts the same bytes. Where the
kernel's choice differs from our default, the SPEC sets it; docs/deviations/linux_qdiscs.md has the list.
"""

from __future__ import annotations

from dataclasses import dataclass

from .arrivals import RATE_BPS

#: Size of the token bucket in front of the laws, bytes: one packet.
BURST = 1600


@dataclass(frozen=True)
class Case:
    """A qdisc under a trace."""

    law: str
    trace: str
    #: Arguments of tc.
    tc: str
    spec: str

    @property
    def name(self) -> str:
        """Law and trace."""
        return f"{self.law} {self.trace}"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that are compared: of PIE the marks that are not forced (`outcome.metrics`)."""
        marks = "spaced_marks" if self.law == "pie" else "marks"
        return "drops", marks, "sojourn_p50_s", "sojourn_p95_s", "sojourn_p99_s"

    @property
    def has_shaper(self) -> bool:
        """The qdisc keeps the rate itself."""
        return self.law == "cake"

    def line(self) -> str:
        """The line of the VM's file of cases."""
        if self.has_shaper:
            commands = [f"tc qdisc add dev out root handle 1: {self.tc}"]
        else:
            commands = [
                f"tc qdisc add dev out root handle 1: tbf rate {RATE_BPS}bit burst {BURST} limit 10000000",
                f"tc qdisc add dev out parent 1:1 handle 10: {self.tc}",
            ]
        return f"{self.law}|{self.trace}|{'; '.join(commands)}\n"


#: min, max and avpkt in bytes, and a burst for which tc computes W = 2^-6.
_RED = "red limit 1000000 min 20000 max 60000 avpkt 1000 burst 55 probability 0.1 bandwidth 10mbit"
_OUR_RED = (
    "red:min=20packets,max=60packets,weight=0.015625,max_p=0.1,gentle=false,wait=false,mark_below_p=2,"
    "mean_packet=1000B"
)
#: The timer has whole ticks of 4 ms, and fires one later than it is set; two packets of 1514 B are exempt.
_PIE = "pie limit 10000 target 15ms tupdate 16ms"
_OUR_PIE = "pie:period=20ms,packet=1514B"
_CODEL = "codel limit 10000 target 5ms interval 100ms"
#: The backlog of one MTU is exempt, that of the device; roots are Newton's.
_OUR_CODEL = "codel:mtu=1514B,newton=true"
#: What is exempt in the kernel is a backlog of all queues, so that a queue alone has no exempt packet.
_FQ_CODEL = "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms ecn"
_OUR_FQ_CODEL = "fq_codel:law=codel,law.mtu=1B,law.newton=true"
_CAKE = "cake bandwidth 10mbit besteffort"
_OUR_CAKE = "cake:bandwidth=10 Mbit/s,diffserv=besteffort"

CASES = [
    Case("red", "drops", _RED, _OUR_RED),
    Case("red", "marks", f"{_RED} ecn", _OUR_RED),
    Case("pie", "drops", _PIE, _OUR_PIE),
    Case("pie", "marks", f"{_PIE} ecn", _OUR_PIE),
    Case("pie", "sizes", f"{_PIE} ecn", _OUR_PIE),
    Case("codel", "drops", _CODEL, _OUR_CODEL),
    Case("codel", "marks", f"{_CODEL} ecn", _OUR_CODEL),
    Case("codel", "sizes", f"{_CODEL} ecn", _OUR_CODEL),
    Case("fq_codel", "drops", _FQ_CODEL, _OUR_FQ_CODEL),
    Case("fq_codel", "marks", _FQ_CODEL, _OUR_FQ_CODEL),
    Case("fq_codel", "sizes", _FQ_CODEL, _OUR_FQ_CODEL),
    Case("cake", "drops", _CAKE, _OUR_CAKE),
    Case("cake", "marks", _CAKE, _OUR_CAKE),
    Case("cake", "sizes", _CAKE, _OUR_CAKE),
]
