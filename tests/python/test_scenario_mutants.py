"""Two thousand mutants of scenarios through the command line: a plan, a run, or one line for each error.

Each is a function of its number, so that a finding is reproducible.
"""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

import pytest
from small import SCENARIO

import sojourn as sj
from sojourn.cli import main
from sojourn.scenario import gallery

pytestmark = pytest.mark.slow

#: `SOJOURN_MUTANTS=100000` searches further.
MUTANTS = int(os.environ.get("SOJOURN_MUTANTS", "2000"))
#: Limits of flows, seconds and bit/s of a mutant that is run, so that it takes a moment.
SMALL = {"flows": 20, "seconds": 3.0, "bits": 1e8}
#: Replacements of a value.
VALUES = (
    *(
        "0",
        "-1",
        "1e308",
        "nan",
        "-inf",
        "99999999999999999999",
        "true",
        "[]",
        "{}",
        '""',
        '"\\u0000"',
        "1979-05-27",
    ),
    *(
        '"1 ns"',
        '"0 s"',
        '"-5 ms"',
        '"1e30 s"',
        '"10 Mbps"',
        '"5 MBps"',
        '"1 packets"',
        '"0 B"',
        '"1e18 B"',
        '"codel"',
    ),
    *(
        '"red:min=1packets"',
        '{ law = "pi" }',
        '{ exponential = "1 s" }',
        '{ pareto = "1 kB", shape = 0.1 }',
        "[[[[]]]]",
    ),
)
#: Insertions.
PIECES = (
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    "#",
    "\n",
    "\\",
    ",",
    ".",
    "\x00",
    "\u202e",
    "\ufeff",
    '"""',
    "[[flows]]\n",
)


def mutant(number: int, texts: list[str]) -> bytes:
    """A scenario with one to four changes."""
    chance = random.Random(number)
    text = chance.choice(texts)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        text = changed(text, chance)
    data = text.encode("utf-8", "surrogatepass")
    if chance.random() < 0.1:
        at = chance.randrange(len(data) + 1)
        data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
    return data


def changed(text: str, chance: random.Random) -> str:
    return chance.choice((by_line, by_character, by_value))(text, chance)


def by_line(text: str, chance: random.Random) -> str:
    """Remove, duplicate or swap lines."""
    lines = text.splitlines(keepends=True) or ["\n"]
    one, other = (chance.randrange(len(lines)) for _ in range(2))
    kind = chance.randrange(3)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def by_character(text: str, chance: random.Random) -> str:
    """Insert or replace a piece, or cut the end off."""
    place = chance.randrange(len(text) + 1)
    if chance.random() < 0.2:
        return text[:place]
    return text[:place] + chance.choice(PIECES) + text[place + chance.randrange(2) :]


def by_value(text: str, chance: random.Random) -> str:
    """Another value, or other numbers."""
    values = list(re.finditer(r'"[^"\n]*"|\b[0-9][0-9.e+-]*', text))
    if not values or chance.random() < 0.3:
        return re.sub(r"[0-9]+", lambda _: str(10 ** chance.randrange(25)), text, count=chance.randint(1, 3))
    found = chance.choice(values)
    return text[: found.start()] + chance.choice(VALUES) + text[found.end() :]


def is_small(path: Path) -> bool:
    """True if a run takes a moment."""
    scenario = json.loads(sj.load(path).to_json())
    rates = [
        float(rate) * UNITS[unit]
        for rate, unit in re.findall(r'"([0-9.]+) (bit|kbit|Mbit|Gbit|Tbit)/s"', json.dumps(scenario))
    ]
    flows = sum(group["count"] for group in scenario["flows"])
    seconds = sj.load(path).duration_s
    return flows <= SMALL["flows"] and seconds <= SMALL["seconds"] and max(rates, default=0) <= SMALL["bits"]


UNITS = {"bit": 1, "kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9, "Tbit": 1e12}


def test_mutants_of_scenarios(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [path.read_text() for path in gallery().values()]
    # The gallery's runs are long; a short one is changed as often.
    texts += [SCENARIO.replace('"6 s"', '"2 s"')] * len(texts)
    file = tmp_path / "m.toml"
    seen: dict[int | str, int] = {0: 0, 2: 0, "run": 0}
    for number in range(MUTANTS):
        file.write_bytes(mutant(number, texts))
        code = run_command(["check", "m.toml"], number, capsys)
        seen[code] += 1
        if code == 0 and number % 3 == 0 and is_small(file):
            run_command(["run", "m.toml", "--jobs", "1", "--quiet"], number, capsys)
            seen["run"] += 1
    assert min(seen[0], seen[2]) > MUTANTS / 20
    assert seen["run"] > MUTANTS / 400, seen


def run_command(arguments: list[str], number: int, capsys: pytest.CaptureFixture[str]) -> int:
    """Run a command; returns its exit code."""
    code = main(arguments)
    output = capsys.readouterr()
    note = f"mutant {number}, {arguments[0]}: exit code {code}, {output.err[:500]}"
    assert code in (0, 1, 2), note
    assert "internal error" not in output.err, note
    assert "Traceback" not in output.err, note
    if code == 2:
        lines = output.err.splitlines()
        assert 1 <= len(lines) <= 101, note
        assert all(len(line) < 2100 for line in lines), note
        assert all(re.match(r"m\.toml:[0-9]+:[0-9]+: |m\.toml: and more", line) for line in lines), note
    return code
