"""Validity as a sentence and as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sojourn.prove.words import listed
from sojourn.validity.figures import QUANTITIES, Quantity

if TYPE_CHECKING:
    from sojourn.result.statistics import Estimate
    from sojourn.validity import Validity
    from sojourn.validity.grid import ValidityMap

#: Packets below which a deviation of the queue is printed as 0.
LEAST = 1e-3
#: Names of the errors that count, in a sentence.
NAMES = {"p": "p", "window_packets": "the mean window", "queue_packets": "the mean queue"}


def sentence(found: Validity) -> str:
    """The verdict with its figure, and what bends or breaks the theory."""
    law = found.law.partition(":")[0]
    part = "a part of " * found.of_a_part
    about = f"The theory of {part}{law} at {found.link} with {found.model} windows"
    why = _of_unstable(found) if found.certified == "unstable" else _of_stable(found)
    text = f"{about} {'holds' if found.holds else 'does not hold'} here{why}.{_of_others(found)}"
    if found.holds and not found.holds_everywhere:
        text += f" It does not hold at {listed([one.link for one in found.others if not one.holds])}."
    if not found.causes:
        return text
    lead = "What bends it" if found.holds else "What breaks it"
    return f"{text} {lead}: {'; '.join(found.causes)}."


def _of_stable(found: Validity) -> str:
    from sojourn.validity import HOLDS

    key = found.farthest
    assert key is not None, "an equilibrium has a queue"
    if found.holds:
        return (
            f" at rest within {_percent(found.within)} in {_listed(found.errors)}; {NAMES[key]} is farthest"
        )
    if found.within > HOLDS:
        packets, theory = (found.plants[plant][key].mean for plant in ("packet", "linear"))
        scale, unit = (100, " %") if key == "p" else (1, " packets")
        seen = f"{_short(scale * packets)}{unit}, {packets / theory:.2f} times that of theory"
        return f": {NAMES[key]} of the packets is {seen}"
    mean, at = (found.plants[plant]["queue_packets"].mean for plant in ("fluid", "linear"))
    return f": the fluid leaves its equilibrium of {_short(at)} packets for a mean of {_short(mean)}"


def _of_unstable(found: Validity) -> str:
    from sojourn.validity import CYCLE, HOLDS_OF_CYCLE

    swing = _short(found.plants["packet"]["oscillation_packets"].mean)
    if not found.oscillates:
        share, least = (f"{100 * of:.0f} %" for of in (found.of_one_oscillation, CYCLE))
        seen = f"oscillates by {swing} packets with {share} of its variance; a cycle has at least {least}"
        return f": its equilibrium is unstable, but the queue of packets {seen}"
    fluid = found.plants.get("fluid")
    beside = "" if fluid is None else f" (the fluid: {_short(fluid['oscillation_packets'].mean)})"
    seen = f"its equilibrium is unstable, and the queue of packets oscillates by {swing} packets{beside}"
    if not found.holds:
        error = found.errors.get("oscillation_rad_s", 0.0)
        return f": {seen}" + f", {1 + error:.2f} times as fast" * (abs(error) > HOLDS_OF_CYCLE)
    return f" within {_percent(found.within)} in frequency and amplitude of the cycle: {seen}"


def _listed(keys: Iterable[str]) -> str:
    return listed([NAMES[key] for key in keys])


def _of_others(found: Validity) -> str:
    """What the verdict does not count and is far off."""
    from sojourn.validity import HOLDS

    if not found.beyond:
        return ""
    others = []
    for one in QUANTITIES:
        error = found.beyond.get(one.key)
        if error is None:
            continue
        if math.isfinite(error):
            others.append(f"{OTHERS.get(one.key, one.name)} ({1 + error:.3g} times)")
        else:
            swing = _short(found.plants["packet"][one.key].mean)
            others.append(f"an oscillation of {swing} packets, which theory without random signals lacks")
    return f" Not within {_percent(HOLDS)}, and not counted: {listed(others)}."


#: Names of other quantities in a sentence, where they are not those of the table.
OTHERS = {
    "p": "p of the cycle",
    "window_packets": "its mean window",
    "queue_packets": "its mean queue",
    "oscillation_rad_s": "the oscillation's frequency",
    "peak_packets": "the peak after -20 % of rate",
    "settling_s": "the settling after it",
}

#: Columns of the table.
COLUMNS = ("linear", "fluid", "packets", "packets / linear")


def rows(found: Validity) -> list[tuple[str, list[str]]]:
    """Name of each quantity, and its cells in the order of `COLUMNS`."""
    return [
        (f"{one.name}, {one.unit}" if one.unit else one.name, _cells(found, one))
        for one in QUANTITIES
        if any(one.key in figures for figures in found.plants.values())
    ]


def _cells(found: Validity, one: Quantity) -> list[str]:
    of = [found.plants.get(plant, {}).get(one.key) for plant in ("linear", "fluid", "packet")]
    linear, _, packet = of
    ratio = "-"
    if linear is not None and packet is not None and linear.mean > 0:
        ratio = f"{packet.mean / linear.mean:.2f}"
    return [*(_cell(each, one) for each in of), ratio]


def _cell(of: Estimate | None, one: Quantity) -> str:
    if of is None or not math.isfinite(of.mean):
        return "-"
    scale = 100.0 if one.unit == "%" else 1.0
    half = "" if of.half is None else f" ± {scale * of.half:.2g}"
    # What the fluid still has to decay is no swing.
    mean = 0.0 if one.unit == "packets" and of.mean < LEAST else scale * of.mean
    return f"{_short(mean)}{half}"


def about(found: Validity) -> str:
    """Sentence below the table."""
    assert found.times is not None, "a check has times"
    runs = "1 seed" if len(found.seeds) == 1 else f"{len(found.seeds)} seeds"
    stepped = (
        " Peak and settling: of the mean response, smoothed over a round trip in each plant; settled where "
        "it stays within a quarter of its peak."
    )
    measured, before = (_short(s) for s in (found.times.duration - found.times.warmup, found.times.warmup))
    return (
        f"Packets: {runs}, {measured} s after a warm-up of {before} s, ± the 95 % interval; changes of the "
        "schedule left out. Oscillation: the peak of the queue's spectrum, in bins of "
        f"{_short(2 * math.pi / (found.times.segment * found.times.sample))} rad/s, and the amplitude of a "
        "sinusoid with the power about it; linear: of poles that hardly decay, or grow, without random "
        f"signals.{stepped if 'peak_packets' in found.plants['packet'] else _without_steps(found)}"
    )


def whose(found: Validity) -> str:
    """A line on the links that are compared; empty: it is one."""
    if not found.others:
        return ""
    names = listed([one.link for one in found.others])
    steps = "--link has steps of the rate"
    return f"Links congested together with {found.link} at rest alone ({names}: {steps})."


def _without_steps(found: Validity) -> str:
    """The reason for which no plant has a response to a step."""
    why = "the link has no rate of its own"
    if found.certified != "stable":
        why = f"the verdict is {found.certified}"
    return f" Steps of the rate are left out: {why}."


#: Pictures of the plants laid over each other: kind, title and meaning.
PICTURES = (
    (
        "backlog",
        "Plants at rest",
        "The end of a run: packets of the first seed, the fluid, and the equilibrium of the certificate.",
    ),
    (
        "response",
        "Plants after a step",
        "Backlog since the rate fell by a fifth, less its mean before, smoothed over a round trip: of "
        "packets and fluid the mean over falls and seeds; of the certificate the linear response.",
    ),
    (
        "spectrum",
        "Spectrum",
        "Spectral density of the backlog at rest: of the packets by Welch's method, the mean of all seeds, "
        "and as predicted.",
    ),
)


def _percent(share: float) -> str:
    return f"{max(1, math.ceil(100 * share))} %"


def _short(number: float) -> str:
    return f"{number:.3g}"


#: Letters of causes, in a map.
LETTERS = {
    "large deviations": "L",
    "timeouts": "T",
    "saturation": "S",
    "few flows": "F",
    "bursts": "B",
    "windows": "W",
    "acknowledgments": "A",
}
#: Most reasons of points without a theory that are printed.
MOST_REASONS = 3


def rows_of_map(found: ValidityMap) -> list[tuple[str, list[str]]]:
    """Base RTT of each row and its cells: the largest error, and letters where the theory does not hold."""
    return [
        (f"{1e3 * rtt:.3g} ms", [_of_point(one) for one in row])
        for rtt, row in zip(found.rtt_s, found.cells, strict=True)
    ]


def _of_point(one: Validity | str) -> str:
    if isinstance(one, str):
        return "-"
    unstable = "~" * (one.certified == "unstable")
    text = f"{unstable}{_percent(one.within) if math.isfinite(one.within) else '?'}"
    return text if one.holds else f"{text} !{''.join(_letters(one))}"


def _letters(one: Validity) -> list[str]:
    return [LETTERS[cause.partition(":")[0]] for cause in one.causes]


def of_map(found: ValidityMap) -> list[str]:
    """Sentences below the table: shares, letters, and reasons of points without a theory."""
    points = [one for row in found.cells for one in row]
    known = [one for one in points if not isinstance(one, str)]
    used = {letter for one in known if not one.holds for letter in _letters(one)}
    names = "".join(f", {letter} {name}" for name, letter in LETTERS.items() if letter in used)
    holding = f"The theory holds at {sum(one.holds for one in known)} of {len(points)} points"
    reasons = dict.fromkeys(one for one in points if isinstance(one, str))
    return [
        f"{holding}: within the largest error of p, mean window and mean queue (~ unstable: of its cycle).",
        *([f"! it does not hold{names}."] if any(not one.holds for one in known) else []),
        *(f"- {reason}" for reason in list(reasons)[:MOST_REASONS]),
    ]
