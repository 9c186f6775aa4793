"""Several links and several classes of traffic: the run, the folder, the table, the plots, the page."""

import json
import re

import polars as pl
import pytest

import sojourn as sj
from sojourn.cli.printing import summary as printed
from sojourn.result import words

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
disc   = "tail_drop"

[[links]]
from   = "b"
to     = "c"
rate   = "3 Mbit/s"
delay  = "5 ms"
buffer = "40 packets"
disc   = "tail_drop"

[[flows]]
name    = "far"
count   = 4
from    = "a"
to      = "c"

[[flows]]
name    = "voice"
app     = "cbr"
rate    = "400 kbit/s"
segment = "500 B"
from    = "a"
to      = "b"
"""
RED = "red:min=5packets,max=15packets"
FAR, VOICE = "far", "voice"
JAIN = "jain_index"
#: Metrics that the first results did not have.
NEW = ("wire_loss_ratio", "one_way_p50_s", "one_way_p95_s", "completed_flows", "turned_away_flows")


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """A result of two links and two classes, as written and read back."""
    place = tmp_path_factory.mktemp("chain")
    (place / "chain.toml").write_text(CHAIN)
    result = sj.run(sj.load(place / "chain.toml"), discs=["tail_drop", RED], seeds=[1, 2])
    again = sj.Result.read(result.write(place / "out"))
    assert again.runs == result.runs
    assert [run.cost for run in again.runs] == [run.cost for run in result.runs]
    return again


@pytest.fixture(scope="module")
def page(chain, tmp_path_factory):
    return chain.report(tmp_path_factory.mktemp("page") / "report.html").read_text()


def test_a_run_has_a_row_for_each_link_and_for_each_class_that_crosses_it(chain):
    rows = [(run.link, run.traffic_class) for run in chain.runs if run.disc == "tail_drop" and run.seed == 1]
    assert rows == [("a-b", None), ("a-b", FAR), ("a-b", VOICE), ("b-c", None), ("b-c", FAR)]
    assert (chain.links, chain.classes, chain.run_count) == (["a-b", "b-c"], [FAR, VOICE], 4)
    assert [bool(run.cost) for run in chain.runs[:5]] == [True, False, False, False, False]


def test_seen_gives_one_row_a_run(chain):
    assert [(run.seed, run.link) for run in chain.seen()] == 2 * [(1, "a-b"), (2, "a-b")]
    assert {run.traffic_class for run in chain.seen("b-c", FAR)} == {FAR}
    assert chain.seen("b-c", VOICE) == ()


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
    at_first = [run for run in chain.runs if (run.disc, run.seed, run.link) == ("tail_drop", 1, "a-b")]
    whole, far, voice = (run.conservation["offered"] for run in at_first)
    assert whole == far + voice


def test_the_summary_names_the_class(chain):
    table = chain.summary().filter((pl.col("metric") == "goodput_bps") & (pl.col("disc") == "tail_drop"))
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


def test_a_result_can_be_looked_at_link_by_link(chain):
    view = chain.at("b-c")
    assert (view.links, view.classes, view.discs) == (["b-c"], [FAR], chain.discs)
    assert view.at("b-c") is view
    assert view.values("tail_drop", "utilization") == chain.values("tail_drop", "utilization", "b-c")
    assert view.series["link"].unique().to_list() == ["b-c"]
    with pytest.raises(sj.InputError, match=r'^link: "c-d" was not watched; legal: a-b or b-c$'):
        chain.at("c-d")


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
            "turned_away_flows",
        ):
            del run["metrics"][name]
    (place / "result.json").write_text(json.dumps(document))
    older = sj.Result.read(place)
    assert (older.classes, older.run_count) == ([], 6)
    assert older.report(tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("place", "key", "value", "says"),
    [
        (1, "class", "", 'runs[1].class: "" is damaged; legal: a name'),
        (1, "class", 3, "runs[1].class: 3 is damaged; legal: a name"),
        (1, "class", VOICE, "runs[2]: tail_drop, seed 1 is runs[1] too; legal: each disc and seed once"),
        (1, "link", "c-d", "runs[1]: tail_drop, seed 1, class far: its link has no row; legal: as "),
    ],
)
def test_a_damaged_class_is_named(chain, refused, folder, place, key, value, says):
    path = chain.write(folder / "out") / "result.json"
    document = json.loads(path.read_text())
    document["runs"][place][key] = value
    path.write_text(json.dumps(document))
    (line,) = refused("report", "out")
    assert line.startswith(f"out/result.json: {says}"), line


def test_a_block_a_link_is_printed_and_a_short_table_of_classes(chain, made):
    first, second = printed(chain).split("\nb-c\n")
    assert first.startswith("Two queues in a row\n2 seeds; mean ± half-width of the 95 % interval\na-b\n")
    for text, classes in ((first, 2), (second, 1)):
        assert text.count("utilisation, %") == text.count("by class") == 1
        assert len(re.findall(r"^(?:far|voice) \((?:tail_drop|red)\)", text, flags=re.M)) == 2 * classes
    assert "by class" not in printed(made)
    assert "bottleneck" not in printed(made)


def test_plots_of_classes(chain, made):
    drawn = chain.plot.classes("goodput_bps")
    assert [label.get_text() for label in drawn.get_yticklabels()] == [FAR, VOICE]
    assert drawn.get_xlabel() == "goodput, Mbit/s"
    assert chain.at("b-c").plot.classes("sojourn_p95_s").get_xlabel() == "sojourn p95, ms"
    assert chain.plot.goodput(VOICE).get_ylabel() == "goodput, kbit/s"
    with pytest.raises(sj.InputError, match=r'^class: "voice" is no class of traffic here; legal: far$'):
        chain.at("b-c").plot.goodput(VOICE)
    with pytest.raises(sj.InputError, match="only one"):
        made.plot.goodput("bulk")
    with pytest.raises(sj.InputError, match=r"plot\.summary"):
        made.plot.classes()


def test_goodput_over_time_is_what_the_class_got(chain):
    chosen = (
        (pl.col("name") == f"goodput_bps.{VOICE}") & (pl.col("disc") == "tail_drop") & (pl.col("seed") == 1)
    )
    series = chain.series.filter(chosen & (pl.col("time") > 1.0000001))
    # 400 kbit/s in packets of 500 B, 28 B of which are headers; a full queue holds back 0.12 s of the 5 s.
    assert series["value"].mean() == pytest.approx(400e3 * 472 / 500, rel=0.12 / 5)
    assert series["link"].unique().to_list() == ["a-b"]


def test_a_picture_of_the_result_is_one_of_its_first_link(chain):
    for draw in ("queue", "cdf"):
        of_all, of_first = (getattr(one.plot, draw)() for one in (chain, chain.at("a-b")))
        assert of_all.lines[0].get_ydata() == pytest.approx(of_first.lines[0].get_ydata(), nan_ok=True)


def test_the_page_has_a_part_a_link_with_its_classes(chain, page):
    parts = re.split(r'<section class="link(?: shown)?" id="link-\d-link">', page)
    assert len(parts) == 3
    assert 'class="link shown" id="link-0-link"' in page, "the first is shown"
    for place, (link, part) in enumerate(zip(chain.links, parts[1:], strict=True)):
        view = chain.at(link)
        assert f"At {link}</h2>" in part
        assert f'data-link="{place}"' in page
        for section in ("summary", "differences", "classes", "queue", "delay", "marks", "use"):
            assert f'id="link-{place}-{section}"' in part
        charts = set(re.findall(r'data-chart="(link[^"]+)"', part))
        assert len(charts) == 7 + len(view.classes)
        for column in words.class_columns(view):
            for one in view.classes:
                mean = words.cell(view, "tail_drop", column, one).partition(" ± ")[0]
                assert not mean or f">{mean}<" in part
    names = re.findall(r'id="([^"]+)"', page)
    assert len(names) == len(set(names)), "no id stands twice"


def test_a_page_of_one_link_and_one_class_has_neither(made, tmp_path):
    page = made.report(tmp_path / "page.html").read_text()
    for word in ('class="link', "data-link", "By class", 'id="classes"', "completion"):
        assert (
            word not in page.partition("<style>")[0] + page.partition("</style>")[2].partition("<script")[0]
        )
