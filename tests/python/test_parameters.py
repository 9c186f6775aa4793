"""Parameters: moved keys, errors as values, and the list of all of them."""

from __future__ import annotations

import json

import pytest

import sojourn as sj
from sojourn.catalogue import entries, explain
from sojourn.cli import main

OLD = """\
title    = "Pages beside a file"
duration = "20 s"

[bottleneck]
rate  = "8 Mbit/s"
delay = "10 ms"

[[flows]]
app     = "web" # two users
count   = 2
objects = 20    # instead of 50
sack    = true

[[flows]]
"""

NEW = """\
title    = "Pages beside a file"
duration = "20 s"

[bottleneck]
rate  = "8 Mbit/s"
delay = "10 ms"

[[flows]]
# instead of 50
app     = { web = { objects = 20 } } # two users
count   = 2
tcp     = { sack = true }

[[flows]]
"""


def test_moved_keys_are_rewritten_in_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.toml").write_text(OLD)
    assert main(["check", "old.toml"]) == 2
    assert "app = { web = { objects = VALUE } }, which `sojourn check --rewrite`" in capsys.readouterr().err
    assert main(["check", "old.toml", "--rewrite"]) == 0
    assert capsys.readouterr().err == "rewrote old.toml\n"
    assert (tmp_path / "old.toml").read_text() == NEW
    assert main(["check", "old.toml", "--rewrite"]) == 0
    assert capsys.readouterr().err == "old.toml: no key has moved\n"


def test_only_files_of_ones_own_are_rewritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["check", "dumbbell", "--rewrite"]) == 2
    assert capsys.readouterr().err.startswith("dumbbell: is a scenario of the gallery; ")
    (tmp_path / "odd.toml").write_text("a = \n")
    assert main(["check", "odd.toml", "--rewrite"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert (tmp_path / "odd.toml").read_text() == "a = \n"


def test_an_error_has_its_parts(tmp_path):
    file = tmp_path / "x.toml"
    file.write_text(NEW.replace("8 Mbit/s", "8 Mbit").replace("objects = 20", "objects = 0"))
    with pytest.raises(sj.InputError) as caught:
        sj.load(file)
    unit, objects = caught.value.diagnostics
    assert (unit.file, unit.line, unit.column, unit.key) == (str(file), 5, 1, "bottleneck.rate")
    assert (unit.kind, unit.found, unit.hint) == ("type", '"Mbit"', '"Mbit/s"')
    assert unit.expected.startswith("bit/s, kbit/s")
    assert "5 | rate  = " in unit.drawing
    assert (objects.kind, objects.key, objects.found) == ("range", "flows[0].app.web.objects", "0")
    assert objects.expected == "1 to 10000"
    assert [one.text for one in caught.value.diagnostics] == list(caught.value.lines)


def test_json_has_the_errors_as_data(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "dumbbell", "--set", "bottleneck.rate=fast", "--json"]) == 2
    output = capsys.readouterr()
    (error,) = json.loads(output.out)["errors"]
    assert (error["kind"], error["found"]) == ("type", '"fast"')
    assert output.err.startswith("sojourn run: --set bottleneck.rate: ")


def test_the_list_of_keys_has_every_parameter():
    rows = {row["key"]: row for row in entries("keys")}
    for kind in ("laws", "ccs", "apps", "links"):
        for entry in entries(kind):
            for field in entry["fields"]:
                row = rows[f"{entry['name']}.{field['key']}"]
                assert all(row[part] == field[part] for part in field if part != "key")
                assert row["why"]
                assert row["about"]
    assert rows["flows.tcp.prr"]["set"] == "flows[0].tcp.prr"
    assert rows["web.objects"]["bounds"] == [1, 10_000]
    assert explain("web.objects")["fields"][0]["default"] == 50


def test_the_key_to_set_sets_the_parameter():
    values = {
        "flows[0].app.mice.preset": "arm_pfc",
        "flows[0].tcp.min_rto": "300 ms",
        "bottleneck.qdisc.a": 1e-5,
    }
    rows = {row["set"] for row in entries("keys")}
    assert rows.issuperset(values)
    changed = sj.load("dumbbell", {"flows[0].app": "mice", "bottleneck.qdisc.b": 5e-6, "at": "[]"} | values)
    document = json.loads(changed.to_json())
    assert document["flows"][0]["app"]["mice"]["preset"] == "arm_pfc"
    assert document["flows"][0]["tcp"] == {"min_rto": "300 ms"}
    assert document["bottleneck"]["qdisc"]["a"] == 1e-5


def test_an_entry_has_one_form_in_every_catalogue():
    forms = {
        "bottleneck.qdisc": [
            "pi:target=50 packets",
            {"law": "pi", "target": "50 packets"},
            {"pi": {"target": "50 packets"}},
        ],
        "flows[0].cc": [
            "cubic:hystart=false",
            {"name": "cubic", "hystart": False},
            {"cubic": {"hystart": False}},
        ],
        "flows[0].app": ["web:objects=20", {"web": {"objects": 20}}],
    }
    objects = {
        "bottleneck.qdisc": sj.laws.Pi(target="50 packets"),
        "flows[0].cc": sj.ccs.Cubic(hystart=False),
        "flows[0].app": sj.apps.Web(objects=20),
    }
    for key, values in forms.items():
        read = {sj.load("dumbbell", {key: value, "at": []}) for value in [*values, objects[key]]}
        assert len(read) == 1, key
    lte = sj.load("links/lte", {"bottleneck.trace": sj.links.Lte(mean="8 Mbit/s")})
    assert json.loads(lte.to_json())["bottleneck"]["trace"] == {"lte": {"mean": "8 Mbit/s"}}


def test_scenarios_are_made_of_entries():
    link = {"rate": "10 Mbit/s", "delay": "20 ms", "buffer": "100 packets", "qdisc": sj.laws.Codel()}
    sizes = {"pareto": "10 kB", "shape": 1.2}
    flows = [
        {"app": sj.apps.Mice(size=sizes), "cc": sj.ccs.Dctcp(g=0.25), "ecn": True},
        {"app": sj.apps.Cbr(rate="1 Mbit/s")},
    ]
    scenario = sj.Scenario.from_dict({"title": "x", "duration": "9 s", "bottleneck": link, "flows": flows})
    mice, cbr = json.loads(scenario.to_json())["flows"]
    assert mice["app"]["mice"]["size"] == sizes
    assert mice["cc"] == "dctcp:g=0.25"
    assert cbr["app"]["cbr"]["rate"] == "1 Mbit/s"
    assert scenario.with_(**{"flows[0].app": sj.apps.Mice(size=sizes)}) == scenario
    (variant,) = sj.run(scenario, cc={0: sj.ccs.Reno(abe=True)}).rows()
    assert variant.metrics["utilization"] > 0


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: sj.apps.Web(object=20), "Web has no parameter object; did you mean objects? expected"),
        (sj.apps.Cbr, "Cbr: rate is missing; expected rate=VALUE"),
        (lambda: sj.apps.Web(size=object), "Web: size: <class 'object'> is not a parameter; expected text"),
        (
            lambda: sj.apps.Web(size={"exponential": "3 kB"}).spec(),
            "Web: size: a table has no place in a SPEC",
        ),
        (lambda: sj.load("dumbbell", {"flows[0].app": sj.laws.Pi()}), "pi is not an application"),
        (
            lambda: sj.load("dumbbell", {"flows[0].app": {"web": {"objects": 0}}}),
            "web.objects: 0 is out of range",
        ),
        (
            lambda: sj.load("dumbbell", {"flows[0].app": {"web": {"objects": object}}}),
            "web.objects: <class 'object'>",
        ),
        (lambda: sj.run(sj.load("dumbbell"), cc=sj.apps.Web()), '"web" is not a congestion control'),
    ],
)
def test_a_wrong_entry_is_an_error_of_one_line(make, line):
    with pytest.raises(sj.InputError) as caught:
        make()
    (text,) = str(caught.value).splitlines()
    assert line in text.replace('"pi" is', "pi is")
