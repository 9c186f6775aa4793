"""The shaper of CAKE, from tc-cake(8), "Shaper parameters" and "Overhead compensation parameters",
alone.

In deficit mode a packet leaves at once if the one before it has had its time, and moves the time of
the next one by its own. The size that counts is the packet's with overhead, at least mpu, in ATM
cells of 53 bytes for 48 or PTM blocks of 65 for 64.
"""

from __future__ import annotations

from fractions import Fraction


class Shaper:
    """Times are exact; each decision is a method of its own, so that a mutant can override one."""

    def __init__(self, bits: int, overhead: int, mpu: int, coding: str) -> None:
        self.rate = Fraction(bits, 8 * 10**9)
        self.overhead, self.mpu, self.coding = overhead, mpu, coding
        self.next = Fraction(0)

    def send(self, now: int, length: int) -> Fraction:
        """A packet leaves at `now`, ns, not before `next`; the time of the next one."""
        self.next = self.begin(now) + Fraction(self.size(length)) / self.rate
        return self.next

    def begin(self, now: int) -> Fraction:
        return max(self.next, Fraction(now))

    def size(self, length: int) -> int:
        return self.coded(max(length + self.overhead, self.mpu))

    def coded(self, frame: int) -> int:
        if self.coding == "atm":
            return self.cells(frame) * 53
        return frame + self.cells_of(frame, 64) if self.coding == "ptm" else frame

    def cells(self, frame: int) -> int:
        return self.cells_of(frame, 48)

    def cells_of(self, frame: int, payload: int) -> int:
        return -(-frame // payload)
