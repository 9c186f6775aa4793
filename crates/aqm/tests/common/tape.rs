//! A host in miniature: shows a law packets that were made beforehand, as fast as it can.
//!
//! The backlog goes up to the limit and down to nothing in turn, whatever the law says, so that every law
//! meets calm and excess.

use sojourn_aqm::{Arrival, Backlog, Departure, FlowId, Law, Observation, Site, Verdict};
use sojourn_units::{Ecn, Prob, Span, Stream, Time};

/// Packets, and the time to which they have been shown.
pub(crate) struct Tape {
    site: Site,
    packets: Vec<(Arrival, Departure)>,
    /// How long one showing takes.
    length: Span,
    now: Time,
    updated: Time,
}

/// Packets of one rise and fall of the backlog.
const SWING: u32 = 1024;

impl Tape {
    /// So many packets at the pace of the link at `site`, which has a limit.
    pub(crate) fn new(site: Site, packets: u32) -> Tape {
        let mut draws = Stream::named(1, "tape");
        let pace = 1.0 / site.capacity();
        let packet = |number: u32| {
            let now = Time::ZERO + Span::from_seconds(pace * f64::from(number + 1));
            let (len, flow) = (site.packet as u32, FlowId((draws.uniform() * 100.0) as u32));
            let ecn = if draws.uniform() < 0.5 { Ecn::Ect0 } else { Ecn::NotEct };
            let swing = f64::from(number % SWING) / f64::from(SWING / 2);
            let held = ((1.0 - (1.0 - swing).abs()) * site.limit) as u32;
            let backlog = Backlog { packets: held, bytes: u64::from(held) * u64::from(len) };
            let victim = (held > 0).then(|| FlowId((draws.uniform() * 100.0) as u32));
            let sojourn = Span::from_seconds(pace * f64::from(held));
            let mut u = || [draws.uniform(), draws.uniform()];
            let arrival = Arrival { now, len, ecn, flow, backlog, victim, u: u() };
            (arrival, Departure { now, len, ecn, flow, sojourn, backlog, u: u() })
        };
        let packets: Vec<_> = (0..packets).map(packet).collect();
        let length = packets.last().expect("a tape has packets").0.now.since(Time::ZERO);
        Tape { site, packets, length, now: Time::ZERO, updated: Time::ZERO }
    }

    /// Shows all packets, each once on its way in and once on its way out; how many did not pass.
    pub(crate) fn play(&self, law: &mut dyn Law) -> u32 {
        let mut acts = 0;
        for (arrival, departure) in &self.packets {
            acts += u32::from(law.on_arrival(arrival) != Verdict::Pass);
            acts += u32::from(law.on_departure(departure) != Verdict::Pass);
        }
        acts
    }

    /// Winds on, so that the packets are of the time to come.
    pub(crate) fn wind(&mut self) {
        // At least one more length, and beyond all updates.
        let ahead = self.now.since(self.packets[0].0.now) + self.length;
        for (arrival, departure) in &mut self.packets {
            arrival.now += ahead;
            departure.now += ahead;
        }
        self.now += ahead;
    }

    /// The update that the law wants next, with so many packets held; whether it wants one.
    pub(crate) fn update(&mut self, law: &mut dyn Law, backlog: f64) -> bool {
        let Some(due) = law.next_update() else { return false };
        self.now = self.now.max(due);
        let elapsed = self.now.since(self.updated).seconds();
        let arrived = self.site.capacity() * elapsed;
        let seen = Observation {
            now: self.now,
            elapsed,
            backlog_packets: backlog,
            backlog_bytes: backlog * self.site.packet,
            head_sojourn: backlog / self.site.capacity(),
            arrived_packets: arrived,
            arrived_bytes: arrived * self.site.packet,
            departed_packets: arrived,
            departed_bytes: arrived * self.site.packet,
            dropped_packets: 0.0,
            marked_packets: 0.01 * arrived,
            busy: elapsed,
            capacity: Some(self.site.rate),
            base_rtt: self.site.base_rtt,
            mean_packet: self.site.packet,
            limit: self.site.limit,
            applied: Prob::clamped(0.01),
        };
        law.on_update(due, &seen);
        self.updated = self.now;
        true
    }
}
