"""Picture of the README, drawn from the result of `make demo`: `.venv/bin/python docs/pictures/demo.py`.

The same result gives the same file, to the byte.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

import sojourn as sj

HERE = Path(__file__).resolve().parent
RESULT = HERE.parents[1] / "build" / "demo"
PICTURE = HERE / "demo.svg"

#: A metric of a class, and its title.
PANELS = (
    ("one_way_p95_s", "call", "call: p95 delay, ms"),
    ("fct_p95_s", "game", "game: p95 lag, ms"),
    ("fct_mean_s", "web", "web: page load, s"),
    ("goodput_bps", "download", "downloads: Mbit/s"),
)


def main() -> None:
    """Draw and save it."""
    figure = Figure(figsize=(9, 2.1), layout="constrained")  # inches
    axes = figure.subplots(1, len(PANELS))
    plots = sj.Result.read(RESULT).plot
    for place, (ax, (metric, traffic_class, title)) in enumerate(zip(axes, PANELS, strict=True)):
        plots.bars(metric, traffic_class, ax=ax)
        ax.set_title(title, loc="left", fontsize=10)
        if place:
            ax.set_yticklabels([])
    with mpl.rc_context({"svg.hashsalt": "sojourn", "svg.fonttype": "none"}):
        figure.savefig(PICTURE, metadata={"Date": None})
    print(PICTURE)


if __name__ == "__main__":
    main()
