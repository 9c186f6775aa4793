"""A paper as a file: settings of its laws, its experiments, and claims as predicates over results."""

from __future__ import annotations

import difflib
import functools
import itertools
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from sojourn.errors import InputError
from sojourn.kinds import shown
from sojourn.reproduce.calculations import calculations, curves
from sojourn.reproduce.figures import Figure, Finding, Table, figures, tables
from sojourn.reproduce.predicate import Predicate, expression, predicate

__all__ = [
    "Claim",
    "Experiment",
    "Name",
    "Paper",
    "Setting",
    "in_variant",
    "labelled",
    "names",
    "parse",
    "read",
    "split",
    "unknown",
]

#: What stands in the place of a law to see whether a claim is about that law.
CONTROLS = ("tail_drop", "pi_rule")
#: Labels of the controls.
_CONTROLS_NAMED = {"tail_drop": "tail drop", "pi_rule": "PI by its rule"}
#: Plants of experiments. Live runs take their time and do not repeat: they run on request alone.
PLANTS = ("packet", "live")
#: Repeats of a live experiment, and with `quick`: as few as an interval over the seeds needs.
REPEATS, QUICK_REPEATS = 5, 3
#: Today's laws with their defaults, which the papers did not have.
TODAY = ("pie", "codel", "fq_codel", "dual", "cake")


@dataclass(frozen=True)
class Setting:
    """One setting of a law."""

    name: str
    #: The qdisc, as `--qdisc` has it.
    qdisc: str
    #: Where it comes from: the paper, a stated rule, a default.
    origin: str
    #: Keys of the scenario that go with it, such as flows without ECN for a law that drops.
    changes: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def instead(self, qdisc: str) -> Setting:
        """Another qdisc under the same changes of the scenario."""
        return replace(self, qdisc=qdisc)

    @functools.cached_property
    def key(self) -> str:
        """The qdisc with its changes: what samples are of."""
        return " with ".join([self.qdisc, *(f"{name}={json.dumps(of)}" for name, of in self.changes.items())])


@dataclass(frozen=True, eq=False)
class Experiment:
    """Runs of one scenario."""

    name: str
    scenario: str
    #: Keys of the scenario that differ from its file.
    changes: Mapping[str, Any]
    #: Windows of time by their names in predicates.
    windows: Mapping[str, str]
    #: Classes of traffic by their names in predicates; several together are so many samples of a seed.
    classes: Mapping[str, str | tuple[str, ...]]
    #: The laws that it runs, names of `Paper.laws`, with the names of their settings.
    laws: Mapping[str, tuple[str, ...]]
    #: The link that is measured; None: the only one.
    link: str | None
    #: Further links by their names in predicates.
    links: Mapping[str, str]
    #: Qdiscs of the controls there, by `CONTROLS`.
    controls: Mapping[str, str]
    seeds: int
    #: With `quick`; 0: it does not run then.
    quick_seeds: int
    #: True if today's laws run there, and with `quick`.
    today: bool = False
    today_quick: bool = False
    #: Packets, or live: the machine's own TCP, whose runs are made on request alone.
    plant: str = "packet"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper."""

    id: str
    item: str
    claim: str
    #: What the paper has.
    says: str
    #: The claim as a predicate; None: it is not run.
    test: Predicate | None
    #: What remains of it where the number or a part is not met.
    partly: Predicate | None
    #: The laws that it is about, in whose place controls stand; none of a calculation.
    about: tuple[str, ...]
    #: True if by the claim these do badly: the controls are laws that should do well.
    fails: bool
    #: Settings of laws that it is about, where these are not all.
    settings: Mapping[str, tuple[str, ...]]
    #: Variants of its experiments, where the paper leaves open which it means: each is a case.
    variants: tuple[str, ...]
    #: Windows, where the paper leaves open which it means: each is a case for the names that have none.
    windows: tuple[str, ...]
    #: The reason why it is not run.
    not_run: str | None
    #: Statements that cannot all hold, and the predicate that shows it.
    contradiction: str | None
    #: What else a reader has to know: an assumption, a mechanism.
    why: str
    #: The claim of the same sentence in another reading, which alone counts; None: it counts itself.
    same_as: str | None = None
    #: A sentence, where its grade is the same whichever laws have the places of those that it names.
    permuted: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper and its claims."""

    name: str
    title: str
    reference: str
    assumed: tuple[str, ...]
    laws: Mapping[str, tuple[Setting, ...]]
    experiments: Mapping[str, Experiment]
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    #: Abbreviations in predicates.
    measures: Mapping[str, str] = field(default_factory=dict)

    @property
    def findings(self) -> list[tuple[str, Finding]]:
        """The findings of future work, each with the item that it stands beside, in the order of the page."""
        items: list[Table | Figure] = [*self.tables, *self.figures]
        return [(one.item, one.finding) for one in items if one.finding is not None]


def names() -> list[str]:
    """Names of the papers."""
    folder = resources.files("sojourn") / "papers"
    return sorted(one.name.removesuffix(".toml") for one in folder.iterdir() if one.name.endswith(".toml"))


def read(name: str) -> Paper:
    """The paper of this name. Raises `InputError` with one line that has the place of the fault."""
    if name not in names():
        raise InputError(unknown(name))
    text = (resources.files("sojourn") / "papers" / f"{name}.toml").read_text(encoding="utf-8")
    return parse(name, tomllib.loads(text))


def unknown(name: str, *further: str) -> str:
    """The message for a name that is neither of a paper nor a further one, with the nearest."""
    near = difflib.get_close_matches(name.lower().replace("-", "_"), [*names(), *further], n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f'"{name}" is no paper; {hint}expected {" or ".join([", ".join(names()), *further])}'


def parse(name: str, given: Mapping[str, Any]) -> Paper:
    """A paper by the keys of its file. Raises `InputError`."""
    laws = {law: tuple(_settings(law, of)) for law, of in given["laws"].items()}
    today = _today(given.get("today", {}), given["experiments"])
    experiments = {one.name: one for one in _experiments(given["experiments"], laws, today)}
    measures = given.get("measures", {})
    claims = tuple(_claim(name, one, laws, experiments, measures=measures) for one in given["claims"])
    _check_readings(claims)
    assumed = tuple(given.get("assumed", ()))
    settings = {law: [one.name for one in of] for law, of in laws.items()}
    drawn = figures(given.get("figures", ()), settings, list(experiments), measures)
    for one in drawn:
        _check_figure(one, name, experiments)
    found = tables(given.get("tables", ()), measures)
    for row, item in ((row, table.item) for table in found for row in table.rows):
        for sample in sorted(expression(row.ours, item, measures).names):
            _check_name(sample, item, name, experiments)
    paper = Paper(
        name, given["title"], given["reference"], assumed, laws, experiments, claims, drawn, found, measures
    )
    for item, finding in paper.findings:
        _check_finding(finding, item, name, experiments)
    return paper


def _check_readings(claims: Sequence[Claim]) -> None:
    """That the claim of a sentence in another reading is one that counts."""
    counted = [one.id for one in claims if one.same_as is None]
    for one in claims:
        if one.same_as is not None and one.same_as not in counted:
            problem = f'"{one.same_as}" is no claim that counts'
            raise InputError(f"{one.id}.same_as: {problem}; expected {', '.join(counted)}")


def _check_figure(of: Figure, paper: str, experiments: Mapping[str, Experiment]) -> None:
    """That the experiments run its laws, and have its windows, classes and metrics."""
    if of.kind == "curves" and of.at[""] not in curves(paper):
        known = ", ".join(curves(paper))
        raise InputError(f'{of.item}.of: "{of.at[""]}" are no curves; expected some of {known}')
    for experiment, (law, _), metric in itertools.product(of.at.values(), of.laws, of.metrics):
        _check_name(f"{experiment}.{law}.{metric}", of.item, paper, experiments)


def _check_finding(of: Finding, item: str, paper: str, experiments: Mapping[str, Experiment]) -> None:
    """That its names are samples, each of one setting."""
    for name in sorted(of.test.names):
        _check_name(name, f"{item}.test", paper, experiments)
        parts = split(name, paper, experiments)
        if parts.law is not None and parts.setting is None:
            known = experiments[parts.of].laws[parts.law]
            if len(known) > 1:
                expected = ", ".join(f"{parts.law}.{setting}" for setting in known)
                raise InputError(f'{item}.test: "{name}" has no setting of the law; expected {expected}')


def _settings(law: str, given: Mapping[str, Mapping[str, Any]]) -> Iterator[Setting]:
    for name, of in given.items():
        if not {"qdisc", "origin"} <= of.keys() <= {"qdisc", "origin", "set"}:
            raise InputError(f"laws.{law}.{name}: expected qdisc and origin, and set or not")
        yield Setting(name, of["qdisc"], of["origin"], of.get("set", {}))


def _today(
    given: Mapping[str, Sequence[str]], experiments: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Sequence[str]]:
    """Experiments, or variants of them, that today's laws run in, and those with `quick`."""
    known = [
        f"{name}.{variant}" if variant else name
        for name, of in experiments.items()
        for variant in of.get("variants", {"": {}})
    ]
    for key, named in given.items():
        if key not in ("experiments", "quick"):
            raise InputError(f"today: {shown(key)} is no key; expected experiments or quick")
        for name in named:
            if not any(name in (one, one.partition(".")[0]) for one in known):
                raise InputError(f'today.{key}: "{name}" is no experiment; expected {", ".join(known)}')
    return given


def _experiments(
    given: Mapping[str, Mapping[str, Any]],
    laws: Mapping[str, Sequence[Setting]],
    today: Mapping[str, Sequence[str]],
) -> Iterator[Experiment]:
    """Each experiment, or each of its variants, ``exp3.n50``, or plants, ``lab.live``."""
    for name, of in given.items():
        plants = _plants(name, of)
        for law in of["laws"]:
            if law not in laws:
                raise InputError(f'experiments.{name}: "{law}" is no law; expected {", ".join(laws)}')
            places = {place for key in ("windows", "links", "classes") for place in of.get(key, {})}
            for one in places.intersection(setting.name for setting in laws[law]):
                raise InputError(
                    f'experiments.{name}: "{one}" is a setting of {law}, too; expected another name'
                )
        variants = of.get("variants", {key: {} for key in plants or ("",)})
        for variant, changes in variants.items():
            own = f"{name}.{variant}" if variant else name
            is_live = "live" in plants and variant == "live"
            yield Experiment(
                name=own,
                scenario=of["scenario"],
                changes={**of.get("set", {}), **changes},
                windows=of.get("windows", {}),
                classes={
                    one: own if isinstance(own, str) else tuple(own)
                    for one, own in of.get("classes", {}).items()
                },
                laws={law: tuple(one.name for one in laws[law]) for law in of["laws"]},
                link=of.get("link"),
                links=of.get("links", {}),
                controls=of["controls"],
                seeds=REPEATS if is_live else of.get("seeds", 10),
                quick_seeds=QUICK_REPEATS if is_live else of.get("quick_seeds", 2),
                today=not {name, own}.isdisjoint(today.get("experiments", ())),
                today_quick=not {name, own}.isdisjoint(today.get("quick", ())),
                plant="live" if is_live else "packet",
            )


def _plants(name: str, given: Mapping[str, Any]) -> Sequence[str]:
    """Plants of an experiment, each an experiment of its own; empty: packets alone."""
    plants: Sequence[str] = given.get("plants", ())
    for one in plants:
        if one not in PLANTS:
            raise InputError(
                f"experiments.{name}.plants: {shown(one)} is no plant; expected {', '.join(PLANTS)}"
            )
    if plants and "variants" in given:
        raise InputError(f"experiments.{name}: has plants and variants; expected one of them")
    return plants


def _claim(
    paper: str,
    given: Mapping[str, Any],
    laws: Mapping[str, Sequence[Setting]],
    experiments: Mapping[str, Experiment],
    *,
    measures: Mapping[str, str],
) -> Claim:
    place = given["id"]
    unknown = given.keys() - {
        *("id", "item", "claim", "says", "test", "partly", "about", "fails", "settings"),
        *("variants", "windows", "not_run", "contradiction", "why", "same_as", "permuted"),
    }
    if unknown:
        raise InputError(f"{place}: {shown(sorted(unknown)[0])} is no key of a claim")
    if ("test" in given) == ("not_run" in given):
        raise InputError(f"{place}: expected test or not_run")
    tests = {
        key: predicate(given[key], f"{place}.{key}", measures) for key in ("test", "partly") if key in given
    }
    for test in tests.values():
        variants = given.get("variants") or (None,)
        for name, variant in itertools.product(sorted(test.names), variants):
            own = in_variant(name, variant, paper, experiments)
            _check_name(own, place, paper, experiments, windows=given.get("windows", ()))
            if split(own, paper, experiments).setting is not None:
                raise InputError(f'{place}: "{name}" names a setting; expected settings = {{ law = [...] }}')
    settings = {law: tuple(of) for law, of in given.get("settings", {}).items()}
    for law, of in settings.items():
        known = [one.name for one in laws.get(law, ())]
        for name in of:
            if name not in known:
                raise InputError(
                    f'{place}.settings: "{name}" is no setting of {law}; expected {", ".join(known)}'
                )
    about = given.get("about", ())
    return Claim(
        id=place,
        item=given["item"],
        claim=given["claim"],
        says=str(given["says"]),
        test=tests.get("test"),
        partly=tests.get("partly"),
        about=tuple([about] if isinstance(about, str) else about),
        fails=given.get("fails", False),
        settings=settings,
        variants=tuple(given.get("variants", ())),
        windows=tuple(given.get("windows", ())),
        not_run=given.get("not_run"),
        contradiction=given.get("contradiction"),
        why=given.get("why", ""),
        same_as=given.get("same_as"),
        permuted=given.get("permuted", ""),
    )


def labelled(paper: Paper, experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Labels and keys of all laws of an experiment: its own, the controls, and today's."""
    for law in experiment.laws:
        for setting in paper.laws[law]:
            yield f"{law}, {setting.name}", setting.key
    for control, label in _CONTROLS_NAMED.items():
        yield label, experiment.controls[control]
    if experiment.today:
        yield from ((one, one) for one in TODAY)


@dataclass(frozen=True)
class Name:
    """A name of a predicate in its parts."""

    #: The experiment, or the calculation.
    of: str
    metric: str
    #: None: a calculation.
    law: str | None = None
    #: None: any that the law has.
    setting: str | None = None
    #: None: the one that is measured.
    link: str | None = None
    window: str | None = None
    traffic_class: str | tuple[str, ...] | None = None


def in_variant(name: str, variant: str | None, paper: str, experiments: Mapping[str, Experiment]) -> str:
    """A name of a predicate with the variant of its experiment or calculation, where it has none."""
    first, _, rest = name.partition(".")
    own = f"{first}.{variant}"
    is_known = own in experiments or own in calculations(paper)
    return f"{own}.{rest}" if is_known and rest.partition(".")[0] != variant else name


def split(name: str, paper: str, experiments: Mapping[str, Experiment]) -> Name:
    """The parts of ``calculation.number`` or ``experiment.law.metric``.

    A calculation may have a variant, as an experiment: ``calculation.variant.number``. Between law and metric
    may be a setting of the law, a link, a window and a class, in this order.

    Raises `InputError`.
    """
    parts = name.split(".")
    calculation, _, number = name.rpartition(".")
    if calculation in calculations(paper):
        return Name(calculation, number)
    for length in (2, 1):
        own = experiments.get(".".join(parts[:length]))
        if own is None or len(parts) < length + 2 or parts[length] not in own.laws:
            continue
        law, *between, metric = parts[length:]
        setting = between.pop(0) if between and between[0] in own.laws[law] else None
        link = between.pop(0) if between and between[0] in own.links else None
        window = between.pop(0) if between and between[0] in own.windows else None
        traffic_class = between.pop(0) if between and between[0] in own.classes else None
        if not between:
            return Name(
                of=own.name,
                metric=metric,
                law=law,
                setting=setting,
                link=own.links.get(link or ""),
                window=window,
                traffic_class=own.classes.get(traffic_class or ""),
            )
    known = ", ".join([*calculations(paper), *experiments])
    raise InputError(
        f'"{name}" is no sample; expected calculation.number or experiment.law.metric of {known}'
    )


def _check_name(
    name: str, place: str, paper: str, experiments: Mapping[str, Experiment], *, windows: Sequence[str] = ()
) -> None:
    try:
        found = split(name, paper, experiments)
    except InputError as error:
        raise InputError(f"{place}: {error.lines[0]}") from None
    if found.law is None:
        return
    known = experiments[found.of].windows
    _check_metric(found, place, windows or ([] if found.window is None else [found.window]), known)
    for window in () if found.window is not None else windows:
        if window not in known:
            expected = ", ".join(known)
            raise InputError(f'{place}.windows: "{window}" is no window of {found.of}; expected {expected}')


def _check_metric(name: Name, place: str, windows: Sequence[str], known: Iterable[str]) -> None:
    """That a sample has this metric: all of windows, those of a run without."""
    from sojourn.result import metrics
    from sojourn.sweep.store import columns

    if name.metric not in metrics.UNITS:
        raise InputError(f'{place}: "{name.metric}" is no metric')
    if name.metric in metrics.LISTS:
        raise InputError(f'{place}: "{name.metric}" has several values a run; expected a metric of one')
    if not windows and (name.metric not in columns() or isinstance(name.traffic_class, tuple)):
        expected = f"one of {', '.join(known)} before it" if known else "an experiment with windows"
        raise InputError(f'{place}: "{name.metric}" is of windows alone here; expected {expected}')
