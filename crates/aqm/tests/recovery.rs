//! An overload that nobody answers, and a link that stands still for an hour.
//!
//! Under an overload that takes no notice every law drops what is too much, and no
//! more: the link stays busy. Once the trouble is over it lets traffic through
//! again: a p that has run away, or a sum that has wound up, would go on dropping
//! what the link has room for. A new law needs no line here.

mod common;

use common::Parcel;
use sojourn_aqm::catalogue::{self, Entry};
use sojourn_aqm::discs::Fifo;
use sojourn_aqm::{Cause, Disc, Law, Limit, Sink, Site};
use sojourn_units::{Ecn, Rate, Span, Stream, Time, Value, math};

#[test]
fn an_overload_leaves_the_link_busy_and_is_forgotten() {
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
fn a_link_that_stood_still_goes_on_as_before() {
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

/// What these have learnt goes away at their own pace: BLUE's by `decrease` for each `freeze`, the price of REM
/// by `gamma` for each packet that the link could have sent.
const SLOW: [&str; 2] = ["blue", "rem"];

/// 1000 packets/s.
fn rate() -> Rate {
    Rate::from_bits_per_second(8e6)
}

/// What a packet takes.
const SERVICE: Span = Span::from_millis(1);

/// A link and the disc in front of it.
struct Link {
    disc: Fifo<Parcel, Box<dyn Law>>,
    draws: Stream,
    now: Time,
    /// When the packet on the wire will have left.
    free: Option<Time>,
    stands: bool,
    lost: Lost,
}

/// How many packets were dropped.
#[derive(Default)]
struct Lost(u64);

impl Sink<Parcel> for Lost {
    fn dropped(&mut self, _now: Time, _packet: Parcel, _cause: Cause) {
        self.0 += 1;
    }
    fn marked(&mut self, _now: Time, _packet: &Parcel) {}
}

impl Link {
    /// Under a law with its defaults, in front of 100 packets; where a target can be told it is 20 of them.
    fn new(entry: &Entry) -> Link {
        let base_rtt = Some(Span::from_millis(100));
        let site = Site { rate: rate(), packet: 1000.0, limit: 100.0, flows: Some(20.0), base_rtt };
        let target = [("target".to_string(), Value::Text("20 packets".into()))];
        let law = (entry.build)(&target, &site).or_else(|_| (entry.build)(&[], &site)).unwrap();
        Link {
            disc: Fifo::new(law, Limit::Packets(100), site, Stream::named(1, "disc")),
            draws: Stream::named(1, entry.page.stem),
            now: Time::ZERO,
            free: None,
            stands: false,
            lost: Lost::default(),
        }
    }

    fn set_rate(&mut self, rate: Rate) {
        self.disc.link_changed(self.now, rate);
        self.stands = rate == Rate::ZERO;
        self.ask();
    }

    /// Poisson arrivals of so many times the link's rate; the share of them that was dropped.
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
            self.disc.enqueue(self.now, parcel, &mut self.lost);
            self.ask();
        }
    }

    /// Lets updates and departures up to `time` happen, updates first.
    fn advance(&mut self, time: Time) {
        loop {
            let update = self.disc.next_update().unwrap_or(Time::NEVER);
            let free = self.free.unwrap_or(Time::NEVER);
            if update.min(free) > time {
                self.now = time;
                return;
            }
            self.now = update.min(free);
            if update <= free {
                self.disc.on_update(update, update);
            } else {
                self.free = None;
                self.ask();
            }
        }
    }

    /// A transmitter with nothing to do asks for a packet.
    fn ask(&mut self) {
        if self.free.is_none() && !self.stands {
            let taken = self.disc.dequeue(self.now, &mut self.lost);
            self.free = taken.map(|_| self.now + SERVICE);
        }
    }
}
