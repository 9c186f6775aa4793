//! A sender, a receiver, and a hostile network between them that turns reliable in the end.
//!
//! Eight bytes define the data and the path:
//!
//! | byte | meaning |
//! |---|---|
//! | 0 | segments to send, less one |
//! | 1 | propagation delay, ms each way |
//! | 2 | transmission time of a segment, tenths of ms |
//! | 3 | number of segments after which the application stops reading on arrival; 0: never |
//! | 4 | interval at which it then reads everything received, in 50 ms |
//! | 5 | pause before the same is sent again, in 50 ms; 0: never |
//! | 6 | bytes more to send, each time |
//! | 7 | number of events after which copies run as well; 0: never |
//!
//! Then one byte for each segment in order of transmission, the low three bits (`fate`) and the high five (`n`). Data:
//!
//! | fate | |
//! |---|---|
//! | 0 | arrives |
//! | 1, 6 | arrives `n` ms, or 20 `n` ms, later |
//! | 2 | is lost |
//! | 3 | arrives, and again `n` ms later |
//! | 4 | arrives marked, if it is ECN-capable |
//! | 5 | arrives without its ECN bits; a SYN without its flags for ECN |
//! | 7 | is lost, with everything in the next 100 `n` ms |
//!
//! The same for ACKs, except:
//!
//! | fate | |
//! |---|---|
//! | 4 | arrives in `n` + 1 pieces |
//! | 5 | arrives without SACK blocks; a SYN-ACK without SACK-permitted |
//! | 6 | arrives with a forged SACK block, `n` mod 4 + 1 segments above it, of `n` / 4 + 1 |
//! | 7 | arrives with an echo of congestion (`n` odd), or a window of `n` / 2 segments |
//!
//! After the last byte everything is delivered; then the transfer must complete in limited time.

use super::input::Input;
use super::journal::Journal;
use super::setup::Setup;
use super::watch::{WatchedReceiver, WatchedSender};
use sojourn_tcp::{Flags, SackBlocks, Segment};
use sojourn_units::{Bytes, Ecn, Span, Time};
use std::collections::BTreeMap;

/// Outcome of a transfer.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "used in tests only")]
pub struct Outcome {
    /// Time when the last byte was acknowledged.
    pub end: Time,
    /// Retransmitted data segments.
    pub retransmissions: u64,
}

/// Runs the input.
pub fn run_input(setup: &Setup, input: Input<'_>, journal: &mut Journal) -> Outcome {
    journal.set_up(setup, "sender");
    let mut run = Run::begin(setup, input, journal);
    run.step();
    Outcome { end: run.now, retransmissions: run.sender.retransmissions() }
}

struct Run<'a> {
    input: Input<'a>,
    journal: &'a mut Journal,
    /// The receiver's journal records the same run from the other end.
    nowhere: Journal,
    sender: WatchedSender,
    receiver: WatchedReceiver,
    now: Time,

    delay: Span,
    leaving: Span,
    /// Time when the last segment has left.
    left: Time,
    lost_until: Time,
    /// Segments in flight, by time of arrival and running number; those to the receiver first.
    flying: BTreeMap<(Time, u64), (Towards, Segment)>,
    launched: u64,
    /// Number of the last ACK.
    last_ack: u64,

    /// Byte after which the application reads on request, the time of the next request, and its interval.
    reads_after: u64,
    read_at: Option<Time>,
    reads_every: Span,

    teardown: bool,
    batch: u64,
    pause: Option<Span>,
    again_at: Option<Time>,
    total: u64,
    parts_after: u64,
    /// Deadline of the transfer, once the network is reliable.
    limit: Option<Time>,
    timeout: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Towards {
    Receiver,
    Sender,
}

/// Events.
impl<'a> Run<'a> {
    fn begin(setup: &Setup, mut input: Input<'a>, journal: &'a mut Journal) -> Run<'a> {
        let sender = WatchedSender::new(setup);
        let mut header = [0; 8];
        header.fill_with(|| input.number());
        let [segments, delay, leaving, reads_after, reads_every, pause, odd, parts_after] = header;
        let (delay, leaving) = (Span::from_millis(delay), Span::from_micros(100 * leaving));
        let mss = sender.mss();
        let batch = (segments + 1) * mss + odd;
        let reads_every = Span::from_millis(50 * (reads_every + 1));
        let waits = if reads_after > 0 { reads_every } else { Span::ZERO };
        let round = 2 * delay.nanos() + leaving.nanos() + waits.nanos();
        let timeout = timeout(setup, batch.div_ceil(mss), round);
        Run {
            input,
            journal,
            nowhere: Journal::off(),
            sender,
            receiver: WatchedReceiver::new(setup),
            now: Time::ZERO,
            delay,
            leaving,
            left: Time::ZERO,
            lost_until: Time::ZERO,
            flying: BTreeMap::new(),
            launched: 0,
            last_ack: 0,
            reads_after: reads_after * mss,
            read_at: None,
            reads_every,
            teardown: setup.profile.teardown,
            batch,
            pause: (pause > 0).then(|| Span::from_millis(50 * pause)),
            again_at: None,
            total: 0,
            parts_after,
            limit: None,
            timeout,
        }
    }

    fn step(&mut self) {
        self.supplies();
        self.sender.open(self.now, self.journal);
        self.sends();
        for event in 1.. {
            let done = self.sender.acknowledged() >= self.total;
            if done && self.pause.is_some() && self.again_at.is_none() {
                self.again_at = self.pause.take().map(|pause| self.now + pause);
                self.limit = self.limit.map(|limit| limit.max(self.again_at.unwrap_or_default()));
            }
            if done && self.again_at.is_none() && self.is_over() {
                break;
            }
            if event == self.parts_after {
                self.sender.part(self.journal);
                self.receiver.part(&mut self.nowhere);
            }
            self.happens();
            assert!(event < MOST_EVENTS, "does not end");
            assert!(
                self.limit.is_none_or(|limit| self.now <= limit),
                "the network is reliable, and nothing arrives"
            );
        }
        assert_eq!(self.receiver.delivered(), self.total, "delivered, and supplied");
    }

    /// Returns whether both sides have closed, if they do; a side that no longer receives from the other gives up
    /// eventually.
    fn is_over(&self) -> bool {
        !self.teardown || self.sender.is_closed() || (self.sender.is_done() && self.receiver.is_closed())
    }

    /// Processes the next event.
    fn happens(&mut self) {
        let arrival = self.flying.first_key_value().map(|((time, _), _)| *time);
        let timers = [self.receiver.next_timeout(), self.sender.next_timeout(), self.again_at, self.read_at];
        let next = timers.into_iter().chain([arrival]).flatten().min();
        self.now = next.expect("it stalls: no timer runs, nothing is on its way");
        let now = self.now;
        if arrival == next {
            self.arrives();
        } else if self.receiver.next_timeout() == next {
            if let Some(ack) = self.receiver.time_out(now, &mut self.nowhere) {
                self.launches_ack(ack);
            }
        } else if self.read_at == next {
            self.reads();
        } else if self.again_at == next {
            self.again_at = None;
            self.supplies();
        } else {
            self.sender.time_out(now);
        }
        self.sends();
    }

    fn supplies(&mut self) {
        self.total += self.batch;
        self.limit = self.limit.map(|_| self.now + self.timeout);
        self.sender.supply(self.now, self.batch, self.journal);
        if self.teardown && self.pause.is_none() {
            self.sender.close(self.now, self.journal);
        }
    }

    fn arrives(&mut self) {
        let Some((_, (towards, segment))) = self.flying.pop_first() else { return };
        match towards {
            Towards::Receiver => {
                if let Some(ack) = self.receiver.receive(self.now, &segment, &mut self.nowhere) {
                    self.launches_ack(ack);
                }
            }
            Towards::Sender => self.sender.receive(self.now, &segment, self.journal),
        }
        let (got, known) = (self.receiver.delivered(), self.sender.acknowledged());
        assert!(known <= got + 1 && got <= self.sender.sent() + 1, "known {known}, got {got}");
        if self.reads_after > 0 && got >= self.reads_after && self.read_at.is_none() {
            self.receiver.stop_reading(self.now, &mut self.nowhere);
            self.read_at = Some(self.now + self.reads_every);
        }
    }

    /// The application reads everything received.
    fn reads(&mut self) {
        self.read_at = Some(self.now + self.reads_every);
        let all = self.receiver.delivered();
        if let Some(ack) = self.receiver.read(self.now, all, &mut self.nowhere) {
            self.launches_ack(ack);
        }
    }

    fn sends(&mut self) {
        for segment in self.sender.send(self.now, self.journal) {
            self.left = self.left.max(self.now) + self.leaving;
            self.launches_data(segment);
        }
    }
}

/// The network.
impl Run<'_> {
    /// Fate of the next segment: kind and amount.
    fn fate(&mut self) -> (u8, u64) {
        if self.input.is_over() {
            if self.limit.is_none() {
                self.journal.notes(format_args!("the network is reliable from now on"));
                self.lost_until = self.now;
                self.limit = Some(self.now.max(self.again_at.unwrap_or_default()) + self.timeout);
            }
            return (0, 0);
        }
        let byte = self.input.byte();
        if self.now < self.lost_until { (2, 0) } else { (byte & 7, u64::from(byte >> 3)) }
    }

    fn launches_data(&mut self, mut segment: Segment) {
        let (fate, n) = self.fate();
        match fate {
            4 if segment.ecn.is_capable() => segment.ecn = Ecn::Ce,
            5 => {
                segment.ecn = Ecn::NotEct;
                if segment.flags.has(Flags::SYN) {
                    segment.flags =
                        keep(segment.flags, &[Flags::SYN, Flags::SACK, Flags::TIMESTAMP, Flags::SCALE]);
                }
            }
            _ => {}
        }
        let late = match fate {
            1 => n,
            6 => 20 * n,
            _ => 0,
        };
        let at = self.left + self.delay + Span::from_millis(late);
        self.launches(fate, n, at, Towards::Receiver, segment);
    }

    fn launches_ack(&mut self, mut ack: Segment) {
        let (fate, n) = self.fate();
        let mut at = self.now + self.delay;
        match fate {
            1 => at += Span::from_millis(n),
            4 => self.launches_pieces(at, &ack, n),
            5 => {
                ack.sack = SackBlocks::default();
                let kept = [Flags::SYN, Flags::ACK, Flags::ECE, Flags::FIN, Flags::TIMESTAMP, Flags::SCALE];
                ack.flags = keep(ack.flags, &kept);
            }
            6 => {
                let from = ack.ack + (n % 4 + 1) * self.sender.mss();
                ack.sack.push(ack.ack, from, from + (n / 4 + 1) * self.sender.mss());
            }
            7 if n % 2 == 1 => ack.flags = ack.flags | Flags::ECE,
            7 => ack.window = (n / 2 * self.sender.mss()) as u32,
            _ => {}
        }
        self.last_ack = self.last_ack.max(ack.ack);
        self.launches(if fate == 7 { 0 } else { fate }, n, at, Towards::Sender, ack);
    }

    /// ACK division: ACKs for parts of the data, before the ACK itself.
    fn launches_pieces(&mut self, at: Time, whole: &Segment, pieces: u64) {
        let new = whole.ack.saturating_sub(self.last_ack);
        for piece in 1..=pieces {
            let ack = self.last_ack + new * piece / (pieces + 1);
            let mut sack = SackBlocks::default();
            for (from, to) in whole.sack.iter(whole.ack) {
                sack.push(ack, from, to);
            }
            self.launches(0, 0, at, Towards::Sender, Segment { ack, sack, ..*whole });
        }
    }

    /// Impairments common to all segments.
    fn launches(&mut self, fate: u8, n: u64, at: Time, towards: Towards, segment: Segment) {
        match fate {
            2 | 7 => {
                if fate == 7 {
                    self.lost_until = self.now + Span::from_millis(100 * n);
                }
                let (end, ack) = (segment.end(), segment.ack);
                match towards {
                    Towards::Receiver => {
                        self.journal.notes(format_args!("lost: {}:{}", segment.seq + 1, end + 1));
                    }
                    Towards::Sender => self.journal.notes(format_args!("lost: ack {}", ack + 1)),
                }
                return;
            }
            3 => self.flies(at + Span::from_millis(n), towards, segment),
            _ => {}
        }
        self.flies(at, towards, segment);
    }

    fn flies(&mut self, at: Time, towards: Towards, segment: Segment) {
        self.launched += 1;
        self.flying.insert((at, self.launched), (towards, segment));
    }
}

/// Mask of the flags kept.
fn keep(flags: Flags, kept: &[Flags]) -> Flags {
    kept.iter().filter(|flag| flags.has(**flag)).fold(Flags::NONE, |all, flag| all | *flag)
}

/// Time in which a reliable network delivers so many segments at a round-trip time of so many nanoseconds.
fn timeout(setup: &Setup, segments: u64, round: u64) -> Span {
    let profile = &setup.profile;
    // RFC 3168, section 6.1.2: at a window of one segment an echo stops sending until the timer expires. CWR is sent
    // with new data only, so that echoes continue while a timeout's data is retransmitted.
    let waits = profile.ecn_after_timeout && setup.requests_ecn;
    // A window of one segment that is half full waits for the timer as well.
    let waits = u64::from(waits) + 2 * u64::from(profile.receive_window < 3);
    // The pacing rate follows the round-trip time, which delayed timestamps inflate.
    let waits = waits + u64::from(profile.pacing);
    let timeouts = 20 + waits * segments;
    let payload = Bytes::new(segments * u64::from(setup.mss));
    let reading = setup.reads.map_or(Span::ZERO, |rate| rate.time_for(payload));
    let round = round + profile.ack_delay.nanos();
    Span::from_nanos(timeouts * profile.max_rto.nanos() + 3 * (segments + 8) * round + 2 * reading.nanos())
}

/// More than any input of a few thousand bytes can cause.
const MOST_EVENTS: u64 = 1_000_000;
