//! Measures what the contract names, in memory that does not grow with time.

use crate::histogram::Histogram;
use crate::probe::Probe;
use sojourn_aqm::{Backlog, Cause};
use sojourn_units::{Span, Time};

/// Watches the disc of one link, and the senders.
#[derive(Clone, Debug)]
pub struct Recorder {
    link: u32,
    from: Time,
    backlog: Held,
    /// Since the end of the warm-up.
    pub(crate) whole: Tally,
    /// Since the last step of the series.
    pub(crate) step: Tally,
    /// Nanoseconds at each length, exact below 1024 packets.
    pub(crate) queue_lengths: Histogram<10>,
    /// Packets by sojourn time, ns.
    pub(crate) sojourns: Histogram<6>,
    /// Measurements of the round-trip time, ns.
    pub(crate) rtts: Histogram<6>,
}

/// The backlog now, and since when.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    packets: u32,
    since: Time,
}

/// Sums over a stretch of time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// The integrals of the backlog and of its square, packets s and packets^2 s.
    pub(crate) backlog: f64,
    pub(crate) backlog_squared: f64,
    pub(crate) offered: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped_by_law: u64,
    pub(crate) overflowed: u64,
    pub(crate) marked: u64,
    pub(crate) sojourn: f64,
}

impl Recorder {
    /// Watches `link`, and measures from the end of the warm-up at `from`.
    pub fn new(link: u32, from: Time) -> Recorder {
        Recorder {
            link,
            from,
            backlog: Held::default(),
            whole: Tally::default(),
            step: Tally::default(),
            queue_lengths: Histogram::default(),
            sojourns: Histogram::default(),
            rtts: Histogram::default(),
        }
    }

    /// Ends a step of the series at `now`; gives its sums.
    pub(crate) fn end_step(&mut self, now: Time) -> Tally {
        self.hold_until(now);
        std::mem::take(&mut self.step)
    }

    /// Accounts for the backlog up to `now`.
    fn hold_until(&mut self, now: Time) {
        let Held { packets, since } = self.backlog;
        self.backlog.since = now;
        let (held, span) = (f64::from(packets), now.since(since));
        self.step.hold(held, span);
        let measured = now.since(since.max(self.from));
        if measured > Span::ZERO {
            self.whole.hold(held, measured);
            self.queue_lengths.add(u64::from(packets), measured.nanos());
        }
    }

    fn count(&mut self, now: Time, add: impl Fn(&mut Tally)) {
        add(&mut self.step);
        if now >= self.from {
            add(&mut self.whole);
        }
    }
}

impl Tally {
    fn hold(&mut self, packets: f64, span: Span) {
        self.backlog += packets * span.seconds();
        self.backlog_squared += packets * packets * span.seconds();
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
        if link == self.link {
            self.count(now, |tally| tally.offered += 1);
        }
    }

    fn delivered(&mut self, now: Time, link: u32, sojourn: Span) {
        if link != self.link {
            return;
        }
        self.count(now, |tally| {
            tally.delivered += 1;
            tally.sojourn += sojourn.seconds();
        });
        if now >= self.from {
            self.sojourns.add(sojourn.nanos(), 1);
        }
    }

    fn dropped(&mut self, now: Time, link: u32, cause: Cause) {
        if link == self.link {
            self.count(now, |tally| match cause {
                Cause::Law => tally.dropped_by_law += 1,
                Cause::Overflow => tally.overflowed += 1,
            });
        }
    }

    fn marked(&mut self, now: Time, link: u32) {
        if link == self.link {
            self.count(now, |tally| tally.marked += 1);
        }
    }

    fn rtt(&mut self, now: Time, rtt: Span) {
        if now >= self.from {
            self.rtts.add(rtt.nanos(), 1);
        }
    }
}
