"""The parameters of the models of a link's schedule, one class each.

Generated from the catalogue by `cargo run -p xtask -- generate`: change the entry's file, not this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sojourn.entries import Entry, checked

__all__ = [
    "Lte",
    "Satellite",
]


@checked
@dataclass(frozen=True, kw_only=True)
class Lte(Entry):
    """A rate that wanders between zero and a highest one, as of a cellular link.

    The rate is a Brownian motion with a standard deviation of `volatility` times the highest rate
    in a second; at zero it stays for `outage` on average. The highest rate follows from the `mean`.

    Source: K. Winstein, A. Sivaraman, H. Balakrishnan, Sprout, NSDI 2013.

    None stands for the default.
        mean: mean rate in the long run (rate, such as "8 Mbit/s"; 1 kbit/s to 100 Gbit/s).
            Required.
        volatility: standard deviation of the rate's change in a second, over the highest rate
            (number, such as 0.1; 0.001 to 10). Default 0.2: 200 packets/s in a second, of at most
            1000 packets/s, as in Sprout's model.
        outage: mean length of an outage (time, such as "20 ms"; 0 s to 100 s). Default "1 s": as in
            Sprout's model.
    """

    stem: ClassVar[str] = "lte"

    mean: str
    volatility: float | None = None
    outage: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Satellite(Entry):
    """A rate drawn anew in each interval after a gap, as of a link through low satellites.

    A new rate every `interval`, uniform within `spread` of the `mean`, after a `gap` in which
    nothing is sent; data sent in a `frame` arrives at its end.

    Source: N. Mohan et al., WWW 2024 (arXiv:2310.09242); arXiv:2601.08439; T. Humphreys et al.,
    IEEE TAES 59, 2023.

    None stands for the default.
        mean: mean rate in the long run, gaps included (rate, such as "8 Mbit/s"; 1 kbit/s to 100
            Gbit/s). Required.
        interval: length of an interval (time, such as "20 ms"; 100 ms to 1 h). Default "15 s": as
            measured of Starlink, which is rearranged each 15 s.
        gap: gap without opportunities at the start of each interval (time, such as "20 ms"; at most
            half of interval). Default "140 ms": as measured of Starlink.
        spread: half-width of the rate's uniform distribution, over the mean (number, such as 0.1; 0
            to 1). Default 0.5: changes are large, by no known distribution: from half of the mean
            to one and a half.
        frame: a frame: data sent in it arrives at its end (time, such as "20 ms"; at least 100 us;
            at most a tenth of interval). Default "1.333333 ms": 750 frames a second, as Starlink
            has.
    """

    stem: ClassVar[str] = "satellite"

    mean: str
    interval: str | None = None
    gap: str | None = None
    spread: float | None = None
    frame: str | None = None
