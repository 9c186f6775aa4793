"""What is compared under TCP: a qdisc of the kernel under flows of two hosts, and our same scenario."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

#: The hosts of every case, as classes of our scenarios: host 1 and host 2 of the VM.
HOSTS = ("one", "other")
#: Of a host: the goodput of its flows, and two means over samples every 50 ms.
METRICS = ("goodput_bps", "delivery_rate_bps", "srtt_mean_s")


@dataclass(frozen=True)
class TcpCase:
    """A qdisc under the flows of two hosts."""

    name: str
    #: The case as the page has it.
    title: str
    #: Commands of tc for the device `out`.
    tc: str
    #: Flows of each host, their congestion control, and their round-trip delay.
    flows: tuple[int, int]
    rtts_ms: tuple[int, int]
    scenario: str
    settings: Mapping[str, str]
    cc: str = "cubic"
    ecn: bool = False
    duration_s: int = 40
    warmup_s: int = 10
    replicates: int = 4
    #: False: known to differ, docs/deviations/linux_qdiscs.md says why.
    agrees: bool = True

    def line(self) -> str:
        """The line of the VM's file of cases."""
        ecn = ":ecn" if self.ecn else ""
        hosts = (f"{number}:{flows}:{self.cc}{ecn}" for number, flows in enumerate(self.flows, 1))
        delays = " ".join(f"{rtt}ms" for rtt in self.rtts_ms)
        return f"{self.name}|{delays}|{self.tc}|{self.duration_s} {self.warmup_s} {' '.join(hosts)}\n"


def hosts_under_cake(rate: int) -> TcpCase:
    """A host with one flow and one with 32, at so many Mbit/s."""
    settings = {"bottleneck.qdisc.cake.bandwidth": f"{rate} Mbit/s"}
    tc = f"tc qdisc add dev out root handle 1: cake bandwidth {rate}mbit"
    title = f"cake, {rate} Mbit/s: 1 flow, 32 flows"
    replicates = 8 if rate == 10 else 4
    case = TcpCase(f"cake_cubic_{rate}", title, tc, (1, 32), (20, 20), "two_hosts", settings)
    return replace(case, replicates=replicates, agrees=rate != 10)


def two_under_fq_codel(rate: int, one: int, other: int) -> TcpCase:
    """Two flows with ECN, as in tests/reference/published/s1_rtt_fairness.csv."""
    tc = (
        "tc qdisc add dev out root handle 1: htb default 1; "
        f"tc class add dev out parent 1: classid 1:1 htb rate {rate}mbit; "
        "tc qdisc add dev out parent 1:1 handle 10: fq_codel"
    )
    settings = {
        "bottleneck.rate": f"{rate} Mbit/s",
        "bottleneck.buffer": "10240 packets",
        "bottleneck.qdisc": "fq_codel",
    }
    for number, rtt in enumerate((one, other)):
        settings[f"flows.{number}.ecn"] = "true"
        # PRR also after an echo, as in Linux.
        settings[f"flows.{number}.tcp.ecn_prr"] = "true"
        settings[f"flows.{number}.access.delay"] = f"{(rtt / 2 - 1) / 2:g} ms"
    name = f"fq_codel_{rate}_{one}_{other}"
    title = f"fq_codel, {rate} Mbit/s: {one} ms, {other} ms"
    case = TcpCase(name, title, tc, (1, 1), (one, other), "two_cubic", settings, ecn=True)
    return replace(case, duration_s=180, warmup_s=120, replicates=3, agrees=one != 160)


CAKE = [hosts_under_cake(rate) for rate in (10, 20)]
FQ_CODEL = [two_under_fq_codel(10, one, other) for one, other in ((10, 10), (20, 10), (80, 80), (160, 10))]
CASES = [*CAKE, *FQ_CODEL]


@dataclass
class TcpRecord:
    """A case as the VM has recorded it: the lines of its flows, and of `tc -s -d qdisc show`."""

    name: str
    flows: list[tuple[int, ...]] = field(default_factory=list)
    state: list[str] = field(default_factory=list)

    def metrics(self, case: TcpCase) -> dict[tuple[str, str], float]:
        """The numbers of each host."""
        found = {}
        seconds = case.duration_s - case.warmup_s
        for number, name in enumerate(HOSTS, 1):
            flows = [flow for flow in self.flows if flow[0] == number]
            found[name, "goodput_bps"] = 8 * sum(flow[1] for flow in flows) / seconds
            found[name, "delivery_rate_bps"] = float(sum(flow[2] for flow in flows))
            found[name, "srtt_mean_s"] = sum(flow[3] for flow in flows) / len(flows) / 1e6
        return found


def read_tcp_record(data: bytes) -> tuple[str, TcpRecord]:
    """The VM's kernel and its record, from what it wrote.

    Raises `ValueError` with the line that cannot be read.
    """
    kernel, *lines = gzip.decompress(data).decode().splitlines()
    record = TcpRecord("")
    in_state = False
    for line in lines:
        words = line.split()
        if words[:1] == ["case"] and len(words) == 2:
            record.name = words[1]
        elif line in ("state", "end"):
            in_state = line == "state"
        elif in_state:
            record.state.append(line)
        elif words[:1] == ["flow"] and len(words) == 6:
            record.flows.append(tuple(int(word) for word in words[1:]))
        else:
            raise ValueError(f"output of the VM: {line}")
    return kernel, record
