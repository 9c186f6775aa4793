"""The page in a real browser, with every host blocked: it opens, draws, zooms, and makes no requests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from browser import Browser, find

import sojourn as sj

pytestmark = pytest.mark.browser

OVER_TIME = ("queue", "delay", "drops", "marks", "utilization", "window")
CHARTS = (*OVER_TIME, "ccdf")
#: Samples of a long series, and time limit of their picture, ms.
LONG = 200_000


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser, or a skip that names the way to get one."""
    path = find()
    if path is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    tab = Browser(path, tmp_path_factory.mktemp("profile"))
    yield tab
    tab.close()


@pytest.fixture(scope="module")
def page(made, tmp_path_factory):
    """The page of two laws and three seeds."""
    return made.report(tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def chain_page(made, tmp_path_factory):
    """The page of a result at two links with equal rows."""
    names = ("first", "second")
    runs = tuple(replace(run, link=link) for link in names for run in made.runs)
    series, distributions = (
        pl.concat(table.with_columns(pl.lit(link, pl.Enum(names)).alias("link")) for link in names)
        for table in (made.series, made.distributions)
    )
    result = replace(made, runs=runs, series=series, distributions=distributions)
    return result.report(tmp_path_factory.mktemp("chain") / "report.html")


@pytest.fixture(scope="module")
def long_page(made, tmp_path_factory):
    """The page of one law and one seed with 200 000 samples of every quantity, including four single
    flows.
    """
    rng = np.random.default_rng(1)
    time = (np.arange(LONG) + 1) * 6.0 / LONG
    names = ("queue_packets", "sojourn_s", "drop_ratio", "mark_ratio", "utilization", "window_packets")
    series = pl.concat(
        pl.DataFrame({"time": time, "value": (1 + np.sin(9 * time) + 0.3 * rng.normal(size=LONG)).clip(0)})
        .with_columns(pl.lit(name).alias("name"))
        .with_columns(pl.lit(1, dtype=pl.UInt64).alias("seed"), pl.lit("tail_drop").alias("qdisc"))
        for name in names
    )
    series = pl.concat([series, *(saw_tooth(time, flow) for flow in range(4))])
    run = next(run for run in made.runs if run.qdisc == "tail_drop" and run.seed == 1)
    result = replace(made, runs=(run,), series=series)
    return result.report(tmp_path_factory.mktemp("long") / "report.html")


def saw_tooth(time, flow):
    """A congestion window that grows by a packet each round trip of 20 ms and falls to half of forty."""
    window = 20 + np.floor((time / 0.02 + 5 * flow) % 20)
    return pl.DataFrame({"time": time, "value": window}).with_columns(
        pl.lit(f"window_packets.flow_{flow}").alias("name"),
        pl.lit(1, dtype=pl.UInt64).alias("seed"),
        pl.lit("tail_drop").alias("qdisc"),
    )


def look_at(browser, name):
    """Scroll a chart into view, where it is drawn."""
    browser.evaluate(f"document.querySelector('[data-chart={name}]').scrollIntoView({{block: 'center'}})")
    browser.settle()


def chart(browser, name, key):
    """A data attribute of a chart in view, as a number."""
    look_at(browser, name)
    return float(browser.evaluate(f"document.querySelector('[data-chart={name}]').dataset.{key}"))


def box(browser, name):
    """Position of a chart's plotting area in the window, after scrolling it into view."""
    look_at(browser, name)
    found = browser.evaluate(
        f"(({{x, y, width, height}}) => [x, y, width, height])"
        f"(document.querySelector('[data-chart={name}] .u-over').getBoundingClientRect())"
    )
    return tuple(found)


def drag(browser, name, start, end):
    """Drag over a chart between two shares of its width."""
    x, y, width, height = box(browser, name)
    browser.mouse("moved", x + start * width, y + height / 2)
    browser.mouse("pressed", x + start * width, y + height / 2)
    browser.mouse("moved", x + (start + end) / 2 * width, y + height / 2)
    browser.mouse("moved", x + end * width, y + height / 2)
    browser.mouse("released", x + end * width, y + height / 2)


def double_click(browser, name):
    x, y, width, height = box(browser, name)
    for clicks in (1, 2):
        browser.mouse("pressed", x + width / 2, y + height / 2, clicks)
        browser.mouse("released", x + width / 2, y + height / 2, clicks)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 900, 1600])
def test_it_opens_with_every_figure_and_makes_no_requests(browser, page, width, dark):
    browser.open(page, width, dark=dark)
    assert browser.complaints == []
    assert browser.requests == [page.as_uri()]
    for name in CHARTS:
        look_at(browser, name)
    inked = browser.evaluate(
        "[...document.querySelectorAll('.chart canvas')].map((canvas) => canvas.getContext('2d')"
        ".getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte > 0))"
    )
    assert inked == [True] * len(CHARTS)
    assert browser.evaluate("document.documentElement.scrollWidth") == width, "nothing hangs over the side"
    paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")


def many_laws(made):
    """Nine laws with long names, and samples of single flows."""
    base = made.series.filter((pl.col("qdisc") == "tail_drop") & (pl.col("seed") == 1))
    flow = base.filter(pl.col("name") == "window_packets")
    flow = flow.with_columns(pl.lit("window_packets.flow_7").alias("name"))
    base = pl.concat([base, flow], how="vertical_relaxed")
    qdiscs = [f"red:min={low} packets,max={low + 90} packets,gentle=false" for low in range(9)]
    return replace(
        made,
        runs=tuple(replace(made.runs[0], qdisc=qdisc) for qdisc in qdiscs),
        series=pl.concat([base.with_columns(pl.lit(qdisc).alias("qdisc")) for qdisc in qdiscs]),
    )


@pytest.mark.parametrize("width", [400, 900, 1600])
def test_nine_laws_and_their_flows_fit_the_page(browser, made, tmp_path, width):
    browser.open(many_laws(made).report(tmp_path / "nine.html"), width)
    assert browser.complaints == []
    assert browser.evaluate("document.documentElement.scrollWidth") == width, "nothing hangs over the side"
    legend = "document.querySelector('.laws')"
    assert browser.evaluate(f"{legend}.scrollWidth <= {legend}.clientWidth"), "no legend is cut"
    panels = "document.querySelectorAll('#chart-window .panel:not([hidden])').length"
    assert browser.evaluate(panels) == 9
    browser.evaluate("document.getElementById('overlay').click()")
    pressed = "document.querySelectorAll('.toggle[aria-pressed=true]').length"
    assert browser.evaluate(pressed) == 3, "an overlay begins with three laws"
    browser.evaluate("document.querySelectorAll('.toggle[aria-pressed=false]').forEach((one) => one.click())")
    x, y, across, height = box(browser, "window")
    browser.mouse("moved", x + across / 2, y + height / 2)
    assert browser.evaluate("document.querySelectorAll('.tip:not([hidden]) output').length") == 9
    flows = "JSON.parse(document.getElementById('data').textContent).charts.at(-1).levels[0].flows.length"
    assert browser.evaluate(flows) == 9


def test_charts_are_drawn_in_view_alone(browser, page):
    browser.open(page, 1400)
    drawn = "[...document.querySelectorAll('.chart:has(canvas)')].map((one) => one.dataset.chart)"
    assert browser.evaluate(drawn) == [], "all are below the first screen"
    look_at(browser, "queue")
    seen = browser.evaluate(drawn)
    assert "queue" in seen
    assert "window" not in seen
    assert browser.complaints == []


def test_a_chart_out_of_view_follows_the_theme(browser, page):
    browser.open(page, 900)
    look_at(browser, "queue")
    day = browser.evaluate(INK)
    look_at(browser, "window")
    browser.evaluate("document.getElementById('theme').click()")
    look_at(browser, "queue")
    assert browser.evaluate(INK) != day
    browser.evaluate("document.getElementById('theme').click()")
    browser.settle()
    assert browser.evaluate(INK) == day


@pytest.mark.parametrize("width", [500, 900, 1400])
def test_the_first_screen_has_the_answer_and_the_whole_picture(browser, made, tmp_path, width):
    browser.open(many_laws(made).report(tmp_path / "nine.html"), width)
    picture = "[...document.querySelectorAll('.tradeoff svg')].filter((one) => one.clientWidth > 50)[0]"
    bottom = f"{picture}.getBoundingClientRect().bottom"
    assert browser.evaluate(bottom) <= 900
    order = "['.headline', '.demands', '.tradeoff', '#network', '.tools']"
    tops = browser.evaluate(f"{order}.map((one) => document.querySelector(one).getBoundingClientRect().top)")
    if width < 1000:
        assert tops == sorted(tops)
    heads = "[...document.querySelectorAll('.ranking th, .demands th')]"
    cut = f"{heads}.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    assert browser.evaluate(cut) == 0, "no head of a column is cut"
    sides = f"{heads}.map((one) => one.getBoundingClientRect().right)"
    assert max(browser.evaluate(sides)) <= width


def test_panels_are_drawn_in_view_and_zoom_together(browser, made, tmp_path):
    browser.open(many_laws(made).report(tmp_path / "nine.html"), 1200)
    drawn = "document.querySelectorAll('#chart-window .panel canvas').length"
    assert browser.evaluate(drawn) == 0, "it is far below"
    browser.evaluate("document.querySelector('#chart-window').scrollIntoView({block: 'center'})")
    browser.settle()
    browser.evaluate("new Promise((done) => setTimeout(done, 300))")
    assert browser.evaluate(drawn) == 9
    panel = "document.querySelectorAll('#chart-window .panel .chart')"
    browser.evaluate(f"{panel}[2].dispatchEvent(new KeyboardEvent('keydown', {{key: '+'}}))")
    browser.evaluate("new Promise((done) => setTimeout(done, 300))")
    assert browser.evaluate(f"[...{panel}].map((one) => Number(one.dataset.from))") == [1.5] * 9
    browser.evaluate("document.getElementById('overlay').click()")
    browser.settle()
    assert chart(browser, "window", "from") == 1.5, "the overlay has the same view"
    assert browser.complaints == []


CHARTS_OF_KEYS = (
    "[...document.querySelectorAll('.chart')].filter((one) => one.getClientRects().length > 0)"
    ".map((one) => [one.tabIndex, one.role, one.ariaLabel,"
    " document.getElementById(one.getAttribute('aria-describedby')).textContent])"
)


def test_every_chart_and_panel_is_in_reach_of_keys_and_has_a_label(browser, made, page, tmp_path):
    browser.open(page, 1200)
    one = browser.evaluate(CHARTS_OF_KEYS)
    browser.open(many_laws(made).report(tmp_path / "nine.html"), 1200)
    many = browser.evaluate(CHARTS_OF_KEYS)
    assert len(one) == len(CHARTS)
    assert len(many) == 9 * len(OVER_TIME) + 1
    for found in (one, many):
        assert {(index, role) for index, role, _, _ in found} == {(0, "group")}
        assert len({label for _, _, label, _ in found}) == len(found)
        for key in ("+", "\u2212", "\u2190", "\u2192", "Esc"):
            assert all(key in keys for *_, keys in found)
    assert many[0][2].startswith("Tails of the delay: ")
    assert many[1][2].startswith("Queue: red")
    assert browser.evaluate("document.querySelectorAll('[role=tab], [role=toolbar]').length") == 0


def test_it_draws_the_numbers_of_the_result(browser, page, made):
    browser.open(page)
    level = "JSON.parse(document.getElementById('data').textContent).charts[0].levels.at(-1)"
    points, step = browser.evaluate(f"[{level}.points, {level}.step]")
    assert step == pytest.approx(made.series["time"].unique().sort()[0])
    assert points == made.series["time"].n_unique()
    x, y, width, height = box(browser, "queue")
    browser.mouse("moved", x + width / 2, y + height / 2)
    values = browser.evaluate("document.querySelector('[data-chart=queue] .tip').innerText").split()
    assert values[1] == "s"
    assert values[2] == "tail_drop"
    when, until = float(values[0]), chart(browser, "queue", "step")
    near = made.series.filter(
        (pl.col("name") == "queue_packets")
        & (pl.col("qdisc") == "tail_drop")
        & ((pl.col("time") - when).abs() < until)
    )["value"]
    assert near.min() <= float(values[3]) <= near.max()


def test_charts_over_time_zoom_together_and_come_back(browser, page):
    browser.open(page)
    coarse = chart(browser, "queue", "step")
    drag(browser, "queue", 0.25, 0.5)
    for name in OVER_TIME:
        assert chart(browser, name, "from") == pytest.approx(1.5, abs=0.05), name
        assert chart(browser, name, "to") == pytest.approx(3.0, abs=0.05), name
    last = chart(browser, "ccdf", "to")
    assert chart(browser, "queue", "step") < coarse, "a closer look has finer points"
    double_click(browser, "delay")
    assert [chart(browser, name, "to") for name in OVER_TIME] == [6.0] * len(OVER_TIME)
    drag(browser, "ccdf", 0.0, 0.5)
    assert chart(browser, "ccdf", "to") < last
    assert chart(browser, "queue", "to") == 6.0
    browser.evaluate("document.getElementById('whole').click()")
    assert browser.evaluate("document.getElementById('whole').hidden")
    assert browser.complaints == []


def test_the_cursor_goes_through_all_charts_over_time(browser, page):
    browser.open(page)
    for name in CHARTS:
        look_at(browser, name)
    x, y, width, height = box(browser, "queue")
    browser.mouse("moved", x + width / 2, y + height / 2)
    lines = "document.querySelectorAll('.u-cursor-x:not(.u-off)')"
    shown = browser.evaluate(f"[...{lines}].map((line) => line.closest('.chart').dataset.chart)")
    assert set(OVER_TIME) <= set(shown)
    assert browser.evaluate("document.querySelectorAll('.tip:not([hidden])').length") == 1
    seen = "[...document.querySelectorAll('[data-chart=delay] .u-cursor-pt:not(.u-off)')]"
    assert browser.evaluate(f"{seen}.filter((dot) => dot.offsetWidth > 0).length") == 2, "one dot a law"


def test_keys_zoom_too(browser, page):
    def press(key):
        event = f"new KeyboardEvent('keydown', {{key: '{key}'}})"
        browser.evaluate(f"document.querySelector('[data-chart=queue]').dispatchEvent({event})")
        return chart(browser, "delay", "from"), chart(browser, "delay", "to")

    browser.open(page)
    assert press("+") == (1.5, 4.5)
    assert press("ArrowRight") == (2.25, 5.25)
    assert press("ArrowRight") == (3.0, 6.0), "the end of the run is the end"
    assert press("Escape") == (0.0, 6.0)


INK = (
    "(() => { const canvas = document.querySelector('[data-chart=queue] canvas');"
    "return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)"
    ".data.reduce((sum, byte) => sum + byte, 0) })()"
)


def toggle(browser, law):
    """Toggle a law; returns True if it is shown, and the ink of the first chart."""
    return press_toggle(browser, law), browser.evaluate(INK)


def press_toggle(browser, law):
    """Toggle a law; returns True if it is shown."""
    button = f"document.querySelector('.toggle[data-law=\"{law}\"]')"
    browser.evaluate(f"{button}.click()")
    browser.settle()
    return browser.evaluate(f"{button}.getAttribute('aria-pressed')") == "true"


def test_a_law_is_hidden_and_shown_again(browser, page):
    browser.open(page)
    look_at(browser, "queue")
    before = browser.evaluate(INK)
    there, ink = toggle(browser, 0)
    assert not there
    assert ink != before
    assert toggle(browser, 0) == (True, before)


def coloured(browser, name, law):
    """Number of a chart's pixels in the colour of a law."""
    slot = f"JSON.parse(document.getElementById('data').textContent).laws[{law}].colour"
    return browser.evaluate(
        f"(() => {{ const canvas = document.querySelector('[data-chart={name}] canvas');"
        "const text = getComputedStyle(document.documentElement).getPropertyValue(`--qdisc-${" + slot + "}`);"
        "const wanted = text.trim().match(/[0-9a-f]{2}/gi).map((hex) => parseInt(hex, 16));"
        "const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        "let found = 0;"
        "for (let i = 0; i < data.length; i += 4)"
        "found += data[i + 3] > 200 && wanted.every((byte, k) => Math.abs(byte - data[i + k]) < 12);"
        "return found; })()"
    )


def test_tails_stay_when_a_law_is_hidden_and_when_zoomed(browser, page):
    browser.open(page)
    look_at(browser, "ccdf")
    assert coloured(browser, "ccdf", 1) > 50
    assert not press_toggle(browser, 0)
    assert coloured(browser, "ccdf", 0) == 0
    assert coloured(browser, "ccdf", 1) > 50
    assert press_toggle(browser, 0)
    drag(browser, "ccdf", 0.0, 0.7)
    browser.settle()
    assert coloured(browser, "ccdf", 1) > 50


def test_tails_are_in_an_overlay(browser, made, tmp_path):
    laws = many_laws(made)
    one = made.distributions.filter((pl.col("qdisc") == "tail_drop") & (pl.col("seed") == 1))
    delays = pl.concat([one.with_columns(pl.lit(qdisc).alias("qdisc")) for qdisc in laws.qdiscs])
    browser.open(replace(laws, distributions=delays).report(tmp_path / "nine.html"), 1200)
    browser.evaluate("document.getElementById('overlay').click()")
    look_at(browser, "ccdf")
    assert browser.evaluate("document.querySelectorAll('.toggle[aria-pressed=false]').length") == 6
    shown = browser.evaluate(
        "[...document.querySelectorAll('.toggle[aria-pressed=true]')].map((one) => Number(one.dataset.law))"
    )
    # All have the same numbers: the last one covers the others.
    assert max(coloured(browser, "ccdf", law) for law in shown) > 50


def test_both_plants_are_drawn_the_thin_line_on_the_broad_one(browser, both, tmp_path):
    browser.open(both.report(tmp_path / "both.html"))
    assert browser.complaints == []
    x, y, width, height = box(browser, "queue")
    browser.mouse("moved", x + width / 2, y + height / 2)
    rows = (
        "[...document.querySelectorAll('[data-chart=queue] .tip div span')].map((name) => name.textContent)"
    )
    assert browser.evaluate(rows) == ["tail_drop, fluid", "tail_drop, packet", "red, fluid", "red, packet"]
    broad = "JSON.parse(document.getElementById('data').textContent).laws.map((law) => law.width)"
    assert browser.evaluate(broad) == [1.2, 3.6, 1.2, 3.6]
    empty = [toggle(browser, law)[1] for law in range(4)][-1]
    for law in range(4):
        assert toggle(browser, law)[1] != empty, "it has a line of its own"
        assert toggle(browser, law)[1] == empty


def test_the_theme_is_the_readers(browser, page):
    browser.open(page, dark=True)
    browser.evaluate("document.getElementById('theme').click()")
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.evaluate("document.getElementById('theme').textContent") == "dark"


@pytest.mark.parametrize("kind", ["report", "certificate"])
def test_an_injected_script_is_not_run(browser, page, tmp_path, kind):
    if kind == "certificate":
        page = sj.prove(sj.load("dumbbell"), "pi").report(tmp_path / "certificate.html")
    traps = "<script>window.trapped = 1</script><img src='x' onerror='window.trapped = 2'>"
    trapped = tmp_path / "trapped.html"
    trapped.write_text(page.read_text().replace("<main>", f"<main>{traps}", 1))
    browser.open(trapped)
    assert browser.evaluate("typeof window.trapped") == "undefined"
    assert sum("Content Security Policy" in complaint for complaint in browser.complaints) >= 2


def test_paper_has_the_still_pictures_on_white(browser, page):
    browser.open(page, 700, dark=True)
    browser.send("Emulation.setEmulatedMedia", media="print")
    shown = "[...document.querySelectorAll('%s')].filter((one) => one.checkVisibility()).length"
    assert browser.evaluate(shown % ".still > svg") == len(CHARTS)
    assert browser.evaluate(shown % ".chart, .tools") == 0
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.evaluate("document.documentElement.scrollWidth") == 700


def test_paper_breaks_within_sections_and_has_no_arrows_of_sorting(browser, page):
    browser.open(page, 900)
    arrow = "getComputedStyle(document.querySelector('.ranking thead button'), '::before').display"
    assert browser.evaluate(arrow) != "none"
    browser.send("Emulation.setEmulatedMedia", media="print")
    assert browser.evaluate(arrow) == "none"
    inside = "[...document.querySelectorAll('%s')].map((one) => getComputedStyle(one).breakInside)"
    assert set(browser.evaluate(inside % "section")) == {"auto"}
    assert set(browser.evaluate(inside % "figure, tr")) == {"avoid"}


def test_paper_has_all_columns_of_wide_tables(browser, tmp_path):
    """In the width of A4 within its margins; paper does not scroll."""
    scenario = sj.load("home/evening", {"duration": "8 s", "warmup": "3 s"})
    written = sj.run(scenario, qdiscs=["tail_drop", "pie"], seeds=[1, 2, 3]).report(tmp_path / "page.html")
    browser.open(written, 673)
    browser.send("Emulation.setEmulatedMedia", media="print")
    tables = "[...document.querySelectorAll('main table')].filter((one) => one.checkVisibility())"
    assert browser.evaluate(f"{tables}.length") > 5
    assert browser.evaluate(f"Math.max(...{tables}.map((one) => one.getBoundingClientRect().right))") <= 673
    flows = "getComputedStyle(document.querySelector('.scroll')).overflowX"
    assert browser.evaluate(flows) == "visible"


def test_without_scripts_the_still_pictures_remain(browser, page, tmp_path):
    bare = tmp_path / "bare.html"
    text = page.read_text()
    bare.write_text(text[: text.index("<script")] + "</body></html>")
    browser.open(bare)
    shown = "[...document.querySelectorAll('%s')].filter((one) => one.checkVisibility()).length"
    assert browser.evaluate(shown % ".still > svg") == len(CHARTS)
    assert browser.evaluate(shown % ".chart, .tools, .live-only") == 0
    left = "new Set([...document.querySelectorAll('.charts > figure')].map((one) => one.offsetLeft)).size"
    assert browser.evaluate(left) == 1, "one column"


def test_200_000_points_stay_smooth_in_some_megabytes(browser, long_page):
    assert long_page.stat().st_size < 4e6
    browser.open(long_page)
    assert chart(browser, "queue", "finest") == chart(browser, "window", "finest") == LONG
    flows = "JSON.parse(document.getElementById('data').textContent).charts.at(-1).levels.at(-1).flows.length"
    assert browser.evaluate(flows) == 4
    noted = "document.querySelector('#chart-drops .live-only')"
    assert browser.evaluate(f"{noted}.checkVisibility()")
    assert browser.evaluate(f"{noted}.textContent") == " (finest here 200 µs; series.parquet has 30 µs)"
    assert browser.evaluate("document.querySelector('#chart-queue .live-only')") is None, "it has all"
    # The cost of a picture grows with its points; its duration depends on the machine.
    assert (
        len(browser.evaluate("performance.getEntriesByName('first picture').map((entry) => entry.duration)"))
        == 1
    )
    assert chart(browser, "queue", "points") < 5000
    for _ in range(6):
        drag(browser, "queue", 0.3, 0.7)
        assert chart(browser, "queue", "points") < 5000, "no picture draws more than its width can show"
    took = browser.evaluate("performance.getEntriesByName('zoom').map((entry) => entry.duration)")
    assert len(took) == 6
    assert chart(browser, "queue", "step") == pytest.approx(6.0 / LONG)
    assert browser.complaints == []


def test_one_of_several_links_is_shown_and_its_charts_have_their_size(browser, chain_page):
    browser.open(chain_page)
    shown = "[...document.querySelectorAll('section.link')].map((part) => part.getClientRects().length > 0)"
    widths = "[...document.querySelectorAll('#link-1-queue .chart canvas')].map((one) => one.clientWidth)"
    assert browser.evaluate(shown) == [True, False]
    browser.evaluate("document.querySelectorAll('button.place')[1].click()")
    look_at(browser, "link-1-queue")
    assert browser.evaluate(shown) == [False, True]
    assert min(browser.evaluate(widths)) > 300
    assert browser.evaluate("document.querySelectorAll('button.place[aria-pressed=true]').length") == 1
    browser.send("Emulation.setEmulatedMedia", media="print")
    assert browser.evaluate(shown) == [True, True], "paper has both"
    assert browser.complaints == []


def ranking(browser):
    """Laws of the ranking, and the numbers of a column, from the top."""
    rows = "[...document.querySelectorAll('.ranking tbody tr')]"
    laws = browser.evaluate(f"{rows}.map((row) => Number(row.dataset.law))")
    return laws, browser.evaluate(f"{rows}.map((row) => parseFloat(row.cells[2].firstChild.textContent))")


@pytest.mark.parametrize("width", [500, 1400])
def test_the_ranking_is_sorted_by_a_click(browser, made, tmp_path, width):
    browser.open(made.report(tmp_path / "page.html"), width)
    heads = "[...document.querySelectorAll('.ranking thead th')]"
    assert browser.evaluate(f"{heads}.every((head) => head.checkVisibility())"), "names of the columns stay"
    assert browser.evaluate(f"{heads}.map((head) => head.ariaSort)")[:3] == [None, "ascending", None]
    for ascending in (True, False):
        browser.evaluate(f"{heads}[2].firstChild.click()")
        numbers = ranking(browser)[1]
        assert numbers == sorted(numbers, reverse=not ascending)
    browser.evaluate(f"{heads}[0].firstChild.click()")
    assert [made.qdiscs[law].partition(":")[0] for law in ranking(browser)[0]] == ["red", "tail_drop"]
    assert browser.complaints == []


def test_a_narrow_page_has_tables_with_their_heads(browser, page):
    browser.open(page, 400)
    tables = "[...document.querySelectorAll('table')]"
    assert set(browser.evaluate(f"{tables}.map((one) => getComputedStyle(one).display)")) == {"table"}
    assert browser.evaluate(f"{tables}.every((one) => one.tHead.checkVisibility())")
    assert browser.evaluate("document.documentElement.scrollWidth") == 400
    summary = "document.querySelector('#summary .scroll')"
    browser.evaluate(f"({summary}.scrollIntoView(), {summary}.scrollLeft = 1000)")
    browser.settle()
    assert browser.evaluate(f"{summary}.scrollLeft") > 0, "it scrolls"
    name = f"{summary}.querySelector('tbody th').getBoundingClientRect()"
    assert browser.evaluate(f"{name}.left") >= 0, "the names stay"
    assert browser.evaluate(f"{name}.width") < 200


def test_cells_without_a_number_are_last_and_the_others_in_order(browser, made, tmp_path):
    browser.open(many_laws(made).report(tmp_path / "nine.html"), 1200)
    cells = "[...document.querySelectorAll('.ranking tbody tr')].map((row) => row.cells[2])"
    texts = "['3', '-', '1', '2', '-', '0.5', '7', '-', '5']"
    browser.evaluate(f"{cells}.forEach((cell, i) => (cell.firstChild.textContent = {texts}[i]))")
    for order in (["0.5", "1", "2", "3", "5", "7"], ["7", "5", "3", "2", "1", "0.5"]):
        browser.evaluate("document.querySelectorAll('.ranking thead th')[2].firstChild.click()")
        found = browser.evaluate(f"{cells}.map((cell) => cell.firstChild.textContent)")
        assert found == [*order, "-", "-", "-"]


def test_the_others_fade_while_the_pointer_is_on_a_point(browser, page):
    browser.open(page, 1400)
    point = "document.querySelector('.wide > svg g[data-law=\"1\"]')"
    x, y = browser.evaluate(
        f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({point}.getBoundingClientRect())"
    )
    browser.mouse("moved", x, y)
    assert browser.evaluate("document.querySelector('.ranking tr.named').dataset.law") == "1"
    assert browser.evaluate("document.querySelector('.wide > svg g.faded').dataset.law") == "0"
    browser.mouse("moved", 1, 1)
    assert browser.evaluate("document.querySelectorAll('.faded, .named').length") == 0


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_of_a_certificate_shows_its_map(browser, tmp_path, dark):
    certificate = sj.prove(sj.load("dumbbell"), "pi")
    region = certificate.region((10, 2000), (0.02, 3.0), points=40)
    browser.open(certificate.report(tmp_path / "page.html", region), 900, dark=dark)
    assert browser.complaints == []
    assert browser.evaluate("[...document.images].every((one) => one.naturalWidth > 0)")
    assert browser.evaluate("document.querySelectorAll('image').length") == 0
    # A point of each verdict's area has that area's colour.
    shown = browser.evaluate(
        "[...document.querySelectorAll('#c0-map svg path')].filter((one) => "
        "one.getBBox().width > 30 && getComputedStyle(one).fillOpacity < 1 && "
        "getComputedStyle(one).fill !== 'none').map((one) => getComputedStyle(one).fill)"
    )
    assert len(set(shown)) == len(shown) == len(region.shares()) > 2


@pytest.mark.parametrize("width", [400, 900, 1200])
def test_the_page_of_a_certificate_has_one_font_size_and_one_verdict(browser, tmp_path, width):
    certificate = sj.prove(sj.load("dumbbell"), "cpc")
    page = certificate.report(tmp_path / "page.html", certificate.region(points=20))
    browser.open(page, width)
    assert browser.complaints == []
    assert browser.evaluate("document.documentElement.scrollWidth") == width, "nothing hangs over the side"
    heights = browser.evaluate(
        "[...document.querySelectorAll('.pictures svg')].map((one) => "
        "one.getBoundingClientRect().width / one.viewBox.baseVal.width)"
    )
    assert len(heights) == 5
    assert max(heights) == pytest.approx(min(heights), rel=0.02)
    wide = browser.evaluate(
        "[...document.querySelectorAll('#c0-map svg')].filter((one) => one.checkVisibility()).map((one) => "
        "one.getBoundingClientRect().width / one.viewBox.baseVal.width)"
    )
    assert wide == pytest.approx([heights[0]], rel=0.12), "as wide as the page, in letters of one size"
    assert browser.evaluate("document.body.innerText").count("Stable: cpc") == 1


#: Classes that fill every column of their table.
CLASSES = """
[[flows]]
name  = "voice"
app   = "voip"
count = 2

[[flows]]
name  = "web"
app   = "web"
count = 3
"""


@pytest.mark.parametrize("width", [1100, 1240, 1600])
def test_tables_of_classes_are_not_cut_off(browser, folder, width):
    path = folder / "small.toml"
    path.write_text(path.read_text() + CLASSES)
    qdiscs = ["pi:target=20packets", "red:min=5packets,max=15packets"]
    browser.open(sj.run(sj.load(path), qdiscs=qdiscs, seeds=[1, 2]).report(folder / "page.html"), width)
    cut = "[...document.querySelectorAll('.scroll')].map((one) => one.scrollWidth - one.clientWidth)"
    assert browser.evaluate(cut) == [0] * 6


@pytest.fixture(scope="module")
def home_page(tmp_path_factory):
    """The page of a home under two qdiscs."""
    scenario = sj.load("home/evening", {"duration": "6 s", "warmup": "2 s"})
    result = sj.run(scenario, ["tail_drop", "fq_codel"], seeds=[1, 2])
    return result.report(tmp_path_factory.mktemp("home") / "page.html")


@pytest.mark.parametrize(("width", "dark"), [(400, False), (800, True), (1280, False)])
def test_the_first_screen_shows_what_users_notice(browser, home_page, width, dark):
    browser.open(home_page, width, dark=dark)
    assert browser.complaints == []
    assert browser.evaluate("document.documentElement.scrollWidth") == width, "nothing hangs over the side"
    shown = browser.evaluate(
        "[...document.querySelectorAll('#users > div')].filter((one) => one.getClientRects().length > 0)"
        ".map((one) => [one.className, one.getBoundingClientRect().top])"
    )
    assert len(shown) == 1
    kind, top = shown[0]
    assert kind == {400: "narrow", 800: "middle", 1280: "wide"}[width]
    assert top < 700, "below the first screen"
    if width == 1280:
        assert browser.evaluate("document.getElementById('users').getBoundingClientRect().bottom") < 900
    widths = "[...document.querySelectorAll('.link.shown .queues svg')].map((one) => one.clientWidth)"
    found = browser.evaluate(widths)
    assert len(found) == 2
    assert min(found) > 300
