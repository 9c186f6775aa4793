"""Analysis of variance of several factors beside published tables."""

import numpy as np
import pytest

import sojourn as sj
from sojourn.result.factors import effects
from sojourn.result.statistics import anova

#: Lengths of teeth of ten guinea pigs each, by the source of vitamin C and the dose, mg/day (E. W. Crampton,
#: The growth of the odontoblasts of the incisor teeth, Journal of Nutrition 33, 1947; `ToothGrowth` of R).
TEETH = {
    ("VC", 0.5): (4.2, 11.5, 7.3, 5.8, 6.4, 10, 11.2, 11.2, 5.2, 7),
    ("VC", 1): (16.5, 16.5, 15.2, 17.3, 22.5, 17.3, 13.6, 14.5, 18.8, 15.5),
    ("VC", 2): (23.6, 18.5, 33.9, 25.5, 26.4, 32.5, 26.7, 21.5, 23.3, 29.5),
    ("OJ", 0.5): (15.2, 21.5, 17.6, 9.7, 14.5, 10, 8.2, 9.4, 16.5, 9.7),
    ("OJ", 1): (19.7, 23.3, 23.6, 26.4, 20, 25.2, 25.8, 21.2, 14.5, 27.3),
    ("OJ", 2): (25.5, 26.4, 22.4, 24.5, 24.8, 30.9, 26.4, 27.3, 29.4, 23),
}
#: Its analysis by R's `aov`: sum of squares, degrees of freedom, F, p.
OF_TEETH = {
    ("source",): (205.4, 1, 15.572, 0.000231),
    ("dose",): (2426.4, 2, 92.000, 4.05e-18),
    ("source", "dose"): (108.3, 2, 4.107, 0.0219),
    (): (712.1, 54, None, None),
}


def columns(cells):
    values = [value for of in cells.values() for value in of]
    levels = [level for level, of in cells.items() for _ in of]
    return values, {"source": [source for source, _ in levels], "dose": [dose for _, dose in levels]}


def test_two_factors_and_their_interaction():
    found = effects(*columns(TEETH))
    assert {one.factors for one in found} == set(OF_TEETH)
    for one in found:
        squares, freedom, f, p = OF_TEETH[one.factors]
        assert one.sum_of_squares == pytest.approx(squares, abs=0.05)
        assert one.freedom == freedom
        assert one.f == (None if f is None else pytest.approx(f, abs=6e-4))
        assert one.p == (None if p is None else pytest.approx(p, rel=5e-3))


def test_one_factor_is_the_one_way_analysis():
    values, factors = columns(TEETH)
    one, _ = effects(values, {"dose": factors["dose"]})
    levels = [
        [v for v, dose in zip(values, factors["dose"], strict=True) if dose == at] for at in (0.5, 1, 2)
    ]
    assert (one.f, one.p) == pytest.approx((anova(levels).f, anova(levels).p), rel=1e-9)


def test_unequal_cells_have_sums_beside_the_others():
    """Type II: of the model with both factors less that with the other alone, whatever the order."""
    cells = {at: of[: 4 + 2 * place] for place, (at, of) in enumerate(TEETH.items()) if place < 4}
    values, factors = columns(cells)
    swapped = {"dose": factors["dose"], "source": factors["source"]}
    first = {one.factors: one for one in effects(values, factors, interactions=False)}
    again = {one.factors: one for one in effects(values, swapped, interactions=False)}
    assert first.keys() == again.keys()
    for name, one in first.items():
        assert one.sum_of_squares == pytest.approx(again[name].sum_of_squares, rel=1e-9)


@pytest.mark.parametrize(
    ("values", "factors", "line"),
    [
        ([1.0, 2.0], {"law": ["pi", "pi"]}, "law has 1 level; expected two or more"),
        ([1.0, 2.0], {"law": ["pi", "red"]}, "2 samples for 2 means; expected more: other seeds"),
    ],
)
def test_what_has_no_residual_is_refused(values, factors, line):
    with pytest.raises(ValueError, match=line):
        effects(values, factors)


def test_equal_samples_have_no_f():
    (one, residual) = effects([2.0, 2.0, 3.0, 3.0], {"law": ["pi", "pi", "red", "red"]})
    assert (one.f, one.p) == (None, None)
    assert one.sum_of_squares == pytest.approx(1)
    assert residual.sum_of_squares == pytest.approx(0)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    grid = {
        "scenario": "dumbbell",
        "set": {"duration": "41 s", "at": []},
        "axes": {"qdisc": ["pi", "codel"], "flows": {"key": "flows[0].count", "values": [10, 50]}},
        "seeds": "1..3",
    }
    return sj.sweep(grid, out=tmp_path_factory.mktemp("sweep") / "factors.sweep")


def test_factors_of_a_sweep(swept):
    found = swept.anova("queue_mean_packets")
    assert found.columns == [
        "link",
        "effect",
        "sum_of_squares",
        "df",
        "f",
        "p",
        "p_holm",
        "partial_eta_squared",
    ]
    assert found["effect"].to_list() == ["qdisc", "flows", "qdisc x flows", "residual"]
    assert found["df"].to_list() == [1, 1, 1, 8]
    by = dict(zip(found["effect"], found["p"], strict=True))
    assert by["qdisc"] < 1e-6
    assert by["residual"] is None
    corrected = dict(zip(found["effect"], found["p_holm"], strict=True))
    assert corrected["qdisc"] >= by["qdisc"]
    table = swept.table().select("qdisc", "flows", "queue_mean_packets").collect()
    direct = effects(
        table["queue_mean_packets"].to_list(),
        {"qdisc": table["qdisc"].to_list(), "flows": table["flows"].to_list()},
    )
    assert found["f"].to_list()[:3] == pytest.approx([one.f for one in direct[:3]])
    alone = swept.anova("queue_mean_packets", "flows", interactions=False)
    assert alone["effect"].to_list() == ["flows", "residual"]
    assert np.isfinite(alone["f"][0])


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("nothing",), "metric: 'nothing' is no metric with one value"),
        (("queue_mean_packets", "rtt"), "factors: 'rtt' is no axis; expected qdisc, flows, plant"),
        (("queue_mean_packets", "plant"), "factors: plant has 1 level; expected two or more"),
        (("queue_mean_packets", "flows", "flows"), "factors: flows is named twice"),
    ],
)
def test_wrong_factors_are_one_line(swept, arguments, line):
    with pytest.raises(sj.InputError) as error:
        swept.anova(*arguments)
    (only,) = error.value.lines
    assert only.startswith(line)
