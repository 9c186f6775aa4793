//! A flow at work: its endpoints, its route, its timers.

use crate::apps::datagrams::Datagrams;
use crate::network::{FlowPlan, SourcePlan};
use crate::probe::Window;
use crate::round_trip::Transits;
use sojourn_tcp::{Config, Receiver, Sender};
use sojourn_units::Time;
use std::sync::Arc;

/// A flow at work.
pub(crate) struct Flow {
    pub(crate) source: Source,
    /// The first leg from the sender to the receiver.
    pub(crate) forward: u32,
    /// The first leg from the receiver to the sender.
    pub(crate) reverse: u32,
    /// When the sender's entry in the event queue is due.
    pub(crate) sender_timer: Timer,
    /// When the receiver's entry in the event queue is due.
    pub(crate) receiver_timer: Timer,
    /// When it stops; NEVER once it has.
    pub(crate) stop: Time,
    /// What it belongs to, if that comes and goes.
    pub(crate) member: u32,
    pub(crate) state: State,
}

/// Where in its life a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It has not begun.
    Waiting,
    Sending,
    /// It sends nothing new.
    Stopped,
    /// It will have everything acknowledged at a time that may lie ahead.
    Done,
    /// It has everything acknowledged.
    Idle,
}

pub(crate) enum Source {
    Tcp(Box<Connection>),
    Datagrams(Box<Datagrams>),
}

/// The two ends of a TCP connection.
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) transits: Transits,
}

/// A deadline that moves often, kept by one entry in the event queue: where
/// the deadline is put off, the entry stays and is renewed when it is due.
#[derive(Clone, Copy)]
pub(crate) struct Timer(Time);

impl Flow {
    /// A flow of the run with `seed` that belongs to `member`, from its plan and its first legs.
    pub(crate) fn new(plan: FlowPlan, [forward, reverse]: [u32; 2], member: u32, seed: u64) -> Flow {
        let source = match plan.source {
            SourcePlan::Bulk(config) | SourcePlan::App(config, _) => {
                Source::Tcp(Box::new(Connection::new(config)))
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
            member,
            state: State::Waiting,
        }
    }

    /// When its sender's next timer expires, as long as it has something under way.
    pub(crate) fn deadline(&self) -> Option<Time> {
        match (&self.source, self.state) {
            (Source::Tcp(connection), State::Sending | State::Stopped) => connection.sender.next_timeout(),
            _ => None,
        }
    }
}

impl Connection {
    fn new(config: Arc<Config>) -> Connection {
        Connection {
            sender: Connection::sender(config.clone()),
            receiver: Connection::receiver(config),
            transits: Transits::new(),
        }
    }

    pub(crate) fn sender(config: Arc<Config>) -> Sender {
        Sender::new(config).expect("the scenario names congestion controls of the catalogue")
    }

    pub(crate) fn receiver(config: Arc<Config>) -> Receiver {
        Receiver::new(config)
    }

    /// The congestion window.
    pub(crate) fn window(&self) -> Window {
        Window { bytes: self.sender.window().get(), segment: self.sender.mss() }
    }
}

impl Timer {
    pub(crate) const OFF: Timer = Timer(Time::NEVER);

    /// Whether an entry for `deadline` must be made, because the present one is later.
    pub(crate) fn needs(&mut self, deadline: Option<Time>) -> Option<Time> {
        let deadline = deadline.filter(|deadline| *deadline < self.0)?;
        self.0 = deadline;
        Some(deadline)
    }

    /// Whether the deadline may be before `at`; it never is before the entry.
    pub(crate) fn may_be_before(self, at: Time) -> bool {
        self.0 < at
    }

    /// Whether the entry that is due at `now` is the present one; it is spent.
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

    /// A flow of a dumbbell has four private links and four legs. With what its connection holds on the heap at rest
    /// (`footprint.rs` in `crates/tcp/tests`: 104 bytes at most) that is a kibibyte at most.
    #[test]
    fn a_flow_takes_a_kibibyte() {
        let route = 4 * size_of::<Private>() + 4 * size_of::<Leg>();
        let flow = size_of::<Flow>() + size_of::<Connection>();
        assert!(flow + route + 104 <= 1024, "{flow} B and {route} B");
    }
}
