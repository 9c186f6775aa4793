//! Recovery of one flow alone on its path: losses while it probes for its window, and responses to segments that are
//! late and not lost.

use sojourn_measure::Reading;
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

/// A base RTT of 50 ms.
const ONE: &str = r#"
title = "One flow under CoDel"
duration = "6 s"
warmup = "0 s"
[bottleneck]
rate = "50 Mbit/s"
delay = "5 ms"
buffer = "1000 packets"
qdisc = "codel"
[[flows]]
count = 1
tcp = { sack = true, timestamps = true }
access = { rate = "1 Gbit/s", delay = "10 ms" }
start = "0 s"
"#;

const CONTROLS: [&str; 3] = ["newreno", "cubic", "cubic:hystart=false"];

/// A metric of one run.
fn metric(name: &str, settings: &[(&str, &str)]) -> f64 {
    let settings: Vec<(String, String)> =
        settings.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario =
        Scenario::parse(ONE.as_bytes(), "test", &settings).unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Run::new(&scenario, 1);
    while run.advance() {}
    let outcome = run.finish().links.remove(0);
    match outcome.all.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Reading::Number(value)) => *value,
        other => panic!("{name} is {other:?}"),
    }
}

/// Packets dropped in the six seconds; every run sends some 25 000.
fn drops(settings: &[(&str, &str)]) -> f64 {
    let (ratio, sent) = (metric("drop_ratio", settings), metric("bottleneck_packets", settings));
    (ratio / (1.0 - ratio) * sent).round()
}

/// Nothing is late, so that all losses are genuine: detection of spurious retransmissions costs no packet.
#[test]
fn nothing_is_undone_where_nothing_is_late() {
    for (cc, scheme) in CONTROLS.iter().flat_map(|cc| ["rack", "dupacks"].map(|scheme| (*cc, scheme))) {
        let with = |undo, timestamps| {
            drops(&[
                ("flows.0.cc", cc),
                ("flows.0.tcp.loss_detection", scheme),
                ("flows.0.tcp.undo", undo),
                ("flows.0.tcp.timestamps", timestamps),
            ])
        };
        let (plain, watchful, unstamped) =
            (with("false", "true"), with("true", "true"), with("true", "false"));
        assert!(watchful <= plain + 1.0, "{cc}, {scheme}: {watchful} drops where undo = false has {plain}");
        assert!(
            unstamped <= plain + 1.0,
            "{cc}, {scheme}: {unstamped} drops without timestamps, {plain} with them"
        );
    }
}

/// Recovery by RFC 6675 starts again where it ended with data SACKed beyond its end. ns-3 3.44's CUBIC drops 18 packets
/// here.
#[test]
fn a_second_recovery_reduces_the_window_again() {
    for cc in CONTROLS {
        let seen = drops(&[("flows.0.cc", cc), ("flows.0.tcp.loss_detection", "dupacks")]);
        assert!(seen <= 30.0, "{cc}: {seen} drops");
    }
}

/// A hundredth of the segments is 12 ms late, a quarter of the round trip, and nothing is lost. Before RACK has seen
/// reordering, and for RFC 6675 always, three later segments make a late one a loss: the undo keeps the window.
#[test]
fn reductions_for_late_segments_are_undone() {
    // By timestamps, and by D-SACKs alone, which arrive a round trip later and help RACK anyway, as they widen its
    // window (RFC 8985, section 6.2).
    let ways =
        [("true", "rack", 2.0), ("true", "dupacks", 2.0), ("false", "rack", 1.0), ("false", "dupacks", 1.5)];
    for cc in CONTROLS {
        for (timestamps, scheme, gain) in ways {
            let with = |undo| {
                metric(
                    "goodput_bps",
                    &[
                        ("flows.0.cc", cc),
                        ("flows.0.tcp.loss_detection", scheme),
                        ("flows.0.tcp.undo", undo),
                        ("flows.0.tcp.timestamps", timestamps),
                        ("bottleneck.qdisc", "tail_drop"),
                        ("bottleneck.impairments", "{ reorder = { probability = 0.01, late = '12 ms' } }"),
                        ("flows.0.tcp.receive_window", "200"),
                    ],
                )
            };
            let (without, undone) = (with("false"), with("true"));
            assert!(
                undone > gain * without,
                "{cc}, {scheme}, timestamps {timestamps}: {undone} bit/s, {without} with undo = false"
            );
        }
    }
}
