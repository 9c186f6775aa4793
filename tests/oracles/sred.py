"""SRED, from Ott, Lakshman, Wong (INFOCOM 1999) alone.

Points that the paper leaves open follow the documentation of the law: three decisions from two draws, packets
only join a list that is not full, and ECN-capable packets are marked.
"""

from __future__ import annotations

from math import floor
from typing import Any


class Sred:
    def __init__(self, params: dict[str, Any], link: dict[str, Any]) -> None:
        self.m = params.get("zombies", 1000)
        self.p = params.get("overwrite", 0.25)
        self.alpha = params.get("weight", self.p / self.m)
        self.p_max = params.get("max_p", 0.15)
        self.b = float(params.get("buffer", f"{link['limit_packets']} packets").removesuffix(" packets"))
        self.full = params.get("full", True)
        self.zombies: list[int] = []
        self.hit_frequency = 0.0

    def arrival(self, call: dict[str, Any]) -> str:
        hit = 0
        if len(self.zombies) < self.m:
            self.zombies.append(call["flow"])
        else:
            zombie = floor(call["u"][1] * self.m)
            if self.zombies[zombie] == call["flow"]:
                hit = 1
            elif call["u"][1] * self.m - zombie < self.p:
                self.zombies[zombie] = call["flow"]
            self.hit_frequency = (1 - self.alpha) * self.hit_frequency + self.alpha * hit
        if call["u"][0] >= self.p_zap(call["backlog_packets"], hit):
            return "pass"
        return "drop" if call["ecn"] == "not_ect" else "mark"

    def p_zap(self, q: int, hit: int) -> float:
        if q < self.b / 6:
            p_sred = 0.0
        elif q < self.b / 3:
            p_sred = self.p_max / 4
        else:
            p_sred = self.p_max
        if self.hit_frequency == 0:
            return p_sred
        zap = p_sred * min(1.0, 1 / (256 * self.hit_frequency) ** 2)
        return zap * (1 + hit / self.hit_frequency) if self.full else zap


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> list[str]:
    """Every verdict of the trace."""
    sred, answers = Sred(header["params"], header["link"]), []
    for call in calls:
        if call["call"] == "arrival":
            answers.append(sred.arrival(call))
        elif call["call"] == "departure":
            answers.append("pass")
    return answers
