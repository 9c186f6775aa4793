"""Figures for print: sizes, fonts, nothing cut, and the command that draws them."""

import inspect
import json
import re
import shutil
import struct
import subprocess
import warnings
from dataclasses import replace

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

import sojourn as sj
from sojourn.plot import Plots, named
from sojourn.plot.paper import STYLES, WIDTHS
from sojourn.prove.plots import Plots as OfCertificate
from sojourn.sweep.plots import Plots as OfSweep

HOME = {"duration": "14 s", "windows": '["phases", "every 1 s"]'}
SHARED = {"duration": "2 s", "warmup": "1 s"}
#: Arguments of figures that need some, or that are quicker to check so.
ARGUMENTS = {
    "goodput": {"traffic_class": "call"},
    "ping": {"traffic_class": "ping"},
    "queues": {"qdisc": "fq_codel"},
}
#: Figures of results that few qdiscs have.
OF_UTILITY = ("regret", "utility", "price")


@pytest.fixture(scope="module")
def home():
    """Two qdiscs of a home under two seeds, with classes, queues and windows."""
    return sj.run(sj.load("home/evening", HOME), ["codel", "fq_codel"], seeds=[1, 2])


@pytest.fixture(scope="module")
def shared():
    """A result whose links are shared by utility."""
    return sj.run(
        sj.load("transports/cubic_newreno", SHARED), "sqm:period=100ms,coordinator=decentralised", seeds=[1]
    )


@pytest.fixture(scope="module")
def written(home, tmp_path_factory):
    """The folder of the home's result."""
    return home.write(tmp_path_factory.mktemp("print") / "home")


@pytest.fixture(scope="module")
def pinged():
    """A result with pings."""
    return sj.run(sj.load("home/bufferbloat", {"duration": "12 s", "warmup": "2 s"}), ["codel"], seeds=[1])


@pytest.fixture
def of(request, home):
    """The result that has a figure, by its name."""
    others = dict.fromkeys(OF_UTILITY, "shared") | {"ping": "pinged"}
    return lambda name: request.getfixturevalue(others[name]) if name in others else home


def drawn(result, name, **paper):
    """A figure by its name."""
    return getattr(result.plot, name)(**ARGUMENTS.get(name, {}), **paper)


def saved(ax, path):
    """Save the figure of axes; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.savefig(path)
    return path.read_bytes()


@pytest.mark.thinned(4)
@pytest.mark.parametrize("style", [None, *STYLES])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", named.figures())
def test_every_figure_fits_its_paper(of, tmp_path, name, width, style):
    ax = drawn(of(name), name, width=width, style=style)
    pdf = saved(ax, tmp_path / "figure.pdf")
    inches = {"column": 3.5, "page": 7.16}[width]
    (box,) = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf)
    assert float(box[0]) == pytest.approx(72 * inches)
    assert b"/Type3" not in pdf
    assert b"/FontFile2" in pdf, "TrueType"
    saved(ax, tmp_path / "figure.png")  # widths of letters, and with them the layout, are those of the format
    figure = ax.figure
    shown = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    wide, high = figure.get_size_inches()
    assert min(shown.x0, shown.y0, wide - shown.x1, high - shown.y1) > -1e-6, "nothing is cut"
    sizes = {text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()}
    assert min(sizes) >= 6
    assert max(sizes) <= 8


@pytest.fixture(scope="module")
def certificate():
    """The certificate of PI at the dumbbell."""
    return sj.prove(sj.load("dumbbell"), "pi")


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """Two laws at two loads and delays."""
    grid = {
        "scenario": "dumbbell",
        "set": {"duration": "6 s", "warmup": "2 s", "at": []},
        "axes": {
            "qdisc": ["pi", "codel"],
            "flows": {"key": "flows[0].count", "values": [10, 30]},
            "delay": {"key": "bottleneck.delay", "values": ["20 ms", "50 ms"]},
        },
        "seeds": "1..2",
    }
    return sj.sweep(grid, out=tmp_path_factory.mktemp("swept") / "print.sweep")


OTHERS = {
    **{f"prove {name}": name for name in ("bode", "nyquist", "poles", "step", "map", "margin_map")},
    **{f"prove {name}": name for name in ("sensitivity", "spectrum", "disturbances", "cycles")},
    **{f"ocq {name}": name for name in ("trajectory", "costate", "switching", "beta", "gap")},
    "sweep curve": "curve",
    "sweep map": "map",
    "sweep cloud": "cloud",
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", OTHERS)
def test_pictures_of_proofs_solutions_and_sweeps_fit_their_paper(request, certificate, tmp_path, name, width):
    of, picture = name.split()
    given = {}
    if of == "prove":
        plots = certificate.plot
        if picture in {"map", "margin_map"}:
            found = {"map": certificate.region, "margin_map": certificate.margin_map}[picture]
            given = {"region" if picture == "map" else "found": found(points=12)}
    elif of == "ocq":
        plots = sj.ocq.solve(replace(sj.ocq.INSTANCES["A"], N=200), "sweep").plot
    else:
        plots = request.getfixturevalue("swept").plot
        given = {
            "curve": {"metric": "queue_mean_packets", "x": "flows"},
            "map": {"metric": "queue_mean_packets", "x": "flows", "y": "delay", "qdisc": "pi"},
            "cloud": {},
        }[picture]
    ax = getattr(plots, picture)(width=width, style="ieee", **given)
    saved(ax, tmp_path / "figure.png")
    figure = ax.figure
    assert figure.get_figwidth() == pytest.approx({"column": 3.5, "page": 7.16}[width])
    shown = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    wide, high = figure.get_size_inches()
    assert min(shown.x0, shown.y0, wide - shown.x1, high - shown.y1) > -1e-6, "nothing is cut"
    sizes = {text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()}
    assert 6 <= min(sizes) <= max(sizes) <= 8


@pytest.mark.skipif(shutil.which("pdffonts") is None, reason="pdffonts (poppler-utils) is not installed")
@pytest.mark.parametrize(("style", "font"), [(None, "DejaVuSans"), ("ieee", "STIXGeneral-Regular")])
def test_a_pdf_has_no_type_3_fonts(home, tmp_path, style, font):
    saved(home.plot.cdf(width="column", style=style), tmp_path / "cdf.pdf")
    listed = subprocess.run(["pdffonts", tmp_path / "cdf.pdf"], capture_output=True, text=True, check=True)
    rows = listed.stdout.splitlines()[2:]
    assert rows
    for row in rows:
        assert "TrueType" in row
        assert font in row


@pytest.mark.parametrize("name", ["delay_ccdf", "cdf"])
@pytest.mark.parametrize("rows", [0, 2])
def test_a_picture_without_delays_has_its_reason_and_no_warning(home, tmp_path, name, rows):
    """No packet at all, or all of them passed at once."""
    at_once = home.distributions.head(rows).with_columns(
        pl.lit(0.0).alias("value"), pl.lit(1.0).alias("cumulative"), pl.lit("sojourn_s").alias("name")
    )
    result = replace(home, distributions=at_once)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = getattr(result.plot, name)()
    saved(ax, tmp_path / "empty.png")
    texts = [text.get_text() for text in ax.texts]
    if name == "delay_ccdf":
        assert texts == ["no packet waits"]
    else:
        assert texts == ([] if rows else ["no packet has a delay"])


def test_every_figure_has_the_arguments_of_paper():
    methods = {
        name
        for name, one in inspect.getmembers(Plots, inspect.isfunction)
        if "ax" in inspect.signature(one).parameters and not name.startswith("_")
    }
    assert methods == set(named.figures())
    for name in methods:
        assert {"width", "style"} <= set(inspect.signature(getattr(Plots, name)).parameters), name


def test_a_style_alone_is_a_column(home):
    assert home.plot.queue(style="ieee").figure.get_figwidth() == pytest.approx(3.5)
    assert home.plot.queue().figure.get_figwidth() == pytest.approx(9)


def test_axes_of_the_caller_take_a_style_and_no_width(home):
    figure = Figure(figsize=(5, 3))
    left, right = figure.subplots(1, 2)
    right.set_xlabel("as it was", fontsize=12)
    assert home.plot.queue(ax=left, style="ieee") is left
    assert left.xaxis.label.get_fontsize() == 8
    assert left.xaxis.label.get_fontfamily()[0] == "STIXGeneral"
    assert right.xaxis.label.get_fontsize() == 12
    assert tuple(figure.get_size_inches()) == (5, 3)
    with pytest.raises(sj.InputError, match="width: the axes have a figure already"):
        home.plot.queue(ax=left, width="column")


@pytest.mark.parametrize(("argument", "value"), [("width", "3 in"), ("width", []), ("style", "acm")])
def test_an_unknown_paper_is_an_error_of_ours(home, argument, value):
    with pytest.raises(sj.InputError, match=f"{argument}: .* is unknown; expected "):
        home.plot.queue(**{argument: value})


def test_the_command_writes_each_format(written, sojourn, tmp_path):
    heads = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
    for form, head in heads.items():
        place = tmp_path / f"cdf.{form}"
        done = sojourn("plot", written, "cdf", "-o", place, "--width", "column", "--style", "ieee")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{place}\n", "")
        first = place.read_bytes()
        assert first.startswith(head)
        sojourn("plot", written, "cdf", "-o", place, "--width", "column", "--style", "ieee")
        assert place.read_bytes() == first, "the same figure is the same file"
    wide, high = struct.unpack(">II", (tmp_path / "cdf.png").read_bytes()[16:24])
    assert wide == 3.5 * 300
    assert high < wide


def test_the_command_takes_arguments_of_a_figure(written, sojourn, tmp_path):
    spec = "bars:metric=fct_mean_s,traffic_class=web"
    done = sojourn("plot", written, spec, "-o", tmp_path / "pages.svg", "--link", "down")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "pages.svg").stat().st_size > 1000


@pytest.mark.parametrize("name", list(named.figures(OfCertificate)))
def test_the_command_draws_figures_of_a_certificate(sojourn, tmp_path, name):
    place = tmp_path / "figure.pdf"
    done = sojourn("plot", "dumbbell", name, "--qdisc", "pi", "-o", place, "--width", "column")
    assert (done.returncode, done.stdout) == (0, f"{place}\n"), done.stderr
    assert place.read_bytes().startswith(b"%PDF")


def test_the_command_draws_figures_of_a_sweep(sojourn, tmp_path):
    grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}}
    axes = {"qdisc": ["pi", "codel"], "flows[0].count": [20, 40]}
    sj.sweep({**grid, "axes": axes}, out=tmp_path / "grid.sweep")

    def drawn(spec, *further):
        return sojourn("plot", tmp_path / "grid.sweep", spec, "-o", tmp_path / "curve.svg", *further)

    for spec in (
        "curve:metric=utilization,x=flows[0].count",
        "map:metric=drop_ratio,x=qdisc,y=flows[0].count",
    ):
        assert drawn(spec, "--width", "page", "--link", "bottleneck").returncode == 0, spec
    assert drawn("map:metric=utilization,x=qdisc,y=flows[0].count,least=0.9").returncode == 0
    assert "link: is given by an option, too" in drawn("cloud:link=bottleneck", "--link", "bottleneck").stderr
    assert (
        "'21 ms' is not on the axis" in drawn("curve:metric=utilization,x=qdisc,flows[0].count=21 ms").stderr
    )
    # Axes choose; their numbers are numbers.
    assert drawn("curve:metric=utilization,x=qdisc,flows[0].count=20").returncode == 0
    assert "'21' is not on the axis; expected one of [20, 40]" in (
        drawn("curve:metric=utilization,x=qdisc,flows[0].count=21").stderr
    )
    assert "--qdisc: belongs to a certificate" in drawn("cloud", "--qdisc", "pi").stderr


@pytest.mark.parametrize(
    ("of", "figure", "error"),
    [
        ("dumbbell", "cdf", "FIGURE: cdf: is a figure of a result, not of a certificate; expected a folder"),
        ("dumbbell", "cfd", 'FIGURE: "cfd" is not a figure of a certificate'),
        ("nothing", "cdf", "nothing: there is no such folder or scenario; expected a folder"),
        ("dumbell", "bode", 'did you mean "dumbbell"?'),
        ("x" * 400, "bode", "x...: cannot be read (File name too long); expected a folder"),
    ],
)
def test_a_figure_of_something_else_is_an_error(sojourn, tmp_path, of, figure, error):
    done = sojourn("plot", of, figure, "-o", tmp_path / "figure.pdf")
    assert done.returncode == 2
    assert error in done.stderr
    assert not (tmp_path / "figure.pdf").exists()


@pytest.mark.parametrize("option", ["--qdisc", "--link"])
def test_an_error_of_a_certificate_names_its_option(sojourn, tmp_path, option):
    done = sojourn("plot", "dumbbell", "bode", "-o", tmp_path / "bode.pdf", option, "nosuch")
    assert done.returncode == 2
    assert f"sojourn plot: {option}: " in done.stderr


def test_a_value_may_have_commas():
    figure, given = named.parse("differences:baseline=red:min=5,max=15,metric=drop_ratio")
    assert figure.name == "differences"
    assert given == {"baseline": "red:min=5,max=15", "metric": "drop_ratio"}


def test_the_list_has_every_figure_with_its_arguments(sojourn):
    listed = json.loads(sojourn("list", "figures", "--json").stdout)
    found = {one["name"]: one for one in listed if one["of"] == "result"}
    assert list(found) == list(named.figures())
    for kind, plots in (("sweep", OfSweep), ("certificate", OfCertificate)):
        assert [one["name"] for one in listed if one["of"] == kind] == list(named.figures(plots))
    assert found["goodput"]["required"] == ["traffic_class"]
    assert {"name": "metric", "default": "sojourn_mean_s"} in found["bars"]["arguments"]
    assert "Arguments: metric=sojourn_mean_s" in " ".join(sojourn("list", "figures").stdout.split())


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["cfd", "-o", "x.pdf"], 'FIGURE: "cfd" is not a figure of a result; did you mean cdf?'),
        (["cdf:a=b", "-o", "x.pdf"], 'FIGURE: "a=b" is no argument of cdf; expected none'),
        (["goodput", "-o", "x.pdf"], "FIGURE: goodput: lacks traffic_class; expected such as"),
        (["bars:metric=drop_ratio,metric=x", "-o", "x.pdf"], "FIGURE: metric is given twice"),
        (["regret", "-o", "x.pdf"], "FIGURE: regret: no qdisc of the result has one"),
        (["cdf", "-o", "x.eps"], '--output: "x.eps" has no ending of a picture; expected .pdf'),
        (["cdf", "-o", "x.pdf", "--width", "wide"], '--width: "wide" is unknown; expected column or page'),
        (["cdf", "-o", "x.pdf", "--style", "acm"], '--style: "acm" is unknown; expected ieee'),
        (["cdf", "-o", "x.pdf", "--link", "x"], '--link: "x" is not a link here; expected '),
    ],
)
def test_wrong_input_is_one_line(written, refused, words, line):
    (found,) = refused("plot", written, *words)
    assert line in found
