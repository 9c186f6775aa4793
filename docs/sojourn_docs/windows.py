"""The window of each congestion control, alone on one link: a picture made while the page is built."""

from __future__ import annotations

from pathlib import Path

import sojourn as sj
from sojourn import catalogue
from sojourn.plot import style

SCENARIO = "transports/alone"
QDISC = "tail_drop"
#: Qdisc of dctcp: it marks above a step.
STEP = "red:min=20packets,max=21packets,weight=1,max_p=1"
QDISCS = {"dctcp": STEP}
SIZE = (9.0, 7.5)  # inches
PICTURE = "windows.svg"


def shown(pictures: Path, static: str) -> str:
    """The picture and the table of the runs, in Markdown; the picture is reached through `static`."""
    names = [entry["name"] for entry in catalogue.entries("ccs") if not entry["live_only"]]
    results = {name: alone(name) for name in names}
    draw(results, pictures / PICTURE)
    spoken = f"Line charts: congestion window in packets over time in seconds, under {', '.join(names)}"
    return "\n".join(
        [
            "```{raw} html",
            f'<figure class="run"><img src="{static}/{PICTURE}" alt="{spoken}">',
            "<figcaption>The window of one flow over time; dashed, the capacity of path and buffer."
            "</figcaption></figure>",
            "```",
            "",
            *table(results),
            "",
            f"Made while this page was built, by `sojourn run {SCENARIO} --set flows[0].cc=NAME`;",
            f"`dctcp` with `--qdisc {STEP}`.",
        ]
    )


def alone(name: str) -> sj.Result:
    """Run of a single flow with this congestion control."""
    return sj.run(sj.load(SCENARIO, {"flows[0].cc": name}), qdiscs=[QDISCS.get(name, QDISC)])


def draw(results: dict[str, sj.Result], picture: Path) -> None:
    """Draw one row for each congestion control."""
    figure, rows = style.figure(SIZE, rows=len(results))
    capacity = path_and_buffer()
    for place, (row, (name, result)) in enumerate(zip(rows, results.items(), strict=True)):
        series = result.series.filter(name="window_packets.flow_0")
        style.quieten(row)
        row.axhline(capacity, color=style.MUTED, linewidth=style.THIN, linestyle=(0, (4, 3)))
        row.plot(series["time"], series["value"], color=style.colour(place), linewidth=style.LINE)
        row.set_ylim(0, 1.8 * capacity)
        row.set_title(name, loc="left", color=style.INK, fontsize=style.FONT_PT)
        row.tick_params(labelbottom=row is rows[-1])
    style.label(rows[len(rows) // 2], "", "congestion window, packets")
    style.label(rows[-1], "time, s", "")
    figure.savefig(picture, metadata={"Date": None}, transparent=True)


def path_and_buffer() -> float:
    """Capacity of the scenario in packets: 20 Mbit/s in packets of 1500 B for 60 ms, and 100 packets."""
    return 20e6 / (8 * 1500) * 0.060 + 100


def table(results: dict[str, sj.Result]) -> list[str]:
    """Utilisation, queue, losses and marks, after the warm-up."""
    head = ["", "used, %", "queue, packets", "lost, %", "marked, %"]
    columns = ("utilization", 100), ("queue_mean_packets", 1), ("drop_ratio", 100), ("mark_ratio", 100)
    rows = (
        [f"[{name}]({name}.md)", *(f"{scale * result.rows()[0].metrics[key]:.3g}" for key, scale in columns)]
        for name, result in results.items()
    )
    return [f"| {' | '.join(row)} |" for row in (head, ["---", *["---:"] * len(columns)], *rows)]
