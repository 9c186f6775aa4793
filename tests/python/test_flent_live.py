"""Flent itself, unmodified, over the links of the lab: `make flent-check`.

FLENT is its program, and NETPERF the folder of netperf and netserver; without them it is skipped.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from sojourn.flent import read

FLENT, NETPERF = os.environ.get("FLENT"), os.environ.get("NETPERF")

pytestmark = pytest.mark.skipif(
    FLENT is None or NETPERF is None or shutil.which("fping") is None,
    reason="Flent, netperf or fping is not installed: make flent-check, and apt-get install fping",
)

SCENARIO = """
title = "A network for Flent"
duration = "60 s"
warmup = "5 s"
[bottleneck]
rate = "20 Mbit/s"
delay = "10 ms"
buffer = "200 packets"
qdisc = "fq_codel"
[[flows]]
access = { rate = "1 Gbit/s", delay = "5 ms" }
"""
#: Uploads of each test, the plot that its users know, and parameters.
TESTS = {
    "tcp_nup": (4, "totals", "--test-parameter upload_streams=4"),
    "rrul_be": (4, "all_scaled", ""),
}


@pytest.mark.parametrize("test", TESTS)
def test_flent_measures_the_lab(sojourn, folder, monkeypatch, test):
    (folder / "lab.toml").write_text(SCENARIO)
    programs = [str(Path(FLENT).parent), NETPERF, os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(programs))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    uploads, plot, parameters = TESTS[test]
    command = f"flent {test} -l 8 -H $SOJOURN_SERVER -D . {parameters} -p {plot} -o {test}.png"
    done = sojourn("lab", "lab.toml", "--shell", "--command", command, env={})
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert (folder / f"{test}.png").stat().st_size > 10_000
    (path,) = folder.glob(f"{test}-*.flent.gz")
    capture = read(path)
    sent = [np.array(capture.results[name], dtype=float) for name in capture.flows("upload")]
    means = [np.nanmean(one) for one in sent if np.isfinite(one).any()]
    print(f"{test}: {len(means)} uploads, {sum(means):.1f} Mbit/s; {done.stderr.strip().splitlines()[-1]}")
    assert len(means) == uploads
    # netperf counts what the kernel has taken, some of it in the first seconds alone.
    assert 10 < sum(means) < 25, "Mbit/s of the link's 20"
    assert sojourn("report", path).returncode == 0
