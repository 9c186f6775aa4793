//! Measurements by class at several links: sums and Little's law.

use sojourn_measure::{LinkOutcome, Outcome, Reading, Row};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

/// `far` crosses both links, `near` and `random` one each, `against` none in this direction.
const CHAIN: &str = r#"
title = "Three classes on two links"
duration = "60 s"
warmup = "5 s"
sample = "0.7 s"
[[links]]
from = "a"
to = "b"
rate = "8 Mbit/s"
delay = "5 ms"
buffer = "60 packets"
qdisc = { law = "red", min = "10 packets", max = "40 packets" }
[[links]]
from = "b"
to = "c"
rate = "6 Mbit/s"
delay = "5 ms"
buffer = "40 packets"
qdisc = "tail_drop"
[[flows]]
name = "far"
count = 6
ecn = true
from = "a"
to = "c"
[[flows]]
name = "near"
count = 3
from = "a"
to = "b"
[[flows]]
name = "random"
app = { poisson = { rate = "1.5 Mbit/s" } }
segment = "500 B"
from = "b"
to = "c"
[[flows]]
name = "against"
count = 2
app = { bulk = { reads = "200 kbit/s" } }
from = "c"
to = "a"
"#;

fn run(text: &str) -> Outcome {
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Run::new(&scenario, 4);
    while run.advance() {}
    run.finish()
}

fn number(row: &Row, name: &str) -> f64 {
    match &row.metrics.iter().find(|(key, _)| *key == name).unwrap().1 {
        Reading::Number(value) => *value,
        other => panic!("{name} is {other:?}"),
    }
}

fn near(one: f64, other: f64, share: f64) -> bool {
    (one - other).abs() <= share * one.abs().max(other.abs())
}

#[test]
fn a_class_has_rows_at_the_links_of_its_data() {
    let links = run(CHAIN).links;
    let names: Vec<(&str, Vec<&str>)> = links
        .iter()
        .map(|link| (&link.link[..], link.classes.iter().map(|(name, _)| &name[..]).collect()))
        .collect();
    assert_eq!(names, [("a-b", vec!["far", "near"]), ("b-c", vec!["far", "random"])]);
}

/// The acknowledgments of a class in the other direction are packets of the link and of no class.
#[test]
fn the_packets_of_the_classes_add_up_to_those_of_the_link() {
    for LinkOutcome { link, all, classes, .. } in run(&CHAIN.replace("count = 2", "count = 1")).links {
        let sum = |name| classes.iter().map(|(_, row)| number(row, name)).sum::<f64>();
        let acks = number(&all, "bottleneck_packets") - sum("bottleneck_packets");
        assert!(
            acks > 0.0 && acks < 0.2 * number(&all, "bottleneck_packets"),
            "{link}: {acks} acknowledgments"
        );
        assert!(number(&all, "queue_mean_packets") > sum("queue_mean_packets"), "{link}");
        assert_eq!(number(&all, "goodput_bps"), sum("goodput_bps"), "{link}");
        let share = |row: &Row, name| number(row, name) * row.balance.unwrap().offered as f64;
        assert!(classes.iter().all(|(_, row)| row.balance.unwrap().offered > 2000), "{link}");
        assert!(classes.iter().any(|(_, row)| share(row, "drop_ratio") > 10.0), "{link}");
    }
    let without = CHAIN.split("[[flows]]\nname = \"against\"").next().unwrap();
    for LinkOutcome { link, all, classes, .. } in run(without).links {
        let sum = |name| classes.iter().map(|(_, row)| number(row, name)).sum::<f64>();
        assert_eq!(number(&all, "bottleneck_packets"), sum("bottleneck_packets"), "{link}");
        assert!(near(number(&all, "queue_mean_packets"), sum("queue_mean_packets"), 1e-9), "{link}");
        let count = |of: fn(&Row) -> u64| classes.iter().map(|(_, row)| of(row)).sum::<u64>();
        assert_eq!(all.balance.unwrap().offered, count(|row| row.balance.unwrap().offered), "{link}");
        assert_eq!(all.balance.unwrap().dropped, count(|row| row.balance.unwrap().dropped), "{link}");
        assert_eq!(all.balance.unwrap().held, count(|row| row.balance.unwrap().held), "{link}");
    }
}

/// Metrics of flows are the same at every link; metrics of packets belong to one link.
#[test]
fn a_class_has_one_goodput_and_one_round_trip_at_all_links() {
    let links = run(CHAIN).links;
    let [first, second] = [0, 1].map(|link| &links[link].classes[0].1);
    for name in ["goodput_bps", "jain_index", "rtt_p50_s", "rtt_p95_s"] {
        assert_eq!(number(first, name), number(second, name), "{name}");
    }
    assert_ne!(number(first, "sojourn_mean_s"), number(second, "sojourn_mean_s"));
    assert_eq!(number(&links[0].classes[1].1, "mark_ratio"), 0.0, "without ECN");
    assert!(number(first, "mark_ratio") > 0.0);
    for (link, class) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (name, row) = &links[link].classes[class];
        let (_, rates) = links[link].series.goodput_bps.iter().find(|(key, _)| key == name).unwrap();
        let time = &links[link].series.time_s;
        assert_eq!((rates.len(), time.len()), (86, 86));
        // 5 s of warm-up are in the series, not in the metric; the last step is shorter.
        let bits = |from: f64| {
            let starts = std::iter::once(&0.0).chain(time);
            let steps = starts.zip(time).zip(rates).filter(|((start, _), _)| **start >= from);
            steps.map(|((start, end), rate)| rate * (end - start)).sum::<f64>()
        };
        let measured = number(row, "goodput_bps") * 55.0;
        assert!(bits(4.2) >= measured && bits(5.5) <= measured, "{name}");
    }
}

/// Little: the mean backlog is the rate of admitted packets times their mean sojourn; of all packets, and of each
/// class.
#[test]
fn littles_law_holds_for_every_class_at_every_link() {
    for LinkOutcome { link, all, classes, .. } in run(CHAIN).links {
        let rows = classes.iter().map(|(name, row)| (&name[..], row)).chain([("all", &all)]);
        for (name, row) in rows {
            let delivered = number(row, "bottleneck_packets") / 55.0;
            let (backlog, sojourn) = (number(row, "queue_mean_packets"), number(row, "sojourn_mean_s"));
            // Packets held at either end of the measurement: 60 at most, for the 90 ms that they take on the wire at
            // most. (`traffic_theory` has it to the nanosecond.)
            println!("{link}, {name}: {backlog:.3} packets, {:.3}", delivered * sojourn);
            assert!((backlog - delivered * sojourn).abs() < 60.0 * 0.09 / 55.0, "{link}, {name}");
        }
    }
}

/// A single class would repeat the row of the link.
#[test]
fn a_single_class_has_no_row() {
    let one = CHAIN.split("[[flows]]\nname = \"near\"").next().unwrap();
    let Outcome { links, elsewhere, .. } = run(one);
    assert!(elsewhere.classes.is_empty());
    for link in links {
        assert!(link.classes.is_empty() && link.series.goodput_bps.is_empty());
        assert!(number(&link.all, "goodput_bps") > 5e6);
    }
}

/// No qdisc sees `against`: its row has metrics of flows and none of a queue.
#[test]
fn a_class_that_crosses_no_qdisc_has_metrics_of_flows() {
    let Outcome { links, elsewhere, .. } = run(CHAIN);
    let [(name, Row { metrics, .. })] = &elsewhere.classes[..] else { panic!("{:?}", elsewhere.classes) };
    assert_eq!(name, "against");
    let metric = |name| &metrics.iter().find(|(key, _)| *key == name).unwrap().1;
    // Two applications read 200 kbit/s each.
    assert!(matches!(metric("goodput_bps"), Reading::Number(got) if near(*got, 400e3, 1e-3)), "{metrics:?}");
    assert_eq!(metric("jain_index"), &Reading::Number(1.0));
    assert!(matches!(metric("rtt_p50_s"), Reading::Number(time) if *time >= 0.02));
    for name in ["utilization", "queue_mean_packets", "sojourn_p95_s", "drop_ratio", "bottleneck_packets"] {
        assert_eq!(metric(name), &Reading::Absent, "{name}");
    }
    assert_eq!(metrics.len(), links[0].all.metrics.len());
    let columns: Vec<(String, usize)> =
        elsewhere.series.columns().map(|(name, values)| (name, values.len())).collect();
    assert_eq!(columns, [("time_s".into(), 86), ("goodput_bps.against".into(), 86)]);
}

/// The same of a single class in the other direction; the link has no metrics of flows.
#[test]
fn a_single_class_that_crosses_no_qdisc_has_a_row() {
    let against = CHAIN.split("[[flows]]").nth(4).unwrap();
    let one = format!("{}[[flows]]{against}", CHAIN.split("[[flows]]").next().unwrap());
    let Outcome { links, elsewhere, .. } = run(&one);
    assert_eq!(elsewhere.classes.len(), 1);
    for LinkOutcome { all, classes, .. } in links {
        assert!(classes.is_empty());
        assert_eq!(all.metrics.iter().find(|(key, _)| *key == "goodput_bps").unwrap().1, Reading::Absent);
    }
}
