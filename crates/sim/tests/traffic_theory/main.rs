//! Datagrams against theory: waiting times in queues, and burstiness of sources.

mod arrivals;
mod hurst;
mod little;
mod on_off;
mod waiting;

use sojourn_sim::network::{ClassPlan, FlowPlan, LinkPlan, Network, SourcePlan};
use sojourn_units::{Rate, Span, Time};
use sojourn_workload::{DatagramsPlan, Spacing};

/// A source of datagrams of 1000 B; `rate` in datagrams per second.
fn datagrams(rate: f64, spacing: Spacing) -> DatagramsPlan {
    DatagramsPlan::plain("udp/0", rate, spacing, 1000)
}

/// Flows from the very start on over one link after the other.
fn over(links: Vec<LinkPlan>, sources: Vec<DatagramsPlan>, stop: Option<Time>) -> Network {
    let flow = |source| FlowPlan {
        class: 0,
        user: 0,
        source: SourcePlan::Datagrams(source),
        forward: (0..links.len() as u32).collect(),
        reverse: Vec::new(),
        start: Time::ZERO,
        stop,
    };
    let flows = sources.into_iter().map(flow).collect();
    Network { classes: vec![ClassPlan::default()], flows, links, changes: Vec::new() }
}

/// A link without queueing.
fn free() -> LinkPlan {
    LinkPlan::plain(Rate::from_bits_per_second(1e12), Span::from_millis(10))
}

/// The mean of independent values, and the half-width of its confidence interval: Student's t for 99.9 % and 29 degrees
/// of freedom, so that one of a thousand comparisons fails by chance; the seeds are fixed.
fn interval(values: &[f64; BATCHES]) -> (f64, f64) {
    let n = BATCHES as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
    (mean, 3.659 * (variance / n).sqrt())
}

const BATCHES: usize = 30;
