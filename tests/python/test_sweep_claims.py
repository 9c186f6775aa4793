"""Claims of a sweep: points that failed and means without an interval are in the count."""

import pytest

import sojourn as sj
from sojourn.result.statistics import estimate
from sojourn.sweep.answers import answers
from sojourn.sweep.claims import counted

SHORT = {"duration": "41 s", "at": []}
PLACES = {
    "flows": {"key": "flows[0].count", "values": [10, 20]},
    "delay": {"key": "bottleneck.delay", "values": ["5 ms", "20 ms"]},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("claims")


def test_points_that_failed_are_in_the_count(place):
    # A target of 900 packets is above the buffer.
    grid = {
        "scenario": "dumbbell",
        "set": SHORT,
        "axes": {"qdisc": ["pi:target=100packets", "pi:target=900packets"], **PLACES},
        "seeds": [1, 2],
        "pictures": [{"map": "utilization", "x": "flows", "y": "delay", "least": 0.05}],
    }
    found = sj.sweep(grid, place / "failed.sweep")
    assert found.failures().height == 8
    assert answers(found) == [
        "Utilisation is at least 5 %: pi:target=100packets holds at 4 of 4 points; "
        "pi:target=900packets holds at 0 of 4 points, failed at 4."
    ]
    # The same without an axis between them: eight points, of which four failed.
    rows = found.claim("utilization", least=0.05)
    assert rows["verdict"].to_list() == ["holds"] * 4 + ["failed"] * 4
    assert counted(rows["verdict"].to_list()) == "holds at 4 of 8 points, failed at 4"


def test_bounds_are_numbers_or_texts_in_the_unit_of_the_metric(place):
    found = sj.sweep(
        {"scenario": "dumbbell", "set": SHORT, "axes": PLACES, "seeds": [1, 2]}, place / "b.sweep"
    )
    assert found.claim("sojourn_p95_s", most="20 ms").equals(found.claim("sojourn_p95_s", most=0.02))
    assert found.plot.map("sojourn_p95_s", "flows", "delay", most="1 s")
    for given, line in (
        ({"most": "20 packets"}, "most: '20 packets' is no bound, as sojourn_p95_s is in s"),
        ({"least": "short"}, "least: 'short' is no bound; expected a number"),
        ({"most": 0.02, "least": 0.03}, "least: 0.03 is above most, 0.02; expected least <= most"),
    ):
        with pytest.raises(sj.InputError, match=f"^{line}"):
            found.claim("sojourn_p95_s", **given)
        with pytest.raises(sj.InputError, match=f"^{line}"):
            found.plot.map("sojourn_p95_s", "flows", "delay", **given)


def test_a_bound_within_the_interval_is_undecided_and_so_is_one_seed(place):
    grid = {"scenario": "dumbbell", "set": SHORT, "axes": {"qdisc": ["pi"], **PLACES}, "seeds": "1..4"}
    grid |= {"plants": ["packet", "fluid"]}
    found = sj.sweep(grid, place / "seeds.sweep")
    metric = "queue_mean_packets"
    rows = found.table().collect()
    for bound in sorted(found.summary(metric)["mean"]):
        for row in found.claim(metric, most=bound).iter_rows(named=True):
            of = [one[metric] for one in rows.iter_rows(named=True) if same(one, row)]
            own = estimate(of)
            low, high = (own.low, own.high) if row["plant"] == "packet" else (own.mean, own.mean)
            expected = "holds" if high <= bound else "does not hold" if low > bound else "undecided"
            assert row["verdict"] == expected, row
    middle = found.claim(
        metric, most=estimate([row["mean"] for row in found.summary(metric).to_dicts()]).mean
    )
    assert middle.height == 8
    # One seed: a packet run says nothing about the mean, a fluid one is the mean.
    one = sj.sweep(grid | {"seeds": [1]}, place / "seeds.sweep")
    verdicts = one.claim(metric, most=1e6)
    assert dict(verdicts.select("plant", "verdict").rows()) == {"packet": "one seed", "fluid": "holds"}
    with pytest.raises(sj.InputError, match=r"^most: a claim has no bound"):
        one.claim(metric)
    assert one.claim("srtt_p50_s", most=9.0)["verdict"].to_list().count("no value") == 4


def same(one, row):
    return all(one[name] == row[name] for name in ("qdisc", "flows", "delay", "plant"))


def test_counts_are_words():
    verdicts = ["holds", "undecided", "failed", "one seed", "does not hold", "no value", "holds"]
    assert counted(verdicts) == (
        "holds at 2 of 7 points, does not at 1, undecided at 1 (the 95 % interval crosses the bound), "
        "undecided at 1 (one value has no interval), failed at 1, no value at 1"
    )
    assert counted(["holds"]) == "holds at 1 of 1 point"


def test_a_map_marks_what_failed_and_what_is_not_shown(place):
    grid = {
        "scenario": "dumbbell",
        "set": SHORT,
        "axes": {
            "target": {"key": "bottleneck.qdisc.target", "values": ["100 packets", "900 packets"]},
            "delay": PLACES["delay"],
        },
        "seeds": [1, 2],
    }
    found = sj.sweep(grid, place / "map.sweep")
    mean = found.summary("queue_mean_packets")["mean"][0]
    ax = found.plot.map("queue_mean_packets", "target", "delay", most=mean)
    texts = [text.get_text() for text in ax.texts]
    assert texts.count("×") == 2
    assert f"{mean:.3g} ?" in texts
