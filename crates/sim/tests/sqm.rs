//! SQM in the plant: shares by utility, mice beside elephants, a flow that comes and goes.

use sojourn_measure::{LinkOutcome, Reading, Row};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

/// Two floods of twice the link's rate, 40 ms and 120 ms from end to end and back.
const FLOODS: &str = r#"
title = "Two floods"
duration = "40 s"
warmup = "10 s"
[bottleneck]
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "1000 packets"
[[flows]]
name = "near"
app = { cbr = { rate = "40 Mbit/s" } }
access = { rate = "100 Mbit/s", delay = "7.5 ms" }
[[flows]]
name = "far"
app = { cbr = { rate = "40 Mbit/s" } }
access = { rate = "100 Mbit/s", delay = "27.5 ms" }
"#;

/// A link of so many Mbit/s, ms and packets, for so many s, of which some are its warm-up.
fn link([rate, delay, buffer]: [u32; 3], [duration, warmup]: [u32; 2]) -> String {
    format!(
        "title = \"A link\"\nduration = \"{duration} s\"\nwarmup = \"{warmup} s\"\n[bottleneck]\n\
         rate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\nbuffer = \"{buffer} packets\"\n"
    )
}

/// So many flows with these keys, behind an access of so many Mbit/s and ms.
fn flows(count: u32, keys: &str, [rate, delay]: [u32; 2]) -> String {
    format!(
        "[[flows]]\ncount = {count}\n{keys}\naccess = {{ rate = \"{rate} Mbit/s\", delay = \"{delay} ms\" }}\n"
    )
}

/// A change of a key at a time, s.
fn at(seconds: u32, key: &str, value: &str) -> String {
    format!("[[at]]\ntime = \"{seconds} s\"\nset = {{ \"{key}\" = \"{value}\" }}\n")
}

const RATE: &str = "bottleneck.rate";
const NEWRENO: &str = "cc = \"newreno\"";
const DCTCP: &str = "cc = \"dctcp\"\necn = true";
const FLOOD: &str = "app = { cbr = { rate = \"40 Mbit/s\" } }";

fn run(text: &str, qdisc: &str) -> LinkOutcome {
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let scenario = scenario.with_qdisc(qdisc).unwrap_or_else(|errors| panic!("{qdisc}: {errors}"));
    let mut run = Run::new(&scenario, 1);
    while run.advance() {}
    run.finish().links.remove(0)
}

fn number(row: &Row, name: &str) -> f64 {
    match row.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Reading::Number(value)) => *value,
        other => panic!("{name} is {other:?}"),
    }
}

/// Goodput of each class, Mbit/s.
fn goodputs(text: &str, qdisc: &str) -> Vec<f64> {
    let classes = run(text, qdisc).classes;
    classes.iter().map(|(_, row)| number(row, "goodput_bps") / 1e6).collect()
}

/// With w_i = 2 / D_i^2 and alpha = 2 the rates of the greatest utility are as 1 / D_i: three to one; with equal weights, equal.
/// With w_i = 2 / D_i^2 and alpha = 1 they are nine to one.
#[test]
fn floods_have_the_rates_of_the_greatest_utility() {
    for (spec, ratio) in [
        ("sqm", 3.0),
        ("sqm:scheduler=wfq", 3.0),
        ("sqm:find=elephant_trap", 3.0),
        ("sqm:find=hash", 3.0),
        ("sqm:step=newton,period=500 ms,queues=16", 3.0),
        ("sqm:utility=equal", 1.0),
        ("sqm:alpha=max_min", 1.0),
        ("sqm:alpha=1", 9.0),
        ("sqm:utility=equal,weights.near=4", 2.0),
    ] {
        let rates = goodputs(FLOODS, spec);
        let found = rates[0] / rates[1];
        assert!((found / ratio - 1.0).abs() < 0.05, "{spec}: {found} in place of {ratio}, {rates:?}");
    }
}

/// A hundred flows on 5 Mbit/s: none has the packets for a queue of its own for long, and some at times.
#[test]
fn flows_too_slow_for_a_queue_have_their_share() {
    let slow = link([5, 10, 200], [40, 10]) + &flows(100, NEWRENO, [1000, 20]);
    let measured = |qdisc| run(&slow, qdisc).all;
    let jain = number(&measured("sqm:form=pi,elephant=64kB"), "jain_index");
    assert!(jain > 0.85, "{jain}");
    // The bound keeps the delay short; timeouts make the rates of these flows unequal.
    let bounded = measured("sqm");
    assert!(number(&bounded, "jain_index") > 0.45);
    assert!(number(&bounded, "queue_mean_packets") < 4.2);
}

/// Weights, utility, target and period change in a run; where packets wait does not.
#[test]
fn parameters_change_during_a_run() {
    let with = |set: &str| {
        let sqm = FLOODS
            .replace("buffer =", "qdisc = \"sqm\"\nbuffer =")
            .replace("warmup = \"10 s\"", "warmup = \"20 s\"");
        format!("{sqm}[[at]]\ntime = \"10 s\"\nset = {{ {set} }}\n")
    };
    let text = with(
        "\"bottleneck.qdisc.utility\" = \"equal\", \"bottleneck.qdisc.weights.far\" = 4, \"bottleneck.qdisc.period\" = \"1 s\"",
    );
    let rates = goodputs(&text, "sqm");
    assert!((rates[1] / rates[0] - 2.0).abs() < 0.1, "{rates:?}");
    for (set, message) in [
        ("\"bottleneck.qdisc.queues\" = 16", "queues: is fixed"),
        ("\"bottleneck.qdisc.find\" = \"hash\"", "find: is fixed"),
        ("\"bottleneck.qdisc.scheduler\" = \"wfq\"", "scheduler: is fixed"),
        ("\"bottleneck.qdisc.reserved.law\" = \"pie\"", "is fixed"),
        ("\"bottleneck.qdisc.reserved.rate\" = \"20 Mbit/s\"", "is not below the rate of the link"),
        ("\"bottleneck.qdisc.alpha\" = -1", "expected 0, 0.1 to 8, or \"max_min\""),
        ("\"bottleneck.qdisc.limit\" = 1000", "below a packet for each of 1024 queues"),
        ("\"bottleneck.qdisc.utilty\" = \"equal\"", "did you mean \"utility\"?"),
    ] {
        let error = Scenario::parse(with(set).as_bytes(), "test", &[]).unwrap_err().to_string();
        assert!(error.contains("at[0].set.bottleneck.qdisc.") && error.contains(message), "{error}");
    }
}

/// Packets wait in queues without a share, as none came in the last period, when the link becomes so slow that its flows overload
/// it.
#[test]
fn an_overload_ends_where_no_flow_has_a_share() {
    let text = link([20, 20, 1000], [20, 1])
        + "qdisc = { sqm = { period = \"100 ms\" } }\n"
        + &flows(6, NEWRENO, [1000, 10])
        + &at(5, RATE, "1 kbit/s")
        + &at(10, RATE, "0.2 Mbit/s");
    assert!(number(&run(&text, "sqm:period=100ms").all, "utilization") > 0.5);
}

/// DCTCP answers many marks, and hardly one.
#[test]
fn dctcp_is_marked_and_not_dropped() {
    let text = link([20, 10, 400], [30, 10]) + &flows(4, DCTCP, [1000, 10]);
    let found = run(&text, "sqm").all;
    assert!(number(&found, "utilization") > 0.95 && number(&found, "mark_ratio") > 0.01);
    assert!(number(&found, "drop_ratio") < 0.001);
}

/// Its queue is marked from a threshold on: CUBIC beside it has its share.
#[test]
fn dctcp_has_no_more_than_others() {
    let text = link([50, 5, 1000], [40, 10])
        + &flows(10, DCTCP, [1000, 15])
        + &flows(10, "cc = \"cubic\"", [1000, 15]);
    let found = run(&text, "sqm:utility=equal").all;
    assert!(number(&found, "jain_index") > 0.97, "{}", number(&found, "jain_index"));
    assert!(number(&found, "utilization") > 0.99, "{}", number(&found, "utilization"));
}

/// A flood is held to a share of the rate also where its queue alone is never empty, among flows of short windows.
#[test]
fn a_flood_among_short_windows_is_held() {
    let text = link([20, 5, 1000], [40, 10]) + &flows(100, NEWRENO, [1000, 5]) + &flows(1, FLOOD, [1000, 5]);
    let rates = goodputs(&text, "sqm:utility=equal");
    assert!(rates[1] < 2.0, "{rates:?}");
}

/// Its share is 1.8 Mbit/s.
#[test]
fn a_flood_with_ecn_is_found() {
    let text = link([20, 5, 1000], [40, 20])
        + &flows(10, NEWRENO, [1000, 15])
        + &flows(1, &format!("{FLOOD}\necn = true"), [1000, 15]);
    let rates = goodputs(&text, "sqm:utility=equal");
    let found = run(&text, "sqm:utility=equal").all;
    assert!((1.7..2.1).contains(&rates[1]), "{rates:?}");
    assert!(number(&found, "queue_mean_packets") < 12.0, "{}", number(&found, "queue_mean_packets"));
}

/// 60 flows with ECN have less than a packet a round trip: a mark makes a sender wait for its timer (RFC 3168, section 6.1.2).
#[test]
fn short_windows_are_bounded() {
    let text = link([10, 4, 208], [30, 15]) + &flows(60, &format!("{NEWRENO}\necn = true"), [100, 8]);
    let found = run(&text, "sqm").all;
    assert!(number(&found, "mark_ratio") < 0.001, "{}", number(&found, "mark_ratio"));
    assert!(number(&found, "utilization") > 0.98, "{}", number(&found, "utilization"));
    assert!(number(&found, "sojourn_mean_s") < 0.01);
}

/// The integral of a price counts an overshoot as three times an empty queue at most.
#[test]
fn prices_of_equal_flows_do_not_oscillate() {
    let text = link([20, 8, 416], [40, 20]) + &flows(10, NEWRENO, [200, 16]);
    let found = run(&text, "sqm:form=pi").all;
    assert!(number(&found, "utilization") > 0.95, "{}", number(&found, "utilization"));
    assert!(number(&found, "sojourn_mean_s") < 0.012);
}

/// UDP that is on for half of the time, at 1.5 times the link: its queue is bounded by its share, as a pause is no answer.
#[test]
fn a_source_that_pauses_does_not_delay_others() {
    let text = link([20, 8, 416], [40, 20])
        + &flows(4, NEWRENO, [200, 16])
        + &flows(2, "app = { on_off = { rate = \"15 Mbit/s\" } }", [200, 16]);
    let found = run(&text, "sqm").all;
    assert!(number(&found, "utilization") > 0.9, "{}", number(&found, "utilization"));
    assert!(number(&found, "queue_mean_packets") < 0.01 * 20e6 / 12_000.0);
}

/// The backlog of another form, whose mean is above the target, is no error of S: signals begin anew.
#[test]
fn predictions_begin_anew_after_another_form() {
    let text = link([20, 8, 416], [44, 40])
        + "qdisc = { sqm = { form = \"pi\" } }\n"
        + &flows(6, NEWRENO, [200, 16])
        + &at(40, "bottleneck.qdisc.form", "predictive");
    let found = run(&text, "sqm:form=pi").all;
    assert!(number(&found, "utilization") > 0.95, "{}", number(&found, "utilization"));
}

/// After a time in which the link is next to nothing the target is that of before.
#[test]
fn a_link_that_almost_stops_does_not_wind_up() {
    let text = link([20, 8, 416], [60, 30])
        + &flows(6, NEWRENO, [200, 16])
        + &at(20, RATE, "1 bit/s")
        + &at(26, RATE, "20 Mbit/s");
    let found = run(&text, "sqm").all;
    assert!(number(&found, "utilization") > 0.95, "{}", number(&found, "utilization"));
}
