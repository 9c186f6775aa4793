"""Order of the files under pytest-xdist: the longest first, so that none is left alone at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Files that take 15 s of CPU or more, the longest first.
LONGEST = [
    ROOT / name
    for name in (
        "tests/python/test_figures.py",
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {path: place for place, path in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
