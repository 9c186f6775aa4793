"""Our numbers beside those of others, from the rows that the tests compare: the pictures of docs/truth.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes

from sojourn.plot import style

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT / "peers", ROOT / "tests" / "peers"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

import test_kernel_check as of_kernel  # noqa: E402
import test_published as of_linux  # noqa: E402
import test_reference_rows as of_peers  # noqa: E402

from bounds import Sample, verdict  # noqa: E402
from kernel_check import Row, kept, our_samples  # noqa: E402

#: Metrics of the simulators' rows, and their titles.
METRICS = {
    "utilization": "utilisation",
    "queue_mean_packets": "mean queue",
    "drop_ratio": "drops",
}
OF_KERNEL = {
    "drops": "drops",
    "marks": "marks",
    "sojourn_p50_s": "delay, p50",
    "sojourn_p95_s": "delay, p95",
}
#: Units of the published numbers.
PUBLISHED_IN = {"goodput_bps": "Mbit/s", "sojourn_mean_s": "µs", "fct_": "ms"}
#: Ratios that a panel has; those beyond are arrows at its edge.
LEAST, MOST = 0.5, 1.5


@dataclass(frozen=True)
class Pair:
    """A number of others, and ours."""

    name: str
    metric: str
    theirs: float
    ours: float
    #: 95 % interval of ours.
    low: float
    high: float
    #: Why the test's bound does not hold, with the page that has more; None: it holds.
    reason: str | None = None

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.ours / self.theirs


def simulators(pictures: Path, static: str) -> str:
    """Ratios to ns-2 and ns-3, a panel a metric, in Markdown."""
    return _drawn(list(_of_simulators()), METRICS, "simulators", pictures, static=static)


def kernel(pictures: Path, static: str) -> str:
    """Ratios to the kernel's qdiscs, in Markdown."""
    return _drawn(list(_of_kernel()), OF_KERNEL, "kernel", pictures, static=static)


def published(pictures: Path, static: str) -> str:
    """Published runs of Linux beside the intervals of ours, in Markdown."""
    del pictures, static
    lines = ["| run | number | Linux | ours, 99 % of runs | |", "|---|---|---:|---:|---|"]
    for row, value in of_linux.cases():
        found = of_linux.interval(row.name, value.name)
        inside = found["low"] <= found["published"] <= found["high"]
        note = "" if inside else _reason(row.name, value.name)
        cells = (row.name, f"`{value.name}`, {_unit(value.name)}", f"{found['published']:.4g}")
        lines.append(f"| {' | '.join(cells)} | {found['low']:.4g} to {found['high']:.4g} | {note} |")
    return "\n".join(lines)


def _unit(metric: str) -> str:
    return next(unit for start, unit in PUBLISHED_IN.items() if metric.startswith(start))


def _reason(row: str, value: str) -> str:
    """Why a published number is outside, by its test. Raises `LookupError` for one without a reason."""
    page = "[why](/deviations/linux.md)"
    if (row, value) in of_linux.UNEXPLAINED:
        return f"outside, {page}"
    if (row, value) in of_linux.EXPLAINED:
        return f"outside; inside with its setting, {page}"
    found = of_linux.interval(row, value)
    if row.startswith("fq_codel") and -of_linux.SHORTFALL <= found["published"] / found["mean"] - 1 <= 0.01:
        return f"outside: a rate sampled by TCP, {page}"
    raise LookupError(f"{row}, {value}: outside, and no test has the reason")


def _of_simulators() -> Iterator[Pair]:
    """Rows of ten flows and more: one flow repeats itself, and its mean takes some hundred seeds."""
    for raw in of_peers.rows():
        if not of_peers.judged(raw) or raw["scenario"].endswith("_n1"):
            continue
        row, run = of_peers.in_packets(raw), of_peers.run_of(raw)
        if row["metric"] not in METRICS or raw["metric"] != row["metric"]:
            continue
        theirs = Sample(int(row["n"]), float(row["mean"]), float(row["sd"] or 0.0))
        ours = Sample.of([run.value(row["metric"], one.metrics) for one in run.ours().rows()])
        events = theirs.mean * of_peers.OFFERED[run.family]
        found = verdict(row["metric"], ours, theirs, events=events, bounds=of_peers.ISSUES[row["issue"]])
        name = f"{row['peer']}, {run.scenario.replace('_', ' ')}, {run.qdisc}, {run.transport}"
        key = (run.scenario, run.peer, run.qdisc, run.transport, row["metric"])
        reason = None if found.agrees else of_peers.NOT_MET[key]
        yield Pair(name, row["metric"], theirs.mean, ours.mean, *ours.interval(), reason)


def _of_kernel() -> Iterator[Pair]:
    _, samples = kept()
    for case in of_kernel.CASES:
        seeds = of_kernel.SEEDS[:1] if case.law in of_kernel.WITHOUT_DRAWS else of_kernel.SEEDS
        ours = our_samples(case, seeds)
        for metric in (one for one in OF_KERNEL if one in case.metrics):
            row = Row(case, metric, samples[case.name, metric], ours[metric])
            if row.binds:
                if not row.agrees:
                    raise LookupError(f"{row.text()}: its test fails")
                yield Pair(case.name, metric, row.kernel.mean, row.ours.mean, *row.ours.interval())


def _drawn(found: Sequence[Pair], titles: dict[str, str], name: str, pictures: Path, *, static: str) -> str:
    pairs = [pair for pair in found if pair.theirs]
    names = list(dict.fromkeys(pair.name for pair in pairs))
    figure, axes = style.figure((9.0, 1.0 + 0.2 * len(names)), 1, len(titles), apart=0.03)
    for place, (ax, (metric, title)) in enumerate(zip(axes, titles.items(), strict=True)):
        _ratios(ax, [pair for pair in pairs if pair.metric == metric], names)
        ax.set_title(title, loc="left", fontsize=style.FONT_PT - 1, color=style.INK)
        ax.set_yticks(range(len(names)), names if place == 0 else [], fontsize=style.FONT_PT - 2)
    file = f"truth_{name}.svg"
    figure.savefig(pictures / file, metadata={"Date": None}, transparent=True)
    return "\n".join(
        [
            "```{raw} html",
            f'<figure class="run"><img src="{static}/{file}" alt="Ratios of our numbers to those of others">',
            f"<figcaption>{_caption(pairs, len(found) - len(pairs))}</figcaption></figure>",
            "```",
            *_reasons(pairs, titles),
        ]
    )


def _caption(pairs: Sequence[Pair], zero: int) -> str:
    """What the points are, and how many agree; `zero` numbers of others have no ratio."""
    agree = sum(pair.reason is None for pair in pairs)
    beyond = sum(not LEAST <= pair.ratio <= MOST for pair in pairs)
    sentences = [
        "Ours over theirs: the mean of our seeds with its 95 % interval.",
        f"{agree} of {len(pairs)} numbers are within the bound of their test"
        + ("." if agree == len(pairs) else "; the hollow ones are not, for the reasons below."),
        f"Arrows: ratios beyond the scale ({beyond})." if beyond else "",
        f"Not drawn: numbers that are 0 there ({zero})." if zero else "",
    ]
    return " ".join(filter(None, sentences))


def _reasons(pairs: Sequence[Pair], titles: dict[str, str]) -> list[str]:
    """A line for each number outside of its bound, in Markdown."""
    lines = []
    for pair in (one for one in pairs if one.reason is not None):
        reason, _, page = str(pair.reason).partition(": docs")
        lines.append(f"- {pair.name}, {titles[pair.metric]}: {reason} ([why]({page})).")
    return ["", *lines] if lines else []


def _ratios(ax: Axes, pairs: Sequence[Pair], names: Sequence[str]) -> None:
    for pair in pairs:
        at = names.index(pair.name)
        low, high = (min(max(value / pair.theirs, LEAST), MOST) for value in (pair.low, pair.high))
        ax.plot([low, high], [at, at], color=style.colour(0), linewidth=style.LINE)
        marker = "<" if pair.ratio < LEAST else ">" if pair.ratio > MOST else "o"
        filled = style.colour(0) if pair.reason is None else style.PAPER
        shown = min(max(pair.ratio, LEAST), MOST)
        ax.plot(shown, at, marker=marker, markersize=4, color=style.colour(0), markerfacecolor=filled)
    ax.axvline(1, color=style.MUTED, linewidth=0.9)
    style.quieten(ax, "x")
    ax.set_xlim(LEAST - 0.02, MOST + 0.02)
    ax.set_xticks([0.5, 0.75, 1, 1.25, 1.5], ["½", "", "1", "", "1½"])
    ax.set_ylim(len(names) - 0.5, -0.5)
