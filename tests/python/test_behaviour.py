"""docs/behaviour.md: every law has its row on every link, and a promise that is missed is explained."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import polars as pl
import pytest

from sojourn import catalogue

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

behaviour = pytest.importorskip("sojourn_docs.behaviour")
PAGE = (ROOT / "docs" / "behaviour.md").read_text()


@pytest.mark.parametrize("link", behaviour.LINKS)
def test_the_page_shows_every_link(link: str) -> None:
    assert f"<!-- insert behaviour {link} -->" in PAGE
    assert f"<!-- insert panels {link} -->" in PAGE
    assert f"scenarios/behaviour/{link}.toml" in PAGE


@pytest.mark.parametrize("law", behaviour.DELAYED)
def test_the_delays_are_the_laws_own(law: str) -> None:
    target = next(field for field in catalogue.explain(law)["fields"] if field["key"] == "target")
    assert target["default"] == f"{behaviour.DELAYED[law]:g} ms"


@pytest.fixture(scope="module")
def starred() -> dict[str, dict[str, bool]]:
    """Whether each law of the built page has an asterisk, by links."""
    page = ROOT / "build" / "docs" / "behaviour.html"
    if not page.is_file():
        pytest.skip("the pages are not built: make docs")
    links = re.findall(r"<!-- insert behaviour (\w+) -->", PAGE)
    tables = page.read_text(encoding="utf-8").split("<table ")[1:]
    name = re.compile(r'<td><p><a [^>]*href="laws/(\w+)\.html">.*?</a>( \*)?</p>')
    return {
        link: {law: bool(star) for law, star in name.findall(table)}
        for link, table in zip(links, tables, strict=True)
    }


@pytest.mark.built
@pytest.mark.parametrize("link", behaviour.LINKS)
@pytest.mark.parametrize("law", [*behaviour.TARGETED, *behaviour.DELAYED])
def test_a_promise_that_is_missed_is_explained(
    law: str, link: str, starred: dict[str, dict[str, bool]]
) -> None:
    explained = re.search(rf"^- `{law}` on `{link}`: ", PAGE, flags=re.MULTILINE) is not None
    assert explained == starred[link][law]


def test_settling_ends_when_the_smoothed_queue_stays_near_its_steady_state() -> None:
    step, end = 0.1, 140.0
    time = [round(step * (k + 1), 6) for k in range(round(end / step))]

    def settling(queue: list[float]) -> float | None:
        return behaviour.settling(pl.DataFrame({"name": "queue_packets", "time": time, "value": queue}))

    # 200 until 85 s, then 100: the window of 4 s that ends at 89 s holds nothing of the 200; its mean is
    # below 120 when a fifth of it, 0.8 s, is left.
    found = settling([200.0 if t <= 85.0 else 100.0 for t in time])
    assert found == pytest.approx(88.2 - behaviour.STEP_S, abs=0.11)
    assert settling([100.0 for _ in time]) == 0.0
    assert settling([100.0 + 90.0 * (t // 10 % 2) for t in time]) is None
