"""Numbers as people read them: which metrics a summary shows, in which unit, with how many digits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sojourn.result import SEEDLESS, Arm, Result, Run
from sojourn.result.statistics import Estimate, difference, estimate

#: Units of time for what is shown, longest first: name, and how many make a second.
TIMES = (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9))
#: Units of rate, highest first: name, and how many make a bit/s.
RATES = (("Gbit/s", 1e-9), ("Mbit/s", 1e-6), ("kbit/s", 1e-3), ("bit/s", 1.0))
#: What stands over the classes whose data cross no link with a disc.
NO_DISC = "no disc on the way"
#: What a plant without randomness gives is taken to be exact to one part in so many.
EXACT = 1000
#: The units that a column may be shown in.
_CHOICES = {"s": TIMES, "ms": TIMES[1:], "Mbit/s": RATES}

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Column:
    """A metric as people read it: its value times `scale`, in `unit`."""

    metric: str
    short: str
    unit: str
    scale: float = 1.0
    #: What it cannot be less or more than, in the unit; None: no end.
    least: float | None = 0
    most: float | None = None

    @property
    def apart(self) -> Column:
        """The column as differences have it: those of percentages are percentage points."""
        return replace(self, unit="pp") if self.unit == "%" else self

    @property
    def long(self) -> str:
        """Name and unit."""
        return f"{self.short}, {self.unit}" if self.unit else self.short


UTILIZATION = Column("utilization", "utilisation", "%", 100, most=100)
QUEUE = Column("queue_mean_packets", "queue mean", "packets")
QUEUE_STD = Column("queue_std_packets", "queue sd", "packets")
SOJOURN = Column("sojourn_mean_s", "sojourn mean", "ms", 1e3)
SOJOURN_P95 = Column("sojourn_p95_s", "sojourn p95", "ms", 1e3)
DROPS = Column("drop_ratio", "drops", "%", 100)
LOST = Column("wire_loss_ratio", "lost on the wire", "%", 100, most=100)
MARKS = Column("mark_ratio", "marks", "%", 100, most=100)
GOODPUT = Column("goodput_bps", "goodput", "Mbit/s", 1e-6)
JAIN = Column("jain_index", "Jain index", "", most=1)
COMPLETION = Column("fct_mean_s", "completion mean", "s")
COMPLETION_P95 = Column("fct_p95_s", "completion p95", "s")
COMPLETED = Column("completed_flows", "completed", "flows")
TURNED_AWAY = Column("turned_away_flows", "turned away", "flows")
ROUND_TRIP = Column("rtt_p95_s", "round trip p95", "ms", 1e3)
ONE_WAY = Column("one_way_p95_s", "one way p95", "ms", 1e3)
DATAGRAMS_LOST = Column("datagram_loss_ratio", "datagrams lost", "%", 100, most=100)
RATING = Column("voice_rating", "voice rating", "", least=None, most=100)
STALLS = Column("stall_ratio", "stalls", "%", 100, most=100)

#: What the metrics begin with that are about the flows of a class from end to end, not about a link.
WHOLE_WAY = (
    "goodput_",
    "jain_",
    "fct_",
    "rtt_",
    "srtt_",
    "one_way_",
    "datagram_",
    "voice_",
    "stall_",
    "completed_",
    "turned_away_",
)

#: What a summary shows, in this order.
COLUMNS = (
    UTILIZATION,
    QUEUE,
    QUEUE_STD,
    SOJOURN,
    SOJOURN_P95,
    DROPS,
    LOST,
    MARKS,
    GOODPUT,
    JAIN,
    COMPLETION,
    COMPLETION_P95,
    COMPLETED,
    TURNED_AWAY,
    DATAGRAMS_LOST,
    RATING,
    STALLS,
)
#: What is told of classes of traffic; the shares of the packets are of those that the class offered.
CLASS_COLUMNS = (
    GOODPUT,
    JAIN,
    COMPLETION,
    COMPLETION_P95,
    COMPLETED,
    TURNED_AWAY,
    ROUND_TRIP,
    ONE_WAY,
    DATAGRAMS_LOST,
    RATING,
    STALLS,
    QUEUE,
    SOJOURN,
    SOJOURN_P95,
    DROPS,
    LOST,
    MARKS,
)
#: What was not always measured: older results lack it.
LATER = (LOST, COMPLETED, TURNED_AWAY, DATAGRAMS_LOST, RATING, STALLS)
#: All that is told of links or of classes.
ALL_COLUMNS = tuple(dict.fromkeys((*COLUMNS, *CLASS_COLUMNS)))
#: The metrics of a short table of classes.
CLASS_BRIEF = (
    "goodput_bps",
    "fct_mean_s",
    "fct_p95_s",
    "completed_flows",
    "turned_away_flows",
    "rtt_p95_s",
    "one_way_p95_s",
    "datagram_loss_ratio",
    "voice_rating",
    "stall_ratio",
    "sojourn_p95_s",
    "drop_ratio",
    "wire_loss_ratio",
)


def views(result: Result) -> Iterator[tuple[str | None, Result]]:
    """Each link with its rows; last, under None, the classes whose data cross no link with a disc.

    What was sampled is left out: there may be thousands of links, and a table of numbers has no need of it.
    """
    rows: dict[str | None, list[Run]] = {}
    for run in result.runs:
        rows.setdefault(run.link, []).append(run)
    bare = replace(result, series=result.series.clear(), distributions=result.distributions.clear())
    for link in result.places:
        yield link, replace(bare, runs=tuple(rows[link]))


def disc_at(result: Result, disc: str, link: str) -> str:
    """What the disc of a run is called at one link: a run of the scenario's own discs has all of them.

    Where several runs are called alike there, each keeps its own name.

    >>> import sojourn as sj
    >>> disc_at(sj.run(sj.load("dumbbell", {"duration": "41 s"})), "pi:target=100 packets", "bottleneck")
    'pi:target=100 packets'
    """
    here = {run.disc: run.disc_here or run.disc for run in result.seen(link)}
    return disc if list(here.values()).count(here[disc]) > 1 else here[disc]


def arm_at(result: Result, arm: Arm, link: str) -> str:
    """What an arm is called at one link."""
    return f"{disc_at(result, arm.disc, link)}{_of_plant(result, arm)}"


def arm_names(result: Result) -> dict[Arm, str]:
    """What to call each arm where there is little room: its disc, and where there are several its plant.

    >>> import sojourn as sj
    >>> result = sj.run(sj.load("dumbbell", {"duration": "41 s"}), discs=["tail_drop", "pi:target=50packets"])
    >>> list(arm_names(result).values())
    ['tail_drop', 'pi']
    """
    called = short_names(result.discs)
    return {arm: f"{called[arm.disc]}{_of_plant(result, arm)}" for arm in result.arms}


def arm_parts(result: Result, *, whole: bool = False) -> dict[Arm, tuple[str, str]]:
    """The same in two parts: the law with its plant, and what is set of it, or the `whole` of that."""
    called = dict(zip(result.discs, result.discs, strict=True)) if whole else short_names(result.discs)
    split = {disc: name.partition(":") for disc, name in called.items()}
    return {arm: (f"{split[arm.disc][0]}{_of_plant(result, arm)}", split[arm.disc][2]) for arm in result.arms}


def _of_plant(result: Result, arm: Arm) -> str:
    """Such as ``, fluid``; nothing where there is one plant."""
    return f", {arm.plant}" if len(result.plants) > 1 else ""


def fitted(result: Result, column: Column, classes: Sequence[str | None] = (None,)) -> Column:
    """The column in the unit in which its largest mean is at least 1: nanoseconds are not 0.000 ms.

    Every quantile of a time has the unit of its mean, so that they can be compared at sight. `classes` are
    those whose means count; None is all traffic together.
    """
    choices = _CHOICES.get(column.unit)
    if choices is None:
        return column
    basis = next((mean for mean in (SOJOURN, COMPLETION) if _kind(mean) == _kind(column)), column)
    plain = replace(basis, scale=1.0)
    means = [scaled(result, arm, plain, one) for arm in result.arms for one in classes]
    largest = max((abs(found.mean) for found in means if found is not None), default=0.0)
    unit, scale = unit_for(largest, choices) if largest > 0 else (column.unit, column.scale)
    return replace(column, unit=unit, scale=scale)


def _kind(column: Column) -> str:
    """What its metric's name begins with, such as ``sojourn``."""
    return column.metric.partition("_")[0]


def class_columns(result: Result) -> list[Column]:
    """What is told of the classes of traffic: the columns that apply to any, in units that fit them."""
    columns = [fitted(result, column, result.classes) for column in CLASS_COLUMNS]
    pairs = [(arm, one) for arm in result.arms for one in result.classes]
    return [column for column in columns if any(scaled(result, arm, column, one) for arm, one in pairs)]


def unit_for(largest: float, choices: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """The first unit in which `largest` is at least 1, and the factor that leads to it; else the last.

    >>> unit_for(0.0004, TIMES)
    ('µs', 1000000.0)
    """
    return next((choice for choice in choices if largest * choice[1] >= 1 - 1e-9), choices[-1])


def short_time(seconds: float) -> str:
    """A time in the unit that fits it.

    >>> short_time(0.0005)
    '500 µs'
    """
    unit, scale = unit_for(seconds, TIMES)
    return f"{seconds * scale:.4g} {unit}"


def short_names(discs: Sequence[str]) -> dict[str, str]:
    """What to call each disc where there is little room: its law, and how it differs from its likes.

    Packets are understood.

    >>> list(short_names(["pi", "red:min=5,max=15 packets", "red:min=5,max=30 packets"]).values())
    ['pi', 'red:max=15', 'red:max=30']
    """
    split = {disc: (disc.partition(":")[0], _settings(disc.partition(":")[2])) for disc in discs}
    found = {}
    for disc, (law, settings) in split.items():
        likes = [other for name, other in split.values() if name == law]
        own = [one for one in settings if one and not all(one in other for other in likes)]
        told = ",".join(own).replace(" packets", "")
        found[disc] = law if len(likes) == 1 or not own else f"{law}:{told}"
    # Where shortening made two of them alike, they keep their whole names.
    return {disc: name if list(found.values()).count(name) == 1 else disc for disc, name in found.items()}


def _seeds_by_arm(result: Result) -> list[int]:
    """Under how many seeds each arm has run; one that knows no seeds does not count, unless all are such."""
    seeds: dict[Arm, set[int]] = {arm: set() for arm in result.arms}
    for run in result.runs:
        seeds[Arm(run.disc, run.plant)].add(run.seed)
    return [len(found) for arm, found in seeds.items() if arm.seeded] or [1]


def _settings(text: str) -> list[str]:
    """Such as ``a=1`` and ``b=[2, 3]``: a comma inside of a list divides nothing."""
    return re.split(r",(?![^\[]*\])", text)


def scaled(result: Result, arm: Arm, column: Column, traffic_class: str | None = None) -> Estimate | None:
    """Mean and interval over the seeds in the column's unit; None where the metric does not apply."""
    found = result.values(arm.disc, column.metric, traffic_class=traffic_class, plant=arm.plant)
    values = [value * column.scale for value in found.values()]
    return estimate(values) if values else None


def column_of(result: Result, metric: str, classes: Sequence[str | None] = (None,)) -> Column:
    """How the summary shows a metric; one that it does not show has its own name and no other unit."""
    result.check_metric(metric)
    known = next((column for column in ALL_COLUMNS if column.metric == metric), None)
    return Column(metric, metric, "", least=None) if known is None else fitted(result, known, classes)


def most_seeds(result: Result) -> int:
    """Under how many seeds a law has run, at most: of a result that is not whole, not all have all."""
    return max(_seeds_by_arm(result))


def seeds_told(result: Result) -> str:
    """Such as ``5 seeds``; where some law has run under fewer, ``up to 5 seeds``."""
    most = most_seeds(result)
    told = "1 seed" if most == 1 else f"{most} seeds"
    return told if min(_seeds_by_arm(result)) == len(result.seeds) else f"up to {told}"


def seedless_told(result: Result) -> str:
    """That some plants have no randomness, in a sentence; empty where there is none of them."""
    names = [plant for plant in result.plants if plant in SEEDLESS]
    return f"The {names[0]} plant has no randomness: one run of each law." if names else ""


def difference_to(result: Result, arm: Arm, baseline: str, column: Column) -> Estimate | None:
    """What `arm` has more than the disc `baseline` in the same plant, seed by seed, in the column's unit.

    None where no seed is common.
    """
    left, right = (
        {
            seed: value * column.scale
            for seed, value in result.values(disc, column.metric, plant=arm.plant).items()
        }
        for disc in (arm.disc, baseline)
    )
    return difference(left, right)


def differs(result: Result, arm: Arm, baseline: str, column: Column) -> bool:
    """Whether `arm` shows a difference to the disc `baseline` in its plant, as `is_clear` has it."""
    return is_clear(arm, difference_to(result, arm, baseline, column), scaled(result, arm, column))


def is_clear(arm: Arm, found: Estimate | None, own: Estimate | None) -> bool:
    """Whether a difference of `arm`, which has `own` itself, is more than chance.

    Over seeds it is where the 95 % interval leaves zero out. In a plant without randomness it is where the
    difference is larger than what equations may be solved with.
    """
    if arm.seeded or found is None:
        return shown(found)
    return own is not None and EXACT * abs(found.mean) > abs(own.mean)


def shown(found: Estimate | None) -> bool:
    """Whether the seeds show a difference: its 95 % interval leaves zero out."""
    if found is None or found.low is None or found.high is None:
        return False
    return found.low > 0 or found.high < 0


def cell(result: Result, arm: Arm, column: Column, traffic_class: str | None = None) -> str:
    """Such as ``285.8 ± 1.3``; empty where the metric does not apply."""
    found = scaled(result, arm, column, traffic_class)
    if found is None:
        return ""
    # A count of one run has no decimals.
    return f"{found.mean:.0f}" if column.unit == "flows" and found.half is None else with_half(found)


def with_half(found: Estimate) -> str:
    """Mean and half-width, with as many digits as the half-width deserves."""
    digits = decimals(found)
    if found.half is None:
        return f"{found.mean:.{digits}f}"
    half = f"{found.half:.{digits}f}"
    if found.half > 0 and float(half) == 0:
        half = f"<{10**-digits:.{digits}f}"
    return f"{found.mean:.{digits}f} ± {half}"


def with_sign(found: Estimate) -> str:
    """The same of a difference, with its sign."""
    text = with_half(found)
    if float(text.partition(" ")[0]) == 0:
        return text.removeprefix("-")
    return ("+" if found.mean > 0 else "") + text.replace("-", "\u2212")


def decimals(found: Estimate) -> int:
    """Two digits of the half-width, or four of the mean where there is no interval; 0 to 3 decimals."""
    if found.half:
        digits = 1 - math.floor(math.log10(found.half))
    else:
        digits = 3 - math.floor(math.log10(abs(found.mean))) if found.mean else 0
    return min(3, max(0, digits))


def seconds(text: object) -> float | None:
    """A time such as ``"20 ms"`` in seconds; None where the text is not one.

    >>> seconds("20 ms")
    0.02
    """
    found = (
        re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([a-zµ]+)\s*", text)
        if isinstance(text, str)
        else None
    )
    if not found or found[2] not in _SECONDS:
        return None
    try:
        return float(found[1]) * _SECONDS[found[2]]
    except ValueError:
        return None
