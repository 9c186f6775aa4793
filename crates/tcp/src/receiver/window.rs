//! The window: what there is room for, how much of that the sender is told, and who makes room.
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
//! which an ACK tells of that is sent anyway; for its own sake only where less than half of the buffer is
//! advertised: where there is more, the ACKs of what the sender has yet to send will tell it in time.

use sojourn_units::{Rate, Span, Time};

/// The room for data, and what the sender knows of it.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Bytes that there is room for when everything has been read.
    buffer: u32,
    /// By how much the edge moves at least.
    step: u32,
    /// By how many bits the field in the header is shifted.
    shift: u8,
    /// First byte that no room is promised for.
    pub(super) edge: u64,
    /// None: the application reads what comes, at once.
    reads: Option<Box<Reads>>,
}

/// How an application reads that takes its time.
#[derive(Clone, Copy, Debug)]
enum Reads {
    /// So many bits a second, from byte `from` at `since` on, while there is something to read.
    Steadily { rate: u64, from: u64, since: Time },
    /// When it is told to; it has read so far.
    WhenTold { read: u64 },
}

impl Window {
    /// Room for `buffer` bytes in segments of `mss`.
    pub(super) fn new(buffer: u64, mss: u32, rate: Option<Rate>) -> Window {
        let buffer = buffer.min(MOST) as u32;
        let reads = rate.map(|rate| {
            let rate = rate.bits_per_second().round() as u64;
            Box::new(Reads::Steadily { rate, from: 0, since: Time::ZERO })
        });
        Window { buffer, step: step(buffer, mss), shift: 0, edge: u64::from(buffer), reads }
    }

    /// The sender asks, and windows may be scaled or not; what the SYN-ACK says: the window, which never is scaled
    /// there, and the shift (RFC 7323, section 2.2).
    pub(super) fn agree(&mut self, scaled: bool) -> (u32, u8) {
        if scaled {
            // The least that brings the buffer into the field.
            self.shift = (0..MOST_SHIFT).find(|shift| self.buffer >> shift <= FIELD).unwrap_or(MOST_SHIFT);
        } else {
            self.buffer = self.buffer.min(FIELD);
            self.step = step(self.buffer, self.step);
        }
        self.edge = u64::from(self.buffer);
        (self.buffer.min(FIELD), self.shift)
    }

    /// What an ACK at `now` for everything before `next` says.
    ///
    /// Rounded down to what the field can say. So its edge may lie up to 2^shift - 1 bytes left of an earlier one,
    /// which RFC 7323, appendix F, shows that nothing can help but to promise more than there is; what was promised
    /// is taken all the same (section 2.4).
    pub(super) fn advertise(&mut self, now: Time, next: u64) -> u32 {
        let limit = self.limit(now, next);
        if limit >= self.edge + u64::from(self.step) {
            self.edge = limit;
        }
        (self.edge - next) as u32 >> self.shift << self.shift
    }

    /// Whether the sender may be waiting for an ACK because of the window it would tell of.
    pub(super) fn wants_telling(&self, now: Time, next: u64) -> bool {
        self.is_narrow(next) && self.limit(now, next) >= self.edge + u64::from(self.step)
    }

    /// Whether the application reads what comes, at once.
    pub(super) fn is_read_at_once(&self) -> bool {
        self.reads.is_none()
    }

    /// When that will be by itself; NEVER where it will not.
    pub(super) fn wants_telling_at(&self, next: u64) -> Time {
        if self.is_narrow(next) {
            let read = self.edge + u64::from(self.step) - u64::from(self.buffer);
            return self.read_at(read, next);
        }
        Time::NEVER
    }

    /// Data are about to come at `now` behind all those before `next`.
    pub(super) fn settle(&mut self, now: Time, next: u64) {
        let all = self.read(now, next) == next;
        if let Some(Reads::Steadily { from, since, .. }) = self.reads.as_deref_mut()
            && all
        {
            // Nothing was left to read: time that went by idle is not made up for.
            (*from, *since) = (next, now);
        }
    }

    /// Bytes that have been read at `now`, of those before `next`.
    pub(super) fn read(&self, now: Time, next: u64) -> u64 {
        match self.reads.as_deref() {
            None => next,
            Some(&Reads::Steadily { rate, from, since }) => {
                let bits = u128::from(now.since(since).nanos()) * u128::from(rate) / NANOS_PER_SECOND;
                next.min(from.saturating_add((bits / BITS_PER_BYTE) as u64))
            }
            Some(&Reads::WhenTold { read }) => read,
        }
    }

    /// When all bytes before `end` will have been read by themselves; NEVER where they are not all there.
    pub(super) fn read_at(&self, end: u64, next: u64) -> Time {
        let Some(&Reads::Steadily { rate, from, since }) = self.reads.as_deref() else { return Time::NEVER };
        if end > next || rate == 0 {
            return Time::NEVER;
        }
        let bits = u128::from(end.saturating_sub(from)) * BITS_PER_BYTE;
        let nanos = (bits * NANOS_PER_SECOND).div_ceil(u128::from(rate));
        since + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The application reads `bytes` more, and from now on only when it is told to.
    pub(super) fn read_more(&mut self, now: Time, next: u64, bytes: u64) {
        let read = self.read(now, next).saturating_add(bytes).min(next);
        self.reads = Some(Box::new(Reads::WhenTold { read }));
    }

    /// First byte that there is no room for.
    fn limit(&self, now: Time, next: u64) -> u64 {
        self.read(now, next) + u64::from(self.buffer)
    }

    fn is_narrow(&self, next: u64) -> bool {
        self.edge - next < u64::from(self.buffer / 2)
    }
}

/// RFC 9293, section 3.8.6.2.2: half of the buffer, or a segment.
fn step(buffer: u32, mss: u32) -> u32 {
    mss.min(buffer / 2).max(1)
}

/// Largest value of the window field.
const FIELD: u32 = 65535;
/// Largest shift (RFC 7323, section 2.3).
const MOST_SHIFT: u8 = 14;
/// The largest window: of that field, with that shift.
const MOST: u64 = (FIELD as u64) << MOST_SHIFT;
const BITS_PER_BYTE: u128 = 8;
const NANOS_PER_SECOND: u128 = 1_000_000_000;
