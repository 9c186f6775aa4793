"""Quality of calls: the mean opinion score of an R-factor, and its category."""

from __future__ import annotations

#: Least R-factor of each category of speech quality (ITU-T G.109, table 1).
CATEGORIES = ((90.0, "best"), (80.0, "high"), (70.0, "medium"), (60.0, "low"), (50.0, "poor"))
#: R-factors of less than the last category.
REFUSED = "not recommended"


def mos(r_factor: float) -> float:
    """Mean opinion score of an R-factor (ITU-T G.107, annex B).

    >>> f"{mos(93.2):.2f} {mos(50):.2f} {mos(-3):.2f} {mos(101):.2f}"
    '4.41 2.58 1.00 4.50'
    """
    if r_factor <= 0:
        return 1.0
    if r_factor >= 100:
        return 4.5
    return 1 + 0.035 * r_factor + r_factor * (r_factor - 60) * (100 - r_factor) * 7e-6


def category(r_factor: float) -> str:
    """Category of speech quality.

    >>> category(85), category(20)
    ('high', 'not recommended')
    """
    return next((name for least, name in CATEGORIES if r_factor >= least), REFUSED)


def quality(r_factor: float) -> str:
    """Both in words.

    >>> quality(93.2)
    'MOS 4.4, rated best'
    """
    return f"MOS {mos(r_factor):.1f}, rated {category(r_factor)}"
