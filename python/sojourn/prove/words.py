"""A certificate in words and in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn.prove import Certificate

#: The columns of the table of margins: name, unit, key, what it means.
COLUMNS = (
    ("phase margin", "deg", "phase_margin_deg", "how far the loop's phase may fall at the crossover"),
    ("gain margin", "", "gain_margin", "what the loop's gain may be multiplied by"),
    ("delay margin", "s", "delay_margin_s", "how much longer the delay may become"),
    ("modulus margin", "", "modulus_margin", "the least distance of L from -1"),
    ("crossover", "rad/s", "crossover_rad_s", "the frequency at which |L| = 1"),
    ("rightmost root", "1/s", "rightmost", "how fast the slowest deviation dies out (below 0) or grows"),
)


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
    return (
        f"Stable: {law} at {link} stays about {about}, with {_listed(told)}."
        if told
        else f"Stable: {law} at {link}."
    )


def rows(certificate: Certificate) -> list[tuple[str, list[str]]]:
    """The name of each loop and its numbers, in the order of `COLUMNS`."""
    return [(name_of(one), [short(value(one, key)) for _, _, key, _ in COLUMNS]) for one in certificate.loops]


def name_of(loop: dict[str, Any]) -> str:
    """Such as ``linearised, in samples``."""
    part = "" if loop["part"] == "whole" else f", {loop['part']} loop"
    return f"{loop['model']}{part}{', in samples' * loop['sampled']}"


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
