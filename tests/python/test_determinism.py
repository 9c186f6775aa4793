"""A run is a function of scenario and seed: fresh processes and other numbers of workers change no byte."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = sorted((Path(__file__).parent / "determinism").glob("*.toml"))
# Parts that depend on the machine and the moment.
NOT_COMPARED = "provenance.json"

EACH = """
# Every scenario in turn, with so many workers, into a folder of its own.
import sys
from pathlib import Path
from sojourn.cli import main

jobs, place = sys.argv[1:3]
for scenario in sys.argv[3:]:
    out = Path(place) / Path(scenario).stem
    assert main(["run", scenario, "--seeds", "1..2", "--jobs", jobs, "--quiet", "--out", str(out)]) == 0
"""


@pytest.fixture(scope="module")
def hashes(tmp_path_factory):
    """For each of four fresh processes (two with one worker, two with two): scenario -> file -> hash."""
    found = {}
    for jobs in ("1", "2"):
        for turn in ("first", "second"):
            place = tmp_path_factory.mktemp(f"{turn}{jobs}")
            done = subprocess.run(
                [sys.executable, "-c", EACH, jobs, str(place), *map(str, GALLERY)],
                # Hashes of strings differ between processes, as they do for users.
                env=os.environ | {"PYTHONHASHSEED": "random"},
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
            assert done.returncode == 0, done.stderr
            found[turn, jobs] = {path.stem: hashes_of(place / path.stem) for path in GALLERY}
    return found


def hashes_of(folder):
    files = [path for path in sorted(folder.iterdir()) if path.name != NOT_COMPARED]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_gallery_holds_ten_scenarios():
    assert len(GALLERY) == 10


@pytest.mark.parametrize("scenario", [path.stem for path in GALLERY])
def test_every_process_writes_the_same_bytes(hashes, scenario):
    first, *others = (table[scenario] for table in hashes.values())
    assert {"result.json", "series.parquet", "distributions.parquet"} <= set(first)
    assert others == [first] * 3


def test_no_two_scenarios_write_the_same_bytes(hashes):
    tables = list(hashes["first", "1"].values())
    for name in tables[0]:
        assert len({table[name] for table in tables}) == len(GALLERY), name
