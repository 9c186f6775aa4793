"""Cost of a sweep: its time beside that of one `sj.run` over as many seeds, bytes of the store, peak memory.

Cells are one-second runs, each at a point of its own, or `--seeds` at each; `sj.run` has all seeds at one
point. Each way runs in a process of its own, the sweep for a tenth of the cells, too, whose peak memory
should be the same. Nothing is asserted.

    python benches/sweep.py [--cells 10000] [--seeds 1]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sojourn as sj

SCENARIO = """
title = "One second"
duration = "1 s"
warmup = "200 ms"
[bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "100 packets"
qdisc = { law = "pi" }
[[flows]]
count = 5
"""


def by_run(scenario: sj.Scenario, seeds: int) -> dict[str, float]:
    """One run over all seeds."""
    started = time.perf_counter()
    sj.run(scenario, qdiscs=["pi"], seeds=range(1, seeds + 1))
    return spent(started)


def by_sweep(scenario: sj.Scenario, seeds: int, place: Path, points: int) -> dict[str, float]:
    """A sweep, and the same again from its store."""
    span = {"from": "4 ms", "to": "6 ms", "points": points}
    grid = {"scenario": scenario, "axes": {"bottleneck.delay": span}, "seeds": range(1, seeds + 1)}
    started = time.perf_counter()
    sj.sweep(grid, place)
    found = spent(started)
    started = time.perf_counter()
    again = sj.sweep(grid, place)
    rows = again.table().collect().height
    found["again_s"] = time.perf_counter() - started
    # The same as a command, from the start of the interpreter to its table.
    (place.parent / "grid.toml").write_text(
        f'scenario = "one.toml"\nseeds = "1..{seeds}"\n[axes]\n"bottleneck.delay" = '
        f'{{ from = "4 ms", to = "6 ms", points = {points} }}\n'
    )
    command = [sys.executable, "-m", "sojourn", "sweep", "grid.toml", "--out", str(place), "--quiet"]
    for name, flags in (("command_s", []), ("json_s", ["--json"])):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, *flags], check=True, stdout=subprocess.DEVNULL, cwd=place.parent)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found[name] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found["bytes_per_row"] = sum(file.stat().st_size for file in place.iterdir()) / rows
    return found


def spent(started: float) -> dict[str, float]:
    """Time of the clock and of processors, s, and peak memory, MB."""
    wall, used = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    return {"wall_s": wall, "cpu_s": used.ru_utime + used.ru_stime, "memory_mb": used.ru_maxrss / 1024}


def measured(*words: object) -> dict[str, float]:
    """Cost in a process of its own."""
    command = [sys.executable, __file__, *map(str, words)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure one way in this process, or print all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cells", type=int, default=10_000, help="cells of the sweep (default: 10000)")
    parser.add_argument("--seeds", type=int, default=1, help="seeds of a point (default: 1)")
    parser.add_argument("--only", choices=("run", "sweep"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "one.toml").write_text(SCENARIO)
            scenario = sj.load(place / "one.toml")
            if given.only == "run":
                found = by_run(scenario, given.cells)
            else:
                found = by_sweep(scenario, given.seeds, place / "bench.sweep", given.cells // given.seeds)
            print(json.dumps(found))
        return
    of_sweep = ("--only", "sweep", "--seeds", given.seeds, "--cells")
    whole, few = measured(*of_sweep, given.cells), measured(*of_sweep, given.cells // 10)
    one = measured("--only", "run", "--cells", given.cells)
    print(
        f"{given.cells} cells of 1 s: sweep {whole['wall_s']:.1f} s ({whole['cpu_s']:.1f} s of processors),"
    )
    print(f"  one sj.run over as many seeds {one['wall_s']:.1f} s ({one['cpu_s']:.1f} s)")
    print(
        f"  ratio {whole['wall_s'] / one['wall_s']:.2f} ({whole['cpu_s'] / one['cpu_s']:.2f} of processors)"
    )
    print(f"  store {whole['bytes_per_row']:.0f} bytes a row; again {whole['again_s']:.2f} s by sj.sweep,")
    print(f"  {whole['command_s']:.2f} s of processors by the command, {whole['json_s']:.2f} s with --json")
    print(f"  peak memory {whole['memory_mb']:.0f} MB; of a tenth of the cells {few['memory_mb']:.0f} MB")


if __name__ == "__main__":
    main()
