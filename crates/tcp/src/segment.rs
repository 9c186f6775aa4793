//! Segments, as far as congestion control and recovery need them.

use sojourn_units::{Ecn, Time};
use std::fmt;
use std::ops::BitOr;

/// Length of the IP and TCP headers without options, bytes.
pub const HEADER: u32 = 40;
/// Length of the timestamps option with its padding, bytes (RFC 7323, appendix A).
pub const TIMESTAMPS: u32 = 12;

/// TCP segment. Sequence numbers count payload bytes from the start of the stream, in 64 bits: SYN takes none, FIN
/// one, and nothing wraps. Data flows one way, so that one timestamp suffices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First byte of the payload.
    pub seq: u64,
    /// Next byte expected from the other side; with [`Flags::ACK`].
    pub ack: u64,
    /// Blocks that the receiver holds above `ack`.
    pub sack: SackBlocks,
    /// TSval from the sender, TSecr from the receiver; with [`Flags::TIMESTAMP`].
    pub stamp: Stamp,
    /// Receive window beyond `ack`, bytes: the header's field, scaled (RFC 7323, section 2.3).
    pub window: u32,
    /// Payload, bytes.
    pub len: u16,
    /// Control bits and the options present.
    pub flags: Flags,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Window scale shift count; on a SYN with [`Flags::SCALE`].
    pub scale: u8,
}

/// Control bits (RFC 9293, section 3.1; ECE and CWR: RFC 3168), and options.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(u16);

/// The SACK option (RFC 2018): at most three blocks, as many as fit beside timestamps.
///
/// A block is stored as its distance from the acknowledgment number, to keep segments small: they are copied at every
/// hop. Block 0..0 is none. A first block below that number, or within the second, reports duplicate data (D-SACK, RFC
/// 2883).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks([(i32, i32); MAX_BLOCKS]);

/// Reading of the timestamp clock (RFC 7323), which counts microseconds and wraps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(u32);

impl Segment {
    /// Sequence number after the segment: payload, and one for FIN.
    pub fn end(&self) -> u64 {
        self.seq.saturating_add(u64::from(self.len) + u64::from(self.flags.has(Flags::FIN)))
    }

    /// Size on the wire with headers and options, bytes.
    ///
    /// Segments of the handshake count as bare headers, without their options.
    pub fn wire_len(&self) -> u32 {
        let bare = HEADER + u32::from(self.len);
        if self.flags.has(Flags::SYN) || !(self.flags.has(Flags::TIMESTAMP) || self.flags.has(Flags::SACK)) {
            return bare;
        }
        let stamp = if self.flags.has(Flags::TIMESTAMP) { TIMESTAMPS } else { 0 };
        let sack = if self.flags.has(Flags::SACK) { self.sack.wire_len() } else { 0 };
        bare + stamp + sack
    }
}

impl Flags {
    /// No control bits.
    pub const NONE: Flags = Flags(0);
    /// Opens the connection.
    pub const SYN: Flags = Flags(1);
    /// The acknowledgment number is valid.
    pub const ACK: Flags = Flags(2);
    /// Echo of congestion experienced.
    pub const ECE: Flags = Flags(4);
    /// The congestion window was reduced.
    pub const CWR: Flags = Flags(8);
    /// On a SYN: SACK is permitted. On an ACK: its blocks add to the length on the wire (RFC 2018).
    pub const SACK: Flags = Flags(16);
    /// The timestamps option is present (RFC 7323).
    pub const TIMESTAMP: Flags = Flags(32);
    /// End of data; takes one sequence number after the payload.
    pub const FIN: Flags = Flags(64);
    /// On a SYN: window scale option (RFC 7323, section 2.2).
    pub const SCALE: Flags = Flags(128);

    /// Returns whether all bits of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether no bit beside those of `others` is set.
    pub fn only(self, others: Flags) -> bool {
        self.0 & !others.0 == 0
    }

    /// Adds `other` if `condition` holds.
    pub fn with(self, other: Flags, condition: bool) -> Flags {
        if condition { self | other } else { self }
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["SYN", "ACK", "ECE", "CWR", "SACK", "TIMESTAMP", "FIN", "SCALE"];
        let set = names.iter().enumerate().filter(|(bit, _)| self.0 & (1 << bit) != 0);
        f.write_str(&set.map(|(_, name)| *name).collect::<Vec<_>>().join("+"))
    }
}

impl SackBlocks {
    /// Adds the block `from..to` of an ACK with number `ack`, returning whether it fits.
    ///
    /// A block further than 2^31 bytes away is left out: SACK is advisory.
    pub fn push(&mut self, ack: u64, from: u64, to: u64) -> bool {
        let distance = |seq: u64| i32::try_from(seq.wrapping_sub(ack).cast_signed()).ok();
        let (Some(from), Some(to)) = (distance(from), distance(to)) else { return false };
        let place = self.0.iter_mut().find(|block| block.0 == block.1);
        place.is_some_and(|place| {
            *place = (from, to);
            from < to
        })
    }

    /// Returns whether there is no block.
    pub(crate) fn is_empty(&self) -> bool {
        let (from, to) = self.0[0];
        from >= to
    }

    /// D-SACK block of an ACK with number `ack`, if the first block is one (RFC 2883, section 4).
    pub fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let [first, second, _] = self.0;
        let twice = first.0 < 0 || (first.0 >= second.0 && first.1 <= second.1);
        (twice && first.0 < first.1).then(|| at(ack, first))
    }

    /// Blocks of an ACK with number `ack`, the latest first.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> {
        self.0.into_iter().take_while(|(from, to)| from < to).map(move |block| at(ack, block))
    }

    /// Length on the wire, bytes: kind, length and two fillers, and eight for each block.
    fn wire_len(&self) -> u32 {
        match self.0.iter().filter(|(from, to)| from < to).count() as u32 {
            0 => 0,
            blocks => 4 + 8 * blocks,
        }
    }
}

/// Sequence numbers of a block of an ACK with number `ack`.
fn at(ack: u64, (from, to): (i32, i32)) -> (u64, u64) {
    (ack.saturating_add_signed(from.into()), ack.saturating_add_signed(to.into()))
}

impl Stamp {
    /// Reading at `now`.
    pub fn at(now: Time) -> Stamp {
        Stamp((now.nanos() / NANOS_PER_TICK) as u32)
    }

    /// Reading in ticks: microseconds, to the last 32 bits.
    pub fn ticks(self) -> u32 {
        self.0
    }

    /// Nanoseconds from `earlier` to this reading.
    pub fn nanos_since(self, earlier: Stamp) -> u64 {
        u64::from(self.0.wrapping_sub(earlier.0)) * NANOS_PER_TICK
    }

    /// Returns whether this reading is not before `other`, allowing for wrapping.
    pub fn is_at_or_after(self, other: Stamp) -> bool {
        self.0.wrapping_sub(other.0) < 1 << 31
    }
}

/// Maximum number of SACK blocks.
pub(crate) const MAX_BLOCKS: usize = 3;
/// Tick of the timestamp clock.
const NANOS_PER_TICK: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment fits in one cache line.
    #[test]
    fn a_segment_is_small() {
        assert_eq!(size_of::<Segment>(), 56);
    }

    #[test]
    fn options_are_counted_on_the_wire() {
        let mut ack = Segment { flags: Flags::ACK, ..Segment::default() };
        assert_eq!(ack.wire_len(), 40);
        ack.flags = Flags::ACK | Flags::TIMESTAMP;
        assert_eq!(ack.wire_len(), 52);
        ack.flags = ack.flags | Flags::SACK;
        for (block, len) in [(1, 64), (2, 72), (3, 80)] {
            assert!(ack.sack.push(0, block * 10, block * 10 + 5));
            assert_eq!(ack.wire_len(), len, "the longest TCP header has 60 bytes (RFC 9293, section 3.1)");
        }
        assert!(!ack.sack.push(0, 40, 45), "a fourth block has no place");
        let data = Segment { len: 1448, flags: Flags::ACK | Flags::TIMESTAMP, ..Segment::default() };
        assert_eq!(data.wire_len(), 1500);
    }

    #[test]
    fn blocks_round_trip() {
        let mut sack = SackBlocks::default();
        let far = 1 << 40;
        assert!(sack.push(far, far + 10, far + 20));
        assert!(!sack.push(far, 2 * far, 2 * far + 1), "further than 32 bits reach");
        assert!(sack.push(far, far + 30, far + 40));
        assert_eq!(sack.iter(far).collect::<Vec<_>>(), [(far + 10, far + 20), (far + 30, far + 40)]);
    }

    /// RFC 2883, section 4: below the acknowledgment number, or within the second block.
    #[test]
    fn the_first_block_may_be_a_dsack() {
        let blocks = |blocks: &[(u64, u64)]| {
            let mut sack = SackBlocks::default();
            for &(from, to) in blocks {
                assert!(sack.push(4000, from, to));
            }
            sack.duplicate(4000)
        };
        assert_eq!(blocks(&[(3000, 3500)]), Some((3000, 3500)));
        assert_eq!(blocks(&[(5000, 5500), (4500, 5500)]), Some((5000, 5500)));
        assert_eq!(blocks(&[(5000, 5500), (4500, 4600)]), None);
        assert_eq!(blocks(&[(5000, 5500)]), None);
        assert_eq!(blocks(&[]), None);
    }

    #[test]
    fn the_timestamp_clock_wraps() {
        let before = Stamp(u32::MAX - 1);
        let after = Stamp(3);
        assert_eq!(after.nanos_since(before), 5000);
        assert!(after.is_at_or_after(before) && !before.is_at_or_after(after));
        assert_eq!(Stamp::at(Time::from_nanos(2500)), Stamp(2));
    }
}
