//! Silly window avoidance by the sender: RFC 9293, section 3.8.6.2.1 (RFC 1122, section 4.2.3.4).
//!
//! The receiver advertises every byte of room. Before a timer expires (rule 4) the sender fills room with whole
//! segments (rule 1), with the end of the data (rule 2), or, if it is half of the largest window ever advertised, with
//! all that fits (rule 3).

use proptest::prelude::*;
use sojourn_tcp::{Config, Flags, Profile, Segment, Sender};
use sojourn_units::{Span, Time};

const MSS: u64 = 1000;

/// Sender with unlimited data, and a receiver that has taken all of it.
struct Pair {
    sender: Sender,
    now: Time,
    /// Bytes received, and the largest window advertised.
    next: u64,
    widest: u64,
}

impl Pair {
    fn new(profile: Profile, cc: &str, room: u32) -> Pair {
        let config = Config { profile, cc: cc.into(), mss: MSS as u32, ecn: false, ect1: false, reads: None };
        let mut sender = Sender::new(config);
        sender.supply(u64::MAX / 2);
        sender.open();
        let syn = sender.poll_transmit(Time::ZERO).unwrap();
        let now = Time::ZERO + Span::from_millis(1);
        let flags = Flags::SYN | Flags::ACK;
        sender.on_segment(now, &Segment { flags, stamp: syn.stamp, window: room, ..Segment::default() });
        Pair { sender, now, next: 0, widest: room.into() }
    }

    /// Sends an ACK that advertises `room`, a millisecond later, and takes in the answer.
    fn advertise(&mut self, room: u32) -> Result<(), TestCaseError> {
        self.now += Span::from_millis(1);
        self.widest = self.widest.max(room.into());
        let ack = Segment { ack: self.next, window: room, flags: Flags::ACK, ..Segment::default() };
        self.sender.on_segment(self.now, &ack);
        self.take(self.next + u64::from(room))
    }

    fn take(&mut self, edge: u64) -> Result<(), TestCaseError> {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            let (len, room) = (u64::from(segment.len), edge - segment.seq);
            prop_assert!(
                segment.seq == self.next && len <= room,
                "{len} bytes where there is room for {room}"
            );
            let whole = len == MSS || (len == room && 2 * len >= self.widest);
            prop_assert!(whole, "{len} bytes into {room}, of {} at the most", self.widest);
            self.next = segment.end();
        }
        // Nor does it wait without need: its window exceeds any of these.
        let room = edge - self.next;
        prop_assert!(room < MSS && (room == 0 || 2 * room < self.widest), "{room} of {} left", self.widest);
        Ok(())
    }
}

proptest! {
    #[test]
    fn room_is_filled_with_whole_segments_or_half_of_the_buffer(
        most in 1_u32..6000,
        shares in prop::collection::vec(0.0..=1.0_f64, 1..40),
    ) {
        for (cc, sack) in [("newreno", false), ("newreno", true), ("cubic", true)] {
            let profile = Profile { sack: Some(sack), initial_window: 10, ..Profile::default() };
            let mut pair = Pair::new(profile, cc, most);
            pair.take(most.into())?;
            for share in &shares {
                pair.advertise((share * f64::from(most)) as u32)?;
            }
        }
    }
}

/// Room that opens byte by byte is used segment by segment.
#[test]
fn many_small_updates_let_out_one_segment() {
    let mut pair = Pair::new(Profile::default(), "newreno", 4000);
    pair.take(4000).unwrap();
    for room in 0..1000 {
        pair.advertise(room).unwrap();
        assert_eq!(pair.next, 4000, "after {room} bytes of room");
    }
    pair.advertise(1000).unwrap();
    assert_eq!(pair.next, 5000);
}
