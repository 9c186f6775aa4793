"""Compact coding of columns: a page has some hundred thousand numbers, decoded by `page.js`.

A column becomes whole multiples of a quantum above its lowest value. The steps from each finite value to the
next are zigzag-coded (0, -1, 1, -2 ... as 0, 1, 2, 3 ...) plus one, and 0 is a gap; each code is written in
groups of seven bits, the lowest first, as WebAssembly and DWARF do (LEB128); the bytes are written in base64.
"""

from __future__ import annotations

import base64

import numpy as np
import numpy.typing as npt

#: Quanta of a column: more than the pixels of any screen, also zoomed in.
QUANTA = 2**14 - 1


def pack(values: npt.NDArray[np.float64]) -> list[float | str]:
    """Encode a column as ``[lowest, quantum, base64]``; `unpack` is the inverse.

    >>> pack(np.array([1.0, 2.0, np.nan, 1.5]))[2]
    'Af//AQCAgAE='
    """
    finite = np.isfinite(values)
    kept = values[finite]
    lowest = float(f"{kept.min():.9g}") if kept.size else 0.0
    quantum = float(f"{(kept.max() - lowest) / QUANTA:.9g}") if kept.size else 0.0
    quanta = np.zeros(kept.size, dtype=np.int64)
    if quantum > 0:
        quanta = np.rint((kept - lowest) / quantum).astype(np.int64)
    steps = np.diff(quanta, prepend=0)
    codes = np.zeros(values.size, dtype=np.int64)
    codes[finite] = np.where(steps >= 0, 2 * steps, -2 * steps - 1) + 1
    return [lowest, quantum, base64.b64encode(_groups(codes)).decode("ascii")]


def unpack(packed: list[float | str]) -> npt.NDArray[np.float64]:
    """Decode a column of `pack`, to half a quantum.

    >>> unpack(pack(np.array([1.0, 2.0, np.nan, 1.5]))).round(3).tolist()
    [1.0, 2.0, nan, 1.5]
    """
    lowest, quantum, text = packed
    values, at, code, shift = [], 0, 0, 0
    for byte in base64.b64decode(str(text)):
        code |= (byte & 127) << shift
        shift += 7
        if byte > 127:
            continue
        if code > 0:
            at += -(code // 2) if code % 2 == 0 else code // 2
        values.append(float(lowest) + float(quantum) * at if code > 0 else np.nan)
        code = shift = 0
    return np.array(values, dtype=np.float64)


def _groups(codes: npt.NDArray[np.int64]) -> bytes:
    """Split codes into seven bits a byte, the lowest first; the top bit marks that more follow."""
    lengths = 1 + (codes >= 2**7).astype(np.int64) + (codes >= 2**14) + (codes >= 2**21)
    ends = np.cumsum(lengths)
    written = np.zeros(int(ends[-1]) if codes.size else 0, dtype=np.uint8)
    for group in range(4):
        has = lengths > group
        more = np.where(lengths[has] > group + 1, 128, 0)
        written[ends[has] - lengths[has] + group] = (codes[has] >> 7 * group & 127) | more
    return written.tobytes()
