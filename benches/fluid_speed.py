"""The fluid plant beside JiTCDDE: 100 s of one class under constant p, time and error of each.

Both start from the same constant past, with a queue that never empties, so that all is smooth but the start.
The error is that of the backlog after 3 s, beside our own run in steps of 10 us. JiTCDDE compiles its
equations; that is not counted. What swings comes to rest here, so that its steps grow; ours do not.

It is no dependency of ours, so it lives in an environment of its own:

    python -m venv /tmp/jitcdde && /tmp/jitcdde/bin/pip install jitcdde sympy
    python benches/fluid_speed.py --python /tmp/jitcdde/bin/python
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]

#: Run by the other interpreter: prints the backlog after 3 s and what 100 s took, a line for each tolerance.
THEIRS = """
import json, time
from jitcdde import jitcdde, y, t
FLOWS, CAPACITY, BASE_RTT, P = 60.0, 3750.0, 0.2, 0.005
rtt = BASE_RTT + y(1) / CAPACITY
then = t - rtt
rtt_then = BASE_RTT + y(1, then) / CAPACITY
f = [1 / rtt - y(0) * y(0, then) * P / (2 * rtt_then), FLOWS * y(0) / rtt - CAPACITY]
compiled = jitcdde(f, max_delay=1.0, verbose=False)
compiled.compile_C(simplify=False)
module = compiled.save_compiled(overwrite=True)
for rtol in (1e-3, 1e-4, 1e-5, 1e-6, 1e-8):
    def run(seconds):
        dde = jitcdde(module_location=module, n=2, max_delay=1.0, verbose=False)
        dde.constant_past([18.0, 350.0])
        dde.set_integration_parameters(rtol=rtol, atol=rtol, first_step=1e-3)
        begun = time.perf_counter()
        dde.integrate_blindly(0.5, 1e-3)  # past what the start bends
        value = dde.integrate(seconds)[1]
        return value, time.perf_counter() - begun
    value, _ = run(3.0)
    seconds = min(run(100.0)[1] for _ in range(3))
    print(json.dumps({"rtol": rtol, "backlog": value, "seconds": seconds}), flush=True)
"""


def main() -> None:
    """Print both tables, and how much faster ours is at an error no greater."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", type=Path, required=True, help="an interpreter that has jitcdde")
    python = parser.parse_args().python
    example = ["cargo", "run", "--release", "--quiet", "-p", "sojourn-fluid", "--example", "smooth"]
    exact, *ours = lines(example, ROOT)
    # It compiles into the folder where it stands.
    with TemporaryDirectory() as folder:
        program = Path(folder) / "theirs.py"
        program.write_text(THEIRS)
        theirs = lines([str(python), str(program)], Path(folder))
    for row in ours:
        print(f"ours, steps of {row['step_s']} s: error {row['error']:.1e}, {1e3 * row['seconds']:.2f} ms")
    for row in theirs:
        error = abs(row["backlog"] / exact["backlog"] - 1.0)
        as_good = [one["seconds"] for one in ours if one["error"] <= error]
        told = (
            f"{row['seconds'] / min(as_good):.0f} times ours at no greater error"
            if as_good
            else "more exact than ours"
        )
        print(f"JiTCDDE, rtol {row['rtol']:.0e}: error {error:.1e}, {1e3 * row['seconds']:.2f} ms: {told}")


def lines(command: list[str], folder: Path) -> list[dict[str, float]]:
    """What a program printed, a JSON object a line."""
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


if __name__ == "__main__":
    main()
