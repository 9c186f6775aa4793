//! AVQ: adaptive virtual queue.
//!
//! S. Kunniyur, R. Srikant, "An Adaptive Virtual Queue (AVQ) Algorithm for
//! Active Queue Management", IEEE/ACM Transactions on Networking 12(2), 2004
//! (first at ACM SIGCOMM 2001). Beside the real queue a number is kept, the
//! length that the queue would have on a somewhat slower link. When this virtual
//! queue overflows, the packet in hand is marked or dropped. The virtual link's
//! rate is itself adapted, until what arrives is the share `gamma` of what the
//! real link can send:
//!
//! ```text
//! dC~/dt = alpha (gamma C - lambda)                                  (1)
//! ```
//!
//! At each arrival of b bytes at t, s being the time of the last one:
//!
//! ```text
//! VQ <- max(VQ - C~ (t - s), 0)                                      (2)
//! VQ + b > B:  mark or drop;  else  VQ <- VQ + b                     (3)
//! C~ <- max(min(C~ + alpha gamma C (t - s), C) - alpha b, 0)         (4)
//! ```
//!
//! Nothing here looks at the real queue and nothing is drawn at random. An empty
//! virtual queue takes any packet: a virtual buffer below one packet would mark
//! all of them for ever.

use crate::catalogue::Entry;
use crate::law::{Arrival, Gauges, Given, Law, Verdict};
use crate::parts::buffer;
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Amount, Fault, Page, Prob, Rate, Time};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "avq",
        summary: "adaptive virtual queue: mark what would overflow a somewhat slower link",
        idea: "Beside the real queue there is a number: the length that it would have on a somewhat slower link. \
               Packets that would overflow this virtual queue are marked or dropped. The slower link's rate \
               falls with each byte that arrives and rises with time, until what arrives is a given share \
               of the real rate. So the real queue stays short, at the price of that share.",
        equation: "C~ <- max(min(C~ + alpha gamma C dt, C) - alpha b, 0);  mark where VQ + b > B",
        source: "S. Kunniyur, R. Srikant, IEEE/ACM Transactions on Networking 12(2), 2004",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(Avq::new(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of AVQ.
    pub struct Params {
        /// share of the link's rate that is wanted to arrive
        gamma: f64 = 0.98, "gamma", "more than 0, at most 1" if |g| Prob::new(*g).is_some_and(|g| g > Prob::ZERO),
            "Kunniyur 2004: as much as leaves room for the queue to drain";
        /// how fast the virtual rate adapts, 1/s
        alpha: f64 = 0.15, "alpha", "more than 0, at most 100" if |a| *a > 0.0 && *a <= 100.0,
            "Kunniyur 2004, the simulations";
        /// share of the link's rate that the virtual link begins with
        start: f64 = 1.0, "C~(0) / C", "more than 0, at most 1" if |s| *s > 0.0 && *s <= 1.0,
            "the paper is silent, and the real rate marks nothing that need not be; 0.8 is ns-2's, which its author wrote";
        /// count packets that AVQ drops as load, too
        offered: bool = false, "lambda", "true or false" if |_| true,
            "gamma is of what the link gets to send, as in ns-2's AVQ; true is the paper's code to the letter";
        /// length of the virtual queue that is too long
        buffer: Option<Amount> = None, "B", "more than 0" if |_| true,
            "the real buffer, Kunniyur 2004, at least 2 packets, as the one being sent is counted; where the real one \
             has no limit, what the link sends in a round-trip time";
    }
}

/// The adaptive virtual queue.
#[derive(Clone, Debug)]
pub struct Avq {
    gamma: f64,
    alpha: f64,
    offered: bool,
    start: f64,
    /// B, bytes.
    buffer: f64,
    /// C, bytes/s; the last one above 0.
    capacity: f64,
    /// Whether the link stands still.
    stopped: bool,

    /// C~, bytes/s.
    virtual_capacity: f64,
    /// VQ, bytes.
    virtual_queue: f64,
    /// s; none before the first packet.
    last: Option<Time>,
}

impl Avq {
    /// AVQ in front of the link at `site`; the virtual queue is empty.
    pub fn new(params: &Params, site: &Site) -> Result<Avq, Fault> {
        let capacity = site.rate.bits_per_second() / 8.0;
        Ok(Avq {
            gamma: params.gamma,
            alpha: params.alpha,
            offered: params.offered,
            start: params.start,
            buffer: virtual_buffer(params.buffer, site)? * site.packet,
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
        // The virtual link stays the same share of the real one.
        self.virtual_capacity = if self.capacity > 0.0 {
            self.virtual_capacity * (capacity / self.capacity)
        } else {
            self.start * capacity
        };
        self.capacity = capacity;
    }

    fn retune(&mut self, _now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        let fresh = Avq::new(&Params::from_values(given)?, site)?;
        let Avq { capacity, stopped, virtual_capacity, virtual_queue, last, .. } = *self;
        *self = Avq { capacity, stopped, virtual_capacity, virtual_queue, last, ..fresh };
        Ok(())
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("buffer", "B", self.buffer);
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("virtual_rate", "bit/s", 8.0 * self.virtual_capacity);
        out.gauge("virtual_queue", "B", self.virtual_queue);
    }
}

impl Avq {
    /// Equation (2), and of (4) what time alone does; while the link stands still, nothing.
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

/// B in packets, of what is given and the place. A virtual buffer of one packet would hold the packet that is being sent and none behind it; the
/// real one has that packet besides.
pub fn virtual_buffer(given: Option<Amount>, site: &Site) -> Result<f64, Fault> {
    let buffer = buffer::buffer(given, site)?;
    Ok(if given.is_none() { buffer.max(FEWEST) } else { buffer })
}

/// Packets in the virtual buffer at least, where none is given: one that is sent and one that waits.
const FEWEST: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::{Ecn, Span};

    /// 1 MB/s, 10 packets of 1000 B.
    fn site() -> Site {
        let rate = Rate::from_bits_per_second(8e6);
        Site { rate, packet: 1000.0, limit: 10.0, flows: None, base_rtt: None }
    }

    fn avq(change: impl Fn(&mut Params)) -> Avq {
        let mut params = Params::default();
        change(&mut params);
        Avq::new(&params, &site()).unwrap()
    }

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_seconds(seconds)
    }

    fn arrival(now: Time, len: u32, ecn: Ecn) -> Arrival {
        let backlog = Backlog::default();
        Arrival { now, len, ecn, flow: FlowId(0), backlog, victim: None, u: [0.0, 0.0] }
    }

    /// So many packets of 1000 B in the second after `from`.
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
        // What is marked is not put into the virtual queue; it does slow the virtual link.
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
    fn the_virtual_rate_moves_as_the_fluid_says() {
        let mut law = avq(|params| params.offered = true);
        // 1.1 MB/s for one second from C~ = C: 10^6 - 0.15 (1.1 - 0.98) 10^6 = 982 000.
        feed(&mut law, 0.0, 1100);
        assert!((law.virtual_capacity - 982_000.0).abs() < 200.0, "{}", law.virtual_capacity);
        // At gamma C it stays where it is.
        let before = law.virtual_capacity;
        feed(&mut law, 1.0, 980);
        assert!((law.virtual_capacity - before).abs() < 1e-3);
    }

    #[test]
    fn what_is_dropped_is_no_load_and_what_is_marked_is() {
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
        // A link that stands still drains nothing and teaches nothing.
        law.on_link_change(Time::ZERO, Rate::ZERO);
        feed(&mut law, 0.0, 20);
        assert_eq!((law.virtual_queue, law.virtual_capacity), (10_000.0, 4.5e5));
        law.on_link_change(at(20.0), Rate::from_bits_per_second(8e6));
        assert_eq!(law.virtual_capacity, 9e5);
        assert_eq!(law.on_arrival(&arrival(at(20.0011), 100, Ecn::NotEct)), Verdict::Pass);
    }

    #[test]
    fn a_link_that_stands_still_at_first_begins_when_it_goes() {
        let mut law = Avq::new(&Params::default(), &Site { rate: Rate::ZERO, ..site() }).unwrap();
        law.on_arrival(&arrival(at(1.0), 1000, Ecn::NotEct));
        law.on_link_change(at(2.0), Rate::from_bits_per_second(8e6));
        assert_eq!((law.virtual_queue, law.virtual_capacity), (1000.0, 1e6));
    }

    #[test]
    fn behind_the_packet_that_is_sent_there_is_room_for_another() {
        for (limit, taken) in [(1.0, 2), (2.0, 2), (3.0, 3)] {
            let mut law = Avq::new(&Params::default(), &Site { limit, ..site() }).unwrap();
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
