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


def main() -> None:
    """Draw and save it."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")  # inches
    ax = figure.subplots()
    sj.Result.read(RESULT).plot.queue(ax=ax)
    inside = ax.get_legend()
    handles, labels = ax.get_legend_handles_labels()
    inside.remove()
    # Above the lines, in one row.
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    with mpl.rc_context({"svg.hashsalt": "sojourn", "svg.fonttype": "none"}):
        figure.savefig(PICTURE, metadata={"Date": None})
    print(PICTURE)


if __name__ == "__main__":
    main()
