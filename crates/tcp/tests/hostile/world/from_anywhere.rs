//! A sender that receives arbitrary segments.
//!
//! The low four bits of a byte select an event, the high four (`n`) its amount:
//!
//! | bits | event | more bytes |
//! |---|---|---|
//! | 0 | time passes: 1, 10, 100 or 1000 us (`n` mod 4) times the number | 2 |
//! | 1 | an ACK for `n` + 1 segments more, at most for what was sent | |
//! | 2 | `n` + 1 duplicate ACKs | |
//! | 3 | an ACK for `n` / 4 segments more, with `n` mod 4 blocks: segments above it, length in segments | 2 a block |
//! | 4 | anything: flags, signed offset of the ACK from `una` (`n` / 4 < 2) or from 0, bytes; `n` mod 4 blocks: offset, length, bytes | 3, 4 a block |
//! | 5 | the timer expires, `n` + 1 times | |
//! | 6 | `n` + 1 segments more to send, and so many bytes | 1 |
//! | 7 | nothing more to send than was sent (`n` even), or than there is (`n` odd), and FIN | |
//! | 8 | later ACKs advertise a window of so many bytes (`n` even) or segments; one at once | 2 |
//! | 9 | an ACK for `n` segments more that echoes congestion | |
//! | 10 | an ACK for `n` segments more whose stamp is so many ms old | 2 |
//! | 11 | a duplicate ACK with a D-SACK of `n` + 1 segments, so many below | 1 |
//! | 12 | `n` + 1 ACKs of so many bytes each | 1 |
//! | 13 | a SYN with these flags | 1 |
//! | 14 | continues with a copy as well | |
//! | 15 | an ACK for so many segments never sent | 1 |

use super::input::Input;
use super::journal::Journal;
use super::setup::Setup;
use super::watch::WatchedSender;
use sojourn_tcp::{Flags, SackBlocks, Segment, Stamp};
use sojourn_units::{Span, Time};

/// Runs the input.
pub fn run_input(setup: &Setup, mut input: Input<'_>, journal: &mut Journal) {
    journal.set_up(setup, "sender");
    let mut run = Run::begin(setup, journal);
    while !input.is_over() {
        run.step(&mut input);
    }
}

struct Run<'a> {
    sender: WatchedSender,
    now: Time,
    /// Receive window of the ACKs.
    window: u32,
    /// FIN follows the end of the data.
    teardown: bool,
    journal: &'a mut Journal,
}

impl<'a> Run<'a> {
    /// Ten segments to send, after a handshake of 50 ms that agrees to everything.
    fn begin(setup: &Setup, journal: &'a mut Journal) -> Run<'a> {
        let sender = WatchedSender::new(setup);
        let window = setup.profile.receive_window * sender.mss();
        let mut run = Run {
            teardown: setup.profile.teardown,
            sender,
            now: Time::ZERO,
            window: u32::try_from(window).unwrap_or(u32::MAX),
            journal,
        };
        run.sender.supply(run.now, 10 * run.sender.mss(), run.journal);
        run.sender.open(run.now, run.journal);
        run.sender.send(run.now, run.journal);
        run.passes(Span::from_millis(50));
        let flags = Flags::SYN | Flags::ACK | Flags::ECE | Flags::SACK | Flags::TIMESTAMP | Flags::SCALE;
        let window = run.window.min(65535);
        run.receive(Segment { flags, scale: 14, window, ..Segment::default() });
        run
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let byte = input.byte();
        let n = u64::from(byte >> 4);
        match byte & 15 {
            0 => self.passes(Span::from_micros(input.wide() * 10_u64.pow((n % 4) as u32))),
            1 => self.receive_ack(n + 1, Flags::NONE, &[]),
            2 => (0..=n).for_each(|_| self.receive_ack(0, Flags::NONE, &[])),
            3 => {
                let (above, mss) = (self.ack_for(n / 4), self.sender.mss());
                let block = |from: u64, len: u64| (above + from * mss, above + (from + len) * mss);
                let blocks: Vec<_> = (0..n % 4).map(|_| block(input.number(), input.number())).collect();
                self.receive_ack(n / 4, Flags::SACK, &blocks);
            }
            4 => self.receive_anything(n, input),
            5 => (0..=n).for_each(|_| self.times_out()),
            6 => {
                self.sender.supply(self.now, (n + 1) * self.sender.mss() + input.number(), self.journal);
                self.sends();
            }
            7 => {
                if n % 2 == 0 {
                    self.sender.stop(self.now, self.teardown, self.journal);
                } else {
                    self.sender.close(self.now, self.journal);
                }
                self.sends();
            }
            8 => {
                let unit = if n % 2 == 0 { 1 } else { self.sender.mss() };
                self.window = (input.wide() * unit) as u32;
                self.receive_ack(0, Flags::NONE, &[]);
            }
            9 => self.receive_ack(n, Flags::ECE, &[]),
            10 => {
                let age = Span::from_millis(input.wide());
                let stamp = Stamp::at(Time::from_nanos(self.now.nanos().wrapping_sub(age.nanos())));
                let flags = Flags::ACK | Flags::TIMESTAMP;
                self.receive(Segment {
                    ack: self.ack_for(n),
                    flags,
                    stamp,
                    window: self.window,
                    ..Segment::default()
                });
            }
            11 => {
                let to = self.sender.acknowledged().saturating_sub(input.number() * self.sender.mss());
                let from = to.saturating_sub((n + 1) * self.sender.mss());
                self.receive_ack(0, Flags::SACK, &[(from, to)]);
            }
            12 => {
                let piece = input.number();
                for _ in 0..=n {
                    let ack = (self.sender.acknowledged() + piece).min(self.sender.sent());
                    self.receive(Segment {
                        ack,
                        flags: Flags::ACK,
                        window: self.window,
                        ..Segment::default()
                    });
                }
            }
            13 => {
                let flags = flags_of(input.byte()) | Flags::SYN;
                self.receive(Segment { flags, window: self.window, ..Segment::default() });
            }
            14 => self.sender.part(self.journal),
            _ => {
                let ack = self.sender.sent() + input.number() * self.sender.mss();
                self.receive(Segment { ack, flags: Flags::ACK, window: self.window, ..Segment::default() });
            }
        }
    }

    /// Lets time pass and the timers expire, up to thirty-two times.
    fn passes(&mut self, span: Span) {
        let end = self.now + span;
        for _ in 0..32 {
            let Some(due) = self.sender.next_timeout().filter(|due| *due <= end) else {
                self.now = end;
                return;
            };
            self.expire(due);
        }
    }

    fn times_out(&mut self) {
        if let Some(due) = self.sender.next_timeout() {
            self.expire(due);
        }
    }

    /// Expires a timer, which must have an effect.
    fn expire(&mut self, due: Time) {
        self.now = due;
        // One for each timer that may be due.
        for _ in 0..8 {
            self.sender.time_out(due);
            if self.sends() || self.sender.next_timeout().is_none_or(|next| next > due) {
                return;
            }
        }
        panic!("the timer expires without effect, repeatedly");
    }

    /// End of so many segments more, at most of the data sent.
    fn ack_for(&self, segments: u64) -> u64 {
        (self.sender.acknowledged() + segments * self.sender.mss()).min(self.sender.sent())
    }

    /// Ordinary ACK for so many segments more.
    fn receive_ack(&mut self, segments: u64, flags: Flags, blocks: &[(u64, u64)]) {
        let ack = self.ack_for(segments);
        let mut sack = SackBlocks::default();
        for (from, to) in blocks {
            sack.push(ack, *from, *to);
        }
        let stamp = Stamp::at(Time::from_nanos(self.now.nanos().saturating_sub(USUAL_RTT.nanos())));
        let flags = Flags::ACK | Flags::TIMESTAMP | flags;
        self.receive(Segment { ack, flags, sack, stamp, window: self.window, ..Segment::default() });
    }

    fn receive_anything(&mut self, n: u64, input: &mut Input<'_>) {
        let flags = flags_of(input.byte());
        let base = if n / 4 < 2 { self.sender.acknowledged() } else { 0 };
        let ack = base.saturating_add_signed(i64::from(input.wide() as i16));
        let mut sack = SackBlocks::default();
        for _ in 0..n % 4 {
            let from = ack.saturating_add_signed(i64::from(input.wide() as i16));
            sack.push(ack, from, from + input.wide());
        }
        let stamp = Stamp::at(self.now);
        self.receive(Segment { ack, flags, sack, stamp, window: self.window, ..Segment::default() });
    }

    fn receive(&mut self, segment: Segment) {
        self.sender.receive(self.now, &segment, self.journal);
        self.sends();
    }

    /// Sends everything that is due, returning whether that was anything.
    fn sends(&mut self) -> bool {
        !self.sender.send(self.now, self.journal).is_empty()
    }
}

/// Flags by their bits.
pub fn flags_of(byte: u8) -> Flags {
    let flags = [
        Flags::ACK,
        Flags::ECE,
        Flags::CWR,
        Flags::SACK,
        Flags::TIMESTAMP,
        Flags::FIN,
        Flags::SCALE,
        Flags::SYN,
    ];
    let set = flags.into_iter().enumerate().filter(|(bit, _)| byte >> bit & 1 == 1);
    set.fold(Flags::NONE, |all, (_, flag)| all | flag)
}

/// Round-trip time shown by timestamps.
const USUAL_RTT: Span = Span::from_millis(50);
