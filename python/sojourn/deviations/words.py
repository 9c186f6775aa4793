"""Large deviations as sentences and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.deviations import Cycle, Deviations, SlopeChange

#: Columns of the table of responses.
COLUMNS = (
    ("peak linear", "packets"),
    ("peak fluid", "packets"),
    ("settling linear", "s"),
    ("settling fluid", "s"),
)


def rows(found: Deviations) -> list[tuple[str, list[str]]]:
    """Name of each step and its numbers, in the order of `COLUMNS`."""
    return [
        (
            one.step,
            [
                _short(one.linear_peak_packets),
                _short(one.fluid_peak_packets),
                _short(one.linear_settling_s),
                _short(one.fluid_settling_s),
            ],
        )
        for one in found.responses
    ]


def dashes(found: Deviations) -> list[str]:
    """The reasons for cells of `rows` without a number."""
    of_fluid = [one.fluid_peak_packets is None for one in found.responses]
    reasons = []
    if any(one.linear_peak_packets is None for one in found.responses):
        reasons.append("- (linear): the poles of the loop are not known.")
    if any(of_fluid):
        why = (
            "has no model of this scenario" if all(of_fluid) else "is run with steps of rate and flows alone"
        )
        reasons.append(f"- (fluid): the fluid plant {why}.")
    return reasons


def sentences(found: Deviations) -> list[str]:
    """All that is no table, a sentence each."""
    left_out = [] if found.verdict == "stable" else [LEFT_OUT.format(found.verdict)]
    return [*_cycles(found), *_steps(found), *_slopes(found), *_sensitivity(found), *left_out]


#: Difference of a gain from 1 that is rounding.
SAME = 1e-9
#: What deviations have of a stable loop alone.
LEFT_OUT = "Responses to steps, the largest steps and sensitivities are left out: the verdict is {}."


def _cycles(found: Deviations) -> list[str]:
    if found.critical_gain is None:
        return ["No branch of limit cycles could be followed from this loop."]
    begin = "softly, growing from 0" if found.soft else "hard: small cycles are unstable"
    lines = [f"Oscillations begin at {_short(found.critical_gain)} times the gain, {begin}."]
    if found.limit_cycle is not None:
        # On a branch that begins below the loop's gain, the cycle is the one that remains.
        role = (
            "The fluid oscillates"
            if found.verdict == "unstable"
            else "An unstable cycle bounds the deviations"
        )
        lines.append(f"{role}: {_cycle(found.limit_cycle)}.")
    elif found.verdict == "unstable":
        lines.append("The branch was not followed to the loop's own cycle.")
    if found.describing_function is not None:
        one = found.describing_function
        amplitude, period = _short(one.amplitude_packets), _short(one.period_s)
        lines.append(f"The describing function has {amplitude} packets and {period} s.")
    return lines


def _cycle(of: Cycle) -> str:
    (low, high), (least, most) = of.queue_packets, of.p
    about = " (approximately)" * of.approximate
    backlog = f"between {_short(max(0.0, low))} and {_short(high)}"
    signals = f"p between {_short(max(0.0, least))} and {_short(most)}{about}"
    amplitude, period = _short(of.amplitude_packets), _short(of.period_s)
    return f"the backlog by {amplitude} packets in {period} s, {backlog}, and {signals}"


def _steps(found: Deviations) -> list[str]:
    kinds = (
        ("more flows", found.largest_growth_of_flows),
        ("fewer flows", found.largest_fall_of_flows),
        ("a lower rate", found.largest_fall_of_rate),
    )
    known = [(name, step) for name, step in kinds if step is not None]
    if not known:
        return []
    each = [
        f"{name} by a factor of {_short(factor)}{', the most tried' * is_end}"
        for name, (factor, is_end) in known
    ]
    return [f"The fluid comes back to rest after {'; '.join(each)} ({found.iterations} bisections)."]


def _slopes(found: Deviations) -> list[str]:
    if not found.slope_changes:
        law = "part of the law with a transfer function" if found.of_a_part else "law"
        return [f"The {law} declares one slope within a hundredth and a hundred times its equilibrium."]
    return [f"The law's slope changes {' and '.join(_slope(one) for one in found.slope_changes)}."]


def _slope(one: SlopeChange) -> str:
    at = f"p = {_short(one.at)}" if one.unit == "p" else f"{_short(one.at)} packets"
    way = "below" if one.relative < 1 else "above"
    beyond = f"{way} {at} ({_short(one.relative)} times its equilibrium)"
    if one.gain is None:
        return f"{beyond}, where it has no transfer function"
    if abs(one.gain - 1) < SAME:
        return f"{beyond} in that it {'marks' if one.marks else 'drops'}, with the same gain"
    return f"{beyond}, to {_short(one.gain)} times itself"


def _sensitivity(found: Deviations) -> list[str]:
    if found.sensitivity is None or found.complementary_sensitivity is None:
        return []
    (most, at), (whole, there) = found.sensitivity, found.complementary_sensitivity
    return [
        f"Sensitivity |S| is at most {_short(most)}, at {_short(at)} rad/s; |T| at most {_short(whole)}, at "
        f"{_short(there)} rad/s."
    ]


def _short(number: float | None) -> str:
    if number is None:
        return "-"
    # What rounding leaves of 0.
    return "0" if abs(number) < 1e-9 else f"{number:.3g}"
