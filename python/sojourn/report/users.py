"""What users notice, first on the page: a sentence and a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sojourn.report import wording
from sojourn.report.claims import Comparison
from sojourn.report.service import ALIKE, Noticed, service
from sojourn.result import Result, Variant
from sojourn.result.experience import Experience, experiences, outcomes
from sojourn.result.statistics import Estimate

#: Width of the picture, inches, and panels side by side, for pages of several widths.
PANELS = {"wide": (14.5, 3), "middle": (8.8, 2), "narrow": (5.1, 1)}
#: Most panels; the rest is named.
MOST_PANELS = 9


def applies(result: Result) -> bool:
    """True if the page begins with what users notice."""
    return len(result.variants) > 1 and bool(experiences(result))


def headline(result: Result, baseline: str, *, listed: bool = True) -> str:
    """What the qdisc that serves users best changes against `baseline`, and what users have under the others.

    These are left out unless `listed`.
    A change is claimed only where the seeds show it. Empty without another qdisc or what users notice.
    """
    found = service(result)
    first = next((one for one in result.variants if one.qdisc == baseline), None)
    others = [one for one in result.variants if one != first]
    if first is None or not others or found is None:
        return ""
    best, *further = (one for one in found.order if one != first)
    names = found.names
    rest = [_listing(names[one], one, found.noticed) for one in further[: wording.NAMED]]
    if not listed:
        rest = []
    elif len(further) > wording.NAMED:
        rest.append(f"{wording.counted(len(further) - wording.NAMED, 'more qdisc')} below.")
    seeds = wording.common_seeds(*(one for _, one in found.noticed))
    return wording.joined(_change(names, (first, best), found.noticed), *rest, seeds)


def section(result: Result) -> str:
    """The picture: a panel for each metric, a bar for each qdisc."""
    from sojourn.plot import intervals, style
    from sojourn.report.parts import not_drawn, pictures

    found = [*experiences(result), *outcomes(result)]
    served = service(result) if len(result.plants) == 1 else None
    order = result.variants if served is None else served.order
    shown, left = found[:MOST_PANELS], found[MOST_PANELS:]
    drawn = {}
    for kind, (width, most) in PANELS.items():
        down = math.ceil(len(shown) / most)
        across = math.ceil(len(shown) / down)
        height = 0.75 + 0.27 * len(result.variants)
        _, axes = style.figure((width, height * down), down, across, apart=0.06, above=0.12)
        for ax in axes[len(shown) :]:
            ax.remove()
        for place, (ax, one) in enumerate(zip(axes, shown, strict=False)):
            style.quieten(ax, "x")
            intervals.bars(
                ax, result, one.column, one.traffic_class, remark=one.remark, level=one.idle, order=order
            )
            ax.set_title(style.plain(_title(one)), loc="left", color=style.INK, fontsize=10)
            if place % across:
                ax.set_yticklabels([])
        drawn[kind] = axes[0]
    rest = not_drawn([f"{one.noun} of {one.traffic_class}" for one in left])
    alt = "What users notice under each qdisc: " + ", ".join(map(_title, shown)) + "."
    return f'<figure id="users">{pictures("users", alt, drawn)}\n{rest}</figure>\n'


def _title(one: Experience) -> str:
    """Such as ``ping: p95 ping, ms - less is better, idle 40.2``."""
    idle = "" if one.idle is None else f", idle {one.idle:.3g}"
    return f"{one.title} \N{EN DASH} {one.better}{idle}"


def _change(names: dict[Variant, str], pair: tuple[Variant, Variant], noticed: Sequence[Noticed]) -> str:
    """Sentences on the second of two qdiscs against the first, as far as the seeds go."""
    both_have = [(one, found) for one, found in noticed if all(variant in found.means for variant in pair)]
    lacking = [f"{one.noun} of {one.traffic_class}" for one, found in noticed if pair[1] not in found.means]
    if not both_have:
        return ""
    without = f"{names[pair[1]]} has no {wording.both(lacking)}." if lacking else ""
    return wording.joined(_compared(names, pair, both_have), without)


def _compared(names: dict[Variant, str], pair: tuple[Variant, Variant], both_have: list[Noticed]) -> str:
    """The same of what both have."""
    first, best = (names[variant] for variant in pair)
    if max(found.seeds for _, found in both_have) == 1:
        values = wording.both([_measured(pair, *one) for one in both_have])
        return f"One seed, from {first} to {best}: {values}. Run five or more seeds for intervals."
    if all(_is_alike(pair, found) for _, found in both_have):
        return f"Against {first}, {best} changes nothing that users notice by more than {100 * ALIKE:g} %."
    return _shown(names, pair, both_have)


def _shown(names: dict[Variant, str], pair: tuple[Variant, Variant], noticed: Sequence[Noticed]) -> str:
    """What is better under the second of two qdiscs, what is worse, and what is not shown to differ."""
    first, best = pair
    lower: list[str] = []
    higher: list[str] = []
    worse: list[str] = []
    alike: dict[str, list[str]] = {}
    for one, found in noticed:
        is_less, is_more = found.less(best, first), found.less(first, best)
        change = f"from {_values(pair, one, found, 'to')}"
        what = f"the {one.noun} of {one.traffic_class}"
        if not (is_less or is_more):
            if found.seeds:
                some = alike.setdefault(wording.too_few(found), [])
                some.append(f"{what} ({_both(pair, one, found)})")
        elif is_more != one.more:
            worse.append(f"{what} {'rises' if is_more else 'falls'} {change}")
        else:
            (higher if is_more else lower).append(f"{what} {change}")
    parts = [f"{verb} {wording.both(some)}" for verb, some in (("lowers", lower), ("raises", higher)) if some]
    better = " and ".join(parts) or "is not shown to improve what users notice"
    less = f"{wording.both(worse)}." if worse else ""
    same = " ".join(f"{few} distinguish {wording.both(some)}." for few, some in alike.items())
    return wording.joined(
        f"Against {names[first]}, {names[best]} {better}.",
        less[:1].upper() + less[1:],
        same[:1].upper() + same[1:],
    )


def _is_alike(pair: tuple[Variant, Variant], found: Comparison) -> bool:
    """True if the two qdiscs are shown to differ by less than 5 %."""
    margin = ALIKE * max(abs(found.means[variant].mean) for variant in pair)
    return found.alike(*pair, margin=margin)


def _measured(pair: tuple[Variant, Variant], one: Experience, found: Comparison) -> str:
    """Text such as ``p95 ping of ping 642 to 19.8 ms``."""
    return f"{one.noun} of {one.traffic_class} {_values(pair, one, found, 'to')}"


def _listing(name: str, one: Variant, noticed: Sequence[Noticed]) -> str:
    """What users have under one qdisc."""
    facts = [
        f"{of.noun} {_value(of, found.means[one])}"
        for of, found in noticed
        if one in found.means and of.is_wait
    ]
    return f"{name}: {', '.join(facts)}." if facts else ""


def _values(pair: tuple[Variant, Variant], one: Experience, found: Comparison, between: str) -> str:
    """Both values, such as ``2.09 to 0.244 s``."""
    before, after = (found.means[variant] for variant in pair)
    form = wording.distinguishing(wording.plain, before, [(pair[1], after)])
    unit = f" {one.column.unit}" if one.column.unit else ""
    return f"{form(before)} {between} {form(after)}{unit}"


def _both(pair: tuple[Variant, Variant], one: Experience, found: Comparison) -> str:
    """Both values as they are, such as ``39.2 and 11.1 Mbit/s``."""
    unit = f" {one.column.unit}" if one.column.unit else ""
    return f"{' and '.join(wording.plain(found.means[variant]) for variant in pair)}{unit}"


def _value(one: Experience, found: Estimate) -> str:
    """Text such as ``0.244 s``."""
    remark = one.remark(found.mean)
    unit = f" {one.column.unit}" if one.column.unit else ""
    return f"{wording.plain(found)}{unit}{f' ({remark})' if remark else ''}"
