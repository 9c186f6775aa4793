//! Datagrams in even steps while the source is on, none while it is off.
//!
//! The source produces data at a steady rate while it is on, and sends a datagram as soon as it is full. A part left at
//! the end of an on-period is carried into the next, so the mean rate is that of the data to the last bit:
//! rate x on / (on + off). The total on-time is the clock of the datagrams.

use sojourn_random::{Draw, Stream};
use sojourn_units::{Span, Time};

pub(super) struct OnOff {
    /// Datagrams per second while it is on.
    rate: f64,
    on: Draw,
    off: Draw,
    draws: Stream,
    /// Start of the present on-period, or of the next.
    start: Time,
    /// Total on-time before it.
    before: Span,
    /// Total on-time at its end.
    after: Span,
    /// Datagrams sent, and the part of one produced before the start.
    made: f64,
}

impl OnOff {
    /// A source that begins with a whole on-period.
    pub(super) fn new(start: Time, rate: f64, (on, off): (Draw, Draw), mut draws: Stream) -> OnOff {
        let after = period(&on, &mut draws);
        OnOff { rate, on, off, draws, start, before: Span::ZERO, after, made: 0.0 }
    }

    /// A source in its stationary state at `start`: in an on-period or between two, part of a datagram produced.
    pub(super) fn stationary(start: Time, rate: f64, (on, off): (Draw, Draw), mut draws: Stream) -> OnOff {
        let made = -draws.uniform();
        let is_on = draws.uniform() < on.mean() / (on.mean() + off.mean());
        let (start, after) = if is_on {
            (start, Span::from_seconds(on.residual(&mut draws)))
        } else {
            let wait = Span::from_seconds(off.residual(&mut draws));
            (start + wait, period(&on, &mut draws))
        };
        OnOff { rate, on, off, draws, start, before: Span::ZERO, after, made }
    }

    pub(super) fn next(&mut self) -> Time {
        self.made += 1.0;
        let due = Span::from_seconds(self.made / self.rate);
        while due > self.after && self.start < Time::NEVER {
            let end = self.start + (self.after - self.before);
            self.start = end + period(&self.off, &mut self.draws);
            self.before = self.after;
            self.after += period(&self.on, &mut self.draws);
        }
        self.start + due.saturating_sub(self.before)
    }
}

fn period(of: &Draw, draws: &mut Stream) -> Span {
    Span::from_seconds(of.sample(draws))
}
