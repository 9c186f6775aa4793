//! Records a run of packets, in memory that does not grow with time.

use crate::losses::Fate;
use crate::parts::{ClassPart, LinkPart, Parts};
use crate::queue_stats::QueueStats;
use crate::{
    ClassStats, Cwnd, CwndSeries, ExactTotals, LinkRecord, Probe, ProbeTime, Queued, Returned, RoundTrip,
    Watched,
};
use sojourn_aqm::Cause;
use sojourn_units::{Span, Time};

/// Records the qdiscs of some links, the senders and the receivers.
#[derive(Clone, Debug)]
pub struct Recorder {
    measured: Interval,
    step: Span,
    /// By the number of the link; None where it is not watched.
    links: Vec<Option<Box<LinkRecord>>>,
    by_class: bool,
    pub(crate) classes: Vec<ClassStats>,
    /// The class of each flow.
    pub(crate) class_of: Vec<u32>,
    /// Bytes received by the application of each flow.
    pub(crate) received_bytes: Vec<u64>,
    windows: CwndSeries,
    /// Bytes received count in classes, or in parts, too.
    receives_in_parts: bool,
    /// Of a run with windows of time.
    parts: Option<Box<Parts>>,
}

/// Subjects of a record.
#[derive(Clone, Debug)]
pub struct Watchlist {
    /// The links, each once.
    pub links: Vec<Watched>,
    /// The number of classes.
    pub classes: u32,
    /// Records each class by itself too; one alone has the same numbers as the links.
    pub by_class: bool,
    /// The class of each flow that exists from the start.
    pub flows: Vec<u32>,
    /// The time that is measured.
    pub measured: Interval,
    /// The step of the series.
    pub step: Span,
    /// Windows of time with metrics of their own.
    pub windows: Vec<TimeWindow>,
    /// Times of changes; moments of windows are taken between them.
    pub changes: Vec<Time>,
    /// Duration of a loss event at each link, where there are windows.
    pub loss_events: Vec<Span>,
}

/// A window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    /// Its place in the list that was given.
    pub entry: usize,
    /// Its start.
    pub from: Time,
    /// Its end, which it contains only where the run ends there.
    pub until: Time,
}

/// The time that is measured: after the warm-up, up to the end.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// The end of the warm-up.
    pub from: Time,
    /// The end of the run.
    pub until: Time,
}

impl Recorder {
    /// A recorder at the start of a run.
    pub fn new(watch: Watchlist) -> Recorder {
        let Watchlist { links: watched, classes, by_class, flows, measured, step, .. } = watch;
        let Watchlist { windows, changes, loss_events, .. } = watch;
        let mut links = Vec::new();
        let parts = (!windows.is_empty()).then(|| {
            let numbers = watched.iter().map(|of| of.link).collect();
            Box::new(Parts::new(windows, &changes, numbers, classes, measured))
        });
        for (place, watched) in watched.into_iter().enumerate() {
            let number = watched.link as usize;
            links.resize(links.len().max(number + 1), None);
            let record = LinkRecord::new(watched, by_class);
            let record = match &parts {
                Some(_) => record.with_parts(loss_events[place]),
                None => record,
            };
            links[number] = Some(Box::new(record));
        }
        let steps = if by_class { steps(measured.until, step) } else { 0 };
        Recorder {
            measured,
            step,
            links,
            by_class,
            classes: (0..classes).map(|_| ClassStats::new(steps)).collect(),
            received_bytes: vec![0; flows.len()],
            windows: CwndSeries::new(&flows, classes, step, measured.until),
            class_of: flows,
            receives_in_parts: by_class || parts.is_some(),
            parts,
        }
    }

    /// The parts of the run between the ends of windows, where there are any.
    pub fn parts(&self) -> Option<&Parts> {
        self.parts.as_deref()
    }

    /// The run ends earlier, at least a second from now and at a step: the time after which a datagram counts as lost.
    /// Windows that end later have no metrics.
    pub fn end_at(&mut self, end: Time) {
        self.measured.until = end;
        self.windows.end_at(end);
        let steps = steps(end, self.step);
        self.classes.iter_mut().for_each(|class| class.end_after(steps));
        if let Some(parts) = &mut self.parts {
            parts.end_at(end);
        }
    }

    /// Ends a part at `now`, before the events of that time.
    pub fn end_part(&mut self, now: Time) {
        let Some(mut parts) = self.parts.take() else { return };
        let from = self.measured.from;
        let ended = parts.links().iter().map(|link| {
            self.links[*link as usize]
                .as_mut()
                .map_or(LinkPart::default(), |record| record.end_part(now, from))
        });
        let ended = ended.collect();
        parts.end(ended);
        self.parts = Some(parts);
    }

    /// Returns whether each class is recorded by itself too.
    pub fn is_by_class(&self) -> bool {
        self.by_class
    }

    /// The record of a link that is watched.
    pub fn record(&self, link: u32) -> &LinkRecord {
        self.links[link as usize].as_ref().expect("the link is watched")
    }

    /// The congestion windows.
    pub fn windows(&self) -> &CwndSeries {
        &self.windows
    }

    /// Bytes received by the applications of a class in each step of the series; empty where classes are not recorded.
    pub fn received_in_steps(&self, class: u32) -> &[u64] {
        &self.classes[class as usize].received
    }

    /// Round trips of the datagrams of a class that came back in each step of the series; empty where none did, or classes
    /// are not recorded.
    pub fn returned_in_steps(&self, class: u32) -> &[Returned] {
        &self.classes[class as usize].returned
    }

    /// Ends a step of the series of windows at `now`.
    pub fn end_windows(&mut self, now: Time) {
        self.windows.end_step(now);
    }

    /// Ends a step of the series of a link at `now`; returns the sums of the step.
    pub fn end_step(&mut self, now: Time, link: u32) -> ExactTotals {
        let from = self.measured.from;
        self.link(link).map_or(ExactTotals::default(), |record| record.end_step(now, from))
    }

    /// Ends a step of the series of the named queues of a link at `now`; returns the sums of the step, queue by queue.
    pub fn end_queue_steps(&mut self, now: Time, link: u32) -> impl Iterator<Item = ExactTotals> {
        self.link(link).into_iter().flat_map(move |record| record.end_queue_steps(now))
    }

    /// The sums of a link from the end of the warm-up to `now`.
    pub fn measured_until(&mut self, now: Time, link: u32) -> ExactTotals {
        let from = self.measured.from;
        self.link(link).map_or(ExactTotals::default(), |record| record.measured_until(now, from))
    }

    fn is_measured(&self, at: Time) -> bool {
        at >= self.measured.from && at <= self.measured.until
    }

    /// Returns whether the fate of a datagram sent at `at` is known by the end.
    fn is_judged(&self, at: Time) -> bool {
        at >= self.measured.from && at + LOST_AFTER <= self.measured.until
    }

    /// Returns whether a datagram that arrives at `at` counts as received.
    fn came_in_time(&self, at: Time, delay: Span) -> bool {
        delay <= LOST_AFTER && self.is_judged(Time::from_nanos(at.nanos() - delay.nanos()))
    }

    fn link(&mut self, link: u32) -> Option<&mut LinkRecord> {
        self.links.get_mut(link as usize)?.as_deref_mut()
    }

    fn class(&mut self, flow: u32) -> &mut ClassStats {
        &mut self.classes[self.class_of[flow as usize] as usize]
    }

    /// Counts an event of a packet at `link`.
    #[inline]
    fn count(&mut self, now: Time, link: u32, packet: Queued, fate: Fate, add: impl Fn(&mut QueueStats)) {
        let from = self.measured.from;
        let Some(record) = self.link(link) else { return };
        if record.count(now, from, &add) {
            self.count_parts(now, link, packet, fate, add);
        }
    }

    /// Never inlined: a run of one class and one queue does not need it.
    #[inline(never)]
    fn count_parts(
        &mut self,
        now: Time,
        link: u32,
        packet: Queued,
        fate: Fate,
        add: impl Fn(&mut QueueStats),
    ) {
        let class = self.class_of[packet.flow as usize];
        let Some(record) = self.link(link) else { return };
        if let Some(losses) = record.losses() {
            losses.count(now, packet.flow, class, fate);
        }
        if let Some(share) = record.share(class) {
            share.stats.hold(now);
            add(&mut share.stats);
        }
        if let Some(queue) = record.queue(packet.queue) {
            queue.hold(now);
            add(queue);
        }
    }

    /// As [`ClassStats::receive`], and never inlined either.
    #[inline(never)]
    fn receive_in_class(&mut self, at: Time, flow: u32, bytes: u64) {
        if self.by_class {
            let step = self.step;
            self.class(flow).receive(at, bytes, step);
        }
        if let Some(parts) = &mut self.parts {
            parts.receive(at, flow, bytes);
        }
    }

    /// The statistics of a flow's class in the part of a time, where there are windows and the run lasts so long.
    fn class_in_part(&mut self, at: Time, flow: u32) -> Option<&mut ClassPart> {
        self.parts.as_mut()?.class(at, self.class_of[flow as usize])
    }
}

impl Probe for Recorder {
    /// The backlog follows from the events of packets.
    const NEEDS_BACKLOG: bool = false;

    #[inline]
    fn offered(&mut self, now: Time, link: u32, packet: Queued) {
        self.count(now, link, packet, Fate::Offered, QueueStats::offer);
    }

    #[inline]
    fn delivered(&mut self, now: Time, link: u32, packet: Queued, sojourn: Span) {
        self.count(now, link, packet, Fate::Delivered, |stats| stats.deliver(sojourn));
    }

    #[inline]
    fn dropped(&mut self, now: Time, link: u32, packet: Queued, cause: Cause) {
        self.count(now, link, packet, Fate::Dropped(cause), |stats| stats.drop(cause));
    }

    #[inline]
    fn marked(&mut self, now: Time, link: u32, packet: Queued) {
        self.count(now, link, packet, Fate::Marked, QueueStats::mark);
    }

    #[inline]
    fn lost(&mut self, at: Time, link: u32, flow: u32) {
        let (measured, class) = (self.is_measured(at), self.class_of[flow as usize]);
        if let Some(record) = self.link(link).filter(|_| measured) {
            record.lost += 1;
            if let Some(share) = record.share(class) {
                share.lost += 1;
            }
        }
        if let Some(parts) = &mut self.parts {
            parts.lose(at, link, class);
        }
    }

    fn refused(&mut self, _now: Time, link: u32) {
        if let Some(losses) = self.link(link).and_then(LinkRecord::losses) {
            losses.refuse();
        }
    }

    fn joined(&mut self, flow: u32, class: u32) {
        if flow as usize >= self.class_of.len() {
            self.class_of.push(class);
            self.received_bytes.push(0);
            self.windows.add_flow(class);
        }
    }

    fn rejected(&mut self, at: Time, class: u32) {
        if self.is_measured(at) {
            self.classes[class as usize].rejected += 1;
        }
        if let Some(part) = self.parts.as_mut().and_then(|parts| parts.class(at, class)) {
            part.stats.rejected += 1;
        }
    }

    fn completed(&mut self, at: Time, flow: u32, started: Time) {
        if self.is_measured(at) {
            self.class(flow).completions.add(at.since(started));
        }
        if let Some(part) = self.class_in_part(at, flow) {
            part.stats.completions.add(at.since(started));
        }
    }

    fn probed(&mut self, at: Time, flow: u32, of: ProbeTime, duration: Span) {
        if self.is_measured(at) {
            self.class(flow).probes.add(of, duration);
        }
        if let Some(part) = self.class_in_part(at, flow) {
            part.stats.probes.add(of, duration);
        }
    }

    fn played(&mut self, at: Time, flow: u32, played: Span, stalled: Span) {
        if self.is_measured(at) {
            let class = self.class(flow);
            (class.played, class.stalled) = (class.played + played, class.stalled + stalled);
        }
        if let Some(part) = self.class_in_part(at, flow) {
            let stats = &mut part.stats;
            (stats.played, stats.stalled) = (stats.played + played, stats.stalled + stalled);
        }
    }

    #[inline]
    fn received(&mut self, at: Time, flow: u32, bytes: u64) {
        if self.is_measured(at) {
            self.received_bytes[flow as usize] += bytes;
        }
        if self.receives_in_parts {
            self.receive_in_class(at, flow, bytes);
        }
    }

    fn read(&mut self, since: Time, at: Time, flow: u32, by: &dyn Fn(Time) -> u64) {
        let (from, to) = (since.max(self.measured.from), at.min(self.measured.until));
        if from < to {
            self.received_bytes[flow as usize] += by(to) - by(from);
        }
        if self.by_class {
            let step = self.step;
            self.class(flow).read((since, at), by, step);
        }
        if let Some(parts) = &mut self.parts {
            parts.read(since, at, flow, by);
        }
    }

    #[inline]
    fn sent(&mut self, at: Time, flow: u32) {
        if self.is_judged(at) {
            self.class(flow).sent += 1;
        }
        if let Some(parts) = &mut self.parts {
            parts.send(at, flow, self.class_of[flow as usize]);
        }
    }

    #[inline]
    fn datagram(&mut self, at: Time, flow: u32, delay: Span) {
        if self.is_measured(at) {
            self.class(flow).delays.add(delay.nanos(), 1);
        }
        if self.came_in_time(at, delay) {
            self.class(flow).came += 1;
        }
        if let Some(parts) = &mut self.parts {
            parts.arrive(at, flow, self.class_of[flow as usize], delay);
        }
    }

    fn came_back(&mut self, at: Time, flow: u32, rtt: Span) {
        if self.is_measured(at) {
            self.class(flow).rtts.add(rtt, 1);
        }
        if self.came_in_time(at, rtt) {
            self.class(flow).came_back += 1;
        }
        if self.by_class {
            let step = self.step;
            self.class(flow).come_back(at, rtt, step);
        }
        if let Some(parts) = &mut self.parts {
            parts.come_back(at, self.class_of[flow as usize], rtt);
        }
    }

    #[inline]
    fn round_trip(&mut self, at: Time, flow: u32, measured: RoundTrip) {
        let RoundTrip { path, smoothed, packets } = measured;
        if self.is_measured(at) {
            let class = self.class(flow);
            class.rtts.add(path, packets);
            if let Some(smoothed) = smoothed {
                class.srtts.add(smoothed, packets);
            }
        }
        if let Some(part) = self.class_in_part(at, flow) {
            part.add_round_trip(path, packets);
            if let Some(smoothed) = smoothed {
                part.stats.srtts.add(smoothed, packets);
            }
        }
    }

    #[inline]
    fn window(&mut self, at: Time, flow: u32, window: Cwnd) {
        self.windows.change(at, flow, window);
    }

    fn stopped(&mut self, at: Time, flow: u32) {
        self.windows.stop(at, flow);
    }
}

/// Steps up to the end of the run; the last one may be shorter.
fn steps(until: Time, step: Span) -> usize {
    until.nanos().div_ceil(step.nanos()) as usize
}

/// A datagram that takes longer than this counts as lost.
pub const LOST_AFTER: Span = Span::from_secs(1);
