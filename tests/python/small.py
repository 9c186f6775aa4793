"""A short scenario, and invented data of several plants."""

SCENARIO = """\
title    = "Eight flows on a small link"
duration = "6 s"
warmup   = "1 s"

[bottleneck]
rate   = "2 Mbit/s"
delay  = "5 ms"
buffer = "40 packets"
qdisc   = { law = "tail_drop" }

[[flows]]
count   = 8
cc      = "newreno"
ecn     = true
segment = "1000 B"
access  = { rate = "20 Mbit/s", delay = { spread = ["8 ms", "12 ms"] } }
"""

RED = "red:min=5packets,max=15packets"

#: Metrics and samples of a fluid, and factor of an invented one's queues.
OF_FLUIDS = (
    "utilization",
    "queue_mean_packets",
    "queue_std_packets",
    "sojourn_mean_s",
    "drop_ratio",
    "mark_ratio",
)
SAMPLED = ("queue_packets", "sojourn_s", "p", "drop_ratio", "mark_ratio", "utilization", "window_packets")
LONGER = 1.25
