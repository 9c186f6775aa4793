"""The commands as a user types them: output, streams, and exit codes."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import typer

import sojourn as sj
import sojourn.__main__ as main_module
from sojourn.catalogue import KINDS, entries, explain
from sojourn.cli import main
from sojourn.conform import against
from sojourn.other_names import OTHER_NAMES

RED = "red:min=5packets,max=15packets"


#: The commands, in the order of the help.
COMMANDS = [
    "run",
    "lab",
    "sweep",
    "reproduce",
    "cite",
    "report",
    "plot",
    "compare",
    "prove",
    "design",
    "ocq",
    "list",
    "explain",
    "check",
    "conform",
    "replay",
    "version",
]


def test_help_lists_exactly_the_commands_that_exist(sojourn):
    done = sojourn("--help")
    assert done.returncode == 0
    listed = done.stdout.split("Commands:")[1].split("Example:")[0]
    assert [line.split()[0] for line in listed.splitlines() if line.strip()] == COMMANDS
    assert "completion" not in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(sojourn, command):
    done = sojourn(command, "--help")
    assert done.returncode == 0
    assert f"Example:\n    sojourn {command}" in done.stdout


def test_the_command_line_imports_nothing_heavy():
    check = (
        "import sys, sojourn, sojourn.cli;"
        "heavy = {'numpy', 'scipy', 'polars', 'matplotlib', 'rich', 'sojourn._core'} & set(sys.modules);"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_alone_imports_nothing():
    """Ctrl-C during an import before `main` would print a traceback."""
    check = (
        f"import os, sys; sys.path.insert(0, {str(Path(main_module.__file__).parents[1])!r}); "
        "before = set(sys.modules); import sojourn.__main__; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", check], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["__future__", "sojourn", "sojourn.__main__"], done.stderr


def test_every_option_with_a_value_is_described_once():
    from sojourn.cli import app, options

    described = [one for one in vars(options).values() if isinstance(one, options.Option)]
    texts = {(one.names, one.metavar, one.help) for one in described}
    for command in typer.main.get_command(app).commands.values():
        for parameter in command.params:
            if parameter.name != "help" and not getattr(parameter, "is_flag", False):
                is_option = parameter.param_type_name == "option"
                names = tuple(parameter.opts) if is_option else ()
                assert (names, parameter.metavar, parameter.help) in texts, f"{command.name} {parameter.name}"


def test_run_prints_a_table_on_stdout_and_nothing_else(sojourn):
    done = sojourn("run", "small.toml", "--qdisc", "tail_drop", "--qdisc", RED, "--seeds", "1..2")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "Eight flows on a small link" in done.stdout
    assert "tail_drop" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.startswith("queue mean"))
    assert row.count("±") == 2


def test_many_qdiscs_fit_a_narrow_terminal(sojourn):
    qdiscs = [f"red:min={low}packets,max=30packets" for low in (5, 6, 7, 8, 9)]
    flags = [word for qdisc in qdiscs for word in ("--qdisc", qdisc)]
    done = sojourn("run", "small.toml", *flags, env={"COLUMNS": "80"})
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert all(f"min={low}" in done.stdout for low in (5, 6, 7, 8, 9))


@pytest.mark.parametrize(("seeds", "runs"), [("7", [7]), ("3,1", [1, 3]), ("1,4..5", [1, 4, 5])])
def test_seeds_may_be_a_list(seeds, runs, sojourn):
    document = json.loads(sojourn("run", "small.toml", "--seeds", seeds, "--json").stdout)
    assert [run["seed"] for run in document["runs"]] == runs


def test_run_json_is_one_document_with_costs(sojourn):
    done = sojourn("run", "small.toml", "--seeds", "3..4", "--json", "--out", "out")
    document = json.loads(done.stdout)
    assert list(document) == ["schema", "scenario", "runs", "summary"]
    assert document["schema"] == 1
    assert document["scenario"]["bottleneck"]["rate"] == "2 Mbit/s"
    assert [run["seed"] for run in document["runs"]] == [3, 4]
    assert {"plant", "qdisc", "seed", "link", "metrics", "cost"} <= set(document["runs"][0])
    assert document["runs"][0]["cost"]["events"] > 0
    assert set(document["summary"][0]) == {
        *("plant", "qdisc", "link", "metric", "n", "mean", "ci95_low", "ci95_high")
    }
    assert "wrote out" in done.stderr


def test_every_metric_of_the_contract_is_there(sojourn):
    done = sojourn("run", "small.toml", "--json")
    metrics = json.loads(done.stdout)["runs"][0]["metrics"]
    for name in (
        *("utilization", "queue_mean_packets", "queue_std_packets", "queue_p50_packets", "queue_p95_packets"),
        *("queue_p99_packets", "sojourn_mean_s", "sojourn_p50_s", "sojourn_p95_s", "sojourn_p99_s"),
        *("rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_max_s", "srtt_mean_s", "srtt_p50_s", "srtt_p95_s"),
        *("srtt_max_s", "drop_ratio", "mark_ratio", "overflow_ratio", "goodput_bps"),
        *("jain_index", "qacd_packets", "settling_s", "overshoot_packets", "fct_mean_s", "fct_p95_s"),
        "bottleneck_packets",
    ):
        assert name in metrics, name
    assert 0 < metrics["utilization"] <= 1


def test_quiet_prints_only_the_table(sojourn):
    done = sojourn("run", "small.toml", "--out", "out", "--quiet")
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.parametrize(("flags", "shown"), [([], True), (["--quiet"], False)])
def test_progress_shows_on_a_terminal_unless_quiet(folder, flags, shown):
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "sojourn", "run", "small.toml", "--seeds", "1..3", *flags]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # Linux reports EIO when the other side has closed.
            while more := os.read(ours, 4096):
                seen += more
        table = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    assert (b"of 3 runs" in seen) is shown
    assert "of 3 runs" not in table
    assert "queue mean" in table


def test_set_changes_the_scenario(sojourn):
    done = sojourn(
        *("run", "small.toml", "--json", "--set", "bottleneck.rate=1 Mbit/s"),
        *("--set", "flows.0.count=3", "--set", "duration='4 s'"),
    )
    scenario = json.loads(done.stdout)["scenario"]
    assert scenario["bottleneck"]["rate"] == "1 Mbit/s"
    assert scenario["flows"][0]["count"] == 3
    assert scenario["duration"] == "4 s"


def test_out_writes_a_folder_that_others_can_read(sojourn, folder):
    done = sojourn("run", "small.toml", "--qdisc", RED, "--seeds", "1..2", "--out", "deep/out")
    assert done.returncode == 0
    out = folder / "deep" / "out"
    assert {path.name for path in out.iterdir()} == {
        *("result.json", "provenance.json", "series.parquet", "distributions.parquet")
    }
    assert "cost" not in json.loads((out / "result.json").read_text())["runs"][0]
    provenance = json.loads((out / "provenance.json").read_text())
    assert provenance["command"][:3] == ["sojourn", "run", "small.toml"]
    assert provenance["versions"]["sojourn"]
    assert provenance["cost"][0]["cpu_s"] > 0
    series = pl.read_parquet(out / "series.parquet")
    assert {"time", "link", "qdisc", "seed", "name", "value"} <= set(series.columns)
    assert {"queue_packets", "sojourn_s", "utilization"} <= set(series["name"].unique())
    assert not list((folder / "deep").glob(".*"))


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_an_earlier_result_is_replaced_and_its_report_renewed(sojourn, folder):
    sojourn("run", "small.toml", "--out", "out")
    assert not (folder / "out" / "report.html").exists()
    assert sojourn("report", "out").returncode == 0
    assert sojourn("run", "small.toml", "--seed", "9", "--out", "out").returncode == 0
    assert json.loads((folder / "out" / "result.json").read_text())["runs"][0]["seed"] == 9
    assert "<dt>Seeds</dt><dd>9</dd>" in (folder / "out" / "report.html").read_text()
    assert not list(folder.glob(".*"))


def test_a_foreign_folder_is_left_alone(refused, folder):
    (folder / "mine").mkdir()
    (folder / "mine" / "notes.txt").write_text("dear diary")
    (line,) = refused("run", "small.toml", "--out", "mine")
    assert line.startswith("sojourn run: --out: mine holds notes.txt")
    assert [path.name for path in (folder / "mine").iterdir()] == ["notes.txt"]


def test_a_file_beside_an_earlier_result_is_never_removed(sojourn, refused, folder):
    sojourn("run", "small.toml", "--out", "out")
    (folder / "out" / "notes.txt").write_text("dear diary")
    (line,) = refused("run", "small.toml", "--out", "out")
    assert "notes.txt" in line


@pytest.mark.parametrize("place", ["small.toml", "small.toml/out", ".", "/proc/nowhere/out", ""])
def test_an_unwritable_place_is_found_before_the_run(refused, folder, place):
    (line,) = refused("run", "small.toml", "--set", "duration=100000 s", "--out", place)
    assert line.startswith("sojourn run: --out: ")
    assert "expected " in line
    assert [path.name for path in folder.iterdir()] == ["small.toml"]


@pytest.mark.parametrize(
    ("flags", "begins"),
    [
        (["--seeds", "x"], '--seeds: "x" is not a range; expected A..B'),
        (["--seeds", "5..1"], '--seeds: "5..1" is empty; expected '),
        (["--seeds", "1,"], '--seeds: "1," is not a range; expected A..B'),
        (["--seeds", "1,3,1"], "--seeds: 1 is given twice; expected each seed once"),
        (["--seeds", "1..9999999"], '--seeds: "1..9999999" is too many; expected '),
        (["--seeds", "-1..3"], '--seeds: "-1..3" is not a range; expected '),
        (["--seed", "1.5"], '--seed: "1.5" is not a seed; expected '),
        (["--seed", "18446744073709551616"], '--seed: "18446744073709551616" is not a seed; expected '),
        (["--seed", "1", "--seed", "1"], "--seed: is given 2 times; expected once"),
        (["--seed", "1", "--seeds", "1..2"], "--seed, --seeds: both are given; expected "),
        (["--jobs", "0"], '--jobs: "0" is not a number of workers; expected '),
        (["--jobs", "two"], '--jobs: "two" is not a number of workers; expected '),
        (["--plant", "gas"], '--plant: "gas" does not exist; expected fluid, packet, live'),
        (["--plant", "packet,packet"], "--plant: each plant once; expected fluid, packet, live"),
        (["--set", "duration"], '--set: "duration" has no key or no "="; expected '),
        (["--set", "duration=3 s", "--set", "duration=4 s"], "--set: duration is given twice; expected "),
        (
            ["--qdisc", RED, "--qdisc", RED],
            "--qdisc: red:min=5 packets,max=15 packets is given twice; expected ",
        ),
        (["--qdisc", "redd"], "--qdisc: "),
        (
            ["--qdisc", "fifo"],
            '--qdisc: "fifo" is one queue under a law; name the law, as in "codel" (expected ',
        ),
        (["--qdisc", "red:minimum=5packets"], "--qdisc: "),
        (["--qdisc", "red:min=5"], "--qdisc: "),
        (["--qdisc", ""], "--qdisc: "),
        (["--set", "bottleneck.rate=-3 Mbit/s"], "--set bottleneck.rate: "),
        (["--set", "bottleneck.ratee=3 Mbit/s"], "--set bottleneck.ratee: "),
        (["--set", "duration=nan s"], "--set duration: "),
        (["--dics", "pi"], "--dics: is not an option; nearest: --qdisc"),
        (["--qdisc"], "--qdisc: has no value; expected --qdisc VALUE"),
        (["--json=yes"], "--json: takes no value; expected --json alone"),
        (["another.toml"], "another.toml: has no use"),
    ],
)
def test_wrong_options_of_run_are_one_line(refused, flags, begins):
    (line,) = refused("run", "small.toml", *flags)
    assert line.removeprefix("sojourn run: ").startswith(begins), line


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["rnu"], 'sojourn: "rnu" is not a command; did you mean run? expected run, lab, sw'),
        (["run", "a", "b", "c"], "sojourn run: b c: has no use; see sojourn run --help"),
        (["run"], "sojourn run: FILE is missing; see sojourn run --help"),
        (["report"], "sojourn report: DIR is missing; see sojourn report --help"),
        (["plot", "results", "cdf"], "sojourn plot: -o FILE is missing; see sojourn plot --help"),
        (["--verbose"], "sojourn: --verbose: is not an option; nearest: --version"),
        (
            ["list", "lwas"],
            'sojourn list: KIND: "lwas" is not a list; did you mean laws? expected laws, qdiscs, ccs, apps, '
            "links, impairments, profiles, settings, metrics, window_metrics, keys, scenarios",
        ),
        (["explain", "redd"], 'sojourn explain: "redd" is not known; nearest: red'),
        (["explain", "\u2603"], 'sojourn explain: "\u2603" is not known; expected '),
        (["report", "nowhere"], "nowhere: there is no such folder; expected "),
        (["check", "nowhere.toml"], "nowhere.toml: there is no such file; expected "),
        (["check", "."], ".: is a folder; expected "),
    ],
)
def test_wrong_command_lines_are_one_line(refused, arguments, line):
    assert [found[: len(line)] for found in refused(*arguments)] == [line]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\x00\x01\xff\xfe",
        b"title = ",
        b"title = 'x'\nduration = '5 s'\n",
        b"\xef\xbb\xbf[[[",
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_files_that_are_no_scenario_are_refused_with_file_and_line(refused, folder, text, command):
    (folder / "bad.toml").write_bytes(text)
    lines = refused(command, "bad.toml")
    assert lines
    assert all(line.startswith("bad.toml:") for line in lines)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('rate   = "2 Mbit/s"', 'rtae   = "2 Mbit/s"', 6, ["rtae", "rate"]),
        ('rate   = "2 Mbit/s"', "rate   = 2", 6, ["bottleneck.rate", "unit"]),
        ('rate   = "2 Mbit/s"', 'rate   = "2 ms"', 6, ["bottleneck.rate", "bit/s"]),
        ('rate   = "2 Mbit/s"', 'rate   = "-2 Mbit/s"', 6, ["bottleneck.rate"]),
        ('duration = "6 s"', 'duration = "nan s"', 2, ["duration"]),
        ('law = "tail_drop"', 'law = "tail_dorp"', 9, ["tail_dorp", "tail_drop"]),
        ('law = "tail_drop"', 'law = "pi", target = "400 packets"', 9, ["target"]),
        ('cc      = "newreno"', 'cc      = "newrino"', 13, ["newrino", "newreno"]),
        ("count   = 8", "count   = 0", 12, ["count"]),
    ],
)
def test_an_error_names_file_line_and_key(refused, folder, old, new, line, words):
    path = folder / "small.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    lines = refused("run", "small.toml", "--out", "out")
    found = [one for one in lines if re.match(rf"small\.toml:{line}:[0-9]+: ", one)]
    assert found, lines
    assert all(word in found[0] for word in words), found
    assert not (folder / "out").exists()


def test_kinds_are_those_of_the_compiled_half(sojourn):
    with pytest.raises(sj.InputError) as error:
        entries("nothing")
    known = re.findall(r"[a-z_]+", str(error.value).partition("expected ")[2])
    assert set(known) - {"topics", "or", "and"} == {*KINDS, "keys"}
    # Its help names all of them.
    help_of_list = " ".join(sojourn("list", "--help").stdout.split())
    assert f"List {', '.join(KINDS)}, keys, figures, or files." in help_of_list


def test_list_is_text_or_json(sojourn):
    names = [line.split()[0] for line in sojourn("list", "laws").stdout.splitlines()]
    assert {"tail_drop", "red", "pi"} <= set(names)
    for kind in KINDS:
        entries = json.loads(sojourn("list", kind, "--json").stdout)
        assert entries, kind
        assert all(entry["name"] and entry["summary"] for entry in entries)


def test_list_scenarios_gives_files_that_check(sojourn, root, monkeypatch, capsys):
    entries = json.loads(sojourn("list", "scenarios", "--json", cwd=root).stdout)
    assert "scenarios/arm_pfc/exp1.toml" in [entry["name"] for entry in entries]
    monkeypatch.chdir(root)
    for entry in entries:
        assert entry["summary"]
        assert main(["check", entry["name"]]) == 0, capsys.readouterr().err


def test_the_gallery_is_at_hand_by_name_in_any_folder(sojourn, root, folder, monkeypatch, capsys):
    entries = json.loads(sojourn("list", "scenarios", "--json").stdout)
    files = sorted((root / "scenarios").rglob("*.toml"))
    names = [path.relative_to(root / "scenarios").with_suffix("").as_posix() for path in files]
    assert [entry["name"] for entry in entries] == names
    monkeypatch.chdir(folder)
    for entry, path in zip(entries, files, strict=True):
        assert Path(entry["path"]).read_bytes() == path.read_bytes()
        assert main(["check", entry["name"]]) == 0, capsys.readouterr().err


def test_a_file_comes_before_a_scenario_of_the_gallery(sojourn, folder):
    (folder / "dumbbell").write_text((folder / "small.toml").read_text())
    assert sojourn("check", "dumbbell").stdout.startswith("Eight flows on a small link\n")


@pytest.mark.parametrize("meant", ["dumbell", "scenarios/dumbbell.toml"])
def test_a_scenario_that_is_not_there_names_the_one_that_is_near(refused, meant):
    assert refused("check", meant) == [
        f'{meant}: there is no such file; did you mean "dumbbell"? '
        "expected a scenario file (TOML), see 'sojourn list scenarios'"
    ]


def test_explain_gives_idea_equation_parameters_and_source(sojourn):
    text = sojourn("explain", "red").stdout
    assert text.startswith("red (law): ")
    assert "Parameters\n" in text
    assert "  max_p" in text
    assert "default 0.1" in text
    assert "Source: " in text
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_names_from_elsewhere_have_what_is_nearest(name):
    found = explain(name)
    assert found["name"] == name
    assert all(explain(one)["name"] == one for one in OTHER_NAMES[name].nearest)
    assert explain(name.upper()) == found


@pytest.mark.parametrize(
    ("name", "entry"),
    [("RED", "red"), ("FQ-CoDel", "fq_codel"), ("Tail Drop", "tail_drop"), ("DCTCP", "dctcp")],
)
def test_explain_takes_the_spellings_of_the_field(sojourn, name, entry):
    assert sojourn("explain", name).stdout.startswith(f"{entry} (")


def test_explain_has_scenarios_of_the_gallery(sojourn):
    lines = sojourn("explain", "home/rrul").stdout.splitlines()
    assert lines[0].startswith("home/rrul (scenario): How fast does a home answer")
    assert lines[2].startswith("The real-time response under load (RRUL) test")
    assert lines[-1] == "  sojourn run home/rrul --out results"


def test_explain_has_names_that_people_know(sojourn):
    text = sojourn("explain", "L4S").stdout
    assert text.startswith("l4s (topic): low latency, low loss and scalable throughput")
    assert "Nearest: dual, pi2, dctcp.\n\nSource: RFC 9330\n" in text
    for name in ("fq_codel", "cake", "sqm", "bbr", "rrul", "hfsc", "mq", "bfifo", "copa"):
        assert sojourn("explain", name).returncode == 0
    assert "skb->priority" in sojourn("explain", "pfifo_fast").stdout


def test_explain_has_the_sqm_of_openwrt_beside_that_of_the_paper(sojourn):
    found = " ".join(sojourn("explain", "sqm").stdout.split())
    assert found.startswith("sqm (qdisc): self-tuning queue management")
    assert "SQM in OpenWrt, sqm-scripts, is another thing: a script that puts a shaper in front" in found


def test_rrul_claims_no_code_points():
    """Its classes have the code point of their group, and qdiscs by DSCP do use it."""
    text = " ".join((sj.apps.Rrul.__doc__ or "").split())
    assert "Here all classes have the code point of the group (`dscp`), best effort by default" in text


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_an_option_too(sojourn, flag):
    assert sojourn(flag).stdout == sojourn("version").stdout


def test_a_list_has_its_name_in_the_singular(sojourn):
    assert sojourn("list", "law").stdout == sojourn("list", "laws").stdout


def test_the_last_part_of_a_scenarios_name_finds_it(sojourn):
    done = sojourn("check", "exp1")
    assert done.stderr.startswith('exp1: there is no such file; did you mean "arm_pfc/exp1"? expected ')


def test_explain_scenario_documents_the_keys(sojourn):
    text = sojourn("explain", "scenario").stdout
    for key in ("duration", "bottleneck", "flows", "warmup"):
        assert f"\n  {key}: " in text
    # Keys of many tables are described once, elsewhere.
    assert len(text.splitlines()) < 70
    for name in ("link", "links", "flows", "at", "home", "distribution", "trace", "framing", "impairments"):
        assert sojourn("explain", name).returncode == 0


def test_explain_has_the_keys_of_a_link_once(sojourn):
    text = sojourn("explain", "link").stdout
    for key in ("rate: ", "trace: ", "delay: ", "buffer: ", "qdisc: ", "framing: ", "impairments: "):
        assert text.count(f"\n  {key}") == 1
    assert "  rate: rate, no default\n" in text
    backs = "and in `back` of all but home's, the other direction."
    assert backs in " ".join(text.split())
    home = sojourn("explain", "home").stdout
    assert "Keys of a link, in `back` too: `sojourn explain link`." in " ".join(home.split())
    assert "home.up.rate" not in home
    assert "home.up.rate: " in sojourn("explain", "home.up.rate").stdout


def test_explain_has_the_forms_of_a_distribution(sojourn):
    text = " ".join(sojourn("explain", "distribution").stdout.split())
    for form in ("{ pareto = MEAN, shape = NUMBER }", "{ table = [[VALUE, SHARE], ...] }", "{ file = NAME }"):
        assert form in text
    assert "not cumulative" in text
    assert "VALUE, SHARE a line, as in 10 kB, 0.5" in text


def test_explain_has_the_keys_of_an_app(sojourn):
    text = sojourn("explain", "rrul").stdout
    assert "  reads: rate, derived by default\n" in text
    ping = sojourn("explain", "ping").stdout
    assert "  every: time, default 200 ms\n" in ping
    assert "  ladder: " not in ping


def test_explain_describes_a_framing(sojourn):
    assert sojourn("explain", "ethernet").stdout.startswith("ethernet (framing): header, check sequence")


def test_an_unknown_name_is_one_short_line(sojourn):
    done = sojourn("explain", "qqqqqq")
    assert done.returncode == 2
    assert len(done.stderr) < 300
    assert "'sojourn list laws'" in done.stderr


def test_explain_scenario_describes_set_for_one_group_of_several(sojourn):
    text = " ".join(sojourn("explain", "scenario").stdout.split())
    for written in ("--set flows[0].count=20", '--set at[1].time="30 s"'):
        assert written in text
    done = sojourn("check", "small.toml", "--set", "flows[0].count=20")
    assert "20 x newreno" in done.stdout


def test_check_shows_the_gains_of_pi(sojourn):
    printed = sojourn("check", "small.toml", "--qdisc", "pi:target=10packets").stdout
    a, b = (line.split()[2] for line in printed.splitlines() if line.split()[:2] in (["a", "="], ["b", "="]))
    done = sojourn(
        "run",
        "small.toml",
        "--json",
        "--qdisc",
        "pi:target=10packets",
        "--qdisc",
        f"pi:target=10packets,a={a},b={b}",
    )
    designed, given = json.loads(done.stdout)["runs"]
    assert designed["metrics"] == given["metrics"]


@pytest.mark.slow
def test_every_entry_of_the_catalogue_is_explained(sojourn, capsys):
    for kind in KINDS:
        for entry in json.loads(sojourn("list", kind, "--json").stdout):
            assert main(["explain", entry["name"]]) == 0, entry
            assert entry["summary"][:20] in capsys.readouterr().out


def test_check_shows_the_run(sojourn):
    done = sojourn("check", "small.toml", "--qdisc", RED, "--set", "bottleneck.rate=3 Mbit/s")
    assert done.returncode == 0
    assert "3 Mbit/s" in done.stdout
    assert "red" in done.stdout


def test_conform_replays_the_built_in_laws_and_other_programs(sojourn, refused):
    done = sojourn("conform", "--law", "codel")
    traces = int(done.stdout.split()[0])
    assert (done.returncode, done.stdout) == (0, f"{traces} of {traces} traces pass\n")
    # A law that lets everything pass is no CoDel: the clause is named.
    always = """sh -c 'while read line; do case "$line" in *arrival*|*departure*) echo pass;; esac; done'"""
    done = sojourn("conform", "--law", "codel", "--against", always)
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.splitlines() if "control_law" in line]
    assert line.startswith(
        "codel/control_law.jsonl:142: answers pass, expected drop (RFC 8289, section 5.6: "
    )
    assert done.stderr == f"sojourn conform: {traces} of {traces} traces differ\n"
    document = json.loads(sojourn("conform", "--law", "codel", "--against", always, "--json").stdout)
    assert not document["holds"]
    assert {trace["law"] for trace in document["traces"]} == {"codel"}
    (line,) = refused("conform", "--law", "coddle")
    assert line.startswith('sojourn conform: --law: "coddle" has no traces; expected ared, arm_pfc, ')
    (line,) = refused("conform", "--law", "codel", "--against", "no-such-program")
    assert line.startswith('sojourn conform: --against: "no-such-program" cannot be started')
    (line,) = refused("conform", "--law", "codel", "--against", "")
    assert line == 'sojourn conform: --against: "" cannot be started (it is empty); expected a command'


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("yes pass", "the command wrote much more than a verdict a line, and was stopped"),
        (r"printf '\033[2Jx\n%050d\n' 3", r"answers '\x1b[2Jx', which is no verdict; expected pass"),
        ("echo pass drop", 'answers "pass drop", which is no verdict; expected pass'),
        ("false", "the command ended with exit code 1"),
    ],
)
def test_conform_handles_any_answer_of_a_program(root, command, message):
    differences = against(root / "vectors" / "tail_drop" / "rate_stall.jsonl", command)
    assert any(message in line for line in differences), differences[:3]
    assert all(line.isprintable() and len(line) < 300 for line in differences)


def test_version_is_one_line(sojourn):
    done = sojourn("version")
    name, number = done.stdout.split()
    assert name == "sojourn"
    assert number[0].isdigit()


def test_a_reader_that_goes_away_is_no_error(folder):
    done = subprocess.run(
        f"{sys.executable} -m sojourn run small.toml --json | head -c 1; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], [], ["list", "laws"]])
def test_a_full_disk_behind_stdout_is_one_line(folder, arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sojourn", *arguments],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    (line,) = done.stderr.splitlines()
    assert line.startswith("sojourn")
    assert line.endswith(": No space left on device")
    assert done.returncode == 1


def test_ctrl_c_in_the_first_moments_is_reported(folder, capsys, monkeypatch):
    import typer.core

    import sojourn.__main__ as start

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    printed = ["sojourn report: interrupted; nothing was written"]
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["sojourn", "report", "out"])
    with monkeypatch.context() as while_it_parses:
        while_it_parses.setattr(typer.core.TyperGroup, "parse_args", interrupt)
        assert start.main() == 130
        assert capsys.readouterr().err.splitlines() == printed
    monkeypatch.setattr("sojourn.cli.main", interrupt)
    assert start.main() == 130
    assert capsys.readouterr().err.splitlines() == printed


def test_a_terminal_without_the_letters_gets_others(sojourn):
    done = sojourn("run", "small.toml", "--seeds", "1..2", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "queue mean" in done.stdout


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_a_file_name_that_is_no_utf8_is_no_error(sojourn, folder):
    name = os.fsdecode(b"sm\xffall.toml")
    (folder / name).write_text((folder / "small.toml").read_text())
    assert sojourn("run", name, "--out", "out").returncode == 0
    assert sojourn("report", "out").returncode == 0
    (folder / name).write_text("")
    done = sojourn("check", name)
    assert done.returncode == 2
    assert done.stderr.startswith("sm?all.toml:")


@pytest.mark.usefixtures("undrawn")
def test_the_largest_seed_runs(sojourn, folder):
    most = 2**64 - 1
    assert sojourn("run", "small.toml", "--seed", most, "--out", "out").returncode == 0
    assert sojourn("report", "out").returncode == 0
    assert json.loads((folder / "out" / "result.json").read_text())["runs"][0]["seed"] == most


def test_main_works_inside_a_process(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["check", "small.toml"]) == 0
    assert "2 Mbit/s" in capsys.readouterr().out
    assert main(["check", "nowhere.toml"]) == 2
    assert capsys.readouterr().err.startswith("nowhere.toml: ")


def test_an_unexpected_error_is_one_line_and_exit_1(folder, capsys, monkeypatch):
    import sojourn.scenario

    def fail(*_):
        raise RuntimeError("boom\nwith two lines")

    monkeypatch.chdir(folder)
    monkeypatch.setattr(sojourn.scenario, "load_as", fail)
    assert main(["check", "small.toml"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "sojourn check: internal error: RuntimeError: boom with two lines (SOJOURN_TRACEBACK=1 shows where)"
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("/dev/zero", "/dev/zero: cannot be read (it is a device); expected a readable scenario file (TOML)"),
        ("large.toml", "large.toml: is too large; expected a scenario file (TOML) of at most 10 MB"),
        (
            "",
            "\"\": is no file name; expected a scenario file (TOML), or a name from 'sojourn list scenarios'",
        ),
    ],
)
def test_an_impossible_scenario_is_refused_before_it_is_read(refused, folder, name, message):
    with (folder / "large.toml").open("wb") as file:
        file.truncate(10_000_001)
    assert refused("check", name) == [message]


def test_a_missing_compiled_part_is_exit_3(sojourn, folder):
    blocker = folder / "block"
    blocker.mkdir()
    (blocker / "sitecustomize.py").write_text("import sys\nsys.modules['sojourn._core'] = None\n")
    done = sojourn("version", env={"PYTHONPATH": str(blocker)})
    assert done.returncode == 3
    assert "sojourn._core cannot be loaded" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def interrupted(folder: Path, flags: list[str], ready, again_s: float | None = None) -> tuple[int, str, str]:
    """Start `sojourn run`, send Ctrl-C once `ready` returns, and perhaps again some seconds later."""
    # A shell's background jobs ignore SIGINT, and so would their children: restore it.
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from sojourn.cli import main; sys.exit(main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", start, "run", "small.toml", *flags],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        ready(process)
        process.send_signal(signal.SIGINT)
        if again_s is not None:
            time.sleep(again_s)
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, out, err


def busy(seconds: float):
    """Wait until the process has used this much CPU time."""

    def ready(process):
        tick = os.sysconf("SC_CLK_TCK")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            if (int(fields[11]) + int(fields[12])) / tick > seconds:
                return
            time.sleep(0.01)

    return ready


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see when a run is at work")
def test_ctrl_c_keeps_what_has_finished(folder):
    # Short runs, and more of them than can finish.
    flags = ["--set", "duration=100 s", "--seeds", "1..4000", "--jobs", "1", "--out", "out", "--json"]
    code, out, err = interrupted(folder, flags, busy(3.0))
    assert code == 130, err
    assert " runs had finished: printed and written to out" in err
    assert "Traceback" not in err
    kept = json.loads(out)["runs"]
    assert 0 < len(kept) < 4000
    assert [run["seed"] for run in kept] == list(range(1, len(kept) + 1))
    from sojourn import Result

    result = Result.read(folder / "out")
    assert len(result.runs) == len(kept)
    assert result.provenance["interrupted"] is True
    assert result.provenance["runs_planned"] == 4000
    page = result.report(folder / "page.html").read_text()
    assert f"Not whole: {len(kept)} of 4000 runs finished." in page


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see when a run is at work")
def test_ctrl_c_before_the_first_result_leaves_nothing(folder):
    flags = ["--set", "duration=100000 s", "--set", "bottleneck.rate=1 Gbit/s", "--out", "out"]
    code, out, err = interrupted(folder, flags, busy(2.0))
    assert code == 130, err
    assert out == ""
    assert "sojourn run: interrupted; none of 1 runs had finished\n" in err
    assert [path.name for path in folder.iterdir()] == ["small.toml"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see when a run is at work")
@pytest.mark.parametrize("gap_s", [0.001, 0.02, 0.1])
def test_an_impatient_ctrl_c_keeps_what_has_finished_too(folder, gap_s):
    flags = ["--set", "duration=100 s", "--seeds", "1..4000", "--jobs", "1", "--out", "out", "--quiet"]
    code, _, err = interrupted(folder, flags, busy(2.0), gap_s)
    assert code == 130, err
    assert " runs had finished: printed and written to out" in err
    from sojourn import Result

    assert Result.read(folder / "out").runs


def test_a_replaced_qdisc_may_be_invalid(sojourn):
    small = [
        "small.toml",
        "--set",
        "bottleneck.buffer=1 packet",
        "--set",
        "bottleneck.qdisc=pi:target=50packets",
    ]
    done = sojourn("check", *small)
    assert done.returncode == 2
    assert "above the buffer" in done.stderr
    assert sojourn("run", *small, "--qdisc", "tail_drop", "--quiet").returncode == 0


def test_a_parameter_of_a_replaced_qdisc_is_refused(refused, sojourn):
    target = ["--set", "bottleneck.qdisc.target=40packets", "--quiet"]
    for flag in ("pie", "bottleneck=pie"):
        (line,) = refused("run", "small.toml", *target, "--qdisc", flag)
        assert line == (
            "sojourn run: --set bottleneck.qdisc.target: --qdisc replaces this qdisc; "
            "expected its parameters there, as --qdisc pie:target=40packets"
        )
    assert sojourn("check", "dumbbell", *target[:2]).returncode == 0
    (line,) = refused("run", "small.toml", *target, "--qdisc", "pie", "--qdisc", "bottleneck=codel")
    assert "--qdisc replaces this qdisc" in line
    change = ["--set", "at[0].set.bottleneck.qdisc.target=12 ms", "--qdisc", "pie"]
    assert sojourn("check", "links/retuned", *change[:2]).returncode == 0
    assert sojourn("run", "links/retuned", *change, "--quiet").returncode == 0


def test_an_invalid_qdisc_is_reported_at_its_flag(refused):
    small = ["dumbbell", "--set", "bottleneck.buffer=50 packets"]
    (line,) = refused("check", *small)
    assert line.startswith("dumbbell:11:25: bottleneck.qdisc.target: ")
    for command in ("check", "run"):
        (line,) = refused(command, *small, "--qdisc", "pi:target=60packets")
        assert line.startswith(f"sojourn {command}: --qdisc: pi.target: "), line


HOME = """
title = "A home"
duration = "2 s"
[home]
up = { rate = "2 Mbit/s", delay = "5 ms", buffer = "50 packets", qdisc = "codel" }
down = { rate = "20 Mbit/s", delay = "5 ms", buffer = "200 packets", qdisc = "pie" }
[[flows]]
"""


def test_a_qdisc_at_one_link(sojourn, refused, folder):
    (folder / "home.toml").write_text(HOME)
    done = sojourn("run", "home.toml", "--qdisc", "up=red", "--qdisc", "up=pi", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert {run["qdisc"] for run in runs} == {"up=red", "up=pi"}
    assert {run["link"] for run in runs} == {"up", "down"}
    printed = sojourn("check", "home.toml", "--qdisc", "up=red").stdout
    assert "fifo under red, at up\n" in printed
    assert "fifo under pie, at down\n" in printed
    red = "red:min=20packets,max=60packets"
    (line,) = refused("run", "home.toml", "--qdisc", red)
    assert line.startswith("sojourn run: --qdisc: up.red.max: 60 packets is above the buffer of 50 packets")
    (line,) = refused("check", "home.toml", "--qdisc", f"up={red}")
    assert line.startswith("sojourn check: --qdisc: up: red.max: 60 packets is above the buffer of 50")
    (line,) = refused("check", "home.toml", "--qdisc", "upp=codel")
    assert line.startswith('sojourn check: --qdisc: "upp" is no link with a qdisc; did you mean "up"?')
    assert sojourn("check", "home.toml", "--qdisc", f"down={red}").returncode == 0


RRUL = """
title = "Both ways"
duration = "2 s"
[bottleneck]
rate = "2 Mbit/s"
delay = "5 ms"
buffer = "50 packets"
[[flows]]
app = "rrul"
"""
NOTE = "rrul-down sends data over bottleneck.back, which has no limit"


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_surprising_settings_are_noted(sojourn, folder):
    (folder / "rrul.toml").write_text(RRUL)
    assert f"\nnotes       {NOTE}" in sojourn("check", "rrul.toml").stdout
    done = sojourn("run", "rrul.toml", "--out", "rrul", "--json")
    assert done.stderr.count(f"note: {NOTE}") == 1
    assert json.loads(done.stdout)["runs"]
    assert NOTE not in sojourn("run", "rrul.toml", "--quiet").stderr
    assert sojourn("report", "rrul").returncode == 0
    assert f"Note: {NOTE}" in (folder / "rrul" / "report.html").read_text()
    assert sj.load(folder / "rrul.toml").notes[0].startswith(NOTE)
    limited = {"bottleneck.back": '{ buffer = "50 packets" }'}
    assert sj.load(folder / "rrul.toml", limited).notes == []


def test_an_invalid_default_is_called_the_default(refused):
    (line,) = refused("check", "small.toml", "--qdisc", "codel:interval=3ms")
    assert line.startswith("sojourn check: --qdisc: codel.target: 5 ms (the default) is not below interval")


@pytest.mark.parametrize("app", ["cbr", "poisson"])
def test_explain_names_the_keys_of_an_app(sojourn, app):
    text = sojourn("explain", app).stdout
    assert "Parameters\n  rate: rate, required\n" in text
    assert "No parameters" not in text


@pytest.mark.parametrize(
    ("name", "first", "also"),
    [
        (
            "flows.tcp.prr",
            "flows.tcp.prr (key): proportional rate reduction",
            "  flows.tcp.prr: word or false",
        ),
        ("flows[0].tcp.prr", "flows.tcp.prr (key): ", "Source: RFC"),
        ("tcp", "flows.tcp (key): settings of TCP", "  flows.tcp.prr: "),
        (
            "cc",
            "flows.cc (key): the congestion control",
            "Why this default: newreno",
        ),
        ("profile", "flows.profile (key): the implementation of TCP: default", "linux, ns2 or ns3"),
        ("access", "flows.access (key): ", "  flows.access.delay: "),
        ("delay", "delay (key): keys of a scenario file", "  flows.access.delay: "),
    ],
)
def test_explain_takes_keys_as_errors_name_them(sojourn, name, first, also):
    done = sojourn("explain", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(first), done.stdout
    assert also in done.stdout, done.stdout


def test_an_unknown_key_is_reported_with_the_nearest(sojourn):
    done = sojourn("explain", "flows.tcp.prrr")
    assert done.returncode == 2
    assert done.stderr.startswith('sojourn explain: "flows.tcp.prrr" is not known; nearest: flows.tcp.prr')


def test_set_begins_with_the_default_of_an_unset_key(sojourn):
    flags = ("--set", "flows[0].cc.abe=true", "--set", "flows[0].ecn=true")
    done = sojourn("check", "dumbbell", *flags)
    assert done.returncode == 0, done.stderr
    assert "newreno:abe=true" in done.stdout
