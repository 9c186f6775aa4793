//! Shares of equal flows: Jain's index, which is 1 where all are equal.
//!
//! Windows of additive increase and multiplicative decrease forget where they started within a few losses (Chiu and Jain,
//! Analysis of the increase and decrease algorithms, 1989). The remainder is chance: whose packet is lost. So the
//! shares over a time T are means over T / tau samples, and the index falls short of 1 by tau / T, with tau of the
//! order of the time between two losses of a flow: it is 1 to 4 s where a flow loses a packet every 2 to 3 s, less
//! under laws that mark more often. Scalable TCP is left out: multiplicative increase preserves the shares.
//!
//! A tail-drop queue leaves less to chance. Where the ACK delay is a multiple of the transmission time of a packet, an
//! ACK sent by the timer leaves at the same nanosecond as another flow's, one of them always goes first, and the
//! packets of the other find the last place taken: phase effects (Floyd and Jacobson, Traffic phase effects in
//! packet-switched gateways, 1991). Then the index does not improve with time. Any other ACK delay, or packets at
//! random times, removes the effect.

use crate::{Step, finish, number, run, scenario};
use sojourn_sim::Run;

/// 100 packets a second and flow; a window holds 20 packets, half of them in the queue, and a cycle takes 2 s.
const LIKE_FLOWS: &str = r#"
title = "Like flows"
duration = "200 s"
warmup = "60 s"
[bottleneck]
rate = "1.6 Mbit/s"
delay = "40 ms"
qdisc = "red"
[[flows]]
segment = "1000 B"
access = { rate = "1 Gbit/s", delay = "5 ms" }
"#;
/// Warm-up, s.
const WARM_UP: u32 = 60;

/// Small packets at random times, at `flows.1.app.poisson.rate`: a hundredth of the link where they are used.
const AT_RANDOM: &str = r#"
[[flows]]
app = { poisson = { rate = "8 kbit/s" } }
segment = "100 B"
access = { rate = "1 Gbit/s", delay = "5 ms" }
"#;

/// Overrides for the link of `n` flows, and further ones.
fn overrides<'a>(n: &'a [String; 3], cc: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let [count, rate, buffer] = n;
    let link = [
        ("flows.0.cc", cc),
        ("flows.0.count", count),
        ("bottleneck.rate", rate),
        ("bottleneck.buffer", buffer),
    ];
    link.into_iter().chain(more.iter().copied()).collect()
}

fn link(n: u32) -> [String; 3] {
    [n.to_string(), format!("{} kbit/s", 800 * n), format!("{} packets", 20 * n)]
}

/// Jain's index and the utilisation.
fn shares(cc: &str, ecn: bool, qdisc: &str, n: u32, seed: u64) -> (f64, f64) {
    let more = [("flows.0.ecn", if ecn { "true" } else { "false" }), ("bottleneck.qdisc", qdisc)];
    let outcome = run(LIKE_FLOWS, &overrides(&link(n), cc, &more), seed);
    let (jain, utilization) = (number(&outcome, "jain_index"), number(&outcome, "utilization"));
    println!("{n:3} {cc:<8} {qdisc:<9} ECN {ecn:<5} Jain {jain:.4}, utilization {utilization:.3}");
    (jain, utilization)
}

#[test]
fn equal_flows_get_equal_shares_under_laws() {
    for (qdisc, ecn) in [("red", true), ("red", false), ("pie", true), ("codel", true)] {
        for (cc, n) in [("reno", 2), ("reno", 10), ("newreno", 10), ("cubic", 2), ("cubic", 10)] {
            let (jain, _) = shares(cc, ecn, qdisc, n, 1);
            assert!(jain > 0.99, "{n} {cc}, {qdisc}, ECN {ecn}: {jain}");
        }
    }
    for (cc, qdisc) in [("reno", "red"), ("cubic", "red"), ("cubic", "pie")] {
        let (jain, utilization) = shares(cc, true, qdisc, 50, 1);
        assert!(jain > 0.99 && utilization > 0.99, "50 {cc}, {qdisc}: {jain} {utilization}");
    }
}

/// DCTCP's flows on a step.
#[test]
fn equal_flows_of_dctcp_get_equal_shares() {
    for n in [2, 10, 50] {
        let more = [("flows.0.ecn", "true")];
        let scenario = scenario(LIKE_FLOWS, &overrides(&link(n), "dctcp", &more));
        let outcome = finish(Run::with_laws(&scenario, 1, vec![Box::new(Step::above(5 * n))]));
        let jain = number(&outcome, "jain_index");
        println!("{n:3} dctcp    step      ECN true  Jain {jain:.4}");
        assert!(jain > 0.99, "{n}: {jain}");
    }
}

/// The link of a tail-drop queue takes 5 ms for a packet of two flows, 1 ms with ten, 200 us with fifty.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phases {
    /// 40 ms, as in the profile.
    AckDelayOfWholePackets,
    /// 40.37 ms.
    AckDelayBetween,
    /// 40 ms, and packets at random times.
    PacketsAtRandom,
}

/// Jain's index over so many seconds at a tail-drop queue.
fn tail_drop(cc: &str, n: u32, seconds: u32, phases: Phases, seed: u64) -> f64 {
    let duration = format!("{} s", seconds + WARM_UP);
    let (delay, rate) =
        (if phases == Phases::AckDelayBetween { "40.37 ms" } else { "40 ms" }, format!("{} kbit/s", 8 * n));
    let mut more =
        vec![("duration", &*duration), ("bottleneck.qdisc", "tail_drop"), ("flows.0.tcp.ack_delay", delay)];
    let mut text = LIKE_FLOWS.to_string();
    if phases == Phases::PacketsAtRandom {
        text += AT_RANDOM;
        more.push(("flows.1.app.poisson.rate", &rate));
    }
    let outcome = run(&text, &overrides(&link(n), cc, &more), seed);
    let jain = number(&outcome, "jain_index");
    let tau = (1.0 - jain) * f64::from(seconds);
    println!(
        "{n:3} {cc:<8} tail drop, {phases:?}, {seconds} s: Jain {jain:.4}, short of 1 by {tau:.2} s / T"
    );
    jain
}

/// CUBIC's flows take longer: a loss takes three tenths of a window, and not half.
#[test]
fn equal_flows_get_equal_shares_at_tail_drop_without_phase_effects() {
    for (cc, n, seconds) in [
        ("reno", 2, 300),
        ("reno", 10, 400),
        ("reno", 50, 600),
        ("cubic", 2, 600),
        ("cubic", 10, 600),
        ("cubic", 50, 500),
    ] {
        let jain = tail_drop(cc, n, seconds, Phases::AckDelayBetween, 1);
        assert!(jain > 0.99, "{n} {cc}: {jain}");
    }
}

/// The lowest numbers go first: with ten flows the first loses one packet in 390, the last one in 230.
#[test]
fn phase_effects_skew_shares_and_randomness_removes_them() {
    let short_of_1 = |seconds, phases| 1.0 - tail_drop("newreno", 10, seconds, phases, 3);
    let (early, late) =
        (short_of_1(200, Phases::AckDelayOfWholePackets), short_of_1(900, Phases::AckDelayOfWholePackets));
    assert!(late > 0.8 * early && late > 0.005, "locked: {early} {late}");
    for phases in [Phases::AckDelayBetween, Phases::PacketsAtRandom] {
        let (early, late) = (short_of_1(200, phases), short_of_1(900, phases));
        assert!(late < 0.5 * early && late < 0.002, "{phases:?}: {early} {late}");
    }
}

/// More seeds, and other laws; figures only.
#[test]
#[ignore = "figures only: run it with --nocapture"]
fn shares_under_other_laws() {
    for qdisc in ["red", "pie", "codel", "tail_drop"] {
        for cc in ["reno", "newreno", "cubic"] {
            for n in [2, 10, 50] {
                for seed in 1..=3 {
                    shares(cc, false, qdisc, n, seed);
                }
            }
        }
    }
}

/// The time scale; figures only.
#[test]
#[ignore = "figures only: run it with --nocapture"]
fn shares_at_a_tail_drop_queue_over_time() {
    for phases in [Phases::AckDelayOfWholePackets, Phases::AckDelayBetween, Phases::PacketsAtRandom] {
        for cc in ["reno", "newreno", "cubic"] {
            for (n, seconds) in
                [(2, 300), (2, 1200), (10, 300), (10, 1200), (10, 4800), (50, 300), (50, 1200)]
            {
                for seed in 1..=3 {
                    tail_drop(cc, n, seconds, phases, seed);
                }
            }
        }
    }
}
