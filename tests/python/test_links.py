"""Links that a scenario describes by a file beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.cli.running import summary as printed

SCENARIO = """
title = "A recorded link"
duration = "20 s"
warmup = "2 s"
[bottleneck]
trace = { file = "links/x.trace" }
delay = "5 ms"
buffer = "100 packets"
qdisc = "tail_drop"
[[flows]]
count = 3
"""


def _write(folder: Path, trace: bytes) -> Path:
    """The scenario and its trace in `folder`."""
    (folder / "links").mkdir()
    (folder / "links" / "x.trace").write_bytes(trace)
    file = folder / "x.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def test_a_trace_is_read_beside_its_scenario(tmp_path: Path) -> None:
    scenario = sj.load(_write(tmp_path, b"1\n2\n2\n5\n"))
    (context,) = scenario.contexts
    # Four opportunities of 1504 B in 5 ms.
    assert context.rate_bps == pytest.approx(4 * 1504 * 8 / 0.005)
    assert "links/x.trace" in scenario.to_json()


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (b"", "links/x.trace, line 1: holds no delivery"),
        (b"2\n1\n", "links/x.trace, line 2: 1 after 2: time runs back"),
        (b"1\nx\n", 'links/x.trace, line 2: "x" is not a whole number'),
    ],
)
def test_an_error_of_a_trace_is_one_line(tmp_path: Path, trace: bytes, message: str) -> None:
    file = _write(tmp_path, trace)
    with pytest.raises(sj.InputError) as refused:
        sj.load(file)
    (line,) = str(refused.value).splitlines()
    assert line.startswith(f"{file}:6:11: bottleneck.trace.file: {message}")


@pytest.mark.parametrize("name", ["../x.trace", "{outside}/x.trace", "links/out", "links/pipe", "links"])
def test_a_scenario_reads_files_of_its_folder_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / "x.trace").write_bytes(b"1\n")
    (tmp_path / "here").mkdir()
    file = _write(tmp_path / "here", b"1\n")
    (tmp_path / "here" / "links" / "out").symlink_to(tmp_path / "x.trace")
    os.mkfifo(tmp_path / "here" / "links" / "pipe")
    name = name.format(outside=tmp_path)
    file.write_text(SCENARIO.replace("links/x.trace", name), encoding="utf-8")
    with pytest.raises(sj.InputError) as refused:
        sj.load(file)
    (line,) = str(refused.value).splitlines()
    message = "no file" if name in ("links/pipe", "links") else "outside of the scenario's folder"
    assert f'bottleneck.trace.file: "{name}" is {message}; expected a file in the scenario\'s folder' in line


def test_a_trace_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    with pytest.raises(sj.InputError) as refused:
        sj.load(file)
    (line,) = str(refused.value).splitlines()
    assert 'bottleneck.trace.file: "links/x.trace" cannot be read: No such file or directory' in line


@pytest.mark.usefixtures("undrawn")
def test_wire_losses_are_shown_for_lossy_wires(tmp_path: Path) -> None:
    lossy = SCENARIO.replace('trace = { file = "links/x.trace" }', 'rate = "4 Mbit/s"')
    lossless = tmp_path / "lossless.toml"
    lossless.write_text(lossy.replace("20 s", "6 s"), encoding="utf-8")
    changes = {"bottleneck.impairments.loss": "0.02"}
    for overrides, shown in (({}, False), (changes, True)):
        result = sj.run(sj.load(lossless, overrides), seeds=[1, 2])
        page = result.report(tmp_path / "page.html").read_text(encoding="utf-8")
        table = page.partition("<h2>Summary</h2>")[2].partition("</table>")[0]
        assert ("lost on the wire, %" in printed(result)) is shown
        assert ("lost on the wire" in table) is shown
        if shown:
            line = next(line for line in printed(result).splitlines() if line.startswith("lost"))
            # A few thousand packets, each lost with 2 %.
            assert 1.5 < float(line.split()[5]) < 2.5
