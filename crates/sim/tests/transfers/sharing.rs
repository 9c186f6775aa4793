//! Transfers that share a link against processor sharing.
//!
//! Transfers that share a link of capacity C equally, arrive at random and offer a load r take
//! E[T|x] = x / (C (1 - r)) on average for size x, whatever the sizes of the others (L. Kleinrock, Queueing Systems II,
//! 1976, section 4.4; J. W. Cohen, The multiple phase service network with generalized processor sharing, 1979).

use crate::connections;

/// Every flow keeps two packets in the queue of the one link, so that they take turns packet by packet: the base RTT is
/// far below a packet's 1.2 ms.
const TURNS: &str = r#"
title = "Transfers in turns"
duration = "10000 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "50 us"
[[flows]]
app = { transfer = { size = "100 packets" } }
arrivals = { poisson = "240 ms" }
tcp = { initial_window = 2, delayed_ack = false, receive_window = 2 }
segment = "1500 B"
access = { rate = "1 Gbit/s" }
"#;

/// Transmission time of a packet, s.
const PACKET: f64 = 1.2e-3;
/// Payload of a packet, bytes.
const PAYLOAD: f64 = 1460.0;

/// For each size class: its size in packets, completion time over theory, and number of transfers.
fn measure(overrides: &[(&str, &str)], load: f64, bounds: &[f64]) -> Vec<(f64, f64, usize)> {
    let connections = connections(TURNS, overrides, 1);
    assert!(connections.rejected.is_empty());
    let classes = bounds.windows(2).map(|bound| {
        let sizes =
            connections.done.iter().map(|done| ((done.bytes as f64 / PAYLOAD).round(), done.took.seconds()));
        let within: Vec<(f64, f64)> =
            sizes.filter(|(size, _)| *size > bound[0] && *size <= bound[1]).collect();
        let (packets, took) =
            within.iter().fold((0.0, 0.0), |sum, (size, took)| (sum.0 + size, sum.1 + took));
        let shared = packets * PACKET / (1.0 - load);
        if within.is_empty() {
            return None;
        }
        println!("{overrides:?}: {} of up to {} packets, {:.3}", within.len(), bound[1], took / shared);
        Some((took / within.len() as f64, took / shared, within.len()))
    });
    classes.flatten().collect()
}

/// TCP adds the handshake: its SYN finds r / (1 - r) flows on average, each with two packets in the queue, half a
/// packet on the wire, and takes a round trip of 0.2 ms.
#[test]
fn completion_times_are_those_of_processor_sharing() {
    let load = 0.5;
    for size in [
        "\"100 packets\"",
        "{ exponential = \"100 packets\" }",
        "{ table = [[\"20 packets\", 0.9], [\"820 packets\", 0.1]] }",
    ] {
        for (mean, ratio, count) in
            measure(&[("flows.0.app.transfer.size", size)], load, &[0.0, 20.0, 50.0, 100.0, 200.0, 1000.0])
        {
            if count < 1000 {
                continue;
            }
            // The handshake: two packets' times, 0.2 ms, and half a packet's time that is left of the one on the wire.
            let added = 2.5 * PACKET * load / (1.0 - load) + 0.4e-3;
            let doubt = 4.0 / (count as f64).sqrt();
            let expected = 1.0 + added / (mean / ratio);
            assert!(
                (ratio - expected).abs() < doubt.max(0.02),
                "{size}: {ratio} of theory, {expected} with the handshake"
            );
        }
    }
}
