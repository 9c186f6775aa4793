"""Order of the files under pytest-xdist, so that none is left alone at the end; thinned cases; refusals."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Files that take 15 s or more, the longest first.
LONGEST = [
    ROOT / name
    for name in (
        "tests/python/test_figures.py",
        "tests/python/test_live_shell.py",
        "tests/python/test_live.py",
        "tests/python/test_commands.py",
        "tests/python/test_kept.py",
        "tests/python/test_odd_inputs.py",
        "tests/python/test_design.py",
        "tests/house/test_pages.py",
        "tests/peers/test_reference_rows.py",
        "tests/peers/test_network_rows.py",
        "tests/python/test_fb_ocq.py",
        "tests/python/test_arm_pfc.py",
        "tests/python/test_killed.py",
        "tests/sqm/test_front.py",
        "tests/python/test_calibration.py",
    )
]


@pytest.fixture
def refused() -> Callable[[str], NoReturn]:
    """Skip a test that the machine refuses, with its reason; where LIVE_REQUIRED is set, that is a fault."""

    def skip(reason: str) -> NoReturn:
        assert "LIVE_REQUIRED" not in os.environ, reason
        pytest.skip(reason)

    return skip


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [] if os.environ.get("LONG") else thinned(items)
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]
    places = {path: place for place, path in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def thinned(items: list[pytest.Item]) -> list[pytest.Item]:
    """Cases that `thinned(n)` leaves out: all but the first of each n."""
    numbers: dict[str, count[int]] = {}
    left_out = []
    for item in items:
        marker = item.get_closest_marker("thinned")
        if marker is not None:
            name = item.nodeid.partition("[")[0]
            if next(numbers.setdefault(name, count())) % marker.args[0]:
                left_out.append(item)
    return left_out
