//! A minimal host: feeds a law with precomputed packets at full speed.
//!
//! The backlog rises to the limit and falls to 0 in turn, independent of the verdicts, so that every law has light and
//! heavy load.

use sojourn_aqm::{Arrival, Backlog, Departure, FlowId, Law, LinkContext, Observation, Verdict};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Prob, Span, Time};

/// Packets, and the present time.
pub(crate) struct Tape {
    context: LinkContext,
    packets: Vec<(Arrival, Departure)>,
    /// Duration of one pass.
    length: Span,
    now: Time,
    updated: Time,
}

/// Packets of one rise and fall of the backlog.
const SWING: u32 = 1024;

impl Tape {
    /// Packets at the rate of the link of `context`, which has a buffer limit.
    pub(crate) fn new(context: LinkContext, packets: u32) -> Tape {
        let mut draws = Stream::named(1, "tape");
        let pace = 1.0 / context.capacity();
        let packet = |number: u32| {
            let now = Time::ZERO + Span::from_seconds(pace * f64::from(number + 1));
            let (len, flow) = (context.packet as u32, FlowId((draws.uniform() * 100.0) as u32));
            let ecn = if draws.uniform() < 0.5 { Ecn::Ect0 } else { Ecn::NotEct };
            let swing = f64::from(number % SWING) / f64::from(SWING / 2);
            let held = ((1.0 - (1.0 - swing).abs()) * context.limit) as u32;
            let backlog = Backlog { packets: held, bytes: u64::from(held) * u64::from(len) };
            let victim = (held > 0).then(|| FlowId((draws.uniform() * 100.0) as u32));
            let sojourn = Span::from_seconds(pace * f64::from(held));
            let mut u = || [draws.uniform(), draws.uniform()];
            let arrival = Arrival { now, len, ecn, flow, backlog, victim, u: u() };
            (arrival, Departure { now, len, ecn, flow, sojourn, backlog, u: u() })
        };
        let packets: Vec<_> = (0..packets).map(packet).collect();
        let length = packets.last().expect("a tape has packets").0.now.since(Time::ZERO);
        Tape { context, packets, length, now: Time::ZERO, updated: Time::ZERO }
    }

    /// Feeds the arrival and the departure of all packets; returns the number of verdicts other than pass.
    pub(crate) fn play(&self, law: &mut dyn Law) -> u32 {
        let mut acts = 0;
        for (arrival, departure) in &self.packets {
            acts += u32::from(law.on_arrival(arrival) != Verdict::Pass);
            acts += u32::from(law.on_departure(departure) != Verdict::Pass);
        }
        acts
    }

    /// Shifts the packets to future times.
    pub(crate) fn wind(&mut self) {
        // At least one more pass, and beyond all updates.
        let ahead = self.now.since(self.packets[0].0.now) + self.length;
        for (arrival, departure) in &mut self.packets {
            arrival.now += ahead;
            departure.now += ahead;
        }
        self.now += ahead;
    }

    /// Runs the next update of the law with this backlog; false if there is none.
    pub(crate) fn update(&mut self, law: &mut dyn Law, backlog: f64) -> bool {
        let Some(due) = law.next_update() else { return false };
        self.now = self.now.max(due);
        let elapsed = self.now.since(self.updated).seconds();
        let arrived = self.context.capacity() * elapsed;
        let observed = Observation {
            now: self.now,
            elapsed,
            backlog_packets: backlog,
            backlog_bytes: backlog * self.context.packet,
            head_sojourn: backlog / self.context.capacity(),
            arrived_packets: arrived,
            arrived_bytes: arrived * self.context.packet,
            departed_packets: arrived,
            departed_bytes: arrived * self.context.packet,
            dropped_packets: 0.0,
            marked_packets: 0.01 * arrived,
            busy: elapsed,
            capacity: Some(self.context.rate),
            base_rtt: self.context.base_rtt,
            mean_packet: self.context.packet,
            limit: self.context.limit,
            applied: Prob::clamped(0.01),
        };
        law.on_update(due, &observed);
        self.updated = self.now;
        true
    }
}
