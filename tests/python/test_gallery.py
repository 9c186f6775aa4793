"""The gallery: each scenario runs and lets every class through; papers run with every law."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sojourn as sj
from sojourn import catalogue
from sojourn.result import Row
from sojourn.scenario import gallery

NAMES = list(gallery())


def head_of(name: str) -> str:
    """The comment at its top, as one line."""
    return re.sub(r"\n# *", " ", gallery()[name].read_text(encoding="utf-8").partition("\ntitle ")[0])


#: Shortened duration, seconds; all times are scaled, so that a change in the middle stays there.
SHORT_S = 6.0
#: The folders of papers.
PAPERS = ("arm_pfc/", "cpc/", "fb_ocq/", "pi_pd/", "sqm/")
#: Scenarios whose titles state rather than ask: the first one to see, and those with a peer's answer.
STATEMENTS = re.compile(r"dumbbell|peers/")
#: Range from the shortest to the longest, as in `sojourn check` and in heads.
RANGE = re.compile(r"([\d.]+ m?s) to ([\d.]+ m?s)")
ROUND_TRIPS = re.compile(rf"round[- ]trips?(?: times?)?,? (?:of )?{RANGE.pattern}")
#: Laws that do not run without parameters.
THRESHOLDS = {law: f"{law}:min=5packets,max=15packets" for law in ("red", "choke")}
LAWS = [THRESHOLDS.get(entry["name"], entry["name"]) for entry in catalogue.entries("laws")]


def test_there_are_enough_scenarios() -> None:
    assert len(NAMES) >= 35


@pytest.mark.parametrize("name", NAMES)
def test_its_title_is_a_question_or_a_finding(name: str) -> None:
    title = sj.load(name).title
    assert bool(STATEMENTS.match(name)) != title.endswith("?"), title


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_and_every_class_gets_something(name: str) -> None:
    runs = short_runs(name)
    assert_conserved(runs)
    goodput: dict[str, float] = {}
    for run in runs:
        who = run.traffic_class or ""
        # A link that a class does not cross has no figure for it.
        if run.metrics["goodput_bps"] is not None:
            goodput[who] = goodput.get(who, 0.0) + number(run, "goodput_bps")
    assert min(goodput.values()) > 0.0, goodput
    groups = len(document(name)["flows"])
    assert groups == 1 or len(goodput) > groups, "a class has no row with goodput"


@pytest.mark.parametrize("name", [name for name in NAMES if "[[at]]" in gallery()[name].read_text()])
def test_each_of_its_changes_changes_something(name: str, tmp_path: Path) -> None:
    text = gallery()[name].read_text(encoding="utf-8")
    whole = [run.metrics["queue_mean_packets"] for run in short_runs(name)]
    for change in re.findall(r"(?m)^\[\[at\]\]\n(?:(?!\[).*\n?)*", text):
        without = tmp_path / "without.toml"
        without.write_text(text.replace(change, ""), encoding="utf-8")
        scenario = sj.load(without, shortened(tomllib.loads(without.read_text(encoding="utf-8"))))
        assert [run.metrics["queue_mean_packets"] for run in sj.run(scenario, seeds=[1]).runs] != whole, (
            change
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(PAPERS)])
def test_a_papers_scenario_runs_with_every_law(name: str) -> None:
    runs = short_runs(name, LAWS)
    assert len({run.qdisc for run in runs}) == len(LAWS)
    assert_conserved(runs)
    assert all(number(run, "bottleneck_packets") > 0.0 for run in runs)


@pytest.mark.parametrize("name", NAMES)
def test_the_laws_and_settings_in_its_head_are_valid(name: str) -> None:
    head = head_of(name)
    # Arguments of --qdisc and --set, with or without quotation marks.
    laws = [
        quoted or plain for quoted, plain in re.findall(r"--qdisc (?:\"([^\"]+)\"|([\w:=.,/-]*\w))", head)
    ]
    settings = re.findall(r"--set (?:\"([\w.\[\]]+=[^\"]+)\"|([\w.\[\]]+=(?:\"[^\"]+\"|[\w.]*\w)))", head)
    for key, value in ((quoted or plain).split("=", 1) for quoted, plain in settings):
        sj.load(name, {key: value})
    assert len(settings) == head.count("--set "), settings
    assert len(laws) == head.count("--qdisc "), laws
    assert_conserved(short_runs(name, laws) if laws else [])


@pytest.mark.parametrize("name", [name for name in NAMES if ROUND_TRIPS.search(head_of(name))])
def test_its_round_trips_are_those_of_its_head(name: str) -> None:
    text = sj.load(name).describe()
    _, found, base = text.partition("\nbase RTT ")
    assert found, text
    # A line for each class, up to the next heading.
    own = re.split(r"\n(?! )", base)[0].splitlines()
    assert {tuple(RANGE.findall(line)[0]) for line in own} == set(ROUND_TRIPS.findall(head_of(name))), own


def test_its_page_has_every_folder(root: Path) -> None:
    page = (root / "docs/scenarios.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"<!-- insert gallery (\w+) -->", page))
    assert shown == {name.split("/")[0] for name in NAMES} - {"dumbbell"}


def short_runs(name: str, qdiscs: list[str] | None = None) -> list[Row]:
    scenario = sj.load(name, shortened(document(name)))
    result = sj.run(scenario, seeds=[1]) if qdiscs is None else sj.run(scenario, qdiscs=qdiscs, seeds=[1])
    return list(result.runs)


def assert_conserved(runs: list[Row]) -> None:
    for run in runs:
        packets = run.conservation
        gone = packets["delivered"] + packets["dropped"] + packets["held"]
        assert packets["offered"] == gone, (run.qdisc, run.link, packets)


def number(run: Row, metric: str) -> float:
    value = run.metrics[metric]
    assert isinstance(value, float | int), (run.link, metric, value)
    return float(value)


def document(name: str) -> dict[str, Any]:
    return tomllib.loads(gallery()[name].read_text(encoding="utf-8"))


def shortened(text: dict[str, Any]) -> dict[str, str]:
    """The times of a scenario, all scaled in the same proportion."""
    factor = min(1.0, SHORT_S / seconds(text["duration"]))
    return {key: scaled(value, factor) for key, value in times(text)}


def times(text: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys that are a time of the run, with their values."""
    for key in ("duration", "warmup"):
        if key in text:
            yield key, text[key]
    for table, keys in (("flows", ("start", "stop")), ("at", ("time", "every", "until"))):
        for place, entry in enumerate(text.get(table, [])):
            yield from ((f"{table}[{place}].{key}", entry[key]) for key in keys if key in entry)
    for place, group in enumerate(text["flows"]):
        if "every" in group.get("arrivals", {}):
            yield f"flows[{place}].arrivals.every", group["arrivals"]["every"]


def scaled(value: str | dict[str, list[str]], factor: float) -> str:
    """As TOML: a time, or a table of two."""
    if isinstance(value, str):
        return f'"{seconds(value) * factor:.9f} s"'
    ((how, ends),) = value.items()
    return f"{{ {how} = [{', '.join(scaled(end, factor) for end in ends)}] }}"


def seconds(text: str) -> float:
    size, unit = text.split()
    return float(size) * {"s": 1.0, "ms": 1e-3}[unit]
