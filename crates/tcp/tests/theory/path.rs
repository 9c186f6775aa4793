//! Connection over a path with delay and losses only.

use sojourn_random::Stream;
use sojourn_tcp::{Config, Flags, Profile, Receiver, Segment, Sender};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// Payload of a segment, bytes.
pub(crate) const MSS: u32 = 1000;

/// Least interval of segments: no two are sent or arrive at once.
const SPACING: Span = Span::from_micros(1);

/// Decides for each data segment, numbered from 1 in order of transmission, whether it is lost.
pub(crate) type Loss = Box<dyn FnMut(Time, u64) -> bool>;

/// Independent losses with this probability.
pub(crate) fn random(p: f64) -> Loss {
    let mut draws = Stream::named(1, "losses");
    Box::new(move |_, _| draws.uniform() < p)
}

/// Losses with this probability that include all later segments of the round of `rtt` (Padhye and others, 1998).
pub(crate) fn tails_of_rounds(p: f64, rtt: Span) -> Loss {
    let mut draws = Stream::named(1, "losses");
    let (mut next_round, mut losing) = (Time::ZERO, false);
    Box::new(move |now, _| {
        if now >= next_round {
            (next_round, losing) = (now + rtt, false);
        }
        losing |= draws.uniform() < p;
        losing
    })
}

/// Profile for a path with chosen losses only, and without limits on the window.
pub(crate) fn profile() -> Profile {
    Profile {
        receive_window: 1 << 20,
        fast_convergence: false,
        delayed_ack: false,
        // RFC 6298, (2.4): at a constant round-trip time a smaller value leaves no margin.
        min_rto: Span::from_secs(1),
        ..Profile::default()
    }
}

/// A connection over such a path.
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    one_way: Span,
    loss: Loss,
    /// Data segments sent, and those lost.
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    /// ACKs received by the sender, excluding the SYN-ACK.
    pub(crate) acks_received: u64,
    data: VecDeque<(Time, Segment)>,
    acks: VecDeque<(Time, Segment)>,
}

impl Connection {
    pub(crate) fn new(cc: &str, profile: Profile, rtt: Span, loss: Loss) -> Connection {
        let config = Config { profile, cc: cc.into(), mss: MSS, ecn: false, ect1: false, reads: None };
        let receiver = Receiver::new(&config);
        let mut sender = Sender::new(config);
        sender.supply(u64::MAX / 2);
        sender.open();
        let mut connection = Connection {
            sender,
            receiver,
            one_way: Span::from_nanos(rtt.nanos() / 2),
            loss,
            sent: 0,
            lost: 0,
            acks_received: 0,
            data: VecDeque::new(),
            acks: VecDeque::new(),
        };
        connection.send(Time::ZERO);
        connection
    }

    /// Sends everything that may be sent now.
    fn send(&mut self, now: Time) {
        while let Some(segment) = self.sender.poll_transmit(now) {
            let data = segment.len > 0;
            self.sent += u64::from(data);
            if data && (self.loss)(now, self.sent) {
                self.lost += 1;
            } else {
                let last = self.data.back().map_or(Time::ZERO, |(time, _)| *time);
                self.data.push_back(((now + self.one_way).max(last + SPACING), segment));
            }
        }
    }

    /// Time of the next event.
    pub(crate) fn next(&self) -> Time {
        self.due().into_iter().flatten().min().expect("an event is pending")
    }

    fn due(&self) -> [Option<Time>; 4] {
        let data = self.data.front().map(|(time, _)| *time);
        let ack = self.acks.front().map(|(time, _)| *time);
        [data, ack, self.receiver.next_timeout(), self.sender.next_timeout()]
    }

    /// Processes the next event, returning its time.
    pub(crate) fn step(&mut self) -> Time {
        let due = self.due();
        let [data, ack, receiver, _] = due;
        let now = due.into_iter().flatten().min().expect("an event is pending");
        let answer = if data == Some(now) {
            self.data.pop_front().and_then(|(_, segment)| self.receiver.on_segment(now, &segment))
        } else if ack == Some(now) {
            self.acks.pop_front().and_then(|(_, ack)| {
                self.sender.on_segment(now, &ack);
                self.acks_received += u64::from(!ack.flags.has(Flags::SYN));
                None
            })
        } else if receiver == Some(now) {
            self.receiver.on_timeout(now)
        } else {
            self.sender.on_timeout(now);
            None
        };
        self.acks.extend(answer.map(|ack| (now + self.one_way, ack)));
        self.send(now);
        now
    }

    /// Runs until this many segments have been delivered in all, returning the time.
    pub(crate) fn deliver(&mut self, segments: u64) -> Time {
        loop {
            let now = self.step();
            if self.receiver.delivered() >= segments * u64::from(MSS) {
                return now;
            }
        }
    }

    /// Processes all events before `end`.
    pub(crate) fn run_before(&mut self, end: Time) {
        while self.next() < end {
            self.step();
        }
    }

    /// Congestion window, segments.
    pub(crate) fn window(&self) -> f64 {
        self.sender.window().get() as f64 / f64::from(MSS)
    }
}
