"""The peers as installed here: the places of their programs, their capabilities, and a run of one.

`words` expresses a scenario of Sojourn in a peer's keys, those of `ns2/dumbbell.tcl` and of
`ns3/dumbbell.cc`, or raises `Inexpressible` with the reason.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sojourn as sj
from sojourn import catalogue

ROOT = Path(__file__).resolve().parents[1]
#: Folder of the scripts for ns-2.
NS2 = ROOT / "peers/ns2"
#: Output of ns3/build.sh.
NS3 = ROOT / "build/ns3"
#: Time limit of one run of a peer, s.
PATIENCE = 900

Words = dict[str, object]


class Inexpressible(Exception):
    """A scenario that the peer's dumbbell cannot express; the reason in one line."""


class Failed(Exception):
    """A failed run of a peer; the last line of its stderr."""


@dataclass(frozen=True)
class Peer:
    """A simulator beside Sojourn."""

    name: str
    #: Settings of our flows that match its flows.
    settings: Mapping[str, str]
    remedy: str
    command: tuple[str, ...] | None

    def run(self, words: Mapping[str, object], seed: int, script: str = "dumbbell") -> dict[str, float]:
        """Metrics of one run, with several places as `"place/metric"`. Raises `Failed`.

        `script`: the one of ns-2; ns-3 has one program.
        """
        assert self.command is not None, f"{self.name} is not installed: {self.remedy}"
        given = [str(word) for pair in {**words, "seed": seed}.items() for word in pair]
        if self.name == "ns2":
            given.insert(0, str(NS2 / f"{script}.tcl"))
        try:
            done = subprocess.run(
                [*self.command, *given], capture_output=True, text=True, check=True, timeout=PATIENCE
            )
        except subprocess.CalledProcessError as error:
            last = (error.stderr.strip().splitlines() or [f"exit status {error.returncode}"])[-1]
            raise Failed(f"{self.name}, seed {seed}: {last}") from None
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name}, seed {seed}: no result in {PATIENCE} s") from None
        return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def peers() -> dict[str, Peer]:
    """Every peer by its name, installed or not."""
    ns = shutil.which("ns")
    # Its agents have neither timestamps nor, in our script, delayed ACKs.
    as_ns2 = {"profile": "ns2", "tcp.timestamps": "false", "tcp.delayed_ack": "false"}
    found = [Peer("ns2", as_ns2, "apt-get install ns2", (ns,) if ns else None)]
    # PRR counts twice from a version between the two on (docs/deviations/ns3.md).
    as_ns3 = {"profile": "ns3"}
    older = {**as_ns3, "tcp.prr_counts_twice": "false"}
    for version, settings, remedy in [
        ("3.44", as_ns3, "make peers"),
        ("3.37", older, "apt-get install libns3-dev, then make peers"),
    ]:
        program = NS3 / version / "dumbbell"
        command = (str(program),) if program.is_file() else None
        found.append(Peer(f"ns3-{version}", settings, remedy, command))
    return {peer.name: peer for peer in found}


def as_counted(peer: Peer, metric: str, ours: Mapping[str, float]) -> float:
    """A metric of ours by the peer's definition.

    ns-3's backlog leaves out the packet that its device holds, which is there while one waits in ours.
    """
    if peer.name != "ns2" and metric == "queue_mean_packets":
        return ours[metric] - (1.0 - ours["queue_empty_ratio"])
    if peer.name != "ns2" and metric == "queue_p95_packets":
        return max(ours[metric] - 1.0, 0.0)
    return ours[metric]


# ---- A scenario in a peer's words ---------------------------------------------------------------


def words(peer: Peer, scenario: sj.Scenario) -> Words:
    """The dumbbell of `scenario` for the peer. Raises `Inexpressible`."""
    whole = json.loads(scenario.to_json())
    if len(whole["flows"]) != 1:
        raise Inexpressible("it has more than one group of flows")
    if not whole.get("bottleneck") or whole["bottleneck"].get("back"):
        raise Inexpressible("its network is no dumbbell with one congested direction")
    [flows], bottleneck = whole["flows"], whole["bottleneck"]
    bottleneck["qdisc"] = flat(bottleneck["qdisc"])
    if flows["app"] != "bulk" or flows["stop"]:
        raise Inexpressible("its flows are not all greedy ones without an end")
    common: Words = {
        "flows": flows["count"],
        "packet": whole_number(flows["segment"], "B"),
        "ecn": int(bool(flows["ecn"])),
        "rate": rate(bottleneck["rate"]),
        "delay": seconds(bottleneck["delay"]),
        "buffer": whole_number(bottleneck["buffer"], "packets"),
        "duration": seconds(whole["duration"]),
        "warmup": seconds(whole["warmup"]),
        "start": start(flows["start"]),
        **access(flows["access"]),
    }
    if peer.name == "ns2":
        return {**common, **ns2(flows, bottleneck["qdisc"], common), **changes(whole)}
    if whole["at"]:
        raise Inexpressible("something changes on the way ([[at]])")
    return {**common, **ns3(flows, bottleneck["qdisc"], common)}


def flat(qdisc: Any) -> dict[str, Any]:
    """A qdisc's name as `law`, and its parameters; those of the law within it as `law.KEY`."""
    if isinstance(qdisc, str):
        return {"law": qdisc}
    if "law" in qdisc:
        return dict(qdisc)
    [(name, given)] = qdisc.items()
    law, _, values = str(given.get("law", "codel")).partition(":")
    pairs = [pair.partition("=") for pair in values.split(",") if pair]
    inner = {
        f"law.{key}": json.loads(value) if value in ("true", "false") else value for key, _, value in pairs
    }
    if law != "codel":
        raise Inexpressible(f"its {name} is over {law}")
    return {"law": name, **{key: value for key, value in given.items() if key != "law"}, **inner}


def settings(flows: dict[str, Any]) -> dict[str, Any]:
    """All settings of TCP: those of the profile, and those that differ."""
    fields = catalogue.explain(flows["profile"])["fields"]
    return {field["key"]: field["default"] for field in fields} | (flows["tcp"] or {})


def ns2(flows: dict[str, Any], qdisc: dict[str, Any], common: Words) -> Words:
    """Options of ns-2 alone."""
    kinds = {"reno": "reno", "newreno": "newreno"}
    if flows["cc"] not in kinds:
        raise Inexpressible(f"ns-2's script has no {flows['cc']}")
    tcp = settings(flows)
    if tcp["delayed_ack"] or tcp["timestamps"]:
        raise Inexpressible("ns-2's receivers here acknowledge every packet, without timestamps")
    cc = "sack" if tcp["sack"] else kinds[flows["cc"]]
    # Its drop-tail queue holds one packet less than its limit (docs/deviations/ns2.md).
    more = {"buffer": int(str(common["buffer"])) + 1} if qdisc["law"] == "tail_drop" else {}
    return {"cc": cc, **law(qdisc, NS2_LAWS, "ns-2"), **more}


def changes(whole: dict[str, Any]) -> Words:
    """Changes during the run, for ns-2."""
    law = whole["bottleneck"]["qdisc"]["law"]
    if whole["at"] and law not in FOLLOW:
        raise Inexpressible(f"ns-2's {law} uses the rate at the start, and that changes")
    if any(list(change["set"]) != ["bottleneck.rate"] or change["every"] for change in whole["at"]):
        raise Inexpressible("more changes on the way than the bottleneck's rate, at given times")
    times = [(seconds(change["time"]), rate(change["set"]["bottleneck.rate"])) for change in whole["at"]]
    return {"changes": " ".join(f"{time:g} {bits:g}" for time, bits in times)} if times else {}


def ns3(flows: dict[str, Any], qdisc: dict[str, Any], common: Words) -> Words:
    """Options of ns-3 alone.

    Its device holds a packet behind the qdisc, where ours waits in the qdisc: its limits are one less.
    """
    known = {"reno", "newreno", "cubic", "dctcp", "scalable"}
    if flows["cc"] not in known:
        raise Inexpressible(f"ns-3's program has no {flows['cc']}")
    keys = law(qdisc, NS3_LAWS, "ns-3")
    packet = 8 * int(str(common["packet"])) / float(str(common["rate"]))
    for key, less in {"min": 1.0, "max": 1.0, "target": packet}.items():
        if key in keys:
            keys[key] = float(f"{float(str(keys[key])) - less:.9g}")
    if float(str(keys.get("min", 0))) < 0 or float(str(keys.get("target", 1))) <= 0:
        raise Inexpressible("its qdisc is to hold less than the packet that ns-3 holds behind it")
    tcp = settings(flows)
    return {
        "buffer": max(int(str(common["buffer"])) - 1, 1),
        "cc": flows["cc"],
        "sack": int(tcp["sack"] is not False),
        "timestamps": int(bool(tcp["timestamps"])),
        "ack_every": 2 if tcp["delayed_ack"] else 1,
        "ack_delay": 0.04,
        "min_rto": seconds(tcp["min_rto"]),
        "initial_window": tcp["initial_window"],
        **keys,
    }


#: law -> our parameter -> (the peer's key, unit of its value).
Laws = Mapping[str, Mapping[str, tuple[str, str]]]
RED = {
    "min": ("min", "packets"),
    "max": ("max", "packets"),
    "weight": ("weight", ""),
    "max_p": ("max_p", ""),
    "gentle": ("gentle", ""),
}
NS2_LAWS: Laws = {
    "tail_drop": {},
    "red": {
        **RED,
        "mark_below_p": ("mark_below_p", ""),
        "byte_mode": ("bytes", ""),
        "mean_packet": ("mean_packet", "B"),
    },
    "pi": {"target": ("target", "packets"), "a": ("a", ""), "b": ("b", ""), "rate": ("hertz", "Hz")},
    "rem": {
        "target": ("target", "packets"),
        "gamma": ("gamma", ""),
        "phi": ("phi", ""),
        "period": ("period", "s"),
    },
    "avq": {},
}
#: Laws of ns-2 that follow a change of the link's rate.
FOLLOW = ("tail_drop", "pi")
NS3_LAWS: Laws = {
    "tail_drop": {},
    "codel": {"target": ("target", "s"), "interval": ("interval", "s")},
    "fq_codel": {"law.target": ("target", "s"), "law.interval": ("interval", "s")},
    "pie": {"target": ("target", "s"), "derandomize": ("derandomize", "")},
    "red": RED,
}
#: Parameters that must be set, because each side has its own default.
NEEDED: Mapping[str, Sequence[str]] = {
    "red": ("min", "max"),
    "pi": ("target", "a", "b", "rate"),
    "rem": ("target",),
    # ns-3's values are FIXED.
    "fq_codel": ("quantum", "law.mtu", "law.newton"),
}
#: Defaults of a peer's script that differ from ours, or are computed from ours.
DEFAULTS: Mapping[tuple[str, str], Words] = {
    ("ns-2", "red"): {"mark_below_p": 1.0},
    ("ns-3", "codel"): {"target": 0.005},
    ("ns-3", "fq_codel"): {"target": 0.005},
    ("ns-3", "pie"): {"target": 0.015, "derandomize": 1},
}
#: Fixed values of a peer that are not our default. ns-3's RED drops nothing that it can mark (UseHardDrop is
#: off); its CoDel computes the root by Newton's method and spares less than 1500 B, and a turn of its
#: FQ-CoDel is the device's MTU (docs/deviations/ns3.md).
FIXED: Mapping[tuple[str, str, str], object] = {
    ("ns-3", "red", "mark_below_p"): 2.0,
    ("ns-3", "codel", "newton"): True,
    ("ns-3", "fq_codel", "law.newton"): True,
    ("ns-3", "fq_codel", "law.mtu"): "1499 B",
    ("ns-3", "fq_codel", "quantum"): "1500 B",
}


def law(qdisc: dict[str, Any], laws: Laws, peer: str) -> Words:
    """The qdisc in the peer's keys."""
    name = qdisc["law"]
    if name not in laws:
        raise Inexpressible(f"{peer} has no {name} (it has {', '.join(laws)})")
    missing = [parameter for parameter in NEEDED.get(name, ()) if parameter not in qdisc]
    if missing:
        raise Inexpressible(f"{name} needs {', '.join(missing)}: each side would choose for itself")
    keys: Words = {"law": name, **DEFAULTS.get((peer, name), {})}
    for parameter, value in qdisc.items():
        fixed = FIXED.get((peer, name, parameter))
        if parameter == "law" or fixed == value:
            continue
        if fixed is not None:
            raise Inexpressible(f"{peer}'s {name} has {parameter}={fixed}")
        if parameter not in laws[name]:
            raise Inexpressible(f"{peer}'s {name} has no {parameter}")
        key, unit = laws[name][parameter]
        keys[key] = plain(value, unit)
    return keys


def plain(value: object, unit: str) -> float:
    """A parameter as a number."""
    if unit == "s":
        return seconds(str(value))
    if isinstance(value, bool | int | float):
        return float(value)
    return float(amount(str(value), {unit: 1.0, unit.rstrip("s"): 1.0}))


def access(link: dict[str, Any] | None) -> Words:
    """The private links."""
    if not link or not link.get("rate"):
        raise Inexpressible("its access links have no rate, and every link of the peer has one")
    delay = link["delay"]
    ends = delay["spread"] if isinstance(delay, dict) and "spread" in delay else [delay, delay]
    if not all(isinstance(end, str) for end in ends):
        raise Inexpressible("the delays of its access links are random")
    return {
        "access_rate": rate(link["rate"]),
        "access_from": seconds(ends[0]),
        "access_to": seconds(ends[1]),
    }


def start(when: object) -> float:
    """Window of the flows' start times."""
    if isinstance(when, dict) and "random" in when and seconds(when["random"][0]) == 0:
        return seconds(when["random"][1])
    if isinstance(when, str) and seconds(when) == 0:
        return 0.0
    raise Inexpressible("its flows do not start at random from time 0 on")


def seconds(text: str) -> float:
    """A time."""
    return amount(text, {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0})


def rate(text: str) -> float:
    """A rate, bit/s."""
    return amount(text, {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9})


def whole_number(text: object, unit: str) -> int:
    """A count of `unit`."""
    return round(amount(str(text), {unit: 1.0, unit.rstrip("s"): 1.0}))


def amount(text: str, units: Mapping[str, float]) -> float:
    """A number with one of the units."""
    found = re.fullmatch(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)", text.strip())
    if not found or found[2] not in units:
        raise Inexpressible(f'"{text}" is in no unit of {", ".join(units)}')
    # Rounded: the peer gets 0.0125, not 0.012500000000000001.
    return float(f"{float(found[1]) * units[found[2]]:.12g}")
