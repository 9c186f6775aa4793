"""Reading of data files of Flent: of any origin, so each part is checked before it is used."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sojourn import files
from sojourn.errors import InputError
from sojourn.flent.capture import Capture

#: Ending of a data file's name, and the version of its format.
ENDING, VERSION = ".flent.gz", 4
#: Most bytes of a file, and of what it holds; most series and values.
MOST_BYTES, MOST_INSIDE = 200_000_000, 1_000_000_000
MOST_SERIES, MOST_VALUES = 20_000, 50_000_000
AS_WRITTEN = "expected a file that Flent or Sojourn wrote"


def read(path: str | Path) -> Capture:
    """Read a ``.flent.gz``. Raises `InputError` with one line if it is not whole, or no such file."""
    document = _document(path)
    for key in ("metadata", "results", "raw_values"):
        if not isinstance(document.get(key), dict):
            raise InputError(f"{path}: has no {key}; {AS_WRITTEN}")
    version = document.get("version")
    if version != VERSION:
        raise InputError(f"{path}: is of version {_short(version)}; expected {VERSION}")
    times = _times(path, document.get("x_values"))
    results = {name: _values(path, name, of, len(times)) for name, of in document["results"].items()}
    if not results:
        raise InputError(f"{path}: has no series; {AS_WRITTEN}")
    if len(results) > MOST_SERIES or len(times) * len(results) > MOST_VALUES:
        raise InputError(f"{path}: has {len(results)} series of {len(times)} values; {AS_WRITTEN}")
    raw = {name: _raw(path, name, of) for name, of in document["raw_values"].items() if name in results}
    metadata = _metadata(path, document["metadata"])
    return Capture(metadata, times, results, raw, Path(path).name)


def _document(path: str | Path) -> dict[str, Any]:
    """The JSON document in the file."""
    try:
        packed = files.read(path, MOST_BYTES)
    except FileNotFoundError:
        raise InputError(f"{path}: is missing; {AS_WRITTEN}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({files.why(error)}); {AS_WRITTEN}") from None
    if len(packed) > MOST_BYTES:
        raise InputError(f"{path}: is too large; expected at most {MOST_BYTES // 10**6} MB")
    try:
        document = json.loads(_unpacked(path, packed).decode("utf-8"), parse_constant=_no_number)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise InputError(f"{path}: does not hold JSON ({why}); {AS_WRITTEN}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: does not hold a JSON object; {AS_WRITTEN}")
    return document


def _unpacked(path: str | Path, packed: bytes) -> bytes:
    """The content of a gzip file, up to a bound: a small file may unpack to any size."""
    opened = zlib.decompressobj(wbits=31)
    try:
        content = opened.decompress(packed, MOST_INSIDE + 1)
    except zlib.error as error:
        raise InputError(f"{path}: is not gzip ({error}); {AS_WRITTEN}") from None
    if len(content) > MOST_INSIDE:
        raise InputError(f"{path}: unpacks to more than {MOST_INSIDE // 10**9} GB; {AS_WRITTEN}")
    if not opened.eof:
        raise InputError(f"{path}: ends early; expected the whole file")
    return content


def _no_number(_text: str) -> None:
    """NaN and infinities, which JSON has not and Python writes: no value."""


def _metadata(path: str | Path, given: dict[str, Any]) -> dict[str, Any]:
    """The metadata; their parts that are read here have the expected kinds."""
    for key in ("NAME", "TITLE", "T0", "TIME", "NOTE", "HOST", "LOCAL_HOST"):
        if not isinstance(given.get(key), str | None):
            raise InputError(f"{path}: metadata: {key} is no text; {AS_WRITTEN}")
    about = given.get("SERIES_META") or {}
    if not isinstance(about, dict) or not all(isinstance(one, dict | None) for one in about.values()):
        raise InputError(f"{path}: metadata: SERIES_META is no table of series; {AS_WRITTEN}")
    return given


def _times(path: str | Path, given: object) -> tuple[float, ...]:
    if not isinstance(given, list) or not given or not all(map(_is_number, given)):
        raise InputError(f"{path}: x_values are no list of times; {AS_WRITTEN}")
    return tuple(map(float, given))


def _values(path: str | Path, name: str, given: object, count: int) -> tuple[float | None, ...]:
    if not isinstance(given, list) or not all(value is None or _is_number(value) for value in given):
        raise InputError(f'{path}: "{_short(name)}" is no list of numbers; {AS_WRITTEN}')
    if len(given) != count:
        raise InputError(f'{path}: "{_short(name)}" has {len(given)} values; expected {count}, as x_values')
    return tuple(None if value is None else float(value) for value in given)


def _raw(path: str | Path, name: str, given: object) -> Sequence[dict[str, Any]]:
    if not isinstance(given, list) or not all(map(_is_sample, given)):
        raise InputError(f'{path}: raw_values of "{_short(name)}" are no samples; {AS_WRITTEN}')
    return given


def _is_sample(given: object) -> bool:
    return isinstance(given, dict) and all(
        _is_number(given[key]) for key in ("t", "val", "dur") if given.get(key) is not None
    )


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and _is_finite(given)


def _is_finite(given: float) -> bool:
    try:
        return math.isfinite(given)
    except OverflowError:
        return False


def _short(given: object) -> str:
    text = " ".join(str(given).split())
    return text if len(text) <= 60 else f"{text[:60]}..."
