"""Runs of a made-up paper: sweeps by the changes that settings bring, and the commands that repeat them."""

from sojourn.reproduce.paper import Name, parse
from sojourn.reproduce.runs import carry_out, command

PAPER = parse(
    "made_up",
    {
        "title": "T",
        "reference": "R",
        "laws": {
            "own": {
                "marks": {"qdisc": "pi:target=20packets", "origin": "printed"},
                "drops": {
                    "qdisc": "pi:target=20packets",
                    "origin": "without ECN",
                    "set": {"flows[0].ecn": False},
                },
            }
        },
        "experiments": {
            "e": {
                "scenario": "arm_pfc/exp1",
                "laws": ["own"],
                "set": {"duration": "4 s", "warmup": "1 s"},
                "windows": {"late": "3 s..4 s"},
                "controls": {"tail_drop": "tail_drop", "pi_rule": "pi:target=20packets"},
                "quick_seeds": 1,
            }
        },
        "claims": [
            {"id": "one", "item": "I", "claim": "C.", "says": "?", "test": "e.own.late.marked_packets > 0"}
        ],
    },
)


def test_a_setting_may_change_the_scenario(tmp_path):
    samples = carry_out(PAPER, tmp_path, 1, quick=True)
    marks, drops = (
        [samples.of(Name("e", metric, "own", window=window), setting.key) for setting in PAPER.laws["own"]]
        for metric, window in (("marked_packets", "late"), ("drop_ratio", None))
    )
    assert marks[0] > 0
    assert marks[1] == 0
    assert drops[1] > 0
    assert {one.name for one in tmp_path.iterdir()} == {"made_up.e.sweep", "made_up.e.drops.sweep"}


def test_the_commands_have_the_changes():
    first, second = command(PAPER, PAPER.claims[0], quick=True).splitlines()
    assert "ecn" not in first
    assert second.endswith("--window '3 s..4 s'")
    assert "--set 'flows[0].ecn=false'" in second
