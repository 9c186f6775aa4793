"""What `sojourn run` prints: sentences, the metrics that differ, and the formats of tables."""

import csv
import io
import re
import sys
from dataclasses import replace

import polars as pl
import pytest
from invented import columns, invented

import sojourn as sj
from sojourn.cli import running
from sojourn.report import verdicts
from sojourn.report.differing import differing
from sojourn.result import markup, metrics
from sojourn.result.tables import Table

RED = "red:min=5packets,max=15packets"
QDISCS = ("--qdisc", "tail_drop", "--qdisc", RED)


def shown(result):
    """Metrics of the default table."""
    return [column.metric for column in differing(result)[0]]


def test_the_sentences_of_the_page_come_before_the_table(sojourn):
    done = sojourn("run", "small.toml", *QDISCS, "--seeds", "1..3")
    text = " ".join(done.stdout.split())
    assert "Best here is red: " in text
    assert text.index("Best here is red: ") < text.index("queue mean, packets")


def test_the_sentences_are_those_of_the_page():
    result = invented({"red": columns(0.02, 0.06), "pi": columns(0.05, 0.01)})
    assert verdicts.opening(result, "red") in " ".join(running.summary(result).split())


def test_metrics_without_a_difference_are_left_out_and_named():
    result = invented({"red": columns(0.02, 0.06), "pi": columns(0.05, 0.01)})
    assert shown(result) == ["sojourn_mean_s", "sojourn_p95_s", "drop_ratio"]
    (line,) = differing(result)[1]
    assert line == "The same under every qdisc: utilisation 99.0 %, marks 0.0 %. --all has all metrics."
    text = running.summary(result)
    assert line in " ".join(text.split())
    assert not re.search(r"^utilisation", text, re.M)
    assert re.search(r"^utilisation", running.summary(result, every=True), re.M)


@pytest.mark.parametrize(
    ("second", "is_shown"),
    [
        ([0.99, 0.98, 1.0], False),  # within 5 %, and no interval
        ([0.97, 0.96, 0.98], True),  # an interval shows it
        ([0.5, 0.99, 1.0], True),  # far apart, though three seeds show nothing
        ([None, None, None], True),  # it applies to one of them
    ],
)
def test_a_difference_is_left_out_if_it_is_small_and_not_shown(second, is_shown):
    rows = {
        "pi": {"utilization": [0.99, 0.985, 0.995], "drop_ratio": [0.1, 0.1, 0.1]},
        "red": {"utilization": second, "drop_ratio": [0.2, 0.2, 0.2]},
    }
    result = invented(rows)
    assert ("utilization" in shown(result)) == is_shown
    sentence = "Not distinguished by 3 seeds: utilisation 99.0 %."
    assert any(sentence in line for line in differing(result)[1]) == (not is_shown)


def test_of_one_seed_what_is_printed_alike_is_left_out():
    rows = {
        "pi": {"jain_index": [0.99401], "drop_ratio": [0.1]},
        "red": {"jain_index": [0.99402], "drop_ratio": [0.1001]},
    }
    assert shown(invented(rows)) == ["drop_ratio"]


def test_one_qdisc_and_qdiscs_without_a_difference_have_all_rows():
    one = invented({"pi": columns(0.05, 0.01)})
    assert len(shown(one)) == 5
    assert differing(one)[1] == []
    assert len(shown(invented({"pi": columns(0.05, 0.01), "pie": columns(0.05, 0.01)}))) == 5


def test_plants_are_not_compared_with_each_other():
    fluid = invented({"pi": {"utilization": [0.9]}, "red": {"utilization": [0.9]}}, plant="fluid")
    packet = invented({"pi": {"utilization": [0.99]}, "red": {"utilization": [0.99]}})
    both = replace(
        fluid,
        runs=(*fluid.runs, *packet.runs),
        series=pl.DataFrame(schema={"plant": pl.String}),
        distributions=pl.DataFrame(schema={"plant": pl.String}),
        windows=pl.DataFrame(schema={"plant": pl.String}),
    )
    assert differing(both)[1] == [], "no difference in any plant: all rows"


def test_all_has_every_metric(sojourn, scenario):
    rows = re.findall(r"^[a-zJ].*\d$", sojourn("run", "small.toml", "--all").stdout, re.M)
    assert len(rows) == 1 + sj.run(scenario).summary().height, "and the line of the seed"
    assert any(re.match(r"sojourn p99, ms +\d", row) for row in rows)


def test_csv_is_the_wide_summary(sojourn, scenario):
    done = sojourn("run", "small.toml", *QDISCS, "--seeds", "1..2", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    wide = sj.run(scenario, ["tail_drop", RED], seeds=[1, 2]).summary(wide=True)
    assert [row["qdisc"] for row in rows] == wide["qdisc"].to_list()
    for name in ("queue_mean_packets", "sojourn_p99_s", "drop_ratio_ci95"):
        assert [float(row[name]) for row in rows] == pytest.approx(wide[name].to_list())


def test_markdown_has_a_table_of_bars(sojourn):
    done = sojourn("run", "small.toml", *QDISCS, "--format", "markdown")
    lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert lines[0] == r"|  | tail\_drop | red:min=5 packets,max=15 packets |"
    assert lines[1] == "|:---|---:|---:|"
    assert {line.count("|") for line in lines} == {4}
    assert "Best here under this one seed is red: " in done.stdout


def test_latex_is_comments_and_tabulars(sojourn):
    done = sojourn("run", "small.toml", *QDISCS, "--seeds", "1..3", "--format", "latex")
    body = [line for line in done.stdout.splitlines() if line and not line.startswith("%")]
    heads = r" & tail\_drop & red:min=5 packets,max=15 packets \\"
    assert body[:4] == [r"\begin{tabular}{lrr}", r"\toprule", heads, r"\midrule"]
    assert body[-2:] == [r"\bottomrule", r"\end{tabular}"]
    for row in body[4:-2]:
        assert row.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == 2
        assert not re.search(r"(?<!\\)[%_#]", row)
    assert any(row.startswith(r"drops, \% & ") and r"$\pm$" in row for row in body)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("-1.2 ± 0.1", r"$-$1.2 $\pm$ 0.1"),
        ("<0.001", "$<$0.001"),
        ("a_b & 50 % {#1}", r"a\_b \& 50 \% \{\#1\}"),
        ('a|"b"', r"a\textbar{}\textquotedbl{}b\textquotedbl{}"),
        ("\\~^$", r"\textbackslash{}\textasciitilde{}\textasciicircum{}\$"),
    ],
)
def test_latex_escapes_its_own_signs(text, latex):
    assert markup.latex_text(text) == latex


@pytest.mark.parametrize("name", ["[4]", "*"])
def test_a_row_is_no_argument_of_the_one_above(name):
    r"""LaTeX looks for `*` and for a bracket after a `\\\\`, in the next line, too."""
    assert rf"{{}}{name} & 5 \\" in markup.latex(Table((("", name), ("pi", "5"))))


def test_a_title_and_notes_are_comments_of_latex():
    text = markup.latex(Table((("a",), ("b",)), "queues of pi", ("and 3 more",)))
    assert text.splitlines()[0] == "% queues of pi"
    assert text.splitlines()[-1] == "% and 3 more"


def test_a_format_excludes_json_and_must_exist(sojourn, refused):
    (line,) = refused("run", "small.toml", "--format", "html")
    assert line.endswith('--format: "html" is no format; expected table, csv, markdown, latex')
    done = sojourn("run", "small.toml", "--format", "csv", "--json")
    assert done.returncode == 2
    assert "--format, --json: both are given; expected one of them" in done.stderr


def test_the_wide_summary_has_the_numbers_of_the_long_one(scenario):
    result = sj.run(scenario, ["tail_drop", RED], seeds=[1, 2, 3])
    long, wide = result.summary(), result.summary(wide=True)
    assert wide.height == 2
    for row in long.iter_rows(named=True):
        (place,) = wide.filter(pl.col("qdisc") == row["qdisc"]).iter_rows(named=True)
        assert place[row["metric"]] == row["mean"]
        assert place[f"{row['metric']}_ci95"] == pytest.approx((row["ci95_high"] - row["ci95_low"]) / 2)
    assert len(metrics.ALL) < len(wide.columns)


def test_to_latex_is_a_table_of_the_named_metrics(scenario):
    result = sj.run(scenario, ["tail_drop", RED], seeds=[1, 2, 3])
    lines = result.to_latex(["sojourn_p95_s", "sojourn_p99_s"]).splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}"
    assert [line.partition(" & ")[0] for line in lines[4:-2]] == ["sojourn p95, ms", "sojourn p99, ms"]
    assert len(result.to_latex().splitlines()) > len(lines)
    rows = result.to_latex(["qoo", "ping_rpm"]).splitlines()[4:-2]
    assert [row.partition(" & ")[2] for row in rows] == [r"- & - \\"] * 2, "of classes alone"
    with pytest.raises(sj.InputError, match='"delay" is not a metric'):
        result.to_latex(["delay"])
    with pytest.raises(sj.InputError, match="metrics: 5 is no list of texts"):
        result.to_latex(5)


def test_to_pandas_is_the_summary(scenario):
    pytest.importorskip("pandas")
    result = sj.run(scenario, ["tail_drop", RED], seeds=[1, 2])
    table = result.to_pandas(wide=True)
    assert table["qdisc"].tolist() == result.qdiscs
    assert table["utilization"].tolist() == result.summary(wide=True)["utilization"].to_list()
    assert result.to_pandas().shape == result.summary().shape


def test_without_pandas_the_error_names_the_extra(scenario, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setattr(pl.DataFrame, "to_pandas", lambda _: __import__("pandas"))
    with pytest.raises(sj.MissingError, match=r"pip install sojourn\[pandas\]"):
        sj.run(scenario).to_pandas()
