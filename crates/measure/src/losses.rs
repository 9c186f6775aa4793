//! Losses at a link, flow by flow: runs of lost packets, and loss events that flows share.
//!
//! A *run* is a row of packets of a flow that are all lost at the link, in the order in which the flow sent them: a loss
//! period of RFC 3357, at one hop. Packets of a flow leave in the order of their arrival, so each departure
//! is that of the oldest one, and so is a drop, except where the qdisc drops the packet that it is being offered.
//!
//! A *loss event* begins with a drop and lasts for the link's base RTT, within which a sender does not respond to more
//! than one loss (RFC 5348, section 5.2, counts loss events by the same time). Its synchronisation is the share of
//! the flows with a packet offered or dropped in it that lost one.

use crate::Histogram;
use sojourn_aqm::Cause;
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Fate of a packet at a qdisc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Offered,
    Delivered,
    Dropped(Cause),
    Marked,
}

/// Losses at a link, for windows of time.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    /// Duration of a loss event.
    length: Span,
    flows: Vec<FlowLosses>,
    event: Option<Event>,
    /// Number of the last loss event.
    events: u32,
    /// The next drop is that of the packet being offered.
    is_refused: bool,
    part: LossPart,
}

/// Losses in a part of the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossPart {
    /// Loss events that ended.
    events: u64,
    /// Sum of their synchronisations.
    synchronized: f64,
    /// Runs that ended, by class.
    runs: Vec<Runs>,
}

/// Lengths of runs, packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    spread: Histogram<6>,
    packets: u64,
    longest: u64,
}

#[derive(Clone, Debug, Default)]
struct FlowLosses {
    /// For each packet that the qdisc holds, oldest first: the packets after it that were refused.
    held: VecDeque<u32>,
    /// Lost packets since the last one that left.
    run: u32,
    /// The last loss event in which it had a packet, and the last in which it lost one.
    seen: u32,
    hit: u32,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    until: Time,
    /// Flows with a packet, and those that lost one.
    flows: u32,
    hit: u32,
}

impl Losses {
    /// No losses; loss events last for `length`.
    pub(crate) fn new(length: Span) -> Losses {
        let (flows, part) = (Vec::new(), LossPart::default());
        Losses { length, flows, event: None, events: 0, is_refused: false, part }
    }

    /// The next drop is that of the packet being offered.
    pub(crate) fn refuse(&mut self) {
        self.is_refused = true;
    }

    /// Counts an event of a packet; those of a link come in the order of time.
    pub(crate) fn count(&mut self, now: Time, flow: u32, class: u32, fate: Fate) {
        self.end_event(now);
        let place = flow as usize;
        if place >= self.flows.len() {
            self.flows.resize_with(place + 1, FlowLosses::default);
        }
        match fate {
            Fate::Offered => {
                self.flows[place].held.push_back(0);
                self.see(place);
            }
            Fate::Delivered => self.leave(place, class, false),
            // Removed ACKs are no losses.
            Fate::Dropped(Cause::AckFilter) => {
                let (is_refused, held) = (std::mem::take(&mut self.is_refused), &mut self.flows[place].held);
                _ = if is_refused { held.pop_back() } else { held.pop_front() };
            }
            Fate::Dropped(_) => self.lose(now, place, class),
            Fate::Marked => {}
        }
    }

    /// Ends a part at `now`; returns it.
    pub(crate) fn take(&mut self, now: Time) -> LossPart {
        self.end_event(now);
        std::mem::take(&mut self.part)
    }

    fn lose(&mut self, now: Time, place: usize, class: u32) {
        if self.event.is_none() {
            self.events += 1;
            self.event = Some(Event { until: now + self.length, flows: 0, hit: 0 });
        }
        self.see(place);
        let (flow, number) = (&mut self.flows[place], self.events);
        if let Some(event) = self.event.as_mut().filter(|_| flow.hit != number) {
            (flow.hit, event.hit) = (number, event.hit + 1);
        }
        if std::mem::take(&mut self.is_refused) {
            flow.held.pop_back();
            match flow.held.back_mut() {
                Some(refused) => *refused += 1,
                None => flow.run += 1,
            }
        } else {
            self.leave(place, class, true);
        }
    }

    /// The oldest packet of a flow leaves the qdisc.
    fn leave(&mut self, place: usize, class: u32, is_lost: bool) {
        let flow = &mut self.flows[place];
        let refused = flow.held.pop_front().unwrap_or_default();
        if is_lost {
            flow.run += 1 + refused;
            return;
        }
        let run = std::mem::replace(&mut flow.run, refused);
        if run > 0 {
            self.part.runs_of(class).add(run.into());
        }
    }

    /// Counts a flow in the present loss event.
    fn see(&mut self, place: usize) {
        let (flow, number) = (&mut self.flows[place], self.events);
        if let Some(event) = self.event.as_mut().filter(|_| flow.seen != number) {
            (flow.seen, event.flows) = (number, event.flows + 1);
        }
    }

    fn end_event(&mut self, now: Time) {
        if let Some(event) = self.event.take_if(|event| event.until <= now) {
            self.part.events += 1;
            self.part.synchronized += f64::from(event.hit) / f64::from(event.flows);
        }
    }
}

impl LossPart {
    fn runs_of(&mut self, class: u32) -> &mut Runs {
        let place = class as usize;
        if place >= self.runs.len() {
            self.runs.resize_with(place + 1, Runs::default);
        }
        &mut self.runs[place]
    }

    /// Adds a later part.
    pub(crate) fn add(&mut self, other: &LossPart) {
        self.events += other.events;
        self.synchronized += other.synchronized;
        for (class, runs) in (0..).zip(&other.runs) {
            self.runs_of(class).merge(runs);
        }
    }

    /// Loss events, and the mean of their synchronisations; None without events.
    pub(crate) fn events(&self) -> (u64, Option<f64>) {
        (self.events, (self.events > 0).then(|| self.synchronized / self.events as f64))
    }

    /// Runs of all classes.
    pub(crate) fn runs(&self) -> Runs {
        let mut all = Runs::default();
        self.runs.iter().for_each(|runs| all.merge(runs));
        all
    }

    /// Runs of a class, where it had any.
    pub(crate) fn runs_in(&self, class: u32) -> Option<&Runs> {
        self.runs.get(class as usize)
    }
}

impl Runs {
    fn add(&mut self, length: u64) {
        self.spread.add(length, 1);
        self.packets += length;
        self.longest = self.longest.max(length);
    }

    fn merge(&mut self, other: &Runs) {
        self.spread.merge(&other.spread);
        self.packets += other.packets;
        self.longest = self.longest.max(other.longest);
    }

    /// Mean, 95 % quantile and maximum of the lengths; None without runs.
    pub(crate) fn lengths(&self) -> [Option<f64>; 3] {
        let count = self.spread.total();
        let of = |value: f64| (count > 0).then_some(value);
        [of(self.packets as f64 / count as f64), self.spread.quantile(0.95), of(self.longest as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Packets 1 to 9 of a flow: 2, 3, 5 and 8 are refused, 4 and 6 are dropped at the head. Lost: 2 to 6 and 8.
    #[test]
    fn a_run_is_in_the_order_of_arrivals_wherever_its_packets_are_dropped() {
        let mut losses = Losses::new(Span::from_millis(10));
        for packet in 1..=9 {
            losses.count(at(packet), 0, 0, Fate::Offered);
            if [2, 3, 5, 8].contains(&packet) {
                losses.refuse();
                losses.count(at(packet), 0, 0, Fate::Dropped(Cause::Overflow));
            }
        }
        for packet in [1, 4, 6, 7, 9] {
            let lost = [4, 6].contains(&packet);
            let fate = if lost { Fate::Dropped(Cause::Law) } else { Fate::Delivered };
            losses.count(at(20 + packet), 0, 0, fate);
        }
        assert_eq!(losses.part.runs().lengths(), [Some(3.0), Some(5.0), Some(5.0)]);
    }

    /// Of three flows two lose a packet within the first event, and one of one within the second.
    #[test]
    fn synchronisation_is_the_share_of_the_flows_of_an_event_that_lost_a_packet() {
        let mut losses = Losses::new(Span::from_millis(10));
        let mut offer = |millis: u64, flow: u32, is_lost: bool| {
            losses.count(at(millis), flow, 0, Fate::Offered);
            if is_lost {
                losses.refuse();
                losses.count(at(millis), flow, 0, Fate::Dropped(Cause::Law));
            }
        };
        offer(0, 3, false);
        offer(1, 0, true);
        offer(2, 0, true);
        offer(3, 1, false);
        offer(4, 2, true);
        // The event ends at 11 ms.
        offer(11, 1, false);
        offer(12, 1, true);
        let part = losses.take(at(30));
        assert_eq!(part.events(), (2, Some(f64::midpoint(2.0 / 3.0, 1.0))));
        assert_eq!(losses.take(at(40)).events(), (0, None));
    }
}
