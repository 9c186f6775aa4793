"""BLUE, AVQ and SRED: whole verdict sequences, beside slow implementations from the papers alone."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import avq
import blue
import pytest
import sred
from random_traces import trace
from test_oracles import SITE, VECTORS, first_difference, read

Params = dict[str, Any]

ORACLES = {"avq": avq.verdicts, "blue": blue.verdicts, "sred": sred.verdicts}

#: Parameters of a law, drawn.
DRAWN: dict[str, Callable[[random.Random], Params]] = {
    "avq": lambda dice: {
        "alpha": dice.choice([0.05, 0.15, 1.0, 5.0]),
        "gamma": dice.choice([0.5, 0.9, 0.98, 1.0]),
        "offered": dice.random() < 0.5,
        "buffer": f"{dice.randint(1, 10)} packets",
    },
    "blue": lambda dice: {
        "increase": dice.choice([0.02, 0.1, 0.5]),
        "decrease": dice.choice([0.002, 0.02]),
        "freeze": f"{dice.randint(1, 200)} ms",
        "again": dice.random() < 0.5,
        **({"threshold": f"{dice.randint(1, 20)} packets"} if dice.random() < 0.5 else {}),
    },
    "sred": lambda dice: {
        "zombies": dice.choice([1, 7, 50, 1000]),
        "overwrite": dice.choice([0.25, 0.5, 1.0]),
        "weight": dice.choice([0.0001, 0.001]),
        "max_p": dice.choice([0.15, 0.5, 1.0]),
        "full": dice.random() < 0.5,
    },
}


@pytest.mark.parametrize(
    "path", [path for law in ORACLES for path in sorted((VECTORS / law).glob("*.jsonl"))]
)
def test_golden_traces(path: Path) -> None:
    header, calls, expected = read(path)
    assert first_difference(ORACLES[path.parent.name](header, calls), expected) == "none"


@pytest.mark.parametrize("law", ORACLES)
def test_random_traces(law: str) -> None:
    acts = 0
    for seed in range(int(os.environ.get("ORACLE_TRACES", "25"))):
        params = DRAWN[law](random.Random(seed))
        header = {"trace": 1, "law": law, "params": params, "about": "random", "site": SITE}
        calls = trace(header, seed, None)
        expected = [call["verdict"] for call in calls if "verdict" in call]
        assert first_difference(ORACLES[law](header, calls), expected) == "none", f"seed {seed}: {params}"
        acts += len(expected) - expected.count("pass")
    assert acts > 300, acts


@pytest.mark.parametrize(("window", "limit"), [(1.5, 5.863), (2.5, 2.619), (3.0, 1.4875)])
def test_the_limit_of_alpha_is_where_the_fluid_model_begins_to_swing(window: float, limit: float) -> None:
    rtt = 0.28
    assert avq.largest_alpha(window, rtt) == pytest.approx(limit, rel=1e-3)
    assert avq.swing(window, rtt, 0.85 * limit) < 0.8
    assert avq.swing(window, rtt, 1.15 * limit) > 1.25
