//! Buffer that a flow needs: utilisation against that of a sawtooth and of a cubic.

use crate::{number, run};
use sojourn_units::math::cbrt;

/// One flow on a path that holds 200 packets: 1000 packets a second, 200 ms with the transmission times.
const PATH: f64 = 200.0;
/// Seconds.
const RTT: f64 = 0.2;
const ONE_FLOW: &str = r#"
title = "One flow and a buffer"
duration = "240 s"
warmup = "60 s"
[bottleneck]
rate = "8 Mbit/s"
delay = "99.4 ms"
buffer = "200 packets"
[[flows]]
segment = "1000 B"
tcp = { delayed_ack = false, sack = true }
access = { rate = "1 Gbit/s" }
start = "0 s"
"#;

/// Utilisation with one flow of additive increase and a buffer of `share` times the path's BDP.
///
/// The window rises from (1 + share) / 2 to 1 + share times the path's BDP. Below 1 a round trip takes the base RTT and
/// the link is partly idle; above, the link is full.
fn reno_utilization(share: f64) -> f64 {
    let (low, high): (f64, f64) = (f64::midpoint(1.0, share), 1.0 + share);
    let packets = (high * high - low * low) / 2.0;
    let busy = (high * high - low.max(1.0) * low.max(1.0)) / 2.0;
    packets / ((1.0 - low).max(0.0) + busy)
}

/// The same for CUBIC, whose window rises from 0.7 of the largest as a cubic of the time (RFC 9438, equation 1).
///
/// A loss is detected a round trip later and repaired another round trip later: then the rise begins. A loss below the
/// last w_max lowers the next one (fast convergence, section 4.7), although no other flow is present: a rise to w_max
/// and one through 0.85 w_max alternate.
fn cubic_utilization(share: f64) -> f64 {
    const STEPS: u32 = 1000;
    let full = (1.0 + share) * PATH;
    let (mut busy, mut time) = (0.0, 0.0);
    // Slow start overshoots the buffer.
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
    for share in [0.05, 0.1, 0.2, 0.3, enough] {
        let buffer = format!("{} packets", (share * PATH).round());
        let outcome = run(ONE_FLOW, &[("flows.0.cc", cc), ("bottleneck.buffer", &buffer)], 1);
        let (seen, expected) = (number(&outcome, "utilization"), theory(share));
        println!("{cc}, buffer {share:.3} of the path: utilization {seen:.4}, theory {expected:.4}");
        assert!((seen - expected).abs() < 0.01, "{cc}, {share}: {seen} {expected}");
        assert!(share < enough || seen > 0.999, "{cc}, {share}: {seen}");
    }
}

#[test]
fn reno_needs_a_buffer_of_one_bdp() {
    check_buffers("newreno", reno_utilization, 1.0);
}

#[test]
fn cubic_needs_a_buffer_of_three_sevenths_bdp() {
    check_buffers("cubic", cubic_utilization, 3.0 / 7.0);
}
