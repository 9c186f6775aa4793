//! CHOKe against its theory.
//!
//! A. Tang, J. Wang, S. Low, "Understanding CHOKe: Throughput and Spatial
//! Characteristics", IEEE/ACM Transactions on Networking 12(4), 2004: the share of
//! the link of one unresponsive flow among very many responsive ones. It peaks at
//! 1/(e + 1) for a rate a little above the link rate and falls again: at higher
//! rates more of its packets are matched.

mod common;

use common::Parcel;
use sojourn_aqm::laws::choke::{Choke, Params};
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{Cause, Limit, LinkContext, Qdisc, Sink};
use sojourn_random::Stream;
use sojourn_units::{Amount, Ecn, Prob, Rate, Span, Time, math};

/// Share of the link and sending rate, in link rates, for u = (1 - 2h)/(1 - h) with h the flow's share of the
/// backlog.
///
/// Each match costs two packets, so that a rate s yields mu = s (1 - 2h). The other flows are so many that none is
/// matched: their rate is 1 - mu throughout the queue. The rate of the flow falls towards the head, from s (1 - h) to
/// mu, by s times its share f/(f + 1 - mu) of the packets there, per queue length. The integral over the queue is
/// (1 - mu) ln(1/u) = s (1 - h).
fn theory(u: f64) -> (f64, f64) {
    let odds = -u * math::ln(u);
    let share = odds / (1.0 + odds);
    (share, share * (2.0 - u) / u)
}

/// Share at a rate, by bisection: the rate falls as u grows.
fn share_at(rate: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 1.0);
    for _ in 0..100 {
        let u = f64::midpoint(low, high);
        if theory(u).1 > rate { low = u } else { high = u }
    }
    theory(low).0
}

#[test]
fn the_theory_has_the_published_peak() {
    let peak = (1..10_000).map(|u| theory(f64::from(u) / 1e4)).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let expected = 1.0 / (core::f64::consts::E + 1.0);
    assert!((peak.0 - expected).abs() < 1e-6, "{peak:?}, expected 0.269");
    assert!((1.0..1.3).contains(&peak.1), "a little more than the link: {peak:?}");
    assert!(share_at(100.0) < 0.06 && (share_at(0.01) / 0.01 - 1.0).abs() < 0.02);
}

#[test]
fn an_unresponsive_flow_gets_the_share_of_theory() {
    for rate in [0.3, 0.5, 1.2, 2.0, 5.0, 10.0] {
        let (share, expected) = (World::new(rate).share(), share_at(rate));
        println!("sends {rate} links: gets {share:.4}, theory {expected:.4}");
        assert!((share / expected - 1.0).abs() < 0.03, "sends {rate}: gets {share:.4}, theory {expected:.4}");
    }
}

/// One flow with Poisson arrivals, and a thousand whose arrival rate follows the free room in the queue.
struct World {
    qdisc: Fifo<Parcel, Choke>,
    draws: Stream,
    /// Rate of the unresponsive flow, packets/s.
    stubborn: f64,
    now: Time,
    /// Packets delivered after the start, of the unresponsive flow and of the others.
    delivered: [u64; 2],
}

impl World {
    fn new(rate: f64) -> World {
        let context = LinkContext {
            rate: Rate::from_bits_per_second(C * 8000.0),
            packet: 1000.0,
            limit: 1000.0,
            flows: None,
            base_rtt: None,
        };
        // The theory has matches alone, so RED's own part is negligible here.
        let params = Params {
            min: Some(Amount::Packets(50.0)),
            max: Some(Amount::Packets(900.0)),
            max_p: Prob::clamped(1e-9),
            ..Params::default()
        };
        let qdisc = Fifo::new(
            Choke::new(&params, &context).unwrap(),
            Limit::Packets(1000),
            context,
            Stream::named(1, "disc"),
        );
        let draws = Stream::named(1, "traffic");
        World { qdisc, draws, stubborn: rate * C, now: Time::ZERO, delivered: [0, 0] }
    }

    fn share(mut self) -> f64 {
        let end = Time::ZERO + Span::from_secs(300);
        let mut free_at = Time::ZERO;
        while self.now < end {
            let others = (EAGERNESS * (ROOM - f64::from(self.qdisc.backlog().packets))).max(0.0);
            let next = self.now
                + Span::from_seconds(self.draws.exponential(1.0 / (self.stubborn + others).max(1e-3)));
            // Rates are constant until the next departure; arrivals are memoryless, so redrawing then is exact.
            if free_at <= next {
                self.now = free_at;
                free_at = self.now + Span::from_seconds(1.0 / C);
                self.send();
            } else {
                self.now = next;
                let stubborn = self.draws.uniform() < self.stubborn / (self.stubborn + others);
                let flow = if stubborn { 0 } else { 1 + (self.draws.uniform() * 1000.0) as u32 };
                let parcel = Parcel { number: 0, len: 1000, ecn: Ecn::NotEct, flow };
                self.qdisc.enqueue(self.now, parcel, &mut Nobody);
            }
        }
        let [one, others] = self.delivered;
        one as f64 / (one + others) as f64
    }

    fn send(&mut self) {
        let taken = self.qdisc.dequeue(self.now, &mut Nobody);
        if let Some((parcel, _)) = taken.filter(|_| self.now > Time::ZERO + Span::from_secs(20)) {
            self.delivered[usize::from(parcel.flow > 0)] += 1;
        }
    }
}

struct Nobody;

impl Sink<Parcel> for Nobody {
    fn dropped(&mut self, _now: Time, _packet: Parcel, _cause: Cause) {}
    fn marked(&mut self, _now: Time, _packet: &Parcel) {}
}

/// Link rate, packets/s.
const C: f64 = 1000.0;
/// Backlog at which the others send nothing, packets; rate at which they fill the free room, 1/s.
const ROOM: f64 = 400.0;
const EAGERNESS: f64 = 10.0;
