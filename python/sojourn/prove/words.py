"""A certificate in words and in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sojourn.prove.region import VERDICTS, Region

if TYPE_CHECKING:
    from sojourn.prove import Certificate

#: The columns of the table of margins: name, unit, key, what it means.
COLUMNS = (
    ("phase margin", "deg", "phase_margin_deg", "how far the loop's phase may fall at the crossover"),
    ("gain margin", "", "gain_margin", "what the loop's gain may be multiplied by"),
    ("delay margin", "s", "delay_margin_s", "how much longer the delay may become"),
    ("modulus margin", "", "modulus_margin", "the least distance of L from -1"),
    ("crossover", "rad/s", "crossover_rad_s", "the frequency at which |L| = 1"),
    (
        "root",
        "1/s",
        "rightmost",
        "the rightmost one: how fast deviations die out (below 0) or grow",
    ),
)

#: What stands beside the name of the headline's loop, and what that means.
MARK = "*"
MARKED = "the headline: the loop of the margins on top of the JSON document and in Certificate.margins."
JUDGED = "The verdict is that of the last row."


def sentence(certificate: Certificate) -> str:
    """The verdict in a sentence."""
    law, link = certificate.law.partition(":")[0], certificate.link
    if certificate.verdict == "not proven":
        return f"Not proven: {certificate.reason}."
    rest = certificate.equilibrium
    assert rest is not None, "what is proven rests"
    about = f"{short(rest['backlog_packets'])} packets and p = {short(rest['p'])}"
    # The loop that was judged, as the law runs, stands last.
    margins = certificate.loops[-1]
    if certificate.verdict == "unstable":
        return f"Unstable: {law} at {link} does not stay about {about}; small deviations grow."
    phase, delay = margins["phase_margin_deg"], margins["delay_margin_s"]
    told = [] if phase is None else [f"a phase margin of {phase:.1f} degrees"]
    told += [] if delay is None else [f"room for {short(delay)} s more delay"]
    gain = margins["gain_margin"]
    told += [] if gain is None else [f"{short(gain)} times the gain"]
    stays = f"Stable: {law} at {link} stays about {about}"
    if not told:
        return f"{stays}."
    return f"{stays}; the loop of the verdict ({name_of(margins)}) has {_listed(told)}.{_beside(certificate)}"


def headline(certificate: Certificate) -> dict[str, Any]:
    """The loop of `Certificate.margins`: the first in s of its model and part."""
    alike = [one for one in certificate.loops if (one["model"], one["part"]) == certificate.headline]
    return min(alike, key=lambda one: bool(one["sampled"]))


def _beside(certificate: Certificate) -> str:
    """What the loop of the headline has, where the verdict is of another one."""
    other = headline(certificate)
    phase = other["phase_margin_deg"]
    if other == certificate.loops[-1] or phase is None:
        return ""
    return f" The headline's margins are of another loop ({name_of(other)}): it has {phase:.1f} degrees."


def rows(certificate: Certificate) -> list[tuple[str, list[str]]]:
    """The name of each loop and its numbers, in the order of `COLUMNS`; the headline's has its mark."""
    marked = headline(certificate)
    return [
        (
            name_of(one) + f" {MARK}" * (one == marked),
            [short(value(one, key)) for _, _, key, _ in COLUMNS],
        )
        for one in certificate.loops
    ]


def notes(certificate: Certificate) -> list[str]:
    """What stands under the table: what its mark means, and which loops are not proven, and why."""
    unproven = (
        f"{name_of(one)}: not proven, {one['reason']}."
        for one in certificate.loops
        if one["verdict"] == "not proven"
    )
    # What is not all that a law does proves nothing of it, however its loops stand.
    judged = f" {JUDGED}" * (certificate.verdict == certificate.loops[-1]["verdict"])
    return [f"{MARK} {MARKED}{judged}", *unproven]


def of_map(region: Region) -> str:
    """Which part of a map is what."""
    shares = region.shares()
    found = ", ".join(f"{_percent(shares[name])} {name}" for name in VERDICTS if name in shares)
    barren = "; ".join(
        f"at {_percent(shares[why])} of the points there is no verdict: {why}"
        for why in region.reasons
        if why in shares
    )
    return f"Of the map: {'; '.join(part for part in (found, barren) if part)}."


def _percent(share: float) -> str:
    """Such as ``4 %``; what there is, is never 0 %."""
    return "under 1 %" if share < 0.005 else f"{100 * share:.0f} %"


def name_of(loop: dict[str, Any]) -> str:
    """Such as ``linearised, in samples``, short enough for a table."""
    model = "textbook, no delay" if loop["model"] == "textbook without delay" else loop["model"]
    part = "" if loop["part"] == "whole" else f", {loop['part']}"
    return f"{model}{part}{', in samples' * loop['sampled']}"


def value(loop: dict[str, Any], key: str) -> float | None:
    """A number of a loop."""
    if key == "rightmost":
        return loop["roots"][0][0] if loop["roots"] else None
    found: float | None = loop[key]
    return found


def short(number: float | None) -> str:
    """Four digits that say something.

    >>> short(0.24599), short(3750.0), short(None)
    ('0.246', '3750', '-')
    """
    return "-" if number is None else f"{number:.4g}"


def _listed(items: list[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
