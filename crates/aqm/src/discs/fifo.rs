//! First in, first out, under one law.
//!
//! The plain queue: a packet that the law lets in and that fits goes to the
//! tail, the link takes from the head. The law judges every arrival, also one
//! that then finds the buffer full: RED's average, for example, is of arrivals.
//! When a packet does not fit, the law has said which one goes: that packet, or
//! those at the head.

use crate::disc::{Cause, Counts, Disc, Limit, Packet, Sink};
use crate::law::{Arrival, Backlog, Departure, Gauges, Given, Law, Observation, Overflow, Verdict};
use crate::site::Site;
use sojourn_units::{Fault, Prob, Rate, Span, Stream, Time, Value};
use std::collections::VecDeque;

/// A first-in-first-out disc under the law `L`.
#[derive(Clone)]
pub struct Fifo<P, L> {
    law: L,
    /// The law's parameters.
    given: Vec<(String, Value)>,
    limit: Limit,
    overflow: Overflow,
    wants_victim: bool,
    site: Site,
    /// The last rate above 0.
    last_rate: Rate,
    draws: Stream,
    held: VecDeque<(Time, P)>,
    bytes: u64,
    counts: Counts,
    window: Window,
}

/// What happened since the law's last update.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    start: Time,
    counts: Counts,
    arrived_bytes: u64,
    departed_bytes: u64,
    busy: Span,
    /// Since when there has been a backlog, as far as `busy` has not counted it.
    backlog_since: Time,
}

impl<P: Packet, L: Law> Fifo<P, L> {
    /// An empty queue; `draws` is its own stream of random numbers.
    pub fn new(law: L, limit: Limit, site: Site, draws: Stream) -> Fifo<P, L> {
        let (overflow, wants_victim) = (law.overflow(), law.wants_victim());
        Fifo {
            law,
            given: Vec::new(),
            limit,
            overflow,
            wants_victim,
            site,
            last_rate: site.rate,
            draws,
            held: VecDeque::new(),
            bytes: 0,
            counts: Counts::default(),
            window: Window::default(),
        }
    }

    /// The same, with the parameters that its law was built with: those that it keeps when others are set.
    pub fn given(self, given: &Given) -> Fifo<P, L> {
        Fifo { given: given.to_vec(), ..self }
    }

    fn uniforms(&mut self) -> [f64; 2] {
        [self.draws.uniform(), self.draws.uniform()]
    }

    /// Where the packet stands that goes with the arriving one, should the law want that.
    fn victim(&self, draw: f64) -> Option<usize> {
        let held = self.held.len();
        (self.wants_victim && held > 0).then(|| ((draw * held as f64) as usize).min(held - 1))
    }

    /// Accounts for a packet of `len` bytes that is no longer held.
    fn released(&mut self, now: Time, len: u32) {
        self.bytes -= u64::from(len);
        if self.held.is_empty() {
            self.window.busy += now.since(self.window.backlog_since);
        }
    }

    fn overflowed(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        self.counts.overflowed += 1;
        self.law.on_overflow(now);
        out.dropped(now, packet, Cause::Overflow);
    }

    fn observe(&mut self, now: Time) -> Observation {
        if !self.held.is_empty() {
            self.window.busy += now.since(self.window.backlog_since);
            self.window.backlog_since = now;
        }
        let (before, seen) = (self.window.counts, self.counts);
        let arrived = (seen.offered - before.offered) as f64;
        let marked = (seen.marked - before.marked) as f64;
        let dropped_by_law = (seen.dropped_by_law - before.dropped_by_law) as f64;
        Observation {
            now,
            elapsed: now.since(self.window.start).seconds(),
            backlog_packets: self.held.len() as f64,
            backlog_bytes: self.bytes as f64,
            head_sojourn: self.held.front().map_or(0.0, |(since, _)| now.since(*since).seconds()),
            arrived_packets: arrived,
            arrived_bytes: self.window.arrived_bytes as f64,
            departed_packets: (seen.delivered - before.delivered) as f64,
            departed_bytes: self.window.departed_bytes as f64,
            dropped_packets: (seen.dropped() - before.dropped()) as f64,
            marked_packets: marked,
            busy: self.window.busy.seconds(),
            capacity: Some(self.site.rate),
            base_rtt: self.site.base_rtt,
            mean_packet: self.site.packet,
            limit: self.site.limit,
            applied: Prob::clamped(if arrived > 0.0 { (marked + dropped_by_law) / arrived } else { 0.0 }),
        }
    }
}

/// What leaves.
impl<P: Packet + Send, L: Law> Fifo<P, L> {
    /// The packet at the head, if there is one and the law lets it go.
    #[expect(clippy::inline_always, reason = "every packet calls it once, most often from one place")]
    #[inline(always)]
    fn take_head(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        let (since, mut packet) = self.held.pop_front()?;
        let (len, ecn, sojourn) = (packet.len(), packet.ecn(), now.since(since));
        self.released(now, len);
        let (backlog, u) = (self.backlog(), self.uniforms());
        let departure = Departure { now, len, ecn, flow: packet.flow(), sojourn, backlog, u };
        match self.law.on_departure(&departure) {
            Verdict::Drop | Verdict::DropBoth => {
                self.counts.dropped_by_law += 1;
                out.dropped(now, packet, Cause::Law);
                return None;
            }
            Verdict::Mark if ecn.is_capable() => {
                self.counts.marked += 1;
                packet.set_ce();
                out.marked(now, &packet);
            }
            Verdict::Pass | Verdict::Mark => {}
        }
        self.counts.delivered += 1;
        self.window.departed_bytes += u64::from(len);
        Some((packet, sojourn))
    }

    /// The packet at the head did not leave: the next one that does.
    #[cold]
    fn take_behind_head(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        while !self.held.is_empty() {
            let taken = self.take_head(now, out);
            if taken.is_some() {
                return taken;
            }
        }
        self.law.on_idle(now);
        None
    }
}

impl<P: Packet + Send, L: Law> Disc<P> for Fifo<P, L> {
    fn enqueue(&mut self, now: Time, mut packet: P, out: &mut dyn Sink<P>) {
        let (len, ecn, flow, backlog) = (packet.len(), packet.ecn(), packet.flow(), self.backlog());
        self.counts.offered += 1;
        self.window.arrived_bytes += u64::from(len);
        let u = self.uniforms();
        let place = self.victim(u[1]);
        let victim = place.map(|place| self.held[place].1.flow());
        let verdict = self.law.on_arrival(&Arrival { now, len, ecn, flow, backlog, victim, u });
        let before = match self.overflow {
            Overflow::Tail => backlog,
            Overflow::Head => Backlog::default(),
        };
        if !self.limit.admits(before, len) {
            return self.overflowed(now, packet, out);
        }
        match verdict {
            Verdict::Mark if ecn.is_capable() => {
                self.counts.marked += 1;
                packet.set_ce();
                out.marked(now, &packet);
            }
            Verdict::Pass | Verdict::Mark => {}
            Verdict::Drop | Verdict::DropBoth => {
                self.counts.dropped_by_law += 1;
                out.dropped(now, packet, Cause::Law);
                if let (Verdict::DropBoth, Some(place)) = (verdict, place) {
                    self.counts.dropped_by_law += 1;
                    let (_, victim) = self.held.remove(place).expect("a packet that is held");
                    self.released(now, victim.len());
                    out.dropped(now, victim, Cause::Law);
                }
                return;
            }
        }
        while !self.limit.admits(self.backlog(), len) {
            let (_, oldest) = self.held.pop_front().expect("what does not fit an empty buffer is gone");
            self.released(now, oldest.len());
            self.overflowed(now, oldest, out);
        }
        if self.held.is_empty() {
            self.window.backlog_since = now;
        }
        self.bytes += u64::from(len);
        self.held.push_back((now, packet));
    }

    fn dequeue(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        // Without a loop, whose start and end most packets would pay for.
        let taken = self.take_head(now, out);
        if taken.is_some() { taken } else { self.take_behind_head(now, out) }
    }

    fn next_update(&self) -> Option<Time> {
        self.law.next_update()
    }

    fn on_update(&mut self, due: Time, now: Time) {
        let seen = self.observe(now);
        self.law.on_update(due, &seen);
        self.window = Window { start: now, counts: self.counts, backlog_since: now, ..Window::default() };
    }

    fn link_changed(&mut self, now: Time, rate: Rate) {
        self.site.rate = rate;
        if rate > Rate::ZERO {
            self.last_rate = rate;
        }
        self.law.on_link_change(now, rate);
    }

    fn retune(&mut self, now: Time, set: &Given) -> Result<(), Fault> {
        let mut given = self.given.clone();
        for (key, value) in set {
            match given.iter_mut().find(|(known, _)| known == key) {
                Some((_, old)) => old.clone_from(value),
                None => given.push((key.clone(), value.clone())),
            }
        }
        self.law.retune(now, &given, &Site { rate: self.last_rate, ..self.site })?;
        self.given = given;
        Ok(())
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.held.len() as u32, bytes: self.bytes }
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn target_packets(&self) -> Option<f64> {
        self.law.target_packets()
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        self.law.gauges(out);
    }
}
