"""Order of the files under pytest-xdist: the longest first, so that none is left alone at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
#: Files that take 15 s of CPU or more, the longest first.
LONGEST = [
    HERE / name
    for name in (
        "python/test_figures.py",
        "python/test_commands.py",
        "python/test_kept.py",
        "python/test_odd_inputs.py",
        "python/test_design.py",
        "house/test_pages.py",
        "peers/test_reference_rows.py",
        "peers/test_network_rows.py",
        "python/test_fb_ocq.py",
        "python/test_arm_pfc.py",
        "python/test_killed.py",
        "sqm/test_front.py",
        "python/test_calibration.py",
    )
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {path: place for place, path in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
