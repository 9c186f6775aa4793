//! Measures what the contract names, in memory that does not grow with time.

use crate::histogram::Histogram;
use crate::probe::{Probe, Window};
use crate::windows::Windows;
use sojourn_aqm::{Backlog, Cause};
use sojourn_units::{Span, Time};

/// Watches the disc of one link, the senders and the receivers.
#[derive(Clone, Debug)]
pub struct Recorder {
    link: u32,
    measured: Measured,
    backlog: Held,
    /// Since the start.
    total: Tally,
    /// Up to the last step of the series.
    last_step: Tally,
    /// Up to the end of the warm-up, once that is past.
    warm_up: Option<Tally>,
    /// Nanoseconds at each length, exact below 1024 packets.
    pub(crate) queue_lengths: Histogram<10>,
    /// Packets by sojourn time, ns.
    pub(crate) sojourns: Histogram<6>,
    /// Measurements of the round-trip time, ns.
    pub(crate) rtts: Histogram<6>,
    /// Bytes that each flow's application got.
    pub(crate) received_bytes: Vec<u64>,
    pub(crate) windows: Windows,
}

/// The time that is measured: after the warm-up, up to the end.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The end of the warm-up.
    pub from: Time,
    /// The end of the run.
    pub until: Time,
}

/// The backlog now, and since when.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    packets: u32,
    since: Time,
}

/// Sums over a stretch of time, exact.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// The integral of the backlog, packets ns.
    backlog: u128,
    /// The integral of its square, packets^2 ns.
    backlog_squared: u128,
    /// The sojourn times of what was delivered, ns.
    sojourn: u128,
    pub(crate) offered: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped_by_law: u64,
    pub(crate) overflowed: u64,
    pub(crate) marked: u64,
}

impl Recorder {
    /// Watches `link` and `flows` flows; `step` is that of the series.
    pub fn new(link: u32, flows: usize, measured: Measured, step: Span) -> Recorder {
        Recorder {
            link,
            measured,
            backlog: Held::default(),
            total: Tally::default(),
            last_step: Tally::default(),
            warm_up: None,
            queue_lengths: Histogram::default(),
            sojourns: Histogram::default(),
            rtts: Histogram::default(),
            received_bytes: vec![0; flows],
            windows: Windows::new(flows, step, measured.until),
        }
    }

    /// Ends a step of the series at `now`; gives its sums.
    pub(crate) fn end_step(&mut self, now: Time) -> Tally {
        self.hold_until(now);
        let before = std::mem::replace(&mut self.last_step, self.total);
        self.total.since(&before)
    }

    /// The sums since the end of the warm-up.
    pub(crate) fn measured(&self) -> Tally {
        self.warm_up.map_or(Tally::default(), |warm_up| self.total.since(&warm_up))
    }

    /// Accounts for the backlog up to `now`.
    fn hold_until(&mut self, now: Time) {
        self.end_warm_up(now);
        let span = self.hold(now);
        if now >= self.measured.from {
            self.queue_lengths.add(u64::from(self.backlog.packets), span);
        }
    }

    /// Keeps the sums of the warm-up, where `now` is the first time that is measured.
    fn end_warm_up(&mut self, now: Time) {
        if now >= self.measured.from && self.warm_up.is_none() {
            self.hold(self.measured.from);
            self.warm_up = Some(self.total);
        }
    }

    fn hold(&mut self, now: Time) -> u64 {
        let Held { packets, since } = self.backlog;
        let (packets, span) = (u64::from(packets), now.since(since).nanos());
        self.total.backlog += u128::from(packets) * u128::from(span);
        self.total.backlog_squared += u128::from(packets * packets) * u128::from(span);
        self.backlog.since = now;
        span
    }

    fn is_measured(&self, at: Time) -> bool {
        at >= self.measured.from && at <= self.measured.until
    }

    /// The sums, to add to at `now`.
    fn count(&mut self, now: Time, link: u32) -> Option<&mut Tally> {
        if link != self.link {
            return None;
        }
        self.end_warm_up(now);
        Some(&mut self.total)
    }
}

impl Tally {
    /// What was added since `before`.
    fn since(&self, before: &Tally) -> Tally {
        Tally {
            backlog: self.backlog - before.backlog,
            backlog_squared: self.backlog_squared - before.backlog_squared,
            sojourn: self.sojourn - before.sojourn,
            offered: self.offered - before.offered,
            delivered: self.delivered - before.delivered,
            dropped_by_law: self.dropped_by_law - before.dropped_by_law,
            overflowed: self.overflowed - before.overflowed,
            marked: self.marked - before.marked,
        }
    }

    /// The integral of the backlog, packets s.
    pub(crate) fn backlog(&self) -> f64 {
        self.backlog as f64 * 1e-9
    }

    /// The integral of the square of the backlog, packets^2 s.
    pub(crate) fn backlog_squared(&self) -> f64 {
        self.backlog_squared as f64 * 1e-9
    }

    /// The sojourn times of what was delivered, s.
    pub(crate) fn sojourn(&self) -> f64 {
        self.sojourn as f64 * 1e-9
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped_by_law + self.overflowed
    }
}

impl Probe for Recorder {
    fn backlog(&mut self, now: Time, link: u32, backlog: Backlog) {
        if link == self.link {
            self.hold_until(now);
            self.backlog.packets = backlog.packets;
        }
    }

    fn offered(&mut self, now: Time, link: u32) {
        if let Some(total) = self.count(now, link) {
            total.offered += 1;
        }
    }

    fn delivered(&mut self, now: Time, link: u32, sojourn: Span) {
        if let Some(total) = self.count(now, link) {
            total.delivered += 1;
            total.sojourn += u128::from(sojourn.nanos());
            if now >= self.measured.from {
                self.sojourns.add(sojourn.nanos(), 1);
            }
        }
    }

    fn dropped(&mut self, now: Time, link: u32, cause: Cause) {
        if let Some(total) = self.count(now, link) {
            match cause {
                Cause::Law => total.dropped_by_law += 1,
                Cause::Overflow => total.overflowed += 1,
            }
        }
    }

    fn marked(&mut self, now: Time, link: u32) {
        if let Some(total) = self.count(now, link) {
            total.marked += 1;
        }
    }

    fn received(&mut self, at: Time, flow: u32, bytes: u64) {
        if self.is_measured(at) {
            self.received_bytes[flow as usize] += bytes;
        }
    }

    fn read(&mut self, since: Time, at: Time, flow: u32, by: &dyn Fn(Time) -> u64) {
        let (from, to) = (since.max(self.measured.from), at.min(self.measured.until));
        if from < to {
            self.received_bytes[flow as usize] += by(to) - by(from);
        }
    }

    fn rtt(&mut self, at: Time, rtt: Span) {
        if self.is_measured(at) {
            self.rtts.add(rtt.nanos(), 1);
        }
    }

    fn window(&mut self, at: Time, flow: u32, window: Window) {
        self.windows.change(at, flow, Some(window));
    }

    fn stopped(&mut self, at: Time, flow: u32) {
        self.windows.change(at, flow, None);
    }
}
