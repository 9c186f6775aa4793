//! Shares of fq_codel as Linux reports them: the mean of `tcp_delivery_rate` (ss) at even steps, which Flent records.
//!
//! A rate sample is what was delivered between the transmission of a packet and its ACK, over the longer of the two intervals in
//! which it was sent and acknowledged (Y. Cheng et al., draft-cheng-iccrg-delivery-rate-estimation-00, section 3.3). Where a
//! window is reduced, its packets leave over a longer time than they arrive, so that the samples of a round trip fall short of
//! the goodput, never above it. The published goodputs of `tests/reference/published/s1_rtt_fairness.csv` are such means.

use sojourn_measure::{Probe, Queued};
use sojourn_scenario::Scenario;
use sojourn_sim::{Simulation, topology};
use sojourn_units::{Span, Time};

/// Payload and length on the wire of a packet, bytes.
const PAYLOAD: f64 = 1448.0;
const LENGTH: f64 = 1514.0;
/// Period of the readings, s.
const STEP: f64 = 0.05;
/// Accuracy of a reading's time: Linux's clock of rate samples, s.
const CLOCK: f64 = 10e-6;

/// Arrivals at the bottleneck and departures from it of two flows, s.
#[derive(Default)]
struct Passages([Vec<(f64, f64)>; 2]);

impl Probe for Passages {
    fn delivered(&mut self, now: Time, _link: u32, packet: Queued, sojourn: Span) {
        let left = now.since(Time::ZERO).seconds();
        self.0[packet.flow as usize].push((left - sojourn.seconds(), left));
    }
}

/// Mean goodput and mean rate sample of a flow in the last minute, Mbit/s, from its passages and the rest of its round trip.
fn goodput_and_samples(passages: &[(f64, f64)], rest: f64, end: f64) -> (f64, f64) {
    let since = end - 60.0;
    let acked_at = |packet: usize| passages[packet].1 + rest;
    let (mut delivered, mut delivered_at, mut first_sent) = (0, passages[0].0, passages[0].0);
    let mut sent: Vec<(usize, f64, f64)> = Vec::new();
    let (mut newest, mut due, mut sum, mut readings) = (0.0, since, 0.0, 0.0);
    for packet in 0..passages.len() {
        // ACKs are for two packets; those that arrive before this packet is sent come first.
        while delivered + 1 < packet && acked_at(delivered + 1) <= passages[packet].0 + CLOCK {
            let (now, last) = (acked_at(delivered + 1), delivered + 1);
            while due <= now {
                (sum, readings, due) = (sum + newest, readings + 1.0, due + STEP);
            }
            let (before, before_at, first) = sent[last];
            let interval = (now - before_at).max(passages[last].0 - first);
            (delivered, delivered_at, first_sent) = (delivered + 2, now, passages[last].0);
            newest = (delivered - before) as f64 * PAYLOAD * 8e-6 / interval;
        }
        sent.push((delivered, delivered_at, first_sent));
    }
    let bytes = passages.iter().filter(|(_, left)| *left > since).count() as f64 * PAYLOAD;
    (bytes * 8e-6 / 60.0, sum / readings)
}

/// Rate, Mbit/s; the flows' round trips, ms; their published goodputs, Mbit/s.
const ROWS: [(f64, [f64; 2], [f64; 2]); 8] = [
    (50.0, [10.0, 10.0], [23.46, 23.56]),
    (50.0, [20.0, 10.0], [23.30, 23.72]),
    (50.0, [20.0, 20.0], [23.58, 23.59]),
    (50.0, [80.0, 20.0], [22.24, 24.54]),
    (10.0, [10.0, 10.0], [4.64, 4.65]),
    (10.0, [20.0, 10.0], [4.54, 4.71]),
    (10.0, [80.0, 80.0], [4.38, 4.46]),
    (10.0, [160.0, 10.0], [4.15, 5.11]),
];
/// Published goodputs below the samples. The first has no known reason: Linux in virtual time has 4.62 (`tests/reference/kernel_tcp.csv`).
/// The others follow from two mechanisms of Linux, below.
const BELOW: [f64; 3] = [4.54, 4.38, 4.46];
/// Least share of a rate sample, and largest one of a goodput, that a reading may be.
const BOUNDS: [f64; 2] = [0.99, 1.01];

/// Two CUBIC flows with ECN over fq_codel, with these settings of TCP.
fn passages(rate: f64, rtts: [f64; 2], settings: &[&str], seed: u64) -> (Passages, f64) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/peers/two_cubic.toml");
    let mut overrides: Vec<(String, String)> = vec![
        ("bottleneck.rate".into(), format!("{rate} Mbit/s")),
        ("bottleneck.buffer".into(), "10240 packets".into()),
        ("bottleneck.qdisc".into(), "fq_codel".into()),
    ];
    for (flow, rtt) in rtts.iter().enumerate() {
        overrides.push((format!("flows.{flow}.ecn"), "true".into()));
        overrides.extend(settings.iter().map(|key| (format!("flows.{flow}.tcp.{key}"), "true".into())));
        overrides.push((format!("flows.{flow}.access.delay"), format!("{} ms", (rtt / 2.0 - 1.0) / 2.0)));
    }
    let scenario = Scenario::parse(&std::fs::read(file).unwrap(), file, &overrides);
    let scenario = scenario.unwrap_or_else(|errors| panic!("{errors}"));
    let mut simulation = Simulation::new(topology::network(&scenario, seed), seed, Passages::default());
    simulation.advance(Time::ZERO + scenario.duration);
    (std::mem::take(simulation.probe()), scenario.duration.seconds())
}

#[test]
fn published_shares_of_fq_codel_are_means_of_rate_samples() {
    for (rate, rtts, published) in ROWS {
        let (passages, end) = passages(rate, rtts, &[], 1);
        for (flow, published) in published.into_iter().enumerate() {
            let rest = rtts[flow] * 1e-3 + LENGTH * 8e-6 / rate;
            let (goodput, samples) = goodput_and_samples(&passages.0[flow], rest, end);
            println!(
                "{rate} Mbit/s, {rtts:?} ms: {goodput:.3}, by samples {samples:.3}, published {published}"
            );
            assert!(samples < goodput);
            let explained = (samples * BOUNDS[0]..=goodput * BOUNDS[1]).contains(&published);
            assert_eq!(explained, !BELOW.contains(&published), "{samples} to {goodput}: {published}");
        }
    }
}

/// Mean over seeds of the sum of both rate samples and of both goodputs at 10 Mbit/s and 80 ms, Mbit/s.
fn sums_at_80_ms(settings: &[&str]) -> [f64; 2] {
    const SEEDS: u64 = 4;
    let mut sums = [0.0; 2];
    for seed in 1..=SEEDS {
        let (passages, end) = passages(10.0, [80.0, 80.0], settings, seed);
        for flow in &passages.0 {
            let (goodput, samples) = goodput_and_samples(flow, 0.08 + LENGTH * 8e-7, end);
            sums[0] += samples / SEEDS as f64;
            sums[1] += goodput / SEEDS as f64;
        }
    }
    println!("{settings:?} at 80 ms: samples {:.3}, goodputs {:.3}", sums[0], sums[1]);
    sums
}

/// Two flows of 80 ms leave a tenth of the link unused where an echo reduces the window over a round trip (PRR): packets still wait when
/// CoDel's second mark is due, 100 ms after the first, and its echo comes when the first reduction is over. The published sum, 8.84, is
/// between our rate samples and goodputs then, within a per cent, where the window grows in Linux's whole segments, too.
#[test]
fn a_reduction_over_a_round_trip_meets_the_second_mark() {
    let published = 4.38 + 4.46;
    let [samples, _] = sums_at_80_ms(&[]);
    assert!(samples > 1.03 * published, "{samples}");
    let [_, goodputs] = sums_at_80_ms(&["ecn_prr"]);
    assert!((0.98 * published..published).contains(&goodputs), "{goodputs}");
    let [samples, goodputs] = sums_at_80_ms(&["ecn_prr", "cubic_counts_segments"]);
    assert!((samples * BOUNDS[0]..=goodputs * BOUNDS[1]).contains(&published), "{samples} to {goodputs}");
    let [samples, _] = sums_at_80_ms(&["cubic_counts_segments"]);
    assert!(samples > 1.03 * published, "{samples}");
}
