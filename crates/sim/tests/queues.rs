//! Measurements by queue of qdiscs of several: by hand, and their sums.

use sojourn_measure::{LinkOutcome, QueueOutcome, Reading, Row};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

/// Three streams, each a packet of 10 ms every 40 ms, that arrive together in this order.
const STREAMS: &str = r#"
title = "Three streams"
duration = "4.025 s"
warmup = "25 ms"
sample = "0.5 s"
[[links]]
name = "slow"
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"
buffer = "100 packets"
qdisc = "tail_drop"
[[flows]]
name = "first"
from = "a"
to = "b"
app = { cbr = { rate = "250 kbit/s", size = "1250 B" } }
start = "0 s"
[[flows]]
name = "second"
from = "a"
to = "b"
app = { cbr = { rate = "250 kbit/s", size = "1250 B" } }
start = "0 s"
[[flows]]
name = "urgent"
from = "a"
to = "b"
app = { cbr = { rate = "250 kbit/s", size = "1250 B" } }
dscp = "EF"
start = "0 s"
"#;

/// Flows of every ECN codepoint and of several DSCPs, with ACKs at both links.
const HOME: &str = r#"
title = "A home"
duration = "12 s"
warmup = "2 s"
sample = "0.7 s"
[home]
up   = { rate = "4 Mbit/s", delay = "8 ms", buffer = "60 KiB", qdisc = "tail_drop" }
down = { rate = "20 Mbit/s", delay = "8 ms", buffer = "120 KiB", qdisc = "tail_drop" }
[[flows]]
name = "call"
app = "voip"
dscp = "EF"
[[flows]]
name = "upload"
cc = "cubic"
count = 2
[[flows]]
name = "scalable"
from = "isp"
to = "lan"
cc = "dctcp"
ect1 = true
[[flows]]
name = "download"
from = "isp"
to = "lan"
cc = "cubic"
ecn = true
count = 3
[[flows]]
name = "backup"
from = "isp"
to = "lan"
cc = "reno"
dscp = "CS1"
"#;

fn run(text: &str, qdisc: &str) -> Vec<LinkOutcome> {
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let scenario = scenario.with_qdisc(qdisc).unwrap_or_else(|errors| panic!("{qdisc}: {errors}"));
    let mut run = Run::new(&scenario, 4);
    while run.advance() {}
    run.finish().links
}

fn number(row: &Row, name: &str) -> f64 {
    match &row.metrics.iter().find(|(key, _)| *key == name).unwrap().1 {
        Reading::Number(number) => *number,
        other => panic!("{name}: {other:?}"),
    }
}

fn queue<'a>(link: &'a LinkOutcome, name: &str) -> &'a QueueOutcome {
    let names: Vec<&str> = link.queues.iter().map(|queue| &queue.name[..]).collect();
    link.queues.iter().find(|queue| queue.name == name).unwrap_or_else(|| panic!("{name} among {names:?}"))
}

/// Every 40 ms: `first` passes at once, `urgent` waits for it, 10 ms, and `second` for both, 20 ms.
#[test]
fn bands_have_their_own_packets() {
    let links = run(STREAMS, "prio:order=[urgent]");
    let [urgent, others] = ["urgent", "others"].map(|name| &queue(&links[0], name).row);
    let both = |name| [urgent, others].map(|row| number(row, name));
    assert_eq!(both("bottleneck_packets"), [100.0, 200.0]);
    assert_eq!(both("queue_mean_packets"), [0.25, 0.5]);
    assert_eq!(both("sojourn_mean_s"), [0.01, 0.01]);
    let spread = |name| &queue(&links[0], name).sojourn_distribution;
    assert_eq!((spread("urgent").len(), spread("others").len()), (1, 2));
    assert!(run(STREAMS, "tail_drop")[0].queues.is_empty(), "one queue has no name");
}

/// The tin of a packet by tc-cake(8); a tin without packets has no row.
#[test]
fn tins_are_named_as_in_the_manual_page() {
    let names = |qdisc| {
        let link = run(STREAMS, qdisc).remove(0);
        link.queues.into_iter().map(|queue| queue.name).collect::<Vec<_>>()
    };
    assert_eq!(names("cake"), ["best_effort", "voice"]);
    assert_eq!(names("cake:diffserv=diffserv8"), ["tin_2", "tin_6"]);
    assert!(names("cake:diffserv=besteffort").is_empty());
    assert_eq!(names("shaper:rate=900 kbit/s,qdisc=cake"), ["best_effort", "voice"]);
}

/// ECT(1) and CE go to L (RFC 9332, section 2.5.1.1 and Appendix A.1); a packet that C marks stays one of C. Of the scalable
/// flow SYN, ACK and retransmissions are not ECN-capable (RFC 3168, sections 6.1.1 to 6.1.5), and in C.
#[test]
fn the_dual_queue_has_the_packets_of_each_half() {
    let down = &run(HOME, "dual")[1];
    let [l, c] = ["L", "C"].map(|name| &queue(down, name).row);
    let scalable = &down.classes.iter().find(|(name, _)| name == "scalable").unwrap().1;
    let offered = |row: &Row| row.balance.unwrap().offered;
    assert!((1..=6).contains(&(offered(scalable) - offered(l))), "{} of {}", offered(l), offered(scalable));
    assert!(number(l, "mark_ratio") > number(c, "mark_ratio") && number(c, "mark_ratio") > 0.0);
    assert!(number(l, "sojourn_mean_s") < 0.2 * number(c, "sojourn_mean_s"));
}

/// Each packet is in one queue: counts, backlogs and marks of the queues add up to those of the link, in sum and in each step.
#[test]
fn queues_add_up_to_the_link() {
    for qdisc in QDISCS {
        for LinkOutcome { link, all, queues, series, .. } in run(HOME, qdisc) {
            assert!(queues.len() > 1 || link == "up", "{qdisc} at {link}: {} queues", queues.len());
            let (whole, close) =
                (all.balance.unwrap(), |one: f64, other: f64| (one - other).abs() < 1e-6 * other.max(1.0));
            let counts = |row: &Row| {
                let packets = row.balance.unwrap();
                [packets.offered, packets.delivered, packets.dropped, packets.held]
            };
            let rows = || queues.iter().map(|queue| &queue.row);
            let sums =
                rows().map(counts).fold([0; 4], |sums, counts| [0, 1, 2, 3].map(|at| sums[at] + counts[at]));
            assert_eq!(
                sums,
                [whole.offered, whole.delivered, whole.dropped, whole.held],
                "{qdisc} at {link}"
            );
            for name in ["queue_mean_packets", "bottleneck_packets"] {
                let sum = rows().map(|row| number(row, name)).sum();
                assert!(close(sum, number(&all, name)), "{qdisc} at {link}: {name}");
            }
            for (step, whole) in series.queue_packets.iter().enumerate() {
                let sum = series.queues.iter().map(|queue| queue.packets[step]).sum();
                assert!(close(sum, *whole), "{qdisc} at {link}, step {step}: {sum} of {whole}");
            }
            assert_eq!(series.active_queues.is_empty(), qdisc == "dual", "{qdisc}");
        }
    }
}

/// Flows of a class are a group of hashed queues. Their packets are those of the class, and at a link that they cross with
/// ACKs alone, these.
#[test]
fn hashed_queues_are_in_groups_of_classes() {
    let links = run(HOME, "fq_codel");
    for (LinkOutcome { classes, queues, .. }, number_of_queues) in links.iter().zip([5, 4]) {
        assert_eq!(queues.len(), number_of_queues);
        for (class, row) in classes {
            let queue = &queues.iter().find(|queue| queue.name == *class).unwrap().row;
            assert_eq!(queue.balance, row.balance, "{class}");
            assert_eq!(number(queue, "sojourn_p99_s"), number(row, "sojourn_p99_s"), "{class}");
        }
    }
    let names = |link: &LinkOutcome| link.queues.iter().map(|queue| queue.name.clone()).collect::<Vec<_>>();
    let reserved = run(HOME, "drr:reserved.classes=[call],reserved.rate=200 kbit/s");
    assert_eq!(names(&reserved[0]), ["reserved", "upload", "scalable", "download", "backup"]);
}

#[test]
fn names_are_apart() {
    let text = HOME.replace("\"upload\"", "\"reserved\"");
    let links = run(&text, "drr:reserved.classes=[call],reserved.rate=200 kbit/s");
    let names: Vec<&str> = links[0].queues.iter().map(|queue| &queue.name[..]).collect();
    assert_eq!(names[..2], ["reserved", "reserved_1"]);
}

/// Qdiscs of several queues with names.
const QDISCS: [&str; 12] = [
    "fq_codel",
    "drr:by=class",
    "drr:by=ecn,law=pie",
    "drr:reserved.classes=[call],reserved.rate=200 kbit/s",
    "wfq:by=dscp",
    "wfq:clock=start_time,by=to_host",
    "prio",
    "prio:order=[call, download]",
    "dual",
    "cake",
    "cake:diffserv=diffserv4,bandwidth=3 Mbit/s",
    "shaper:rate=3 Mbit/s,qdisc=fq_codel",
];
