"""What stands beside a certificate: maps, a comparison with the plants, large deviations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sojourn.prove.words import listed

if TYPE_CHECKING:
    from sojourn.deviations import Deviations
    from sojourn.prove.margins import MarginMap
    from sojourn.prove.region import Region
    from sojourn.validity import Validity
    from sojourn.validity.grid import ValidityMap


@dataclass
class Beside:
    """What stands beside a certificate; None: it is not there."""

    region: Region | None = None
    margins: MarginMap | None = None
    check: Validity | None = None
    grid: ValidityMap | None = None
    large: Deviations | None = None
    #: Reasons of what was requested and is not there, by the keys of the document.
    not_shown: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For JSON, what is there by the keys of the document."""
        keys = {
            "map": self.region,
            "margin_map": self.margins,
            "check": self.check,
            "check_map": self.grid,
            "deviations": self.large,
        }
        document: dict[str, Any] = {key: found.to_dict() for key, found in keys.items() if found is not None}
        return document | ({"not_shown": self.not_shown} if self.not_shown else {})

    def remarks(self) -> list[str]:
        """A line for each reason of what is not there."""
        kinds: dict[str, list[str]] = {}
        for key, reason in self.not_shown.items():
            kinds.setdefault(reason, []).append(NAMES[key])
        return [f"Not shown: {listed(names)}, as {reason}." for reason, names in kinds.items()]


#: What the keys of the document are, in a sentence.
NAMES = {
    "map": "the map",
    "margin_map": "the map of margins",
    "check": "the check",
    "check_map": "the map of the check",
    "deviations": "large deviations",
}
