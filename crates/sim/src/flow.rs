//! Flows: endpoints, route and timers.

use crate::network::{FlowPlan, SourcePlan};
use sojourn_measure::{Cwnd, Transits};
use sojourn_tcp::{Config, Receiver, Sender};
use sojourn_units::Time;
use sojourn_workload::{Datagrams, Requests, Workload};
use std::cmp::Ordering;
use std::sync::Arc;

/// State of a flow.
pub(crate) struct Flow {
    pub(crate) source: Source,
    /// The first leg from the sender to the receiver.
    pub(crate) forward: u32,
    /// The first leg from the receiver to the sender.
    pub(crate) reverse: u32,
    /// Entry of the sender in the event queue.
    pub(crate) sender_timer: Timer,
    /// Entry of the receiver in the event queue.
    pub(crate) receiver_timer: Timer,
    /// Stop time; NEVER once it has stopped.
    pub(crate) stop: Time,
    /// Number of its user.
    pub(crate) user: u32,
    /// Its user uses its connections, one after the other; without a user it starts and stops as planned.
    pub(crate) has_user: bool,
    /// Where the application is at the receiver, packets that arrive ahead may have to wait for its next request.
    pub(crate) requests: Requests,
    /// A transaction awaits data at the receiver.
    pub(crate) is_pending: bool,
    pub(crate) state: State,
}

/// Phase of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not begun.
    Waiting,
    Sending,
    /// Sends nothing new, for good.
    Stopped,
    /// Sends nothing new, and reports the end of its connection.
    Closing,
    /// All data acknowledged, at a time that may lie ahead.
    Done,
    /// All data acknowledged.
    Idle,
}

pub(crate) enum Source {
    Tcp(Box<Connection>, ConnectionIds),
    Datagrams(Box<Datagrams>),
}

/// Numbers of the connections that the two ends of a flow have, to the last 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionIds {
    pub(crate) sender: u16,
    pub(crate) receiver: u16,
}

/// The two ends of a TCP connection.
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) transits: Transits,
}

/// A deadline that moves often, kept by one entry in the event queue: a later
/// deadline leaves the entry as it is, to be renewed when it is due.
#[derive(Clone, Copy)]
pub(crate) struct Timer(Time);

impl Flow {
    /// A flow of the run with `seed` that belongs to `user`, from its plan and its first legs.
    pub(crate) fn new(plan: FlowPlan, [forward, reverse]: [u32; 2], user: u32, seed: u64) -> Flow {
        let requests = plan.source.app().requests();
        let source = match plan.source {
            SourcePlan::Bulk(config) | SourcePlan::App(config, _) => {
                Source::Tcp(Box::new(Connection::new(config)), ConnectionIds::FIRST)
            }
            SourcePlan::Datagrams(stream) => {
                Source::Datagrams(Box::new(Datagrams::new(stream, seed, plan.start)))
            }
        };
        Flow {
            source,
            forward,
            reverse,
            sender_timer: Timer::OFF,
            receiver_timer: Timer::OFF,
            stop: plan.stop.unwrap_or(Time::NEVER),
            user,
            has_user: user != Workload::NULL_USER,
            requests,
            is_pending: false,
            state: State::Waiting,
        }
    }

    /// Next timeout of the sender, while its connection is open.
    pub(crate) fn deadline(&self) -> Option<Time> {
        match (&self.source, self.state) {
            (Source::Tcp(connection, _), state) if state.is_open() => connection.sender.next_timeout(),
            _ => None,
        }
    }
}

impl ConnectionIds {
    const FIRST: ConnectionIds = ConnectionIds { sender: 1, receiver: 1 };

    /// Order of two connection numbers, as serial numbers (RFC 1982).
    pub(crate) fn order(one: u16, other: u16) -> Ordering {
        (one.wrapping_sub(other) as i16).cmp(&0)
    }
}

impl State {
    /// Its connection may have data in flight.
    #[inline]
    pub(crate) fn is_open(self) -> bool {
        matches!(self, State::Sending | State::Stopped | State::Closing)
    }
}

impl Connection {
    fn new(config: Arc<Config>) -> Connection {
        Connection {
            sender: Connection::sender(config.clone()),
            receiver: Connection::receiver(config),
            transits: Transits::default(),
        }
    }

    pub(crate) fn sender(config: Arc<Config>) -> Sender {
        Sender::new(config)
    }

    pub(crate) fn receiver(config: Arc<Config>) -> Receiver {
        Receiver::new(config)
    }

    /// The congestion window.
    pub(crate) fn window(&self) -> Cwnd {
        Cwnd { bytes: self.sender.window().get(), segment: self.sender.mss() }
    }
}

impl Timer {
    pub(crate) const OFF: Timer = Timer(Time::NEVER);

    /// `deadline`, if it needs an entry because the present one is later.
    pub(crate) fn needs(&mut self, deadline: Option<Time>) -> Option<Time> {
        let deadline = deadline.filter(|deadline| *deadline < self.0)?;
        self.0 = deadline;
        Some(deadline)
    }

    /// The deadline may be before `at`; it never is before the entry.
    pub(crate) fn may_be_before(self, at: Time) -> bool {
        self.0 < at
    }

    /// The entry that is due at `now` is the present one; it is spent.
    pub(crate) fn is_due(&mut self, now: Time) -> bool {
        let due = self.0 == now;
        if due {
            *self = Timer::OFF;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leg::Leg;
    use crate::link::Private;

    /// A flow of a dumbbell has four private links and four legs. With the heap memory of an idle connection
    /// (`footprint.rs` in `crates/tcp/tests`: 104 bytes at most) that is a kibibyte at most.
    #[test]
    fn a_flow_takes_a_kibibyte() {
        let route = 4 * size_of::<Private>() + 4 * size_of::<Leg>();
        let flow = size_of::<Flow>() + size_of::<Connection>();
        assert!(flow + route + 104 <= 1024, "{flow} B and {route} B");
    }
}
