"""Options as typed by the user, parsed and checked; an error names the flag and the expected value."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn import files

#: Lists of `sojourn list`.
LISTS = (
    "laws",
    "qdiscs",
    "ccs",
    "apps",
    "links",
    "impairments",
    "profiles",
    "settings",
    "metrics",
    "keys",
    "scenarios",
)

# Bytes of a scenario searched for its title.
_MOST_BYTES = 10_000_000
# Most seeds of --seeds.
_MOST_SEEDS = 100_000


@dataclass(frozen=True)
class RunOptions:
    """The options of `sojourn run`."""

    file: str
    qdiscs: tuple[str, ...]
    cc: str | dict[int, str] | None
    overrides: dict[str, str]
    seeds: Sequence[int]
    plants: tuple[str, ...]
    jobs: int | None
    place: files.Claim | None
    as_json: bool
    quiet: bool
    command: tuple[str, ...]


def seeds(single: str | None, ends: str | None) -> Sequence[int]:
    """Seeds of --seed and --seeds; default: seed 1."""
    if single is not None and ends is not None:
        raise InputError("sojourn run: --seed, --seeds: both are given; expected one of them")
    if single is not None:
        return [_seed(single)]
    return [1] if ends is None else _range(ends)


def jobs(text: str | None) -> int | None:
    """Number of --jobs; None: not given."""
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) < 1:
        raise InputError(f'sojourn run: --jobs: "{text}" is not a number of workers; expected 1 or more')
    return int(text)


def timeout(text: str | None, against: str | None) -> float:
    """Seconds of --timeout, or the default."""
    from sojourn.conform import TIMEOUT_S

    if text is None:
        return TIMEOUT_S
    if against is None:
        raise InputError("--timeout: belongs to a program; expected --against COMMAND with it")
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) or float(text) <= 0:
        raise InputError(f'--timeout: "{text}" is no time; expected seconds above 0, such as 10')
    return float(text)


def overrides(given: Sequence[str]) -> dict[str, str]:
    """Keys and values of --set."""
    found: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise InputError(
                f'--set: "{text}" has no key or no "="; expected KEY=VALUE such as duration="60 s"'
            )
        if key in found:
            raise InputError(f"--set: {key} is given twice; expected each key once")
        found[key] = value.strip()
    return found


def controls(given: Sequence[str]) -> str | dict[int, str] | None:
    """Congestion controls of --cc: one for all flows, or by the places of groups."""
    found: dict[int, str] = {}
    for text in given:
        group = re.fullmatch(r"\s*flows\[([0-9]{1,6})\]\s*=(.*)", text, flags=re.DOTALL)
        if group is None:
            if len(given) > 1 and not text.lstrip().startswith("flows["):
                times = f"and --cc is given {len(given)} times"
                raise InputError(
                    f'--cc: "{text}" is for all flows, {times}; expected once, or flows[0]=SPEC each'
                )
            if text.lstrip().startswith("flows["):
                raise InputError(f'--cc: "{text}" names no group of flows; expected flows[0]=SPEC')
            return text
        place = int(group[1])
        if place in found:
            raise InputError(f"--cc: flows[{place}] is given twice; expected each group once")
        found[place] = group[2].strip()
    return found or None


def folder(text: str) -> Path:
    """Folder of --out."""
    if not text.strip() or "\0" in text:
        raise InputError(f'--out: "{text}" is not a name; expected a folder, new or with an earlier result')
    return Path(text)


def page(text: str | None) -> Path | None:
    """Page of --output."""
    if text is None:
        return None
    if not text.strip() or "\0" in text:
        raise InputError(f'--output: "{text}" is not a name; expected a file such as page.html')
    from sojourn.report import check_name

    path = Path(text)
    check_name(path)
    return path


def result_folder(text: str) -> str:
    """The DIR of `sojourn report`."""
    if not text.strip() or "\0" in text:
        raise InputError(
            f"sojourn report: DIR: \"{text}\" is not a name; expected a folder that 'sojourn run --out' wrote"
        )
    return text


def make_room(place: Path) -> None:
    """Create the folders above the page of --output."""
    from sojourn.report import not_written

    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise not_written(place, error) from None


def extent(
    over: str | None, flows: str | None, rtt: str | None
) -> tuple[tuple[float, float] | None, tuple[float, float] | None] | None:
    """Flows and base RTTs (s) of a map; None without a map."""
    if over is None:
        for flag, given in (("--flows", flows), ("--rtt", rtt)):
            if given is not None:
                raise InputError(f"{flag}: belongs to a map; expected --map N,R with it")
        return None
    if over.replace(" ", "").upper() != "N,R":
        raise InputError(f'--map: "{over}" is not a map; expected N,R')
    from sojourn.prove.region import seconds

    return _ends("--flows", flows, _flows), _ends("--rtt", rtt, seconds)


def listed(kind: str) -> list[dict[str, Any]]:
    """The list of `sojourn list KIND`: objects with at least `name` and `summary`."""
    if kind not in LISTS:
        raise InputError(f'sojourn list: "{kind}" is not a list; expected {", ".join(LISTS)}')
    if kind == "scenarios":
        return _scenarios()
    from sojourn import catalogue

    return catalogue.entries(kind)


def _ends(flag: str, text: str | None, read: Callable[[str], float | None]) -> tuple[float, float] | None:
    """Both ends of a range such as ``10..200``."""
    if text is None:
        return None
    ends = [read(part.strip()) for part in text.split("..")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or not 0 < ends[0] < ends[1]:
        example = "10..200" if flag == "--flows" else "50ms..400ms"
        raise InputError(
            f'{flag}: "{text}" is no range; expected two values above 0, the smaller first, such as {example}'
        )
    return ends[0], ends[1]


def _flows(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def _seed(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,20}", text) or int(text) >= 2**64:
        raise InputError(f'sojourn run: --seed: "{text}" is not a seed; expected 0 to {2**64 - 1}')
    return int(text)


def _range(text: str) -> Sequence[int]:
    found = re.fullmatch(r"([0-9]{1,20})\.\.([0-9]{1,20})", text)
    if not found:
        raise InputError(f'sojourn run: --seeds: "{text}" is not a range; expected A..B such as 1..5')
    first, last = int(found[1]), int(found[2])
    if last >= 2**64:
        raise InputError(f"sojourn run: --seeds: {last} is not a seed; expected 0 to {2**64 - 1}")
    if first > last:
        raise InputError(f'sojourn run: --seeds: "{text}" is empty; expected A..B with A not above B')
    if last - first >= _MOST_SEEDS:
        raise InputError(f'sojourn run: --seeds: "{text}" is too many; expected at most {_MOST_SEEDS} seeds')
    return range(first, last + 1)


def _scenarios() -> list[dict[str, Any]]:
    """Scenarios below ./scenarios by path, and those shipped with Sojourn by name."""
    from sojourn.scenario import gallery

    here = Path("scenarios")
    files = sorted(here.rglob("*.toml"))
    shipped = {name: path for name, path in gallery().items() if (here / f"{name}.toml") not in files}
    return [_scenario_entry(path.as_posix(), path) for path in files] + [
        _scenario_entry(name, path) for name, path in shipped.items()
    ]


def _scenario_entry(name: str, path: Path) -> dict[str, Any]:
    import tomllib

    from sojourn import files

    try:
        title = tomllib.loads(files.read(path, _MOST_BYTES).decode("utf-8")).get("title")
        summary = str(title) if title else "(no title)"
    except (OSError, ValueError):
        summary = "(cannot be read: see 'sojourn check')"
    return {"name": name, "summary": summary, "path": str(path)}
