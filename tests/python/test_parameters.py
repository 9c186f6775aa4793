"""Parameters: moved keys, errors as values, and the list of all of them."""

from __future__ import annotations

import json

import pytest

import sojourn as sj
from sojourn import resolve, theorems
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
    # The name of a file may hold anything.
    for name in ("odd.toml", "a{b}.toml", "{0}.toml"):
        (tmp_path / name).write_text("title = 1\na = x\n")
        assert main(["check", name, "--rewrite"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"{name}:2:5: is not TOML: x is not a value; ")
        assert (tmp_path / name).read_text() == "title = 1\na = x\n"


def test_braces_in_an_option_are_text():
    small = sj.load("dumbbell")
    with pytest.raises(sj.InputError, match=r"^\{x\}: .nosuch. is not a qdisc"):
        resolve.under_qdisc(small, "nosuch", "{x}")
    with pytest.raises(sj.InputError, match=r"^\{\}: .nosuch. is not a congestion control"):
        resolve.with_controls(small, "nosuch", "{}")


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


def test_an_error_of_an_override_has_its_key():
    with pytest.raises(sj.InputError) as caught:
        sj.load("dumbbell", {"bulk.count": "many"})
    (one,) = caught.value.diagnostics
    assert (one.override, one.key, one.file) == ("bulk.count", "flows[0].count", None)
    assert one.text == caught.value.lines[0]
    assert one.text.startswith('bulk.count: "many" is not')


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("--target: is missing; expected such as 5ms", ("--target", "is missing", "such as 5ms")),
        ("--emit, --json: both are given", ("--emit, --json", "both are given", "")),
        ("sojourn run: --x: is no option", ("--x", "is no option", "")),
        ("no place in this line", ("", "no place in this line", "")),
    ],
)
def test_lines_about_arguments_have_parts(line, parts):
    (one,) = sj.InputError(line).diagnostics
    assert (one.key, one.problem, one.expected) == parts
    assert one.text == line


def test_keys_in_the_data_are_those_of_the_line():
    def refused(function, *args, **kwargs):
        with pytest.raises(sj.InputError) as caught:
            function(*args, **kwargs)
        (one,) = caught.value.diagnostics
        return one.key, one.text.partition(":")[0]

    assert refused(theorems.sqm, 1000, [0], [0.1]) == ("weights[0]", "weights[0]")
    assert refused(theorems.sqm, 1000, [1], [0.1], utility=[-1]) == ("utility[0]", "utility[0]")
    assert refused(theorems.ocq, 60, 50, 1, -1) == ("r", "r")
    assert refused(theorems.ocq, 60, 50, 1, 0.2, control=[70]) == ("control[0]", "control[0]")
    assert refused(sj.prove, sj.load("dumbbell"), link="nosuch") == ("link", "link")


@pytest.mark.parametrize(
    "command",
    [
        ["run", "nosuch", "--json"],
        ["run", "dumbbell", "--qdisc", "nosuch", "--json"],
        ["prove", "dumbbell", "--qdisc", "nosuch", "--json"],
        ["conform", "--law", "nosuch", "--json"],
        ["list", "nosuch", "--json"],
        ["run", "--json"],
        ["run", "dumbbell", "--sed", "1", "--json"],
    ],
)
def test_every_error_of_an_input_is_a_document(command, capsys):
    assert main(command) == 2
    output = capsys.readouterr()
    errors = json.loads(output.out)["errors"]
    assert len(errors) == len(output.err.splitlines()) > 0
    assert all(one["text"] in output.err for one in errors)


def test_a_key_of_several_tables_is_explained_once(capsys):
    for name in ("bursts", "loss", "enter", "jitter", "rate"):
        assert main(["explain", name]) == 0
        page = capsys.readouterr().out
        assert len(page.splitlines()) < 60, page
        fields = [line for line in page.splitlines() if line.startswith("  ") and not line.startswith("   ")]
        assert len({line.split(":")[0] for line in fields}) == len(fields)
    assert "The same key in other tables: " in page


def test_a_required_key_has_no_default(capsys):
    assert main(["explain", "transfer"]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "size: size or distribution of sizes, required" in page
    assert "Why" not in page


def test_json_has_the_errors_as_data(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "dumbbell", "--set", "bottleneck.rate=fast", "--json"]) == 2
    output = capsys.readouterr()
    (error,) = json.loads(output.out)["errors"]
    assert (error["kind"], error["found"]) == ("type", '"fast"')
    assert output.err.startswith("sojourn run: --set bottleneck.rate: ")


def test_the_list_of_keys_has_every_parameter():
    rows = {row["key"]: row for row in entries("keys")}
    for kind in ("laws", "qdiscs", "ccs", "apps", "links"):
        for entry in entries(kind):
            for field in entry["fields"]:
                row = rows[f"{entry['name']}.{field['key']}"]
                assert all(row[part] == field[part] for part in field if part != "key")
                assert bool(row["why"]) is not row["is_required"]
                assert row["about"]
    assert rows["flows.tcp.prr"]["set"] == "flows[0].tcp.prr"
    assert rows["web.objects"]["bounds"] == {"low": 1, "high": 10_000, "open": []}
    assert rows["red.weight"]["bounds"] == {"low": 0.0, "high": 1.0, "open": ["low"]}
    assert rows["pid.rtt"]["bounds"] == {"low": "1 us", "high": "1 h", "open": []}
    assert rows["bottleneck.rate"]["bounds"] == {"low": "1 bit/s", "high": "1 Tbit/s", "open": []}
    assert rows["flows.segment"]["bounds"] == {"low": "100 B", "high": "65535 B", "open": []}
    assert rows["pi.rate"]["bounds"] == {"low": "0.1 Hz", "high": "1 MHz", "open": []}
    assert rows["duration"]["bounds"] == {"low": "0 s", "high": None, "open": ["low"]}
    assert rows["red.min"]["bounds"] == {"low": 0, "high": None, "open": ["low"]}
    assert rows["bottleneck.impairments.loss"]["bounds"] == {"low": 0, "high": 1, "open": []}
    assert rows["pi.target"]["bounds"] is None
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
