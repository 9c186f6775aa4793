"""Analysis of variance of several factors beside published tables."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import sojourn as sj
from sojourn.result.factors import effects

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


def one_way(levels):
    values = [value for one in levels for value in one]
    return values, {"level": [place for place, one in enumerate(levels) for _ in one]}


def test_one_factor_has_the_p_of_scipy():
    random = np.random.default_rng(7)
    levels = [random.normal(mean, 1, 10).tolist() for mean in (0, 0.5, 1)]
    one, _ = effects(*one_way(levels))
    assert one.p == pytest.approx(stats.f_oneway(*levels).pvalue, rel=1e-9)


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


#: Atomic weight of silver, two instruments, and resistivity of silicon, five: NIST StRD, AtmWtAg and SiRstv.
SILVER = (
    "8681568 8681465 8681572 8681785 8681446 8681903 8681526 8681494 8681616 8681587 8681519 8681486 "
    "8681419 8681569 8681508 8681672 8681385 8681518 8681662 8681424 8681360 8681333 8681610 8681477",
    "8681079 8681344 8681513 8681197 8681604 8681385 8681642 8681365 8681151 8681082 8681517 8681448 "
    "8681198 8681482 8681334 8681609 8681101 8681512 8681469 8681360 8681254 8681261 8681450 8681368",
)
SILICON = (
    (196.3052, 196.1240, 196.1890, 196.2569, 196.3403),
    (196.3042, 196.3825, 196.1669, 196.3257, 196.0422),
    (196.1303, 196.2005, 196.2889, 196.0343, 196.1811),
    (196.2795, 196.1748, 196.1494, 196.1485, 195.9885),
    (196.2119, 196.1051, 196.1850, 196.0052, 196.2090),
)


def silver():
    return [[107 + float(f"0.{digits}") for digits in one.split()] for one in SILVER]


def simon_lesage(origin):
    """Samples of S. Simon and J. Lesage; 1e12 + 0.4 itself has four digits after the point."""
    means = [0.4, 0.3, 0.5, 0.3, 0.5, 0.3, 0.5, 0.3, 0.5]
    return [[origin + round(mean + change, 1) for change in [0.0] + [-0.1, 0.1] * 10] for mean in means]


#: Vascular grafts without defects, %, by the pressure of extrusion, psi, in six batches of resin (D. C.
#: Montgomery, Design and Analysis of Experiments, 6th edition, 2005, example 4-1).
GRAFTS = {
    8500: (90.3, 89.2, 98.2, 93.9, 87.4, 97.9),
    8700: (92.5, 89.5, 90.6, 94.7, 87.0, 95.8),
    8900: (85.5, 90.8, 89.6, 86.2, 88.0, 93.4),
    9100: (82.5, 89.5, 85.6, 87.4, 78.9, 90.7),
}


def test_blocks_are_those_of_montgomery():
    values = [value for of in GRAFTS.values() for value in of]
    levels = {"pressure": [one for one in GRAFTS for _ in range(6)]}
    pressure, batch, residual = effects(values, levels, blocks=("batch", [*range(6)] * 4))
    found = [(one.factors, round(one.sum_of_squares, 2), one.freedom) for one in (pressure, batch, residual)]
    assert found == [(("pressure",), 178.17, 3), (("batch",), 192.25, 5), ((), 109.89, 15)]
    assert (round(pressure.f, 2), round(pressure.p, 4)) == (8.11, 0.0019)
    assert (batch.f, batch.p) == (None, None)
    # As independent samples the batches hide half of it.
    alone, _ = effects(values, levels)
    assert alone.p > 0.01


def test_two_levels_in_blocks_are_the_paired_test():
    left, right = np.random.default_rng(4).normal(size=(2, 9))
    one, *_ = effects([*left, *right], {"law": ["pi"] * 9 + ["red"] * 9}, blocks=("seed", [*range(9)] * 2))
    assert one.p == pytest.approx(stats.ttest_rel(left, right).pvalue, rel=1e-9)


def test_common_seeds_do_not_change_how_often_nothing_is_found_to_be_something():
    """Where levels share their noise p below 0.05 arises once in twenty; as independent, never."""
    random = np.random.default_rng(12)
    levels, seeds = {"law": np.repeat(["pi", "red", "pie"], 6).tolist()}, [*range(6)] * 3
    found = []
    for _ in range(600):
        values = (random.normal(size=(3, 6)) + 3 * random.normal(size=6)).ravel().tolist()
        plain, _ = effects(values, levels)
        blocked, *_ = effects(values, levels, blocks=("seed", seeds))
        found.append((plain.p < 0.05, blocked.p < 0.05))
    independent, common = np.mean(found, axis=0)
    # Four standard errors about 5 %.
    assert 0.014 <= common <= 0.086
    assert independent < 0.005


@pytest.mark.parametrize(
    ("levels", "f", "relative"),
    [
        (silver(), 1.59467335677930e01, 1e-8),
        (SILICON, 1.18046237440255e00, 1e-12),
        (simon_lesage(0), 21, 1e-13),
        (simon_lesage(1e6), 21, 1e-8),
        (simon_lesage(1e12), 21, 1e-2),
    ],
    ids=["AtmWtAg", "SiRstv", "SmLs01", "SmLs04", "SmLs07"],
)
def test_effects_have_the_certified_digits(levels, f, relative):
    """NIST StRD: one-way analyses."""
    found, residual = effects(*one_way(levels))
    assert (found.freedom, residual.freedom) == (len(levels) - 1, sum(map(len, levels)) - len(levels))
    assert found.f == pytest.approx(f, rel=relative)


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
    assert found["effect"].to_list() == ["qdisc", "flows", "qdisc x flows", "seed", "residual"]
    # Three seeds at each of four points: blocks.
    assert found["df"].to_list() == [1, 1, 1, 2, 6]
    by = dict(zip(found["effect"], found["p"], strict=True))
    assert by["qdisc"] < 1e-6
    assert by["residual"] is by["seed"] is None
    corrected = dict(zip(found["effect"], found["p_holm"], strict=True))
    assert corrected["qdisc"] >= by["qdisc"]
    table = swept.table().select("qdisc", "flows", "seed", "queue_mean_packets").collect()
    direct = effects(
        table["queue_mean_packets"].to_list(),
        {"qdisc": table["qdisc"].to_list(), "flows": table["flows"].to_list()},
        blocks=("seed", table["seed"].to_list()),
    )
    assert found["f"].to_list()[:3] == pytest.approx([one.f for one in direct[:3]])
    alone = swept.anova("queue_mean_packets", "flows", interactions=False)
    assert alone["effect"].to_list() == ["flows", "seed", "residual"]
    assert np.isfinite(alone["f"][0])
    # One seed makes no blocks.
    single = sj.sweep.Sweep(swept.folder, swept.plan.filter(seed=1), 0, 0)
    once = single.anova("queue_mean_packets", interactions=False)
    assert once["effect"].to_list() == ["qdisc", "flows", "residual"]


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


PAGE = Path(__file__).resolve().parents[2] / "docs/laws/pi_pd.md"
#: The qdiscs of Table 2, by the names of the page.
QDISCS = {
    "PI-PD": "pi_pd:target=200packets,alpha=8e-4,period=50ms",
    "PID": "pid:target=200packets,kp=6.2e-5,ki=3.12e-5,kd=5.1e-6,rate=29.5Hz,form=velocity",
    "PI": "pi:target=200packets,a=1.822e-5,b=1.816e-5,rate=160Hz",
}
#: Rows of the page that `./ci.sh long` repeats; of them `./ci.sh test` repeats one.
ROWS = [(law, seconds) for law in QDISCS for seconds in (50, 100)]


def analysis_of(law, seconds):
    """F and p of the load from 0 s and after the start, and the means then at each load, packets."""
    found: dict[str, list[float]] = {"run": [], "measured": []}
    loads = ("light", "medium", "heavy")
    for place, load in enumerate(loads):
        scenario = sj.load(f"pi_pd/{load}", {"duration": f"{seconds} s", "windows": ["run", "measured"]})
        seeds = range(10 * place + 1, 10 * place + 11)
        result = sj.run(scenario, QDISCS[law], seeds)
        for window in found:
            found[window] += result.values(result.qdiscs[0], "qacd_packets", window=window).values()
    levels = {"load": [load for load in loads for _ in range(10)]}
    of = {window: effects(values, levels)[0] for window, values in found.items()}
    assert of["run"].freedom == 2
    assert stats.f.isf(0.05, 2, 27) == pytest.approx(3.3541, abs=5e-5)
    return of, np.mean(np.reshape(found["measured"], (3, 10)), axis=1)


@pytest.mark.parametrize(("law", "seconds"), ROWS if os.environ.get("LONG") else [("PI", 50)])
def test_the_analysis_of_load_by_pi_pd_s_authors(law, seconds):
    """Table 2 of Ryu et al. beside the page's."""
    of, means = analysis_of(law, seconds)
    row = re.search(rf"^\| {law}, {seconds} s \|(.+)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert row is not None, (law, seconds)
    shown = [part.strip() for part in row[1].split("|")]
    expected = [
        *(f"{of[window].f:.3g}, {of[window].p:.1g}" for window in ("run", "measured")),
        ", ".join(f"{mean:.0f}" for mean in means),
    ]
    assert shown[1:] == expected
    if law == "PI":
        assert 0.5 < of["measured"].f / float(shown[0].split(",")[0]) < 2
