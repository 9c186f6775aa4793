"""Predicates over samples: three outcomes by intervals of paired differences."""

import numpy as np
import pytest

from sojourn.errors import InputError
from sojourn.reproduce.predicate import Truth, expression, predicate

#: Ten seeds: b is above a at each of them, by less than either varies; c varies about a.
SEEDS = np.arange(10.0)
SAMPLES = {
    "e.a.x": 100 + SEEDS,
    "e.b.x": 101 + SEEDS + 0.1 * np.sin(SEEDS),
    "e.c.x": 100 + SEEDS + np.cos(3 * SEEDS),
    "calc.number": np.asarray(2.0),
}


def truth(text):
    return predicate(text, "test").holds(SAMPLES.__getitem__)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e.a.x < e.b.x", Truth.TRUE),
        ("e.a.x > e.b.x", Truth.FALSE),
        ("e.a.x < e.c.x", Truth.UNDECIDED),
        ("e.a.x <= e.a.x", Truth.TRUE),
        ("e.a.x < e.a.x", Truth.FALSE),
        ("not e.a.x > e.b.x", Truth.TRUE),
        ("e.a.x < e.b.x and e.a.x < e.c.x", Truth.UNDECIDED),
        ("e.a.x > e.b.x and e.a.x < e.c.x", Truth.FALSE),
        ("e.a.x < e.b.x or e.a.x < e.c.x", Truth.TRUE),
        ("e.a.x > e.b.x or e.a.x < e.c.x", Truth.UNDECIDED),
        ("90 < e.a.x < e.b.x < 200", Truth.TRUE),
        ("near(e.b.x - e.a.x, 1, 0.1)", Truth.TRUE),
        ("near(e.b.x - e.a.x, 2, 0.1)", Truth.FALSE),
        ("near(e.a.x, 104.5, 1)", Truth.UNDECIDED),
        ("near(calc.number, 2, 0)", Truth.TRUE),
        ("max(e.a.x, e.b.x) - min(e.a.x, e.b.x) < 1.2", Truth.TRUE),
        ("abs(e.a.x - e.b.x) / calc.number > 0.4", Truth.TRUE),
        ("near(hypot(3 * calc.number, 4 * calc.number), 10, 1e-9)", Truth.TRUE),
        ("e.a.x < nothing.b.x", Truth.UNDECIDED),
    ],
)
def test_outcomes(text, expected):
    assert truth(text) is expected


def test_a_measure_is_an_abbreviation():
    measures = {"off": "hypot({}.x - 100, 0)"}
    found = predicate("off(e.a) < off(e.b)\n    and off(e.b) < 20", "test", measures)
    assert found.holds(SAMPLES.__getitem__) is Truth.TRUE
    assert found.names == {"e.a.x", "e.b.x"}
    assert found.text == "off(e.a) < off(e.b) and off(e.b) < 20"


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("e.a.x < 2 * e.b.x - e.c.x", ["e.a.x", "2 * e.b.x - e.c.x"]),
        ("1 < e.a.x < 2 * e.b.x", ["e.a.x", "e.b.x"]),
        ("near(e.a.x - e.b.x, 0, 1) and not e.a.x > 3", ["e.a.x - e.b.x", "e.a.x"]),
        (
            "max(median(e.a), e.b.x) < 0.9 * min(median(e.b), e.c.x)",
            ["median(e.a)", "e.b.x", "median(e.b)", "e.c.x"],
        ),
        ("1 - median(e.a) / e.b.x > 0.8", ["1 - median(e.a) / e.b.x"]),
        ("held(e.a) or wide(e.b) > wide(e.c)", ["e.a.x", "std(e.a.x)", "wide(e.b)", "wide(e.c)"]),
    ],
)
def test_quantities_are_what_is_compared(text, quantities):
    """With the abbreviations of numbers as they are written, and without constants beside them."""
    measures = {
        "held": "near({}.x, 100, 10) and std({}.x) < 50",
        "wide": "median({}) - quantile({}.x, 0)",
        "median": "quantile({}.x, 0.5)",
    }
    found = predicate(text, "test", measures)
    assert [one.text for one in found.quantities] == quantities
    assert frozenset().union(*(one.names for one in found.quantities)) == found.names


def test_a_quantity_is_measured_as_it_is_compared():
    median, ratio, number = predicate(
        "quantile(e.a.x, 0.5) < 3 and e.b.x / e.a.x < 2 and calc.number > 1", "test"
    ).quantities
    assert median.value(SAMPLES.__getitem__) == 104.5
    assert median.sample(SAMPLES.__getitem__) is SAMPLES["e.a.x"]
    assert ratio.value(SAMPLES.__getitem__) == pytest.approx(SAMPLES["e.b.x"] / SAMPLES["e.a.x"])
    assert number.sample(SAMPLES.__getitem__) == 2


def test_an_analysis_of_variance_is_scipy_s():
    from scipy import stats

    groups = [SAMPLES[f"e.{name}.x"] for name in "abc"]
    f = stats.f_oneway(*groups).statistic
    assert truth(f"near(anova_f(e.a.x, e.b.x, e.c.x), {f:.12g}, 1e-9)") is Truth.TRUE


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "no predicate"),
        ("e.a.x <", "cannot be read"),
        ("e.a.x", '"e.a.x" has no place'),
        ("e.a.x == e.b.x", "has no place"),
        ("__import__('os').getcwd() < 1", "has no place"),
        ("max(e.a.x) < 1", "has no place"),
        ("e.a.x < 'one'", "has no place"),
        ("near(e.a.x, e.b.x, 1)", "has no place"),
        ("(e.a.x < 1) + 1 < 2", "has no place"),
    ],
)
def test_what_is_no_predicate_is_refused_in_a_line(text, part):
    with pytest.raises(InputError) as error:
        predicate(text, "test")
    (line,) = error.value.lines
    assert part in line
    assert line.startswith("test: ")


def test_an_analysis_of_each_ten_runs_takes_other_runs_of_each_sample():
    from scipy import stats

    random = np.random.default_rng(3)
    x, y, z = (random.normal(mean, size=30) for mean in (0, 0.5, 1))
    samples = {"e.x.q": x, "e.y.q": y, "e.z.q": z}
    first = stats.f_oneway(x[:10], y[10:20], z[20:]).statistic
    last = stats.f_oneway(x[20:], y[:10], z[10:20]).statistic
    middle = stats.f_oneway(x[10:20], y[20:], z[:10]).statistic
    of = "anova_f_each(10, e.x.q, e.y.q, e.z.q)"
    found = expression(of, "test").value(samples.__getitem__)
    assert found == pytest.approx([first, middle, last])
    # Two tens are too few for three samples.
    few = {name: values[:20] for name, values in samples.items()}
    with pytest.raises(LookupError, match="too few runs"):
        expression(of, "test").value(few.__getitem__)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Of ten seeds the second and the ninth are the ends: 101 and 108.
        ("quantile(e.a.x, 0.5) < 108.1", Truth.TRUE),
        ("quantile(e.a.x, 0.5) < 107.9", Truth.UNDECIDED),
        ("quantile(e.a.x, 0.5) > 108", Truth.FALSE),
        ("near(quantile(e.a.x, 0.5), 104.5, 3.6)", Truth.TRUE),
        ("near(quantile(e.a.x, 0.5), 104.5, 3.4)", Truth.UNDECIDED),
        ("quantile(e.a.x, 0.5) + 10 > quantile(e.a.x, 0.5)", Truth.TRUE),
        ("quantile(e.a.x, 0.5) + 6 > quantile(e.a.x, 0.5)", Truth.UNDECIDED),
        ("1.05 < quantile(2 * e.a.x, 0.5) / quantile(e.a.x, 0.5) < 2.2", Truth.TRUE),
        ("-quantile(e.a.x, 0.5) < max(quantile(e.a.x, 0.5), 50)", Truth.TRUE),
        # The ninth decile of ten has no upper end.
        ("quantile(e.a.x, 0.9) > 105", Truth.TRUE),
        ("quantile(e.a.x, 0.9) < 500", Truth.UNDECIDED),
        # The range of what ran is numbers.
        ("near(quantile(e.a.x, 1), 109, 0) and near(quantile(e.a.x, 0), 100, 0)", Truth.TRUE),
        ("quartiles(e.a.x) < 100", Truth.UNDECIDED),
    ],
)
def test_a_quantile_over_seeds_has_the_interval_of_order_statistics(text, expected):
    assert truth(text) is expected


@pytest.mark.parametrize(("seeds", "expected"), [(5, Truth.UNDECIDED), (6, Truth.TRUE)])
def test_five_seeds_bound_no_median(seeds, expected):
    """The range of five contains it with 93.8 %, that of six with 96.9 %."""
    samples = {"e.a.x": SEEDS[:seeds]}
    assert predicate("quantile(e.a.x, 0.5) < 50", "test").holds(samples.__getitem__) is expected


def test_one_more_value_is_in_the_prediction_interval_whatever_the_number_of_seeds():
    """Of the logarithms 0, 1, ..., 5: 2.5 +- 2.5706 * 1.8708 * (7/6)^0.5 = 2.5 +- 5.1945."""
    samples = {"e.a.x": np.exp(np.arange(6.0))}
    low, high = (expression(f"predicted(e.a.x, {share})", "test") for share in (0.025, 0.975))
    assert np.log(low.value(samples.__getitem__)) == pytest.approx(2.5 - 5.1945, abs=1e-4)
    assert np.log(high.value(samples.__getitem__)) == pytest.approx(2.5 + 5.1945, abs=1e-4)
    assert low.sample(samples.__getitem__) is samples["e.a.x"]
    random = np.random.default_rng(2)
    for seeds in (3, 6, 60):
        runs = np.exp(random.normal(5, 0.4, (400, seeds + 1)))
        held = [contains({"e.a.x": run[:-1]}, run[-1]) for run in runs]
        assert sum(one is Truth.TRUE for one in held) / 400 == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0, 0.0, 2.0], [1.0, np.nan, 2.0], 2.0])
def test_too_few_values_and_those_without_a_logarithm_predict_none(values):
    assert contains({"e.a.x": np.asarray(values)}, 1.5) is Truth.UNDECIDED


def contains(samples, value):
    text = f"predicted(e.a.x, 0.025) < {value} < predicted(e.a.x, 0.975)"
    return predicate(text, "test").holds(samples.__getitem__)


def test_windows_that_are_several_have_quantiles_by_seed():
    windows = np.arange(5.0) + np.arange(10.0)[:, None]
    samples = {"e.a.x": windows, "e.b.x": windows[:, 0] + 3}
    text = "near(quantile(e.a.x, 0.75) - e.b.x, 0, 1e-9) and near(std(e.a.x), 1.4142, 1e-4)"
    assert predicate("near(quartiles(e.a.x), 2, 0)", "test").holds(samples.__getitem__) is Truth.TRUE
    assert predicate(text, "test").holds(samples.__getitem__) is Truth.TRUE
    assert predicate("near(e.a.x, 6.5, 3)", "test").holds(samples.__getitem__) is Truth.TRUE
    assert predicate("near(largest(e.a.x) - e.b.x, 1, 1e-9)", "test").holds(samples.__getitem__) is Truth.TRUE


def test_a_deviation_over_seeds_has_the_interval_of_the_jackknife():
    """Of 30 seeds: F of 4 is beyond chance, that of 1.4 (p = 0.36) is not."""
    draws = np.random.default_rng(1).normal(size=30)
    draws = (draws - draws.mean()) / draws.std(ddof=1)
    samples = {"e.a.x": draws, "e.b.x": 2 * draws[::-1], "e.c.x": 1.18 * draws[::-1]}
    assert predicate("std(e.b.x) > std(e.a.x)", "test").holds(samples.__getitem__) is Truth.TRUE
    assert predicate("std(e.c.x) > std(e.a.x)", "test").holds(samples.__getitem__) is Truth.UNDECIDED
    assert predicate("near(std(e.a.x), 1, 0.5)", "test").holds(samples.__getitem__) is Truth.TRUE


def test_the_largest_of_one_window_is_that_of_each_run():
    """Not the largest of the runs, which grows with their number."""
    samples = {"e.a.x": np.arange(10.0)}
    assert predicate("near(largest(e.a.x), 4.5, 3)", "test").holds(samples.__getitem__) is Truth.TRUE
    assert predicate("largest(e.a.x) > 8", "test").holds(samples.__getitem__) is Truth.FALSE
