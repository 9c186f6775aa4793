"""Queues of a qdisc in results, on the page and in the terminal; and what users notice."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn.cli.running import summary as printed
from sojourn.plot import Canvas, Plots, bands, style
from sojourn.report import claims, users, wording
from sojourn.report import queues as by_queue
from sojourn.report.page import page
from sojourn.report.service import service
from sojourn.result import queues, words
from sojourn.result.experience import experiences

QDISCS = ["codel", "fq_codel", "dual", "cake:diffserv=diffserv4"]
FLUID = style.STROKES["fluid"]
#: Classes of the home, in the order of the scenario.
CLASSES = ["call", "game", "web", "download", "upload"]


@pytest.fixture(scope="module")
def home():
    """A home in the evening, shortened, with a marked call."""
    scenario = sj.load("home/evening", {"duration": "8 s", "warmup": "2 s", "flows[0].dscp": "EF"})
    return sj.run(scenario, QDISCS, seeds=[1, 2])


def test_each_qdisc_names_its_queues(home):
    assert home.queues("codel") == []
    assert home.queues("fq_codel") == CLASSES
    # The call is at the uplink alone.
    assert home.queues("fq_codel", "down") == CLASSES[1:]
    assert home.queues("dual") == ["C"]
    assert home.queues("cake:diffserv=diffserv4") == ["best_effort", "voice"]
    assert home.queues() == [*CLASSES, "C", "best_effort", "voice"]
    with pytest.raises(sj.InputError, match=r'^qdisc: "pie" is not a qdisc here; expected codel or fq_codel'):
        home.queues("pie")


def test_rows_of_queues_add_up_and_are_no_rows_of_all_traffic(home):
    assert {row.queue for row in home.rows()} == {None}
    assert {row.queue for row in home.rows(traffic_class="call")} == {None}
    for whole in home.rows("up"):
        own = [row for row in home.runs if row.queue and _place(row) == _place(whole)]
        assert bool(own) == (whole.qdisc != "codel")
        for name, count in whole.conservation.items():
            assert not own or sum(row.conservation[name] for row in own) == count
    assert home.rows("down", queue="call") == ()
    with pytest.raises(sj.InputError, match=r"^queue: rows are of a class or of a queue"):
        home.rows(traffic_class="call", queue="call")


def _place(row):
    return row.plant, row.qdisc, row.seed, row.link


def test_a_group_of_hashed_queues_has_the_values_of_its_class(home):
    for metric in ("sojourn_p99_s", "queue_mean_packets", "drop_ratio"):
        of_queue = home.values("fq_codel", metric, queue="upload")
        assert of_queue == home.values("fq_codel", metric, traffic_class="upload")
        assert len(of_queue) == 2
    assert home.values("codel", "sojourn_p99_s", queue="upload") == {}


def test_the_summary_and_the_folder_keep_queues(home, tmp_path):
    table = home.summary().filter(pl.col("metric") == "sojourn_p99_s", pl.col("qdisc") == "fq_codel")
    assert table.filter(link="up")["queue"].drop_nulls().to_list() == CLASSES
    again = sj.Result.read(home.write(tmp_path / "out"))
    assert again.runs == home.runs
    assert again.series.equals(home.series)
    document = json.loads(home.to_json())
    named = [row for row in document["runs"] if row["qdisc"] == "codel"]
    assert named
    assert not any("queue" in row for row in named)
    assert not any(name.startswith("queue_packets.") for name in _series(home, "codel"))


def _series(result, qdisc):
    return result.series.filter(pl.col("qdisc") == qdisc)["name"].cast(pl.String).unique().to_list()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"queue": 3}, "queue: 3 is damaged; expected a name"),
        ({"class": "call"}, "is of a class and of a queue"),
        ({"queue": "game"}, "fq_codel, seed 1 is runs["),
    ],
)
def test_a_damaged_row_of_a_queue_is_named(home, tmp_path, change, message):
    path = home.write(tmp_path / "out") / "result.json"
    document = json.loads(path.read_text())
    row = next(row for row in document["runs"] if row.get("queue") == "call")
    row |= change
    path.write_text(json.dumps(document))
    with pytest.raises(sj.InputError) as error:
        sj.Result.read(tmp_path / "out")
    assert message in str(error.value)


def test_backlogs_of_queues_lie_on_top_of_each_other(home):
    names = set(_series(home, "fq_codel"))
    assert {"active_queues", *(f"queue_packets.{name}" for name in CLASSES)} <= names
    ax = home.plot.queues("fq_codel")
    assert ax.get_legend_handles_labels()[1] == CLASSES
    # The uppermost edge is the backlog of the link.
    top = max(float(path.vertices[:, 1].max()) for one in ax.collections for path in one.get_paths())
    whole = bands.over_time(home.for_link("up"), "queue_packets", 400)
    band = next(one for one in whole if one.variant.qdisc == "fq_codel")
    assert top == pytest.approx(np.nanmax(band.first), rel=1e-9)
    for name in ("codel", "dual"):
        with pytest.raises(sj.InputError, match=rf"^queues: {name} has not several queues with packets"):
            home.plot.queues(name)


def test_no_two_queues_have_one_colour_and_hatch(home):
    looks = [style.Look(place, stroke) for place in range(28) for stroke in (style.Stroke(), FLUID)]
    assert len({(look.colour, look.hatch) for look in looks}) == 56
    names = [*CLASSES, *(f"queue_packets.more{place}" for place in range(4))]
    series = home.series.with_columns(pl.col("name").cast(pl.String))
    of_web = series.filter(pl.col("name") == "queue_packets.web")
    more = [of_web.with_columns(pl.lit(name).alias("name")) for name in names[5:]]
    rows = [
        replace(row, queue=name.removeprefix("queue_packets."))
        for row in home.runs
        if row.queue == "web"
        for name in names[5:]
    ]
    ax = replace(home, series=pl.concat([series, *more]), runs=(*home.runs, *rows)).plot.queues("fq_codel")
    areas = [one for one in ax.collections if one.get_label() in ax.get_legend_handles_labels()[1]]
    seen = [(tuple(one.get_facecolor()[0]), one.get_hatch()) for one in areas]
    assert len(seen) == len(set(seen)) == 9


def test_lines_over_time_are_of_the_first_seed_in_the_range_of_all(home):
    """A mean over seeds cancels their oscillations."""
    view = home.for_link("up")
    whole = bands.over_time(view, "queue_packets", 400)
    assert any(np.nanmax(np.abs(band.first - band.mean)) > 1 for band in whole), "the seeds differ"
    for plots, of in ((view.plot, "first"), (Plots(view, Canvas(one_seed=False)), "mean")):
        lines = [line for line in plots.queue().get_lines() if not line.get_label().startswith("_")]
        assert len(lines) == len(whole)
        for line, band in zip(lines, whole, strict=True):
            assert line.get_ydata() == pytest.approx(getattr(band, of), nan_ok=True)
    widest = view.plot.queue().collections[0].get_paths()[0].vertices[:, 1]
    assert np.nanmax(widest) == pytest.approx(np.nanmax(whole[0].high))


def test_delays_of_queues_are_their_distributions(home):
    ax = home.plot.queue_delays("fq_codel")
    lines = dict(zip(ax.get_legend_handles_labels()[1], ax.get_lines(), strict=True))
    p99 = np.mean(list(home.values("fq_codel", "sojourn_p99_s", queue="upload").values())) * 1e3
    x, y = lines["upload"].get_data()
    assert np.interp(p99, x, y) == pytest.approx(99, abs=0.7)


@pytest.fixture(scope="module")
def shown(home):
    """The page of the home."""
    return page(home)


@pytest.mark.slow
def test_the_page_and_the_terminal_show_queues(home, shown):
    assert shown.count(">By queue</h2>") == 2
    assert re.search(r"Backlog of each queue of fq_codel over time", shown)
    for name in ("drops by the law", "overflows", "deliveries"):
        assert name in shown
    table = printed(home)
    assert "queues of fq_codel" in table
    assert "queues of cake" in table
    assert "queues of dual" not in table, "one queue alone"
    assert "queues of codel" not in table


def test_columns_of_queues_are_ratios_of_their_rows(home):
    cake = next(one for one in home.variants if one.qdisc.startswith("cake"))
    view = home.for_link("up")
    shares = [queues.mean(view, cake, name, queues.COLUMNS[0]).mean for name in ("best_effort", "voice")]
    assert sum(shares) == pytest.approx(100)
    law = next(one for one in queues.COLUMNS if one.column.short == "drops by the law")
    row = view.rows(queue="best_effort")[0].metrics
    found = law.measure(view.rows(queue="best_effort")[0], view.rows()[0])
    assert found == pytest.approx(row["drop_ratio"] - row["overflow_ratio"])


# ---- What users notice --------------------------------------------------------------------------


def test_users_notice_calls_and_waits_first(home):
    assert [(one.traffic_class, one.noun) for one in experiences(home)] == [
        ("call", "R-factor"),
        ("call", "p95 delay"),
        ("game", "p95 lag"),
        ("web", "page load"),
        ("download", "goodput"),
        ("upload", "goodput"),
    ]
    assert experiences(sj.run(sj.load("dumbbell", {"duration": "41 s"}))) == []


def test_users_of_rrul_notice_the_first_ping_and_the_goodputs():
    result = sj.run(sj.load("home/rrul", {"duration": "4 s", "warmup": "2 s"}))
    assert [(one.traffic_class, one.noun) for one in experiences(result)] == [
        ("rrul-ping", "p50 ping"),
        ("rrul-ping", "p95 ping"),
        ("rrul-ping", "p99 ping"),
        ("rrul-ping", "ping-RPM"),
        ("rrul-up", "goodput"),
        ("rrul-down", "goodput"),
    ]
    ping = next(one for one in experiences(result) if one.noun == "p50 ping")
    assert ping.column.unit == "ms"
    assert ping.idle == pytest.approx(16.08, abs=0.01)
    bar = users.section(result)
    assert "less is better, idle 16.1<" in bar
    assert f">{wording.plain(words.scaled(result, result.variants[0], ping.column, 'rrul-ping'))}<" in bar


def test_users_of_video_notice_stalls():
    result = sj.run(sj.load("home/film", {"duration": "30 s", "warmup": "10 s"}))
    nouns = [one.noun for one in experiences(result)]
    assert nouns[:2] == ["segment", "stalls"]


def test_the_headline_claims_what_the_seeds_show():
    scenario = sj.load("home/evening", {"duration": "14 s", "warmup": "4 s"})
    result = sj.run(scenario, ["tail_drop", "fq_codel"], seeds=range(1, 5))
    text = users.headline(result, "tail_drop")
    assert text.startswith("Against tail_drop, fq_codel lowers the p95 delay of call from ")
    assert "raises the R-factor of call from " in text
    first, best = result.variants
    for one in experiences(result):
        found = claims.compare(result, one.column, one.traffic_class)
        what = f"the {one.noun} of {one.traffic_class} "
        shown = found.less(first, best) or found.less(best, first)
        unshown = text.partition("seeds do not distinguish ")[2]
        assert (what.strip() in unshown) != shown, one
        if shown:
            value = words.scaled(result, best, one.column, one.traffic_class).mean
            number = re.search(
                rf"{re.escape(what)}(?:rises |falls )?from [0-9.]+ to ([0-9]+(?:[.][0-9]+)?)", text, re.I
            )[1]
            assert float(number) == pytest.approx(value, rel=0.01)


@pytest.mark.parametrize("name", ["evening", "bufferbloat", "rrul", "call"])
def test_one_seed_gives_its_values_and_claims_nothing(name):
    result = sj.run(sj.load(f"home/{name}", {"duration": "12 s", "warmup": "4 s"}), ["tail_drop", "fq_codel"])
    text = users.headline(result, "tail_drop")
    assert text.startswith("One seed, from tail_drop to fq_codel: ")
    assert text.endswith("Run five or more seeds for intervals.")
    assert not re.search("lowers|raises|nothing|improve|distinguish", text)
    before, after = result.variants
    for one in experiences(result):
        found = claims.compare(result, one.column, one.traffic_class).means
        if before in found and after in found:
            pattern = rf"{re.escape(one.noun)} of {one.traffic_class} (-?[0-9.]+) to (-?[0-9.]+)"
            values = [float(value) for value in re.search(pattern, text).groups()]
            assert values == pytest.approx([found[before].mean, found[after].mean], rel=0.01)


def lags(home, values):
    """The home with these lags of its game, seed by seed, and nothing else that users notice."""
    rows = []
    for row in home.runs:
        if row.qdisc in values and row.queue is None:
            own = {"fct_p95_s": values[row.qdisc][row.seed - 1]} if row.traffic_class == "game" else {}
            rows.append(replace(row, metrics=dict.fromkeys(row.metrics) | own))
    return replace(home, runs=tuple(rows))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ((0.1, 0.1002), "fq_codel changes nothing that users notice by more than 5 %."),
        (
            (0.4, 0.9),
            "fq_codel is not shown to improve what users notice. "
            "2 seeds do not distinguish the p95 lag of game (0.1 and 0.65 s).",
        ),
        (
            (0.2, 0.2),
            "fq_codel is not shown to improve what users notice. "
            "The p95 lag of game rises from 0.1 to 0.2 s.",
        ),
    ],
)
def test_nothing_changes_where_that_is_shown_alone(home, values, sentence):
    text = users.headline(lags(home, {"codel": (0.1, 0.1001), "fq_codel": values}), "codel")
    assert text == f"Against codel, {sentence}"


def test_there_is_no_headline_without_what_users_notice(home):
    bare = tuple(replace(row, metrics=dict.fromkeys(row.metrics)) for row in home.runs)
    assert users.headline(replace(home, runs=bare), "codel") == ""
    alone = tuple(row for row in home.runs if row.qdisc == "codel")
    assert users.headline(replace(home, runs=alone), "codel") == ""


def test_limits_of_pictures_are_stated(home, monkeypatch):
    assert "Without a picture" not in users.section(home)
    monkeypatch.setattr(users, "MOST_PANELS", 4)
    section = users.section(home).replace("&nbsp;", " ")
    assert "Without a picture: goodput of download, goodput of upload," in section
    monkeypatch.setattr(by_queue, "MOST_DRAWN", 1)
    assert "Without a picture: cake." in by_queue.section(home)


def test_20_qdiscs_have_a_picture_too(home):
    runs = [row for row in home.runs if row.qdisc == "codel"]
    names = [f"codel:target={place + 1}ms" for place in range(20)]
    many = replace(home, runs=tuple(replace(row, qdisc=name) for name in names for row in runs))
    assert users.applies(many)
    assert "target=20ms" in users.section(many)
    assert users.headline(many, names[0]).count("R-factor") == 4, "one is the best, four are listed"
    assert "14 more qdiscs below." in users.headline(many, names[0])


def test_bars_begin_at_zero_and_have_their_numbers(home):
    ax = home.plot.bars("fct_mean_s", "web")
    widths = [patch.get_width() for patch in ax.patches]
    means = [
        words.scaled(home, one, words.column_of(home, "fct_mean_s", ("web",)), "web") for one in home.variants
    ]
    assert widths == pytest.approx([one.mean for one in means])
    assert ax.get_xlim()[0] == 0
    assert len(ax.texts) == len(home.variants)


@pytest.mark.slow
def test_the_page_begins_with_them(shown):
    assert shown.index('id="users"') < shown.index('id="network"')
    assert "call: p95 delay, ms" in shown
    assert "more is better" in shown


@pytest.mark.usefixtures("undrawn")
def test_a_page_of_bulk_transfers_has_neither():
    alone = page(sj.run(sj.load("dumbbell", {"duration": "41 s"}), ["pi", "red"]))
    assert "By queue" not in alone
    assert 'id="users"' not in alone


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", ["drr", "fq_codel", "wfq", "prio", "dual", "cake"])
def test_the_result_of_a_scenario_with_a_qdisc_by_its_name_is_read_again(tmp_path, name):
    scenario = sj.load("home/evening", {"duration": "2 s", "warmup": "1 s", "home.up.qdisc": name})
    folder = sj.run(scenario).write(tmp_path / "out")
    read = sj.Result.read(folder)
    assert read.rows()
    assert "<html" in page(read)


def test_the_quality_of_a_call_has_its_score_and_its_category(home):
    call = next(one for one in experiences(home) if one.noun == "R-factor")
    assert call.remark(93.2) == "MOS 4.4, rated best"
    assert call.remark(75.0) == "MOS 3.8, rated medium"
    assert call.remark(20.0) == "MOS 1.3, rated not recommended"
    bars = users.section(home)
    assert re.search(r">[-0-9.]+ \(MOS \d\.\d, [a-z ]+\)<", bars)
    assert all(one.remark(1.0) == "" for one in experiences(home) if one.noun != "R-factor")


def served(home, values, traffic_class="web", metric="fct_mean_s"):
    """The home in which qdiscs have these values of one metric, the same under every seed."""
    rows = []
    for row in home.runs:
        if row.qdisc in values and row.queue is None:
            own = {metric: values[row.qdisc]} if row.traffic_class == traffic_class else {}
            rows.append(replace(row, metrics=dict.fromkeys(row.metrics) | own))
    return replace(home, runs=tuple(rows))


def order(result):
    return [one.qdisc for one in service(result).order]


def test_a_bad_qdisc_changes_no_order_of_others(home):
    for worst in (2.1, 2000.0):
        values = {"codel": worst, "fq_codel": 1.5, "dual": 1.0}
        assert order(served(home, values)) == ["dual", "fq_codel", "codel"]
    calls = {"codel": 5.0, "fq_codel": -10.0, "dual": 60.0}
    assert order(served(home, calls, "call", "r_factor")) == ["dual", "codel", "fq_codel"]


def test_a_qdisc_without_a_value_is_not_the_best_and_is_named(home):
    result = served(home, {"codel": 1.0, "fq_codel": None, "dual": 0.9})
    assert order(result)[0] == "dual"
    both = served(home, {"codel": 1.0, "fq_codel": 0.5})
    rows = tuple(
        replace(row, metrics=row.metrics | {"fct_p95_s": 0.1})
        if (row.qdisc, row.traffic_class) == ("codel", "game")
        else row
        for row in both.runs
    )
    text = users.headline(replace(both, runs=rows), "codel")
    assert text.endswith("fq_codel has no p95 lag of game.")


def test_seeds_that_do_not_distinguish_are_those_of_the_metric(home):
    result = lags(home, {"codel": (0.1, 0.1001), "fq_codel": (0.4, 0.9)})
    rows = tuple(
        row
        for row in result.runs
        if not (row.qdisc == "fq_codel" and row.seed == 2 and row.traffic_class == "game")
    )
    calls = {"codel": 80.0, "fq_codel": 81.0}
    rows = tuple(
        replace(
            row,
            metrics=row.metrics | {"r_factor": calls[row.qdisc] + (row.seed if row.qdisc == "codel" else 0)},
        )
        if row.traffic_class == "call"
        else row
        for row in rows
    )
    text = users.headline(replace(result, runs=rows), "codel")
    assert "2 seeds do not distinguish the R-factor of call" in text
    assert "one seed does not distinguish the p95 lag of game" in text.lower()


def test_the_best_for_users_is_short_of_the_best_by_the_least_in_all(home):
    """A qdisc that is ahead by a little of much and far behind in one thing is not the best."""
    waits = {"call": "one_way_p95_s", "game": "fct_p95_s", "web": "fct_mean_s"}
    of = {"codel": (0.2, 0.2, 2.0), "fq_codel": (0.0101, 0.0202, 0.3), "dual": (0.01, 0.02, 0.9)}

    def row_of(row):
        own = dict(zip(waits, of[row.qdisc], strict=True))
        metrics = {waits[row.traffic_class]: own[row.traffic_class]} if row.traffic_class in waits else {}
        return replace(row, metrics=dict.fromkeys(row.metrics) | metrics)

    runs = tuple(row_of(row) for row in home.runs if row.qdisc in of and row.queue is None)
    text = users.headline(replace(home, runs=runs), "codel")
    assert text.startswith("Against codel, fq_codel lowers the p95 delay of call from 200 to 10.1 ms")


def test_the_lead_names_the_best_and_those_as_good(home):
    values = {"codel": 2.0, "fq_codel": 1.0, "dual": 1.02}
    found = service(served(home, values))
    assert found.sentence == (
        "Best for users is fq_codel: 0 % behind the best values (geometric mean over what they notice); "
        "about as good: dual (1.9 %); the other 95 % (codel)."
    )
    alone = service(served(home, {"codel": 2.0, "fq_codel": 1.0}))
    assert alone.sentence.endswith("(geometric mean over what they notice), against 95 % (codel).")
    rows = re.findall(r"<tr data-law.*?</tr>", found.table(home))
    assert [re.search(r'"law">(\w+)<', row)[1] for row in rows] == ["fq_codel", "dual", "codel"]
    assert ['class="strong"' in row for row in rows] == [True, True, False]
    one = replace(home, runs=tuple(row for row in served(home, values).runs if row.seed == 1))
    assert service(one).lead == "Best for users under this one seed is fq_codel"
    # Lags of a few seeds that overlap.
    loose = service(lags(home, {"codel": (0.5, 0.3), "fq_codel": (0.2, 0.4)}))
    assert "; 2 seeds do not distinguish it from codel (" in loose.sentence
    assert loose.near == []


def test_the_lead_parts_qdiscs_near_the_best_from_those_that_seeds_do_not_distinguish(home):
    values = {"codel": (0.05, 0.4), "fq_codel": (0.1, 0.1), "dual": (0.1001, 0.1002)}
    found = service(lags(home, values))
    assert (found.lead, [one.qdisc for one in found.near]) == ("Best for users is fq_codel", ["dual"])
    assert [one.qdisc for one in found.undecided] == ["codel"]
    assert re.search(
        r"; about as good: dual \(\d+ %\); 2 seeds do not distinguish it from codel \(\d+ %\)\.$",
        found.sentence,
    )


def test_no_seed_in_common_makes_no_best_for_users(home):
    values = served(home, {"codel": 2.0, "fq_codel": 1.0})
    apart = {("codel", 1), ("fq_codel", 2)}
    result = replace(home, runs=tuple(row for row in values.runs if (row.qdisc, row.seed) in apart))
    assert service(result) is None
    written = page(result)
    assert "Best for users" not in written
    assert "No seed has run under both qdiscs, so that they are not compared." in written


@pytest.mark.parametrize("value", [0.1, 3.0])
def test_of_two_qdiscs_that_with_a_value_is_the_best(home, value):
    result = served(home, {"codel": None, "fq_codel": value})
    found = service(result)
    assert [one.qdisc for one in found.order] == ["fq_codel", "codel"]
    assert [one.qdisc for one in found.best] == ["fq_codel"]
    assert found.sentence == (
        "Best for users is fq_codel: 0 % behind the best values (geometric mean over what they notice); "
        "codel has no page load of web."
    )
    last = re.findall(r"<tr data-law.*?</tr>", found.table(result))[-1]
    assert re.findall(r">([^<]+)</td>", last) == ["-", "-"]


@pytest.mark.parametrize(
    ("load", "percent"),
    [(1.0000001, "0"), (1.05, "4.8"), (1.104, "9.9"), (1.1048, "10"), (2.045, "100"), (9.0, "762")],
)
def test_percentages_behind_have_two_digits_and_all_before_the_point(home, load, percent):
    found = service(served(home, {"codel": load, "fq_codel": 1.0}))
    assert f"{percent} % (codel)" in found.sentence or f"codel ({percent} %)" in found.sentence
