"""Arguments of a wrong kind: every public function raises one of our errors, in a line that names it.

Signatures are read from the functions, so a new function or argument needs no line here, except for the
arguments of a valid call.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sojourn as sj
from sojourn.conform import TracedLaw
from sojourn.errors import ArgumentError, SojournError

ROOT = Path(__file__).resolve().parents[2]
#: Public modules.
HOMES = (
    "sojourn",
    "sojourn.catalogue",
    "sojourn.conform",
    "sojourn.laws",
    "sojourn.plot",
    "sojourn.scenario",
    "sojourn.theorems",
)
#: Values that few arguments take; lone surrogates and zeros are invalid in names.
WRONG = {
    "whole": 5,
    "negative": -1,
    "nan": float("nan"),
    "infinite": float("inf"),
    "huge": 10**400,
    "flag": True,
    "bytes": b"x",
    "list": [],
    "nested": [[None]],
    "dict": {1: 2},
    "object": object(),
    "function": len,
    "module": sj,
    "array": np.array([1.0, 2.0]),
    "surrogate": "\ud800",
    "NUL": "a\0b",
    "empty": "",
}
HEADER = {
    "trace": 1,
    "law": "tail_drop",
    "params": {},
    "about": "a packet",
    "link": {"rate_bps": 1e6, "packet_bytes": 1000, "limit_packets": 20},
}


class Mine(sj.Controller):
    period = "10 ms"
    g = 1e-4
    most: float | None = 1.0
    mode = "slow"
    strict = False

    def update(self, _seen):
        return 0.0


class Aims(Mine):
    target = 100.0


class Judge(sj.Law):
    g = 0.1

    def on_departure(self, _departure):
        return None


class Curve(sj.CongestionControl):
    g = 0.1

    def on_ack(self, _ack):
        return 14600.0

    def on_signal(self, _signal):
        return 14600.0


@pytest.fixture(scope="module")
def things() -> dict[str, Any]:
    """Arguments of valid calls by name, and objects whose methods are called."""
    scenario = sj.load("dumbbell", {"duration": "41 s"})
    classes = sj.run(sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"}))
    trace = str(ROOT / "vectors" / "tail_drop" / "rate_stall.jsonl")
    certificate = sj.prove(scenario, "pi")
    arguments = {
        "scenario": scenario,
        "result": classes,
        "link": "bottleneck",
        "traffic_class": "bulk",
        "qdisc": "tail_drop",
        "metric": "utilization",
        "plant": "packet",
        "kind": "laws",
        "points": 10,
        "law": None,
        "verdicts": [],
        "command": "true",
        "w": 60,
        "mu": 50,
        "a": 1,
        "r": 0.2,
        "capacity": 1000,
        "weights": [1500, 1000],
        "rtts": [0.1, 0.15],
        "line": "{}",
        "text": "{}",
        "labels": ["a"],
        "option": "qdisc",
        "header": HEADER,
        "model": "linearised",
        "call": {"call": "idle", "now_ns": 0},
    }
    objects = [classes, classes.plot, certificate, certificate.plot, TracedLaw(HEADER)]
    return {"arguments": arguments, "objects": objects, "trace": trace}


def functions(things: dict[str, Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function and class, and the public methods of their results."""
    for home in HOMES:
        module = importlib.import_module(home)
        for name in module.__all__:
            value = getattr(module, name)
            public_class = inspect.isclass(value) and not issubclass(value, Exception) and home != "sojourn"
            if inspect.isfunction(value) or (public_class and name not in UNCHECKED):
                yield f"{home}.{name}", value
    yield "sojourn.prove", sj.prove
    for thing in things["objects"]:
        for name in dir(type(thing)):
            static = inspect.getattr_static(type(thing), name)
            if name[0] != "_" and (inspect.isfunction(static) or isinstance(static, classmethod)):
                yield f"{type(thing).__name__}.{name}", getattr(thing, name)


#: Protocols, unions and classes constructed internally.
UNCHECKED = ("Difference", "QdiscSpec", "Scenario", "ScenarioError", "Setting")
#: A map of checks that takes little time where an argument is valid.
SHORT = {"flows": (40, 60), "rtt_s": (0.1, 0.2), "points": 2, "seeds": [1]}
#: Functions whose first argument is a file of another kind.
OF_TRACES = ("against", "compare", "replay")


@pytest.mark.usefixtures("undrawn")
def test_every_public_function_names_an_argument_of_a_wrong_kind(
    things: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    warnings.simplefilter("ignore")
    errors, checked = [], set()
    for label, function in functions(things):
        arguments = things["arguments"]
        name = label.rpartition(".")[2]
        if name in OF_TRACES:
            arguments = arguments | {"path": things["trace"]}
        elif name == "load":
            arguments = arguments | {"path": "dumbbell"}
        elif name in ("explain", "check_metric"):
            arguments = arguments | {"name": "utilization"}
        elif name in ("check_class", "check_link", "check_plant", "check_qdisc"):
            arguments = arguments | {
                "name": {
                    "class": "bulk",
                    "link": "bottleneck",
                    "plant": "packet",
                    "qdisc": arguments["result"].qdiscs[0],
                }[name[6:]]
            }
        else:
            arguments = arguments | {"path": str(tmp_path / "page.html"), "folder": str(tmp_path / "out")}
        parameters = inspect.signature(function).parameters.values()
        named = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        given = {one.name: arguments[one.name] for one in named if one.default is one.empty}
        given |= {one.name: SHORT[one.name] for one in named if name == "check_map" and one.name in SHORT}
        for one in named:
            checked.add(f"{label}({one.name})")
            for kind, value in WRONG.items():
                try:
                    function(**given | {one.name: value})
                except SojournError as error:
                    lines = error.lines
                    if not (1 <= len(lines) <= 3) or any("\n" in line or len(line) > 900 for line in lines):
                        errors.append(f"{label}({one.name}={kind}): {lines}")
                    names = {one.name, one.name.rstrip("s"), "--" + one.name, name.removeprefix("check_")}
                    if isinstance(error, ArgumentError) and not any(
                        word in str(error) for word in names | {"qdisc"}
                    ):
                        errors.append(f"{label}({one.name}={kind}): not named: {error}")
                except Exception as error:
                    errors.append(f"{label}({one.name}={kind}): {type(error).__name__}: {error}")
    assert not errors, "\n".join(errors)
    expected = {
        "Plots.queue(ax)",
        "sojourn.load(overrides)",
        "sojourn.run(jobs)",
        "Certificate.region(points)",
    }
    assert (
        expected | {"Plots.map(region)", "sojourn.conform.against(timeout_s)", "sojourn.laws.Pi(target)"}
        <= checked
    )


@pytest.mark.parametrize("ax", [5, "x", [], object()])
def test_invalid_axes_are_named(things: dict[str, Any], ax: object) -> None:
    result, _, certificate = things["objects"][:3]
    for plot in (
        result.plot.queue,
        result.plot.network,
        result.plot.classes,
        certificate.plot.bode,
        certificate.plot.map,
    ):
        with pytest.raises(sj.InputError, match=r"^ax: .* is not Matplotlib axes; expected such as "):
            plot(ax=ax)


@pytest.mark.parametrize("value", [np.array([1, 2]), np.array([1.0]), [1], {}, None, b"60 s", object(), 1j])
def test_an_invalid_change_is_named(value: object) -> None:
    with pytest.raises(sj.InputError, match=r"^duration: ") as caught:
        sj.load("dumbbell", {"duration": value})
    assert len(caught.value.lines) == 1


@pytest.mark.parametrize("kind", [Mine, Judge, Curve])
@pytest.mark.parametrize("value", ["x", b"x", None, [], np.array([1.0, 2.0]), True, object(), 10**400])
def test_a_parameter_of_a_wrong_kind_is_named(kind: type, value: object) -> None:
    message = rf"^{kind.__name__}: g: .* expected such as 0\.1$"
    with pytest.raises(sj.InputError, match=message):
        kind(g=value)


def test_a_parameter_is_of_its_defaults_kind_unless_annotated() -> None:
    assert Mine(g=np.float32(0.5)).g == 0.5
    assert Mine(g=2).g == 2
    assert Mine(most=None).most is None
    for name, value in (("mode", 3), ("strict", 1), ("strict", "yes")):
        with pytest.raises(sj.InputError, match=rf"^Mine: {name}: "):
            Mine(**{name: value})
    # ArgumentError is a TypeError, as for any wrong argument.
    with pytest.raises(TypeError):
        Mine(g="x")
    with pytest.raises(sj.InputError, match=r"^Mine has no parameter h; "):
        Mine(h=1)


def test_a_schedule_sets_values_of_the_parameters_kind(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    change = '[[at]]\ntime = "5 s"\nset = { "bottleneck.qdisc.target" = "50 packets" }\n'
    file.write_text((ROOT / "scenarios" / "dumbbell.toml").read_text() + change)
    with pytest.raises(
        sj.InputError,
        match=r"Aims does not take what \[\[at\]\] sets: .*target: '50 packets' is not a number",
    ):
        sj.run(sj.load(file), Aims())


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint64])
def test_numbers_of_numpy_are_numbers(kind: type) -> None:
    scenario = sj.load(
        "dumbbell", {"flows[0].count": np.int64(5), "flows[0].ecn": np.True_, "duration": "41 s"}
    )
    result = sj.run(scenario, sj.laws.Pi(a=kind(1), b=0.5), seeds=np.arange(1, 3), jobs=np.int64(1))
    assert result.seeds == [1, 2]
    assert result.qdiscs[0].startswith("pi:a=1,b=0.5")
    assert sj.load("dumbbell", {"bottleneck.impairments.loss": kind(0)}).duration_s == 60
    assert sj.theorems.ocq(kind(60), 50, 1, 2 / 9)["J"] == sj.theorems.ocq(60, 50, 1, 2 / 9)["J"]
    assert Mine(g=kind(1)).g == 1
    assert result.plot.delay_grid(np.int64(4)).size == 4


def test_flags_and_lists_of_numpy_are_accepted() -> None:
    assert sj.laws.Red(gentle=np.False_).spec() == "red:gentle=false"
    listed = [
        law
        for law in (getattr(sj.laws, name) for name in sj.laws.__all__)
        if "Sequence" in str(inspect.signature(law))
    ]
    for law in listed:
        (name,) = [
            one.name
            for one in inspect.signature(law).parameters.values()
            if "Sequence" in str(one.annotation)
        ][:1]
        assert law(**{name: np.array([7, 9])}).spec() == law(**{name: [7, 9]}).spec()
