//! First in, first out, under one law.
//!
//! A packet that the law accepts and that fits is appended at the tail; the link takes from the head. The law gives a
//! verdict on every arrival, also at a full buffer: RED's average, for example, is over arrivals. The law's
//! [`Overflow`] selects the packet that is dropped when an arrival does not fit.

use super::queue::Queue;
use crate::gauges::Gauges;
use crate::law::{Arrival, Backlog, Departure, Law, Overflow, Properties, Verdict};
use crate::link_context::LinkContext;
use crate::qdisc::{Cause, Counts, Limit, Packet, Qdisc, Sink};
use sojourn_params::{Given, InputError};
use sojourn_random::Stream;
use sojourn_units::{Rate, Span, Time};
use std::collections::VecDeque;

/// A first-in-first-out qdisc under the law `L`.
#[derive(Clone)]
pub struct Fifo<P, L> {
    queue: Queue<L>,
    counts: Counts,
    held: VecDeque<(Time, P)>,
    /// Parameters of the law; None: not given.
    given: Option<Given>,
    limit: Limit,
    overflow: Overflow,
    wants_victim: bool,
    context: LinkContext,
    /// Last link rate above 0.
    last_rate: Rate,
    draws: Stream,
}

impl<P: Packet, L: Law> Fifo<P, L> {
    /// An empty queue; `draws` is its own random stream.
    pub fn new(law: L, limit: Limit, context: LinkContext, draws: Stream) -> Fifo<P, L> {
        let Properties { overflow, wants_victim, .. } = law.properties();
        Fifo {
            queue: Queue::new(law),
            counts: Counts::default(),
            held: VecDeque::new(),
            given: None,
            limit,
            overflow,
            wants_victim,
            context,
            last_rate: context.rate,
            draws,
        }
    }

    /// Sets the parameters that the law was built with; [`Qdisc::set_params`] keeps those that it does not set.
    pub fn given(self, given: Given) -> Fifo<P, L> {
        Fifo { given: Some(given), ..self }
    }

    fn uniforms(&mut self) -> [f64; 2] {
        [self.draws.uniform(), self.draws.uniform()]
    }

    /// Index of the victim, if the law needs one.
    fn victim(&self, draw: f64) -> Option<usize> {
        let held = self.held.len();
        (self.wants_victim && held > 0).then(|| ((draw * held as f64) as usize).min(held - 1))
    }

    fn count_drop(&mut self) {
        self.queue.count_drop();
        self.counts.dropped_by_law += 1;
    }

    fn count_mark(&mut self) {
        self.queue.count_mark();
        self.counts.marked += 1;
    }

    fn overflowed(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        self.queue.overflow(now);
        self.counts.overflowed += 1;
        out.dropped(now, packet, Cause::Overflow);
    }
}

/// Departures.
impl<P: Packet + Send, L: Law> Fifo<P, L> {
    /// Takes the packet at the head; None: the queue is empty or the law drops the packet.
    #[expect(clippy::inline_always, reason = "every packet calls it once, most often from one place")]
    #[inline(always)]
    fn take_head(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        let (since, mut packet) = self.held.pop_front()?;
        let (len, ecn, sojourn) = (packet.len(), packet.ecn(), now.since(since));
        self.queue.remove(now, len);
        let (backlog, u) = (self.backlog(), self.uniforms());
        let departure = Departure { now, len, ecn, flow: packet.flow(), sojourn, backlog, u };
        match self.queue.judge_departure(&departure) {
            Verdict::Drop | Verdict::DropBoth => {
                self.count_drop();
                out.dropped(now, packet, Cause::Law);
                return None;
            }
            Verdict::Mark if ecn.is_capable() => {
                self.count_mark();
                packet.set_ce();
                out.marked(now, &packet);
            }
            Verdict::Pass | Verdict::Mark => {}
        }
        self.queue.count_delivery(len);
        self.counts.delivered += 1;
        Some((packet, sojourn))
    }

    /// Takes the next packet that the law does not drop, after the head was dropped.
    #[cold]
    fn take_behind_head(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        while !self.held.is_empty() {
            let taken = self.take_head(now, out);
            if taken.is_some() {
                return taken;
            }
        }
        self.queue.law.on_idle(now);
        None
    }
}

impl<P: Packet + Send, L: Law> Qdisc<P> for Fifo<P, L> {
    fn enqueue(&mut self, now: Time, mut packet: P, out: &mut dyn Sink<P>) {
        let (len, ecn, flow, backlog) = (packet.len(), packet.ecn(), packet.flow(), self.backlog());
        let u = self.uniforms();
        let place = self.victim(u[1]);
        let victim = place.map(|place| self.held[place].1.flow());
        self.counts.offered += 1;
        let verdict = self.queue.judge_arrival(&Arrival { now, len, ecn, flow, backlog, victim, u });
        let before = match self.overflow {
            Overflow::Tail => backlog,
            Overflow::Head => Backlog::default(),
        };
        if !self.limit.admits(before, len) {
            return self.overflowed(now, packet, out);
        }
        match verdict {
            Verdict::Mark if ecn.is_capable() => {
                self.count_mark();
                packet.set_ce();
                out.marked(now, &packet);
            }
            Verdict::Pass | Verdict::Mark => {}
            Verdict::Drop | Verdict::DropBoth => {
                self.count_drop();
                out.dropped(now, packet, Cause::Law);
                if let (Verdict::DropBoth, Some(place)) = (verdict, place) {
                    self.count_drop();
                    let (_, victim) = self.held.remove(place).expect("a packet that is held");
                    self.queue.remove(now, victim.len());
                    out.dropped(now, victim, Cause::Law);
                }
                return;
            }
        }
        while !self.limit.admits(self.backlog(), len) {
            let (_, oldest) =
                self.held.pop_front().expect("a packet that exceeds an empty buffer is dropped before");
            self.queue.remove(now, oldest.len());
            self.overflowed(now, oldest, out);
        }
        self.queue.add(now, len);
        self.held.push_back((now, packet));
    }

    fn dequeue(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)> {
        // No loop here: most packets would pay for its setup.
        let taken = self.take_head(now, out);
        if taken.is_some() { taken } else { self.take_behind_head(now, out) }
    }

    fn next_update(&self) -> Option<Time> {
        self.queue.law.next_update()
    }

    fn on_update(&mut self, due: Time, now: Time) {
        let head = self.held.front().map(|(since, _)| *since);
        self.queue.update(due, now, head, &self.context);
    }

    fn link_changed(&mut self, now: Time, rate: Rate) {
        self.context.rate = rate;
        if rate > Rate::ZERO {
            self.last_rate = rate;
        }
        self.queue.law.on_link_change(now, rate);
    }

    fn set_params(&mut self, now: Time, change: &Given) -> Result<(), InputError> {
        let given = match &self.given {
            Some(given) => given.with(change)?,
            None => change.clone(),
        };
        self.queue.law.set_params(now, &given, &LinkContext { rate: self.last_rate, ..self.context })?;
        self.queue.watch(now);
        self.given = Some(given);
        Ok(())
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn target_packets(&self) -> Option<f64> {
        self.queue.law.analysis().target_packets()
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        self.queue.law.gauges(out);
    }
}
