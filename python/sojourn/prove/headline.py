"""The margins of a certificate: those of the loop of the verdict, each once, with its frequency."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from sojourn.prove.words import judged, name_of, short

if TYPE_CHECKING:
    from sojourn.prove import Certificate

#: Meanings of the margins, and of the dominant poles.
MEANINGS = (
    ("phase margin", "least lag of the loop that destabilises it; below 0 the lead that it lacks"),
    ("gain margin", "largest factor on the loop's gain, in dB"),
    ("delay margin", "largest additional delay"),
    ("modulus margin", "least distance of L from \u22121; its inverse is the peak of |S| = 1 / |1 + L|"),
    (
        "dominant poles",
        "rightmost poles of the closed loop: the real part is the rate at which deviations decay (below 0) "
        "or grow, the imaginary part the frequency of their oscillation",
    ),
)
#: Least imaginary part of an oscillating pole, relative to its magnitude.
OSCILLATES = 1e-9


class Margin(NamedTuple):
    """A margin as text: its name, its value, and a detail, which may be empty."""

    name: str
    value: str
    detail: str = ""


def margins(certificate: Certificate) -> list[Margin]:
    """The margins, and the dominant poles; empty without a loop."""
    if not certificate.loops:
        return []
    loop = certificate.loops[-1]
    stable = loop["verdict"] == "stable"
    nothing = "unlimited" if stable else "none"
    lag, up = phase(loop), gain(loop)
    found = [Margin("phase margin", nothing) if lag is None else lag]
    lead = phase(loop, "phase_lead_margin_deg", -1)
    found += [] if lead is None else [lead._replace(name="phase margin of leads")]
    found.append(Margin("gain margin", nothing) if up is None else up)
    down = gain(loop, "gain_reduction_margin")
    found += [] if down is None else [down._replace(name="gain reduction margin")]
    delay, modulus = loop["delay_margin_s"], loop["modulus_margin"]
    found.append(Margin("delay margin", nothing if delay is None else f"{short(delay)} s"))
    if modulus is not None:
        peak = f"peak of |S| {decibels(1 / modulus):.1f} dB" if stable and modulus > 0 else ""
        found.append(Margin("modulus margin", f"{modulus:.3g}", peak))
    poles = dominant(loop)
    return found if poles is None else [*found, poles]


def phase(loop: dict[str, Any], key: str = "phase_margin_deg", sign: int = 1) -> Margin | None:
    """The phase margin of a loop, or that of leads with `sign` -1; None: there is none."""
    if loop[key] is None:
        return None
    return Margin("phase margin", f"{_number(loop[key], '.1f')}°", _at(phase_crossing(loop, key, sign)))


def gain(loop: dict[str, Any], key: str = "gain_margin") -> Margin | None:
    """The gain margin of a loop; None: there is none."""
    factor = loop[key]
    if factor is None:
        return None
    detail = f"factor {factor:.3g} {_at(gain_crossing(loop, key))}".rstrip()
    return Margin("gain margin", f"{_number(decibels(factor), '.1f')} dB", detail)


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
    if certificate.classes:
        return (
            f"Margins of the law as it runs ({name_of(loop)}) in the queue whose loop comes nearest to "
            "\u22121; the link is stable if each queue is."
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


def dominant(loop: dict[str, Any]) -> Margin | None:
    """The rightmost pole of a loop, or its rightmost pair; None: there are no poles."""
    if not loop["poles"]:
        return None
    pole = complex(*loop["poles"][0])
    real = _number(pole.real, ".3g")
    if abs(pole.imag) <= OSCILLATES * abs(pole):
        return Margin("dominant poles", f"{real} 1/s")
    ratio = _number(-pole.real / abs(pole), ".2g")
    return Margin("dominant poles", f"{real} ± {abs(pole.imag):.3g}i 1/s", f"damping ratio {ratio}")


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


def _number(value: float, digits: str) -> str:
    """A number with a proper minus."""
    return f"{value:{digits}}".replace("-", "\u2212")


def _at(frequency: float | None) -> str:
    return "" if frequency is None else f"at {frequency:.3g} rad/s"
