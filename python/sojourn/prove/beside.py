"""What stands beside a certificate: maps, a comparison with the plants, large deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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

    def to_dict(self) -> dict[str, Any]:
        """For JSON, what is there by the keys of the document."""
        keys = {
            "map": self.region,
            "margin_map": self.margins,
            "check": self.check,
            "check_map": self.grid,
            "deviations": self.large,
        }
        return {key: found.to_dict() for key, found in keys.items() if found is not None}
