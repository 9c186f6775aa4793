//! The responsiveness test: load-generating connections, foreign and self probes.
//!
//! Slots of connections: first the load-generating ones, then those of foreign probes.

use super::{Action, App, Request};
use crate::transaction::Purpose;
use sojourn_random::Stream;
use sojourn_scenario as scenario;
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Duration of a probe, by the names of draft-ietf-ippm-responsiveness-09, section 5.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// `tcp_f`: handshake of a foreign probe.
    Tcp,
    /// `tls_f`: its TLS handshake, one round trip.
    Tls,
    /// `http_f`: its request and answer.
    Http,
    /// `http_l`: request and answer of a self probe.
    Loaded,
}

/// Size of the packet that opens a connection, bytes.
const SYN: u16 = 60;
/// Payload of the server's flight of a TLS handshake, with a chain of certificates, bytes.
const HELLO: u64 = 3000;
/// Payload of an answer: an object of one byte and header fields.
const ANSWER: u64 = 100;

pub(crate) struct Rpm {
    plan: scenario::Rpm,
    choices: Stream,
    slots: Vec<Slot>,
    /// Load-generating connections opened.
    opened: u32,
    /// Time of the next load-generating connections.
    grows_at: Time,
    /// Time of the next probe.
    probes_at: Time,
    /// The next probe is a self probe.
    is_self_next: bool,
    actions: VecDeque<Action>,
}

/// Phase of a connection slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    /// Without a connection in use.
    Unused,
    /// Load-generating, before its first byte.
    Opening,
    /// Load-generating, without a probe.
    Loading,
    /// A probe that was sent then.
    Probing(Probe, Time),
}

impl Rpm {
    pub(crate) fn new(plan: scenario::Rpm, choices: Stream) -> Rpm {
        Rpm {
            slots: vec![Slot::Unused; plan.slots() as usize],
            plan,
            choices,
            opened: 0,
            grows_at: Time::NEVER,
            probes_at: Time::NEVER,
            is_self_next: false,
            actions: VecDeque::new(),
        }
    }

    fn request(&mut self, connection: u32, is_new: bool, purpose: Purpose) {
        let size = if purpose == Purpose::Open { SYN } else { self.plan.request.get() as u16 };
        self.actions.push_back(Action::Request(Request { connection, is_new, size, purpose }));
    }

    /// Opens further load-generating connections.
    fn grow(&mut self, now: Time) {
        let more = if self.opened == 0 { self.plan.initial } else { self.plan.increase };
        let until = self.opened.saturating_add(more).min(self.plan.connections);
        for connection in self.opened..until {
            self.slots[connection as usize] = Slot::Opening;
            self.request(connection, true, Purpose::Endless);
        }
        self.opened = until;
        self.grows_at = if until < self.plan.connections { now + self.plan.interval } else { Time::NEVER };
    }

    /// Sends a probe, of either kind in turn, where a connection is free for it.
    fn probe(&mut self, now: Time) {
        // The two kinds interleave: half of the time from pair to pair is between them, to the nanosecond.
        let half = Span::from_nanos(self.plan.every.nanos() / 2);
        self.probes_at = now + if self.is_self_next { self.plan.every - half } else { half };
        let is_self = self.is_self_next;
        self.is_self_next = !is_self;
        if is_self {
            self.probe_self(now);
        } else {
            self.probe_foreign(now);
        }
    }

    fn probe_foreign(&mut self, now: Time) {
        let first = self.plan.connections;
        let free = (first..self.plan.slots()).find(|slot| self.slots[*slot as usize] == Slot::Unused);
        let Some(connection) = free else { return };
        self.slots[connection as usize] = Slot::Probing(Probe::Tcp, now);
        self.request(connection, true, Purpose::Open);
    }

    fn probe_self(&mut self, now: Time) {
        let free: Vec<u32> =
            (0..self.opened).filter(|slot| self.slots[*slot as usize] == Slot::Loading).collect();
        if free.is_empty() {
            return;
        }
        let connection = free[(self.choices.uniform() * free.len() as f64) as usize];
        self.slots[connection as usize] = Slot::Probing(Probe::Loaded, now);
        self.request(connection, false, Purpose::Interleaved(ANSWER));
    }

    /// The phase that follows an answered probe, and its request.
    fn after(&mut self, now: Time, connection: u32, answered: Probe) -> Slot {
        let next = match answered {
            Probe::Loaded => return Slot::Loading,
            Probe::Http => return Slot::Unused,
            Probe::Tcp if self.plan.tls => Probe::Tls,
            Probe::Tcp | Probe::Tls => Probe::Http,
        };
        let payload = if next == Probe::Tls { HELLO } else { ANSWER };
        self.request(connection, false, Purpose::Data(payload));
        Slot::Probing(next, now)
    }
}

impl App for Rpm {
    fn start(&mut self, now: Time, _bytes: Option<u64>) {
        self.slots.fill(Slot::Unused);
        self.actions.clear();
        (self.opened, self.is_self_next) = (0, false);
        (self.grows_at, self.probes_at) = (now, now);
    }

    fn answered(&mut self, now: Time, connection: u32) {
        let next = match self.slots[connection as usize] {
            Slot::Probing(probe, began) => {
                self.actions.push_back(Action::Probed(probe, now.since(began)));
                self.after(now, connection, probe)
            }
            Slot::Opening => Slot::Loading,
            other => other,
        };
        self.slots[connection as usize] = next;
    }

    fn wakes_at(&self) -> Time {
        self.grows_at.min(self.probes_at)
    }

    fn wake(&mut self, now: Time) {
        if self.grows_at <= now {
            self.grow(now);
        }
        if self.probes_at <= now {
            self.probe(now);
        }
    }

    fn next(&mut self, _now: Time) -> Option<Action> {
        self.actions.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn actions(rpm: &mut Rpm, now: Time) -> Vec<Action> {
        std::iter::from_fn(|| rpm.next(now)).collect()
    }

    fn request(connection: u32, is_new: bool, size: u16, purpose: Purpose) -> Action {
        Action::Request(Request { connection, is_new, size, purpose })
    }

    #[test]
    fn a_foreign_probe_has_three_times_and_a_self_probe_one() {
        let plan = scenario::Rpm { connections: 1, foreign: 1, ..scenario::Rpm::default() };
        let mut rpm = Rpm::new(plan, Stream::named(1, "rpm"));
        rpm.start(at(0), None);
        rpm.wake(at(0));
        let [load, open] = [request(0, true, 400, Purpose::Endless), request(1, true, 60, Purpose::Open)];
        assert_eq!(actions(&mut rpm, at(0)), [load, open]);
        rpm.answered(at(30), 0);
        rpm.answered(at(40), 1);
        let probed = |probe, millis| Action::Probed(probe, Span::from_millis(millis));
        let hello = request(1, false, 400, Purpose::Data(3000));
        assert_eq!(actions(&mut rpm, at(40)), [probed(Probe::Tcp, 40), hello]);
        rpm.wake(at(50));
        assert_eq!(actions(&mut rpm, at(50)), [request(0, false, 400, Purpose::Interleaved(100))]);
        rpm.answered(at(81), 1);
        let get = request(1, false, 400, Purpose::Data(100));
        assert_eq!(actions(&mut rpm, at(81)), [probed(Probe::Tls, 41), get]);
        // No connection is free for another foreign probe, nor for another self probe.
        rpm.wake(at(100));
        rpm.wake(at(150));
        assert_eq!((actions(&mut rpm, at(150)), rpm.wakes_at()), (Vec::new(), at(200)));
        rpm.answered(at(160), 0);
        rpm.answered(at(160), 1);
        assert_eq!(actions(&mut rpm, at(160)), [probed(Probe::Loaded, 110), probed(Probe::Http, 79)]);
        rpm.wake(at(200));
        assert_eq!(actions(&mut rpm, at(200)), [open]);
    }

    #[test]
    fn load_grows_by_intervals_and_a_test_without_tls_has_two_round_trips() {
        let load = (2, 3, 6);
        let plan = scenario::Rpm {
            initial: load.0,
            increase: load.1,
            connections: load.2,
            every: Span::from_secs(60),
            tls: false,
            ..scenario::Rpm::default()
        };
        let mut rpm = Rpm::new(plan, Stream::named(1, "rpm"));
        rpm.start(at(0), None);
        let mut opened = Vec::new();
        for seconds in [0, 5, 10] {
            rpm.wake(at(1000 * seconds));
            let all = actions(&mut rpm, at(1000 * seconds));
            let is_load = |action: &&Action| {
                matches!(action, Action::Request(Request { purpose: Purpose::Endless, .. }))
            };
            opened.push(all.iter().filter(is_load).count());
        }
        assert_eq!((opened, rpm.wakes_at()), (vec![2, 3, 1], at(30_000)));
        rpm.answered(at(11_000), 6);
        let probed = Action::Probed(Probe::Tcp, Span::from_secs(11));
        assert_eq!(actions(&mut rpm, at(11_000)), [probed, request(6, false, 400, Purpose::Data(100))]);
    }
}
