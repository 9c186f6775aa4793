//! `rtt_*` is of the path alone: base, transmissions and queues, packet by packet. `srtt_*` is the senders' estimate,
//! which includes the wait for acknowledgments.

use sojourn_measure::{LinkOutcome, Reading};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

/// 2 (20 + 2 x 15) ms; 1000 B at 8 Gbit/s, 8 Mbit/s and 8 Gbit/s take 0.001 + 1 + 0.001 ms.
const BASE_S: f64 = 0.100 + 0.001_002;
const FLOWS: &str = r#"
title = "Flows on one link"
duration = "30 s"
warmup = "5 s"
[bottleneck]
rate = "8 Mbit/s"
delay = "20 ms"
buffer = "100 packets"
[[flows]]
count = 10
segment = "1000 B"
access = { rate = "8 Gbit/s", delay = "15 ms" }
"#;

fn run(overrides: &[(&str, &str)]) -> LinkOutcome {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario =
        Scenario::parse(FLOWS.as_bytes(), "test", &overrides).unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Run::new(&scenario, 1);
    while run.advance() {}
    run.finish().links.remove(0)
}

fn number(outcome: &LinkOutcome, name: &str) -> f64 {
    match outcome.all.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Reading::Number(value)) => *value,
        other => panic!("{name} is {other:?}"),
    }
}

/// The path of all packets on average: base, transmissions and sojourn; the ACK's 40 B take 0.04 ms at 8 Mbit/s. Segments
/// that one ACK lets out hardly wait for each other on so fast an access link.
fn path(outcome: &LinkOutcome) -> f64 {
    BASE_S + 0.000_040 + number(outcome, "sojourn_mean_s")
}

/// The first packet waits for its acknowledgment until the receiver's timer expires. The path excludes that wait; the
/// sender's estimate has an eighth of it, since the handshake was its first measurement (RFC 6298, section 2.3).
#[test]
fn the_wait_for_an_acknowledgment_is_in_srtt_alone() {
    for (delay, wait_s, end) in [("40 ms", 0.04, "0.25 s"), ("90 ms", 0.09, "0.3 s")] {
        let lone = [
            ("flows.0.count", "1"),
            ("flows.0.start", "0 s"),
            ("flows.0.tcp.initial_window", "1"),
            ("warmup", "0 s"),
        ];
        let outcome = run(&[&lone[..], &[("flows.0.tcp.ack_delay", delay), ("duration", end)]].concat());
        let (path, seen) = (path(&outcome), number(&outcome, "rtt_mean_s"));
        assert!((seen - path).abs() < 1e-6, "{delay}: {seen} against {path}");
        assert_eq!([number(&outcome, "rtt_max_s"), number(&outcome, "sojourn_mean_s")], [seen, 0.0]);
        let share = 8.0 * (number(&outcome, "srtt_mean_s") - path);
        assert!((share - wait_s).abs() < 0.01, "{delay}: {share}");
    }
}

/// The mean is base, transmissions and mean sojourn, to two thousandths, under every profile and for every number of
/// packets per acknowledgment; the senders' estimates are not.
#[test]
fn the_mean_is_that_of_the_path_under_every_profile() {
    let profiles: [&[(&str, &str)]; 4] = [
        &[("flows.0.profile", "ns2")],
        &[("flows.0.profile", "ns3")],
        &[("flows.0.profile", "default")],
        &[("flows.0.profile", "default"), ("flows.0.tcp.timestamps", "true")],
    ];
    let profiles = profiles.iter().map(|profile| (format!("{profile:?}"), run(profile)));
    let counts = (2..=16).map(|count: u8| {
        let every = count.to_string();
        let outcome = run(&[("flows.0.tcp.ack_every", &every), ("flows.0.tcp.ack_delay", "400 ms")]);
        (format!("ack_every = {every}"), outcome)
    });
    let over: Vec<f64> = profiles
        .chain(counts)
        .map(|(setting, outcome)| {
            let (path, seen) = (path(&outcome), number(&outcome, "rtt_mean_s"));
            assert!((seen / path - 1.0).abs() < 0.002, "{setting}: {seen} against {path}");
            let median = BASE_S + number(&outcome, "sojourn_p50_s");
            assert!((number(&outcome, "rtt_p50_s") / median - 1.0).abs() < 0.03);
            number(&outcome, "srtt_mean_s") / seen - 1.0
        })
        .collect();
    // With eight packets to an ACK, some wait long.
    assert!(over[0] < 0.1 && over[4 + 6] > 0.2, "{over:?}");
}

/// Chunks of a few segments, each of which finds an empty queue and leaves one: packets at every place of a chunk are
/// timed.
#[test]
fn every_place_in_a_group_of_packets_is_measured() {
    for segments in 1..=16_u32 {
        let rate = format!("[\"{} kbit/s\"]", f64::from(segments) * 7.68);
        let outcome = run(&[
            ("flows.0.count", "1"),
            ("flows.0.app.video.ladder", &rate),
            ("flows.0.app.video.chunk", "1 s"),
            ("bottleneck.rate", "2 Mbit/s"),
            ("duration", "1000 s"),
        ]);
        let path = path(&outcome) + 0.003 + 0.00012;
        let seen = number(&outcome, "rtt_mean_s");
        assert!((seen / path - 1.0).abs() < 0.01, "{segments} segments: {seen} against {path}");
        assert!(number(&outcome, "rtt_p95_s") <= number(&outcome, "rtt_max_s"), "{segments} segments");
    }
}
