//! Senders on a shared link against theory: how much buffer a flow needs, and whether like flows get like shares.

use sojourn_aqm::{Arrival, Law, Verdict};
use sojourn_scenario::Scenario;
use sojourn_sim::{Metric, Outcome, Run};
use sojourn_units::math::cbrt;

fn scenario(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Scenario::parse(text.as_bytes(), "test", &overrides).unwrap_or_else(|faults| panic!("{faults}"))
}

fn run(text: &str, overrides: &[(&str, &str)], seed: u64) -> Outcome {
    finish(Run::new(&scenario(text, overrides), seed).unwrap())
}

fn finish(mut run: Run) -> Outcome {
    while run.advance() {}
    run.finish()
}

fn number(outcome: &Outcome, name: &str) -> f64 {
    match outcome.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Metric::Number(value)) => *value,
        other => panic!("{name} is {other:?}"),
    }
}

/// One flow on a path that holds 200 packets: 1000 packets a second, 200 ms with the transmission times.
const PATH: f64 = 200.0;
/// Seconds.
const RTT: f64 = 0.2;
const ONE_FLOW: &str = r#"
title = "One flow and a buffer"
duration = "400 s"
warmup = "100 s"
[bottleneck]
rate = "8 Mbit/s"
delay = "99.4 ms"
buffer = "200 packets"
[[flows]]
segment = "1000 B"
delayed_ack = false
sack = true
access = { rate = "1 Gbit/s" }
start = "0 s"
"#;

/// Utilisation with one flow of additive increase and a buffer of `share` times what the path holds.
///
/// The window goes from (1 + share) / 2 to 1 + share times what the path holds. Below 1 a round trip takes
/// its least time and the link is idle in part; above, the window's packets take as long as the link needs for them.
fn reno_utilization(share: f64) -> f64 {
    let (low, high): (f64, f64) = (f64::midpoint(1.0, share), 1.0 + share);
    let packets = (high * high - low * low) / 2.0;
    let busy = (high * high - low.max(1.0) * low.max(1.0)) / 2.0;
    packets / ((1.0 - low).max(0.0) + busy)
}

/// The same for CUBIC, whose window rises from 0.7 of the largest as a cubic of the time (RFC 9438, equation 1).
///
/// A loss is heard of a round trip after it, and a round trip later it is repaired: then the rise begins. A loss below
/// the last plateau lowers the next one (fast convergence, section 4.7), though no other flow is there to profit: a rise
/// to the plateau and one through a plateau of 0.85 of it take turns.
fn cubic_utilization(share: f64) -> f64 {
    const STEPS: u32 = 1000;
    let full = (1.0 + share) * PATH;
    let (mut busy, mut time) = (0.0, 0.0);
    // Slow start goes beyond what there is room for.
    let (mut window, mut plateau) = (full, 2.0 * full);
    for _ in 0..100 {
        plateau = if window < plateau { 0.85 * window } else { window };
        let start = 0.7 * window;
        let k = cbrt((plateau - start) / 0.4);
        let risen = |t: f64| 0.4 * (t - k) * (t - k) * (t - k) + plateau;
        let length = k + cbrt((full - plateau) / 0.4) + RTT;
        let at = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS) * length;
        let mean = (0..STEPS).map(|step| (risen(at(step)) / PATH).min(1.0)).sum::<f64>() / f64::from(STEPS);
        busy += mean * length + (start / PATH).min(1.0) * RTT;
        time += length + RTT;
        window = risen(length);
    }
    busy / time
}

fn check_buffers(cc: &str, theory: fn(f64) -> f64, enough: f64) {
    assert!((theory(enough) - 1.0).abs() < 1e-6 && theory(0.9 * enough) < 0.9999);
    for share in [0.05, 0.1, 0.2, 0.3, enough, 1.0] {
        let buffer = format!("{} packets", (share * PATH).round());
        let outcome = run(ONE_FLOW, &[("flows.0.cc", cc), ("bottleneck.buffer", &buffer)], 1);
        let (seen, expected) = (number(&outcome, "utilization"), theory(share));
        println!("{cc}, buffer {share:.3} of the path: utilization {seen:.4}, theory {expected:.4}");
        assert!((seen - expected).abs() < 0.01, "{cc}, {share}: {seen} {expected}");
        assert!(share < enough || seen > 0.999, "{cc}, {share}: {seen}");
    }
}

#[test]
fn a_buffer_of_what_the_path_holds_keeps_renos_link_busy() {
    check_buffers("newreno", reno_utilization, 1.0);
}

#[test]
fn cubic_needs_three_sevenths_of_it() {
    check_buffers("cubic", cubic_utilization, 3.0 / 7.0);
}

/// 100 packets a second and flow; a window holds 20 packets, half of them in the queue, and a cycle takes 2 s.
const LIKE_FLOWS: &str = r#"
title = "Like flows"
duration = "300 s"
warmup = "60 s"
[bottleneck]
rate = "1.6 Mbit/s"
delay = "40 ms"
disc = "red"
[[flows]]
segment = "1000 B"
access = { rate = "1 Gbit/s", delay = "5 ms" }
"#;

/// Jain's index and the utilisation.
fn shares(cc: &str, ecn: bool, disc: &str, n: u32, seed: u64) -> (f64, f64) {
    let (rate, buffer) = (format!("{} kbit/s", 800 * n), format!("{} packets", 20 * n));
    let overrides = [
        ("flows.0.cc", cc),
        ("flows.0.ecn", if ecn { "true" } else { "false" }),
        ("flows.0.count", &n.to_string()),
        ("bottleneck.disc", disc),
        ("bottleneck.rate", &rate),
        ("bottleneck.buffer", &buffer),
    ];
    let outcome = run(LIKE_FLOWS, &overrides, seed);
    let (jain, utilization) = (number(&outcome, "jain_index"), number(&outcome, "utilization"));
    println!("{n:3} {cc:<8} {disc:<9} ECN {ecn:<5} Jain {jain:.4}, utilization {utilization:.3}");
    (jain, utilization)
}

#[test]
fn like_flows_get_like_shares() {
    for cc in ["reno", "newreno", "cubic"] {
        for ecn in [false, true] {
            for n in [2, 10, 50] {
                let (jain, utilization) = shares(cc, ecn, "red", n, 1);
                assert!(jain > 0.99, "{n} {cc}, ECN {ecn}: {jain}");
                assert!(utilization > 0.95, "{n} {cc}, ECN {ecn}: {utilization}");
            }
        }
    }
}

/// DCTCP's flows on a step.
#[test]
fn like_flows_of_dctcp_get_like_shares() {
    for n in [2, 10, 50] {
        let rate = format!("{} kbit/s", 800 * n);
        let overrides = [
            ("flows.0.cc", "dctcp"),
            ("flows.0.ecn", "true"),
            ("flows.0.count", &*n.to_string()),
            ("bottleneck.rate", &rate),
        ];
        let outcome = finish(Run::with_law(&scenario(LIKE_FLOWS, &overrides), 1, Box::new(Step(5 * n))));
        let jain = number(&outcome, "jain_index");
        println!("{n:3} dctcp    step      ECN true  Jain {jain:.4}");
        assert!(jain > 0.99, "{n}: {jain}");
    }
}

/// More seeds, and other laws; figures only.
#[test]
#[ignore = "figures only: run it with --nocapture"]
fn shares_under_other_laws() {
    for disc in ["red", "pie", "codel", "tail_drop"] {
        for cc in ["reno", "newreno", "cubic"] {
            for n in [2, 10, 50] {
                for seed in 1..=3 {
                    shares(cc, false, disc, n, seed);
                }
            }
        }
    }
}

/// Marks what finds more than so many packets before it.
#[derive(Clone)]
struct Step(u32);

impl Law for Step {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if arrival.backlog.packets > self.0 { arrival.signalled() } else { Verdict::Pass }
    }
}

/// 10 000 packets a second, a round trip of 10 ms with the transmission times: the path holds 100 packets.
const MARKED_FLOWS: &str = r#"
title = "Flows of DCTCP and a step"
duration = "30 s"
warmup = "10 s"
[bottleneck]
rate = "80 Mbit/s"
delay = "4.94 ms"
[[flows]]
cc = "dctcp"
ecn = true
delayed_ack = false
segment = "1000 B"
access = { rate = "10 Gbit/s" }
"#;

/// What the theory says of a queue under N flows of DCTCP, and what came of it.
struct Sawtooth {
    height: [f64; 2],
    mean: [f64; 2],
    marks: [f64; 2],
}

/// Alizadeh, Javanmard and Prabhakar, Analysis of DCTCP, SIGMETRICS 2011 (section 3.3 of the paper of 2010): the
/// windows go up and down together between W* + 1 and (W* + 1) (1 - alpha / 2), with W* = (C RTT + K) / N and
/// alpha = sqrt(2 / W*). A window is marked in one round trip of its cycle, so that alpha is the share of marks, too.
fn sawtooth(n: u32, k: u32, delayed_ack: bool) -> Sawtooth {
    let (flows, room) = (f64::from(n), 100.0 + f64::from(k));
    let overrides = [
        ("flows.0.count", &*n.to_string()),
        ("flows.0.delayed_ack", if delayed_ack { "true" } else { "false" }),
    ];
    let outcome = finish(Run::with_law(&scenario(MARKED_FLOWS, &overrides), 1, Box::new(Step(k))));
    let [mean, std, marks, losses, utilization] =
        ["queue_mean_packets", "queue_std_packets", "mark_ratio", "drop_ratio", "utilization"]
            .map(|name| number(&outcome, name));
    assert!(losses == 0.0 && utilization > 0.999, "{losses} {utilization}");
    let height = (2.0 * flows * room).sqrt() / 2.0;
    let saw = Sawtooth {
        // A sawtooth is as long at every height: its variance is a twelfth of the square.
        height: [std * 12.0_f64.sqrt(), height],
        mean: [mean, f64::from(k) + flows - height / 2.0],
        marks: [marks, (2.0 * flows / room).sqrt()],
    };
    let pair = |[seen, theory]: [f64; 2]| format!("{seen:.3} (theory {theory:.3})");
    println!(
        "N = {n}, K = {k}, delayed ACKs {delayed_ack}: sawtooth {}, mean queue {}, marks {}",
        pair(saw.height),
        pair(saw.mean),
        pair(saw.marks)
    );
    saw
}

/// More flows do not keep step, and the theory, which says that they do, is for few.
#[test]
fn dctcp_keeps_the_queue_in_its_sawtooth() {
    for (n, k) in [(1, 20), (1, 40), (1, 65), (2, 20), (2, 40), (2, 65)] {
        let Sawtooth { height, mean, marks } = sawtooth(n, k, false);
        let ratio = |[seen, theory]: [f64; 2]| seen / theory;
        assert!((ratio(height) - 1.0).abs() < 0.1, "N = {n}, K = {k}: sawtooth {height:?}");
        assert!((ratio(marks) - 1.0).abs() < 0.1, "N = {n}, K = {k}: marks {marks:?}");
        assert!((mean[0] - mean[1]).abs() < 1.0, "N = {n}, K = {k}: mean {mean:?}");
    }
}

/// ACKs for two let out segments in pairs. Only the second of a pair finds the queue above the step at first: fewer
/// are marked, and the sawtooth is lower.
#[test]
fn delayed_acks_make_dctcp_gentler() {
    for k in [20, 40, 65] {
        let Sawtooth { height, marks, .. } = sawtooth(1, k, true);
        assert!((0.65..0.9).contains(&(height[0] / height[1])), "K = {k}: {height:?}");
        assert!((0.6..0.9).contains(&(marks[0] / marks[1])), "K = {k}: {marks:?}");
    }
}
