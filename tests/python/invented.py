"""Results with given metrics, for tests of their readers."""

from dataclasses import replace

import polars as pl

import sojourn as sj
from sojourn.result import Row


def invented(table, plant="packet", link="bottleneck", traffic_class=None):
    """A result with given metrics: qdisc -> metric -> values by seed; ``...`` for a seed that has not run."""
    runs = tuple(
        Row(plant, qdisc, seed, link, metrics, {}, traffic_class=traffic_class)
        for qdisc, columns in table.items()
        for seed in range(len(next(iter(columns.values()))))
        if (metrics := {name: column[seed] for name, column in columns.items() if column[seed] is not ...})
    )
    return sj.Result({}, runs, pl.DataFrame(), pl.DataFrame())


def columns(delay, drops, busy=0.99):
    """Metrics of three seeds about a mean delay, a drop ratio and a utilisation."""
    return {
        "utilization": [busy, busy, busy],
        "sojourn_mean_s": [delay, delay + 0.001, delay + 0.002],
        "sojourn_p95_s": [2 * delay, 2 * delay, 2 * delay],
        "drop_ratio": [drops, drops * 1.01, drops * 1.02],
        "mark_ratio": [0.0, 0.0, 0.0],
    }


def measured(delays, uses, drops=0.001):
    """Metrics of a qdisc: p95 delays and utilisations of its seeds."""
    return {
        "sojourn_p95_s": delays,
        "sojourn_mean_s": [delay / 2 for delay in delays],
        "utilization": uses,
        "drop_ratio": [drops] * len(delays),
        "goodput_bps": [8e6] * len(delays),
    }


def about(delay, use, drops=0.001):
    """Three seeds about a delay and a utilisation."""
    return measured([delay - 0.001, delay, delay + 0.001], [use - 0.0005, use, use + 0.0005], drops)


def steady(*deviations, queue=100.0):
    """Metrics of the queue, one value of its standard deviation for each seed."""
    return {"queue_mean_packets": [queue] * len(deviations), "queue_std_packets": list(deviations)}


def partly(made, kept):
    """The result with some of its runs, as after Ctrl-C: qdisc -> seeds."""
    runs = tuple(run for run in made.runs if run.seed in kept[run.qdisc])
    return replace(made, runs=runs)
