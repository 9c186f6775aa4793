//! M/G/1: Poisson arrivals, sizes of any distribution, one link.
//!
//! The mean wait is W = lambda E[S^2] / (2 (1 - rho)) (Pollaczek and Khinchine), and an arrival waits at all with
//! probability rho whatever the sizes (Poisson arrivals see time averages). Consecutive waits are correlated, so
//! the confidence interval is that of the means of long batches.

use super::{BATCHES, datagrams, interval, over};
use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{Limit, LinkContext};
use sojourn_measure::{Probe, Queued};
use sojourn_random::{Draw, Stream};
use sojourn_sim::Simulation;
use sojourn_sim::network::LinkPlan;
use sojourn_units::{Rate, Span, Time};
use sojourn_workload::{DatagramsPlan, Spacing};

/// Batches of waits without the first one.
struct Waits {
    batch: Span,
    count: [f64; BATCHES + 1],
    sum: [f64; BATCHES + 1],
    waited: [f64; BATCHES + 1],
}

impl Probe for Waits {
    fn delivered(&mut self, now: Time, _link: u32, _packet: Queued, sojourn: Span) {
        let batch = (now.nanos() / self.batch.nanos()) as usize;
        if batch <= BATCHES {
            self.count[batch] += 1.0;
            self.sum[batch] += sojourn.seconds();
            self.waited[batch] += f64::from(sojourn > Span::ZERO);
        }
    }
}

/// 8 Mbit/s: a byte a microsecond.
const RATE: f64 = 8e6;

/// Compares the waits of datagrams of these sizes, mean 500 B, with theory.
fn check(name: &str, size: &Draw, seed: u64) {
    let service = size.mean() * 8.0 / RATE;
    let second_moment = (size.variance() + size.mean() * size.mean()) * (8.0 / RATE) * (8.0 / RATE);
    for load in [0.3, 0.6, 0.85] {
        let rate = Rate::from_bits_per_second(RATE);
        let context = LinkContext { rate, packet: 500.0, limit: f64::INFINITY, flows: None, base_rtt: None };
        let qdisc = Fifo::new(TailDrop, Limit::Unlimited, context, Stream::named(1, "disc"));
        let link = LinkPlan { qdisc: Some(Box::new(qdisc)), ..LinkPlan::plain(rate, Span::from_millis(10)) };
        let arrivals = DatagramsPlan { size: size.clone(), ..datagrams(load / service, Spacing::Poisson) };
        let empty = [0.0; BATCHES + 1];
        let batch = Span::from_secs(if load > 0.8 { 20 } else { 10 });
        let waits = Waits { batch, count: empty, sum: empty, waited: empty };
        let mut simulation = Simulation::new(over(vec![link], vec![arrivals], None), seed, waits);
        simulation.advance(Time::ZERO + batch * (BATCHES as u64 + 1));
        let waits = simulation.probe();
        let ratio = |of: &[f64]| std::array::from_fn(|n| of[n + 1] / waits.count[n + 1]);
        let expected = load / service * second_moment / (2.0 * (1.0 - load));
        let (mean, doubt) = interval(&ratio(&waits.sum));
        println!(
            "{name}, load {load}: {:.2} +- {:.2} us, theory {:.2}",
            mean * 1e6,
            doubt * 1e6,
            expected * 1e6
        );
        assert!(
            (mean - expected).abs() <= doubt,
            "{name}, load {load}: {mean} +- {doubt}, theory {expected}"
        );
        assert!(doubt < 0.1 * expected, "{name}, load {load}: +-{doubt} of {expected} is too wide");
        let (share, doubt) = interval(&ratio(&waits.waited));
        assert!(
            (share - load).abs() <= doubt && doubt < 0.02,
            "{name}, load {load}: {share} +- {doubt} wait"
        );
    }
}

#[test]
fn exponential_sizes() {
    check("exponential", &Draw::exponential(500.0).unwrap(), 1);
}

#[test]
fn constant_sizes() {
    check("constant", &Draw::constant(500.0).unwrap(), 2);
}

/// As of ACKs and full segments: 84 % of 90 B and 16 % of 2652.5 B; the squared coefficient of variation is 3.53.
#[test]
fn two_sizes() {
    let two = Draw::table(&[(90.0, 0.84), (2652.5, 0.16)]).unwrap();
    assert!((two.mean() - 500.0).abs() < 1e-9);
    check("two-point", &two, 3);
}

/// Sigma 1: the squared coefficient of variation is e - 1. The cut at 65535 B removes 0.04 % of the second moment.
#[test]
fn lognormal_sizes() {
    check("log-normal", &Draw::lognormal(500.0, 1.0).unwrap(), 4);
}
