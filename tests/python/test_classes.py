"""Several links and several classes of traffic: the run, the folder, the table, the plots, the page."""

import json
import re
import warnings

import polars as pl
import pytest

import sojourn as sj
from sojourn.cli.running import summary as printed
from sojourn.report import rrul
from sojourn.result import tables, words

CHAIN = """\
title    = "Two queues in a row"
duration = "6 s"
warmup   = "1 s"

[[links]]
from   = "a"
to     = "b"
rate   = "4 Mbit/s"
delay  = "5 ms"
buffer = "40 packets"
qdisc   = "tail_drop"

[[links]]
from   = "b"
to     = "c"
rate   = "3 Mbit/s"
delay  = "5 ms"
buffer = "40 packets"
qdisc   = "tail_drop"

[[flows]]
name    = "far"
count   = 4
from    = "a"
to      = "c"

[[flows]]
name = "voice"
app = { cbr = { rate = "400 kbit/s" } }
segment = "500 B"
from = "a"
to = "b"
"""
#: A class whose data cross no qdisc.
AGAINST = """
[[flows]]
name = "against"
from = "c"
to   = "a"
"""
#: A dumbbell with one class there and one back.
BOTH_WAYS = """\
title    = "There and back"
duration = "6 s"
warmup   = "1 s"

[bottleneck]
rate   = "4 Mbit/s"
delay  = "5 ms"
buffer = "40 packets"

[[flows]]
name = "up"

[[flows]]
name = "down"
from = "right"
to   = "left"
"""
#: More transfers than the limit at a time.
FLASH = """\
title    = "A flash crowd"
duration = "4 s"
warmup   = "1 s"

[bottleneck]
rate   = "2 Mbit/s"
delay  = "5 ms"
buffer = "40 packets"

[[flows]]
app = { transfer = { size = "20 kB" } }
count = 2
arrivals = { poisson = "50 ms" }
"""
RED = "red:min=5packets,max=15packets"
RED_TOLD = "red:min=5 packets,max=15 packets"
FAR, VOICE = "far", "voice"
JAIN = "jain_index"
#: Metrics that the first results did not have.
NEW = ("wire_loss_ratio", "one_way_p50_s", "one_way_p95_s", "completed_flows", "rejected_flows")


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """A result of two links and two classes, as written and read back."""
    place = tmp_path_factory.mktemp("chain")
    (place / "chain.toml").write_text(CHAIN)
    result = sj.run(sj.load(place / "chain.toml"), qdiscs=["tail_drop", RED], seeds=[1, 2])
    again = sj.Result.read(result.write(place / "out"))
    assert again.runs == result.runs
    assert [run.cost for run in again.runs] == [run.cost for run in result.runs]
    return again


@pytest.fixture(scope="module")
def page(chain, tmp_path_factory):
    return chain.report(tmp_path_factory.mktemp("page") / "report.html").read_text()


def test_a_run_has_a_row_for_each_link_and_for_each_class_that_crosses_it(chain):
    rows = [(run.link, run.traffic_class) for run in chain.runs if run.qdisc == "tail_drop" and run.seed == 1]
    assert rows == [("a-b", None), ("a-b", FAR), ("a-b", VOICE), ("b-c", None), ("b-c", FAR)]
    assert (chain.links, chain.classes, chain.run_count) == (["a-b", "b-c"], [FAR, VOICE], 4)
    assert [bool(run.cost) for run in chain.runs[:5]] == [True, False, False, False, False]


def test_rows_gives_one_row_a_run(chain):
    assert [(run.seed, run.link) for run in chain.rows()] == 2 * [(1, "a-b"), (2, "a-b")]
    assert {run.traffic_class for run in chain.rows("b-c", FAR)} == {FAR}
    assert chain.rows("b-c", VOICE) == ()


def test_values_are_those_of_the_first_link_and_of_all_traffic_unless_named(chain):
    def goodput(*place):
        return chain.values("tail_drop", "goodput_bps", *place)

    assert goodput() == goodput("a-b") != goodput("b-c")
    assert goodput("b-c") == goodput("b-c", FAR) == goodput(None, FAR)
    for seed, value in goodput().items():
        assert value == pytest.approx(goodput("a-b", FAR)[seed] + goodput("a-b", VOICE)[seed])


def test_packets_of_classes_are_conserved_and_add_up(chain):
    for run in chain.runs:
        count = run.conservation
        assert count["offered"] == count["delivered"] + count["dropped"] + count["held"]
    at_first = [run for run in chain.runs if (run.qdisc, run.seed, run.link) == ("tail_drop", 1, "a-b")]
    whole, far, voice = (run.conservation["offered"] for run in at_first)
    assert whole == far + voice


def test_the_summary_names_the_class(chain):
    table = chain.summary().filter((pl.col("metric") == "goodput_bps") & (pl.col("qdisc") == "tail_drop"))
    assert table["class"].to_list() == [None, FAR, VOICE, None, FAR]
    assert table["n"].to_list() == [2] * 5


def test_rows_of_all_traffic_name_no_class_in_json(chain, made):
    document = json.loads(chain.to_json(cost=True))
    assert document["schema"] == 1
    assert [run.get("class") for run in document["runs"][:5]] == [None, FAR, VOICE, None, FAR]
    assert ["class" in run for run in document["runs"][:2]] == [False, True]
    assert [run.get("class") for run in document["summary"] if run["metric"] == "jain_index"][:2] == [
        None,
        FAR,
    ]
    alone = json.loads(made.to_json())
    assert not any("class" in row for row in alone["runs"] + alone["summary"])


def test_a_result_is_split_by_link(chain):
    view = chain.for_link("b-c")
    assert (view.links, view.classes, view.qdiscs) == (["b-c"], [FAR], chain.qdiscs)
    assert view.for_link("b-c") is view
    assert view.values("tail_drop", "utilization") == chain.values("tail_drop", "utilization", "b-c")
    assert view.series["link"].unique().to_list() == ["b-c"]
    with pytest.raises(sj.InputError, match=r'^link: "c-d" is not a link here; expected a-b or b-c$'):
        chain.for_link("c-d")


@pytest.mark.slow
def test_an_older_result_without_classes_is_read(made, tmp_path):
    place = made.write(tmp_path / "out")
    document = json.loads((place / "result.json").read_text())
    for run in document["runs"]:
        run["class"] = None
        for name in (
            "wire_loss_ratio",
            "one_way_p50_s",
            "one_way_p95_s",
            "completed_flows",
            "rejected_flows",
            "datagram_loss_ratio",
            "r_factor",
            "stall_ratio",
        ):
            del run["metrics"][name]
    (place / "result.json").write_text(json.dumps(document))
    older = sj.Result.read(place)
    assert (older.classes, older.run_count) == ([], 6)
    assert older.report(tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("place", "key", "value", "message"),
    [
        (1, "class", "", 'runs[1].class: "" is damaged; expected a name'),
        (1, "class", 3, "runs[1].class: 3 is damaged; expected a name"),
        (1, "class", VOICE, "runs[2]: tail_drop, seed 1 is runs[1] too; expected each qdisc and seed once"),
        (1, "link", "c-d", "runs[1]: tail_drop, seed 1, class far: its link has no row; expected as "),
    ],
)
def test_a_damaged_class_is_named(chain, refused, folder, place, key, value, message):
    path = chain.write(folder / "out") / "result.json"
    document = json.loads(path.read_text())
    document["runs"][place][key] = value
    path.write_text(json.dumps(document))
    (line,) = refused("report", "out")
    assert line.startswith(f"out/result.json: {message}"), line


def test_a_block_a_link_is_printed_and_a_short_table_of_classes(chain, made):
    first, second = printed(chain, every=True).split("\nb-c\n")
    assert first.startswith(
        "Two queues in a row\n2 seeds; mean ± half-width of the 95 % interval\n\nMean delays at 2"
    )
    assert "\n\na-b\n" in first
    for text, classes in ((first, 2), (second, 1)):
        # All columns fit into two tables.
        assert text.count("utilisation, %") == 1
        tables = text.split("by class")[1:]
        assert len(tables) <= 2
        for table in tables:
            assert len(re.findall(r"^(?:far|voice) \((?:tail_drop|red)\)", table, flags=re.M)) == 2 * classes
    assert "by class" not in printed(made)
    assert "bottleneck" not in printed(made)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("scenario", "columns"),
    [
        ("home/call", ["R-factor", "datagrams lost, %"]),
        ("home/film", ["stalls, %", "completed, flows"]),
        ("flash", ["rejected, flows", "completed, flows"]),
    ],
)
def test_metrics_of_applications_are_printed_and_on_the_page(folder, tmp_path, scenario, columns):
    (folder / "flash.toml").write_text(FLASH)
    lasts = {"duration": "12 s", "warmup": "1 s"}
    result = sj.run(sj.load(folder / "flash.toml") if scenario == "flash" else sj.load(scenario, lasts))
    page = result.report(tmp_path / "page.html").read_text()
    text = " ".join(printed(result).split())
    for column in columns:
        short, _, unit = column.partition(", ")
        assert column in text
        assert f'<th scope="col">{short}<span class="unit">{unit}</span>' in page
        assert f"<dt>{short}</dt>" in page


def test_plots_of_classes(chain, made):
    drawn = chain.plot.classes("goodput_bps")
    assert [label.get_text() for label in drawn.get_yticklabels()] == [FAR, VOICE]
    assert drawn.get_xlabel() == "goodput, Mbit/s"
    assert chain.for_link("b-c").plot.classes("sojourn_p95_s").get_xlabel() == "sojourn p95, ms"
    assert chain.plot.goodput(VOICE).get_ylabel() == "goodput, kbit/s"
    with pytest.raises(sj.InputError, match=r'^class: "voice" is no class of traffic here; expected far$'):
        chain.for_link("b-c").plot.goodput(VOICE)
    with pytest.raises(sj.InputError, match="only one"):
        made.plot.goodput("bulk")
    with pytest.raises(sj.InputError, match=r"plot\.summary"):
        made.plot.classes()


def test_plots_have_the_classes_of_every_link(folder):
    late = '[[flows]]\nname = "late"\nfrom = "b"\nto = "c"\n'
    (folder / "late.toml").write_text(CHAIN + late + AGAINST)
    result = sj.run(sj.load(folder / "late.toml"))
    ends, queues = (result.plot.classes(metric) for metric in ("goodput_bps", "sojourn_p95_s"))
    assert [label.get_text() for label in ends.get_yticklabels()] == [FAR, VOICE, "late", "against"]
    heads_shown = [label.get_text() for label in queues.get_yticklabels()]
    assert heads_shown == ["far, at a-b", "voice, at a-b", "late, at b-c", "against, no qdisc"]
    # Each by its mean and one seed; no queue has the data of the last.
    shown = {line.get_ydata()[0] for line in queues.lines if len(line.get_ydata())}
    assert shown == {0, 1, 2}
    drawn, there = result.plot.goodput("late"), result.for_link("b-c").plot.goodput("late")
    assert drawn.lines[0].get_ydata() == pytest.approx(there.lines[0].get_ydata(), nan_ok=True)


def test_goodput_over_time_is_that_of_the_class(chain):
    chosen = (
        (pl.col("name") == f"goodput_bps.{VOICE}") & (pl.col("qdisc") == "tail_drop") & (pl.col("seed") == 1)
    )
    series = chain.series.filter(chosen & (pl.col("time") > 1.0000001))
    # 400 kbit/s in packets of 500 B, 28 B of which are headers; a full queue holds 0.12 s of the 5 s.
    assert series["value"].mean() == pytest.approx(400e3 * 472 / 500, rel=0.12 / 5)
    assert series["link"].unique().to_list() == ["a-b"]


def test_a_picture_of_the_result_is_one_of_its_first_link(chain):
    for draw in ("queue", "cdf"):
        of_all, of_first = (getattr(one.plot, draw)() for one in (chain, chain.for_link("a-b")))
        assert of_all.lines[0].get_ydata() == pytest.approx(of_first.lines[0].get_ydata(), nan_ok=True)


def test_the_page_has_a_part_a_link_with_its_classes(chain, page):
    parts = re.split(r'<section class="link(?: shown)?" id="link-\d-link">', page)
    assert len(parts) == 3
    assert 'class="link shown" id="link-0-link"' in page, "the first is shown"
    for place, (link, part) in enumerate(zip(chain.links, parts[1:], strict=True)):
        view = chain.for_link(link)
        assert f"At {link}</h2>" in part
        assert f'data-link="{place}"' in page
        for section in ("summary", "differences", "classes", "queue", "delay", "marks", "use"):
            assert f'id="link-{place}-{section}"' in part
        charts = set(re.findall(r'data-chart="(link[^"]+)"', part))
        assert len(charts) == 7 + len(view.classes)
        for column in words.class_columns(view):
            for one in view.classes:
                mean = words.cell(view, view.variants[0], column, one).partition(" ± ")[0]
                assert not mean or f">{mean}<" in part
    names = re.findall(r'id="([^"]+)"', page)
    assert len(names) == len(set(names)), "no id stands twice"


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_a_page_of_one_link_and_one_class_has_neither(made, tmp_path):
    page = made.report(tmp_path / "page.html").read_text()
    for word in ('class="link', "data-link", "By class", 'id="classes"', "completion"):
        assert (
            word not in page.partition("<style>")[0] + page.partition("</style>")[2].partition("<script")[0]
        )


@pytest.fixture(scope="module")
def against(tmp_path_factory):
    """A chain with a class whose data cross no qdisc, as written and read back."""
    place = tmp_path_factory.mktemp("against")
    (place / "chain.toml").write_text(CHAIN + AGAINST)
    result = sj.run(sj.load(place / "chain.toml"), qdiscs=["tail_drop", RED], seeds=[1, 2])
    again = sj.Result.read(result.write(place / "out"))
    assert again.runs == result.runs
    assert again.to_json() == result.to_json()
    return again


@pytest.fixture(scope="module")
def both_ways(tmp_path_factory):
    """A dumbbell of which one class crosses no qdisc."""
    path = tmp_path_factory.mktemp("both") / "both.toml"
    path.write_text(BOTH_WAYS)
    return sj.run(sj.load(path))


def test_a_class_that_crosses_no_qdisc_has_one_row_a_run(against):
    assert against.classes == [FAR, VOICE, "against"]
    assert (against.links, against.places) == (["a-b", "b-c"], ["a-b", "b-c", None])
    rows = [run for run in against.runs if run.traffic_class == "against"]
    assert [(run.link, run.seed, run.conservation) for run in rows] == [
        (None, seed, {}) for seed in (1, 2, 1, 2)
    ]
    assert rows == list(against.rows(traffic_class="against"))
    assert rows[0].metrics["goodput_bps"] > 1e6
    assert rows[0].metrics["utilization"] is rows[0].metrics["sojourn_p95_s"] is None
    document = json.loads(against.to_json())
    assert [run["class"] for run in document["runs"] if run["link"] is None] == ["against"] * 4
    summary = against.summary().filter(pl.col("link").is_null())
    assert summary["class"].unique().to_list() == ["against"]
    assert "rtt_p95_s" in summary["metric"].to_list()


def test_values_of_a_class_are_those_of_its_first_link(against):
    assert list(against.values("tail_drop", "goodput_bps", traffic_class="against")) == [1, 2]
    assert against.values("tail_drop", "drop_ratio", traffic_class="against") == {}
    there = against.for_link(None)
    assert (there.links, there.classes, there.qdiscs) == ([], ["against"], against.qdiscs)
    assert there.series["name"].unique().to_list() == ["goodput_bps.against"]
    assert "against" not in against.for_link("a-b").classes
    assert against.values("tail_drop", "goodput_bps", "a-b", "against") == {}
    assert "None" not in repr(against)


def test_the_series_have_goodput_of_classes_that_cross_no_qdisc(against):
    one = (pl.col("qdisc") == "tail_drop") & (pl.col("seed") == 1) & (pl.col("time") > 1.0000001)
    series = against.series.filter((pl.col("name") == "goodput_bps.against") & one)
    assert series["link"].null_count() == len(series) > 0
    got = against.values("tail_drop", "goodput_bps", traffic_class="against")[1]
    assert series["value"].mean() == pytest.approx(got, rel=0.02)


def test_classes_that_cross_no_qdisc_are_printed_apart(against, both_ways):
    for result, classes, away in ((against, "far voice", "against"), (both_ways, "up", "down")):
        *blocks, last = re.split(r"^(?=by class|no qdisc on the way)", printed(result), flags=re.M)
        assert last.startswith("no qdisc on the way  ")
        assert f"\n{away}" in last
        assert "sojourn" not in last
        assert all(f"\n{one}" in "".join(blocks) for one in classes.split())
        assert f"\n{away}" not in "".join(blocks)


@pytest.mark.slow
def test_pictures_and_page_have_classes_that_cross_no_qdisc(against, both_ways, tmp_path):
    for result, names in ((against, [FAR, VOICE, "against"]), (both_ways, ["up", "down"])):
        assert [label.get_text() for label in result.plot.classes().get_yticklabels()] == names
        assert result.plot.goodput(names[-1]).get_ylabel() == "goodput, Mbit/s"
    page = against.report(tmp_path / "page.html").read_text()
    assert '<h2 class="place">No qdisc on the way</h2>' in page
    part = page.partition('id="link-2-link"')[2].partition("</section>\n</section>")[0]
    assert part.count("data-chart=") == 1
    assert "Queue over time" not in part
    with warnings.catch_warnings():
        # A metric that does not apply to a class leaves the size of the axes.
        warnings.simplefilter("error")
        alone = both_ways.report(tmp_path / "alone.html").read_text()
    assert 'class="place"' not in alone
    table = alone.partition('<table class="classes">')[2].partition("</table>")[0]
    assert re.findall(r'class="law">(.*?)<|colspan="\d+">(no .*?):<', table) == [
        ("up", ""),
        ("", "no qdisc on the way"),
        ("down", ""),
    ]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (
            ("tail_drop", "sojourn_p99"),
            r'metric: "sojourn_p99" is not a metric; did you mean "sojourn_p9\w_s"\?; expected ',
        ),
        (("tail_drop", "utilization", "c-d"), 'link: "c-d" is not a link here; expected a-b or b-c$'),
        (
            ("tail_drop", "utilization", "a-b", "x"),
            'class: "x" is no class of traffic here; expected far or voice$',
        ),
        (("codel", "utilization"), 'qdisc: "codel" is not a qdisc here; expected tail_drop or red:'),
    ],
)
def test_values_of_unknown_names_are_refused(chain, place, message):
    with pytest.raises(sj.InputError, match=f"^{message}"):
        chain.values(*place)


def test_a_picture_of_an_unknown_metric_is_refused(chain):
    for draw in (chain.plot.classes, chain.plot.summary, chain.plot.differences):
        with pytest.raises(sj.InputError, match=r'^metric: "nometric" is not a metric'):
            draw("nometric")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("class", None, "link: null is damaged; expected a name"),
        ("link", "a-b", "tail_drop, seed 1 is runs["),
    ],
)
def test_a_damaged_row_without_a_link_is_named(against, refused, folder, key, value, message):
    path = against.write(folder / "out") / "result.json"
    document = json.loads(path.read_text())
    place = next(place for place, run in enumerate(document["runs"]) if run["link"] is None)
    if key == "link":
        document["runs"][place]["class"] = FAR
    document["runs"][place][key] = value
    path.write_text(json.dumps(document))
    (line,) = refused("report", "out")
    assert line.startswith("out/result.json: runs["), line
    assert message in line


def test_of_many_links_and_classes_the_first_ones_are_printed(folder):
    chain = '[parking_lot]\nrouters = 14\nrate = "9 Mbit/s"\ndelay = "1 ms"\nbuffer = "9 packets"\n'
    (folder / "many.toml").write_text('title = "Many"\nduration = "1 s"\n' + chain + "[[flows]]\n" * 22)
    text = printed(sj.run(sj.load(folder / "many.toml")))
    assert len(re.findall(r"^r\d+-r\d+$", text, flags=re.M)) == 10
    assert text.endswith("\n\nand 3 more links: --json and --out have them")
    assert text.count("and 2 more classes: --json and --out have them") == 10


def test_a_link_is_headed_by_its_own_qdisc(folder):
    (folder / "two.toml").write_text(CHAIN.replace('qdisc   = "tail_drop"', f'qdisc   = "{RED}"', 1))
    scenario = sj.load(folder / "two.toml")
    first, second = printed(sj.run(scenario)).split("\nb-c\n")
    assert first.partition("\na-b\n")[2].splitlines()[0].strip() == RED_TOLD
    assert second.splitlines()[0].strip() == "tail_drop"
    assert printed(sj.run(scenario, "pi")).count("tail_drop") == 0


def test_a_qdisc_with_a_flag_heads_its_link_too(folder):
    (folder / "two.toml").write_text(
        CHAIN.replace('qdisc   = "tail_drop"', f'qdisc   = "{RED},gentle=false"', 1)
    )
    result = sj.run(sj.load(folder / "two.toml"))
    again = sj.Result.read(result.write(folder / "out"))
    for one in (result, again):
        first, second = printed(one).split("\nb-c\n")
        assert (
            first.partition("\na-b\n")[2].splitlines()[0].strip()
            == "red:min=5 packets,max=15 packets,gentle=false"
        )
        assert second.splitlines()[0].strip() == "tail_drop"


def test_the_first_link_is_one_that_data_cross():
    result = sj.run(sj.load("home/film", {"duration": "2 s", "warmup": "1 s"}))
    assert result.links == ["down", "up"]
    assert printed(result).index("\n\ndown\n") < printed(result).index("\n\nup\n")
    assert result.plot.queue().lines[0].get_ydata() == pytest.approx(
        result.for_link("down").plot.queue().lines[0].get_ydata(), nan_ok=True
    )


@pytest.mark.usefixtures("undrawn")
def test_a_page_of_many_links_has_the_busiest(folder, monkeypatch):
    monkeypatch.setattr(tables, "MOST_LINKS", 2)
    chain = '[parking_lot]\nrouters = 4\nrate = "9 Mbit/s"\ndelay = "1 ms"\nbuffer = "9 packets"\n'
    busy = '[[flows]]\nfrom = "r2"\nto = "r4"\n'
    (folder / "many.toml").write_text(f'title = "Many"\nduration = "1 s"\n{chain}{busy}')
    result = sj.run(sj.load(folder / "many.toml"))
    page = result.report(folder / "page.html").read_text()
    assert re.findall(r'class="place">At ([^<]+)</h2>', page) == ["r2-r3", "r3-r4"]
    assert re.findall(r'data-link="\d" aria-pressed="\w+">([^<]+)<', page) == ["r2-r3", "r3-r4"]
    assert "The 2 links of the highest mean utilisation are shown; the result has 1 more." in page


def test_a_plain_buffer_is_headed_as_one(folder):
    last = '[[links]]\nfrom = "c"\nto = "d"\nrate = "2 Mbit/s"\ndelay = "5 ms"\nbuffer = "40 packets"\n'
    flow = '[[flows]]\nname = "last"\nfrom = "c"\nto = "d"\n'
    text = CHAIN.replace('qdisc   = "tail_drop"', f'qdisc   = "{RED}"', 1)
    (folder / "plain.toml").write_text(text.replace("[[flows]]", last + "[[flows]]", 1) + flow)
    scenario = sj.load(folder / "plain.toml")
    for qdisc, heads in ((None, [RED_TOLD, "tail_drop", "tail_drop"]), ("pi", ["pi", "pi", "tail_drop"])):
        result = sj.run(scenario, qdisc)
        blocks = re.split(r"\n(?:a-b|b-c|c-d)\n", printed(result))[1:]
        assert [block.splitlines()[0].strip() for block in blocks] == heads
        heads_shown = [line.partition(": util")[0] for line in str(result).splitlines()[1:]]
        assert heads_shown == [f"  {link}, {head}" for link, head in zip(result.links, heads, strict=True)]
    assert "c-d, pi: " in str(sj.run(scenario, "c-d=pi"))


def test_pings_have_their_round_trips_over_time(tmp_path):
    result = sj.run(sj.load("home/bufferbloat", {"duration": "12 s", "warmup": "2 s"}), ["tail_drop"])
    steps = result.series.filter((pl.col("name") == "rtt_s.ping") & (pl.col("time") > 2))
    values = steps["value"].drop_nans()
    (mean,) = result.values("tail_drop", "rtt_mean_s", traffic_class="ping").values()
    assert values.mean() == pytest.approx(mean, rel=0.02)
    assert len(values) <= len(steps), "steps without a ping have none"
    page = result.report(tmp_path / "page.html").read_text()
    assert "Round trips over time" in page
    assert '-ping-1"' in page
    with pytest.raises(sj.InputError, match="no datagram of 'upload' comes back"):
        result.plot.ping("upload")


def test_a_page_of_rrul_has_the_panels_of_flent():
    keys = {"duration": "6 s", "warmup": "2 s"}
    result = sj.run(sj.load("home/rrul", keys), ["tail_drop", "fq_codel"], seeds=[1])
    assert rrul.stems(result) == ["rrul"]
    picture = rrul.section(result, "tail_drop")
    for label in ("download, Mbit/s", "upload, Mbit/s", "ping, ms"):
        assert picture.count(f">{label}<") == len(rrul.SIZES), label
    home = sj.run(sj.load("home/evening", keys), ["codel"], seeds=[1])
    assert (rrul.stems(home), rrul.section(home, "codel")) == ([], "")


def test_the_panels_of_rrul_have_lines_a_legend_and_few_qdiscs(tmp_path):
    keys = {"duration": "6 s", "warmup": "2 s"}
    result = sj.run(sj.load("home/rrul", keys), ["tail_drop", "red", "codel", "pie", "cake"], seeds=[1, 2])
    page = result.report(tmp_path / "page.html").read_text()
    figure = page[page.index('<figure id="rrul">') :]
    figure = figure[: figure.index("</figure>")]
    assert page.index('<figure id="users">') < page.index('<figure id="rrul">')
    wide = figure[: figure.index("</svg>")]
    assert wide.count(">tail_drop<") == wide.count(">cake<") == 1
    assert sum(f">{qdisc}<" in wide for qdisc in result.qdiscs) == rrul.MOST
    assert "The line is seed 1, the band" in figure
    assert "Each point averages 0.5 s. 2 more qdiscs: by class of traffic, below." in figure
    # Each of three lines in each of three panels joins more than two points.
    lines = re.findall(r'<path d="M[^z"]*"[^>]*stroke:var\(--qdisc', wide)
    assert sum(len(re.findall(r"[lhv]", one)) > 0 for one in lines) >= 9


FLOWS = """
title = "Named like a test"
duration = "4 s"
warmup = "1 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "100 packets"
qdisc = "pi2"
[[flows]]
name = "t-down"
[[flows]]
name = "t-up"
[[flows]]
name = "t-ping"
"""


@pytest.mark.parametrize(
    ("more", "plants"),
    [("", ["packet"]), ('app = "ping"\nstart = "3.99 s"\n', ["packet"]), ("", ["fluid"])],
)
def test_a_page_of_classes_named_like_rrul_without_pings_has_no_panels(tmp_path, more, plants):
    (tmp_path / "named.toml").write_text(FLOWS + more)
    result = sj.run(sj.load(tmp_path / "named.toml"), ["pi2", "pi"], seeds=[1], plants=plants)
    assert '<figure id="rrul">' not in result.report(tmp_path / "page.html").read_text()
