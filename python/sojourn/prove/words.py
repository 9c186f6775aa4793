"""A certificate as sentences and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn.prove.region import VERDICTS, Region

if TYPE_CHECKING:
    from sojourn.prove import Certificate

#: Beginning of the reason if a law has no linear model.
NO_MODEL = "no model"

#: Columns of the table of margins: name, unit, key, meaning.
COLUMNS = (
    ("phase margin", "deg", "phase_margin_deg", "least lag that destabilises; below 0 the lead it lacks"),
    ("gain margin", "", "gain_margin", "largest factor on the loop's gain"),
    ("delay margin", "s", "delay_margin_s", "largest additional delay"),
    ("modulus margin", "", "modulus_margin", "least distance of L from -1"),
    ("crossover", "rad/s", "crossover_rad_s", "frequency at which |L| = 1"),
    (
        "pole",
        "1/s",
        "rightmost",
        "rightmost one: rate at which deviations decay (below 0) or grow",
    ),
)

#: Probability of a limit, and relative shift of the mean, that a sentence names.
SELDOM = 0.01
#: Mark of the loop of the verdict, and its meaning.
MARK = "*"
MARKED = "the law as it runs: its margins are those of the JSON document and of Certificate.margins."
JUDGED = "The verdict is that of this loop."
#: The same where nothing is proven of a law, and where it has a transfer function of a part of it alone.
UNPROVEN = (
    "the law as it runs: that loop is {}, and the verdict is that of the law. Its margins are those of the "
    "JSON document and of Certificate.margins."
)
PARTIAL = (
    "the part of the law that has a transfer function, as it runs: that loop is {}, which proves nothing of "
    "the whole law. Its margins are those of the JSON document and of Certificate.margins."
)
MARKED_LINK = (
    "the margins of the JSON document and of Certificate.margins, with the other loops closed. The verdict "
    "is that of all links together."
)


def sentence(certificate: Certificate) -> str:
    """The verdict in a sentence."""
    law, link = certificate.law.partition(":")[0], certificate.link
    if certificate.verdict == "not proven":
        return f"Not proven: {certificate.reason}."
    if certificate.classes:
        return _of_classes(certificate, law)
    if certificate.links:
        return _of_links(certificate)
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a verdict has an equilibrium"
    about = f"{short(equilibrium['backlog_packets'])} packets and p = {short(equilibrium['p'])}"
    if certificate.verdict == "unstable":
        return f"Unstable: {law} at {link} does not stay about {about}; small deviations grow."
    room = _room(certificate.margins)
    return f"Stable: {law} at {link} stays about {about}{f'; {listed(room)}' if room else ''}."


def _of_classes(certificate: Certificate, law: str) -> str:
    """The verdict on queues that share a link."""
    link = certificate.link
    unstable = [one["class"] for one in certificate.classes if one["verdict"] == "unstable"]
    if unstable:
        return f"Unstable: {law} at {link}, in the queues of {listed(unstable)}; small deviations grow."
    room = _room(certificate.margins)
    each = "each queue stays about its equilibrium"
    worst = next(
        one["class"]
        for one in certificate.classes
        if all(one[key] == value for key, value in certificate.margins.items())
    )
    return f"Stable: {law} at {link}, {each}{f'; nearest to -1 is {worst}: {listed(room)}' if room else ''}."


def _of_links(certificate: Certificate) -> str:
    """The verdict on links that are congested together."""
    found = listed([_of_link(one) for one in certificate.links])
    if certificate.verdict == "unstable":
        return f"Unstable: {found} do not stay there together; small deviations grow."
    room = _room(certificate.margins)
    least = f"; with the others closed, {certificate.link} has {listed(room)}" if room else ""
    return f"Stable: {found} stay there together{least}."


#: Columns of the table of links: name, unit, key of the equilibrium.
OF_LINK = (
    ("capacity", "packets/s", "capacity_pps"),
    ("p", "", "p"),
    ("backlog", "packets", "backlog_packets"),
    ("queueing", "s", "sojourn_s"),
    ("mean RTT", "s", "rtt_s"),
)


def link_rows(certificate: Certificate) -> list[tuple[str, list[str]]]:
    """Name of each link that is certified together with others, its law and the numbers of `OF_LINK`."""
    return [
        (one["link"], [one["law"], *(short(one["equilibrium"][key]) for _, _, key in OF_LINK)])
        for one in certificate.links
    ]


def _of_link(one: dict[str, Any]) -> str:
    """Equilibrium of one of several links."""
    law, at = one["law"].partition(":")[0], one["equilibrium"]
    return f"{law} at {one['link']} ({short(at['backlog_packets'])} packets, p = {short(at['p'])})"


#: Columns of the table of classes: name, unit, key.
OF_CLASS = (
    ("queues", "", "queues"),
    ("share", "packets/s", "capacity_pps"),
    ("backlog", "packets", "backlog_packets"),
    ("phase margin", "deg", "phase_margin_deg"),
    ("gain margin", "", "gain_margin"),
    ("delay margin", "s", "delay_margin_s"),
)


def class_rows(certificate: Certificate) -> list[tuple[str, str, list[str]]]:
    """Name of each class, its verdict, and its numbers in the order of `OF_CLASS`."""
    return [
        (
            one["class"],
            one["verdict"],
            [short((one | (one["equilibrium"] or {})).get(key)) for _, _, key in OF_CLASS],
        )
        for one in certificate.classes
    ]


#: Columns of the table of sigmas: name, unit, key.
OF_SIGMA = (
    ("sigma", "packets", "packets"),
    ("exact limit", "packets", "limit_packets"),
    ("of Theorem 3", "packets", "theorem_3_packets"),
    ("Theorem 3 by limit", "", "theorem_3_by_limit"),
    ("phase margin", "deg", "phase_margin_deg"),
    ("gain margin", "", "gain_margin"),
    ("delay margin", "s", "delay_margin_s"),
)

#: What the table of sigmas is about.
ABOUT_SIGMA = (
    "sigma of the price p = [(q - beta) / sigma]+ in each queue, with those of the theory and its margins in "
    "the paper's model, whose state is the rate; those of the classes are of the fluid plant, whose state is "
    "the window."
)


def sigma_rows(certificate: Certificate) -> list[tuple[str, list[str]]]:
    """Name of each class whose price has a sigma, and its numbers in the order of `OF_SIGMA`."""
    return [
        (one["class"], [short(one["sigma"][key]) for _, _, key in OF_SIGMA])
        for one in certificate.classes
        if one["sigma"] is not None
    ]


def _room(margins: dict[str, float | None]) -> list[str]:
    """The margins of a stable loop as text."""
    lag, lead = margins["phase_margin_deg"], margins["phase_lead_margin_deg"]
    gain, less = margins["gain_margin"], margins["gain_reduction_margin"]
    delay = margins["delay_margin_s"]
    found = [] if lag is None else [f"phase margin {lag:.1f} degrees" + " of lag" * (lead is not None)]
    found += [] if lead is None else [f"{lead:.1f} degrees of lead"]
    found += [] if gain is None else [f"gain margin {short(gain)}"]
    found += [] if less is None else [f"{short(less)} downwards"]
    found += [] if delay is None else [f"delay margin {short(delay)} s"]
    return found


def judged(certificate: Certificate) -> dict[str, Any] | None:
    """The loop of `Certificate.margins`, from which the verdict follows; None: unknown."""
    found = certificate.loops[-1:]
    known = [one for one in found if (one["model"], one["part"]) == certificate.headline]
    return known[0] if known else None


def rows(certificate: Certificate) -> list[tuple[str, list[str]]]:
    """Name of each loop and its numbers, in the order of `COLUMNS`; that of the verdict has its mark."""
    marked = judged(certificate)
    return [
        (
            name_of(one) + f" {MARK}" * (one == marked),
            [short(value(one, key)) for _, _, key, _ in COLUMNS],
        )
        for one in certificate.loops
    ]


def of_noise(certificate: Certificate) -> list[str]:
    """Deviations by random signals in a sentence; empty: there are none."""
    noise = certificate.noise
    if noise is None:
        return []
    backlog = "the backlog of such a queue" if certificate.classes else "the backlog"
    moved = f"{backlog} by {short(noise['queue_sd_packets'])} packets and p by {short(noise['p_sd'])}"
    kinds = (
        ("empty", "the queue is empty"),
        ("full", "the buffer is full"),
        ("p_below", "p is 0"),
        ("p_above", "p is at its greatest"),
    )
    at = [f"{what} {_percent(noise[key])} of the time" for key, what in kinds if noise[key] > SELDOM]
    equilibrium, shift = certificate.equilibrium, noise["mean_shift_packets"]
    if equilibrium is not None and shift is not None and -shift > SELDOM * equilibrium["backlog_packets"]:
        at.append(f"the mean backlog falls by about {-shift:.2g} packets")
    return [f"Noise: random signals move {moved} (one sd){'; ' * bool(at)}{listed(at)}."]


def notes(certificate: Certificate) -> list[str]:
    """Notes under the table of loops: its mark, other loops, noise, warnings."""
    return [*marks(certificate), *remarks(certificate)]


def marks(certificate: Certificate) -> list[str]:
    """Notes on the loops: the mark of one, leads that destabilise, and those that are not proven."""
    own = judged(certificate)
    about = MARKED_LINK if certificate.links else f"{MARKED} {JUDGED}"
    if own is not None and not certificate.links and certificate.verdict != own["verdict"]:
        about = (PARTIAL if certificate.of_a_part else UNPROVEN).format(own["verdict"])
    marked = [f"{MARK} {about}"] if own is not None else []
    leads = (
        f"{name_of(one)}: {one['phase_lead_margin_deg']:.1f} degrees of lead destabilise it, too."
        for one in certificate.loops
        if one["phase_lead_margin_deg"] is not None
    )
    unproven = (
        f"{name_of(one)}: not proven, {one['reason']}."
        for one in certificate.loops
        if one["verdict"] == "not proven"
    )
    return [*marked, *leads, *unproven]


def remarks(certificate: Certificate) -> list[str]:
    """Noise, and warnings."""
    return [*of_noise(certificate), *(f"Warning: {warning}" for warning in certificate.warnings)]


def tally(certificates: Sequence[Certificate]) -> str:
    """Counts of several verdicts that are not stable, such as ``1 of 3 unstable, 1 not proven``."""
    unstable = sum(one.verdict == "unstable" for one in certificates)
    reasons = [one.reason or "" for one in certificates if one.verdict == "not proven"]
    barren = sum(reason.startswith(NO_MODEL) for reason in reasons)
    kinds = (
        (unstable, "unstable"),
        (len(reasons) - barren, "not proven"),
        (barren, f"not proven ({NO_MODEL})"),
    )
    found = [f"{number} {kind}" for number, kind in kinds if number]
    first, *others = found
    number, _, kind = first.partition(" ")
    return ", ".join([f"{number} of {len(certificates)} {kind}", *others])


def of_map(region: Region) -> str:
    """Shares of a map as a sentence."""
    shares = region.shares()
    found = ", ".join(f"{_percent(shares[name])} {name}" for name in VERDICTS if name in shares)
    barren = "; ".join(
        f"at {_percent(shares[why])} of the points there is no verdict: {why}"
        for why in region.reasons
        if why in shares
    )
    return f"Of the map: {'; '.join(part for part in (found, barren) if part)}."


def _percent(share: float) -> str:
    """Percentage such as ``4 %``; a positive share is never 0 %."""
    return "under 1 %" if share < 0.005 else f"{100 * share:.0f} %"


def name_of(loop: dict[str, Any]) -> str:
    """Name such as ``linearised, sampled-data``, short enough for a table."""
    model = "textbook, no delay" if loop["model"] == "textbook without delay" else loop["model"]
    if loop["link"] is not None:
        return f"network, broken at {loop['link']}"
    part = "" if loop["part"] == "whole" else f", {loop['part']}"
    return f"{model}{part}{', sampled-data' * loop['sampled']}"


def value(loop: dict[str, Any], key: str) -> float | None:
    """A number of a loop."""
    if key == "rightmost":
        return loop["poles"][0][0] if loop["poles"] else None
    found: float | None = loop[key]
    return found


def short(number: float | None) -> str:
    """Four significant digits, without trailing zeros.

    >>> short(0.24599), short(3750.0), short(None)
    ('0.246', '3750', '-')
    """
    return "-" if number is None else f"{number:.4g}"


def listed(items: list[str]) -> str:
    """Items such as ``a, b and c``."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
