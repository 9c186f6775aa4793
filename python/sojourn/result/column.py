"""A column of a table of metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Column:
    """A metric for display: its value times `scale`, in `unit`."""

    metric: str
    short: str
    unit: str
    scale: float = 1.0
    #: Display bounds, in the unit; None: unbounded.
    least: float | None = 0
    most: float | None = None

    @property
    def apart(self) -> Column:
        """The column for differences: those of percentages are percentage points."""
        return replace(self, unit="pp") if self.unit == "%" else self

    @property
    def long(self) -> str:
        """Name and unit."""
        return f"{self.short}, {self.unit}" if self.unit else self.short
