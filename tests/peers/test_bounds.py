"""The bounds themselves: agreement within them and nowhere else."""

from __future__ import annotations

import pytest

from bounds import LAWS, TRANSPORTS, Sample, verdict


@pytest.mark.parametrize(
    ("metric", "ours", "agrees"),
    [
        ("utilization", 0.985, False),
        ("utilization", 0.995, True),
        ("queue_mean_packets", 0.88, False),
        ("queue_mean_packets", 0.95, True),
        ("queue_std_packets", 1.35, False),
        ("queue_std_packets", 0.75, True),
        ("drop_ratio", 1.25, False),
        ("drop_ratio", 1.15, True),
    ],
)
def test_a_binding_row(metric: str, ours: float, agrees: bool) -> None:
    base = {"utilization": 1.0, "queue_mean_packets": 100.0, "queue_std_packets": 20.0, "drop_ratio": 0.05}[
        metric
    ]
    peer = Sample(3, base, base * 0.01)
    assert verdict(metric, Sample(10, ours * base, 0.001), peer, events=5000, bounds=LAWS).agrees is agrees


def test_a_noisy_row_needs_overlapping_intervals() -> None:
    noisy = Sample(3, 10.0, 4.0)
    assert verdict("queue_mean_packets", Sample(10, 19.0, 1.0), noisy, events=0, bounds=LAWS).agrees
    assert not verdict("queue_mean_packets", Sample(10, 25.0, 1.0), noisy, events=0, bounds=LAWS).agrees


def test_nothing_marked_means_nothing_marked() -> None:
    none = Sample(3, 0.0, 0.0)
    assert verdict("mark_ratio", Sample(10, 0.0, 0.0), none, events=0, bounds=LAWS).agrees
    assert not verdict("mark_ratio", Sample(10, 1e-6, 0.0), none, events=0, bounds=LAWS).agrees


@pytest.mark.parametrize(
    ("metric", "base", "ours", "agrees"),
    [
        ("utilization", 0.9, 0.914, True),
        ("utilization", 0.9, 0.916, False),
        ("queue_mean_packets", 4.0, 6.9, True),
        ("queue_mean_packets", 4.0, 7.1, False),
        ("queue_mean_packets", 100.0, 116.0, False),
        ("drop_ratio", 0.04, 0.0499, True),
        ("drop_ratio", 0.04, 0.0501, False),
        ("jain_index", 0.99, 0.93, False),
    ],
)
def test_the_bounds_of_transports(metric: str, base: float, ours: float, agrees: bool) -> None:
    peer = Sample(5, base, base * 0.01)
    assert verdict(metric, Sample(10, ours, 0.001), peer, events=5000, bounds=TRANSPORTS).agrees is agrees


def test_a_single_run_has_no_spread_and_binds() -> None:
    single = Sample.of([0.9])
    assert not verdict("utilization", Sample(10, 0.95, 0.2), single, events=0, bounds=TRANSPORTS).agrees


def test_few_repeated_events_need_no_overlap() -> None:
    exact = Sample(5, 1.5e-4, 2e-8)
    assert verdict("drop_ratio", Sample(10, 1.52e-4, 2e-8), exact, events=2, bounds=TRANSPORTS).agrees
    assert not verdict("drop_ratio", Sample(10, 3e-4, 2e-8), exact, events=2, bounds=TRANSPORTS).agrees
