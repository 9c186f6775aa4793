"""Notebooks show what a cell ends with: figures as images, objects as tables, and the progress of runs."""

import importlib.util
import io
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import sojourn as sj
from sojourn import progress
from sojourn.result.tables import MOST_LINKS

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "docs" / "notebooks"
MISSING = "the extra ui is not installed"


def executed(*cells):
    """Outputs of each cell of a notebook after a kernel has executed it, errors among them."""
    client = pytest.importorskip("nbclient", reason=MISSING)
    pytest.importorskip("ipykernel", reason=MISSING)
    of = importlib.import_module("nbformat").v4
    notebook = of.new_notebook(cells=[of.new_code_cell(cell) for cell in cells])
    client.NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    return [cell.outputs for cell in notebook.cells]


def kinds(outputs):
    """Kinds of data of a cell's outputs, plain text apart; a stream counts as its name."""
    return [
        kind
        for one in outputs
        for kind in (one["data"] if "data" in one else [one.get("name", one.output_type)])
        if kind != "text/plain"
    ]


@pytest.mark.slow
def test_a_figure_is_shown_where_a_cell_ends_with_it_or_with_its_axes(folder):
    start = f"import sojourn as sj\nresult = sj.run(sj.load({str(folder / 'small.toml')!r}))"
    cells = (
        "result.plot.queue()",
        "result.plot.queue().figure",
        "%matplotlib inline\nresult.plot.queue()",
        "result.plot.queue().figure",
        "import matplotlib.pyplot as plt\n_, ax = plt.subplots()\nresult.plot.queue(ax=ax)",
        'certificate = sj.prove(sj.load("dumbbell"), "pi")\ncertificate.plot.nyquist()',
        "certificate.plot.bode()",
    )
    first, *others = executed(start, *cells)
    assert kinds(first) in ([], ["text/html"]), "progress alone"
    for cell, outputs in zip(cells, others, strict=True):
        assert kinds(outputs) == ["image/png"], cell


def test_a_picture_has_its_size_and_a_background():
    pillow = pytest.importorskip("PIL.Image")
    ax = sj.prove(sj.load("dumbbell"), "pi").plot.step()
    data, size = ax._repr_png_()
    image = pillow.open(io.BytesIO(data))
    width, height = ax.figure.get_size_inches()
    assert (size["width"], size["height"]) == (round(96 * width), round(96 * height))
    assert image.width == 2 * size["width"], "sharp on dense screens"
    assert image.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


def test_a_result_is_a_table_of_its_qdiscs(folder):
    scenario = sj.load(folder / "small.toml", {"title": "A <b> & more"})
    result = sj.run(scenario, ["tail_drop", "codel"], seeds=[1, 2])
    shown = result._repr_html_()
    assert shown.count("<table>") == 1
    assert shown.count('<th scope="row">') == 2
    assert "A &lt;b&gt; &amp; more" in shown
    assert "queue mean, packets" in shown
    assert "2 seeds; mean ± half-width of the 95 % interval" in shown
    assert "<script" not in shown
    assert "http" not in shown


def test_a_result_of_one_seed_has_no_intervals(folder):
    shown = sj.run(sj.load(folder / "small.toml"))._repr_html_()
    assert "<small>seed 1</small>" in shown
    assert "±" not in shown


def test_a_result_of_several_links_has_a_table_for_each():
    scenario = sj.load("networks/parking_lot", {"duration": "2 s", "warmup": "1 s"})
    assert sj.run(scenario)._repr_html_().count("<table>") == 3


def test_a_result_of_many_links_has_tables_of_the_first():
    scenario = sj.load("networks/parking_lot", {"duration": "2 s", "warmup": "1 s"})
    result = sj.run(scenario)
    row = result.runs[0]
    runs = tuple(replace(row, link=f"link{place}") for place in range(300))
    shown = replace(result, runs=runs)._repr_html_()
    assert shown.count("<table>") == MOST_LINKS
    assert f"{300 - MOST_LINKS} more links: `summary()` has them." in shown


def test_a_certificate_has_one_set_of_margins():
    shown = sj.prove(sj.load("dumbbell"), "pi")._repr_html_()
    assert shown.startswith("<div>\n<p><strong>Stable: pi at bottleneck")
    assert shown.count('<th scope="row">') == 1
    for name in ("phase margin", "gain margin", "delay margin", "modulus margin", "dominant poles"):
        assert f'<th scope="col">{name}</th>' in shown
    assert "9.0 dB (factor 2.82 at 4.17 rad/s)" in shown


def test_a_certificate_without_a_loop_has_its_reason_alone():
    shown = sj.prove(sj.load("dumbbell"), "tail_drop")._repr_html_()
    assert "Not proven: no model" in shown
    assert "<table>" not in shown


def test_a_scenario_is_a_table_of_its_qdiscs_and_sentences():
    shown = sj.load("dumbbell")._repr_html_()
    assert '<th scope="row">bottleneck</th><td>10 Mbit/s</td><td>300 packets</td>' in shown
    assert "<td>pi:target=100 packets</td>" in shown
    assert "<li>The run lasts 60 s, the first 10 s not measured.</li>" in shown
    both = sj.load("rfc7928/both_ways")._repr_html_()
    assert "bottleneck.back" in both


def test_no_text_of_a_scenario_is_markup():
    scenario = sj.load("dumbbell", {"title": '"<script>"'})
    assert "<script>" not in scenario._repr_html_()
    assert "<script>" not in sj.run(scenario.with_(duration="41 s"))._repr_html_()


@pytest.mark.parametrize(
    "law", ["pi", sj.qdiscs.Drr(law="pi"), "cake:bandwidth=5Mbit/s,framing.overhead=14B"]
)
def test_every_qdisc_has_a_name_in_the_table(law):
    text = law if isinstance(law, str) else law.spec()
    scenario = sj.load("dumbbell").with_qdisc(text)
    assert f"<td>{text.partition(':')[0]}" in scenario._repr_html_()


@pytest.mark.slow
def test_progress_is_shown_below_the_cell_and_removed():
    step = "show('2 of <4> runs', 0.5)"
    code = (
        "import time\nfrom sojourn.progress import progress\n"
        f"with progress() as show:\n    time.sleep(0.6)\n    {step}\n    time.sleep(0.3)\n    {{}}"
    )
    during, after = executed(code.format("1 / 0"), code.format("pass"))
    for outputs in (during, after):
        (html,) = [one["data"]["text/html"] for one in outputs if "text/html" in one.get("data", {})]
        assert html == "", "removed at the end, also of one that failed"


def test_progress_has_a_bar_and_its_text(monkeypatch):
    put = []
    monkeypatch.setattr(progress, "in_a_notebook", lambda: True)
    monkeypatch.setattr(progress._Progress, "_put", lambda _, html: put.append(html))
    monkeypatch.setattr(progress, "AFTER_S", -1.0)
    with progress.of_runs(4) as watch:
        watch(1, 0.25)
        watch(2, 0.5)
    assert put == ['<progress value="0.250" max="1"></progress> 1 of 4 runs']


@pytest.mark.slow
@pytest.mark.parametrize("what", ["run", "sweep", "check", "check_map", "deviations"])
def test_every_long_call_has_progress(what, folder, monkeypatch):
    put = []
    monkeypatch.setattr(progress, "in_a_notebook", lambda: True)
    monkeypatch.setattr(progress._Progress, "_put", lambda _, html: put.append(html))
    monkeypatch.setattr(progress, "AFTER_S", -1.0)
    scenario = sj.load("dumbbell")
    grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
    calls = {
        "run": lambda: sj.run(scenario),
        "sweep": lambda: sj.sweep(grid, out=folder / "cells.sweep"),
        "check": lambda: sj.prove(scenario, "pi").check(seeds=[1]),
        "check_map": lambda: sj.prove(scenario, "pi").check_map((40, 60), (0.1, 0.2), points=2, seeds=[1]),
        "deviations": lambda: sj.prove(scenario, "pi").deviations(iterations=1),
    }
    calls[what]()
    assert any("<progress" in html for html in put)


def test_there_is_no_progress_outside_of_notebooks():
    with progress.progress() as show:
        assert show is None


@pytest.mark.slow
def test_the_example_notebook_runs_and_has_its_images(monkeypatch):
    # Jupyter's own choice, whatever a command in this process has set.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    client = pytest.importorskip("nbclient", reason=MISSING)
    pytest.importorskip("ipykernel", reason=MISSING)
    notebook = importlib.import_module("nbformat").read(NOTEBOOKS / "first.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "shipped without outputs, which go stale"
    client.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [kinds(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]
    assert [found.count("image/png") for found in outputs] == [0, 0, 1, 1, 1, 0, 1, 1]
    tables = [place for place, found in enumerate(outputs) if "text/html" in found]
    assert {0, 1, 5} <= set(tables)


@pytest.fixture(scope="module")
def stability():
    """The reactive notebook, as a module."""
    pytest.importorskip("marimo", reason=MISSING)
    spec = importlib.util.spec_from_file_location("stability", NOTEBOOKS / "stability.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reactive_notebook_runs(stability):
    outputs, names = stability.app.run()
    assert names["certificate"].verdict == "stable"
    assert len(outputs[-1].axes) == 2


def moved(stability, **values):
    """What the cells compute after their sliders have been moved."""
    at = {"flows": 50, "rtt": 200, "gain": 2.4e-4, "ratio": 0.993} | values
    return stability.app.run(defs={name: SimpleNamespace(value=value) for name, value in at.items()})[1]


def test_the_reactive_notebook_follows_its_sliders(stability):
    first, more = (moved(stability, flows=flows)["certificate"] for flows in (50, 100))
    assert more.margins["phase_margin_deg"] > first.margins["phase_margin_deg"]
    assert moved(stability, rtt=500)["certificate"].verdict == "unstable"
    assert moved(stability, rtt=50)["certificate"].equilibrium["classes"][0]["base_rtt_s"] == pytest.approx(
        0.05
    )


def test_the_reactive_notebook_redraws_in_half_a_second(stability):
    moved(stability)
    spent = []
    for flows in (60, 70, 80, 90, 100):
        begin = time.process_time()
        moved(stability, flows=flows)["figure"].savefig(io.BytesIO(), format="png")
        spent.append(time.process_time() - begin)
    assert min(spent) < 0.5, spent
