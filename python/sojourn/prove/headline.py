"""The margins of a certificate: those of the loop of the verdict, each once, with its frequency."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sojourn.prove.words import judged, name_of, short

if TYPE_CHECKING:
    from sojourn.prove import Certificate

#: Least imaginary part of an oscillating pole, relative to its magnitude.
OSCILLATES = 1e-9


def margins(certificate: Certificate) -> list[tuple[str, str]]:
    """Names and values of the margins, and of the dominant poles; empty without a loop."""
    if not certificate.loops:
        return []
    loop = certificate.loops[-1]
    unlimited = "unlimited" if loop["verdict"] == "stable" else "none"
    found = [("phase margin", _degrees(loop, "phase_margin_deg") or unlimited)]
    lead = _degrees(loop, "phase_lead_margin_deg", sign=-1)
    found += [] if lead is None else [("phase margin of leads", lead)]
    found.append(("gain margin", _gain(loop, "gain_margin") or unlimited))
    less = _gain(loop, "gain_reduction_margin")
    found += [] if less is None else [("gain reduction margin", less)]
    delay, modulus = loop["delay_margin_s"], loop["modulus_margin"]
    found.append(("delay margin", unlimited if delay is None else f"{short(delay)} s"))
    found.append(("modulus margin", "-" if modulus is None else f"{modulus:.3g}"))
    return [*found, *dominant(loop)]


def whose(certificate: Certificate) -> str:
    """A sentence on the loop that has the margins; empty without a loop."""
    loop = judged(certificate)
    if loop is None:
        return ""
    if certificate.links:
        return (
            f"Margins of the loop broken at {certificate.link}, with the others closed; the verdict is that "
            "of all links together."
        )
    own = f"Margins of the law as it runs ({name_of(loop)})"
    if certificate.verdict == loop["verdict"]:
        return f"{own}; the verdict is that of this loop."
    if certificate.of_a_part:
        return (
            f"Margins of the part of the law that has a transfer function: its loop is {loop['verdict']}, "
            "which proves nothing of the whole law."
        )
    return f"{own}: its loop is {loop['verdict']}, and the verdict is that of the law."


def dominant(loop: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and value of the rightmost pole of a loop, or of its rightmost pair."""
    if not loop["poles"]:
        return
    pole = complex(*loop["poles"][0])
    real = f"{pole.real:.3g}".replace("-", "\u2212")
    if abs(pole.imag) <= OSCILLATES * abs(pole):
        yield "dominant pole", f"{real} 1/s"
    else:
        ratio = f"{-pole.real / abs(pole):.2g}".replace("-", "\u2212")
        yield "dominant poles", f"{real} ± {abs(pole.imag):.3g}i 1/s, damping ratio {ratio}"


def decibels(factor: float) -> float:
    """A factor on a gain, dB."""
    return 20 * math.log10(factor)


def phase_crossing(loop: dict[str, Any], key: str = "phase_margin_deg", sign: int = 1) -> float | None:
    """Frequency of the gain crossover that has the phase margin, rad/s; None: there is no margin."""
    margin = loop[key]
    for at in loop["gain_crossovers"] or []:
        # Margins of a crossover are known up to whole turns.
        if margin is not None and _turns(sign * at["phase_margin_deg"] - margin):
            return float(at["frequency_rad_s"])
    return None


def gain_crossing(loop: dict[str, Any], key: str = "gain_margin") -> float | None:
    """Frequency of the phase crossover that has the gain margin, rad/s; None: there is no margin."""
    margin = loop[key]
    for at in loop["phase_crossovers"] or []:
        if margin is not None and math.isclose(at["gain_margin"], margin, rel_tol=1e-6):
            return float(at["frequency_rad_s"])
    return None


def _turns(degrees: float) -> bool:
    """True for a multiple of 360 degrees."""
    return abs(math.remainder(degrees, 360)) < 1e-3


def _degrees(loop: dict[str, Any], key: str, sign: int = 1) -> str | None:
    margin = loop[key]
    if margin is None:
        return None
    return f"{margin:.1f}°{_at(phase_crossing(loop, key, sign))}".replace("-", "\u2212")


def _gain(loop: dict[str, Any], key: str) -> str | None:
    factor = loop[key]
    if factor is None:
        return None
    size = f"{decibels(factor):.1f}".replace("-", "\u2212")
    return f"{size} dB (factor {factor:.3g}){_at(gain_crossing(loop, key))}"


def _at(frequency: float | None) -> str:
    return "" if frequency is None else f" at {frequency:.3g} rad/s"
