"""The metrics as columns of tables.

Generated from crates/measure by `cargo run -p xtask -- generate`: change its definition there, not this file.
"""
# ruff: noqa: E501

from __future__ import annotations

from sojourn.result.column import Column

UTILIZATION = Column("utilization", "utilisation", "%", 100.0, most=100.0)
QUEUE_MEAN_PACKETS = Column("queue_mean_packets", "queue mean", "packets")
QUEUE_STD_PACKETS = Column("queue_std_packets", "queue sd", "packets")
SOJOURN_MEAN_S = Column("sojourn_mean_s", "sojourn mean", "ms", 1000.0)
SOJOURN_P95_S = Column("sojourn_p95_s", "sojourn p95", "ms", 1000.0)
RTT_P95_S = Column("rtt_p95_s", "round trip p95", "ms", 1000.0)
DROP_RATIO = Column("drop_ratio", "drops", "%", 100.0)
MARK_RATIO = Column("mark_ratio", "marks", "%", 100.0, most=100.0)
GOODPUT_BPS = Column("goodput_bps", "goodput", "Mbit/s", 1e-6)
JAIN_INDEX = Column("jain_index", "Jain index", "", most=1.0)
FCT_MEAN_S = Column("fct_mean_s", "completion mean", "s")
FCT_P95_S = Column("fct_p95_s", "completion p95", "s")
WIRE_LOSS_RATIO = Column("wire_loss_ratio", "lost on the wire", "%", 100.0, most=100.0)
ONE_WAY_P95_S = Column("one_way_p95_s", "one way p95", "ms", 1000.0)
DATAGRAM_LOSS_RATIO = Column("datagram_loss_ratio", "datagrams lost", "%", 100.0, most=100.0)
R_FACTOR = Column("r_factor", "R-factor", "", least=None, most=100.0)
QOO = Column("qoo", "QoO", "", most=100.0)
PING_RPM = Column("ping_rpm", "ping-RPM", "")
RESPONSIVENESS_RPM = Column("responsiveness_rpm", "RPM", "")
FOREIGN_RPM = Column("foreign_rpm", "RPM foreign", "")
LOADED_RPM = Column("loaded_rpm", "RPM loaded", "")
STALL_RATIO = Column("stall_ratio", "stalls", "%", 100.0, most=100.0)
COMPLETED_FLOWS = Column("completed_flows", "completed", "flows")
REJECTED_FLOWS = Column("rejected_flows", "rejected", "flows")
#: Columns of a summary of qdiscs.
SUMMARY = (
    UTILIZATION,
    QUEUE_MEAN_PACKETS,
    QUEUE_STD_PACKETS,
    SOJOURN_MEAN_S,
    SOJOURN_P95_S,
    DROP_RATIO,
    WIRE_LOSS_RATIO,
    MARK_RATIO,
    GOODPUT_BPS,
    JAIN_INDEX,
    FCT_MEAN_S,
    FCT_P95_S,
    COMPLETED_FLOWS,
    REJECTED_FLOWS,
    DATAGRAM_LOSS_RATIO,
    R_FACTOR,
    QOO,
    PING_RPM,
    RESPONSIVENESS_RPM,
    STALL_RATIO,
)
#: Columns of a table of classes of traffic.
CLASS_SUMMARY = (
    GOODPUT_BPS,
    JAIN_INDEX,
    FCT_MEAN_S,
    FCT_P95_S,
    COMPLETED_FLOWS,
    REJECTED_FLOWS,
    RTT_P95_S,
    ONE_WAY_P95_S,
    DATAGRAM_LOSS_RATIO,
    R_FACTOR,
    QOO,
    PING_RPM,
    RESPONSIVENESS_RPM,
    FOREIGN_RPM,
    LOADED_RPM,
    STALL_RATIO,
    QUEUE_MEAN_PACKETS,
    SOJOURN_MEAN_S,
    SOJOURN_P95_S,
    DROP_RATIO,
    WIRE_LOSS_RATIO,
    MARK_RATIO,
)
#: Metrics of a short table of classes.
CLASS_BRIEF = (
    "goodput_bps",
    "fct_mean_s",
    "fct_p95_s",
    "completed_flows",
    "rejected_flows",
    "rtt_p95_s",
    "one_way_p95_s",
    "datagram_loss_ratio",
    "r_factor",
    "qoo",
    "ping_rpm",
    "responsiveness_rpm",
    "foreign_rpm",
    "loaded_rpm",
    "stall_ratio",
    "sojourn_p95_s",
    "drop_ratio",
    "wire_loss_ratio",
)
#: Metrics that older results lack.
LATER = (
    "rtt_p99_s",
    "rtt_p999_s",
    "filtered_ratio",
    "fct_geomean_s",
    "wire_loss_ratio",
    "one_way_p99_s",
    "one_way_p999_s",
    "datagram_loss_ratio",
    "r_factor",
    "qoo",
    "ping_rpm",
    "rtt_idle_s",
    "responsiveness_rpm",
    "foreign_rpm",
    "loaded_rpm",
    "tcp_f_s",
    "tls_f_s",
    "http_f_s",
    "http_l_s",
    "stall_ratio",
    "completed_flows",
    "rejected_flows",
)
#: Metrics of flows from end to end.
END_TO_END = (
    "rtt_mean_s",
    "rtt_p50_s",
    "rtt_p95_s",
    "rtt_p99_s",
    "rtt_p999_s",
    "rtt_max_s",
    "srtt_mean_s",
    "srtt_p50_s",
    "srtt_p95_s",
    "srtt_max_s",
    "goodput_bps",
    "jain_index",
    "fct_mean_s",
    "fct_geomean_s",
    "fct_p50_s",
    "fct_p95_s",
    "one_way_p50_s",
    "one_way_p95_s",
    "one_way_p99_s",
    "one_way_p999_s",
    "datagram_loss_ratio",
    "r_factor",
    "qoo",
    "ping_rpm",
    "rtt_idle_s",
    "responsiveness_rpm",
    "foreign_rpm",
    "loaded_rpm",
    "tcp_f_s",
    "tls_f_s",
    "http_f_s",
    "http_l_s",
    "stall_ratio",
    "completed_flows",
    "rejected_flows",
)
#: Metrics with an entry per stretch between changes.
LISTS = ("settling_s", "overshoot_packets")
#: All columns.
ALL = tuple(dict.fromkeys((*SUMMARY, *CLASS_SUMMARY)))
#: Meanings of the columns' metrics.
ABOUT = {
    "utilization": "bits delivered by the bottleneck over rate x time",
    "queue_mean_packets": "time-weighted mean backlog of the qdisc, the packet on the wire left out",
    "queue_std_packets": "time-weighted standard deviation of the backlog",
    "sojourn_mean_s": "mean time spent in the qdisc, over delivered packets",
    "sojourn_p95_s": "time in the qdisc that 95 % of the packets do not exceed",
    "rtt_p95_s": "round-trip time of the path that 95 % of the packets do not exceed",
    "drop_ratio": "packets dropped by the law and by overflow, over packets offered, both after the warm-up: packets held since before it count when they are dropped, so that a queue that starves may exceed 1",
    "mark_ratio": "packets marked over packets offered",
    "goodput_bps": "application data delivered, all flows together",
    "jain_index": "Jain's fairness index of the long-lived flows' goodput",
    "fct_mean_s": "mean completion time of the flows that end by themselves",
    "fct_p95_s": "completion time that 95 % of those flows do not exceed",
    "wire_loss_ratio": "packets lost on the wire, over packets that the link delivered to it",
    "one_way_p95_s": "time under way that 95 % of the datagrams do not exceed",
    "datagram_loss_ratio": "datagrams that did not arrive within a second (those of ping: did not come back), over datagrams sent",
    "r_factor": "R-factor of voip calls (E-model, ITU-T G.107): very good above 90, bad below 60",
    "qoo": "Quality of Outcome (draft-ietf-ippm-qoo) for the requirements of the class's application: 0 unacceptable, 100 optimal; of one class alone",
    "ping_rpm": "ping-RPM: 60 s over the mean round-trip time of pings; not the responsiveness of a test, which has probes of its own",
    "responsiveness_rpm": "responsiveness (draft-ietf-ippm-responsiveness-09), round trips a minute: mean of foreign_rpm and loaded_rpm",
    "foreign_rpm": "foreign responsiveness: 60 s over the mean of tcp_f_s, tls_f_s and http_f_s",
    "loaded_rpm": "loaded responsiveness: 60 s over http_l_s",
    "stall_ratio": "time that video players stalled, over the time that they stalled or played",
    "completed_flows": "transfers that ended by themselves, those of fct_mean_s",
    "rejected_flows": "flows rejected on arrival: the class was full",
}
#: Units of all metrics, last those that windows of time alone have.
UNITS = {
    "utilization": "1",
    "queue_mean_packets": "packets",
    "queue_std_packets": "packets",
    "queue_p50_packets": "packets",
    "queue_p95_packets": "packets",
    "queue_p99_packets": "packets",
    "queue_empty_ratio": "1",
    "sojourn_mean_s": "s",
    "sojourn_p50_s": "s",
    "sojourn_p95_s": "s",
    "sojourn_p99_s": "s",
    "rtt_mean_s": "s",
    "rtt_p50_s": "s",
    "rtt_p95_s": "s",
    "rtt_p99_s": "s",
    "rtt_p999_s": "s",
    "rtt_max_s": "s",
    "srtt_mean_s": "s",
    "srtt_p50_s": "s",
    "srtt_p95_s": "s",
    "srtt_max_s": "s",
    "drop_ratio": "1",
    "overflow_ratio": "1",
    "filtered_ratio": "1",
    "mark_ratio": "1",
    "goodput_bps": "bit/s",
    "jain_index": "1",
    "qacd_packets": "packets",
    "settling_s": "s",
    "overshoot_packets": "packets",
    "fct_mean_s": "s",
    "fct_geomean_s": "s",
    "fct_p50_s": "s",
    "fct_p95_s": "s",
    "bottleneck_packets": "packets",
    "wire_loss_ratio": "1",
    "one_way_p50_s": "s",
    "one_way_p95_s": "s",
    "one_way_p99_s": "s",
    "one_way_p999_s": "s",
    "datagram_loss_ratio": "1",
    "r_factor": "1",
    "qoo": "1",
    "ping_rpm": "RPM",
    "rtt_idle_s": "s",
    "responsiveness_rpm": "RPM",
    "foreign_rpm": "RPM",
    "loaded_rpm": "RPM",
    "tcp_f_s": "s",
    "tls_f_s": "s",
    "http_f_s": "s",
    "http_l_s": "s",
    "stall_ratio": "1",
    "completed_flows": "flows",
    "rejected_flows": "flows",
    "queue_p05_packets": "packets",
    "queue_p25_packets": "packets",
    "queue_p75_packets": "packets",
    "sojourn_p05_s": "s",
    "sojourn_p25_s": "s",
    "sojourn_p75_s": "s",
    "pdv_p50_s": "s",
    "pdv_p95_s": "s",
    "pdv_p99_s": "s",
    "offered_packets": "packets",
    "dropped_packets": "packets",
    "marked_packets": "packets",
    "itae_packets_s2": "packets s^2",
    "loss_events": "1",
    "loss_sync_ratio": "1",
    "loss_run_mean_packets": "packets",
    "loss_run_p95_packets": "packets",
    "loss_run_max_packets": "packets",
    "rtt_min_s": "s",
    "rtt_p05_s": "s",
    "rtt_p25_s": "s",
    "rtt_p75_s": "s",
    "rtt_geomean_s": "s",
    "one_way_pdv_p50_s": "s",
    "one_way_pdv_p95_s": "s",
    "one_way_pdv_p99_s": "s",
    "one_way_ipdv_mean_s": "s",
    "one_way_ipdv_p95_s": "s",
}
