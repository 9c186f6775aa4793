"""Scenarios as values: from dicts, with changes, compared, hashed, copied, pickled, written as files."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import joblib
import pytest

import sojourn as sj
from sojourn.scenario import Scenario, at_link, gallery

SMALL = {
    "title": "Small",
    "duration": "3 s",
    "bottleneck": {
        "rate": "2 Mbit/s",
        "delay": "10 ms",
        "buffer": "50 packets",
        "qdisc": {"law": "pi", "target": "20 packets"},
    },
    "flows": [{"count": 3, "cc": "cubic"}, {"app": {"cbr": {"rate": "100 kbit/s"}}}],
}


class Fixed(sj.CongestionControl):
    """A window of four segments."""

    def on_ack(self, ack):  # noqa: ARG002
        self.cwnd = 4 * self.mss

    def on_signal(self, signal):  # noqa: ARG002
        self.cwnd = 4 * self.mss

    def __eq__(self, other):
        return type(other) is Fixed

    __hash__ = None


def test_a_dict_is_a_file():
    text = """
title = "Small"
duration = "3 s"
[bottleneck]
rate = "2 Mbit/s"
delay = "10 ms"
buffer = "50 packets"
qdisc = { law = "pi", target = "20 packets" }
[[flows]]
count = 3
cc = "cubic"
[[flows]]
app = { cbr = { rate = "100 kbit/s" } }
"""
    assert Scenario.from_dict(SMALL) == Scenario.parse(text.encode(), "small.toml")
    assert Scenario.from_dict(SMALL | {"warmup": None}) == Scenario.from_dict(SMALL)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"duration": 3},
            'duration: "3" needs a unit; expected a time such as "20 ms" '
            "(ns, us, ms, s, min, h; more than 0 s)",
        ),
        ({"durtion": "3 s"}, 'durtion: unknown key; did you mean "duration"?'),
        ({"flows": [{"count": -1}]}, "flows[0].count: -1 is negative; expected 1 to "),
        ({"flows": [{"count": {1}}]}, "flows[0].count: {1} is not a value; expected text, a number"),
        ({"at": [{1: 2}]}, "at[0]: 1 is not a key; expected text"),
        ({"sample": float("nan")}, 'sample: "NaN" is not a number with a unit'),
        ({"flows": [{"count": 2**70}]}, "flows[0].count: 1.181e+21 is too large; expected at most "),
        ({"title": "\ud800"}, "title: "),
        ({"bottleneck": {"rate": "2 Mbit/s", "delay": "1 ms", "trace": {"file": "../x"}}}, "bottleneck"),
    ],
)
def test_an_error_of_a_dict_names_the_key(changes, message):
    with pytest.raises(sj.InputError) as caught:
        Scenario.from_dict(SMALL | changes)
    assert str(caught.value).startswith(message)
    assert "--set" not in str(caught.value)
    for one in caught.value.diagnostics:
        assert (one.file, one.line, one.column, one.drawing) == (None, None, None, "")
        assert one.key in {"", str(caught.value).partition(": ")[0]}


@pytest.mark.parametrize("given", [None, 5, [("title", "x")], "title = 'x'"])
def test_only_a_dict_is_a_dict(given):
    with pytest.raises(sj.InputError, match="is no dict; expected the keys of a scenario file"):
        Scenario.from_dict(given)


def test_a_dict_that_holds_itself_is_refused():
    keys = dict(SMALL)
    keys["flows"] = keys
    with pytest.raises(sj.InputError, match="nested too deeply"):
        Scenario.from_dict(keys)


def test_changes_make_another_scenario():
    small = Scenario.from_dict(SMALL)
    changed = small.with_(**{"bottleneck.rate": "3 Mbit/s", "flows[0].count": 5}, duration="4 s")
    assert changed != small
    expected = json.loads(json.dumps(SMALL))
    expected["bottleneck"]["rate"], expected["flows"][0]["count"], expected["duration"] = "3 Mbit/s", 5, "4 s"
    assert changed == Scenario.from_dict(expected)
    assert small == Scenario.from_dict(SMALL)
    assert small.with_() is small
    assert small.with_(**{"bottleneck.rate": "2 Mbit/s"}) == small
    plain, given = (small.with_qdisc(qdisc) for qdisc in ("red", "red:gentle=true"))
    assert plain == given != small.with_qdisc("red:gentle=false")
    assert hash(plain) == hash(given)
    assert (plain.qdisc, given.qdisc) == ("red", "red:gentle=true")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"durtion": "3 s"}, 'durtion: unknown key; did you mean "duration"?'),
        ({"flows[9].count": 3}, "flows[9].count: "),
        ({"duration": [1]}, "duration: [1] is not text with a unit"),
        ({"duration": {1}}, "duration: {1} is not a value; expected a number"),
    ],
)
def test_an_error_of_a_change_names_its_key(changes, message):
    with pytest.raises(sj.InputError) as caught:
        Scenario.from_dict(SMALL).with_(**changes)
    assert str(caught.value).startswith(message)


def test_the_last_change_of_a_qdisc_holds():
    small = Scenario.from_dict(SMALL)
    red = small.with_qdisc("red:min=10packets,max=30packets")
    assert red.with_(**{"bottleneck.qdisc": "codel"}).qdisc == "codel"
    assert red.with_(duration="4 s").qdisc == red.qdisc
    assert red.with_(**{"bottleneck.qdisc": "codel"}).with_qdisc("pie").qdisc == "pie"
    assert red.with_(**{"bottleneck.qdisc": "codel"}).with_(duration="4 s").qdisc == "codel"
    # A parameter is that of the last law.
    assert small.with_qdisc("codel").with_(**{"bottleneck.qdisc.target": "9 ms"}).qdisc == "codel:target=9 ms"
    again = red.with_(**{"bottleneck.qdisc": "codel"})
    assert pickle.loads(pickle.dumps(again)) == again
    # At one link of several.
    home = at_link(sj.load("home/call"), "up").with_qdisc("pie")
    assert home.with_(**{"up.qdisc": "codel"}).qdisc == "codel"
    dumbbell = at_link(small, "bottleneck").with_qdisc("pie").with_(**{"bottleneck.qdisc": "codel"})
    assert dumbbell.qdisc == "codel"


def test_the_last_change_of_a_control_holds():
    small = Scenario.from_dict(SMALL)

    def controls(scenario):
        return [group["cc"] for group in json.loads(scenario.to_json())["flows"]]

    changed = small.with_cc([0], "reno")
    assert controls(changed.with_(**{"flows[0].cc": "dctcp"})) == ["dctcp", None]
    assert controls(changed.with_(duration="4 s")) == ["reno", None]
    assert controls(small.with_cc([0], "cubic").with_(**{"bulk.cc.hystart": False})) == [
        "cubic:hystart=false",
        None,
    ]


@pytest.mark.parametrize("name", sorted(gallery()))
def test_the_gallery_survives_every_way_there_and_back(name):
    scenario = sj.load(name)
    text = scenario.to_toml()
    files = scenario.files
    assert Scenario.parse(text.encode(), "written", [], files.__getitem__) == scenario
    copies = (pickle.loads(pickle.dumps(scenario)), copy.copy(scenario), copy.deepcopy(scenario))
    for other in (*copies, sj.load(name)):
        assert other == scenario
        assert hash(other) == hash(scenario)
        assert other.to_toml() == text
        assert other.files == files


def test_different_scenarios_are_different_keys():
    scenarios = {sj.load(name) for name in gallery()} | {sj.load(name) for name in gallery()}
    assert len(scenarios) == len(gallery())
    assert sj.load("dumbbell") != "dumbbell"


def test_a_written_file_runs_alike(tmp_path):
    small = Scenario.from_dict(SMALL)
    path = tmp_path / "small.toml"
    path.write_text(small.to_toml())
    again = sj.load(path)
    assert again == small
    assert sj.run(again).summary().equals(sj.run(small).summary())


def test_files_of_a_dict_are_in_its_folder(tmp_path):
    (tmp_path / "sizes.csv").write_text("10 kB, 1\n")
    keys = SMALL | {"flows": [{"app": {"transfer": {"size": {"file": "sizes.csv"}}}}]}
    scenario = Scenario.from_dict(keys, folder=tmp_path)
    assert scenario.files == {"sizes.csv": b"10 kB, 1\n"}
    with pytest.raises(
        sj.InputError, match=r'flows\[0\]\.app\.transfer\.size: .*"nowhere\.csv" cannot be read'
    ):
        Scenario.from_dict(
            SMALL | {"flows": [{"app": {"transfer": {"size": {"file": "nowhere.csv"}}}}]}, tmp_path
        )
    with pytest.raises(TypeError, match="folder: 5 is no folder"):
        Scenario.from_dict(keys, folder=5)


def test_a_recording_goes_along():
    shared = sj.load("links/shared_air")
    assert set(shared.files) == {"shared_air.trace"}
    assert pickle.loads(pickle.dumps(shared)).with_(duration="9 s").files == shared.files


def summary_of(scenario: Scenario) -> list[float]:
    return sj.run(scenario).summary()["mean"].to_list()


@pytest.mark.slow
def test_a_process_pool_takes_scenarios():
    scenarios = [Scenario.from_dict(SMALL).with_(**{"flows[0].count": count}) for count in (1, 2)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(summary_of, scenarios)) == [summary_of(one) for one in scenarios]


@pytest.mark.slow
def test_joblib_takes_scenarios_and_shares_their_cache():
    scenarios = [Scenario.from_dict(SMALL).with_(**{"flows[0].count": count}) for count in (1, 2)]
    means = joblib.Parallel(n_jobs=2)(joblib.delayed(summary_of)(one) for one in scenarios)
    assert means == [summary_of(one) for one in scenarios]
    # Its caches go by the pickled value: equal scenarios share a result.
    again = [Scenario.from_dict(SMALL).with_(**{"flows[0].count": count}) for count in (1, 2)]
    assert [joblib.hash(one) for one in scenarios] == [joblib.hash(one) for one in again]
    assert joblib.hash(scenarios[0]) != joblib.hash(scenarios[1])


def test_controls_in_python_go_along():
    from sojourn.resolve import with_controls

    scenario = with_controls(Scenario.from_dict(SMALL), Fixed())
    again = pickle.loads(pickle.dumps(scenario))
    assert again == scenario != Scenario.from_dict(SMALL)
    assert again.custom_labels == scenario.custom_labels == ["Fixed"]
    assert scenario.with_(duration="4 s").custom_labels == ["Fixed"]
    assert summary_of(again) == summary_of(scenario)


def test_other_qdiscs_and_links_go_along():
    home = at_link(sj.load("home/evening").with_qdisc("codel"), "up").with_qdisc("pi")
    again = pickle.loads(pickle.dumps(home))
    assert again == home
    assert again.with_qdisc("red") == home.with_qdisc("red") != sj.load("home/evening").with_qdisc("red")
    longer = home.with_(duration="99 s")
    assert longer.qdisc == home.qdisc
    assert longer.duration_s == 99.0


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"durtion": "41 s"}, 'durtion: unknown key; did you mean "duration"?'),
        ({"rate": "5 Mbit/s"}, "rate: is no key at the top; expected bottleneck.rate"),
        ({"bulk.count": 0}, "bulk.count: "),
    ],
)
def test_an_error_of_an_override_names_the_key_alone(overrides, message):
    with pytest.raises(sj.InputError) as caught:
        sj.load("dumbbell", overrides)
    assert str(caught.value).startswith(message)


def test_a_class_and_a_link_have_their_names_in_keys():
    assert sj.load("dumbbell", {"bulk.count": 7}) == sj.load("dumbbell", {"flows[0].count": 7})
    assert sj.load("home/evening", {"up.rate": "5 Mbit/s"}) == sj.load(
        "home/evening", {"home.up.rate": "5 Mbit/s"}
    )


def test_the_example_of_the_page_runs(capsys):
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    example = page.partition("## Scenarios as values")[2].partition("```python\n")[2].partition("```")[0]
    exec(example, {})
    assert 'duration = "20 s"' in capsys.readouterr().out
