"""Sentences of the report: each is true of its result, and present if the result shows it."""

import math
import re
import statistics
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest
from invented import columns, invented, partly, steady
from scipy.stats import t, ttest_rel

import sojourn as sj
from sojourn.cli import running
from sojourn.report import comparison, verdicts
from sojourn.report.page import page
from sojourn.result import Row, metrics, words
from sojourn.result.agreement import Gap
from sojourn.result.statistics import estimate


def test_the_headline_names_the_lowest_delay_and_its_price():
    text = verdicts.headline(invented({"red": columns(0.02, 0.06), "pi": columns(0.05, 0.01)}))
    assert text == (
        "red has the lowest mean delay: 21 ms, against 51 ms under pi. "
        "It keeps the link as busy as the other, within one percentage point: 99.0 %. "
        "The price is loss: it drops 6.1 % of the packets, where pi drops 1.0 %."
    )


def test_the_headline_names_the_law_with_the_lower_p95_delay():
    low = {**columns(0.02, 0.01), "sojourn_p95_s": [0.2, 0.21, 0.2]}
    laws = {"red": low, "pi": columns(0.05, 0.01)}
    lower = "pi has the lower p95 delay: 100 ms, against 203 ms under red."
    assert lower in verdicts.headline(invented(laws))
    assert lower.replace("lower", "lowest") in verdicts.headline(
        invented({**laws, "rem": columns(0.07, 0.01)})
    )
    close = {**columns(0.07, 0.01), "sojourn_p95_s": [0.101, 0.099, 0.101]}
    less = lower.replace("the lower", "a lower")
    assert less in verdicts.headline(invented({**laws, "rem": close})), "rem may have as little as pi"
    wide = {**low, "sojourn_p95_s": [0.05, 0.21, 0.06]}
    assert "p95" not in verdicts.headline(invented({**laws, "red": wide}))


def test_it_is_the_qdisc_of_the_lowest_delay_in_each_sentence():
    slow = law(LOW, drops=(3.0, 3.0, 3.1), p95=[90.0, 91.0, 90.0])
    text = verdicts.headline(invented({"codel": slow, "pi": law(HIGH, p95=[50.0, 50.0, 51.0])}))
    assert "pi has the lower p95 delay: 50.3 ms" in text
    price = "The price is loss: it drops 3.0 % of the packets, where pi drops 1.0 %."
    assert text.index(price) < text.index("pi has the lower p95 delay")


def test_the_headline_calls_a_trade_off_one():
    laws = {"tiny": columns(0.001, 0.2, 0.5), "red": columns(0.02, 0.06), "pi": columns(0.05, 0.06, 0.995)}
    assert verdicts.headline(invented(laws)).startswith(
        "tiny has the lowest mean delay: 2 ms, against 21 ms under red and 51 ms under pi. "
        "It leaves more of the link unused: 50.0 % busy, against 99.5 % under pi at a mean delay of 51 ms; "
        "red comes within one percentage point of that at 21 ms."
    )
    del laws["red"]
    assert "comes within" not in verdicts.headline(invented(laws)), "nobody stands between"
    busy = {**laws["tiny"], "utilization": [0.2, 0.9999, 0.7]}
    text = verdicts.headline(invented({**laws, "tiny": busy}))
    assert "It keeps the link 63.3 % busy; 3 seeds do not distinguish that from 99.5 % under pi." in text
    assert "leaves more of the link unused" not in text


def test_of_twelve_laws_a_short_queue_on_a_busy_link_is_in_the_headline():
    laws = {f"law{place}": columns(0.1 + place / 100, 0.01, 0.999) for place in range(10)}
    laws |= {"red": columns(0.09, 0.01, 0.999), "pie": columns(0.016, 0.03, 0.98)}
    laws["law9"]["utilization"] = [0.9995, 0.9995, 0.9995]
    text = verdicts.headline(invented(laws))
    assert text.startswith("pie has the lowest mean delay: 17 ms, against 91 ms (red) to 191 ms (law9).")
    assert "98.0 % busy, against 99.95 % under law9 at a mean delay of 191 ms" in text
    assert "red comes within one percentage point of that at 91 ms" in text


def test_the_headline_claims_no_difference_that_the_seeds_do_not_show():
    left, right = columns(0.02, 0.01), columns(0.02, 0.01)
    right["sojourn_mean_s"] = [0.025, 0.018, 0.022]
    far = columns(0.09, 0.01)
    text = verdicts.headline(invented({"red": left, "pi": right}))
    doubt = (
        "red has the lowest mean delay measured, 21 ms; 3 seeds do not distinguish it from 21.7 ms under pi"
    )
    assert text.startswith(f"{doubt}. ")
    text = verdicts.headline(invented({"red": left, "pi": right, "rem": far}))
    assert text.startswith(f"{doubt}; the others have 91 ms under rem. ")
    one = {name: column[:1] for name, column in columns(0.02, 0.01).items()}
    two = {name: column[:1] for name, column in columns(0.09, 0.01).items()}
    assert "one seed does not distinguish" in verdicts.headline(invented({"red": one, "pi": two}))


def test_the_steadiest_law_is_named_though_two_do_not_differ():
    laws = {
        "pi": steady(15.0, 15.4, 14.8),
        "cpc": steady(15.2, 15.1, 15.3, queue=101),
        "red": steady(79.0, 80.0, 78.0, queue=102),
    }
    assert verdicts.queue(invented(laws)) == (
        "Mean queue: 100 packets under pi, 101 packets under cpc and 102 packets under red. "
        "pi has the lowest standard deviation measured, 15.1 packets; 3 seeds do not distinguish it from "
        "15.2 packets under cpc; the others have 79 packets under red."
    )
    del laws["cpc"]
    assert "pi has the lowest standard deviation: 15.1 packets, against 79 packets under red." in (
        verdicts.queue(invented(laws))
    )


@pytest.mark.parametrize("seeds", [2, 5])
@pytest.mark.parametrize("spread", [0.02, 1.0])
def test_a_superlative_is_claimed_where_every_comparison_shows_it_and_nowhere_else(seeds, spread):
    random = np.random.default_rng([seeds, round(100 * spread)])
    claimed = 0
    for _ in range(40):
        delays = {
            f"law{place}": 0.02 + 0.002 * place + spread * 0.002 * random.standard_normal(seeds)
            for place in range(5)
        }
        laws = {
            name: {
                **dict.fromkeys(columns(0, 0), [0.99] * seeds),
                "sojourn_mean_s": [float(one) for one in found],
            }
            for name, found in delays.items()
        }
        low, *others = sorted(delays.values(), key=np.mean)
        shown = all(ttest_rel(low, other).pvalue < 0.05 for other in others)
        text = verdicts.headline(invented(laws))
        assert ("has the lowest mean delay: " in text) == shown
        assert ("has the lowest mean delay measured" in text) != shown
        claimed += shown
    assert (claimed == 40) == (spread < 1)


def test_laws_that_are_alike_are_seldom_ranked_however_many_they_are():
    random = np.random.default_rng(7)
    for count in (2, 6):
        wrong = 0
        for _ in range(200):
            tables = random.standard_normal((count, 5))
            laws = {
                f"law{place}": steady(*map(float, 50 + one), queue=50) for place, one in enumerate(tables)
            }
            wrong += "has the lowest standard deviation: " in verdicts.queue(invented(laws))
        assert wrong <= 20, "a claim in twenty, and three standard deviations of 200 trials"


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_a_partial_result_claims_no_more_seeds_than_its_laws_have_in_common(made, tmp_path):
    tail, red = made.qdiscs
    part = partly(made, {tail: (1, 2, 3), red: (1,)})
    assert "one seed does not distinguish" in verdicts.headline(part)
    page = part.report(tmp_path / "page.html").read_text()
    assert "Mean over up to 3 seeds, and half the width" in page
    assert "2&nbsp;qdiscs, up to 3&nbsp;seeds, packet by packet<" in page
    assert "One seed: no intervals, so that no difference is shown to be more than chance." in page
    assert "up to 3 seeds; mean ±" in running.summary(part)
    apart = partly(made, {tail: (1, 2), red: (3,)})
    assert "No seed has run under both qdiscs, so that they are not compared." in verdicts.headline(apart)
    assert "lowest" not in verdicts.headline(apart)
    assert words.seed_count(apart) == "up to 2 seeds"
    assert "No seed has run under both qdiscs." in apart.report(tmp_path / "page.html").read_text()
    assert words.seed_count(made) == "3 seeds"


def test_verdicts_do_not_round_a_few_drops_to_none():
    text = verdicts.marks(invented({"red": columns(0.02, 0.00001), "pi": columns(0.02, 0.0)}))
    assert text == "pi drops none; red drops less than 0.01 %, of the packets offered."


def test_drops_and_marks_of_many_laws_are_given_from_end_to_end():
    laws = {f"law{place}": columns(0.02, place / 100) for place in range(6)}
    assert verdicts.marks(invented(laws)) == "Drops: none (law0) to 5.1 % (law5), of the packets offered."
    laws["law3"]["mark_ratio"] = [0.2, 0.2, 0.2]
    assert verdicts.marks(invented(laws)).endswith(
        "; marks: none (law0 and 4 others) to 20.0 % (law3), of the packets offered."
    )


def test_a_link_on_which_nothing_is_sent_is_not_called_busy():
    def sentence(*busy):
        return verdicts.utilization(
            invented({f"law{place}": columns(0, 0, share) for place, share in enumerate(busy)})
        )

    assert sentence(0.0, 0.0) == sentence(0.0) == "Nothing was sent after the warm-up."
    assert sentence(0.0004, 0.0) == (
        "Every qdisc leaves the link all but idle: on average it is busy 0.04 % of the time at most."
    )
    assert sentence(0.5, 0.501) == "On average every qdisc keeps the link at least 50.0 % busy."


def test_of_many_laws_the_ends_are_named():
    laws = {f"law{place}": columns(0.02 * (1 + place), 0.01, 0.9 - place / 10) for place in range(6)}
    assert verdicts.delay(invented(laws)) == ("The p95 delay is 40 ms (law0) to 240 ms (law5).")
    assert verdicts.utilization(invented(laws)) == (
        "The link is kept busy 40.0 % of the time (law5) to 90.0 % of the time (law0)."
    )


def test_the_ends_of_many_count_those_that_are_alike():
    laws = {f"law{place}": columns(0.02, drops, 1.0) for place, drops in enumerate((0, 0, 0, 0.01, 0.02))}
    assert "Drops: none (law0 and 2 others) to 2.0 % (law4)," in verdicts.marks(invented(laws))
    equal = {f"law{place}": columns(0.02, 0) for place in range(5)}
    assert verdicts.delay(invented(equal)) == "The p95 delay is 40 ms (law0 and 4 others)."


def test_verdicts_of_one_qdisc_compare_nothing():
    text = verdicts.headline(invented({"pi": columns(0.02, 0.06)}))
    assert text == "pi keeps the link 99.0 % busy at a mean delay of 21 ms and drops 6.1 % of the packets."


def law(delay, busy=(99.0, 99.0, 99.0), drops=(1.0, 1.0, 1.0), p95=None):
    """Metrics of a law by seed: delays in ms, the others in %; ``...`` for a seed that has not run."""

    def scaled(values, factor):
        return [value if value is ... or value is None else value * factor for value in values]

    ran = [value is not ... for value in delay]
    drops = [value if there else ... for there, value in zip(ran, drops, strict=True)]
    busy = [value if there else ... for there, value in zip(ran, busy, strict=True)]
    return {
        "utilization": scaled(busy, 0.01),
        "sojourn_mean_s": scaled(delay, 1e-3),
        "sojourn_p95_s": scaled(
            p95 or [value if value in {..., None} else 2 * value for value in delay], 1e-3
        ),
        "drop_ratio": scaled(drops, 0.01),
        "mark_ratio": scaled([0.0 if there else ... for there in ran], 0.01),
        "queue_mean_packets": scaled(delay, 10),
        "queue_std_packets": scaled(delay, 1),
    }


LOW, HIGH, WIDE = (5.0, 6.0, 7.0), (20.0, 21.0, 22.0), (4.0, 21.0, 38.0)


def test_a_law_is_as_busy_as_the_others_where_none_differs_by_a_percentage_point():
    def use(*busy):
        return verdicts.headline(
            invented({f"law{place}": law(np.array(LOW) + 20 * place, one) for place, one in enumerate(busy)})
        )

    alike = "as busy as the other, within one percentage point"
    assert alike in use((99.0, 98.9, 99.0), (98.9, 99.0, 99.1))
    assert alike not in use((99.0, 99.0, 99.0), (50.0, 50.0, 50.0)), "far busier is not as busy"
    assert alike not in use((99.0, 97.0, 99.5), (99.0, 99.0, 99.1)), "three seeds do not show it"
    busier = "It also keeps the link busier: 99.0 %, against 50.0 % under law1."
    assert busier in use((99.0, 99.0, 99.0), (50.0, 50.0, 50.0))
    assert "busier" not in use((99.0, 20.0, 99.0), (50.0, 50.0, 50.0))
    flat = [(one,) * 3 for one in (98.0, 20.0, 98.5)]
    assert (
        "No qdisc keeps the link busier by more than one percentage point: it is 98.0 % busy under law0."
    ) in use(*flat)
    assert "as busy as any other" not in use(*flat)
    assert "as busy as any other" in use(*[(one,) * 3 for one in (98.0, 97.5, 98.5)])
    assert "It also keeps the link busiest: 98.0 %, against 20.0 % under law1 and 97.5 % under law2." in use(
        *[(one,) * 3 for one in (98.0, 20.0, 97.5)]
    )
    assert "No qdisc" not in use((98.0,) * 3, (20.0,) * 3, (99.5,) * 3)


def test_a_doubt_about_utilisation_names_a_law_that_is_in_doubt():
    laws = {
        "first": law(LOW, (99.0, 99.0, 99.0)),
        "less": law(HIGH, (98.0, 98.0, 98.0)),
        "wide": law(HIGH, (93.0, 97.0, 101.0)),
    }
    text = verdicts.headline(invented(laws))
    assert "busy; 3 seeds do not distinguish that from 97.0 % under wide." in text
    assert "under less" not in text.partition("busy;")[2].partition(".")[0]


def test_the_middle_of_a_trade_off_is_neither_of_its_ends():
    laws = {
        "first": law(LOW, (98.9, 98.9, 98.9)),
        "far": law(HIGH, (90.0, 99.0, 99.9)),
        "top": law(np.array(HIGH) * 2, (99.5, 99.5, 99.5)),
    }
    text = verdicts.headline(invented(laws))
    assert "It leaves more of the link unused: 98.9 % busy, against 99.5 % under top" in text
    assert "first comes within" not in text


def test_loss_is_a_price_where_the_delay_is_shown_to_be_lower():
    close = {"red": law(HIGH, drops=(6.0, 6.1, 6.2)), "pi": law((20.0, 22.0, 21.5), drops=(1.0, 1.1, 1.0))}
    text = verdicts.headline(invented(close))
    assert "The price is loss" not in text
    assert "It drops more of the packets: 6.1 %, where pi drops 1.0 %." in text
    text = verdicts.headline(invented({**close, "red": law(LOW, drops=(6.0, 6.1, 6.2))}))
    assert "The price is loss: it drops 6.1 % of the packets, where pi drops 1.0 %." in text
    text = verdicts.headline(invented({**close, "red": law(LOW, drops=(6.0, 0.1, 6.2))}))
    assert "The price is loss" not in text
    assert "drops more" not in text


def test_loss_is_no_price_where_another_law_drops_more():
    laws = {
        "codel": law(LOW, drops=(0.5, 0.5, 0.6)),
        "head": law(HIGH, drops=(0.1, 0.1, 0.2)),
        "tail": law(np.array(HIGH) * 2, drops=(0.9, 0.9, 1.0)),
    }
    text = verdicts.headline(invented(laws))
    assert "price" not in text
    assert "It drops 0.5 % of the packets, more than head (0.1 %) and fewer than tail (0.9 %)." in text


def test_without_waiting_there_is_no_contest():
    empty = law((0.0, 0.0, 0.0), (0.2, 0.2, 0.2))
    assert verdicts.headline(invented({"red": empty, "pi": empty})) == "No packet waits under any qdisc."


def test_loss_that_is_saved_is_claimed_where_the_seeds_show_it():
    def price(own, others, delay=LOW):
        laws = {f"law{place}": law(HIGH, drops=one) for place, one in enumerate(others)}
        return verdicts.headline(invented({"red": law(delay, drops=own), **laws}))

    assert "It drops no packets, where law0 drops 2.0 %." in price((0, 0, 0), [(2.0, 2.1, 1.9)])
    assert "drops no packets" not in price((0, 0, 0.1), [(2.0, 2.1, 1.9)])
    assert "drops no packets" not in price((0, 0, 0), [(6.0, 0.0, 0.0)])
    assert "It also drops fewer packets: 0.50 %, against" not in price((0.5, 0.5, 0.5), [(2.0, 0.1, 1.9)])
    assert "It also drops fewer packets: 0.5 %, against 2.0 % under law0." in price(
        (0.5, 0.5, 0.5), [(2.0, 2.1, 1.9)]
    )
    both = [(2.0, 2.1, 1.9), (3.0, 3.0, 3.1)]
    fewest = "drops the fewest packets: 0.5 %, against 2.0 % under law0 and 3.0 % under law1."
    assert f"It also {fewest}" in price((0.5, 0.5, 0.5), both)
    assert "fewest" not in price((0.5, 0.5, 0.5), [*both, (0.4, 0.7, 0.6)])
    assert f"It {fewest}" in price((0.5, 0.5, 0.5), both, delay=(19.0, 20.0, 23.0)), "no first superlative"


def test_a_law_that_delivers_nothing_lends_its_figures_to_no_other():
    dead = {**law((None,) * 3, busy=(0.0,) * 3), "drop_ratio": [1.0] * 3}
    laws = {"codel": law(LOW, (98.0, 98.0, 98.0)), "dead": dead}
    assert verdicts.headline(invented(laws)) == (
        "codel keeps the link 98.0 % busy at a mean delay of 6 ms and drops 1.0 % of the packets. "
        "No packets were delivered after the warm-up under dead."
    )
    text = verdicts.headline(invented({**laws, "pi": law(HIGH)}))
    assert text.startswith("codel has the lowest mean delay: 6 ms, against 21 ms under pi.")
    assert text.endswith("No packets were delivered after the warm-up under dead.")
    assert "No packets" not in verdicts.headline(invented({"codel": law(LOW), "pi": law(HIGH)}))
    unknown = {**law(LOW), "utilization": [None] * 3}
    assert verdicts.headline(invented({"codel": unknown})).startswith("codel has a mean delay of 6 ms")
    idle = "The runs delivered no packets after the warm-up."
    assert verdicts.headline(invented({"dead": dead})) == idle


def test_laws_are_compared_over_the_seeds_that_all_have():
    partial = {"x": law((1.0, 30.1, 30.2)), "y": law((..., 20.1, 21.2))}
    text = verdicts.headline(invented(partial))
    assert "x has the lowest" not in text
    kept = "These means are over the 2 seeds under which all qdiscs were measured."
    assert text.startswith("y has the lowest mean delay: 20.7 ms, against 30.2 ms under x.")
    assert text.endswith(kept)
    assert (
        verdicts.delay(invented(partial)) == f"The p95 delay is 41.3 ms under y and 60.3 ms under x. {kept}"
    )
    for verdict in (verdicts.queue, verdicts.marks, verdicts.utilization):
        assert verdict(invented(partial)).endswith(kept)
    partial["x"] = law((1.0, 30.1, None))
    assert "over the one seed under which all qdiscs were measured" in verdicts.headline(invented(partial))
    whole = {"x": law(LOW), "y": law(HIGH)}
    assert "seed" not in verdicts.headline(invented(whole))
    alone = verdicts.headline(invented({"x": law((1.0, ..., 3.0))}))
    assert "seed" not in alone


def test_the_steadiest_law_is_named_over_the_seeds_that_all_have():
    partial = {"x": steady(1.0, 30.1, 30.2), "y": steady(..., 20.1, 21.2)}
    partial["y"]["queue_mean_packets"][0] = ...
    assert "y has the lowest standard deviation: 20.6 packets, against 30.1 packets under x." in (
        verdicts.queue(invented(partial))
    )
    only = {"x": steady(1.0, 1.0), "y": {"queue_mean_packets": [5.0, 5.0]}}
    assert verdicts.queue(
        invented({"y": {**only["y"], "queue_std_packets": [None, None]}, "x": only["x"]})
    ) == ("Mean queue: 5 packets under y and 100 packets under x.")


def test_a_bound_on_all_laws_holds_for_the_intervals():
    def sentence(*busy):
        return verdicts.utilization(
            invented(
                {
                    f"law{place}": law((1.0,) * len(one), one, (0.0,) * len(one))
                    for place, one in enumerate(busy)
                }
            )
        )

    steady_ones = sentence((97.0, 97.2, 97.4), (97.3, 97.2, 97.1))
    assert steady_ones == "On average every qdisc keeps the link at least 96.7 % busy."
    assert sentence((90.0, 99.9, 99.9), (97.0, 97.2, 97.4)) == (
        "The link is kept busy 96.6 % of the time under law0 and 97.2 % of the time under law1."
    )
    assert "at least" not in sentence((97.0,), (97.2,)), "one seed bounds nothing"
    assert "at least" not in sentence((97.0, 97.2, 97.4), (99.3, 99.2, 99.1))
    assert sentence((100.0,) * 3, (100.0,) * 3) == "Every qdisc keeps the link busy all the time."
    assert "all the time" not in sentence((100.0,) * 3, (100.0, 99.96, 100.0))
    assert (
        sentence((99.99,) * 3, (99.99,) * 3) == "On average every qdisc keeps the link at least 99.9 % busy."
    )
    assert "all but idle" in sentence((0.4, 0.41, 0.42), (0.1, 0.1, 0.1))
    assert "it is busy 0.44 % of the time at most" in sentence((0.4, 0.41, 0.42), (0.1, 0.1, 0.1))
    assert "idle" not in sentence((0.1, 0.9, 1.9), (0.1, 0.1, 0.1)), "the interval reaches beyond a percent"
    assert "idle" not in sentence((0.4,), (0.1,))
    assert sentence((0.0,) * 3, (0.0,) * 3) == "Nothing was sent after the warm-up."
    assert "Nothing" not in sentence((0.0,) * 3, (0.0, 0.001, 0.0))
    assert verdicts.utilization(invented({"a": law(LOW, (None,) * 3)})) == "No utilisation was measured."


def test_a_fluid_has_exact_figures():
    laws = {"a": law((20.0,), (97.2,), (1.0,)), "b": law((30.0,), (97.0,), (1.0,))}
    fluid = invented(laws, plant="fluid")
    assert verdicts.utilization(fluid) == "On average every qdisc keeps the link at least 97.0 % busy."
    assert verdicts.headline(fluid).startswith(
        "a has the lowest mean delay: 20 ms, against 30 ms under b. It keeps the link as busy as the other"
    )
    laws["b"] = law((20.001,), (97.0,), (1.0,))
    assert "lowest mean delay measured, 20 ms; one run does not distinguish it from 20 ms under b." in (
        verdicts.headline(invented(laws, plant="fluid"))
    ), "closer than equations are solved"


def test_figures_of_an_order_differ():
    laws = {"a": law((20.01, 20.01, 20.01)), "b": law((20.02, 20.02, 20.02))}
    assert "a has the lowest mean delay: 20.01 ms, against 20.02 ms under b." in verdicts.headline(
        invented(laws)
    )


def test_percentages_are_0_and_100_only_where_they_are_exact():
    def busy(share):
        return verdicts.utilization(invented({"a": columns(0.02, 0.0, share)}))

    assert busy(1.0) == busy(1 - 1e-13) == "a keeps the link 100 % busy."
    assert busy(0.00006) == "a keeps the link less than 0.01 % busy."
    assert busy(0.99999) == "a keeps the link more than 99.99 % busy."
    assert busy(0.00001) == "a keeps the link less than 0.01 % busy."


def at_links(delays):
    """A result of several links: link -> law -> mean delays in ms by seed."""
    runs = tuple(
        run
        for link, laws in delays.items()
        for run in invented({name: law(found) for name, found in laws.items()}, link=link).runs
    )
    return sj.Result({}, runs, pl.DataFrame(), pl.DataFrame())


def test_the_delays_at_links_bound_nothing_that_was_not_measured():
    delays = {
        f"link{place}": {"a": (10.0 * place + 10,) * 3, "b": (10.0 * place + 12,) * 3} for place in range(6)
    }
    assert verdicts.links(at_links(delays)) == (
        "Mean delays at 6 links: 60 ms to 62 ms at link5, 50 ms to 52 ms at link4, 40 ms to 42 ms at link3, "
        "30 ms to 32 ms at link2 and 10 ms to 22 ms at 2 other links."
    )
    some = {link: delays[link] for link in ("link0", "link1")}
    some["quiet"] = {"a": (None,) * 3, "b": (None,) * 3}
    assert verdicts.links(at_links(some)) == (
        "Mean delays at 2 links: 20 ms to 22 ms at link1 and 10 ms to 12 ms at link0; no packets at quiet."
    )
    assert (
        verdicts.links(at_links({"quiet": some["quiet"]}))
        == "The runs delivered no packets after the warm-up."
    )


def of_classes(table):
    """A result of several classes: class -> law -> metric -> values by seed."""
    runs = tuple(
        Row(
            "packet",
            qdisc,
            seed,
            "bottleneck",
            {name: column[seed] for name, column in metrics.items()},
            {},
            traffic_class=one,
        )
        for one, laws in table.items()
        for qdisc, metrics in laws.items()
        for seed in range(len(next(iter(metrics.values()))))
    )
    return sj.Result({}, runs, pl.DataFrame(), pl.DataFrame())


def test_classes_have_the_figures_that_apply_to_them():
    bulk = {"goodput_bps": [5e6, 5e6], "fct_mean_s": [None, None]}
    web = {"goodput_bps": [1e6, 1e6], "fct_mean_s": [0.3, 0.5]}
    assert verdicts.classes(of_classes({"bulk": {"pi": bulk}, "web": {"pi": web}})) == (
        "bulk gets 5 Mbit/s; web gets 1 Mbit/s, and its completed transfers take 400 ms on average."
    )
    nothing = {"goodput_bps": [None, None], "fct_mean_s": [None, None]}
    assert (
        verdicts.classes(of_classes({"bulk": {"pi": bulk}, "ping": {"pi": nothing}})) == "bulk gets 5 Mbit/s."
    )
    assert verdicts.classes(of_classes({"ping": {"pi": nothing}})) == "No goodput was measured."
    two = {"pi": bulk, "red": {**bulk, "goodput_bps": [4e6, 4e6]}}
    assert (
        verdicts.classes(of_classes({"bulk": two})) == "bulk gets 4 Mbit/s under red and 5 Mbit/s under pi."
    )
    many = of_classes({f"class{place}": {"pi": bulk} for place in range(6)})
    assert verdicts.classes(many).endswith("; 2 more below.")


def test_the_agreement_of_plants_names_the_laws_or_counts_them():
    gaps = [
        Gap(f"law{place}", metrics.QUEUE_MEAN_PACKETS, estimate([100.0]), estimate([101.0, 103.0]))
        for place in range(6)
    ]
    names = {gap.qdisc: gap.qdisc for gap in gaps}
    text = verdicts.agreement(gaps, names)
    assert text.startswith(
        "Mean queue, as a fluid and packet by packet: 100 against 102 packets under law0, "
    )
    assert text.endswith("; 2 more below.")
    assert "more below" not in verdicts.agreement(gaps[:4], names)
    assert verdicts.agreement([], names) == ""


def test_drops_and_marks_are_those_of_their_law():
    laws = {"a": law(LOW, drops=(1.0, 1.1, 0.9)), "b": law(LOW, drops=(0.0,) * 3)}
    laws["b"]["mark_ratio"] = [0.05, 0.05, 0.05]
    assert (
        verdicts.marks(invented(laws))
        == "b drops none and marks 5.0 %; a drops 1.0 %, of the packets offered."
    )
    assert verdicts.marks(invented({"a": {"drop_ratio": [None], "mark_ratio": [None]}})) == (
        "No drops or marks were measured."
    )


# ---- Random results, against scipy --------------------------------------------------------------


class Seen:
    """A random result in plain numbers, against which sentences are checked."""

    def __init__(self, table, metric, factor):
        have = {name: dict(enumerate(metrics[metric])) for name, metrics in table.items()}
        have = {
            name: {seed: one * factor for seed, one in found.items() if one is not ... and one is not None}
            for name, found in have.items()
        }
        have = {name: found for name, found in have.items() if found}
        self.common = [seed for seed in range(9) if have and all(seed in found for found in have.values())]
        self.values = {name: np.array([found[seed] for seed in self.common]) for name, found in have.items()}

    def mean(self, name):
        return float(np.mean(self.values[name]))

    def ends(self, left, right):
        """The 95 % interval of left - right."""
        gaps = self.values[left] - self.values[right]
        if len(gaps) < 2:
            return -math.inf, math.inf
        half = t.ppf(0.975, len(gaps) - 1) * statistics.stdev(gaps) / math.sqrt(len(gaps))
        return np.mean(gaps) - half, np.mean(gaps) + half

    def less(self, left, right):
        return self.ends(left, right)[1] < 0

    def others(self, name):
        return [other for other in self.values if other != name]


def random_result(random):
    """A table of laws and its numbers: near and far, steady and not, whole and partial."""
    count, seeds = random.integers(2, 5), int(random.integers(1, 6))
    spread = random.choice([0.01, 0.3, 2.0])
    table = {}
    for place in range(count):
        delay = 20 + 3 * place * random.random() + spread * random.standard_normal(seeds)
        busy = np.minimum(
            99.9, 98 - random.choice([0, 0.3, 2, 30]) + spread / 3 * random.standard_normal(seeds)
        )
        drops = np.maximum(0, random.choice([0, 1, 5]) * (1 + spread / 9 * random.standard_normal(seeds)))
        p95 = delay * random.choice([1.5, 2, 3]) + spread * random.standard_normal(seeds)
        delays = [float(one) for one in delay]
        if random.random() < 0.3:
            delays[random.integers(seeds)] = ... if random.random() < 0.7 else None
        if all(one is ... for one in delays):
            delays = [float(one) for one in delay]
        p95 = [one if one in (..., None) else float(high) for one, high in zip(delays, p95, strict=True)]
        table[f"law{place}"] = law(delays, list(map(float, busy)), list(map(float, drops)), p95)
    return table


@dataclass
class View:
    """The numbers behind a headline, and its law."""

    delay: Seen
    busy: Seen
    p95: Seen
    drops: Seen
    first: str = ""

    def lowest(self):
        """True if the first law has less delay than any other."""
        return all(self.delay.less(self.first, other) for other in self.delay.others(self.first))

    def measured(self, doubted, rest):
        """True if the laws in doubt are those that the seeds do not put behind the first."""
        doubted, rest = (set(re.findall(r"law\d", names or "")) for names in (doubted, rest))
        behind = {other for other in self.delay.others(self.first) if self.delay.less(self.first, other)}
        return bool(doubted) and rest == behind and doubted | rest == set(self.delay.others(self.first))

    def nearly_as_busy(self, left, right):
        """True if `left` is at most a percentage point busier."""
        return self.busy.ends(left, right)[1] < 1

    def alike(self):
        """True if all are as busy as the first."""
        others = self.busy.others(self.first)
        return all(
            self.nearly_as_busy(self.first, one) and self.nearly_as_busy(one, self.first) for one in others
        )

    def doubt(self, count, rival):
        """True if so many seeds show no order."""
        no_order = not self.busy.less(self.first, rival) and not self.busy.less(rival, self.first)
        return no_order and count == counted(self.busy)

    def middle(self, top, middle):
        """True if the law in the middle is nearly as busy as the busiest, at less delay."""
        between = middle not in {self.first, top} and self.nearly_as_busy(top, middle)
        return between and self.delay.less(middle, top)

    def least_p95(self, best, kind):
        """True if the best is below the first, and below all if it is called so."""
        over = [self.first] if kind == "a lower" else self.p95.others(best)
        return all(self.p95.less(best, one) for one in over)


def counted(seen):
    """The number of seeds as text."""
    return "one" if len(seen.common) == 1 else str(len(seen.common))


#: Sentence -> its pattern, and a predicate of a view and the matches of the pattern.
SENTENCES = {
    "lowest": (r"law\d has the lowest mean delay: ", lambda view: view.lowest()),
    "measured": (
        r"lowest mean delay measured, .*? distinguish it from (.*?)(?:; the others have (.*?))?\. ",
        View.measured,
    ),
    "alike": (r"as busy as (?:the|any) other", View.alike),
    "busiest": (
        r"It (?:also )?keeps the link busie",
        lambda view: all(view.busy.less(one, view.first) for one in view.busy.others(view.first)),
    ),
    "none busier": (
        r"No qdisc keeps the link busier by more than one percentage point",
        lambda view: all(view.nearly_as_busy(one, view.first) for one in view.busy.others(view.first)),
    ),
    "unused": (
        r"leaves more of the link unused: .*? under (law\d) at",
        lambda view, top: view.busy.less(view.first, top),
    ),
    "middle": (r"unused: .*? under (law\d) at [^;]*; (law\d) comes within one percentage point", View.middle),
    "doubt": (r"busy; (\d|one) seeds? do(?:es)? not distinguish that from .*? under (law\d)", View.doubt),
    "p95": (r"(law\d) has (the lowest|the lower|a lower) p95 delay", View.least_p95),
    "between": (
        r"It drops [^,]* of the packets, more than (law\d) \([^)]*\) and fewer than (law\d) ",
        lambda view, less, more: view.drops.less(less, view.first) and view.drops.less(view.first, more),
    ),
    "price": (
        r"The price is loss: .*? where (law\d) drops",
        lambda view, law: view.drops.less(law, view.first) and view.delay.less(view.first, law),
    ),
    "more loss": (
        r"It drops more of the packets: .*? where (law\d) drops",
        lambda view, law: view.drops.less(law, view.first) and not view.delay.less(view.first, law),
    ),
    "no loss": (
        r"It drops no packets, where (law\d) drops",
        lambda view, law: not view.drops.values[view.first].any() and view.drops.less(view.first, law),
    ),
    "fewest": (
        r"It (?:also )?drops (?:the fewest|fewer) packets",
        lambda view: all(view.drops.less(view.first, one) for one in view.drops.others(view.first)),
    ),
    "also": (r"It also", View.lowest),
    "kept": (r"over the (\d|one) seeds? under which", lambda view, count: count == counted(view.delay)),
    "apart": (r"so that they are not compared", lambda view: not view.delay.common),
}
#: A headline has exactly one of each.
ONE_OF = (("lowest", "measured"), ("alike", "busiest", "none busier", "unused", "doubt"))


@pytest.mark.usefixtures("undrawn")
def test_every_sentence_of_a_headline_is_shown_by_the_numbers():
    random = np.random.default_rng(16)
    met = dict.fromkeys(SENTENCES, 0)
    for _ in range(1000):
        table = random_result(random)
        text = verdicts.headline(invented(table)) + " "
        delay = Seen(table, "sojourn_mean_s", 1e3)
        if len(delay.values) < 2:
            continue
        view = View(delay, *(of_seeds(table, delay, *one) for one in OTHERS))
        view.first = re.match(r"law\d|", text)[0]
        found = {name: re.search(pattern, text) for name, (pattern, _) in SENTENCES.items()}
        for name, match in found.items():
            if match:
                met[name] += 1
                assert SENTENCES[name][1](view, *match.groups()), (name, text)
        if found["apart"]:
            assert sum(map(bool, found.values())) == 1, text
            continue
        assert delay.mean(view.first) == min(map(delay.mean, delay.values)), text
        assert bool(found["lowest"]) == view.lowest(), text
        assert bool(found["alike"]) == view.alike(), text
        for names in ONE_OF:
            assert sum(bool(found[name]) for name in names) == 1, text
        check_figures(text, view)
    assert all(met.values()), met


OTHERS = (("utilization", 100), ("sojourn_p95_s", 1e3), ("drop_ratio", 100))


def of_seeds(table, delay, metric, factor):
    """Another metric, under the seeds that have a delay under every law."""
    kept = {
        name: {metric: [one if seed in delay.common else ... for seed, one in enumerate(table[name][metric])]}
        for name in delay.values
    }
    return Seen(kept, metric, factor)


def check_figures(text, view):
    """Compare the figures with the means: 21 ms is one of delay or of p95, 3 % is one of drops or
    utilisation.
    """
    for number, unit, name in re.findall(r"([\d.]+) (ms|%) under (law\d)", text):
        seen = (view.delay, view.p95) if unit == "ms" else (view.busy, view.drops)
        half = 0.501 * 10.0 ** -len(number.partition(".")[2])
        assert any(abs(float(number) - one.mean(name)) <= half for one in seen), (number, unit, name, text)


# ---- Notes under tables and pictures ------------------------------------------------------------


@pytest.mark.usefixtures("undrawn")
def test_the_note_of_the_summary_mentions_existing_intervals(made):
    whole = comparison.summary(made)
    assert "Mean over 3 seeds, and half the width of the 95\N{NO-BREAK SPACE}% interval" in whole
    assert "claim an order or a bound only where 95\N{NO-BREAK SPACE}% intervals show it" in whole
    one = comparison.summary(partly(made, dict.fromkeys(made.qdiscs, (1,))))
    assert "One seed: no intervals." in one
    assert "Mean over" not in one
    assert "up to" not in whole
    assert "Mean over up to 3 seeds" in comparison.summary(
        partly(made, dict(zip(made.qdiscs, [(1, 2, 3), (1, 2)], strict=True)))
    )


@pytest.mark.usefixtures("undrawn")
def test_the_note_of_the_differences_names_the_seeds_that_both_have(made):
    first, other = made.qdiscs
    more = tuple(replace(run, qdisc="pi") for run in made.runs if run.qdisc == other)
    three = replace(made, runs=(*made.runs, *more))

    def note(seeds, result=made):
        return comparison.differences(partly(result, seeds), first)

    paired = "Mean difference over the seeds that both qdiscs have, and half the width of its 95"
    assert paired in note({first: (1, 2, 3), other: (2, 3)})
    one = "One seed: no intervals, so that no difference is shown to be more than chance."
    assert one in note({first: (1, 2), other: (2, 3)})
    none = note({first: (1, 2), other: (3,)})
    assert "No seed has run under both qdiscs." in none
    assert paired not in none
    apart = note({first: (1,), other: (2, 3), "pi": (2, 3)}, three)
    assert "No seed has run under tail_drop and another qdisc." in apart
    assert "No seed" not in note({first: (1, 2), other: (3,), "pi": (2,)}, three)


@pytest.mark.usefixtures("undrawn")
def test_a_strong_difference_of_a_fluid_is_explained_where_there_is_one(both, made):
    strong = "Strong there: more than one part in 1000."
    assert strong in comparison.differences(both, both.qdiscs[0])
    assert strong not in comparison.differences(made, made.qdiscs[0])


def test_the_note_of_the_agreement_has_an_interval_where_packets_have_one(both):
    interval = "with the interval of the packets&#x27; mean"
    assert interval in comparison.agreement(both)
    one = partly(both, dict.fromkeys(both.qdiscs, (1,)))
    one = replace(one, series=one.series.filter(pl.col("seed") == 1))
    assert "Excess of the fluid over the packets." in comparison.agreement(one)
    assert interval not in comparison.agreement(one)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_a_partial_result_is_marked(made):
    partial = replace(made, provenance={**made.provenance, "runs_planned": 9})
    assert "Not whole: 6 of 9 runs finished." in page(partial)
    assert "Not whole" not in page(made)
