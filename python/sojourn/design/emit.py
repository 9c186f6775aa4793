"""A designed law in the words of others: a scenario's line, tc's command, ns-3's attributes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from sojourn.design.values import Value, defaults, packets, size, spec_with, time
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.design import Design

__all__ = ["FORMS", "line"]

#: Forms of a design besides its text.
FORMS = ("toml", "tc", "ns3")
#: Steps of PIE's gains in tc, Hz: tc-pie(8) has 0 to 32 for each, 2 and 20 for RFC 8033's 0.125 and 1.25.
PIE_STEP, PIE_MOST = 1 / 16, 32
#: The least weight of RED in tc: 2 to minus this.
LEAST_LOG = 31
#: Packets by which a burst is on its side of tc's condition: more than rounding.
CLEAR = 1e-3
#: Probability at the end of RED's curve.
ONE = 1.0


def line(design: Design, form: str) -> str:
    """The design in one of the `FORMS`. Raises `InputError` where that form lacks the law or such gains."""
    require_law(design.law, form)
    if form == "toml":
        return _toml(design)
    write, settable = _writers(form)[design.law]
    require_settable(design, form, settable)
    return write(design)


def require_law(law: str, form: str) -> None:
    """Raises `InputError` where there is no such form, or it lacks a law."""
    if form not in FORMS:
        raise InputError(f'emit: "{form}" is no form; expected {", ".join(FORMS)}')
    if form == "toml":
        return
    if law not in _writers(form):
        laws = " or ".join(_writers(form))
        raise InputError(f"emit: {_PROGRAMS[form]} has no {law}; expected {laws}, or the form toml")


def _writers(form: str) -> _Writers:
    return {"tc": _TC, "ns3": _NS3}[form]


#: Programs by form.
_PROGRAMS = {"tc": "Linux's tc", "ns3": "ns-3"}


def require_settable(design: Design, form: str, settable: tuple[str, ...]) -> None:
    """Raise `InputError` for a parameter that the form cannot set, unless it has its default value."""
    usual = defaults(design.law)
    for key, value in design.gains.items():
        if key not in settable and value != usual[key]:
            raise InputError(
                f"emit: {_PROGRAMS[form]} has no {design.law}.{key} = {_text(value)}; "
                f"expected {design.law} without {key}, or toml"
            )


def _toml(design: Design) -> str:
    def text(value: Value) -> str:
        return f'"{value}"' if isinstance(value, str) else _text(value)

    items = ", ".join(f"{key} = {text(value)}" for key, value in design.gains.items())
    return f'qdisc = {{ law = "{design.law}", {items} }}'


def _text(value: Value) -> str:
    """A value as it is written, without a fraction of 0."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _limit(design: Design) -> int:
    """A buffer, packets, above the law's backlogs: four targets and twice the longest round trip."""
    box = design.box
    capacity = box.capacity_pps[1]
    return math.ceil(4 * box.target.in_packets(capacity) + 2 * box.rtt_s[1] * capacity)


def _ecn(design: Design) -> str:
    return " ecn" if design.ecn else ""


# ---- tc ------------------------------------------------------------------------------------------


def _tc_pie(design: Design) -> str:
    gains = design.gains
    steps = {name: float(gains[name]) / PIE_STEP for name in ("alpha", "beta")}
    # Smaller gains in proportion have larger margins.
    share = min(1.0, PIE_MOST / max(steps.values()))
    rounded = {name: max(1, math.floor(share * value)) for name, value in steps.items()}
    whole: dict[str, Value] = {name: value * PIE_STEP for name, value in rounded.items()}
    if not design.holds(spec_with("pie", gains | whole)):
        raise InputError(
            f"emit: tc's alpha and beta are whole numbers of 1/16 Hz from 1 to {PIE_MOST}; the design has "
            f"{steps['alpha']:.3g} and {steps['beta']:.3g} of them, and those below lack a margin; "
            "expected toml, another box, or pie:derandomize=false with ns3"
        )
    target, update = (1e3 * time(gains[name]) for name in ("target", "period"))
    flags = _ecn(design)
    if gains.get("byte_mode", False):
        flags += " bytemode"
    if gains.get("delay") == "departure_rate":
        flags += " dq_rate_estimator"
    return (
        f"tc qdisc replace dev DEV root pie limit {_limit(design)} target {target:g}ms "
        f"tupdate {update:g}ms alpha {rounded['alpha']} beta {rounded['beta']}{flags}"
    )


#: Linux's RED, as far as it differs from ours: no gentle region, the spacing of Floyd and Jacobson 1993,
#: equation (4), and what is above max marked without harddrop (docs/deviations/linux_qdiscs.md).
LINUX_RED: dict[str, Value] = {"gentle": False, "wait": False}


def _tc_red(design: Design) -> str:
    gains, segment = design.gains, design.box.segment_bytes
    for key, value in LINUX_RED.items():
        if gains.get(key, value) != value:
            raise InputError(
                f"emit: Linux's tc has no red.{key} = {_text(gains[key])}; "
                f"expected red:{key}={_text(value)}, ns3 or toml"
            )
    low, high = (round(packets(f"red.{key}", gains[key], design.box) * segment) for key in ("min", "max"))
    most = f"{float(gains['max_p']):.6g}"
    own = gains | LINUX_RED | {"min": f"{low} B", "max": f"{high} B", "max_p": float(most)}
    hard = " harddrop" if design.ecn and _drops_above(design, own) else ""
    burst = _burst(design, own, low / segment)
    rate = design.box.capacity_pps[1] * segment * 8
    return (
        f"tc qdisc replace dev DEV root red limit {_limit(design) * segment} min {low} max {high} "
        f"avpkt {segment} burst {burst} bandwidth {rate:.0f}bit probability {most}{_ecn(design)}{hard}"
    )


def _drops_above(design: Design, gains: dict[str, Value]) -> bool:
    """True if marks turn into drops where RED's curve ends. Raises `InputError` if they do on the curve."""
    below = float(gains.get("mark_below_p", ONE))
    end = ONE if gains.get("gentle", True) else min(ONE, math.nextafter(float(gains["max_p"]), math.inf))
    if design.ecn and below < end:
        raise InputError(
            f"emit: red.mark_below_p = {below:g} drops along the curve, which neither tc nor ns-3 has; "
            "expected 1 or more, or toml"
        )
    return below <= ONE


def _burst(design: Design, gains: dict[str, Value], low: float) -> int:
    """Packets of ``burst`` for the largest power of two up to the weight that keeps the margins."""
    first = max(1, math.ceil(-math.log2(float(gains["weight"]))))
    bursts = {log: found for log in range(first, LEAST_LOG + 1) if (found := burst_of(log, low)) is not None}
    for log, burst in bursts.items():
        if design.holds(spec_with("red", gains | {"weight": 2.0**-log})):
            return burst
    why = (
        "none of those up to the design's keeps the margins under its red"
        if bursts
        else f"no burst makes one up to {float(gains['weight']):.3g} with min at {low:g} packets"
    )
    raise InputError(f"emit: tc has 2^-1 to 2^-31 for red's weight: {why}; expected another box, or ns3")


def burst_of(log: int, low: float) -> int | None:
    """A burst, packets, for which tc derives the weight W = 2^-log with min at `low` packets; None: none.

    tc takes the largest W = 1/2, 1/4, ... for which burst + 1 - min <= (1 - (1 - W)^burst) / W, the longest
    burst that an average from 0 lets pass (Floyd and Jacobson 1993, section 6), and no burst below min. Of
    those that have W the middle is returned.
    """

    def excess(burst: int, log: int) -> float:
        if log < 1:
            return math.inf
        return burst + 1 - low + math.expm1(burst * math.log1p(-(2.0**-log))) * 2.0**log

    def longest(log: int) -> int:
        short, long = 0, 1
        while excess(long, log) <= 0:
            short, long = long, 2 * long
        while long - short > 1:
            middle = (short + long) // 2
            short, long = (middle, long) if excess(middle, log) <= 0 else (short, middle)
        return short

    last, before = longest(log), max(longest(log - 1), math.ceil(low) - 1)
    burst = before + (last - before + 1) // 2
    # tc's own rounding must not decide.
    return (
        burst if burst > before and excess(burst, log) < -CLEAR and excess(burst, log - 1) > CLEAR else None
    )


# ---- ns-3 ----------------------------------------------------------------------------------------


def _attributes(kind: str, attributes: dict[str, str]) -> str:
    pairs = ", ".join(f'"{name}", {value}' for name, value in attributes.items())
    return f'helper.SetRootQueueDisc("ns3::{kind}", {pairs});'


def _flag(value: Value) -> str:
    return f"BooleanValue({_text(bool(value))})"


def _time(value: Value) -> str:
    return f"TimeValue(NanoSeconds({1e9 * time(value):.0f}))"


def _double(value: Value) -> str:
    return f"DoubleValue({value})"


def _ns3_pie(design: Design) -> str:
    own = {key: value for key, value in defaults("pie").items() if value is not None} | design.gains
    if design.ecn and own["derandomize"]:
        # ns-3 marks a tenth of the packets with its derandomisation (docs/deviations/ns3.md).
        own["derandomize"] = False
        is_given = "derandomize" in design.gains
        if is_given or not design.holds(spec_with("pie", design.gains | {"derandomize": False})):
            lack = "" if is_given else ", and without that these gains lack a margin"
            raise InputError(
                f"emit: ns-3's PIE cannot spread marks out{lack}; expected pie:derandomize=false, or toml"
            )
    packet = size(own.get("packet", f"{design.box.segment_bytes} B"))
    return _attributes(
        "PieQueueDisc",
        _ns3_common(design, packet)
        | {
            "QueueDelayReference": _time(own["target"]),
            "Tupdate": _time(own["period"]),
            "A": _double(own["alpha"]),
            "B": _double(own["beta"]),
            "MaxBurstAllowance": _time(own["max_burst"]),
            "MarkEcnThreshold": _double(own["mark_below_p"]),
            "UseDerandomization": _flag(own["derandomize"]),
            "UseCapDropAdjustment": _flag(own["cap_drop"]),
            "UseDequeueRateEstimator": _flag(own["delay"] == "departure_rate"),
            "DequeueThreshold": f"UintegerValue({size(own['dq_threshold']):.0f})",
        },
    )


def _ns3_red(design: Design) -> str:
    own = {key: value for key, value in defaults("red").items() if value is not None} | design.gains
    low, high = (packets(f"red.{key}", own[key], design.box) for key in ("min", "max"))
    rate = design.box.capacity_pps[1] * design.box.segment_bytes * 8
    packet = size(own.get("mean_packet", f"{design.box.segment_bytes} B"))
    return _attributes(
        "RedQueueDisc",
        _ns3_common(design, packet)
        | {
            "MinTh": _double(f"{low:.9g}"),
            "MaxTh": _double(f"{high:.9g}"),
            "QW": _double(own["weight"]),
            "LInterm": _double(f"{1 / float(own['max_p']):.9g}"),
            "Gentle": _flag(own["gentle"]),
            "Wait": _flag(own["wait"]),
            "UseHardDrop": _flag(_drops_above(design, own)),
            "LinkBandwidth": f'DataRateValue(DataRate("{rate:.0f}bps"))',
        },
    )


def _ns3_common(design: Design, packet: float) -> dict[str, str]:
    return {
        "MaxSize": f'QueueSizeValue(QueueSize("{_limit(design)}p"))',
        "UseEcn": _flag(design.ecn),
        "MeanPktSize": f"UintegerValue({packet:.0f})",
    }


#: Writers of each form with the parameters that it sets; the others have their default values there.
_Writers = dict[str, tuple[Callable[["Design"], str], tuple[str, ...]]]
_TC: _Writers = {
    "red": (_tc_red, ("min", "max", "weight", "max_p", "gentle", "wait", "mark_below_p")),
    "pie": (_tc_pie, ("target", "period", "alpha", "beta", "byte_mode", "delay")),
}
_NS3: _Writers = {
    "red": (_ns3_red, ("min", "max", "weight", "max_p", "gentle", "wait", "mark_below_p", "mean_packet")),
    "pie": (
        _ns3_pie,
        (
            *("target", "period", "alpha", "beta", "max_burst", "mark_below_p", "derandomize", "cap_drop"),
            *("delay", "dq_threshold", "packet"),
        ),
    ),
}
