//! Measures what the contract names, in memory that does not grow with time.

use crate::class::ClassTally;
use crate::histogram::Histogram;
use crate::passage::{Passage, Tally};
use crate::probe::{Probe, Window};
use crate::round_trip::RoundTrip;
use crate::windows::Windows;
use sojourn_aqm::Cause;
use sojourn_units::{Span, Time};

/// Watches the discs of some links, the senders and the receivers.
#[derive(Clone, Debug)]
pub struct Recorder {
    measured: Interval,
    step: Span,
    /// By the number of the link; None where it is not watched.
    discs: Vec<Option<Box<Disc>>>,
    /// As in [`Watchlist`].
    pub(crate) tells_classes_apart: bool,
    pub(crate) classes: Vec<ClassTally>,
    /// Each flow's class.
    pub(crate) class_of: Vec<u32>,
    /// Bytes that each flow's application got.
    pub(crate) received_bytes: Vec<u64>,
    pub(crate) windows: Windows,
}

/// What a recorder watches.
#[derive(Clone, Debug)]
pub struct Watchlist {
    /// The links, each once.
    pub links: Vec<Watched>,
    /// How many classes there are.
    pub classes: u32,
    /// Whether each class is of interest by itself: one alone is what the links tell already.
    pub tells_classes_apart: bool,
    /// The class of each flow that there is from the start.
    pub flows: Vec<u32>,
    /// When.
    pub measured: Interval,
    /// The step of the series.
    pub step: Span,
}

/// A link that is watched.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Its number.
    pub link: u32,
    /// The classes whose data cross it, in order.
    pub classes: Vec<u32>,
    /// Whether packets may be lost on its wire.
    pub loses: bool,
}

/// The time that is measured: after the warm-up, up to the end.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// The end of the warm-up.
    pub from: Time,
    /// The end of the run.
    pub until: Time,
}

/// The disc of a link.
#[derive(Clone, Debug)]
pub(crate) struct Disc {
    pub(crate) watched: Watched,
    pub(crate) all: Passage,
    /// Up to the last step of the series.
    last_step: Tally,
    /// Nanoseconds at each length, exact below 1024 packets.
    pub(crate) queue_lengths: Histogram<10>,
    /// Packets lost on the wire.
    pub(crate) lost: u64,
    /// What the classes whose data cross it have of it, where classes are told apart; in order.
    pub(crate) shares: Vec<Share>,
}

/// What a class has of a link.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) class: u32,
    pub(crate) passage: Passage,
    pub(crate) lost: u64,
}

impl Recorder {
    /// Watches what it is told to.
    pub fn new(watch: Watchlist) -> Recorder {
        let Watchlist { links, classes, tells_classes_apart, flows, measured, step } = watch;
        let mut discs = Vec::new();
        for watched in links {
            let number = watched.link as usize;
            discs.resize(discs.len().max(number + 1), None);
            discs[number] = Some(Box::new(Disc::new(watched, tells_classes_apart)));
        }
        let steps = if tells_classes_apart { steps(measured.until, step) } else { 0 };
        Recorder {
            measured,
            step,
            discs,
            tells_classes_apart,
            classes: (0..classes).map(|_| ClassTally::new(steps)).collect(),
            received_bytes: vec![0; flows.len()],
            windows: Windows::new(&flows, classes, step, measured.until),
            class_of: flows,
        }
    }

    /// The disc of a link that is watched.
    pub(crate) fn disc(&self, link: u32) -> &Disc {
        self.discs[link as usize].as_ref().expect("the link is watched")
    }

    /// Ends a step of the series at `now`; gives the sums of the link's disc.
    pub(crate) fn end_step(&mut self, now: Time, link: u32) -> Tally {
        let from = self.measured.from;
        self.link(link).map_or(Tally::default(), |disc| disc.end_step(now, from))
    }

    /// The sums of a link's disc from the end of the warm-up to `now`.
    pub(crate) fn measured_until(&mut self, now: Time, link: u32) -> Tally {
        let from = self.measured.from;
        self.link(link).map_or(Tally::default(), |disc| {
            disc.hold_until(now, from);
            disc.all.measured()
        })
    }

    fn is_measured(&self, at: Time) -> bool {
        at >= self.measured.from && at <= self.measured.until
    }

    /// Whether what became of a datagram that is sent at `at` is known by the end.
    fn is_judged(&self, at: Time) -> bool {
        at >= self.measured.from && at + LOST_AFTER <= self.measured.until
    }

    /// Whether one that comes at `at` counts, and not as lost.
    fn came_in_time(&self, at: Time, delay: Span) -> bool {
        delay <= LOST_AFTER && self.is_judged(Time::from_nanos(at.nanos() - delay.nanos()))
    }

    fn link(&mut self, link: u32) -> Option<&mut Disc> {
        self.discs.get_mut(link as usize)?.as_deref_mut()
    }

    fn class(&mut self, flow: u32) -> &mut ClassTally {
        &mut self.classes[self.class_of[flow as usize] as usize]
    }

    /// Counts what happened to a packet of `flow` at `link`.
    #[inline]
    fn count(&mut self, now: Time, link: u32, flow: u32, add: impl Fn(&mut Passage)) {
        let from = self.measured.from;
        let Some(disc) = self.link(link) else { return };
        disc.hold_until(now, from);
        add(&mut disc.all);
        if !disc.shares.is_empty() {
            self.count_share(now, link, flow, add);
        }
    }

    /// Never inlined, so that a run of one class does not carry it along.
    #[inline(never)]
    fn count_share(&mut self, now: Time, link: u32, flow: u32, add: impl Fn(&mut Passage)) {
        let class = self.class_of[flow as usize];
        let Some(share) = self.link(link).and_then(|disc| disc.share(class)) else { return };
        share.passage.hold(now);
        add(&mut share.passage);
    }

    /// As [`ClassTally::receive`], and never inlined either.
    #[inline(never)]
    fn receive_in_class(&mut self, at: Time, flow: u32, bytes: u64) {
        let step = self.step;
        self.class(flow).receive(at, bytes, step);
    }
}

impl Disc {
    fn new(watched: Watched, tells_classes_apart: bool) -> Disc {
        let classes = if tells_classes_apart { &watched.classes[..] } else { &[] };
        let share = |class: &u32| Share { class: *class, passage: Passage::default(), lost: 0 };
        Disc {
            shares: classes.iter().map(share).collect(),
            watched,
            all: Passage::default(),
            last_step: Tally::default(),
            queue_lengths: Histogram::default(),
            lost: 0,
        }
    }

    /// Keeps the sums of the warm-up, where `now` is the first time that is measured; says whether it is over.
    #[cold]
    #[inline(never)]
    fn end_warm_up(&mut self, now: Time, from: Time) -> bool {
        let is_over = now >= from;
        if is_over {
            self.all.end_warm_up(from);
            self.shares.iter_mut().for_each(|share| share.passage.end_warm_up(from));
        }
        is_over
    }

    /// Accounts for the backlog up to `now`.
    fn hold_until(&mut self, now: Time, from: Time) {
        let is_warm = self.all.is_warm() || self.end_warm_up(now, from);
        let span = self.all.hold(now);
        if is_warm {
            self.queue_lengths.add(u64::from(self.all.backlog()), span);
        }
    }

    fn end_step(&mut self, now: Time, from: Time) -> Tally {
        self.hold_until(now, from);
        for share in &mut self.shares {
            share.passage.hold(now);
        }
        let before = std::mem::replace(&mut self.last_step, self.all.total());
        self.all.total().since(&before)
    }

    fn share(&mut self, class: u32) -> Option<&mut Share> {
        let place = self.shares.binary_search_by_key(&class, |share| share.class).ok()?;
        self.shares.get_mut(place)
    }
}

impl Probe for Recorder {
    /// It follows from what is told of packets.
    const ASKS_FOR_BACKLOG: bool = false;

    fn offered(&mut self, now: Time, link: u32, flow: u32) {
        self.count(now, link, flow, Passage::offer);
    }

    fn delivered(&mut self, now: Time, link: u32, flow: u32, sojourn: Span) {
        self.count(now, link, flow, |passage| passage.deliver(sojourn));
    }

    fn dropped(&mut self, now: Time, link: u32, flow: u32, cause: Cause) {
        self.count(now, link, flow, |passage| passage.drop(cause));
    }

    fn marked(&mut self, now: Time, link: u32, flow: u32) {
        self.count(now, link, flow, Passage::mark);
    }

    fn lost(&mut self, at: Time, link: u32, flow: u32) {
        let (measured, class) = (self.is_measured(at), self.class_of[flow as usize]);
        if let Some(disc) = self.link(link).filter(|_| measured) {
            disc.lost += 1;
            if let Some(share) = disc.share(class) {
                share.lost += 1;
            }
        }
    }

    fn joined(&mut self, flow: u32, class: u32) {
        if flow as usize >= self.class_of.len() {
            self.class_of.push(class);
            self.received_bytes.push(0);
            self.windows.add_flow(class);
        }
    }

    fn turned_away(&mut self, at: Time, class: u32) {
        if self.is_measured(at) {
            self.classes[class as usize].turned_away += 1;
        }
    }

    fn completed(&mut self, at: Time, flow: u32, started: Time) {
        if self.is_measured(at) {
            self.class(flow).completions.add(at.since(started), 1);
        }
    }

    fn played(&mut self, at: Time, flow: u32, played: Span, stood: Span) {
        if self.is_measured(at) {
            let class = self.class(flow);
            (class.played, class.stood) = (class.played + played, class.stood + stood);
        }
    }

    fn received(&mut self, at: Time, flow: u32, bytes: u64) {
        if self.is_measured(at) {
            self.received_bytes[flow as usize] += bytes;
        }
        if self.tells_classes_apart {
            self.receive_in_class(at, flow, bytes);
        }
    }

    fn read(&mut self, since: Time, at: Time, flow: u32, by: &dyn Fn(Time) -> u64) {
        let (from, to) = (since.max(self.measured.from), at.min(self.measured.until));
        if from < to {
            self.received_bytes[flow as usize] += by(to) - by(from);
        }
        if self.tells_classes_apart {
            let step = self.step;
            self.class(flow).read((since, at), by, step);
        }
    }

    fn sent(&mut self, at: Time, flow: u32) {
        if self.is_judged(at) {
            self.class(flow).sent += 1;
        }
    }

    fn datagram(&mut self, at: Time, flow: u32, delay: Span) {
        if self.is_measured(at) {
            self.class(flow).delays.add(delay.nanos(), 1);
        }
        if self.came_in_time(at, delay) {
            self.class(flow).came += 1;
        }
    }

    fn came_back(&mut self, at: Time, flow: u32, rtt: Span) {
        if self.is_measured(at) {
            self.class(flow).rtts.add(rtt, 1);
        }
        if self.came_in_time(at, rtt) {
            self.class(flow).came_back += 1;
        }
    }

    fn round_trip(&mut self, at: Time, flow: u32, measured: RoundTrip) {
        let RoundTrip { path, smoothed, packets } = measured;
        if self.is_measured(at) {
            let class = self.class(flow);
            class.rtts.add(path, packets);
            if let Some(smoothed) = smoothed {
                class.srtts.add(smoothed, packets);
            }
        }
    }

    fn window(&mut self, at: Time, flow: u32, window: Window) {
        self.windows.change(at, flow, window);
    }

    fn stopped(&mut self, at: Time, flow: u32) {
        self.windows.stop(at, flow);
    }
}

/// How many steps there are up to the end of the run; the last one may be shorter.
fn steps(until: Time, step: Span) -> usize {
    until.nanos().div_ceil(step.nanos()) as usize
}

/// A datagram that takes longer than this is lost: nobody waits for it.
const LOST_AFTER: Span = Span::from_secs(1);
