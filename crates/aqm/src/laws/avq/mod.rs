//! AVQ: adaptive virtual queue.
//!
//! S. Kunniyur, R. Srikant, "An Adaptive Virtual Queue (AVQ) Algorithm for
//! Active Queue Management", IEEE/ACM Transactions on Networking 12(2), 2004
//! (first at ACM SIGCOMM 2001). The virtual queue is the length that the queue
//! would have on a slower link. When it overflows, the arriving packet is marked
//! or dropped. The virtual capacity C~ adapts until the arrival rate is the share
//! `gamma` of the link rate:
//!
//! ```text
//! dC~/dt = alpha (gamma C - lambda)                                  (1)
//! ```
//!
//! At each arrival of b bytes at time t, with s the time of the last one:
//!
//! ```text
//! VQ <- max(VQ - C~ (t - s), 0)                                      (2)
//! VQ + b > B:  mark or drop;  else  VQ <- VQ + b                     (3)
//! C~ <- max(min(C~ + alpha gamma C (t - s), C) - alpha b, 0)         (4)
//! ```
//!
//! The real queue and random draws have no effect. An empty virtual queue accepts
//! any packet: otherwise a virtual buffer below one packet would mark all of them.

pub mod fluid;

use crate::analysis::Analysis;
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Arrival, Law, Verdict};
use crate::link_context::LinkContext;
use crate::parts::buffer;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Amount, Rate, Time};

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "avq",
        summary: "adaptive virtual queue: mark what would overflow a somewhat slower link",
        idea: "The law computes the length that the queue would have on a somewhat slower link. \
               Packets that would overflow this virtual queue are marked or dropped. The virtual link's rate \
               falls with each byte that arrives and rises with time, until the arrival rate is the share \
               gamma of the real rate. The real queue is short, at the cost of the share 1 - gamma.",
        equation: "C~ <- max(min(C~ + alpha gamma C dt, C) - alpha b, 0);  mark where VQ + b > B",
        source: "S. Kunniyur, R. Srikant, IEEE/ACM Transactions on Networking 12(2), 2004",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| {
        let (law, fluid) = (Avq::new(params.of()?, context)?, fluid::FluidAvq::new(params.of()?, context)?);
        Ok(Designed::new(law).with_fluid(fluid))
    },
};

sojourn_params::params! {
    /// Parameters of AVQ.
    pub struct Params {
        /// arrival rate to hold, as a share of the link rate
        gamma "gamma": f64 = 0.98, in above 0.0 to 1.0, "Kunniyur 2004: as much as leaves room for the queue to drain";
        /// rate of adaptation of the virtual rate, 1/s
        alpha "alpha": f64 = 0.15, in above 0.0 to 100.0, "Kunniyur 2004, the simulations";
        /// share of the link's rate that the virtual link begins with
        start "C~(0) / C": f64 = 1.0, in above 0.0 to 1.0,
            "the paper has no value, and the real rate causes no needless marks; 0.8 is ns-2's, which its author wrote";
        /// count packets that AVQ drops as load, too
        offered "lambda": bool = false,
            "gamma limits the accepted load, as in ns-2's AVQ; true is the paper's code to the letter";
        /// length of the virtual queue that is too long
        buffer "B": Option<Amount> = None, above 0,
            "the real buffer, Kunniyur 2004, at least 2 packets, as the one being sent is counted; where the real one \
             has no limit, what the link sends in a round-trip time";
    }
}

/// Adaptive virtual queue.
#[derive(Clone, Debug)]
pub struct Avq {
    gamma: f64,
    alpha: f64,
    offered: bool,
    start: f64,
    /// B, bytes.
    buffer: f64,
    /// C, bytes/s; the last value above 0.
    capacity: f64,
    /// The link has no rate at present.
    stopped: bool,

    /// C~, bytes/s.
    virtual_capacity: f64,
    /// VQ, bytes.
    virtual_queue: f64,
    /// s, the time of the last arrival; None before the first one.
    last: Option<Time>,
}

impl Avq {
    /// AVQ on the link of `context`, from an empty virtual queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Avq, InputError> {
        let capacity = context.rate.bits_per_second() / 8.0;
        Ok(Avq {
            gamma: params.gamma,
            alpha: params.alpha,
            offered: params.offered,
            start: params.start,
            buffer: virtual_buffer(params.buffer, context)? * context.packet,
            capacity,
            stopped: capacity <= 0.0,
            virtual_capacity: params.start * capacity,
            virtual_queue: 0.0,
            last: None,
        })
    }
}

impl Law for Avq {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.pass_time(arrival.now);
        let b = f64::from(arrival.len);
        let fits = self.virtual_queue == 0.0 || self.virtual_queue + b <= self.buffer;
        if fits {
            self.virtual_queue += b;
        }
        let verdict = if fits { Verdict::Pass } else { arrival.signalled() };
        if !self.stopped && (self.offered || verdict != Verdict::Drop) {
            self.virtual_capacity = (self.virtual_capacity - self.alpha * b).max(0.0);
        }
        verdict
    }

    fn on_link_change(&mut self, now: Time, rate: Rate) {
        self.pass_time(now);
        let capacity = rate.bits_per_second() / 8.0;
        self.stopped = capacity <= 0.0;
        if self.stopped {
            return;
        }
        // The virtual capacity keeps its share of the link rate.
        self.virtual_capacity = if self.capacity > 0.0 {
            self.virtual_capacity * (capacity / self.capacity)
        } else {
            self.start * capacity
        };
        self.capacity = capacity;
    }

    fn set_params(&mut self, _now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Avq::new(given.params.of()?, context)?;
        let Avq { capacity, stopped, virtual_capacity, virtual_queue, last, .. } = *self;
        *self = Avq { capacity, stopped, virtual_capacity, virtual_queue, last, ..fresh };
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("virtual_rate", "bit/s", 8.0 * self.virtual_capacity);
        out.gauge("virtual_queue", "B", self.virtual_queue);
    }
}

impl Analysis for Avq {
    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("buffer", "B", self.buffer);
    }
}

impl Avq {
    /// Equation (2), and the terms of (4) that depend on time alone; without effect at a stopped link.
    fn pass_time(&mut self, now: Time) {
        let elapsed = self.last.replace(now).map_or(0.0, |last| now.since(last).seconds());
        if self.stopped {
            return;
        }
        self.virtual_queue = (self.virtual_queue - self.virtual_capacity * elapsed).max(0.0);
        let grown = self.virtual_capacity + self.alpha * self.gamma * self.capacity * elapsed;
        self.virtual_capacity = grown.min(self.capacity);
    }
}

/// B, packets. The virtual queue includes the packet in transmission, the real one does not: a virtual buffer of one
/// packet would leave no room behind it.
pub(crate) fn virtual_buffer(given: Option<Amount>, context: &LinkContext) -> Result<f64, InputError> {
    let buffer = buffer::buffer(given, context)?;
    Ok(if given.is_none() { buffer.max(FEWEST) } else { buffer })
}

/// Smallest default of B, packets: one in transmission and one that waits.
const FEWEST: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::{Ecn, Span};

    /// 1 MB/s, 10 packets of 1000 B.
    fn context() -> LinkContext {
        LinkContext { limit: 10.0, ..LinkContext::example() }
    }

    fn avq(change: impl Fn(&mut Params)) -> Avq {
        let mut params = Params::default();
        change(&mut params);
        Avq::new(&params, &context()).unwrap()
    }

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_seconds(seconds)
    }

    fn arrival(now: Time, len: u32, ecn: Ecn) -> Arrival {
        let backlog = Backlog::default();
        Arrival { now, len, ecn, flow: FlowId(0), backlog, victim: None, u: [0.0, 0.0] }
    }

    /// Feeds `packets` packets of 1000 B in the second after `from`.
    fn feed(law: &mut Avq, from: f64, packets: u32) {
        for k in 1..=packets {
            law.on_arrival(&arrival(at(from + f64::from(k) / f64::from(packets)), 1000, Ecn::NotEct));
        }
    }

    #[test]
    fn a_burst_fills_the_virtual_buffer_and_no_more() {
        let mut law = avq(|params| params.offered = true);
        let verdicts: Vec<Verdict> =
            (0..12).map(|_| law.on_arrival(&arrival(at(1.0), 1000, Ecn::NotEct))).collect();
        assert_eq!(verdicts[..10], [Verdict::Pass; 10]);
        assert_eq!(verdicts[10..], [Verdict::Drop; 2]);
        assert_eq!(law.on_arrival(&arrival(at(1.0), 1000, Ecn::Ect0)), Verdict::Mark);
        // A marked packet does not enter the virtual queue, but slows the virtual link.
        assert_eq!(law.virtual_queue, 10_000.0);
        assert!((law.virtual_capacity - (1e6 - 13.0 * 0.15 * 1000.0)).abs() < 1e-6);
        // A smaller packet may still fit: (3) counts bytes. 2 ms at 998 050 B/s drain 1996.1 B.
        assert_eq!(law.on_arrival(&arrival(at(1.002), 1996, Ecn::NotEct)), Verdict::Pass);
        assert!((law.virtual_queue - (10_000.0 - 1996.1 + 1996.0)).abs() < 1e-6);
    }

    /// Equations (2) to (4) worked by hand for three packets.
    #[test]
    fn three_packets_by_hand() {
        let mut law = avq(|params| {
            params.alpha = 0.5;
            params.gamma = 0.9;
        });
        law.on_arrival(&arrival(at(0.0), 1000, Ecn::NotEct));
        assert_eq!((law.virtual_queue, law.virtual_capacity), (1000.0, 999_500.0));
        law.on_arrival(&arrival(at(0.0005), 1000, Ecn::NotEct));
        // 1000 - 999 500 x 0.0005 = 500.25; 999 500 + 0.5 x 0.9 x 10^6 x 0.0005 = 999 725.
        assert!((law.virtual_queue - 1500.25).abs() < 1e-9, "{law:?}");
        assert!((law.virtual_capacity - 999_225.0).abs() < 1e-9, "{law:?}");
        law.on_arrival(&arrival(at(0.01), 500, Ecn::NotEct));
        // Empty by then; 999 225 + 4275 is more than C, so 10^6 - 250.
        assert_eq!((law.virtual_queue, law.virtual_capacity), (500.0, 999_750.0));
    }

    /// Equation (1): under a steady load lambda, C~ falls at alpha (lambda - gamma C).
    #[test]
    fn the_virtual_rate_follows_equation_1() {
        let mut law = avq(|params| params.offered = true);
        // 1.1 MB/s for one second from C~ = C: 10^6 - 0.15 (1.1 - 0.98) 10^6 = 982 000.
        feed(&mut law, 0.0, 1100);
        assert!((law.virtual_capacity - 982_000.0).abs() < 200.0, "{}", law.virtual_capacity);
        // At gamma C it is constant.
        let before = law.virtual_capacity;
        feed(&mut law, 1.0, 980);
        assert!((law.virtual_capacity - before).abs() < 1e-3);
    }

    #[test]
    fn marked_packets_count_as_load_and_dropped_ones_do_not() {
        let mut law = avq(|_| ());
        (0..10).for_each(|_| assert_eq!(law.on_arrival(&arrival(at(1.0), 1000, Ecn::NotEct)), Verdict::Pass));
        let loaded = law.virtual_capacity;
        assert_eq!(law.on_arrival(&arrival(at(1.0), 1000, Ecn::NotEct)), Verdict::Drop);
        assert_eq!(law.virtual_capacity, loaded);
        assert_eq!(law.on_arrival(&arrival(at(1.0), 1000, Ecn::Ect1)), Verdict::Mark);
        assert_eq!(law.virtual_capacity, loaded - 150.0);
    }

    #[test]
    fn the_virtual_link_follows_the_real_one() {
        let mut law = avq(|_| ());
        law.virtual_capacity = 9e5;
        law.on_link_change(Time::ZERO, Rate::from_bits_per_second(4e6));
        assert_eq!(law.virtual_capacity, 4.5e5);
        // A stopped link neither drains the virtual queue nor changes the virtual rate.
        law.on_link_change(Time::ZERO, Rate::ZERO);
        feed(&mut law, 0.0, 20);
        assert_eq!((law.virtual_queue, law.virtual_capacity), (10_000.0, 4.5e5));
        law.on_link_change(at(20.0), Rate::from_bits_per_second(8e6));
        assert_eq!(law.virtual_capacity, 9e5);
        assert_eq!(law.on_arrival(&arrival(at(20.0011), 100, Ecn::NotEct)), Verdict::Pass);
    }

    #[test]
    fn a_link_that_is_stopped_at_first_begins_with_its_first_rate() {
        let mut law = Avq::new(&Params::default(), &LinkContext { rate: Rate::ZERO, ..context() }).unwrap();
        law.on_arrival(&arrival(at(1.0), 1000, Ecn::NotEct));
        law.on_link_change(at(2.0), Rate::from_bits_per_second(8e6));
        assert_eq!((law.virtual_queue, law.virtual_capacity), (1000.0, 1e6));
    }

    #[test]
    fn the_virtual_buffer_holds_a_packet_behind_the_one_in_transmission() {
        for (limit, taken) in [(1.0, 2), (2.0, 2), (3.0, 3)] {
            let mut law = Avq::new(&Params::default(), &LinkContext { limit, ..context() }).unwrap();
            let passed =
                (0..5).filter(|_| law.on_arrival(&arrival(at(1.0), 1000, Ecn::NotEct)) == Verdict::Pass);
            assert_eq!(passed.count(), taken, "a buffer of {limit}");
        }
    }

    #[test]
    fn a_packet_larger_than_the_virtual_buffer_passes_an_empty_one() {
        let mut law = avq(|params| params.buffer = Some(Amount::Packets(0.5)));
        assert_eq!(law.on_arrival(&arrival(at(1.0), 1000, Ecn::NotEct)), Verdict::Pass);
        assert_eq!(law.on_arrival(&arrival(at(1.0), 1000, Ecn::NotEct)), Verdict::Drop);
        assert_eq!(law.on_arrival(&arrival(at(2.0), 1000, Ecn::NotEct)), Verdict::Pass);
    }
}
