"""Damaged results: 2000 mutants, each refused in one line or drawn, many by the command line."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from damaged import mutants

import sojourn as sj
from sojourn.cli import main, printing, running
from sojourn.plot import graph
from sojourn.report import page, setting

pytestmark = pytest.mark.slow

LONG = os.environ.get("LONG") == "1"
NETWORK = """\
title    = "Two links and three classes"
duration = "3 s"
warmup   = "1 s"
[[links]]
from   = "a"
to     = "b"
rate   = "2 Mbit/s"
delay  = "5 ms"
buffer = "40 packets"
qdisc   = "codel"
back   = { rate = "1 Mbit/s", delay = "5 ms", buffer = "20 packets", qdisc = "tail_drop" }
[[links]]
from  = "b"
to    = "c"
trace = { lte = { mean = "3 Mbit/s" } }
delay = "5 ms"
impairments = { loss = 0.01 }
[[flows]]
name  = "long"
count = 2
from  = "a"
to    = "c"
tcp   = { receive_window = 20 }
[[flows]]
name  = "short"
app   = "web"
from  = "c"
to    = "a"
access = { rate = "20 Mbit/s", delay = { spread = ["1 ms", "3 ms"] } }
[[flows]]
app = { cbr = { rate = "100 kbit/s" } }
from = "a"
to = "b"
[[at]]
time = "2 s"
every = "200 ms"
set  = { "a-b.rate" = "1 Mbit/s" }
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A small result with a scenario of every part that a page describes."""
    place = tmp_path_factory.mktemp("network")
    (place / "network.toml").write_text(NETWORK)
    return sj.run(sj.load(place / "network.toml"), qdiscs=["pie", "codel"]).write(place / "out")


def read(kept):
    """Read the result here, and describe the parts of its scenario and its provenance; errors as lines.

    The network is laid out only if it differs from that of `kept`.
    """
    try:
        result = sj.Result.read(".")
    except sj.InputError as error:
        return list(error.lines)
    texts = [running.summary(result), page._incomplete(result), page._notes(result), page._repeat(result)]
    if result.scenario != kept.scenario:
        texts += setting.sentences(result.scenario)
        graph.of(result.scenario)
    assert "".join(texts).encode("utf-8", "replace")
    return []


def reported(capsys):
    """`sojourn report` of the result here: the lines of stderr, none if a page was written."""
    place = Path("..", "page.html")
    place.unlink(missing_ok=True)
    capsys.readouterr()
    code = main(["report", ".", "-o", str(place)])
    lines = capsys.readouterr().err.splitlines()
    assert (code, len(lines), place.exists()) in ((0, 0, True), (2, 1, False)), (code, lines)
    return lines


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("name", "count"), [("result.json", 1400 if LONG else 350), ("provenance.json", 600 if LONG else 150)]
)
def test_a_damaged_result_is_refused_in_one_line_or_drawn(network, monkeypatch, capsys, name, count):
    """All mutants are read; of those refused every second one, of the others some go through the command."""
    monkeypatch.chdir(network)
    kept, whole = sj.Result.read("."), (network / name).read_text()
    refused = pages = 0
    try:
        for number, text in enumerate(mutants(whole, count, seed=16)):
            (network / name).write_bytes(text)
            lines = read(kept)
            refused += bool(lines)
            if number % (2 if lines else 24) == 0:
                assert reported(capsys) == lines, number
                pages += not lines
            assert len(lines) <= 1, (number, lines)
            assert all(line.startswith(f"{name}: ") and line.isprintable() for line in lines), (number, lines)
            assert not any("internal" in line or len(line) > 300 for line in lines), (number, lines)
    finally:
        (network / name).write_text(whole)
    assert count / 5 < refused < count * 0.9
    assert pages > count / 100


def test_a_damaged_table_is_one_line_whatever_polars_prints(network, monkeypatch, capfd, tmp_path):
    monkeypatch.chdir(network)
    whole = (network / "series.parquet").read_bytes()
    rng = random.Random(5)
    try:
        for number in range(40):
            damaged = bytearray(whole[: rng.randrange(len(whole))] if number % 8 == 0 else whole)
            for _ in range(20):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            (network / "series.parquet").write_bytes(damaged)
            with pytest.raises(sj.InputError, match=r"\Aseries\.parquet: [^\n]{,300}\Z"), printing.hushed():
                sj.Result.read(".")
            capfd.readouterr()
        assert main(["report", ".", "-o", str(tmp_path / "page.html")]) == 2
        out, err = capfd.readouterr()
        assert (out, len(err.splitlines())) == ("", 1)
    finally:
        (network / "series.parquet").write_bytes(whole)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["result.json", "provenance.json"])
def test_a_few_are_drawn_with_all_pictures(network, monkeypatch, capsys, name):
    monkeypatch.chdir(network)
    whole, pages = (network / name).read_text(), 0
    try:
        for text in mutants(whole, 40, seed=7):
            (network / name).write_bytes(text)
            pages += not reported(capsys)
            if pages == 2:
                break
    finally:
        (network / name).write_text(whole)
    assert pages == 2
