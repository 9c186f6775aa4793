"""The page of certificates: one set of margins, marked in Bode and Nyquist plots, and stability regions."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import sojourn as sj
from sojourn.plot import style
from sojourn.prove import headline, maps
from sojourn.prove.beside import Beside
from sojourn.prove.page import page

UNSTABLE = "pi:a=0.002,b=0.0019"


def certificate(qdisc="pi"):
    return sj.prove(sj.load("dumbbell"), qdisc)


def line_of(ax, begin):
    """The drawn line whose label begins so, and that has points."""
    (found,) = (
        one for one in ax.get_lines() if one.get_label().startswith(begin) and len(one.get_xdata()) > 0
    )
    return found


def response_at(found, frequency):
    """L of the loop of the verdict at a frequency."""
    real, imaginary = found._proof.response(len(found.loops) - 1, np.array([frequency]))
    return complex(real[0], imaginary[0])


def test_margins_have_decibels_frequencies_and_the_dominant_poles():
    found = {one.name: one for one in headline.margins(certificate())}
    assert found["phase margin"][1:] == ("45.3°", "at 1.63 rad/s")
    assert found["gain margin"][1:] == ("9.0 dB", "factor 2.82 at 4.17 rad/s")
    assert found["delay margin"][1:] == ("0.4855 s", "")
    assert found["modulus margin"][1:] == ("0.56", "peak of |S| 5.0 dB")
    assert found["dominant poles"][1:] == ("−1.64 ± 1.75i 1/s", "damping ratio 0.68")


def test_an_unstable_loop_has_a_negative_phase_margin_and_no_other():
    found = {one.name: one.value for one in headline.margins(certificate("pie"))}
    assert found["phase margin"] == "−9.9°"
    assert (found["gain margin"], found["delay margin"]) == ("none", "none")
    assert found["dominant poles"] == "0.248 ± 3.03i 1/s"


def test_a_margin_without_a_bound_is_unlimited_and_leads_have_their_own():
    found = certificate()
    loop = found.loops[-1] | {
        "gain_margin": None,
        "delay_margin_s": None,
        "gain_reduction_margin": 0.5,
        "phase_lead_margin_deg": 20.0,
        "gain_crossovers": [
            *found.loops[-1]["gain_crossovers"],
            {"frequency_rad_s": 9.0, "phase_margin_deg": -20.0},
        ],
        "poles": [[-2.0, 0.0]],
    }
    found._document["loops"][-1] = loop
    names = {one.name: one for one in headline.margins(found)}
    assert (names["gain margin"].value, names["delay margin"].value) == ("unlimited", "unlimited")
    assert names["gain reduction margin"].value == "−6.0 dB"
    assert names["phase margin of leads"][1:] == ("20.0°", "at 9 rad/s")
    assert names["dominant poles"][1:] == ("−2 1/s", "")


@pytest.mark.parametrize("qdisc", ["pi", "red", "pie", "arm_pfc", UNSTABLE])
def test_margins_are_marked_where_the_loop_has_them(qdisc):
    found = certificate(qdisc)
    loop = found.loops[-1]
    ax = found.plot.bode()
    below = ax.figure.axes[1]
    at = headline.phase_crossing(loop)
    assert abs(response_at(found, at)) == pytest.approx(1, rel=1e-6), "the gain crosses 0 dB"
    (mark,) = (one for one in below.get_lines() if len(one.get_xdata()) == 2 and one.get_xdata()[0] == at)
    bottom, top = mark.get_ydata()
    assert top - bottom == pytest.approx(loop["phase_margin_deg"])
    assert (bottom + 180) % 360 == pytest.approx(0, abs=0.5) or (bottom + 180) % 360 > 359.5
    turned = math.degrees(math.atan2(response_at(found, at).imag, response_at(found, at).real))
    assert math.remainder(top - turned, 360) == pytest.approx(0, abs=0.5)
    if loop["gain_margin"] is None:
        assert "gain margin" not in " ".join(ax.get_legend_handles_labels()[1])
        return
    gain = line_of(ax, "gain margin")
    assert gain.get_xdata()[0] == headline.gain_crossing(loop)
    crossed = response_at(found, gain.get_xdata()[0])
    assert crossed.imag == pytest.approx(0, abs=1e-6)
    assert gain.get_ydata()[0] == pytest.approx(20 * math.log10(-crossed.real), abs=1e-6)


@pytest.mark.parametrize("qdisc", ["pi", "red", "pie", "arm_pfc", UNSTABLE])
def test_the_same_margins_are_marked_in_the_nyquist_plot(qdisc):
    found = certificate(qdisc)
    loop, ax = found.loops[-1], found.plot.nyquist()
    arc = line_of(ax, "phase margin")
    end = response_at(found, headline.phase_crossing(loop))
    assert (arc.get_xdata()[0], arc.get_ydata()[0]) == pytest.approx((-1, 0))
    assert (arc.get_xdata()[-1], arc.get_ydata()[-1]) == pytest.approx((end.real, end.imag), abs=1e-6)
    if loop["gain_margin"] is not None:
        crossed = response_at(found, headline.gain_crossing(loop))
        assert line_of(ax, "gain margin").get_xdata()[1] == pytest.approx(crossed.real, rel=1e-6)
    circle = line_of(ax, "modulus margin")
    distance = np.abs(circle.get_xdata() + 1 + 1j * circle.get_ydata())
    assert distance == pytest.approx(np.full(200, loop["modulus_margin"]))


@pytest.mark.parametrize(
    ("scenario", "qdisc", "about"),
    [
        ("dumbbell", "pi", "the verdict is that of this loop."),
        ("dumbbell", "pi_pd", "its loop is stable, which proves nothing of the whole law."),
        ("dumbbell", "drr:law=pi,law.target=5packets", "the link is stable if each queue is."),
        ("networks/two_bottlenecks", None, "the verdict is that of all links together."),
        ("dumbbell", "tail_drop", ""),
    ],
)
def test_the_page_names_the_loop_that_has_the_margins(scenario, qdisc, about):
    found = headline.whose(sj.prove(sj.load(scenario), qdisc))
    assert found.endswith(about)
    assert bool(found) == bool(about)


def test_the_page_has_one_set_of_margins():
    text = page([certificate()], [Beside()])
    head, _, folded = text.partition("<details>")
    assert head.count('<h3 class="over">Margins</h3>') == 1
    assert head.count("linearised, sampled-data)") == 1
    assert "textbook, no delay" not in re.sub(r"<svg.*?</svg>", "", head, flags=re.S)
    assert "textbook, no delay" in folded
    for title in ("Bode plot", "Nyquist plot", "Poles", "Unit step response"):
        assert text.count(f"<h3>{title}</h3>") == 1
    assert "Stability region" not in text


def test_a_law_without_a_loop_stands_in_the_table_with_its_verdict():
    found = [certificate(), certificate("tail_drop")]
    text = page(found, [Beside(), Beside()])
    table = text[text.index("Margins</h3>") :]
    row = next(line for line in table.splitlines() if "tail_drop" in line)
    assert ">not proven<" in row
    assert row.count(">-<") == 5


def test_a_region_has_the_contours_of_the_phase_margin_and_names_its_greys():
    found = certificate()
    region = found.region((10, 2000), (0.02, 3.0), points=12)
    ax = found.plot.map(region, found.margin_map((10, 2000), (0.02, 3.0), points=12))
    labels = ax.get_legend_handles_labels()[1]
    assert "phase margin, degrees" in labels
    assert "no equilibrium: saturated at p = 1" in labels
    assert {text.get_text() for text in ax.texts} <= {f"{level}°" for level in maps.LEVELS[1:]}
    assert ax.texts
    text = page([found], [Beside(region, found.margin_map((10, 2000), (0.02, 3.0), points=3))])
    assert "Grey: there is no verdict, for the reason in the legend." in text
    white = replace(region, cells=np.zeros_like(region.cells), reasons=[])
    assert "Grey:" not in page([found], [Beside(white)])


def test_borders_of_several_laws_lie_over_each_other():
    extent = (10, 400), (0.02, 1.0)
    regions = [(law, certificate(law).region(*extent, points=24)) for law in ("pi", "arm_pfc")]
    calm = replace(regions[0][1], boundary=[], cells=np.zeros_like(regions[0][1].cells))
    ax = maps.borders([*regions, ("calm", calm)], style.figure((6, 4))[1][0], above=True)
    labels = ax.get_legend_handles_labels()[1]
    assert labels[0] == "all stable"
    assert {"pi", "arm_pfc", "calm: stable wherever it is judged", "the scenario"} <= set(labels)
    colours = {line.get_color() for line in ax.get_lines() if line.get_label() in ("pi", "arm_pfc")}
    assert len(colours) == 2


def test_a_border_is_one_of_stability():
    found = certificate()
    region = found.region((5, 400), (0.02, 1.5), points=60)
    assert len(region.boundary) > 1, "further poles cross where the loop is unstable"
    _, (ax,) = style.figure((6, 4))
    maps.border(ax, region)
    drawn = np.concatenate([np.column_stack([one.get_xdata(), one.get_ydata()]) for one in ax.get_lines()])
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    assert 0 < len(drawn) < sum(len(curve[0]) for curve in region.boundary)
    step = np.log(region.flows[1] / region.flows[0]), np.log(region.rtt_s[1] / region.rtt_s[0])
    stable = np.argwhere(region.cells == 0)
    for flows, rtt in drawn:
        across = np.abs(np.log(region.flows[stable[:, 1]] / flows)) / step[0]
        up = np.abs(np.log(region.rtt_s[stable[:, 0]] / rtt)) / step[1]
        assert np.maximum(across, up).min() < 1.6
