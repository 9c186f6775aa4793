"""Damaged results: 2000 mutants, each refused in one line or drawn."""

from __future__ import annotations

import random
import sys

import pytest
from damaged import mutants

import sojourn as sj
from sojourn.cli import main, printing
from sojourn.plot import graph
from sojourn.report import page as whole_page
from sojourn.report import setting

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
disc   = "codel"
back   = { rate = "1 Mbit/s", delay = "5 ms", buffer = "20 packets", disc = "tail_drop" }
[[links]]
from  = "b"
to    = "c"
trace = { model = "lte", mean = "3 Mbit/s" }
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
app   = "cbr"
rate  = "100 kbit/s"
from  = "a"
to    = "b"
[[at]]
time = "2 s"
every = "200 ms"
set  = { "a-b.rate" = "1 Mbit/s" }
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A small result with everything in its scenario that a page tells of."""
    place = tmp_path_factory.mktemp("network")
    (place / "network.toml").write_text(NETWORK)
    return sj.run(sj.load(place / "network.toml"), discs=["pie", "codel"]).write(place / "out")


#: The module of the page, which its function hides.
page = sys.modules[whole_page.__module__]


def looked_at(place, kept, *, drawn):
    """Read a result, and tell what depends on its scenario and its provenance; faults in lines.

    The network is drawn where that is asked for and its scenario is another one than that of `kept`.
    """
    try:
        result = sj.Result.read(place)
    except sj.InputError as fault:
        return list(fault.lines)
    told = [printing.summary(result), page._incomplete(result), page._notes(result), page._repeat(result)]
    if result.scenario != kept.scenario:
        told += setting.sentences(result.scenario)
        graph.of(result.scenario)
        told += [page._head(result)] if drawn else []
    assert "".join(told).encode("utf-8", "replace")
    return []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "count"), [("result.json", 1400), ("provenance.json", 600)])
def test_a_damaged_result_is_refused_in_one_line_or_drawn(network, monkeypatch, name, count):
    monkeypatch.chdir(network)
    kept, whole = sj.Result.read("."), (network / name).read_text()
    refused = 0
    try:
        for number, text in enumerate(mutants(whole, count, seed=16)):
            (network / name).write_bytes(text)
            lines = looked_at(".", kept, drawn=number % 8 == 0)
            refused += bool(lines)
            assert len(lines) <= 1, (number, lines)
            assert all(line.startswith(f"{name}: ") and line.isprintable() for line in lines), (number, lines)
            assert not any("internal" in line or len(line) > 300 for line in lines), (number, lines)
    finally:
        (network / name).write_text(whole)
    assert count / 5 < refused < count * 0.9


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
def test_a_sample_of_them_goes_through_the_command(network, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(network)
    codes = []
    for name in ("result.json", "provenance.json"):
        whole = (network / name).read_text()
        try:
            for text in mutants(whole, 5, seed=7):
                (network / name).write_bytes(text)
                capsys.readouterr()
                codes.append(main(["report", ".", "-o", str(tmp_path / "page.html")]))
                err = capsys.readouterr().err
                assert codes[-1] in (0, 2), err
                assert len(err.splitlines()) == (codes[-1] == 2), err
        finally:
            (network / name).write_text(whole)
    assert {0, 2} <= set(codes)
