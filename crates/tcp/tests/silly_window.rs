//! The sender's part in avoiding silly windows: RFC 9293, section 3.8.6.2.1 (RFC 1122, section 4.2.3.4).
//!
//! A receiver without manners tells of every byte of room. Before a timer expires (rule 4) the sender fills room with
//! whole segments (rule 1), with the end of the data (rule 2), or, where it is half of the most that the receiver ever
//! had room for, with all that there is room for (rule 3).

use proptest::prelude::*;
use sojourn_tcp::{Config, Flags, Profile, Segment, Sender};
use sojourn_units::{Span, Time};

const MSS: u64 = 1000;

/// What a sender with data without end has sent, and a receiver that has taken all of it.
struct Pair {
    sender: Sender,
    now: Time,
    /// What has arrived, and what there was room for at the most.
    next: u64,
    widest: u64,
}

impl Pair {
    fn new(profile: Profile, cc: &str, room: u32) -> Pair {
        let config = Config { profile, cc: cc.into(), mss: MSS as u32, ecn: false, reads: None };
        let mut sender = Sender::new(config).unwrap();
        sender.supply(u64::MAX / 2);
        sender.open();
        let syn = sender.poll_transmit(Time::ZERO).unwrap();
        let now = Time::ZERO + Span::from_millis(1);
        let flags = Flags::SYN | Flags::ACK;
        sender.on_segment(now, &Segment { flags, stamp: syn.stamp, window: room, ..Segment::default() });
        Pair { sender, now, next: 0, widest: room.into() }
    }

    /// Lets an ACK for what has arrived tell of `room`, a millisecond later, and what is sent then arrive.
    fn tell(&mut self, room: u32) -> Result<(), TestCaseError> {
        self.now += Span::from_millis(1);
        self.widest = self.widest.max(room.into());
        let ack = Segment { ack: self.next, window: room, flags: Flags::ACK, ..Segment::default() };
        self.sender.on_segment(self.now, &ack);
        self.hear(self.next + u64::from(room))
    }

    fn hear(&mut self, edge: u64) -> Result<(), TestCaseError> {
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
        // Nor does it wait where it need not: its window is larger than any of these.
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
            pair.hear(most.into())?;
            for share in &shares {
                pair.tell((share * f64::from(most)) as u32)?;
            }
        }
    }
}

/// Room that comes a byte at a time is taken a segment at a time.
#[test]
fn many_small_updates_let_out_one_segment() {
    let mut pair = Pair::new(Profile::default(), "newreno", 4000);
    pair.hear(4000).unwrap();
    for room in 0..1000 {
        pair.tell(room).unwrap();
        assert_eq!(pair.next, 4000, "after {room} bytes of room");
    }
    pair.tell(1000).unwrap();
    assert_eq!(pair.next, 5000);
}
