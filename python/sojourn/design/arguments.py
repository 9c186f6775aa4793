"""Arguments of a design, with errors that name them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from sojourn.design.box import Box, Target
from sojourn.design.rules import RULES, Parameters, Rule
from sojourn.design.search import Wanted
from sojourn.errors import InputError
from sojourn.kinds import number
from sojourn.units import quantity

__all__ = ["check", "held", "law_of", "number_of", "of_rule", "pair_of", "target_of", "wanted_of"]

#: Parameters that rules make.
OF_RULES = (
    "a",
    "b",
    "alpha",
    "beta",
    "gamma",
    "kp",
    "ki",
    "kd",
    "inner",
    "rate",
    "period",
    "weight",
    "max_p",
)


#: Longest round trip of a box, s: the longest delay that a scenario takes.
LONGEST_RTT_S = 1000


def law_of(spec: str) -> tuple[str, Parameters, Rule]:
    """Name, fixed parameters and rule of a text such as ``pi:rate=500Hz``."""
    law, _, rest = spec.strip().partition(":")
    known = sorted({name.partition(":")[0] for name in RULES})
    if law not in known:
        raise InputError(f'SPEC: "{law}" has no rule of gains; expected one of {", ".join(known)}')
    fixed: Parameters = {}
    for item in filter(None, rest.split(",")):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key or not value:
            raise InputError(f'SPEC: "{item}" is no parameter; expected KEY=VALUE such as {law}:rate=500Hz')
        if key in fixed:
            raise InputError(f"SPEC: {law}.{key}: is given twice; expected once")
        fixed[key] = value
    if fixed.get("sampling", "fixed") != "fixed":
        raise InputError(
            f"SPEC: {law}.sampling is {fixed['sampling']}; expected fixed, as the law else designs itself"
        )
    if "target" in fixed:
        raise InputError(f"SPEC: {law}.target is given; expected the target in --target alone")
    variants = (f"{law}:{key}={value}" for key, value in fixed.items())
    return law, fixed, RULES[next((name for name in variants if name in RULES), law)]


def held(law: str, rule: Rule, whole: Box) -> Callable[[Box], str]:
    """Text of a law's target at a box; RED has none."""
    if law == "red":
        return lambda _: ""
    if rule.of_delay and whole.target.seconds is None:
        if whole.capacity_pps[0] != whole.capacity_pps[1]:
            raise InputError(f"target: {law} holds a delay, and rates differ; expected a time such as 5ms")
        return lambda box: str(Target(seconds=box.target.in_seconds(box.capacity_pps[0])))
    return lambda box: str(box.target)


def wanted_of(margin_deg: float, gain_margin: float, settling_s: float | None) -> Wanted:
    """Margins and settling time above 0. Raises `InputError`."""
    if not 0 < margin_deg < 90:
        raise InputError(f"margin_deg: {margin_deg:g} is out of range; expected more than 0 and less than 90")
    if not 1 <= gain_margin < math.inf:
        raise InputError(f"gain_margin: {gain_margin:g} is out of range; expected a factor of 1 or more")
    if settling_s is not None and not 0 < settling_s < math.inf:
        raise InputError(f"settling_s: {settling_s!r} is no time; expected seconds above 0")
    return Wanted(margin_deg, gain_margin, settling_s)


def pair_of(name: str, given: Any, read: Any, example: str) -> tuple[float, float]:
    """Both ends of a value or a range. Raises `InputError`."""
    ends = tuple(given) if isinstance(given, tuple | list) else (given, given)
    found = [read(end) for end in ends]
    if len(found) != 2 or None in found or not 0 < found[0] <= found[1] < math.inf:
        expected = f"expected values above 0, the smaller first, such as {example}"
        raise InputError(f"{name}: {given!r} is no range; {expected}")
    return found[0], found[1]


def number_of(given: object) -> float | None:
    """A number, NumPy's included; None: it is none."""
    try:
        return number(given)
    except TypeError:
        return None


def target_of(given: str, segment_bytes: int) -> Target:
    """A delay or a backlog above 0; bytes are packets of this size."""
    check_segment(segment_bytes)
    try:
        value, unit = quantity("queue", given)
    except InputError as error:
        raise InputError(*(f"target: {line.removeprefix('queue: ')}" for line in error.lines)) from None
    if value <= 0:
        raise InputError(f'target: "{given}" is not above 0; expected such as 5ms or 100packets')
    if unit == "s":
        return Target(seconds=value)
    return Target(packets=value / segment_bytes if unit == "B" else value)


def check_segment(segment_bytes: int) -> None:
    """Raises `InputError` for a size that no packet has."""
    if not 100 <= segment_bytes <= 65535:
        raise InputError(f"segment_bytes: {segment_bytes} is out of range; expected 100 to 65535")


def check(box: Box) -> None:
    """Raises `InputError` where a box is none of networks."""
    check_segment(box.segment_bytes)
    if box.flows[0] < 1:
        raise InputError(f"flows: {box.flows[0]:g} is less than a flow; expected at least 1")
    if box.rtt_s[1] > LONGEST_RTT_S:
        raise InputError(f"rtt_s: {box.rtt_s[1]:g} s is too long; expected at most {LONGEST_RTT_S:g} s")
    queueing = box.target.in_seconds(box.capacity_pps[0])
    if box.rtt_s[0] <= queueing:
        expected = f"expected more than the queueing delay of the target, {queueing * 1e3:.4g} ms"
        raise InputError(f"rtt_s: {box.rtt_s[0] * 1e3:.4g} ms is too short; {expected}")


def of_rule(error: InputError, law: str, fixed: Parameters) -> InputError:
    """An error of a parameter that the rule made, and not the user."""
    found = re.match(rf"SPEC: {law}\.(\w+): ", error.lines[0])
    if found is None or found[1] in fixed or found[1] not in OF_RULES:
        return error
    return InputError(f"SPEC: {law}'s rule has no {found[1]} for this box; expected a smaller box")
