//! Members of classes: what comes, goes, and may come again over the same flows.

use crate::apps::{Sizes, TcpApp};
use crate::arrivals::Schedule;
use crate::flow::Timer;
use crate::network::{ClassPlan, SourcePlan};
use crate::packet::Packet;
use sojourn_scenario::Session;
use sojourn_units::{Span, Stream, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A class at work.
pub(crate) struct Class {
    pub(crate) plan: ClassPlan,
    /// Its members, by their numbers, among all.
    pub(crate) members: Vec<u32>,
    /// How many there may be at a time.
    pub(crate) most: u32,
    /// How many there are.
    pub(crate) present: u32,
    /// The numbers of members that arrivals may be.
    pub(crate) free: BinaryHeap<Reverse<u32>>,
    pub(crate) schedule: Option<Schedule>,
    /// How much arrivals have to transfer, where each is one transfer.
    pub(crate) sizes: Option<Sizes>,
    /// Draws of how long they stay.
    pub(crate) lifetimes: Stream,
}

/// A flow, or several of one application, that comes and goes.
pub(crate) struct Member {
    pub(crate) class: u32,
    /// Its number in its class.
    pub(crate) number: u32,
    /// Its first flow; the others stand behind it.
    pub(crate) first: u32,
    /// One for each of its flows.
    pub(crate) errands: Vec<Errand>,
    pub(crate) app: Box<dyn TcpApp>,
    /// Whether its application is at the receivers, and asks.
    pub(crate) asks: bool,
    /// What sends.
    pub(crate) source: SourcePlan,
    /// How often it has begun to send datagrams.
    pub(crate) streams: u64,
    /// From its start until its senders have everything acknowledged.
    pub(crate) present: bool,
    /// Whether it is to come again as soon as it has gone.
    pub(crate) recalled: bool,
    /// When its class stops.
    pub(crate) stop: Time,
    /// When it stops this time.
    pub(crate) until: Time,
    /// When its entry in the event queue for that is due.
    pub(crate) stop_timer: Timer,
    /// The same for its application, and for requests.
    pub(crate) timer: Timer,
    /// Draws of how long it stays.
    pub(crate) lifetimes: Stream,
}

/// What is under way over a connection.
pub(crate) struct Errand {
    /// When it was begun.
    pub(crate) began: Time,
    /// The byte of the connection where it ends.
    pub(crate) end: u64,
    /// Whether the receiver waits for it.
    pub(crate) awaited: bool,
    /// The number of the connection, its life; the first is 1.
    pub(crate) life: u32,
    /// That of the connection that the sender has.
    pub(crate) sends: u32,
    /// And of the receiver's.
    pub(crate) hears: u32,
    /// Bytes of the request.
    pub(crate) request: u16,
    /// When the first byte of the answer comes; NEVER as long as that is not known.
    pub(crate) heard: Time,
    /// When the request is repeated if nothing is heard.
    pub(crate) repeat: Time,
    /// How long it has waited then.
    pub(crate) patience: Span,
    /// Packets that have to wait for their time.
    pub(crate) late: VecDeque<(Time, Packet)>,
}

impl Class {
    /// A class without members, in the run with this seed.
    pub(crate) fn new(plan: ClassPlan, seed: u64) -> Class {
        let stream = |what: &str| Stream::named(seed, &format!("{}/{what}", plan.name));
        let schedule = plan.arrivals.clone().map(|arrivals| Schedule::new(arrivals, stream("arrivals")));
        let sizes = match plan.joining.as_ref().map(|joining| &joining.source) {
            Some(SourcePlan::App(config, Session::Transfer(size))) => {
                Some(Sizes::new(size, config.mss, stream("size")))
            }
            _ => None,
        };
        Class {
            members: Vec::new(),
            most: plan.most,
            present: 0,
            free: BinaryHeap::new(),
            schedule,
            sizes,
            lifetimes: stream("lifetime"),
            plan,
        }
    }

    /// Whether its members do more than to start and to stop at given times.
    pub(crate) fn comes_and_goes(&self) -> bool {
        self.schedule.is_some() || self.plan.lifetime.is_some() || !self.plan.counts.is_empty()
    }

    /// When the member with this number has to leave after `now`, because there will be fewer.
    pub(crate) fn fewer_from(&self, now: Time, number: u32) -> Time {
        let later = self.plan.counts.iter().filter(|(time, _)| *time > now);
        later.clone().find(|(_, count)| *count <= number).map_or(Time::NEVER, |(time, _)| *time)
    }
}

impl Member {
    /// Which of its errands goes over this flow.
    pub(crate) fn errand(&mut self, flow: u32) -> &mut Errand {
        &mut self.errands[(flow - self.first) as usize]
    }

    /// When its application is to be woken, or a request repeated.
    pub(crate) fn acts_at(&self) -> Time {
        let repeats = self.errands.iter().filter(|errand| errand.heard == Time::NEVER);
        repeats.map(|errand| errand.repeat).fold(self.app.wakes_at(), Time::min)
    }

    /// How many packets wait for their time.
    pub(crate) fn late(&self) -> usize {
        self.errands.iter().map(|errand| errand.late.len()).sum()
    }
}

impl Errand {
    /// Nothing is under way, and there was no connection.
    pub(crate) fn none() -> Errand {
        Errand {
            began: Time::ZERO,
            end: 0,
            awaited: false,
            life: 0,
            sends: 1,
            hears: 1,
            request: 0,
            heard: Time::NEVER,
            repeat: Time::NEVER,
            patience: Span::ZERO,
            late: VecDeque::new(),
        }
    }

    /// The request goes out again at its time; the next one waits twice as long.
    pub(crate) fn put_off(&mut self) {
        self.patience = self.patience.saturating_mul(2).min(LONGEST_PATIENCE);
        self.repeat += self.patience;
    }
}

/// A request without an answer is repeated after this, and then after twice as long each time: as a SYN (RFC 6298, 2.1
/// and 5.5).
pub(crate) const PATIENCE: Span = Span::from_secs(1);
/// RFC 6298 (2.5) lets a bound of a minute or more be put.
const LONGEST_PATIENCE: Span = Span::from_secs(60);
/// No member.
pub(crate) const NOBODY: u32 = u32::MAX;
