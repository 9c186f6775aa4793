"""A designed law in the words of others: a scenario's line, tc's command, ns-3's attributes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.design import Design

__all__ = ["FORMS", "emitted"]

#: Forms of a design besides its text.
FORMS = ("toml", "tc", "ns3")
#: Steps of PIE's gains in tc, Hz: tc-pie(8) has 0 to 32 for each, 2 and 20 for RFC 8033's 0.125 and 1.25.
PIE_STEP, PIE_MOST = 1 / 16, 32


def emitted(design: Design, form: str) -> str:
    """The design in one of the `FORMS`. Raises `InputError` where that form lacks the law or such gains."""
    if form not in FORMS:
        raise InputError(f'emit: "{form}" is no form; expected {", ".join(FORMS)}')
    if form == "toml":
        return _toml(design)
    writers = _TC if form == "tc" else _NS3
    if design.law not in writers:
        name = "Linux's tc" if form == "tc" else "ns-3"
        known = ", ".join(writers)
        raise InputError(
            f"emit: {name} has no {design.law} with these gains; expected one of {known}, or toml"
        )
    return writers[design.law](design)


def parameters_of(spec: str) -> dict[str, str]:
    """Parameters of a law's text as texts."""
    _, _, items = spec.partition(":")
    return dict(item.split("=", 1) for item in items.split(",") if item)


def value_of(text: str) -> float | str | bool:
    """A parameter as a number, a boolean or a text with a space before its unit."""
    if re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", text):
        return float(text)
    if text in ("true", "false"):
        return text == "true"
    return re.sub(r"(?<=[0-9])(?=[A-Za-z])", " ", text, count=1)


def _toml(design: Design) -> str:
    def value(text: str) -> str:
        # A number stays as it is written.
        read = value_of(text)
        return f'"{read}"' if isinstance(read, str) else text

    items = ", ".join(f"{key} = {value(text)}" for key, text in parameters_of(design.spec).items())
    return f'qdisc = {{ law = "{design.law}", {items} }}'


def _milliseconds(text: str) -> float:
    return float(text.removesuffix("ms"))


def _limit(design: Design) -> int:
    """A buffer of packets that the law does not need: four targets and twice the longest round trip."""
    box = design.box
    capacity = box.capacity_pps[1]
    return math.ceil(4 * box.target.in_packets(capacity) + 2 * box.rtt_s[1] * capacity)


def _ecn(design: Design) -> str:
    return " ecn" if design.ecn else ""


def _tc_pie(design: Design) -> str:
    gains = parameters_of(design.spec)
    steps = {name: float(gains[name]) / PIE_STEP for name in ("alpha", "beta")}
    # Smaller gains in proportion have larger margins.
    share = min(1.0, PIE_MOST / max(steps.values()))
    rounded = {name: max(1, math.floor(share * value)) for name, value in steps.items()}
    texts = gains | {name: f"{value * PIE_STEP:g}" for name, value in rounded.items()}
    spec = f"pie:{','.join(f'{key}={text}' for key, text in texts.items())}"
    if not design.holds(spec):
        raise InputError(
            f"emit: tc has steps of 1/16 Hz, 1 to {PIE_MOST}, for pie's gains; of the design's "
            f"{steps['alpha']:.3g} and {steps['beta']:.3g} whole ones lack a margin; "
            "expected another box, or ns3"
        )
    target, update = (_milliseconds(gains[name]) for name in ("target", "period"))
    return (
        f"tc qdisc replace dev DEV root pie limit {_limit(design)} target {target:g}ms "
        f"tupdate {update:g}ms alpha {rounded['alpha']} beta {rounded['beta']}{_ecn(design)}"
    )


def _tc_red(design: Design) -> str:
    gains, segment = parameters_of(design.spec), design.box.segment_bytes
    low, high = (float(gains[name].removesuffix("packets")) for name in ("min", "max"))
    burst = _burst(float(gains["weight"]), low)
    rate = design.box.capacity_pps[1] * segment * 8
    return (
        f"tc qdisc replace dev DEV root red limit {_limit(design) * segment} min {low * segment:.0f} "
        f"max {high * segment:.0f} avpkt {segment} burst {burst} bandwidth {rate:.0f}bit "
        f"probability {float(gains['max_p']):.6g}{_ecn(design)}"
    )


def _burst(weight: float, low: float) -> int:
    """Longest burst L that the average lets pass, with w the next power of two, as tc has it.

    Floyd and Jacobson 1993, section 6: L + 1 + ((1 - w)^(L + 1) - 1) / w = min_th.
    """
    if weight < 2.0**-31:
        raise InputError(
            f"emit: tc has no weight as small as {weight:.3g}; expected 2^-31 or more: a smaller box"
        )

    weight = 2.0 ** math.floor(math.log2(weight))

    def average(burst: float) -> float:
        return burst + 1 + math.expm1((burst + 1) * math.log1p(-weight)) / weight

    short, long = low, low + 2 / weight + math.sqrt(2 * low / weight)
    for _ in range(200):
        middle = (short + long) / 2
        short, long = (middle, long) if average(middle) < low else (short, middle)
    return math.floor(short)


def _attributes(kind: str, attributes: dict[str, str]) -> str:
    pairs = ", ".join(f'"{name}", {value}' for name, value in attributes.items())
    return f'helper.SetRootQueueDisc("ns3::{kind}", {pairs});'


def _ns3_pie(design: Design) -> str:
    gains = parameters_of(design.spec)
    return _attributes(
        "PieQueueDisc",
        _ns3_common(design)
        | {
            "MeanPktSize": f"UintegerValue({design.box.segment_bytes})",
            "QueueDelayReference": f"TimeValue(MicroSeconds({_milliseconds(gains['target']) * 1e3:.0f}))",
            "Tupdate": f"TimeValue(MicroSeconds({_milliseconds(gains['period']) * 1e3:.0f}))",
            "A": f"DoubleValue({gains['alpha']})",
            "B": f"DoubleValue({gains['beta']})",
            "UseDequeueRateEstimator": "BooleanValue(false)",
        },
    )


def _ns3_red(design: Design) -> str:
    gains = parameters_of(design.spec)
    rate = design.box.capacity_pps[1] * design.box.segment_bytes * 8
    return _attributes(
        "RedQueueDisc",
        _ns3_common(design)
        | {
            "MeanPktSize": f"UintegerValue({design.box.segment_bytes})",
            "MinTh": f"DoubleValue({gains['min'].removesuffix('packets')})",
            "MaxTh": f"DoubleValue({gains['max'].removesuffix('packets')})",
            "QW": f"DoubleValue({gains['weight']})",
            "LInterm": f"DoubleValue({1 / float(gains['max_p']):.6g})",
            "Gentle": "BooleanValue(true)",
            "LinkBandwidth": f'DataRateValue(DataRate("{rate:.0f}bps"))',
        },
    )


def _ns3_common(design: Design) -> dict[str, str]:
    return {
        "MaxSize": f'QueueSizeValue(QueueSize("{_limit(design)}p"))',
        "UseEcn": f"BooleanValue({str(design.ecn).lower()})",
    }


_TC: dict[str, Callable[[Design], str]] = {"red": _tc_red, "pie": _tc_pie}
_NS3: dict[str, Callable[[Design], str]] = {"red": _ns3_red, "pie": _ns3_pie}
