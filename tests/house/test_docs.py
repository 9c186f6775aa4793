"""Every law has its page, pages are complete, and the built pages need no network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from sojourn import catalogue

LAWS = [entry["name"] for entry in catalogue.entries("laws")]
OUTLINE = ("Idea", "Equation", "Parameters", "Model", "In a run", "Ours against the source", "References")
QDISCS = [entry["name"] for entry in catalogue.entries("qdiscs") if entry["name"] != "fifo"]
CCS = [entry["name"] for entry in catalogue.entries("ccs") if not entry["live_only"]]
OUTLINE_OF_CC = tuple(part for part in OUTLINE if part != "Model")
# Elements that a browser fetches by itself, as opposed to a link that a reader follows.
FETCHED = {("link", "href"), ("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src")}


@pytest.mark.parametrize("law", LAWS)
def test_every_law_has_its_page(root: Path, law: str) -> None:
    page = root / "docs" / "laws" / f"{law}.md"
    assert page.is_file(), f"docs/laws/{law}.md is missing: docs/howto/add-a-law.md has its outline"
    check_page(page.read_text(), law)


@pytest.mark.parametrize("law", LAWS)
def test_every_law_has_its_page_of_deviations(root: Path, law: str) -> None:
    page = root / "docs" / "deviations" / f"{law}.md"
    assert page.is_file(), f"docs/deviations/{law}.md is missing; expected one also without differences"


def test_the_page_of_the_how_to_is_such_a_page(root: Path) -> None:
    check_page((root / "docs" / "howto" / "wave.md").read_text(), "wave")


def check_page(text: str, law: str) -> None:
    check_outline(text, law, OUTLINE)
    # Facts come from the catalogue and from a run, so that the page cannot be stale.
    check_inserts(text, law, ("summary", "portrait", "idea", "parameters", "run", "source"))


def check_outline(text: str, name: str, outline: tuple[str, ...]) -> None:
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    missing = [part for part in outline if not any(heading.startswith(part) for heading in headings)]
    assert not missing, f"the page of {name} has no section on: {', '.join(missing)}"


def check_inserts(text: str, name: str, inserts: tuple[str, ...]) -> None:
    for insert in inserts:
        wanted = f"<!-- insert {insert} {name} -->"
        assert wanted in text, f"the page of {name} lacks {wanted}"


@pytest.mark.parametrize("cc", CCS)
def test_every_congestion_control_has_its_page_and_its_deviations(root: Path, cc: str) -> None:
    page = root / "docs" / "ccs" / f"{cc}.md"
    assert page.is_file(), (
        f"docs/ccs/{cc}.md is missing: docs/howto/add-a-congestion-control.md has its outline"
    )
    text = page.read_text()
    check_outline(text, cc, OUTLINE_OF_CC)
    check_inserts(text, cc, ("parameters", "source"))
    named = re.findall(r"\]\(/deviations/(\w+)\.md\)", text)
    assert named, f"docs/ccs/{cc}.md links to no page of docs/deviations"
    assert all((root / "docs" / "deviations" / f"{name}.md").is_file() for name in named)


@pytest.mark.parametrize("qdisc", QDISCS)
def test_every_qdisc_has_its_page_and_its_deviations(root: Path, qdisc: str) -> None:
    page = root / "docs" / "qdiscs" / f"{qdisc}.md"
    assert page.is_file(), f"docs/qdiscs/{qdisc}.md is missing"
    text = page.read_text()
    check_outline(text, qdisc, ("Idea", "Equation", "Parameters", "Ours against the source", "References"))
    check_inserts(text, qdisc, ("summary", "idea", "parameters", "source"))


@pytest.mark.parametrize(("folder", "names"), [("laws", LAWS), ("qdiscs", QDISCS), ("ccs", CCS)])
def test_no_page_of_a_removed_item_is_left(root: Path, folder: str, names: list[str]) -> None:
    pages = {page.stem for page in (root / "docs" / folder).glob("*.md")} - {"index"}
    assert not pages - set(names)


class Page(HTMLParser):
    """The targets of a page, and the anchors that a link can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[tuple[str, str, str]] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            if name in ("href", "src") and value:
                self.targets.append((tag, name, value))


@pytest.fixture(scope="module")
def built(root: Path) -> dict[Path, Page]:
    folder = root / "build" / "docs"
    if not (folder / "index.html").is_file():
        pytest.skip("the pages are not built: make docs")
    pages = [page for page in folder.rglob("*.html") if folder / "rust" not in page.parents]
    return {page: Page(page.read_text(encoding="utf-8")) for page in pages}


@pytest.mark.built
def test_links_of_the_built_pages_lead_somewhere(built: dict[Path, Page]) -> None:
    faults = [
        f"{path.name}: {value}"
        for path, page in built.items()
        for _, _, value in page.targets
        if not urlsplit(value).scheme and not leads_somewhere(path, value, built)
    ]
    assert not faults, "\n".join(faults)


def leads_somewhere(path: Path, link: str, built: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    place = unquote(parts.fragment)
    if not place or target not in built:
        return target.is_file()
    return place in built[target].places


@pytest.mark.built
def test_the_built_pages_fetch_nothing_from_a_network(built: dict[Path, Page]) -> None:
    faults = [
        f"{path.name}: {value}"
        for path, page in built.items()
        for tag, name, value in page.targets
        if (tag, name) in FETCHED and (urlsplit(value).netloc or urlsplit(value).scheme in ("http", "https"))
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.built
def test_every_insert_is_in_the_built_pages(built: dict[Path, Page]) -> None:
    assert len(built) > len(LAWS)
    for path in built:
        assert "<!-- insert" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.built
@pytest.mark.parametrize("law", LAWS)
def test_the_built_page_of_a_law_shows_its_parameters_and_a_run(built: dict[Path, Page], law: str) -> None:
    page = next(path for path in built if path.parts[-2:] == ("laws", f"{law}.html"))
    text = page.read_text(encoding="utf-8")
    for field in catalogue.explain(law)["fields"]:
        assert f'<span class="pre">{field["key"]}</span>' in text
    shown = {Path(value).name: value for tag, _, value in built[page].targets if tag == "img"}
    for picture in (f"{law}.svg", f"portrait_{law}.svg"):
        assert (page.parent / shown[picture]).read_text(encoding="utf-8").count("<path") > 2


@pytest.mark.built
def test_the_pages_of_pictures_have_them(built: dict[Path, Page]) -> None:
    for name, fewest in (("behaviour", 3), ("gallery", 9), ("truth", 2)):
        page = next(path for path in built if path.name == f"{name}.html")
        shown = [value for tag, _, value in built[page].targets if tag == "img" and value.endswith(".svg")]
        assert len(shown) >= fewest, name
        assert all((page.parent / one).is_file() for one in shown), name
