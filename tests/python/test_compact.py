"""Still pictures in fewer characters are the same pictures."""

import html
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import sojourn as sj
from sojourn.report.compact import _path, compact
from sojourn.report.figures import drawn, svg

NUMBER = r"-?(?:\d+\.\d*|\.\d+|\d+)"


def corners(data: str) -> list[tuple[float, float]]:
    """Absolute points of a path: of moves, lines and the ends and handles of curves."""
    x = y = 0.0
    first, found = (0.0, 0.0), []
    for command, text in re.findall(r"([MLCQzmhvlcq])([^MLCQzmhvlcq]*)", data):
        values = [float(number) for number in re.findall(NUMBER, text)]
        if command == "z":
            x, y = first
        elif command in "hv":
            for value in values:
                x, y = (x + value, y) if command == "h" else (x, y + value)
                found.append((x, y))
        else:
            step = {"c": 6, "q": 4, "C": 6, "Q": 4}.get(command, 2)
            for start in range(0, len(values), step):
                here = (x, y) if command.islower() else (0.0, 0.0)
                for across, down in zip(
                    values[start : start + step : 2], values[start + 1 : start + step : 2], strict=True
                ):
                    x, y = here[0] + across, here[1] + down
                    found.append((x, y))
        if command == "M":
            first = (x, y)
    return found


POINT = st.tuples(st.floats(-2000, 2000), st.floats(-2000, 2000))


@given(
    st.lists(st.tuples(st.sampled_from("LCQ"), st.lists(POINT, min_size=3, max_size=3)), max_size=60), POINT
)
def test_a_path_keeps_its_points_to_a_tenth(parts, start):
    data, points = f"M {start[0]:.6f} {start[1]:.6f} ", [start]
    for command, ends in parts:
        used = ends[: {"L": 1, "Q": 2, "C": 3}[command]]
        data += command + " " + " ".join(f"{x:.6f} {y:.6f}" for x, y in used) + " "
        points += used
    found = corners(_path(data))
    np.testing.assert_allclose(found, points, atol=0.0501)


def test_a_closed_path_goes_on_from_its_start():
    assert _path("M 1 2 L 3 2 L 3 4 z M 5 5 L 5 5 ") == "M1 2h2v2zM5 5h0"
    assert _path("M 0 0 L 1.25 0.5 L -1.04 0.5 L 0 0.04 ") == "M0 0l1.2 .5h-2.2l1-.5"


def test_markers_in_a_row_are_one_path_with_their_positions():
    figure = Figure(figsize=(4, 3))
    axes = figure.add_subplot()
    axes.plot(np.arange(200), np.sin(np.arange(200)), marker="o", linestyle="", color="#123456", alpha=0.5)
    before = drawn(figure)
    after = svg(figure, "x", "spoken")
    marked = re.search(r'd="([^"]*)" style="fill:none;stroke:none;marker:url\(#x-(k\d+)\)"', after)
    assert marked
    assert f'<marker id="x-{marked[2]}"' in after
    assert len(after) < 0.3 * len(before)
    used = re.findall(r'<use xlink:href="#[^"]+" x="([^"]+)" y="([^"]+)" style="fill: #123456', before)
    assert len(used) == 200
    np.testing.assert_allclose(corners(marked[1]), np.array(used, dtype=float), atol=0.0501)


def test_names_that_others_use_stay():
    figure = Figure()
    axes = figure.add_subplot()
    axes.plot([1, 2], gid="law-1")
    text = compact(drawn(figure))
    ids = re.findall(r' id="([^"]+)"', text)
    assert "law-1" in ids
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text)) <= set(ids)


def test_text_of_the_user_stays():
    figure = Figure()
    texts = [
        'a id="x_1" b',
        "url(#figure_1)",
        'href="#p"',
        "font: 12px Arial; z",
        "#0072b2",
        "1.23456 <g></g>",
    ]
    for place, text in enumerate(texts):
        figure.text(0.1, place / 10, text)
    drawing = svg(figure, "x", "spoken")
    shown = [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)<", drawing)]
    assert shown == texts


TEN = ("tail_drop", "red", "codel", "pie", "pi2", "fq_codel", "cake", "pi", "arm_pfc", "cobalt")


def test_a_page_of_ten_qdiscs_at_two_links_under_rrul_has_less_than_4_mb(tmp_path):
    made = sj.run(sj.load("home/rrul"), qdiscs=TEN, seeds=[1, 2])
    made.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 4e6
