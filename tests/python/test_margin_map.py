"""Margins over loads and base RTTs, and their contours."""

import numpy as np
import pytest

import sojourn as sj


def test_margins_over_loads_are_those_of_certificates():
    found = sj.prove(sj.load("dumbbell"), "pi").margin_map((25, 100), (0.1, 0.2), points=3)
    assert found.phase_margin_deg.shape == (3, 3)
    assert found.here == pytest.approx((50, 0.2))
    same = sj.prove(sj.load("dumbbell"), "pi")
    assert found.phase_margin_deg[2, 1] == pytest.approx(same.margins["phase_margin_deg"], rel=1e-6)
    assert found.gain_margin[2, 1] == pytest.approx(same.margins["gain_margin"], rel=1e-6)
    assert found.to_dict()["phase_margin_deg"][2][1] == found.phase_margin_deg[2, 1]


def test_a_map_of_margins_has_contours_and_the_unstable():
    certificate = sj.prove(sj.load("dumbbell"), "pi")
    found = certificate.margin_map((5, 200), ("50 ms", "800 ms"), points=12)
    assert (found.phase_margin_deg < 0).any()
    ax = certificate.plot.margin_map(found)
    assert {text.get_text() for text in ax.texts} >= {"0\u00b0", "45\u00b0"}
    # Without an equilibrium there is a reason, and no margin.
    barren = certificate.margin_map((50, 5000), (0.02, 0.2), points=4)
    assert barren.reasons == ["no equilibrium: saturated at p = 1"]
    assert np.isnan(barren.phase_margin_deg[0, -1])
    # No point takes more evaluations than there are for one.
    wide = certificate.margin_map((10, 100), ("1us", "1000s"), points=6)
    assert "400000 evaluations spent at its margins" in wide.reasons


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"flows": (60, 40)}, "flows: (60, 40) is no range"),
        ({"rtt_s": ("x", "y")}, "rtt_s: ('x', 'y') is no range"),
        ({"points": 1}, "points: 1 is not a number of points"),
    ],
)
def test_a_wrong_extent_of_margins_is_one_line(arguments, line):
    with pytest.raises(sj.InputError) as error:
        sj.prove(sj.load("dumbbell"), "pi").margin_map(**arguments)
    (only,) = error.value.lines
    assert only.startswith(line)


def test_a_link_among_several_has_its_own_map():
    keys = {"rate": "10 Mbit/s", "delay": "5 ms", "buffer": "1000 packets"}
    links = [
        {"name": name, "from": f"r{place}", "to": f"r{place + 1}", "qdisc": {"law": "pi"}, **keys}
        for place, name in enumerate("ab")
    ]
    group = {"app": "bulk", "cc": "newreno", "ecn": True, "access": {"delay": "20 ms"}}
    flows = [{**group, "count": 10 * (1 + at), "from": f"r{at}", "to": f"r{at + 1}"} for at in range(2)]
    scenario = sj.Scenario.from_dict({"title": "t", "duration": "60 s", "links": links, "flows": flows})
    for link, count in (("a", 10), ("b", 20)):
        certificate = sj.prove(scenario, link=link)
        found = certificate.margin_map(points=3)
        assert found.here[0] == count
        assert found.phase_margin_deg[1, 1] == pytest.approx(
            certificate.margins["phase_margin_deg"], rel=1e-6
        )
