"""One run of a law for its page, made while the page is built."""

from __future__ import annotations

from pathlib import Path

import sojourn as sj
from sojourn.result.metrics import SUMMARY
from sojourn.result.words import cell

SCENARIO = "dumbbell"
BASELINE = "tail_drop"
SEEDS = range(1, 4)


def shown(law: str, pictures: Path, static: str) -> str:
    """The picture and the table of a run, in Markdown; the picture is reached through `static`."""
    result = sj.run(sj.load(SCENARIO), qdiscs=list(dict.fromkeys((BASELINE, law))), seeds=SEEDS)
    drawn = result.plot.queue().figure
    drawn.savefig(pictures / f"{law}.svg", metadata={"Date": None}, transparent=True)
    return "\n".join(
        [
            "```{raw} html",
            f'<figure class="run"><img src="{static}/{law}.svg" alt="{_spoken(result)}">',
            f"<figcaption>The queue over time: the line is of seed {SEEDS[0]}, the band the "
            "range of all seeds.</figcaption></figure>",
            "```",
            "",
            _table(result),
            "",
            "Means over three seeds, with 95 % intervals. Made while this page was built, by",
            "",
            "```sh",
            f"sojourn run {SCENARIO} "
            f"{' '.join(f'--qdisc {qdisc}' for qdisc in dict.fromkeys((BASELINE, law)))} "
            f"--seeds {SEEDS[0]}..{SEEDS[-1]}",
            "```",
        ]
    )


def _table(result: sj.Result) -> str:
    rows = [
        [column.long, *(cell(result, variant, column) for variant in result.variants)] for column in SUMMARY
    ]
    lines = [
        ["", *result.qdiscs],
        ["---", *["---:"] * len(result.qdiscs)],
        *(row for row in rows if any(row[1:])),
    ]
    return "\n".join(f"| {' | '.join(line).replace('_', '&#95;')} |" for line in lines)


def _spoken(result: sj.Result) -> str:
    laws = " and ".join(result.qdiscs)
    return f"Line chart: queue in packets over time in seconds, {result.title}, under {laws}"
