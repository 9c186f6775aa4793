"""The fluid plant beside JiTCDDE: 100 s of one class on one link, time and error of each.

Three problems, all from the same constant past, with a queue that never empties: `rests`, under a constant p,
where JiTCDDE's steps grow near the equilibrium and ours do not; `swings`, under PI in continuous time a
little below the gain at which oscillations grow; `sampled`, under PI as it runs, 160 times a second, where
each sample changes p and JiTCDDE must restart. The error is that of the backlog after 3 or 10 s,
beside our own run in steps of 10 us. JiTCDDE compiles its equations; that is not counted.

It is no dependency of ours, so it needs an environment of its own:

    python -m venv /tmp/jitcdde && /tmp/jitcdde/bin/pip install jitcdde sympy
    python benches/fluid_speed.py --python /tmp/jitcdde/bin/python
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

#: Run by the other interpreter: prints the backlog after 3 s and the time of 100 s for each tolerance.
THEIRS = """
import json, time
from jitcdde import jitcdde, y, t
FLOWS, CAPACITY, BASE_RTT, P, TARGET, RATE = 60.0, 3750.0, 0.2, 0.005, 300.0, 160.0
K_I, K_P = 8 * 9.64e-6, 8 * 1.82e-5
BEFORE = [18.0, 350.0, P]
rtt = BASE_RTT + y(1) / CAPACITY
then = t - rtt
rtt_then = BASE_RTT + y(1, then) / CAPACITY
grown = FLOWS * y(0) / rtt - CAPACITY
def window(p):
    return 1 / rtt - y(0) * y(0, then) * p / (2 * rtt_then)
MODELS = {
    "rests": [window(P), grown],
    "swings": [window(y(2, then)), grown, K_I * (y(1) - TARGET) + K_P * grown],
    "sampled": [window(y(2, then)), grown, 0],  # p jumps
}
def started(model, rtol):
    size = len(MODELS[model])
    dde = jitcdde(module_location=modules[model], n=size, max_delay=1.0, verbose=False)
    dde.constant_past(BEFORE[:size])
    dde.set_integration_parameters(rtol=rtol, atol=rtol, first_step=1e-3)
    dde.adjust_diff()  # the start bends what follows
    return dde
def smooth(model, rtol, seconds):
    dde = started(model, rtol)
    dde.integrate_blindly(0.5, 1e-3)  # past what the start bends
    return dde.integrate(seconds)[1]
def sampled(model, parts, seconds):
    dde, last = started(model, 1e-3), BEFORE[1]  # steps between samples are given, not controlled
    for sample in range(1, int(seconds * RATE) + 1):
        now = sample / RATE
        backlog = dde.integrate_blindly(now, 1 / RATE / parts)[1]
        p = K_I / RATE * (backlog - TARGET) + K_P * (backlog - last)
        last = backlog
        dde.jump([0.0, 0.0, p], now, width=1e-6)
    return last
modules = {}
for model, f in MODELS.items():
    compiled = jitcdde(f, max_delay=1.0, verbose=False)
    compiled.compile_C(simplify=False)
    modules[model] = compiled.save_compiled(destination=model + ".so", overwrite=True)
    run = sampled if model == "sampled" else smooth
    after, tolerances, times = (3, (1e-3, 1e-4, 1e-5, 1e-6, 1e-8), 3)
    if model == "swings":
        after = 10
    if model == "sampled":
        after, tolerances, times = 10, (1, 4, 16), 1  # steps between samples
    for setting in tolerances:
        value = run(model, setting, after)
        costs = []
        for _ in range(times):
            begun = time.perf_counter()
            run(model, setting, 100)
            costs.append(time.perf_counter() - begun)
        row = {"problem": model, "setting": setting, "backlog": float(value), "seconds": min(costs)}
        print(json.dumps(row), flush=True)
"""


def main() -> None:
    """Print both tables, and the ratio of the times at an error no greater."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", type=Path, required=True, help="an interpreter that has jitcdde")
    python = parser.parse_args().python
    example = ["cargo", "run", "--release", "--quiet", "-p", "sojourn-fluid", "--example", "smooth"]
    all_ours = lines(example, ROOT)
    # It compiles into its own folder.
    with TemporaryDirectory() as folder:
        program = Path(folder) / "theirs.py"
        program.write_text(THEIRS)
        all_theirs = lines([str(python), str(program)], Path(folder))
    for problem in ("rests", "swings", "sampled"):
        exact, *ours = [row for row in all_ours if row["problem"] == problem]
        theirs = [row for row in all_theirs if row["problem"] == problem]
        print(f"{problem}, {exact['after']} s")
        show(exact["backlog"], ours, theirs)


def show(exact: float, ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    """Print the rows of a problem."""
    for row in ours:
        step, cost = 1e3 * row["step_s"], 1e3 * row["seconds"]
        print(f"  ours, steps of {step:.4g} ms: error {row['error']:.1e}, {cost:.2f} ms")
    for row in theirs:
        error, cost = abs(row["backlog"] / exact - 1.0), row["seconds"]
        as_good = [one["seconds"] for one in ours if one["error"] <= error]
        ratio = (
            f"{cost / min(as_good):.1f} times ours at no greater error" if as_good else "more exact than ours"
        )
        kind = "steps a sample" if row["problem"] == "sampled" else "rtol"
        print(f"  JiTCDDE, {kind} {row['setting']:g}: error {error:.1e}, {1e3 * cost:.2f} ms: {ratio}")


def lines(command: list[str], folder: Path) -> list[dict[str, Any]]:
    """Output of a program, a JSON object a line."""
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


if __name__ == "__main__":
    main()
