"""Writing of captures as data files of Flent."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from sojourn import files
from sojourn.errors import InputError
from sojourn.flent.capture import Capture
from sojourn.flent.reading import ENDING, VERSION

if TYPE_CHECKING:
    from sojourn.result import Result, Variant

#: Version of Flent whose files these follow.
FLENT_VERSION = "2.3.0"


def content(capture: Capture) -> bytes:
    """The bytes of a data file, the same for the same capture."""
    document = {
        "metadata": dict(capture.metadata),
        "raw_values": {name: list(of) for name, of in capture.raw_values.items()},
        "results": {name: list(of) for name, of in capture.results.items()},
        "version": VERSION,
        "x_values": list(capture.x_values),
    }
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return gzip.compress(text.encode("utf-8", "replace"), mtime=0)


def file_name(capture: Capture, qdisc: str, variant: Variant, seed: int) -> str:
    """Name of the file of a run; `qdisc` is that of its qdisc in names of files.

    >>> from sojourn.result import Variant
    >>> file_name(Capture({"NAME": "tcp_nup"}, [], {}, {}), "pi", Variant("pi", "packet"), 1)
    'tcp_nup.pi.seed1.flent.gz'
    """
    plant = "" if variant.plant == "packet" else f".{variant.plant}"
    return f"{capture.test}.{qdisc}{plant}.seed{seed}{ENDING}"


def write(places: Sequence[tuple[Path, Capture]]) -> None:
    """Write files, each whole or not at all. Raises as `report.put_bytes`."""
    from sojourn.report import put_bytes

    for path, capture in places:
        put_bytes(path, content(capture))


def write_all(result: Result, folder: Path, packets: Path | None) -> list[Path]:
    """Write the file of each run of a result into a folder, which is made; their paths."""
    from sojourn.flent import export

    table = None if packets is None else _packets(packets)
    names = dict(zip(result.qdiscs, files.parts_of_names(result.qdiscs), strict=True))
    places = []
    for variant, seed in export.runs(result):
        own = None
        if table is not None and variant.plant == "packet":
            own = table.filter(pl.col("qdisc") == variant.qdisc, pl.col("seed") == seed).collect()
        capture = export.capture(result, variant, seed, own)
        places.append((folder / file_name(capture, names[variant.qdisc], variant, seed), capture))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({files.why(error)}); expected a folder") from None
    write(places)
    return [path for path, _ in places]


#: Columns of the packets that are read.
_COLUMNS = (
    *("qdisc", "seed", "link", "time_s", "sojourn_s", "fate", "flow", "class", "connection", "forward"),
    *("payload_bytes", "seq"),
)


def _packets(path: Path) -> pl.LazyFrame:
    """The table of packets of a record. Raises `InputError` for another file."""
    try:
        table = pl.scan_parquet(path)
        lacking = [name for name in _COLUMNS if name not in table.collect_schema()]
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        why = " ".join(str(error).split())
        raise InputError(f"packets: {path} is no table ({why}); {_RECORDED}") from None
    if lacking:
        raise InputError(f"packets: {path} has no column {lacking[0]}; {_RECORDED}")
    return table.select(_COLUMNS)


_RECORDED = "expected the packets.parquet of a record"
