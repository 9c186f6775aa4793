"""A `Controller` in Python: the same verdicts as the built-in law, and its observations."""

import inspect
import math
import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from python_laws import PiInPython, Silent, TenLines

import sojourn as sj

# ---- The same law -------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_pi_in_python_gives_exactly_the_verdicts_of_the_built_in_one(root, jobs):
    scenario = sj.load(root / "scenarios" / "arm_pfc" / "exp1.toml")
    built_in = sj.laws.Pi(target="100 packets", a=PiInPython.a, b=PiInPython.b)
    result = sj.run(scenario, qdiscs=[built_in, PiInPython()], seeds=[1, 2], jobs=jobs)
    ours, theirs = result.qdiscs
    for seed in (1, 2):
        one, other = (run for run in result.runs if run.seed == seed)
        assert other.metrics == one.metrics
        assert other.conservation == one.conservation
        assert other.cost["events"] == one.cost["events"]
        assert one.metrics["mark_ratio"] > 0, "a law that does nothing proves nothing"
    for table in (result.series, result.distributions):
        both = [table.filter(pl.col("qdisc") == qdisc).drop("qdisc") for qdisc in (ours, theirs)]
        assert both[0].height > 100
        assert_frame_equal(*both, check_exact=True)
    assert result.series.filter(pl.col("name") == "p")["value"].max() > 0


def test_a_law_that_never_acts_is_tail_drop(scenario):
    one, other = sj.run(scenario, qdiscs=["tail_drop", Silent()], seeds=[5]).runs
    metrics = {name for name, value in one.metrics.items() if value != other.metrics[name]}
    assert metrics == set()


def test_the_ten_lines_run_beside_a_built_in_law_over_seeds(scenario):
    result = sj.run(scenario, qdiscs=[TenLines(gain=1e-2), sj.laws.TailDrop()], seeds=range(1, 4), jobs=2)
    assert result.qdiscs == ["TenLines:gain=0.01", "tail_drop"]
    queue = {qdisc: result.values(qdisc, "queue_mean_packets") for qdisc in result.qdiscs}
    assert all(queue["TenLines:gain=0.01"][seed] < queue["tail_drop"][seed] for seed in (1, 2, 3))


def test_a_law_alone_needs_no_list(scenario):
    assert sj.run(scenario, TenLines()).qdiscs == ["TenLines"]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_its_result_is_written_read_and_reported_as_any_other(scenario, tmp_path):
    result = sj.run(scenario, qdiscs=[TenLines(), "tail_drop"], seeds=[1, 2])
    again = sj.Result.read(result.write(tmp_path / "out"))
    assert again.runs == result.runs
    assert "TenLines" in again.report(tmp_path / "page.html").read_text()


def test_a_result_keeps_the_source_of_its_laws(scenario, tmp_path):
    law = type("Sourceless", (TenLines,), {"__module__": "nowhere"})()
    result = sj.run(scenario, qdiscs=[TenLines(gain=1e-3), law, "tail_drop"])
    again = sj.Result.read(result.write(tmp_path / "out"))
    assert list(again.provenance["laws"]) == ["TenLines:gain=0.001", "Sourceless"]
    assert again.provenance["laws"]["TenLines:gain=0.001"] == inspect.getsource(TenLines)
    assert again.provenance["laws"]["Sourceless"] is None
    assert "laws" not in sj.run(scenario).provenance


# ---- Observations -------------------------------------------------------------------------------


def test_an_observation_has_the_counts_of_the_qdisc(scenario):
    seen = []

    class Watcher(sj.Controller):
        period = "10 ms"

        def update(self, now):
            seen.append(now)
            return 0.01

    run = sj.run(scenario, qdiscs=[Watcher()], seeds=[1]).runs[0]
    assert [one.time_s for one in seen] == pytest.approx([0.01 * (n + 1) for n in range(600)])
    assert {one.elapsed_s for one in seen} == {0.01}
    totals = {
        name: sum(getattr(one, name) for one in seen)
        for name in (
            "arrivals_packets",
            "arrivals_bytes",
            "departures_packets",
            "drops_packets",
            "marks_packets",
        )
    }
    count = run.conservation
    # The last update is at the end of the run, before the packets of that instant.
    assert count["offered"] - totals["arrivals_packets"] in (0, 1)
    assert count["delivered"] - totals["departures_packets"] in (0, 1)
    assert totals["drops_packets"] == count["dropped"]
    assert totals["marks_packets"] > 0
    for one in seen:
        assert one.capacity_bps == 2e6
        assert one.capacity_pps == 250
        assert one.base_rtt_s == pytest.approx(0.05)  # 2 (5 ms + 2 x 10 ms)
        assert one.mean_packet_bytes == 1000
        assert one.limit_packets == 40
        assert 0 <= one.backlog_packets <= 40
        assert 0 <= one.busy_s <= one.elapsed_s
        # A FIFO of n packets of 1000 B at 250 packets/s has a head that waited for some of them at most.
        assert 0 <= one.sojourn_s <= 41 / 250
        assert (one.sojourn_s > 0) <= (one.backlog_packets > 0)
        acted = one.applied_p * one.arrivals_packets
        assert acted == pytest.approx(one.marks_packets) or one.drops_packets > 0
    assert max(one.backlog_packets for one in seen) == 40


def test_the_capacity_follows_the_schedule_and_unknown_values_are_none(folder):
    (folder / "open.toml").write_text(
        (folder / "small.toml").read_text().replace('buffer = "40 packets"\n', "")
        + '\n[[at]]\ntime = "3 s"\nset = { "bottleneck.rate" = "1 Mbit/s" }\n'
    )
    seen = []

    class Watcher(sj.Controller):
        period = "500 ms"

        def update(self, now):
            seen.append((now.time_s, now.capacity_pps, now.limit_packets))
            return 0.1

    sj.run(sj.load(folder / "open.toml"), Watcher())
    # At one instant changes precede updates.
    assert [rate for time_s, rate, _ in seen if time_s < 3] == [250.0] * 5
    assert [rate for time_s, rate, _ in seen if time_s >= 3] == [125.0] * 7
    assert {limit for *_, limit in seen} == {math.inf}


def test_an_observation_is_frozen_documented_and_shows_itself(scenario):
    kept = []

    class Keeper(sj.Controller):
        period = "1 s"

        def update(self, seen):
            kept.append(seen)
            return 0.0

    sj.run(scenario, Keeper())
    names = [name for name in dir(sj.Observation) if not name.startswith("_")]
    assert len(names) == 18
    assert all(getattr(sj.Observation, name).__doc__ for name in names)
    with pytest.raises(AttributeError):
        kept[0].backlog_packets = 3
    with pytest.raises(TypeError):
        sj.Observation()
    text = repr(kept[0])
    assert text.startswith("Observation(time_s=1.0, elapsed_s=1.0, ")
    assert re.findall(r"(\w+)=", text)[:2] == ["time_s", "elapsed_s"]
    assert sorted(re.findall(r"(\w+)=", text)) == names


# ---- Its page -----------------------------------------------------------------------------------


def test_the_page_s_first_example_runs_and_is_the_built_in_law(root, monkeypatch):
    monkeypatch.chdir(root)
    page = (root / "docs" / "howto" / "law-in-python.md").read_text()
    block = re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)[0]
    names = {"__name__": "page"}
    exec(block, names)
    result = names["result"]
    assert result.qdiscs == ["MyPi", "MyPi:target_packets=50", "pi:a=2e-5,b=1.95e-5"]
    first, third = (
        result.values(qdisc, "queue_mean_packets") for qdisc in (result.qdiscs[0], result.qdiscs[2])
    )
    assert first == third


def test_the_page_lists_all_fields_of_seen(root):
    page = (root / "docs" / "howto" / "law-in-python.md").read_text()
    table = page.split("## Fields of `seen`")[1].split("\n## ")[0]
    listed = re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line))
    assert sorted(listed) == [name for name in dir(sj.Observation) if not name.startswith("_")]


#  ---- Cost --------------------------------------------------------------------------------------


def test_the_cost_of_an_update_is_printed(root, capsys):
    scenario = sj.load(root / "scenarios" / "dumbbell.toml", {"duration": "41 s"})

    class Null(sj.Controller):
        def update(self, seen):
            return 0.01 if seen.backlog_packets > 1 else 0.0

    often = sj.run(scenario, Null(period="100 us"), jobs=1).runs[0]
    seldom = sj.run(scenario, Null(period="1 s"), jobs=1).runs[0]
    each = (often.cost["cpu_s"] - seldom.cost["cpu_s"]) / (41 / 100e-6)
    with capsys.disabled():
        print(f"\n  one update of a law in Python: {each * 1e6:.2f} us of CPU")
