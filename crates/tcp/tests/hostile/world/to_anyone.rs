//! A receiver of arbitrary segments.
//!
//! The low four bits of a byte select an event, the high four (`n`) its variant:
//!
//! | bits | event | more bytes |
//! |---|---|---|
//! | 0 | time passes: 1, 10, 100 or 1000 us (`n` mod 4) times the number | 2 |
//! | 1 | the next segment; marked (bit 0 of `n`), with CWR (bit 1), the last one (bit 2), ECN-capable (bit 3) | |
//! | 2 | a segment `n` + 1 segments further | |
//! | 3 | so many bytes at a signed offset from what is delivered; `n` as in 1 | 4 |
//! | 4 | a segment `n` + 1 segments back | |
//! | 5 | the timer expires | |
//! | 6 | a SYN with these flags | 1 |
//! | 7 | anything: flags, where (times four to the `n`), how long | 5 |
//! | 8 | the last segment once more | |
//! | 9 | the application stops reading (`n` 0), or reads so many bytes | 2 |
//! | 10 | an ACK of its FIN | |
//! | 14 | continues with a copy as well | |
//! | else | nothing | |

use super::from_anywhere::flags_of;
use super::input::Input;
use super::journal::Journal;
use super::setup::Setup;
use super::watch::WatchedReceiver;
use sojourn_tcp::{Flags, Segment, Stamp};
use sojourn_units::{Ecn, Span, Time};

/// Runs the input.
pub fn run_input(setup: &Setup, mut input: Input<'_>, journal: &mut Journal) {
    journal.set_up(setup, "receiver");
    let receiver = WatchedReceiver::new(setup);
    let mss = setup.mss as u16;
    let mut run = Run { receiver, mss, now: Time::ZERO, last: Segment::default(), journal };
    let flags = Flags::SYN | Flags::ECE | Flags::CWR | Flags::SCALE | Flags::TIMESTAMP;
    run.receive(Segment {
        flags: flags.with(Flags::SACK, setup.profile.sack != Some(false)),
        ..Segment::default()
    });
    while !input.is_over() {
        run.step(&mut input);
    }
}

struct Run<'a> {
    receiver: WatchedReceiver,
    mss: u16,
    now: Time,
    last: Segment,
    journal: &'a mut Journal,
}

impl Run<'_> {
    fn step(&mut self, input: &mut Input<'_>) {
        let byte = input.byte();
        let n = byte >> 4;
        let (next, mss) = (self.receiver.delivered(), u64::from(self.mss));
        match byte & 15 {
            0 => self.passes(Span::from_micros(input.wide() * 10_u64.pow(u32::from(n % 4)))),
            1 => self.receive_data(next, self.mss, n),
            2 => self.receive_data(next + (u64::from(n) + 1) * mss, self.mss, 8),
            3 => {
                let seq = next.saturating_add_signed(i64::from(input.wide() as i16));
                self.receive_data(seq, input.wide() as u16, n);
            }
            4 => self.receive_data(next.saturating_sub((u64::from(n) + 1) * mss), self.mss, 0),
            5 => self.times_out(),
            6 => self.receive(Segment {
                flags: flags_of(input.byte()) | Flags::SYN,
                stamp: Stamp::at(self.now),
                ..Segment::default()
            }),
            7 => {
                let flags = flags_of(input.byte());
                let (seq, len) = (input.wide() << (2 * n), input.wide() as u16);
                self.receive(Segment { seq, len, flags, stamp: Stamp::at(self.now), ..Segment::default() });
            }
            8 => self.receive(self.last),
            9 if n == 0 => self.receiver.stop_reading(self.now, self.journal),
            9 => {
                self.receiver.read(self.now, input.wide(), self.journal);
            }
            10 => self.receive(Segment { seq: next + 1, ack: 1, flags: Flags::ACK, ..Segment::default() }),
            14 => self.receiver.part(self.journal),
            _ => {}
        }
    }

    fn receive_data(&mut self, seq: u64, len: u16, how: u8) {
        let is = |bit: u8| how >> bit & 1 == 1;
        let flags = Flags::ACK | Flags::TIMESTAMP;
        let flags = flags.with(Flags::CWR, is(1)).with(Flags::FIN, is(2));
        let ecn = match (is(0), is(3)) {
            (true, _) => Ecn::Ce,
            (false, true) => Ecn::Ect0,
            (false, false) => Ecn::NotEct,
        };
        self.receive(Segment { seq, len, flags, ecn, stamp: Stamp::at(self.now), ..Segment::default() });
    }

    fn receive(&mut self, segment: Segment) {
        self.last = segment;
        self.receiver.receive(self.now, &segment, self.journal);
    }

    fn passes(&mut self, span: Span) {
        let end = self.now + span;
        for _ in 0..32 {
            if self.receiver.next_timeout().is_none_or(|due| due > end) {
                self.now = end;
                return;
            }
            self.times_out();
        }
    }

    fn times_out(&mut self) {
        let Some(due) = self.receiver.next_timeout() else { return };
        self.now = due;
        self.receiver.time_out(due, self.journal);
        assert!(
            self.receiver.next_timeout().is_none_or(|next| next > due),
            "its timer expires again at once"
        );
    }
}
