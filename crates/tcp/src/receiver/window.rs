//! Receive window: buffer, advertisement, and the application that reads.
//!
//! RFC 9293, section 3.8.6, and RFC 7323, section 2.
//!
//! ```text
//!        |<----------------- buffer ----------------->|
//!      read              next               edge       limit
//!        |  not read yet  |  window advertised  |  more  |
//! ```
//!
//! The edge never moves left. It moves right only by a worthwhile step (silly window avoidance, section 3.8.6.2.2),
//! announced by an ACK that is sent anyway; an ACK for this alone is sent only if less than half of the buffer is
//! advertised: otherwise the ACKs of data still to come announce it in time.

use sojourn_units::{Rate, Span, Time};

/// Receive buffer and its advertised part.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Buffer size, bytes.
    buffer: u32,
    /// Least step of the edge, bytes.
    step: u32,
    /// Window scale shift count.
    shift: u8,
    /// Right edge of the advertised window.
    pub(super) edge: u64,
    /// Reading application; None: reads at once.
    reads: Option<Box<Reads>>,
}

/// Application that does not read at once.
#[derive(Clone, Copy, Debug)]
enum Reads {
    /// At `rate` bits/s from byte `from` at `since` on, as long as there is data.
    Steadily { rate: u64, from: u64, since: Time },
    /// On request only; `read` bytes so far.
    OnRequest { read: u64 },
}

impl Window {
    /// Window with room for `buffer` bytes in segments of `mss`.
    pub(super) fn new(buffer: u64, mss: u32, rate: Option<Rate>) -> Window {
        let buffer = buffer.min(MAX_WINDOW) as u32;
        let reads = rate.map(|rate| {
            let rate = rate.bits_per_second().round() as u64;
            Box::new(Reads::Steadily { rate, from: 0, since: Time::ZERO })
        });
        Window { buffer, step: step(buffer, mss), shift: 0, edge: u64::from(buffer), reads }
    }

    /// Negotiates window scaling, returning the window field of the SYN-ACK, which is not scaled, and the shift count
    /// (RFC 7323, section 2.2).
    pub(super) fn agree(&mut self, scaled: bool) -> (u32, u8) {
        if scaled {
            // Least shift with which the buffer fits the field.
            self.shift = (0..MAX_SHIFT).find(|shift| self.buffer >> shift <= FIELD).unwrap_or(MAX_SHIFT);
        } else {
            self.buffer = self.buffer.min(FIELD);
            self.step = step(self.buffer, self.step);
        }
        self.edge = u64::from(self.buffer);
        (self.buffer.min(FIELD), self.shift)
    }

    /// Window that an ACK at `now` with number `next` advertises, bytes.
    ///
    /// Rounded down to the granularity of the field. The edge may therefore lie up to 2^shift - 1 bytes left of an
    /// earlier one, which only a promise of more than there is could avoid (RFC 7323, appendix F); data within the
    /// earlier edge is accepted all the same (section 2.4).
    pub(super) fn advertise(&mut self, now: Time, next: u64) -> u32 {
        let limit = self.limit(now, next);
        if limit >= self.edge + u64::from(self.step) {
            self.edge = limit;
        }
        (self.edge - next) as u32 >> self.shift << self.shift
    }

    /// Returns whether to send a window update for which the sender may be waiting.
    pub(super) fn update_due(&self, now: Time, next: u64) -> bool {
        self.is_narrow(next) && self.limit(now, next) >= self.edge + u64::from(self.step)
    }

    /// Returns whether the application reads at once.
    pub(super) fn reads_immediately(&self) -> bool {
        self.reads.is_none()
    }

    /// Time of the next window update; NEVER if none.
    pub(super) fn update_due_at(&self, next: u64) -> Time {
        if self.is_narrow(next) {
            let read = self.edge + u64::from(self.step) - u64::from(self.buffer);
            return self.read_at(read, next);
        }
        Time::NEVER
    }

    /// Prepares for data that arrives at `now` with number `next`.
    pub(super) fn settle(&mut self, now: Time, next: u64) {
        let all = self.read(now, next) == next;
        if let Some(Reads::Steadily { from, since, .. }) = self.reads.as_deref_mut()
            && all
        {
            // Everything was read: idle time is not made up for.
            (*from, *since) = (next, now);
        }
    }

    /// Bytes before `next` that have been read by `now`.
    pub(super) fn read(&self, now: Time, next: u64) -> u64 {
        match self.reads.as_deref() {
            None => next,
            Some(&Reads::Steadily { rate, from, since }) => {
                let bits = u128::from(now.since(since).nanos()) * u128::from(rate) / NANOS_PER_SECOND;
                next.min(from.saturating_add((bits / BITS_PER_BYTE) as u64))
            }
            Some(&Reads::OnRequest { read }) => read,
        }
    }

    /// Time by which all bytes before `end` will have been read; NEVER if not all have arrived.
    pub(super) fn read_at(&self, end: u64, next: u64) -> Time {
        let Some(&Reads::Steadily { rate, from, since }) = self.reads.as_deref() else { return Time::NEVER };
        if end > next || rate == 0 {
            return Time::NEVER;
        }
        let bits = u128::from(end.saturating_sub(from)) * BITS_PER_BYTE;
        let nanos = (bits * NANOS_PER_SECOND).div_ceil(u128::from(rate));
        since + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Reads `bytes` more, and from now on only on request.
    pub(super) fn read_more(&mut self, now: Time, next: u64, bytes: u64) {
        let read = self.read(now, next).saturating_add(bytes).min(next);
        self.reads = Some(Box::new(Reads::OnRequest { read }));
    }

    /// Right edge of the buffer.
    fn limit(&self, now: Time, next: u64) -> u64 {
        self.read(now, next) + u64::from(self.buffer)
    }

    fn is_narrow(&self, next: u64) -> bool {
        self.edge - next < u64::from(self.buffer / 2)
    }
}

/// Least worthwhile step: half of the buffer, or a segment (RFC 9293, section 3.8.6.2.2).
fn step(buffer: u32, mss: u32) -> u32 {
    mss.min(buffer / 2).max(1)
}

/// Largest value of the window field.
const FIELD: u32 = 65535;
/// Largest shift (RFC 7323, section 2.3).
const MAX_SHIFT: u8 = 14;
/// Largest window: the largest field with the largest shift.
const MAX_WINDOW: u64 = (FIELD as u64) << MAX_SHIFT;
const BITS_PER_BYTE: u128 = 8;
const NANOS_PER_SECOND: u128 = 1_000_000_000;
