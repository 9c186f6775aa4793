"""Every oracle, and the parameters of its law in random traces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import arm_pfc
import avq
import blue
import cobalt
import codel
import docsis_pie
import fb_ocq
import pi
import pi2
import pi_pd
import pid
import pie
import red
import sred

Params = dict[str, Any]
#: Answers of an oracle to a trace: its verdicts, and for some p after every update.
Answers = list[str] | tuple[list[str], list[float]]


@dataclass(frozen=True)
class Oracle:
    """A law in slow Python, written from its source alone."""

    replay: Callable[[dict[str, Any], list[dict[str, Any]]], Answers]
    #: Random parameters of the law.
    drawn: Callable[[Random], Params]
    #: Time of the first update of a law with these parameters, ms; None: never.
    first_update_ms: Callable[[Params], int | None] = lambda _: None
    #: True if the link changes its rate now and then.
    rates: bool = False
    #: Least number of drops and marks in 25 random traces.
    acts: int = 500


def _codel(dice: Random) -> Params:
    return {
        "target": f"{dice.randint(2, 30)} ms",
        "interval": f"{dice.randint(40, 200)} ms",
        "ecn": dice.random() < 0.5,
        "newton": dice.random() < 0.3,
    }


def _cobalt(dice: Random) -> Params:
    return {
        "target": f"{dice.randint(2, 20)} ms",
        "interval": f"{dice.choice([21, 40, 100])} ms",
        "ecn": dice.random() < 0.5,
        "mtu": f"{dice.choice([100, 500, 1500])} B",
        "increment": dice.choice([0.004, 0.05, 0.3]),
        "decrement": dice.choice([0.0003, 0.01]),
        **dice.choice([{}, {"freeze": f"{dice.randint(1, 100)} ms"}]),
    }


def _red(dice: Random) -> Params:
    # A packet of the traces has 1000 B and takes 4 ms.
    size, unit = dice.choice([(1, "packets"), (4, "ms"), (1000, "B")])
    given = {"min": f"{size * dice.randint(1, 8)} {unit}", "max": f"{size * dice.randint(9, 25)} {unit}"}
    follows = {"thresholds": "auto", "target": f"{size * dice.randint(3, 15)} {unit}"}
    return {
        **dice.choice([given, given, follows]),
        **dice.choice([{}, {"mean_packet": f"{dice.randint(600, 1500)} B"}]),
        "weight": dice.choice([0.02, 0.1, 1.0]),
        "max_p": dice.choice([0.05, 0.3, 1.0]),
        **{key: dice.random() < 0.5 for key in ("gentle", "byte_mode", "wait")},
        "mark_below_p": dice.choice([0.1, 1.0, 1.1]),
    }


def _blue(dice: Random) -> Params:
    return {
        "increase": dice.choice([0.02, 0.1, 0.5]),
        "decrease": dice.choice([0.002, 0.02]),
        "freeze": f"{dice.randint(1, 200)} ms",
        "again": dice.random() < 0.5,
        **({"threshold": f"{dice.randint(1, 20)} packets"} if dice.random() < 0.5 else {}),
    }


def _avq(dice: Random) -> Params:
    return {
        "alpha": dice.choice([0.05, 0.15, 1.0, 5.0]),
        "gamma": dice.choice([0.5, 0.9, 0.98, 1.0]),
        "offered": dice.random() < 0.5,
        "buffer": f"{dice.randint(1, 10)} packets",
        "start": dice.choice([0.8, 1.0]),
    }


def _sred(dice: Random) -> Params:
    return {
        "zombies": dice.choice([1, 7, 50, 1000]),
        "overwrite": dice.choice([0.25, 0.5, 1.0]),
        "weight": dice.choice([0.0001, 0.001]),
        "max_p": dice.choice([0.15, 0.5, 1.0]),
        "full": dice.random() < 0.5,
    }


def _pi(dice: Random) -> Params:
    return {"target": f"{dice.randint(3, 20)} packets", "a": 0.02, "b": 0.017, "rate": "50 Hz"}


def _pid(dice: Random) -> Params:
    return {
        "target": f"{dice.randint(3, 20)} packets",
        "form": dice.choice(["position", "velocity"]),
        "rate": "50 Hz",
        **dice.choice([{}, {"adapt": "load"}, {"kp": 0.01, "ki": 0.1, "kd": 2e-4}]),
    }


def _pi_pd(dice: Random) -> Params:
    return {
        "target": f"{dice.randint(3, 20)} packets",
        "form": dice.choice(["switch", "sum", "pd"]),
        "period": "20 ms",
        **dice.choice([{}, {"alpha": 0.03}]),
    }


def _fb_ocq(dice: Random) -> Params:
    common = {"target": f"{dice.randint(3, 15)} packets", "period": f"{dice.randint(10, 40)} ms"}
    tau_w = {"tau_w": f"{dice.randint(50, 400)} ms"}
    if dice.random() < 0.2:
        return {
            **common,
            "form": "receding",
            **dice.choice([{}, {"forecast": False}]),
            **dice.choice([{}, {}, {"delay": "0 s"}, {"delay": "70 ms"}]),
            **dice.choice([{}, {"t_u": "0 s"}, {"t_u": "50 ms"}]),
            **dice.choice([{}, {}, {"horizon": "400 ms"}, {"p_max": 0.3}, {"iterations": 0}]),
        }
    if dice.random() < 0.5:
        return {
            **common,
            **dice.choice([{}, tau_w]),
            **dice.choice([{}, {"t_c": f"{dice.randint(100, 400)} ms"}]),
        }
    return {
        **common,
        **tau_w,
        "form": dice.choice(["sqrt", "deadbeat"]),
        "load": dice.choice(["virtual", "offered"]),
        "bias": dice.random() < 0.5,
    }


def _arm_pfc(dice: Random) -> Params:
    delay = dice.choice([None, 2, 5])
    # With one period of delay the law inverts the model, and rounding errors grow.
    near = (delay or 6) + dice.randint(2, 8)
    ramp = dice.random() < 0.3
    return {
        "target": f"{dice.randint(3, 20)} packets",
        "form": dice.choice(["indep", "indep", "paper"]),
        "psi": dice.choice([0.83, 0.95]),
        **({"delay": delay} if delay else {}),
        **({"base": "ramp"} if ramp else {}),
        **({"coincidence": [near, near + 3] if ramp or dice.random() < 0.4 else [near]} if delay else {}),
        **dice.choice([{}, {"adapt": "load"}, {"adapt": "none"}]),
        **dice.choice([{}, {"least_window": 1.0}, {"least_window": 8.0}]),
        **dice.choice([{}, {"flows": 4.0}]),
    }


def _pie(dice: Random) -> Params:
    strength = dice.choice([1, 1, 10])
    return {
        "target": f"{dice.randint(3, 40)} ms",
        "period": f"{dice.randint(5, 25)} ms",
        "alpha": 0.125 * strength,
        "beta": 1.25 * strength,
        "max_burst": f"{dice.choice([0, 10, 50, 150])} ms",
        "delay": dice.choice(["timestamps", "departure_rate"]),
        "dq_threshold": f"{dice.choice([2048, 8192, 16384])} B",
        **({"packet": f"{dice.randint(200, 1500)} B"} if dice.random() < 0.5 else {}),
        "mark_below_p": dice.choice([0.0, 0.1, 0.4, 1.0]),
        **{key: dice.random() < 0.5 for key in ("derandomize", "cap_drop", "activity", "byte_mode")},
        **{key: dice.choice(["half", "zero"]) for key in ("decay", "inactive")},
    }


def _docsis_pie(dice: Random) -> Params:
    return {
        "target": f"{dice.randint(3, 40)} ms",
        **({"msr": f"{dice.randint(200, 2000)} kbit/s"} if dice.random() < 0.5 else {}),
        **({"buffer": f"{dice.randint(2000, 30000)} B"} if dice.random() < 0.7 else {}),
    }


def _pi2(dice: Random) -> Params:
    return {
        "target": f"{dice.randint(3, 40)} ms",
        "rtt_max": f"{dice.randint(30, 300)} ms",
        "period": f"{dice.randint(5, 25)} ms",
        "coupling": dice.choice([1.0, 1.5, 2.0, 3.0]),
        "bypass": f"{dice.choice([0, 1500, 3000])} B",
        "signal_at": dice.choice(["enqueue", "dequeue"]),
    }


def _each(milliseconds: int) -> Callable[[Params], int]:
    return lambda _: milliseconds


def _period(params: Params) -> int:
    return int(params["period"].removesuffix(" ms"))


ORACLES = {
    "red": Oracle(red.verdicts, _red, rates=True),
    "pi": Oracle(pi.verdicts, _pi, _each(20)),
    "codel": Oracle(codel.verdicts, _codel),
    "cobalt": Oracle(cobalt.verdicts, _cobalt, rates=True),
    "blue": Oracle(blue.verdicts, _blue, acts=300),
    "avq": Oracle(avq.verdicts, _avq, acts=300),
    "sred": Oracle(sred.verdicts, _sred, acts=300),
    "pid": Oracle(pid.verdicts, _pid, _each(20)),
    "pi_pd": Oracle(pi_pd.verdicts, _pi_pd, _each(20)),
    "arm_pfc": Oracle(arm_pfc.verdicts, _arm_pfc, _each(40), rates=True),
    "fb_ocq": Oracle(fb_ocq.verdicts, _fb_ocq, _period),
    "pie": Oracle(pie.verdicts, _pie, _period, rates=True),
    # Each first drop is followed by 142 ms without any.
    "docsis_pie": Oracle(docsis_pie.verdicts, _docsis_pie, _each(16), rates=True, acts=200),
    "pi2": Oracle(pi2.verdicts, _pi2, _period, rates=True),
}
