//! Recovery from an unresponsive overload, and from an hour without a link rate.
//!
//! Under an unresponsive overload every law drops the excess and no more: the link
//! stays busy. Afterwards it accepts traffic again; a p or a sum after windup would
//! go on dropping packets below the link rate. A new law needs no line here.

mod common;

use common::Parcel;
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{Cause, Law, LawSpec, Limit, LinkContext, Qdisc, Sink};
use sojourn_aqm::{Entry, catalogue};
use sojourn_params::Value;
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time, math};

#[test]
fn an_overload_keeps_the_link_busy_and_has_no_aftermath() {
    for entry in catalogue::LAWS {
        let stem = entry.page.stem;
        let mut link = Link::new(entry);
        link.offer(3.0, 30.0);
        let lost = link.offer(3.0, 30.0);
        assert!((0.65..0.70).contains(&lost), "{stem}: of three times the link's rate it drops {lost}");
        link.offer(0.3, 30.0);
        let lost = link.offer(0.3, 30.0);
        assert!(SLOW.contains(&stem) || lost < 0.001, "{stem}: half a minute later it drops {lost}");
    }
}

#[test]
fn a_stopped_link_resumes_as_before() {
    for entry in catalogue::LAWS {
        let mut link = Link::new(entry);
        link.offer(0.3, 10.0);
        link.set_rate(Rate::ZERO);
        link.offer(0.02, 3600.0);
        link.set_rate(rate());
        link.offer(0.3, 30.0);
        let lost = link.offer(0.3, 30.0);
        assert!(lost < 0.001, "{}: half a minute later it drops {lost}", entry.page.stem);
    }
}

/// Laws with slow recovery: p of BLUE falls by `decrease` per `freeze`, the price of REM by `gamma` per packet that
/// the link could have sent.
const SLOW: [&str; 2] = ["blue", "rem"];

/// 1000 packets/s.
fn rate() -> Rate {
    Rate::from_bits_per_second(8e6)
}

/// Transmission time of a packet.
const SERVICE: Span = Span::from_millis(1);

/// A link and its qdisc.
struct Link {
    qdisc: Fifo<Parcel, Box<dyn Law>>,
    draws: Stream,
    now: Time,
    /// End of the present transmission.
    free: Option<Time>,
    stands: bool,
    lost: Lost,
}

/// Number of dropped packets.
#[derive(Default)]
struct Lost(u64);

impl Sink<Parcel> for Lost {
    fn dropped(&mut self, _now: Time, _packet: Parcel, _cause: Cause) {
        self.0 += 1;
    }
    fn marked(&mut self, _now: Time, _packet: &Parcel) {}
}

impl Link {
    /// A law with its defaults and a buffer of 100 packets; a target, if there is one, is 20 packets.
    fn new(entry: &Entry) -> Link {
        let base_rtt = Some(Span::from_millis(100));
        let context = LinkContext { rate: rate(), packet: 1000.0, limit: 100.0, flows: Some(20.0), base_rtt };
        let target = [("target".to_string(), Value::Text("20 packets".into()))];
        let built = |params: &[_]| {
            LawSpec::new(entry.page.stem, params).ok()?.design(&context).ok().map(|design| design.law())
        };
        let law = built(&target).or_else(|| built(&[])).expect("every law can be built with its defaults");
        Link {
            qdisc: Fifo::new(law, Limit::Packets(100), context, Stream::named(1, "disc")),
            draws: Stream::named(1, entry.page.stem),
            now: Time::ZERO,
            free: None,
            stands: false,
            lost: Lost::default(),
        }
    }

    fn set_rate(&mut self, rate: Rate) {
        self.qdisc.link_changed(self.now, rate);
        self.stands = rate == Rate::ZERO;
        self.start();
    }

    /// Offers Poisson arrivals of `load` times the link rate; returns the dropped share.
    fn offer(&mut self, load: f64, seconds: f64) -> f64 {
        let end = self.now + Span::from_seconds(seconds);
        let (before, mut arrived) = (self.lost.0, 0.0);
        loop {
            let gap = -math::ln(1.0 - self.draws.uniform()) * SERVICE.seconds() / load;
            let arrival = self.now + Span::from_seconds(gap);
            self.advance(arrival.min(end));
            if arrival > end {
                return (self.lost.0 - before) as f64 / arrived;
            }
            arrived += 1.0;
            let flow = (self.draws.uniform() * 20.0) as u32;
            let parcel = Parcel { number: 0, len: 1000, ecn: Ecn::NotEct, flow };
            self.qdisc.enqueue(self.now, parcel, &mut self.lost);
            self.start();
        }
    }

    /// Runs updates and departures up to `time`, updates first.
    fn advance(&mut self, time: Time) {
        loop {
            let update = self.qdisc.next_update().unwrap_or(Time::NEVER);
            let free = self.free.unwrap_or(Time::NEVER);
            if update.min(free) > time {
                self.now = time;
                return;
            }
            self.now = update.min(free);
            if update <= free {
                self.qdisc.on_update(update, update);
            } else {
                self.free = None;
                self.start();
            }
        }
    }

    /// An idle transmitter takes a packet.
    fn start(&mut self) {
        if self.free.is_none() && !self.stands {
            let taken = self.qdisc.dequeue(self.now, &mut self.lost);
            self.free = taken.map(|_| self.now + SERVICE);
        }
    }
}
